//! A picture of spheres.

use super::prelude::*;
use kernels::ray_spheres::Sphere;

case!(ray_spheres: "the nearest of 64 spheres, a ray a pixel", "columns", simulator [40, 2], gpu 1 << 11);

const SPHERES: usize = 64;

fn prepare(session: &Session, columns: usize) -> Result<Box<dyn Problem>> {
    let rows = columns / 2 + 3;
    let spheres: Vec<Sphere> = draw::<f32>(1, 4 * SPHERES)
        .chunks_exact(4)
        .map(|x| Sphere {
            centre: [x[0], x[1], x[2]],
            radius: x[3].abs() * 0.2 + 0.05,
        })
        .collect();
    // At the edge of a sphere rounding decides: such pixels may have either depth.
    let want: Vec<[f64; 3]> = (0..rows * columns)
        .map(|i| {
            let (row, column) = (i / columns, i % columns);
            let x = column as f64 / columns as f64 - 0.5;
            let y = row as f64 / rows as f64 - 0.5;
            [-1e-4, 0.0, 1e-4].map(|more| depth(&spheres, x, y, more))
        })
        .collect();
    let kernel = session.pair(kernels::ray_spheres::ray_spheres, "ray_spheres")?;
    let spheres = session.stream.upload(&spheres)?;
    problem(
        session,
        format!("{rows} x {columns}"),
        &vec![f32::NAN; rows * columns],
        move |session, side, depths| {
            let grid = Grid::cover_2d((columns, rows), (32, 8));
            let depths = depths.matrix_mut(rows, columns)?;
            launch_pair!(session, side, kernel, grid, (&spheres, depths));
            Ok(())
        },
        move |got| {
            let nearest = |(&got, want): (&f32, &[f64; 3])| {
                let distance = |want: &&f64| (**want - f64::from(got)).abs();
                let best = want
                    .iter()
                    .min_by(|a, b| distance(a).total_cmp(&distance(b)));
                *best.unwrap_or(&f64::NAN)
            };
            nearly::<f32>(got.iter().zip(&want).map(nearest).collect(), 1e-2)(got)
        },
    )
}

/// How far the nearest sphere is, if all were larger by `more`.
fn depth(spheres: &[Sphere], x: f64, y: f64, more: f64) -> f64 {
    let direction = [x, y, 1.0];
    let dot = |a: [f64; 3], b: [f64; 3]| a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    let distances = spheres.iter().filter_map(|sphere| {
        let [cx, cy, cz] = sphere.centre.map(f64::from);
        let from = [-cx, -cy, -3.0 - cz];
        let radius = f64::from(sphere.radius) + more;
        let (a, b) = (dot(direction, direction), dot(from, direction));
        let discriminant = b * b - a * (dot(from, from) - radius * radius);
        let distance = (-b - discriminant.sqrt()) / a;
        (distance > 0.0).then_some(distance)
    });
    let nearest = distances.fold(f64::INFINITY, f64::min);
    if nearest.is_finite() { nearest } else { 0.0 }
}

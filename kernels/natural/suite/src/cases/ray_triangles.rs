//! The nearest triangle of rays.

use super::prelude::*;
use kernels::ray_triangles::{Hit, Ray, Vec3, meet};

case!(ray_triangles: "the nearest of 128 triangles, a thread a ray", "rays", simulator [300, 1], gpu 1 << 20);

const TRIANGLES: usize = 128;

fn prepare(session: &Session, n: usize) -> Result<Box<dyn Problem>> {
    let vec3 = |x: &[f32]| Vec3 {
        x: x[0],
        y: x[1],
        z: x[2],
    };
    let rays: Vec<Ray> = draw::<f32>(1, 6 * n)
        .chunks_exact(6)
        .map(|x| Ray {
            origin: vec3(&[x[0], x[1], x[2] - 3.0]),
            direction: vec3(&[x[3] * 0.3, x[4] * 0.3, 1.0]),
        })
        .collect();
    let triangles: Vec<[Vec3; 3]> = draw::<f32>(2, 9 * TRIANGLES)
        .chunks_exact(9)
        .map(|x| [vec3(&x[0..3]), vec3(&x[3..6]), vec3(&x[6..9])])
        .collect();
    // At the edge of a triangle rounding decides: such rays are left out.
    let step = n.div_ceil(4000);
    let is_near = |a: f32, b: f32| (a - b).abs() < 1e-3;
    let of_ray = |ray: &Ray| {
        let distances: Vec<f32> = triangles
            .iter()
            .map(|triangle| meet(ray, triangle).unwrap_or(f32::INFINITY))
            .collect();
        let least = distances.iter().copied().fold(f32::INFINITY, f32::min);
        (least, distances)
    };
    let want: Vec<(f32, Vec<f32>)> = rays.iter().step_by(step).map(of_ray).collect();
    let kernel = session.pair(kernels::ray_triangles::ray_triangles, "ray_triangles")?;
    let rays = session.stream.upload(&rays)?;
    let triangles = session.stream.upload(&triangles)?;
    let nothing = Hit {
        triangle: 0,
        distance: f32::NAN,
    };
    problem(
        session,
        format!("{n} rays"),
        &vec![nothing; n],
        move |session, side, hits| {
            let grid = Grid::cover(n, 256);
            launch_pair!(session, side, kernel, grid, (&rays, &triangles, hits));
            Ok(())
        },
        move |got| {
            let wrong = got
                .iter()
                .step_by(step)
                .zip(&want)
                .filter(
                    |(hit, (least, distances))| match distances.get(hit.triangle as usize) {
                        Some(&distance) => {
                            !is_near(hit.distance, *least) || !is_near(distance, *least)
                        }
                        None => least.is_finite(),
                    },
                )
                .count();
            // Of 1000 rays one may be at an edge.
            let allowed = want.len() / 1000;
            nearly::<f32>(vec![0.0], 0.5)(&[wrong.saturating_sub(allowed) as f32])
        },
    )
}

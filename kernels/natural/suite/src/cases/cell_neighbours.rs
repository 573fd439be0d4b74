//! Points near each point.

use super::prelude::*;

case!(cell_neighbours: "points near each, by cells of a grid", "points", simulator [200, 1], gpu 1 << 20);

const RADIUS: i32 = 100;

fn prepare(session: &Session, n: usize) -> Result<Box<dyn Problem>> {
    // Ten points a cell, in rows a little longer than wide.
    let rows = (n as f64 / 12.0).sqrt().ceil() as usize;
    let columns = rows + 3;
    let cell_of =
        |point: &[i32; 2]| (point[1] / RADIUS) as usize * columns + (point[0] / RADIUS) as usize;
    let x = below(1, n, columns as u32 * RADIUS as u32);
    let y = below(2, n, rows as u32 * RADIUS as u32);
    let mut points: Vec<[i32; 2]> = x
        .iter()
        .zip(y)
        .map(|(&x, y)| [x as i32, y as i32])
        .collect();
    points.sort_by_key(cell_of);
    let mut starts = vec![0u32; rows * columns + 1];
    for point in &points {
        starts[cell_of(point) + 1] += 1;
    }
    for cell in 0..rows * columns {
        starts[cell + 1] += starts[cell];
    }
    let step = n.div_ceil(300);
    let near = |i: usize| {
        let is_near = |other: &[i32; 2]| {
            let (dx, dy) = (other[0] - points[i][0], other[1] - points[i][1]);
            dx.abs() <= RADIUS && dy.abs() <= RADIUS && dx * dx + dy * dy <= RADIUS * RADIUS
        };
        points.iter().filter(|other| is_near(other)).count() as u32 - 1
    };
    let check = exactly((0..n).step_by(step).map(near).collect());
    let kernel = session.pair(kernels::cell_neighbours::cell_neighbours, "cell_neighbours")?;
    let points = session.stream.upload(&points)?;
    let starts = session.stream.upload(&starts)?;
    problem(
        session,
        format!("{n} points, {rows} x {columns} cells"),
        &vec![u32::MAX; n],
        move |session, side, counts| {
            let grid = Grid::cover(n, 128);
            let arguments = (&points, &starts, columns, RADIUS, counts);
            launch_pair!(session, side, kernel, grid, arguments);
            Ok(())
        },
        every(step, check),
    )
}

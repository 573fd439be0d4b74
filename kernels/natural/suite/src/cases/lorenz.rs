//! The weather of Lorenz.

use super::prelude::*;

case!(lorenz: "equations of Lorenz, by Runge and Kutta", "points", simulator [100, 1], gpu 1 << 19);

const STEPS: u32 = 150;
const DT: f32 = 0.01;

fn prepare(session: &Session, n: usize) -> Result<Box<dyn Problem>> {
    let points: Vec<[f32; 3]> = draw::<f32>(1, 3 * n).as_chunks().0.to_vec();
    // Below the constant where the weather is wild, so that small differences stay small.
    let constants: Vec<f32> = draw::<f32>(2, n).iter().map(|x| 12.0 + 4.0 * x).collect();
    let step = n.div_ceil(1000);
    let want = (0..n)
        .step_by(step)
        .flat_map(|i| {
            let rho = f64::from(constants[i]);
            (0..STEPS).fold(points[i].map(f64::from), |point, _| advance(point, rho))
        })
        .collect();
    let check = nearly::<f32>(want, 1e-4);
    let kernel = session.pair(kernels::lorenz::lorenz, "lorenz")?;
    let points = session.stream.upload(&points)?;
    let constants = session.stream.upload(&constants)?;
    problem(
        session,
        format!("{n} points, {STEPS} steps"),
        &vec![[f32::NAN; 3]; n],
        move |session, side, last| {
            let grid = Grid::cover(n, 256);
            let arguments = (&points, &constants, DT, STEPS, last);
            launch_pair!(session, side, kernel, grid, arguments);
            Ok(())
        },
        every_array(step, check),
    )
}

/// A step in double precision.
fn advance(point: [f64; 3], rho: f64) -> [f64; 3] {
    let dt = f64::from(DT);
    let slope = |[x, y, z]: [f64; 3]| [10.0 * (y - x), x * (rho - z) - y, x * y - 8.0 / 3.0 * z];
    let along = |by: f64, s: [f64; 3]| {
        [
            point[0] + by * s[0],
            point[1] + by * s[1],
            point[2] + by * s[2],
        ]
    };
    let a = slope(point);
    let b = slope(along(dt / 2.0, a));
    let c = slope(along(dt / 2.0, b));
    let d = slope(along(dt, c));
    along(
        dt / 6.0,
        [0, 1, 2].map(|i| a[i] + 2.0 * (b[i] + c[i]) + d[i]),
    )
}

//! `y += a x`.

use super::prelude::*;

case!(saxpy: "y += a x", "elements", simulator [1000, 1], gpu 1 << 26);

const A: f32 = 1.75;

fn prepare(session: &Session, n: usize) -> Result<Box<dyn Problem>> {
    let (x, y) = (draw::<f32>(1, n), draw::<f32>(2, n));
    let want = x
        .iter()
        .zip(&y)
        .map(|(&x, &y)| f64::from(A) * f64::from(x) + f64::from(y))
        .collect();
    let kernel = session.pair(kernels::saxpy::saxpy, "saxpy")?;
    let x = session.stream.upload(&x)?;
    problem(
        session,
        format!("{n} elements"),
        &y,
        move |session, side, y| {
            launch_pair!(session, side, kernel, Grid::cover(n, 256), (A, &x, y));
            Ok(())
        },
        nearly(want, 1e-6),
    )
}

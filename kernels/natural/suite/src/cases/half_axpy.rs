//! `y += a x` in half precision.

use super::prelude::*;
use half::f16;

case!(half_axpy: "y += a x in f16", "elements", simulator [1000, 1], gpu 1 << 27);

fn prepare(session: &Session, n: usize) -> Result<Box<dyn Problem>> {
    let a = f16::from_f32(1.75);
    let (x, y) = (draw::<f16>(1, n), draw::<f16>(2, n));
    let want = x
        .iter()
        .zip(&y)
        .map(|(x, y)| a.to_f64() * x.to_f64() + y.to_f64())
        .collect();
    let kernel = session.pair(kernels::half_axpy::half_axpy, "half_axpy")?;
    let x = session.stream.upload(&x)?;
    problem(
        session,
        format!("{n} elements"),
        &y,
        move |session, side, y| {
            launch_pair!(session, side, kernel, Grid::cover(n, 256), (a, &x, y));
            Ok(())
        },
        nearly(want, 1.0 / 2048.0),
    )
}

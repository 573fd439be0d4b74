//! `y += a x` by a small grid.

use super::prelude::*;

case!(saxpy_strided: "y += a x in a grid-stride loop", "elements", simulator [5000, 1], gpu 1 << 26);

const A: f32 = 1.75;

fn prepare(session: &Session, n: usize) -> Result<Box<dyn Problem>> {
    let (x, y) = (draw::<f32>(1, n), draw::<f32>(2, n));
    let want = x
        .iter()
        .zip(&y)
        .map(|(&x, &y)| f64::from(A) * f64::from(x) + f64::from(y))
        .collect();
    let kernel = session.pair(kernels::saxpy_strided::saxpy_strided, "saxpy_strided")?;
    let x = session.stream.upload(&x)?;
    problem(
        session,
        format!("{n} elements"),
        &y,
        move |session, side, y| {
            let grid = Grid::new(n.div_ceil(1024).min(2048) as u32, 256);
            launch_pair!(session, side, kernel, grid, (A, &x, y));
            Ok(())
        },
        nearly(want, 1e-6),
    )
}

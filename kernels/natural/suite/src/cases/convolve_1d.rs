//! A signal through a filter.

use super::prelude::*;

case!(convolve_1d: "a filter of 33 taps", "samples", simulator [300, 1], gpu 1 << 24);

const TAPS: usize = 33;

fn prepare(session: &Session, n: usize) -> Result<Box<dyn Problem>> {
    let (signal, taps) = (draw::<f32>(1, n + TAPS - 1), draw::<f32>(2, TAPS));
    let want = signal
        .windows(TAPS)
        .map(|window| {
            let products = window.iter().zip(&taps);
            products.map(|(a, b)| f64::from(*a) * f64::from(*b)).sum()
        })
        .collect();
    let kernel = session.pair(kernels::convolve_1d::convolve_1d, "convolve_1d")?;
    let signal = session.stream.upload(&signal)?;
    let taps = session.stream.upload(&taps)?;
    problem(
        session,
        format!("{n} samples, {TAPS} taps"),
        &vec![f32::NAN; n],
        move |session, side, out| {
            let grid = Grid::cover(n, 256);
            launch_pair!(session, side, kernel, grid, (&signal, &taps, out));
            Ok(())
        },
        nearly(want, 1e-5),
    )
}

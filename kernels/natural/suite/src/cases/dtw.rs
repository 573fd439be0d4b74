//! Distances of signals.

use super::prelude::*;
use kernels::dtw::{SAMPLES, distance_of};

case!(dtw: "distances of signals whose time may stretch", "signals", simulator [30, 1], gpu 1 << 17);

fn prepare(session: &Session, n: usize) -> Result<Box<dyn Problem>> {
    let samples = draw::<f32>(1, n * SAMPLES);
    let signals: &[[f32; SAMPLES]] = samples.as_chunks().0;
    let pattern: [f32; SAMPLES] = std::array::from_fn(|i| (i as f32 * 0.3).sin());
    let step = n.div_ceil(2000);
    let want = signals
        .iter()
        .step_by(step)
        .map(|signal| f64::from(distance_of(signal, &pattern)))
        .collect();
    let check = nearly::<f32>(want, 1e-4);
    let kernel = session.pair(kernels::dtw::dtw, "dtw")?;
    let signals = session.stream.upload(signals)?;
    let pattern = session.stream.upload(&[pattern])?;
    problem(
        session,
        format!("{n} signals of {SAMPLES}"),
        &vec![f32::NAN; n],
        move |session, side, distances| {
            let grid = Grid::cover(n, 128);
            launch_pair!(session, side, kernel, grid, (&signals, &pattern, distances));
            Ok(())
        },
        every(step, check),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_that_comes_later() {
        let signal: [f32; SAMPLES] = std::array::from_fn(|i| if i < 10 { 0.0 } else { 1.0 });
        let mut later = signal;
        later.rotate_right(5);
        later[..5].fill(0.0);
        assert_eq!(distance_of(&signal, &later), 0.0);
    }
}

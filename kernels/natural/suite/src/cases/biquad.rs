//! Filters with memory.

use super::prelude::*;
use kernels::biquad::{STAGES, Stage};

case!(biquad: "filters of three stages, a thread a channel", "channels", simulator [300, 1], gpu 1 << 16);

const SAMPLES: usize = 200;

fn prepare(session: &Session, n: usize) -> Result<Box<dyn Problem>> {
    let samples = draw::<f32>(1, SAMPLES * n);
    // Weights that keep the filters stable.
    let filters: Vec<[Stage; STAGES]> = draw::<f32>(2, 5 * STAGES * n)
        .chunks_exact(5 * STAGES)
        .map(|x| {
            std::array::from_fn(|i| {
                let x = &x[5 * i..];
                Stage {
                    b: [x[0], x[1], x[2]],
                    a: [x[3] * 0.4, x[4] * 0.4],
                }
            })
        })
        .collect();
    let mut want = Vec::new();
    for (channel, filter) in filters.iter().enumerate() {
        let mut memories = [[0.0f64; 2]; STAGES];
        let (mut last, mut peak) = (0.0, 0.0f64);
        for time in 0..SAMPLES {
            let mut x = f64::from(samples[time * n + channel]);
            for ([first, second], Stage { b, a }) in memories.iter_mut().zip(filter) {
                let (b, a) = (b.map(f64::from), a.map(f64::from));
                let y = b[0] * x + *first;
                *first = b[1] * x - a[0] * y + *second;
                *second = b[2] * x - a[1] * y;
                x = y;
            }
            last = x;
            peak = peak.max(x.abs());
        }
        want.extend([last, peak]);
    }
    let check = nearly::<f32>(want, 1e-3);
    let kernel = session.pair(kernels::biquad::biquad, "biquad")?;
    let samples = session.stream.upload(&samples)?;
    let filters = session.stream.upload(&filters)?;
    problem(
        session,
        format!("{n} channels of {SAMPLES} samples"),
        &vec![[f32::NAN; 2]; n],
        move |session, side, out| {
            let grid = Grid::cover(n, 128);
            let samples = samples.matrix(SAMPLES, n)?;
            launch_pair!(session, side, kernel, grid, (samples, &filters, out));
            Ok(())
        },
        move |got| check(got.as_flattened()),
    )
}

//! Rotary embedding.

use super::prelude::*;
use half::f16;

case!(rope: "rotary embedding of f16, a thread a pair", "positions", simulator [3, 1], gpu 1 << 16);

/// Vectors of a position.
const HEADS: usize = 20;
/// Pairs of a vector.
const PAIRS: usize = 32;

fn prepare(session: &Session, positions: usize) -> Result<Box<dyn Problem>> {
    let vectors: Vec<[f16; 2]> = draw::<f16>(1, 2 * positions * HEADS * PAIRS)
        .as_chunks()
        .0
        .to_vec();
    let angles = |function: fn(f64) -> f64| -> Vec<f32> {
        let angle = |i: usize| {
            let (position, pair) = (i / PAIRS, i % PAIRS);
            position as f64 * 10_000f64.powf(-(pair as f64) / PAIRS as f64)
        };
        (0..positions * PAIRS)
            .map(|i| function(angle(i)) as f32)
            .collect()
    };
    let (cosines, sines) = (angles(f64::cos), angles(f64::sin));
    let step = vectors.len().div_ceil(100_000);
    let want = (0..vectors.len())
        .step_by(step)
        .flat_map(|i| {
            let angle = i / PAIRS / HEADS * PAIRS + i % PAIRS;
            let (cosine, sine) = (f64::from(cosines[angle]), f64::from(sines[angle]));
            let [x, y] = vectors[i].map(f64::from);
            [x * cosine - y * sine, x * sine + y * cosine]
        })
        .collect();
    let check = nearly::<f16>(want, 1.0 / 1024.0);
    let kernel = session.pair(kernels::rope::rope, "rope")?;
    let cosines = session.stream.upload(&cosines)?;
    let sines = session.stream.upload(&sines)?;
    problem(
        session,
        format!("{positions} positions, {HEADS} vectors of {}", 2 * PAIRS),
        &vectors,
        move |session, side, vectors| {
            let grid = Grid::cover(positions * HEADS * PAIRS, 256);
            let cosines = cosines.matrix(positions, PAIRS)?;
            let sines = sines.matrix(positions, PAIRS)?;
            let arguments = (cosines, sines, HEADS as u32, vectors);
            launch_pair!(session, side, kernel, grid, arguments);
            Ok(())
        },
        every_array(step, check),
    )
}

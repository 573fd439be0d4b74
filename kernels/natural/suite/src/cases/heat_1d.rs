//! Heat in a rod.

use super::prelude::*;
use kernels::heat_1d::THREADS;

case!(heat_1d: "100 steps of heat in parts of 256", "elements", simulator [700, 1], gpu 1 << 22);

const STEPS: u32 = 100;
const RATE: f32 = 0.25;

fn prepare(session: &Session, n: usize) -> Result<Box<dyn Problem>> {
    let start = draw::<f32>(1, n);
    let want = start.chunks(THREADS).flat_map(after).collect();
    let kernel = session.pair(kernels::heat_1d::heat_1d, "heat_1d")?;
    let start = session.stream.upload(&start)?;
    problem(
        session,
        format!("{n} elements, {STEPS} steps"),
        &vec![f32::NAN; n],
        move |session, side, end| {
            let grid = Grid::cover(n, THREADS as u32);
            launch_pair!(session, side, kernel, grid, (&start, STEPS, RATE, end));
            Ok(())
        },
        nearly(want, 1e-4),
    )
}

/// A part of the rod after all steps.
fn after(part: &[f32]) -> Vec<f64> {
    let mut rod = vec![0.0; THREADS];
    for (to, &from) in rod.iter_mut().zip(part) {
        *to = f64::from(from);
    }
    for _ in 0..STEPS {
        let old = rod.clone();
        for i in 1..THREADS - 1 {
            rod[i] += f64::from(RATE) * (old[i - 1] - 2.0 * old[i] + old[i + 1]);
        }
    }
    rod.truncate(part.len());
    rod
}

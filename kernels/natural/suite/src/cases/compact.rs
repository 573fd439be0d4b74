//! Large elements kept.

use super::prelude::*;
use kernels::compact::THREADS;

case!(compact: "the large elements in their order, by votes", "elements", simulator [3000, 1], gpu 1 << 26);

const LIMIT: f32 = 0.25;

fn prepare(session: &Session, n: usize) -> Result<Box<dyn Problem>> {
    let x = draw::<f32>(1, n);
    let kept = |block: &[f32]| block.iter().filter(|&&x| x > LIMIT).count() as u32;
    let starts = starts_of(x.chunks(THREADS).map(kept));
    let mut want: Vec<f64> = x
        .iter()
        .filter(|&&x| x > LIMIT)
        .map(|&x| f64::from(x))
        .collect();
    // Behind the last one nothing is written.
    want.push(-2.0);
    let kernel = session.pair(kernels::compact::compact, "compact")?;
    let x = session.stream.upload(&x)?;
    let starts = session.stream.upload(&starts)?;
    problem(
        session,
        format!("{n} elements, {} kept", want.len() - 1),
        &vec![-2.0f32; want.len()],
        move |session, side, out| {
            let grid = Grid::cover(n, THREADS as u32);
            launch_pair!(session, side, kernel, grid, (&x, LIMIT, &starts, out));
            Ok(())
        },
        nearly(want, 0.0),
    )
}

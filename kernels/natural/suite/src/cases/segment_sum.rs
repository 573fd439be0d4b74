//! Sums of values by sorted keys.

use super::prelude::*;

case!(segment_sum: "sums of values by sorted keys", "values", simulator [3000, 1], gpu 1 << 25);

fn prepare(session: &Session, n: usize) -> Result<Box<dyn Problem>> {
    let segments = n.div_ceil(20);
    let mut keys = below(1, n, segments as u32);
    keys.sort_unstable();
    let values = draw::<f32>(2, n);
    let mut want = vec![0.0; segments];
    for (&key, &value) in keys.iter().zip(&values) {
        want[key as usize] += f64::from(value);
    }
    let kernel = session.pair(kernels::segment_sum::segment_sum, "segment_sum")?;
    let keys = session.stream.upload(&keys)?;
    let values = session.stream.upload(&values)?;
    problem(
        session,
        format!("{n} values, {segments} keys"),
        &vec![0.0f32; segments],
        move |session, side, sums| {
            let grid = Grid::cover(n, 256);
            launch_pair!(session, side, kernel, grid, (&keys, &values, sums));
            Ok(())
        },
        nearly(want, 1e-4),
    )
}

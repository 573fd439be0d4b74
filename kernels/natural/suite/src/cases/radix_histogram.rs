//! How often each digit occurs.

use super::prelude::*;

case!(radix_histogram: "digits of keys, counted in shared memory", "keys", simulator [3000, 1], gpu 1 << 26);

const SHIFT: u32 = 8;

fn prepare(session: &Session, n: usize) -> Result<Box<dyn Problem>> {
    let keys = draw::<u32>(1, n);
    let mut want = vec![0u32; 256];
    for key in &keys {
        want[(key >> SHIFT & 255) as usize] += 1;
    }
    let kernel = session.pair(kernels::radix_histogram::radix_histogram, "radix_histogram")?;
    let keys = session.stream.upload(&keys)?;
    let blocks = n.div_ceil(256).min(1024) as u32;
    problem(
        session,
        format!("{n} keys"),
        &[0u32; 256],
        move |session, side, counts| {
            let grid = Grid::new(blocks, 256);
            launch_pair!(session, side, kernel, grid, (&keys, SHIFT, counts));
            Ok(())
        },
        exactly(want),
    )
}

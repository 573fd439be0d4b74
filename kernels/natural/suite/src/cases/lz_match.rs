//! Copies found for a compressor.

use super::prelude::*;
use kernels::lz_match::{LONGEST, WINDOW};

case!(lz_match: "the longest earlier copy of what follows each byte", "bytes", simulator [500, 1], gpu 1 << 20);

fn prepare(session: &Session, n: usize) -> Result<Box<dyn Problem>> {
    let mut data: Vec<u8> = below(1, n, 5).iter().map(|&byte| byte as u8).collect();
    // Every so often a piece is repeated.
    for at in (100..n.saturating_sub(40)).step_by(77) {
        data.copy_within(at - 20..at + 7, at);
    }
    let step = n.div_ceil(2000);
    let want: Vec<[u16; 2]> = (0..n).step_by(step).map(|at| search(&data, at)).collect();
    let check = exactly(want.as_flattened().to_vec());
    let kernel = session.pair(kernels::lz_match::lz_match, "lz_match")?;
    let data = session.stream.upload(&data)?;
    problem(
        session,
        format!("{n} bytes"),
        &vec![[u16::MAX; 2]; n],
        move |session, side, copies| {
            let grid = Grid::cover(n, 256);
            launch_pair!(session, side, kernel, grid, (&data, copies));
            Ok(())
        },
        every_array(step, check),
    )
}

/// The longest copy by a plain loop.
fn search(data: &[u8], at: usize) -> [u16; 2] {
    let mut best = [0, u16::from(at > 0)];
    for distance in 1..=WINDOW.min(at) {
        let mut length = 0;
        while length < LONGEST
            && at + length < data.len()
            && data[at + length] == data[at + length - distance]
        {
            length += 1;
        }
        if length > usize::from(best[0]) {
            best = [length as u16, distance as u16];
        }
    }
    best
}

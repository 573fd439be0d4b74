//! Runs unpacked.

use super::prelude::*;
use kernels::rle_decode::LINE;

case!(rle_decode: "lines of 64 bytes from runs", "lines", simulator [60, 1], gpu 1 << 20);

fn prepare(session: &Session, n: usize) -> Result<Box<dyn Problem>> {
    let mut random = below(1, 2 * LINE * n, 1 << 16).into_iter();
    let (mut runs, mut starts, mut want) = (Vec::new(), vec![0u32], Vec::new());
    for _ in 0..n {
        let mut left = LINE;
        while left > 0 {
            let word = random.next().expect("two words are drawn for each byte");
            let (count, byte) = ((1 + word as usize % 16).min(left), (word >> 8) as u8);
            runs.extend([count as u8, byte]);
            want.extend(std::iter::repeat_n(byte, count));
            left -= count;
        }
        starts.push(runs.len() as u32);
    }
    let check = exactly(want);
    let kernel = session.pair(kernels::rle_decode::rle_decode, "rle_decode")?;
    let runs = session.stream.upload(&runs)?;
    let starts = session.stream.upload(&starts)?;
    problem(
        session,
        format!("{n} lines, {} runs", runs.len() / 2),
        &vec![[0u8; LINE]; n],
        move |session, side, lines| {
            let grid = Grid::cover(n, 256);
            launch_pair!(session, side, kernel, grid, (&runs, &starts, lines));
            Ok(())
        },
        move |got| check(got.as_flattened()),
    )
}

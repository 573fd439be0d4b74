//! Unpacks runs.

use warpsmith_device::prelude::*;

/// Bytes of a line.
pub const LINE: usize = 64;

/// The line of each row of runs: a byte that says how often, and the byte itself.
#[kernel]
pub fn rle_decode(runs: &[u8], starts: &[u32], mut lines: PerThread<[[u8; LINE]]>) {
    let i = thread::index();
    if let Some(line) = lines.mine() {
        let own = &runs[starts[i] as usize..starts[i + 1] as usize];
        let mut at = 0;
        for run in own.chunks_exact(2) {
            let (count, byte) = (run[0] as usize, run[1]);
            for to in &mut line[at..at + count] {
                *to = byte;
            }
            at += count;
        }
    }
}

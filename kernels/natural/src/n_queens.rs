//! Queens that do not threaten each other, counted by sets of bits.

use warpsmith_device::prelude::*;

/// The most rows of a board.
pub const MOST: usize = 20;

/// A row of the search: what is threatened, and what is yet to try.
#[derive(Clone, Copy, Default)]
struct Row {
    columns: u32,
    left: u32,
    right: u32,
    free: u32,
}

/// How many ways there are to complete each board: `starts` are the squares that the queens of the first rows threaten in the next row,
/// straight down, to the left and to the right; there are `rows` rows more.
#[kernel]
pub fn n_queens(starts: &[[u32; 3]], size: u32, rows: usize, mut counts: PerThread<[u32]>) {
    if let (Some(&start), Some(count)) = (starts.get(thread::index()), counts.mine()) {
        *count = solutions(start, size, rows);
    }
}

/// How many ways there are to complete a board.
pub fn solutions([columns, left, right]: [u32; 3], size: u32, rows: usize) -> u32 {
    let all = (1 << size) - 1;
    let mut stack = [Row::default(); MOST];
    let mut depth = 0;
    let mut count = 0;
    stack[0] = Row {
        columns,
        left,
        right,
        free: all & !(columns | left | right),
    };
    loop {
        let row = &mut stack[depth];
        if row.free == 0 {
            if depth == 0 {
                return count;
            }
            depth -= 1;
            continue;
        }
        let queen = row.free & row.free.wrapping_neg();
        row.free ^= queen;
        if depth + 1 == rows {
            count += 1;
            continue;
        }
        let columns = row.columns | queen;
        let left = (row.left | queen) << 1;
        let right = (row.right | queen) >> 1;
        depth += 1;
        stack[depth] = Row {
            columns,
            left,
            right,
            free: all & !(columns | left | right),
        };
    }
}

//! Checks that the linker may make at once.

use warpsmith_device::prelude::*;

/// Threads of a block.
pub const THREADS: usize = 256;
/// Elements that a block copies to its shared memory.
pub const ELEMENTS: usize = 4 * THREADS;

/// Each thread copies four elements to shared memory, and has one of a neighbour's in the end, unless `x` is too short: then threads panic in one of
/// the rounds.
#[kernel(launch_bounds(256, exact))]
pub fn copies_by_rounds(x: &[u32], mut out: PerThread<[u32]>) {
    let t = thread::thread_idx_x() as usize;
    let tile = shared!(raw [u32; ELEMENTS]).as_mut_ptr().cast::<u32>();
    // SAFETY: all indices are below the tile's length, each thread writes elements of its own, and a barrier stands between writes and reads. Nothing is
    // read that a thread which has panicked did not write.
    unsafe {
        for j in 0..4 {
            *tile.add(t + j * THREADS) = x[t + j * THREADS];
        }
        block::sync();
        if let Some(out) = out.mine()
            && x.len() >= ELEMENTS
        {
            *out = *tile.add((t ^ 1) + (t % 4) * THREADS);
        }
    }
}

/// Each thread writes to its element of `out`, and panics then where `x` is too short.
#[kernel(launch_bounds(256, exact))]
pub fn writes_before_panics(x: &[u32], mut out: PerThread<[u32]>) {
    let t = thread::thread_idx_x() as usize;
    if let Some(out) = out.mine() {
        *out = x[t];
        *out += x[t + THREADS];
    }
}

/// Numbers by which the loops of [`rounds_with_checks()`] are told apart.
pub const LOOPS: u32 = 6;

/// A loop whose rounds read `x` at places that rise by one, by a constant, by a number of run time, or fall; as many rounds as `count` says.
#[kernel]
pub fn rounds_with_checks(
    x: &[u32],
    which: u32,
    start: usize,
    count: usize,
    step: usize,
    mut out: PerThread<[u32]>,
) {
    let Some(out) = out.mine() else { return };
    *out = sum_of_rounds(|place| x[place], which, start, count, step);
}

/// The sums of [`rounds_with_checks()`], of what `read` gives.
#[inline(always)]
pub fn sum_of_rounds(
    mut read: impl FnMut(usize) -> u32,
    which: u32,
    start: usize,
    count: usize,
    step: usize,
) -> u32 {
    let mut sum = 0_u32;
    let mut add = |place: usize| sum = sum.wrapping_mul(3) ^ read(place);
    match which {
        0 => (0..count).for_each(|i| add(start.wrapping_add(i))),
        1 => (0..count).for_each(|i| add(start.wrapping_add(i * 3 + 1))),
        2 => (0..count).for_each(|i| add(start.wrapping_add(i.wrapping_mul(step)))),
        3 => (0..count).for_each(|i| add(start.wrapping_sub(i))),
        // The counter itself is the place, and steps as it does.
        4 => {
            let mut i = start;
            while i < count {
                add(i);
                i = i.wrapping_add(step);
            }
        }
        _ => (0..count as u32).for_each(|i| add((start as u32).wrapping_add(i * 4) as usize)),
    }
    sum
}

/// Copies elements one by one, and panics where `x` is too short: what was copied before stays.
#[kernel]
pub fn rounds_that_write(x: &[u32], count: usize, mut out: RowPerBlock<u32>) {
    if thread::thread_idx_x() == 0
        && let Some(mut own) = out.mine()
    {
        for (i, to) in own.strided().take(count) {
            *to = x[i] + 1;
        }
    }
}

/// Looks up bytes in a table, and panics at the first one that the table does not have.
#[kernel]
pub fn looks_up(x: &[u8], table: &[u32], mut out: PerThread<[u32]>) {
    for (i, out) in out.strided() {
        *out = table[usize::from(x[i])];
    }
}

/// Multiplies each row by a table, a warp a row, and panics at the first column that the table or the row of `x` does not have.
#[kernel]
pub fn multiplies_rows(x: Matrix<u32>, table: &[u32], mut out: RowPerWarp<u32>) {
    if let Some(mut own) = out.mine() {
        let row = x.row(own.row());
        for (column, out) in own.strided() {
            *out = row[column] * table[column];
        }
    }
}

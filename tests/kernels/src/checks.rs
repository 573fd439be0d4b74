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

/// Looks up parts of words in two tables, more or fewer of each word, and notes the sum after each; panics at the first part that a table does not have.
#[kernel]
pub fn looks_up_by_turns(x: &[u32], bytes: &[u32], few: &[u32], mut out: PerThread<[u32]>) {
    let Some(out) = out.mine() else { return };
    for &word in x {
        *out = turn(*out, word, |place| bytes[place], |place| few[place]);
    }
}

/// The sum of [`looks_up_by_turns()`] behind a word, of what is read of a table that has all bytes, and of one that has 16 numbers.
#[inline(always)]
pub fn turn(
    sum: u32,
    word: u32,
    mut bytes: impl FnMut(usize) -> u32,
    mut few: impl FnMut(usize) -> u32,
) -> u32 {
    let part = |by: u32| (word >> by) as usize & 255;
    let sum = sum.rotate_left(3) ^ bytes(part(0));
    match word >> 30 {
        0 => sum ^ few(part(8) & 15) ^ bytes(part(16)),
        1 => sum.wrapping_add(few(word as usize % 11)),
        2 => sum.wrapping_sub(bytes((sum as u8).into())) ^ few(part(20) >> 4),
        _ => sum,
    }
}

/// Follows each thread's edges to nodes: where the length is below that of the node, the node's least gets it. Counts the rounds that were begun.
#[kernel]
pub fn relaxes(
    starts: &[u32],
    edges: &[[u32; 2]],
    lengths: &[u32],
    least: AtomicSlice<u32>,
    rounds: AtomicSlice<u32>,
) {
    let thread = thread::index();
    if thread + 1 >= starts.len() {
        return;
    }
    for &[to, length] in &edges[starts[thread] as usize..starts[thread + 1] as usize] {
        rounds[thread].fetch_add(1, Relaxed);
        if length < lengths[to as usize] {
            least[to as usize].min(length, Relaxed);
        }
    }
}

/// The same by an index that goes beyond the edges, where `end` does, and looks at nothing before it.
#[kernel]
pub fn relaxes_by_index(
    first: usize,
    end: usize,
    edges: &[[u32; 2]],
    lengths: &[u32],
    least: AtomicSlice<u32>,
    rounds: AtomicSlice<u32>,
) {
    let mut i = first;
    while i < end {
        rounds[0].fetch_add(1, Relaxed);
        let [to, length] = edges[i];
        if length < lengths[to as usize & 15] {
            least[to as usize].min(length, Relaxed);
        }
        i += 1;
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

/// In each round a lane reads its next element, and the warp notes whose are odd; a lane panics at the first one that is not there, and those without a
/// weight do so before they read anything.
#[kernel]
pub fn votes_of_rounds(
    x: &[u32],
    starts: &[u32],
    weights: &[u32],
    rounds: u32,
    mut out: PerThread<[u32]>,
) {
    let lane = warp::lane() as usize;
    let Some(out) = out.mine() else { return };
    let start = starts[lane] as usize;
    let mut noted = 0_u32;
    for k in 0..rounds as usize {
        let weight = weights[lane];
        let odd = x[start + k] % 2 == 1;
        noted = noted * weight + warp::ballot(warp::FULL, odd);
    }
    *out = noted;
}

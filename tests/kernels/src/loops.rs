//! Loops of every number of rounds: the linker makes several rounds at once where it can.

use warpsmith_device::prelude::*;

/// Notes a value; in which order they are noted shows.
fn note(sum: u64, value: u32) -> u64 {
    sum.wrapping_mul(31).wrapping_add(u64::from(value) + 1)
}

/// From each thread's start on by a step that may wrap around.
#[kernel]
pub fn by_step(x: &[u32], starts: &[u64], step: u64, mut out: PerThread<[u64]>) {
    let Some(out) = out.mine() else { return };
    let mut i = starts[thread::index()];
    while i < x.len() as u64 {
        *out = note(*out, x[i as usize]);
        i = i.wrapping_add(step);
    }
}

/// The same by numbers of 32 bits.
#[kernel]
pub fn by_short_step(x: &[u32], starts: &[u64], step: u32, mut out: PerThread<[u64]>) {
    let Some(out) = out.mine() else { return };
    let (mut i, mut sum) = (starts[thread::index()] as u32, 0);
    while i < x.len() as u32 {
        sum = note(sum, x[i as usize]);
        i = i.wrapping_add(step);
    }
    *out = sum;
}

/// Every nth element, by the standard library's iterators.
#[kernel]
pub fn by_iterators(x: &[u32], step: u64, mut out: PerThread<[u64]>) {
    let Some(out) = out.mine() else { return };
    let mut sum = 0;
    for &value in x.iter().skip(thread::index()).step_by(step as usize) {
        sum = note(sum, value);
    }
    *out = sum;
}

/// From the end downwards.
#[kernel]
pub fn downwards(x: &[u32], step: u64, mut out: PerThread<[u64]>) {
    let Some(out) = out.mine() else { return };
    let (mut left, mut sum) = (x.len() as u64, 0);
    let low = thread::index() as u64 + step;
    while left > low {
        left -= step;
        sum = note(sum, x[left as usize]);
    }
    *out = sum;
}

/// Until a value is found.
#[kernel]
pub fn until(x: &[u32], step: u64, wanted: u32, mut out: PerThread<[u64]>) {
    let Some(out) = out.mine() else { return };
    let (mut i, mut sum) = (thread::index() as u64, 0);
    while i < x.len() as u64 {
        let value = x[i as usize];
        if value == wanted {
            sum = note(sum, 1000);
            break;
        }
        sum = note(
            sum,
            if value.is_multiple_of(3) {
                value
            } else {
                value + 7
            },
        );
        i += step;
    }
    *out = sum;
}

/// Two sums that change places in each round.
#[kernel]
pub fn in_turns(x: &[u32], step: u64, mut out: PerThread<[u64]>) {
    let Some(out) = out.mine() else { return };
    let (mut one, mut other) = (1, 2);
    let mut i = thread::index() as u64;
    while i < x.len() as u64 {
        (one, other) = (other, note(one, x[i as usize]));
        i += step;
    }
    *out = one ^ other.rotate_left(7);
}

/// Writes what later rounds read.
#[kernel]
pub fn running(mut x: PerBlock<[[u32; 64]]>, n: u32, step: u32) {
    let Some(x) = x.leader() else { return };
    let mut i = 0;
    while i < n {
        let before = x[i as usize & 63];
        x[(i + step) as usize & 63] = before.wrapping_mul(5).wrapping_add(i);
        i += step;
    }
}

/// From one number up to another one and with it, by numbers of each width and sign; all are taken from the ends of their type where the words
/// of `ends` say so.
#[kernel]
pub fn inclusive_ranges(x: &[u32], ends: &[[i64; 2]], mut out: PerThread<[[u64; 6]]>) {
    let Some(out) = out.mine() else { return };
    let [first, last] = ends[thread::index()];
    for i in first as u64..=last as u64 {
        out[0] = note(out[0], x[i as usize & 15]);
    }
    for i in first..=last {
        out[1] = note(out[1], x[i as usize & 15]);
    }
    for i in first as u32..=last as u32 {
        out[2] = note(out[2], x[i as usize & 15]);
    }
    for i in first as i32..=last as i32 {
        out[3] = note(out[3], x[i as usize & 15]);
    }
    for i in first as u8..=last as u8 {
        out[4] = note(out[4], x[i as usize & 15]);
    }
    for i in first as i8..=last as i8 {
        out[5] = note(out[5], x[i as usize & 15]);
    }
}

/// The same with a loop that ends early, and what is left of the range then.
#[kernel]
pub fn inclusive_until(ends: &[[i64; 2]], wanted: i64, mut out: PerThread<[u64]>) {
    let Some(out) = out.mine() else { return };
    let [first, last] = ends[thread::index()];
    let mut range = first..=last;
    let mut sum = 0;
    for i in range.by_ref() {
        sum = note(sum, i as u32);
        if i == wanted {
            break;
        }
    }
    sum = note(sum, range.is_empty().into());
    for i in range {
        sum = note(sum, (i as u32).wrapping_add(1));
    }
    *out = sum;
}

/// A square of a picture, by two inclusive ranges.
#[kernel]
pub fn around(picture: Matrix<u32>, radius: usize, mut out: MatrixOut<u64>) {
    let (row, column) = (out.row(), out.column());
    if let Some(out) = out.mine() {
        let columns = column.saturating_sub(radius)..=(column + radius).min(picture.columns() - 1);
        for y in row.saturating_sub(radius)..=(row + radius).min(picture.rows() - 1) {
            for x in columns.clone() {
                *out = note(*out, picture[(y, x)]);
            }
        }
    }
}

/// Every nth pair of two slices from the thread's one on, by a step of run time and by a constant one.
#[kernel]
pub fn nth_pairs(x: &[u32], y: &[u32], step: u64, mut out: PerThread<[[u64; 2]]>) {
    let Some(out) = out.mine() else { return };
    let pairs = || x.iter().zip(y).skip(thread::index());
    for (x, y) in pairs().step_by(step as usize) {
        out[0] = note(out[0], x ^ (y << 8));
    }
    out[1] = pairs()
        .step_by(7)
        .map(|(x, y)| u64::from(*x) * u64::from(y + 1))
        .fold(5, |sum, product| sum.wrapping_mul(31).wrapping_add(product));
}

/// A flag that is also a number, and a sum that depends on it behind the branch that it decides.
#[kernel]
pub fn flag_as_number(x: &[u32], limit: u32, mut out: PerThread<[u64]>) {
    let Some(out) = out.mine() else { return };
    let (mut i, mut sum) = (0_u32, 0);
    loop {
        let is_last = i >= limit;
        let next = i.wrapping_add(u32::from(!is_last));
        sum = note(sum, x[(i & 15) as usize]);
        if is_last || next > limit {
            break;
        }
        i = next;
        if i.wrapping_mul(7) == 49 {
            sum = note(sum, next);
        }
    }
    *out = note(sum, i);
}

/// Two slices, and pointers to elements of them, that change places in some rounds.
#[kernel]
pub fn swapped(x: &[u32], y: &[u32], rounds: u32, mut out: PerThread<[u64]>) {
    let Some(out) = out.mine() else { return };
    let (mut from, mut other) = (x, y);
    let (mut near, mut far) = (&raw const x[0], &raw const y[0]);
    let mut sum = 0;
    for round in 0..rounds {
        sum = note(sum, from[round as usize % from.len()]);
        // SAFETY: both lead to the first elements of slices.
        sum = note(sum, unsafe { *near });
        core::mem::swap(&mut near, &mut far);
        if round * 5 % 3 != 1 {
            core::mem::swap(&mut from, &mut other);
        }
    }
    *out = sum;
}

/// Threads of a block of [`in_step()`].
pub const IN_STEP: usize = 64;

/// Numbers that go from thread to thread, a barrier in each round; every other thread ends before the round `end`.
#[kernel(launch_bounds(64, exact))]
pub fn in_step(x: &[u32], rounds: u32, places: u32, end: u32, mut out: PerThread<[u64]>) {
    let t = thread::thread_idx_x() as usize;
    let Some(out) = out.mine() else { return };
    let rows = shared!(raw [[u32; IN_STEP + 1]; 3]).as_mut_ptr();
    let places = places.max(1) as usize;
    let mut sum = 0;
    // SAFETY: element `t + 1` of a row is written by thread `t`, and read by its neighbour after a barrier; the row that is written is none of
    // the two that are read. Element 0 is written by thread 0 before the first barrier.
    unsafe {
        for row in 0..3 {
            (*rows)[row][t + 1] = 0;
            if t == 0 {
                (*rows)[row][0] = 0;
            }
        }
        block::sync();
        for d in 0..rounds as usize {
            if d as u32 == end && t % 2 == 1 {
                *out = note(sum, 1);
                return;
            }
            let mut value = 0;
            if d >= t && d - t < x.len() {
                let (before, two_before) = (&(*rows)[(d + 2) % 3], &(*rows)[(d + 1) % 3]);
                value = passed_on(two_before[t], before[t], x[d - t], (d % places) as u32);
                sum = note(sum, value);
            }
            (*rows)[d % 3][t + 1] = value;
            block::sync();
        }
    }
    *out = sum;
}

fn passed_on(two_before: u32, before: u32, x: u32, place: u32) -> u32 {
    (two_before.wrapping_mul(3) ^ before)
        .wrapping_add(x)
        .wrapping_add(place)
}

/// What [`in_step()`] gives.
pub fn in_step_on_host(x: &[u32], rounds: u32, places: u32, end: u32) -> [u64; IN_STEP] {
    let mut rows = [[0; IN_STEP + 1]; 3];
    let mut sums = [0; IN_STEP];
    for d in 0..rounds as usize {
        let (before, two_before) = (rows[(d + 2) % 3], rows[(d + 1) % 3]);
        for t in 0..IN_STEP {
            let has_ended = !t.is_multiple_of(2) && d as u32 >= end;
            if has_ended && d as u32 == end {
                sums[t] = note(sums[t], 1);
            }
            if has_ended {
                continue;
            }
            let mut value = 0;
            if d >= t && d - t < x.len() {
                value = passed_on(two_before[t], before[t], x[d - t], d as u32 % places);
                sums[t] = note(sums[t], value);
            }
            rows[d % 3][t + 1] = value;
        }
    }
    sums
}

/// A constant number of rounds with a barrier in each, as often as they are counted out.
#[kernel(launch_bounds(64, exact))]
pub fn counted_out(x: &[u32], mut out: PerThread<[u64]>) {
    let t = thread::thread_idx_x() as usize;
    let mut from = shared!(raw [u32; IN_STEP]).as_mut_ptr().cast::<u32>();
    let mut to = shared!(raw [u32; IN_STEP]).as_mut_ptr().cast::<u32>();
    let Some(out) = out.mine() else { return };
    // SAFETY: all indices are below 64. In each step every thread reads `from` and writes its own element of `to`; a barrier stands between
    // this step and the next.
    unsafe {
        *from.add(t) = x[t];
        block::sync();
        let mut p = 1;
        while p < IN_STEP {
            let k = t % p;
            let value = *from.add((t + p * 5) % IN_STEP);
            *to.add(t) = stirred(value, (k * p) as u32);
            *out = note(*out, value);
            core::mem::swap(&mut from, &mut to);
            block::sync();
            p *= 2;
        }
    }
}

/// Some arithmetic, so that the rounds are not small.
fn stirred(value: u32, with: u32) -> u32 {
    let mut all = [value, with, value ^ with, value.wrapping_add(with)];
    for n in 0..4 {
        let next = all[(n + 1) % 4];
        all[n] = (all[n].rotate_left(5) ^ next)
            .wrapping_mul(0x9E37_79B1)
            .wrapping_add(n as u32);
    }
    all[0] ^ all[1] ^ all[2] ^ all[3]
}

/// What [`counted_out()`] gives.
pub fn counted_out_on_host(x: &[u32; IN_STEP]) -> [u64; IN_STEP] {
    let (mut from, mut sums) = (*x, [0; IN_STEP]);
    for p in [1, 2, 4, 8, 16, 32] {
        let values: [u32; IN_STEP] = core::array::from_fn(|t| from[(t + p * 5) % IN_STEP]);
        for t in 0..IN_STEP {
            sums[t] = note(sums[t], values[t]);
            from[t] = stirred(values[t], (t % p * p) as u32);
        }
    }
    sums
}

/// How many sums [`inclusive_of`] gives.
pub const INCLUSIVE: usize = 9;

/// Sums over ranges that include their ends.
#[kernel]
pub fn inclusive(ends: &[[i64; 2]], wanted: i64, mut out: PerThread<[[u64; INCLUSIVE]]>) {
    if let (Some(out), Some(&[first, last])) = (out.mine(), ends.get(thread::index())) {
        *out = inclusive_of(first, last, wanted);
    }
}

/// The same of one range, in types of all widths.
pub fn inclusive_of(first: i64, last: i64, wanted: i64) -> [u64; INCLUSIVE] {
    let mut sums = [0; INCLUSIVE];
    for n in first as u64..=last as u64 {
        sums[0] = note(sums[0], n as u32);
    }
    for n in first..=last {
        if n == wanted {
            break;
        }
        sums[1] = note(sums[1], n as u32);
    }
    for n in (first as u32..=last as u32).rev() {
        sums[2] = note(sums[2], n);
    }
    for n in (first..=last).rev() {
        if n & 3 == wanted & 3 {
            continue;
        }
        sums[3] = note(sums[3], n as u32);
    }
    for n in first as u8..=last as u8 {
        sums[4] = note(sums[4], n.into());
    }
    for n in first as i8..=last as i8 {
        for inner in first as i8..=n {
            sums[5] = note(sums[5], (n ^ inner) as u32);
        }
    }
    let mut range = first as u32..=last as u32;
    while let Some(n) = range.next() {
        if i64::from(n) == wanted {
            break;
        }
        sums[6] = note(sums[6], n ^ *range.start());
    }
    sums[6] = note(note(sums[6], *range.start()), range.is_empty().into());
    sums[7] = first_multiple(first as u32, last as u32, wanted as u32);
    for row in 0..5_u32 {
        for n in row..=wanted as u32 & 7 {
            for inner in (row..=n).rev() {
                sums[8] = note(sums[8], n * 8 + inner);
            }
        }
    }
    sums
}

fn first_multiple(first: u32, last: u32, of: u32) -> u64 {
    for n in first..=last {
        if n.checked_rem(of) == Some(0) {
            return n.into();
        }
    }
    u64::MAX
}

/// All bytes, upwards and downwards.
#[kernel]
pub fn all_bytes(mut out: PerThread<[[u64; 3]]>) {
    if let Some(out) = out.mine() {
        *out = sums_of_all_bytes();
    }
}

/// What is noted of them.
pub fn sums_of_all_bytes() -> [u64; 3] {
    [
        (0..=u8::MAX).fold(0, |sum, n| note(sum, n.into())),
        (i8::MIN..=i8::MAX)
            .rev()
            .fold(0, |sum, n| note(sum, n as u32)),
        {
            let mut sum = 0;
            for n in 0..=u8::MAX {
                sum = note(sum, n.into());
            }
            for n in (i8::MIN..=i8::MAX).rev() {
                sum = note(sum, n as u32);
            }
            sum
        },
    ]
}

/// Elements of a part.
#[kernel]
pub fn parts(x: &[u32], ranges: &[[u32; 2]], mut out: PerThread<[[u64; 2]]>) {
    if let (Some(&[first, end]), Some(out)) = (ranges.get(thread::index()), out.mine()) {
        let part = &x[first as usize..end as usize];
        let ones = part.iter().map(|x| x.count_ones()).sum();
        *out = [part.iter().fold(0, |sum, x| note(sum, *x)), note(0, ones)];
    }
}

/// How many elements a tile of shared memory has.
pub const TILE: usize = 256;

/// In what place of all each number goes in sorted order: of equal ones the first one goes first.
#[kernel(launch_bounds(256, exact))]
pub fn ranks_by_tiles(numbers: &[u32], mut ranks: PerThread<[u32]>) {
    let i = thread::index();
    let own = numbers.get(i).copied().unwrap_or(u32::MAX);
    let mut tile = shared!([u32; TILE]);
    let mut rank = 0;
    for start in (0..numbers.len()).step_by(TILE) {
        let at = start + thread::thread_idx_x() as usize;
        let others = tile
            .refill()
            .write(numbers.get(at).copied().unwrap_or(u32::MAX))
            .sync();
        for (j, &other) in others.iter().enumerate() {
            if other < own || (other == own && start + j < i) {
                rank += 1;
            }
        }
    }
    if let Some(out) = ranks.mine() {
        *out = rank;
    }
}

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

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

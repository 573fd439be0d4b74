//! Local arrays and stack slots that the linker makes registers of. What each kernel computes the host computes by the same function.

use warpsmith_device::prelude::*;

/// A least sum along a diagonal of 32 columns, until a value is found.
pub fn columns(values: &[u32; 32], rounds: u32, wanted: u32) -> u32 {
    let mut row = [0; 33];
    for round in 0..rounds {
        let mut diagonal = row[0];
        row[0] = round;
        for j in 0..32 {
            let above = row[j + 1];
            if values[j].wrapping_add(round) == wanted {
                return row[j].wrapping_mul(1000) + j as u32;
            }
            let here = diagonal + (values[j] ^ round) % 5;
            row[j + 1] = here.min(above + 1).min(row[j] + 1);
            diagonal = above;
        }
    }
    row.iter()
        .fold(0, |sum: u32, x| sum.wrapping_mul(3).wrapping_add(*x))
}

/// Rounds of an inner loop that depend on the outer one's, with exchanges.
pub fn triangle(values: &[u32; 32]) -> u32 {
    let mut sums = [0; 12];
    sums.copy_from_slice(&values[..12]);
    for i in 0..12 {
        for j in i + 1..12 {
            if sums[j] < sums[i] {
                sums.swap(i, j);
            }
            sums[j] = sums[j].wrapping_mul(sums[i]).rotate_left(i as u32) ^ sums[j - 1];
        }
    }
    sums.iter()
        .rev()
        .fold(7, |sum, x| sum ^ x.rotate_left(sum % 32))
}

/// Multiplied steps, down and up, and an iterator that owns its array.
pub fn steps(values: &[u32; 32]) -> u32 {
    let mut words = *values;
    let mut step = 16;
    while step > 0 {
        for i in 0..32 - step {
            words[i] = words[i].wrapping_mul(5) ^ words[i + step].rotate_left(step as u32);
        }
        step /= 2;
    }
    let mut sum = 0_u32;
    for (i, word) in words.into_iter().enumerate().skip(3).step_by(2) {
        sum = sum.rotate_left(i as u32) ^ word;
    }
    sum
}

/// Two pairs that are written in turns, the first one given.
pub fn turns(values: &[u32; 32], rounds: u32, first: u32) -> u32 {
    let (mut one, mut other) = ([first, 2], [3_u32, 4_u32]);
    let (mut a, mut b) = (&mut one, &mut other);
    for (i, value) in (0..rounds).zip(values.iter().cycle()) {
        a[0] = a[0].wrapping_mul(31) ^ value;
        b[1] = b[1].wrapping_add(a[1]);
        if (value ^ i) & 1 == 0 {
            core::mem::swap(&mut a, &mut b);
        }
    }
    a[1] ^= b[0];
    one[0] ^ one[1].rotate_left(8) ^ other[0].rotate_left(16) ^ other[1]
}

/// The words of a thread.
fn words_of(values: &[[u32; 32]]) -> &[u32; 32] {
    &values[thread::index()]
}

/// See [`columns`].
#[kernel]
pub fn columns_of_threads(
    values: &[[u32; 32]],
    rounds: u32,
    wanted: u32,
    mut out: PerThread<[u32]>,
) {
    if let Some(out) = out.mine() {
        *out = columns(words_of(values), rounds, wanted);
    }
}

/// See [`triangle`].
#[kernel]
pub fn triangles(values: &[[u32; 32]], mut out: PerThread<[u32]>) {
    if let Some(out) = out.mine() {
        *out = triangle(words_of(values));
    }
}

/// See [`steps`].
#[kernel]
pub fn steps_of_threads(values: &[[u32; 32]], mut out: PerThread<[u32]>) {
    if let Some(out) = out.mine() {
        *out = steps(words_of(values));
    }
}

/// See [`turns`].
#[kernel]
pub fn turns_of_threads(values: &[[u32; 32]], rounds: u32, mut out: PerThread<[u32]>) {
    if let Some(out) = out.mine() {
        *out = turns(words_of(values), rounds, thread::index() as u32);
    }
}

/// A tree of sums in a warp, of which each level is kept: threads meet in a loop that is unrolled.
#[kernel]
pub fn levels(values: &[u32], mut out: PerThread<[[u32; 5]]>) {
    let mut sums = [0; 5];
    let mut sum = values.get(thread::index()).copied().unwrap_or(0);
    for (i, level) in sums.iter_mut().enumerate() {
        sum = sum.wrapping_add(warp::shuffle_xor(warp::FULL, sum, 1 << i));
        *level = sum;
    }
    if let Some(out) = out.mine() {
        *out = sums;
    }
}

/// The element of each thread and its neighbour's, or another value where there is none.
#[kernel]
pub fn with_neighbour(values: &[[f32; 4]], nothing: [f32; 4], mut out: PerThread<[[f32; 4]]>) {
    let i = thread::index();
    let own = values.get(i).copied().unwrap_or(nothing);
    block::sync();
    let next = values.get(i + 1).copied().unwrap_or(nothing);
    if let Some(out) = out.mine() {
        *out = [own[0], next[1], own[2], next[3]];
    }
}

//! Stores that the linker moves behind a decision, and decisions that it makes at once.

use core::sync::atomic::{Ordering, fence};

use warpsmith_device::prelude::*;

/// What is computed of an element's neighbours, and 0 where one is missing.
#[kernel]
pub fn inner_elements(x: &[u32], mut out: PerThread<[u32]>) {
    let i = thread::index();
    let Some(out) = out.mine() else { return };
    *out = 0;
    if i > 0 && i + 1 < x.len() {
        *out = inner(x[i - 1], x[i], x[i + 1]);
    }
}

/// An inner element of [`inner_elements()`].
#[inline(always)]
pub fn inner(left: u32, own: u32, right: u32) -> u32 {
    let value = left ^ right;
    match value {
        0..=7 => value,
        _ => value / (own | 1),
    }
}

/// Marks elements one after the other, and takes each mark away again.
///
/// # Safety
/// `out` has an element of the thread's for each of `x`, `step` apart.
#[kernel]
pub unsafe fn marks(x: &[u32], step: usize, out: *mut u32) {
    // SAFETY: the elements are there.
    unsafe {
        let mut own = out;
        let mut i = 0;
        loop {
            *own = 1;
            match *x.get_unchecked(i) {
                0..=7 => fence(Ordering::Acquire),
                _ => fence(Ordering::Release),
            }
            *own = 0;
            i += 1;
            if i >= x.len() {
                break;
            }
            own = own.add(step);
        }
    }
}

/// How many rounds each point takes until it is far away.
#[kernel]
pub fn rounds_of_points(points: &[[f32; 2]], limit: u32, mut out: PerThread<[u32]>) {
    if let Some(out) = out.mine() {
        *out = rounds(points[thread::index()], limit);
    }
}

/// The rounds of a point.
#[inline(always)]
pub fn rounds([re, im]: [f32; 2], limit: u32) -> u32 {
    let ([mut x, mut y], mut count) = ([re, im], 0);
    while count < limit && x * x + y * y < 4.0 {
        (x, y) = (x * x - y * y + re, 2.0 * x * y + im);
        count += 1;
    }
    count
}

/// Small arrays, put together of parts of a number.
#[kernel]
pub fn arrays_of_parts(
    x: &[u64],
    mut bytes: PerThread<[[u8; 3]]>,
    mut halves: PerThread<[[u16; 2]]>,
    mut mixed: PerThread<[[u8; 7]]>,
) {
    let Some(&x) = x.get(thread::index()) else {
        return;
    };
    let all = (bytes.mine(), halves.mine(), mixed.mine());
    if let (Some(bytes), Some(halves), Some(mixed)) = all {
        (*bytes, *halves, *mixed) = parts(x);
    }
}

/// What [`arrays_of_parts()`] makes of a number.
#[inline(always)]
pub fn parts(x: u64) -> ([u8; 3], [u16; 2], [u8; 7]) {
    let (low, high) = (x as u32, (x >> 32) as u32);
    let sum = low.wrapping_add(high);
    let bytes = [sum as u8, (high >> 3) as u8, ((low & 0xf) | 0x20) as u8];
    let halves = [(low ^ high) as u16, (sum >> 16) as u16];
    let mixed = [
        7,
        (x >> 13) as u8,
        sum as u8,
        (low < high) as u8,
        (low as i8 >> 2) as u8,
        0,
        (x >> 56) as u8,
    ];
    (bytes, halves, mixed)
}

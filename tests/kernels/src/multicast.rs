//! Kernels on memory of several devices at once.

use warpsmith_device::atomic::MulticastSlice;
use warpsmith_device::fence;
use warpsmith_device::prelude::*;

/// One thread: adds this device's partial sum of squares, waits for the other devices, and gives the norm over all of them.
#[kernel]
pub fn norm(
    partial: f32,
    devices: u32,
    sums: MulticastSlice<'_, f32>,
    arrived: MulticastSlice<'_, u32>,
    mut out: PerThread<[f32]>,
) {
    sums.local()[0].store(partial, Relaxed);
    // The partial sum is seen by the others' operations on all replicas.
    fence::alias();
    arrived.reduce_add(0, 1, Release);
    fence::alias();
    while arrived.local()[0].load(Acquire) < devices {}
    fence::alias();
    let sum = sums.load_reduce_add(0, Relaxed);
    if let Some(out) = out.mine() {
        *out = sum.sqrt();
    }
}

/// Each kind of operation once, on words of its own.
#[kernel]
pub fn each_operation(
    words: MulticastSlice<'_, u32>,
    wide: MulticastSlice<'_, i64>,
    singles: MulticastSlice<'_, f32>,
    found: AtomicSlice<'_, u32>,
) {
    words.store(0, 5, Relaxed);
    words.reduce_add(1, 3, Relaxed);
    words.reduce_min(2, 2, Relaxed);
    words.reduce_max(3, 9, Relaxed);
    words.reduce_or(4, 6, Relaxed);
    words.reduce_and(5, 1, Relaxed);
    words.reduce_xor(6, 7, Release);
    wide.reduce_add(0, -2, Relaxed);
    wide.reduce_min(1, -7, Relaxed);
    singles.reduce_add_4(1, [1.0, 2.0, 3.0, 4.0]);
    singles.store(0, 0.5, Release);
    found[0].store(words.load_reduce_add(0, Relaxed), Relaxed);
    found[1].store(words.load_reduce_min(3, Relaxed), Relaxed);
    found[2].store(words.load_reduce_max(3, Acquire), Relaxed);
    found[3].store(words.load_reduce_and(4, Relaxed), Relaxed);
    found[4].store(words.load_reduce_or(4, Relaxed), Relaxed);
    found[5].store(words.load_reduce_xor(4, Relaxed), Relaxed);
    found[6].store(wide.load_reduce_min(1, Relaxed) as u32, Relaxed);
    let [a, b, c, d] = singles.load_reduce_add_4(1, Relaxed);
    found[7].store((a * 1000.0 + b * 100.0 + c * 10.0 + d) as u32, Relaxed);
}

/// A word that there is not.
#[kernel]
pub fn outside(words: MulticastSlice<'_, u32>, index: u32) {
    words.reduce_add(index as usize, 1, Relaxed);
}

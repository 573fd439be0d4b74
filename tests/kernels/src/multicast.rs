//! Kernels on memory of several devices at once.

use warpsmith_device::atomic::{MulticastAdd, MulticastGroup, MulticastSlice, MulticastStore};
use warpsmith_device::fence;
use warpsmith_device::half::{Bf16x2, F16x2};
use warpsmith_device::prelude::*;

/// Waits until each device has come here so often; `fence::alias` stands around it.
fn wait_for_all(arrived: MulticastSlice<'_, u32>, devices: u32, times: u32) {
    fence::alias();
    arrived.reduce_add(0, 1, Release);
    fence::alias();
    while arrived.local()[0].load(Acquire) < devices * times {}
    fence::alias();
}

/// One thread of each device: adds up the partial sums of all devices, in each of so many rounds; the square root of the last one, and the sum of all.
/// The second wait keeps a fast device from the next round while a slow one still reads this round's sums.
#[kernel]
pub fn norm(
    partial: f32,
    devices: u32,
    rounds: u32,
    sums: MulticastSlice<'_, f32>,
    arrived: MulticastSlice<'_, u32>,
    mut out: PerThread<[[f32; 2]]>,
) {
    let mut all = 0.0;
    let mut sum = 0.0;
    for round in 0..rounds {
        sums.local()[0].store(partial + round as f32, Relaxed);
        wait_for_all(arrived, devices, 2 * round + 1);
        sum = sums.load_reduce_add(0, Relaxed);
        all += sum;
        wait_for_all(arrived, devices, 2 * round + 2);
    }
    if let Some(out) = out.mine() {
        *out = [sum.sqrt(), all];
    }
}

macro_rules! integers {
    ($($name:ident $type:ty;)*) => {$(
        /// Each operation on integers: reductions of words of their own, a store, and all that word 7 is loaded by.
        #[kernel]
        pub fn $name(words: MulticastSlice<'_, $type>, found: AtomicSlice<'_, $type>) {
            words.reduce_add(0, 3, Relaxed);
            words.reduce_min(1, 12, Relaxed);
            words.reduce_max(2, 12, Relaxed);
            words.reduce_and(3, 6, Relaxed);
            words.reduce_or(4, 6, Relaxed);
            words.reduce_xor(5, 6, Relaxed);
            words.store(6, 5, Relaxed);
            found[0].store(words.load_reduce_add(7, Relaxed), Relaxed);
            found[1].store(words.load_reduce_min(7, Relaxed), Relaxed);
            found[2].store(words.load_reduce_max(7, Relaxed), Relaxed);
            found[3].store(words.load_reduce_and(7, Relaxed), Relaxed);
            found[4].store(words.load_reduce_or(7, Relaxed), Relaxed);
            found[5].store(words.load_reduce_xor(7, Relaxed), Relaxed);
        }
    )*};
}
integers! {
    multimem_u32 u32;
    multimem_i32 i32;
    multimem_u64 u64;
    multimem_i64 i64;
}

/// Word 0 is added to, word 1 stored, word 2 loaded.
fn each_on_floats<T: MulticastAdd + MulticastStore>(
    words: MulticastSlice<'_, T>,
    value: T,
    found: AtomicSlice<'_, T>,
) {
    words.reduce_add(0, value, Relaxed);
    words.store(1, value, Relaxed);
    found[0].store(words.load_reduce_add(2, Relaxed), Relaxed);
}

/// [`each_on_floats`], and the same on groups of four words from word 4 on.
fn each_on_groups<T: MulticastAdd + MulticastStore + MulticastGroup>(
    words: MulticastSlice<'_, T>,
    value: T,
    found: AtomicSlice<'_, T>,
) {
    each_on_floats(words, value, found);
    words.reduce_add_4(1, [value; 4], Relaxed);
    let sums = words.load_reduce_add_4(3, Relaxed);
    for (i, sum) in sums.into_iter().enumerate() {
        found[1 + i].store(sum, Relaxed);
    }
}

/// Each operation on doubles.
#[kernel]
pub fn multimem_f64(words: MulticastSlice<'_, f64>, value: f64, found: AtomicSlice<'_, f64>) {
    each_on_floats(words, value, found);
}

macro_rules! groups {
    ($($name:ident $type:ty;)*) => {$(
        /// Each operation on floats of which one instruction takes four.
        #[kernel]
        pub fn $name(words: MulticastSlice<'_, $type>, value: $type, found: AtomicSlice<'_, $type>) {
            each_on_groups(words, value, found);
        }
    )*};
}
groups! {
    multimem_f32 f32;
    multimem_f16x2 F16x2;
    multimem_bf16x2 Bf16x2;
}

/// Each order that an operation takes.
#[kernel]
pub fn multimem_orders(words: MulticastSlice<'_, f32>, found: AtomicSlice<'_, f32>) {
    words.store(0, 1.0, Relaxed);
    words.store(0, 2.0, Release);
    words.store(0, 3.0, SeqCst);
    words.reduce_add(0, 1.0, Relaxed);
    words.reduce_add(0, 2.0, Release);
    words.reduce_add(0, 3.0, SeqCst);
    words.reduce_add_4(1, [1.0; 4], Relaxed);
    words.reduce_add_4(1, [2.0; 4], Release);
    words.reduce_add_4(1, [3.0; 4], SeqCst);
    found[0].store(words.load_reduce_add(0, Relaxed), Relaxed);
    found[1].store(words.load_reduce_add(0, Acquire), Relaxed);
    found[2].store(words.load_reduce_add(0, SeqCst), Relaxed);
    found[3].store(words.load_reduce_add_4(1, Acquire)[2], Relaxed);
}

/// Adds to each replica's word 0, many times.
#[kernel]
pub fn add_often(words: MulticastSlice<'_, u32>, times: u32) {
    for _ in 0..times {
        words.reduce_add(0, 1, Relaxed);
    }
}

/// A group of words of which the last ones are not there.
#[kernel]
pub fn outside(words: MulticastSlice<'_, f32>, group: u32) {
    words.reduce_add_4(group as usize, [1.0; 4], Relaxed);
}

//! Atomic words in the threads' own local memory, beside words of the grid: the same operations give the same results.
//!
//! Thread 0 of each kernel uses a word of the grid, thread 1 one of its own, the others one of their own or of the grid by a pointer
//! of which no compiler knows where it leads.

use warpsmith_device::atomic::{AtomicAdd, AtomicBits, AtomicOrder, AtomicValue};
use warpsmith_device::half::{F16x2, f16};
use warpsmith_device::prelude::*;

/// Loads, stores and exchanges.
#[inline(always)]
fn values<T: AtomicValue>(word: &Atomic<T>, value: T) -> [T; 6] {
    let first = word.load(SeqCst);
    let exchanged = word.compare_exchange(first, value, AcqRel);
    let kept = word.compare_exchange(first, first, SeqCst);
    let last = word.swap(first, Release);
    word.store(value, Release);
    [
        first,
        exchanged.unwrap_or(first),
        kept.unwrap_or_else(|seen| seen),
        last,
        word.load(Acquire),
        word.load(Relaxed),
    ]
}

/// Additions.
#[inline(always)]
fn additions<T: AtomicAdd>(word: &Atomic<T>, value: T) -> [T; 4] {
    let first = word.fetch_add(value, Relaxed);
    word.add(value, Release);
    word.add(value, SeqCst);
    let second = word.fetch_sub(first, AcqRel);
    word.sub(value, Relaxed);
    [first, second, word.load(Relaxed), word.swap(first, Relaxed)]
}

/// What integers have.
#[inline(always)]
fn integers<T: AtomicAdd + AtomicOrder + AtomicBits>(word: &Atomic<T>, value: T) -> [T; 12] {
    let [a, b, c, _] = additions(word, value);
    word.min(value, Relaxed);
    let d = word.fetch_min(a, SeqCst);
    word.max(value, Relaxed);
    let e = word.fetch_max(b, Acquire);
    word.or(value, Relaxed);
    let f = word.fetch_and(c, Release);
    word.and(value, Relaxed);
    let g = word.fetch_or(a, AcqRel);
    word.xor(value, Relaxed);
    let h = word.fetch_xor(b, Relaxed);
    let [i, j, k, _, l, _] = values(word, value);
    [a, b, c, d, e, f, g, h, i, j, k, l]
}

/// The bounded counters.
#[inline(always)]
fn counters(word: &Atomic<u32>, bound: u32) -> [u32; 8] {
    core::array::from_fn(|i| match i {
        0 | 1 => word.fetch_inc(bound, Relaxed),
        2 => {
            word.inc(bound, Relaxed);
            word.swap(1, Relaxed)
        }
        3 => {
            word.dec(bound, Relaxed);
            word.load(Relaxed)
        }
        _ => word.fetch_dec(bound, Relaxed),
    })
}

/// A kernel that runs `$operations` on a word of each kind.
macro_rules! kernels {
    ($($(#[$documentation:meta])* $name:ident $operations:ident $type:ty, $results:literal;)*) => {$(
        $(#[$documentation])*
        #[kernel]
        pub fn $name(
            initial: $type,
            value: $type,
            words: AtomicSlice<'_, $type>,
            mut seen: PerThread<[[$type; $results]]>,
        ) {
            #[inline(never)]
            fn anywhere(word: &Atomic<$type>, value: $type) -> [$type; $results] {
                $operations(word, value)
            }
            let index = thread::index();
            let own = Atomic::<$type>::new(initial);
            let results = match index {
                0 => $operations(&words[0], value),
                1 => $operations(&own, value),
                _ if index % 3 == 0 => anywhere(&words[index], value),
                _ => anywhere(&own, value),
            };
            if let Some(seen) = seen.mine() {
                *seen = results;
            }
        }
    )*};
}
kernels! {
    /// Words of 16 bits.
    values_u16 values u16, 6;
    /// Words of 32 bits.
    integers_u32 integers u32, 12;
    /// With a sign.
    integers_i32 integers i32, 12;
    /// Words of 64 bits.
    integers_u64 integers u64, 12;
    /// With a sign.
    integers_i64 integers i64, 12;
    /// Bounded counters.
    counters_u32 counters u32, 8;
    /// Floats.
    additions_f32 additions f32, 4;
    /// Doubles.
    additions_f64 additions f64, 4;
}

/// Half-precision floats, alone and in pairs: the sums of words of the thread's own.
#[kernel]
pub fn additions_f16(value: f16, mut sums: PerThread<[[f32; 2]]>) {
    let (word, pair) = (
        Atomic::<f16>::new(value),
        Atomic::<F16x2>::new(F16x2::splat(value)),
    );
    word.add(value, Relaxed);
    pair.fetch_add(F16x2::splat(value), Relaxed);
    if let Some(sums) = sums.mine() {
        *sums = [
            word.load(Relaxed).to_f32(),
            pair.load(Relaxed).low().to_f32(),
        ];
    }
}

/// Words of 128 bits.
#[cfg(any(not(target_arch = "nvptx64"), warpsmith_arch_at_least = "90"))]
#[kernel]
pub fn values_u128(low: u64, high: u64, mut seen: PerThread<[[u64; 4]]>) {
    let value = u128::from(low) | u128::from(high) << 64;
    let word = Atomic::<u128>::new(value);
    // The halves differ in turn.
    let refused = [1, 1 << 64].map(|bit| word.compare_exchange(value ^ bit, 0, Relaxed).is_err());
    let exchanged = word.compare_exchange(value, !value, Relaxed).is_ok();
    let last = word.swap(value, Relaxed);
    if let Some(seen) = seen.mine() {
        let count = u64::from(refused[0]) + u64::from(refused[1]) + u64::from(exchanged);
        *seen = [
            count,
            last as u64,
            (last >> 64) as u64,
            word.load(Relaxed) as u64,
        ];
    }
}

//! Kernels for constant memory and device statics.

use warpsmith_device::prelude::*;
use warpsmith_device::statics::Plain;

warpsmith_device::constant! {
    /// The taps of a filter; the tests set others.
    pub static TAPS: [f32; 4] = [1.0, 2.0, 3.0, 4.0];
}

warpsmith_device::device_static! {
    /// How many elements were negative.
    pub static NEGATIVE: Atomic<u32> = Atomic::new(5);
    /// Written by one thread.
    pub static LAST_LENGTH: Plain<u64> = Plain::new(7);
}

/// Sums windows weighed by the taps, and counts in statics.
#[kernel]
pub fn filter(x: &[f32], mut out: PerThread<[f32]>) {
    let index = thread::index();
    if x.get(index).is_some_and(|x| *x < 0.0) {
        NEGATIVE.fetch_add(1, Relaxed);
    }
    if thread::is_first() {
        // SAFETY: one thread of the grid writes, and none reads.
        unsafe { LAST_LENGTH.as_mut_ptr().write(x.len() as u64) };
    }
    if let (Some(window), Some(out)) = (x.get(index..index + 4), out.mine()) {
        *out = window.iter().zip(TAPS.iter()).map(|(x, tap)| x * tap).sum();
    }
}

warpsmith_device::managed_static! {
    /// Counts threads, from where the host sets it.
    pub static THREADS: Atomic<u32> = Atomic::new(3);
}

/// Counts its threads in managed memory.
#[kernel]
pub fn count_threads() {
    THREADS.add(1, Relaxed);
}

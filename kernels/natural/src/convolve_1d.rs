//! A signal through a filter.

use warpsmith_device::prelude::*;

/// `out[i]` = the sum of the products of the filter's taps and the samples from `i` on.
#[kernel]
pub fn convolve_1d(signal: &[f32], taps: &[f32], mut out: PerThread<[f32]>) {
    let i = thread::index();
    if let Some(out) = out.mine() {
        *out = signal[i..i + taps.len()]
            .iter()
            .zip(taps)
            .map(|(sample, tap)| sample * tap)
            .sum();
    }
}

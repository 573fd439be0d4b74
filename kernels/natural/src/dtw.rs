//! How far signals are from one another when time may stretch, within a band.

use core::mem::swap;
use warpsmith_device::prelude::*;

/// Samples of a signal.
pub const SAMPLES: usize = 48;
/// How far the times of samples that belong together may lie apart.
pub const BAND: usize = 8;

/// The distance of each signal from the pattern.
#[kernel]
pub fn dtw(signals: &[[f32; SAMPLES]], pattern: &[f32; SAMPLES], mut distances: PerThread<[f32]>) {
    if let (Some(signal), Some(distance)) = (signals.get(thread::index()), distances.mine()) {
        *distance = distance_of(signal, pattern);
    }
}

/// The distance of two signals.
pub fn distance_of(first: &[f32; SAMPLES], second: &[f32; SAMPLES]) -> f32 {
    let mut above = [f32::INFINITY; SAMPLES + 1];
    let mut row = [f32::INFINITY; SAMPLES + 1];
    above[0] = 0.0;
    for (i, a) in first.iter().enumerate() {
        row.fill(f32::INFINITY);
        let from = i.saturating_sub(BAND);
        let to = (i + BAND + 1).min(SAMPLES);
        for j in from..to {
            let difference = a - second[j];
            let least = above[j].min(above[j + 1]).min(row[j]);
            row[j + 1] = difference * difference + least;
        }
        swap(&mut above, &mut row);
    }
    above[SAMPLES]
}

//! Gradient descent for a linear model, on one rank's samples.
//!
//! Samples are stored feature by feature: feature `f` of sample `s` is `x[f * samples + s]`, so that threads of neighbouring samples read
//! neighbouring words.

use warpsmith_device::prelude::*;

/// `x[f * samples + s]`: a number between -1 and 1 that depends on the feature and on the sample's number among those of all ranks alone.
#[kernel]
pub fn draw(first: u32, samples: u32, mut x: PerThread<[f32]>) {
    let index = thread::index() as u32;
    if let Some(x) = x.mine() {
        let (feature, sample) = (index / samples, first + index % samples);
        let mut bits = feature.wrapping_mul(0x9e37_79b9) ^ sample.wrapping_mul(0x85eb_ca6b);
        unroll!(round in [16, 13, 16] {
            bits ^= bits >> round;
            bits = bits.wrapping_mul(0x7feb_352d);
        });
        *x = (bits >> 8) as f32 * (2.0 / (1 << 24) as f32) - 1.0;
    }
}

/// `errors[s]`: what the model answers for sample `s`, less what it should.
#[kernel]
pub fn errors(weights: &[f32], x: &[f32], targets: &[f32], mut errors: PerThread<[f32]>) {
    let sample = thread::index();
    if let (Some(&target), Some(error)) = (targets.get(sample), errors.mine()) {
        let mut answer = 0.0;
        let mut i = sample;
        for weight in weights {
            if let Some(x) = x.get(i) {
                answer += weight * x;
            }
            i += targets.len();
        }
        *error = answer - target;
    }
}

/// `gradient[f]`: the mean of error times feature over the samples, doubled; by one warp a feature.
#[kernel]
pub fn gradient(x: &[f32], errors: &[f32], mut gradient: PerWarp<[f32]>) {
    let samples = errors.len();
    let first = gradient.index() * samples;
    let mut sum = 0.0;
    let mut sample = warp::lane_id() as usize;
    while let (Some(x), Some(error)) = (x.get(first + sample), errors.get(sample)) {
        sum += x * error;
        sample += 32;
    }
    let sum = warp::reduce(sum, |a, b| a + b);
    if let Some(out) = gradient.leader() {
        *out = 2.0 * sum / samples as f32;
    }
}

/// A step against the gradient: `weights[f] -= rate * gradient[f]`.
#[kernel]
pub fn descend(rate: f32, gradient: &[f32], mut weights: PerThread<[f32]>) {
    if let (Some(gradient), Some(weight)) = (gradient.get(thread::index()), weights.mine()) {
        *weight -= rate * gradient;
    }
}

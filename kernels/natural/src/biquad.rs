//! Filters with memory, a thread a channel.

use bytemuck::{Pod, Zeroable};
use warpsmith_device::prelude::*;

/// Stages of a filter.
pub const STAGES: usize = 3;

/// What a stage makes of its input: `b` weighs inputs, `a` outputs.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Stage {
    /// The weights of the last three inputs.
    pub b: [f32; 3],
    /// The weights of the last two outputs.
    pub a: [f32; 2],
}

/// What a stage remembers.
#[derive(Clone, Copy, Default)]
struct Memory {
    first: f32,
    second: f32,
}

impl Memory {
    fn step(&mut self, stage: &Stage, x: f32) -> f32 {
        let y = stage.b[0] * x + self.first;
        self.first = stage.b[1] * x - stage.a[0] * y + self.second;
        self.second = stage.b[2] * x - stage.a[1] * y;
        y
    }
}

/// Filters each channel by its own stages and keeps its last output and the largest size of all outputs. A row of `samples` has the channels
/// of one moment.
#[kernel]
pub fn biquad(samples: Matrix<f32>, filters: &[[Stage; STAGES]], mut out: PerThread<[[f32; 2]]>) {
    let channel = thread::index();
    if let Some(out) = out.mine() {
        let filter = &filters[channel];
        let mut memories = [Memory::default(); STAGES];
        let (mut last, mut peak) = (0.0, 0.0f32);
        for time in 0..samples.rows() {
            let mut x = samples[(time, channel)];
            for (memory, stage) in memories.iter_mut().zip(filter) {
                x = memory.step(stage, x);
            }
            last = x;
            peak = peak.max(x.abs());
        }
        *out = [last, peak];
    }
}

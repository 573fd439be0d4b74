//! A step of the optimiser Adam, with parameters of 16 bits and moments of 32.

use bytemuck::{Pod, Zeroable};
use warpsmith_device::half::bf16;
use warpsmith_device::prelude::*;

/// How the optimiser goes on.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct Adam {
    /// How far a step goes.
    pub rate: f32,
    /// How much of the mean of the gradients is kept.
    pub beta1: f32,
    /// How much of the mean of their squares is kept.
    pub beta2: f32,
    /// What keeps the quotient finite.
    pub epsilon: f32,
    /// How fast parameters go to zero by themselves.
    pub decay: f32,
    /// What the mean is divided by, as it began at zero.
    pub correction1: f32,
    /// What the mean of the squares is divided by.
    pub correction2: f32,
}

impl Adam {
    /// The new parameter; the moments change.
    fn step(&self, parameter: f32, gradient: f32, mean: &mut f32, square: &mut f32) -> f32 {
        *mean = self.beta1 * *mean + (1.0 - self.beta1) * gradient;
        *square = self.beta2 * *square + (1.0 - self.beta2) * gradient * gradient;
        let mean = *mean / self.correction1;
        let square = *square / self.correction2;
        let change = mean / (FloatExt::sqrt(square) + self.epsilon) + self.decay * parameter;
        parameter - self.rate * change
    }
}

/// A step of all parameters against their gradients.
#[kernel]
pub fn adam(
    adam: Adam,
    gradients: &[bf16],
    mut means: PerThread<[f32]>,
    mut squares: PerThread<[f32]>,
    mut parameters: PerThread<[bf16]>,
) {
    let (Some(gradient), Some(mean), Some(square), Some(parameter)) = (
        gradients.get(thread::index()),
        means.mine(),
        squares.mine(),
        parameters.mine(),
    ) else {
        return;
    };
    let new = adam.step(parameter.to_f32(), gradient.to_f32(), mean, square);
    *parameter = bf16::from_f32(new);
}

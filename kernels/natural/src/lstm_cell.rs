//! The last part of a step of a long short-term memory.

use warpsmith_device::prelude::*;

/// The new memory and output of each cell, from the four gates before their functions: input, forget, new value, output.
#[kernel]
pub fn lstm_cell(gates: Matrix<f32>, biases: &[f32], mut cells: PerThread<[[f32; 2]]>) {
    let i = thread::index();
    let size = gates.columns() / 4;
    if let Some([memory, output]) = cells.mine() {
        let (row, column) = (i / size, i % size);
        let gate = |g: usize| gates[(row, g * size + column)] + biases[g * size + column];
        let [input, forget, new, open] = core::array::from_fn(gate);
        *memory = sigmoid(forget) * *memory + sigmoid(input) * tanh(new);
        *output = sigmoid(open) * tanh(*memory);
    }
}

fn sigmoid(x: f32) -> f32 {
    1.0 / (1.0 + (-x).exp_approx())
}

fn tanh(x: f32) -> f32 {
    2.0 * sigmoid(2.0 * x) - 1.0
}

//! Programmatic dependent launch.

use warpsmith_device::dependent::{self, AfterPrimary};
use warpsmith_device::prelude::*;

/// Lets dependents begin, and writes after many steps of a generator of numbers, of which `zero` is 0.
#[kernel]
pub fn primary(value: u32, zero: u32, mut out: PerThread<[u32]>) {
    dependent::launch_dependents();
    if let Some(out) = out.mine() {
        let mut state = value;
        for _ in 0..1000 {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        }
        *out = value + (state & zero);
    }
}

/// Adds what the grid before has written.
#[kernel]
pub fn secondary(
    x: AfterPrimary<&[u32]>,
    first: AfterPrimary<&u32>,
    sum: AfterPrimary<PerThread<[u32]>>,
) {
    let i = thread::index();
    let (x, first) = (x.wait(), first.wait());
    let mut sum = sum.wait();
    if let (Some(x), Some(sum)) = (x.get(i), sum.mine()) {
        *sum += *x + *first;
    }
}

/// Copies a matrix that the grid before has written.
#[kernel]
pub fn secondary_matrix(
    from: AfterPrimary<Matrix<u32>>,
    to: AfterPrimary<MatrixOut<u32>>,
    scale: u32,
) {
    let from = from.wait();
    let mut to = to.wait();
    let (row, column) = (to.row(), to.column());
    if let (Some(from), Some(to)) = (from.get(row, column), to.mine()) {
        *to = scale * *from;
    }
}

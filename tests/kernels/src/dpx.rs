//! Kernels for DPX: each function, for each type.

use warpsmith_device::dpx::{self, Dpx, I16x2, SignedDpx, U16x2};
use warpsmith_device::prelude::*;

/// Which operand was chosen, as bits: of a pair the low half's in bit 0.
pub trait Bits {
    /// The bits.
    fn bits(self) -> u32;
}

impl Bits for bool {
    fn bits(self) -> u32 {
        u32::from(self)
    }
}

impl Bits for (bool, bool) {
    fn bits(self) -> u32 {
        u32::from(self.0) << 1 | u32::from(self.1)
    }
}

/// The maximum and minimum of three, the sum with each, the larger and the smaller one of two.
#[kernel(instantiate(i32, u32, I16x2, U16x2))]
pub fn dpx_any<T: Dpx<Chosen: Bits> + bytemuck::Pod>(
    x: &[[T; 3]],
    mut values: PerThread<[[T; 6]]>,
    mut chosen: PerThread<[[u32; 2]]>,
) {
    let Some(&[a, b, c]) = x.get(thread::index()) else {
        return;
    };
    let (larger, of_max) = dpx::vibmax(a, b);
    let (smaller, of_min) = dpx::vibmin(a, b);
    if let (Some(values), Some(chosen)) = (values.mine(), chosen.mine()) {
        *values = [
            dpx::vimax3(a, b, c),
            dpx::vimin3(a, b, c),
            dpx::viaddmax(a, b, c),
            dpx::viaddmin(a, b, c),
            larger,
            smaller,
        ];
        *chosen = [of_max.bits(), of_min.bits()];
    }
}

/// Those with ReLU.
#[kernel(instantiate(i32, I16x2))]
pub fn dpx_relu<T: SignedDpx + bytemuck::Pod>(x: &[[T; 3]], mut values: PerThread<[[T; 6]]>) {
    let Some(&[a, b, c]) = x.get(thread::index()) else {
        return;
    };
    if let Some(values) = values.mine() {
        *values = [
            dpx::vimax_relu(a, b),
            dpx::vimin_relu(a, b),
            dpx::vimax3_relu(a, b, c),
            dpx::vimin3_relu(a, b, c),
            dpx::viaddmax_relu(a, b, c),
            dpx::viaddmin_relu(a, b, c),
        ];
    }
}

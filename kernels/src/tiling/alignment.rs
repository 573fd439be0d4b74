//! Whether matrices can be read and written by vectors.

use warpsmith_device::prelude::*;
use warpsmith_device::vector::Lanes;

/// The low bits of the widths and addresses of some matrices.
#[derive(Clone, Copy, Default)]
pub struct RowAlignment {
    widths: usize,
    addresses: usize,
}

impl RowAlignment {
    /// Adds a matrix that begins at `first`.
    #[inline(always)]
    pub fn with<E>(self, first: *const E, columns: usize, stride: usize) -> RowAlignment {
        RowAlignment {
            widths: self.widths | columns | stride,
            addresses: self.addresses | first.addr(),
        }
    }

    /// Adds a factor.
    #[inline(always)]
    pub fn with_factor<E>(self, factor: &Matrix<E>) -> RowAlignment {
        self.with(factor.as_ptr(), factor.columns(), factor.stride())
    }

    /// Whether all rows begin at multiples of 16 bytes and hold a whole number of vectors of `E`: a vector then lies wholly inside
    /// a row or wholly outside.
    #[inline(always)]
    pub fn allows_vectors<E: Lanes>(self) -> bool {
        self.widths & (E::LANES - 1) | self.addresses & 15 == 0
    }
}

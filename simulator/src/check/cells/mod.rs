//! Where the race check keeps what it remembers of memory: a cell for each word, or for each byte where a kernel makes narrower
//! accesses.
//!
//! The memory that is checked is a parameter: [`DenseCells`] for shared memory, which is small and wholly used; [`PagedCells`]
//! for memory of any size at any addresses, of which kernels touch some.

use std::ops::ControlFlow;

mod dense;
#[cfg(test)]
mod paged;

pub(super) use dense::DenseCells;
#[cfg(test)]
pub(super) use paged::PagedCells;

/// Cells of memory whose bytes are named by `Address`.
pub(super) trait Cells<C> {
    type Address: Copy;

    /// Nothing is remembered any more.
    fn clear(&mut self);

    /// Makes the cells of these bytes so narrow that each belongs to the bytes or does not. `copy` makes a cell for a part of one.
    fn narrow(&mut self, address: Self::Address, bytes: u32, copy: impl FnMut(&C) -> C);

    /// Visits the cells of these bytes, in order, each with its first byte, until told to stop.
    fn visit<B>(
        &mut self,
        address: Self::Address,
        bytes: u32,
        visit: impl FnMut(Self::Address, &mut C) -> ControlFlow<B>,
    ) -> ControlFlow<B>;
}

/// Cells that are `times` as many and as narrow; `copy` makes the further parts of one.
fn refined<C: Copy>(cells: &[C], times: u32, mut copy: impl FnMut(&C) -> C) -> Vec<C> {
    let mut refined = Vec::with_capacity(cells.len() * times as usize);
    for cell in cells {
        refined.push(*cell);
        refined.extend((1..times).map(|_| copy(cell)));
    }
    refined
}

/// The width of cells that an access asks for: 4, 2 or 1.
#[inline]
fn width(address: u32, bytes: u32) -> u32 {
    1 << (address | bytes).trailing_zeros().min(2)
}

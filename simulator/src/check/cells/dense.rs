//! Cells for all of a memory that is small.

use std::ops::{ControlFlow, Range};

use super::{Cells, refined, width};

/// Cells for each word of a memory, or for each half or byte.
#[derive(Debug)]
pub(in super::super) struct DenseCells<C> {
    bytes: u32,
    /// Bytes that a cell stands for: 4, 2 or 1.
    grain: u32,
    untouched: C,
    cells: Vec<C>,
}

impl<C: Copy> DenseCells<C> {
    /// For so many bytes, in words.
    pub fn new(bytes: u32, untouched: C) -> DenseCells<C> {
        DenseCells {
            bytes,
            grain: 4,
            untouched,
            cells: vec![untouched; bytes.div_ceil(4) as usize],
        }
    }

    /// The width of cells that an access asks for, if they are to be made narrower. Of the offset, only how far it is aligned matters.
    #[inline]
    pub fn narrower(&self, offset: u32, bytes: u32) -> Option<u32> {
        let need = width(offset, bytes);
        (bytes != 0 && need < self.grain).then_some(need)
    }

    /// The cells of an access that asks for none narrower.
    #[inline]
    fn range(&self, offset: u32, bytes: u32) -> Range<usize> {
        let end = (offset + bytes).min(self.bytes).div_ceil(self.grain) as usize;
        ((offset / self.grain) as usize).min(end)..end
    }
}

impl<C: Copy> Cells<C> for DenseCells<C> {
    type Address = u32;

    fn clear(&mut self) {
        self.cells.fill(self.untouched);
    }

    fn narrow(&mut self, offset: u32, bytes: u32, copy: impl FnMut(&C) -> C) {
        if let Some(grain) = self.narrower(offset, bytes) {
            self.cells = refined(&self.cells, self.grain / grain, copy);
            self.grain = grain;
        }
    }

    #[inline]
    fn visit<B>(
        &mut self,
        offset: u32,
        bytes: u32,
        mut visit: impl FnMut(u32, &mut C) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        let range = self.range(offset, bytes);
        let mut at = range.start as u32 * self.grain;
        for cell in &mut self.cells[range] {
            visit(at, cell)?;
            at += self.grain;
        }
        ControlFlow::Continue(())
    }
}

//! The numbers of a tiling.

use super::Span;
use warpsmith_device::prelude::*;
use warpsmith_device::vector::Lanes;

/// Rows and columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Rows.
    pub rows: u32,
    /// Columns.
    pub columns: u32,
}

/// Where a step of the loop stores the elements that were loaded for it. Either way they are loaded a step ahead, into registers, and
/// a step has one barrier. Which is faster depends on the kernel: on an H200, `sgemm` takes 15 % longer with
/// [`StoreBeforeLoad`](Schedule::StoreBeforeLoad), `wmma_gemm` 11 % with [`StoreAfterLoad`](Schedule::StoreAfterLoad).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Schedule {
    /// At the end of the step before, in the same turn of the loop as the load. ptxas counts a load's latency only inside a
    /// turn, and so begins the turn with the loads.
    StoreAfterLoad,
    /// At the step's own beginning: the registers are free again when the next elements are loaded, and nothing is loaded or stored
    /// behind the last step.
    StoreBeforeLoad,
}

/// Row and column of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// The row.
    pub row: u32,
    /// The column.
    pub column: u32,
}

/// How a kernel tiles a product `c := a * b`.
#[derive(Clone, Copy, Debug)]
pub struct Policy {
    /// The results of a block.
    pub block: Extent,
    /// The results of a warp. A block's warps are numbered row by row.
    pub warp: Extent,
    /// Columns of `a` and rows of `b` that a step takes.
    pub depth: u32,
    /// Distance in elements of the rows of `a`'s tile in shared memory.
    pub pitch_a: u32,
    /// Distance in elements of the rows of `b`'s tile in shared memory.
    pub pitch_b: u32,
    /// Where in a step the tiles of the next are stored.
    pub schedule: Schedule,
}

impl Policy {
    /// Threads of a block.
    pub const fn threads(&self) -> u32 {
        32 * (self.block.rows / self.warp.rows) * (self.block.columns / self.warp.columns)
    }

    /// The blocks of a product with so many results: their number along x and y.
    pub const fn blocks(&self, results: Extent) -> (u32, u32) {
        (
            results.columns.div_ceil(self.block.columns),
            results.rows.div_ceil(self.block.rows),
        )
    }

    /// The calling block's first result.
    #[inline(always)]
    pub fn block_origin(&self) -> Position {
        Position {
            row: thread::block_idx_y() * self.block.rows,
            column: thread::block_idx_x() * self.block.columns,
        }
    }

    /// The calling warp's first result, in the block's tile.
    #[inline(always)]
    pub fn warp_origin(&self) -> Position {
        let warp = thread::thread_idx_x() >> 5;
        let across = self.block.columns / self.warp.columns;
        Position {
            row: warp / across * self.warp.rows,
            column: warp % across * self.warp.columns,
        }
    }

    /// The calling thread's part in copying a tile of `a`.
    #[inline(always)]
    pub fn span_a<E: Lanes, const ITEMS: usize>(&self) -> Span<ITEMS> {
        let tile = Extent {
            rows: self.block.rows,
            columns: self.depth,
        };
        Span::of::<E>(tile, self.threads())
    }

    /// The calling thread's part in copying a tile of `b`.
    #[inline(always)]
    pub fn span_b<E: Lanes, const ITEMS: usize>(&self) -> Span<ITEMS> {
        let tile = Extent {
            rows: self.depth,
            columns: self.block.columns,
        };
        Span::of::<E>(tile, self.threads())
    }
}

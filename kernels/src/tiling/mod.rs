//! What the matrix products share. A block computes a tile of the results step by step; each step takes a tile of each factor
//! through shared memory.
//!
//! How a product is tiled is data, a [`Policy`]. The types for the tiles are made from it: a [`Span`] is a thread's part in
//! copying a tile, a [`TileReader`] reads that part from global memory, a [`SharedTile`] is the tile in shared memory, with the
//! ways to write it there, and a [`Factor`] is all of these for one of the two factors. [`multiply`] is the loop over the steps;
//! which fragments a step loads from the tiles, and what it multiplies them with, is the kernel's own.

mod alignment;
mod factor;
mod multiply;
mod policy;
mod reader;
mod shared;
mod span;

pub use alignment::RowAlignment;
pub use factor::Factor;
pub use multiply::multiply;
pub use policy::{Extent, Policy, Position, Schedule};
pub use reader::{Direction, Down, Right, TileReader};
pub use shared::{AsRead, SharedTile, StoreOrder, Transposed};
pub use span::Span;

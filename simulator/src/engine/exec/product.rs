//! `wgmma` products that are not done.

use super::issuer::Issuer;
use super::operand::{LANES, ReadList, WriteList};
use super::warpgroup::Descriptors;
use crate::check::Marks;
use crate::numerics::matrix::accumulate::Addend;
use crate::numerics::matrix::factors::Factors;
use crate::numerics::matrix::warpgroup::WarpgroupProduct;

/// Computes a warp's rows: [`WarpgroupProduct::rows`], compiled for the level of the module.
pub(crate) type Rows =
    fn(WarpgroupProduct, &Factors, usize, &Factors, &[u32; LANES], Addend, &mut [u32]);

/// A warp's part of a product that is not done yet. Its registers are named by frame and operand, not by pointer: whether they are
/// still there is found out when it completes.
#[derive(Clone, Copy)]
pub(crate) struct PendingProduct {
    /// The number of the instruction in the sequence of its warpgroup.
    pub number: u64,
    pub issuer: Issuer,
    /// The function that the instruction belongs to, and its frame.
    pub function: u32,
    pub frame: u32,
    pub product: WarpgroupProduct,
    pub rows: Rows,
    pub addend: Addend,
    pub descriptors: Descriptors,
    /// The metadata of a sparse A: they are read when the product is issued.
    pub metadata: [u32; LANES],
    /// What of them is uninitialised.
    pub metadata_marks: Marks,
    /// The access words of A and B in shared memory.
    pub accesses: [u32; 2],
    /// D, as it is written and as it is read.
    pub d: WriteList<u32>,
    pub c: ReadList<u32>,
    /// A in registers; empty if it is in shared memory.
    pub a: ReadList<u32>,
}

//! The loop over the steps of a product.

use super::{Down, Factor, Policy, Right, Schedule, SharedTile, StoreOrder};
use warpsmith_device::prelude::*;
use warpsmith_device::vector::Lanes;

/// Calls `step` with the tiles of both factors for each step of a product, of which `depth` columns of the first factor and rows of
/// the second are multiplied.
///
/// While a step's tiles are multiplied, the next step's elements travel from global memory into registers; they are stored into the
/// other tiles, so that one barrier a step is enough.
///
/// # Safety
/// All threads of the block call this. With `VECTORS`, the rows of both factors allow vectors (see
/// [`RowAlignment`](super::RowAlignment)). `step` only reads the tiles.
#[inline(always)]
pub unsafe fn multiply<const VECTORS: bool, E, A, B, const N: usize, const M: usize>(
    policy: &Policy,
    a: Factor<E, Right, A, N>,
    b: Factor<E, Down, B, M>,
    depth: u32,
    mut step: impl FnMut(SharedTile<E>, SharedTile<E>),
) where
    E: Lanes,
    A: StoreOrder,
    B: StoreOrder,
{
    let mut k = 0;
    // The tiles of the step at depth `k`.
    let number = |k: u32| ((k / policy.depth) & 1) as usize;
    // SAFETY: with `VECTORS` the rows of both factors allow vectors: the condition of this function.
    let (mut next_a, mut next_b) = unsafe { (a.read::<VECTORS>(0), b.read::<VECTORS>(0)) };
    match policy.schedule {
        Schedule::StoreAfterLoad => {
            // SAFETY: no thread has read the tiles yet.
            unsafe {
                a.store(0, next_a);
                b.store(0, next_b);
            }
            block::sync();
            while k < depth {
                let number = number(k);
                k += policy.depth;
                // SAFETY: with `VECTORS` the rows of both factors allow vectors: the condition of this function.
                unsafe {
                    next_a = a.read::<VECTORS>(k);
                    next_b = b.read::<VECTORS>(k);
                }
                step(a.tile(number), b.tile(number));
                // SAFETY: these tiles were read in the turn before, which ended with a barrier.
                unsafe {
                    a.store(number ^ 1, next_a);
                    b.store(number ^ 1, next_b);
                }
                block::sync();
            }
        }
        Schedule::StoreBeforeLoad => {
            let mut number = 0;
            while k < depth {
                // SAFETY: these tiles were read two turns ago, and all threads have passed the barrier of the turn between.
                unsafe {
                    a.store(number, next_a);
                    b.store(number, next_b);
                }
                block::sync();
                k += policy.depth;
                if k < depth {
                    // SAFETY: with `VECTORS` the rows of both factors allow vectors: the condition of this function.
                    unsafe {
                        next_a = a.read::<VECTORS>(k);
                        next_b = b.read::<VECTORS>(k);
                    }
                }
                step(a.tile(number), b.tile(number));
                number ^= 1;
            }
        }
    }
}

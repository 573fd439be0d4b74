//! Asynchronous copies from global memory into shared arrays, which go on while the block computes.
//!
//! Within [`copies`] a [`SharedArray`] that is to be filled can be given to a copy. What comes back, a [`SharedCopying`], cannot be read
//! or written; its [`sync`](SharedCopying::sync) waits for the copy and for the block, and gives the array to read. Several may be in
//! flight, and are waited for one after the other: a ring of arrays, of which the block reads one while others are being filled.
//!
//! ```text
//! SharedArray --copy--> SharedCopying --sync--> SharedView --sync--> SharedArray
//!  (to fill)             (in flight)             (all read)
//! ```
//!
//! From sm_80 on they are `cp.async`; before, a copy is made at once, and everything else is the same.

use core::cell::Cell;
use core::marker::PhantomData;

use super::{Element, SharedArray, SharedView};
use crate::copy_groups::{commit, is_in_global_memory, settle, start, wait_for_all_but};
use crate::{block, thread};

/// The copies of one [`copies`].
///
/// `'scope` is the time in which they go on: arrays and sources outlive it, and nobody else uses the arrays.
pub struct Copies<'scope, 'env: 'scope> {
    /// Groups that this thread has committed here.
    committed: Cell<u32>,
    scope: PhantomData<&'scope mut &'scope ()>,
    environment: PhantomData<&'env mut &'env ()>,
}

/// A shared array that is being filled by asynchronous copies. It cannot be read: [`sync`](SharedCopying::sync).
#[must_use = "nobody can read it before a barrier: `.sync()`"]
pub struct SharedCopying<'scope, T, const N: usize> {
    pointer: *mut T,
    /// How many groups the thread had committed with this one.
    number: u32,
    committed: &'scope Cell<u32>,
    object: PhantomData<&'scope mut [T]>,
}

/// Calls `body`, in which shared arrays can be filled by asynchronous copies; in the end the thread waits for those of its copies that
/// `body` has not waited for. So an array that was lent ([`SharedArray::refill`]) can be used again afterwards.
///
/// Not collective by itself. Arch: sm_80; before, copies are made at once. CUDA C++: `__pipeline_memcpy_async`, `__pipeline_commit`,
/// `__pipeline_wait_prior`. Guide §7.28.
///
/// ```
/// use warpsmith_device::prelude::*;
///
/// /// What each thread has of the tiles that its block goes through, added up.
/// #[kernel(launch_bounds(128, exact))]
/// pub fn sums(x: &[f32], tiles: usize, mut out: PerThread<[f32]>) {
///     let one = shared!([f32; 128]);
///     let other = shared!([f32; 128]);
///     let tile = |number: usize| x.get(number * 128..).unwrap_or(&[]);
///     let own = thread::linear_in_block() as usize;
///     let sum = shared::copies(|copies| {
///         let mut current = copies.copy(tile(0), one);
///         let mut free = other;
///         let mut sum = 0.0;
///         for number in 1..=tiles {
///             let next = copies.copy(tile(number), free);
///             let values = current.sync(); // the next tile is still on its way
///             sum += values[own];
///             free = values.sync();
///             current = next;
///         }
///         sum
///     });
///     if let Some(out) = out.mine() {
///         *out = sum;
///     }
/// }
/// ```
#[inline(always)]
pub fn copies<'env, R>(body: impl for<'scope> FnOnce(&'scope Copies<'scope, 'env>) -> R) -> R {
    let copies = Copies {
        committed: Cell::new(0),
        scope: PhantomData,
        environment: PhantomData,
    };
    let result = body(&copies);
    settle();
    result
}

impl<'scope> Copies<'scope, '_> {
    /// Begins to copy `source` into the array: each thread of the block every `block::threads()`-th element, starting with its own
    /// number. Elements that `source` does not have become zeros.
    ///
    /// Becomes `cp.async.ca.shared.global` of 4 or 8 bytes, or `cp.async.cg.shared.global` of 16, and `cp.async.commit_group`. Arch:
    /// sm_80. Before, and where `source` is not in global memory, the copy is made at once.
    ///
    /// Elements have 4, 8 or 16 bytes, and are aligned to their size; [`AsVectors`](crate::vector::AsVectors) makes such of smaller ones:
    ///
    /// ```compile_fail,E0080
    /// # use warpsmith_device::{prelude::*, shared::{Copies, SharedArray}};
    /// # fn f<'scope>(copies: &'scope Copies<'scope, '_>, array: SharedArray<'scope, u16, 64>, source: &'scope [u16]) {
    /// let _ = copies.copy(source, array);
    /// # }
    /// # let _: for<'scope, 'env> fn(&'scope Copies<'scope, 'env>, SharedArray<'scope, u16, 64>, &'scope [u16]) = f;
    /// ```
    ///
    /// If the handle was lent before ([`refill`](SharedArray::refill)), this begins with a [`block::sync`].
    #[inline(always)]
    pub fn copy<T: Element, const N: usize>(
        &'scope self,
        source: &'scope [T],
        array: SharedArray<'scope, T, N>,
    ) -> SharedCopying<'scope, T, N> {
        const {
            assert!(
                matches!(size_of::<T>(), 4 | 8 | 16) && align_of::<T>() == size_of::<T>(),
                "an asynchronous copy takes elements of 4, 8 or 16 bytes that are aligned to their size"
            );
        }
        let pointer = array.into_pointer();
        let is_global = is_in_global_memory(source);
        let step = block::threads() as usize;
        let mut index = thread::linear_in_block() as usize;
        while index < N {
            // In bounds of the array.
            let to = pointer.wrapping_add(index);
            match source.get(index) {
                // SAFETY: `to` is an element of the array that no other thread has an index for; nobody reads it before the barrier of
                // `sync`, which comes after this thread's wait, and nobody else writes it: the handle is `SharedCopying`'s for
                // `'scope`, at whose end the thread waits at the latest (`copies`; a thread that ends first waits in
                // `thread::exit`). The source is readable and not written as long, by its lifetime.
                Some(from) if is_global => unsafe { start(from, to) },
                // SAFETY: `to` is this thread's element alone, valid, and read by nobody before the barrier of `sync`, after this store.
                Some(from) => unsafe { to.write(*from) },
                // SAFETY: `to` is this thread's element alone, valid, and read by nobody before the barrier of `sync`, after this store.
                None => unsafe { to.write(T::zeroed()) },
            }
            index += step;
        }
        commit();
        let number = self.committed.get().wrapping_add(1);
        self.committed.set(number);
        SharedCopying {
            pointer,
            number,
            committed: &self.committed,
            object: PhantomData,
        }
    }
}

impl<'scope, T: Element, const N: usize> SharedCopying<'scope, T, N> {
    /// Waits for this copy and those that were begun before it, and for the whole block: from here on everyone reads what all have
    /// copied. Copies that were begun later go on (at most four of them).
    ///
    /// Becomes `cp.async.wait_group`, and a [`block::sync`].
    #[inline(always)]
    pub fn sync(self) -> SharedView<'scope, T, N> {
        wait_for_all_but(self.committed.get().wrapping_sub(self.number));
        block::sync();
        SharedView::from_parts(self.pointer, N)
    }
}

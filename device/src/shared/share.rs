//! Two more phases of a shared array: all threads use it atomically, and the whole cluster shares its blocks' arrays.

use core::marker::PhantomData;
use core::ops::Deref;

use super::{Element, SharedFilled, SharedView};
use crate::atomic::{Atomic, AtomicValue, scope};
use crate::block;

/// Filled shared memory that all threads of the block use through atomic operations: a slice of [`Atomic`] words.
pub struct SharedAtomics<'a, T, const N: usize> {
    pointer: *mut T,
    length: usize,
    object: PhantomData<&'a mut [T]>,
}

impl<'a, T: Element + AtomicValue, const N: usize> SharedFilled<'a, T, N> {
    /// Waits for the whole block, and then lets all threads use all elements through atomic operations. A
    /// [`block::sync`].
    ///
    /// ```
    /// use warpsmith_device::prelude::*;
    ///
    /// /// A histogram of 256 bins, in one block.
    /// #[kernel(launch_bounds(256, exact))]
    /// pub fn histogram(values: &[u8], bins: AtomicSlice<'_, u32>) {
    ///     let local = shared!([u32; 256]).fill_with(|_| 0).sync_atomic();
    ///     if let Some(&value) = values.get(thread::index()) {
    ///         local[usize::from(value)].add(1, Relaxed); // red.relaxed.cta.shared.add.u32
    ///     }
    ///     let counts = local.sync();
    ///     let own = thread::linear_in_block() as usize;
    ///     bins[own].add(counts[own], Relaxed);
    /// }
    /// ```
    #[inline(always)]
    pub fn sync_atomic(self) -> SharedAtomics<'a, T, N> {
        block::sync();
        let (pointer, length) = self.into_parts();
        SharedAtomics {
            pointer,
            length,
            object: PhantomData,
        }
    }
}

impl<'a, T: Element + AtomicValue, const N: usize> SharedAtomics<'a, T, N> {
    /// Waits for the whole block: from here on everyone reads the result. A [`block::sync`].
    #[inline(always)]
    pub fn sync(self) -> SharedView<'a, T, N> {
        block::sync();
        SharedView::from_parts(self.pointer, self.length)
    }
}

impl<T: Element + AtomicValue, const N: usize> Deref for SharedAtomics<'_, T, N> {
    type Target = [Atomic<T, scope::Block>];

    #[inline(always)]
    fn deref(&self) -> &Self::Target {
        // SAFETY: so many elements are initialised, and until this phase ends all threads use them atomically only.
        unsafe { core::slice::from_raw_parts(self.pointer.cast(), self.length) }
    }
}

mod clusters {
    use super::super::{Element, SharedArray, SharedFilled, SharedView};
    use crate::atomic::{Atomic, AtomicValue, scope};
    use crate::cluster;

    /// The arrays of all blocks of the cluster, to read: see [`SharedFilled::across_cluster`].
    pub struct ClusterView<T, const N: usize> {
        pointer: *mut T,
        length: usize,
    }

    /// The arrays of all blocks of the cluster, for atomic use: see [`SharedFilled::atomic_across_cluster`].
    pub struct ClusterAtomics<T, const N: usize> {
        pointer: *mut T,
        length: usize,
    }

    /// The array of the block `rank`, given the own one.
    #[inline(always)]
    #[track_caller]
    fn of<T>(pointer: *mut T, rank: u32) -> *mut T {
        assert!(
            rank < cluster::blocks(),
            "the cluster has no block of this rank"
        );
        // SAFETY: the handles only hold pointers to shared memory, and the rank was checked just now.
        unsafe { cluster::map_shared(pointer, rank) }
    }

    impl<'a, T: Element, const N: usize> SharedFilled<'a, T, N> {
        /// Waits for the whole cluster, lets `read` read the arrays of all its blocks, and waits again before the array
        /// can be refilled. Two [`cluster::sync`]. Arch: sm_90.
        ///
        /// All threads of the cluster that have not ended must come here, all blocks with the same object. A thread may
        /// end, by a return or by [`thread::exit`](crate::thread::exit), before, in between or behind; so may a whole
        /// block. Its memory stays for the neighbours: in a kernel that uses such a phase, the last thread of a block
        /// waits, invisibly, until all blocks of its cluster have ended. What the block had not written there is any
        /// bits, and so is what a thread wrote that ended alone before the barrier. (`exit` in assembly is not seen:
        /// whoever writes it vouches for the block.)
        ///
        /// A kernel that uses such a phase must not use [`cluster::arrive`] as well, and is refused when it is built: a
        /// thread might end between arrival and wait. It counts its threads in 8 bytes of shared memory, which costs
        /// each thread about 12 instructions at the beginning and at the end, and a barrier of the block; the barrier
        /// and the counting are left out where each block is a cluster by itself.
        ///
        /// ```
        /// use warpsmith_device::prelude::*;
        ///
        /// /// Each block gets the values of the next block of its cluster.
        /// #[kernel(cluster(4), launch_bounds(64, exact))]
        /// pub fn rotate(x: &[u32], mut out: PerThread<[u32]>) {
        ///     let own = thread::linear_in_block() as usize;
        ///     let value = x.get(thread::index()).copied().unwrap_or(0);
        ///     let (_, next) = shared!([u32; 64]).write(value).across_cluster(|arrays| {
        ///         arrays.of((cluster::rank() + 1) % cluster::blocks())[own]
        ///     });
        ///     if let Some(out) = out.mine() {
        ///         *out = next;
        ///     }
        /// }
        /// ```
        #[inline(always)]
        pub fn across_cluster<R>(
            self,
            read: impl FnOnce(&ClusterView<T, N>) -> R,
        ) -> (SharedArray<'a, T, N>, R) {
            let (pointer, length) = self.into_parts();
            cluster::note_lent_memory();
            cluster::sync();
            let result = read(&ClusterView { pointer, length });
            cluster::sync();
            (SharedArray::from_pointer(pointer), result)
        }
    }

    impl<T, const N: usize> ClusterView<T, N> {
        /// The array of the block with this rank; the own rank is allowed.
        ///
        /// # Panics
        /// If the cluster has no such block.
        #[inline(always)]
        #[track_caller]
        pub fn of(&self, rank: u32) -> &[T] {
            // SAFETY: so many elements are initialised in every block, or hold the bits that an ended one left; no thread writes until the
            // cluster's barrier after this phase, which comes after the borrow, and no block's memory goes before all blocks have ended: the
            // linker sees to that (`note_lent_memory`).
            unsafe { core::slice::from_raw_parts(of(self.pointer, rank), self.length) }
        }
    }

    impl<'a, T: Element + AtomicValue, const N: usize> SharedFilled<'a, T, N> {
        /// Waits for the whole cluster, lets `update` use the arrays of all its blocks through atomic operations, and waits
        /// again before the result can be read. Two [`cluster::sync`]. Arch: sm_90.
        ///
        /// All threads of the cluster that have not ended must come here, all blocks with the same object. A thread may
        /// end, by a return or by [`thread::exit`](crate::thread::exit), before, in between or behind; so may a whole
        /// block. Its memory stays for the neighbours: in a kernel that uses such a phase, the last thread of a block
        /// waits, invisibly, until all blocks of its cluster have ended. What the block had not written there is any
        /// bits, and so is what a thread wrote that ended alone before the barrier. (`exit` in assembly is not seen:
        /// whoever writes it vouches for the block.)
        ///
        /// A kernel that uses such a phase must not use [`cluster::arrive`] as well, and is refused when it is built: a
        /// thread might end between arrival and wait. It counts its threads in 8 bytes of shared memory, which costs
        /// each thread about 12 instructions at the beginning and at the end, and a barrier of the block; the barrier
        /// and the counting are left out where each block is a cluster by itself.
        ///
        /// ```
        /// use warpsmith_device::prelude::*;
        ///
        /// /// A histogram of 512 bins, half of them in each of the cluster's two blocks.
        /// #[kernel(cluster(2), launch_bounds(256, exact))]
        /// pub fn histogram(values: &[u32], bins: AtomicSlice<'_, u32>) {
        ///     let counts = shared!([u32; 256]).fill_with(|_| 0).atomic_across_cluster(|arrays| {
        ///         if let Some(&value) = values.get(thread::index()) {
        ///             arrays.of(value / 256 % 2)[value as usize % 256].add(1, Relaxed);
        ///         }
        ///     });
        ///     let own = thread::linear_in_block() as usize;
        ///     bins[cluster::rank() as usize * 256 + own].add(counts.0[own], Relaxed);
        /// }
        /// ```
        #[inline(always)]
        pub fn atomic_across_cluster<R>(
            self,
            update: impl FnOnce(&ClusterAtomics<T, N>) -> R,
        ) -> (SharedView<'a, T, N>, R) {
            let (pointer, length) = self.into_parts();
            cluster::note_lent_memory();
            cluster::sync();
            let result = update(&ClusterAtomics { pointer, length });
            cluster::sync();
            (SharedView::from_parts(pointer, length), result)
        }
    }

    impl<T: AtomicValue, const N: usize> ClusterAtomics<T, N> {
        /// The words of the block with this rank; the own rank is allowed.
        ///
        /// # Panics
        /// If the cluster has no such block.
        #[inline(always)]
        #[track_caller]
        pub fn of(&self, rank: u32) -> &[Atomic<T, scope::Cluster>] {
            // SAFETY: so many elements are initialised in every block, or hold the bits that an ended one left; until the cluster's barrier
            // after this phase all use them atomically only, and no block's memory goes before all blocks have ended: the linker sees to that
            // (`note_lent_memory`).
            unsafe { core::slice::from_raw_parts(of(self.pointer, rank).cast(), self.length) }
        }
    }
}
pub use clusters::{ClusterAtomics, ClusterView};

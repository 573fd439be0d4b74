//! Thread block clusters: blocks that run at the same time, side by side, and reach each other's shared memory.
//!
//! A kernel gets its cluster shape from `#[kernel(cluster(2))]` or from the launch (`Grid::cluster`). Without either,
//! each block is a cluster by itself, and everything here still works. Arch: sm_90. Guide §2.2.1, §3.2.5.
//!
//! # A neighbour's shared memory
//!
//! The safe way is a phase of a shared array: [`SharedFilled::across_cluster`](crate::shared::SharedFilled::across_cluster) lets all
//! blocks read each other's arrays, and [`SharedFilled::atomic_across_cluster`](crate::shared::SharedFilled::atomic_across_cluster)
//! update them atomically. Both hold the cluster's barrier before (the neighbour has started, and filled its array) and
//! after (no block writes while others still read), and keep each block until all of the cluster have ended. [`map_shared`] is the raw
//! instruction.

macro_rules! registers {
    ($($(#[$doc:meta])* $name:ident = $register:literal;)*) => {$(
        $(#[$doc])*
        ///
        #[doc = concat!("PTX: `mov.u32` of `%", $register, "`. Arch: sm_90.")]
        ///
        /// ```no_run
        #[doc = concat!("let value: u32 = warpsmith_device::cluster::", stringify!($name), "();")]
        /// ```
        #[inline(always)]
        pub fn $name() -> u32 {
            let value: u32;
            // SAFETY: reading a special register has no conditions.
            unsafe {
                instruction!(concat!("mov.u32 {value}, %", $register, ";"), value = out(reg32) value,
                    options(pure, nomem, nostack));
            }
            value
        }
    )*};
}
macro_rules! triples {
    ($($(#[$doc:meta])* $name:ident = $register:literal;)*) => {$(
        $(#[$doc])*
        ///
        #[doc = concat!("PTX: `mov.u32` of `%", $register, ".x`, `.y`, `.z`. Arch: sm_90.")]
        ///
        /// ```no_run
        #[doc = concat!("let (x, y, z) = warpsmith_device::cluster::", stringify!($name), "();")]
        /// ```
        #[inline(always)]
        pub fn $name() -> (u32, u32, u32) {
            let (x, y, z): (u32, u32, u32);
            // SAFETY: reading special registers has no conditions.
            unsafe {
                instruction!(concat!("mov.u32 {value}, %", $register, ".x;"), value = out(reg32) x, options(pure, nomem, nostack));
                instruction!(concat!("mov.u32 {value}, %", $register, ".y;"), value = out(reg32) y, options(pure, nomem, nostack));
                instruction!(concat!("mov.u32 {value}, %", $register, ".z;"), value = out(reg32) z, options(pure, nomem, nostack));
            }
            (x, y, z)
        }
    )*};
}

registers! {
    /// The calling block's number in its cluster, x fastest. CUDA C++: `this_cluster().block_rank()`.
    rank = "cluster_ctarank";
    /// The number of blocks in a cluster. CUDA C++: `this_cluster().num_blocks()`.
    blocks = "cluster_nctarank";
}
triples! {
    /// The calling block's position in its cluster. CUDA C++: `this_cluster().block_index()`.
    block_idx = "cluster_ctaid";
    /// The cluster's extent in blocks. CUDA C++: `this_cluster().dim_blocks()`.
    dim = "cluster_nctaid";
    /// The cluster's position in the grid of clusters.
    idx = "clusterid";
    /// The grid's extent in clusters.
    grid_dim = "nclusterid";
}

/// The number of threads in a cluster. CUDA C++: `this_cluster().num_threads()`.
///
/// ```no_run
/// let threads: u32 = warpsmith_device::cluster::threads();
/// ```
#[inline(always)]
pub fn threads() -> u32 {
    blocks() * crate::block::threads()
}

/// The calling thread's number in its cluster. CUDA C++: `this_cluster().thread_rank()`.
///
/// ```no_run
/// let thread: u32 = warpsmith_device::cluster::linear_thread();
/// ```
#[inline(always)]
pub fn linear_thread() -> u32 {
    rank() * crate::block::threads() + crate::thread::linear_in_block()
}

/// Whether the launch gave the grid clusters, or each block is one by itself.
///
/// PTX: `%is_explicit_cluster`. Arch: sm_90.
///
/// ```no_run
/// let clustered: bool = warpsmith_device::cluster::is_explicit();
/// ```
#[inline(always)]
pub fn is_explicit() -> bool {
    let value: u32;
    // SAFETY: reading a special register has no conditions.
    unsafe {
        instruction!(
            "{{", ".reg .pred explicit;", "mov.pred explicit, %is_explicit_cluster;",
            "selp.b32 {value}, 1, 0, explicit;", "}}",
            value = out(reg32) value, options(pure, nomem, nostack),
        );
    }
    value != 0
}

/// Waits for all threads of all blocks of the cluster; what each of them wrote before, to shared or global memory, all of
/// them see after.
///
/// Becomes `barrier.cluster.arrive.release` and `barrier.cluster.wait.acquire`. Arch: sm_90. Threads that have ended are not
/// waited for; all others must come, each equally often. CUDA C++: `this_cluster().sync()`.
///
/// ```no_run
/// warpsmith_device::cluster::sync();
/// ```
#[inline(always)]
pub fn sync() {
    // SAFETY: a barrier accesses no memory of its own.
    unsafe { instruction!("barrier.cluster.arrive.release;", options(nostack)) };
    Arrival(()).wait();
}

/// Tells the linker that this code arrives at the cluster's barrier without waiting there.
#[inline(always)]
fn note_arrival() {
    on_device! {
        // SAFETY: the linker takes the call away.
        unsafe { __warpsmith_arrives_at_cluster() }
    }
}

/// Tells the linker that this code uses the shared memory of other blocks: blocks wait for each other in the end.
#[inline(always)]
pub(crate) fn note_lent_memory() {
    on_device! {
        // SAFETY: the linker takes the call away.
        unsafe { __warpsmith_lends_cluster_memory() }
    }
}

#[cfg(target_arch = "nvptx64")]
unsafe extern "C" {
    fn __warpsmith_arrives_at_cluster();
    fn __warpsmith_lends_cluster_memory();
}

/// A thread's word that it has come to the cluster's barrier; see [`arrive`].
#[must_use = "the barrier is only passed by `wait`"]
pub struct Arrival(());

/// The first half of [`sync`]: announces this thread's arrival without waiting, and publishes what it wrote. Between it and
/// [`Arrival::wait`] is room for work that needs nothing from other blocks. Each arrival must be waited for before the
/// next.
///
/// Becomes `barrier.cluster.arrive.release`. Arch: sm_90. CUDA C++: `this_cluster().barrier_arrive()`.
///
/// ```no_run
/// # use warpsmith_device::cluster;
/// # fn work() {}
/// let arrival = cluster::arrive();
/// work();
/// arrival.wait();
/// ```
#[inline(always)]
pub fn arrive() -> Arrival {
    note_arrival();
    // SAFETY: a barrier accesses no memory of its own.
    unsafe { instruction!("barrier.cluster.arrive.release;", options(nostack)) };
    Arrival(())
}

/// [`arrive`] that publishes nothing: when only the neighbours' presence matters. As [`arrive`], not beside a safe phase.
///
/// Becomes `barrier.cluster.arrive.relaxed`. Arch: sm_90.
///
/// ```no_run
/// warpsmith_device::cluster::arrive_relaxed().wait();
/// ```
#[inline(always)]
pub fn arrive_relaxed() -> Arrival {
    note_arrival();
    // SAFETY: a barrier accesses no memory of its own.
    unsafe { instruction!("barrier.cluster.arrive.relaxed;", options(nostack)) };
    Arrival(())
}

impl Arrival {
    /// The second half of [`sync`]: waits until all threads of the cluster have arrived, and sees what they published.
    ///
    /// Becomes `barrier.cluster.wait.acquire`. Arch: sm_90.
    #[inline(always)]
    pub fn wait(self) {
        // SAFETY: a barrier accesses no memory of its own.
        unsafe { instruction!("barrier.cluster.wait.acquire;", options(nostack)) };
    }
}

/// The address, in the shared memory of the cluster's block `rank`, of what `local` is in the calling block's: the same
/// offset. The own rank gives the own address.
///
/// PTX: `mapa.u64`. Arch: sm_90. Not collective. CUDA C++: `this_cluster().map_shared_rank(local, rank)`.
///
/// ```no_run
/// # use warpsmith_device::cluster;
/// /// # Safety
/// /// `counter` is in shared memory; all blocks of the cluster run and have initialised theirs.
/// unsafe fn first_blocks(counter: *mut u32) -> u32 {
///     // SAFETY: the caller vouches for the cluster; rank 0 exists.
///     unsafe { cluster::map_shared(counter, 0).read_volatile() }
/// }
/// ```
///
/// # Safety
/// `local` points to shared memory of the calling block, and `rank < blocks()`. To access the result, that block must have
/// started and must not end meanwhile: a cluster barrier stands before and after, and no block returns early.
#[inline(always)]
pub unsafe fn map_shared<T>(local: *mut T, rank: u32) -> *mut T {
    let mapped: *mut T;
    // SAFETY: address arithmetic; the caller vouches for pointer and rank.
    unsafe {
        instruction!("mapa.u64 {mapped}, {local}, {rank};", mapped = out(reg64) mapped, local = in(reg64) local,
            rank = in(reg32) rank, options(pure, nomem, nostack));
    }
    mapped
}

/// The rank of the block whose shared memory `pointer` leads to.
///
/// PTX: `getctarank.u64`. Arch: sm_90. CUDA C++: `cluster_group::query_shared_rank`.
///
/// ```no_run
/// # fn rank(pointer: *const u32) -> u32 {
/// // SAFETY: the caller passes a pointer to shared memory.
/// unsafe { warpsmith_device::cluster::rank_of(pointer) }
/// # }
/// ```
///
/// # Safety
/// `pointer` leads to shared memory of a block of the cluster.
#[inline(always)]
pub unsafe fn rank_of<T>(pointer: *const T) -> u32 {
    let rank: u32;
    // SAFETY: address arithmetic; the caller vouches for the pointer.
    unsafe {
        instruction!("getctarank.u64 {rank}, {pointer};", rank = out(reg32) rank, pointer = in(reg64) pointer,
            options(pure, nomem, nostack));
    }
    rank
}

//! Memory fences: order the calling thread's own accesses, as other threads see them.
//!
//! A fence waits for no thread and publishes nothing by itself: the other side has to read the flag with a volatile or
//! atomic load, and fence too before it reads the data. A block barrier, in contrast, does both for the block.

#[cfg(target_arch = "nvptx64")]
use core::arch::asm;

macro_rules! fences {
    ($($(#[$documentation:meta])* $name:ident = $ptx:literal;)*) => {$(
        $(#[$documentation])*
        ///
        #[doc = concat!("Becomes `", $ptx, "`.")]
        ///
        /// ```no_run
        #[doc = concat!("warpsmith_device::fence::", stringify!($name), "();")]
        /// ```
        #[inline(always)]
        pub fn $name() {
            // SAFETY: a fence orders accesses and makes none of its own; without `nomem` the compiler keeps them on their side of it.
            on_device! { unsafe { asm!($ptx) } }
        }
    )*};
}

fences! {
    /// CUDA C++'s `__threadfence_block()`: sequentially consistent, among the threads of the block. Any arch.
    block = "fence.sc.cta;";
    /// CUDA C++'s `__threadfence()`: sequentially consistent, among all threads of the device. Any arch.
    device = "fence.sc.gpu;";
    /// CUDA C++'s `__threadfence_system()`: sequentially consistent, host and peer devices included. Any arch.
    system = "fence.sc.sys;";
    /// Sequentially consistent, among the threads of the cluster. `sm_90`.
    cluster = "fence.sc.cluster;";
    /// Makes the calling thread's accesses at several virtual addresses of the same physical memory coherent. Other fences and barriers do
    /// not; between threads they are needed besides. Any arch.
    alias = "fence.proxy.alias;";
    /// Acquire and release, among the threads of the block. Any arch.
    acq_rel_block = "fence.acq_rel.cta;";
    /// Acquire and release, among the threads of the cluster. `sm_90`.
    acq_rel_cluster = "fence.acq_rel.cluster;";
    /// Acquire and release, among all threads of the device. Any arch.
    acq_rel_device = "fence.acq_rel.gpu;";
    /// Acquire and release, host and peer devices included. Any arch.
    acq_rel_system = "fence.acq_rel.sys;";
}

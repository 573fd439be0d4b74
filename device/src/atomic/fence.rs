//! Memory fences with scope and order.

use super::order::{FenceOrder, Level, Scope, Semantics};

/// Orders this thread's memory accesses, in all state spaces, as seen by the threads of `scope`.
///
/// A fence says nothing about other threads by itself: the reading side needs a fence or an acquire of its own, and
/// must read with an atomic or volatile load.
///
/// PTX: `fence.acq_rel.SCOPE` for `Acquire`, `Release` and `AcqRel`; `fence.sc.SCOPE` for `SeqCst`, which is CUDA's
/// `__threadfence_block`, `__threadfence` and `__threadfence_system`. Arch: sm_70; scope `Cluster`: sm_90.
/// Not a barrier: inactive lanes do not matter. Guide §7.5.
///
/// ```no_run
/// use warpsmith_device::atomic::{fence, scope, Release};
/// fence(scope::Device, Release); // earlier writes are seen before later ones, by every thread of the GPU
/// ```
#[inline(always)]
pub fn fence<S: Scope, O: FenceOrder>(_scope: S, _order: O) {
    let sequential = matches!(O::SEMANTICS, Semantics::SeqCst);
    // SAFETY: a fence accesses no memory of its own; without `nomem` the compiler keeps accesses on their side of it.
    unsafe {
        match (S::LEVEL, sequential) {
            (Level::Block, false) => instruction!("fence.acq_rel.cta;", options(nostack)),
            (Level::Block, true) => instruction!("fence.sc.cta;", options(nostack)),
            #[cfg(warpsmith_arch_at_least = "90")]
            (Level::Cluster, false) => instruction!("fence.acq_rel.cluster;", options(nostack)),
            #[cfg(warpsmith_arch_at_least = "90")]
            (Level::Cluster, true) => instruction!("fence.sc.cluster;", options(nostack)),
            (Level::Device, false) => instruction!("fence.acq_rel.gpu;", options(nostack)),
            (Level::Device, true) => instruction!("fence.sc.gpu;", options(nostack)),
            (Level::System, false) => instruction!("fence.acq_rel.sys;", options(nostack)),
            (Level::System, true) => instruction!("fence.sc.sys;", options(nostack)),
        }
    }
}

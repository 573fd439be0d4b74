//! The graph that a kernel is a node of.

use core::marker::PhantomData;

use super::launch::{GraphLaunchError, LaunchMode, launch};

/// The graph that this kernel is a node of, if kernels may launch it: the host has instantiated it for that. `None` in a graph that only
/// the host launches, and outside of graphs.
///
/// Becomes `mov.u64 %current_graph_exec`. Guide §3.2.8.7.7.2.1.3.1.
///
/// ```
/// use warpsmith_device::graph;
/// use warpsmith_device::prelude::*;
///
/// /// One step of a loop that the graph makes of itself.
/// #[kernel]
/// pub fn again_until(steps: AtomicSlice<u32>, most: u32) {
///     if thread::is_first() && steps[0].fetch_add(1, Relaxed) + 1 < most {
///         if let Some(graph) = graph::current() {
///             let _ = graph.launch_tail();
///         }
///     }
/// }
/// ```
// covers: DGRAPH-12
#[inline(always)]
pub fn current() -> Option<CurrentGraph> {
    (handle() != 0).then_some(CurrentGraph {
        of_this_thread: PhantomData,
    })
}

/// The graph that the calling kernel is a node of: see [`current`].
#[derive(Clone, Copy)]
pub struct CurrentGraph {
    /// It names another graph elsewhere.
    of_this_thread: PhantomData<*const ()>,
}

impl CurrentGraph {
    /// Launches it once more, as its own tail: after it, and after all that it has launched by fire and forget.
    ///
    /// Becomes a call of `cudaGraphLaunch` with the tail stream, a function that the driver supplies. Guide §3.2.8.7.7.2.1.3.1.
    ///
    /// # Errors
    ///
    /// [`GraphLaunchError::INVALID_VALUE`] where it is to run once more already, or has 255 tails.
    #[inline(always)]
    pub fn launch_tail(self) -> Result<(), GraphLaunchError> {
        // The handle is read where it is used: nothing of another launch can get here.
        // SAFETY: the register has the handle of a graph that is running, which was made for launches by kernels and uploaded before, or 0.
        // Whoever launched it keeps it, and has what it uses in order, until its tails have ended.
        unsafe { launch(handle(), LaunchMode::Tail) }
    }
}

/// The executable graph's handle, or 0.
#[inline(always)]
fn handle() -> u64 {
    on_device! {
        let handle: u64;
        // SAFETY: reading a special register has no conditions.
        unsafe {
            core::arch::asm!(
                "mov.u64 {}, %current_graph_exec;",
                out(reg64) handle,
                options(pure, nomem, nostack, preserves_flags)
            )
        };
        handle
    }
}

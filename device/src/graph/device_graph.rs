//! Graphs that a kernel is passed.

use core::marker::PhantomData;

use super::launch::{GraphLaunchError, LaunchMode, launch};

/// An executable graph that the kernel may launch: a parameter, for which the host passes a `DeviceGraph` of its library. Flat: its handle,
/// a `u64`.
///
/// A kernel with such a parameter runs as a node of a graph alone. The host library has each launch of that graph count as a use of all that
/// this one uses, so that work in other streams comes before both or after both; it lives as long as they may run, and is uploaded before.
///
/// ```
/// use warpsmith_device::graph::DeviceGraph;
/// use warpsmith_device::prelude::*;
///
/// /// Has the graph run after this one, while the counter says so.
/// #[kernel]
/// pub fn decide(left: &u32, refine: DeviceGraph, mut refused: PerThread<[u32]>) {
///     if thread::is_first() && *left > 0 {
///         let launched = refine.launch_tail();
///         if let (Err(error), Some(refused)) = (launched, refused.mine()) {
///             *refused = error.0;
///         }
///     }
/// }
/// ```
///
/// It is good for the launch that it is passed to, and cannot be made, or kept for a later one:
///
/// ```compile_fail
/// use warpsmith_device::graph::DeviceGraph;
/// use warpsmith_device::prelude::*;
///
/// #[kernel]
/// pub fn later(graph: DeviceGraph<'static>) {}
/// ```
#[derive(Clone, Copy)]
pub struct DeviceGraph<'launch> {
    handle: u64,
    launch: PhantomData<&'launch ()>,
}

impl<'launch> DeviceGraph<'launch> {
    /// # Safety
    ///
    /// As long as `'launch` lasts, `handle` is that of an executable graph that fulfils the conditions of `launch`, and whoever launches the
    /// graph that this kernel is a node of has all that it uses in order from the beginning to the end of the tails of that.
    #[inline(always)]
    pub(crate) unsafe fn from_raw(handle: u64) -> DeviceGraph<'launch> {
        DeviceGraph {
            handle,
            launch: PhantomData,
        }
    }

    /// Launches it as a tail: it runs after the graph that this kernel is a node of, and after all that this has launched by fire and forget.
    /// So nothing of either runs beside the other, and it sees all that the launching graph wrote.
    ///
    /// Becomes a call of `cudaGraphLaunch` with the tail stream, a function that the driver supplies. Guide §3.2.8.7.7.2.
    ///
    /// # Errors
    ///
    /// [`GraphLaunchError::INVALID_VALUE`] where it is running or is to run already, or the launching graph has 255 tails.
    // covers: DGRAPH-05, DGRAPH-06
    #[inline(always)]
    pub fn launch_tail(self) -> Result<(), GraphLaunchError> {
        // SAFETY: the handle is good, by the condition of `from_raw`. It runs when nothing else of this launch does, unless unsafe code
        // launched a sibling, and what it uses is in order with everything else until the end of the tails.
        unsafe { launch(self.handle, LaunchMode::Tail) }
    }

    /// Launches it by fire and forget: it may begin at once, and runs beside the rest of the launching graph, whose tails come after it.
    ///
    /// Becomes a call of `cudaGraphLaunch` with the fire-and-forget stream. Guide §3.2.8.7.7.2.
    ///
    /// ```
    /// use warpsmith_device::graph::DeviceGraph;
    /// use warpsmith_device::prelude::*;
    ///
    /// /// # Safety
    /// ///
    /// /// Nothing in the launching graph uses what `graph` writes, or writes what it uses, unless it comes before this kernel.
    /// #[kernel]
    /// pub unsafe fn start(graph: DeviceGraph) {
    ///     if thread::is_first() {
    ///         // SAFETY: by the kernel's condition; the kernel itself writes nothing.
    ///         let _ = unsafe { graph.launch_fire_and_forget() };
    ///     }
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// [`GraphLaunchError::INVALID_VALUE`] where it is running or is to run already, or the launching graph has launched 120 graphs in this way.
    ///
    /// # Safety
    ///
    /// From this call to the end of the launching graph without its tails, nothing else that runs uses memory that it writes, or writes memory
    /// that it uses: the rest of this grid, the nodes of the launching graph that do not come before it, other graphs that run beside it. Where
    /// the grid itself has written such memory before, a fence (`fence::device()`) and what else it takes has made that visible. The same goes for
    /// the graphs that its kernels launch in turn, its own tails too. The host chooses the graph, so a kernel that calls this for a
    /// parameter is an `unsafe fn`.
    #[inline(always)]
    pub unsafe fn launch_fire_and_forget(self) -> Result<(), GraphLaunchError> {
        // SAFETY: the handle is good, by the condition of `from_raw`; that nothing conflicts with it the caller says.
        unsafe { launch(self.handle, LaunchMode::FireAndForget) }
    }

    /// Launches it as a sibling: as if the launching graph's parent had launched it by fire and forget. It may begin at once, and runs beside
    /// the rest of the launching graph and its tails. The stream goes on after all of them.
    ///
    /// Becomes a call of `cudaGraphLaunch` with the sibling stream. Guide §3.2.8.7.7.2.
    ///
    /// ```
    /// use warpsmith_device::graph::DeviceGraph;
    /// use warpsmith_device::prelude::*;
    ///
    /// /// # Safety
    /// ///
    /// /// `graph` has no memory in common with the launching graph and its tails.
    /// #[kernel]
    /// pub unsafe fn start_beside(graph: DeviceGraph) {
    ///     if thread::is_first() {
    ///         // SAFETY: by the kernel's condition.
    ///         let _ = unsafe { graph.launch_sibling() };
    ///     }
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// [`GraphLaunchError::INVALID_VALUE`] where it is running or is to run already, or the launching graph has launched 120 siblings.
    ///
    /// # Safety
    ///
    /// As for [`launch_fire_and_forget`](Self::launch_fire_and_forget), until everything has ended that the host's launch has brought about: the
    /// launching graph's tails, and those of the graphs that it was itself launched by, among it.
    #[inline(always)]
    pub unsafe fn launch_sibling(self) -> Result<(), GraphLaunchError> {
        // SAFETY: the handle is good, by the condition of `from_raw`; that nothing conflicts with it the caller says.
        unsafe { launch(self.handle, LaunchMode::Sibling) }
    }
}

//! The device runtime's function that launches graphs.

use core::fmt;

/// When a launched graph runs: the handles of the streams that stand for it.
#[derive(Clone, Copy)]
#[repr(u64)]
pub(super) enum LaunchMode {
    Tail = 0x0100_0000_0000_0000,
    FireAndForget = 0x0200_0000_0000_0000,
    Sibling = 0x0300_0000_0000_0000,
}

/// A graph was not launched: the driver's code (`cudaError_t`).
///
/// ```
/// use warpsmith_device::graph::{DeviceGraph, GraphLaunchError};
///
/// fn launched(graph: DeviceGraph) -> u32 {
///     match graph.launch_tail() {
///         Ok(()) => 0,
///         Err(GraphLaunchError::INVALID_VALUE) => 1,
///         Err(other) => other.0,
///     }
/// }
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GraphLaunchError(pub u32);

impl GraphLaunchError {
    /// The graph is running or is to run already, or the launching graph has launched as many as it can (`cudaErrorInvalidValue`).
    pub const INVALID_VALUE: GraphLaunchError = GraphLaunchError(1);
}

impl fmt::Display for GraphLaunchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            GraphLaunchError::INVALID_VALUE => f.write_str(
                "the graph runs or is to run already, or the launching graph has launched 120 graphs in this way, or has 255 tails",
            ),
            GraphLaunchError(code) => write!(f, "CUDA error {code}"),
        }
    }
}

impl core::error::Error for GraphLaunchError {}

/// Launches an executable graph.
///
/// # Safety
///
/// `exec` is 0, or the handle of an executable graph that was instantiated for launches by kernels and uploaded, and that nothing destroys,
/// updates or uploads, and no host launches, before this launch of it has ended. What it does to memory may happen when the mode says.
#[inline(always)]
pub(super) unsafe fn launch(exec: u64, mode: LaunchMode) -> Result<(), GraphLaunchError> {
    on_device! {
        #[allow(non_snake_case)]
        unsafe extern "C" {
            fn cudaGraphLaunch(exec: u64, stream: u64) -> u32;
        }
        // SAFETY: by this function's condition; the mode is one of the three named streams.
        match unsafe { cudaGraphLaunch(exec, mode as u64) } {
            0 => Ok(()),
            code => Err(GraphLaunchError(code)),
        }
    }
}

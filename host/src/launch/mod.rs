//! Launching kernels: shape, arguments, checks.
//!
//! A typed launch does what a plain `cuLaunchKernelEx` call does, plus: some comparisons with limits that were asked for once, one
//! comparison for each buffer (see [`crate::memory`]), and a number and an address for a kernel that can panic. It allocates nothing and
//! takes no lock as long as each buffer is used in one stream and the kernel uses no variables; everything else is out of line.

mod arguments;
mod attributes;
mod check;
mod enqueue;
mod function;
mod graph_launch;
mod grid;
mod in_stream;
mod kernel;
mod kernel_launch;
mod lookup;
mod options;
mod packer;

pub(crate) use self::arguments::packed;
pub use self::arguments::{Argument, Arguments, EarlyParameters};
pub(crate) use self::check::{check, condition_elsewhere};
pub(crate) use self::function::Function;
pub use self::function::{ClusterSizes, FunctionAttributes, Occupancy, SuggestedBlock};
pub(crate) use self::graph_launch::GraphLaunch;
pub use self::grid::{Dim3, Grid};
pub use self::kernel::{TypedKernel, UntypedKernel};
pub(crate) use self::kernel_launch::{KernelLaunch, LaunchableKernel};
pub use self::options::{ClusterScheduling, LaunchOptions, Trigger};
pub(crate) use self::packer::{ConditionsOf, Packer};

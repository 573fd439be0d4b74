//! What is launched, whichever way its kernel is known: typed or of foreign PTX; in a stream, as a node of a graph, or as a node's change.

use std::sync::Arc;

use warpsmith_device::launch::{Kernel, KernelAttributes};

use super::function::Function;
use super::grid::Grid;
use super::kernel::{TypedKernel, UntypedKernel};
use super::options::LaunchOptions;

/// A kernel as launches take it.
pub(crate) trait LaunchableKernel {
    /// The tuple of markers that its arguments fit.
    type Parameters;

    fn function(&self) -> &Arc<Function>;

    /// What its source says.
    fn source_attributes(&self) -> &'static KernelAttributes;
}

impl<K: Kernel> LaunchableKernel for TypedKernel<K> {
    type Parameters = K::Parameters;

    #[inline]
    fn function(&self) -> &Arc<Function> {
        &self.function
    }

    #[inline]
    fn source_attributes(&self) -> &'static KernelAttributes {
        const { &K::ATTRIBUTES }
    }
}

impl<P> LaunchableKernel for UntypedKernel<P> {
    type Parameters = P;

    #[inline]
    fn function(&self) -> &Arc<Function> {
        &self.function
    }

    /// Nothing is known of its source.
    #[inline]
    fn source_attributes(&self) -> &'static KernelAttributes {
        const {
            &KernelAttributes {
                max_threads: None,
                exact: false,
                min_blocks: None,
                max_registers: None,
                cluster: None,
                max_cluster: None,
                launch_dimensions: 3,
            }
        }
    }
}

/// A launch of a kernel, but for its arguments.
#[derive(Clone, Copy)]
pub(crate) struct KernelLaunch<'a> {
    pub(crate) function: &'a Arc<Function>,
    /// What the kernel's source says.
    pub(crate) attributes: &'static KernelAttributes,
    pub(crate) grid: Grid,
    pub(crate) options: Option<&'a LaunchOptions<'a>>,
}

impl<'a> KernelLaunch<'a> {
    #[inline]
    pub(crate) fn new(
        kernel: &'a impl LaunchableKernel,
        grid: Grid,
        options: Option<&'a LaunchOptions<'a>>,
    ) -> KernelLaunch<'a> {
        KernelLaunch {
            function: kernel.function(),
            attributes: kernel.source_attributes(),
            grid,
            options,
        }
    }
}

//! Kernel launches that are part of a graph.

use std::sync::Arc;

use warpsmith_driver::raw;

use super::attributes::LaunchAttributes;
use super::function::Function;
use super::grid::Grid;
use super::kernel_launch::KernelLaunch;
use super::options::{LaunchOptions, MOST};
use crate::driver_call::call;
use crate::error::Result;
use crate::module::origin::LaunchParameters;
use crate::order::capture::RecordedLaunch;
use crate::panics::reports::Panics;

/// The launch that a kernel node makes.
pub(crate) struct GraphLaunch {
    function: Arc<Function>,
    grid: Grid,
    options: LaunchOptions<'static>,
    /// How many parameters the kernel has of its own.
    parameters: usize,
}

impl GraphLaunch {
    /// # Errors
    ///
    /// A node cannot have such an option.
    pub(crate) fn new(launch: &KernelLaunch<'_>, parameters: usize) -> Result<GraphLaunch> {
        let options = launch.options.map(LaunchOptions::of_node).transpose()?;
        let launch = GraphLaunch {
            function: launch.function.clone(),
            grid: launch.grid,
            options: options.unwrap_or_default(),
            parameters,
        };
        // Before there is a node.
        launch.attributes()?;
        Ok(launch)
    }

    fn attributes(&self) -> Result<LaunchAttributes<MOST>> {
        self.options
            .attributes(&self.grid, false, &self.function.module.gpu)
    }
}

impl RecordedLaunch for GraphLaunch {
    fn panics(&self) -> &Arc<Panics> {
        self.function.module.gpu.panics()
    }

    fn can_panic(&self) -> bool {
        match self.function.launch_parameters {
            LaunchParameters::Absent => false,
            LaunchParameters::Present => true,
            LaunchParameters::Unknown => {
                self.function.parameter_count() == Some(self.parameters + 2)
            }
        }
    }

    fn has_priority(&self) -> bool {
        self.options.has_priority()
    }

    fn compiled_cluster(&self) -> Result<[u32; 3]> {
        self.function.compiled_cluster()
    }

    unsafe fn panic_log(&self, node: raw::CUgraphNode) -> Result<Option<u64>> {
        let mut parameters = raw::CUDA_KERNEL_NODE_PARAMS::default();
        // SAFETY: the driver writes to `parameters`, which outlives the call; the node is alive and a kernel's (the caller).
        unsafe { call!(cuGraphKernelNodeGetParams_v2(node, &mut parameters)) }?;
        if parameters.func != self.function.raw() {
            return Ok(None);
        }
        // SAFETY: the driver gives a pointer for each parameter of the entry, which are as many (`can_panic`), and the log is one of 8 bytes.
        let log = unsafe { (*parameters.kernelParams.add(self.parameters)).cast::<u64>() };
        // SAFETY: `log` points to the node's own value of 8 bytes, which the driver keeps until the node is changed: no other thread does so (the
        // caller).
        Ok(Some(unsafe { log.read_unaligned() }))
    }

    unsafe fn set_panic_log(&self, node: raw::CUgraphNode, log: u64) -> Result<()> {
        let mut parameters = raw::CUDA_KERNEL_NODE_PARAMS::default();
        // SAFETY: the driver writes to `parameters`, which outlives the call; the node is alive and a kernel's (the caller).
        unsafe { call!(cuGraphKernelNodeGetParams_v2(node, &mut parameters)) }?;
        let mut pointers: Vec<_> = (0..self.parameters + 2)
            // SAFETY: the driver gives a pointer for each parameter of the entry, which are as many (`can_panic`).
            .map(|index| unsafe { *parameters.kernelParams.add(index) })
            .collect();
        let mut log = log;
        pointers[self.parameters] = (&raw mut log).cast();
        parameters.kernelParams = pointers.as_mut_ptr();
        // SAFETY: the driver copies the parameters, all of which but the log are those that the node has; the node is alive (the caller).
        unsafe { call!(cuGraphKernelNodeSetParams_v2(node, &parameters)) }?;
        self.set_attributes(node)
    }
}

impl GraphLaunch {
    /// Gives a node what the shape has beyond blocks and threads.
    pub(crate) fn set_attributes(&self, node: raw::CUgraphNode) -> Result<()> {
        let mut attributes = self.attributes()?;
        for attribute in attributes.as_mut_slice() {
            // SAFETY: the callers say that the node is alive and a kernel's; the driver copies the value, which outlives the call.
            unsafe {
                call!(cuGraphKernelNodeSetAttribute(
                    node,
                    attribute.id,
                    &attribute.value
                ))
            }
            .map_err(|error| error.while_doing(|| format!("kernel `{}`", self.function.name)))?;
        }
        Ok(())
    }
}

//! Kernel launches that are part of a graph.

use std::sync::Arc;

use warpsmith_driver::raw;

use super::attributes::LaunchAttributes;
use super::function::Function;
use super::grid::Grid;
use crate::driver_call::call;
use crate::error::Result;
use crate::module::origin::LaunchParameters;
use crate::order::capture::RecordedLaunch;

/// The launch that a kernel node makes.
pub(crate) struct GraphLaunch {
    function: Arc<Function>,
    grid: Grid,
    /// How many parameters the kernel has of its own.
    parameters: usize,
}

impl GraphLaunch {
    pub(crate) fn new(function: &Arc<Function>, grid: Grid, parameters: usize) -> GraphLaunch {
        GraphLaunch {
            function: function.clone(),
            grid,
            parameters,
        }
    }
}

impl RecordedLaunch for GraphLaunch {
    fn can_panic(&self) -> bool {
        match self.function.launch_parameters {
            LaunchParameters::Absent => false,
            LaunchParameters::Present => true,
            LaunchParameters::Unknown => {
                self.function.parameter_count() == Some(self.parameters + 2)
            }
        }
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
        let launch: LaunchAttributes = LaunchAttributes::new(&self.grid);
        for attribute in &launch.list[..launch.count as usize] {
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

//! Kernel nodes.

use std::sync::Arc;

use warpsmith_device::launch::{Kernel, KernelAttributes, SafeKernel};
use warpsmith_driver::raw;

use super::builder::GraphBuilder;
use super::contents::KernelNode;
use crate::driver_call::call;
use crate::error::{Node, Result};
use crate::gpu::open_device::check_same_device;
use crate::launch::{
    Arguments, Function, GraphLaunch, Grid, Packer, TypedKernel, UNKNOWN, UntypedKernel, Words,
    check,
};
use crate::module::origin::LaunchParameters;
use crate::module::variables::KERNEL_ACCESS;
use crate::order::memory_use::MemoryUse;

impl GraphBuilder<'_> {
    /// Adds the launch of a safe kernel.
    ///
    /// The arguments are looked at now: scalars are copied, buffers are kept.
    ///
    /// # Errors
    ///
    /// As for [`Stream::launch`](crate::Stream::launch).
    // covers: GRAPH-04
    pub fn kernel<K, A>(
        &mut self,
        kernel: &TypedKernel<K>,
        grid: Grid,
        arguments: A,
    ) -> Result<Node>
    where
        K: SafeKernel,
        A: Arguments<K::Parameters>,
    {
        // SAFETY: a safe kernel has no conditions of its own (`SafeKernel`).
        unsafe { self.kernel_unchecked(kernel, grid, arguments) }
    }

    /// Adds the launch of any kernel.
    ///
    /// # Safety
    ///
    /// The kernel's own conditions hold at each launch of the graph, by the host or by a kernel.
    pub unsafe fn kernel_unchecked<K, A>(
        &mut self,
        kernel: &TypedKernel<K>,
        grid: Grid,
        arguments: A,
    ) -> Result<Node>
    where
        K: Kernel,
        A: Arguments<K::Parameters>,
    {
        let mut words = Words::new();
        let mut packer = Packer::new(0, &mut words);
        arguments.pack(&mut packer);
        self.add_kernel(&kernel.function, &K::ATTRIBUTES, grid, &mut packer)
    }

    /// Adds the launch of a kernel of foreign PTX.
    ///
    /// # Safety
    ///
    /// As for [`Stream::launch_untyped`](crate::Stream::launch_untyped), at each launch of the graph, by the host or by a kernel.
    pub unsafe fn kernel_untyped<P, A>(
        &mut self,
        kernel: &UntypedKernel<P>,
        grid: Grid,
        arguments: A,
    ) -> Result<Node>
    where
        A: Arguments<P>,
    {
        let mut words = Words::new();
        let mut packer = Packer::new(0, &mut words);
        arguments.pack(&mut packer);
        self.add_kernel(&kernel.function, &UNKNOWN, grid, &mut packer)
    }

    fn add_kernel(
        &mut self,
        kernel: &Arc<Function>,
        attributes: &KernelAttributes,
        grid: Grid,
        packer: &mut Packer<'_>,
    ) -> Result<Node> {
        let buffers = packer.uses().iter().map(|used| &used.allocation.gpu);
        for gpu in buffers.chain([&kernel.module.gpu]) {
            check_same_device("cuGraphAddKernelNode", &self.gpu, gpu)?;
        }
        for passed in packer.graphs() {
            check_same_device("cuGraphAddKernelNode", &self.gpu, passed.gpu)?;
            self.outside_of_bodies("a kernel that may launch graphs")?;
        }
        check(kernel, attributes, &grid, packer)?;
        let memory = packer.uses().iter().map(|used| MemoryUse {
            memory: used.allocation.clone(),
            access: used.access,
        });
        let variables = kernel.variables.iter().map(|variables| MemoryUse {
            memory: variables.clone(),
            access: KERNEL_ACCESS,
        });
        let launchable = packer
            .graphs()
            .iter()
            .flat_map(|passed| passed.graph.uses.iter().cloned());
        let uses: Vec<_> = memory.chain(variables).chain(launchable).collect();
        let own = packer.parameters();
        if kernel.launch_parameters != LaunchParameters::Absent {
            // The log comes when the graph is made ready, which launch it is when it is launched.
            packer.launch(0, 0, kernel.number);
        }
        let parameters = raw::CUDA_KERNEL_NODE_PARAMS {
            func: kernel.raw(),
            gridDimX: grid.blocks.x,
            gridDimY: grid.blocks.y,
            gridDimZ: grid.blocks.z,
            blockDimX: grid.threads.x,
            blockDimY: grid.threads.y,
            blockDimZ: grid.threads.z,
            sharedMemBytes: grid.shared,
            kernelParams: packer.pointers(),
            ..Default::default()
        };
        let node = self.add(&uses, |new| {
            // SAFETY: `new` has a variable for the node and nodes of this graph. The driver copies the parameters; they are
            // those of the entry, by the caller of `add_kernel`, and the contents keep the function and the memory among them.
            unsafe {
                call!(cuGraphAddKernelNode_v2(
                    new.node,
                    new.graph,
                    new.before.as_ptr(),
                    new.before.len(),
                    &parameters
                ))
            }
        })?;
        // Before anything can fail: the node is in the graph.
        for passed in packer.graphs() {
            self.contents.keep_launchable(passed.graph);
        }
        let launch = Arc::new(GraphLaunch::new(kernel, grid, own));
        self.contents.launches.push(KernelNode {
            node: Some(node),
            launch: launch.clone(),
        });
        launch.set_attributes(node.raw())?;
        Ok(node)
    }
}

//! Kernel nodes.

use std::any::Any;
use std::sync::Arc;

use warpsmith_device::launch::{Kernel, KernelAttributes, SafeKernel};
use warpsmith_driver::raw;

use super::builder::{GraphBuilder, LACKS_EDGE};
use super::contents::RecordedKernel;
use super::edge::EdgeKind;
use super::handle::KernelNode;
use super::handle::sealed::Named;
use super::part::{KernelShape, Part, PartKind};
use crate::driver_call::call;
use crate::error::{Node, Result};
use crate::gpu::open_device::{OpenDevice, check_same_device};
use crate::launch::{
    Arguments, ConditionsOf, EarlyParameters, Function, GraphLaunch, Grid, LaunchOptions, Packer,
    Trigger, TypedKernel, UNKNOWN, UntypedKernel, Words, check, condition_elsewhere,
};
use crate::memory::PeerAccess;
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
    ) -> Result<KernelNode>
    where
        K: SafeKernel,
        A: Arguments<K::Parameters>,
    {
        // SAFETY: a safe kernel has no conditions of its own (`SafeKernel`).
        unsafe { self.kernel_unchecked(kernel, grid, arguments) }
    }

    /// As [`kernel`](Self::kernel), with options: priority, cache, domains. Launches of the graph have those of the node, whatever the stream's
    /// are (of priorities, [`instantiate`](crate::Graph::instantiate) says more); no change of the node in an executable graph changes them.
    ///
    /// # Errors
    ///
    /// Those of [`kernel`](Self::kernel); [`Error::Limit`](crate::Error::Limit) where an option is beyond what the device has; [`Error::Invalid`](crate::Error::Invalid) for options that only a
    /// stream has: events are nodes ([`record`](Self::record)), and kernels begin early by [`kernel_early`](Self::kernel_early).
    // covers: MODEL-25
    pub fn kernel_with<K, A>(
        &mut self,
        kernel: &TypedKernel<K>,
        grid: Grid,
        options: &LaunchOptions<'_>,
        arguments: A,
    ) -> Result<KernelNode>
    where
        K: SafeKernel,
        A: Arguments<K::Parameters>,
    {
        // SAFETY: a safe kernel has no conditions of its own (`SafeKernel`).
        unsafe { self.kernel_unchecked_with(kernel, grid, options, arguments) }
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
    ) -> Result<KernelNode>
    where
        K: Kernel,
        A: Arguments<K::Parameters>,
    {
        // SAFETY: the caller's promise.
        unsafe { self.kernel_unchecked_with(kernel, grid, &LaunchOptions::new(), arguments) }
    }

    /// As [`kernel_unchecked`](Self::kernel_unchecked), with options: see [`kernel_with`](Self::kernel_with).
    ///
    /// # Safety
    ///
    /// As for [`kernel_unchecked`](Self::kernel_unchecked).
    pub unsafe fn kernel_unchecked_with<K, A>(
        &mut self,
        kernel: &TypedKernel<K>,
        grid: Grid,
        options: &LaunchOptions<'_>,
        arguments: A,
    ) -> Result<KernelNode>
    where
        K: Kernel,
        A: Arguments<K::Parameters>,
    {
        let launch = Launch::typed(kernel, grid);
        packed(&arguments, |packer| {
            self.add_kernel(&launch, options, None, packer)
        })
    }

    /// Adds the launch of a kernel that may begin before the kernels have ended that it must follow: at the point `trigger` of each of them. All
    /// memory that it is passed is an [`AfterPrimary`](warpsmith_device::dependent::AfterPrimary) parameter, which it reaches when everything
    /// before it has ended (programmatic dependent launch).
    ///
    /// Nodes that are no kernels it follows as any other node, and so it does what [`depend`](Self::depend) adds. What comes after it waits for the
    /// kernels before it, too: it need not have waited for them itself. Whether it does begin early is up to the device; a kernel that uses
    /// variables of its module does not.
    ///
    /// ```no_run
    /// # use warpsmith_device::prelude::*;
    /// # use warpsmith_device::dependent::{self, AfterPrimary};
    /// # const PTX: &str = "";
    /// use warpsmith_host::prelude::*;
    /// use warpsmith_host::{LaunchOptions, Trigger};
    ///
    /// #[kernel]
    /// pub fn primary(mut x: PerThread<[f32]>) {
    ///     dependent::launch_dependents();
    ///     if let Some(x) = x.mine() {
    ///         *x = 1.0;
    ///     }
    /// }
    ///
    /// #[kernel]
    /// pub fn secondary(x: AfterPrimary<&[f32]>, y: AfterPrimary<PerThread<[f32]>>) {
    ///     let (x, mut y) = (x.wait(), y.wait());
    ///     if let (Some(x), Some(y)) = (x.get(thread::index()), y.mine()) {
    ///         *y = *x;
    ///     }
    /// }
    ///
    /// # fn main() -> Result<()> {
    /// # let gpu = Gpu::open_default()?;
    /// # let module = gpu.load(PTX)?;
    /// let (first, second) = (module.kernel(primary)?, module.kernel(secondary)?);
    /// # let stream = gpu.stream()?;
    /// # let (mut x, mut y) = (stream.zeroed::<f32>(1024)?, stream.zeroed::<f32>(1024)?);
    /// let grid = Grid::cover(1024, 128);
    /// let mut graph = gpu.graph()?;
    /// graph.kernel(&first, grid, (&mut x,))?;
    /// graph.kernel_early(&second, grid, &LaunchOptions::new(), Trigger::BlocksSignalled, (&x, &mut y))?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Those of [`kernel_with`](Self::kernel_with).
    // covers: GRAPH-16, PDL-06
    pub fn kernel_early<K, A>(
        &mut self,
        kernel: &TypedKernel<K>,
        grid: Grid,
        options: &LaunchOptions<'_>,
        trigger: Trigger,
        arguments: A,
    ) -> Result<KernelNode>
    where
        K: SafeKernel,
        K::Parameters: EarlyParameters,
        A: Arguments<K::Parameters>,
    {
        let launch = Launch::typed(kernel, grid);
        packed(&arguments, |packer| {
            self.add_kernel(&launch, options, Some(trigger), packer)
        })
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
    ) -> Result<KernelNode>
    where
        A: Arguments<P>,
    {
        // SAFETY: the caller's promise.
        unsafe { self.kernel_untyped_with(kernel, grid, &LaunchOptions::new(), arguments) }
    }

    /// As [`kernel_untyped`](Self::kernel_untyped), with options: see [`kernel_with`](Self::kernel_with).
    ///
    /// # Safety
    ///
    /// As for [`kernel_untyped`](Self::kernel_untyped).
    pub unsafe fn kernel_untyped_with<P, A>(
        &mut self,
        kernel: &UntypedKernel<P>,
        grid: Grid,
        options: &LaunchOptions<'_>,
        arguments: A,
    ) -> Result<KernelNode>
    where
        A: Arguments<P>,
    {
        let launch = Launch::untyped(kernel, grid);
        packed(&arguments, |packer| {
            self.add_kernel(&launch, options, None, packer)
        })
    }

    /// Lets `after` begin no sooner than all blocks of `before` have begun. That is for their timing alone: `after` waits for nothing that `before`
    /// writes.
    ///
    /// # Errors
    ///
    /// As for [`depend`](Self::depend); the driver has no such edges (before CUDA 12.3).
    pub fn depend_started(&mut self, before: KernelNode, after: impl Into<Node>) -> Result<()> {
        let (before, after) = (before.into(), after.into());
        self.check_own(&[before, after])?;
        self.gpu.bind()?;
        self.followers.check_new_edge(before, after)?;
        self.add_edge(before, after, EdgeKind::Started)
    }

    fn add_kernel(
        &mut self,
        launch: &Launch<'_>,
        options: &LaunchOptions<'_>,
        early: Option<Trigger>,
        packer: &mut Packer<'_>,
    ) -> Result<KernelNode> {
        let own = launch.check(&self.gpu, self.memory_of, packer)?;
        let early = early.filter(|_| launch.may_be_early());
        if !packer.graphs().is_empty() {
            self.outside_of_bodies("a kernel that may launch graphs")?;
        }
        let recorded = GraphLaunch::new(launch.kernel, launch.grid, options, own)?;
        let uses = Launch::uses(launch.kernel, packer);
        let keepers = Launch::keepers(packer);
        let before = self.before(&[], &uses)?;
        // Programmatic edges lead from kernels to kernels.
        let (open, ended): (Vec<Node>, Vec<Node>) = before.into_iter().partition(|node| {
            let is_kernel = |part: &Part| matches!(part.kind, PartKind::Kernel(_));
            early.is_some() && self.parts.get(*node).is_some_and(is_kernel)
        });
        // The log comes when the graph is made ready, which launch it is when it is launched.
        let parameters = launch.parameters(packer, 0);
        let node = self.make(&ended, |new| {
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
        let shape = KernelShape::of(&launch.grid, early.is_some());
        self.note(node, PartKind::Kernel(shape), ended, &uses);
        let recorded = Arc::new(recorded);
        self.keep_with(node, |contents| {
            let graphs = packer.graphs().iter();
            graphs.for_each(|passed| contents.keep_launchable(passed.graph));
            contents.kept.extend(keepers.iter().cloned());
            contents
                .passed_conditions
                .extend_from_slice(packer.passed_conditions());
            contents.launches.push(RecordedKernel {
                node: Some(node),
                launch: recorded.clone(),
            });
        });
        if let Some(trigger) = early {
            for &before in &open {
                self.add_edge(before, node, EdgeKind::Programmatic(trigger))
                    .inspect_err(|_| self.break_at(node, LACKS_EDGE))?;
            }
            self.early.insert(node, open);
        }
        let _turn = self.template.turn();
        recorded.set_attributes(node.raw())?;
        Ok(KernelNode::named(node))
    }
}

/// A launch that a kernel node is to make.
pub(super) struct Launch<'a> {
    pub(super) kernel: &'a Arc<Function>,
    pub(super) attributes: &'a KernelAttributes,
    pub(super) grid: Grid,
}

/// Packs the arguments of a launch that is no stream's, for what takes them.
pub(super) fn packed<P, A: Arguments<P>, R>(
    arguments: &A,
    take: impl FnOnce(&mut Packer<'_>) -> R,
) -> R {
    let mut words = Words::new();
    let mut packer = Packer::new(0, &mut words);
    arguments.pack(&mut packer);
    take(&mut packer)
}

impl<'a> Launch<'a> {
    /// Of a kernel whose parameters are known.
    pub(super) fn typed<K: Kernel>(kernel: &'a TypedKernel<K>, grid: Grid) -> Self {
        Launch {
            kernel: &kernel.function,
            attributes: &K::ATTRIBUTES,
            grid,
        }
    }

    /// Of a kernel of foreign PTX.
    pub(super) fn untyped<P>(kernel: &'a UntypedKernel<P>, grid: Grid) -> Self {
        Launch {
            kernel: &kernel.function,
            attributes: &UNKNOWN,
            grid,
        }
    }
}

impl Launch<'_> {
    /// How many parameters the kernel is passed of its own, as a node of the whole graph of this number.
    ///
    /// # Errors
    ///
    /// Something is of another device, a condition of another graph, or the shape or the arguments are beyond what the kernel or the device can have.
    pub(super) fn check(
        &self,
        gpu: &Arc<OpenDevice>,
        graph: u64,
        packer: &Packer<'_>,
    ) -> Result<usize> {
        const CALL: &str = "cuGraphAddKernelNode";
        if ![ConditionsOf::Nobody, ConditionsOf::Graph(graph)].contains(&packer.conditions()) {
            return Err(condition_elsewhere(CALL, self.kernel));
        }
        for used in packer.uses() {
            used.check_device(CALL, "the graph", gpu)?;
        }
        let graphs = packer.graphs().iter().map(|passed| passed.gpu);
        for other in graphs.chain([&self.kernel.module.gpu]) {
            check_same_device(CALL, gpu, other)?;
        }
        check(self.kernel, self.attributes, &self.grid, packer)?;
        Ok(packer.parameters())
    }

    /// Whether nothing but its parameters leads it to memory that others use: variables are used from the beginning.
    pub(super) fn may_be_early(&self) -> bool {
        self.kernel.variables.is_none()
    }

    /// All that the launch uses.
    pub(super) fn uses(kernel: &Function, packer: &Packer<'_>) -> Vec<MemoryUse> {
        let memory = packer.uses().iter().map(|used| MemoryUse {
            memory: used.allocation.clone(),
            access: used.access(),
        });
        let variables = kernel.variables.iter().map(|variables| MemoryUse {
            memory: variables.clone(),
            access: KERNEL_ACCESS,
        });
        let launchable = packer
            .graphs()
            .iter()
            .flat_map(|passed| passed.graph.uses.iter().cloned());
        memory.chain(variables).chain(launchable).collect()
    }

    /// What lets the launch use memory of other devices: for the graph to keep.
    pub(super) fn keepers(packer: &Packer<'_>) -> Vec<Arc<dyn Any + Send + Sync>> {
        let peers = packer.uses().iter().filter_map(|used| used.peer());
        peers.filter_map(PeerAccess::keeper).collect()
    }

    /// The launch in the driver's form, with what a kernel that can panic is passed besides. It is good until the packer is used again.
    pub(super) fn parameters(
        &self,
        packer: &mut Packer<'_>,
        log: u64,
    ) -> raw::CUDA_KERNEL_NODE_PARAMS {
        if self.kernel.launch_parameters != LaunchParameters::Absent {
            packer.launch(log, 0, self.kernel.number);
        }
        raw::CUDA_KERNEL_NODE_PARAMS {
            func: self.kernel.raw(),
            gridDimX: self.grid.blocks.x,
            gridDimY: self.grid.blocks.y,
            gridDimZ: self.grid.blocks.z,
            blockDimX: self.grid.threads.x,
            blockDimY: self.grid.threads.y,
            blockDimZ: self.grid.threads.z,
            sharedMemBytes: self.grid.shared,
            kernelParams: packer.pointers(),
            ..Default::default()
        }
    }
}

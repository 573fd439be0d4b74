//! Kernel nodes.

use warpsmith_device::launch::{Kernel, SafeKernel};

use super::builder::{GraphBuilder, INCOMPLETE};
use super::edge::EdgeKind;
use super::handle::KernelNode;
use super::handle::sealed::Named;
use super::node_launch::NodeLaunch;
use super::part::{KernelShape, Part, PartKind};
use crate::driver_call::call;
use crate::error::{Node, Result};
use crate::launch::{
    Arguments, EarlyParameters, Grid, KernelLaunch, LaunchOptions, LaunchableKernel, Packer,
    Trigger, TypedKernel, UntypedKernel, packed,
};

impl GraphBuilder<'_> {
    /// Adds the launch of a safe kernel.
    ///
    /// The arguments are looked at now: scalars are copied, buffers are kept. The node is of the device that has loaded the kernel.
    ///
    /// # Errors
    ///
    /// As for [`Stream::launch`](crate::Stream::launch), with the kernel's device. In the body of a loop or a branch, or where it is passed a graph or
    /// a condition, the kernel is of another device than the graph.
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
        unsafe { self.add_kernel(kernel, grid, None, None, &arguments) }
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
        unsafe { self.add_kernel(kernel, grid, Some(options), None, &arguments) }
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
        unsafe { self.add_kernel(kernel, grid, None, None, &arguments) }
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
        // SAFETY: the caller's promise.
        unsafe { self.add_kernel(kernel, grid, Some(options), None, &arguments) }
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
        // SAFETY: a safe kernel has no conditions of its own (`SafeKernel`).
        unsafe { self.add_kernel(kernel, grid, Some(options), Some(trigger), &arguments) }
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
        unsafe { self.add_kernel(kernel, grid, None, None, &arguments) }
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
        // SAFETY: the caller's promise.
        unsafe { self.add_kernel(kernel, grid, Some(options), None, &arguments) }
    }

    /// Lets `after` begin no sooner than all blocks of `before` have begun. That is for their timing alone: `after` waits for nothing that `before`
    /// writes.
    ///
    /// # Errors
    ///
    /// As for [`depend`](Self::depend); the driver has no such edges (before CUDA 12.3).
    pub fn depend_started(&mut self, before: KernelNode, after: impl Into<Node>) -> Result<()> {
        let (before, after) = (before.into(), after.into());
        self.check_own("cuGraphAddDependencies", &[before, after])?;
        self.gpu.bind()?;
        self.followers.check_new_edge(before, after)?;
        self.add_edge(before, after, EdgeKind::Started)
    }

    /// # Safety
    ///
    /// The kernel's own conditions hold at each launch of the graph.
    unsafe fn add_kernel<K: LaunchableKernel>(
        &mut self,
        kernel: &K,
        grid: Grid,
        options: Option<&LaunchOptions<'_>>,
        early: Option<Trigger>,
        arguments: &impl Arguments<K::Parameters>,
    ) -> Result<KernelNode> {
        let launch = KernelLaunch::new(kernel, grid, options);
        packed(0, arguments, |packer| {
            // SAFETY: `Arguments` packs what fits the kernel's parameters, which `Module::kernel` has compared with the entry's; its other
            // conditions hold (the caller).
            unsafe { self.add_packed(&launch, early, packer) }
        })
    }

    /// # Safety
    ///
    /// What was packed fits the parameters of the entry, and the kernel's own conditions hold at each launch of the graph.
    unsafe fn add_packed(
        &mut self,
        launch: &KernelLaunch<'_>,
        early: Option<Trigger>,
        packer: &mut Packer<'_>,
    ) -> Result<KernelNode> {
        let launch = NodeLaunch::new(launch, &self.gpu, self.memory_of, packer)?;
        self.include_device("cuGraphAddKernelNode", launch.gpu())?;
        let early = early.filter(|_| launch.may_be_early());
        if !packer.graphs().is_empty() {
            self.outside_of_bodies("a kernel that may launch graphs")?;
        }
        let before = self.before(&[], &launch.uses)?;
        // Programmatic edges lead from kernels to kernels.
        let (open, ended): (Vec<Node>, Vec<Node>) = before.into_iter().partition(|node| {
            let is_kernel = |part: &Part| matches!(part.kind, PartKind::Kernel(_));
            early.is_some() && self.parts.get(*node).is_some_and(is_kernel)
        });
        let compiled_cluster = launch.function().compiled_cluster()?;
        // The log comes when the graph is made ready, which launch it is when it is launched.
        let parameters = launch.parameters(packer, 0);
        let node = self.make(&ended, |new| {
            // SAFETY: `new` has a variable for the node and nodes of this graph. The driver copies the parameters; they are those of the entry (the
            // caller), and the contents keep the function and the memory among them.
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
        let shape = KernelShape::of(launch.grid(), compiled_cluster, early.is_some());
        self.note(node, PartKind::Kernel(shape), ended, &launch.uses);
        let contents = launch.contents(node, packer);
        self.keep_with(node, |kept| kept.absorb(contents.clone()));
        if let Some(trigger) = early {
            for &before in &open {
                self.add_edge(before, node, EdgeKind::Programmatic(trigger))
                    .inspect_err(|_| self.break_at(node, INCOMPLETE))?;
            }
            self.early.insert(node, open);
        }
        let attributes = {
            let _turn = self.template.turn();
            launch.recorded.set_attributes(node.raw())
        };
        attributes.inspect_err(|_| self.break_at(node, INCOMPLETE))?;
        Ok(KernelNode::named(node))
    }
}

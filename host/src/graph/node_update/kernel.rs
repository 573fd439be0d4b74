//! Kernels: another one, another grid, other arguments.

use std::sync::Arc;

use warpsmith_device::launch::{Kernel, SafeKernel};

use super::{other_device, refused};
use crate::driver_call::call;
use crate::error::{Code, Error, Result};
use crate::graph::exec::GraphExec;
use crate::graph::handle::KernelNode;
use crate::graph::node_launch::NodeLaunch;
use crate::graph::part::{KernelShape, PartKind};
use crate::launch::{
    Arguments, ConditionsOf, EarlyParameters, Function, Grid, KernelLaunch, LaunchableKernel,
    Packer, TypedKernel, UntypedKernel, packed,
};
use crate::order::capture::RecordedLaunch;

const CALL: &str = "cuGraphExecKernelNodeSetParams";

impl GraphExec {
    /// Gives a kernel node another kernel, grid or arguments, from the next launch on. Launches that are under way keep what they have.
    ///
    /// ```no_run
    /// # use warpsmith_device::prelude::*;
    /// # #[kernel]
    /// # pub fn scale(by: f32, mut x: PerThread<[f32]>) {}
    /// # const PTX: &str = "";
    /// use warpsmith_host::prelude::*;
    ///
    /// # fn main() -> Result<()> {
    /// # let gpu = Gpu::open_default()?;
    /// # let (stream, kernel) = (gpu.stream()?, gpu.load(PTX)?.kernel(scale)?);
    /// # let mut x = stream.upload(&[8.0_f32])?;
    /// let mut graph = gpu.graph()?;
    /// let node = graph.kernel(&kernel, Grid::new(1, 1), (2.0, &mut x))?;
    /// let mut ready = graph.instantiate()?;
    /// for i in 0..10 {
    ///     ready.set_kernel(node, &kernel, Grid::new(1, 1), (i as f32, &mut x))?;
    ///     ready.launch(&stream)?;
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Those of [`GraphBuilder::kernel`](crate::GraphBuilder::kernel). [`Error::Invalid`] where the node is not one of the graph that this was made
    /// of; the new arguments conflict on memory with a node that comes neither before this one nor after it (edges do not change); the cluster, or
    /// whether it is cooperative, is another one; the node was added by [`kernel_early`](crate::GraphBuilder::kernel_early). In each case all
    /// stays as it was.
    // covers: GRAPH-50, GRAPH-53, GRAPH-54
    pub fn set_kernel<K, A>(
        &mut self,
        node: KernelNode,
        kernel: &TypedKernel<K>,
        grid: Grid,
        arguments: A,
    ) -> Result<()>
    where
        K: SafeKernel,
        A: Arguments<K::Parameters>,
    {
        // SAFETY: a safe kernel has no conditions of its own (`SafeKernel`).
        unsafe { self.change_kernel(node, kernel, grid, false, &arguments) }
    }

    /// As [`set_kernel`](Self::set_kernel), of any kernel.
    ///
    /// # Errors
    ///
    /// Those of [`set_kernel`](Self::set_kernel).
    ///
    /// # Safety
    ///
    /// The kernel's own conditions hold at each launch of the graph.
    pub unsafe fn set_kernel_unchecked<K, A>(
        &mut self,
        node: KernelNode,
        kernel: &TypedKernel<K>,
        grid: Grid,
        arguments: A,
    ) -> Result<()>
    where
        K: Kernel,
        A: Arguments<K::Parameters>,
    {
        // SAFETY: the caller's promise.
        unsafe { self.change_kernel(node, kernel, grid, false, &arguments) }
    }

    /// As [`set_kernel`](Self::set_kernel), of a kernel of foreign PTX.
    ///
    /// # Errors
    ///
    /// Those of [`set_kernel`](Self::set_kernel).
    ///
    /// # Safety
    ///
    /// As for [`Stream::launch_untyped`](crate::Stream::launch_untyped), at each launch of the graph.
    pub unsafe fn set_kernel_untyped<P, A>(
        &mut self,
        node: KernelNode,
        kernel: &UntypedKernel<P>,
        grid: Grid,
        arguments: A,
    ) -> Result<()>
    where
        A: Arguments<P>,
    {
        // SAFETY: the caller's promise.
        unsafe { self.change_kernel(node, kernel, grid, false, &arguments) }
    }

    /// As [`set_kernel`](Self::set_kernel), for nodes that were added by [`kernel_early`](crate::GraphBuilder::kernel_early), and for all others.
    ///
    /// # Errors
    ///
    /// Those of [`set_kernel`](Self::set_kernel).
    pub fn set_kernel_early<K, A>(
        &mut self,
        node: KernelNode,
        kernel: &TypedKernel<K>,
        grid: Grid,
        arguments: A,
    ) -> Result<()>
    where
        K: SafeKernel,
        K::Parameters: EarlyParameters,
        A: Arguments<K::Parameters>,
    {
        // SAFETY: a safe kernel has no conditions of its own (`SafeKernel`).
        unsafe { self.change_kernel(node, kernel, grid, true, &arguments) }
    }

    /// # Safety
    ///
    /// The kernel's own conditions hold at each launch of the graph.
    unsafe fn change_kernel<K: LaunchableKernel>(
        &mut self,
        node: KernelNode,
        kernel: &K,
        grid: Grid,
        may_be_early: bool,
        arguments: &impl Arguments<K::Parameters>,
    ) -> Result<()> {
        let launch = KernelLaunch::new(kernel, grid, None);
        packed(0, arguments, |packer| {
            // SAFETY: `Arguments` packs what fits the kernel's parameters, which `Module::kernel` has compared with the entry's; its other
            // conditions hold (the caller).
            unsafe { self.change_to_packed(node, &launch, may_be_early, packer) }
        })
    }

    /// # Safety
    ///
    /// What was packed fits the parameters of the entry, and the kernel's own conditions hold at each launch of the graph.
    unsafe fn change_to_packed(
        &mut self,
        node: KernelNode,
        launch: &KernelLaunch<'_>,
        may_be_early: bool,
        packer: &mut Packer<'_>,
    ) -> Result<()> {
        let part = self.part(CALL, node)?;
        let whole = self.conditions_of();
        if whole != self.template_number
            && packer.conditions() == ConditionsOf::Graph(self.template_number)
        {
            return Err(refused(
                CALL,
                node.into(),
                "would be passed a condition of the graph that this was made of, but the whole was updated since, and has that graph's conditions no more",
                "pass the condition of the graph that it was updated by",
            ));
        }
        let launch = NodeLaunch::new(launch, &self.gpu, whole, packer)?;
        let mut known = part.contents.launches.iter();
        if known.any(|known| !Arc::ptr_eq(known.launch.panics(), launch.recorded.panics())) {
            let message = "would launch a kernel of another device";
            return Err(other_device(CALL, node.into(), message));
        }
        if let PartKind::Kernel(shape) = part.kind {
            check_shape(shape, launch.grid(), may_be_early && launch.may_be_early())?;
            check_clusters(shape, launch.function())?;
        }
        let contents = launch.contents(node.into(), packer);
        let log = match launch.may_panic() {
            true => self.panics.of(launch.recorded.panics())?.address(),
            false => 0,
        };
        let parameters = launch.parameters(packer, log);
        self.change(CALL, node, contents, |exec, node| {
            // SAFETY: `change` says that both are alive, and that the node is a kernel's. The driver copies the parameters; they are those of the
            // entry (the caller), and the contents keep the function and the memory among them.
            unsafe { call!(cuGraphExecKernelNodeSetParams_v2(exec, node, &parameters)) }
        })
    }
}

/// # Errors
///
/// The node cannot become a launch of this grid, or one that may not begin early.
fn check_shape(shape: KernelShape, grid: &Grid, may_be_early: bool) -> Result<()> {
    let refuse =
        |message: &str, hint: &str| Err(Error::misuse(CALL, Code::INVALID_VALUE, message, hint));
    if (shape.cluster, shape.cooperative) != (grid.cluster, grid.cooperative) {
        return refuse(
            "a kernel node keeps its clusters, and whether it is cooperative",
            "give the grid the same `.cluster(..)` and `.cooperative()` as when the node was added, or update the whole",
        );
    }
    if shape.early && !may_be_early {
        return refuse(
            "the node may begin before the kernels before it have ended, which this kernel may not",
            "use `set_kernel_early`, of a kernel whose memory is all passed as `AfterPrimary` and that uses no variables of its module",
        );
    }
    Ok(())
}

/// # Errors
///
/// The kernel was compiled for other clusters than the node's: a node that had a kernel of clusters kept those with one that was compiled for none
/// (`cuGraphExecKernelNodeSetParams`, driver 580.159.04).
fn check_clusters(shape: KernelShape, function: &Function) -> Result<()> {
    let (of_node, of_kernel) = (shape.compiled_cluster, function.compiled_cluster()?);
    if of_node == of_kernel {
        return Ok(());
    }
    let said = |[x, y, z]: [u32; 3]| match x {
        0 => "no clusters".to_owned(),
        _ => format!("clusters of {x} x {y} x {z} blocks"),
    };
    Err(Error::misuse(
        CALL,
        Code::INVALID_VALUE,
        format!(
            "kernel `{}` was compiled for {}, the node's kernel for {}, which a node keeps",
            function.name,
            said(of_kernel),
            said(of_node)
        ),
        "instantiate a graph that has this kernel from the beginning",
    ))
}

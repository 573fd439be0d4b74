//! Adding nodes to a graph or to the body of a conditional node.

use std::collections::HashMap;
use std::marker::PhantomData;
use std::sync::Arc;

use warpsmith_device::launch::{Kernel, KernelAttributes, SafeKernel};
use warpsmith_driver::raw;

use super::contents::{Contents, MemoryId, MemoryUse, next_number, null_node};
use super::new_node::{NewNode, capture_one_node};
use crate::driver_call::call;
use crate::error::{Code, Error, Node, Result};
use crate::gpu::Gpu;
use crate::gpu::open_device::{OpenDevice, check_same_device};
use crate::launch::{
    Arguments, Function, GraphLaunch, Grid, LaunchAttributes, Packer, TypedKernel, UNKNOWN,
    UntypedKernel, Words, check,
};
use crate::memory::copy::Pattern;
use crate::memory::size::length_mismatch;
use crate::memory::view::RawView;
use crate::memory::{DeviceRead, DeviceWrite, PinnedBuffer};
use crate::order::access::AccessKind;
use crate::order::entries::Entries;
use crate::stream::host_function::{Repeated, run_repeated};

/// What nodes are added to: a [`Graph`](crate::Graph), or the body of a loop or a branch.
///
/// Each method adds one node. Its edges: after every earlier node that uses the same memory in a conflicting way, and whatever
/// [`depend`](Self::depend) adds.
///
/// `'body` tells the builders of different bodies apart; that of a [`Graph`](crate::Graph) has `'static`.
pub struct GraphBuilder<'body> {
    pub(crate) gpu: Arc<OpenDevice>,
    pub(crate) raw: raw::CUgraph,
    pub(crate) number: u64,
    pub(crate) contents: Contents,
    /// The uses of memory. The contents keep the memory, so no id is used twice.
    uses: HashMap<MemoryId, Entries<Node>>,
    /// Nodes of which it is not known what they use: every new node follows them.
    pub(super) before_all: Vec<Node>,
    position: BuilderPosition,
    /// Invariant: builders of different bodies have different types, so that safe code cannot swap them.
    brand: PhantomData<fn(&'body ()) -> &'body ()>,
    pub(super) unused_conditions: Vec<u64>,
}

/// What a builder adds nodes to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum BuilderPosition {
    /// A graph.
    Graph,
    /// The body of a conditional node, which cannot hold every type of node.
    Body,
}

impl<'body> GraphBuilder<'body> {
    pub(crate) fn new(gpu: &Arc<OpenDevice>, raw: raw::CUgraph) -> GraphBuilder<'body> {
        GraphBuilder {
            gpu: gpu.clone(),
            raw,
            number: next_number(),
            contents: Contents::default(),
            uses: HashMap::new(),
            before_all: Vec::new(),
            position: BuilderPosition::Graph,
            brand: PhantomData,
            unused_conditions: Vec::new(),
        }
    }

    /// For a graph whose nodes were captured: what is added later comes after them.
    pub(crate) fn follow_captured_nodes(&mut self, contents: Contents) -> Result<()> {
        self.contents = contents;
        self.before_all = self
            .raw_nodes()?
            .into_iter()
            .map(|node| Node::new(node, self.number))
            .collect();
        Ok(())
    }

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
        let mut words = Words::new();
        let mut packer = Packer::new(0, &mut words);
        arguments.pack(&mut packer);
        self.add_kernel(&kernel.function, &K::ATTRIBUTES, grid, &mut packer)
    }

    /// Adds the launch of any kernel.
    ///
    /// # Safety
    ///
    /// The kernel's own conditions hold at each launch of the graph.
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
    /// As for [`Stream::launch_untyped`](crate::Stream::launch_untyped), at each launch of the graph.
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
        check_same_device("cuGraphAddKernelNode", &self.gpu, &kernel.module.gpu)?;
        check(kernel, attributes, &grid, packer)?;
        let uses: Vec<_> = packer
            .uses()
            .iter()
            .map(|used| MemoryUse {
                memory: used.allocation.clone(),
                access: used.access,
            })
            .collect();
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
        self.contents
            .launches
            .push(Arc::new(GraphLaunch::new(kernel, grid)));
        let launch = LaunchAttributes::new(&grid);
        for attribute in &launch.list[..launch.count as usize] {
            // SAFETY: the driver has made the node above, and copies the value, which outlives the call.
            unsafe {
                call!(cuGraphKernelNodeSetAttribute(
                    node.raw(),
                    attribute.id,
                    &attribute.value
                ))
            }
            .map_err(|error| error.while_doing(|| format!("kernel `{}`", kernel.name)))?;
        }
        Ok(node)
    }

    /// Adds a copy from device memory to device memory.
    // covers: GRAPH-06
    pub fn copy<S, D>(&mut self, from: &S, to: &mut D) -> Result<Node>
    where
        S: DeviceRead + ?Sized,
        D: DeviceWrite<Item = S::Item> + ?Sized,
    {
        self.add_copy(from.raw_view(), to.raw_view())
    }

    /// Adds a copy from page-locked host memory, which is read at each launch.
    pub fn copy_from_host<T: bytemuck::Pod, D: DeviceWrite<Item = T> + ?Sized>(
        &mut self,
        from: &PinnedBuffer<T>,
        to: &mut D,
    ) -> Result<Node> {
        self.outside_of_bodies("a copy from host memory")?;
        self.add_copy(from.memory.view(), to.raw_view())
    }

    /// Adds a copy to page-locked host memory. The host can read it after waiting for a launch.
    pub fn copy_to_host<S: DeviceRead + ?Sized>(
        &mut self,
        from: &S,
        to: &mut PinnedBuffer<S::Item>,
    ) -> Result<Node> {
        self.outside_of_bodies("a copy to host memory")?;
        self.add_copy(from.raw_view(), to.memory.view())
    }

    /// Adds a copy of `data`, the same at each launch.
    pub fn upload<T: bytemuck::Pod, D: DeviceWrite<Item = T> + ?Sized>(
        &mut self,
        data: &[T],
        to: &mut D,
    ) -> Result<Node> {
        let mut pinned = Gpu::from(&self.gpu).pinned(data.len())?;
        pinned.host_mut()?.copy_from_slice(data);
        self.copy_from_host(&pinned, to)
    }

    fn add_copy(&mut self, from: RawView<'_>, to: RawView<'_>) -> Result<Node> {
        if from.len != to.len {
            return Err(length_mismatch("cuGraphAddMemcpyNode", from.len, to.len));
        }
        let (Some(source), Some(destination)) = (from.allocation, to.allocation) else {
            return self.empty();
        };
        if to.bytes == 0 {
            return self.empty();
        }
        for allocation in [source, destination] {
            check_same_device("cuGraphAddMemcpyNode", &self.gpu, &allocation.gpu)?;
        }
        let uses = [
            MemoryUse {
                memory: source.clone(),
                access: from.access(AccessKind::Read),
            },
            MemoryUse {
                memory: destination.clone(),
                access: to.access(AccessKind::Write),
            },
        ];
        let mut copy = raw::CUDA_MEMCPY3D {
            WidthInBytes: to.bytes,
            Height: 1,
            Depth: 1,
            ..Default::default()
        };
        if source.is_for_copies_only() {
            copy.srcMemoryType = raw::CUmemorytype::CU_MEMORYTYPE_HOST;
            copy.srcHost = from.address as *const _;
        } else {
            copy.srcMemoryType = raw::CUmemorytype::CU_MEMORYTYPE_DEVICE;
            copy.srcDevice = from.address;
        }
        if destination.is_for_copies_only() {
            copy.dstMemoryType = raw::CUmemorytype::CU_MEMORYTYPE_HOST;
            copy.dstHost = to.address as *mut _;
        } else {
            copy.dstMemoryType = raw::CUmemorytype::CU_MEMORYTYPE_DEVICE;
            copy.dstDevice = to.address;
        }
        let context = self.gpu.context().raw();
        self.add(&uses, |new| {
            // SAFETY: `new` has a variable for the node and nodes of this graph. The driver copies `copy`, whose ranges have
            // `to.bytes` bytes each (compared above); the contents keep their allocations.
            unsafe {
                call!(cuGraphAddMemcpyNode(
                    new.node,
                    new.graph,
                    new.before.as_ptr(),
                    new.before.len(),
                    &copy,
                    context
                ))
            }
        })
    }

    /// Adds setting every element to `value`.
    ///
    /// # Errors
    ///
    /// The value is wider than 4 bytes and no repetition of a narrower pattern, which no memset can write.
    // covers: GRAPH-07
    pub fn fill<D: DeviceWrite + ?Sized>(&mut self, to: &mut D, value: D::Item) -> Result<Node> {
        const CALL: &str = "cuGraphAddMemsetNode";
        let to = to.raw_view();
        let Some(allocation) = to.allocation.filter(|_| to.bytes > 0) else {
            return self.empty();
        };
        check_same_device(CALL, &self.gpu, &allocation.gpu)?;
        let Some(pattern) = Pattern::of(bytemuck::bytes_of(&value)) else {
            return Err(Error::misuse(
                CALL,
                Code::INVALID_VALUE,
                "a memset writes patterns of 1, 2 or 4 bytes, which this value is not made of",
                "copy from a filled buffer instead",
            ));
        };
        self.add(
            &[MemoryUse {
                memory: allocation.clone(),
                access: to.access(AccessKind::Write),
            }],
            |new| {
                // A memset node cannot be made for memory of a pool, but a memset of it can be captured.
                capture_one_node(new, |stream| pattern.set(to, stream))
            },
        )
    }

    /// Adds a call of a function on the host, at each launch. See [`Stream::host_fn`](crate::Stream::host_fn) for what it may do.
    // covers: GRAPH-05
    pub fn host(&mut self, function: impl Fn() + Send + Sync + 'static) -> Result<Node> {
        self.outside_of_bodies("a host function")?;
        let value = Arc::new(Repeated::new(self.gpu.reports(), function));
        let parameters = raw::CUDA_HOST_NODE_PARAMS {
            fn_: Some(run_repeated),
            userData: Arc::as_ptr(&value).cast_mut().cast(),
        };
        self.contents.values.push(value);
        self.add(&[], |new| {
            // SAFETY: `new` has a variable for the node and nodes of this graph. The driver copies `parameters`; `userData` is
            // the `Repeated` that `run_repeated` asks for, which the contents keep since the line before.
            unsafe {
                call!(cuGraphAddHostNode(
                    new.node,
                    new.graph,
                    new.before.as_ptr(),
                    new.before.len(),
                    &parameters
                ))
            }
        })
    }

    /// Adds a node that does nothing, as a joint of edges.
    // covers: GRAPH-08
    pub fn empty(&mut self) -> Result<Node> {
        self.add(&[], |new| {
            // SAFETY: `new` has a variable for the node and nodes of this graph.
            unsafe {
                call!(cuGraphAddEmptyNode(
                    new.node,
                    new.graph,
                    new.before.as_ptr(),
                    new.before.len()
                ))
            }
        })
    }

    /// Lets `after` wait for `before`.
    ///
    /// # Errors
    ///
    /// A node belongs to another graph, the edge exists, or it would close a circle.
    // covers: GRAPH-13
    pub fn depend(&mut self, before: Node, after: Node) -> Result<()> {
        const CALL: &str = "cuGraphAddDependencies";
        for node in [before, after] {
            if node.graph() != self.number {
                return Err(Error::misuse(
                    CALL,
                    Code::INVALID_VALUE,
                    format!("{node:?} belongs to another graph"),
                    "use this graph's nodes",
                ));
            }
        }
        self.gpu.bind()?;
        self.add_edge(before, after)
    }

    pub(super) fn add_edge(&self, before: Node, after: Node) -> Result<()> {
        let (from, to) = (before.raw(), after.raw());
        // SAFETY: both nodes are this graph's: `depend` compares the graphs, the others pass their own. No method removes nodes.
        unsafe { call!(cuGraphAddDependencies(self.raw, &from, &to, 1)) }
            .map_err(|error| error.while_doing(|| format!("from {before:?} to {after:?}")))
    }

    fn outside_of_bodies(&self, what: &str) -> Result<()> {
        if self.position == BuilderPosition::Graph {
            return Ok(());
        }
        // covers: COND-08
        Err(Error::misuse(
            "cuGraphAddNode",
            Code::NOT_SUPPORTED,
            format!("the body of a loop or a branch cannot hold {what}"),
            "bodies hold kernels, copies and fills of device memory, empty nodes, loops and branches",
        ))
    }

    /// Adds a node after all that it must follow.
    fn add(
        &mut self,
        uses: &[MemoryUse],
        make: impl FnOnce(NewNode<'_>) -> Result<()>,
    ) -> Result<Node> {
        self.gpu.bind()?;
        // The node has no name yet; none of the earlier ones has this.
        let new = Node::new(null_node(), self.number);
        let mut before = self.before_all.clone();
        for used in uses {
            if let Some(entries) = self.uses.get(&MemoryId::of(&*used.memory)) {
                for node in entries.before(&new, &used.access) {
                    if !before.contains(&node) {
                        before.push(node);
                    }
                }
            }
        }
        let before: Vec<raw::CUgraphNode> = before.into_iter().map(Node::raw).collect();
        let mut node = null_node();
        make(NewNode {
            node: &mut node,
            graph: self.raw,
            before: &before,
        })?;
        let node = Node::new(node, self.number);
        for used in uses {
            self.note_use(node, used);
        }
        for used in uses {
            self.contents.add_use(used);
        }
        Ok(node)
    }

    /// Notes a node's use; gives the nodes that it must follow.
    pub(super) fn note_use(&mut self, node: Node, used: &MemoryUse) -> Vec<Node> {
        used.memory.history().join_graph(&self.gpu.lock_order());
        let entries = self.uses.entry(MemoryId::of(&*used.memory)).or_default();
        let before = entries.before(&node, &used.access);
        entries.add(&node, used.access);
        before
    }

    pub(super) fn set_position(&mut self, position: BuilderPosition) {
        self.position = position;
    }

    pub(crate) fn raw_nodes(&self) -> Result<Vec<raw::CUgraphNode>> {
        self.gpu.bind()?;
        let mut count = 0;
        // SAFETY: with a null array the driver writes the number of nodes to `count` only; `self` keeps the graph.
        unsafe { call!(cuGraphGetNodes(self.raw, std::ptr::null_mut(), &mut count)) }?;
        let mut nodes = vec![null_node(); count];
        if count > 0 {
            // SAFETY: `nodes` has room for `count` nodes; `self` keeps the graph.
            unsafe { call!(cuGraphGetNodes(self.raw, nodes.as_mut_ptr(), &mut count)) }?;
            nodes.truncate(count);
        }
        Ok(nodes)
    }
}

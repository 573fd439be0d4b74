//! Memory that a graph allocates for itself.

use std::any::Any;
use std::sync::Arc;

use bytemuck::Pod;
use warpsmith_driver::raw;

use super::builder::GraphBuilder;
use super::part::PartKind;
use crate::driver_call::call;
use crate::error::{Code, Error, Node, Result};
use crate::gpu::Gpu;
use crate::gpu::peer::require_reach;
use crate::memory::allocation::Allocation;
use crate::memory::size::bytes_of;
use crate::memory::{DeviceBuffer, device_location};
use crate::order::access::Access;
use crate::order::graph_memory::GraphMemory;
use crate::order::history::OrderedMemory;
use crate::order::memory_use::MemoryUse;

impl GraphBuilder<'_> {
    /// Adds nodes that allocate memory and fill it with zeros, at each launch anew.
    ///
    /// The buffer is there for the nodes of this graph, and of bodies in it, that are added from here on. It is freed by the graph: where
    /// [`free`](Self::free) says so, else after the last node that uses it, as soon as the graph is made ready; that node is added by
    /// [`Graph::instantiate`](crate::Graph::instantiate), and none can use the buffer after it. So nothing outlives a launch, and dropping or
    /// forgetting the buffer changes nothing. What a launch computes is copied to a buffer that a stream has made.
    ///
    /// The memory is not any pool's: all graphs that are launched in one stream share what the largest of them needs
    /// ([`Gpu::graph_memory`](crate::Gpu::graph_memory)). A graph that allocates has one executable graph at a time and cannot be updated.
    ///
    /// ```
    /// use warpsmith_host::prelude::*;
    ///
    /// # fn main() -> Result<()> {
    /// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
    /// let stream = gpu.stream()?;
    /// let mut result = stream.zeroed::<u32>(4)?;
    /// let mut graph = gpu.graph()?;
    /// let mut scratch = graph.zeroed::<u32>(4)?;
    /// graph.fill(&mut scratch.slice_mut(1..3), 7)?;
    /// graph.copy(&scratch, &mut result)?;
    /// graph.free(scratch)?;
    /// // From here on another allocation may have the same place.
    /// let mut ready = graph.instantiate()?;
    /// for _ in 0..3 {
    ///     ready.launch(&stream)?;
    /// }
    /// assert_eq!(stream.download(&result)?, [0, 7, 7, 0]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The device or the driver (before CUDA 11.4) has no such memory; this is the body of a loop or a branch. Using the buffer in a
    /// stream, a capture or another graph is refused there.
    // covers: GMEM-02, GMEM-05
    pub fn zeroed<T: Pod>(&mut self, len: usize) -> Result<DeviceBuffer<T>> {
        self.filled(len, bytemuck::Zeroable::zeroed())
    }

    /// As [`zeroed`](Self::zeroed), filled with `value`.
    ///
    /// # Errors
    ///
    /// As for [`zeroed`](Self::zeroed) and [`fill`](Self::fill).
    pub fn filled<T: Pod>(&mut self, len: usize, value: T) -> Result<DeviceBuffer<T>> {
        let mut buffer = self.allocate(None, len)?;
        self.fill(&mut buffer, value)?;
        Ok(buffer)
    }

    /// As [`zeroed`](Self::zeroed), in memory of another device, which the nodes of this graph reach: for what is larger than the own device has
    /// room for.
    ///
    /// ```no_run
    /// use warpsmith_host::prelude::*;
    ///
    /// # fn main() -> Result<()> {
    /// let (one, other) = (Gpu::open(DeviceChoice::Cuda(0))?, Gpu::open(DeviceChoice::Cuda(1))?);
    /// let mut graph = one.graph()?;
    /// let scratch = graph.zeroed_on::<f32>(&other, 1 << 28)?;
    /// # drop(scratch);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As for [`zeroed`](Self::zeroed); or the graph's device cannot reach memory of `device`.
    // covers: GMEM-24
    pub fn zeroed_on<T: Pod>(&mut self, device: &Gpu, len: usize) -> Result<DeviceBuffer<T>> {
        let mut buffer = self.allocate(Some(device), len)?;
        self.fill(&mut buffer, bytemuck::Zeroable::zeroed())?;
        Ok(buffer)
    }

    /// As [`zeroed`](Self::zeroed), of uninitialised memory.
    ///
    /// # Errors
    ///
    /// As for [`zeroed`](Self::zeroed).
    ///
    /// # Safety
    ///
    /// At each launch, no node reads an element before a node has written it.
    pub unsafe fn uninit<T: Pod>(&mut self, len: usize) -> Result<DeviceBuffer<T>> {
        self.allocate(None, len)
    }

    /// Frees memory of this graph after the nodes that use it so far, so that later allocations may have its place. `None` for an empty
    /// buffer, which has no memory.
    ///
    /// # Errors
    ///
    /// The buffer is not of this graph, which is left as it was.
    // covers: GMEM-03, GMEM-17
    pub fn free<T: Pod>(&mut self, buffer: DeviceBuffer<T>) -> Result<Option<Node>> {
        const CALL: &str = "cuGraphAddMemFreeNode";
        self.outside_of_bodies("a free")?;
        let Some(allocation) = buffer.into_allocation() else {
            return Ok(None);
        };
        let Some(memory) = allocation.graph_memory() else {
            return Err(Error::misuse(
                CALL,
                Code::INVALID_VALUE,
                "the memory is not a graph's",
                "drop the buffer: it is freed after its last use",
            ));
        };
        let (node, before) = self.make_free(allocation.clone(), memory)?;
        for earlier in before {
            self.followers.add(earlier, node);
        }
        self.frees.push(node);
        Ok(Some(node))
    }

    /// Memory of this device, `None` being the graph's.
    fn allocate<T: Pod>(&mut self, device: Option<&Gpu>, len: usize) -> Result<DeviceBuffer<T>> {
        const CALL: &str = "cuGraphAddMemAllocNode";
        self.outside_of_bodies("an allocation")?;
        let bytes = bytes_of::<T>(CALL, len)?;
        if bytes == 0 {
            return Ok(DeviceBuffer::without_memory(len));
        }
        self.gpu.bind()?;
        self.gpu.limits().require_pools()?;
        let own = self.gpu.context();
        let elsewhere = device.filter(|device| device.inner.context().device != own.device);
        if let Some(device) = elsewhere {
            device.inner.limits().require_pools()?;
            require_reach(CALL, &self.gpu, &device.inner)?;
        }
        // The device that has the memory reaches it in any case.
        let access = raw::CUmemAccessDesc {
            location: device_location(own.device),
            flags: raw::CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
        };
        let owner = elsewhere.map_or(own, |device| device.inner.context());
        let mut parameters = raw::CUDA_MEM_ALLOC_NODE_PARAMS {
            poolProps: raw::CUmemPoolProps {
                allocType: raw::CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED,
                location: device_location(owner.device),
                ..Default::default()
            },
            accessDescs: elsewhere.map_or(std::ptr::null(), |_| &raw const access),
            accessDescCount: elsewhere.iter().count(),
            bytesize: bytes,
            dptr: 0,
        };
        // It follows the frees before, so that it may have their place.
        let before = self.frees.clone();
        let node = self.add_kind(PartKind::Other, &before, &[], |new| {
            // SAFETY: `new` has a variable for the node and nodes of this graph. The driver reads and writes `parameters`, and reads `access`,
            // which outlive the call.
            unsafe {
                call!(cuGraphAddMemAllocNode(
                    new.node,
                    new.graph,
                    new.before.as_ptr(),
                    new.before.len(),
                    &mut parameters
                ))
            }
            .map_err(|error| error.while_doing(|| format!("{bytes} bytes")))
        })?;
        let allocation = Allocation::of_graph(&self.gpu, parameters.dptr, bytes, self.number);
        let used = MemoryUse {
            memory: allocation.clone(),
            access: Access::EVERYTHING,
        };
        self.note_uses(node, &[used]);
        // The memory is that of a context: to its own device the graph is no object that keeps it open.
        if let Some(device) = elsewhere {
            let context: Arc<dyn Any + Send + Sync> = device.inner.context().clone();
            self.keep_with(node, |contents| contents.kept.push(context.clone()));
        }
        Ok(DeviceBuffer::of_allocation(allocation, len))
    }

    /// Adds the free nodes that are missing. Nothing can use their memory from then on.
    pub(super) fn free_memory(&self) -> Result<()> {
        for used in &self.contents.memory {
            if let Some(memory) = used.memory.graph_memory()
                && !memory.is_freed()
            {
                self.make_free(used.memory.clone(), memory)?;
            }
        }
        Ok(())
    }

    /// The node that was made, and those that it comes after.
    fn make_free(
        &self,
        allocation: Arc<dyn OrderedMemory>,
        memory: &GraphMemory,
    ) -> Result<(Node, Vec<Node>)> {
        let used = MemoryUse {
            memory: allocation,
            access: Access::EVERYTHING,
        };
        let before = self.before(&[], &[used])?;
        let node = self.make(&before, |new| {
            // SAFETY: `new` has a variable for the node and nodes of this graph, all that use the memory among them. The address is that of
            // an allocation node of this graph (`before` has compared the graphs), and no node frees it yet.
            unsafe {
                call!(cuGraphAddMemFreeNode(
                    new.node,
                    new.graph,
                    new.before.as_ptr(),
                    new.before.len(),
                    memory.address
                ))
            }
        })?;
        memory.set_freed();
        Ok((node, before))
    }
}

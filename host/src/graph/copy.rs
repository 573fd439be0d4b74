//! Nodes that copy or fill memory.

use warpsmith_driver::raw;

use super::builder::GraphBuilder;
use super::new_node::capture_one_node;
use crate::driver_call::call;
use crate::error::{Code, Error, Node, Result};
use crate::gpu::Gpu;
use crate::gpu::open_device::check_same_device;
use crate::memory::copy::Pattern;
use crate::memory::size::length_mismatch;
use crate::memory::view::RawView;
use crate::memory::{DeviceRead, DeviceWrite, PinnedRead, PinnedWrite};
use crate::order::access::AccessKind;
use crate::order::memory_use::MemoryUse;

impl GraphBuilder<'_> {
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
    pub fn copy_from_host<S, D>(&mut self, from: &S, to: &mut D) -> Result<Node>
    where
        S: PinnedRead + ?Sized,
        D: DeviceWrite<Item = S::Item> + ?Sized,
    {
        self.outside_of_bodies("a copy from host memory")?;
        self.add_copy(from.pinned_view().view, to.raw_view())
    }

    /// Adds a copy to page-locked host memory. The host can read it after waiting for a launch.
    pub fn copy_to_host<S, D>(&mut self, from: &S, to: &mut D) -> Result<Node>
    where
        S: DeviceRead + ?Sized,
        D: PinnedWrite<Item = S::Item> + ?Sized,
    {
        self.outside_of_bodies("a copy to host memory")?;
        self.add_copy(from.raw_view(), to.pinned_view().view)
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
}

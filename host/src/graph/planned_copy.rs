//! What a copy of memory or texels uses, and how the driver is told of it.

use std::any::Any;
use std::sync::Arc;

use warpsmith_driver::raw::{self, CUmemorytype};

use super::part::CopyShape;
use crate::error::{Code, Error, Result};
use crate::gpu::open_device::{OpenDevice, check_same_device};
use crate::memory::size::length_mismatch;
use crate::memory::used::Use;
use crate::memory::view::RawView;
use crate::memory::{PeerAccess, Shape};
use crate::order::access::AccessKind;
use crate::order::memory_use::MemoryUse;
pub(super) const COPY: &str = "cuGraphAddMemcpyNode";

/// A copy that a node is to make: its sides are memory of as many bytes as it copies.
pub(super) struct PlannedCopy<'a> {
    /// Source and target.
    sides: [Use<'a>; 2],
    pub(super) uses: [MemoryUse; 2],
    pub(super) copy: raw::CUDA_MEMCPY3D,
    pub(super) shape: CopyShape,
}

impl<'a> PlannedCopy<'a> {
    /// Of as many bytes in a row on both sides; `None` if there are none.
    ///
    /// # Errors
    ///
    /// The lengths differ.
    pub(super) fn linear(from: RawView<'a>, to: RawView<'a>) -> Result<Option<PlannedCopy<'a>>> {
        if from.len != to.len {
            return Err(length_mismatch(COPY, from.len, to.len));
        }
        let copy = raw::CUDA_MEMCPY3D {
            WidthInBytes: to.bytes,
            Height: 1,
            Depth: 1,
            ..Default::default()
        };
        Ok(PlannedCopy::between(from, to, copy, true))
    }

    /// Of a matrix's rows, of which each side has its stride in elements. Both have been compared with the shape.
    pub(super) fn of_rows<T>(
        shape: Shape,
        (from, from_stride): (RawView<'a>, u32),
        (to, to_stride): (RawView<'a>, u32),
    ) -> Option<PlannedCopy<'a>> {
        let size = size_of::<T>();
        let rows = shape.rows as usize;
        let copy = raw::CUDA_MEMCPY3D {
            srcPitch: from_stride as usize * size,
            srcHeight: rows,
            dstPitch: to_stride as usize * size,
            dstHeight: rows,
            WidthInBytes: shape.columns as usize * size,
            Height: rows,
            Depth: 1,
            ..Default::default()
        };
        if copy.WidthInBytes == 0 || rows == 0 {
            return None;
        }
        PlannedCopy::between(from, to, copy, false)
    }

    /// Of texels, where the copy says it all. Both sides have been compared.
    pub(super) fn of_texels(
        from: RawView<'a>,
        to: RawView<'a>,
        copy: raw::CUDA_MEMCPY3D,
    ) -> Option<PlannedCopy<'a>> {
        PlannedCopy::with(from, to, copy, false)
    }

    /// Of memory with addresses, which the copy lacks.
    fn between(
        from: RawView<'a>,
        to: RawView<'a>,
        mut copy: raw::CUDA_MEMCPY3D,
        is_linear: bool,
    ) -> Option<PlannedCopy<'a>> {
        if is_for_copies_only(from) {
            copy.srcMemoryType = CUmemorytype::CU_MEMORYTYPE_HOST;
            copy.srcHost = from.address as *const _;
        } else {
            copy.srcMemoryType = from.copied_as();
            copy.srcDevice = from.address;
        }
        if is_for_copies_only(to) {
            copy.dstMemoryType = CUmemorytype::CU_MEMORYTYPE_HOST;
            copy.dstHost = to.address as *mut _;
        } else {
            copy.dstMemoryType = to.copied_as();
            copy.dstDevice = to.address;
        }
        PlannedCopy::with(from, to, copy, is_linear)
    }

    fn with(
        from: RawView<'a>,
        to: RawView<'a>,
        copy: raw::CUDA_MEMCPY3D,
        is_linear: bool,
    ) -> Option<PlannedCopy<'a>> {
        let source = from.use_for(AccessKind::Read)?;
        let target = to.use_for(AccessKind::Write)?;
        if to.bytes == 0 {
            return None;
        }
        let sides = [source, target];
        Some(PlannedCopy {
            sides,
            uses: sides.map(|side| MemoryUse {
                memory: side.allocation.clone(),
                access: side.access(),
            }),
            copy,
            shape: CopyShape {
                from_host: is_for_copies_only(from),
                to_host: is_for_copies_only(to),
                is_linear,
                devices: sides.map(|side| {
                    let is_of_host =
                        side.allocation.is_for_copies_only() || side.allocation.is_managed();
                    (!is_of_host).then_some(side.allocation.gpu.context().choice)
                }),
            },
        })
    }

    /// The device that the node is to be of, which reaches both sides: the graph's own if it does. The caller holds no order lock.
    ///
    /// # Errors
    ///
    /// There is none, or the target is mapped for reading alone.
    pub(super) fn check(&self, graph: &Arc<OpenDevice>) -> Result<Arc<OpenDevice>> {
        let [source, target] = &self.sides;
        target.allocation.check_writable(COPY)?;
        let reaches_both = |gpu: &Arc<OpenDevice>| {
            let mut sides = self.sides.iter();
            sides.try_for_each(|side| side.check_device(COPY, "the copy", gpu))
        };
        let peers = self.sides.iter().filter_map(|side| side.peer());
        let peers = peers.map(PeerAccess::accessor);
        let owners = [graph, &target.allocation.gpu, &source.allocation.gpu];
        let mut candidates = owners.into_iter().chain(peers);
        match candidates.find(|gpu| reaches_both(gpu).is_ok()) {
            Some(gpu) => Ok(gpu.clone()),
            None => {
                let [from, to] = [source, target].map(|side| side.allocation.gpu.context().choice);
                Err(Error::misuse(
                    COPY,
                    Code::INVALID_CONTEXT,
                    format!(
                        "the source is of `{from}`, the target of `{to}`, and neither device may use both"
                    ),
                    "pass one of them by a view that lets the other device use it (`allow_peer`, `PeerAccess::view`), or copy by `stream.copy_from_peer` \
                     outside of the graph",
                ))
            }
        }
    }

    /// # Errors
    ///
    /// A side is of another device than this.
    pub(super) fn check_same_device(&self, gpu: &Arc<OpenDevice>) -> Result<()> {
        let mut sides = self.sides.iter();
        sides.try_for_each(|side| {
            check_same_device(
                COPY,
                ("the memory", &side.allocation.gpu),
                ("the node", gpu),
            )
        })
    }

    /// What lets the node's device use memory of another one.
    pub(super) fn keepers(&self) -> impl Iterator<Item = Arc<dyn Any + Send + Sync>> {
        let peers = self.sides.iter().filter_map(|side| side.peer());
        peers.filter_map(PeerAccess::keeper)
    }
}

fn is_for_copies_only(view: RawView<'_>) -> bool {
    view.allocation
        .is_some_and(|allocation| allocation.is_for_copies_only())
}

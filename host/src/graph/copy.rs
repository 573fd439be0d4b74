//! Nodes that copy or fill memory.

use std::any::Any;
use std::sync::Arc;

use warpsmith_driver::raw::{self, CUmemorytype};

use super::builder::{BuilderPosition, GraphBuilder};
use super::handle::sealed::Named;
use super::handle::{CopyNode, FillNode};
use super::new_node::capture_one_node;
use super::part::{CopyShape, FillShape, PartKind};
use crate::driver_call::call;
use crate::error::{Code, Error, Result};
use crate::gpu::Gpu;
use crate::gpu::open_device::{OpenDevice, check_same_device};
use crate::memory::allocation::Allocation;
use crate::memory::copy::Pattern;
use crate::memory::size::length_mismatch;
use crate::memory::used::Use;
use crate::memory::view::RawView;
use crate::memory::{
    Array, ArrayExtents, DeviceRead, DeviceWrite, Matrix, MatrixMut, PeerAccess, PinnedBuffer,
    PinnedRead, PinnedWrite, Shape, Texel, TexelSide, check_length, check_same_extents,
    check_same_shape, texel_copy,
};
use crate::order::access::AccessKind;
use crate::order::memory_use::MemoryUse;

impl GraphBuilder<'_> {
    /// Adds a copy from device memory to device memory.
    ///
    /// The sides may be memory of two devices, if one of the two is passed by a view that lets the other device use it
    /// ([`PeerAccess::view`](crate::PeerAccess::view)): the node is of that device.
    ///
    /// # Errors
    ///
    /// The lengths differ; or no device reaches both sides; in the body of a loop or a branch, a side is of another device.
    // covers: GRAPH-06
    pub fn copy<S, D>(&mut self, from: &S, to: &mut D) -> Result<CopyNode>
    where
        S: DeviceRead + ?Sized,
        D: DeviceWrite<Item = S::Item> + ?Sized,
    {
        self.add_linear_copy(from.raw_view(), to.raw_view())
    }

    /// Adds a copy from page-locked host memory, which is read at each launch.
    pub fn copy_from_host<S, D>(&mut self, from: &S, to: &mut D) -> Result<CopyNode>
    where
        S: PinnedRead + ?Sized,
        D: DeviceWrite<Item = S::Item> + ?Sized,
    {
        self.outside_of_bodies("a copy from host memory")?;
        self.add_linear_copy(from.pinned_view().view, to.raw_view())
    }

    /// Adds a copy to page-locked host memory. The host can read it after waiting for a launch.
    pub fn copy_to_host<S, D>(&mut self, from: &S, to: &mut D) -> Result<CopyNode>
    where
        S: DeviceRead + ?Sized,
        D: PinnedWrite<Item = S::Item> + ?Sized,
    {
        self.outside_of_bodies("a copy to host memory")?;
        self.add_linear_copy(from.raw_view(), to.pinned_view().view)
    }

    /// Adds a copy of `data`, the same at each launch.
    pub fn upload<T: bytemuck::Pod, D: DeviceWrite<Item = T> + ?Sized>(
        &mut self,
        data: &[T],
        to: &mut D,
    ) -> Result<CopyNode> {
        self.copy_from_host(&Gpu::from(&self.gpu).pinned_from(data)?, to)
    }

    /// Adds a copy of a matrix to another one of as many rows and columns; the strides may differ.
    ///
    /// In an executable graph it can be switched off, but not changed.
    ///
    /// # Errors
    ///
    /// The extents differ.
    // covers: GRAPH-06
    pub fn copy_matrix<T: bytemuck::Pod>(
        &mut self,
        from: &Matrix<'_, T>,
        to: &mut MatrixMut<'_, T>,
    ) -> Result<CopyNode> {
        check_same_shape(COPY, from, to)?;
        let copy = PlannedCopy::of_rows::<T>(
            to.shape,
            (from.elements.view(), from.shape.stride),
            (to.elements.view(), to.shape.stride),
        );
        self.add_copy(copy)
    }

    /// Adds a copy of page-locked memory, which has the matrix's rows without gaps and is read at each launch.
    ///
    /// # Errors
    ///
    /// The lengths differ; as for [`copy_from_host`](Self::copy_from_host).
    pub fn copy_matrix_from_host<T: bytemuck::Pod>(
        &mut self,
        from: &PinnedBuffer<T>,
        to: &mut MatrixMut<'_, T>,
    ) -> Result<CopyNode> {
        self.outside_of_bodies("a copy from host memory")?;
        let source = from.memory.view();
        check_length(source.len, to.shape)?;
        let copy = PlannedCopy::of_rows::<T>(
            to.shape,
            (source, to.shape.columns),
            (to.elements.view(), to.shape.stride),
        );
        self.add_copy(copy)
    }

    /// Adds a copy of the matrix's rows, without gaps, to page-locked memory. The host can read it after waiting for a launch.
    ///
    /// # Errors
    ///
    /// The lengths differ; as for [`copy_to_host`](Self::copy_to_host).
    pub fn copy_matrix_to_host<T: bytemuck::Pod>(
        &mut self,
        from: &Matrix<'_, T>,
        to: &mut PinnedBuffer<T>,
    ) -> Result<CopyNode> {
        self.outside_of_bodies("a copy to host memory")?;
        let target = to.memory.view();
        check_length(target.len, from.shape)?;
        let copy = PlannedCopy::of_rows::<T>(
            from.shape,
            (from.elements.view(), from.shape.stride),
            (target, from.shape.columns),
        );
        self.add_copy(copy)
    }

    /// Adds a copy of an array to another one of the same extents.
    ///
    /// In an executable graph it can be switched off, but not changed.
    ///
    /// # Errors
    ///
    /// The extents differ, or both are the same level of a mipmapped array; this is the body of a loop or a branch.
    // covers: GRAPH-06
    pub fn copy_array<T: Texel, D: ArrayExtents>(
        &mut self,
        from: &Array<T, D>,
        to: &mut Array<T, D>,
    ) -> Result<CopyNode> {
        self.outside_of_bodies("a copy of an array")?;
        check_same_extents(COPY, from, to)?;
        let copy = texel_copy::<T>(to.extents().driver(), from.side([0; 3]), to.side([0; 3]));
        self.add_copy(PlannedCopy::of_texels(from.view(), to.view(), copy))
    }

    /// Adds a copy of device memory, which has the array's texels without gaps, to an array.
    ///
    /// # Errors
    ///
    /// The lengths differ; this is the body of a loop or a branch.
    pub fn copy_to_array<T: Texel, D: ArrayExtents, S: DeviceRead<Item = T> + ?Sized>(
        &mut self,
        from: &S,
        to: &mut Array<T, D>,
    ) -> Result<CopyNode> {
        self.outside_of_bodies("a copy of an array")?;
        let source = from.raw_view();
        if source.len != to.len() {
            return Err(length_mismatch(COPY, source.len, to.len()));
        }
        let copy = texel_copy::<T>(
            to.extents().driver(),
            TexelSide::of(source),
            to.side([0; 3]),
        );
        self.add_copy(PlannedCopy::of_texels(source, to.view(), copy))
    }

    /// Adds a copy of an array to device memory, where its texels lie without gaps.
    ///
    /// # Errors
    ///
    /// The lengths differ; this is the body of a loop or a branch.
    pub fn copy_from_array<T: Texel, D: ArrayExtents, W: DeviceWrite<Item = T> + ?Sized>(
        &mut self,
        from: &Array<T, D>,
        to: &mut W,
    ) -> Result<CopyNode> {
        self.outside_of_bodies("a copy of an array")?;
        let target = to.raw_view();
        if target.len != from.len() {
            return Err(length_mismatch(COPY, from.len(), target.len));
        }
        let copy = texel_copy::<T>(
            from.extents().driver(),
            from.side([0; 3]),
            TexelSide::of(target),
        );
        self.add_copy(PlannedCopy::of_texels(from.view(), target, copy))
    }

    fn add_linear_copy(&mut self, from: RawView<'_>, to: RawView<'_>) -> Result<CopyNode> {
        let copy = PlannedCopy::linear(from, to)?;
        self.add_copy(copy)
    }

    fn add_copy(&mut self, copy: Option<PlannedCopy<'_>>) -> Result<CopyNode> {
        let Some(copy) = copy else {
            return self.empty().map(CopyNode::named);
        };
        if self.position() == BuilderPosition::Body {
            copy.check_same_device(&self.gpu)?;
        }
        let gpu = copy.check(&self.gpu)?;
        self.include_device(COPY, &gpu)?;
        let context = gpu.context().raw();
        let node = self.add_kind(PartKind::Copy(copy.shape), &[], &copy.uses, |new| {
            // SAFETY: `new` has a variable for the node and nodes of this graph. The driver copies `copy`, whose sides are memory of as many
            // bytes (`PlannedCopy`); the contents keep it.
            unsafe {
                call!(cuGraphAddMemcpyNode(
                    new.node,
                    new.graph,
                    new.before.as_ptr(),
                    new.before.len(),
                    &copy.copy,
                    context
                ))
            }
        })?;
        for kept in copy.keepers() {
            self.keep_with(node, |contents| contents.kept.push(kept.clone()));
        }
        Ok(CopyNode::named(node))
    }

    /// Adds setting every element to `value`.
    ///
    /// # Errors
    ///
    /// The value is wider than 4 bytes and no repetition of a narrower pattern, which no memset can write.
    // covers: GRAPH-07
    pub fn fill<D: DeviceWrite + ?Sized>(
        &mut self,
        to: &mut D,
        value: D::Item,
    ) -> Result<FillNode> {
        let to = to.raw_view();
        let pattern = fill_pattern(&value);
        let Some(used) = fill_use(to) else {
            return self.empty().map(FillNode::named);
        };
        used.check()?;
        let pattern = pattern?;
        let gpu = used.gpu().clone();
        self.include_device(FILL, &gpu)?;
        let kind = PartKind::Fill(used.shape());
        let node = self.add_kind(kind, &[], &[used.memory], |new| {
            // The node is of the stream's device.
            gpu.bind()?;
            // Some drivers refuse a memset node for memory of a pool; a memset of it can always be captured.
            capture_one_node(new, |stream| pattern.set(to, stream))
        })?;
        Ok(FillNode::named(node))
    }
}

pub(super) const COPY: &str = "cuGraphAddMemcpyNode";
pub(super) const FILL: &str = "cuGraphAddMemsetNode";

/// What a fill uses.
pub(super) struct FillUse<'a> {
    allocation: &'a Arc<Allocation>,
    pub(super) memory: MemoryUse,
}

impl FillUse<'_> {
    /// # Errors
    ///
    /// The memory is mapped for reading alone.
    pub(super) fn check(&self) -> Result<()> {
        self.allocation.check_writable(FILL)
    }

    /// The device of the node.
    pub(super) fn gpu(&self) -> &Arc<OpenDevice> {
        &self.allocation.gpu
    }

    pub(super) fn shape(&self) -> FillShape {
        FillShape {
            device: self.allocation.gpu.context().choice,
        }
    }
}

/// What a fill of this memory uses; `None` if it has no bytes.
pub(super) fn fill_use(to: RawView<'_>) -> Option<FillUse<'_>> {
    let allocation = to.allocation.filter(|_| to.bytes > 0)?;
    Some(FillUse {
        allocation,
        memory: MemoryUse {
            memory: allocation.clone(),
            access: to.access(AccessKind::Write),
        },
    })
}

/// # Errors
///
/// No memset can write the value.
pub(super) fn fill_pattern<T: bytemuck::Pod>(value: &T) -> Result<Pattern> {
    Pattern::of(bytemuck::bytes_of(value)).ok_or_else(|| {
        Error::misuse(
            FILL,
            Code::INVALID_VALUE,
            format!(
                "a memset writes patterns of 1, 2 or 4 bytes, and this value of {} bytes is no repetition of one",
                size_of::<T>()
            ),
            "copy from a filled buffer instead",
        )
    })
}

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
    fn of_rows<T>(
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
    fn of_texels(
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
    fn check_same_device(&self, gpu: &Arc<OpenDevice>) -> Result<()> {
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

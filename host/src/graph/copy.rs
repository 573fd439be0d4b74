//! Nodes that copy or fill memory.

use std::sync::Arc;

use super::builder::{BuilderPosition, GraphBuilder};
use super::handle::sealed::Named;
use super::handle::{CopyNode, FillNode};
use super::new_node::capture_one_node;
use super::part::{FillShape, PartKind};
use super::planned_copy::{COPY, PlannedCopy};
use crate::driver_call::call;
use crate::error::{Code, Error, Result};
use crate::gpu::Gpu;
use crate::gpu::open_device::OpenDevice;
use crate::memory::allocation::Allocation;
use crate::memory::copy::Pattern;
use crate::memory::size::length_mismatch;
use crate::memory::view::RawView;
use crate::memory::{
    Array, ArrayExtents, DeviceRead, DeviceWrite, Matrix, MatrixMut, PinnedBuffer, PinnedRead,
    PinnedWrite, Texel, TexelSide, check_length, check_same_extents, check_same_shape, texel_copy,
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

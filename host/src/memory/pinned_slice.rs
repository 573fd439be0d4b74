//! Page-locked host memory as copies take it: whole buffers, and parts of them.

use std::marker::PhantomData;
use std::ops::RangeBounds;

use bytemuck::Pod;

use super::divided::Divided;
use super::facts::facts;
use super::host_memory::{HostRead, HostView, HostWrite};
use super::view::sealed;
use crate::error::Result;
use crate::order::access::{AccessKind, ViewScope};

/// Page-locked host memory that copies read: buffers and their parts. They overlap kernels, and return at once.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not page-locked host memory",
    note = "page-locked memory is a `PinnedBuffer`, `MappedBuffer`, `RegisteredBuffer` or `WriteCombinedBuffer`, or a `PinnedSlice` of one; `stream.copy` copies device and unified memory, `stream.upload` a host slice"
)]
pub trait PinnedRead: sealed::Sealed {
    /// The elements.
    type Item: Pod;
    #[doc(hidden)]
    fn pinned_view(&self) -> HostView<'_>;
}

/// Page-locked host memory that copies write.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not page-locked host memory that a copy may write",
    note = "such memory is a `PinnedBuffer`, `MappedBuffer` or `RegisteredBuffer`, or a `PinnedSliceMut` of one; `stream.copy` copies device and unified memory, `stream.download` to the host's"
)]
pub trait PinnedWrite: PinnedRead {}

/// A part of page-locked memory for copies to read.
///
/// ```
/// use warpsmith_host::prelude::*;
///
/// # fn main() -> Result<()> {
/// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
/// let stream = gpu.stream()?;
/// let mut numbers = gpu.pinned::<u32>(4)?;
/// numbers.host_mut()?.copy_from_slice(&[1, 2, 3, 4]);
/// let mut buffer = stream.zeroed::<u32>(2)?;
/// stream.copy_from_host(&numbers.slice(1..3), &mut buffer)?;
/// assert_eq!(stream.download(&buffer)?, [2, 3]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy)]
pub struct PinnedSlice<'a, T: Pod> {
    memory: HostView<'a>,
    of: PhantomData<&'a [T]>,
}

/// A part of page-locked memory for copies to write, and for the host. Copies of parts that do not overlap need no order among each other,
/// and while one is under way the host has the others: a stream fills one half while the host works on the other.
///
/// ```
/// use warpsmith_host::prelude::*;
///
/// # fn main() -> Result<()> {
/// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
/// let streams = [gpu.stream()?, gpu.stream()?];
/// let mut numbers = gpu.pinned::<u32>(4)?;
/// numbers.host_mut()?.copy_from_slice(&[1, 2, 3, 4]);
/// let mut buffer = streams[0].zeroed::<u32>(4)?;
/// let (left, right) = numbers.slice_mut(..).split_at_mut(2);
/// let (left_there, right_there) = buffer.slice_mut(..).split_at_mut(2);
/// // Each stream copies its half there and back; neither waits for the other.
/// for (stream, (mut here, mut there)) in streams.iter().zip([(left, left_there), (right, right_there)]) {
///     stream.copy_from_host(&here, &mut there)?;
///     stream.fill(&mut there.slice_mut(1..), 9)?;      // a kernel would take `&mut there`
///     stream.copy_to_host(&there, &mut here)?;
/// }
/// gpu.synchronize()?;
/// assert_eq!(*numbers.host()?, [1, 9, 3, 9]);
/// # Ok(())
/// # }
/// ```
// covers: EX1-18
pub struct PinnedSliceMut<'a, T: Pod> {
    memory: HostView<'a>,
    of: PhantomData<&'a mut [T]>,
}

impl<'a, T: Pod> PinnedSlice<'a, T> {
    /// The caller has borrowed the elements, of `T`, for `'a`.
    #[track_caller]
    pub(super) fn of(memory: HostView<'a>, range: impl RangeBounds<usize>) -> Self {
        PinnedSlice::of_view(memory.narrow::<T>(range))
    }

    /// As [`of`](Self::of), the whole view.
    pub(super) fn of_view(memory: HostView<'a>) -> Self {
        PinnedSlice {
            memory,
            of: PhantomData,
        }
    }

    pub(super) fn memory(&self) -> HostView<'a> {
        self.memory
    }

    /// Elements.
    pub fn len(&self) -> usize {
        self.memory.view.len
    }

    /// Whether it has no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A part of the part.
    ///
    /// # Panics
    ///
    /// The range is out of bounds.
    #[track_caller]
    pub fn slice(&self, range: impl RangeBounds<usize>) -> PinnedSlice<'a, T> {
        PinnedSlice::of(self.memory, range)
    }

    /// As [`slice`](Self::slice), for ranges that come from elsewhere.
    ///
    /// # Errors
    ///
    /// The range is out of bounds.
    pub fn try_slice(&self, range: impl RangeBounds<usize>) -> Result<PinnedSlice<'a, T>> {
        let part = self
            .memory
            .try_narrow::<T>("PinnedSlice::try_slice", range)?;
        Ok(PinnedSlice::of_view(part))
    }

    /// The part for the host to read.
    ///
    /// # Errors
    ///
    /// [`Error::Busy`](crate::Error::Busy) while the device may be writing it, or a stream that has written it holds a later copy to another
    /// part that was not waited for.
    pub fn host(&self) -> Result<HostRead<'a, T>> {
        let access = self.memory.view.access(AccessKind::Read);
        // SAFETY: the part is of whole and aligned `T`, as its buffer is or `cast` has found, initialised from the start, and borrows it for `'a`.
        unsafe { self.memory.read("PinnedSlice::host", &access) }
    }
}

impl<'a, T: Pod> PinnedSliceMut<'a, T> {
    /// The caller has borrowed the elements, of `T`, exclusively for `'a`.
    #[track_caller]
    pub(super) fn of(memory: HostView<'a>, range: impl RangeBounds<usize>) -> Self {
        PinnedSliceMut::of_view(memory.narrow::<T>(range))
    }

    /// As [`of`](Self::of), the whole view.
    pub(super) fn of_view(memory: HostView<'a>) -> Self {
        PinnedSliceMut {
            memory,
            of: PhantomData,
        }
    }

    pub(super) fn memory(&self) -> HostView<'a> {
        self.memory
    }

    /// Elements.
    pub fn len(&self) -> usize {
        self.memory.view.len
    }

    /// Whether it has no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A part of the part, for copies to read.
    ///
    /// # Panics
    ///
    /// The range is out of bounds.
    #[track_caller]
    pub fn slice(&self, range: impl RangeBounds<usize>) -> PinnedSlice<'_, T> {
        PinnedSlice::of(self.memory, range)
    }

    /// A part of the part.
    ///
    /// # Panics
    ///
    /// The range is out of bounds.
    #[track_caller]
    pub fn slice_mut(&mut self, range: impl RangeBounds<usize>) -> PinnedSliceMut<'_, T> {
        PinnedSliceMut::of(self.memory, range)
    }

    /// As [`slice_mut`](Self::slice_mut), for ranges that come from elsewhere.
    ///
    /// # Errors
    ///
    /// The range is out of bounds.
    pub fn try_slice_mut(
        &mut self,
        range: impl RangeBounds<usize>,
    ) -> Result<PinnedSliceMut<'_, T>> {
        let part = self
            .memory
            .try_narrow::<T>("PinnedSliceMut::try_slice_mut", range)?;
        Ok(PinnedSliceMut::of_view(part))
    }

    /// Two parts that do not overlap: the first `middle` elements and the rest. Work on them in different streams may overlap.
    ///
    /// # Panics
    ///
    /// There are fewer than `middle` elements.
    #[track_caller]
    pub fn split_at_mut(self, middle: usize) -> (PinnedSliceMut<'a, T>, PinnedSliceMut<'a, T>) {
        self.shared_out().divide(middle)
    }

    /// The same part, whose own parts may be used independently of each other from here on.
    pub(super) fn shared_out(mut self) -> Self {
        if let Some(allocation) = self.memory.view.allocation {
            allocation.split();
        }
        self.memory.view.scope = ViewScope::Shared;
        self
    }

    /// The part for the host to read.
    ///
    /// # Errors
    ///
    /// [`Error::Busy`](crate::Error::Busy) while the device may be writing it: that of [`PinnedSlice::host`].
    pub fn host(&self) -> Result<HostRead<'_, T>> {
        self.slice(..).host()
    }

    /// The part for the host to write.
    ///
    /// # Errors
    ///
    /// [`Error::Busy`](crate::Error::Busy) while the device may be using it, or a stream that has used it holds a later copy of another part
    /// that was not waited for.
    pub fn host_mut(&mut self) -> Result<HostWrite<'_, T>> {
        let access = self.memory.view.access(AccessKind::Write);
        // SAFETY: the part is of whole and aligned `T`, as its buffer is or `cast_mut` has found, initialised from the start; the guard borrows the
        // part exclusively, and the part its elements.
        unsafe { self.memory.write("PinnedSliceMut::host_mut", &access) }
    }
}

macro_rules! part {
    ($name:ident) => {
        impl<T: Pod> sealed::Sealed for $name<'_, T> {}

        impl<T: Pod> PinnedRead for $name<'_, T> {
            type Item = T;

            fn pinned_view(&self) -> HostView<'_> {
                self.memory
            }
        }

        impl<T: Pod> std::fmt::Debug for $name<'_, T> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                let (name, of) = (stringify!($name), std::any::type_name::<T>());
                write!(f, "{name}<{of}>[{}]", self.len())
            }
        }
    };
}

part!(PinnedSlice);
part!(PinnedSliceMut);

impl<T: Pod> PinnedWrite for PinnedSliceMut<'_, T> {}

impl<T: Pod> Divided for PinnedSlice<'_, T> {
    fn elements(&self) -> usize {
        self.len()
    }

    fn divide(self, middle: usize) -> (Self, Self) {
        (self.slice(..middle), self.slice(middle..))
    }
}

impl<T: Pod> Divided for PinnedSliceMut<'_, T> {
    fn elements(&self) -> usize {
        self.len()
    }

    /// It is [shared out](Self::shared_out).
    fn divide(self, middle: usize) -> (Self, Self) {
        debug_assert_eq!(self.memory.view.scope, ViewScope::Shared);
        (
            PinnedSliceMut::of(self.memory, ..middle),
            PinnedSliceMut::of(self.memory, middle..),
        )
    }
}

facts!(
    <'a> PinnedSlice,
    "let buffer = gpu.pinned::<u32>(10)?;",
    "buffer.slice(2..)",
    this => this.memory.view
);
facts!(
    <'a> PinnedSliceMut,
    "let mut buffer = gpu.pinned::<u32>(10)?;",
    "buffer.slice_mut(2..)",
    this => this.memory.view
);

/// What copies take a whole buffer of page-locked memory by, and its parts for them. The type has the field `memory: HostMemory<T>`.
macro_rules! page_locked {
    ($name:ident, $slice:ident, $slice_mut:ident) => {
        impl<T: bytemuck::Pod> $name<T> {
            /// A part for copies to read.
            ///
            /// # Panics
            ///
            /// The range is out of bounds, as with slices.
            #[track_caller]
            pub fn $slice(
                &self,
                range: impl std::ops::RangeBounds<usize>,
            ) -> $crate::memory::PinnedSlice<'_, T> {
                $crate::memory::PinnedSlice::of(self.memory.host_view(), range)
            }

            /// A part for copies to write, and for the host. See
            /// [`PinnedSliceMut::split_at_mut`](crate::PinnedSliceMut::split_at_mut) for several at once.
            ///
            /// # Panics
            ///
            /// The range is out of bounds, as with slices.
            #[track_caller]
            pub fn $slice_mut(
                &mut self,
                range: impl std::ops::RangeBounds<usize>,
            ) -> $crate::memory::PinnedSliceMut<'_, T> {
                $crate::memory::PinnedSliceMut::of(self.memory.host_view(), range)
            }
        }

        $crate::memory::pinned_slice::page_locked!(read $name);

        impl<T: bytemuck::Pod> $crate::memory::PinnedWrite for $name<T> {}
    };
    (read $name:ident) => {
        impl<T: bytemuck::Pod> $crate::memory::PinnedRead for $name<T> {
            type Item = T;

            fn pinned_view(&self) -> $crate::memory::host_memory::HostView<'_> {
                self.memory.host_view()
            }
        }
    };
}
pub(super) use page_locked;

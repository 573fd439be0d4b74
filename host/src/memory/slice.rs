//! Parts of buffers, borrowed.

use std::marker::PhantomData;
use std::ops::{Bound, RangeBounds};

use bytemuck::Pod;

use super::view::{DevicePointer, DeviceRead, DeviceWrite, RawView, sealed};
use crate::order::access::ViewScope;

/// A part of device memory for reading.
///
/// ```
/// use warpsmith_host::prelude::*;
///
/// # fn main() -> Result<()> {
/// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
/// let stream = gpu.stream()?;
/// let buffer = stream.upload(&[1, 2, 3, 4])?;
/// assert_eq!(stream.download(&buffer.slice(1..3))?, [2, 3]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy)]
pub struct DeviceSlice<'a, T: Pod> {
    view: RawView<'a>,
    of: PhantomData<&'a [T]>,
}

/// A part of device memory for writing.
pub struct DeviceSliceMut<'a, T: Pod> {
    view: RawView<'a>,
    of: PhantomData<&'a mut [T]>,
}

/// The part of `view` that the range gives.
#[track_caller]
pub(super) fn narrow<'a, T>(view: RawView<'a>, range: impl RangeBounds<usize>) -> RawView<'a> {
    let start = match range.start_bound() {
        Bound::Included(&start) => start,
        Bound::Excluded(&start) => start
            .checked_add(1)
            .expect("the range starts behind the last index"),
        Bound::Unbounded => 0,
    };
    let end = match range.end_bound() {
        Bound::Included(&end) => end
            .checked_add(1)
            .expect("the range ends behind the last index"),
        Bound::Excluded(&end) => end,
        Bound::Unbounded => view.len,
    };
    assert!(
        start <= end && end <= view.len,
        "range {start}..{end} of device memory with {} elements",
        view.len
    );
    let bytes = (end - start) * size_of::<T>();
    RawView {
        address: view.address + (start * size_of::<T>()) as u64,
        bytes,
        len: end - start,
        ..view
    }
}

impl<'a, T: Pod> DeviceSlice<'a, T> {
    #[track_caller]
    pub(crate) fn of(view: RawView<'a>, range: impl RangeBounds<usize>) -> Self {
        DeviceSlice {
            view: narrow::<T>(view, range),
            of: PhantomData,
        }
    }

    /// Elements.
    pub fn len(&self) -> usize {
        self.view.len
    }

    /// Whether it has no elements.
    pub fn is_empty(&self) -> bool {
        self.view.len == 0
    }

    /// The address on the device, for unsafe kernels and foreign libraries; 0 where there is no memory.
    pub fn as_device_ptr(&self) -> DevicePointer<T> {
        DevicePointer::from_address(self.view.address)
    }

    /// A part of the part.
    ///
    /// # Panics
    ///
    /// The range is out of bounds.
    #[track_caller]
    pub fn slice(&self, range: impl RangeBounds<usize>) -> DeviceSlice<'a, T> {
        DeviceSlice::of(self.view, range)
    }

    /// The first `middle` elements, and the rest.
    ///
    /// ```
    /// use warpsmith_host::prelude::*;
    ///
    /// # fn main() -> Result<()> {
    /// # let stream = Gpu::open(DeviceChoice::Simulator)?.stream()?;
    /// let numbers = stream.upload(&[1_u32, 2, 3])?;
    /// let (first, rest) = numbers.slice(..).split_at(1);
    /// assert_eq!(stream.download(&first)?, [1]);
    /// assert_eq!(stream.download(&rest)?, [2, 3]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Panics
    ///
    /// `middle` is greater than the length.
    pub fn split_at(&self, middle: usize) -> (DeviceSlice<'a, T>, DeviceSlice<'a, T>) {
        (self.slice(..middle), self.slice(middle..))
    }

    pub(crate) fn view(&self) -> RawView<'a> {
        self.view
    }
}

impl<T: Pod> std::fmt::Debug for DeviceSlice<'_, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        describe::<T>("DeviceSlice", &self.view, f)
    }
}

impl<T: Pod> std::fmt::Debug for DeviceSliceMut<'_, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        describe::<T>("DeviceSliceMut", &self.view, f)
    }
}

/// Type, length and address of device memory: what the host knows of it.
pub(super) fn describe<T: Pod>(
    name: &str,
    view: &RawView<'_>,
    f: &mut std::fmt::Formatter<'_>,
) -> std::fmt::Result {
    let pointer: DevicePointer<T> = DevicePointer::from_address(view.address);
    let (ty, len) = (std::any::type_name::<T>(), view.len);
    write!(f, "{name}<{ty}>[{len}] at {pointer:?}")
}

impl<'a, T: Pod> DeviceSliceMut<'a, T> {
    #[track_caller]
    pub(crate) fn of(view: RawView<'a>, range: impl RangeBounds<usize>) -> Self {
        DeviceSliceMut {
            view: narrow::<T>(view, range),
            of: PhantomData,
        }
    }

    /// Elements.
    pub fn len(&self) -> usize {
        self.view.len
    }

    /// Whether it has no elements.
    pub fn is_empty(&self) -> bool {
        self.view.len == 0
    }

    /// The address on the device, for unsafe kernels and foreign libraries; 0 where there is no memory.
    pub fn as_device_ptr(&self) -> DevicePointer<T> {
        DevicePointer::from_address(self.view.address)
    }

    /// A part of the part, for reading.
    ///
    /// # Panics
    ///
    /// The range is out of bounds.
    #[track_caller]
    pub fn slice(&self, range: impl RangeBounds<usize>) -> DeviceSlice<'_, T> {
        DeviceSlice::of(self.view, range)
    }

    /// A part of the part.
    ///
    /// # Panics
    ///
    /// The range is out of bounds.
    #[track_caller]
    pub fn slice_mut(&mut self, range: impl RangeBounds<usize>) -> DeviceSliceMut<'_, T> {
        DeviceSliceMut::of(self.view, range)
    }

    /// Two parts that do not overlap: the first `middle` elements and the rest. Work on them in different streams may overlap.
    ///
    /// ```
    /// use warpsmith_host::prelude::*;
    ///
    /// # fn main() -> Result<()> {
    /// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
    /// let (one, two) = (gpu.stream()?, gpu.stream()?);
    /// let mut buffer = one.zeroed::<u32>(4)?;
    /// let (mut left, mut right) = buffer.slice_mut(..).split_at_mut(1);
    /// one.fill(&mut left, 1)?;
    /// two.fill(&mut right, 2)?;
    /// assert_eq!(one.download(&buffer)?, [1, 2, 2, 2]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Panics
    ///
    /// There are fewer than `middle` elements.
    #[track_caller]
    pub fn split_at_mut(self, middle: usize) -> (DeviceSliceMut<'a, T>, DeviceSliceMut<'a, T>) {
        if let Some(allocation) = self.view.allocation {
            allocation.split();
        }
        let view = RawView {
            scope: ViewScope::Shared,
            ..self.view
        };
        (
            DeviceSliceMut::of(view, ..middle),
            DeviceSliceMut::of(view, middle..),
        )
    }

    pub(crate) fn view(&self) -> RawView<'a> {
        self.view
    }
}

impl<T: Pod> sealed::Sealed for DeviceSlice<'_, T> {}
impl<T: Pod> sealed::Sealed for DeviceSliceMut<'_, T> {}

impl<T: Pod> DeviceRead for DeviceSlice<'_, T> {
    type Item = T;

    #[inline]
    fn raw_view(&self) -> RawView<'_> {
        self.view
    }
}

impl<T: Pod> DeviceRead for DeviceSliceMut<'_, T> {
    type Item = T;

    #[inline]
    fn raw_view(&self) -> RawView<'_> {
        self.view
    }
}

impl<T: Pod> DeviceWrite for DeviceSliceMut<'_, T> {}

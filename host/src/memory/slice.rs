//! Parts of buffers, borrowed.

use std::marker::PhantomData;
use std::ops::{Bound, RangeBounds};

use bytemuck::Pod;

use super::divided::Divided;
use super::facts::facts;
use super::view::{DevicePointer, DeviceRead, DeviceWrite, RawView, sealed};
use crate::error::{Code, Error, Refused, Result};
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
///
/// # Panics
///
/// The range is out of bounds.
#[track_caller]
pub(super) fn narrow<'a, T>(view: RawView<'a>, range: impl RangeBounds<usize>) -> RawView<'a> {
    match part::<T>(view, range) {
        Ok(part) => part,
        Err(why) => panic!("{why}"),
    }
}

/// As [`narrow`], for `call`.
///
/// # Errors
///
/// The range is out of bounds.
pub(super) fn try_narrow<'a, T>(
    call: &'static str,
    view: RawView<'a>,
    range: impl RangeBounds<usize>,
) -> Result<RawView<'a>> {
    part::<T>(view, range).map_err(|why| {
        let hint = format!("the elements are those of 0..{}", view.len);
        Error::misuse(call, Code::INVALID_VALUE, why, hint)
    })
}

/// The part of `view` that the range gives, or why there is none.
fn part<'a, T>(view: RawView<'a>, range: impl RangeBounds<usize>) -> Result<RawView<'a>, String> {
    let start = match range.start_bound() {
        Bound::Included(&start) => Some(start),
        Bound::Excluded(&start) => start.checked_add(1),
        Bound::Unbounded => Some(0),
    };
    let end = match range.end_bound() {
        Bound::Included(&end) => end.checked_add(1),
        Bound::Excluded(&end) => Some(end),
        Bound::Unbounded => Some(view.len),
    };
    let (Some(start), Some(end)) = (start, end) else {
        return Err("a range with a bound behind the last index".into());
    };
    if start > end || end > view.len {
        let len = view.len;
        return Err(format!(
            "range {start}..{end} of memory with {len} elements"
        ));
    }
    let bytes = (end - start) * size_of::<T>();
    Ok(RawView {
        address: view.address + (start * size_of::<T>()) as u64,
        bytes,
        len: end - start,
        ..view
    })
}

impl<'a, T: Pod> DeviceSlice<'a, T> {
    #[track_caller]
    pub(crate) fn of(view: RawView<'a>, range: impl RangeBounds<usize>) -> Self {
        DeviceSlice::of_view(narrow::<T>(view, range))
    }

    /// The whole view, which is of `T`.
    pub(super) fn of_view(view: RawView<'a>) -> Self {
        DeviceSlice {
            view,
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

    /// As [`slice`](Self::slice), for ranges that come from elsewhere.
    ///
    /// # Errors
    ///
    /// The range is out of bounds.
    pub fn try_slice(&self, range: impl RangeBounds<usize>) -> Result<DeviceSlice<'a, T>> {
        let part = try_narrow::<T>("DeviceSlice::try_slice", self.view, range)?;
        Ok(DeviceSlice::of_view(part))
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
        DeviceSliceMut::of_view(narrow::<T>(view, range))
    }

    /// As [`of`](Self::of).
    ///
    /// # Errors
    ///
    /// The range is out of bounds.
    pub(super) fn try_of(view: RawView<'a>, range: impl RangeBounds<usize>) -> Result<Self> {
        const CALL: &str = "DeviceSliceMut::try_slice_mut";
        Ok(DeviceSliceMut::of_view(try_narrow::<T>(CALL, view, range)?))
    }

    /// The whole view, which is of `T`.
    pub(super) fn of_view(view: RawView<'a>) -> Self {
        DeviceSliceMut {
            view,
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

    /// As [`slice`](Self::slice), for ranges that come from elsewhere.
    ///
    /// # Errors
    ///
    /// The range is out of bounds.
    pub fn try_slice(&self, range: impl RangeBounds<usize>) -> Result<DeviceSlice<'_, T>> {
        self.slice(..).try_slice(range)
    }

    /// As [`slice_mut`](Self::slice_mut), for ranges that come from elsewhere.
    ///
    /// # Errors
    ///
    /// The range is out of bounds.
    pub fn try_slice_mut(
        &mut self,
        range: impl RangeBounds<usize>,
    ) -> Result<DeviceSliceMut<'_, T>> {
        DeviceSliceMut::try_of(self.view, range)
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
        self.shared_out().divide(middle)
    }

    /// As [`split_at_mut`](Self::split_at_mut), for lengths that come from elsewhere.
    ///
    /// ```
    /// use warpsmith_host::prelude::*;
    ///
    /// # fn main() -> Result<()> {
    /// # let stream = Gpu::open(DeviceChoice::Simulator)?.stream()?;
    /// let mut buffer = stream.zeroed::<u32>(4)?;
    /// let refused = buffer.slice_mut(..).try_split_at_mut(5).unwrap_err();
    /// assert_eq!(refused.error.code(), Some(Code::INVALID_VALUE));
    /// let (mut left, _) = refused.value.try_split_at_mut(4)?;   // the part is given back
    /// stream.fill(&mut left, 7)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// There are fewer than `middle` elements.
    pub fn try_split_at_mut(self, middle: usize) -> Result<(Self, Self), Refused<Self>> {
        match try_narrow::<T>("DeviceSliceMut::try_split_at_mut", self.view, ..middle) {
            Ok(_) => Ok(self.split_at_mut(middle)),
            Err(error) => Err(Refused::new(error, self)),
        }
    }

    /// The same part, whose own parts may be used independently of each other from here on.
    pub(super) fn shared_out(mut self) -> Self {
        if let Some(allocation) = self.view.allocation {
            allocation.split();
        }
        self.view.scope = ViewScope::Shared;
        self
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

impl<T: Pod> Divided for DeviceSlice<'_, T> {
    fn elements(&self) -> usize {
        self.len()
    }

    fn divide(self, middle: usize) -> (Self, Self) {
        self.split_at(middle)
    }
}

impl<T: Pod> Divided for DeviceSliceMut<'_, T> {
    fn elements(&self) -> usize {
        self.len()
    }

    /// It is [shared out](Self::shared_out).
    fn divide(self, middle: usize) -> (Self, Self) {
        debug_assert_eq!(self.view.scope, ViewScope::Shared);
        (
            DeviceSliceMut::of(self.view, ..middle),
            DeviceSliceMut::of(self.view, middle..),
        )
    }
}

facts!(
    <'a> DeviceSlice,
    "let buffer = stream.zeroed::<u32>(10)?;",
    "buffer.slice(2..)",
    this => this.view
);
facts!(
    <'a> DeviceSliceMut,
    "let mut buffer = stream.zeroed::<u32>(10)?;",
    "buffer.slice_mut(2..)",
    this => this.view
);

//! Copies to and from arrays, as methods of the stream in which they happen.
//!
//! | method | returns when |
//! | --- | --- |
//! | [`Stream::upload_array`] | the host's data has been read |
//! | [`Stream::download_array`], [`Stream::download_array_into`] | the data has arrived |
//! | [`Stream::copy_array`], [`Stream::copy_to_array`], [`Stream::copy_from_array`] | at once |
//!
//! The forms with `_region` copy a part of an array: a rectangle, a box, some of the layers.
//!
//! Each happens after the stream's earlier work. In buffers and on the host the texels lie without gaps: x runs fastest, then y, then depth
//! or layer.

use std::sync::Arc;

use super::Array;
use super::extents::ArrayExtents;
use super::region::Region;
use super::texel::Texel;
use super::texel_copy::{CALL, TexelSide, texel_copy};
use crate::driver_call::call;
use crate::error::{Code, Error, Result};
use crate::memory::size::length_mismatch;
use crate::memory::view::{DeviceRead, DeviceWrite, RawView};
use crate::order::access::AccessKind;
use crate::stream::Stream;

impl Stream {
    /// Copies `data` to an array. Waits until it has been read; in a stream that is being captured, the graph keeps a copy, as for
    /// [`upload_into`](Self::upload_into).
    ///
    /// # Errors
    ///
    /// The data has another length, or something went wrong on the device before.
    pub fn upload_array<T: Texel, D: ArrayExtents>(
        &self,
        data: &[T],
        to: &mut Array<T, D>,
    ) -> Result<()> {
        self.upload_texels(data, to, Region::whole(to))
    }

    /// Copies `data` to the part of an array that begins `at` these places and has this `size`. Waits until it has been read. Of layers,
    /// `at` is the first one's number.
    ///
    /// ```
    /// use warpsmith_host::prelude::*;
    /// use warpsmith_host::Layered1;
    ///
    /// # fn main() -> Result<()> {
    /// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
    /// let stream = gpu.stream()?;
    /// let mut lines = stream.array_zeroed::<u8, _>(Layered1 { width: 3, layers: 4 })?;
    /// let (second, line) = (Layered1 { width: 0, layers: 1 }, Layered1 { width: 3, layers: 1 });
    /// stream.upload_array_region(&[1, 2, 3], &mut lines, second, line)?;
    /// let end = Layered1 { width: 2, layers: 0 };
    /// let column = stream.download_array_region(&lines, end, Layered1 { width: 1, layers: 4 })?;
    /// assert_eq!(column, [0, 3, 0, 0]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The part has no texels or does not lie in the array; or as [`upload_array`](Self::upload_array).
    // covers: MEM-06
    pub fn upload_array_region<T: Texel, D: ArrayExtents>(
        &self,
        data: &[T],
        to: &mut Array<T, D>,
        at: D,
        size: D,
    ) -> Result<()> {
        self.upload_texels(data, to, Region::of(CALL, to, at, size)?)
    }

    fn upload_texels<T: Texel, D: ArrayExtents>(
        &self,
        data: &[T],
        to: &Array<T, D>,
        region: Region,
    ) -> Result<()> {
        if data.len() != region.texels {
            return Err(length_mismatch(CALL, data.len(), region.texels));
        }
        self.read_from_host(CALL, size_of_val(data), data, to.view(), |data| {
            let from = TexelSide::Host(data.cast_mut().cast());
            // SAFETY: the data has the region's texels (compared above); it and the array are there until the copy is done (`read_from_host`).
            unsafe { self.copy_texels::<T>(region.size, from, to.side(region.at)) }
        })
    }

    /// The texels of an array, on the host. Waits for the stream.
    ///
    /// # Errors
    ///
    /// What went wrong on the device before, a kernel's panic for example; or the stream is being captured.
    pub fn download_array<T: Texel, D: ArrayExtents>(&self, from: &Array<T, D>) -> Result<Vec<T>> {
        let mut data = vec![T::zeroed(); from.len()];
        self.download_array_into(from, &mut data)?;
        Ok(data)
    }

    /// As [`download_array`](Self::download_array), into memory that is there already.
    ///
    /// # Errors
    ///
    /// The lengths differ; or as [`download_array`](Self::download_array).
    pub fn download_array_into<T: Texel, D: ArrayExtents>(
        &self,
        from: &Array<T, D>,
        data: &mut [T],
    ) -> Result<()> {
        self.download_texels(from, data, Region::whole(from))
    }

    /// The texels of the part of an array that begins `at` these places and has this `size`, on the host. Waits for the stream.
    ///
    /// # Errors
    ///
    /// The part has no texels or does not lie in the array; or as [`download_array`](Self::download_array).
    pub fn download_array_region<T: Texel, D: ArrayExtents>(
        &self,
        from: &Array<T, D>,
        at: D,
        size: D,
    ) -> Result<Vec<T>> {
        let region = Region::of(CALL, from, at, size)?;
        let mut data = vec![T::zeroed(); region.texels];
        self.download_texels(from, &mut data, region)?;
        Ok(data)
    }

    fn download_texels<T: Texel, D: ArrayExtents>(
        &self,
        from: &Array<T, D>,
        data: &mut [T],
        region: Region,
    ) -> Result<()> {
        self.handle.refuse_capture(
            CALL,
            "the host would have to wait for the texels",
            "copy to a buffer (`copy_from_array`) and from there to page-locked memory (`copy_to_host`), which each launch writes, or download after launching the graph",
        )?;
        if data.len() != region.texels {
            return Err(length_mismatch(CALL, region.texels, data.len()));
        }
        self.in_order(
            CALL,
            size_of_val(data),
            &[from.view().used_for(AccessKind::Read)],
            || {
                let to = TexelSide::Host(data.as_mut_ptr().cast());
                // SAFETY: the data has room for the region's texels (compared above) and is borrowed until the wait below; `in_order` keeps
                // the array until its last use.
                unsafe { self.copy_texels::<T>(region.size, from.side(region.at), to) }
            },
        )?;
        self.wait_for_borrowed_host_memory()
    }

    /// Copies an array to another one of the same extents.
    ///
    /// ```
    /// use warpsmith_host::prelude::*;
    /// use warpsmith_host::Extent1;
    ///
    /// # fn main() -> Result<()> {
    /// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
    /// let stream = gpu.stream()?;
    /// let from = stream.array(&[1_u16, 2, 3], Extent1 { width: 3 })?;
    /// let mut to = stream.array_zeroed(from.extents())?;
    /// stream.copy_array(&from, &mut to)?;
    /// assert_eq!(stream.download_array(&to)?, [1, 2, 3]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The extents differ, or both are the same level of a mipmapped array.
    pub fn copy_array<T: Texel, D: ArrayExtents>(
        &self,
        from: &Array<T, D>,
        to: &mut Array<T, D>,
    ) -> Result<()> {
        check_same_extents(CALL, from, to)?;
        self.copy_in_order(CALL, to.view().bytes, from.view(), to.view(), || {
            // SAFETY: both arrays have the same extents (compared above), and `in_order` keeps them until their last use.
            unsafe {
                self.copy_texels::<T>(to.extents.driver(), from.side([0; 3]), to.side([0; 3]))
            }
        })
    }

    /// Copies device memory, which has the array's texels without gaps, to an array.
    ///
    /// ```
    /// use warpsmith_host::prelude::*;
    /// use warpsmith_host::Layered1;
    ///
    /// # fn main() -> Result<()> {
    /// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
    /// let stream = gpu.stream()?;
    /// let buffer = stream.upload(&[1_i8, 2, 3, 4, 5, 6])?;
    /// let mut lines = stream.array_zeroed(Layered1 { width: 3, layers: 2 })?;
    /// stream.copy_to_array(&buffer, &mut lines)?;
    /// let mut back = stream.zeroed(6)?;
    /// stream.copy_from_array(&lines, &mut back)?;
    /// assert_eq!(stream.download(&back)?, [1, 2, 3, 4, 5, 6]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The lengths differ.
    pub fn copy_to_array<T: Texel, D: ArrayExtents, S: DeviceRead<Item = T> + ?Sized>(
        &self,
        from: &S,
        to: &mut Array<T, D>,
    ) -> Result<()> {
        self.copy_to_texels(from.raw_view(), to, Region::whole(to))
    }

    /// Copies device memory, which has the texels without gaps, to the part of an array that begins `at` these places and has this `size`.
    ///
    /// # Errors
    ///
    /// The part has no texels or does not lie in the array, or the lengths differ.
    pub fn copy_to_array_region<T: Texel, D: ArrayExtents, S: DeviceRead<Item = T> + ?Sized>(
        &self,
        from: &S,
        to: &mut Array<T, D>,
        at: D,
        size: D,
    ) -> Result<()> {
        self.copy_to_texels(from.raw_view(), to, Region::of(CALL, to, at, size)?)
    }

    /// `source` is of `T`.
    fn copy_to_texels<T: Texel, D: ArrayExtents>(
        &self,
        source: RawView<'_>,
        to: &Array<T, D>,
        region: Region,
    ) -> Result<()> {
        if source.len != region.texels {
            return Err(length_mismatch(CALL, source.len, region.texels));
        }
        self.copy_in_order(CALL, source.bytes, source, to.view(), || {
            let from = TexelSide::Device(source.address, source.copied_as());
            // SAFETY: the source has the region's texels (compared above), and `in_order` keeps both until their last use.
            unsafe { self.copy_texels::<T>(region.size, from, to.side(region.at)) }
        })
    }

    /// Copies an array to device memory, where its texels lie without gaps.
    ///
    /// # Errors
    ///
    /// The lengths differ.
    pub fn copy_from_array<T: Texel, D: ArrayExtents, W: DeviceWrite<Item = T> + ?Sized>(
        &self,
        from: &Array<T, D>,
        to: &mut W,
    ) -> Result<()> {
        self.copy_from_texels(from, to.raw_view(), Region::whole(from))
    }

    /// Copies the part of an array that begins `at` these places and has this `size` to device memory, where its texels lie without gaps.
    ///
    /// ```
    /// use warpsmith_host::prelude::*;
    /// use warpsmith_host::Extent2;
    ///
    /// # fn main() -> Result<()> {
    /// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
    /// let stream = gpu.stream()?;
    /// let image = stream.array(&[1_u8, 2, 3, 4, 5, 6], Extent2 { width: 3, height: 2 })?;
    /// let mut right = stream.zeroed(4)?;
    /// let (at, size) = (Extent2 { width: 1, height: 0 }, Extent2 { width: 2, height: 2 });
    /// stream.copy_from_array_region(&image, at, size, &mut right)?;
    /// assert_eq!(stream.download(&right)?, [2, 3, 5, 6]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The part has no texels or does not lie in the array, or the lengths differ.
    pub fn copy_from_array_region<T: Texel, D: ArrayExtents, W: DeviceWrite<Item = T> + ?Sized>(
        &self,
        from: &Array<T, D>,
        at: D,
        size: D,
        to: &mut W,
    ) -> Result<()> {
        self.copy_from_texels(from, to.raw_view(), Region::of(CALL, from, at, size)?)
    }

    /// `target` is of `T`.
    fn copy_from_texels<T: Texel, D: ArrayExtents>(
        &self,
        from: &Array<T, D>,
        target: RawView<'_>,
        region: Region,
    ) -> Result<()> {
        if target.len != region.texels {
            return Err(length_mismatch(CALL, region.texels, target.len));
        }
        self.copy_in_order(CALL, target.bytes, from.view(), target, || {
            let to = TexelSide::Device(target.address, target.copied_as());
            // SAFETY: the destination has room for the region's texels (compared above), and `in_order` keeps both until their last use.
            unsafe { self.copy_texels::<T>(region.size, from.side(region.at), to) }
        })
    }

    /// Enqueues a copy of so many texels along each axis.
    ///
    /// # Safety
    ///
    /// Both sides have texels of these extents until the copy is done, and nobody else uses them against the order of the stream.
    unsafe fn copy_texels<T: Texel>(
        &self,
        size: [usize; 3],
        from: TexelSide,
        to: TexelSide,
    ) -> Result<()> {
        let copy = texel_copy::<T>(size, from, to);
        // SAFETY: the caller has both sides; the driver reads the description before the call returns.
        unsafe { call!(cuMemcpy3DAsync_v2(&copy, self.handle.raw())) }
    }
}

/// # Errors
///
/// The arrays have different extents, or are the same level of a mipmapped array.
pub(crate) fn check_same_extents<T: Texel, D: ArrayExtents>(
    call: &'static str,
    from: &Array<T, D>,
    to: &Array<T, D>,
) -> Result<()> {
    if from.extents.in_order() != to.extents.in_order() {
        return Err(Error::misuse(
            call,
            Code::INVALID_VALUE,
            format!(
                "the source is {:?} and the destination {:?}",
                from.extents, to.extents
            ),
            "both must have the same extents",
        ));
    }
    check_different_levels(call, from, to)
}

/// # Errors
///
/// Both arrays are the same level of a mipmapped array.
pub(in crate::memory) fn check_different_levels<T: Texel, D: ArrayExtents>(
    call: &'static str,
    from: &Array<T, D>,
    to: &Array<T, D>,
) -> Result<()> {
    let (source, target) = (from.view(), to.view());
    if let (Some(one), Some(other)) = (source.allocation, target.allocation)
        && Arc::ptr_eq(one, other)
        && target
            .access(AccessKind::Write)
            .conflicts(&source.access(AccessKind::Read))
    {
        return Err(Error::misuse(
            call,
            Code::INVALID_VALUE,
            format!(
                "the source and the destination are one level of a mipmapped array, {:?}",
                to.extents
            ),
            "copy to another level or array",
        ));
    }
    Ok(())
}

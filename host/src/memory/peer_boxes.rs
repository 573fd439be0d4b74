//! Copies of rectangles and arrays from one device to another.
//!
//! | method | from the other device | to this one's |
//! | --- | --- | --- |
//! | [`Stream::copy_matrix_from_peer`] | matrix | matrix |
//! | [`Stream::copy_array_from_peer`], [`Stream::copy_array_region_from_peer`] | array | array |
//! | [`Stream::copy_to_array_from_peer`] | memory | array |
//! | [`Stream::copy_from_array_of_peer`] | array | memory |
//!
//! Each is in order with all uses of both sides, as [`Stream::copy_from_peer`] is, and returns at once.

use bytemuck::Pod;
use warpsmith_driver::raw::{CUDA_MEMCPY3D, CUDA_MEMCPY3D_PEER};

use super::array::{
    Array, ArrayExtents, Region, Texel, check_different_levels, check_same_extents,
};
use super::matrix::{Matrix, MatrixMut};
use super::size::length_mismatch;
use super::view::{DeviceRead, DeviceWrite, RawView};
use super::{TexelSide, check_same_shape, texel_copy};
use crate::context::primary::Context;
use crate::driver_call::call;
use crate::error::{Code, Error, Result};
use crate::stream::Stream;

const CALL: &str = "cuMemcpy3DPeerAsync";

impl Stream {
    /// Copies a matrix in memory of another device to one in memory of this stream's, of as many rows and columns; the strides may differ.
    /// `from_stream` is a stream of the other device, as for [`copy_from_peer`](Self::copy_from_peer), and neither needs access to the other. A
    /// [`PitchedVolume`](crate::PitchedVolume) is copied as the matrix of all its layers.
    ///
    /// ```no_run
    /// use warpsmith_host::prelude::*;
    ///
    /// # fn main() -> Result<()> {
    /// let (one, other) = (Gpu::open(DeviceChoice::Cuda(0))?, Gpu::open(DeviceChoice::Cuda(1))?);
    /// let (here, there) = (one.stream()?, other.stream()?);
    /// let from = there.pitched_upload(&[1, 2, 3, 4, 5, 6], 2, 3)?;
    /// let mut to = here.zeroed::<i32>(4)?;
    /// // The two columns on the right.
    /// here.copy_matrix_from_peer(&there, &from.matrix().region(0..2, 1..3), &mut to.matrix_mut(2, 2)?)?;
    /// assert_eq!(here.download(&to)?, [2, 3, 5, 6]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The extents differ, the memory is of another device than its stream or of a pool of the host, or one of the streams is being captured.
    // covers: MULTI-09
    pub fn copy_matrix_from_peer<T: Pod>(
        &self,
        from_stream: &Stream,
        from: &Matrix<'_, T>,
        to: &mut MatrixMut<'_, T>,
    ) -> Result<()> {
        check_same_shape(CALL, from, to)?;
        let (source, target) = (from.elements.view(), to.elements.view());
        let [columns, rows] = [to.shape.columns, to.shape.rows].map(|extent| extent as usize);
        let pitch = |stride: u32| stride as usize * size_of::<T>();
        let bytes = to.shape.bytes::<T>();
        let (from_side, to_side) = (side_of(source)?, side_of(target)?);
        self.copy_between_devices(CALL, bytes, from_stream, source, target, || {
            let copy = CUDA_MEMCPY3D {
                srcPitch: pitch(from.shape.stride),
                dstPitch: pitch(to.shape.stride),
                ..texel_copy::<T>([columns, rows, 1], from_side, to_side)
            };
            // SAFETY: both sides have the rows and columns (compared above) at their strides, each for its stream's device to use, and
            // `copy_between_devices` keeps them until their last use.
            unsafe { self.enqueue_box(from_stream, copy) }
        })
    }

    /// Copies an array of another device to one of this stream's, of the same extents. `from_stream` is a stream of the other device, as for
    /// [`copy_from_peer`](Self::copy_from_peer), and neither needs access to the other. A kernel cannot read a texture of another device's array: it
    /// reads one of such a copy.
    ///
    /// ```no_run
    /// use warpsmith_host::prelude::*;
    /// use warpsmith_host::Extent2;
    ///
    /// # fn main() -> Result<()> {
    /// let (one, other) = (Gpu::open(DeviceChoice::Cuda(0))?, Gpu::open(DeviceChoice::Cuda(1))?);
    /// let (here, there) = (one.stream()?, other.stream()?);
    /// let from = there.array(&[1_u8, 2, 3, 4], Extent2 { width: 2, height: 2 })?;
    /// let mut to = here.array_zeroed(from.extents())?;
    /// here.copy_array_from_peer(&there, &from, &mut to)?;
    /// assert_eq!(here.download_array(&to)?, [1, 2, 3, 4]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The extents differ, an array is of another device than its stream, or one of the streams is being captured.
    // covers: MULTI-09
    pub fn copy_array_from_peer<T: Texel, D: ArrayExtents>(
        &self,
        from_stream: &Stream,
        from: &Array<T, D>,
        to: &mut Array<T, D>,
    ) -> Result<()> {
        check_same_extents(CALL, from, to)?;
        let whole = Region::whole(to);
        // SAFETY: both arrays have the same extents (compared above), and so the whole of the destination.
        unsafe { self.copy_texels_from_peer(from_stream, from, whole, to, whole) }
    }

    /// Copies the part of an array of another device that begins at `from_at` and has this `size` to the part of an array of this stream's
    /// that begins at `to_at`: what a neighbour needs of an edge, for example. Of layers the places are numbers.
    ///
    /// ```no_run
    /// use warpsmith_host::prelude::*;
    /// use warpsmith_host::Extent2;
    ///
    /// # fn main() -> Result<()> {
    /// let (one, other) = (Gpu::open(DeviceChoice::Cuda(0))?, Gpu::open(DeviceChoice::Cuda(1))?);
    /// let (here, there) = (one.stream()?, other.stream()?);
    /// let from = there.array(&[1_u8, 2, 3, 4], Extent2 { width: 2, height: 2 })?;
    /// let mut to = here.array_zeroed(Extent2 { width: 2, height: 3 })?;
    /// let (first, last) = (Extent2 { width: 0, height: 0 }, Extent2 { width: 0, height: 2 });
    /// here.copy_array_region_from_peer(&there, &from, first, &mut to, last, Extent2 { width: 2, height: 1 })?;
    /// assert_eq!(here.download_array(&to)?, [0, 0, 0, 0, 1, 2]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// A part has no texels or does not lie in its array; or as for [`copy_array_from_peer`](Self::copy_array_from_peer), but for the extents.
    pub fn copy_array_region_from_peer<T: Texel, D: ArrayExtents>(
        &self,
        from_stream: &Stream,
        from: &Array<T, D>,
        from_at: D,
        to: &mut Array<T, D>,
        to_at: D,
        size: D,
    ) -> Result<()> {
        check_different_levels(CALL, from, to)?;
        let parts = [
            Region::of(CALL, from, from_at, size)?,
            Region::of(CALL, to, to_at, size)?,
        ];
        // SAFETY: each part lies in its array (`Region::of`), and both have one size.
        unsafe { self.copy_texels_from_peer(from_stream, from, parts[0], to, parts[1]) }
    }

    /// Copies memory of another device, which has the array's texels without gaps, to an array of this stream's. `from_stream` is a stream of the
    /// other device, as for [`copy_from_peer`](Self::copy_from_peer).
    ///
    /// ```no_run
    /// use warpsmith_host::prelude::*;
    /// use warpsmith_host::Layered1;
    ///
    /// # fn main() -> Result<()> {
    /// let (one, other) = (Gpu::open(DeviceChoice::Cuda(0))?, Gpu::open(DeviceChoice::Cuda(1))?);
    /// let (here, there) = (one.stream()?, other.stream()?);
    /// let from = there.upload(&[1_i8, 2, 3, 4, 5, 6])?;
    /// let mut lines = here.array_zeroed(Layered1 { width: 3, layers: 2 })?;
    /// here.copy_to_array_from_peer(&there, &from, &mut lines)?;
    /// assert_eq!(here.download_array(&lines)?, [1, 2, 3, 4, 5, 6]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The lengths differ, a side is of another device than its stream or the memory of a pool of the host, or one of the streams is being captured.
    pub fn copy_to_array_from_peer<T, D, S>(
        &self,
        from_stream: &Stream,
        from: &S,
        to: &mut Array<T, D>,
    ) -> Result<()>
    where
        T: Texel,
        D: ArrayExtents,
        S: DeviceRead<Item = T> + ?Sized,
    {
        let (source, whole) = (from.raw_view(), Region::whole(to));
        if source.len != whole.texels {
            return Err(length_mismatch(CALL, source.len, whole.texels));
        }
        let from_side = side_of(source)?;
        self.copy_between_devices(CALL, source.bytes, from_stream, source, to.view(), || {
            let copy = texel_copy::<T>(whole.size, from_side, to.side(whole.at));
            // SAFETY: the source has as many texels as the array (compared above), each is for its stream's device to use, and `copy_between_devices`
            // keeps them until their last use.
            unsafe { self.enqueue_box(from_stream, copy) }
        })
    }

    /// Copies an array of another device to memory of this stream's, where its texels lie without gaps. `from_stream` is a stream of the other device,
    /// as for [`copy_from_peer`](Self::copy_from_peer).
    ///
    /// ```no_run
    /// use warpsmith_host::prelude::*;
    /// use warpsmith_host::Extent1;
    ///
    /// # fn main() -> Result<()> {
    /// let (one, other) = (Gpu::open(DeviceChoice::Cuda(0))?, Gpu::open(DeviceChoice::Cuda(1))?);
    /// let (here, there) = (one.stream()?, other.stream()?);
    /// let from = there.array(&[1_u16, 2, 3], Extent1 { width: 3 })?;
    /// let mut to = here.zeroed(3)?;
    /// here.copy_from_array_of_peer(&there, &from, &mut to)?;
    /// assert_eq!(here.download(&to)?, [1, 2, 3]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As for [`copy_to_array_from_peer`](Self::copy_to_array_from_peer).
    pub fn copy_from_array_of_peer<T, D, W>(
        &self,
        from_stream: &Stream,
        from: &Array<T, D>,
        to: &mut W,
    ) -> Result<()>
    where
        T: Texel,
        D: ArrayExtents,
        W: DeviceWrite<Item = T> + ?Sized,
    {
        let (target, whole) = (to.raw_view(), Region::whole(from));
        if target.len != whole.texels {
            return Err(length_mismatch(CALL, whole.texels, target.len));
        }
        let to_side = side_of(target)?;
        self.copy_between_devices(CALL, target.bytes, from_stream, from.view(), target, || {
            let copy = texel_copy::<T>(whole.size, from.side(whole.at), to_side);
            // SAFETY: the destination has as many texels as the array (compared above), each is for its stream's device to use, and
            // `copy_between_devices` keeps them until their last use.
            unsafe { self.enqueue_box(from_stream, copy) }
        })
    }

    /// # Safety
    ///
    /// The parts have one size, and each lies in its array.
    unsafe fn copy_texels_from_peer<T: Texel, D: ArrayExtents>(
        &self,
        from_stream: &Stream,
        from: &Array<T, D>,
        from_part: Region,
        to: &Array<T, D>,
        to_part: Region,
    ) -> Result<()> {
        let bytes = to_part.texels * size_of::<T>();
        self.copy_between_devices(CALL, bytes, from_stream, from.view(), to.view(), || {
            let copy = texel_copy::<T>(to_part.size, from.side(from_part.at), to.side(to_part.at));
            // SAFETY: each array has its part (the caller's promise) and is on its stream's device, and `copy_between_devices` keeps them until
            // their last use.
            unsafe { self.enqueue_box(from_stream, copy) }
        })
    }

    /// Enqueues a copy from the device of `from_stream` to this stream's.
    ///
    /// # Safety
    ///
    /// Both sides have the box, each for its stream's device to use, until the copy is done, and nobody else uses them against the order of the streams.
    unsafe fn enqueue_box(&self, from_stream: &Stream, copy: CUDA_MEMCPY3D) -> Result<()> {
        let copy = between(from_stream.gpu.context(), self.gpu.context(), &copy);
        // SAFETY: the caller has both sides; the driver reads the description before the call returns.
        unsafe { call!(cuMemcpy3DPeerAsync(&copy, self.handle.raw())) }
    }
}

/// Memory as one side.
///
/// # Errors
///
/// A pool of the host has it: a driver ended the process by a segmentation fault (580.159.04, two H100), whether it was named as the host's or as
/// unified.
fn side_of(view: RawView<'_>) -> Result<TexelSide> {
    if view.is_of_host_pool() {
        return Err(Error::misuse(
            CALL,
            Code::NOT_SUPPORTED,
            "one side is memory of a pool of the host, which no such copy between devices takes",
            "`copy_from_peer` copies it whole: first to a buffer of the device's own, or from such a one",
        ));
    }
    Ok(TexelSide::of(view))
}

/// The copy, from the one context's device to the other's.
fn between(from: &Context, to: &Context, copy: &CUDA_MEMCPY3D) -> CUDA_MEMCPY3D_PEER {
    CUDA_MEMCPY3D_PEER {
        srcXInBytes: copy.srcXInBytes,
        srcY: copy.srcY,
        srcZ: copy.srcZ,
        srcMemoryType: copy.srcMemoryType,
        srcHost: copy.srcHost,
        srcDevice: copy.srcDevice,
        srcArray: copy.srcArray,
        srcContext: from.raw(),
        srcPitch: copy.srcPitch,
        srcHeight: copy.srcHeight,
        dstXInBytes: copy.dstXInBytes,
        dstY: copy.dstY,
        dstZ: copy.dstZ,
        dstMemoryType: copy.dstMemoryType,
        dstHost: copy.dstHost,
        dstDevice: copy.dstDevice,
        dstArray: copy.dstArray,
        dstContext: to.raw(),
        dstPitch: copy.dstPitch,
        dstHeight: copy.dstHeight,
        WidthInBytes: copy.WidthInBytes,
        Height: copy.Height,
        Depth: copy.Depth,
        ..Default::default()
    }
}

//! Copies to and from arrays, as methods of the stream in which they happen.
//!
//! | method | returns when |
//! | --- | --- |
//! | [`Stream::array`], [`Stream::upload_array`] | the host's data has been read |
//! | [`Stream::download_array`], [`Stream::download_array_into`] | the data has arrived |
//! | [`Stream::array_zeroed`], [`Stream::copy_array`], [`Stream::copy_to_array`], [`Stream::copy_from_array`] | at once |
//!
//! Each happens after the stream's earlier work. In buffers and on the host the texels lie without gaps: x runs fastest, then y, then depth
//! or layer.

use std::ffi::c_void;

use warpsmith_driver::raw::{CUDA_MEMCPY3D, CUarray, CUmemorytype};

use super::extents::ArrayExtents;
use super::texel::Texel;
use super::{Array, block};
use crate::driver_call::call;
use crate::error::{Code, Error, Result};
use crate::memory::size::length_mismatch;
use crate::memory::view::{DeviceRead, DeviceWrite, RawView};
use crate::order::access::AccessKind;
use crate::stream::Stream;

const CALL: &str = "cuMemcpy3DAsync";

/// One side of a copy, whose texels lie there without gaps.
#[derive(Clone, Copy)]
pub(crate) enum TexelSide {
    Host(*mut c_void),
    Device(u64),
    Array(CUarray),
}

impl Stream {
    /// An array with a copy of `data`, which has its texels without gaps: x runs fastest, then y, then depth or layer. Waits until the data
    /// has been read.
    ///
    /// # Errors
    ///
    /// The data has another length, an extent is 0 or more than the device's, the device has too little memory, or the stream is being
    /// captured.
    // covers: SURF-01, SURF-02
    pub fn array<T: Texel, D: ArrayExtents>(&self, data: &[T], extents: D) -> Result<Array<T, D>> {
        self.filled_array(data, extents, false)
    }

    fn filled_array<T: Texel, D: ArrayExtents>(
        &self,
        data: &[T],
        extents: D,
        for_surfaces: bool,
    ) -> Result<Array<T, D>> {
        // Before the memory is taken.
        let wanted = extents.texels();
        if wanted != Some(data.len()) {
            return Err(Error::misuse(
                block::CALL,
                Code::INVALID_VALUE,
                format!("{extents:?} is not what {} texels are", data.len()),
                "give one texel for each place in the array",
            ));
        }
        let mut array = Array::raw(self, extents, for_surfaces)?;
        self.upload_array(data, &mut array)?;
        Ok(array)
    }

    /// An array of zeros.
    ///
    /// # Errors
    ///
    /// As for [`array`](Self::array).
    pub fn array_zeroed<T: Texel, D: ArrayExtents>(&self, extents: D) -> Result<Array<T, D>> {
        self.cleared_array(extents, false)
    }

    /// As [`array`](Self::array), of an array that kernels can write by a [`Surface`](crate::Surface).
    ///
    /// # Errors
    ///
    /// As for [`array`](Self::array); surfaces may have smaller extents on a device than textures.
    pub fn surface_array<T: Texel, D: ArrayExtents>(
        &self,
        data: &[T],
        extents: D,
    ) -> Result<Array<T, D>> {
        self.filled_array(data, extents, true)
    }

    /// An array of zeros that kernels can write by a [`Surface`](crate::Surface).
    ///
    /// # Errors
    ///
    /// As for [`surface_array`](Self::surface_array).
    pub fn surface_array_zeroed<T: Texel, D: ArrayExtents>(
        &self,
        extents: D,
    ) -> Result<Array<T, D>> {
        self.cleared_array(extents, true)
    }

    fn cleared_array<T: Texel, D: ArrayExtents>(
        &self,
        extents: D,
        for_surfaces: bool,
    ) -> Result<Array<T, D>> {
        let mut array = Array::raw(self, extents, for_surfaces)?;
        self.clear_array(&mut array)?;
        Ok(array)
    }

    /// Makes all texels zeros.
    pub(super) fn clear_array<T: Texel, D: ArrayExtents>(
        &self,
        array: &mut Array<T, D>,
    ) -> Result<()> {
        // The driver fills no arrays.
        let zeros = self.zeroed::<T>(array.len())?;
        self.copy_to_array(&zeros, array)
    }

    /// Copies `data` to an array. Waits until it has been read.
    ///
    /// # Errors
    ///
    /// The data has another length, the stream is being captured, or something went wrong on the device before.
    pub fn upload_array<T: Texel, D: ArrayExtents>(
        &self,
        data: &[T],
        to: &mut Array<T, D>,
    ) -> Result<()> {
        self.handle.refuse_capture(CALL)?;
        if data.len() != to.len() {
            return Err(length_mismatch(CALL, data.len(), to.len()));
        }
        self.in_order(
            CALL,
            to.view().bytes,
            &[to.view().used_for(AccessKind::Write)],
            || {
                let from = TexelSide::Host(data.as_ptr().cast_mut().cast());
                // SAFETY: the data has the array's texels (compared above) and is borrowed until the wait below; `in_order` keeps the array
                // until its last use.
                unsafe { self.copy_texels::<T, D>(to.extents, from, to.side()) }
            },
        )?;
        self.wait_for_borrowed_host_memory()
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
        self.handle.refuse_capture(CALL)?;
        if data.len() != from.len() {
            return Err(length_mismatch(CALL, from.len(), data.len()));
        }
        self.in_order(
            CALL,
            from.view().bytes,
            &[from.view().used_for(AccessKind::Read)],
            || {
                let to = TexelSide::Host(data.as_mut_ptr().cast());
                // SAFETY: the data has room for the array's texels (compared above) and is borrowed until the wait below; `in_order` keeps the
                // array until its last use.
                unsafe { self.copy_texels::<T, D>(from.extents, from.side(), to) }
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
    /// The extents differ.
    pub fn copy_array<T: Texel, D: ArrayExtents>(
        &self,
        from: &Array<T, D>,
        to: &mut Array<T, D>,
    ) -> Result<()> {
        check_same_extents(from, to)?;
        self.copy_in_order(CALL, to.view().bytes, from.view(), to.view(), || {
            // SAFETY: both arrays have the same extents (compared above), and `in_order` keeps them until their last use.
            unsafe { self.copy_texels::<T, D>(to.extents, from.side(), to.side()) }
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
        let source = from.raw_view();
        if source.len != to.len() {
            return Err(length_mismatch(CALL, source.len, to.len()));
        }
        self.copy_in_order(CALL, source.bytes, source, to.view(), || {
            let from = TexelSide::Device(source.address);
            // SAFETY: the source has the array's texels (compared above), and `in_order` keeps both until their last use.
            unsafe { self.copy_texels::<T, D>(to.extents, from, to.side()) }
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
        let target = to.raw_view();
        if target.len != from.len() {
            return Err(length_mismatch(CALL, from.len(), target.len));
        }
        self.copy_in_order(CALL, target.bytes, from.view(), target, || {
            let to = TexelSide::Device(target.address);
            // SAFETY: the destination has room for the array's texels (compared above), and `in_order` keeps both until their last use.
            unsafe { self.copy_texels::<T, D>(from.extents, from.side(), to) }
        })
    }

    /// Enqueues a copy of all texels.
    ///
    /// # Safety
    ///
    /// Both sides have texels of these extents until the copy is done, and nobody else uses them against the order of the stream.
    unsafe fn copy_texels<T: Texel, D: ArrayExtents>(
        &self,
        extents: D,
        from: TexelSide,
        to: TexelSide,
    ) -> Result<()> {
        let copy = texel_copy::<T, D>(extents, from, to);
        // SAFETY: the caller has both sides; the driver reads the description before the call returns.
        unsafe { call!(cuMemcpy3DAsync_v2(&copy, self.handle.raw())) }
    }
}

impl<T: Texel, D: ArrayExtents> Array<T, D> {
    pub(crate) fn side(&self) -> TexelSide {
        TexelSide::Array(self.texels.raw())
    }
}

impl TexelSide {
    /// Memory that the device reaches by its address.
    pub(crate) fn of(view: RawView<'_>) -> TexelSide {
        TexelSide::Device(view.address)
    }
}

/// The driver's description of a copy of all texels.
pub(crate) fn texel_copy<T: Texel, D: ArrayExtents>(
    extents: D,
    from: TexelSide,
    to: TexelSide,
) -> CUDA_MEMCPY3D {
    let [width, height, depth] = extents.driver();
    let (width, height) = (width * size_of::<T>(), height.max(1));
    let mut copy = CUDA_MEMCPY3D {
        srcPitch: width,
        srcHeight: height,
        dstPitch: width,
        dstHeight: height,
        WidthInBytes: width,
        Height: height,
        Depth: depth.max(1),
        ..Default::default()
    };
    match from {
        TexelSide::Host(address) => {
            copy.srcMemoryType = CUmemorytype::CU_MEMORYTYPE_HOST;
            copy.srcHost = address;
        }
        TexelSide::Device(address) => {
            copy.srcMemoryType = CUmemorytype::CU_MEMORYTYPE_DEVICE;
            copy.srcDevice = address;
        }
        TexelSide::Array(array) => {
            copy.srcMemoryType = CUmemorytype::CU_MEMORYTYPE_ARRAY;
            copy.srcArray = array;
        }
    }
    match to {
        TexelSide::Host(address) => {
            copy.dstMemoryType = CUmemorytype::CU_MEMORYTYPE_HOST;
            copy.dstHost = address;
        }
        TexelSide::Device(address) => {
            copy.dstMemoryType = CUmemorytype::CU_MEMORYTYPE_DEVICE;
            copy.dstDevice = address;
        }
        TexelSide::Array(array) => {
            copy.dstMemoryType = CUmemorytype::CU_MEMORYTYPE_ARRAY;
            copy.dstArray = array;
        }
    }
    copy
}

/// # Errors
///
/// The arrays have different extents.
pub(crate) fn check_same_extents<T: Texel, D: ArrayExtents>(
    from: &Array<T, D>,
    to: &Array<T, D>,
) -> Result<()> {
    if from.extents.in_order() != to.extents.in_order() {
        return Err(Error::misuse(
            CALL,
            Code::INVALID_VALUE,
            format!(
                "the source is {:?} and the destination {:?}",
                from.extents, to.extents
            ),
            "both must have the same extents",
        ));
    }
    Ok(())
}

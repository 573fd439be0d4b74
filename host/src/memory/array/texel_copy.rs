//! Copies of texels in the driver's form, between arrays and memory where they lie without gaps. Where both sides are memory the elements may be of any
//! type.

use std::ffi::c_void;

use warpsmith_driver::raw::{CUDA_MEMCPY3D, CUarray, CUmemorytype};

use super::Array;
use super::extents::ArrayExtents;
use super::texel::Texel;
use crate::memory::view::RawView;

pub(super) const CALL: &str = "cuMemcpy3DAsync";

/// One side of a copy: memory, where the texels lie without gaps, or an array from some place on.
#[derive(Clone, Copy)]
pub(crate) enum TexelSide {
    Host(*mut c_void),
    Device(u64, CUmemorytype),
    Array(CUarray, [usize; 3]),
}

impl<T: Texel, D: ArrayExtents> Array<T, D> {
    /// The array from these places on.
    pub(crate) fn side(&self, at: [usize; 3]) -> TexelSide {
        TexelSide::Array(self.texels.raw(), at)
    }
}

impl TexelSide {
    /// Memory that the device reaches by its address.
    pub(crate) fn of(view: RawView<'_>) -> TexelSide {
        TexelSide::Device(view.address, view.copied_as())
    }
}

/// The driver's description of a copy of so many texels.
pub(crate) fn texel_copy<T>(
    [width, height, depth]: [usize; 3],
    from: TexelSide,
    to: TexelSide,
) -> CUDA_MEMCPY3D {
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
        TexelSide::Device(address, memory) => {
            copy.srcMemoryType = memory;
            copy.srcDevice = address;
        }
        TexelSide::Array(array, [x, y, z]) => {
            copy.srcMemoryType = CUmemorytype::CU_MEMORYTYPE_ARRAY;
            copy.srcArray = array;
            copy.srcXInBytes = x * size_of::<T>();
            (copy.srcY, copy.srcZ) = (y, z);
        }
    }
    match to {
        TexelSide::Host(address) => {
            copy.dstMemoryType = CUmemorytype::CU_MEMORYTYPE_HOST;
            copy.dstHost = address;
        }
        TexelSide::Device(address, memory) => {
            copy.dstMemoryType = memory;
            copy.dstDevice = address;
        }
        TexelSide::Array(array, [x, y, z]) => {
            copy.dstMemoryType = CUmemorytype::CU_MEMORYTYPE_ARRAY;
            copy.dstArray = array;
            copy.dstXInBytes = x * size_of::<T>();
            (copy.dstY, copy.dstZ) = (y, z);
        }
    }
    copy
}

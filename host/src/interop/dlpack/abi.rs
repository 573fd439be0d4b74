//! DLPack's C structs, by its specification, version 1.0 (<https://dmlc.github.io/dlpack/latest/c_api.html>).

use std::ffi::c_void;

/// Where memory is.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DLDevice {
    /// `DLDeviceType`.
    pub device_type: i32,
    /// Which of the devices of this type.
    pub device_id: i32,
}

/// What an element is.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DLDataType {
    /// `DLDataTypeCode`.
    pub code: u8,
    /// The size of a lane in bits.
    pub bits: u8,
    /// More than 1 for vectors.
    pub lanes: u16,
}

/// Memory with a shape.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct DLTensor {
    /// The memory.
    pub data: *mut c_void,
    /// Where it is.
    pub device: DLDevice,
    /// The number of dimensions.
    pub ndim: i32,
    /// What an element is.
    pub dtype: DLDataType,
    /// The extents, one for each dimension.
    pub shape: *mut i64,
    /// Elements from one index to the next, one for each dimension; null for rows without gaps.
    pub strides: *mut i64,
    /// The first element is so far behind `data`.
    pub byte_offset: u64,
}

/// A tensor with its owner, as before DLPack 1.0.
#[repr(C)]
#[derive(Debug)]
pub struct DLManagedTensor {
    /// The tensor.
    pub dl_tensor: DLTensor,
    /// The owner's.
    pub manager_ctx: *mut c_void,
    /// Gives the tensor back to its owner.
    pub deleter: Option<unsafe extern "C" fn(*mut DLManagedTensor)>,
}

/// The version of DLPack that a struct is of.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DLPackVersion {
    /// Structs of another one are laid out in another way.
    pub major: u32,
    /// Newer ones know more constants.
    pub minor: u32,
}

/// A tensor with its owner, since DLPack 1.0.
#[repr(C)]
#[derive(Debug)]
pub struct DLManagedTensorVersioned {
    /// The version.
    pub version: DLPackVersion,
    /// The owner's.
    pub manager_ctx: *mut c_void,
    /// Gives the tensor back to its owner.
    pub deleter: Option<unsafe extern "C" fn(*mut DLManagedTensorVersioned)>,
    /// Bit 0: it is not to be written. Bit 1: it is a copy.
    pub flags: u64,
    /// The tensor.
    pub dl_tensor: DLTensor,
}

/// The version whose structs these are.
pub(super) const VERSION: DLPackVersion = DLPackVersion { major: 1, minor: 0 };
/// `DLPACK_FLAG_BITMASK_READ_ONLY`
pub(super) const READ_ONLY: u64 = 1;

/// The layout on machines of 64 bits.
const _: () = {
    assert!(size_of::<DLTensor>() == 48);
    assert!(size_of::<DLManagedTensor>() == 64);
    assert!(size_of::<DLManagedTensorVersioned>() == 80);
};

//! Types of elements and of devices.

use std::fmt;

use bytemuck::Pod;

use super::abi::{DLDataType, DLDevice};

/// The type of a tensor's elements.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct ElementType(pub(super) DLDataType);

/// A type that DLPack has a name for.
///
/// ```compile_fail,E0277
/// use warpsmith_host::prelude::*;
/// use warpsmith_host::interop::dlpack::Consumer;
///
/// # fn export(stream: &Stream) -> Result<()> {
/// let pairs = stream.upload(&[[1_u32, 2]])?;
/// pairs.into_dlpack(Consumer::Own(stream), &[1])?;
/// # Ok(())
/// # }
/// ```
#[diagnostic::on_unimplemented(
    message = "DLPack has no name for `{Self}`",
    note = "it has the integers from 8 to 64 bits, `f16`, `bf16`, `f32` and `f64`"
)]
pub trait Element: Pod + sealed::Sealed {
    /// Its name.
    const TYPE: ElementType;
}

mod sealed {
    /// Keeps the trait to this crate: an import relies on a type's name.
    pub trait Sealed {}
}

/// `kDLInt`, `kDLUInt`, `kDLFloat`, `kDLBfloat`
const INT: u8 = 0;
const UINT: u8 = 1;
const FLOAT: u8 = 2;
const BFLOAT: u8 = 4;

macro_rules! elements {
    ($($type:ty: $code:ident,)*) => {
        $(
            impl sealed::Sealed for $type {}
            impl Element for $type {
                const TYPE: ElementType = ElementType(DLDataType {
                    code: $code,
                    bits: 8 * size_of::<$type>() as u8,
                    lanes: 1,
                });
            }
        )*
    };
}

elements! {
    i8: INT, i16: INT, i32: INT, i64: INT,
    u8: UINT, u16: UINT, u32: UINT, u64: UINT,
    half::f16: FLOAT, f32: FLOAT, f64: FLOAT,
    half::bf16: BFLOAT,
}

impl fmt::Display for ElementType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let DLDataType { code, bits, lanes } = self.0;
        match code {
            INT => write!(f, "int{bits}")?,
            UINT => write!(f, "uint{bits}")?,
            FLOAT => write!(f, "float{bits}")?,
            BFLOAT => write!(f, "bfloat{bits}")?,
            5 => write!(f, "complex{bits}")?,
            6 => write!(f, "bool")?,
            code => write!(f, "type {code} of {bits} bits")?,
        }
        match lanes {
            1 => Ok(()),
            lanes => write!(f, " x {lanes}"),
        }
    }
}

impl fmt::Debug for ElementType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Where a tensor's memory is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Device {
    /// Memory of the CUDA device of this number (`kDLCUDA`).
    Cuda(i32),
    /// Page-locked memory of the host (`kDLCUDAHost`).
    CudaHost,
    /// Unified memory, made on the device of this number (`kDLCUDAManaged`).
    CudaManaged(i32),
    /// Elsewhere: DLPack's type of device, 1 for the host's ordinary memory.
    Other(i32),
}

const CUDA: i32 = 2;
const CUDA_HOST: i32 = 3;
const CUDA_MANAGED: i32 = 13;

impl Device {
    pub(super) fn of_raw(raw: DLDevice) -> Device {
        match raw.device_type {
            CUDA => Device::Cuda(raw.device_id),
            CUDA_HOST => Device::CudaHost,
            CUDA_MANAGED => Device::CudaManaged(raw.device_id),
            other => Device::Other(other),
        }
    }

    pub(super) fn to_raw(self) -> DLDevice {
        let (device_type, device_id) = match self {
            Device::Cuda(id) => (CUDA, id),
            Device::CudaHost => (CUDA_HOST, 0),
            Device::CudaManaged(id) => (CUDA_MANAGED, id),
            Device::Other(other) => (other, 0),
        };
        DLDevice {
            device_type,
            device_id,
        }
    }
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Device::Cuda(id) => write!(f, "CUDA device {id}"),
            Device::CudaHost => write!(f, "page-locked memory of the host"),
            Device::CudaManaged(id) => write!(f, "unified memory of CUDA device {id}"),
            Device::Other(1) => write!(f, "ordinary memory of the host"),
            Device::Other(other) => write!(f, "a device of DLPack's type {other}"),
        }
    }
}

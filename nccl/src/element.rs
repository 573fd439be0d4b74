//! What collectives move.

use bytemuck::Pod;
use half::{bf16, f16};
use warpsmith_nccl_abi::{F8E4M3, F8E5M2, ncclDataType_t};

/// A type of elements that NCCL knows: integers of 8, 32 and 64 bits, `f16`, `bf16`, `f32`, `f64`, and the 8-bit floats [`F8E4M3`] and [`F8E5M2`].
///
/// 8-bit floats need NCCL 2.24, and on a GPU what reduces them needs compute capability 9.0; sums round to 16 bits first, as NCCL has it, and what
/// is too great becomes the greatest finite number.
#[diagnostic::on_unimplemented(
    message = "NCCL has no elements of type `{Self}`",
    note = "it has i8, u8, i32, u32, i64, u64, half::f16, half::bf16, F8E4M3, F8E5M2, f32 and f64; other data travels as u8"
)]
pub trait Element: Pod + sealed::Sealed {
    #[doc(hidden)]
    const DATA_TYPE: ncclDataType_t;
}

mod sealed {
    /// Keeps the trait to this crate: its constant must fit the type.
    pub trait Sealed {}
}

macro_rules! elements {
    ($($type:ty: $name:ident,)*) => { $(
        impl sealed::Sealed for $type {}
        impl Element for $type {
            const DATA_TYPE: ncclDataType_t = ncclDataType_t::$name;
        }
    )* };
}

elements! {
    i8: ncclInt8,
    u8: ncclUint8,
    i32: ncclInt32,
    u32: ncclUint32,
    i64: ncclInt64,
    u64: ncclUint64,
    f16: ncclFloat16,
    bf16: ncclBfloat16,
    f32: ncclFloat32,
    f64: ncclFloat64,
    F8E4M3: ncclFloat8e4m3,
    F8E5M2: ncclFloat8e5m2,
}

//! What collectives move and how they reduce it.

use bytemuck::Pod;
use half::{bf16, f16};
use warpsmith_nccl_abi::{ncclDataType_t, ncclRedOp_t};

/// A type of elements that NCCL knows: integers of 8, 32 and 64 bits, `f16`, `bf16`, `f32`, `f64`.
#[diagnostic::on_unimplemented(
    message = "NCCL has no elements of type `{Self}`",
    note = "it has i8, u8, i32, u32, i64, u64, half::f16, half::bf16, f32 and f64; other data travels as u8"
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
}

/// What becomes of the contributions of all ranks.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Reduction {
    /// Their sum; integers wrap.
    Sum,
    /// Their product; integers wrap.
    Product,
    /// The greatest.
    Max,
    /// The least.
    Min,
    /// Their mean: the sum divided by the number of ranks, of integers rounded towards zero.
    Average,
}

impl Reduction {
    #[inline]
    pub(crate) fn raw(self) -> ncclRedOp_t {
        match self {
            Reduction::Sum => ncclRedOp_t::ncclSum,
            Reduction::Product => ncclRedOp_t::ncclProd,
            Reduction::Max => ncclRedOp_t::ncclMax,
            Reduction::Min => ncclRedOp_t::ncclMin,
            Reduction::Average => ncclRedOp_t::ncclAvg,
        }
    }
}

//! Vectors of two to four numbers, laid out as CUDA C++'s `float4` and its kin.
//!
//! Those of two and four components are aligned to their whole size, up to 16 bytes, so that one instruction can load
//! them ([`mem`](crate::mem)); those of three are not (12 bytes, aligned to 4, for [`Float3`]).
//!
//! ```
//! use warpsmith_device::vector::{Float3, Float4};
//! assert_eq!((size_of::<Float4>(), align_of::<Float4>()), (16, 16));
//! assert_eq!((size_of::<Float3>(), align_of::<Float3>()), (12, 4));
//! let v = Float4::new(1.0, 2.0, 3.0, 4.0);
//! assert_eq!(<[f32; 4]>::from(v)[2], v.z);
//! ```

use bytemuck::{Pod, Zeroable};

macro_rules! vectors {
    ($($name:ident, $ty:ty, $length:literal, $align:literal, $cuda:literal: $($field:ident)*;)*) => {$(
        #[doc = concat!("CUDA C++'s `", $cuda, "`.")]
        #[derive(Clone, Copy, Debug, Default, PartialEq, Zeroable, Pod)]
        #[repr(C, align($align))]
        pub struct $name {
            $(#[allow(missing_docs)] pub $field: $ty,)*
        }

        impl $name {
            /// A vector of these components.
            #[inline(always)]
            pub const fn new($($field: $ty),*) -> $name {
                $name { $($field),* }
            }

            /// A vector of equal components.
            #[inline(always)]
            pub const fn splat(value: $ty) -> $name {
                $name { $($field: value),* }
            }
        }

        impl From<[$ty; $length]> for $name {
            #[inline(always)]
            fn from([$($field),*]: [$ty; $length]) -> $name {
                $name { $($field),* }
            }
        }

        impl From<$name> for [$ty; $length] {
            #[inline(always)]
            fn from(vector: $name) -> [$ty; $length] {
                [$(vector.$field),*]
            }
        }
    )*};
}

vectors! {
    Char2, i8, 2, 2, "char2": x y;
    Char3, i8, 3, 1, "char3": x y z;
    Char4, i8, 4, 4, "char4": x y z w;
    UChar2, u8, 2, 2, "uchar2": x y;
    UChar3, u8, 3, 1, "uchar3": x y z;
    UChar4, u8, 4, 4, "uchar4": x y z w;
    Short2, i16, 2, 4, "short2": x y;
    Short3, i16, 3, 2, "short3": x y z;
    Short4, i16, 4, 8, "short4": x y z w;
    UShort2, u16, 2, 4, "ushort2": x y;
    UShort3, u16, 3, 2, "ushort3": x y z;
    UShort4, u16, 4, 8, "ushort4": x y z w;
    Int2, i32, 2, 8, "int2": x y;
    Int3, i32, 3, 4, "int3": x y z;
    Int4, i32, 4, 16, "int4": x y z w;
    UInt2, u32, 2, 8, "uint2": x y;
    UInt3, u32, 3, 4, "uint3": x y z;
    UInt4, u32, 4, 16, "uint4": x y z w;
    LongLong2, i64, 2, 16, "longlong2": x y;
    LongLong3, i64, 3, 8, "longlong3": x y z;
    LongLong4, i64, 4, 16, "longlong4": x y z w;
    ULongLong2, u64, 2, 16, "ulonglong2": x y;
    ULongLong3, u64, 3, 8, "ulonglong3": x y z;
    ULongLong4, u64, 4, 16, "ulonglong4": x y z w;
    Float2, f32, 2, 8, "float2": x y;
    Float3, f32, 3, 4, "float3": x y z;
    Float4, f32, 4, 16, "float4": x y z w;
    Double2, f64, 2, 16, "double2": x y;
    Double3, f64, 3, 8, "double3": x y z;
    Double4, f64, 4, 16, "double4": x y z w;
}

// covers: VEC-01, VEC-02
const _: () = {
    assert!(size_of::<Float3>() == 12 && align_of::<Float3>() == 4);
    assert!(size_of::<Double4>() == 32 && align_of::<Double4>() == 16);
    assert!(size_of::<Char3>() == 3 && align_of::<Char3>() == 1);
    assert!(size_of::<Short4>() == 8 && align_of::<Short4>() == 8);
    assert!(size_of::<LongLong2>() == 16 && align_of::<LongLong2>() == 16);
};

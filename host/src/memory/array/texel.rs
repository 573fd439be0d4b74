//! What arrays are made of.

use bytemuck::Pod;
use warpsmith_driver::raw::CUarray_format as Format;

mod sealed {
    use super::Format;

    /// A number that a texel has one, two or four of. Keeps [`Texel`](super::Texel) to this crate: its implementations promise that the
    /// driver's format has the type's bytes.
    pub trait Component {
        const FORMAT: Format;
    }

    pub trait Sealed {
        const FORMAT: Format;
        const COMPONENTS: u32;
    }
}

use sealed::Component;
pub(super) use sealed::Sealed;

/// A texel: an integer of 8, 16 or 32 bits, an `f16` ([`half::f16`]) or an `f32`, or an array of two or four of one of them (CUDA C++
/// Programming Guide, "Texture Memory"). There are none of three components, and none of 64 bits:
///
/// ```compile_fail,E0277
/// # use warpsmith_host::prelude::*;
/// # use warpsmith_host::Extent1;
/// # fn colours(stream: &Stream) -> Result<()> {
/// stream.array(&[[1.0_f32, 0.5, 0.25]], Extent1 { width: 1 })?;
/// # Ok(())
/// # }
/// ```
///
/// ```
/// # use warpsmith_host::prelude::*;
/// # use warpsmith_host::Extent1;
/// # fn main() -> Result<()> {
/// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
/// # let stream = gpu.stream()?;
/// let line = stream.array(&[[1.0_f32, 0.5, 0.25, 1.0]], Extent1 { width: 1 })?;
/// assert_eq!(line.len(), 1);
/// # Ok(())
/// # }
/// ```
// covers: TEX-03
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a texel",
    note = "texels are `u8`, `i8`, `u16`, `i16`, `u32`, `i32`, `f16`, `f32`, or arrays of two or four of one of them"
)]
pub trait Texel: Pod + Sealed {}

macro_rules! components {
    ($($type:ty: $format:ident),* $(,)?) => {
        $(
            impl Component for $type {
                const FORMAT: Format = Format::$format;
            }

            impl Sealed for $type {
                const FORMAT: Format = Format::$format;
                const COMPONENTS: u32 = 1;
            }

            impl Texel for $type {}
        )*
    };
}

components! {
    u8: CU_AD_FORMAT_UNSIGNED_INT8,
    u16: CU_AD_FORMAT_UNSIGNED_INT16,
    u32: CU_AD_FORMAT_UNSIGNED_INT32,
    i8: CU_AD_FORMAT_SIGNED_INT8,
    i16: CU_AD_FORMAT_SIGNED_INT16,
    i32: CU_AD_FORMAT_SIGNED_INT32,
    half::f16: CU_AD_FORMAT_HALF,
    f32: CU_AD_FORMAT_FLOAT,
}

macro_rules! vectors {
    ($($count:literal),*) => {
        $(
            impl<C: Component + Pod> Sealed for [C; $count] {
                const FORMAT: Format = C::FORMAT;
                const COMPONENTS: u32 = $count;
            }

            impl<C: Component + Pod> Texel for [C; $count] {}
        )*
    };
}

vectors!(2, 4);

//! What arrays are made of.

use bytemuck::Pod;
use warpsmith_device::texture::{Fetched, SurfaceTexel};
use warpsmith_driver::raw::{CUarray_format as Format, CUresourceViewFormat as ViewFormat};

mod sealed {
    use super::{Format, ViewFormat};

    /// Keeps [`Texel`](super::Texel) to this crate: its implementations promise that the driver's format has the type's bytes, and that fetches
    /// give what it says.
    pub trait Sealed {
        const FORMAT: Format;
        const COMPONENTS: u32;
        /// What a view takes texels for that takes them for such ones: of each format one, two and four components, in this order.
        const VIEW_FORMAT: ViewFormat = {
            let first = match Self::FORMAT {
                Format::CU_AD_FORMAT_UNSIGNED_INT8 => ViewFormat::CU_RES_VIEW_FORMAT_UINT_1X8,
                Format::CU_AD_FORMAT_SIGNED_INT8 => ViewFormat::CU_RES_VIEW_FORMAT_SINT_1X8,
                Format::CU_AD_FORMAT_UNSIGNED_INT16 => ViewFormat::CU_RES_VIEW_FORMAT_UINT_1X16,
                Format::CU_AD_FORMAT_SIGNED_INT16 => ViewFormat::CU_RES_VIEW_FORMAT_SINT_1X16,
                Format::CU_AD_FORMAT_UNSIGNED_INT32 => ViewFormat::CU_RES_VIEW_FORMAT_UINT_1X32,
                Format::CU_AD_FORMAT_SIGNED_INT32 => ViewFormat::CU_RES_VIEW_FORMAT_SINT_1X32,
                Format::CU_AD_FORMAT_HALF => ViewFormat::CU_RES_VIEW_FORMAT_FLOAT_1X16,
                Format::CU_AD_FORMAT_FLOAT => ViewFormat::CU_RES_VIEW_FORMAT_FLOAT_1X32,
                _ => panic!("there are no other texels"),
            };
            ViewFormat(first.0 + Self::COMPONENTS.ilog2())
        };
    }
}

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
pub trait Texel: Pod + Sealed + SurfaceTexel {
    /// What a fetch of a texture gives in a kernel: floats of `f16` and `f32`, integers of 32 bits of integers.
    type Fetched: Fetched;
}

/// A texel that a texture can read as floats from 0 to 1, or from -1 to 1 if it is signed: integers of 8 and 16 bits, and arrays of two or four
/// of one of them.
///
/// ```compile_fail,E0277
/// # use warpsmith_host::prelude::*;
/// # use warpsmith_host::{Array, Extent1, TextureOptions};
/// # fn words(array: &Array<u32, Extent1>) -> Result<()> {
/// array.normalised_texture(TextureOptions::default())?;
/// # Ok(())
/// # }
/// ```
///
/// ```
/// use warpsmith_host::prelude::*;
/// use warpsmith_host::{Extent1, Texture, TextureOptions};
///
/// # fn main() -> Result<()> {
/// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
/// # let stream = gpu.stream()?;
/// let bytes = stream.array(&[[0_u8, 255], [255, 0]], Extent1 { width: 2 })?;
/// let shares: Texture<[f32; 2], Extent1> = bytes.normalised_texture(TextureOptions::default())?;
/// # assert_ne!(shares.object(), 0);
/// # Ok(())
/// # }
/// ```
// covers: TEX-04
#[diagnostic::on_unimplemented(
    message = "texels of `{Self}` cannot be read as normalised floats",
    note = "integers of 8 and 16 bits can, and arrays of two or four of them; read others by `texture`"
)]
pub trait NormalisedTexel: Texel {
    /// What a fetch gives in a kernel: as many floats as the texel has components.
    type Share: Fetched;
}

macro_rules! texels {
    ($($component:ty: $format:ident, $fetched:ty $(, $share:ty)?;)*) => {$(
        texels! {
            @each $format, $component, 1, $fetched $(, $share)?;
            @each $format, [$component; 2], 2, [$fetched; 2] $(, [$share; 2])?;
            @each $format, [$component; 4], 4, [$fetched; 4] $(, [$share; 4])?;
        }
    )*};
    ($(@each $format:ident, $texel:ty, $components:literal, $fetched:ty $(, $share:ty)?;)*) => {$(
        impl Sealed for $texel {
            const FORMAT: Format = Format::$format;
            const COMPONENTS: u32 = $components;
        }

        impl Texel for $texel {
            type Fetched = $fetched;
        }

        $(
            impl NormalisedTexel for $texel {
                type Share = $share;
            }
        )?
    )*};
}

texels! {
    u8: CU_AD_FORMAT_UNSIGNED_INT8, u32, f32;
    u16: CU_AD_FORMAT_UNSIGNED_INT16, u32, f32;
    u32: CU_AD_FORMAT_UNSIGNED_INT32, u32;
    i8: CU_AD_FORMAT_SIGNED_INT8, i32, f32;
    i16: CU_AD_FORMAT_SIGNED_INT16, i32, f32;
    i32: CU_AD_FORMAT_SIGNED_INT32, i32;
    half::f16: CU_AD_FORMAT_HALF, f32;
    f32: CU_AD_FORMAT_FLOAT, f32;
}

//! Textures of compressed blocks, each of 4 x 4 pixels (CUDA driver API, `CU_RES_VIEW_FORMAT_UNSIGNED_BC1` and its like).

use warpsmith_device::texture::Fetched;
use warpsmith_driver::raw::CUresourceViewFormat as Format;

use super::Array;
use super::extents::{Extent2, Layered2, LevelExtents};
use super::mipmapped::MipmappedArray;
use super::objects::{MipmappedTexture, Texture};
use super::sampling::{LevelOptions, ReadMode, TextureOptions};
use super::texel::Texel;
use super::views::view_of;
use crate::error::{Code, Error, Result};

mod sealed {
    use super::Format;

    /// Keeps [`BlockFormat`](super::BlockFormat) to this crate: its implementations promise what fetches give.
    pub trait BlockFormat {
        const FORMAT: Format;
    }

    /// Keeps [`BlockExtents`](super::BlockExtents) to this crate.
    pub trait BlockExtents {
        /// The extents in pixels.
        fn in_pixels(self) -> Self;
    }
}

/// How a block of 4 x 4 pixels is compressed: one of [`Bc1`] to [`Bc7`].
pub trait BlockFormat: sealed::BlockFormat {
    /// A block, as a texel of the array: two or four words.
    type Block: Texel;
    /// What a fetch gives in a kernel.
    type Fetched: Fetched;
}

/// The extents of arrays of blocks: [`Extent2`] and [`Layered2`].
pub trait BlockExtents: LevelExtents + sealed::BlockExtents {}

macro_rules! block_formats {
    ($($(#[doc = $text:literal])* $name:ident: $format:ident, $words:literal, $fetched:ty;)*) => {$(
        $(#[doc = $text])*
        #[derive(Clone, Copy, Debug)]
        pub struct $name;

        impl sealed::BlockFormat for $name {
            const FORMAT: Format = Format::$format;
        }

        impl BlockFormat for $name {
            type Block = [u32; $words];
            type Fetched = $fetched;
        }
    )*};
}
block_formats! {
    /// BC1 (DXT1): red, green and blue from 0 to 1, alpha 0 or 1; 8 bytes.
    Bc1: CU_RES_VIEW_FORMAT_UNSIGNED_BC1, 2, [f32; 4];
    /// BC2 (DXT3): the same with an alpha of 4 bits; 16 bytes.
    Bc2: CU_RES_VIEW_FORMAT_UNSIGNED_BC2, 4, [f32; 4];
    /// BC3 (DXT5): the same with an alpha that is interpolated; 16 bytes.
    Bc3: CU_RES_VIEW_FORMAT_UNSIGNED_BC3, 4, [f32; 4];
    /// BC4: one component from 0 to 1; 8 bytes.
    Bc4: CU_RES_VIEW_FORMAT_UNSIGNED_BC4, 2, f32;
    /// BC4, signed: one component from -1 to 1; 8 bytes.
    Bc4Signed: CU_RES_VIEW_FORMAT_SIGNED_BC4, 2, f32;
    /// BC5: two components from 0 to 1; 16 bytes.
    Bc5: CU_RES_VIEW_FORMAT_UNSIGNED_BC5, 4, [f32; 2];
    /// BC5, signed: two components from -1 to 1; 16 bytes.
    Bc5Signed: CU_RES_VIEW_FORMAT_SIGNED_BC5, 4, [f32; 2];
    /// BC6H: red, green and blue as floats of 16 bits that are not negative, alpha 1; 16 bytes.
    Bc6h: CU_RES_VIEW_FORMAT_UNSIGNED_BC6H, 4, [f32; 4];
    /// BC6H, signed: red, green and blue as floats of 16 bits, alpha 1; 16 bytes.
    Bc6hSigned: CU_RES_VIEW_FORMAT_SIGNED_BC6H, 4, [f32; 4];
    /// BC7: red, green, blue and alpha from 0 to 1; 16 bytes.
    Bc7: CU_RES_VIEW_FORMAT_UNSIGNED_BC7, 4, [f32; 4];
}

/// Pixels of a block along x and along y.
const SIDE: usize = 4;

impl sealed::BlockExtents for Extent2 {
    fn in_pixels(self) -> Extent2 {
        Extent2 {
            width: self.width * SIDE,
            height: self.height * SIDE,
        }
    }
}

impl sealed::BlockExtents for Layered2 {
    fn in_pixels(self) -> Layered2 {
        Layered2 {
            width: self.width * SIDE,
            height: self.height * SIDE,
            ..self
        }
    }
}

impl BlockExtents for Extent2 {}
impl BlockExtents for Layered2 {}

/// What to do where the driver has no such blocks.
#[cold]
fn not_decompressed(error: Error) -> Error {
    match error.code() {
        Some(Code::NOT_SUPPORTED) => error.with_hint(|| {
            "the simulator decompresses no blocks: run this on a GPU, or make the array of pixels that the host has decompressed".into()
        }),
        _ => error,
    }
}

impl<T: Texel, D: BlockExtents> Array<T, D> {
    /// A texture of the pixels of an array of compressed blocks, which is four times as wide and as high as the array. Its coordinates count
    /// pixels, and a linear filter weighs pixels.
    ///
    /// The simulator decompresses no blocks: it answers [`Code::NOT_SUPPORTED`].
    ///
    /// ```
    /// use warpsmith_host::prelude::*;
    /// use warpsmith_host::compressed::Bc1;
    /// use warpsmith_host::{Array, Extent2, Texture, TextureOptions};
    ///
    /// /// The pixels of blocks of 8 bytes, as an image file has them.
    /// fn pixels(blocks: &Array<[u32; 2], Extent2>) -> Result<Texture<[f32; 4], Extent2>> {
    ///     blocks.block_texture::<Bc1>(TextureOptions::default())
    /// }
    /// ```
    ///
    /// A format has blocks of one size:
    ///
    /// ```compile_fail,E0271
    /// # use warpsmith_host::prelude::*;
    /// # use warpsmith_host::compressed::Bc7;
    /// # use warpsmith_host::{Array, Extent2, TextureOptions};
    /// # fn pixels(blocks: &Array<[u32; 2], Extent2>) -> Result<()> {
    /// blocks.block_texture::<Bc7>(TextureOptions::default())?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Coordinates in pixels are to wrap; or the device cannot read such blocks.
    pub fn block_texture<B: BlockFormat<Block = T>>(
        &self,
        options: TextureOptions,
    ) -> Result<Texture<B::Fetched, D>> {
        let pixels = self.extents().in_pixels();
        let view = view_of(B::FORMAT, pixels, 1);
        // Pixels are floats, whatever the blocks are made of.
        self.texture_seen::<f32, _>(options, ReadMode::Element, Some(view), pixels)
            .map_err(not_decompressed)
    }
}

impl<T: Texel, D: BlockExtents> MipmappedArray<T, D> {
    /// As [`Array::block_texture`], of all levels.
    ///
    /// # Errors
    ///
    /// As for [`Array::block_texture`], and as for [`texture`](Self::texture).
    pub fn block_texture<B: BlockFormat<Block = T>>(
        &self,
        options: TextureOptions,
        levels: LevelOptions,
    ) -> Result<MipmappedTexture<B::Fetched, D>> {
        let pixels = self.extents().in_pixels();
        let view = view_of(B::FORMAT, pixels, self.level_count());
        self.texture_seen::<f32, _>((options, levels), ReadMode::Element, Some(view), pixels)
            .map_err(not_decompressed)
    }
}

//! Textures and surfaces of arrays, as kernels take them.

use std::marker::PhantomData;
use std::sync::Arc;

use warpsmith_device::texture::Fetched;
use warpsmith_driver::raw;

use super::Array;
use super::extents::{ArrayExtents, LevelExtents};
use super::mipmapped::MipmappedArray;
use super::sampling::{Coordinates, LevelOptions, ReadMode, TextureOptions};
use super::texel::{NormalisedTexel, Texel};
use super::texture_objects::{Reading, ResourceView, Texels};
use crate::error::{Code, Error, Result};
use crate::memory::allocation::Allocation;
use crate::memory::view::RawView;
use crate::order::access::ViewScope;

/// A way to read an array in kernels (CUDA C++ Programming Guide, "Texture Object API"), whose fetches give an `F`.
///
/// A kernel takes `&Texture<F, Extent2>` as its `Texture2d<F>`, whatever the array's texels are, and others likewise
/// ([`warpsmith_device::texture`]); foreign PTX takes its number, for the marker
/// [`TextureObject`](warpsmith_device::launch::TextureObject). It keeps the array's memory, and the launch counts as a read of the array and is
/// put in order as such. A launch that is passed a surface of the array, too, is refused.
///
/// ```
/// use warpsmith_host::prelude::*;
/// use warpsmith_host::{Extent2, Filter, Texture, TextureOptions};
///
/// # fn main() -> Result<()> {
/// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
/// let stream = gpu.stream()?;
/// let image = stream.array(&[0.0_f32, 1.0, 2.0, 3.0], Extent2 { width: 2, height: 2 })?;
/// let smooth: Texture<f32, Extent2> = image.texture(TextureOptions { filter: Filter::Linear, ..Default::default() })?;
/// assert_ne!(smooth.object(), 0);
/// drop(image); // The texture keeps the texels.
/// # Ok(())
/// # }
/// ```
pub struct Texture<F: Fetched, D: ArrayExtents> {
    used: Used,
    object: u64,
    extents: D,
    of: PhantomData<F>,
}

/// A way to read a mipmapped array in kernels, whose fetches give an `F`.
///
/// A kernel takes `&MipmappedTexture<F, Extent2>` as its
/// [`MipmappedTexture<F, Dim2>`](warpsmith_device::texture::MipmappedTexture), and others likewise. It keeps the memory, and the launch counts as a
/// read of all levels. A launch that is passed a surface of one of them, too, is refused.
// covers: TEX-12
pub struct MipmappedTexture<F: Fetched, D: LevelExtents> {
    used: Used,
    object: u64,
    extents: D,
    of: PhantomData<F>,
}

/// The part of an array's allocation that an object uses.
struct Used {
    allocation: Arc<Allocation>,
    offset: u64,
    bytes: usize,
}

/// A way to read and write an array in kernels (CUDA C++ Programming Guide, "Surface Object API").
///
/// A kernel takes `&mut Surface<T, Extent2>` as its `Surface2d<T>`, and others likewise ([`warpsmith_device::texture`]); foreign PTX takes its
/// number, for the marker [`SurfaceObject`](warpsmith_device::launch::SurfaceObject), and numbers x in bytes. It keeps the array's memory, and
/// the launch counts as a write of the array and is put in order as such. What is written is seen by fetches of later launches, not of the
/// same one: a launch that is passed a texture or a second surface of the array is refused.
///
/// ```
/// use warpsmith_host::prelude::*;
/// use warpsmith_host::Extent1;
///
/// # fn main() -> Result<()> {
/// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
/// let stream = gpu.stream()?;
/// let mut line = stream.surface_array(&[1_u32, 2, 3], Extent1 { width: 3 })?;
/// let surface = line.surface()?;
/// assert_ne!(surface.object(), 0);
/// // An array that was made without a word of it has none.
/// assert!(stream.array(&[1_u32], Extent1 { width: 1 })?.surface().is_err());
/// # Ok(())
/// # }
/// ```
// covers: SURF-03
pub struct Surface<T: Texel, D: ArrayExtents> {
    used: Used,
    object: u64,
    extents: D,
    of: PhantomData<T>,
}

impl<T: Texel, D: ArrayExtents> Array<T, D> {
    /// A texture of the array, which gives texels as they are: integers as integers, `f16` as `f32`. Textures with the same options are one
    /// object.
    ///
    /// # Errors
    ///
    /// The options contradict each other or the texels: coordinates in texels that wrap, integers that are to be filtered.
    pub fn texture(&self, options: TextureOptions) -> Result<Texture<T::Fetched, D>> {
        self.texture_of(options, ReadMode::Element)
    }

    /// A texture of the array, which gives integers as floats: unsigned ones from 0 to 1, signed ones from -1 to 1.
    ///
    /// # Errors
    ///
    /// Coordinates in texels are to wrap.
    pub fn normalised_texture(&self, options: TextureOptions) -> Result<Texture<T::Share, D>>
    where
        T: NormalisedTexel,
    {
        self.texture_of(options, ReadMode::NormalisedFloat)
    }

    /// `F` is what fetches give of such texels in this mode.
    pub(super) fn texture_of<F: Fetched>(
        &self,
        options: TextureOptions,
        read: ReadMode,
    ) -> Result<Texture<F, D>> {
        self.texture_seen::<T, F>(options, read, None, self.extents)
    }

    /// As [`texture_of`](Self::texture_of), of what a view takes the texels for: texels that are sampled as `S`, of such extents.
    pub(super) fn texture_seen<S: Texel, F: Fetched>(
        &self,
        options: TextureOptions,
        read: ReadMode,
        view: Option<ResourceView>,
        extents: D,
    ) -> Result<Texture<F, D>> {
        let options = directed::<D>(options);
        let sampling = options.describe::<S>(read)?;
        let reading = Reading {
            texels: Texels::Array(self.texels),
            options,
            levels: LevelOptions::default(),
            read,
            view,
        };
        let gpu = &self.allocation.gpu;
        // SAFETY: the texels are the block's array or a level of it: it is made so, and stays so.
        let object = unsafe { self.block.texture(gpu, reading, &sampling) }?;
        Ok(Texture {
            used: self.used(),
            object,
            extents,
            of: PhantomData,
        })
    }

    fn used(&self) -> Used {
        Used {
            allocation: self.allocation.clone(),
            offset: self.offset,
            bytes: self.bytes(),
        }
    }

    /// The surface of the array.
    ///
    /// # Errors
    ///
    /// The array was not made by [`Stream::surface_array`](crate::Stream::surface_array).
    pub fn surface(&mut self) -> Result<Surface<T, D>> {
        if !self.for_surfaces {
            return Err(Error::misuse(
                "cuSurfObjectCreate",
                Code::INVALID_VALUE,
                "the array was not made for surfaces",
                "make it by `stream.surface_array` or `stream.surface_array_zeroed`",
            ));
        }
        // SAFETY: the texels are the block's array or a level of it: it is made so, and stays so.
        let object = unsafe { self.block.surface(&self.allocation.gpu, self.texels) }?;
        Ok(Surface {
            used: self.used(),
            object,
            extents: self.extents,
            of: PhantomData,
        })
    }
}

impl<D: ArrayExtents> Array<[u8; 4], D> {
    /// A texture of the array that takes the first three components for sRGB values, and gives what they are in linear light, from 0 to 1;
    /// the fourth is a share, as of [`normalised_texture`](Self::normalised_texture). A filter weighs what the texels are in linear light.
    ///
    /// ```
    /// use warpsmith_host::prelude::*;
    /// use warpsmith_host::{Extent1, Filter, TextureOptions};
    ///
    /// # fn main() -> Result<()> {
    /// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
    /// let stream = gpu.stream()?;
    /// let colours = stream.array(&[[188_u8, 0, 0, 255], [0; 4]], Extent1 { width: 2 })?;
    /// let light = colours.srgb_texture(TextureOptions { filter: Filter::Linear, ..Default::default() })?;
    /// assert_ne!(light.object(), 0);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Coordinates in texels are to wrap.
    // covers: TEX-12
    pub fn srgb_texture(&self, options: TextureOptions) -> Result<Texture<[f32; 4], D>> {
        self.texture_of(options, ReadMode::LinearLight)
    }
}

impl<T: Texel, D: LevelExtents> MipmappedArray<T, D> {
    /// A texture of all levels, which gives texels as they are: integers as integers, `f16` as `f32`. Textures with the same options are one
    /// object.
    ///
    /// # Errors
    ///
    /// The options contradict each other or the texels: coordinates in texels, integers that are to be filtered, bounds of which the least is
    /// the greater one.
    pub fn texture(
        &self,
        options: TextureOptions,
        levels: LevelOptions,
    ) -> Result<MipmappedTexture<T::Fetched, D>> {
        self.texture_of(options, levels, ReadMode::Element)
    }

    /// A texture of all levels, which gives integers as floats: unsigned ones from 0 to 1, signed ones from -1 to 1.
    ///
    /// # Errors
    ///
    /// As for [`texture`](Self::texture); but integers are filtered.
    pub fn normalised_texture(
        &self,
        options: TextureOptions,
        levels: LevelOptions,
    ) -> Result<MipmappedTexture<T::Share, D>>
    where
        T: NormalisedTexel,
    {
        self.texture_of(options, levels, ReadMode::NormalisedFloat)
    }

    /// `F` is what fetches give of such texels in this mode.
    fn texture_of<F: Fetched>(
        &self,
        options: TextureOptions,
        levels: LevelOptions,
        read: ReadMode,
    ) -> Result<MipmappedTexture<F, D>> {
        self.texture_seen::<T, F>((options, levels), read, None, self.extents())
    }

    /// As [`texture_of`](Self::texture_of), of what a view takes the texels for: texels that are sampled as `S`, of such extents.
    pub(super) fn texture_seen<S: Texel, F: Fetched>(
        &self,
        (options, levels): (TextureOptions, LevelOptions),
        read: ReadMode,
        view: Option<ResourceView>,
        extents: D,
    ) -> Result<MipmappedTexture<F, D>> {
        let options = directed::<D>(options);
        // Of a view of some levels the driver leaves out the others by itself.
        let sampling = levels.describe::<S>(&options, read, self.level_count())?;
        let reading = Reading {
            texels: Texels::Mipmapped(self.texels),
            options,
            levels,
            read,
            view,
        };
        let gpu = &self.allocation.gpu;
        // SAFETY: the texels are the block's array: it is made so, and stays so.
        let object = unsafe { self.block.texture(gpu, reading, &sampling) }?;
        Ok(MipmappedTexture {
            used: Used {
                allocation: self.allocation.clone(),
                offset: 0,
                bytes: self.block.bytes,
            },
            object,
            extents,
            of: PhantomData,
        })
    }
}

/// The options of a texture of these extents: a direction counts no texels, whatever they say.
fn directed<D: ArrayExtents>(options: TextureOptions) -> TextureOptions {
    match D::FLAGS & raw::CUDA_ARRAY3D_CUBEMAP {
        0 => options,
        _ => TextureOptions {
            coordinates: Coordinates::Normalised,
            ..options
        },
    }
}

macro_rules! objects {
    ($($object:ident<$texel:ident, $extents:ident>),*) => {$(
        impl<T: $texel, D: $extents> $object<T, D> {
            /// The object's number, for foreign code. It is valid as long as this lives.
            pub fn object(&self) -> u64 {
                self.object
            }

            /// The array's extents; those of the first level where there are several.
            pub fn extents(&self) -> D {
                self.extents
            }

            /// What a kernel gets of it beside the number.
            pub(crate) fn extents_in_kernels(&self) -> [u32; 3] {
                self.extents.in_kernels()
            }

            /// The array as what a launch uses.
            pub(crate) fn view(&self) -> RawView<'_> {
                RawView {
                    allocation: Some(&self.used.allocation),
                    address: self.used.allocation.base() + self.used.offset,
                    bytes: self.used.bytes,
                    // Of bytes: a texture does not know its texels.
                    len: self.used.bytes,
                    scope: ViewScope::Shared,
peer: None,
                }
            }
        }

        impl<T: $texel, D: $extents> std::fmt::Debug for $object<T, D> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(
                    f,
                    concat!(stringify!($object), "<{}>[{:?}]"),
                    std::any::type_name::<T>(),
                    self.extents
                )
            }
        }
    )*};
}

objects!(
    Texture<Fetched, ArrayExtents>,
    MipmappedTexture<Fetched, LevelExtents>,
    Surface<Texel, ArrayExtents>
);

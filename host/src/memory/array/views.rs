//! Textures that take an array's texels for others of as many bytes (CUDA driver API, `CUDA_RESOURCE_VIEW_DESC`).

use std::marker::PhantomData;
use std::ops::{Bound, RangeBounds};

use warpsmith_device::texture::Fetched;
use warpsmith_driver::raw::{self, CUresourceViewFormat};

use super::Array;
use super::extents::{ArrayExtents, LayerExtents, LevelExtents};
use super::mipmapped::MipmappedArray;
use super::objects::{MipmappedTexture, Texture};
use super::sampling::{LevelOptions, ReadMode, TextureOptions};
use super::texel::{NormalisedTexel, Texel};
use super::texture_objects::{Part, ResourceView};
use crate::error::{Code, Error, LimitError, Result};

/// An [`Array`] or a [`MipmappedArray`] whose texels are taken for a `U`: the same bytes, read in another way. It is there to make textures, which
/// keep the array as others do; what copies and surfaces see are the array's own texels.
///
/// ```
/// use warpsmith_host::prelude::*;
/// use warpsmith_host::{Extent1, Texture, TextureOptions};
///
/// # fn main() -> Result<()> {
/// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
/// let stream = gpu.stream()?;
/// // Colours that a kernel packed into words.
/// let words = stream.array(&[0xff00_0080_u32], Extent1 { width: 1 })?;
/// let colours: Texture<[f32; 4], Extent1> =
///     words.view_as::<[u8; 4]>().normalised_texture(TextureOptions::default())?;
/// # assert_ne!(colours.object(), 0);
/// # Ok(())
/// # }
/// ```
///
/// The texels have as many bytes as the array's:
///
/// ```compile_fail,E0080
/// # use warpsmith_host::prelude::*;
/// # use warpsmith_host::{Array, Extent1};
/// # pub fn wider(array: &Array<u32, Extent1>) {
/// array.view_as::<[u8; 2]>();
/// # }
/// # fn main() { std::hint::black_box(wider as fn(&Array<u32, Extent1>)); }
/// ```
// covers: TEX-01
pub struct TexelView<'a, U: Texel, A> {
    array: &'a A,
    /// Which layers and levels; `None`: all.
    layers: Option<Part>,
    levels: Option<Part>,
    of: PhantomData<U>,
}

impl<'a, U: Texel, A> TexelView<'a, U, A> {
    /// Of all.
    fn of(array: &'a A) -> Self {
        TexelView {
            array,
            layers: None,
            levels: None,
            of: PhantomData,
        }
    }
}

/// The call that makes a texture.
const CALL: &str = "cuTexObjectCreate";

/// How an array of these extents and so many levels is seen in another format.
pub(super) fn view_of<D: ArrayExtents>(
    format: CUresourceViewFormat,
    extents: D,
    levels: usize,
) -> ResourceView {
    let extents = extents.driver();
    let layers = match D::FLAGS & raw::CUDA_ARRAY3D_LAYERED {
        0 => 1,
        // The depth, which 32 bits count on each device.
        _ => extents[2] as u32,
    };
    ResourceView {
        format,
        extents,
        // At most 32, as an extent has so many halves.
        levels: Part::all(levels as u32),
        layers: Part::all(layers),
    }
}

/// Fails to compile for texels of different sizes.
const fn assert_same_size<T, U>() {
    assert!(
        size_of::<T>() == size_of::<U>(),
        "a view takes texels for others of as many bytes"
    );
}

impl<T: Texel, D: ArrayExtents> Array<T, D> {
    /// The array with its texels taken for a `U`, which has as many bytes.
    pub fn view_as<U: Texel>(&self) -> TexelView<'_, U, Self> {
        const { assert_same_size::<T, U>() };
        TexelView::of(self)
    }
}

impl<T: Texel, D: LevelExtents> MipmappedArray<T, D> {
    /// The array with the texels of all levels taken for a `U`, which has as many bytes. A `T` is taken for itself where
    /// [some levels](TexelView::levels) are meant.
    pub fn view_as<U: Texel>(&self) -> TexelView<'_, U, Self> {
        const { assert_same_size::<T, U>() };
        TexelView::of(self)
    }
}

impl<U: Texel, T: Texel, D: LayerExtents> TexelView<'_, U, Array<T, D>> {
    /// These layers alone: the first of them is layer 0 of the texture.
    ///
    /// ```
    /// use warpsmith_host::prelude::*;
    /// use warpsmith_host::{Layered2, TextureOptions};
    ///
    /// # fn main() -> Result<()> {
    /// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
    /// let extents = Layered2 { width: 8, height: 8, layers: 10 };
    /// let images = gpu.stream()?.array_zeroed::<f32, _>(extents)?;
    /// let texture = images.view_as::<f32>().layers(3..5)?.texture(TextureOptions::default())?;
    /// assert_eq!(texture.extents().layers, 2);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// There are none, or the array has not so many.
    // covers: TEX-01
    pub fn layers(self, layers: impl RangeBounds<usize>) -> Result<Self> {
        let count = self.array.extents().layer_count();
        let layers = part_of("layers", layers, count)?;
        Ok(TexelView {
            layers: Some(layers),
            ..self
        })
    }
}

impl<U: Texel, T: Texel, D: LevelExtents + LayerExtents> TexelView<'_, U, MipmappedArray<T, D>> {
    /// These layers of each level alone: the first of them is layer 0 of the texture.
    ///
    /// # Errors
    ///
    /// There are none, or the array has not so many.
    pub fn layers(self, layers: impl RangeBounds<usize>) -> Result<Self> {
        let count = self.array.extents().layer_count();
        let layers = part_of("layers", layers, count)?;
        Ok(TexelView {
            layers: Some(layers),
            ..self
        })
    }
}

impl<U: Texel, T: Texel, D: LevelExtents> TexelView<'_, U, MipmappedArray<T, D>> {
    /// These levels alone: the first of them is level 0 of the texture, whose extents are that level's.
    ///
    /// ```
    /// use warpsmith_host::prelude::*;
    /// use warpsmith_host::{Coordinates, Extent2, LevelOptions, TextureOptions};
    ///
    /// # fn main() -> Result<()> {
    /// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
    /// let extents = Extent2 { width: 8, height: 8 };
    /// let image = gpu.stream()?.mipmapped_array_zeroed::<f32, _>(extents, 4)?;
    /// let options = TextureOptions { coordinates: Coordinates::Normalised, ..Default::default() };
    /// let coarse = image.view_as::<f32>().levels(1..)?.texture(options, LevelOptions::default())?;
    /// assert_eq!(coarse.extents().width, 4);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// There are none, or the array has not so many.
    // covers: TEX-01
    pub fn levels(self, levels: impl RangeBounds<usize>) -> Result<Self> {
        let levels = part_of("levels", levels, self.array.level_count())?;
        Ok(TexelView {
            levels: Some(levels),
            ..self
        })
    }
}

/// # Errors
///
/// The range is empty, or ends behind `count`.
fn part_of(what: &'static str, range: impl RangeBounds<usize>, count: usize) -> Result<Part> {
    let first = match range.start_bound() {
        Bound::Included(&first) => first,
        Bound::Excluded(&before) => before.saturating_add(1),
        Bound::Unbounded => 0,
    };
    let end = match range.end_bound() {
        Bound::Included(&last) => last.saturating_add(1),
        Bound::Excluded(&end) => end,
        Bound::Unbounded => count,
    };
    if first >= end {
        return Err(Error::misuse(
            CALL,
            Code::INVALID_VALUE,
            format!("a view of no {what}: {first}..{end} of {count}"),
            "give a range with at least one",
        ));
    }
    if end > count {
        return Err(Error::Limit(Box::new(LimitError {
            call: CALL,
            code: Code::INVALID_VALUE,
            subject: format!("a view of the {what} {first}..{end}"),
            what: "the range's end",
            value: end as u64,
            limit: count as u64,
            hint: format!("the array has the {what} 0..{count}"),
        })));
    }
    Ok(Part {
        // An array has fewer layers and levels than 32 bits count (`descriptor`).
        first: first as u32,
        count: (end - first) as u32,
    })
}

impl<U: Texel, T: Texel, D: ArrayExtents> TexelView<'_, U, Array<T, D>> {
    /// A texture of what is seen, as [`Array::texture`].
    ///
    /// # Errors
    ///
    /// As for [`Array::texture`], of the texels that are seen.
    pub fn texture(&self, options: TextureOptions) -> Result<Texture<U::Fetched, D>> {
        self.read_by(options, ReadMode::Element)
    }

    /// A texture of what is seen, which gives integers as floats, as [`Array::normalised_texture`].
    ///
    /// # Errors
    ///
    /// As for [`Array::normalised_texture`].
    pub fn normalised_texture(&self, options: TextureOptions) -> Result<Texture<U::Share, D>>
    where
        U: NormalisedTexel,
    {
        self.read_by(options, ReadMode::NormalisedFloat)
    }

    fn read_by<F: Fetched>(
        &self,
        options: TextureOptions,
        read: ReadMode,
    ) -> Result<Texture<F, D>> {
        let extents = self.array.extents();
        let mut view = view_of(U::VIEW_FORMAT, extents, 1);
        view.layers = self.layers.unwrap_or(view.layers);
        let extents = extents.with_layers(view.layers.count as usize);
        (self.array).texture_seen::<U, F>(options, read, Some(view), extents)
    }
}

impl<T: Texel, D: ArrayExtents> TexelView<'_, [u8; 4], Array<T, D>> {
    /// A texture of what is seen, which takes the first three components for sRGB values, as [`Array::srgb_texture`].
    ///
    /// # Errors
    ///
    /// As for [`Array::srgb_texture`].
    pub fn srgb_texture(&self, options: TextureOptions) -> Result<Texture<[f32; 4], D>> {
        self.read_by(options, ReadMode::LinearLight)
    }
}

impl<U: Texel, T: Texel, D: LevelExtents> TexelView<'_, U, MipmappedArray<T, D>> {
    /// A texture of what is seen in all levels, as [`MipmappedArray::texture`].
    ///
    /// # Errors
    ///
    /// As for [`MipmappedArray::texture`], of the texels that are seen.
    pub fn texture(
        &self,
        options: TextureOptions,
        levels: LevelOptions,
    ) -> Result<MipmappedTexture<U::Fetched, D>> {
        self.read_by((options, levels), ReadMode::Element)
    }

    /// A texture of what is seen in all levels, which gives integers as floats, as [`MipmappedArray::normalised_texture`].
    ///
    /// # Errors
    ///
    /// As for [`MipmappedArray::normalised_texture`].
    pub fn normalised_texture(
        &self,
        options: TextureOptions,
        levels: LevelOptions,
    ) -> Result<MipmappedTexture<U::Share, D>>
    where
        U: NormalisedTexel,
    {
        self.read_by((options, levels), ReadMode::NormalisedFloat)
    }

    fn read_by<F: Fetched>(
        &self,
        options: (TextureOptions, LevelOptions),
        read: ReadMode,
    ) -> Result<MipmappedTexture<F, D>> {
        let extents = self.array.extents();
        let mut view = view_of(U::VIEW_FORMAT, extents, self.array.level_count());
        view.layers = self.layers.unwrap_or(view.layers);
        view.levels = self.levels.unwrap_or(view.levels);
        let extents = extents.level(view.levels.first);
        let extents = extents.with_layers(view.layers.count as usize);
        (self.array).texture_seen::<U, F>(options, read, Some(view), extents)
    }
}

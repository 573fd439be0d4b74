//! Textures: read-only, fetched from by coordinates.

use core::marker::PhantomData;

use super::fetch::{Lane, Place};
use super::fetched::{Fetched, sealed::Sealed};
use super::geometry::{Dim1, Dim2, Dim3, Geometry, Layered1, Layered2, Linear, sealed::Kind};
use super::levels::Mipmapped;

/// A texture, whose fetches give a `T`. Written as a parameter by one of its aliases: `image: Texture2d<f32>`. See
/// [the module](crate::texture).
///
/// Nobody writes the texels while the kernel runs. A fetch is never out of bounds: what coordinates outside mean, whether they count texels
/// or extents, and whether the neighbours are filtered is for the host to say, which makes the texture (`TextureOptions` of the host
/// library). With coordinates in texels, texel `i` extends from `i` to `i + 1`, so its middle is at `i + 0.5`.
///
/// ```
/// use warpsmith_device::prelude::*;
///
/// /// Twice as large.
/// #[kernel]
/// pub fn enlarge(image: Texture2d<[f32; 4]>, mut out: MatrixOut<[f32; 4]>) {
///     let (row, column) = (out.row(), out.column());
///     if let Some(out) = out.mine() {
///         *out = image.fetch((column as f32 + 0.5) * 0.5, (row as f32 + 0.5) * 0.5);
///     }
/// }
/// ```
///
/// It has no `AfterPrimary`, so it is no parameter of a kernel that begins early:
///
/// ```compile_fail,E0277
/// use warpsmith_device::dependent::AfterPrimary;
/// use warpsmith_device::prelude::*;
///
/// #[kernel]
/// pub fn early(image: AfterPrimary<Texture2d<f32>>) {}
/// ```
pub struct Texture<'a, T: Fetched, D: Geometry> {
    object: u64,
    pub(super) extents: [u32; 3],
    texels: PhantomData<(&'a [T], D)>,
}

/// A line of texels; see [`Texture`].
pub type Texture1d<'a, T> = Texture<'a, T, Dim1>;
/// Rows of texels; see [`Texture`].
pub type Texture2d<'a, T> = Texture<'a, T, Dim2>;
/// A volume of texels; see [`Texture`].
pub type Texture3d<'a, T> = Texture<'a, T, Dim3>;
/// Lines of texels, each a layer by itself; see [`Texture`].
pub type LayeredTexture1d<'a, T> = Texture<'a, T, Layered1>;
/// Rectangles of texels, each a layer by itself; see [`Texture`].
pub type LayeredTexture2d<'a, T> = Texture<'a, T, Layered2>;
/// The elements of a buffer, read by texture fetches; see [`Texture`].
pub type LinearTexture<'a, T> = Texture<'a, T, Linear>;

impl<T: Fetched, D: Geometry> Clone for Texture<'_, T, D> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: Fetched, D: Geometry> Copy for Texture<'_, T, D> {}

impl<T: Fetched, D: Geometry> Texture<'_, T, D> {
    /// # Safety
    /// `object` is a texture object of this geometry and of these extents, whose fetches give components of `T`; it lives, and nobody
    /// writes its texels, as long as the kernel runs.
    #[inline(always)]
    pub(crate) unsafe fn from_raw_parts(object: u64, extents: [u32; 3]) -> Self {
        Texture {
            object,
            extents,
            texels: PhantomData,
        }
    }

    /// The object's number (`cudaTextureObject_t`), for inline PTX with other instructions. It is valid as long as the kernel runs.
    #[inline(always)]
    pub fn object(&self) -> u64 {
        self.object
    }

    /// The width in texels; of the first level where there are several.
    #[inline(always)]
    pub fn width(&self) -> u32 {
        self.extents[0]
    }

    /// What a fetch gives there.
    #[inline(always)]
    pub(super) fn fetch_place(&self, at: [f32; 3], layer: u32) -> T {
        const {
            assert!(!matches!(D::KIND, Kind::Linear), "an index is no place");
        }
        // SAFETY: the object is a texture of this geometry, which is not that of linear memory, and of such components (`from_raw_parts`).
        T::of(unsafe { <T as Sealed>::Lane::fetch(self.object, D::KIND, place(at, layer)) })
    }
}

/// A place by its coordinates.
#[inline(always)]
pub(super) fn place([x, y, z]: [f32; 3], layer: u32) -> Place {
    [x.to_bits(), y.to_bits(), z.to_bits(), layer]
}

macro_rules! extents {
    ($($geometry:ident: $($name:ident[$index:literal] $text:literal),*;)*) => {
        extents! { @each $($geometry: $($name[$index] $text),*;)* }
        extents! { @each $(Mipmapped<$geometry>: $($name[$index] $text),*;)* }
    };
    (@each $($geometry:ty: $($name:ident[$index:literal] $text:literal),*;)*) => {$(
        impl<T: Fetched> Texture<'_, T, $geometry> {
            $(
                #[doc = $text]
                #[inline(always)]
                pub fn $name(&self) -> u32 {
                    self.extents[$index]
                }
            )*
        }
    )*};
}
extents! {
    Dim2: height[1] "The height in texels.";
    Dim3: height[1] "The height in texels.", depth[2] "The depth in texels.";
    Layered1: layers[1] "The number of layers.";
    Layered2: height[1] "The height in texels.", layers[2] "The number of layers.";
}

impl<T: Fetched> Texture<'_, T, Dim1> {
    /// Fetches at x.
    ///
    /// Becomes `tex.1d.v4.f32.f32`, `.u32.f32` or `.s32.f32`. Any arch.
    ///
    /// ```
    /// use warpsmith_device::prelude::*;
    ///
    /// /// A function, by a table of its values (linear filtering, coordinates from 0 to 1).
    /// #[kernel]
    /// pub fn look_up(table: Texture1d<f32>, x: &[f32], mut y: PerThread<[f32]>) {
    ///     if let (Some(&x), Some(y)) = (x.get(thread::index()), y.mine()) {
    ///         *y = table.fetch(x);
    ///     }
    /// }
    /// ```
    #[inline(always)]
    pub fn fetch(&self, x: f32) -> T {
        self.fetch_place([x, 0.0, 0.0], 0)
    }
}

impl<T: Fetched> Texture<'_, T, Dim2> {
    /// Fetches at x and y.
    ///
    /// Becomes `tex.2d.v4.f32.f32`, `.u32.f32` or `.s32.f32`. Any arch.
    #[inline(always)]
    pub fn fetch(&self, x: f32, y: f32) -> T {
        self.fetch_place([x, y, 0.0], 0)
    }
}

impl<T: Fetched> Texture<'_, T, Dim3> {
    /// Fetches at x, y and z.
    ///
    /// Becomes `tex.3d.v4.f32.f32`, `.u32.f32` or `.s32.f32`. Any arch.
    ///
    /// ```
    /// use warpsmith_device::prelude::*;
    ///
    /// /// A slice across a volume, at half of its depth.
    /// #[kernel]
    /// pub fn slice(volume: Texture3d<f32>, mut out: MatrixOut<f32>) {
    ///     let (y, x, z) = (out.row() as f32, out.column() as f32, volume.depth() as f32);
    ///     if let Some(out) = out.mine() {
    ///         *out = volume.fetch(x + 0.5, y + 0.5, z * 0.5);
    ///     }
    /// }
    /// ```
    #[inline(always)]
    pub fn fetch(&self, x: f32, y: f32, z: f32) -> T {
        self.fetch_place([x, y, z], 0)
    }
}

impl<T: Fetched> Texture<'_, T, Layered1> {
    /// Fetches at x of a layer; past the last layer, of the last.
    ///
    /// Becomes `tex.a1d.v4.f32.f32`, `.u32.f32` or `.s32.f32`. Any arch.
    #[inline(always)]
    pub fn fetch(&self, x: f32, layer: u32) -> T {
        let layer = layer.min(self.extents[1] - 1);
        self.fetch_place([x, 0.0, 0.0], layer)
    }
}

impl<T: Fetched> Texture<'_, T, Layered2> {
    /// Fetches at x and y of a layer; past the last layer, of the last.
    ///
    /// Becomes `tex.a2d.v4.f32.f32`, `.u32.f32` or `.s32.f32`. Any arch.
    ///
    /// ```
    /// use warpsmith_device::prelude::*;
    ///
    /// /// The mean of all images.
    /// #[kernel]
    /// pub fn mean(images: LayeredTexture2d<f32>, mut out: MatrixOut<f32>) {
    ///     let (y, x) = (out.row() as f32 + 0.5, out.column() as f32 + 0.5);
    ///     if let Some(out) = out.mine() {
    ///         *out = (0..images.layers()).map(|layer| images.fetch(x, y, layer)).sum::<f32>() / images.layers() as f32;
    ///     }
    /// }
    /// ```
    #[inline(always)]
    pub fn fetch(&self, x: f32, y: f32, layer: u32) -> T {
        let layer = layer.min(self.extents[2] - 1);
        self.fetch_place([x, y, 0.0], layer)
    }
}

impl<T: Fetched> Texture<'_, T, Linear> {
    /// The element of this index, if there is one.
    ///
    /// Becomes `tex.1d.v4.f32.s32`, `.u32.s32` or `.s32.s32`. Any arch.
    ///
    /// ```
    /// use warpsmith_device::prelude::*;
    ///
    /// /// Bytes as shares of 255.
    /// #[kernel]
    /// pub fn shares(bytes: LinearTexture<f32>, mut out: PerThread<[f32]>) {
    ///     if let (Some(share), Some(out)) = (bytes.get(thread::index()), out.mine()) {
    ///         *out = share;
    ///     }
    /// }
    /// ```
    #[inline(always)]
    pub fn get(&self, index: usize) -> Option<T> {
        if index >= self.extents[0] as usize {
            return None;
        }
        // SAFETY: the object is a texture of linear memory with so many elements and of such components (`from_raw_parts`).
        Some(T::of(unsafe {
            <T as Sealed>::Lane::fetch(self.object, Kind::Linear, [index as u32, 0, 0, 0])
        }))
    }

    /// [`get`](Texture::get) with an index of 32 bits.
    #[inline(always)]
    pub fn get_at(&self, index: u32) -> Option<T> {
        self.get(index as usize)
    }
}

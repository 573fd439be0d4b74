//! Textures of several levels, each half as long in each direction as the one before.

use super::fetch::Lane;
use super::fetched::{Fetched, sealed::Sealed};
use super::geometry::{Cube, Dim1, Dim2, Dim3, Geometry, Layered1, Layered2, LayeredCube};
use super::levels::Mipmapped;
use super::read::{Texture, place};

/// A texture of several levels: level 0 has the extents that the texture has, each other half of those before it (rounded down, at least 1).
/// Its coordinates count extents, from 0 to 1, so that they mean the same in each level.
///
/// A fetch says from which level, by a level of detail or by gradients. Whether the nearest level is read or two are weighed is for the host
/// to say, which makes the texture (`LevelOptions` of the host library). Each level of detail is one: those outside mean the first or the last level.
///
/// ```
/// use warpsmith_device::prelude::*;
/// use warpsmith_device::texture::Dim2;
///
/// /// The image at a quarter of its size.
/// #[kernel]
/// pub fn quarter(image: MipmappedTexture<f32, Dim2>, mut out: MatrixOut<f32>) {
///     let (width, height) = (out.columns() as f32, out.rows() as f32);
///     let (x, y) = (out.column() as f32 + 0.5, out.row() as f32 + 0.5);
///     if let Some(out) = out.mine() {
///         *out = image.fetch_level(x / width, y / height, 2.0);
///     }
/// }
/// ```
///
/// It is not fetched from without a level:
///
/// ```compile_fail,E0599
/// use warpsmith_device::prelude::*;
/// use warpsmith_device::texture::Dim2;
///
/// #[kernel]
/// pub fn which(image: MipmappedTexture<f32, Dim2>) {
///     image.fetch(0.5, 0.5);
/// }
/// ```
pub type MipmappedTexture<'a, T, D> = Texture<'a, T, Mipmapped<D>>;

impl<T: Fetched, D: Geometry> Texture<'_, T, Mipmapped<D>> {
    #[inline(always)]
    fn at_level(&self, at: [f32; 3], layer: u32, level: f32) -> T {
        // SAFETY: the object is a texture of this geometry and of such components (`from_raw_parts`).
        T::of(unsafe {
            <T as Sealed>::Lane::fetch_level(self.object(), D::KIND, place(at, layer), level)
        })
    }

    /// The geometry is no cube's.
    #[inline(always)]
    fn by_slopes(&self, at: [f32; 3], layer: u32, slopes: [[f32; 3]; 2]) -> T {
        // SAFETY: the object is a texture of this geometry and of such components (`from_raw_parts`).
        T::of(unsafe {
            <T as Sealed>::Lane::fetch_gradient(self.object(), D::KIND, place(at, layer), slopes)
        })
    }
}

impl<T: Fetched> Texture<'_, T, Mipmapped<Dim1>> {
    /// Fetches at x of a level.
    ///
    /// Becomes `tex.level.1d.v4.f32.f32`, `.u32.f32` or `.s32.f32`. Any arch.
    #[inline(always)]
    pub fn fetch_level(&self, x: f32, level: f32) -> T {
        self.at_level([x, 0.0, 0.0], 0, level)
    }

    /// Fetches at x from the level of which a texel is as long as the greater of two steps of x.
    ///
    /// Becomes `tex.grad.1d.v4.f32.f32`, `.u32.f32` or `.s32.f32`. Any arch.
    #[inline(always)]
    pub fn fetch_gradient(&self, x: f32, dx: f32, dy: f32) -> T {
        self.by_slopes([x, 0.0, 0.0], 0, [[dx, 0.0, 0.0], [dy, 0.0, 0.0]])
    }
}

impl<T: Fetched> Texture<'_, T, Mipmapped<Dim2>> {
    /// Fetches at x and y of a level.
    ///
    /// Becomes `tex.level.2d.v4.f32.f32`, `.u32.f32` or `.s32.f32`. Any arch.
    #[inline(always)]
    pub fn fetch_level(&self, x: f32, y: f32, level: f32) -> T {
        self.at_level([x, y, 0.0], 0, level)
    }

    /// Fetches at x and y from the level of which a texel is as long as the longer of two steps, each of x and y: those from one pixel of
    /// what is drawn to the next on the right, and to the next below.
    ///
    /// Becomes `tex.grad.2d.v4.f32.f32`, `.u32.f32` or `.s32.f32`. Any arch. How a device measures a step that is along no axis, it does
    /// not say.
    ///
    /// ```
    /// use warpsmith_device::prelude::*;
    /// use warpsmith_device::texture::Dim2;
    ///
    /// /// The whole image, however small `out` is.
    /// #[kernel]
    /// pub fn shrink(image: MipmappedTexture<[f32; 4], Dim2>, mut out: MatrixOut<[f32; 4]>) {
    ///     let (dx, dy) = (1.0 / out.columns() as f32, 1.0 / out.rows() as f32);
    ///     let (x, y) = (out.column() as f32 + 0.5, out.row() as f32 + 0.5);
    ///     if let Some(out) = out.mine() {
    ///         *out = image.fetch_gradient(x * dx, y * dy, [dx, 0.0], [0.0, dy]);
    ///     }
    /// }
    /// ```
    #[inline(always)]
    pub fn fetch_gradient(&self, x: f32, y: f32, dx: [f32; 2], dy: [f32; 2]) -> T {
        self.by_slopes([x, y, 0.0], 0, [dx, dy].map(|[x, y]| [x, y, 0.0]))
    }
}

impl<T: Fetched> Texture<'_, T, Mipmapped<Dim3>> {
    /// Fetches at x, y and z of a level.
    ///
    /// Becomes `tex.level.3d.v4.f32.f32`, `.u32.f32` or `.s32.f32`. Any arch.
    #[inline(always)]
    pub fn fetch_level(&self, x: f32, y: f32, z: f32, level: f32) -> T {
        self.at_level([x, y, z], 0, level)
    }

    /// Fetches at x, y and z from the level of which a texel is as long as the longer of two steps.
    ///
    /// Becomes `tex.grad.3d.v4.f32.f32`, `.u32.f32` or `.s32.f32`. Any arch.
    #[inline(always)]
    pub fn fetch_gradient(&self, x: f32, y: f32, z: f32, dx: [f32; 3], dy: [f32; 3]) -> T {
        self.by_slopes([x, y, z], 0, [dx, dy])
    }
}

impl<T: Fetched> Texture<'_, T, Mipmapped<Layered1>> {
    /// Fetches at x of a layer's level; past the last layer, of the last.
    ///
    /// Becomes `tex.level.a1d.v4.f32.f32`, `.u32.f32` or `.s32.f32`. Any arch.
    #[inline(always)]
    pub fn fetch_level(&self, x: f32, layer: u32, level: f32) -> T {
        self.at_level([x, 0.0, 0.0], layer.min(self.layers() - 1), level)
    }

    /// Fetches at x of a layer from the level of which a texel is as long as the greater of two steps of x; past the last layer, of the last.
    ///
    /// Becomes `tex.grad.a1d.v4.f32.f32`, `.u32.f32` or `.s32.f32`. Any arch.
    #[inline(always)]
    pub fn fetch_gradient(&self, x: f32, layer: u32, dx: f32, dy: f32) -> T {
        let layer = layer.min(self.layers() - 1);
        self.by_slopes([x, 0.0, 0.0], layer, [[dx, 0.0, 0.0], [dy, 0.0, 0.0]])
    }
}

impl<T: Fetched> Texture<'_, T, Mipmapped<Layered2>> {
    /// Fetches at x and y of a layer's level; past the last layer, of the last.
    ///
    /// Becomes `tex.level.a2d.v4.f32.f32`, `.u32.f32` or `.s32.f32`. Any arch.
    #[inline(always)]
    pub fn fetch_level(&self, x: f32, y: f32, layer: u32, level: f32) -> T {
        self.at_level([x, y, 0.0], layer.min(self.layers() - 1), level)
    }

    /// Fetches at x and y of a layer from the level of which a texel is as long as the longer of two steps; past the last layer, of the last.
    ///
    /// Becomes `tex.grad.a2d.v4.f32.f32`, `.u32.f32` or `.s32.f32`. Any arch.
    #[inline(always)]
    pub fn fetch_gradient(&self, x: f32, y: f32, layer: u32, dx: [f32; 2], dy: [f32; 2]) -> T {
        let layer = layer.min(self.layers() - 1);
        self.by_slopes([x, y, 0.0], layer, [dx, dy].map(|[x, y]| [x, y, 0.0]))
    }
}

impl<T: Fetched> Texture<'_, T, Mipmapped<Cube>> {
    /// Fetches in this direction of a level, as from a [`CubeTexture`](super::CubeTexture).
    ///
    /// Becomes `tex.level.cube.v4.f32.f32`, `.u32.f32` or `.s32.f32`. Any arch.
    #[inline(always)]
    pub fn fetch_level(&self, x: f32, y: f32, z: f32, level: f32) -> T {
        self.at_level([x, y, z], 0, level)
    }
}

impl<T: Fetched> Texture<'_, T, Mipmapped<LayeredCube>> {
    /// Fetches in this direction of a cube's level, as from a [`CubeTexture`](super::CubeTexture); past the last cube, of the last.
    ///
    /// Becomes `tex.level.acube.v4.f32.f32`, `.u32.f32` or `.s32.f32`. Any arch.
    #[inline(always)]
    pub fn fetch_level(&self, x: f32, y: f32, z: f32, cube: u32, level: f32) -> T {
        self.at_level([x, y, z], cube.min(self.extents[2] / 6 - 1), level)
    }
}

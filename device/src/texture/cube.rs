//! Cube maps: six square images around a point, fetched from by a direction.

use super::fetched::Fetched;
use super::geometry::{Cube, LayeredCube};
use super::read::Texture;

/// The faces of a cube, fetched from by a direction; see [`Texture`].
pub type CubeTexture<'a, T> = Texture<'a, T, Cube>;
/// The faces of several cubes, each cube by itself; see [`CubeTexture`].
pub type LayeredCubeTexture<'a, T> = Texture<'a, T, LayeredCube>;

impl<T: Fetched> Texture<'_, T, Cube> {
    /// Fetches where this direction from the middle of the cube meets a face. The direction has any length but 0.
    ///
    /// The face is the one of the component of the greatest magnitude: +x, -x, +y, -y, +z, -z in the order of the array's layers. A filter
    /// stays within the face (CUDA C++ Programming Guide, "Cubemap Textures"). Which face it is along an edge, where two magnitudes are
    /// equal, is not defined.
    ///
    /// Becomes `tex.cube.v4.f32.f32`, `.u32.f32` or `.s32.f32`. Any arch.
    ///
    /// ```
    /// use warpsmith_device::prelude::*;
    ///
    /// /// What lies in these directions.
    /// #[kernel]
    /// pub fn look(sky: CubeTexture<[f32; 4]>, directions: &[[f32; 3]], mut out: PerThread<[[f32; 4]]>) {
    ///     if let (Some(&[x, y, z]), Some(out)) = (directions.get(thread::index()), out.mine()) {
    ///         *out = sky.fetch(x, y, z);
    ///     }
    /// }
    /// ```
    #[inline(always)]
    pub fn fetch(&self, x: f32, y: f32, z: f32) -> T {
        self.fetch_place([x, y, z], 0)
    }
}

impl<T: Fetched> Texture<'_, T, LayeredCube> {
    /// How many cubes there are.
    #[inline(always)]
    pub fn cubes(&self) -> u32 {
        self.extents[2] / 6
    }

    /// Fetches where this direction meets a face of a cube, as from a [`CubeTexture`]; past the last cube, of the last.
    ///
    /// Becomes `tex.acube.v4.f32.f32`, `.u32.f32` or `.s32.f32`. Any arch.
    #[inline(always)]
    pub fn fetch(&self, x: f32, y: f32, z: f32, cube: u32) -> T {
        self.fetch_place([x, y, z], cube.min(self.cubes() - 1))
    }
}

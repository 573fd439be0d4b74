//! Textures and surfaces: arrays of texels in a layout that only the driver knows, which kernels fetch from by coordinates, and read and
//! write by positions (CUDA C++ Programming Guide, "Texture and Surface Memory").
//!
//! | file | what |
//! | --- | --- |
//! | `geometry` | in how many dimensions texels lie, and whether in layers |
//! | `levels` | the same in several levels |
//! | `fetched` | what a fetch gives |
//! | `fetch` | the instructions `tex` and `tld4` |
//! | `read` | [`Texture`] |
//! | `gather` | one component of four texels |
//! | `cube` | textures fetched from by a direction |
//! | `mipmapped` | textures of several levels |
//! | `query` | what an object says of its extents |
//! | `texel` | what a surface is made of, and the instructions `suld.b` and `sust.b` |
//! | `surface` | [`Surface`] |
//!
//! | Parameter | Passed | A thread |
//! | --- | --- | --- |
//! | [`Texture1d<T>`](Texture1d), [`Texture2d<T>`](Texture2d), [`Texture3d<T>`](Texture3d) | `&Texture` of an array | fetches anywhere |
//! | [`LayeredTexture1d<T>`](LayeredTexture1d), [`LayeredTexture2d<T>`](LayeredTexture2d) | the same of layers | fetches in any layer |
//! | [`GatherTexture2d<T>`](GatherTexture2d) | the same of an array that was made for it | gathers, too |
//! | [`CubeTexture<T>`](CubeTexture), [`LayeredCubeTexture<T>`](LayeredCubeTexture) | the same of cubes | fetches in any direction |
//! | [`MipmappedTexture<T, D>`](MipmappedTexture) | `&MipmappedTexture` of a mipmapped array | fetches from any level |
//! | [`LinearTexture<T>`](LinearTexture) | `&LinearTexture` of a buffer | reads any element |
//! | [`Surface1d<T>`](Surface1d), [`Surface2d<T>`](Surface2d), [`Surface3d<T>`](Surface3d) | `&mut Surface` of an array | reads and writes the texel at its own position |
//! | [`LayeredSurface1d<T>`](LayeredSurface1d), [`LayeredSurface2d<T>`](LayeredSurface2d) | the same of layers, or of the faces of cubes | the same |
//!
//! What is written by a surface is seen by fetches and reads of later launches, not of the same one. So nobody writes what a texture reads
//! while a kernel runs: a launch that is passed one array both ways is refused. For the same reason neither can be a parameter
//! of a kernel that begins early: `AfterPrimary` takes none, because a fetch after the wait need not see what was written before.

mod cube;
mod fetch;
mod fetched;
mod gather;
mod geometry;
mod levels;
mod mipmapped;
mod query;
mod read;
mod surface;
mod texel;

pub use cube::{CubeTexture, LayeredCubeTexture};
pub use fetched::Fetched;
pub use gather::GatherTexture2d;
pub use geometry::{
    Cube, Dim1, Dim2, Dim3, Gather2, Geometry, Layered1, Layered2, LayeredCube, Linear, Positioned,
};
pub use levels::Mipmapped;
pub use mipmapped::MipmappedTexture;
pub use read::{
    LayeredTexture1d, LayeredTexture2d, LinearTexture, Texture, Texture1d, Texture2d, Texture3d,
};
pub use surface::{
    LayeredSurface1d, LayeredSurface2d, OwnTexel, Surface, Surface1d, Surface2d, Surface3d,
};
pub use texel::SurfaceTexel;

/// What tells the parameters' types apart in a kernel's record.
pub(crate) mod form_code {
    use super::{Fetched, Geometry, Positioned, SurfaceTexel};
    use super::{fetched, geometry, texel};

    const fn of<D: Geometry>(texel: u32) -> u32 {
        use geometry::sealed::Geometry as Sealed;
        let kind = <D as Sealed>::KIND as u32;
        let mipmapped = if <D as Sealed>::MIPMAPPED { 16 } else { 0 };
        kind + mipmapped + 32 * texel
    }

    /// Of a texture.
    pub(crate) const fn of_texture<T: Fetched, D: Geometry>() -> u32 {
        of::<D>(<T as fetched::sealed::Sealed>::CODE)
    }

    /// Of a surface.
    pub(crate) const fn of_surface<T: SurfaceTexel, D: Positioned>() -> u32 {
        of::<D>(<T as texel::sealed::Sealed>::CODE)
    }

    /// In how many dimensions a surface gives each thread a texel of its own.
    pub(crate) const fn axes<D: Positioned>() -> u32 {
        <D as geometry::sealed::Positioned>::AXES
    }
}

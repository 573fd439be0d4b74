//! In how many dimensions texels lie, and whether in layers.

use crate::thread;

pub(super) mod sealed {
    /// How the instructions name a geometry.
    #[derive(Clone, Copy)]
    pub enum Kind {
        /// `.1d`
        Dim1,
        /// `.2d`
        Dim2,
        /// `.3d`
        Dim3,
        /// `.a1d`
        Layered1,
        /// `.a2d`
        Layered2,
        /// `.1d` with whole coordinates
        Linear,
        /// `.2d`, of which texels are gathered
        Gather2,
        /// `.cube`
        Cube,
        /// `.acube`
        LayeredCube,
    }

    /// Keeps [`Geometry`](super::Geometry) to this crate: its implementations say which instruction reaches an object.
    pub trait Geometry {
        /// How the instructions name it.
        const KIND: Kind;
        /// Whether there are several levels.
        const MIPMAPPED: bool = false;
    }

    /// Keeps [`Positioned`](super::Positioned) to this crate, for the same reason.
    pub trait Positioned {
        /// Dimensions and layers: in so many dimensions a launch gives each thread a position of its own.
        const AXES: u32;
    }
}

/// How texels lie: one of [`Dim1`], [`Dim2`], [`Dim3`], [`Layered1`], [`Layered2`], [`Linear`], [`Gather2`], [`Cube`], [`LayeredCube`], or
/// [`Mipmapped`](super::Mipmapped) of one of them.
///
/// ```
/// use warpsmith_device::texture::{Dim2, Geometry};
///
/// fn named<D: Geometry>() -> &'static str {
///     core::any::type_name::<D>()
/// }
/// assert!(named::<Dim2>().ends_with("Dim2"));
/// ```
pub trait Geometry: sealed::Geometry + Copy + 'static {}

/// How the texels of an array lie, in which a thread of a launch has a position.
///
/// ```
/// use warpsmith_device::texture::{Dim2, Positioned};
///
/// let [x, y] = <Dim2 as Positioned>::of_coordinates([3, 4, 0]);
/// assert_eq!(Dim2::coordinates([x, y]), [3, 4, 0]);
/// ```
pub trait Positioned: Geometry + sealed::Positioned {
    /// x, y and z, then the layer; those that there are.
    type Position: Copy;

    /// The coordinates of a position, with zeros for those that it has not.
    fn coordinates(position: Self::Position) -> [u32; 3];

    /// The position of such coordinates.
    fn of_coordinates(coordinates: [u32; 3]) -> Self::Position;
}

macro_rules! geometries {
    ($($(#[$documentation:meta])* $name:ident $(, $axes:literal, $position:ty, [$($axis:ident)*] $([$($missing:literal)*])?)?;)*) => {$(
        $(#[$documentation])*
        #[derive(Clone, Copy, Debug)]
        pub struct $name;

        impl sealed::Geometry for $name {
            const KIND: sealed::Kind = sealed::Kind::$name;
        }

        impl Geometry for $name {}

        $(
            impl sealed::Positioned for $name {
                const AXES: u32 = $axes;
            }

            impl Positioned for $name {
                type Position = $position;

                #[inline(always)]
                fn coordinates([$($axis),*]: $position) -> [u32; 3] {
                    [$($axis,)* $($($missing),*)?]
                }

                #[inline(always)]
                fn of_coordinates([$($axis,)* ..]: [u32; 3]) -> $position {
                    [$($axis),*]
                }
            }
        )?
    )*};
}

geometries! {
    /// A line of texels, by x.
    Dim1, 1, [u32; 1], [x] [0 0];
    /// Rows of texels, by x and y.
    Dim2, 2, [u32; 2], [x y] [0];
    /// A volume of texels, by x, y and z.
    Dim3, 3, [u32; 3], [x y z];
    /// Lines of texels, each a layer by itself: by x and the layer.
    Layered1, 2, [u32; 2], [x layer] [0];
    /// Rectangles of texels, each a layer by itself: by x, y and the layer.
    Layered2, 3, [u32; 3], [x y layer];
    /// The elements of a buffer, by their index.
    Linear;
    /// Rows of texels, of which a component of four may be gathered.
    Gather2;
    /// The six faces of a cube, by a direction from its middle.
    Cube;
    /// The faces of several cubes, by a direction and the cube.
    LayeredCube;
}

/// The thread's own coordinates: those of the launch, and 0 along axes that the texels have not.
#[inline(always)]
pub(super) fn own_coordinates<D: Positioned>() -> [usize; 3] {
    let along =
        |block: u32, size: u32, thread: u32| block as usize * size as usize + thread as usize;
    let mut own = [thread::index(), 0, 0];
    if D::AXES > 1 {
        own[1] = along(
            thread::block_idx_y(),
            thread::block_dim_y(),
            thread::thread_idx_y(),
        );
    }
    if D::AXES > 2 {
        own[2] = along(
            thread::block_idx_z(),
            thread::block_dim_z(),
            thread::thread_idx_z(),
        );
    }
    own
}

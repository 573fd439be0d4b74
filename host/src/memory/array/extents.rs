//! How large an array is, in how many dimensions.

use warpsmith_device::texture as device;
use warpsmith_driver::raw;

use super::texel::Texel;
use crate::context::attribute::Attribute;
use crate::error::{Code, Error, LimitError, Result};
use crate::gpu::open_device::OpenDevice;

mod sealed {
    use super::raw::CUdevice_attribute as Key;

    pub trait Sealed: Copy + std::fmt::Debug {
        /// The array's flags (`CUDA_ARRAY3D_*`).
        const FLAGS: u32;
        /// What each extent is, and which number of a device it must not exceed, in the order of [`in_order`](Self::in_order).
        const LIMITS: &'static [(&'static str, Key)];
        /// As [`LIMITS`](Self::LIMITS), of the first level of a mipmapped array.
        const LEVEL_LIMITS: &'static [(&'static str, Key)] = Self::LIMITS;
        /// The extents that the array has.
        fn in_order(&self) -> Vec<usize>;
        /// All texels, if 64 bits hold their number.
        fn texels(&self) -> Option<usize> {
            let mut all = self.in_order().into_iter();
            all.try_fold(1usize, |texels, extent| texels.checked_mul(extent))
        }
        /// The extents of a level of a mipmapped array: half of those of the level before, and at least 1; layers stay.
        fn level(&self, level: u32) -> Self;
        /// Width, height and depth as the driver wants them.
        fn driver(&self) -> [usize; 3];
        /// The extents that the array has, as a kernel gets them: 1 for those that it has not.
        fn in_kernels(&self) -> [u32; 3];
        /// The same with so many layers, where texels are in layers that a view can choose from.
        fn with_layers(self, _layers: usize) -> Self {
            self
        }
    }
}

/// How many texels an array has in which directions: one of [`Extent1`], [`Extent2`], [`Extent3`], [`Layered1`], [`Layered2`], [`Gather2`],
/// [`Cube`], [`LayeredCube`].
///
/// ```
/// use warpsmith_host::prelude::*;
/// use warpsmith_host::{Array, ArrayExtents, Extent3, Texel};
///
/// fn kept<T: Texel, D: ArrayExtents>(stream: &Stream, extents: D) -> Result<Array<T, D>> {
///     stream.array_zeroed(extents)
/// }
///
/// # fn main() -> Result<()> {
/// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
/// let volume = kept::<f32, _>(&gpu.stream()?, Extent3 { width: 4, height: 3, depth: 2 })?;
/// assert_eq!(volume.len(), 24);
/// # Ok(())
/// # }
/// ```
pub trait ArrayExtents: sealed::Sealed + Send + Sync + 'static {
    /// What the array's textures are in a kernel.
    type Geometry: device::Geometry;
    /// What the array's surfaces are in a kernel.
    type SurfaceGeometry: device::Positioned;
}

/// The extents of the first level of a [`MipmappedArray`](crate::MipmappedArray): all but [`Gather2`].
///
/// ```compile_fail,E0277
/// # use warpsmith_host::prelude::*;
/// # use warpsmith_host::Gather2;
/// # fn gathered(stream: &Stream) -> Result<()> {
/// stream.mipmapped_array_zeroed::<f32, _>(Gather2 { width: 4, height: 4 }, 2)?;
/// # Ok(())
/// # }
/// ```
#[diagnostic::on_unimplemented(
    message = "there is no mipmapped array of `{Self}`",
    note = "texels are gathered from an array of one level"
)]
pub trait LevelExtents: ArrayExtents {}

macro_rules! extents {
    (
        $(#[doc = $text:literal])*
        $name:ident as $geometry:ident and $surface:ident { $($field:ident: $what:literal $limit:ident),* $(; levels $($level_limit:expr),*)? },
        $flags:expr, [$($driver:ident)?; $($height:ident)?; $($depth:ident)?]
    ) => {
        $(#[doc = $text])*
        ///
        /// Each extent is at least 1; what a device has at most are attributes of it.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub struct $name {
            $(#[doc = concat!("The ", $what, ".")] pub $field: usize,)*
        }

        impl sealed::Sealed for $name {
            const FLAGS: u32 = $flags;
            const LIMITS: &'static [(&'static str, raw::CUdevice_attribute)] =
                &[$(($what, raw::CUdevice_attribute::$limit)),*];
            $(
                const LEVEL_LIMITS: &'static [(&'static str, raw::CUdevice_attribute)] =
                    &[$($level_limit),*];
            )?

            fn in_order(&self) -> Vec<usize> {
                vec![$(self.$field),*]
            }

            fn driver(&self) -> [usize; 3] {
                [$(self.$driver)?, or_zero!($(self.$height)?), or_zero!($(self.$depth)?)]
            }

            fn in_kernels(&self) -> [u32; 3] {
                // No device has arrays of more than 32 bits of texels along an axis.
                let own = [$(self.$field as u32),*];
                std::array::from_fn(|axis| own.get(axis).copied().unwrap_or(1))
            }

            fn level(&self, level: u32) -> Self {
                Self { $($field: at_level!($field, self.$field, level)),* }
            }

            fn with_layers(self, _layers: usize) -> Self {
                Self { $($field: of_layers!($field, self.$field, _layers)),* }
            }
        }

        impl ArrayExtents for $name {
            type Geometry = device::$geometry;
            type SurfaceGeometry = device::$surface;
        }
    };
}

macro_rules! at_level {
    (layers, $value:expr, $level:expr) => {
        $value
    };
    ($field:ident, $value:expr, $level:expr) => {
        halved($value, $level)
    };
}

macro_rules! of_layers {
    (layers, $value:expr, $layers:expr) => {
        $layers
    };
    ($field:ident, $value:expr, $layers:expr) => {
        $value
    };
}

/// An extent of a level, by that of the first one.
fn halved(extent: usize, level: u32) -> usize {
    extent.checked_shr(level).unwrap_or(0).max(1)
}

macro_rules! or_zero {
    () => {
        0
    };
    ($value:expr) => {
        $value
    };
}

extents! {
    /// A line of texels.
    Extent1 as Dim1 and Dim1 {
        width: "the width in texels" CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_WIDTH;
        levels ("the width in texels", raw::CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_MIPMAPPED_WIDTH)
    },
    0, [width; ;]
}

extents! {
    /// Rows of texels.
    Extent2 as Dim2 and Dim2 {
        width: "the width in texels" CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_WIDTH,
        height: "the height in texels" CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_HEIGHT;
        levels
            ("the width in texels", raw::CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_MIPMAPPED_WIDTH),
            ("the height in texels", raw::CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_MIPMAPPED_HEIGHT)
    },
    0, [width; height;]
}

extents! {
    /// A volume of texels.
    Extent3 as Dim3 and Dim3 {
        width: "the width in texels" CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_WIDTH,
        height: "the height in texels" CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_HEIGHT,
        depth: "the depth in texels" CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_DEPTH
    },
    0, [width; height; depth]
}

extents! {
    /// Lines of texels, each a layer by itself: nothing is filtered across them.
    Layered1 as Layered1 and Layered1 {
        width: "the width in texels" CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LAYERED_WIDTH,
        layers: "number of layers" CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LAYERED_LAYERS
    },
    raw::CUDA_ARRAY3D_LAYERED, [width; ; layers]
}

extents! {
    /// Rectangles of texels, each a layer by itself: nothing is filtered across them.
    Layered2 as Layered2 and Layered2 {
        width: "the width in texels" CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_WIDTH,
        height: "the height in texels" CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_HEIGHT,
        layers: "number of layers" CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_LAYERS
    },
    raw::CUDA_ARRAY3D_LAYERED, [width; height; layers]
}

extents! {
    /// Rows of texels, of which kernels may gather a component of four at once. A device may have smaller ones than of [`Extent2`].
    Gather2 as Gather2 and Dim2 {
        width: "the width in texels" CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_GATHER_WIDTH,
        height: "the height in texels" CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_GATHER_HEIGHT
    },
    raw::CUDA_ARRAY3D_TEXTURE_GATHER, [width; height;]
}

/// Faces of a cube.
const FACES: usize = 6;

macro_rules! cubes {
    (
        $(#[doc = $text:literal])*
        $name:ident as $geometry:ident { $($cubes:ident)? }, $flags:expr, [$($what:literal $limit:ident),*]
    ) => {
        $(#[doc = $text])*
        ///
        /// The faces are those of the directions +x, -x, +y, -y, +z, -z, in this order, each of rows of texels. A surface has them as layers.
        /// A texture's coordinates are directions; whether they count texels or extents means nothing.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub struct $name {
            /// The width and the height of a face in texels.
            pub width: usize,
            $(
                /// The number of cubes.
                pub $cubes: usize,
            )?
        }

        impl $name {
            /// Faces of all cubes.
            fn faces(&self) -> usize {
                FACES $(.saturating_mul(self.$cubes))?
            }
        }

        impl sealed::Sealed for $name {
            const FLAGS: u32 = $flags;
            const LIMITS: &'static [(&'static str, raw::CUdevice_attribute)] =
                &[$(($what, raw::CUdevice_attribute::$limit)),*];

            fn in_order(&self) -> Vec<usize> {
                [self.width, self.faces()][..Self::LIMITS.len()].to_vec()
            }

            fn texels(&self) -> Option<usize> {
                self.width.checked_mul(self.width)?.checked_mul(self.faces())
            }

            fn level(&self, level: u32) -> Self {
                Self { width: halved(self.width, level), $($cubes: self.$cubes,)? }
            }

            fn driver(&self) -> [usize; 3] {
                [self.width, self.width, self.faces()]
            }

            fn in_kernels(&self) -> [u32; 3] {
                // No device has arrays of more than 32 bits of texels along an axis.
                self.driver().map(|extent| extent as u32)
            }
        }

        impl ArrayExtents for $name {
            type Geometry = device::$geometry;
            type SurfaceGeometry = device::Layered2;
        }

        impl LevelExtents for $name {}
    };
}

cubes! {
    /// The six faces of a cube, which kernels fetch from by a direction.
    Cube as Cube {}, raw::CUDA_ARRAY3D_CUBEMAP,
    ["the width in texels" CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_WIDTH]
}

cubes! {
    /// The faces of several cubes, which kernels fetch from by a direction and the number of the cube.
    LayeredCube as LayeredCube { cubes }, raw::CUDA_ARRAY3D_CUBEMAP | raw::CUDA_ARRAY3D_LAYERED,
    [
        "the width in texels" CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_LAYERED_WIDTH,
        "number of faces" CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_LAYERED_LAYERS
    ]
}

/// The extents of an array of layers, of which a [view](crate::TexelView::layers) can have some: [`Layered1`] and [`Layered2`].
///
/// ```compile_fail,E0599
/// # use warpsmith_host::prelude::*;
/// # use warpsmith_host::{Array, Extent3};
/// # fn slices(volume: &Array<f32, Extent3>) -> Result<()> {
/// volume.view_as::<f32>().layers(1..2)?;
/// # Ok(())
/// # }
/// ```
#[diagnostic::on_unimplemented(
    message = "an array of `{Self}` has no layers that a view can choose from",
    note = "arrays of `Layered1` and `Layered2` have layers"
)]
pub trait LayerExtents: ArrayExtents {
    /// How many layers there are.
    fn layer_count(&self) -> usize;
}

macro_rules! layer_extents {
    ($($name:ident),*) => {$(
        impl LayerExtents for $name {
            fn layer_count(&self) -> usize {
                self.layers
            }
        }
    )*};
}
layer_extents!(Layered1, Layered2);

macro_rules! level_extents {
    ($($name:ident),*) => { $(impl LevelExtents for $name {})* };
}
level_extents!(Extent1, Extent2, Extent3, Layered1, Layered2);

/// How many levels a mipmapped array can have: the last one's extents are 1.
pub(super) fn most_levels<D: LevelExtents>(extents: D) -> usize {
    let is_last =
        |level: &u32| extents.level(*level).in_order() == extents.level(level + 1).in_order();
    // Nothing has more levels than an extent has bits.
    (0..usize::BITS).find(is_last).unwrap_or(0) as usize + 1
}

/// The call that makes an array of levels.
pub(super) const MIPMAPPED_CALL: &str = "cuMipmappedArrayCreate";
/// The call that makes one of memory of another program interface.
pub(super) const EXTERNAL_CALL: &str = "cuExternalMemoryGetMappedMipmappedArray";

/// What the driver is told.
///
/// # Errors
///
/// An extent is 0 or beyond the device's.
pub(super) fn descriptor<T: Texel, D: ArrayExtents>(
    gpu: &OpenDevice,
    extents: D,
    for_surfaces: bool,
    call: &'static str,
) -> Result<raw::CUDA_ARRAY3D_DESCRIPTOR> {
    let limits = match call {
        MIPMAPPED_CALL | EXTERNAL_CALL => D::LEVEL_LIMITS,
        _ => D::LIMITS,
    };
    for (&(what, limit), value) in limits.iter().zip(extents.in_order()) {
        let limit = Attribute(limit.0).of(gpu.context().device)?;
        if value == 0 {
            return Err(Error::Limit(Box::new(LimitError {
                call,
                code: Code::INVALID_VALUE,
                subject: format!("{extents:?}"),
                what,
                value: 0,
                limit: 1,
                hint: "have no array where there is nothing".into(),
            })));
        }
        if value as u64 > limit as u64 {
            return Err(Error::Limit(Box::new(LimitError {
                call,
                code: Code::INVALID_VALUE,
                subject: format!("{extents:?}"),
                what,
                value: value as u64,
                limit: limit.max(0) as u64,
                hint: "have several arrays, or use a buffer".into(),
            })));
        }
    }
    let [width, height, depth] = extents.driver();
    Ok(raw::CUDA_ARRAY3D_DESCRIPTOR {
        Width: width,
        Height: height,
        Depth: depth,
        Format: T::FORMAT,
        NumChannels: T::COMPONENTS,
        Flags: match for_surfaces {
            true => D::FLAGS | raw::CUDA_ARRAY3D_SURFACE_LDST,
            false => D::FLAGS,
        },
    })
}

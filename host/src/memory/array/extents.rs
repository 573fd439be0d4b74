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
        /// The extents that the array has.
        fn in_order(&self) -> Vec<usize>;
        /// Width, height and depth as the driver wants them.
        fn driver(&self) -> [usize; 3];
        /// The extents that the array has, as a kernel gets them: 1 for those that it has not.
        fn in_kernels(&self) -> [u32; 3];
    }
}

/// How many texels an array has in which directions: one of [`Extent1`], [`Extent2`], [`Extent3`], [`Layered1`], [`Layered2`].
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
    /// What the array's textures and surfaces are in a kernel.
    type Geometry: device::Positioned;
}

macro_rules! extents {
    (
        $(#[doc = $text:literal])*
        $name:ident as $geometry:ident { $($field:ident: $what:literal $limit:ident),* }, $flags:expr, [$($driver:ident)?; $($height:ident)?; $($depth:ident)?]
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
        }

        impl ArrayExtents for $name {
            type Geometry = device::$geometry;
        }
    };
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
    Extent1 as Dim1 { width: "width in texels" CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_WIDTH },
    0, [width; ;]
}

extents! {
    /// Rows of texels.
    Extent2 as Dim2 {
        width: "width in texels" CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_WIDTH,
        height: "height in texels" CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_HEIGHT
    },
    0, [width; height;]
}

extents! {
    /// A volume of texels.
    Extent3 as Dim3 {
        width: "width in texels" CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_WIDTH,
        height: "height in texels" CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_HEIGHT,
        depth: "depth in texels" CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_DEPTH
    },
    0, [width; height; depth]
}

extents! {
    /// Lines of texels, each a layer by itself: nothing is filtered across them.
    Layered1 as Layered1 {
        width: "width in texels" CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LAYERED_WIDTH,
        layers: "number of layers" CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LAYERED_LAYERS
    },
    raw::CUDA_ARRAY3D_LAYERED, [width; ; layers]
}

extents! {
    /// Rectangles of texels, each a layer by itself: nothing is filtered across them.
    Layered2 as Layered2 {
        width: "width in texels" CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_WIDTH,
        height: "height in texels" CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_HEIGHT,
        layers: "number of layers" CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_LAYERS
    },
    raw::CUDA_ARRAY3D_LAYERED, [width; height; layers]
}

/// All texels, if 64 bits hold their number.
pub(super) fn checked_texels<D: ArrayExtents>(extents: D) -> Option<usize> {
    let mut all = extents.in_order().into_iter();
    all.try_fold(1usize, |texels, extent| texels.checked_mul(extent))
}

/// What the driver is told.
///
/// # Errors
///
/// An extent is 0 or beyond the device's.
pub(super) fn descriptor<T: Texel, D: ArrayExtents>(
    gpu: &OpenDevice,
    extents: D,
) -> Result<raw::CUDA_ARRAY3D_DESCRIPTOR> {
    for (&(what, limit), value) in D::LIMITS.iter().zip(extents.in_order()) {
        let limit = Attribute(limit.0).of(gpu.context().device)?;
        if value == 0 || value as u64 > limit as u64 {
            return Err(Error::Limit(Box::new(LimitError {
                call: super::block::CALL,
                code: Code::INVALID_VALUE,
                subject: format!("{extents:?}"),
                what,
                value: value as u64,
                limit: limit as u64,
                hint: "it is at least 1: have no array for nothing, or several for more".into(),
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
        Flags: D::FLAGS,
    })
}

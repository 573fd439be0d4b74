//! Textures and surfaces of arrays, as kernels take them.

use std::marker::PhantomData;
use std::sync::Arc;

use super::Array;
use super::extents::ArrayExtents;
use super::sampling::TextureOptions;
use super::texel::Texel;
use crate::error::{Code, Error, Result};
use crate::memory::allocation::Allocation;
use crate::memory::view::RawView;
use crate::order::access::ViewScope;

/// A way to read an array in kernels (CUDA C++ Programming Guide, "Texture Object API").
///
/// It keeps the array's memory, and goes to a kernel as its object's number, for a parameter of type `u64`: the launch counts as a read of
/// the array and is put in order as such. What the kernel does with the number is its own `unsafe` code's affair. In a kernel launched by
/// [`launch_early`](crate::Stream::launch_early) it must not be fetched from before the wait.
///
/// ```
/// use warpsmith_host::prelude::*;
/// use warpsmith_host::{Extent2, Filter, TextureOptions};
///
/// # fn main() -> Result<()> {
/// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
/// let stream = gpu.stream()?;
/// let image = stream.array(&[0.0_f32, 1.0, 2.0, 3.0], Extent2 { width: 2, height: 2 })?;
/// let smooth = image.texture(TextureOptions { filter: Filter::Linear, ..Default::default() })?;
/// assert_ne!(smooth.object(), 0);
/// drop(image); // The texture keeps the texels.
/// # Ok(())
/// # }
/// ```
pub struct Texture<T: Texel, D: ArrayExtents> {
    allocation: Arc<Allocation>,
    object: u64,
    extents: D,
    of: PhantomData<T>,
}

/// A way to read and write an array in kernels (CUDA C++ Programming Guide, "Surface Object API").
///
/// It keeps the array's memory, and goes to a kernel as its object's number, for a parameter of type `u64`: the launch counts as a write of
/// the array and is put in order as such. Kernels number x in bytes. What is written is seen by fetches of later launches, not of the same
/// one.
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
    allocation: Arc<Allocation>,
    object: u64,
    extents: D,
    of: PhantomData<T>,
}

impl<T: Texel, D: ArrayExtents> Array<T, D> {
    /// A texture of the array. Textures with the same options are one object.
    ///
    /// # Errors
    ///
    /// The options contradict each other or the texels: coordinates in texels that wrap, integers that are to be filtered.
    pub fn texture(&self, options: TextureOptions) -> Result<Texture<T, D>> {
        let sampling = options.describe::<T>()?;
        let object = self
            .block
            .texture(&self.allocation.gpu, options, &sampling)?;
        Ok(Texture {
            allocation: self.allocation.clone(),
            object,
            extents: self.extents,
            of: PhantomData,
        })
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
        Ok(Surface {
            allocation: self.allocation.clone(),
            object: self.block.surface(&self.allocation.gpu)?,
            extents: self.extents,
            of: PhantomData,
        })
    }
}

macro_rules! objects {
    ($($object:ident),*) => {$(
        impl<T: Texel, D: ArrayExtents> $object<T, D> {
            /// The object's number, for foreign code. It is valid as long as this lives.
            pub fn object(&self) -> u64 {
                self.object
            }

            /// The array's extents.
            pub fn extents(&self) -> D {
                self.extents
            }

            /// The array as what a launch uses.
            pub(crate) fn view(&self) -> RawView<'_> {
                RawView {
                    allocation: Some(&self.allocation),
                    address: self.allocation.base,
                    bytes: self.allocation.bytes,
                    len: self.allocation.bytes / size_of::<T>(),
                    scope: ViewScope::Shared,
                }
            }
        }

        impl<T: Texel, D: ArrayExtents> std::fmt::Debug for $object<T, D> {
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

objects!(Texture, Surface);

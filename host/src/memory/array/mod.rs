//! CUDA arrays: texels in a layout that only the driver knows, for textures and surfaces.
//!
//! | file | what |
//! | --- | --- |
//! | `texel` | what an array is made of |
//! | `extents` | how many dimensions and layers it has, and which of them a device can have |
//! | `copies` | copies between arrays, buffers and the host, as methods of the stream |
//! | `sampling` | how textures are read |
//! | `objects` | textures and surfaces |
//! | `linear` | textures of memory that has an address |
//! | `texture_objects` | the driver's texture objects, and how long they live |
//! | `block` | the driver's objects, and how they are freed |

pub(super) mod block;
mod copies;
mod extents;
mod linear;
mod objects;
mod sampling;
mod texel;
pub(super) mod texture_objects;

use std::marker::PhantomData;
use std::sync::Arc;

use warpsmith_driver::raw;

pub(crate) use copies::{TexelSide, check_same_extents, texel_copy};
pub use extents::{ArrayExtents, Extent1, Extent2, Extent3, Layered1, Layered2};
pub use linear::{LinearTexture, PitchedTexture};
pub use objects::{Surface, Texture};
pub use sampling::{AddressMode, Coordinates, Filter, TextureOptions};
pub use texel::{NormalisedTexel, Texel};

use self::block::ArrayBlock;
use super::allocation::Allocation;
use super::view::RawView;
use crate::error::Result;
use crate::order::access::ViewScope;
use crate::stream::Stream;

/// A CUDA array of texels (CUDA C++ Programming Guide, "CUDA Arrays"): memory whose layout is made for fetches of neighbours, and that
/// kernels reach by textures and surfaces alone. It has no address.
///
/// It is made with its contents ([`Stream::array`], [`Stream::array_zeroed`]), is used, ordered and kept as a
/// [`DeviceBuffer`](crate::DeviceBuffer) is, and is freed some time after its last use. `D` says how many dimensions it has: [`Extent1`],
/// [`Extent2`], [`Extent3`], [`Layered1`] or [`Layered2`].
///
/// ```
/// use warpsmith_host::prelude::*;
/// use warpsmith_host::Extent2;
///
/// # fn main() -> Result<()> {
/// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
/// let stream = gpu.stream()?;
/// let texels: Vec<[u8; 4]> = (0..6).map(|i| [i, 0, 0, 255]).collect();
/// let image = stream.array(&texels, Extent2 { width: 3, height: 2 })?;
/// assert_eq!(stream.download_array(&image)?, texels);
/// # Ok(())
/// # }
/// ```
// covers: SURF-01, MEM-08
pub struct Array<T: Texel, D: ArrayExtents> {
    pub(super) allocation: Arc<Allocation>,
    block: Arc<ArrayBlock>,
    for_surfaces: bool,
    extents: D,
    of: PhantomData<T>,
}

impl<T: Texel, D: ArrayExtents> Array<T, D> {
    /// Of undefined contents.
    fn raw(stream: &Stream, extents: D, for_surfaces: bool) -> Result<Array<T, D>> {
        stream.handle.refuse_capture(block::CALL)?;
        let gpu = &stream.gpu;
        let bytes = extents::checked_texels(extents).unwrap_or(0) * size_of::<T>();
        let mut descriptor = extents::descriptor::<T, D>(gpu, extents)?;
        if for_surfaces {
            descriptor.Flags |= raw::CUDA_ARRAY3D_SURFACE_LDST;
        }
        let block = Arc::new(ArrayBlock::new(gpu, descriptor, bytes)?);
        Ok(Array {
            allocation: Allocation::of_array(gpu, block.clone()),
            block,
            for_surfaces,
            extents,
            of: PhantomData,
        })
    }

    /// Width, height, layers: as it was made.
    pub fn extents(&self) -> D {
        self.extents
    }

    /// Texels, in all layers.
    // An array has at least one.
    #[expect(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        self.block.bytes / size_of::<T>()
    }

    /// The whole array as what work uses.
    pub(crate) fn view(&self) -> RawView<'_> {
        RawView {
            allocation: Some(&self.allocation),
            address: self.allocation.base(),
            bytes: self.block.bytes,
            len: self.len(),
            // Its textures and surfaces are beside it.
            scope: ViewScope::Shared,
        }
    }
}

impl<T: Texel, D: ArrayExtents> std::fmt::Debug for Array<T, D> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "Array<{}>[{:?}]",
            std::any::type_name::<T>(),
            self.extents
        )
    }
}

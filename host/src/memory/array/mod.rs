//! CUDA arrays: texels in a layout that only the driver knows, for textures and surfaces.
//!
//! | file | what |
//! | --- | --- |
//! | `texel` | what an array is made of |
//! | `extents` | how many dimensions and layers it has, and which of them a device can have |
//! | `mipmapped` | arrays of several levels, each half as long as the one before |
//! | `external` | such arrays in memory that another program interface made |
//! | `filled` | new arrays, of given texels or of zeros |
//! | `region` | parts of arrays |
//! | `texel_copy` | copies in the driver's form |
//! | `copies` | copies between arrays, buffers and the host, as methods of the stream |
//! | `sampling` | how textures are read |
//! | `objects` | textures and surfaces |
//! | `views` | textures that take an array's texels for others |
//! | [`compressed`] | textures of compressed blocks of pixels |
//! | `linear` | textures of memory that has an address |
//! | `texture_objects` | the driver's texture objects, and how long they live |
//! | `block` | the driver's objects, and how they are freed |

pub(super) mod block;
pub mod compressed;
mod copies;
mod extents;
mod external;
mod filled;
mod linear;
mod mipmapped;
mod objects;
mod region;
mod sampling;
mod texel;
mod texel_copy;
pub(super) mod texture_objects;
mod views;

use std::marker::PhantomData;
use std::sync::Arc;

use warpsmith_driver::raw;

pub(in crate::memory) use copies::check_different_levels;
pub(crate) use copies::check_same_extents;
pub use extents::{
    ArrayExtents, Cube, Extent1, Extent2, Extent3, Gather2, LayerExtents, Layered1, Layered2,
    LayeredCube, LevelExtents,
};
pub use external::ExternalArrayOptions;
pub use linear::{LinearTexture, PitchedTexture};
pub use mipmapped::MipmappedArray;
pub use objects::{MipmappedTexture, Surface, Texture};
pub(in crate::memory) use region::Region;
pub use sampling::{AddressMode, Coordinates, Filter, LevelOptions, TextureOptions};
pub use texel::{NormalisedTexel, Texel};
pub(crate) use texel_copy::{TexelSide, texel_copy};
pub use views::TexelView;

use self::block::ArrayBlock;
use super::allocation::Allocation;
use super::view::RawView;
use crate::driver_call::handle::Handle;
use crate::error::Result;
use crate::order::access::ViewScope;
use crate::stream::Stream;

/// A CUDA array of texels (CUDA C++ Programming Guide, "CUDA Arrays"): memory whose layout is made for fetches of neighbours, and that
/// kernels reach by textures and surfaces alone. It has no address.
///
/// It is made with its contents ([`Stream::array`], [`Stream::array_zeroed`]), is used, ordered and kept as a
/// [`DeviceBuffer`](crate::DeviceBuffer) is, and is freed some time after its last use. `D` says how many dimensions it has: [`Extent1`],
/// [`Extent2`], [`Extent3`], [`Layered1`], [`Layered2`], [`Gather2`], [`Cube`] or [`LayeredCube`].
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
    /// The block's array, or a level of it.
    texels: Handle<raw::CUarray>,
    /// Where in the allocation its bytes are counted: those of the levels before it come first.
    offset: u64,
    for_surfaces: bool,
    extents: D,
    of: PhantomData<T>,
}

/// # Errors
///
/// The stream is being captured, where no array is made.
fn refuse_capture(stream: &Stream, call: &'static str) -> Result<()> {
    stream.handle.refuse_capture(
        call,
        "an array is allocated at once, and would have no contents before the graph is launched",
        "make the array before the capture; inside, uploads and copies write it at each launch",
    )
}

impl<T: Texel, D: ArrayExtents> Array<T, D> {
    /// Of undefined contents.
    fn raw(stream: &Stream, extents: D, for_surfaces: bool) -> Result<Array<T, D>> {
        refuse_capture(stream, block::CALL)?;
        let gpu = &stream.gpu;
        let descriptor = extents::descriptor::<T, D>(gpu, extents, for_surfaces, block::CALL)?;
        let (block, texels) = ArrayBlock::new(gpu, descriptor, bytes_of::<T, D>(extents))?;
        let block = Arc::new(block);
        Ok(Array {
            allocation: Allocation::of_array(gpu, block.clone()),
            block,
            texels,
            offset: 0,
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
        self.bytes() / size_of::<T>()
    }

    fn bytes(&self) -> usize {
        bytes_of::<T, D>(self.extents)
    }

    /// The driver's array, of a mipmapped array's level that level's.
    pub(super) fn handle(&self) -> Handle<raw::CUarray> {
        self.texels
    }

    /// The whole array as what work uses.
    pub(crate) fn view(&self) -> RawView<'_> {
        RawView {
            allocation: Some(&self.allocation),
            address: self.allocation.base() + self.offset,
            bytes: self.bytes(),
            len: self.len(),
            // Its textures and surfaces are beside it.
            scope: ViewScope::Shared,
            peer: None,
        }
    }
}

/// The bytes of the texels; 0 where 64 bits do not count them, which no device has.
fn bytes_of<T: Texel, D: ArrayExtents>(extents: D) -> usize {
    let texels = extents.texels();
    texels
        .and_then(|texels| texels.checked_mul(size_of::<T>()))
        .unwrap_or(0)
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

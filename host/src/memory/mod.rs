//! Memory that the device can reach.
//!
//! | type | where | host reaches it | device reaches it |
//! | --- | --- | --- | --- |
//! | [`DeviceBuffer`] | device, from a [`MemoryPool`] | by copies | yes |
//! | [`PitchedBuffer`] | device, from a [`MemoryPool`]; a matrix with padded rows | by copies | yes |
//! | [`PitchedVolume`] | the same in layers: a volume with padded rows | by copies | yes |
//! | [`Array`], [`MipmappedArray`] | device, in a layout that only the driver knows | by copies | by textures and surfaces |
//! | [`PinnedBuffer`] | host, page-locked | by guards | by copies, which overlap kernels |
//! | [`MappedBuffer`] | host, page-locked | by guards | yes, over the bus |
//! | [`RegisteredBuffer`] | host, a `Vec` that was page-locked | by guards | yes, over the bus |
//! | [`WriteCombinedBuffer`] | host, page-locked and not cached | writes | reads, over the bus |
//! | [`GrowableBuffer`] | device, mapped into reserved addresses | by copies | yes |
//! | [`UnifiedBuffer`] | wherever it was used last | by guards | yes |
//! | [`UnifiedUninit`] | the same without contents | | |
//! | [`ExternalMemory`] | another program interface's | | by buffers and arrays that are mapped of it |
//! | [`AnyBuffer`] | one of device, unified and mapped: what could be had | | yes |
//! | [`Arena`] | parts of any of these | | |
//! | [`SharedAtomics`] | host, page-locked, or unified | at any time, atomically | by atomics of system scope |
//! | [`StreamFlag`] | host, page-locked | at any time, atomically | by waits and writes of streams |
//!
//! All of them know which streams use them: what conflicts is put in order, memory is freed after its last use, and the host is
//! kept out while the device is in. None of that depends on a destructor being run: a forgotten guard or buffer leaks.

mod access_policy;
pub(crate) mod adopted;
pub(crate) mod allocation;
mod any_buffer;
mod arena;
mod array;
mod at_once;
mod batch;
mod box_copy;
mod buffer;
mod cast;
mod chunks;
pub(crate) mod copy;
mod copy_2d;
mod copy_batch;
mod copy_batch_boxes;
mod descriptor;
mod discard;
mod divided;
mod download;
mod exportable;
mod external;
mod facts;
mod flag;
mod foreign;
mod foreign_call;
mod foreign_outcome;
mod foreign_trace;
mod freed_block;
mod hints;
pub(crate) mod host_block;
mod host_memory;
mod linear_copy;
mod matrix;
mod peer;
pub(crate) mod peer_access;
mod peer_boxes;
mod pinned;
mod pinned_slice;
mod pitched;
mod pitched_volume;
mod pool;
mod pooled;
mod prefetch_batch;
mod registered;
mod released;
mod shared_atomics;
pub(crate) mod size;
mod slice;
mod unified;
pub(crate) mod used;
pub(crate) mod view;
mod virtual_memory;
mod volume;
mod whole_buffer;
mod write_combined;

pub use access_policy::{AccessPolicyWindow, AccessProperty, MissProperty};
pub use any_buffer::AnyBuffer;
pub use arena::Arena;
pub use array::{
    AddressMode, Array, ArrayExtents, Coordinates, Cube, Extent1, Extent2, Extent3,
    ExternalArrayOptions, Filter, Gather2, LayerExtents, Layered1, Layered2, LayeredCube,
    LevelExtents, LevelOptions, LinearTexture, MipmappedArray, MipmappedTexture, NormalisedTexel,
    PitchedTexture, Surface, Texel, TexelView, Texture, TextureOptions, compressed,
};
pub(crate) use array::{TexelSide, check_same_extents, texel_copy};
pub use buffer::DeviceBuffer;
pub use chunks::Chunks;
pub(crate) use copy_2d::{check_length, check_same_shape};
pub use copy_batch::CopyBatch;
pub use discard::{DiscardBatch, UnifiedUninit};
pub use download::Download;
pub use external::{ExternalMemory, ExternalMemoryOptions};
pub use flag::{FlagOperations, FlagWord, StreamFlag, Wait};
pub use foreign::{ForeignMemory, ForeignWork};
pub use foreign_call::{ForeignCall, ForeignUse};
pub use foreign_outcome::{ForeignOutcome, Revocable};
pub use hints::{Advice, HintedLocation, Location, UnifiedHints};
pub(crate) use host_memory::KeptOut;
pub use host_memory::{HostRead, HostWrite};
pub(crate) use matrix::Shape;
pub use matrix::{Matrix, MatrixMut};
pub use peer_access::PeerAccess;
pub use pinned::{MappedBuffer, PinnedBuffer};
pub use pinned_slice::{PinnedRead, PinnedSlice, PinnedSliceMut, PinnedWrite};
pub use pitched::PitchedBuffer;
pub use pitched_volume::PitchedVolume;
pub use pool::{
    ImportedPool, MemoryPool, PoolAllocator, PoolOptions, PoolPointer, PoolUsage, ReusePolicy,
};
pub use prefetch_batch::PrefetchBatch;
pub use registered::RegisteredBuffer;
pub use shared_atomics::{SharedAtomics, SharedWord};
pub use slice::{DeviceSlice, DeviceSliceMut};
pub use unified::{Attach, UnifiedBuffer};
pub use view::{DevicePointer, DeviceRead, DeviceWrite};
pub(crate) use virtual_memory::device_location;
pub use virtual_memory::{
    GrowableBuffer, MappingAccess, MulticastBuffer, MulticastReplica, PhysicalMemory,
    PhysicalOptions,
};
pub use volume::VolumeMut;
pub use write_combined::{CombinedWrite, WriteCombinedBuffer};

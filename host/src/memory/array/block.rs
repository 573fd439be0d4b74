//! The driver's objects behind an array, plain or mipmapped: itself, and the textures and the surfaces that were made of it, which live as
//! long.

use std::panic::RefUnwindSafe;
use std::ptr::null_mut;
use std::sync::{Arc, Mutex};

use warpsmith_driver::raw;

use super::texture_objects::{Reading, Texels, TextureObjects};
use crate::context::primary::Context;
use crate::driver_call::call;
use crate::driver_call::handle::Handle;
use crate::error::Result;
use crate::gpu::open_device::OpenDevice;
use crate::reclaim::{FreeCost, Reclaim};
use crate::sync::lock;
use crate::trace::work::Work;

/// The call that makes one.
pub(super) const CALL: &str = "cuArray3DCreate";

/// An array of the driver's. It is no owner: whoever has it last gives it to [`DeviceState::retire`](crate::gpu::open_device::DeviceState)
/// as an [`UnusedArray`].
pub(crate) struct ArrayBlock {
    array: Owned,
    /// All texels' bytes.
    pub(crate) bytes: usize,
    textures: TextureObjects,
    /// Of the array, or of its levels.
    surfaces: Mutex<Vec<(Handle<raw::CUarray>, raw::CUsurfObject)>>,
    /// What the memory is part of, if it is not the array's own.
    _part_of: Option<Arc<dyn Send + Sync>>,
}

/// The rest has locks or does not change; what the memory is part of is dropped alone.
impl RefUnwindSafe for ArrayBlock {}

/// What the driver was asked for.
enum Owned {
    Plain(Handle<raw::CUarray>),
    /// Its levels end with it.
    Mipmapped(Handle<raw::CUmipmappedArray>),
}

impl std::fmt::Debug for ArrayBlock {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.array {
            Owned::Plain(array) => write!(f, "array {:?}", array.raw()),
            Owned::Mipmapped(array) => write!(f, "mipmapped array {:?}", array.raw()),
        }?;
        write!(f, " of {} bytes", self.bytes)
    }
}

impl ArrayBlock {
    /// An array, and the handle that it has.
    ///
    /// # Errors
    ///
    /// The device has too little memory.
    pub(super) fn new(
        gpu: &OpenDevice,
        descriptor: raw::CUDA_ARRAY3D_DESCRIPTOR,
        bytes: usize,
    ) -> Result<(ArrayBlock, Handle<raw::CUarray>)> {
        gpu.bind()?;
        gpu.reclaim();
        let mut array = null_mut();
        gpu.traced_on_host(
            || Work::call(CALL, bytes),
            // SAFETY: the driver writes one handle to `array` and reads the description before the call returns.
            || unsafe { call!(cuArray3DCreate_v2(&mut array, &descriptor)) },
        )
        .map_err(|error| error.while_doing(|| format!("{bytes} bytes of texels")))?;
        let array = Handle::new(array);
        Ok((ArrayBlock::owning(Owned::Plain(array), bytes, None), array))
    }

    /// A mipmapped array of so many levels, and the handle that it has.
    ///
    /// # Errors
    ///
    /// The device has too little memory.
    pub(super) fn mipmapped(
        gpu: &OpenDevice,
        descriptor: raw::CUDA_ARRAY3D_DESCRIPTOR,
        levels: u32,
        bytes: usize,
    ) -> Result<(ArrayBlock, Handle<raw::CUmipmappedArray>)> {
        gpu.bind()?;
        gpu.reclaim();
        let mut array = null_mut();
        // SAFETY: the driver writes one handle to `array` and reads the description before the call returns.
        unsafe { call!(cuMipmappedArrayCreate(&mut array, &descriptor, levels)) }
            .map_err(|error| error.while_doing(|| format!("{bytes} bytes of texels")))?;
        let array = Handle::new(array);
        let block = ArrayBlock::owning(Owned::Mipmapped(array), bytes, None);
        Ok((block, array))
    }

    /// A mipmapped array that was just mapped of memory, which it keeps until it has been destroyed.
    pub(super) fn mapped(
        array: Handle<raw::CUmipmappedArray>,
        bytes: usize,
        part_of: Arc<dyn Send + Sync>,
    ) -> ArrayBlock {
        ArrayBlock::owning(Owned::Mipmapped(array), bytes, Some(part_of))
    }

    fn owning(array: Owned, bytes: usize, part_of: Option<Arc<dyn Send + Sync>>) -> ArrayBlock {
        ArrayBlock {
            array,
            bytes,
            textures: TextureObjects::default(),
            surfaces: Mutex::default(),
            _part_of: part_of,
        }
    }

    /// The texture object that reads so.
    ///
    /// # Errors
    ///
    /// The driver refuses.
    ///
    /// # Safety
    ///
    /// The texels are this array's, or those of a level of it.
    pub(super) unsafe fn texture(
        &self,
        gpu: &OpenDevice,
        reading: Reading,
        sampling: &raw::CUDA_TEXTURE_DESC,
    ) -> Result<raw::CUtexObject> {
        // SAFETY: the array exists as long as its block, which is kept by its allocation, and this by whatever uses an object; the texels are
        // in it by the caller's contract.
        unsafe { self.textures.object(gpu, reading, sampling) }
    }

    /// The surface object of the array, or of a level of it.
    ///
    /// # Errors
    ///
    /// The driver refuses.
    ///
    /// # Safety
    ///
    /// `array` is that.
    pub(super) unsafe fn surface(
        &self,
        gpu: &OpenDevice,
        array: Handle<raw::CUarray>,
    ) -> Result<raw::CUsurfObject> {
        gpu.bind()?;
        let mut known = lock(&self.surfaces);
        if let Some((_, object)) = known.iter().find(|(other, _)| *other == array) {
            return Ok(*object);
        }
        let (mut object, resource) = (0, Texels::Array(array).resource());
        // SAFETY: the driver writes one number to `object` and reads the description before the call returns; the array exists as long as
        // its block (the caller's contract), which destroys the object.
        unsafe { call!(cuSurfObjectCreate(&mut object, &resource)) }?;
        known.push((array, object));
        Ok(object)
    }

    /// Destroys everything.
    ///
    /// # Safety
    ///
    /// Nothing uses the array or its objects, now or later.
    unsafe fn destroy(&self) -> Result<()> {
        // SAFETY: nothing uses them, by the caller's contract.
        unsafe { self.textures.destroy() }?;
        for (_, object) in std::mem::take(&mut *lock(&self.surfaces)) {
            // SAFETY: cuSurfObjectCreate gave the object, and nothing uses it by the caller's contract.
            unsafe { call!(cuSurfObjectDestroy(object)) }?;
        }
        match self.array {
            // SAFETY: cuArray3DCreate gave the array, and nothing uses it by the caller's contract.
            Owned::Plain(array) => unsafe { call!(cuArrayDestroy(array.raw())) },
            // SAFETY: cuMipmappedArrayCreate or cuExternalMemoryGetMappedMipmappedArray gave the array, and nothing uses it or a level by
            // the caller's contract.
            Owned::Mipmapped(array) => unsafe { call!(cuMipmappedArrayDestroy(array.raw())) },
        }
    }
}

/// An array whose last owner was dropped.
pub(crate) struct UnusedArray(pub(crate) Arc<ArrayBlock>);

impl Reclaim for UnusedArray {
    fn bytes(&self) -> usize {
        self.0.bytes
    }

    fn free_cost(&self) -> FreeCost {
        FreeCost::WaitsForIdleDevice
    }

    fn free(self: Box<Self>, _context: &Context) -> Result<()> {
        // SAFETY: the allocation that had the array, and so all arrays, textures and surfaces that hold it, were dropped; `Reclaim::free`
        // is called when nothing on the device uses it.
        unsafe { self.0.destroy() }
    }
}

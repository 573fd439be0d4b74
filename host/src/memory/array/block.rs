//! The driver's objects behind an array: itself, and the textures and the surface that were made of it, which live as long.

use std::ptr::null_mut;
use std::sync::{Arc, Mutex};

use warpsmith_driver::raw;

use super::sampling::{ReadMode, TextureOptions};
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
    pub(super) array: Handle<raw::CUarray>,
    /// All texels' bytes.
    pub(crate) bytes: usize,
    textures: TextureObjects,
    surface: Mutex<Option<raw::CUsurfObject>>,
}

impl std::fmt::Debug for ArrayBlock {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "array {:?} of {} bytes", self.array.raw(), self.bytes)
    }
}

impl ArrayBlock {
    /// # Errors
    ///
    /// The device has too little memory.
    pub(super) fn new(
        gpu: &OpenDevice,
        descriptor: raw::CUDA_ARRAY3D_DESCRIPTOR,
        bytes: usize,
    ) -> Result<ArrayBlock> {
        gpu.bind()?;
        gpu.reclaim();
        let mut array = null_mut();
        gpu.traced_on_host(
            || Work::call(CALL, bytes),
            // SAFETY: the driver writes one handle to `array` and reads the description before the call returns.
            || unsafe { call!(cuArray3DCreate_v2(&mut array, &descriptor)) },
        )
        .map_err(|error| error.while_doing(|| format!("{bytes} bytes of texels")))?;
        Ok(ArrayBlock {
            array: Handle::new(array),
            bytes,
            textures: TextureObjects::default(),
            surface: Mutex::default(),
        })
    }

    /// The texture object that reads the array so.
    ///
    /// # Errors
    ///
    /// The driver refuses.
    pub(super) fn texture(
        &self,
        gpu: &OpenDevice,
        (options, read): (TextureOptions, ReadMode),
        sampling: &raw::CUDA_TEXTURE_DESC,
    ) -> Result<raw::CUtexObject> {
        let reading = Reading {
            texels: Texels::Array(self.array),
            options,
            read,
        };
        // SAFETY: the array exists as long as its block, which is kept by its allocation, and this by whatever uses an object.
        unsafe { self.textures.object(gpu, reading, sampling) }
    }

    /// The array's surface object.
    ///
    /// # Errors
    ///
    /// The driver refuses.
    pub(super) fn surface(&self, gpu: &OpenDevice) -> Result<raw::CUsurfObject> {
        gpu.bind()?;
        let mut known = lock(&self.surface);
        if let Some(object) = *known {
            return Ok(object);
        }
        let (mut object, resource) = (0, Texels::Array(self.array).resource());
        // SAFETY: the driver writes one number to `object` and reads the description before the call returns; the array exists as long as
        // its block, which destroys the object.
        unsafe { call!(cuSurfObjectCreate(&mut object, &resource)) }?;
        *known = Some(object);
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
        if let Some(object) = lock(&self.surface).take() {
            // SAFETY: cuSurfObjectCreate gave the object, and nothing uses it by the caller's contract.
            unsafe { call!(cuSurfObjectDestroy(object)) }?;
        }
        // SAFETY: cuArray3DCreate gave the array, and nothing uses it by the caller's contract.
        unsafe { call!(cuArrayDestroy(self.array.raw())) }
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

//! The driver's objects behind an array: itself, and the textures and the surface that were made of it.
//!
//! A texture or surface object lives as long as its array, whoever has dropped what: a launch that was captured holds the array's memory and
//! knows the object by number only.

use std::ptr::null_mut;
use std::sync::{Arc, Mutex};

use warpsmith_driver::raw;

use super::sampling::TextureOptions;
use crate::context::primary::Context;
use crate::driver_call::call;
use crate::driver_call::handle::Handle;
use crate::error::Result;
use crate::gpu::open_device::OpenDevice;
use crate::reclaim::{FreeCost, Reclaim};
use crate::sync::lock;

/// The call that makes one.
pub(super) const CALL: &str = "cuArray3DCreate";

/// An array of the driver's. It is no owner: whoever has it last gives it to [`DeviceState::retire`](crate::gpu::open_device::DeviceState)
/// as an [`UnusedArray`].
pub(crate) struct ArrayBlock {
    pub(super) array: Handle<raw::CUarray>,
    /// All texels' bytes.
    pub(crate) bytes: usize,
    /// One object for each way to read it.
    textures: Mutex<Vec<(TextureOptions, raw::CUtexObject)>>,
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
        // SAFETY: the driver writes one handle to `array` and reads the description before the call returns.
        unsafe { call!(cuArray3DCreate_v2(&mut array, &descriptor)) }
            .map_err(|error| error.while_doing(|| format!("{bytes} bytes of texels")))?;
        Ok(ArrayBlock {
            array: Handle::new(array),
            bytes,
            textures: Mutex::default(),
            surface: Mutex::default(),
        })
    }

    /// The array as a resource.
    fn resource(&self) -> raw::CUDA_RESOURCE_DESC {
        let mut resource = raw::CUDA_RESOURCE_DESC {
            resType: raw::CUresourcetype::CU_RESOURCE_TYPE_ARRAY,
            ..Default::default()
        };
        resource.res.array.hArray = self.array.raw();
        resource
    }

    /// The texture object that reads the array so.
    ///
    /// # Errors
    ///
    /// The driver refuses.
    pub(super) fn texture(
        &self,
        gpu: &OpenDevice,
        options: TextureOptions,
        sampling: &raw::CUDA_TEXTURE_DESC,
    ) -> Result<raw::CUtexObject> {
        gpu.bind()?;
        let mut known = lock(&self.textures);
        if let Some((_, object)) = known.iter().find(|(others, _)| *others == options) {
            return Ok(*object);
        }
        let (mut object, resource) = (0, self.resource());
        // SAFETY: the driver writes one number to `object` and reads the descriptions before the call returns; the array exists as long as
        // its block, which destroys the object.
        unsafe {
            call!(cuTexObjectCreate(
                &mut object,
                &resource,
                sampling,
                std::ptr::null()
            ))
        }?;
        known.push((options, object));
        Ok(object)
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
        let (mut object, resource) = (0, self.resource());
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
        let textures = std::mem::take(&mut *lock(&self.textures));
        for (_, object) in textures {
            // SAFETY: cuTexObjectCreate gave the object, and nothing uses it by the caller's contract.
            unsafe { call!(cuTexObjectDestroy(object)) }?;
        }
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

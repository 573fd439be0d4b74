//! The driver's object behind an array.

use std::ptr::null_mut;

use warpsmith_driver::raw;

use crate::context::primary::Context;
use crate::driver_call::call;
use crate::driver_call::handle::Handle;
use crate::error::Result;
use crate::gpu::open_device::OpenDevice;
use crate::reclaim::{FreeCost, Reclaim};

/// The call that makes one.
pub(super) const CALL: &str = "cuArray3DCreate";

/// An array of the driver's. It is no owner: whoever has it last gives it to [`DeviceState::retire`](crate::gpu::open_device::DeviceState).
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct ArrayBlock {
    pub(crate) array: Handle<raw::CUarray>,
    /// All texels' bytes.
    pub(crate) bytes: usize,
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
        })
    }
}

impl Reclaim for ArrayBlock {
    fn bytes(&self) -> usize {
        self.bytes
    }

    fn free_cost(&self) -> FreeCost {
        FreeCost::WaitsForIdleDevice
    }

    fn free(self: Box<Self>, _context: &Context) -> Result<()> {
        // SAFETY: cuArray3DCreate gave the array to the allocation that was dropped; `Reclaim::free` is called when nothing on the device
        // uses it.
        unsafe { call!(cuArrayDestroy(self.array.raw())) }
    }
}

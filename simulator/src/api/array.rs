//! CUDA arrays.

use super::entry::*;
use crate::context::current;
use crate::memory::array::{ARRAYS, Array, ArrayShape, NewArray};
use crate::streams::capture;

driver_calls! {
    Ready fn cuArrayCreate_v2(pHandle: *mut CUarray, pAllocateArray: *const CUDA_ARRAY_DESCRIPTOR) {
        let given = parameters(pAllocateArray)?;
        let descriptor = CUDA_ARRAY3D_DESCRIPTOR {
            Width: given.Width,
            Height: given.Height,
            Depth: 0,
            Format: given.Format,
            NumChannels: given.NumChannels,
            Flags: 0,
        };
        create(pHandle, descriptor, "cuArrayCreate")?;
    }

    Ready fn cuArray3DCreate_v2(pHandle: *mut CUarray, pAllocateArray: *const CUDA_ARRAY3D_DESCRIPTOR) {
        create(pHandle, *parameters(pAllocateArray)?, "cuArray3DCreate")?;
    }

    Ready fn cuArrayDestroy(hArray: CUarray) {
        let context = current()?;
        capture::refuse_unsafe_call()?;
        ARRAYS.get(hArray)?;
        // As a plain free: what was enqueued before may still use it.
        context.wait_for_device();
        Array::destroy(hArray)?;
    }

    Ready fn cuArrayGetDescriptor_v2(pArrayDescriptor: *mut CUDA_ARRAY_DESCRIPTOR, hArray: CUarray) {
        current()?;
        let is = ARRAYS.get(hArray)?.shape.descriptor();
        put(pArrayDescriptor, CUDA_ARRAY_DESCRIPTOR {
            Width: is.Width,
            Height: is.Height,
            Format: is.Format,
            NumChannels: is.NumChannels,
        })?;
    }

    Ready fn cuArray3DGetDescriptor_v2(pArrayDescriptor: *mut CUDA_ARRAY3D_DESCRIPTOR, hArray: CUarray) {
        current()?;
        put(pArrayDescriptor, ARRAYS.get(hArray)?.shape.descriptor())?;
    }
}

/// Makes an array.
///
/// # Safety
///
/// `to` is null or valid for writing.
unsafe fn create(
    to: *mut CUarray,
    descriptor: CUDA_ARRAY3D_DESCRIPTOR,
    by: &'static str,
) -> Result {
    let context = current()?;
    capture::refuse_unsafe_call()?;
    if to.is_null() {
        return Err(code::INVALID_VALUE);
    }
    let shape = ArrayShape::new(descriptor, context.device)?;
    let memory = NewArray::allocate(context.id(), context.device, shape, by)?;
    let array = context.add_to(&ARRAYS, |handle| memory.with_handle(handle));
    // SAFETY: not null, so valid for writing by the caller's contract.
    unsafe { put(to, array.handle as CUarray) }
}

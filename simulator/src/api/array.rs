//! CUDA arrays, plain and mipmapped.

use std::convert::Infallible;
use std::sync::Arc;

use super::entry::*;
use crate::context::{Context, current};
use crate::memory::array::{ARRAYS, Array, ArrayShape, MIPMAPPED_ARRAYS, Mipmapped, NewArray};
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

    Ready fn cuMipmappedArrayCreate(
        pHandle: *mut CUmipmappedArray, pMipmappedArrayDesc: *const CUDA_ARRAY3D_DESCRIPTOR, numMipmapLevels: c_uint,
    ) {
        let context = current()?;
        capture::refuse_unsafe_call()?;
        let descriptor = *parameters(pMipmappedArrayDesc)?;
        if pHandle.is_null() {
            return Err(code::INVALID_VALUE);
        }
        let shape = ArrayShape::of_mipmapped(descriptor, context.device)?;
        let levels = Mipmapped::allocate(context.id(), context.device, &shape, numMipmapLevels)?;
        pHandle.write(enter_levels(&context, shape, levels));
    }

    Ready fn cuMipmappedArrayGetLevel(pLevelArray: *mut CUarray, hMipmappedArray: CUmipmappedArray, level: c_uint) {
        current()?;
        let level = MIPMAPPED_ARRAYS.get(hMipmappedArray)?.level(level)?;
        put(pLevelArray, level.handle as CUarray)?;
    }

    Ready fn cuMipmappedArrayDestroy(hMipmappedArray: CUmipmappedArray) {
        let context = current()?;
        capture::refuse_unsafe_call()?;
        MIPMAPPED_ARRAYS.get(hMipmappedArray)?;
        // As a plain array's.
        context.wait_for_device();
        Mipmapped::destroy(hMipmappedArray)?;
    }

    Ready fn cuArrayGetSparseProperties(sparseProperties: *mut CUDA_ARRAY_SPARSE_PROPERTIES, array: CUarray) {
        mapped_later(sparseProperties, array, |array| ARRAYS.get(array))?;
    }

    Ready fn cuMipmappedArrayGetSparseProperties(
        sparseProperties: *mut CUDA_ARRAY_SPARSE_PROPERTIES, mipmap: CUmipmappedArray,
    ) {
        mapped_later(sparseProperties, mipmap, |mipmap| MIPMAPPED_ARRAYS.get(mipmap))?;
    }

    Ready fn cuArrayGetMemoryRequirements(
        memoryRequirements: *mut CUDA_ARRAY_MEMORY_REQUIREMENTS, array: CUarray, device: CUdevice,
    ) {
        // The same on each device.
        let _ = device;
        mapped_later(memoryRequirements, array, |array| ARRAYS.get(array))?;
    }
}

/// What is told of an array whose memory is mapped later. `ArrayShape` refuses the flags of such arrays, so it is no array's.
///
/// As measured: neither a context nor the result's place is looked at before, and a null array is an invalid value.
fn mapped_later<A, H, T>(
    to: *mut T,
    array: *mut H,
    array_of: impl FnOnce(*mut H) -> Result<A>,
) -> Result<Infallible> {
    let _ = to;
    if !array.is_null() {
        array_of(array)?;
    }
    Err(code::INVALID_VALUE)
}

/// Gives a mipmapped array and its levels handles; that of the whole.
pub(super) fn enter_levels(
    context: &Arc<Context>,
    shape: ArrayShape,
    levels: Vec<NewArray>,
) -> CUmipmappedArray {
    let levels = levels.into_iter().map(|level| {
        let level = context.add_to(&ARRAYS, |handle| level.level_with_handle(handle));
        level.handle
    });
    let levels = levels.collect();
    let mipmapped = context.add_to(&MIPMAPPED_ARRAYS, |handle| {
        Mipmapped::with_handle(handle, context.id(), shape, levels)
    });
    mipmapped.handle as CUmipmappedArray
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

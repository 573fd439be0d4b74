//! Memory of other program interfaces, imported by a file descriptor.

use super::array::enter_levels;
use super::descriptor::handed_over;
use super::entry::*;
use crate::context::current;
use crate::memory::array::{ArrayShape, Mipmapped};
use crate::memory::external::{EXTERNAL, Importable};

/// `CUDA_EXTERNAL_MEMORY_DEDICATED`: the memory is of one resource alone, which changes nothing here.
const DEDICATED: c_uint = 1;

driver_calls! {
    Ready fn cuImportExternalMemory(
        extMem_out: *mut CUexternalMemory, memHandleDesc: *const CUDA_EXTERNAL_MEMORY_HANDLE_DESC,
    ) {
        let context = current()?;
        let wish = parameters(memHandleDesc)?;
        if extMem_out.is_null() || wish.flags & !DEDICATED != 0 || wish.size == 0 {
            return Err(code::INVALID_VALUE);
        }
        match wish.type_ {
            CUexternalMemoryHandleType::CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD => {}
            // Of Windows, of other libraries.
            CUexternalMemoryHandleType_enum(2..=9) => return Err(code::NOT_SUPPORTED),
            _ => return Err(code::INVALID_VALUE),
        }
        let importable = Importable::new(handed_over(wish.handle.fd)?, wish.size)?;
        let object = context.add_to(&EXTERNAL, |handle| importable.into_object(handle, context.id(), context.device));
        extMem_out.write(object.handle as CUexternalMemory);
    }

    Ready fn cuExternalMemoryGetMappedBuffer(
        devPtr: *mut CUdeviceptr, extMem: CUexternalMemory, bufferDesc: *const CUDA_EXTERNAL_MEMORY_BUFFER_DESC,
    ) {
        refuse_null(extMem)?;
        current()?;
        let wish = parameters(bufferDesc)?;
        if devPtr.is_null() || wish.flags != 0 {
            return Err(code::INVALID_VALUE);
        }
        devPtr.write(EXTERNAL.get(extMem)?.map(wish.offset, wish.size)? as CUdeviceptr);
    }

    Ready fn cuExternalMemoryGetMappedMipmappedArray(
        mipmap: *mut CUmipmappedArray, extMem: CUexternalMemory,
        mipmapDesc: *const CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC,
    ) {
        refuse_null(extMem)?;
        let context = current()?;
        let wish = parameters(mipmapDesc)?;
        if mipmap.is_null() {
            return Err(code::INVALID_VALUE);
        }
        let memory = EXTERNAL.get(extMem)?;
        let shape = ArrayShape::of_external(wish.arrayDesc, context.device)?;
        let levels = Mipmapped::in_external(context.id(), &memory, wish.offset, &shape, wish.numLevels)?;
        mipmap.write(enter_levels(&context, shape, levels));
    }

    Ready fn cuDestroyExternalMemory(extMem: CUexternalMemory) {
        refuse_null(extMem)?;
        current()?;
        EXTERNAL.remove(extMem)?;
    }
}

/// As measured, null is an invalid value, also where no context is current.
fn refuse_null(memory: CUexternalMemory) -> Result {
    match memory.is_null() {
        true => Err(code::INVALID_VALUE),
        false => Ok(()),
    }
}

//! Semaphores of other program interfaces, imported by a file descriptor.

use super::descriptor::handed_over;
use super::entry::*;
use crate::context::current;
use crate::graph;
use crate::streams::semaphore::{
    Importable, SEMAPHORES, SemaphoreBatch, SemaphoreKind, SemaphoreParameters,
};
use crate::streams::{self, Operation};
use warpsmith_abi::fault::{Fault, FaultKind};

driver_calls! {
    Ready fn cuImportExternalSemaphore(
        extSem_out: *mut CUexternalSemaphore, semHandleDesc: *const CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC,
    ) {
        let context = current()?;
        let wish = parameters(semHandleDesc)?;
        if extSem_out.is_null() || wish.flags != 0 {
            return Err(code::INVALID_VALUE);
        }
        let kind = match wish.type_ {
            CUexternalSemaphoreHandleType::CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD => SemaphoreKind::Binary,
            CUexternalSemaphoreHandleType::CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_FD => SemaphoreKind::Timeline,
            // Of Windows, of other libraries.
            CUexternalSemaphoreHandleType_enum(2..=8 | 10) => return Err(code::NOT_SUPPORTED),
            _ => return Err(code::INVALID_VALUE),
        };
        let importable = Importable::new(handed_over(wish.handle.fd)?, kind)?;
        let object = context.add_to(&SEMAPHORES, |handle| importable.into_object(handle, context.id()));
        extSem_out.write(object.handle as CUexternalSemaphore);
    }

    Ready fn cuDestroyExternalSemaphore(extSem: CUexternalSemaphore) {
        let context = current()?;
        let semaphore = SEMAPHORES.remove(extSem)?;
        let pending = semaphore.destroy();
        if pending > 0 {
            let text = format!(
                "{semaphore} is destroyed before {pending} of the signals, waits and launches of graphs that use it are complete"
            );
            context.fail(Fault::outside_kernels(FaultKind::Other, text));
        }
    }

    Ready fn cuSignalExternalSemaphoresAsync(
        extSemArray: *const CUexternalSemaphore, paramsArray: *const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS,
        numExtSems: c_uint, stream: CUstream,
    ) {
        let stream = streams::find(stream)?;
        let batch = batch(extSemArray, paramsArray, numExtSems)?;
        graph::perform(&stream, Operation::SemaphoreSignal(batch))?;
    }

    Ready fn cuWaitExternalSemaphoresAsync(
        extSemArray: *const CUexternalSemaphore, paramsArray: *const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS,
        numExtSems: c_uint, stream: CUstream,
    ) {
        let stream = streams::find(stream)?;
        let batch = batch(extSemArray, paramsArray, numExtSems)?;
        graph::perform(&stream, Operation::SemaphoreWait(batch))?;
    }
}

/// What arrays describe.
///
/// # Safety
///
/// The arrays are null or have `count` entries.
pub(super) unsafe fn batch<P: SemaphoreParameters>(
    semaphores: *const CUexternalSemaphore,
    parameters: *const P,
    count: c_uint,
) -> Result<SemaphoreBatch<P>> {
    if semaphores.is_null() || parameters.is_null() {
        return Err(code::INVALID_VALUE);
    }
    let count = count as usize;
    // SAFETY: the arrays are not null, so they have `count` entries by the caller's contract.
    let (semaphores, parameters) = unsafe {
        (
            core::slice::from_raw_parts(semaphores, count),
            core::slice::from_raw_parts(parameters, count),
        )
    };
    SemaphoreBatch::new(semaphores, parameters)
}

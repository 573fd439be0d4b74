//! Memory and events of other processes, by handles.

use super::entry::*;
use crate::context::{current, while_quiet};
use crate::memory::AllocationKind;
use crate::memory::interprocess::{self, Recordings};
use crate::streams::{EVENTS, Event};

/// `CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS`
const LAZY_ENABLE_PEER_ACCESS: c_uint = 1;

driver_calls! {
    Ready fn cuIpcGetMemHandle(pHandle: *mut CUipcMemHandle, dptr: CUdeviceptr) {
        current()?;
        if pHandle.is_null() {
            return Err(code::INVALID_VALUE);
        }
        let bytes = interprocess::export(dptr as usize, while_quiet)?;
        pHandle.write(CUipcMemHandle { reserved: bytes.map(|byte| byte as c_char) });
    }

    Ready fn cuIpcOpenMemHandle_v2(pdptr: *mut CUdeviceptr, handle: CUipcMemHandle, Flags: c_uint) {
        let context = current()?;
        // As measured: the other bits are not looked at.
        if pdptr.is_null() || Flags & LAZY_ENABLE_PEER_ACCESS == 0 {
            return Err(code::INVALID_VALUE);
        }
        let bytes = handle.reserved.map(|byte| byte as u8);
        pdptr.write(interprocess::open(context.id(), &bytes)? as CUdeviceptr);
    }

    Ready fn cuIpcCloseMemHandle(dptr: CUdeviceptr) {
        let context = current()?;
        if interprocess::close(dptr as usize)? {
            let what = "memory of cuIpcOpenMemHandle";
            context.free(dptr as usize, |kind| kind == AllocationKind::Opened, what, "cuIpcCloseMemHandle")?;
        }
    }

    Ready fn cuIpcGetEventHandle(pHandle: *mut CUipcEventHandle, event: CUevent) {
        current()?;
        if pHandle.is_null() || event.is_null() {
            return Err(code::INVALID_VALUE);
        }
        let bytes = EVENTS.get(event)?.export()?;
        pHandle.write(CUipcEventHandle { reserved: bytes.map(|byte| byte as c_char) });
    }

    Ready fn cuIpcOpenEventHandle(phEvent: *mut CUevent, handle: CUipcEventHandle) {
        let context = current()?;
        if phEvent.is_null() {
            return Err(code::INVALID_VALUE);
        }
        let recordings = Recordings::open(&handle.reserved.map(|byte| byte as u8))?;
        let flags = CUevent_flags::CU_EVENT_INTERPROCESS.0 | CUevent_flags::CU_EVENT_DISABLE_TIMING.0;
        let event = context.add_to(&EVENTS, |handle| Event::shared(handle, context.id(), flags, recordings));
        phEvent.write(event.handle as CUevent);
    }
}

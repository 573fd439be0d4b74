//! Events.

use std::sync::Arc;

use super::*;
use crate::graph;
use crate::state::{current, registries};
use crate::streams::{self, Event, Recording};

const KNOWN_FLAGS: c_uint = 7;

driver_calls! {
    Ready fn cuEventCreate(phEvent: *mut CUevent, Flags: c_uint) {
        let context = current()?;
        let interprocess = Flags & CUevent_flags::CU_EVENT_INTERPROCESS.0 != 0;
        let untimed = Flags & CUevent_flags::CU_EVENT_DISABLE_TIMING.0 != 0;
        if phEvent.is_null() || Flags & !KNOWN_FLAGS != 0 || (interprocess && !untimed) {
            return Err(code::INVALID_VALUE);
        }
        let event = registries().events.add(|handle| Event::new(handle, context.id(), Flags));
        phEvent.write(event.handle as CUevent);
    }

    Ready fn cuEventDestroy_v2(hEvent: CUevent) {
        registries().events.remove(hEvent)?;
    }

    Ready fn cuEventRecord(hEvent: CUevent, hStream: CUstream) {
        record(hEvent, hStream, 0)?;
    }

    Ready fn cuEventRecordWithFlags(hEvent: CUevent, hStream: CUstream, flags: c_uint) {
        record(hEvent, hStream, flags)?;
    }

    Ready fn cuEventQuery(hEvent: CUevent) {
        let event = registries().events.get(hEvent)?;
        check_context(&event)?;
        if !event.query()? {
            return Err(code::NOT_READY);
        }
        synchronised(&event)?;
    }

    Ready fn cuEventSynchronize(hEvent: CUevent) {
        let event = registries().events.get(hEvent)?;
        check_context(&event)?;
        event.synchronize()?;
        synchronised(&event)?;
    }

    Ready fn cuEventElapsedTime(pMilliseconds: *mut f32, hStart: CUevent, hEnd: CUevent) {
        put(pMilliseconds, elapsed(hStart, hEnd)?)?;
    }

    Ready fn cuEventElapsedTime_v2(pMilliseconds: *mut f32, hStart: CUevent, hEnd: CUevent) {
        put(pMilliseconds, elapsed(hStart, hEnd)?)?;
    }

    Ready fn cuStreamWaitEvent(hStream: CUstream, hEvent: CUevent, Flags: c_uint) {
        let external = CUevent_wait_flags::CU_EVENT_WAIT_EXTERNAL.0;
        if Flags & !external != 0 {
            return Err(code::INVALID_VALUE);
        }
        let stream = streams::find(hStream)?;
        let event = registries().events.get(hEvent)?;
        if graph::wait_event(&stream, &event, Flags & external != 0)? {
            return Ok(());
        }
        graph::refuse_implicit(&stream, &*stream.context()?)?;
        if let Recording::Real(mark, _) = event.recording() {
            stream.wait_for(mark)?;
        }
    }
}

fn record(event: CUevent, stream: CUstream, flags: c_uint) -> Result {
    let external = CUevent_record_flags::CU_EVENT_RECORD_EXTERNAL.0;
    if flags & !external != 0 {
        return Err(code::INVALID_VALUE);
    }
    let stream = streams::find(stream)?;
    let event = registries().events.get(event)?;
    if event.context != stream.context_id {
        return Err(code::INVALID_HANDLE);
    }
    if graph::record_event(&stream, &event, flags & external != 0)? {
        return Ok(());
    }
    graph::refuse_implicit(&stream, &*stream.context()?)?;
    stream.record(&event)
}

fn elapsed(start: CUevent, end: CUevent) -> Result<f32> {
    let (start, end) = (
        registries().events.get(start)?,
        registries().events.get(end)?,
    );
    if start.context != end.context {
        return Err(code::INVALID_HANDLE);
    }
    check_context(&end)?;
    end.elapsed_since(&start)
}

fn check_context(event: &Arc<Event>) -> Result {
    registries()
        .contexts
        .get(event.context as usize as CUcontext)
        .map_err(|_| code::CONTEXT_IS_DESTROYED)?
        .check()
}

/// An event's completion shows what came before it: output of kernels, frees into pools, and errors.
fn synchronised(event: &Arc<Event>) -> Result {
    let context = registries()
        .contexts
        .get(event.context as usize as CUcontext)
        .map_err(|_| code::CONTEXT_IS_DESTROYED)?;
    context.drain_output();
    crate::pool::after_synchronisation(context.device);
    context.check()
}

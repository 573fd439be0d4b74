//! Events.

use super::entry::*;
use crate::context::{Context, current};
use crate::graph::{self, EventUse};
use crate::memory::interprocess::Recordings;
use crate::streams::{self, EVENTS, Event};

const KNOWN_FLAGS: c_uint = 7;

driver_calls! {
    Ready fn cuEventCreate(phEvent: *mut CUevent, Flags: c_uint) {
        let context = current()?;
        let interprocess = Flags & CUevent_flags::CU_EVENT_INTERPROCESS.0 != 0;
        let untimed = Flags & CUevent_flags::CU_EVENT_DISABLE_TIMING.0 != 0;
        if phEvent.is_null() || Flags & !KNOWN_FLAGS != 0 || (interprocess && !untimed) {
            return Err(code::INVALID_VALUE);
        }
        let recordings = match interprocess {
            true => Some(Recordings::create().ok_or(code::OUT_OF_MEMORY)?),
            false => None,
        };
        let event = context.add_to(&EVENTS, |handle| match recordings {
            Some(recordings) => Event::shared(handle, context.id(), Flags, recordings),
            None => Event::new(handle, context.id(), Flags),
        });
        phEvent.write(event.handle as CUevent);
    }

    Ready fn cuEventDestroy_v2(hEvent: CUevent) {
        EVENTS.remove(hEvent)?;
    }

    Ready fn cuEventRecord(hEvent: CUevent, hStream: CUstream) {
        record(hEvent, hStream, 0)?;
    }

    Ready fn cuEventRecordWithFlags(hEvent: CUevent, hStream: CUstream, flags: c_uint) {
        record(hEvent, hStream, flags)?;
    }

    Ready fn cuEventQuery(hEvent: CUevent) {
        let event = EVENTS.get(hEvent)?;
        check_context(&event)?;
        if !event.query()? {
            return Err(code::NOT_READY);
        }
        synchronised(&event)?;
    }

    Ready fn cuEventSynchronize(hEvent: CUevent) {
        let event = EVENTS.get(hEvent)?;
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
        let event = EVENTS.get(hEvent)?;
        if graph::wait_event(&stream, &event, event_use(Flags & external))? {
            return Ok(());
        }
        stream.capture.refuse_implicit_dependency()?;
        stream.wait_for_recording(event.recording())?;
    }
}

fn record(event: CUevent, stream: CUstream, flags: c_uint) -> Result {
    let external = CUevent_record_flags::CU_EVENT_RECORD_EXTERNAL.0;
    if flags & !external != 0 {
        return Err(code::INVALID_VALUE);
    }
    let stream = streams::find(stream)?;
    let event = EVENTS.get(event)?;
    if event.context != stream.context_id {
        return Err(code::INVALID_HANDLE);
    }
    if graph::record_event(&stream, &event, event_use(flags & external))? {
        return Ok(());
    }
    stream.capture.refuse_implicit_dependency()?;
    stream.record(&event)
}

fn elapsed(start: CUevent, end: CUevent) -> Result<f32> {
    let (start, end) = (EVENTS.get(start)?, EVENTS.get(end)?);
    if start.context != end.context {
        return Err(code::INVALID_HANDLE);
    }
    check_context(&end)?;
    end.elapsed_since(&start)
}

fn check_context(event: &Event) -> Result {
    Context::of_id(event.context)?.check()
}

/// An event's completion shows what came before it: output of kernels, frees into pools, and errors.
fn synchronised(event: &Event) -> Result {
    Context::of_id(event.context)?.after_synchronisation()
}

fn event_use(external: c_uint) -> EventUse {
    if external == 0 {
        EventUse::Internal
    } else {
        EventUse::External
    }
}

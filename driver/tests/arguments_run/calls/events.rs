//! Events, within the process and between processes.

use crate::common::*;
use crate::table::calls;
use crate::world::*;

fn event() -> CUevent {
    get!(cuEventCreate(0))
}

fn handle(w: &World) -> CUipcEventHandle {
    get!(cuIpcGetEventHandle(w.shared_event))
}

calls! { w:
    cuEventCreate(out(), 0) 0;
    cuEventDestroy_v2(event()) 0;
    cuEventRecord(w.own.event, w.own.stream) 0;
    cuEventRecordWithFlags(w.own.event, w.own.stream, 0) 0;
    cuEventQuery(w.own.event) 0;
    cuEventSynchronize(w.own.event) 0;
    cuEventElapsedTime(out(), w.own.event, w.own.event) 0;
    cuEventElapsedTime_v2(out(), w.own.event, w.own.event) 0;
    cuStreamWaitEvent(w.own.stream, w.own.event, 0) 0;
    cuIpcGetEventHandle(out(), w.shared_event) 0;
    // In the process that made it.
    cuIpcOpenEventHandle(out(), handle(w)) 201;
}

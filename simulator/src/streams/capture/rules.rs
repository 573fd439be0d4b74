//! What is forbidden while a capture is open, and invalidates it. The mode of a thread softens it.

use std::cell::Cell;

use super::session::{CaptureSession, open_captures};
use crate::error::{Result, code};
use warpsmith_abi::{CUresult, CUstreamCaptureMode};

thread_local! {
    static MODE: Cell<CUstreamCaptureMode> = const { Cell::new(CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_GLOBAL) };
}

/// Invalidates the open captures that forbid a call, and refuses the call with `error` if there is one.
fn refuse_within(error: CUresult, forbids: impl Fn(&CaptureSession) -> bool) -> Result {
    let mut refused = false;
    for session in open_captures() {
        if forbids(&session) {
            session.invalidate();
            refused = true;
        }
    }
    if refused { Err(error) } else { Ok(()) }
}

fn waits_for_legacy_stream(session: &CaptureSession, context: u64) -> bool {
    session.has_stream(context, |stream| stream.is_blocking())
}

/// Whether a blocking stream of the context is being captured, so that its legacy stream may not be used.
pub(super) fn forbids_legacy_stream(context: u64) -> bool {
    open_captures()
        .iter()
        .any(|session| waits_for_legacy_stream(session, context))
}

/// The legacy stream may not be used while a blocking stream of its context is being captured.
pub(super) fn refuse_legacy_stream(context: u64) -> Result {
    refuse_within(code::STREAM_CAPTURE_IMPLICIT, |session| {
        waits_for_legacy_stream(session, context)
    })
}

/// A call that waits for a whole context is not allowed while any of its streams is being captured.
pub(crate) fn refuse_waiting_for_context(context: u64) -> Result {
    refuse_within(code::STREAM_CAPTURE_UNSUPPORTED, |session| {
        session.has_stream(context, |_| true)
    })
}

/// The check of a call such as an allocation, which may wait for the device without saying so ("potentially unsafe API calls"). The
/// modes of the open captures and of the calling thread decide whether it is refused.
pub(crate) fn refuse_unsafe_call() -> Result {
    if MODE.get() == CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED {
        return Ok(());
    }
    refuse_within(code::STREAM_CAPTURE_UNSUPPORTED, |session| {
        match session.mode {
            CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED => false,
            CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_GLOBAL
                if MODE.get() == CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_GLOBAL =>
            {
                true
            }
            _ => session.thread == std::thread::current().id(),
        }
    })
}

/// Changes how this thread's unsafe calls are judged; gives the mode before.
pub(crate) fn exchange_mode(mode: CUstreamCaptureMode) -> Result<CUstreamCaptureMode> {
    if mode.0 > CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED.0 {
        return Err(code::INVALID_VALUE);
    }
    Ok(MODE.replace(mode))
}

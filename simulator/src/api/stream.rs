//! Streams, and waiting for a whole context.

use std::sync::Arc;

use super::entry::*;
use super::managed;
use crate::context::{Context, current};
use crate::device;
use crate::memory::attachment;
use crate::streams::capture;
use crate::streams::{self, STREAMS, Stream, StreamCallback};

driver_calls! {
    Ready fn cuStreamCreate(phStream: *mut CUstream, Flags: c_uint) {
        create(phStream, Flags, 0)?;
    }

    Ready fn cuStreamCreateWithPriority(phStream: *mut CUstream, flags: c_uint, priority: c_int) {
        create(phStream, flags, priority)?;
    }

    Ready fn cuStreamDestroy_v2(hStream: CUstream) {
        let stream = STREAMS.remove(hStream)?;
        stream.capture.depart();
        attachment::end_of_stream(stream.identity());
    }

    Ready fn cuStreamSynchronize(hStream: CUstream) {
        let stream = streams::find(hStream)?;
        stream.capture.refuse_synchronisation()?;
        stream.synchronize()?;
    }

    Ready fn cuStreamQuery(hStream: CUstream) {
        let stream = streams::find(hStream)?;
        stream.capture.refuse_synchronisation()?;
        if !stream.query()? {
            return Err(code::NOT_READY);
        }
        stream.synchronize()?;
    }

    Ready fn cuStreamGetPriority(hStream: CUstream, priority: *mut c_int) {
        put(priority, streams::find(hStream)?.attributes().priority)?;
    }

    Ready fn cuStreamGetFlags(hStream: CUstream, flags: *mut c_uint) {
        put(flags, streams::find(hStream)?.flags)?;
    }

    Ready fn cuStreamGetId(hStream: CUstream, streamId: *mut c_ulonglong) {
        put(streamId, streams::find(hStream)?.handle as c_ulonglong)?;
    }

    Ready fn cuStreamGetCtx(hStream: CUstream, pctx: *mut CUcontext) {
        put(pctx, streams::find(hStream)?.context()?.handle as CUcontext)?;
    }

    Ready fn cuStreamGetCtx_v2(hStream: CUstream, pCtx: *mut CUcontext, pGreenCtx: *mut CUgreenCtx) {
        if pCtx.is_null() || pGreenCtx.is_null() {
            return Err(code::INVALID_VALUE);
        }
        pCtx.write(streams::find(hStream)?.context()?.handle as CUcontext);
        pGreenCtx.write(core::ptr::null_mut());
    }

    Ready fn cuStreamGetDevice(hStream: CUstream, device: *mut CUdevice) {
        put(device, streams::find(hStream)?.context()?.device as CUdevice)?;
    }

    Ready fn cuStreamAddCallback(hStream: CUstream, callback: CUstreamCallback, userData: *mut c_void, flags: c_uint) {
        let Some(callback) = callback else { return Err(code::INVALID_VALUE) };
        if flags != 0 {
            return Err(code::INVALID_VALUE);
        }
        let stream = streams::find(hStream)?;
        stream.capture.refuse_if_capturing()?;
        let context = stream.context()?;
        let worker = Arc::clone(&context);
        let callback = StreamCallback { function: callback, stream: hStream, data: userData };
        // Other than a host function, a callback is called in an error state too, and told of it.
        stream.submit(&context, stream.room(), Vec::new(), Box::new(move || {
            callback.run(worker.check().err().unwrap_or(CUresult::CUDA_SUCCESS));
        }));
    }

    Ready fn cuStreamAttachMemAsync(hStream: CUstream, dptr: CUdeviceptr, length: usize, flags: c_uint) {
        let stream = streams::find(hStream)?;
        stream.capture.refuse_if_capturing()?;
        managed::attach(&stream, dptr as usize, length, flags)?;
    }

    Ready fn cuCtxSynchronize() {
        synchronise(&*current()?)?;
    }

    Ready fn cuCtxSynchronize_v2(ctx: CUcontext) {
        let context = Context::of_handle(ctx)?;
        context.check()?;
        synchronise(&context)?;
    }
}

fn synchronise(context: &Context) -> Result {
    capture::refuse_waiting_for_context(context.id())?;
    context.queues.wait_all();
    context.after_synchronisation()
}

/// # Safety
///
/// `to` is null or valid for writing.
unsafe fn create(to: *mut CUstream, flags: c_uint, priority: c_int) -> Result {
    let context = current()?;
    if to.is_null() || flags & !CUstream_flags::CU_STREAM_NON_BLOCKING.0 != 0 {
        return Err(code::INVALID_VALUE);
    }
    let (least, greatest) = device::profile(context.device).priorities;
    let priority = priority.clamp(greatest, least);
    let stream = context.add_to(&STREAMS, |handle| {
        Stream::new(handle, &context, flags, priority)
    });
    // SAFETY: not null, so valid for writing by the caller's contract.
    unsafe { to.write(stream.handle as CUstream) };
    Ok(())
}

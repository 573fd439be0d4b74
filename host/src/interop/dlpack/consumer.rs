//! In which stream whoever takes memory over will use it.

use std::ffi::c_void;
use std::sync::Arc;

use warpsmith_driver::raw;

use crate::driver_call::stream_ref::StreamRef;
use crate::error::{Busy, Code, Error, Result};
use crate::gpu::open_device::{OpenDevice, check_same_device};
use crate::memory::allocation::Allocation;
use crate::order::access::{Access, ViewScope};
use crate::order::history::OrderedMemory;
use crate::stream::Stream;

pub(super) const CALL: &str = "into_dlpack";

/// The stream in which a library will use memory that it takes over. It waits for all that was done with the memory before.
#[derive(Clone, Copy, Debug)]
pub enum Consumer<'a> {
    /// A stream of this crate, whose handle ([`Stream::as_raw`]) the library was given. When the library gives the memory back, it is freed
    /// behind what this stream holds then, without waiting: work on it in other streams must be done, or be waited for in this one.
    Own(&'a Stream),
    /// The legacy default stream. When the library gives the memory back, all work on the device is waited for.
    Legacy,
    /// The default stream of the calling thread; otherwise as [`Legacy`](Self::Legacy).
    PerThread,
    /// A stream of the library itself; otherwise as [`Legacy`](Self::Legacy). By [`Consumer::from_raw`].
    Foreign(ForeignStream),
    /// None, because the library sees to the order itself: it waits for the host to have waited, for example. When the library gives the memory
    /// back, all work on the device is waited for.
    Unordered,
}

/// A stream that this crate does not own.
#[derive(Clone, Copy, Debug)]
pub struct ForeignStream(*mut c_void);

impl Consumer<'_> {
    /// A library's stream, by the driver's handle (`CUstream`, `cudaStream_t`).
    ///
    /// # Safety
    ///
    /// The stream exists until memory was exported for it, and is of this process and no other kind of stream than its handle says.
    pub unsafe fn from_raw(stream: *mut c_void) -> Consumer<'static> {
        Consumer::Foreign(ForeignStream(stream))
    }

    /// What a Python library passes as `stream` to `__dlpack__`: `None` or 1 for the legacy default stream, 2 for the per-thread one, -1 for no
    /// order, and else a handle.
    ///
    /// # Errors
    ///
    /// It is 0, which could be either default stream, or another negative number.
    ///
    /// # Safety
    ///
    /// As for [`from_raw`](Self::from_raw), where it is a handle.
    pub unsafe fn from_python(stream: Option<i64>) -> Result<Consumer<'static>> {
        match stream {
            None | Some(1) => Ok(Consumer::Legacy),
            Some(2) => Ok(Consumer::PerThread),
            Some(-1) => Ok(Consumer::Unordered),
            Some(handle @ 3..) => {
                let handle = std::ptr::with_exposed_provenance_mut(handle as usize);
                // SAFETY: the caller says that it is a stream's handle.
                Ok(unsafe { Consumer::from_raw(handle) })
            }
            Some(other) => Err(Error::misuse(
                CALL,
                Code::INVALID_VALUE,
                format!("{other} is no stream"),
                "pass 1 for the legacy default stream, 2 for the per-thread one, -1 for no order, or a stream's handle",
            )),
        }
    }

    /// Makes the stream wait for all uses of the memory.
    ///
    /// # Errors
    ///
    /// The stream is of another device, or is being captured.
    pub(super) fn follow(self, gpu: &Arc<OpenDevice>, memory: &Arc<Allocation>) -> Result<()> {
        gpu.bind()?;
        let stream = match self {
            Consumer::Own(stream) => {
                check_same_device(
                    CALL,
                    ("the memory", gpu),
                    ("the consumer's stream", &stream.gpu),
                )?;
                stream.handle.refuse_capture(
                    CALL,
                    "the memory is handed over at once, and not at each launch of the graph",
                    "export before or after the capture",
                )?;
                let guard = gpu.lock_order();
                let launch = stream.handle.timeline().next();
                return memory.order_use(
                    CALL,
                    &guard,
                    &stream.handle,
                    &launch,
                    Access::EVERYTHING,
                    ViewScope::Sole,
                );
            }
            Consumer::Unordered => return Ok(()),
            Consumer::Legacy => raw::CU_STREAM_LEGACY,
            Consumer::PerThread => raw::CU_STREAM_PER_THREAD,
            Consumer::Foreign(ForeignStream(stream)) => stream.cast(),
        };
        if gpu.order().is_capturing() {
            return Err(Error::Busy(Box::new(Busy {
                call: CALL,
                reason:
                    "a stream is being captured, of which another library's stream may be a part"
                        .into(),
                hint: "export before or after the capture, or to a stream of this crate",
            })));
        }
        // SAFETY: a default stream exists always, and a library's while memory is exported for it (`from_raw`).
        let stream = unsafe { StreamRef::new(stream) };
        memory.history().hold_back(&gpu.lock_order(), stream)
    }
}

//! Buffers of NCCL's own memory that are registered with communicators, so that NCCL moves their data without copies in between.
//!
//! Such a buffer's memory is registered until its last use is done, which the host library finds out, in any thread. What is taken back then must not be
//! beside other calls of NCCL with the communicator: so it waits in [`Registrations`] for a call that has the right to make them.

use std::ffi::c_void;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use warpsmith_driver::raw::{self, CUstreamCaptureMode};
use warpsmith_host::{DeviceBuffer, DevicePointer, Stream};
use warpsmith_nccl_abi::ncclResult_t;

use crate::call::check;
use crate::communicator::{Communicator, Inner, Taken};
use crate::element::Element;
use crate::error::{Error, Result};
use crate::library::NewerFunctions;

const CALL: &str = "Communicator::registered";

/// What becomes of the memory that is registered with one communicator.
#[derive(Default)]
pub(crate) struct Registrations(Mutex<State>);

#[derive(Default)]
struct State {
    /// The communicator is gone, and with it all its registrations.
    is_over: bool,
    /// What no buffer uses any more.
    unused: Vec<Registered>,
}

/// Memory and its registration.
struct Registered {
    _memory: Memory,
    handle: usize,
}

/// Memory of `ncclMemAlloc`, freed when this is dropped.
struct Memory {
    nccl: &'static NewerFunctions,
    address: usize,
}

impl Drop for Memory {
    fn drop(&mut self) {
        if let Some(free) = self.nccl.ncclMemFree {
            // SAFETY: `ncclMemAlloc` gave the memory, whose last use is done and which is registered no more: whoever owned this saw to it. If NCCL
            // refuses the memory stays.
            let _ = unsafe { free(self.address as *mut c_void) };
        }
    }
}

/// What a buffer keeps.
struct Keeper {
    registered: Option<Registered>,
    registrations: Arc<Registrations>,
}

impl Drop for Keeper {
    fn drop(&mut self) {
        let mut state = self.registrations.state();
        let registered = self.registered.take();
        if !state.is_over {
            state.unused.extend(registered);
            return;
        }
        drop(state);
        // Now the memory is freed.
        drop(registered);
    }
}

impl Registrations {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes back what is not used any more.
    ///
    /// # Errors
    ///
    /// The device cannot be made current.
    ///
    /// # Safety
    ///
    /// The communicator, which these are of, is alive, and this thread alone calls NCCL with it.
    pub(crate) unsafe fn take_back(&self, inner: &Inner) -> Result<()> {
        let unused = std::mem::take(&mut self.state().unused);
        if unused.is_empty() {
            return Ok(());
        }
        let _relaxed = Relaxed::enter();
        let comm = inner.comm();
        for registered in unused {
            let Some(deregister) = inner.nccl.functions.newer.ncclCommDeregister else {
                continue;
            };
            // SAFETY: the communicator is alive, and this thread's: this function's condition. It gave the handle, which is taken back once.
            let code = unsafe { deregister(comm, registered.handle as *mut c_void) };
            if code != ncclResult_t::ncclSuccess {
                // Memory that may still be registered is not freed.
                std::mem::forget(registered);
            }
        }
        // NCCL may leave its own device current.
        Ok(inner.gpu.make_current()?)
    }

    /// The communicator was destroyed or aborted: memory is freed as its buffers are.
    pub(crate) fn end(&self) {
        let mut state = self.state();
        state.is_over = true;
        let unused = std::mem::take(&mut state.unused);
        drop(state);
        drop(unused);
    }
}

/// This thread may allocate and free while some thread captures a stream, whatever the capture's mode: what is allocated here is of no stream.
struct Relaxed(CUstreamCaptureMode);

impl Relaxed {
    fn enter() -> Relaxed {
        let mut mode = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED;
        // SAFETY: the driver reads and writes `mode`, which outlives the call. If it refuses, nothing has changed.
        let _ = unsafe { raw::cuThreadExchangeStreamCaptureMode(&mut mode) };
        Relaxed(mode)
    }
}

impl Drop for Relaxed {
    fn drop(&mut self) {
        // SAFETY: the driver reads and writes the mode, which outlives the call. If it refuses, nothing has changed.
        let _ = unsafe { raw::cuThreadExchangeStreamCaptureMode(&mut self.0) };
    }
}

impl Communicator {
    /// A buffer of `len` zeros in memory that NCCL allocates for its own use (`ncclMemAlloc`) and that is registered with this communicator
    /// (`ncclCommRegister`): collectives on it, or on parts of it, may go without copies in between and with fewer blocks, where all ranks use such
    /// buffers. In all else it is as any buffer, for kernels and copies in all streams and graphs, and outlives the communicator.
    ///
    /// The registration and the memory are given back some time after the buffer's last use: by a later call of this function or of [`wait`](Self::wait)
    /// for the same communicator, or at its end.
    ///
    /// ```
    /// use warpsmith_host::prelude::*;
    /// use warpsmith_nccl::{Communicator, Reduction};
    ///
    /// # fn main() -> Result<(), warpsmith_nccl::Error> {
    /// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
    /// # let communicator = Communicator::all(&[gpu.clone()])?.remove(0);
    /// let stream = gpu.stream()?;
    /// let mut gradients = communicator.registered::<f32>(&stream, 1 << 20)?;
    /// communicator.all_reduce_in_place(&stream, &mut gradients, Reduction::Average)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// NCCL is older than 2.19; the stream is of another GPU, or is being captured; there is too little memory; the communicator was aborted; or NCCL
    /// refuses.
    pub fn registered<T: Element>(&self, stream: &Stream, len: usize) -> Result<DeviceBuffer<T>> {
        let inner = &self.inner;
        if !stream.is_of(&inner.gpu) {
            return Err(Error::misuse(
                CALL,
                format!(
                    "the communicator is of {}, the stream of {}",
                    inner.gpu.choice(),
                    stream.gpu().choice()
                ),
                "make the stream from `communicator.gpu()`",
            ));
        }
        let nccl = &inner.nccl.functions.newer;
        let (Some(allocate), Some(_), Some(register), Some(_)) = (
            nccl.ncclMemAlloc,
            nccl.ncclMemFree,
            nccl.ncclCommRegister,
            nccl.ncclCommDeregister,
        ) else {
            return Err(Error::misuse(
                CALL,
                format!("NCCL {} registers no buffers", inner.nccl.version),
                "NCCL 2.19 or newer does; `stream.zeroed` makes a buffer that is not registered",
            ));
        };
        let bytes = len.checked_mul(size_of::<T>());
        let bytes = bytes.filter(|&bytes| bytes <= isize::MAX as usize);
        let bytes = bytes.ok_or_else(|| {
            Error::misuse(
                CALL,
                format!("{len} elements are more than memory has"),
                "ask for fewer elements",
            )
        })?;
        if bytes == 0 {
            return Ok(stream.zeroed(0)?);
        }
        let taken = Taken::take(CALL, inner)?;
        // SAFETY: the communicator was taken.
        unsafe { inner.registrations.take_back(inner) }?;
        inner.gpu.make_current()?;
        let relaxed = Relaxed::enter();
        let mut pointer = std::ptr::null_mut();
        // SAFETY: NCCL writes one address to `pointer`, which outlives the call.
        let code = unsafe { allocate(&mut pointer, bytes) };
        check("ncclMemAlloc", code, None)?;
        let memory = Memory {
            nccl,
            address: pointer.addr(),
        };
        let mut handle = std::ptr::null_mut();
        // SAFETY: the communicator is alive and this thread's: it was taken. The memory has the bytes, and is registered until `take_back` or the end
        // of the communicator: `Keeper` sees to it. NCCL writes one handle to `handle`, which outlives the call.
        let code = unsafe { register(inner.comm(), pointer, bytes, &mut handle) };
        check("ncclCommRegister", code, Some(inner.comm()))?;
        drop((relaxed, taken));
        let keeper = Keeper {
            registered: Some(Registered {
                _memory: memory,
                handle: handle.addr(),
            }),
            registrations: inner.registrations.clone(),
        };
        let pointer = DevicePointer::from_address(pointer.addr() as u64);
        // SAFETY: NCCL allocated the bytes, which the device of the communicator and the stream reaches, and which exist until the keeper is dropped. They
        // are written below before anything reads them, and nobody else knows of them but NCCL, which uses them in collectives on this buffer.
        let adopted = unsafe { stream.adopt::<T, _>(pointer, len, keeper) };
        let mut buffer =
            adopted.map_err(|refused| Error::from(warpsmith_host::Error::from(refused)))?;
        stream.fill(&mut buffer, T::zeroed())?;
        Ok(buffer)
    }
}

//! Memory of NCCL's own that is registered with a communicator, until it is taken back.
//!
//! It is registered until its last use is done, which the host library finds out, in any thread. What is taken back then must not be
//! beside other calls of NCCL with the communicator: so it waits in [`Registrations`] for a call that has the right to make them.

use std::ffi::c_void;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use warpsmith_driver::raw::{self, CUstreamCaptureMode};
use warpsmith_host::Gpu;
use warpsmith_nccl_abi::{ncclComm_t, ncclResult_t};

use crate::error::Result;
use crate::library::NewerFunctions;

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
pub(crate) struct Registered {
    pub(crate) _memory: Memory,
    pub(crate) handle: usize,
}

/// Memory of `ncclMemAlloc`, freed when this is dropped.
pub(crate) struct Memory {
    pub(crate) nccl: &'static NewerFunctions,
    pub(crate) address: usize,
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
pub(crate) struct Keeper {
    pub(crate) registered: Option<Registered>,
    pub(crate) registrations: Arc<Registrations>,
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
    /// The communicator `comm` of `gpu`, which these are of, is alive, and this thread alone calls NCCL with it.
    pub(crate) unsafe fn take_back(
        &self,
        nccl: &NewerFunctions,
        comm: ncclComm_t,
        gpu: &Gpu,
    ) -> Result<()> {
        let unused = std::mem::take(&mut self.state().unused);
        if unused.is_empty() {
            return Ok(());
        }
        let _relaxed = Relaxed::enter();
        for registered in unused {
            let Some(deregister) = nccl.ncclCommDeregister else {
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
        Ok(gpu.make_current()?)
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
pub(crate) struct Relaxed(CUstreamCaptureMode);

impl Relaxed {
    pub(crate) fn enter() -> Relaxed {
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

//! Calls of NCCL with their result codes turned into errors.

use std::ffi::{CStr, c_char};
use std::time::{Duration, Instant};

use warpsmith_host::Gpu;
use warpsmith_nccl_abi::{ncclComm_t, ncclResult_t};

use crate::error::{Error, NcclError, Result};
use crate::library::{Functions, Loaded, Version, loaded, version_of};

/// # Errors
///
/// The code is neither success nor that the call is in progress.
#[inline]
pub(crate) fn check(
    call: &'static str,
    code: ncclResult_t,
    comm: Option<ncclComm_t>,
) -> Result<()> {
    match code {
        ncclResult_t::ncclSuccess | ncclResult_t::ncclInProgress => Ok(()),
        code => Err(failed(call, code, comm)),
    }
}

#[cold]
pub(crate) fn failed(call: &'static str, code: ncclResult_t, comm: Option<ncclComm_t>) -> Error {
    let Ok(nccl) = loaded() else {
        return Error::misuse(
            call,
            "NCCL is not loaded",
            "`warpsmith_nccl::version(&gpu)` loads it, or says why it cannot be",
        );
    };
    // SAFETY: NCCL takes any code, and answers a string that lives as long as it does.
    let description = unsafe { text((nccl.functions.ncclGetErrorString)(code)) };
    // SAFETY: null, or the communicator that the caller has just called NCCL with, which therefore is alive (each such call names why); the
    // string lives until the next error.
    let detail = unsafe {
        text((nccl.functions.ncclGetLastError)(
            comm.unwrap_or(std::ptr::null_mut()),
        ))
    };
    Error::Nccl(Box::new(NcclError {
        call,
        code: code.0,
        name: code.name().unwrap_or("unknown NCCL code").into(),
        description,
        detail,
    }))
}

/// # Safety
///
/// `pointer` is null, or of a string that ends in a zero byte.
unsafe fn text(pointer: *const c_char) -> String {
    if pointer.is_null() {
        return String::new();
    }
    // SAFETY: it is not null: this function's condition.
    unsafe { CStr::from_ptr(pointer) }
        .to_string_lossy()
        .trim()
        .to_owned()
}

/// The version of NCCL that programs on the driver of `gpu` use; the simulator's is the one whose interface it has.
///
/// ```
/// use warpsmith_host::prelude::*;
///
/// # fn main() -> Result<(), warpsmith_nccl::Error> {
/// let gpu = Gpu::open(DeviceChoice::Simulator)?;
/// assert!(warpsmith_nccl::version(&gpu)?.major >= 2);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// NCCL cannot be loaded.
pub fn version(gpu: &Gpu) -> Result<Version> {
    // Only that a device is open matters: the driver is chosen then.
    let _ = gpu;
    version_of(&loaded()?.functions).map_err(|code| failed("ncclGetVersion", code, None))
}

/// NCCL's functions, as programs on the driver of `gpu` use them; the simulator's are its own.
///
/// ```
/// use warpsmith_host::prelude::*;
///
/// # fn main() -> Result<(), warpsmith_nccl::Error> {
/// let gpu = Gpu::open(DeviceChoice::Simulator)?;
/// let nccl = warpsmith_nccl::functions(&gpu)?;
/// let mut version = 0;
/// // SAFETY: NCCL writes one number.
/// unsafe { (nccl.ncclGetVersion)(&mut version) };
/// assert!(version >= 21800);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// NCCL cannot be loaded.
pub fn functions(gpu: &Gpu) -> Result<&'static Functions> {
    // Only that a device is open matters: the driver is chosen then.
    let _ = gpu;
    Ok(&loaded()?.functions)
}

/// Makes calls of NCCL together. Whether all that was begun is done.
///
/// # Errors
///
/// What the calls answer, or NCCL at their end.
pub(crate) fn grouped(nccl: &Functions, calls: impl FnOnce() -> Result<()>) -> Result<bool> {
    // SAFETY: the call takes no arguments, and `ncclGroupEnd` follows on this thread.
    let code = unsafe { (nccl.ncclGroupStart)() };
    check("ncclGroupStart", code, None)?;
    let made = calls();
    // SAFETY: the group was begun above, on this thread.
    let code = unsafe { (nccl.ncclGroupEnd)() };
    made?;
    check("ncclGroupEnd", code, None)?;
    Ok(code == ncclResult_t::ncclSuccess)
}

/// The end of a time that begins now, however long.
pub(crate) fn after(timeout: Duration) -> Instant {
    const LONG: Duration = Duration::from_secs(1 << 32);
    Instant::now() + timeout.min(LONG)
}

/// Waits until what was begun on a communicator is no longer in progress.
///
/// # Errors
///
/// What NCCL reports; [`Error::Aborted`] where `gives_up` says so before. `None` where the time is over.
///
/// # Safety
///
/// The communicator is alive.
pub(crate) unsafe fn finish(
    nccl: &Loaded,
    call: &'static str,
    comm: ncclComm_t,
    timeout: Duration,
    gives_up: &dyn Fn() -> bool,
) -> Result<Option<()>> {
    let end = after(timeout);
    let mut pause = Duration::from_micros(10);
    loop {
        let mut state = ncclResult_t::ncclSuccess;
        // SAFETY: the communicator is alive: this function's condition; NCCL writes one value to `state`.
        let code = unsafe { (nccl.functions.ncclCommGetAsyncError)(comm, &mut state) };
        check("ncclCommGetAsyncError", code, Some(comm))?;
        match state {
            ncclResult_t::ncclSuccess => return Ok(Some(())),
            ncclResult_t::ncclInProgress if gives_up() => return Err(Error::Aborted { call }),
            ncclResult_t::ncclInProgress if Instant::now() >= end => return Ok(None),
            ncclResult_t::ncclInProgress => {
                std::thread::sleep(pause);
                pause = (pause * 2).min(Duration::from_millis(5));
            }
            state => return Err(failed(call, state, Some(comm))),
        }
    }
}

//! The driver's calls for copies of rows of bytes. Memory of a pool on the host is host memory to the driver: calls that name a side as the device's
//! refuse it (`CUDA_ERROR_INVALID_VALUE`, 580.159.04), `cuMemcpyAsync`, which finds out where each side lies, takes it.

use std::ffi::c_void;

use warpsmith_driver::raw;

use super::view::RawView;
use crate::driver_call::call;
use crate::driver_call::stream_ref::StreamRef;
use crate::error::Result;

/// Copies the view's bytes, or the first of them, from host memory.
///
/// # Safety
///
/// The view has `bytes` bytes, and so has the host memory; both are there until the copy is done, and nothing that is in no order with it writes them.
#[inline]
pub(super) unsafe fn from_host(
    to: RawView<'_>,
    host: *const c_void,
    bytes: usize,
    stream: StreamRef<'_>,
) -> Result<()> {
    if to.is_of_host_pool() {
        // SAFETY: the caller's promise; the driver finds out that both sides are the host's.
        return unsafe {
            call!(cuMemcpyAsync(
                to.address,
                host as raw::CUdeviceptr,
                bytes,
                stream.raw()
            ))
        };
    }
    // SAFETY: the caller's promise.
    unsafe { call!(cuMemcpyHtoDAsync_v2(to.address, host, bytes, stream.raw())) }
}

/// Copies the view's bytes to host memory.
///
/// # Safety
///
/// The view has `bytes` bytes, and so has the host memory; both are there until the copy is done, and nothing that is in no order with it writes the
/// view or uses the host memory.
#[inline]
pub(super) unsafe fn to_host(
    host: *mut c_void,
    from: RawView<'_>,
    bytes: usize,
    stream: StreamRef<'_>,
) -> Result<()> {
    if from.is_of_host_pool() {
        // SAFETY: the caller's promise; the driver finds out that both sides are the host's.
        return unsafe {
            call!(cuMemcpyAsync(
                host as raw::CUdeviceptr,
                from.address,
                bytes,
                stream.raw()
            ))
        };
    }
    // SAFETY: the caller's promise.
    unsafe {
        call!(cuMemcpyDtoHAsync_v2(
            host,
            from.address,
            bytes,
            stream.raw()
        ))
    }
}

/// Copies between two views, `from` and `to` bytes behind their beginnings.
///
/// # Safety
///
/// Both views have `bytes` bytes there, which are there until the copy is done, do not overlap, and are not used by anything that is in no order with
/// it.
#[inline]
pub(super) unsafe fn between(
    (to, to_offset): (RawView<'_>, usize),
    (from, from_offset): (RawView<'_>, usize),
    bytes: usize,
    stream: StreamRef<'_>,
) -> Result<()> {
    let (target, source) = (
        to.address + to_offset as u64,
        from.address + from_offset as u64,
    );
    if to.is_of_host_pool() || from.is_of_host_pool() {
        // SAFETY: the caller's promise.
        return unsafe { call!(cuMemcpyAsync(target, source, bytes, stream.raw())) };
    }
    // SAFETY: the caller's promise.
    unsafe { call!(cuMemcpyDtoDAsync_v2(target, source, bytes, stream.raw())) }
}

//! Copies, synchronous and asynchronous, of one to three dimensions.
//!
//! An asynchronous copy is truly so where both ends are memory that the driver knows. With ordinary host memory small sources are copied
//! away at once, and everything else waits, as the driver does.

use super::*;
use crate::graph;
use crate::state::current;
use crate::streams::{self, Operation, Transfer};

const HOST: CUmemorytype = CUmemorytype::CU_MEMORYTYPE_HOST;
const DEVICE: CUmemorytype = CUmemorytype::CU_MEMORYTYPE_DEVICE;
const UNIFIED: CUmemorytype = CUmemorytype::CU_MEMORYTYPE_UNIFIED;

/// Sources of ordinary host memory up to this size are copied away.
const STAGED: usize = 64 << 10;

driver_calls! {
    Ready fn cuMemcpyHtoD_v2(dstDevice: CUdeviceptr, srcHost: *const c_void, ByteCount: usize) {
        now(|| Transfer::linear(dstDevice as usize, DEVICE, srcHost as usize, HOST, ByteCount))?;
    }

    Ready fn cuMemcpyDtoH_v2(dstHost: *mut c_void, srcDevice: CUdeviceptr, ByteCount: usize) {
        now(|| Transfer::linear(dstHost as usize, HOST, srcDevice as usize, DEVICE, ByteCount))?;
    }

    Ready fn cuMemcpyDtoD_v2(dstDevice: CUdeviceptr, srcDevice: CUdeviceptr, ByteCount: usize) {
        // Within the device even this call does not wait for the copy.
        later(core::ptr::null_mut(), || Transfer::linear(dstDevice as usize, DEVICE, srcDevice as usize, DEVICE, ByteCount))?;
    }

    Ready fn cuMemcpy(dst: CUdeviceptr, src: CUdeviceptr, ByteCount: usize) {
        now(|| Transfer::linear(dst as usize, UNIFIED, src as usize, UNIFIED, ByteCount))?;
    }

    Ready fn cuMemcpyPeer(
        dstDevice: CUdeviceptr, dstContext: CUcontext, srcDevice: CUdeviceptr, srcContext: CUcontext, ByteCount: usize,
    ) {
        super::context::find_context(dstContext)?.check()?;
        super::context::find_context(srcContext)?.check()?;
        now(|| Transfer::linear(dstDevice as usize, DEVICE, srcDevice as usize, DEVICE, ByteCount))?;
    }

    Ready fn cuMemcpyPeerAsync(
        dstDevice: CUdeviceptr, dstContext: CUcontext, srcDevice: CUdeviceptr, srcContext: CUcontext, ByteCount: usize,
        hStream: CUstream,
    ) {
        super::context::find_context(dstContext)?.check()?;
        super::context::find_context(srcContext)?.check()?;
        later(hStream, || Transfer::linear(dstDevice as usize, DEVICE, srcDevice as usize, DEVICE, ByteCount))?;
    }

    Ready fn cuMemcpyHtoDAsync_v2(dstDevice: CUdeviceptr, srcHost: *const c_void, ByteCount: usize, hStream: CUstream) {
        later(hStream, || Transfer::linear(dstDevice as usize, DEVICE, srcHost as usize, HOST, ByteCount))?;
    }

    Ready fn cuMemcpyDtoHAsync_v2(dstHost: *mut c_void, srcDevice: CUdeviceptr, ByteCount: usize, hStream: CUstream) {
        later(hStream, || Transfer::linear(dstHost as usize, HOST, srcDevice as usize, DEVICE, ByteCount))?;
    }

    Ready fn cuMemcpyDtoDAsync_v2(dstDevice: CUdeviceptr, srcDevice: CUdeviceptr, ByteCount: usize, hStream: CUstream) {
        later(hStream, || Transfer::linear(dstDevice as usize, DEVICE, srcDevice as usize, DEVICE, ByteCount))?;
    }

    Ready fn cuMemcpyAsync(dst: CUdeviceptr, src: CUdeviceptr, ByteCount: usize, hStream: CUstream) {
        later(hStream, || Transfer::linear(dst as usize, UNIFIED, src as usize, UNIFIED, ByteCount))?;
    }

    Ready fn cuMemcpy2D_v2(pCopy: *const CUDA_MEMCPY2D) {
        now(|| Transfer::two_dimensional(parameters(pCopy)?))?;
    }

    Ready fn cuMemcpy2DUnaligned_v2(pCopy: *const CUDA_MEMCPY2D) {
        now(|| Transfer::two_dimensional(parameters(pCopy)?))?;
    }

    Ready fn cuMemcpy2DAsync_v2(pCopy: *const CUDA_MEMCPY2D, hStream: CUstream) {
        later(hStream, || Transfer::two_dimensional(parameters(pCopy)?))?;
    }

    Ready fn cuMemcpy3D_v2(pCopy: *const CUDA_MEMCPY3D) {
        now(|| Transfer::three_dimensional(parameters(pCopy)?))?;
    }

    Ready fn cuMemcpy3DAsync_v2(pCopy: *const CUDA_MEMCPY3D, hStream: CUstream) {
        later(hStream, || Transfer::three_dimensional(parameters(pCopy)?))?;
    }
}

/// # Safety
///
/// `pointer` is null or valid.
pub(super) unsafe fn parameters<'a, T>(pointer: *const T) -> Result<&'a T> {
    // SAFETY: the caller's contract.
    unsafe { pointer.as_ref() }.ok_or(code::INVALID_VALUE)
}

/// Copies on the default stream and waits.
fn now(transfer: impl FnOnce() -> Result<Transfer>) -> Result {
    let context = current()?;
    let stream = streams::find(core::ptr::null_mut())?;
    graph::refuse_synchronous(&stream, &context)?;
    let transfer = transfer()?;
    if transfer.bytes() > 0 {
        stream.perform_now(Operation::Copy(transfer))?;
        context.drain_output();
    }
    Ok(())
}

fn later(stream: CUstream, transfer: impl FnOnce() -> Result<Transfer>) -> Result {
    let stream = streams::find(stream)?;
    let transfer = transfer()?;
    if transfer.bytes() == 0 {
        return Ok(());
    }
    let pageable = [transfer.from.place, transfer.to.place].contains(&streams::Place::Pageable);
    if graph::is_capturing(&stream) || !pageable {
        stream.perform(Operation::Copy(transfer))?;
        return Ok(());
    }
    if transfer.to.place == streams::Place::Known && transfer.bytes() <= STAGED {
        // SAFETY: the source is the caller's host memory, valid during the call.
        let staged = unsafe { transfer.stage() };
        stream.perform(Operation::StagedCopy(transfer, staged.into()))?;
        return Ok(());
    }
    if let Some(mark) = stream.perform(Operation::Copy(transfer))? {
        mark.wait();
    }
    stream.context().map(drop)
}

//! Copies, synchronous and asynchronous, of one to three dimensions.
//!
//! An asynchronous copy is truly so where both ends are memory that the driver knows. With ordinary host memory small sources are copied
//! away at once, and everything else waits, as the driver does.

use super::entry::*;
use crate::context::{current, current_unchecked};
use crate::graph;
use crate::memory::ArrayOrMemory::{Array, Memory};
use crate::memory::{AllocationKind, EndMemory, Memory as GuestMemory, Transfer};
use crate::order_check;
use crate::streams::{self, Operation, Stream};

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
        within_device(|| Transfer::linear(dstDevice as usize, DEVICE, srcDevice as usize, DEVICE, ByteCount))?;
    }

    Ready fn cuMemcpy(dst: CUdeviceptr, src: CUdeviceptr, ByteCount: usize) {
        now(|| Transfer::linear(dst as usize, UNIFIED, src as usize, UNIFIED, ByteCount))?;
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

    Ready fn cuMemcpyHtoA_v2(dstArray: CUarray, dstOffset: usize, srcHost: *const c_void, ByteCount: usize) {
        now(|| Transfer::array_row(Array(dstArray, dstOffset), Memory(srcHost as usize, HOST), ByteCount))?;
    }

    Ready fn cuMemcpyAtoH_v2(dstHost: *mut c_void, srcArray: CUarray, srcOffset: usize, ByteCount: usize) {
        now(|| Transfer::array_row(Memory(dstHost as usize, HOST), Array(srcArray, srcOffset), ByteCount))?;
    }

    Ready fn cuMemcpyDtoA_v2(dstArray: CUarray, dstOffset: usize, srcDevice: CUdeviceptr, ByteCount: usize) {
        within_device(|| Transfer::array_row(Array(dstArray, dstOffset), Memory(srcDevice as usize, DEVICE), ByteCount))?;
    }

    Ready fn cuMemcpyAtoD_v2(dstDevice: CUdeviceptr, srcArray: CUarray, srcOffset: usize, ByteCount: usize) {
        within_device(|| Transfer::array_row(Memory(dstDevice as usize, DEVICE), Array(srcArray, srcOffset), ByteCount))?;
    }

    Ready fn cuMemcpyAtoA_v2(dstArray: CUarray, dstOffset: usize, srcArray: CUarray, srcOffset: usize, ByteCount: usize) {
        within_device(|| Transfer::array_row(Array(dstArray, dstOffset), Array(srcArray, srcOffset), ByteCount))?;
    }

    Ready fn cuMemcpyHtoAAsync_v2(
        dstArray: CUarray, dstOffset: usize, srcHost: *const c_void, ByteCount: usize, hStream: CUstream,
    ) {
        later(hStream, || Transfer::array_row(Array(dstArray, dstOffset), Memory(srcHost as usize, HOST), ByteCount))?;
    }

    Ready fn cuMemcpyAtoHAsync_v2(
        dstHost: *mut c_void, srcArray: CUarray, srcOffset: usize, ByteCount: usize, hStream: CUstream,
    ) {
        later(hStream, || Transfer::array_row(Memory(dstHost as usize, HOST), Array(srcArray, srcOffset), ByteCount))?;
    }

    Ready fn cuMemcpy3D_v2(pCopy: *const CUDA_MEMCPY3D) {
        now(|| Transfer::three_dimensional(parameters(pCopy)?))?;
    }

    Ready fn cuMemcpy3DAsync_v2(pCopy: *const CUDA_MEMCPY3D, hStream: CUstream) {
        later(hStream, || Transfer::three_dimensional(parameters(pCopy)?))?;
    }
}

/// Copies on the default stream and waits.
fn now(transfer: impl FnOnce() -> Result<Transfer>) -> Result {
    let context = current()?;
    let stream = streams::find(core::ptr::null_mut())?;
    stream.capture.refuse_synchronisation()?;
    let transfer = transfer()?;
    if transfer.bytes() > 0 {
        transfer.refuse_incoherent(context.device, stream.identity())?;
        stream.execute_and_wait(Operation::Copy(transfer))?;
        context.flush_output();
    }
    Ok(())
}

/// Copies on the default stream. Within the device even the functions that are not called asynchronous do not wait for the copy.
fn within_device(transfer: impl FnOnce() -> Result<Transfer>) -> Result {
    later(core::ptr::null_mut(), transfer)
}

/// Says that memory of a pool is copied in a stream of another context than the current one (CUDA C++ Programming Guide, "Addendums", "cudaMemcpyAsync
/// Current Context/Device Sensitivity").
fn report_foreign_context(stream: &Stream, transfer: &Transfer) {
    if !order_check::is_on() {
        return;
    }
    let (Some(current), Ok(own)) = (current_unchecked(), stream.context()) else {
        return;
    };
    let pooled = [&transfer.to, &transfer.from].into_iter().find(|end| {
        let detail = GuestMemory::global().detail(end.address());
        detail.is_some_and(|(_, detail)| matches!(detail.kind, AllocationKind::Pool(_)))
    });
    if let Some(end) = pooled
        && current.id() != own.id()
    {
        order_check::misuse(
            format!(
                "copy of a pool's memory at {:#x} in {}, whose context is not the current one",
                end.address(),
                stream.label()
            ),
            [
                ("the copy", &stream.label(), "uses the memory"),
                ("the current context", "this thread", "is another stream's"),
            ],
            "make the stream's context current (cuCtxSetCurrent), or name both contexts (cuMemcpyPeerAsync)",
        );
    }
}

fn later(stream: CUstream, transfer: impl FnOnce() -> Result<Transfer>) -> Result {
    let stream = streams::find(stream)?;
    let transfer = transfer()?;
    if transfer.bytes() == 0 {
        return Ok(());
    }
    transfer.refuse_incoherent(stream.context()?.device, stream.identity())?;
    report_foreign_context(&stream, &transfer);
    if stream.capture.is_capturing() || !transfer.has_pageable_end() {
        graph::perform(&stream, Operation::Copy(transfer))?;
        return Ok(());
    }
    if transfer.to.memory != EndMemory::Pageable && transfer.bytes() <= STAGED {
        // SAFETY: the source is the caller's host memory, valid during the call.
        let staged = unsafe { transfer.stage() };
        graph::perform(&stream, Operation::StagedCopy(transfer, staged.into()))?;
        return Ok(());
    }
    if let Some(point) = graph::perform(&stream, Operation::Copy(transfer))? {
        point.wait();
    }
    stream.context().map(drop)
}

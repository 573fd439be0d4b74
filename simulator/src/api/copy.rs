//! Copies, synchronous and asynchronous, of one to three dimensions.
//!
//! An asynchronous copy is truly so where both ends are memory that the driver knows. With ordinary host memory small sources are copied
//! away at once, and everything else waits, as the driver does.

use super::entry::*;
use super::parts::parts;
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

    Ready fn cuMemcpyBatchAsync(
        dsts: *mut CUdeviceptr, srcs: *mut CUdeviceptr, sizes: *mut usize, count: usize, attrs: *mut CUmemcpyAttributes,
        attrsIdxs: *mut usize, numAttrs: usize, failIdx: *mut usize, hStream: CUstream,
    ) {
        let mut failed = usize::MAX;
        let done = batch((dsts, srcs, sizes, count), (attrs, attrsIdxs, numAttrs), hStream, &mut failed);
        if done.is_err() && !failIdx.is_null() {
            failIdx.write(failed);
        }
        done?;
    }

    Ready fn cuMemcpyBatchAsync_v2(
        dsts: *mut CUdeviceptr, srcs: *mut CUdeviceptr, sizes: *mut usize, count: usize, attrs: *mut CUmemcpyAttributes,
        attrsIdxs: *mut usize, numAttrs: usize, hStream: CUstream,
    ) {
        batch((dsts, srcs, sizes, count), (attrs, attrsIdxs, numAttrs), hStream, &mut 0)?;
    }

    Ready fn cuMemcpy3DBatchAsync(
        numOps: usize, opList: *mut CUDA_MEMCPY3D_BATCH_OP, failIdx: *mut usize, flags: c_ulonglong, hStream: CUstream,
    ) {
        let mut failed = usize::MAX;
        let done = batch_of_boxes((opList, numOps), flags, hStream, &mut failed);
        if done.is_err() && !failIdx.is_null() {
            failIdx.write(failed);
        }
        done?;
    }

    Ready fn cuMemcpy3DBatchAsync_v2(
        numOps: usize, opList: *mut CUDA_MEMCPY3D_BATCH_OP, flags: c_ulonglong, hStream: CUstream,
    ) {
        batch_of_boxes((opList, numOps), flags, hStream, &mut 0)?;
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

/// Copies in no order among each other, for which any will do. `failed` gets the number of the copy that cannot be.
///
/// # Safety
///
/// The arrays that are not null are valid for `count` values each, those of the attributes for their number.
unsafe fn batch(
    (to, from, sizes, count): (*const CUdeviceptr, *const CUdeviceptr, *const usize, usize),
    (attributes, firsts, attribute_count): (*const CUmemcpyAttributes, *const usize, usize),
    stream: CUstream,
    failed: &mut usize,
) -> Result {
    let found = streams::find(stream)?;
    if found.capture.is_capturing() {
        return Err(code::STREAM_CAPTURE_UNSUPPORTED);
    }
    let is_missing = to.is_null() || from.is_null() || sizes.is_null();
    if found.is_legacy() || is_missing || count == 0 || attributes.is_null() {
        return Err(code::INVALID_VALUE);
    }
    // SAFETY: the array is null or valid for so many values by the caller's contract.
    unsafe { parts(firsts, attribute_count, count) }?;
    for index in 0..attribute_count {
        // SAFETY: the array is not null, so valid for so many values by the caller's contract.
        let attributes = unsafe { *attributes.add(index) };
        check_attributes(attributes.srcAccessOrder, attributes.flags)?;
    }
    all_later(stream, count, failed, |index| {
        // SAFETY: the arrays are valid for `count` values by the caller's contract.
        let (to, from, bytes) = unsafe { (*to.add(index), *from.add(index), *sizes.add(index)) };
        Transfer::linear(to as usize, UNIFIED, from as usize, UNIFIED, bytes)
    })
}

/// Copies of boxes, in no order among each other. `failed` gets the number of the copy that cannot be.
///
/// # Safety
///
/// `copies` is null or valid for `count` values.
unsafe fn batch_of_boxes(
    (copies, count): (*const CUDA_MEMCPY3D_BATCH_OP, usize),
    flags: c_ulonglong,
    stream: CUstream,
    failed: &mut usize,
) -> Result {
    let found = streams::find(stream)?;
    if found.capture.is_capturing() {
        return Err(code::STREAM_CAPTURE_UNSUPPORTED);
    }
    if found.is_legacy() || copies.is_null() || count == 0 || flags != 0 {
        return Err(code::INVALID_VALUE);
    }
    all_later(stream, count, failed, |index| {
        // SAFETY: the array is not null, so valid for `count` values by the caller's contract.
        let copy = unsafe { &*copies.add(index) };
        check_attributes(copy.srcAccessOrder, copy.flags)?;
        Transfer::of_batch(copy)
    })
}

/// Enqueues the copies of a batch, once each of them can be. `failed` gets the number of the one that cannot.
fn all_later(
    stream: CUstream,
    count: usize,
    failed: &mut usize,
    transfer: impl Fn(usize) -> Result<Transfer>,
) -> Result {
    let transfers = (0..count).map(|index| {
        *failed = index;
        transfer(index)
    });
    let transfers = transfers.collect::<Result<Vec<_>>>()?;
    *failed = usize::MAX;
    transfers
        .into_iter()
        .try_for_each(|transfer| later(stream, || Ok(transfer)))
}

/// What a batch says of a copy beside its ends.
fn check_attributes(order: CUmemcpySrcAccessOrder, flags: c_uint) -> Result {
    match (1..=3).contains(&order.0) && flags <= 1 {
        true => Ok(()),
        false => Err(code::INVALID_VALUE),
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

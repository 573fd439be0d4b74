//! Several devices: what two of them can do together, whose memory a context reaches, and copies from one to another.

use std::sync::Arc;

use super::device::index;
use super::entry::*;
use crate::context::{Context, current, current_unchecked};
use crate::memory::{Transfer, peers};
use crate::streams::{self, Operation};

driver_calls! {
    Ready fn cuDeviceCanAccessPeer(canAccessPeer: *mut c_int, dev: CUdevice, peerDev: CUdevice) {
        let (one, other) = (index(dev)?, index(peerDev)?);
        // Any two simulated devices can be peers; a device is none of itself.
        put(canAccessPeer, c_int::from(one != other))?;
    }

    Ready fn cuDeviceGetP2PAttribute(
        value: *mut c_int, attrib: CUdevice_P2PAttribute, srcDevice: CUdevice, dstDevice: CUdevice,
    ) {
        use CUdevice_P2PAttribute as Attribute;
        if value.is_null() {
            return Err(code::INVALID_VALUE);
        }
        if index(srcDevice)? == index(dstDevice)? {
            return Err(code::INVALID_DEVICE);
        }
        value.write(match attrib {
            // As links are that all devices share.
            Attribute::CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK => 0,
            Attribute::CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED
            | Attribute::CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED
            | Attribute::CU_DEVICE_P2P_ATTRIBUTE_CUDA_ARRAY_ACCESS_SUPPORTED => 1,
            Attribute::CU_DEVICE_P2P_ATTRIBUTE_ONLY_PARTIAL_NATIVE_ATOMIC_SUPPORTED => 0,
            _ => return Err(code::INVALID_VALUE),
        });
    }

    Ready fn cuCtxEnablePeerAccess(peerContext: CUcontext, Flags: c_uint) {
        let context = current()?;
        if Flags != 0 {
            return Err(code::INVALID_VALUE);
        }
        let peer = Context::of_handle(peerContext)?;
        peer.check()?;
        if peer.device == context.device {
            return Err(code::PEER_ACCESS_UNSUPPORTED);
        }
        peers::enable(context.id(), peer.id())?;
    }

    Ready fn cuCtxDisablePeerAccess(peerContext: CUcontext) {
        let context = current()?;
        peers::disable(context.id(), Context::of_handle(peerContext)?.id())?;
    }

    Ready fn cuMemcpyPeer(
        dstDevice: CUdeviceptr, dstContext: CUcontext, srcDevice: CUdeviceptr, srcContext: CUcontext, ByteCount: usize,
    ) {
        let ends = [named(dstContext)?, named(srcContext)?];
        copy(core::ptr::null_mut(), ends, linear(dstDevice, srcDevice, ByteCount)?, Return::WhenDone)?;
    }

    Ready fn cuMemcpyPeerAsync(
        dstDevice: CUdeviceptr, dstContext: CUcontext, srcDevice: CUdeviceptr, srcContext: CUcontext, ByteCount: usize,
        hStream: CUstream,
    ) {
        let ends = [named(dstContext)?, named(srcContext)?];
        copy(hStream, ends, linear(dstDevice, srcDevice, ByteCount)?, Return::AtOnce)?;
    }

    Ready fn cuMemcpy3DPeer(pCopy: *const CUDA_MEMCPY3D_PEER) {
        let wish = parameters(pCopy)?;
        let ends = [named(wish.dstContext)?, named(wish.srcContext)?];
        copy(core::ptr::null_mut(), ends, three_dimensional(wish)?, Return::WhenDone)?;
    }

    Ready fn cuMemcpy3DPeerAsync(pCopy: *const CUDA_MEMCPY3D_PEER, hStream: CUstream) {
        let wish = parameters(pCopy)?;
        let ends = [named(wish.dstContext)?, named(wish.srcContext)?];
        copy(hStream, ends, three_dimensional(wish)?, Return::AtOnce)?;
    }
}

/// When a copy's call returns.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Return {
    AtOnce,
    WhenDone,
}

/// The context that a caller names for one end of a copy. None is fine: an address says by itself where it is.
fn named(context: CUcontext) -> Result<Option<Arc<Context>>> {
    if context.is_null() {
        return Ok(None);
    }
    let context = Context::of_handle(context)?;
    context.check()?;
    Ok(Some(context))
}

fn linear(to: CUdeviceptr, from: CUdeviceptr, bytes: usize) -> Result<Transfer> {
    const DEVICE: CUmemorytype = CUmemorytype::CU_MEMORYTYPE_DEVICE;
    Transfer::linear(to as usize, DEVICE, from as usize, DEVICE, bytes)
}

fn three_dimensional(wish: &CUDA_MEMCPY3D_PEER) -> Result<Transfer> {
    Transfer::three_dimensional(&CUDA_MEMCPY3D {
        srcXInBytes: wish.srcXInBytes,
        srcY: wish.srcY,
        srcZ: wish.srcZ,
        srcLOD: wish.srcLOD,
        srcMemoryType: wish.srcMemoryType,
        srcHost: wish.srcHost,
        srcDevice: wish.srcDevice,
        srcArray: wish.srcArray,
        srcPitch: wish.srcPitch,
        srcHeight: wish.srcHeight,
        dstXInBytes: wish.dstXInBytes,
        dstY: wish.dstY,
        dstZ: wish.dstZ,
        dstLOD: wish.dstLOD,
        dstMemoryType: wish.dstMemoryType,
        dstHost: wish.dstHost,
        dstDevice: wish.dstDevice,
        dstArray: wish.dstArray,
        dstPitch: wish.dstPitch,
        dstHeight: wish.dstHeight,
        WidthInBytes: wish.WidthInBytes,
        Height: wish.Height,
        Depth: wish.Depth,
        ..Default::default()
    })
}

/// Copies in a stream; in the legacy default stream after all that was submitted to the devices of both ends, and before all that is
/// submitted to them later.
fn copy(
    stream: CUstream,
    ends: [Option<Arc<Context>>; 2],
    transfer: Transfer,
    end: Return,
) -> Result {
    let stream = match (current_unchecked(), ends.iter().flatten().next()) {
        // As measured: without a current context that of an end will do.
        (None, Some(context)) if stream.is_null() => streams::legacy(context),
        _ => streams::find(stream)?,
    };
    // As measured, no capture takes it.
    stream.capture.refuse_synchronisation()?;
    if transfer.bytes() == 0 {
        return Ok(());
    }
    let must_wait = end == Return::WhenDone || transfer.has_pageable_end();
    let operation = Operation::Copy(transfer);
    let point = match stream.is_legacy() {
        true => stream.enqueue_among(&ends, operation)?,
        false => stream.enqueue(&stream.context()?, operation)?,
    };
    if must_wait {
        point.wait();
        let context = stream.context()?;
        context.flush_output();
        context.check()?;
    }
    Ok(())
}

//! Managed memory's hints, ranges and attachment.

use super::device::index;
use super::entry::*;
use crate::context::current;
use crate::graph;
use crate::memory::attachment::{self, Attachment};
use crate::memory::hints::{ManagedRange, names_device};
use crate::streams::{self, Operation, Stream};

driver_calls! {
    Ready fn cuMemPrefetchAsync(devPtr: CUdeviceptr, count: usize, dstDevice: CUdevice, hStream: CUstream) {
        prefetch(devPtr as usize, count, dstDevice, hStream)?;
    }

    Ready fn cuMemPrefetchAsync_v2(
        devPtr: CUdeviceptr, count: usize, location: CUmemLocation, flags: c_uint, hStream: CUstream,
    ) {
        if flags != 0 {
            return Err(code::INVALID_VALUE);
        }
        prefetch(devPtr as usize, count, location_of(location)?, hStream)?;
    }

    Ready fn cuMemAdvise(devPtr: CUdeviceptr, count: usize, advice: CUmem_advise, device: CUdevice) {
        advise(devPtr as usize, count, advice, device)?;
    }

    Ready fn cuMemAdvise_v2(devPtr: CUdeviceptr, count: usize, advice: CUmem_advise, location: CUmemLocation) {
        let device = if names_device(advice) { location_of(location)? } else { CU_DEVICE_CPU };
        advise(devPtr as usize, count, advice, device)?;
    }

    Ready fn cuMemRangeGetAttribute(
        data: *mut c_void, dataSize: usize, attribute: CUmem_range_attribute, devPtr: CUdeviceptr, count: usize,
    ) {
        range_attribute(data, dataSize, attribute, devPtr as usize, count)?;
    }

    Ready fn cuMemRangeGetAttributes(
        data: *mut *mut c_void, dataSizes: *mut usize, attributes: *mut CUmem_range_attribute, numAttributes: usize,
        devPtr: CUdeviceptr, count: usize,
    ) {
        if data.is_null() || dataSizes.is_null() || attributes.is_null() {
            return Err(code::INVALID_VALUE);
        }
        for i in 0..numAttributes {
            range_attribute(data.add(i).read(), dataSizes.add(i).read(), attributes.add(i).read(), devPtr as usize, count)?;
        }
    }
}

/// The device of a location, or the CPU.
fn location_of(location: CUmemLocation) -> Result<CUdevice> {
    match location.type_ {
        CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE => {
            // SAFETY: every bit pattern of the union's integer is valid.
            Ok(unsafe { location.__bindgen_anon_1.id })
        }
        CUmemLocationType::CU_MEM_LOCATION_TYPE_HOST => Ok(CU_DEVICE_CPU),
        CUmemLocationType::CU_MEM_LOCATION_TYPE_HOST_NUMA
        | CUmemLocationType::CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT => Ok(CU_DEVICE_CPU),
        _ => Err(code::INVALID_VALUE),
    }
}

fn check_device(device: CUdevice) -> Result {
    if device == CU_DEVICE_CPU {
        Ok(())
    } else {
        index(device).map(drop)
    }
}

fn prefetch(address: usize, bytes: usize, device: CUdevice, stream: CUstream) -> Result {
    let stream = streams::find(stream)?;
    check_device(device)?;
    ManagedRange::of(address, bytes)?.prefetch(device);
    graph::perform(&stream, Operation::Empty).map(drop)
}

fn advise(address: usize, bytes: usize, advice: CUmem_advise, device: CUdevice) -> Result {
    current()?;
    let range = ManagedRange::of(address, bytes)?;
    if names_device(advice) {
        check_device(device)?;
    }
    range.advise(advice, device)
}

/// # Safety
///
/// `data` is null or valid for `size` bytes.
unsafe fn range_attribute(
    data: *mut c_void,
    size: usize,
    attribute: CUmem_range_attribute,
    address: usize,
    bytes: usize,
) -> Result {
    current()?;
    let range = ManagedRange::of(address, bytes)?;
    if data.is_null() || size == 0 || !size.is_multiple_of(4) {
        return Err(code::INVALID_VALUE);
    }
    let answer = range.attribute(attribute, size / 4)?;
    // SAFETY: `data` is not null, so valid for `size` bytes by the caller's contract, and the answer has at most `size / 4` integers.
    unsafe { core::ptr::copy_nonoverlapping(answer.as_ptr(), data.cast(), answer.len()) };
    Ok(())
}

/// `cuStreamAttachMemAsync`: in the stream's order, and of no effect on a device with concurrent access.
pub(super) fn attach(stream: &Stream, address: usize, length: usize, flags: c_uint) -> Result {
    let info = ManagedRange::of(address, 1)?.allocation;
    let whole = info.base == address && (length == 0 || length == info.len);
    let single = flags == CUmemAttach_flags::CU_MEM_ATTACH_SINGLE.0;
    if !whole || !matches!(flags, 1 | 2 | 4) || (single && stream.is_legacy()) {
        return Err(code::INVALID_VALUE);
    }
    graph::perform(stream, Operation::Empty)?;
    let to = match CUmemAttach_flags(flags) {
        CUmemAttach_flags::CU_MEM_ATTACH_HOST => Attachment::Host,
        CUmemAttach_flags::CU_MEM_ATTACH_SINGLE => Attachment::Stream(stream.identity()),
        _ => Attachment::Global,
    };
    attachment::attach(info.base, to);
    Ok(())
}

//! Managed memory's hints, ranges and attachment.

use super::device::index;
use super::entry::*;
use crate::context::current;
use crate::graph;
use crate::memory::attachment::{self, Attachment};
use crate::memory::hints::{ManagedRange, Place, names_place};
use crate::streams::{self, Operation, Stream};

driver_calls! {
    Ready fn cuMemPrefetchAsync(devPtr: CUdeviceptr, count: usize, dstDevice: CUdevice, hStream: CUstream) {
        prefetch(devPtr as usize, count, place_of(dstDevice)?, hStream)?;
    }

    Ready fn cuMemPrefetchAsync_v2(
        devPtr: CUdeviceptr, count: usize, location: CUmemLocation, flags: c_uint, hStream: CUstream,
    ) {
        if flags != 0 {
            return Err(code::INVALID_VALUE);
        }
        prefetch(devPtr as usize, count, place_at(location)?, hStream)?;
    }

    Ready fn cuMemAdvise(devPtr: CUdeviceptr, count: usize, advice: CUmem_advise, device: CUdevice) {
        let place = || place_of(device);
        advise(devPtr as usize, count, advice, place)?;
    }

    Ready fn cuMemAdvise_v2(devPtr: CUdeviceptr, count: usize, advice: CUmem_advise, location: CUmemLocation) {
        // As measured, other than with `cuMemAdvise`.
        let place = || place_at(location).map_err(|_| code::INVALID_VALUE);
        advise(devPtr as usize, count, advice, place)?;
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

/// The nodes of the host's memory: what `CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID` tells is the only one.
pub(super) const HOST_NODES: i32 = 1;

/// Where a location is.
///
/// # Errors
///
/// Invalid value, or invalid device, if there is no such place.
pub(super) fn place_at(location: CUmemLocation) -> Result<Place> {
    // SAFETY: every bit pattern of the union's integer is valid.
    let number = unsafe { location.__bindgen_anon_1.id };
    match location.type_ {
        CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE => {
            index(number).map(|_| Place::Device(number))
        }
        CUmemLocationType::CU_MEM_LOCATION_TYPE_HOST => Ok(Place::Host),
        CUmemLocationType::CU_MEM_LOCATION_TYPE_HOST_NUMA if (0..HOST_NODES).contains(&number) => {
            Ok(Place::HostNode(number))
        }
        CUmemLocationType::CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT => Ok(Place::HostNode(0)),
        _ => Err(code::INVALID_VALUE),
    }
}

fn place_of(device: CUdevice) -> Result<Place> {
    if device == CU_DEVICE_CPU {
        Ok(Place::Host)
    } else {
        index(device).map(|_| Place::Device(device))
    }
}

fn prefetch(address: usize, bytes: usize, to: Place, stream: CUstream) -> Result {
    let stream = streams::find(stream)?;
    ManagedRange::of(address, bytes)?.prefetch(to);
    graph::perform(&stream, Operation::Empty).map(drop)
}

fn advise(
    address: usize,
    bytes: usize,
    advice: CUmem_advise,
    place: impl FnOnce() -> Result<Place>,
) -> Result {
    current()?;
    let range = ManagedRange::of(address, bytes)?;
    let place = if names_place(advice) {
        place()?
    } else {
        Place::Host
    };
    range.advise(advice, place)
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
    // All but the list of devices are one integer.
    let is_list = attribute == CUmem_range_attribute::CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY;
    let fits = size == 4 || (is_list && size > 0 && size.is_multiple_of(4));
    if data.is_null() || !fits {
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

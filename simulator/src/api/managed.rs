//! Managed memory's hints, ranges and attachment, and what is known about a pointer.
//!
//! Hints move nothing here: host and device share the memory. They are remembered, so that queries answer what was said.

use std::collections::BTreeMap;
use std::sync::Mutex;

use super::device::index;
use super::*;
use crate::memory::{AllocationInfo, Detail, Kind, Memory, State};
use crate::state::{current, lock, registries};
use crate::streams::{self, Stream};

type Advice = CUmem_advise;
type Pointer = CUpointer_attribute;
type Range = CUmem_range_attribute;

const PAGE: usize = 4096;

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
        prefetch(devPtr as usize, count, place(location)?, hStream)?;
    }

    Ready fn cuMemAdvise(devPtr: CUdeviceptr, count: usize, advice: CUmem_advise, device: CUdevice) {
        advise(devPtr as usize, count, advice, device)?;
    }

    Ready fn cuMemAdvise_v2(devPtr: CUdeviceptr, count: usize, advice: CUmem_advise, location: CUmemLocation) {
        let needs_place = !matches!(advice, Advice::CU_MEM_ADVISE_SET_READ_MOSTLY | Advice::CU_MEM_ADVISE_UNSET_READ_MOSTLY
            | Advice::CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION);
        advise(devPtr as usize, count, advice, if needs_place { place(location)? } else { CU_DEVICE_CPU })?;
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

    Ready fn cuPointerGetAttribute(data: *mut c_void, attribute: CUpointer_attribute, ptr: CUdeviceptr) {
        current()?;
        if data.is_null() {
            return Err(code::INVALID_VALUE);
        }
        let known = known(ptr as usize).ok_or(code::INVALID_VALUE)?;
        write_attribute(data, attribute, ptr, Some(&known))?;
    }

    Ready fn cuPointerGetAttributes(
        numAttributes: c_uint, attributes: *mut CUpointer_attribute, data: *mut *mut c_void, ptr: CUdeviceptr,
    ) {
        current()?;
        if attributes.is_null() || data.is_null() {
            return Err(code::INVALID_VALUE);
        }
        let known = known(ptr as usize);
        for i in 0..numAttributes as usize {
            write_attribute(data.add(i).read(), attributes.add(i).read(), ptr, known.as_ref())?;
        }
    }

    Ready fn cuPointerSetAttribute(value: *const c_void, attribute: CUpointer_attribute, ptr: CUdeviceptr) {
        current()?;
        if attribute != Pointer::CU_POINTER_ATTRIBUTE_SYNC_MEMOPS || value.is_null() || known(ptr as usize).is_none() {
            return Err(code::INVALID_VALUE);
        }
    }
}

/// What was said about one page of managed memory.
#[derive(Clone, Default, PartialEq, Eq)]
struct Hints {
    read_mostly: bool,
    preferred: Option<CUdevice>,
    accessed_by: Vec<CUdevice>,
    prefetched: Option<CUdevice>,
}

/// By page; pages of freed memory stay, as their addresses are not used again.
static HINTS: Mutex<BTreeMap<usize, Hints>> = Mutex::new(BTreeMap::new());

fn managed(address: usize, count: usize) -> Result<(AllocationInfo, Detail)> {
    let (info, detail) = Memory::global()
        .detail(address)
        .ok_or(code::INVALID_VALUE)?;
    let end = info.base + info.len.next_multiple_of(PAGE);
    let inside = info.state == State::Live && count <= end.saturating_sub(address);
    if detail.kind != Kind::Managed || !inside || count == 0 {
        return Err(code::INVALID_VALUE);
    }
    Ok((info, detail))
}

fn pages(address: usize, count: usize) -> impl Iterator<Item = usize> {
    (address / PAGE)..(address + count).div_ceil(PAGE)
}

fn place(location: CUmemLocation) -> Result<CUdevice> {
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

fn check_place(device: CUdevice) -> Result {
    if device == CU_DEVICE_CPU {
        Ok(())
    } else {
        index(device).map(drop)
    }
}

fn prefetch(address: usize, count: usize, device: CUdevice, stream: CUstream) -> Result {
    let stream = streams::find(stream)?;
    check_place(device)?;
    managed(address, count)?;
    let mut hints = lock(&HINTS);
    for page in pages(address, count) {
        hints.entry(page).or_default().prefetched = Some(device);
    }
    drop(hints);
    super::stream::issue_nothing(&stream)
}

fn advise(address: usize, count: usize, advice: Advice, device: CUdevice) -> Result {
    current()?;
    managed(address, count)?;
    let unplaced = matches!(
        advice,
        Advice::CU_MEM_ADVISE_SET_READ_MOSTLY
            | Advice::CU_MEM_ADVISE_UNSET_READ_MOSTLY
            | Advice::CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION
    );
    if !unplaced {
        check_place(device)?;
    }
    let mut hints = lock(&HINTS);
    for page in pages(address, count) {
        let hints = hints.entry(page).or_default();
        match advice {
            Advice::CU_MEM_ADVISE_SET_READ_MOSTLY => hints.read_mostly = true,
            Advice::CU_MEM_ADVISE_UNSET_READ_MOSTLY => hints.read_mostly = false,
            Advice::CU_MEM_ADVISE_SET_PREFERRED_LOCATION => hints.preferred = Some(device),
            Advice::CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION => hints.preferred = None,
            Advice::CU_MEM_ADVISE_SET_ACCESSED_BY => {
                hints.accessed_by.retain(|&other| other != device);
                hints.accessed_by.push(device);
            }
            Advice::CU_MEM_ADVISE_UNSET_ACCESSED_BY => {
                hints.accessed_by.retain(|&other| other != device)
            }
            _ => return Err(code::INVALID_VALUE),
        }
    }
    Ok(())
}

/// # Safety
///
/// `data` is null or valid for `size` bytes.
unsafe fn range_attribute(
    data: *mut c_void,
    size: usize,
    attribute: Range,
    address: usize,
    count: usize,
) -> Result {
    current()?;
    managed(address, count)?;
    if data.is_null() || size == 0 || !size.is_multiple_of(4) {
        return Err(code::INVALID_VALUE);
    }
    let hints = lock(&HINTS);
    let all: Vec<Hints> = pages(address, count)
        .map(|page| hints.get(&page).cloned().unwrap_or_default())
        .collect();
    let uniform = |get: fn(&Hints) -> Option<CUdevice>| {
        let first = get(&all[0]);
        first
            .filter(|_| all.iter().all(|hints| get(hints) == first))
            .unwrap_or(CU_DEVICE_INVALID)
    };
    let mut answer = match attribute {
        Range::CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY => {
            vec![c_int::from(all.iter().all(|hints| hints.read_mostly))]
        }
        Range::CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION => vec![uniform(|hints| hints.preferred)],
        Range::CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION => {
            vec![uniform(|hints| hints.prefetched)]
        }
        Range::CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY => {
            let mut list = all[0].accessed_by.clone();
            list.retain(|device| all.iter().all(|hints| hints.accessed_by.contains(device)));
            list.resize(size / 4, CU_DEVICE_INVALID);
            list
        }
        _ => return Err(code::INVALID_VALUE),
    };
    answer.truncate(size / 4);
    // SAFETY: the caller's contract.
    unsafe { core::ptr::copy_nonoverlapping(answer.as_ptr(), data.cast(), answer.len()) };
    Ok(())
}

/// `cuStreamAttachMemAsync`: in the stream's order, and of no effect on a device with concurrent access but for the checks.
pub(super) fn attach(
    stream: &std::sync::Arc<Stream>,
    address: usize,
    length: usize,
    flags: c_uint,
) -> Result {
    let (info, _) = managed(address, 1)?;
    let whole = info.base == address && (length == 0 || length == info.len);
    let single = flags == CUmemAttach_flags::CU_MEM_ATTACH_SINGLE.0;
    if !whole || !matches!(flags, 1 | 2 | 4) || (single && stream.is_legacy) {
        return Err(code::INVALID_VALUE);
    }
    super::stream::issue_nothing(stream)
}

/// What the driver knows about an address.
struct Known {
    info: AllocationInfo,
    kind: Kind,
    context: u64,
    device: usize,
    serial: u64,
    is_registered: bool,
}

fn known(address: usize) -> Option<Known> {
    let memory = Memory::global();
    if let Some((info, detail)) = memory.detail(address) {
        let live = info.state == State::Live && info.holds(address, 1);
        let Detail {
            kind,
            context,
            device,
            serial,
            ..
        } = detail;
        return live.then_some(Known {
            info,
            kind,
            context,
            device,
            serial,
            is_registered: false,
        });
    }
    let (base, range) = memory.registered_range(address)?;
    let info = AllocationInfo {
        base,
        len: range.len,
        state: State::Live,
    };
    Some(Known {
        info,
        kind: Kind::Pinned(range.flags),
        context: range.context,
        device: 0,
        serial: 0,
        is_registered: true,
    })
}

/// # Safety
///
/// `data` is null or valid for the attribute's type.
unsafe fn write_attribute(
    data: *mut c_void,
    attribute: Pointer,
    address: CUdeviceptr,
    known: Option<&Known>,
) -> Result {
    if data.is_null() {
        return Err(code::INVALID_VALUE);
    }
    let is_host = known.is_some_and(|known| matches!(known.kind, Kind::Pinned(_)));
    let is_managed = known.is_some_and(|known| known.kind == Kind::Managed);
    // SAFETY: the caller's contract.
    unsafe {
        match attribute {
            Pointer::CU_POINTER_ATTRIBUTE_CONTEXT => {
                // Stream-ordered memory belongs to no context.
                let context = known
                    .filter(|known| !matches!(known.kind, Kind::Pool(_)))
                    .map_or(0, |known| known.context);
                data.cast::<usize>().write(context as usize);
            }
            Pointer::CU_POINTER_ATTRIBUTE_MEMORY_TYPE => data.cast::<u32>().write(match known {
                None => 0,
                Some(_) if is_host => CUmemorytype::CU_MEMORYTYPE_HOST.0,
                Some(_) => CUmemorytype::CU_MEMORYTYPE_DEVICE.0,
            }),
            Pointer::CU_POINTER_ATTRIBUTE_DEVICE_POINTER => {
                data.cast::<CUdeviceptr>()
                    .write(if known.is_some() { address } else { 0 });
            }
            Pointer::CU_POINTER_ATTRIBUTE_HOST_POINTER => {
                let reachable = is_host || is_managed || known.is_none();
                if !reachable {
                    data.cast::<usize>().write(0);
                    return Err(code::INVALID_VALUE);
                }
                data.cast::<usize>()
                    .write(if known.is_some() { address as usize } else { 0 });
            }
            Pointer::CU_POINTER_ATTRIBUTE_SYNC_MEMOPS => data.cast::<u32>().write(0),
            Pointer::CU_POINTER_ATTRIBUTE_BUFFER_ID => data
                .cast::<u64>()
                .write(known.map_or(0, |known| known.serial)),
            Pointer::CU_POINTER_ATTRIBUTE_IS_MANAGED => {
                data.cast::<u32>().write(u32::from(is_managed))
            }
            Pointer::CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL => {
                data.cast::<c_int>()
                    .write(known.map_or(CU_DEVICE_INVALID, |known| known.device as c_int));
            }
            Pointer::CU_POINTER_ATTRIBUTE_RANGE_START_ADDR => {
                data.cast::<CUdeviceptr>()
                    .write(known.map_or(0, |known| known.info.base as CUdeviceptr));
            }
            Pointer::CU_POINTER_ATTRIBUTE_RANGE_SIZE => {
                data.cast::<usize>()
                    .write(known.map_or(0, |known| known.info.len));
            }
            Pointer::CU_POINTER_ATTRIBUTE_MAPPED => {
                data.cast::<u32>()
                    .write(u32::from(known.is_some_and(|known| !known.is_registered)));
            }
            // Read and write, for all.
            Pointer::CU_POINTER_ATTRIBUTE_ACCESS_FLAGS if known.is_some() => {
                data.cast::<u32>().write(3)
            }
            Pointer::CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE => {
                let pool = known.and_then(|known| match known.kind {
                    Kind::Pool(pool) => registries().pools.get(pool as usize as *mut ()).ok(),
                    _ => None,
                });
                data.cast::<usize>()
                    .write(pool.map_or(0, |pool| pool.handle));
            }
            _ => return Err(code::INVALID_VALUE),
        }
    }
    Ok(())
}

//! Physical memory, reserved addresses, mappings and access.

use crate::common::*;
use crate::row::*;
use crate::world::{
    DESCRIPTOR, NO_DEVICE, NOWHERE, ODD, PIECE, changed, device, grant, location,
    physical_properties,
};

type Handles = CUmemAllocationHandleType;
type Place = CUmemLocationType;

const MINIMUM: CUmemAllocationGranularity_flags =
    CUmemAllocationGranularity_flags::CU_MEM_ALLOC_GRANULARITY_MINIMUM;
/// As a real driver's are not: an address that is none of its own.
const NO_HANDLE: CUmemGenericAllocationHandle = 0;

pub fn rows() -> Vec<Row> {
    let mut rows = memory();
    rows.extend(addresses());
    rows.extend(mappings());
    rows
}

fn memory() -> Vec<Row> {
    rows! { |w|
        cuMemGetAllocationGranularity {
            "null result": INVALID_VALUE => (null_mut(), at(physical_properties()), MINIMUM);
            "null properties": INVALID_VALUE => (out(), null(), MINIMUM);
            "an odd option": INVALID_VALUE => (out(), at(physical_properties()), CUmemAllocationGranularity_flags(ODD));
            "no such device" [gpu(OK)]: INVALID_DEVICE => (
                out(), changed(physical_properties(), |p| p.location = device(NO_DEVICE)), MINIMUM,
            );
            "no type" [gpu(OK)]: INVALID_VALUE => (
                out(), changed(physical_properties(), |p| p.type_ = CUmemAllocationType_enum(0)), MINIMUM,
            );
            "no location" [gpu(OK)]: INVALID_VALUE => (
                out(), changed(physical_properties(), |p| p.location = location(Place::CU_MEM_LOCATION_TYPE_INVALID, 0)), MINIMUM,
            );
        }
        cuMemCreate {
            "null result": INVALID_VALUE => (null_mut(), PIECE, at(physical_properties()), 0);
            "null properties": INVALID_VALUE => (out(), PIECE, null(), 0);
            "no bytes": INVALID_VALUE => (out(), 0, at(physical_properties()), 0);
            "no multiple of a piece": INVALID_VALUE => (out(), PIECE / 2, at(physical_properties()), 0);
            "more than there is": OUT_OF_MEMORY => (out(), 1 << 42, at(physical_properties()), 0);
            "all bytes that there are": INVALID_VALUE => (out(), usize::MAX, at(physical_properties()), 0);
            "a flag": INVALID_VALUE => (out(), PIECE, at(physical_properties()), 1);
            "no type": INVALID_VALUE => (out(), PIECE, changed(physical_properties(), |p| p.type_ = CUmemAllocationType_enum(0)), 0);
            "an odd type": INVALID_VALUE => (
                out(), PIECE, changed(physical_properties(), |p| p.type_ = CUmemAllocationType_enum(ODD)), 0,
            );
            "handles of another system": INVALID_VALUE => (
                out(), PIECE, changed(physical_properties(), |p| p.requestedHandleTypes = Handles::CU_MEM_HANDLE_TYPE_WIN32), 0,
            );
            "odd handles" [gpu(OK)]: INVALID_VALUE => (
                out(), PIECE, changed(physical_properties(), |p| p.requestedHandleTypes = CUmemAllocationHandleType_enum(ODD)), 0,
            );
            "no such device": INVALID_DEVICE => (out(), PIECE, changed(physical_properties(), |p| p.location = device(NO_DEVICE)), 0);
            "a negative device": INVALID_DEVICE => (out(), PIECE, changed(physical_properties(), |p| p.location = device(-1)), 0);
            "no location": INVALID_VALUE => (
                out(), PIECE, changed(physical_properties(), |p| p.location = location(Place::CU_MEM_LOCATION_TYPE_INVALID, 0)), 0,
            );
            "an odd location": INVALID_VALUE => (
                out(), PIECE, changed(physical_properties(), |p| p.location = location(CUmemLocationType_enum(ODD), 0)), 0,
            );
            "an odd compression": INVALID_VALUE => (
                out(), PIECE, changed(physical_properties(), |p| p.allocFlags.compressionType = 7), 0,
            );
        }
        cuMemRelease {
            "nothing": INVALID_VALUE => (NO_HANDLE);
            "twice" [undefined]: INVALID_VALUE => (w.released_physical);
            "another kind of handle" [undefined]: INVALID_VALUE => (w.array as u64);
        }
        cuMemRetainAllocationHandle {
            "null result": INVALID_VALUE => (null_mut(), w.range as *mut c_void);
            "null": INVALID_VALUE => (out(), null_mut());
            "plain memory": INVALID_VALUE => (out(), w.memory as *mut c_void);
            "where nothing is mapped": INVALID_VALUE => (out(), (w.range + PIECE as u64) as *mut c_void);
            "nowhere": INVALID_VALUE => (out(), NOWHERE as *mut c_void);
        }
        cuMemGetAllocationPropertiesFromHandle {
            "null result": INVALID_VALUE => (null_mut(), w.physical);
            "nothing": INVALID_VALUE => (out(), NO_HANDLE);
            "released" [undefined]: INVALID_VALUE => (out(), w.released_physical);
        }
        cuMemExportToShareableHandle {
            "null result": INVALID_VALUE => (null_mut(), w.physical, DESCRIPTOR, 0);
            "nothing": INVALID_VALUE => (out(), NO_HANDLE, DESCRIPTOR, 0);
            "released" [undefined]: INVALID_VALUE => (out(), w.released_physical, DESCRIPTOR, 0);
            "no type": INVALID_VALUE => (out(), w.physical, Handles::CU_MEM_HANDLE_TYPE_NONE, 0);
            "a type that the memory has not": INVALID_VALUE => (out(), w.physical, Handles::CU_MEM_HANDLE_TYPE_FABRIC, 0);
            "an odd type": INVALID_VALUE => (out(), w.physical, CUmemAllocationHandleType_enum(ODD), 0);
            "a flag": INVALID_VALUE => (out(), w.physical, DESCRIPTOR, 1);
        }
        cuMemImportFromShareableHandle {
            "null result": INVALID_VALUE => (null_mut(), 9999usize as *mut c_void, DESCRIPTOR);
            "a descriptor that is not open": UNKNOWN => (out(), 9999usize as *mut c_void, DESCRIPTOR);
            "a negative descriptor": UNKNOWN => (out(), -1isize as *mut c_void, DESCRIPTOR);
            "no type": INVALID_VALUE => (out(), 9999usize as *mut c_void, Handles::CU_MEM_HANDLE_TYPE_NONE);
            "no context" [bare, gpu(UNKNOWN)]: INVALID_CONTEXT => (out(), 9999usize as *mut c_void, DESCRIPTOR);
        }
    }
}

fn addresses() -> Vec<Row> {
    rows! { |w|
        cuMemAddressReserve {
            "null result": INVALID_VALUE => (null_mut(), PIECE, 0, 0, 0);
            "no bytes": INVALID_VALUE => (out(), 0, 0, 0, 0);
            "no multiple of a piece": INVALID_VALUE => (out(), PIECE + 1, 0, 0, 0);
            "an alignment that is no power of two": INVALID_VALUE => (out(), PIECE, 3, 0, 0);
            "a misaligned address": INVALID_VALUE => (out(), PIECE, 0, 12345, 0);
            "more than there is": OUT_OF_MEMORY => (out(), 1 << 60, 0, 0, 0);
            "a flag": INVALID_VALUE => (out(), PIECE, 0, 0, 1);
        }
        cuMemAddressFree {
            "nothing": INVALID_VALUE => (0, PIECE);
            "twice": INVALID_VALUE => (w.freed_range, PIECE);
            "while something is mapped": INVALID_VALUE => (w.range, 3 * PIECE);
            "a part": INVALID_VALUE => (w.range + PIECE as u64, PIECE);
            "the first part": INVALID_VALUE => (w.range, PIECE);
            "no bytes": INVALID_VALUE => (w.range, 0);
            "plain memory": INVALID_VALUE => (w.memory, PIECE);
            "nowhere": INVALID_VALUE => (NOWHERE, PIECE);
        }
    }
}

fn mappings() -> Vec<Row> {
    rows! { |w|
        cuMemMap {
            "addresses that are not reserved": INVALID_VALUE => (0x100_0000, PIECE, 0, w.physical, 0);
            "freed addresses": INVALID_VALUE => (w.freed_range, PIECE, 0, w.physical, 0);
            "where something is mapped": INVALID_VALUE => (w.range, PIECE, 0, w.physical, 0);
            "nothing": INVALID_VALUE => (w.range + PIECE as u64, PIECE, 0, NO_HANDLE, 0);
            "released memory" [undefined]: INVALID_VALUE => (w.range + PIECE as u64, PIECE, 0, w.released_physical, 0);
            "more than the memory": NOT_SUPPORTED => (w.range + PIECE as u64, 2 * PIECE, 0, w.physical, 0);
            "more than is reserved": NOT_SUPPORTED => (w.range + 2 * PIECE as u64, 2 * PIECE, 0, w.physical, 0);
            "no bytes": INVALID_VALUE => (w.range + PIECE as u64, 0, 0, w.physical, 0);
            "a misaligned address": INVALID_VALUE => (w.range + PIECE as u64 + 4096, PIECE, 0, w.physical, 0);
            "an offset": NOT_SUPPORTED => (w.range + PIECE as u64, PIECE, PIECE, w.physical, 0);
            "a flag": INVALID_VALUE => (w.range + PIECE as u64, PIECE, 0, w.physical, 1);
            "plain memory": INVALID_VALUE => (w.memory, PIECE, 0, w.physical, 0);
        }
        cuMemUnmap {
            "nothing": INVALID_VALUE => (0, PIECE);
            "no bytes": INVALID_VALUE => (w.range, 0);
            "a part of a mapping": INVALID_VALUE => (w.range, PIECE / 2);
            "freed addresses": INVALID_VALUE => (w.freed_range, PIECE);
            "more than is reserved" [gpu(OK)]: INVALID_VALUE => (w.range, 4 * PIECE);
            "plain memory": INVALID_VALUE => (w.memory, PIECE);
        }
        cuMemSetAccess {
            "null rights": INVALID_VALUE => (w.range, PIECE, null(), 1);
            "no rights": INVALID_VALUE => (w.range, PIECE, at(grant(device(0))), 0);
            "nothing": INVALID_VALUE => (0, PIECE, at(grant(device(0))), 1);
            "no bytes": INVALID_VALUE => (w.range, 0, at(grant(device(0))), 1);
            "a part of a mapping": INVALID_VALUE => (w.range, PIECE / 2, at(grant(device(0))), 1);
            "where nothing is mapped": INVALID_VALUE => (w.range + PIECE as u64, PIECE, at(grant(device(0))), 1);
            "beyond what is mapped": INVALID_VALUE => (w.range, 2 * PIECE, at(grant(device(0))), 1);
            "freed addresses": INVALID_VALUE => (w.freed_range, PIECE, at(grant(device(0))), 1);
            "plain memory": INVALID_VALUE => (w.memory, PIECE, at(grant(device(0))), 1);
            "no such device": INVALID_VALUE => (w.range, PIECE, at(grant(device(NO_DEVICE))), 1);
            "no location": INVALID_VALUE => (w.range, PIECE, at(grant(location(Place::CU_MEM_LOCATION_TYPE_INVALID, 0))), 1);
            "odd rights": INVALID_VALUE => (w.range, PIECE, changed(grant(device(0)), |g| g.flags = CUmemAccess_flags(ODD)), 1);
            "the second one for no device": INVALID_VALUE => (
                w.range, PIECE, all([CUmemAccessDesc { flags: CUmemAccess_flags(0), ..grant(device(0)) }, grant(device(NO_DEVICE))]), 2,
            );
        }
        cuMemGetAccess {
            "null result": INVALID_VALUE => (null_mut(), at(device(0)), w.range);
            "a null location": INVALID_VALUE => (out(), null(), w.range);
            "no such device": INVALID_DEVICE => (out(), at(device(NO_DEVICE)), w.range);
            "no location": INVALID_DEVICE => (out(), at(location(Place::CU_MEM_LOCATION_TYPE_INVALID, 0)), w.range);
            "nothing": INVALID_VALUE => (out(), at(device(0)), 0);
            "where nothing is mapped": INVALID_VALUE => (out(), at(device(0)), w.range + PIECE as u64);
            "plain memory" [gpu(OK)]: INVALID_VALUE => (out(), at(device(0)), w.memory);
        }
    }
}

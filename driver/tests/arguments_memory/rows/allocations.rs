//! Plain, pitched, managed and page-locked memory.

use crate::common::*;
use crate::row::*;
use crate::world::{BYTES, NOWHERE, ODD};

pub fn rows() -> Vec<Row> {
    rows! { |w|
        cuMemGetInfo_v2 {
            "null results": OK => (null_mut(), null_mut());
            "no context" [bare]: INVALID_CONTEXT => (out(), out());
        }
        cuMemAlloc_v2 {
            "null result": INVALID_VALUE => (null_mut(), 16);
            "no bytes": INVALID_VALUE => (out(), 0);
            "more than there is": OUT_OF_MEMORY => (out(), 1 << 60);
            "all bytes that there are": OUT_OF_MEMORY => (out(), usize::MAX);
            "no context" [bare]: INVALID_CONTEXT => (out(), 16);
        }
        cuMemAllocPitch_v2 {
            "null result": INVALID_VALUE => (null_mut(), out(), 16, 4, 4);
            "null pitch": INVALID_VALUE => (out(), null_mut(), 16, 4, 4);
            "no width": INVALID_VALUE => (out(), out(), 0, 4, 4);
            "no height": INVALID_VALUE => (out(), out(), 16, 0, 4);
            "elements of 3 bytes": INVALID_VALUE => (out(), out(), 16, 4, 3);
            "elements of no bytes": INVALID_VALUE => (out(), out(), 16, 4, 0);
            "a width that overflows": INVALID_VALUE => (out(), out(), usize::MAX, 4, 4);
            "a size that overflows": INVALID_VALUE => (out(), out(), 1 << 40, 1 << 40, 4);
            "no context" [bare]: INVALID_CONTEXT => (out(), out(), 16, 4, 4);
        }
        cuMemAllocManaged {
            "null result": INVALID_VALUE => (null_mut(), 16, 1);
            "no bytes": INVALID_VALUE => (out(), 0, 1);
            "no flag": INVALID_VALUE => (out(), 16, 0);
            "two flags": INVALID_VALUE => (out(), 16, 3);
            "a single stream's": INVALID_VALUE => (out(), 16, 4);
            "odd flags": INVALID_VALUE => (out(), 16, ODD);
            "more than there is": OUT_OF_MEMORY => (out(), 1 << 60, 1);
            "no context" [bare]: INVALID_CONTEXT => (out(), 16, 1);
        }
        cuMemFree_v2 {
            "nothing": OK => (0);
            "inside of an allocation" [says("16 bytes behind the beginning of an allocation (cuMemAlloc, 4096 bytes")]: INVALID_VALUE => (w.memory + 16);
            "twice" [says("cuMemFree has freed it already")]: INVALID_VALUE => (w.freed);
            "managed, twice": INVALID_VALUE => (w.freed_managed);
            "inside of managed memory": INVALID_VALUE => (w.managed + 4096);
            "pooled, twice": INVALID_VALUE => (w.freed_pooled);
            "inside of pooled memory": INVALID_VALUE => (w.pooled + 16);
            "nowhere" [says("in no memory that the driver knows")]: INVALID_VALUE => (NOWHERE);
            "the last address": INVALID_VALUE => (u64::MAX);
            "pageable memory": INVALID_VALUE => (w.host_address());
            "page-locked memory" [says("the memory is of cuMemHostAlloc")]: INVALID_VALUE => (w.pinned as CUdeviceptr);
            "registered memory": INVALID_VALUE => (w.registered as CUdeviceptr);
            "mapped memory": INVALID_VALUE => (w.range);
            "reserved addresses" [says("at which nothing is mapped")]: INVALID_VALUE => (w.range + (2 << 20));
            "of a destroyed context": INVALID_VALUE => (w.orphaned);
            "no context" [bare, gpu(OK)]: INVALID_CONTEXT => (w.memory);
        }
        cuMemFreeHost {
            "device memory": INVALID_VALUE => (w.memory as *mut c_void);
            "inside of an allocation": INVALID_VALUE => (w.pinned.wrapping_byte_add(16));
            "twice": INVALID_VALUE => (w.freed_pinned);
            "pageable memory": INVALID_VALUE => (w.host);
            "registered memory": INVALID_VALUE => (w.registered);
            "managed memory": INVALID_VALUE => (w.managed as *mut c_void);
            "no context" [bare, gpu(OK)]: INVALID_CONTEXT => (w.pinned);
        }
        cuMemGetAddressRange_v2 {
            "nothing": NOT_FOUND => (out(), out(), 0);
            "freed": NOT_FOUND => (out(), out(), w.freed);
            "nowhere": NOT_FOUND => (out(), out(), NOWHERE);
            "pageable memory": NOT_FOUND => (out(), out(), w.host_address());
            "reserved addresses": NOT_FOUND => (out(), out(), w.range + (2 << 20));
            "of a destroyed context": NOT_FOUND => (out(), out(), w.orphaned);
            "no context" [bare]: INVALID_CONTEXT => (out(), out(), w.memory);
        }
        cuMemAllocHost_v2 {
            "null result": INVALID_VALUE => (null_mut(), 16);
            "no bytes": OK => (out(), 0);
            "more than there is": OUT_OF_MEMORY => (out(), 1 << 60);
            "no context" [bare]: INVALID_CONTEXT => (out(), 16);
        }
        cuMemHostAlloc {
            "null result": INVALID_VALUE => (null_mut(), 16, 0);
            "no bytes": OK => (out(), 0, 0);
            "odd flags": INVALID_VALUE => (out(), 16, ODD);
            "the next flag": INVALID_VALUE => (out(), 16, 8);
            "more than there is": OUT_OF_MEMORY => (out(), 1 << 60, 0);
            "no context" [bare]: INVALID_CONTEXT => (out(), 16, 0);
        }
        cuMemHostGetDevicePointer_v2 {
            "null result": INVALID_VALUE => (null_mut(), w.pinned, 0);
            "null": INVALID_VALUE => (out(), null_mut(), 0);
            "pageable memory": INVALID_VALUE => (out(), w.host, 0);
            "device memory": INVALID_VALUE => (out(), w.memory as *mut c_void, 0);
            "freed": INVALID_VALUE => (out(), w.freed_pinned, 0);
            "a flag": INVALID_VALUE => (out(), w.pinned, 1);
            "no context" [bare]: INVALID_CONTEXT => (out(), w.pinned, 0);
        }
        cuMemHostGetFlags {
            "null result": INVALID_VALUE => (null_mut(), w.pinned);
            "null": INVALID_VALUE => (out(), null_mut());
            "pageable memory": INVALID_VALUE => (out(), w.host);
            "device memory": INVALID_VALUE => (out(), w.memory as *mut c_void);
            "freed": INVALID_VALUE => (out(), w.freed_pinned);
            "no context" [bare]: INVALID_CONTEXT => (out(), w.pinned);
        }
        cuMemHostRegister_v2 {
            "null": INVALID_VALUE => (null_mut(), BYTES, 0);
            "no bytes": INVALID_VALUE => (w.host, 0, 0);
            "odd flags": INVALID_VALUE => (w.host, BYTES, ODD);
            "beyond the last address": INVALID_VALUE => (w.host, usize::MAX, 0);
            "twice": ALREADY_REGISTERED => (w.registered, BYTES, 0);
            "inside of what is registered": ALREADY_REGISTERED => (w.registered.wrapping_byte_add(64), 64, 0);
            "page-locked memory": INVALID_VALUE => (w.pinned, BYTES, 0);
            "device memory": INVALID_VALUE => (w.memory as *mut c_void, BYTES, 0);
            "managed memory": INVALID_VALUE => (w.managed as *mut c_void, BYTES, 0);
            "no context" [bare]: INVALID_CONTEXT => (w.host, BYTES, 0);
        }
        cuMemHostUnregister {
            "null": INVALID_VALUE => (null_mut());
            "pageable memory": NOT_REGISTERED => (w.host);
            "inside of what is registered": INVALID_VALUE => (w.registered.wrapping_byte_add(64));
            "page-locked memory": INVALID_VALUE => (w.pinned);
            "device memory": INVALID_VALUE => (w.memory as *mut c_void);
            "no context" [bare, gpu(OK)]: INVALID_CONTEXT => (w.registered);
        }
    }
}

//! Stream-ordered memory and its pools, and what graphs take.

use crate::common::*;
use crate::row::*;
use crate::world::{
    BYTES, DESCRIPTOR, NO_DEVICE, NOWHERE, ODD, READ_WRITE, changed, device, grant, location,
    pool_properties,
};

type Place = CUmemLocationType;
type Handles = CUmemAllocationHandleType;
type Attribute = CUmemPool_attribute;

const NONE: Handles = Handles::CU_MEM_HANDLE_TYPE_NONE;
const USED: Attribute = Attribute::CU_MEMPOOL_ATTR_USED_MEM_CURRENT;
const USED_HIGH: Attribute = Attribute::CU_MEMPOOL_ATTR_USED_MEM_HIGH;
const THRESHOLD: Attribute = Attribute::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD;

pub fn rows() -> Vec<Row> {
    let mut rows = memory();
    rows.extend(pools());
    rows.extend(sharing());
    rows.extend(of_graphs());
    rows
}

fn default_pool() -> CUmemoryPool {
    get!(cuDeviceGetDefaultMemPool(0))
}

fn memory() -> Vec<Row> {
    rows! { |w|
        cuMemAllocAsync {
            "null result": INVALID_VALUE => (null_mut(), 16, w.stream);
            "more than there is": OUT_OF_MEMORY => (out(), 1 << 60, w.stream);
            "all bytes that there are": OUT_OF_MEMORY => (out(), usize::MAX, w.stream);
            "a destroyed stream" [undefined]: INVALID_HANDLE => (out(), 16, w.destroyed_stream);
            "another kind of handle" [undefined]: INVALID_HANDLE => (out(), 16, w.pool.cast());
            "no context" [bare]: INVALID_CONTEXT => (out(), 16, null_mut());
        }
        cuMemAllocFromPoolAsync {
            "null result": INVALID_VALUE => (null_mut(), 16, w.pool, w.stream);
            "a null pool": INVALID_VALUE => (out(), 16, null_mut(), w.stream);
            "a destroyed pool" [undefined]: INVALID_VALUE => (out(), 16, w.destroyed_pool, w.stream);
            "another kind of handle" [undefined]: INVALID_VALUE => (out(), 16, w.array.cast(), w.stream);
            "more than there is": OUT_OF_MEMORY => (out(), 1 << 60, w.pool, w.stream);
            "a destroyed stream" [undefined]: INVALID_HANDLE => (out(), 16, w.pool, w.destroyed_stream);
            "no context" [bare]: INVALID_CONTEXT => (out(), 16, w.pool, null_mut());
        }
        cuMemFreeAsync {
            "inside of an allocation" [says("16 bytes behind the beginning")]: INVALID_VALUE => (w.pooled + 16, w.stream);
            "twice" [says("has freed it already")]: INVALID_VALUE => (w.freed_pooled, w.stream);
            "freed at once" [says("has freed it already")]: INVALID_VALUE => (w.freed, w.stream);
            "nowhere" [says("in no memory that the driver knows")]: INVALID_VALUE => (NOWHERE, w.stream);
            "pageable memory" [says("in no memory that the driver knows")]: INVALID_VALUE => (w.host_address(), w.stream);
            "page-locked memory": INVALID_VALUE => (w.pinned as CUdeviceptr, w.stream);
            "managed memory": NOT_SUPPORTED => (w.managed, w.stream);
            "mapped memory": INVALID_VALUE => (w.range, w.stream);
            "of a destroyed context": INVALID_VALUE => (w.orphaned, w.stream);
            "a destroyed stream" [undefined]: INVALID_HANDLE => (w.pooled, w.destroyed_stream);
            "no context" [bare]: INVALID_CONTEXT => (w.pooled, null_mut());
        }
    }
}

fn pools() -> Vec<Row> {
    rows! { |w|
        cuDeviceGetDefaultMemPool {
            "null result": INVALID_VALUE => (null_mut(), 0);
            "no such device": INVALID_DEVICE => (out(), NO_DEVICE);
            "a negative device": INVALID_DEVICE => (out(), -1);
        }
        cuDeviceGetMemPool {
            "null result": INVALID_VALUE => (null_mut(), 0);
            "no such device": INVALID_VALUE => (out(), NO_DEVICE);
            "a negative device": INVALID_VALUE => (out(), -1);
        }
        cuDeviceSetMemPool {
            "a null pool": INVALID_VALUE => (0, null_mut());
            "a destroyed pool" [undefined]: INVALID_VALUE => (0, w.destroyed_pool);
            "another kind of handle" [undefined]: INVALID_VALUE => (0, w.stream.cast());
            "no such device": INVALID_VALUE => (NO_DEVICE, w.pool);
            "a pool of another device" [two_devices]: INVALID_VALUE => (0, w.there().pool);
        }
        cuMemPoolCreate {
            "null result": INVALID_VALUE => (null_mut(), at(pool_properties(NONE)));
            "null properties": INVALID_VALUE => (out(), null());
            "no type": INVALID_VALUE => (out(), changed(pool_properties(NONE), |p| p.allocType = CUmemAllocationType_enum(0)));
            "an odd type": INVALID_VALUE => (out(), changed(pool_properties(NONE), |p| p.allocType = CUmemAllocationType_enum(ODD)));
            "handles of another system": INVALID_VALUE => (out(), at(pool_properties(Handles::CU_MEM_HANDLE_TYPE_WIN32)));
            "odd handles": INVALID_VALUE => (out(), at(pool_properties(CUmemAllocationHandleType_enum(ODD))));
            "no such device": INVALID_VALUE => (out(), changed(pool_properties(NONE), |p| p.location = device(NO_DEVICE)));
            "a negative device": INVALID_VALUE => (out(), changed(pool_properties(NONE), |p| p.location = device(-1)));
            "no location": INVALID_VALUE => (
                out(), changed(pool_properties(NONE), |p| p.location = location(Place::CU_MEM_LOCATION_TYPE_INVALID, 0)),
            );
            "an odd location": INVALID_VALUE => (
                out(), changed(pool_properties(NONE), |p| p.location = location(CUmemLocationType_enum(ODD), 0)),
            );
            "reserved bytes": INVALID_VALUE => (out(), changed(pool_properties(NONE), |p| p.reserved[0] = 1));
        }
        cuMemPoolDestroy {
            "null": INVALID_VALUE => (null_mut());
            "twice" [undefined]: INVALID_VALUE => (w.destroyed_pool);
            "another kind of handle" [undefined]: INVALID_VALUE => (w.array.cast());
            "the device's own": INVALID_VALUE => (default_pool());
        }
        cuMemPoolTrimTo {
            "null": INVALID_VALUE => (null_mut(), 0);
            "a destroyed pool" [undefined]: INVALID_VALUE => (w.destroyed_pool, 0);
        }
        cuMemPoolGetAttribute {
            "null": INVALID_VALUE => (null_mut(), USED, out());
            "a destroyed pool" [undefined]: INVALID_VALUE => (w.destroyed_pool, USED, out());
            "another kind of handle" [undefined]: INVALID_VALUE => (w.stream.cast(), USED, out());
            "null result": INVALID_VALUE => (w.pool, USED, null_mut());
            "no attribute": INVALID_VALUE => (w.pool, CUmemPool_attribute(0), out());
            "an odd attribute": INVALID_VALUE => (w.pool, CUmemPool_attribute(ODD), out());
        }
        cuMemPoolSetAttribute {
            "null": INVALID_VALUE => (null_mut(), THRESHOLD, at(0u64).cast());
            "a destroyed pool" [undefined]: INVALID_VALUE => (w.destroyed_pool, THRESHOLD, at(0u64).cast());
            "null value" [not_on_gpu(ENDS_PROCESS)]: INVALID_VALUE => (w.pool, THRESHOLD, null_mut());
            "no attribute": INVALID_VALUE => (w.pool, CUmemPool_attribute(0), at(0u64).cast());
            "an odd attribute": INVALID_VALUE => (w.pool, CUmemPool_attribute(ODD), at(0u64).cast());
            "one that is only read": INVALID_VALUE => (w.pool, USED, at(0u64).cast());
            "a high mark other than 0": INVALID_VALUE => (w.pool, USED_HIGH, at(1u64).cast());
        }
        cuMemPoolSetAccess {
            "a null pool": INVALID_VALUE => (null_mut(), at(grant(device(0))), 1);
            "a destroyed pool" [undefined]: INVALID_VALUE => (w.destroyed_pool, at(grant(device(0))), 1);
            "null rights": INVALID_VALUE => (w.pool, null(), 1);
            "no such device": INVALID_DEVICE => (w.pool, at(grant(device(NO_DEVICE))), 1);
            "no location": NOT_SUPPORTED => (w.pool, at(grant(location(Place::CU_MEM_LOCATION_TYPE_INVALID, 0))), 1);
            "an odd location": NOT_SUPPORTED => (w.pool, at(grant(location(CUmemLocationType_enum(ODD), 0))), 1);
            "odd rights": INVALID_VALUE => (w.pool, changed(grant(device(0)), |g| g.flags = CUmemAccess_flags(ODD)), 1);
            "none for its own device": INVALID_DEVICE => (w.pool, changed(grant(device(0)), |g| g.flags = CUmemAccess_flags(0)), 1);
            "the second one for no device": INVALID_DEVICE => (w.pool, all([grant(device(0)), grant(device(NO_DEVICE))]), 2);
        }
        cuMemPoolGetAccess {
            "null result": INVALID_VALUE => (null_mut(), w.pool, at(device(0)));
            "a null pool": INVALID_VALUE => (out(), null_mut(), at(device(0)));
            "a destroyed pool" [undefined]: INVALID_VALUE => (out(), w.destroyed_pool, at(device(0)));
            "a null location": INVALID_VALUE => (out(), w.pool, null_mut());
            "no such device": INVALID_VALUE => (out(), w.pool, at(device(NO_DEVICE)));
            "no location": INVALID_VALUE => (out(), w.pool, at(location(Place::CU_MEM_LOCATION_TYPE_INVALID, 0)));
        }
    }
}

fn sharing() -> Vec<Row> {
    rows! { |w|
        cuMemPoolExportToShareableHandle {
            "null result": INVALID_VALUE => (null_mut(), w.shareable_pool, DESCRIPTOR, 0);
            "a null pool": INVALID_VALUE => (out(), null_mut(), DESCRIPTOR, 0);
            "a destroyed pool" [undefined]: INVALID_VALUE => (out(), w.destroyed_pool, DESCRIPTOR, 0);
            "a pool that is not for it": INVALID_VALUE => (out(), w.pool, DESCRIPTOR, 0);
            "no type": INVALID_VALUE => (out(), w.shareable_pool, NONE, 0);
            "an odd type": INVALID_VALUE => (out(), w.shareable_pool, CUmemAllocationHandleType_enum(ODD), 0);
            "a flag": INVALID_VALUE => (out(), w.shareable_pool, DESCRIPTOR, 1);
        }
        cuMemPoolImportFromShareableHandle {
            "null result": INVALID_VALUE => (null_mut(), null_mut(), DESCRIPTOR, 0);
            "a descriptor that is not open": UNKNOWN => (out(), 9999usize as *mut c_void, DESCRIPTOR, 0);
            "a negative descriptor": UNKNOWN => (out(), -1isize as *mut c_void, DESCRIPTOR, 0);
            "no type": INVALID_VALUE => (out(), 9999usize as *mut c_void, NONE, 0);
            "a flag": INVALID_VALUE => (out(), 9999usize as *mut c_void, DESCRIPTOR, 1);
        }
        cuMemPoolExportPointer {
            "null result": INVALID_VALUE => (null_mut(), w.shared);
            "nothing": INVALID_VALUE => (out(), 0);
            "nowhere": INVALID_VALUE => (out(), NOWHERE);
            "inside of an allocation": INVALID_VALUE => (out(), w.shared + 16);
            "memory of another pool": INVALID_VALUE => (out(), w.pooled);
            "memory of no pool": INVALID_VALUE => (out(), w.memory);
            "freed": INVALID_VALUE => (out(), w.freed_pooled);
        }
        cuMemPoolImportPointer {
            "null result": INVALID_VALUE => (null_mut(), w.shareable_pool, out());
            "null data": INVALID_VALUE => (out(), w.shareable_pool, null_mut());
            "a null pool": INVALID_VALUE => (out(), null_mut(), out());
            "a destroyed pool" [undefined]: INVALID_VALUE => (out(), w.destroyed_pool, out());
            "a pool that is not imported": INVALID_VALUE => (out(), w.shareable_pool, out());
        }
    }
}

fn of_graphs() -> Vec<Row> {
    const RESERVED: CUgraphMem_attribute =
        CUgraphMem_attribute::CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT;
    const HIGH: CUgraphMem_attribute = CUgraphMem_attribute::CU_GRAPH_MEM_ATTR_USED_MEM_HIGH;
    rows! { |w|
        cuDeviceGraphMemTrim {
            "no such device": INVALID_DEVICE => (NO_DEVICE);
            "a negative device": INVALID_DEVICE => (-1);
        }
        cuDeviceGetGraphMemAttribute {
            "no such device": INVALID_DEVICE => (NO_DEVICE, RESERVED, out());
            "null result": INVALID_VALUE => (0, RESERVED, null_mut());
            "an odd attribute": INVALID_VALUE => (0, CUgraphMem_attribute(ODD), out());
        }
        cuDeviceSetGraphMemAttribute {
            "no such device": INVALID_DEVICE => (NO_DEVICE, HIGH, at(0u64).cast());
            "null value": INVALID_VALUE => (0, HIGH, null_mut());
            "an odd attribute": INVALID_VALUE => (0, CUgraphMem_attribute(ODD), at(0u64).cast());
            "one that is only read": INVALID_VALUE => (0, RESERVED, at(0u64).cast());
            "a high mark other than 0": INVALID_VALUE => (0, HIGH, at(1u64).cast());
        }
        cuGraphAddMemAllocNode {
            "null parameters": INVALID_VALUE => (out(), w.graph, null(), 0, null_mut());
            "no bytes": INVALID_VALUE => (out(), w.graph, null(), 0, at(CUDA_MEM_ALLOC_NODE_PARAMS {
                poolProps: pool_properties(NONE), ..Default::default()
            }));
            "no such device": INVALID_VALUE => (out(), w.graph, null(), 0, at(CUDA_MEM_ALLOC_NODE_PARAMS {
                poolProps: CUmemPoolProps { location: device(NO_DEVICE), ..pool_properties(NONE) },
                bytesize: BYTES,
                ..Default::default()
            }));
            "rights for no device": INVALID_DEVICE => (out(), w.graph, null(), 0, at(CUDA_MEM_ALLOC_NODE_PARAMS {
                poolProps: pool_properties(NONE),
                accessDescs: at(CUmemAccessDesc { location: device(NO_DEVICE), flags: READ_WRITE }),
                accessDescCount: 1,
                bytesize: BYTES,
                ..Default::default()
            }));
        }
        cuGraphAddMemFreeNode {
            "nothing": INVALID_VALUE => (out(), w.graph, null(), 0, 0);
            "memory of no graph": INVALID_VALUE => (out(), w.graph, null(), 0, w.memory);
            "nowhere": INVALID_VALUE => (out(), w.graph, null(), 0, NOWHERE);
        }
    }
}

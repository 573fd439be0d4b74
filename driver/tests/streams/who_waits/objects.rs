//! What the calls of the test deal with: objects of which nothing is in the stream that is held up.

use super::BYTES;
use crate::common::graphs::{graph, kernel_node};
use crate::common::*;

const NOTHING: &str = warpsmith_testkit::ptx!("7.8", "sm_90", ".visible .entry nothing() { ret; }");

pub fn module() -> CUmodule {
    let image = format!("{NOTHING}\0");
    get!(cuModuleLoadData(image.as_ptr().cast()))
}

pub fn function() -> CUfunction {
    get!(cuModuleGetFunction(module(), c"nothing".as_ptr()))
}

pub fn launch_in(function: CUfunction, stream: CUstream) {
    let none = null_mut();
    ok!(cuLaunchKernel(
        function, 1, 1, 1, 1, 1, 1, 0, stream, none, none
    ));
}

/// A graph with one kernel.
pub fn kernel_graph() -> CUgraph {
    let graph = graph();
    kernel_node(graph, &[], function(), 1, &[]);
    graph
}

pub fn array() -> CUarray {
    texels::array_of(
        [64, 0, 0],
        CUarray_format::CU_AD_FORMAT_UNSIGNED_INT32,
        1,
        2, // CUDA_ARRAY3D_SURFACE_LDST
    )
}

pub fn of_array(array: CUarray) -> CUDA_RESOURCE_DESC {
    let mut resource = CUDA_RESOURCE_DESC {
        resType: CUresourcetype::CU_RESOURCE_TYPE_ARRAY,
        ..Default::default()
    };
    resource.res.array.hArray = array;
    resource
}

pub fn texture(array: CUarray) -> CUtexObject {
    get!(cuTexObjectCreate(
        &of_array(array),
        &CUDA_TEXTURE_DESC::default(),
        null()
    ))
}

pub fn mipmapped() -> CUmipmappedArray {
    let descriptor = CUDA_ARRAY3D_DESCRIPTOR {
        Width: 64,
        Height: 64,
        Format: CUarray_format::CU_AD_FORMAT_UNSIGNED_INT32,
        NumChannels: 1,
        ..Default::default()
    };
    get!(cuMipmappedArrayCreate(&descriptor, 2))
}

pub fn device() -> CUmemLocation {
    CUmemLocation {
        type_: CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE,
        ..Default::default()
    }
}

pub fn pool() -> CUmemoryPool {
    get!(cuMemPoolCreate(&CUmemPoolProps {
        allocType: CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED,
        location: device(),
        ..Default::default()
    }))
}

pub fn physical() -> CUmemGenericAllocationHandle {
    get!(cuMemCreate(
        BYTES,
        &CUmemAllocationProp {
            type_: CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED,
            location: device(),
            ..Default::default()
        },
        0
    ))
}

pub fn map(address: CUdeviceptr, memory: CUmemGenericAllocationHandle) {
    ok!(cuMemMap(address, BYTES, 0, memory, 0));
    let wish = CUmemAccessDesc {
        location: device(),
        flags: CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
    };
    ok!(cuMemSetAccess(address, BYTES, &wish, 1));
}

pub fn addresses() -> CUdeviceptr {
    get!(cuMemAddressReserve(BYTES, 0, 0, 0))
}

pub fn mapped() -> (CUdeviceptr, CUmemGenericAllocationHandle) {
    let (address, memory) = (addresses(), physical());
    map(address, memory);
    (address, memory)
}

/// Page-aligned memory of the process, which stays.
pub fn pages() -> *mut c_void {
    Box::leak(vec![0_u8; BYTES].into_boxed_slice())
        .as_mut_ptr()
        .cast()
}

pub fn registered() -> *mut c_void {
    let memory = pages();
    ok!(cuMemHostRegister_v2(memory, BYTES, 2)); // CU_MEMHOSTREGISTER_DEVICEMAP
    memory
}

pub fn allocated_in(stream: CUstream) -> CUdeviceptr {
    let address = get!(cuMemAllocAsync(BYTES, stream));
    ok!(cuStreamSynchronize(stream));
    address
}

pub fn from_pool(pool: CUmemoryPool, stream: CUstream) -> CUdeviceptr {
    let address = get!(cuMemAllocFromPoolAsync(BYTES, pool, stream));
    ok!(cuStreamSynchronize(stream));
    address
}

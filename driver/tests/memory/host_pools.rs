//! Pools of the host's memory: who reaches it, and what such a pool cannot be.

use crate::common::*;
use warpsmith_testkit::{Side, own_process};

const HOST: CUmemLocationType = CUmemLocationType::CU_MEM_LOCATION_TYPE_HOST;
const NODE: CUmemLocationType = CUmemLocationType::CU_MEM_LOCATION_TYPE_HOST_NUMA;
const DEVICE: CUmemLocationType = CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE;
const DESCRIPTOR: CUmemAllocationHandleType =
    CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
const NONE: CUmemAccess_flags = CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_NONE;
const READ_WRITE: CUmemAccess_flags = CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READWRITE;

/// Stores 7 in each of 32 words.
const PUT: &core::ffi::CStr = c"
.version 7.0
.target sm_70
.address_size 64
.visible .entry put(.param .u64 out)
{
    .reg .b32 %t;
    .reg .b64 %a;
    ld.param.u64 %a, [out];
    mov.u32 %t, %tid.x;
    mad.wide.u32 %a, %t, 4, %a;
    st.global.u32 [%a], 7;
    ret;
}
";

fn at(kind: CUmemLocationType, id: c_int) -> CUmemLocation {
    let mut location = CUmemLocation {
        type_: kind,
        ..Default::default()
    };
    location.__bindgen_anon_1.id = id;
    location
}

fn properties(location: CUmemLocation) -> CUmemPoolProps {
    CUmemPoolProps {
        allocType: CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED,
        location,
        ..Default::default()
    }
}

/// The places on the host that the device has pools at.
fn places() -> Vec<CUmemLocation> {
    let has = |key| {
        let mut value = 0;
        // SAFETY: the driver writes one number to `value`, which outlives the call.
        let code = unsafe { cuDeviceGetAttribute(&mut value, key, 0) };
        code.0 == 0 && value == 1
    };
    let mut places = Vec::new();
    if has(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_HOST_MEMORY_POOLS_SUPPORTED) {
        places.push(at(HOST, 0));
    }
    if has(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_HOST_NUMA_MEMORY_POOLS_SUPPORTED) {
        places.push(at(NODE, nearest_node()));
    }
    places
}

fn nearest_node() -> c_int {
    let node: c_int = get!(cuDeviceGetAttribute(
        CUdevice_attribute::CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID,
        0
    ));
    node.max(0)
}

fn access(pool: CUmemoryPool, mut location: CUmemLocation) -> CUmemAccess_flags {
    get!(cuMemPoolGetAccess(pool, &mut location))
}

fn grant(pool: CUmemoryPool) {
    let wish = CUmemAccessDesc {
        location: at(DEVICE, 0),
        flags: READ_WRITE,
    };
    ok!(cuMemPoolSetAccess(pool, &wish, 1));
}

fn put(memory: CUdeviceptr, stream: CUstream) {
    let module: CUmodule = get!(cuModuleLoadData(PUT.as_ptr().cast()));
    let kernel: CUfunction = get!(cuModuleGetFunction(module, c"put".as_ptr()));
    let mut address = memory;
    let mut parameters = [(&raw mut address).cast()];
    ok!(cuLaunchKernel(
        kernel,
        1,
        1,
        1,
        32,
        1,
        1,
        0,
        stream,
        parameters.as_mut_ptr(),
        null_mut()
    ));
}

// covers: POOL-16, DRV-26, EGM-04
#[test]
fn kernels_and_the_host_use_the_same_bytes() {
    let _turn = turn();
    gpu();
    let stream = stream();
    for place in places() {
        let pool: CUmemoryPool = get!(cuMemPoolCreate(&properties(place)));
        assert_eq!(access(pool, at(DEVICE, 0)), NONE, "the host's at first");
        grant(pool);
        assert_eq!(access(pool, at(DEVICE, 0)), READ_WRITE);
        let memory = get!(cuMemAllocFromPoolAsync(4096, pool, stream));
        ok!(cuMemsetD32Async(memory, 3, 1024, stream));
        put(memory, stream);
        ok!(cuStreamSynchronize(stream));
        let mut expected = vec![7_u32; 32];
        expected.resize(1024, 3);
        assert_eq!(download::<u32>(memory, 1024), expected);
        // SAFETY: the memory is the host's and has been written, and nobody else uses it.
        let seen = unsafe { core::slice::from_raw_parts(memory as *const u32, 1024) };
        assert_eq!(seen, expected);
        let mut of_host: c_uint = 0;
        ok!(cuPointerGetAttribute(
            (&raw mut of_host).cast(),
            CUpointer_attribute::CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
            memory
        ));
        assert_eq!(of_host, CUmemorytype::CU_MEMORYTYPE_HOST.0);
        ok!(cuMemFreeAsync(memory, stream));
        ok!(cuStreamSynchronize(stream));
        ok!(cuMemPoolTrimTo(pool, 0));
        let mut reserved = 0_u64;
        ok!(cuMemPoolGetAttribute(
            pool,
            CUmemPool_attribute::CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT,
            (&raw mut reserved).cast()
        ));
        assert_eq!(reserved, 0);
        ok!(cuMemPoolDestroy(pool));
    }
    ok!(cuStreamDestroy_v2(stream));
}

// covers: POOL-16
#[test]
fn a_device_without_access_does_not_reach_it() {
    // The fault costs the context.
    if let Side::Parent(output) = own_process(&[]) {
        output.expect_success();
        return;
    }
    gpu();
    let Some(place) = places().pop() else {
        return;
    };
    let stream = stream();
    let pool: CUmemoryPool = get!(cuMemPoolCreate(&properties(place)));
    let memory = get!(cuMemAllocFromPoolAsync(4096, pool, stream));
    put(memory, stream);
    fails!(700, cuStreamSynchronize(stream));
}

// covers: POOL-16
#[test]
fn what_such_a_pool_cannot_be_is_refused() {
    let _turn = turn();
    gpu();
    let places = places();
    let mut pool: CUmemoryPool = null_mut();
    if places.iter().any(|place| place.type_ == HOST) {
        let mut shared = properties(at(HOST, 0));
        shared.handleTypes = DESCRIPTOR;
        fails!(1, cuMemPoolCreate(&mut pool, &shared));
    }
    let current = CUmemLocationType::CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT;
    fails!(1, cuMemPoolCreate(&mut pool, &properties(at(current, 0))));
    for place in places {
        ok!(cuMemPoolCreate(&mut pool, &properties(place)));
        // A device's pool is of its own memory.
        fails!(1, cuDeviceSetMemPool(0, pool));
        ok!(cuMemPoolDestroy(pool));
    }
}

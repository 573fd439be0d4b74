//! Pools of the host's memory: who reaches it, which calls copy and fill it, and what such a pool cannot be.

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

/// The words at an address, by the copy that finds out where memory is.
fn read(memory: CUdeviceptr, count: usize) -> Vec<u32> {
    let mut words = vec![0_u32; count];
    let to = words.as_mut_ptr() as CUdeviceptr;
    ok!(cuMemcpy(to, memory, count * size_of::<u32>()));
    words
}

/// An attribute of a pointer, or the driver's refusal.
fn attribute(key: CUpointer_attribute, memory: CUdeviceptr) -> Result<u64, u32> {
    let mut value = 0_u64;
    // SAFETY: no attribute that the tests ask for is larger than the number, which outlives the call.
    let code = unsafe { cuPointerGetAttribute((&raw mut value).cast(), key, memory) };
    match code.0 {
        0 => Ok(value),
        refusal => Err(refusal),
    }
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
        assert_eq!(read(memory, 1024), expected);
        // SAFETY: the memory is the host's and has been written, and nobody else uses it.
        let seen = unsafe { core::slice::from_raw_parts(memory as *const u32, 1024) };
        assert_eq!(seen, expected);
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

/// Memory of pools of the host, and what it is about.
struct Case {
    pool: CUmemoryPool,
    /// Whether the device was given access.
    is_granted: bool,
    stream: CUstream,
    /// `BYTES` each.
    memory: [CUdeviceptr; 2],
}

const BYTES: usize = 1 << 16;

/// Runs `test` with memory at each place, before the device has access and with it.
fn with_memory(test: impl Fn(&Case)) {
    let _turn = turn();
    gpu();
    let stream = stream();
    for place in places() {
        for is_granted in [false, true] {
            let pool: CUmemoryPool = get!(cuMemPoolCreate(&properties(place)));
            if is_granted {
                grant(pool);
            }
            let memory = [(); 2].map(|()| get!(cuMemAllocFromPoolAsync(BYTES, pool, stream)));
            ok!(cuStreamSynchronize(stream));
            test(&Case {
                pool,
                is_granted,
                stream,
                memory,
            });
            for memory in memory {
                ok!(cuMemFreeAsync(memory, stream));
            }
            ok!(cuStreamSynchronize(stream));
            ok!(cuMemPoolDestroy(pool));
        }
    }
    ok!(cuStreamDestroy_v2(stream));
}

/// Four rows of 32 bytes.
fn rows(from: CUdeviceptr, to: CUdeviceptr) -> CUDA_MEMCPY2D {
    CUDA_MEMCPY2D {
        srcMemoryType: CUmemorytype::CU_MEMORYTYPE_DEVICE,
        srcDevice: from,
        srcPitch: 64,
        dstMemoryType: CUmemorytype::CU_MEMORYTYPE_DEVICE,
        dstDevice: to,
        dstPitch: 64,
        WidthInBytes: 32,
        Height: 4,
        ..Default::default()
    }
}

// covers: POOL-16
#[test]
fn copies_that_name_device_memory_are_refused() {
    with_memory(|case| {
        let (stream, [memory, other]) = (case.stream, case.memory);
        let device = upload(&vec![0_u32; BYTES / 4]);
        let pinned = pinned::<u32>(BYTES / 4);
        let mut words = vec![0_u32; BYTES / 4];
        for host in [words.as_mut_ptr(), pinned] {
            fails!(1, cuMemcpyHtoD_v2(memory, host.cast(), BYTES));
            fails!(1, cuMemcpyDtoH_v2(host.cast(), memory, BYTES));
            fails!(1, cuMemcpyHtoDAsync_v2(memory, host.cast(), BYTES, stream));
            fails!(1, cuMemcpyDtoHAsync_v2(host.cast(), memory, BYTES, stream));
        }
        for (to, from) in [(other, memory), (device, memory), (memory, device)] {
            fails!(1, cuMemcpyDtoD_v2(to, from, BYTES));
            fails!(1, cuMemcpyDtoDAsync_v2(to, from, BYTES, stream));
        }
        fails!(1, cuMemcpy2DAsync_v2(&rows(memory, device), stream));
        let to_host = CUDA_MEMCPY2D {
            dstMemoryType: CUmemorytype::CU_MEMORYTYPE_HOST,
            dstHost: words.as_mut_ptr().cast(),
            ..rows(memory, 0)
        };
        fails!(1, cuMemcpy2DAsync_v2(&to_host, stream));
        let volume = CUDA_MEMCPY3D {
            srcMemoryType: CUmemorytype::CU_MEMORYTYPE_DEVICE,
            srcDevice: memory,
            srcPitch: 64,
            dstMemoryType: CUmemorytype::CU_MEMORYTYPE_DEVICE,
            dstDevice: device,
            dstPitch: 64,
            WidthInBytes: 32,
            Height: 4,
            Depth: 1,
            ..Default::default()
        };
        fails!(1, cuMemcpy3DAsync_v2(&volume, stream));
        ok!(cuStreamSynchronize(stream));
        ok!(cuMemFreeHost(pinned.cast()));
        ok!(cuMemFree_v2(device));
    });
}

// covers: POOL-16
#[test]
fn copies_that_find_out_where_memory_is_need_no_access() {
    with_memory(|case| {
        let (stream, [memory, other]) = (case.stream, case.memory);
        let words: Vec<u32> = (0..BYTES as u32 / 4).collect();
        ok!(cuMemcpy(memory, words.as_ptr() as CUdeviceptr, BYTES));
        assert_eq!(read(memory, words.len()), words);
        let device = upload(&vec![0_u32; words.len()]);
        ok!(cuMemcpyAsync(other, memory, BYTES, stream));
        ok!(cuMemcpyAsync(device, other, BYTES, stream));
        ok!(cuStreamSynchronize(stream));
        assert_eq!(download::<u32>(device, words.len()), words);
        let pinned = pinned::<u32>(words.len());
        ok!(cuMemcpyAsync(pinned as CUdeviceptr, other, BYTES, stream));
        ok!(cuStreamSynchronize(stream));
        // SAFETY: the copy has filled the memory, which nobody else uses.
        let copied = unsafe { core::slice::from_raw_parts(pinned, words.len()) };
        assert_eq!(copied, words);
        let ones = vec![1_u32; words.len()];
        ok!(cuMemcpyAsync(
            memory,
            ones.as_ptr() as CUdeviceptr,
            BYTES,
            stream
        ));
        let unified = CUDA_MEMCPY2D {
            srcMemoryType: CUmemorytype::CU_MEMORYTYPE_UNIFIED,
            ..rows(memory, device)
        };
        ok!(cuMemcpy2DAsync_v2(&unified, stream));
        ok!(cuStreamSynchronize(stream));
        let copied = download::<u32>(device, words.len());
        assert_eq!(copied[..8], ones[..8]);
        assert_eq!(copied[8..16], words[8..16]);
        ok!(cuMemFreeHost(pinned.cast()));
        ok!(cuMemFree_v2(device));
    });
}

// covers: POOL-16
#[test]
fn memsets_need_access() {
    with_memory(|case| {
        let (stream, [memory, _]) = (case.stream, case.memory);
        let zeros = [0_u32; 32];
        ok!(cuMemcpy(memory, zeros.as_ptr() as CUdeviceptr, 128));
        if !case.is_granted {
            fails!(1, cuMemsetD8Async(memory, 1, 128, stream));
            fails!(1, cuMemsetD32Async(memory, 1, 32, stream));
            fails!(1, cuMemsetD32_v2(memory, 1, 32));
            fails!(1, cuMemsetD2D32Async(memory, 64, 1, 8, 2, stream));
            ok!(cuStreamSynchronize(stream));
            assert_eq!(read(memory, 32), zeros);
            return;
        }
        ok!(cuMemsetD8Async(memory, 1, 128, stream));
        ok!(cuMemsetD2D32Async(memory, 64, 2, 8, 2, stream));
        ok!(cuStreamSynchronize(stream));
        let row = [[2; 8], [0x0101_0101; 8]].concat();
        assert_eq!(read(memory, 32), [row.clone(), row].concat());
    });
}

// covers: POOL-16
#[test]
fn pointers_to_it_are_the_hosts() {
    type Key = CUpointer_attribute;
    with_memory(|case| {
        let [memory, _] = case.memory;
        let expected = [
            (Key::CU_POINTER_ATTRIBUTE_CONTEXT, Ok(0)),
            (Key::CU_POINTER_ATTRIBUTE_MEMORY_TYPE, Ok(1)),
            (
                Key::CU_POINTER_ATTRIBUTE_DEVICE_POINTER,
                if case.is_granted { Ok(memory) } else { Err(1) },
            ),
            (Key::CU_POINTER_ATTRIBUTE_HOST_POINTER, Ok(memory)),
            (Key::CU_POINTER_ATTRIBUTE_IS_MANAGED, Ok(0)),
            (Key::CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, Ok(0)),
            (Key::CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, Ok(0)),
            (Key::CU_POINTER_ATTRIBUTE_RANGE_SIZE, Ok(BYTES as u64)),
            (Key::CU_POINTER_ATTRIBUTE_MAPPED, Ok(1)),
            // Reading and writing, whatever is granted.
            (Key::CU_POINTER_ATTRIBUTE_ACCESS_FLAGS, Ok(3)),
            (
                Key::CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE,
                Ok(case.pool as u64),
            ),
        ];
        for (key, value) in expected {
            assert_eq!(attribute(key, memory), value, "{key:?}");
        }
    });
}

/// What the simulator says of a refusal names the way out.
// covers: POOL-16
#[test]
fn refusals_name_the_call_to_use() {
    if choose_driver() != Backend::Simulator {
        return;
    }
    // What is said goes to the process's standard error.
    if let Side::Parent(output) = own_process(&[]) {
        let said = output.expect_success().stderr;
        for text in [
            "its source",
            "memory of a pool of the host, which is not device memory: copy it by cuMemcpyAsync",
            "that device 0 may not access: cuMemPoolSetAccess grants it",
        ] {
            assert!(said.contains(text), "{text}: {said}");
        }
        return;
    }
    with_memory(|case| {
        let mut words = [0_u32; 4];
        fails!(
            1,
            cuMemcpyDtoH_v2(words.as_mut_ptr().cast(), case.memory[0], 16)
        );
        if !case.is_granted {
            fails!(1, cuMemsetD32_v2(case.memory[0], 1, 4));
        }
    });
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
    if places.iter().any(|place| place.type_ == NODE) {
        let mut shared = properties(at(NODE, nearest_node()));
        shared.handleTypes = DESCRIPTOR;
        ok!(cuMemPoolCreate(&mut pool, &shared));
        ok!(cuMemPoolDestroy(pool));
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

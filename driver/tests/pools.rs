//! Stream-ordered memory.

mod common;

use common::*;

fn attribute(pool: CUmemoryPool, key: CUmemPool_attribute) -> u64 {
    let mut value = 0u64;
    ok!(cuMemPoolGetAttribute(pool, key, (&raw mut value).cast()));
    value
}

fn set(pool: CUmemoryPool, key: CUmemPool_attribute, mut value: u64) {
    ok!(cuMemPoolSetAttribute(pool, key, (&raw mut value).cast()));
}

const RESERVED: CUmemPool_attribute = CUmemPool_attribute::CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT;
const USED: CUmemPool_attribute = CUmemPool_attribute::CU_MEMPOOL_ATTR_USED_MEM_CURRENT;
const USED_HIGH: CUmemPool_attribute = CUmemPool_attribute::CU_MEMPOOL_ATTR_USED_MEM_HIGH;
const THRESHOLD: CUmemPool_attribute = CUmemPool_attribute::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD;

#[test]
fn memory_comes_and_goes_in_the_streams_order() {
    // covers: POOL-01, POOL-02, POOL-04
    let _turn = turn();
    gpu();
    assert_eq!(
        get!(cuDeviceGetAttribute(
            CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED,
            0
        )),
        1
    );
    let stream = stream();
    let gate = Gate::new();
    gate.block(stream);
    let mut memory = 0;
    // Other than a plain allocation, one of nothing is no error.
    ok!(cuMemAllocAsync(&mut memory, 0, stream));
    ok!(cuMemAllocAsync(&mut memory, 4096, stream));
    assert_ne!(
        memory, 0,
        "the address is known before the stream gets there"
    );
    ok!(cuMemsetD32Async(memory, 9, 1024, stream));
    let back = pinned::<u32>(1024);
    ok!(cuMemcpyDtoHAsync_v2(back.cast(), memory, 4096, stream));
    ok!(cuMemFreeAsync(memory, stream));
    gate.open();
    ok!(cuStreamSynchronize(stream));
    // SAFETY: the copy is complete.
    let values = unsafe { core::slice::from_raw_parts(back, 1024) };
    assert_eq!(values, [9; 1024]);
    ok!(cuMemFreeHost(back.cast()));
    ok!(cuStreamDestroy_v2(stream));
}

#[test]
fn a_pool_holds_bytes_up_to_its_threshold() {
    // covers: POOL-12, POOL-17, POOL-19, POOL-20, POOL-22
    let _turn = turn();
    gpu();
    let stream = stream();
    let pool: CUmemoryPool = get!(cuDeviceGetDefaultMemPool(0));
    assert_eq!(get!(cuDeviceGetMemPool(0)), pool);
    ok!(cuStreamSynchronize(stream));
    set(pool, USED_HIGH, 0);
    let used = attribute(pool, USED);
    let mut first_reserved = 0;
    for round in 0..100 {
        let memory: CUdeviceptr = get!(cuMemAllocAsync(1 << 20, stream));
        assert!(attribute(pool, USED) >= used + (1 << 20));
        assert!(attribute(pool, RESERVED) >= attribute(pool, USED));
        if round == 0 {
            first_reserved = attribute(pool, RESERVED);
        }
        ok!(cuMemFreeAsync(memory, stream));
        if round % 10 == 9 {
            ok!(cuStreamSynchronize(stream));
        }
    }
    ok!(cuStreamSynchronize(stream));
    assert_eq!(attribute(pool, USED), used);
    assert!(attribute(pool, USED_HIGH) >= used + (1 << 20));
    assert!(
        attribute(pool, RESERVED) < first_reserved.max(1),
        "above the threshold of 0 all goes back"
    );
    set(pool, THRESHOLD, u64::MAX);
    let memory: CUdeviceptr = get!(cuMemAllocAsync(1 << 20, stream));
    ok!(cuMemFreeAsync(memory, stream));
    ok!(cuStreamSynchronize(stream));
    assert!(
        attribute(pool, RESERVED) >= 1 << 20,
        "a pool with a threshold keeps"
    );
    ok!(cuMemPoolTrimTo(pool, 0));
    set(pool, THRESHOLD, 0);
    let mut nonzero = 5u64;
    fails!(
        1,
        cuMemPoolSetAttribute(pool, USED_HIGH, (&raw mut nonzero).cast())
    );
    fails!(1, cuMemPoolDestroy(pool));
    ok!(cuStreamDestroy_v2(stream));
}

#[test]
fn pools_of_ones_own_outlive_what_they_gave() {
    // covers: POOL-11, POOL-13, POOL-14, POOL-40
    let _turn = turn();
    gpu();
    let stream = stream();
    let properties = CUmemPoolProps {
        allocType: CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED,
        location: CUmemLocation {
            type_: CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE,
            ..Default::default()
        },
        ..Default::default()
    };
    let pool: CUmemoryPool = get!(cuMemPoolCreate(&properties));
    let memory: CUdeviceptr = get!(cuMemAllocFromPoolAsync(4096, pool, stream));
    let mut owner: CUmemoryPool = null_mut();
    let key = CUpointer_attribute::CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE;
    ok!(cuPointerGetAttribute((&raw mut owner).cast(), key, memory));
    assert_eq!(owner, pool);
    ok!(cuDeviceSetMemPool(0, pool));
    assert_eq!(get!(cuDeviceGetMemPool(0)), pool);
    ok!(cuMemPoolDestroy(pool));
    assert_eq!(
        get!(cuDeviceGetMemPool(0)),
        get!(cuDeviceGetDefaultMemPool(0))
    );
    ok!(cuMemsetD8Async(memory, 3, 4096, stream));
    ok!(cuStreamSynchronize(stream));
    assert_eq!(download::<u8>(memory, 4096), [3; 4096]);
    ok!(cuMemFreeAsync(memory, stream));
    ok!(cuStreamSynchronize(stream));
    ok!(cuStreamDestroy_v2(stream));
}

#[test]
fn plain_and_stream_ordered_memory_can_be_freed_either_way() {
    // covers: POOL-06, POOL-07
    let _turn = turn();
    gpu();
    let stream = stream();
    let plain: CUdeviceptr = get!(cuMemAlloc_v2(4096));
    ok!(cuMemFreeAsync(plain, stream));
    let pooled: CUdeviceptr = get!(cuMemAllocAsync(4096, stream));
    ok!(cuStreamSynchronize(stream));
    ok!(cuMemFree_v2(pooled));
    fails!(1, cuMemFreeAsync(0x1234, stream));
    ok!(cuStreamDestroy_v2(stream));
}

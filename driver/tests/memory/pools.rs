//! Stream-ordered memory.

use std::sync::atomic::{AtomicU8, Ordering};

use crate::common::*;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// What a plain pool of the first device's memory is.
fn properties() -> CUmemPoolProps {
    CUmemPoolProps {
        allocType: CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED,
        location: CUmemLocation {
            type_: CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE,
            ..Default::default()
        },
        ..Default::default()
    }
}

pub fn attribute(pool: CUmemoryPool, key: CUmemPool_attribute) -> u64 {
    let mut value = 0u64;
    ok!(cuMemPoolGetAttribute(pool, key, (&raw mut value).cast()));
    value
}

/// Switches have 32 bits, of which a little-endian machine finds the right ones here.
pub fn set(pool: CUmemoryPool, key: CUmemPool_attribute, mut value: u64) {
    ok!(cuMemPoolSetAttribute(pool, key, (&raw mut value).cast()));
}

pub const RESERVED: CUmemPool_attribute = CUmemPool_attribute::CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT;
const USED: CUmemPool_attribute = CUmemPool_attribute::CU_MEMPOOL_ATTR_USED_MEM_CURRENT;
const USED_HIGH: CUmemPool_attribute = CUmemPool_attribute::CU_MEMPOOL_ATTR_USED_MEM_HIGH;
pub const THRESHOLD: CUmemPool_attribute = CUmemPool_attribute::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD;

/// Whether memory counts as used whose free is enqueued and not done. The manual does not say; the test tells (`--nocapture`), and holds that it
/// does not when the free is done.
#[test]
fn what_is_freed_behind_a_stream_that_is_held_up() {
    let _turn = turn();
    let backend = gpu();
    let stream = stream();
    let pool: CUmemoryPool = get!(cuMemPoolCreate(&properties()));
    let memory: CUdeviceptr = get!(cuMemAllocFromPoolAsync(4096, pool, stream));
    ok!(cuStreamSynchronize(stream));
    let gate = Gate::new();
    gate.block(stream);
    ok!(cuMemFreeAsync(memory, stream));
    let used = attribute(pool, USED);
    println!("{backend:?}: {used} bytes are used while their free is held up");
    gate.open();
    ok!(cuStreamSynchronize(stream));
    assert_eq!(attribute(pool, USED), 0);
    ok!(cuMemPoolDestroy(pool));
    ok!(cuStreamDestroy_v2(stream));
}

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
    let pool: CUmemoryPool = get!(cuMemPoolCreate(&properties()));
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

const FOLLOW: CUmemPool_attribute =
    CUmemPool_attribute::CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES;
const OPPORTUNISTIC: CUmemPool_attribute =
    CUmemPool_attribute::CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC;
const INTERNAL: CUmemPool_attribute =
    CUmemPool_attribute::CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES;

/// More than half of what a pool takes at once, so that two of them cannot share it.
const LARGE: usize = 24 << 20;

/// A pool that keeps what it has, with these policies.
fn pool_with(policies: [bool; 3], most: usize) -> CUmemoryPool {
    let properties = CUmemPoolProps {
        maxSize: most,
        ..properties()
    };
    let pool: CUmemoryPool = get!(cuMemPoolCreate(&properties));
    set(pool, THRESHOLD, u64::MAX);
    for (key, allowed) in [FOLLOW, OPPORTUNISTIC, INTERNAL].into_iter().zip(policies) {
        set(pool, key, u64::from(allowed));
    }
    pool
}

/// How much a pool takes for a second allocation, in `second`, after the first was freed in `first` and `between`.
fn taken_again(pool: CUmemoryPool, [first, second]: [CUstream; 2], between: impl FnOnce()) -> u64 {
    let memory: CUdeviceptr = get!(cuMemAllocFromPoolAsync(LARGE, pool, first));
    let reserved = attribute(pool, RESERVED);
    ok!(cuMemFreeAsync(memory, first));
    between();
    let memory: CUdeviceptr = get!(cuMemAllocFromPoolAsync(LARGE, pool, second));
    let taken = attribute(pool, RESERVED) - reserved;
    ok!(cuMemFreeAsync(memory, second));
    taken
}

#[test]
fn freed_memory_serves_its_own_stream_at_once() {
    // covers: POOL-22, POOL-X15
    let _turn = turn();
    gpu();
    let stream = stream();
    let pool = pool_with([false; 3], 0);
    let gate = Gate::new();
    gate.block(stream);
    for _ in 0..100 {
        assert_eq!(taken_again(pool, [stream; 2], || ()), 0);
    }
    gate.open();
    ok!(cuStreamSynchronize(stream));
    ok!(cuMemPoolDestroy(pool));
    ok!(cuStreamDestroy_v2(stream));
}

#[test]
fn freed_memory_serves_streams_that_come_after() {
    // covers: POOL-23, POOL-X10
    let _turn = turn();
    gpu();
    let streams: Vec<CUstream> = (0..20).map(|_| stream()).collect();
    let ends = [streams[0], streams[streams.len() - 1]];
    for follows in [true, false] {
        let pool = pool_with([follows, false, false], 0);
        let gate = Gate::new();
        gate.block(streams[0]);
        let mut events = Vec::new();
        let taken = taken_again(pool, ends, || {
            for pair in streams.windows(2) {
                let event: CUevent = get!(cuEventCreate(2));
                ok!(cuEventRecord(event, pair[0]));
                ok!(cuStreamWaitEvent(pair[1], event, 0));
                events.push(event);
            }
        });
        assert_eq!(taken == 0, follows, "{taken} bytes more");
        gate.open();
        ok!(cuStreamSynchronize(ends[1]));
        for event in events {
            ok!(cuEventDestroy_v2(event));
        }
        ok!(cuMemPoolDestroy(pool));
    }
    for stream in streams {
        ok!(cuStreamDestroy_v2(stream));
    }
}

#[test]
fn freed_memory_serves_others_when_the_free_is_done() {
    // covers: POOL-21, POOL-24, POOL-X11
    let _turn = turn();
    gpu();
    let streams = [stream(), stream()];
    let flag = Flag::new();
    for opportunistic in [true, false] {
        let pool = pool_with([true, opportunistic, false], 0);
        let value = 1 + u32::from(opportunistic);
        let taken = taken_again(pool, streams, || {
            // That the stream got so far is seen without a wait of the driver's.
            flag.set_on(streams[0], value);
            while flag.get() != value {
                std::thread::yield_now();
            }
        });
        assert_eq!(taken == 0, opportunistic, "{taken} bytes more");
        // A wait makes it everyone's, whatever the policies.
        ok!(cuCtxSynchronize());
        let taken = taken_again(pool, streams, || ok!(cuStreamSynchronize(streams[0])));
        assert_eq!(taken, 0);
        ok!(cuCtxSynchronize());
        ok!(cuMemPoolDestroy(pool));
    }
    for stream in streams {
        ok!(cuStreamDestroy_v2(stream));
    }
}

#[test]
fn a_full_pool_lets_streams_wait_or_fails() {
    // covers: POOL-10, POOL-25
    let _turn = turn();
    gpu();
    let [first, second] = [stream(), stream()];
    for waits in [true, false] {
        let pool = pool_with([true, true, waits], 32 << 20);
        let gate = Gate::new();
        let memory: CUdeviceptr = get!(cuMemAllocFromPoolAsync(LARGE, pool, first));
        gate.block(first);
        ok!(cuMemFreeAsync(memory, first));
        let mut again = 0;
        if waits {
            ok!(cuMemAllocFromPoolAsync(&mut again, LARGE, pool, second));
            fails!(600, cuStreamQuery(second));
            gate.open();
        } else {
            fails!(2, cuMemAllocFromPoolAsync(&mut again, LARGE, pool, second));
            gate.open();
            ok!(cuStreamSynchronize(first));
            // The stream is none the worse, and now there is room.
            ok!(cuMemAllocFromPoolAsync(&mut again, LARGE, pool, second));
        }
        ok!(cuStreamSynchronize(second));
        ok!(cuMemFreeAsync(again, second));
        ok!(cuStreamSynchronize(second));
        ok!(cuMemPoolDestroy(pool));
    }
    for stream in [first, second] {
        ok!(cuStreamDestroy_v2(stream));
    }
}

/// `cuMemFree` does not wait for work on memory of a pool. What a fill writes after it is lost, and keeps no page of the process.
#[test]
fn what_is_written_after_a_free_is_lost() {
    const BYTES: usize = 64 << 20;
    let _turn = turn();
    if gpu() == Backend::Cuda {
        // There the host does not reach the memory.
        return;
    }
    // The program is wrong, which this check says; here it is about what becomes of the memory.
    assert!(warpsmith_driver::configure_simulator("checks", "default"));
    let stream = stream();
    let memory: CUdeviceptr = get!(cuMemAllocAsync(BYTES, stream));
    let byte = |index: usize| {
        // SAFETY: the simulator's device memory is memory of the process, mapped until its end, and changed by other threads bytewise.
        unsafe { AtomicU8::from_ptr((memory as usize + index) as *mut u8) }.load(Ordering::Relaxed)
    };
    ok!(cuMemsetD8Async(memory, 7, BYTES, stream));
    while byte(0) == 0 {
        std::hint::spin_loop();
    }
    ok!(cuMemFree_v2(memory));
    ok!(cuStreamSynchronize(stream));
    assert_eq!([0, BYTES / 2, BYTES - 1].map(byte), [0; 3]);
    ok!(cuStreamDestroy_v2(stream));
}

const DESCRIPTOR: CUmemAllocationHandleType =
    CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;

/// A pool that can be exported.
pub fn shareable_pool() -> CUmemoryPool {
    let properties = CUmemPoolProps {
        handleTypes: DESCRIPTOR,
        ..properties()
    };
    get!(cuMemPoolCreate(&properties))
}

pub fn export(pool: CUmemoryPool) -> OwnedFd {
    let mut number: c_int = -1;
    ok!(cuMemPoolExportToShareableHandle(
        (&raw mut number).cast(),
        pool,
        DESCRIPTOR,
        0
    ));
    // SAFETY: the call above made the descriptor, which nothing else owns.
    unsafe { OwnedFd::from_raw_fd(number) }
}

#[test]
fn only_pools_that_were_made_for_it_are_exported() {
    // covers: POOL-30
    let _turn = turn();
    gpu();
    let stream = stream();
    let mut number: c_int = -1;
    let default: CUmemoryPool = get!(cuDeviceGetDefaultMemPool(0));
    let own = pool_with([true; 3], 0);
    for pool in [default, own] {
        fails!(
            1,
            cuMemPoolExportToShareableHandle((&raw mut number).cast(), pool, DESCRIPTOR, 0)
        );
        let memory: CUdeviceptr = get!(cuMemAllocFromPoolAsync(64, pool, stream));
        let mut data = CUmemPoolPtrExportData { reserved: [0; 64] };
        fails!(1, cuMemPoolExportPointer(&mut data, memory));
        ok!(cuMemFreeAsync(memory, stream));
    }
    ok!(cuMemPoolDestroy(own));
    let pool = shareable_pool();
    fails!(
        1,
        cuMemPoolExportToShareableHandle((&raw mut number).cast(), pool, DESCRIPTOR, 1)
    );
    let fabric = CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_FABRIC;
    fails!(
        1,
        cuMemPoolExportToShareableHandle((&raw mut number).cast(), pool, fabric, 0)
    );
    drop(export(pool));
    ok!(cuMemPoolDestroy(pool));
    ok!(cuStreamDestroy_v2(stream));
}

#[test]
fn an_imported_pool_shows_what_was_exported_of_it() {
    // covers: POOL-31, POOL-33, POOL-34, POOL-36, POOL-X13, POOL-X14
    let _turn = turn();
    gpu();
    let stream = stream();
    let pool = shareable_pool();
    let descriptor = export(pool);
    let mut imported: CUmemoryPool = null_mut();
    let number = descriptor.as_raw_fd() as usize as *mut c_void;
    ok!(cuMemPoolImportFromShareableHandle(
        &mut imported,
        number,
        DESCRIPTOR,
        0
    ));
    drop(descriptor);
    assert_ne!(imported, pool);

    let memory: CUdeviceptr = get!(cuMemAllocFromPoolAsync(8192, pool, stream));
    let mut data = CUmemPoolPtrExportData { reserved: [0; 64] };
    fails!(1, cuMemPoolExportPointer(&mut data, memory + 64));
    ok!(cuMemPoolExportPointer(&mut data, memory));
    let mut same = 0;
    ok!(cuMemPoolImportPointer(&mut same, imported, &mut data));
    assert_ne!(same, memory);
    ok!(cuMemsetD32Async(memory, 7, 2048, stream));
    ok!(cuStreamSynchronize(stream));
    assert_eq!(download::<u32>(same, 2048), [7; 2048]);
    ok!(cuMemsetD32Async(same + 4, 8, 1, stream));
    ok!(cuStreamSynchronize(stream));
    assert_eq!(download::<u32>(memory, 3), [7, 8, 7]);

    // It gives nothing of its own, and knows nothing of what is not its own.
    let mut other = 0;
    fails!(1, cuMemAllocFromPoolAsync(&mut other, 64, imported, stream));
    let mut value = 0u64;
    fails!(
        1,
        cuMemPoolGetAttribute(imported, USED, (&raw mut value).cast())
    );
    fails!(
        1,
        cuMemPoolSetAttribute(imported, THRESHOLD, (&raw mut value).cast())
    );
    fails!(1, cuDeviceSetMemPool(0, imported));
    fails!(1, cuMemPoolTrimTo(imported, 0));
    fails!(
        1,
        cuMemPoolExportToShareableHandle((&raw mut value).cast(), imported, DESCRIPTOR, 0)
    );

    // The importer frees first; the exporter goes on.
    ok!(cuMemFreeAsync(same, stream));
    ok!(cuStreamSynchronize(stream));
    assert_eq!(download::<u32>(memory, 3), [7, 8, 7]);
    ok!(cuMemFreeAsync(memory, stream));
    ok!(cuStreamSynchronize(stream));
    for pool in [imported, pool] {
        ok!(cuMemPoolDestroy(pool));
    }
    ok!(cuStreamDestroy_v2(stream));
}

//! Managed memory: hints, places, and streams that it belongs to.

use crate::common::*;
use warpsmith_testkit::process::{calling_test, is_child, run_in_child};

#[test]
fn hints_on_managed_memory_are_remembered_by_page() {
    // covers: UM-05, UM-21, UM-23, UM-24, UM-25, UM-26, UM-27
    let _turn = turn();
    gpu();
    let memory: CUdeviceptr = get!(cuMemAllocManaged(8 << 20, 1));
    let half = 4 << 20;
    // SAFETY: managed memory of this size, with nothing running.
    unsafe { (memory as *mut u32).write(42) };
    let query = |attribute, size: usize| -> c_int {
        let mut answer = 0;
        ok!(cuMemRangeGetAttribute(
            (&raw mut answer).cast(),
            4,
            attribute,
            memory,
            size
        ));
        answer
    };
    let read_mostly = CUmem_range_attribute::CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY;
    let preferred = CUmem_range_attribute::CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION;
    let prefetched = CUmem_range_attribute::CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION;
    ok!(cuMemAdvise(
        memory,
        half,
        CUmem_advise::CU_MEM_ADVISE_SET_READ_MOSTLY,
        0
    ));
    assert_eq!(
        (query(read_mostly, half), query(read_mostly, 2 * half)),
        (1, 0)
    );
    ok!(cuMemAdvise(
        memory,
        half,
        CUmem_advise::CU_MEM_ADVISE_SET_PREFERRED_LOCATION,
        CU_DEVICE_CPU
    ));
    assert_eq!(
        (query(preferred, half), query(preferred, 2 * half)),
        (-1, -2)
    );
    ok!(cuMemAdvise(
        memory,
        half,
        CUmem_advise::CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION,
        0
    ));
    assert_eq!(query(preferred, half), -2);
    let stream = stream();
    ok!(cuMemPrefetchAsync(memory, 2 * half, 0, stream));
    ok!(cuMemPrefetchAsync(memory, half, CU_DEVICE_CPU, stream));
    ok!(cuStreamSynchronize(stream));
    assert_eq!(
        (query(prefetched, half), query(prefetched, 2 * half)),
        (-1, -2)
    );
    // SAFETY: the first word of the managed memory, which the host may read: the stream has been waited for.
    let value = unsafe { (memory as *const u32).read() };
    assert_eq!(value, 42, "hints move data and change none");
    let plain: CUdeviceptr = get!(cuMemAlloc_v2(4096));
    fails!(1, cuMemPrefetchAsync(plain, 4096, 0, stream));
    ok!(cuMemFree_v2(plain));
    ok!(cuMemFree_v2(memory));
    ok!(cuStreamDestroy_v2(stream));
}

/// Since CUDA 12.2 a place is a location: the host as a whole, or a node of its memory.
// covers: UM-27
#[test]
fn managed_memory_goes_to_nodes_of_the_host() {
    let _turn = turn();
    gpu();
    let memory: CUdeviceptr = get!(cuMemAllocManaged(4 << 20, 1));
    let query = |attribute| -> c_int {
        let mut answer = 0;
        ok!(cuMemRangeGetAttribute(
            (&raw mut answer).cast(),
            4,
            attribute,
            memory,
            4 << 20
        ));
        answer
    };
    let place = |type_, id| {
        let mut location = CUmemLocation {
            type_,
            ..Default::default()
        };
        location.__bindgen_anon_1.id = id;
        location
    };
    type Key = CUmem_range_attribute;
    let node = CUmemLocationType::CU_MEM_LOCATION_TYPE_HOST_NUMA;
    let preferred = || {
        (
            query(Key::CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE),
            query(Key::CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID),
        )
    };
    assert_eq!(preferred().0, 0);
    let advice = CUmem_advise::CU_MEM_ADVISE_SET_PREFERRED_LOCATION;
    ok!(cuMemAdvise_v2(memory, 4 << 20, advice, place(node, 0)));
    // A GPU takes the advice, and says that there is no preferred location (H200, driver 13.0).
    if gpu() == Backend::Simulator {
        assert_eq!(preferred(), (node.0 as c_int, 0));
    }
    let device = CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE;
    ok!(cuMemAdvise_v2(memory, 4 << 20, advice, place(device, 0)));
    assert_eq!(preferred(), (device.0 as c_int, 0));
    let accesses = CUmem_advise::CU_MEM_ADVISE_SET_ACCESSED_BY;
    fails!(1, cuMemAdvise_v2(memory, 4 << 20, accesses, place(node, 0)));
    let stream = stream();
    ok!(cuMemPrefetchAsync_v2(
        memory,
        4 << 20,
        place(node, 0),
        0,
        stream
    ));
    ok!(cuStreamSynchronize(stream));
    assert_eq!(
        query(Key::CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE),
        node.0 as c_int
    );
    assert_eq!(
        query(Key::CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID),
        0
    );
    ok!(cuMemFree_v2(memory));
    ok!(cuStreamDestroy_v2(stream));
}

#[test]
fn attaching_managed_memory_takes_all_of_it() {
    // covers: UM-38
    let _turn = turn();
    gpu();
    let memory: CUdeviceptr = get!(cuMemAllocManaged(1 << 20, 2));
    let stream = stream();
    ok!(cuStreamAttachMemAsync(stream, memory, 0, 4));
    fails!(1, cuStreamAttachMemAsync(stream, memory, 4096, 4));
    fails!(1, cuStreamAttachMemAsync(stream, memory, 0, 3));
    fails!(1, cuStreamAttachMemAsync(null_mut(), memory, 0, 4));
    ok!(cuStreamSynchronize(stream));
    ok!(cuMemFree_v2(memory));
    ok!(cuStreamDestroy_v2(stream));
}

/// Adds one to each word of managed memory, and says that it is done.
unsafe extern "C" fn increase(words: *mut c_void) {
    // SAFETY: the test gives 1024 words, and while this runs nothing else uses them.
    let words = unsafe { core::slice::from_raw_parts_mut(words.cast::<u32>(), 1024) };
    words.iter_mut().for_each(|word| *word += 1);
}

#[test]
fn a_host_function_uses_managed_memory_between_work_of_its_stream() {
    // covers: UM-36
    if !is_child() {
        // A device that shares memory, as it is or in full, and on the simulator one that does not.
        for attributes in ["", "89=0"] {
            run_in_child(
                &calling_test(),
                &[("WARPSMITH_SIMULATOR_ATTRIBUTES", attributes)],
            );
        }
        return;
    }
    gpu();
    let stream = stream();
    // Of this stream alone, so no other stream may use it.
    let memory: CUdeviceptr = get!(cuMemAllocManaged(4096, 1));
    ok!(cuStreamAttachMemAsync(stream, memory, 0, 4));
    ok!(cuMemsetD32Async(memory, 6, 1024, stream));
    ok!(cuLaunchHostFunc(
        stream,
        Some(increase),
        memory as *mut c_void
    ));
    // Work of the device comes after it: the memory was the host's only during the function.
    let twin: CUdeviceptr = get!(cuMemAllocAsync(4096, stream));
    ok!(cuMemcpyDtoDAsync_v2(twin, memory, 4096, stream));
    ok!(cuLaunchHostFunc(
        stream,
        Some(increase),
        memory as *mut c_void
    ));
    // None comes after this one, so what tells of its end tells that the memory is the host's.
    let done = counter();
    ok!(cuLaunchHostFunc(
        stream,
        Some(count_up),
        core::ptr::from_ref(done) as *mut c_void
    ));
    while done.load(std::sync::atomic::Ordering::SeqCst) == 0 {
        std::thread::yield_now();
    }
    // SAFETY: the memory has these words, and nothing uses them any more.
    let words = unsafe { core::slice::from_raw_parts(memory as *const u32, 1024) };
    assert_eq!(words, [8; 1024]);
    assert_eq!(download::<u32>(twin, 1024), [7; 1024]);
    ok!(cuMemFreeAsync(twin, stream));
    ok!(cuStreamSynchronize(stream));
    ok!(cuMemFree_v2(memory));
    ok!(cuStreamDestroy_v2(stream));
}

//! Allocation, copies and fills through the C interface.

mod common;
use common::*;

#[test]
fn copies_there_and_back_keep_every_byte() {
    gpu();
    let values: Vec<u32> = (0..10_001).collect();
    let memory = upload(&values);
    assert_eq!(download::<u32>(memory, values.len()), values);
    let other: CUdeviceptr = get!(cuMemAlloc_v2(values.len() * 4));
    ok!(cuMemcpyDtoD_v2(other, memory, values.len() * 4));
    assert_eq!(download::<u32>(other, values.len()), values);
    ok!(cuMemFree_v2(memory));
    ok!(cuMemFree_v2(other));
    ok!(cuMemFree_v2(0));
}

/// A batch copies between host and device in one call, where the driver has it (CUDA 13.0).
#[test]
fn a_batch_of_copies() {
    gpu();
    let stream = stream();
    let memory = upload(&[1_u32, 2, 3, 4]);
    let other: CUdeviceptr = get!(cuMemAlloc_v2(16));
    let host: *mut c_void = get!(cuMemHostAlloc(16, 0));
    let mut to = [other, other + 8, host as CUdeviceptr];
    let mut from = [memory + 8, memory, memory + 4];
    let mut sizes = [8_usize, 8, 4];
    let mut attributes = CUmemcpyAttributes {
        srcAccessOrder: CUmemcpySrcAccessOrder::CU_MEMCPY_SRC_ACCESS_ORDER_STREAM,
        ..Default::default()
    };
    let mut first = 0;
    let mut batch = |count: usize, first: &mut usize, stream: CUstream| {
        // SAFETY: the arrays have at least `count` values, whose memory is there.
        unsafe {
            cuMemcpyBatchAsync_v2(
                to.as_mut_ptr(),
                from.as_mut_ptr(),
                sizes.as_mut_ptr(),
                count,
                &mut attributes,
                first,
                1,
                stream,
            )
        }
    };
    let answer = batch(3, &mut first, stream);
    if answer == CUresult::CUDA_ERROR_NOT_SUPPORTED {
        println!("skipped: the driver has no batches");
        return;
    }
    assert_eq!(answer, CUresult::CUDA_SUCCESS);
    ok!(cuStreamSynchronize(stream));
    assert_eq!(download::<u32>(other, 4), [3, 4, 1, 2]);
    // SAFETY: 16 bytes of page-locked memory, and the stream was waited for.
    assert_eq!(unsafe { host.cast::<u32>().read() }, 2);
    let invalid = CUresult::CUDA_ERROR_INVALID_VALUE;
    assert_eq!(batch(3, &mut 1, stream), invalid);
    assert_eq!(batch(3, &mut first, null_mut()), invalid);
    ok!(cuMemFreeHost(host));
    ok!(cuMemFree_v2(memory));
    ok!(cuMemFree_v2(other));
    ok!(cuStreamDestroy_v2(stream));
}

#[test]
fn sizes_and_pointers_that_cannot_be_are_refused() {
    gpu();
    let mut memory = 0;
    fails!(1, cuMemAlloc_v2(&mut memory, 0));
    fails!(2, cuMemAlloc_v2(&mut memory, 1 << 50));
    fails!(1, cuMemAlloc_v2(null_mut(), 16));
    let memory: CUdeviceptr = get!(cuMemAlloc_v2(100));
    let host = [0u8; 512];
    // One byte more than there is.
    fails!(1, cuMemcpyHtoD_v2(memory, host.as_ptr().cast(), 4096 + 1));
    fails!(1, cuMemcpyHtoD_v2(0, host.as_ptr().cast(), 4));
    ok!(cuMemFree_v2(memory));
    fails!(1, cuMemFree_v2(memory));
    fails!(1, cuMemcpyHtoD_v2(memory, host.as_ptr().cast(), 4));
}

#[test]
fn host_memory_must_be_freed_by_its_own_call() {
    // covers: PINNED-01
    gpu();
    let memory: *mut c_void = get!(cuMemHostAlloc(4096, 0));
    fails!(1, cuMemFree_v2(memory as CUdeviceptr));
    let device: CUdeviceptr = get!(cuMemHostGetDevicePointer_v2(memory, 0));
    assert_eq!(
        device, memory as CUdeviceptr,
        "with unified addressing both are one"
    );
    let mut flags = 0;
    ok!(cuMemHostGetFlags(&mut flags, memory));
    assert_eq!(flags, 2, "page-locked memory is always mapped");
    ok!(cuMemFreeHost(memory));
    let memory: CUdeviceptr = get!(cuMemAlloc_v2(4096));
    fails!(1, cuMemFreeHost(memory as *mut c_void));
    ok!(cuMemFree_v2(memory));
}

#[test]
fn registering_twice_and_forgetting_twice_are_errors() {
    // covers: PINNED-02
    gpu();
    let mut range = vec![7u32; 16 << 10];
    let address: *mut c_void = range.as_mut_ptr().cast();
    ok!(cuMemHostRegister_v2(address, range.len() * 4, 0));
    fails!(712, cuMemHostRegister_v2(address, range.len() * 4, 0));
    let device: CUdeviceptr = get!(cuMemHostGetDevicePointer_v2(address, 0));
    let copy: CUdeviceptr = get!(cuMemAlloc_v2(range.len() * 4));
    ok!(cuMemcpyDtoD_v2(copy, device, range.len() * 4));
    assert_eq!(download::<u32>(copy, range.len()), range);
    ok!(cuMemHostUnregister(address));
    fails!(713, cuMemHostUnregister(address));
    ok!(cuMemFree_v2(copy));
}

#[test]
fn the_direction_of_a_copy_follows_from_its_pointers() {
    // covers: MULTI-12
    gpu();
    let device = upload(&[0u32; 4]);
    let locked = pinned::<u32>(4);
    let mut plain = [0u32; 4];
    let ends = [
        device,
        locked as CUdeviceptr,
        plain.as_mut_ptr() as CUdeviceptr,
    ];
    for (i, &from) in ends.iter().enumerate() {
        for (j, &to) in ends.iter().enumerate().filter(|(j, _)| *j != i) {
            let mark = [(10 * i + j) as u32; 4];
            ok!(cuMemcpy(from, mark.as_ptr() as CUdeviceptr, 16));
            ok!(cuMemcpy(to, from, 16));
            let mut back = [0u32; 4];
            ok!(cuMemcpy(back.as_mut_ptr() as CUdeviceptr, to, 16));
            assert_eq!(back, mark, "from {i} to {j}");
        }
    }
    ok!(cuMemFree_v2(device));
    ok!(cuMemFreeHost(locked.cast()));
}

#[test]
fn fills_of_every_width_and_of_rectangles() {
    gpu();
    let memory = upload(&[0u8; 256]);
    ok!(cuMemsetD8_v2(memory, 0xab, 3));
    ok!(cuMemsetD16_v2(memory + 16, 0x1234, 3));
    ok!(cuMemsetD32_v2(memory + 32, 0xdead_beef, 2));
    // Three rows of two elements, eight bytes apart.
    ok!(cuMemsetD2D16_v2(memory + 64, 8, 0x5678, 2, 3));
    let bytes = download::<u8>(memory, 256);
    assert_eq!(bytes[..4], [0xab, 0xab, 0xab, 0]);
    assert_eq!(bytes[16..23], [0x34, 0x12, 0x34, 0x12, 0x34, 0x12, 0]);
    assert_eq!(
        bytes[32..41],
        [0xef, 0xbe, 0xad, 0xde, 0xef, 0xbe, 0xad, 0xde, 0]
    );
    for row in 0..3 {
        assert_eq!(
            bytes[64 + 8 * row..][..8],
            [0x78, 0x56, 0x78, 0x56, 0, 0, 0, 0],
            "row {row}"
        );
    }
    fails!(1, cuMemsetD32_v2(memory + 1, 0, 1));
    fails!(1, cuMemsetD8_v2(memory, 0, 1 << 30));
    ok!(cuMemFree_v2(memory));
}

/// The functions that are not called asynchronous do not wait where the host cannot look, and do where it can.
#[test]
fn fills_of_memory_that_the_host_reads_are_done_when_they_return() {
    gpu();
    for _ in 0..200 {
        let locked = pinned::<u8>(4096);
        ok!(cuMemsetD8_v2(locked as CUdeviceptr, 0xab, 4096));
        // SAFETY: page-locked memory of this size, and nothing is running.
        assert!(unsafe { core::slice::from_raw_parts(locked, 4096) } == [0xab; 4096]);
        ok!(cuMemFreeHost(locked.cast()));
        let managed: CUdeviceptr = get!(cuMemAllocManaged(4096, 1));
        ok!(cuMemsetD2D32_v2(managed, 64, 0x0102_0304, 16, 64));
        // SAFETY: managed memory of this size, and nothing is running.
        let words = unsafe { core::slice::from_raw_parts(managed as *const u32, 1024) };
        assert!(words == [0x0102_0304; 1024]);
        ok!(cuMemFree_v2(managed));
    }
}

#[test]
fn copies_of_rectangles_and_boxes() {
    gpu();
    let mut pitch = 0;
    let mut memory = 0;
    ok!(cuMemAllocPitch_v2(&mut memory, &mut pitch, 12, 4, 4));
    assert!(pitch >= 12 && pitch % 4 == 0);
    let source: Vec<u8> = (0..48).collect();
    let host = CUmemorytype::CU_MEMORYTYPE_HOST;
    let device = CUmemorytype::CU_MEMORYTYPE_DEVICE;
    let there = CUDA_MEMCPY2D {
        srcMemoryType: host,
        srcHost: source.as_ptr().cast(),
        srcPitch: 12,
        dstMemoryType: device,
        dstDevice: memory,
        dstPitch: pitch,
        WidthInBytes: 12,
        Height: 4,
        ..Default::default()
    };
    ok!(cuMemcpy2D_v2(&there));
    // The inner 8 x 2 bytes, from column 2 of row 1.
    let mut inner = [0u8; 16];
    let back = CUDA_MEMCPY2D {
        srcMemoryType: device,
        srcDevice: memory,
        srcPitch: pitch,
        srcXInBytes: 2,
        srcY: 1,
        dstMemoryType: host,
        dstHost: inner.as_mut_ptr().cast(),
        dstPitch: 8,
        WidthInBytes: 8,
        Height: 2,
        ..Default::default()
    };
    ok!(cuMemcpy2D_v2(&back));
    let expected: Vec<u8> = (14..22).chain(26..34).collect();
    assert_eq!(inner[..], expected);
    let whole = CUDA_MEMCPY3D {
        srcMemoryType: host,
        srcHost: source.as_ptr().cast(),
        srcPitch: 4,
        srcHeight: 3,
        dstMemoryType: device,
        dstDevice: memory,
        dstPitch: 4,
        dstHeight: 3,
        WidthInBytes: 4,
        Height: 3,
        Depth: 4,
        ..Default::default()
    };
    ok!(cuMemcpy3D_v2(&whole));
    assert_eq!(download::<u8>(memory, 48), source);
    ok!(cuMemFree_v2(memory));
}

#[test]
fn a_pointer_tells_where_it_lives() {
    // covers: MULTI-11, UM-03
    gpu();
    let kind = |address: CUdeviceptr| -> (u32, u32) {
        let (mut kind, mut managed) = (9u32, 9u32);
        let mut keys = [
            CUpointer_attribute::CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
            CUpointer_attribute::CU_POINTER_ATTRIBUTE_IS_MANAGED,
        ];
        let mut slots: [*mut c_void; 2] = [(&raw mut kind).cast(), (&raw mut managed).cast()];
        ok!(cuPointerGetAttributes(
            2,
            keys.as_mut_ptr(),
            slots.as_mut_ptr(),
            address
        ));
        (kind, managed)
    };
    let device: CUdeviceptr = get!(cuMemAlloc_v2(64));
    let managed: CUdeviceptr = get!(cuMemAllocManaged(64, 1));
    let locked = pinned::<u8>(64);
    let plain = 0u64;
    assert_eq!(kind(device), (2, 0));
    assert_eq!(kind(device + 63), (2, 0), "inside counts too");
    assert_eq!(kind(managed), (2, 1));
    assert_eq!(kind(locked as CUdeviceptr), (1, 0));
    assert_eq!(kind(&raw const plain as CUdeviceptr), (0, 0));
    let mut answer = 0u32;
    let memory_type = CUpointer_attribute::CU_POINTER_ATTRIBUTE_MEMORY_TYPE;
    fails!(
        1,
        cuPointerGetAttribute(
            (&raw mut answer).cast(),
            memory_type,
            &raw const plain as CUdeviceptr
        )
    );
    let (mut base, mut size) = (0, 0);
    ok!(cuMemGetAddressRange_v2(&mut base, &mut size, device + 10));
    assert_eq!(base, device);
    assert!(size >= 64);
    ok!(cuMemFree_v2(device));
    ok!(cuMemFree_v2(managed));
    ok!(cuMemFreeHost(locked.cast()));
}

#[test]
fn memory_that_is_taken_is_not_free() {
    gpu();
    let info = || {
        let (mut free, mut total) = (0, 0);
        ok!(cuMemGetInfo_v2(&mut free, &mut total));
        (free, total)
    };
    let (_, total) = info();
    let memory: CUdeviceptr = get!(cuMemAlloc_v2(64 << 20));
    let (free, same) = info();
    assert_eq!(total, same);
    assert!(free <= total - (64 << 20));
    ok!(cuMemFree_v2(memory));
}

#[test]
fn hints_on_managed_memory_are_remembered_by_page() {
    // covers: UM-05, UM-21, UM-23, UM-24, UM-25, UM-26, UM-27
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

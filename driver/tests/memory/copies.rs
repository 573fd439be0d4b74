//! Copies and fills of memory.

use crate::common::*;

#[test]
fn copies_there_and_back_keep_every_byte() {
    let _turn = turn();
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
    let _turn = turn();
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
fn the_direction_of_a_copy_follows_from_its_pointers() {
    // covers: MULTI-12
    let _turn = turn();
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
    let _turn = turn();
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
    let _turn = turn();
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
    let _turn = turn();
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

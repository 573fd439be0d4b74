//! Copies of arrays and padded memory from one device to another. On two GPUs where there are some, else on two simulated devices.

use super::two::{Device, on_two_devices, two_devices};
use crate::common::texels::{U8, U32, array_of, contents, fill, filled};
use crate::common::*;

const ARRAY: CUmemorytype = CUmemorytype::CU_MEMORYTYPE_ARRAY;
const DEVICE: CUmemorytype = CUmemorytype::CU_MEMORYTYPE_DEVICE;
const LAYERED: u32 = CUDA_ARRAY3D_LAYERED;

/// A copy of so many bytes, rows and slices from the first device's array to the second one's.
fn between(
    [first, second]: &[Device; 2],
    from: CUarray,
    to: CUarray,
    [width, height, depth]: [usize; 3],
) -> CUDA_MEMCPY3D_PEER {
    CUDA_MEMCPY3D_PEER {
        srcMemoryType: ARRAY,
        srcArray: from,
        srcContext: first.context,
        dstMemoryType: ARRAY,
        dstArray: to,
        dstContext: second.context,
        WidthInBytes: width,
        Height: height.max(1),
        Depth: depth.max(1),
        ..Default::default()
    }
}

#[test]
fn arrays_are_copied_between_devices_without_peer_access() {
    // covers: MULTI-09, MULTI-X05
    if !on_two_devices() {
        return;
    }
    let devices = two_devices();
    let [first, second] = &devices;
    for (extents, flags) in [
        ([40, 0, 0], 0),
        ([40, 6, 0], 0),
        ([12, 5, 3], 0),
        ([40, 0, 4], LAYERED),
        ([12, 5, 4], LAYERED),
    ] {
        first.enter();
        let count: usize = extents
            .iter()
            .map(|&extent: &usize| extent.max(1))
            .product();
        let texels: Vec<u32> = (1..=count as u32).collect();
        let from = filled(extents, U32, flags, &texels);
        second.enter();
        let to = filled(extents, U32, flags, &vec![0_u32; count]);
        let stream = stream();
        let whole = between(&devices, from, to, [4 * extents[0], extents[1], extents[2]]);
        // Whichever context is current, in the default stream and in one of the second device.
        for device in &devices {
            device.enter();
            ok!(cuMemcpy3DPeer(&whole));
            second.enter();
            assert_eq!(contents::<u32>(to, extents), texels);
            let zeros = vec![0_u32; count];
            fill(to, extents, &zeros);
            device.enter();
            ok!(cuMemcpy3DPeerAsync(&whole, stream));
            ok!(cuStreamSynchronize(stream));
            second.enter();
            assert_eq!(contents::<u32>(to, extents), texels);
            fill(to, extents, &zeros);
        }
        // Two texels from the third on, of the last row and slice, to the beginning.
        let [height, depth] = [extents[1].max(1), extents[2].max(1)];
        let part = CUDA_MEMCPY3D_PEER {
            srcXInBytes: 8,
            srcY: height - 1,
            srcZ: depth - 1,
            WidthInBytes: 8,
            Height: 1,
            Depth: 1,
            ..whole
        };
        ok!(cuMemcpy3DPeer(&part));
        let last_row = (height * depth - 1) * extents[0];
        let mut expected = vec![0; count];
        expected[..2].copy_from_slice(&texels[last_row + 2..last_row + 4]);
        assert_eq!(contents::<u32>(to, extents), expected);
        ok!(cuStreamDestroy_v2(stream));
        ok!(cuArrayDestroy(to));
        first.enter();
        ok!(cuArrayDestroy(from));
    }
}

#[test]
fn padded_memory_and_arrays_are_copied_between_devices() {
    if !on_two_devices() {
        return;
    }
    let devices = two_devices();
    let [first, second] = &devices;
    // Three rows of four bytes, eight bytes from row to row.
    first.enter();
    let padded: Vec<u8> = (0..24).collect();
    let rows = upload(&padded);
    second.enter();
    let array = filled([4, 3, 0], U8, 0, &[0_u8; 12]);
    let there = upload(&[0_u8; 18]);
    let to_array = CUDA_MEMCPY3D_PEER {
        srcMemoryType: DEVICE,
        srcArray: null_mut(),
        srcDevice: rows,
        srcPitch: 8,
        srcHeight: 3,
        ..between(&devices, null_mut(), array, [4, 3, 0])
    };
    ok!(cuMemcpy3DPeer(&to_array));
    let packed = [0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19];
    assert_eq!(contents::<u8>(array, [4, 3, 0]), packed);
    // Rows of another distance.
    let to_rows = CUDA_MEMCPY3D_PEER {
        dstMemoryType: DEVICE,
        dstArray: null_mut(),
        dstDevice: there,
        dstPitch: 6,
        dstHeight: 3,
        ..to_array
    };
    ok!(cuMemcpy3DPeer(&to_rows));
    let wide = [0, 1, 2, 3, 0, 0, 8, 9, 10, 11, 0, 0, 16, 17, 18, 19, 0, 0];
    assert_eq!(download::<u8>(there, 18), wide);
    // And back to the first device, from the array.
    let back = CUDA_MEMCPY3D_PEER {
        srcMemoryType: ARRAY,
        srcArray: array,
        srcContext: second.context,
        dstMemoryType: DEVICE,
        dstDevice: rows,
        dstContext: first.context,
        dstPitch: 4,
        dstHeight: 3,
        WidthInBytes: 4,
        Height: 3,
        Depth: 1,
        ..Default::default()
    };
    ok!(cuMemcpy3DPeer(&back));
    first.enter();
    assert_eq!(download::<u8>(rows, 12), packed);
}

#[test]
fn what_lies_outside_of_an_array_is_not_copied_between_devices() {
    if !on_two_devices() {
        return;
    }
    let devices = two_devices();
    devices[0].enter();
    let from = filled([8, 4, 0], U32, 0, &[7_u32; 32]);
    devices[1].enter();
    let to = filled([8, 4, 0], U32, 0, &[1_u32; 32]);
    let narrow = array_of([4, 4, 0], U32, 1, 0);
    let stream = stream();
    let whole = between(&devices, from, to, [32, 4, 0]);
    let wrong = [
        (
            "wider than the destination",
            CUDA_MEMCPY3D_PEER {
                dstArray: narrow,
                ..whole
            },
        ),
        (
            "beyond a row",
            CUDA_MEMCPY3D_PEER {
                srcXInBytes: 4,
                ..whole
            },
        ),
        (
            "beyond the last row",
            CUDA_MEMCPY3D_PEER { dstY: 1, ..whole },
        ),
        (
            "more slices than it has",
            CUDA_MEMCPY3D_PEER { Depth: 2, ..whole },
        ),
    ];
    for (what, copy) in &wrong {
        // SAFETY: the arrays and the stream are alive, and the description is read during the calls.
        let answers = unsafe { [cuMemcpy3DPeer(copy), cuMemcpy3DPeerAsync(copy, stream)] };
        assert_eq!(answers.map(|answer| answer.0), [1, 1], "{what}");
    }
    ok!(cuStreamSynchronize(stream));
    assert_eq!(contents::<u32>(to, [8, 4, 0]), [1; 32]);
    // No capture takes it.
    let mode = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED;
    ok!(cuStreamBeginCapture_v2(stream, mode));
    fails!(900, cuMemcpy3DPeerAsync(&whole, stream));
    let mut graph: CUgraph = null_mut();
    fails!(901, cuStreamEndCapture(stream, &mut graph));
    ok!(cuMemcpy3DPeerAsync(&whole, stream));
    ok!(cuStreamSynchronize(stream));
    assert_eq!(contents::<u32>(to, [8, 4, 0]), [7; 32]);
}

#[test]
fn a_copy_to_another_devices_array_is_in_the_order_of_its_stream() {
    if !on_two_devices() {
        return;
    }
    const EXTENTS: [usize; 3] = [512, 256, 0];
    let devices = two_devices();
    let [first, second] = &devices;
    second.enter();
    let array = filled(EXTENTS, U32, 0, &vec![0_u32; 512 * 256]);
    first.enter();
    let stream = stream();
    let from = upload(&vec![0_u32; 512 * 256]);
    let copy = CUDA_MEMCPY3D_PEER {
        srcMemoryType: DEVICE,
        srcArray: null_mut(),
        srcDevice: from,
        srcPitch: 2048,
        srcHeight: 256,
        ..between(&devices, null_mut(), array, [2048, 256, 0])
    };
    for round in 1..10 {
        first.enter();
        ok!(cuMemsetD32Async(from, round, 512 * 256, stream));
        ok!(cuMemcpy3DPeerAsync(&copy, stream));
        ok!(cuMemsetD32Async(from, 0, 512 * 256, stream));
        ok!(cuStreamSynchronize(stream));
        second.enter();
        assert_eq!(contents::<u32>(array, EXTENTS), vec![round; 512 * 256]);
    }
}

/// What a GPU does is undefined.
#[test]
fn a_freed_array_is_not_copied_to_another_device() {
    if !super::two::with_two_devices() {
        return;
    }
    let devices = two_devices();
    devices[0].enter();
    let from = filled([8, 0, 0], U32, 0, &[7_u32; 8]);
    devices[1].enter();
    let to = filled([8, 0, 0], U32, 0, &[1_u32; 8]);
    ok!(cuArrayDestroy(from));
    fails!(1, cuMemcpy3DPeer(&between(&devices, from, to, [32, 0, 0])));
    devices[0].enter();
    let from = filled([8, 0, 0], U32, 0, &[7_u32; 8]);
    devices[1].enter();
    ok!(cuArrayDestroy(to));
    fails!(1, cuMemcpy3DPeer(&between(&devices, from, to, [32, 0, 0])));
}

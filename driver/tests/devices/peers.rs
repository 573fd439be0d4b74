//! Several devices: peer access, and copies between them. On the simulator, which can show several, in processes of their own; what one
//! device answers about itself, on a GPU, too.

use crate::common::*;
use crate::two::{fault_of, two_devices, with_two_devices};

#[test]
fn a_device_is_no_peer_of_itself() {
    let _turn = turn();
    gpu();
    let context: CUcontext = get!(cuCtxGetCurrent());
    let mut value = 7;
    ok!(cuDeviceCanAccessPeer(&mut value, 0, 0));
    assert_eq!(value, 0);
    fails!(1, cuDeviceCanAccessPeer(null_mut(), 0, 0));
    fails!(101, cuDeviceCanAccessPeer(&mut value, 0, 99));
    let rank = CUdevice_P2PAttribute::CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK;
    fails!(101, cuDeviceGetP2PAttribute(&mut value, rank, 0, 0));
    fails!(101, cuDeviceGetP2PAttribute(&mut value, rank, 0, 99));
    fails!(1, cuDeviceGetP2PAttribute(null_mut(), rank, 0, 0));
    fails!(217, cuCtxEnablePeerAccess(context, 0));
    fails!(1, cuCtxEnablePeerAccess(context, 1));
    fails!(201, cuCtxEnablePeerAccess(null_mut(), 0));
    fails!(705, cuCtxDisablePeerAccess(context));
    fails!(201, cuCtxDisablePeerAccess(null_mut()));
}

#[test]
fn peer_copies_take_any_context_and_no_capture() {
    // covers: MULTI-09
    let _turn = turn();
    gpu();
    let (context, stream): (CUcontext, _) = (get!(cuCtxGetCurrent()), stream());
    let (from, to) = (upload(&[5u32; 64]), upload(&[0u32; 64]));
    ok!(cuMemcpyPeer(to, context, from, context, 128));
    ok!(cuMemcpyPeer(to + 128, null_mut(), from, null_mut(), 64));
    ok!(cuMemcpyPeerAsync(
        to + 192,
        context,
        from,
        null_mut(),
        64,
        stream
    ));
    ok!(cuStreamSynchronize(stream));
    assert_eq!(download::<u32>(to, 64), [5; 64]);
    ok!(cuMemcpyPeer(0, context, 0, context, 0));
    fails!(1, cuMemcpyPeer(to, context, from, context, 1 << 40));
    let host = [1u32; 16];
    fails!(
        1,
        cuMemcpyPeer(to, context, host.as_ptr() as u64, context, 64)
    );
    let mode = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_GLOBAL;
    ok!(cuStreamBeginCapture_v2(stream, mode));
    fails!(
        900,
        cuMemcpyPeerAsync(to, context, from, context, 64, stream)
    );
    let mut graph: CUgraph = null_mut();
    fails!(901, cuStreamEndCapture(stream, &mut graph));

    // Two layers of two rows of two words, out of rows of eight.
    let wish = CUDA_MEMCPY3D_PEER {
        srcXInBytes: 4,
        srcMemoryType: CUmemorytype::CU_MEMORYTYPE_DEVICE,
        srcDevice: upload(&(0..64u32).collect::<Vec<_>>()),
        srcContext: context,
        srcPitch: 32,
        srcHeight: 4,
        dstMemoryType: CUmemorytype::CU_MEMORYTYPE_DEVICE,
        dstDevice: to,
        dstContext: context,
        dstPitch: 8,
        dstHeight: 2,
        WidthInBytes: 8,
        Height: 2,
        Depth: 2,
        ..Default::default()
    };
    ok!(cuMemcpy3DPeer(&wish));
    assert_eq!(download::<u32>(to, 8), [1, 2, 9, 10, 33, 34, 41, 42]);
    let elsewhere = CUDA_MEMCPY3D_PEER {
        dstDevice: to + 64,
        srcContext: null_mut(),
        dstContext: null_mut(),
        ..wish
    };
    ok!(cuMemcpy3DPeerAsync(&elsewhere, stream));
    ok!(cuStreamSynchronize(stream));
    assert_eq!(download::<u32>(to + 64, 2), [1, 2]);
    let narrow = CUDA_MEMCPY3D_PEER {
        srcPitch: 4,
        ..wish
    };
    fails!(1, cuMemcpy3DPeer(&narrow));
    let nowhere = CUDA_MEMCPY3D_PEER {
        srcMemoryType: CUmemorytype_enum(0),
        ..wish
    };
    fails!(1, cuMemcpy3DPeer(&nowhere));
    ok!(cuStreamDestroy_v2(stream));
}

#[test]
fn kernels_reach_another_device_only_with_peer_access() {
    // covers: MULTI-07, MULTI-X04
    if !with_two_devices() {
        return;
    }
    let [first, second] = two_devices();
    let mut there = 0;
    for (one, other) in [(0, 1), (1, 0)] {
        ok!(cuDeviceCanAccessPeer(&mut there, one, other));
        assert_eq!(there, 1);
    }
    use CUdevice_P2PAttribute as Attribute;
    for (attribute, expected) in [
        (Attribute::CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK, 0),
        (Attribute::CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, 1),
        (
            Attribute::CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED,
            1,
        ),
    ] {
        let value: c_int = get!(cuDeviceGetP2PAttribute(attribute, 0, 1));
        assert_eq!(value, expected);
    }
    let unknown = CUdevice_P2PAttribute_enum(99);
    fails!(1, cuDeviceGetP2PAttribute(&mut there, unknown, 0, 1));

    first.enter();
    let memory = upload(&[40u32]);
    let why = "memory of another device, and peer access to that is not enabled";
    let text = fault_of(1, memory);
    assert!(text.contains(why), "{text}");

    // Device 1 reaches device 0 from here on, and not the other way round.
    second.enter();
    let on_second = upload(&[0u32]);
    ok!(cuCtxEnablePeerAccess(first.context, 0));
    fails!(704, cuCtxEnablePeerAccess(first.context, 0));
    second.add(memory);
    // Default streams of two contexts do not wait for each other.
    ok!(cuCtxSynchronize());
    first.add(memory);
    ok!(cuCtxSynchronize());
    second.enter();
    // Also what is allocated later.
    first.enter();
    let later = upload(&[1u32]);
    second.add(later);
    ok!(cuCtxSynchronize());
    assert_eq!(
        [memory, later].map(|word| download::<u32>(word, 1)[0]),
        [42, 2]
    );
    let text = fault_of(0, on_second);
    assert!(text.contains(why), "{text}");

    second.enter();
    ok!(cuCtxDisablePeerAccess(first.context));
    fails!(705, cuCtxDisablePeerAccess(first.context));
    second.add(memory);
    fails!(700, cuCtxSynchronize());
}

#[test]
fn copies_between_devices_need_no_peer_access() {
    // covers: MULTI-09, MULTI-X05
    if !with_two_devices() {
        return;
    }
    let [first, second] = two_devices();
    second.enter();
    let there = upload(&[0u32; 4]);
    first.enter();
    let here = upload(&[1u32; 4]);
    ok!(cuMemcpyPeer(there, second.context, here, first.context, 16));
    assert_eq!(download::<u32>(there, 4), [1; 4]);
    ok!(cuMemcpyDtoD_v2(here, there, 8));
    ok!(cuCtxSynchronize());
    // The copy alone puts the kernels of both devices in order.
    for _ in 0..20 {
        first.add(here);
        ok!(cuMemcpyPeer(there, second.context, here, first.context, 4));
        second.add(there);
        ok!(cuMemcpyPeer(here, first.context, there, second.context, 4));
    }
    assert_eq!(download::<u32>(here, 1), [41]);
}

#[test]
fn a_copy_on_the_default_stream_comes_between_the_work_of_both_devices() {
    // covers: MULTI-06, MULTI-10
    if !with_two_devices() {
        return;
    }
    let [first, second] = two_devices();
    let default: CUstream = null_mut();
    second.enter();
    let (there, stream_there) = (upload(&[0u32]), stream());
    first.enter();
    let (here, stream_here) = (upload(&[7u32]), stream());
    let gate = Word::new();
    let is_done = |stream| {
        // SAFETY: the streams live to the end of the test.
        let answer = unsafe { cuStreamQuery(stream) }.0;
        assert!(answer == 0 || answer == 600, "{answer}");
        answer == 0
    };
    // The default streams by themselves are independent: one that is held up holds no other one up.
    ok!(cuStreamWaitValue32_v2(default, gate.address(), 1, 0));
    second.enter();
    ok!(cuMemsetD32Async(there, 3, 1, default));
    ok!(cuStreamSynchronize(default));
    // The copy waits for the first device, and what comes after it on the second one for the copy, in each stream.
    ok!(cuMemcpyPeerAsync(
        there,
        second.context,
        here,
        first.context,
        4,
        default
    ));
    ok!(cuMemcpyDtoDAsync_v2(there, there, 4, stream_there));
    assert!(!is_done(default) && !is_done(stream_there));
    // One in a stream of its own waits for nobody.
    first.enter();
    ok!(cuMemcpyPeerAsync(
        here,
        first.context,
        here,
        first.context,
        4,
        stream_here
    ));
    assert!(!is_done(stream_here), "it was submitted after the copy");
    gate.store(1);
    for stream in [stream_here, stream_there] {
        ok!(cuStreamSynchronize(stream));
    }
    assert_eq!(download::<u32>(there, 1), [7]);
}

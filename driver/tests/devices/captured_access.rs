//! Who reaches memory that a captured allocation makes: whom its pool was granted to when it was captured.

use crate::common::*;
use crate::two::{fault_of, two_devices, with_two_devices};

/// Captures, in a stream of the pool's device, an allocation that nothing frees, and a fill of it with 40.
fn captured(pool: CUmemoryPool, stream: CUstream) -> (CUgraphExec, CUdeviceptr) {
    let relaxed = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED;
    ok!(cuStreamBeginCapture_v2(stream, relaxed));
    let memory: CUdeviceptr = get!(cuMemAllocFromPoolAsync(64, pool, stream));
    ok!(cuMemsetD32Async(memory, 40, 16, stream));
    let mut graph = null_mut();
    ok!(cuStreamEndCapture(stream, &mut graph));
    let exec: CUgraphExec = get!(cuGraphInstantiateWithFlags(graph, 0));
    ok!(cuGraphDestroy(graph));
    (exec, memory)
}

#[test]
fn a_captured_allocation_keeps_the_access_that_its_pool_had() {
    // covers: GMEM-25
    if !with_two_devices() {
        return;
    }
    let [first, second] = two_devices();
    second.enter();
    let stream = stream();
    let pool: CUmemoryPool = get!(cuDeviceGetDefaultMemPool(1));
    let grant = |flags| {
        let mut wish = CUmemAccessDesc {
            flags: CUmemAccess_flags(flags),
            ..Default::default()
        };
        wish.location.type_ = CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE;
        ok!(cuMemPoolSetAccess(pool, &wish, 1));
    };
    grant(3);
    let (granted, shared) = captured(pool, stream);
    grant(0);
    let (refused, own) = captured(pool, stream);
    // What the pool says when a graph is launched is the opposite of what it said at its capture.
    ok!(cuGraphLaunch(granted, stream));
    ok!(cuStreamSynchronize(stream));
    first.add(shared);
    ok!(cuCtxSynchronize());
    assert_eq!(download::<u32>(shared, 2), [41, 40]);
    second.enter();
    grant(3);
    ok!(cuGraphLaunch(refused, stream));
    ok!(cuStreamSynchronize(stream));
    let text = fault_of(0, own);
    assert!(text.contains("has not been granted access"), "{text}");
    for memory in [shared, own] {
        ok!(cuMemFreeAsync(memory, stream));
    }
    ok!(cuStreamSynchronize(stream));
    for exec in [granted, refused] {
        ok!(cuGraphExecDestroy(exec));
    }
}

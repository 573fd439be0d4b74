//! How the device's free memory changes. It is the device's, whoever takes it, and another context takes some, too: so this test is alone in its
//! file, as the files' programs run one after the other.

mod common;
use common::*;

/// A device gives memory out in pieces of 2 MiB, which small allocations share; a pool takes 32 MiB at once.
#[test]
fn what_is_free_changes_by_pieces() {
    const PIECE: usize = 2 << 20;
    let backend = gpu();
    let free = || {
        let (mut free, mut total) = (0, 0);
        ok!(cuMemGetInfo_v2(&mut free, &mut total));
        free
    };
    let before = free();
    let memory: CUdeviceptr = get!(cuMemAlloc_v2(20));
    let one = before - free();
    // At most one piece: on a GPU the driver may have had room in one already.
    assert!(one == 0 || one == PIECE, "{one}");
    let more: Vec<CUdeviceptr> = (0..100).map(|_| get!(cuMemAlloc_v2(20))).collect();
    let many = before - free();
    assert!(many == one || many == one + PIECE, "{many} after {one}");
    let large: CUdeviceptr = get!(cuMemAlloc_v2(PIECE + 1));
    assert_eq!(before - free(), many + 2 * PIECE);
    ok!(cuMemFree_v2(large));
    assert_eq!(before - free(), many);
    for memory in more.into_iter().chain([memory]) {
        ok!(cuMemFree_v2(memory));
    }
    let before = free();
    let stream = stream();
    let memory: CUdeviceptr = get!(cuMemAllocAsync(20, stream));
    ok!(cuStreamSynchronize(stream));
    match backend {
        Backend::Simulator => assert_eq!(before - free(), 32 << 20),
        // A GPU's driver may have room left from what was freed before, and the first pool takes memory of its own, too.
        Backend::Cuda => assert_eq!((before - free()) % PIECE, 0),
    }
    ok!(cuMemFreeAsync(memory, stream));
    ok!(cuStreamSynchronize(stream));
    if backend == Backend::Simulator {
        assert_eq!(free(), before);
    }
    ok!(cuStreamDestroy_v2(stream));
}

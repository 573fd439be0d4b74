//! Mappings in kernels, and the faults of wrong accesses.

use warpsmith_abi::fault::FaultKind;
use warpsmith_driver::fault;

use super::support::*;
use crate::common::*;

#[test]
fn kernels_use_mappings_like_any_memory() {
    // covers: VMM-X01, VMM-X02
    let _turn = turn();
    gpu();
    let module: CUmodule = get!(cuModuleLoadData(PTX.as_ptr().cast()));
    let range = reserve(2 * PIECE);
    let handles = [map_new(range, PIECE), map_new(range + PIECE as u64, PIECE)];
    let (last, first) = (range + PIECE as u64 - 4, range + PIECE as u64);
    launch(module, c"store", vec![last]);
    launch(module, c"store", vec![first]);
    launch(module, c"add", vec![last, first]);
    assert_eq!(download::<u32>(last, 2), [82, 41]);
    ok!(cuMemUnmap(range, 2 * PIECE));
    for handle in handles {
        ok!(cuMemRelease(handle));
    }
    ok!(cuMemAddressFree(range, 2 * PIECE));
    ok!(cuModuleUnload(module));
}

#[test]
fn each_wrong_access_is_told_apart() {
    // covers: VMM-18
    if gpu() == Backend::Cuda {
        // There all of them are one error, which ends the context.
        return;
    }
    let _turn = turn();
    assert!(warpsmith_driver::configure_simulator("stderr", "off"));
    let range = reserve(4 * PIECE);
    let at = |piece: usize| range + (piece * PIECE) as u64;
    let handles: Vec<_> = (0..3).map(|piece| map_new(at(piece), PIECE)).collect();
    grant(range, PIECE, READ);
    grant(at(1), PIECE, NONE);
    ok!(cuMemUnmap(at(2), PIECE));
    let given_back = reserve(PIECE);
    ok!(cuMemAddressFree(given_back, PIECE));
    for (address, why, near) in [
        (
            range,
            "the memory is read-only",
            "virtual memory of cuMemMap",
        ),
        (
            at(1) + 8,
            "this device has not been granted access to the memory",
            "virtual memory of cuMemMap",
        ),
        (
            at(2),
            "nothing is mapped there",
            "virtual memory of cuMemMap, freed by cuMemUnmap",
        ),
        (
            at(3),
            "nothing is mapped there",
            "reserved by cuMemAddressReserve, where nothing is mapped",
        ),
        (
            given_back,
            "out of bounds",
            "cuMemAddressFree has given back",
        ),
    ] {
        let context: CUcontext = get!(cuCtxCreate_v2(0, 0));
        let module: CUmodule = get!(cuModuleLoadData(PTX.as_ptr().cast()));
        launch(module, c"store", vec![address]);
        fails!(700, cuCtxSynchronize());
        let fault = fault(context).expect("a fault");
        assert_eq!(fault.kind, FaultKind::IllegalAddress);
        let text = fault.to_string();
        assert!(text.contains(why) && text.contains(near), "{text}");
        ok!(cuCtxDestroy_v2(context));
    }
    gpu();
    ok!(cuMemUnmap(range, 2 * PIECE));
    for handle in handles {
        ok!(cuMemRelease(handle));
    }
    ok!(cuMemAddressFree(range, 4 * PIECE));
}

//! Lookup of functions by name and version, and the texts of error codes.

use std::ffi::CString;

use crate::common::*;

fn lookup(name: &str, version: c_int, flags: u64) -> (u32, usize, u32) {
    let name = CString::new(name).unwrap();
    let mut address = null_mut();
    let mut status = CUdriverProcAddressQueryResult_enum(9);
    // SAFETY: all places outlive the call.
    let result =
        unsafe { cuGetProcAddress_v2(name.as_ptr(), &mut address, version, flags, &mut status) };
    (result.0, address as usize, status.0)
}

#[test]
fn a_version_decides_which_function_a_name_means() {
    // covers: DRV-18, DRV-19, DRV-EX08, DRV-EX09
    let _turn = turn();
    gpu();
    let old = lookup("cuStreamBeginCapture", 10000, 0);
    let new = lookup("cuStreamBeginCapture", 10010, 0);
    assert_eq!((old.0, new.0), (0, 0));
    assert_ne!(old.1, new.1);
    assert_eq!(lookup("cuStreamBeginCapture", 13000, 0), new);
    let advise = [8000, 12020].map(|version| lookup("cuMemAdvise", version, 0).1);
    assert_ne!(advise[0], advise[1]);
    assert_ne!(lookup("cuMemAlloc", 3020, 0).1, 0);
    assert_ne!(lookup("cuLaunchKernelEx", 11060, 0).1, 0);
}

#[test]
fn a_name_never_means_a_function_of_another_signature() {
    // covers: DRV-18
    let _turn = turn();
    gpu();
    let [old, .., before, new] =
        [2000, 11000, 12000, 12090, 13000].map(|version| lookup("cuCtxSynchronize", version, 0));
    assert_eq!((old.0, old), (0, before));
    assert_ne!(old.1, new.1, "since 13.0 it takes a context");
    type Synchronise = unsafe extern "C" fn(*mut c_void) -> CUresult;
    // SAFETY: the driver answered with a function of this name without parameters, which the caller may pass some for.
    let synchronise = unsafe { core::mem::transmute::<usize, Synchronise>(old.1) };
    // SAFETY: the function takes no parameter.
    assert_eq!(unsafe { synchronise(0x1234 as *mut c_void) }.0, 0);
    let context: CUcontext = get!(cuCtxGetCurrent());
    // SAFETY: the driver answered with the function of this name since 13.0, whose type this is.
    let synchronise = unsafe { core::mem::transmute::<usize, Synchronise>(new.1) };
    // SAFETY: the context is a live one.
    assert_eq!(unsafe { synchronise(context.cast()) }.0, 0);
    // Each version that changed a signature hands out another function. The driver 580 answers one address for `cuGraphInstantiate` of 11.0
    // and of 12.0.
    if gpu() != Backend::Simulator {
        return;
    }
    for (name, versions) in VERSIONS {
        let found: Vec<_> = versions
            .iter()
            .filter(|(version, _)| (3020..=13000).contains(version))
            .map(|(version, _)| lookup(name, *version, 0))
            .filter(|found| found.2 == 0)
            .map(|found| found.1)
            .collect();
        let mut distinct = found.clone();
        distinct.dedup();
        let renamed = [
            "cuCtxDestroy",
            "cuCtxPopCurrent",
            "cuCtxPushCurrent",
            "cuDevicePrimaryCtxRelease",
            "cuDevicePrimaryCtxReset",
            "cuDevicePrimaryCtxSetFlags",
            "cuEventDestroy",
            "cuMemHostRegister",
            "cuStreamDestroy",
        ];
        assert!(
            found == distinct || renamed.contains(name),
            "{name}: {found:#x?}"
        );
    }
}

#[test]
fn a_failed_lookup_says_why() {
    // covers: DRV-22, DRV-EX10
    let _turn = turn();
    gpu();
    assert_eq!(lookup("cuStreamBeginCapture", 9000, 0), (0, 0, 2));
    assert_eq!(lookup("cuStreamBeginCaptures", 12000, 0), (0, 0, 1));
    assert_eq!(lookup("custreambegincapture", 12000, 0), (0, 0, 1));
    // Before the first CUDA, and after the driver's own.
    assert_eq!(lookup("cuMemAlloc", 1000, 0), (0, 0, 2));
    let (result, address, _) = lookup("cuMemAlloc", 99_000, 0);
    assert_eq!((result, address), (1, 0));
    if gpu() == Backend::Simulator {
        // The real driver looks through the null pointer.
        fails!(
            1,
            cuGetProcAddress_v2(null(), null_mut(), 12000, 0, null_mut())
        );
    }
}

#[test]
fn the_per_thread_variant_is_another_function() {
    // covers: DRV-21
    let _turn = turn();
    gpu();
    let plain = lookup("cuStreamSynchronize", 12000, 1);
    let per_thread = lookup("cuStreamSynchronize", 12000, 2);
    assert_eq!((plain.0, per_thread.0), (0, 0));
    assert_ne!(plain.1, per_thread.1);
    // With it the null stream is the thread's own, which the legacy stream's query shows.
    let gate = Gate::new();
    let name = lookup("cuLaunchHostFunc", 12000, 2).1;
    type LaunchHostFunc = unsafe extern "C" fn(CUstream, CUhostFn, *mut c_void) -> CUresult;
    // SAFETY: the driver answered with the function of this name, whose type this is.
    let launch = unsafe { core::mem::transmute::<usize, LaunchHostFunc>(name) };
    unsafe extern "C" fn nothing(_: *mut c_void) {}
    gate.block(CU_STREAM_PER_THREAD);
    // SAFETY: the function takes no data.
    let result = unsafe { launch(null_mut(), Some(nothing), null_mut()) };
    assert_eq!(result.0, 0);
    gate.open();
    ok!(cuStreamSynchronize(CU_STREAM_PER_THREAD));
}

#[test]
fn errors_have_names_and_texts() {
    // covers: ERROR-01
    let _turn = turn();
    gpu();
    assert_eq!(
        warpsmith_driver::error::name(CUresult(700)),
        "CUDA_ERROR_ILLEGAL_ADDRESS"
    );
    assert!(!warpsmith_driver::error::description(CUresult(2)).is_empty());
    assert_eq!(
        warpsmith_driver::error::name(CUresult(98_765)),
        "CUDA_ERROR_98765"
    );
    let mut text = null();
    fails!(1, cuGetErrorName(CUresult(98_765), &mut text));
}

#[test]
fn what_the_simulator_lacks_answers_so() {
    let _turn = turn();
    if gpu() == Backend::Cuda {
        return;
    }
    let mut plane = null_mut();
    fails!(801, cuArrayGetPlane(&mut plane, null_mut(), 0));
    assert!(
        warpsmith_simulator::entry_point("cuGreenCtxCreate").is_some(),
        "unknown ones of the driver are there too"
    );
    assert!(warpsmith_simulator::entry_point("cuNoSuchFunction").is_none());
}

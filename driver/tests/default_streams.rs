//! The default streams, in a process of their own: what other tests did on the legacy stream would stand between these gates.

mod common;
use std::time::Duration;

use common::*;

#[test]
fn the_legacy_stream_waits_for_blocking_streams_and_they_for_it() {
    // covers: STREAM-09, STREAM-18
    let _turn = turn();
    gpu();
    let blocking: CUstream = get!(cuStreamCreate(0));
    let free = stream();
    let gate = Gate::new();
    let (after, beside) = (Flag::new(), Flag::new());
    gate.block(blocking);
    after.set_on(null_mut(), 1);
    beside.set_on(free, 1);
    ok!(cuStreamSynchronize(free));
    assert_eq!(beside.get(), 1, "a non-blocking stream does not care");
    std::thread::sleep(Duration::from_millis(20));
    assert_eq!(after.get(), 0, "the legacy stream waits");
    gate.open();
    ok!(cuStreamSynchronize(null_mut()));
    assert_eq!(after.get(), 1);

    let gate = Gate::new();
    gate.block(CU_STREAM_LEGACY);
    after.set_on(blocking, 2);
    std::thread::sleep(Duration::from_millis(20));
    assert_eq!(after.get(), 1, "and blocking streams wait for it");
    gate.open();
    ok!(cuStreamSynchronize(blocking));
    assert_eq!(after.get(), 2);
    ok!(cuStreamDestroy_v2(blocking));
    ok!(cuStreamDestroy_v2(free));
}

#[test]
fn each_thread_can_have_its_own_default_stream() {
    // covers: DRV-21, STREAM-09
    let _turn = turn();
    gpu();
    let gate = Gate::new();
    gate.block(CU_STREAM_PER_THREAD);
    std::thread::spawn(|| {
        gpu();
        let flag = Flag::new();
        flag.set_on(CU_STREAM_PER_THREAD, 1);
        ok!(cuStreamSynchronize(CU_STREAM_PER_THREAD));
        assert_eq!(flag.get(), 1);
    })
    .join()
    .unwrap();
    fails!(600, cuStreamQuery(CU_STREAM_PER_THREAD));
    gate.open();
    ok!(cuStreamSynchronize(CU_STREAM_PER_THREAD));
}

#[test]
fn a_threads_default_stream_takes_turns_with_the_legacy_stream_alone() {
    // covers: STREAM-09
    let _turn = turn();
    gpu();
    let blocking: CUstream = get!(cuStreamCreate(0));
    let gate = Gate::new();
    gate.block(CU_STREAM_LEGACY);
    let after = Flag::new();
    after.set_on(CU_STREAM_PER_THREAD, 1);
    std::thread::sleep(Duration::from_millis(20));
    assert_eq!(after.get(), 0, "it waits for the legacy stream");
    gate.open();
    ok!(cuStreamSynchronize(CU_STREAM_PER_THREAD));
    assert_eq!(after.get(), 1);

    let gate = Gate::new();
    gate.block(CU_STREAM_PER_THREAD);
    let (after, beside) = (Flag::new(), Flag::new());
    beside.set_on(blocking, 1);
    ok!(cuStreamSynchronize(blocking));
    assert_eq!(beside.get(), 1, "another blocking stream does not care");
    after.set_on(CU_STREAM_LEGACY, 1);
    std::thread::sleep(Duration::from_millis(20));
    assert_eq!(after.get(), 0, "the legacy stream waits for it");
    gate.open();
    ok!(cuStreamSynchronize(CU_STREAM_LEGACY));
    assert_eq!(after.get(), 1);
    ok!(cuStreamDestroy_v2(blocking));
}

/// The function that a name stands for where the null stream is the calling thread's own, or the legacy one.
fn lookup(name: &core::ffi::CStr, flags: u64) -> *mut c_void {
    let mut address = null_mut();
    let mut status = CUdriverProcAddressQueryResult_enum(9);
    ok!(cuGetProcAddress_v2(
        name.as_ptr(),
        &mut address,
        12000,
        flags,
        &mut status
    ));
    assert!(!address.is_null());
    address
}

#[test]
fn two_threads_share_the_null_stream_or_have_one_each() {
    // covers: DRV-21, STREAM-09
    type LaunchHostFunc = unsafe extern "C" fn(CUstream, CUhostFn, *mut c_void) -> CUresult;
    type Memset = unsafe extern "C" fn(CUdeviceptr, c_uint, usize, CUstream) -> CUresult;
    type Query = unsafe extern "C" fn(CUstream) -> CUresult;
    let _turn = turn();
    gpu();
    let null = null_mut::<c_void>() as CUstream;
    const LEGACY: u64 = 1;
    const PER_THREAD: u64 = 2;
    for flags in [LEGACY, PER_THREAD] {
        // SAFETY: the driver answered with the functions of these names, whose types these are.
        let (launch, memset, query) = unsafe {
            (
                core::mem::transmute::<*mut c_void, LaunchHostFunc>(lookup(
                    c"cuLaunchHostFunc",
                    flags,
                )),
                core::mem::transmute::<*mut c_void, Memset>(lookup(c"cuMemsetD32Async", flags)),
                core::mem::transmute::<*mut c_void, Query>(lookup(c"cuStreamQuery", flags)),
            )
        };
        let gate = Gate::new();
        let (function, data) = gate.as_host_function();
        // SAFETY: the gate is leaked.
        assert_eq!(unsafe { launch(null, function, data) }.0, 0);
        std::thread::spawn(move || {
            gpu();
            let flag = Flag::new();
            // SAFETY: the word is page-locked and lives for the test.
            assert_eq!(unsafe { memset(flag.address(), 1, 1, null_mut()) }.0, 0);
            // SAFETY: the null stream is always there.
            let is_done = || unsafe { query(null_mut()) }.0 == 0;
            if flags == PER_THREAD {
                while !is_done() {
                    std::thread::yield_now();
                }
                assert_eq!(flag.get(), 1, "its own stream passes the gate");
                gate.open();
            } else {
                std::thread::sleep(Duration::from_millis(20));
                assert!(!is_done() && flag.get() == 0, "the gate is in its stream");
                gate.open();
                while !is_done() {
                    std::thread::yield_now();
                }
                assert_eq!(flag.get(), 1);
            }
        })
        .join()
        .unwrap();
        ok!(cuCtxSynchronize());
    }
}

#[test]
fn the_legacy_stream_cannot_be_used_while_a_blocking_one_is_captured() {
    let _turn = turn();
    gpu();
    let blocking: CUstream = get!(cuStreamCreate(0));
    let flag = Flag::new();
    for mode in [
        CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_GLOBAL,
        CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL,
    ] {
        let mut graph = null_mut();
        fails!(900, cuStreamBeginCapture_v2(CU_STREAM_LEGACY, mode));
        fails!(900, cuStreamBeginCapture_v2(null_mut(), mode));
        ok!(cuStreamBeginCapture_v2(blocking, mode));
        fails!(
            906,
            cuMemsetD32Async(flag.address(), 1, 1, CU_STREAM_LEGACY)
        );
        fails!(901, cuStreamEndCapture(blocking, &mut graph));
        ok!(cuMemsetD32Async(flag.address(), 1, 1, CU_STREAM_LEGACY));
        ok!(cuStreamSynchronize(CU_STREAM_LEGACY));
    }
    ok!(cuStreamDestroy_v2(blocking));
}

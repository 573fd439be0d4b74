//! Faults, and what ends them.

use super::*;

#[test]
fn a_fault_stays_until_the_context_is_reset_and_says_what_happened() {
    // covers: ERROR-02
    let _turn = turn();
    if gpu() == Backend::Cuda {
        // There it would end this process's use of the device.
        return;
    }
    let context: CUcontext = get!(cuCtxCreate_v2(0, 0));
    assert!(warpsmith_driver::configure_simulator("stderr", "off"));
    let module = module();
    let kernel = function(module, "store");
    let memory: CUdeviceptr = get!(cuMemAlloc_v2(400));
    let stream = stream();
    assert_eq!(
        store(kernel, stream, memory, 101, 0).0,
        0,
        "the launch itself is fine"
    );
    fails!(700, cuStreamSynchronize(stream));
    let mut other = 0;
    fails!(700, cuMemAlloc_v2(&mut other, 16));
    let report = warpsmith_driver::simulator_report().expect("a report");
    assert!(report.contains("store"), "{report}");
    assert!(
        report.contains("cuMemAlloc"),
        "the allocation that was missed: {report}"
    );
    assert!(report.contains("400"), "{report}");
    ok!(cuCtxDestroy_v2(context));

    // A freed allocation is told apart.
    let context: CUcontext = get!(cuCtxCreate_v2(0, 0));
    let kernel = function(load(&format!("{HEAD}{KERNELS}")), "store");
    let memory: CUdeviceptr = get!(cuMemAlloc_v2(400));
    ok!(cuMemFree_v2(memory));
    assert_eq!(store(kernel, null_mut(), memory, 4, 0).0, 0);
    fails!(700, cuCtxSynchronize());
    let report = warpsmith_driver::simulator_report().unwrap();
    assert!(report.contains("freed"), "{report}");
    ok!(cuCtxDestroy_v2(context));

    // And no address at all brings the process down.
    for wild in [0u64, 8, 0x10, 0xdead_0000, 1 << 46, u64::MAX - 3] {
        let context: CUcontext = get!(cuCtxCreate_v2(0, 0));
        let kernel = function(load(&format!("{HEAD}{KERNELS}")), "store");
        assert_eq!(store(kernel, null_mut(), wild, 4, 0).0, 0);
        // SAFETY: waiting has no arguments.
        let result = unsafe { cuCtxSynchronize() };
        assert!(
            (700..=719).contains(&result.0),
            "address {wild:#x}: {}",
            result.0
        );
        ok!(cuCtxDestroy_v2(context));
    }
    ok!(cuCtxSynchronize());
}

#[test]
fn resetting_the_primary_context_heals() {
    let _turn = turn();
    if gpu() == Backend::Cuda {
        return;
    }
    // A process of its own: the primary context is everybody's.
    let Side::Child = own_process(&[]) else {
        return;
    };
    let stop = function(module(), "stop");
    ok!(cuLaunchKernel(
        stop,
        1,
        1,
        1,
        1,
        1,
        1,
        0,
        null_mut(),
        null_mut(),
        null_mut()
    ));
    fails!(719, cuCtxSynchronize());
    let mut memory = 0;
    fails!(719, cuMemAlloc_v2(&mut memory, 16));
    ok!(cuDevicePrimaryCtxReset_v2(0));
    ok!(cuMemAlloc_v2(&mut memory, 16));
    fails!(
        400,
        cuLaunchKernel(
            stop,
            1,
            1,
            1,
            1,
            1,
            1,
            0,
            null_mut(),
            null_mut(),
            null_mut()
        )
    );
    let kernel = function(module(), "store");
    let memory = upload(&[0u32; 4]);
    assert_eq!(store(kernel, null_mut(), memory, 4, 1).0, 0);
    ok!(cuCtxSynchronize());
    assert_eq!(download::<u32>(memory, 4), [1, 2, 3, 4]);
}

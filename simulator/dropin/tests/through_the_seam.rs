//! The drop-in as the driver seam meets it: a CUDA driver whose library has functions of its own beside the driver's.

use std::process::Command;

use warpsmith_abi::fault::FaultKind;
use warpsmith_driver::raw::*;
use warpsmith_driver::{Backend, Choice};

const TRAP: &core::ffi::CStr =
    c".version 7.8\n.target sm_90\n.address_size 64\n.visible .entry stop() { trap; ret; }\n";

/// The seam reads its environment once in a process, so the test runs again in a child.
#[test]
fn a_fault_in_the_library_reaches_the_program_as_data() {
    if std::env::var_os("WARPSMITH_TEST_CHILD").is_some() {
        return in_the_library();
    }
    let output = Command::new(std::env::current_exe().expect("the test has a path"))
        .args([
            "--exact",
            "a_fault_in_the_library_reaches_the_program_as_data",
            "--nocapture",
        ])
        .env("WARPSMITH_TEST_CHILD", "1")
        .env(
            "WARPSMITH_CUDA_LIBRARY",
            warpsmith_testkit::dropin::library(),
        )
        .output()
        .expect("the test starts");
    assert!(
        output.status.success(),
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}

fn in_the_library() {
    assert_eq!(
        warpsmith_driver::select(Choice::Cuda).expect("the library"),
        Backend::Cuda
    );
    assert!(warpsmith_driver::configure_simulator("stderr", "off"));
    let mut context = core::ptr::null_mut();
    let mut module = core::ptr::null_mut();
    let mut function = core::ptr::null_mut();
    let none = core::ptr::null_mut();
    // SAFETY: all results are local variables, the texts end in a zero byte, and the kernel has no parameters.
    let results = unsafe {
        [
            cuInit(0),
            cuCtxCreate_v2(&mut context, 0, 0),
            cuModuleLoadData(&mut module, TRAP.as_ptr().cast()),
            cuModuleGetFunction(&mut function, module, c"stop".as_ptr()),
            cuLaunchKernel(
                function,
                1,
                1,
                1,
                1,
                1,
                1,
                0,
                none,
                core::ptr::null_mut(),
                core::ptr::null_mut(),
            ),
        ]
    };
    assert_eq!(results, [CUresult::CUDA_SUCCESS; 5]);
    // SAFETY: the call has no arguments, and a context is current.
    let result = unsafe { cuCtxSynchronize() };
    assert_eq!(result, CUresult::CUDA_ERROR_LAUNCH_FAILED);
    let fault = warpsmith_driver::fault(context).expect("the context's fault");
    assert_eq!(fault.kind, FaultKind::Trap);
    assert_eq!(fault.origin.expect("a kernel's fault").kernel, "stop");
    let report = warpsmith_driver::simulator_report().expect("its text");
    assert!(report.contains("in kernel stop"), "{report}");
}

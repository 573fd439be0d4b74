//! Faults as data: what the seam hands on of what the simulator knows.

mod common;
use common::*;

use warpsmith_abi::fault::{AccessKind, Fault, FaultKind, MemorySpace};
use warpsmith_driver::fault;
use warpsmith_testkit::process::{is_child, run_in_child};

const PTX: &core::ffi::CStr = c"
.version 7.8
.target sm_90
.address_size 64
.visible .entry stop()
{
    trap;
    ret;
}
.visible .entry write_behind(.param .u64 out)
{
    .reg .b32 %r<2>; .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, 1;
    st.global.u32 [%rd1+16], %r1;
    ret;
}
.visible .entry collide(.param .u64 out)
{
    .reg .b32 %r<2>; .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    st.global.u32 [%rd1], %r1;
    ret;
}
";

/// Makes a context and runs the kernel there, which has to fail with this code.
fn failed_context(kernel: &core::ffi::CStr, argument: impl Fn() -> u64, code: u32) -> CUcontext {
    let context: CUcontext = get!(cuCtxCreate_v2(0, 0));
    let module: CUmodule = get!(cuModuleLoadData(PTX.as_ptr().cast()));
    let function: CUfunction = get!(cuModuleGetFunction(module, kernel.as_ptr()));
    let mut argument = argument();
    let mut parameters: [*mut c_void; 1] = [(&raw mut argument).cast()];
    ok!(cuLaunchKernel(
        function,
        1,
        1,
        1,
        1,
        1,
        1,
        0,
        null_mut(),
        parameters.as_mut_ptr(),
        null_mut()
    ));
    fails!(code, cuCtxSynchronize());
    context
}

fn kernel(fault: &Fault) -> &str {
    &fault.origin.as_ref().expect("a kernel's fault").kernel
}

#[test]
fn each_context_keeps_its_own_fault() {
    // covers: ERROR-02
    if gpu() == Backend::Cuda {
        assert_eq!(fault(null_mut()), None, "only the simulator tells");
        return;
    }
    assert_eq!(fault(null_mut()), None, "nothing has happened");
    assert!(warpsmith_driver::configure_simulator("stderr", "off"));
    let trapped = failed_context(c"stop", || 0, 719);
    let strayed = failed_context(c"write_behind", || get!(cuMemAlloc_v2(16)), 700);

    let stop = fault(trapped).expect("a trap is a fault");
    assert_eq!((stop.kind, kernel(&stop)), (FaultKind::Trap, "stop"));
    assert_eq!(stop.access, None);
    let write = fault(strayed).expect("a write behind an allocation is a fault");
    assert_eq!(
        (write.kind, kernel(&write)),
        (FaultKind::IllegalAddress, "write_behind")
    );
    let access = write.access.as_ref().expect("the write");
    assert_eq!(
        (access.kind, access.space, access.size),
        (AccessKind::Write, MemorySpace::Global, 4)
    );
    let nearest = access.nearest.as_ref().expect("the allocation");
    assert_eq!(
        (access.address - nearest.base, nearest.size, nearest.freed),
        (16, 16, false)
    );

    // The later context is current: it is meant where none is named, also by the report, which is the same in words.
    assert_eq!(fault(null_mut()).as_ref(), Some(&write));
    assert_eq!(
        warpsmith_driver::simulator_report(),
        Some(write.to_string())
    );
    ok!(cuCtxSetCurrent(trapped));
    assert_eq!(fault(null_mut()).as_ref(), Some(&stop));

    for context in [trapped, strayed] {
        ok!(cuCtxDestroy_v2(context));
        assert_eq!(fault(context), None, "a destroyed context has no fault");
    }
    gpu();
    assert_eq!(
        fault(null_mut()),
        None,
        "the primary context did nothing wrong"
    );
}

#[test]
fn a_note_is_printed_once_and_fails_nothing() {
    if !is_child() {
        let name = "a_note_is_printed_once_and_fails_nothing";
        let text = run_in_child(name, &[]).expect_success().text();
        let notes = text.matches("write different values to the same 4 bytes");
        let expected = usize::from(gpu() == Backend::Simulator);
        assert_eq!(notes.count(), expected, "{text}");
        return;
    }
    gpu();
    let module: CUmodule = get!(cuModuleLoadData(PTX.as_ptr().cast()));
    let function: CUfunction = get!(cuModuleGetFunction(module, c"collide".as_ptr()));
    let mut address: u64 = get!(cuMemAlloc_v2(4));
    let mut parameters: [*mut c_void; 1] = [(&raw mut address).cast()];
    for _ in 0..3 {
        ok!(cuLaunchKernel(
            function,
            2,
            1,
            1,
            32,
            1,
            1,
            0,
            null_mut(),
            parameters.as_mut_ptr(),
            null_mut()
        ));
        ok!(cuCtxSynchronize());
    }
}

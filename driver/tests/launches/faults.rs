//! Faults as data: what the seam hands on of what the simulator knows.

use crate::common::*;
use warpsmith_abi::fault::{AccessKind, Fault, FaultKind, MemorySpace};
use warpsmith_driver::fault;
use warpsmith_testkit::process::{calling_test, is_child, run_in_child};
use warpsmith_testkit::{Side, own_process};

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
.func (.param .b32 sum) endless(.param .b32 depth)
{
    .local .align 4 .b8 kept[64];
    .reg .b32 %r<5>;
    ld.param.b32 %r1, [depth];
    st.local.u32 [kept], %r1;
    add.u32 %r2, %r1, 1;
    {
        .param .b32 a; .param .b32 b;
        st.param.b32 [a], %r2;
        call.uni (b), endless, (a);
        ld.param.b32 %r3, [b];
    }
    ld.local.u32 %r4, [kept];
    add.u32 %r3, %r3, %r4;
    st.param.b32 [sum], %r3;
    ret;
}
.visible .entry deep(.param .u64 out)
{
    .reg .b32 %r<2>; .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [out];
    {
        .param .b32 a; .param .b32 b;
        st.param.b32 [a], 0;
        call.uni (b), endless, (a);
        ld.param.b32 %r1, [b];
    }
    st.global.u32 [%rd1], %r1;
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
    let _turn = turn();
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
        let text = run_in_child(&calling_test(), &[]).expect_success().text();
        let notes = text.matches("write different values to the same 4 bytes");
        let expected = usize::from(gpu() == Backend::Simulator);
        assert_eq!(notes.count(), expected, "{text}");
        return;
    }
    let _turn = turn();
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

/// In a process of its own: the context is lost.
#[test]
fn a_recursion_without_end_is_a_fault() {
    // covers: ERROR-07
    let Side::Child = own_process(&[("WARPSMITH_REPORT", "0")]) else {
        return;
    };
    let _turn = turn();
    let backend = gpu();
    let module: CUmodule = get!(cuModuleLoadData(PTX.as_ptr().cast()));
    let function: CUfunction = get!(cuModuleGetFunction(module, c"deep".as_ptr()));
    let mut out: CUdeviceptr = get!(cuMemAlloc_v2(4));
    let mut parameters: [*mut c_void; 1] = [(&raw mut out).cast()];
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
    // SAFETY: waiting has no arguments.
    let result = unsafe { cuCtxSynchronize() };
    // Which of the codes of a failed kernel it is, is not documented.
    assert!((700..=719).contains(&result.0), "{}", result.0);
    fails!(result.0, cuMemAlloc_v2(&mut 0, 16));
    if backend == Backend::Simulator {
        let report = warpsmith_driver::simulator_report().expect("a report");
        assert!(
            report.contains("stack overflow in the call of endless"),
            "{report}"
        );
        assert!(
            report.matches("called from endless").count() > 1,
            "{report}"
        );
        assert!(report.contains("in kernel deep"), "{report}");
    }
}

/// A module with a managed variable, and one whose kernel writes where it is told.
const MANAGED: &core::ffi::CStr = c"
.version 7.8
.target sm_90
.address_size 64
.visible .global .attribute(.managed) .align 4 .u32 counter = 5;
.visible .entry count()
{
    .reg .b32 %r<2>;
    atom.global.add.u32 %r1, [counter], 1;
    ret;
}
";

/// In a process of its own: the context is lost.
#[test]
fn a_managed_variable_goes_with_its_module() {
    // covers: UM-10
    let Side::Child = own_process(&[("WARPSMITH_REPORT", "0")]) else {
        return;
    };
    let _turn = turn();
    let backend = gpu();
    let module: CUmodule = get!(cuModuleLoadData(MANAGED.as_ptr().cast()));
    let count: CUfunction = get!(cuModuleGetFunction(module, c"count".as_ptr()));
    let (mut address, mut bytes): (CUdeviceptr, usize) = (0, 0);
    ok!(cuModuleGetGlobal_v2(
        &mut address,
        &mut bytes,
        module,
        c"counter".as_ptr()
    ));
    assert_eq!(bytes, 4);
    // The host reads and writes it at its address, between kernels.
    let counter = address as *mut u32;
    // SAFETY: the module is loaded, so the word exists; no kernel runs.
    unsafe {
        assert_eq!(counter.read_volatile(), 5);
        counter.write_volatile(1234);
    }
    let mut none: [*mut c_void; 0] = [];
    let launch = |function, parameters: *mut *mut c_void| {
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
            parameters,
            null_mut()
        ));
    };
    launch(count, none.as_mut_ptr());
    ok!(cuCtxSynchronize());
    // SAFETY: the module is loaded, so the word exists; the kernel has been waited for.
    assert_eq!(unsafe { counter.read_volatile() }, 1235);
    ok!(cuModuleUnload(module));
    if backend == Backend::Cuda {
        // What is at the address then, a driver does not say.
        return;
    }
    let other: CUmodule = get!(cuModuleLoadData(PTX.as_ptr().cast()));
    let write: CUfunction = get!(cuModuleGetFunction(other, c"write_behind".as_ptr()));
    // It writes 16 bytes behind.
    let mut argument = address - 16;
    launch(write, [(&raw mut argument).cast::<c_void>()].as_mut_ptr());
    fails!(700, cuCtxSynchronize());
    let fault = fault(null_mut()).expect("the write is a fault");
    let access = fault.access.as_ref().expect("the write");
    assert_eq!(access.address, address);
    let nearest = access.nearest.as_ref().expect("the variable");
    assert_eq!((nearest.base, nearest.freed), (address, true));
    let report = fault.to_string();
    assert!(
        report.contains("managed memory of") && report.contains("freed by cuModuleUnload"),
        "{report}"
    );
}

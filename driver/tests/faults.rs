//! Faults of the simulator as data: each context has its own, with the thread, the access, both sides of a race, and the source
//! locations with the calls that were inlined around them.

mod common;
use std::ffi::CString;
use std::sync::Barrier;

use common::*;
use warpsmith_abi::fault::{
    AccessKind, Fault, FaultKind, InlinedCall, MemorySpace, SourceLocation,
};

const KERNELS: &str = r#"
.version 7.8
.target sm_90
.address_size 64
.file 1 "/src/kernel.rs"
.file 2 "/src/vector.rs"
.visible .entry store(.param .u64 out)
{
    .reg .b32 %r<2>; .reg .b64 %rd<4>;
    .loc 1 3 1
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    .loc 1 5 9
    .loc 2 40 13, function_name $names, inlined_at 1 5 9
    st.global.u32 [%rd3], %r1;
    ret;
}
.visible .entry stop()
{
    .loc 1 20 5
    trap;
}
.visible .entry race()
{
    .reg .b32 %r<3>;
    .shared .align 4 .b8 tile[4];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, tile;
    .loc 1 30 5
    st.shared.u32 [%r2], %r1;
    .loc 1 31 5
    bar.warp.sync -1;
    ret;
}
.section .debug_str
{
$names:
.b8 95,90,78,54,118,101,99,116,111,114,53,119,114,105,116,101,49,55,104,48,49,50,51,52,53,54,55,56,57,97,98,99,100,101,102,69
.b8 0
}
"#;

/// On a GPU a fault ends the process's use of the device, and there is no data about it.
fn is_gpu() -> bool {
    gpu() == Backend::Cuda
}

/// A context of its own, made current, with the kernels in it.
fn context() -> (CUcontext, CUmodule) {
    assert!(warpsmith_driver::configure_simulator("stderr", "off"));
    let context: CUcontext = get!(cuCtxCreate_v2(0, 0));
    let ptx = CString::new(KERNELS).unwrap();
    (context, get!(cuModuleLoadData(ptx.as_ptr().cast())))
}

/// Launches a kernel with at most one parameter, in one block, on the legacy stream.
fn launch(module: CUmodule, name: &str, threads: u32, mut parameter: u64) {
    let name = CString::new(name).unwrap();
    let function: CUfunction = get!(cuModuleGetFunction(module, name.as_ptr()));
    let mut parameters: [*mut c_void; 1] = [(&raw mut parameter).cast()];
    ok!(cuLaunchKernel(
        function,
        1,
        1,
        1,
        threads,
        1,
        1,
        0,
        null_mut(),
        parameters.as_mut_ptr(),
        null_mut()
    ));
}

/// Waits for the current context's work and expects any error.
fn fail() {
    // SAFETY: waiting has no arguments.
    assert_ne!(unsafe { cuCtxSynchronize() }.0, 0);
}

fn at(file: &str, line: u32, column: u32, fault: &Fault) -> SourceLocation {
    SourceLocation {
        file: file.into(),
        line,
        column,
        ptx_line: fault.location().expect("a location").ptx_line,
    }
}

#[test]
fn each_context_has_its_own_fault() {
    if is_gpu() {
        return;
    }
    let (first, module) = context();
    let memory: CUdeviceptr = get!(cuMemAlloc_v2(400));
    launch(module, "store", 128, memory);
    fail();
    let (second, module) = context();
    assert_eq!(warpsmith_driver::fault(second), None);
    launch(module, "stop", 1, 0);
    fail();

    let missed = warpsmith_driver::fault(first).expect("the store missed its buffer");
    assert_eq!(missed.kind, FaultKind::IllegalAddress);
    let origin = missed.origin.as_ref().expect("a kernel did it");
    assert_eq!(
        (origin.kernel.as_str(), origin.block, origin.thread),
        ("store", [0; 3], [100, 0, 0])
    );
    let access = missed.access.as_ref().expect("an access failed");
    assert_eq!(
        (access.kind, access.space, access.address, access.size),
        (AccessKind::Write, MemorySpace::Global, memory + 400, 4)
    );
    let nearest = access.nearest.as_ref().expect("there is an allocation");
    assert_eq!(
        (nearest.base, nearest.size, nearest.freed),
        (memory, 400, false)
    );
    assert!(nearest.what.contains("cuMemAlloc"), "{}", nearest.what);

    let trapped = warpsmith_driver::fault(null_mut()).expect("the current context's");
    assert_eq!(Some(&trapped), warpsmith_driver::fault(second).as_ref());
    assert_eq!(trapped.kind, FaultKind::Trap);
    assert_eq!(
        trapped.location(),
        Some(&at("/src/kernel.rs", 20, 5, &trapped))
    );

    // The report is the current context's.
    let report = || warpsmith_driver::simulator_report().expect("a report");
    assert_eq!(report(), trapped.to_string());
    ok!(cuCtxSetCurrent(first));
    assert_eq!(report(), missed.to_string());
    let lines: Vec<&str> = missed.notes.iter().map(String::as_str).collect();
    assert_eq!(lines, [""; 0]);
    ok!(cuCtxDestroy_v2(first));
    ok!(cuCtxDestroy_v2(second));
    assert_eq!(
        warpsmith_driver::fault(first),
        None,
        "it ended with its context"
    );
}

#[test]
fn locations_come_with_the_calls_that_were_inlined() {
    if is_gpu() {
        return;
    }
    let (context, module) = context();
    launch(module, "store", 1, 0x10);
    fail();
    let fault = warpsmith_driver::fault(context).expect("a fault");
    let origin = fault.origin.as_ref().expect("a kernel did it");
    assert_eq!(origin.frames.len(), 1);
    let frame = &origin.frames[0];
    assert_eq!(frame.function, "store");
    assert_eq!(frame.location, Some(at("/src/vector.rs", 40, 13, &fault)));
    let call = InlinedCall {
        function: Some("vector::write".into()),
        call: SourceLocation {
            ptx_line: 0,
            ..at("/src/kernel.rs", 5, 9, &fault)
        },
    };
    assert_eq!(frame.inlined, [call]);
    ok!(cuCtxDestroy_v2(context));
}

#[test]
fn a_race_has_two_sides() {
    if is_gpu() {
        return;
    }
    let (context, module) = context();
    launch(module, "race", 64, 0);
    fail();
    let fault = warpsmith_driver::fault(context).expect("a fault");
    assert_eq!(fault.kind, FaultKind::Race);
    let (here, there) = (
        fault.origin.as_ref().expect("a kernel did it"),
        fault.other.as_ref().expect("a race has two sides"),
    );
    assert_eq!((here.block, there.block), ([0; 3], [0; 3]));
    assert_ne!(here.thread, there.thread);
    assert_eq!(there.what, "write");
    let frame = there.frames.first().expect("the other side's location");
    assert_eq!(frame.function, "race");
    assert_eq!(frame.location, Some(at("/src/kernel.rs", 30, 5, &fault)));
    let [x, y, z] = there.thread;
    let line =
        format!("it conflicts with the write by thread ({x},{y},{z}), at /src/kernel.rs:30:5");
    assert!(fault.to_string().contains(&line), "{fault}");
    ok!(cuCtxDestroy_v2(context));
}

#[test]
fn contexts_that_fail_at_the_same_time_do_not_swap_their_faults() {
    if is_gpu() {
        return;
    }
    const ROUNDS: usize = 20;
    let start = Barrier::new(2);
    let rounds = |kernel: &'static str, kind: FaultKind| {
        for _ in 0..ROUNDS {
            let (context, module) = context();
            start.wait();
            launch(module, kernel, 1, 0x10);
            fail();
            let fault = warpsmith_driver::fault(context).expect("its fault");
            assert_eq!(fault.kind, kind);
            assert_eq!(
                fault.origin.as_ref().expect("a kernel did it").kernel,
                kernel
            );
            assert_eq!(
                warpsmith_driver::simulator_report(),
                Some(fault.to_string())
            );
            ok!(cuCtxDestroy_v2(context));
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(|| rounds("store", FaultKind::IllegalAddress));
        scope.spawn(|| rounds("stop", FaultKind::Trap));
    });
}

#[test]
fn work_outside_of_kernels_has_faults_too() {
    if is_gpu() {
        return;
    }
    let (context, _) = context();
    let (from, to): (CUdeviceptr, CUdeviceptr) = (get!(cuMemAlloc_v2(64)), get!(cuMemAlloc_v2(64)));
    let stream = stream();
    let gate = Gate::new();
    gate.block(stream);
    ok!(cuMemcpyDtoDAsync_v2(to, from, 64, stream));
    let other = common::stream();
    // A stream-ordered free does not wait for the copy.
    ok!(cuMemFreeAsync(from, other));
    ok!(cuStreamSynchronize(other));
    gate.open();
    fails!(700, cuStreamSynchronize(stream));
    let fault = warpsmith_driver::fault(context).expect("a fault");
    assert_eq!(fault.origin, None);
    assert_eq!(
        fault.message,
        format!("a copy of 64 bytes started after its source at {from:#x} had been freed")
    );
    ok!(cuCtxDestroy_v2(context));
}

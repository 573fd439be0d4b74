//! Kernels that must run beside each other, and when they are loaded. Each test is a process of its own: the variables are read once.

use crate::common::*;
use warpsmith_abi::fault::FaultKind;
use warpsmith_driver::{fault, simulator_report};
use warpsmith_testkit::process::{calling_test, is_child, run_in_child};

/// `wait` spins until the word is set, which `set` does.
const PTX: &core::ffi::CStr = c"
.version 8.0
.target sm_90
.address_size 64
.visible .entry wait(.param .u64 word)
{
    .reg .b32 %r; .reg .b64 %a; .reg .pred %p;
    ld.param.u64 %a, [word];
again:
    ld.acquire.gpu.global.u32 %r, [%a];
    setp.eq.u32 %p, %r, 0;
    @%p bra again;
    st.global.u32 [%a+4], %r;
    ret;
}
.visible .entry set(.param .u64 word)
{
    .reg .b64 %a;
    ld.param.u64 %a, [word];
    st.release.gpu.global.u32 [%a], 5;
    ret;
}
";

fn load() -> CUmodule {
    get!(cuModuleLoadData(PTX.as_ptr().cast()))
}

fn launch(kernel: CUfunction, stream: CUstream, mut word: CUdeviceptr) {
    let mut parameters = [(&raw mut word).cast()];
    ok!(cuLaunchKernel(
        kernel,
        1,
        1,
        1,
        1,
        1,
        1,
        0,
        stream,
        parameters.as_mut_ptr(),
        null_mut()
    ));
}

fn zeros() -> CUdeviceptr {
    upload(&[0u32; 2])
}

/// Runs the calling test in processes with these variables each; true in one of them.
fn in_children(all: &[&[(&str, &str)]]) -> bool {
    if is_child() {
        return true;
    }
    for variables in all {
        run_in_child(&calling_test(), variables);
    }
    false
}

const CHECKED: [(&str, &str); 3] = [
    ("WARPSMITH_CHECKS", "default,loading"),
    ("WARPSMITH_PATIENCE", "0.5"),
    ("WARPSMITH_REPORT", "0"),
];

#[test]
fn kernels_that_were_loaded_before_run_beside_each_other() {
    // covers: LAZY-05
    if !in_children(&[&CHECKED, &[("CUDA_MODULE_LOADING", "EAGER")]]) {
        return;
    }
    let _turn = turn();
    gpu();
    let module = load();
    let [wait, set] = [c"wait", c"set"].map(|name| {
        let kernel: CUfunction = get!(cuModuleGetFunction(module, name.as_ptr()));
        ok!(cuFuncLoad(kernel));
        kernel
    });
    let word = zeros();
    launch(wait, stream(), word);
    launch(set, stream(), word);
    ok!(cuCtxSynchronize());
    assert_eq!(download::<u32>(word, 2), [5, 5]);
    // Where all is loaded with the module, a lookup loads nothing, and waits for nothing.
    if std::env::var_os("CUDA_MODULE_LOADING").is_some() {
        let (word, module) = (zeros(), load());
        launch(wait, stream(), word);
        let other: CUfunction = get!(cuModuleGetFunction(module, c"set".as_ptr()));
        launch(other, stream(), word);
        ok!(cuCtxSynchronize());
    }
}

#[test]
fn a_load_that_waits_for_a_kernel_that_waits_for_it_is_named() {
    // covers: LAZY-05
    let _turn = turn();
    if !in_children(&[&CHECKED]) || gpu() == Backend::Cuda {
        return;
    }
    let context: CUcontext = get!(cuCtxCreate_v2(0, 0));
    let module = load();
    let wait: CUfunction = get!(cuModuleGetFunction(module, c"wait".as_ptr()));
    launch(wait, stream(), zeros());
    let mut set = null_mut();
    fails!(719, cuModuleGetFunction(&mut set, module, c"set".as_ptr()));
    let found = fault(context).expect("a deadlock");
    assert_eq!(found.kind, FaultKind::Deadlock, "{found}");
    let text = found.to_string();
    for part in [
        "wait",
        "the load of kernel `set` (cuModuleGetFunction) waits for the context's work",
        "Module::preload",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    ok!(cuCtxDestroy_v2(context));

    // What waits for the host is no deadlock of a kernel: it is named, and the load goes on.
    let context: CUcontext = get!(cuCtxCreate_v2(0, 0));
    let module = load();
    let held = stream();
    let gate = Gate::new();
    gate.block(held);
    let _set: CUfunction = get!(cuModuleGetFunction(module, c"set".as_ptr()));
    let report = simulator_report().expect("a report");
    let of_stream = format!("stream {:#x}", held as usize);
    assert!(
        report.starts_with("the load of kernel `set`") && report.contains(&of_stream),
        "{report}"
    );
    gate.open();
    ok!(cuCtxSynchronize());
    ok!(cuCtxDestroy_v2(context));
}

#[test]
fn without_the_check_a_load_waits_for_nothing() {
    // A GPU may wait.
    let _turn = turn();
    if !in_children(&[&[("WARPSMITH_CHECKS", "all")]]) || gpu() == Backend::Cuda {
        return;
    }
    let module = load();
    let (word, first) = (zeros(), stream());
    let wait: CUfunction = get!(cuModuleGetFunction(module, c"wait".as_ptr()));
    launch(wait, first, word);
    let set: CUfunction = get!(cuModuleGetFunction(module, c"set".as_ptr()));
    launch(set, stream(), word);
    ok!(cuCtxSynchronize());
    assert_eq!(download::<u32>(word, 2), [5, 5]);
}

/// `read` of a table of 32 MiB.
const LARGE: &core::ffi::CStr = c"
.version 8.0
.target sm_90
.address_size 64
.visible .global .align 4 .b8 table[33554432];
.visible .entry read(.param .u64 word)
{
    .reg .b32 %r; .reg .b64 %a;
    ld.param.u64 %a, [word];
    ld.global.u32 %r, [table];
    st.global.u32 [%a], %r;
    ret;
}
";

#[test]
fn a_program_that_takes_all_memory_first_cannot_load_later() {
    // covers: LAZY-06
    if !in_children(&[&[
        ("WARPSMITH_DEVICE", "simulator"),
        ("WARPSMITH_SIMULATOR_MEMORY", "96M"),
    ]]) {
        return;
    }
    let _turn = turn();
    gpu();
    let word = zeros();
    let most = || {
        let (mut free, mut total) = (0, 0);
        ok!(cuMemGetInfo_v2(&mut free, &mut total));
        get!(cuMemAlloc_v2(free & !0x1f_ffff))
    };
    let all: CUdeviceptr = most();
    let mut module = null_mut();
    fails!(2, cuModuleLoadData(&mut module, LARGE.as_ptr().cast()));
    // What is loaded before has its memory.
    ok!(cuMemFree_v2(all));
    ok!(cuModuleLoadData(&mut module, LARGE.as_ptr().cast()));
    let read: CUfunction = get!(cuModuleGetFunction(module, c"read".as_ptr()));
    ok!(cuFuncLoad(read));
    let rest: CUdeviceptr = most();
    launch(read, stream(), word);
    ok!(cuCtxSynchronize());
    assert_eq!(download::<u32>(word, 1), [0]);
    ok!(cuMemFree_v2(rest));
}

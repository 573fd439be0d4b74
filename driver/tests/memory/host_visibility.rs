//! What the host sees of a kernel that still runs: by releases and acquires whose scopes add up to it, and by none that are too narrow.

use crate::common::*;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use warpsmith_abi::fault::FaultKind;
use warpsmith_driver::fault;
use warpsmith_testkit::process::{calling_test, is_child, run_in_child};

/// Thread 1 is block 0, thread 2 is block 1, or each is a kernel of its own.
const PTX: &core::ffi::CStr = c"
.version 8.0
.target sm_90
.address_size 64

.visible .entry chain(.param .u64 data, .param .u64 near, .param .u64 far, .param .u32 count)
{
    .reg .b32 %r<6>; .reg .b64 %a<5>; .reg .pred %p;
    ld.param.u64 %a0, [data];
    ld.param.u64 %a1, [near];
    ld.param.u64 %a2, [far];
    ld.param.u32 %r0, [count];
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, 0;
    setp.ne.u32 %p, %r1, 0;
    @%p bra second;
first:
    add.u32 %r2, %r2, 1;
    mul.lo.u32 %r3, %r2, 3;
    mul.wide.u32 %a3, %r2, 4;
    add.u64 %a4, %a0, %a3;
    st.global.u32 [%a4], %r3;
    st.release.gpu.global.u32 [%a1], %r2;
    setp.lt.u32 %p, %r2, %r0;
    @%p bra first;
    ret;
second:
    ld.acquire.gpu.global.u32 %r3, [%a1];
    setp.eq.u32 %p, %r3, %r2;
    @%p bra second;
    mov.u32 %r2, %r3;
    st.release.sys.global.u32 [%a2], %r2;
    setp.lt.u32 %p, %r2, %r0;
    @%p bra second;
    ret;
}
.visible .entry chain_gpu(.param .u64 data, .param .u64 near, .param .u64 far)
{
    .reg .b32 %r<6>; .reg .b64 %a<5>; .reg .pred %p;
    ld.param.u64 %a0, [data];
    ld.param.u64 %a1, [near];
    ld.param.u64 %a2, [far];
    mov.u32 %r1, %ctaid.x;
    setp.ne.u32 %p, %r1, 0;
    @%p bra second;
    st.global.u32 [%a0+4], 3;
    st.release.gpu.global.u32 [%a1], 1;
    ret;
second:
    ld.acquire.gpu.global.u32 %r3, [%a1];
    setp.eq.u32 %p, %r3, 0;
    @%p bra second;
    st.release.gpu.global.u32 [%a2], %r3;
    ret;
}
.visible .entry first(.param .u64 data, .param .u64 near)
{
    .reg .b64 %a<2>;
    ld.param.u64 %a0, [data];
    ld.param.u64 %a1, [near];
    st.global.u32 [%a0+4], 3;
    st.release.gpu.global.u32 [%a1], 1;
    ret;
}
.visible .entry second_sys(.param .u64 near, .param .u64 far)
{
    .reg .b32 %r; .reg .b64 %a<2>; .reg .pred %p;
    ld.param.u64 %a0, [near];
    ld.param.u64 %a1, [far];
again:
    ld.acquire.gpu.global.u32 %r, [%a0];
    setp.eq.u32 %p, %r, 0;
    @%p bra again;
    st.release.sys.global.u32 [%a1], %r;
    ret;
}
.visible .entry second_gpu(.param .u64 near, .param .u64 far)
{
    .reg .b32 %r; .reg .b64 %a<2>; .reg .pred %p;
    ld.param.u64 %a0, [near];
    ld.param.u64 %a1, [far];
again:
    ld.acquire.gpu.global.u32 %r, [%a0];
    setp.eq.u32 %p, %r, 0;
    @%p bra again;
    st.release.gpu.global.u32 [%a1], %r;
    ret;
}
";

/// One atomic operation each.
const ATOMICS: &core::ffi::CStr = c"
.version 8.0
.target sm_90
.address_size 64
.visible .entry near(.param .u64 word)
{
    .reg .b64 %a;
    ld.param.u64 %a, [word];
    red.relaxed.gpu.global.add.u32 [%a], 1;
    ret;
}
.visible .entry far(.param .u64 word)
{
    .reg .b64 %a;
    ld.param.u64 %a, [word];
    red.relaxed.sys.global.add.u32 [%a], 1;
    ret;
}
";

fn launch(
    module: CUmodule,
    name: &core::ffi::CStr,
    blocks: c_uint,
    stream: CUstream,
    arguments: &[u64],
) {
    let kernel: CUfunction = get!(cuModuleGetFunction(module, name.as_ptr()));
    let mut arguments = arguments.to_vec();
    let mut parameters: Vec<*mut c_void> = arguments
        .iter_mut()
        .map(|argument| core::ptr::from_mut(argument).cast())
        .collect();
    ok!(cuLaunchKernel(
        kernel,
        blocks,
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

fn load() -> CUmodule {
    get!(cuModuleLoadData(PTX.as_ptr().cast()))
}

/// Waits until the word is not what it was; gives what it is.
fn next(word: &Word, before: u32) -> u32 {
    let end = Instant::now() + Duration::from_secs(60);
    loop {
        let now = word.load();
        if now != before {
            return now;
        }
        assert!(Instant::now() < end, "nobody writes the word: {before}");
        std::thread::yield_now();
    }
}

#[test]
fn the_host_sees_what_a_chain_of_releases_tells_it() {
    // covers: DOMAIN-01
    let _turn = turn();
    let count: u32 = match gpu() {
        Backend::Cuda => 100_000,
        Backend::Simulator => 5_000,
    };
    let module = load();
    let data = pinned::<u32>(count as usize + 1);
    let near: CUdeviceptr = get!(cuMemAlloc_v2(4));
    ok!(cuMemsetD32_v2(near, 0, 1));
    ok!(cuCtxSynchronize());
    let far = Word::new();
    let stream = stream();
    let arguments = [data as u64, near, far.address(), u64::from(count)];
    launch(module, c"chain", 2, stream, &arguments);
    let mut seen = 0;
    while seen < count {
        let told = next(&far, seen);
        assert!((seen + 1..=count).contains(&told), "{told} after {seen}");
        for number in seen + 1..=told {
            // SAFETY: page-locked memory of `count + 1` aligned words, which lives for the test; the kernel writes each once, before it says
            // so by `far`.
            let word = unsafe { AtomicU32::from_ptr(data.add(number as usize)) };
            assert_eq!(word.load(Ordering::Relaxed), number * 3, "told of {told}");
        }
        seen = told;
    }
    ok!(cuStreamSynchronize(stream));
}

#[test]
fn a_copy_that_the_host_begins_needs_a_release_that_reaches_the_host() {
    // covers: DOMAIN-01
    let _turn = turn();
    if gpu() == Backend::Cuda {
        // There such a program is right now and then, and nobody says that it is wrong.
        return;
    }
    assert!(warpsmith_driver::configure_simulator("stderr", "off"));
    let _checks = Checks::set("all");
    for (one_kernel, far_scope) in [(true, "sys"), (true, "gpu"), (false, "sys"), (false, "gpu")] {
        let context: CUcontext = get!(cuCtxCreate_v2(0, 0));
        let module = load();
        let near: CUdeviceptr = get!(cuMemAlloc_v2(4));
        let (data, copied) = (pinned::<u32>(16), pinned::<u32>(16));
        ok!(cuMemsetD32_v2(near, 0, 1));
        ok!(cuCtxSynchronize());
        let far = Word::new();
        let (data_address, far_address) = (data as u64, far.address());
        let (one, other) = (stream(), stream());
        match (one_kernel, far_scope) {
            (true, "sys") => {
                let arguments = [data_address, near, far_address, 1];
                launch(module, c"chain", 2, one, &arguments);
            }
            (true, _) => {
                let arguments = [data_address, near, far_address];
                launch(module, c"chain_gpu", 2, one, &arguments);
            }
            (false, scope) => {
                let second = if scope == "sys" {
                    c"second_sys"
                } else {
                    c"second_gpu"
                };
                launch(module, second, 1, other, &[near, far_address]);
                launch(module, c"first", 1, one, &[data_address, near]);
            }
        }
        // A load by the host itself, of which the simulator knows nothing; it knows of the copy that comes after it.
        next(&far, 0);
        let third = stream();
        // SAFETY: both ends are page-locked memory of 16 words, which lives for the test.
        let copied = unsafe { cuMemcpyHtoDAsync_v2(copied as u64, data.cast(), 64, third) };
        // What is found may be found before this call.
        assert!(matches!(copied.0, 0 | 719), "{copied:?}");
        match far_scope {
            "sys" => {
                ok!(cuCtxSynchronize());
                assert_eq!(fault(context), None);
            }
            _ => {
                fails!(719, cuCtxSynchronize());
                let found = fault(context).expect("a conflict");
                assert_eq!(found.kind, FaultKind::StreamOrder, "{found}");
                let text = found.to_string();
                let writer = if one_kernel { "chain_gpu" } else { "first" };
                assert!(
                    text.contains(writer) && text.contains("a copy of 64 bytes"),
                    "{text}"
                );
            }
        }
        ok!(cuCtxDestroy_v2(context));
    }
}

/// Atomic operations on all kinds of memory; those behind the line are too narrow.
fn count() {
    gpu();
    let module: CUmodule = get!(cuModuleLoadData(ATOMICS.as_ptr().cast()));
    let stream = stream();
    let device: CUdeviceptr = get!(cuMemAlloc_v2(4));
    let mapped = Word::new();
    launch(module, c"near", 1, stream, &[device]);
    launch(module, c"far", 4, stream, &[mapped.address()]);
    ok!(cuStreamSynchronize(stream));
    eprintln!("until here all was well");
    let mut plain = vec![0u32; 1024];
    let registered = plain.as_mut_ptr() as CUdeviceptr;
    ok!(cuMemHostRegister_v2(plain.as_mut_ptr().cast(), 4096, 0));
    for word in [mapped.address(), mapped.address(), registered] {
        launch(module, c"near", 1, stream, &[word]);
    }
    ok!(cuStreamSynchronize(stream));
    assert_eq!((mapped.load(), plain[0]), (6, 1));
    ok!(cuMemHostUnregister(plain.as_mut_ptr().cast()));
}

#[test]
fn an_atomic_operation_on_the_hosts_memory_that_leaves_the_host_out_is_noted() {
    // covers: PINNED-07
    if is_child() {
        return count();
    }
    let native = CUdevice_attribute::CU_DEVICE_ATTRIBUTE_HOST_NATIVE_ATOMIC_SUPPORTED;
    let _turn = turn();
    let backend = gpu();
    let is_native: c_int = get!(cuDeviceGetAttribute(native, 0));
    assert!(matches!(is_native, 0 | 1));
    let note = "note: an atomic operation of device scope on memory of the host";
    let variables: [(&[(&str, &str)], bool); 3] = [
        (&[("WARPSMITH_CHECKS", "all")], true),
        (&[("WARPSMITH_CHECKS", "default")], false),
        (
            &[
                ("WARPSMITH_CHECKS", "all"),
                ("WARPSMITH_SIMULATOR_ATTRIBUTES", "86=1"),
            ],
            false,
        ),
    ];
    for (variables, is_noted) in variables {
        let output = run_in_child(&calling_test(), variables);
        if backend == Backend::Cuda {
            continue;
        }
        let (before, behind) = (output.stderr)
            .split_once("until here all was well")
            .expect("the child says so");
        assert!(!before.contains("note:"), "{output}");
        // Once for the instruction.
        let count = behind.matches(note).count();
        assert_eq!(count, usize::from(is_noted), "{output}");
        assert!(!is_noted || behind.contains("in kernel near"), "{output}");
    }
}

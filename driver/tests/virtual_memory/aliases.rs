//! One launch that uses physical memory at two addresses: with a fence between the accesses, and without.

use warpsmith_abi::fault::FaultKind;
use warpsmith_driver::fault;

use super::support::*;
use crate::common::*;

/// Writes at one address, reads at another, and keeps what it has read.
fn ptx(between: &str) -> std::ffi::CString {
    let text = format!(
        "
.version 7.8
.target sm_90
.address_size 64
.visible .entry through(.param .u64 to, .param .u64 from, .param .u64 out)
{{
    .reg .b32 %r<2>; .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [to];
    ld.param.u64 %rd2, [from];
    ld.param.u64 %rd3, [out];
    st.global.u32 [%rd1], 41;
    {between}
    ld.global.u32 %r1, [%rd2];
    st.global.u32 [%rd3], %r1;
    ret;
}}
"
    );
    std::ffi::CString::new(text).expect("no NUL in it")
}

/// What one launch reads through the second address, or the context's fault.
fn through(context: CUcontext, between: &str) -> Result<u32, Box<warpsmith_abi::fault::Fault>> {
    let module: CUmodule = get!(cuModuleLoadData(ptx(between).as_ptr().cast()));
    let (a, b) = (reserve(PIECE), reserve(PIECE));
    let handle = map_new(a, PIECE);
    ok!(cuMemMap(b, PIECE, 0, handle, 0));
    grant(b, PIECE, READ);
    let out: CUdeviceptr = get!(cuMemAlloc_v2(4));
    launch(module, c"through", vec![a + 4, b + 4, out]);
    // SAFETY: the call takes no arguments.
    match unsafe { cuCtxSynchronize() }.0 {
        0 => {}
        719 => return Err(Box::new(fault(context).expect("a fault"))),
        other => panic!("the launch answered {other}"),
    }
    let read = download::<u32>(out, 1)[0];
    for address in [a, b] {
        ok!(cuMemUnmap(address, PIECE));
        ok!(cuMemAddressFree(address, PIECE));
    }
    ok!(cuMemRelease(handle));
    ok!(cuMemFree_v2(out));
    Ok(read)
}

#[test]
fn a_fence_makes_two_addresses_coherent_in_one_launch() {
    // covers: VMM-24, VMM-X05
    let _turn = turn();
    if gpu() == Backend::Simulator {
        assert!(warpsmith_driver::configure_simulator("checks", "all"));
    }
    assert_eq!(through(null_mut(), "fence.proxy.alias;"), Ok(41));
}

#[test]
fn without_the_fence_two_addresses_are_reported() {
    // covers: VMM-22, VMM-X03
    let _turn = turn();
    if gpu() == Backend::Cuda {
        // What it reads there is not defined, and nothing is said.
        return;
    }
    assert!(warpsmith_driver::configure_simulator("stderr", "off"));
    assert!(warpsmith_driver::configure_simulator("checks", "all"));
    for between in ["", "fence.sc.sys;", "bar.sync 0;"] {
        let context: CUcontext = get!(cuCtxCreate_v2(0, 0));
        let found = through(context, between).expect_err("a fault");
        assert_eq!(found.kind, FaultKind::Race, "{found}");
        let text = found.to_string();
        for part in [
            "kernel `through` in",
            "writes memory at",
            "and reads the same physical memory at",
            "fence.proxy.alias",
            "virtual memory of cuMemMap",
        ] {
            assert!(text.contains(part), "{part:?} is missing in: {text}");
        }
        ok!(cuCtxDestroy_v2(context));
    }
}

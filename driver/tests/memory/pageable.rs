//! Ordinary memory of the program in kernels: the heap, a stack, statics, thread locals. A device without pageable memory access (attribute
//! 88) answers an illegal address for each; one that has it reads and writes them.

use crate::common::*;
use std::sync::atomic::AtomicU32;

use warpsmith_abi::fault::FaultKind;
use warpsmith_driver::fault;
use warpsmith_testkit::{Side, own_process};

const PTX: &core::ffi::CStr = c"
.version 7.0
.target sm_70
.address_size 64
.visible .entry count(.param .u64 to)
{
    .reg .b32 %r<2>; .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [to];
    ld.u32 %r1, [%rd1];
    add.u32 %r1, %r1, 1;
    st.u32 [%rd1], %r1;
    ret;
}
";

/// Lets a kernel add one to a word of the program's, in a process of its own, since a GPU ends all contexts of a process with a fault.
fn counted(what: &str, word: *mut u32) {
    let backend = gpu();
    let device: CUdevice = get!(cuDeviceGet(0));
    let key = CUdevice_attribute::CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS;
    let access: c_int = get!(cuDeviceGetAttribute(key, device));
    let context: CUcontext = get!(cuCtxCreate_v2(0, device));
    let module: CUmodule = get!(cuModuleLoadData(PTX.as_ptr().cast()));
    let function: CUfunction = get!(cuModuleGetFunction(module, c"count".as_ptr()));
    // SAFETY: the caller's word is valid, and nothing else uses it.
    let before = unsafe { word.read_volatile() };
    // The driver did not allocate it, so it does not free it.
    fails!(1, cuMemFree_v2(word as CUdeviceptr));
    let mut address = word as u64;
    let mut parameters = [(&raw mut address).cast::<c_void>()];
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
    if access != 0 {
        ok!(cuCtxSynchronize());
    } else {
        fails!(700, cuCtxSynchronize());
        if backend == Backend::Simulator {
            let fault = fault(context).expect("a fault");
            assert_eq!(fault.kind, FaultKind::IllegalAddress, "{what}: {fault}");
            let known = fault.access.as_ref().map(|access| access.address);
            assert_eq!(known, Some(word as u64), "{what}: {fault}");
        }
    }
    // SAFETY: the caller's word is valid, and the kernel has ended.
    let after = unsafe { word.read_volatile() };
    assert_eq!(after, before + u32::from(access != 0), "{what}");
}

#[test]
fn the_heap() {
    // covers: UM-16
    if let Side::Child = own_process(&[]) {
        let mut word = Box::new(7);
        counted("the heap", &raw mut *word);
    }
}

#[test]
fn a_stack() {
    // covers: UM-16
    if let Side::Child = own_process(&[]) {
        let mut word = 7;
        counted("a stack", &raw mut word);
    }
}

#[test]
fn a_static() {
    // covers: UM-16
    static WORD: AtomicU32 = AtomicU32::new(7);
    if let Side::Child = own_process(&[]) {
        counted("a static", WORD.as_ptr());
    }
}

#[test]
fn a_threads_own() {
    // covers: UM-16
    std::thread_local! {
        static WORD: AtomicU32 = const { AtomicU32::new(7) };
    }
    if let Side::Child = own_process(&[]) {
        WORD.with(|word| counted("a thread's own", word.as_ptr()));
    }
}

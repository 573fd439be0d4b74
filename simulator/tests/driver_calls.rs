//! A small program of driver calls: memory, a module, streams, events, a launch, a graph. What each call answers is tested in `driver/tests`;
//! this one is small enough for Miri, which interprets here the unsafe code of the whole way from a call to the kernel's bytes.

use core::ffi::c_void;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicU32, Ordering};

use warpsmith_abi::*;
use warpsmith_simulator::entry_point;

const PTX: &std::ffi::CStr = c"
.version 7.0
.target sm_70
.address_size 64
.global .u32 base = 100;
.visible .entry k(.param .u64 p)
{
.reg .b32 %r<3>; .reg .b64 %a;
mov.u32 %r0, %tid.x;
ld.param.u64 %a, [p];
mad.wide.u32 %a, %r0, 4, %a;
ld.global.u32 %r1, [base];
add.u32 %r1, %r1, %r0;
st.global.u32 [%a], %r1;
ret;
}
";

/// Calls a driver function and expects success.
macro_rules! ok {
    ($name:ident($($argument:expr),* $(,)?)) => {{
        let found = entry_point(stringify!($name)).expect("the simulator has it");
        // SAFETY: the simulator compiles each of its functions against the signature of its name.
        let function = unsafe { std::mem::transmute::<*const c_void, signature::$name>(found) };
        // SAFETY: the test keeps the driver functions' contracts.
        let result = unsafe { function($($argument),*) };
        assert_eq!(result, CUresult::CUDA_SUCCESS, stringify!($name));
    }};
}

/// Calls a function whose first argument receives its result.
macro_rules! get {
    ($name:ident($($argument:expr),* $(,)?)) => {{
        // SAFETY: every result type of the driver's is valid as zeros.
        let mut result = unsafe { std::mem::zeroed() };
        ok!($name(&mut result $(, $argument)*));
        result
    }};
}

static CALLS: AtomicU32 = AtomicU32::new(0);

unsafe extern "C" fn count(_: *mut c_void) {
    CALLS.fetch_add(1, Ordering::Relaxed);
}

fn download(memory: CUdeviceptr) -> [u32; 4] {
    let mut values = [0u32; 4];
    ok!(cuMemcpyDtoH_v2(values.as_mut_ptr().cast(), memory, 16));
    values
}

#[test]
fn a_program_of_driver_calls() {
    ok!(cuInit(0));
    let context: CUcontext = get!(cuCtxCreate_v2(0, 0));
    let [stream, other]: [CUstream; 2] = [(); 2].map(|()| get!(cuStreamCreate(1)));
    let event: CUevent = get!(cuEventCreate(0));

    let memory: CUdeviceptr = get!(cuMemAlloc_v2(16));
    let from = [1u32, 2, 3, 4];
    ok!(cuMemcpyHtoD_v2(memory, from.as_ptr().cast(), 16));
    assert_eq!(download(memory), from);

    // One stream computes, the other one copies that when the event says so.
    let module: CUmodule = get!(cuModuleLoadData(PTX.as_ptr().cast()));
    let kernel: CUfunction = get!(cuModuleGetFunction(module, c"k".as_ptr()));
    let mut address = memory;
    let mut parameters: [*mut c_void; 1] = [(&raw mut address).cast()];
    let (arguments, extra) = (parameters.as_mut_ptr(), null_mut());
    ok!(cuLaunchKernel(
        kernel, 1, 1, 1, 4, 1, 1, 0, stream, arguments, extra
    ));
    ok!(cuEventRecord(event, stream));
    ok!(cuStreamWaitEvent(other, event, 0));
    let copy: CUdeviceptr = get!(cuMemAllocAsync(16, other));
    ok!(cuMemcpyDtoDAsync_v2(copy, memory, 16, other));
    ok!(cuStreamSynchronize(other));
    assert_eq!(download(copy), [100, 101, 102, 103]);
    ok!(cuMemFreeAsync(copy, other));

    // The ranges overlap, forward and backward.
    ok!(cuMemcpyDtoD_v2(memory, memory + 4, 12));
    ok!(cuMemcpyDtoD_v2(memory + 4, memory, 12));
    assert_eq!(download(memory), [101, 101, 102, 103]);

    let graph: CUgraph = get!(cuGraphCreate(0));
    let fill = CUDA_MEMSET_NODE_PARAMS {
        dst: memory,
        pitch: 0,
        value: 7,
        elementSize: 4,
        width: 3,
        height: 1,
    };
    let filled: CUgraphNode = get!(cuGraphAddMemsetNode(graph, null_mut(), 0, &fill, context));
    let call = CUDA_HOST_NODE_PARAMS {
        fn_: Some(count),
        userData: null_mut(),
    };
    let _: CUgraphNode = get!(cuGraphAddHostNode(graph, &filled, 1, &call));
    let ready: CUgraphExec = get!(cuGraphInstantiateWithFlags(graph, 0));
    ok!(cuGraphDestroy(graph));
    ok!(cuGraphLaunch(ready, stream));
    ok!(cuLaunchHostFunc(stream, Some(count), null_mut()));
    ok!(cuStreamSynchronize(stream));
    assert_eq!(download(memory), [7, 7, 7, 103]);
    assert_eq!(CALLS.load(Ordering::Relaxed), 2);

    ok!(cuGraphExecDestroy(ready));
    ok!(cuEventDestroy_v2(event));
    ok!(cuStreamDestroy_v2(stream));
    ok!(cuMemFree_v2(memory));
    ok!(cuModuleUnload(module));
    // What is left ends with it.
    ok!(cuCtxDestroy_v2(context));
}

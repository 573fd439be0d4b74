//! The driver calls that are tried, each with random arguments.

use std::ffi::c_void;

use warpsmith_driver::raw::*;

use super::state::{Of, Parameters, State};
use crate::choose::Choose;

/// A call by its name in cases.
pub struct Operation {
    /// The name.
    pub name: &'static str,
    /// Makes the call.
    pub call: fn(&mut State) -> CUresult,
}

/// A module with what calls can name.
const MODULE: &std::ffi::CStr = c"
.version 7.8
.target sm_90
.address_size 64
.visible .global .align 8 .b8 G[64];
.visible .const .align 4 .b8 K[16];
.visible .entry write(.param .u64 p, .param .u32 n)
{
    .reg .b64 %p; .reg .b32 %n;
    ld.param.u64 %p, [p];
    ld.param.u32 %n, [n];
    st.global.u32 [%p], %n;
    ret;
}
.visible .entry nothing() { ret; }
.visible .entry barrier()
{
    .shared .align 4 .b8 s[64];
    .reg .b32 %a;
    mov.u32 %a, s;
    st.shared.u32 [%a], 1;
    bar.sync 0;
    ret;
}
";

unsafe extern "C" fn host_function(_: *mut c_void) {}

/// Makes a call.
macro_rules! call {
    ($function:ident($($argument:expr),* $(,)?)) => {{
        // SAFETY: what is written goes to variables of the operation or to the state's buffers, which are larger than any result,
        // and what is read of the host lies there, too. Handles and device addresses may be anything: the simulator, which alone is
        // called here, knows handles by number and finds out what addresses are. What stays in use lives as long as the process.
        unsafe { $function($($argument),*) }
    }};
}

/// Operations that make something: `kind name(arguments after the first)`.
macro_rules! makes {
    ($(($of:ident, $function:ident, $state:ident, [$($argument:expr),*])),* $(,)?) => {
        [$(Operation {
            name: stringify!($function),
            call: |$state| {
                // SAFETY: any handle or address may be zero.
                let mut made = unsafe { std::mem::zeroed() };
                let result = call!($function(&mut made, $($argument),*));
                $state.keep(Of::$of, result, made as u64)
            },
        }),*]
    };
}

/// Operations that only call.
macro_rules! calls {
    ($(($function:ident, $state:ident, [$($argument:expr),*])),* $(,)?) => {
        [$(Operation {
            name: stringify!($function),
            call: |$state| {
                let _ = &$state;
                call!($function($($argument),*))
            },
        }),*]
    };
}

/// The calls that make something.
static MAKE: &[Operation] = &makes![
    (Memory, cuMemAlloc_v2, s, [s.size()]),
    (Memory, cuMemAlloc_v2, s, [s.small()]),
    (Memory, cuMemAllocManaged, s, [s.size(), s.number()]),
    (Memory, cuMemAllocManaged, s, [s.small(), 1]),
    (Memory, cuMemAllocAsync, s, [s.size(), s.stream()]),
    (Memory, cuMemAllocAsync, s, [s.small(), s.stream()]),
    (
        Memory,
        cuMemAllocFromPoolAsync,
        s,
        [s.small(), s.handle(Of::Pool) as _, s.stream()]
    ),
    (Host, cuMemAllocHost_v2, s, [s.small()]),
    (Host, cuMemHostAlloc, s, [s.small(), s.number()]),
    (Stream, cuStreamCreate, s, [s.number()]),
    (Stream, cuStreamCreate, s, [1]),
    (
        Stream,
        cuStreamCreateWithPriority,
        s,
        [s.number(), s.number() as i32]
    ),
    (Event, cuEventCreate, s, [s.number()]),
    (Module, cuModuleLoadData, s, [MODULE.as_ptr().cast()]),
    (
        Function,
        cuModuleGetFunction,
        s,
        [s.handle(Of::Module) as _, c"write".as_ptr()]
    ),
    (
        Function,
        cuModuleGetFunction,
        s,
        [s.handle(Of::Module) as _, c"barrier".as_ptr()]
    ),
    (
        Function,
        cuModuleGetFunction,
        s,
        [s.handle(Of::Module) as _, c"".as_ptr()]
    ),
    (
        Memory,
        cuModuleGetGlobal_v2,
        s,
        [s.buffer(), s.handle(Of::Module) as _, c"G".as_ptr()]
    ),
    (
        Memory,
        cuModuleGetGlobal_v2,
        s,
        [s.buffer(), s.handle(Of::Module) as _, c"K".as_ptr()]
    ),
    (Graph, cuGraphCreate, s, [s.random.below(2)]),
    (Graph, cuGraphClone, s, [s.handle(Of::Graph) as _]),
    (
        Exec,
        cuGraphInstantiateWithFlags,
        s,
        [s.handle(Of::Graph) as _, u64::from(s.random.below(10))]
    ),
    (Pool, cuDeviceGetDefaultMemPool, s, [0]),
];

/// The calls that do something.
static DO: &[Operation] = &calls![
    (cuMemFree_v2, s, [s.take(Of::Memory)]),
    (cuMemFreeAsync, s, [s.take(Of::Memory), s.stream()]),
    (cuMemFreeHost, s, [s.take(Of::Host) as _]),
    (cuStreamDestroy_v2, s, [s.take(Of::Stream) as _]),
    (cuStreamSynchronize, s, [s.stream()]),
    (cuStreamQuery, s, [s.stream()]),
    (
        cuStreamWaitEvent,
        s,
        [s.stream(), s.handle(Of::Event) as _, s.number()]
    ),
    (
        cuStreamWaitEvent,
        s,
        [s.stream(), s.handle(Of::Event) as _, 0]
    ),
    (cuEventDestroy_v2, s, [s.take(Of::Event) as _]),
    (cuEventRecord, s, [s.handle(Of::Event) as _, s.stream()]),
    (cuEventSynchronize, s, [s.handle(Of::Event) as _]),
    (cuEventQuery, s, [s.handle(Of::Event) as _]),
    (
        cuEventElapsedTime_v2,
        s,
        [
            s.buffer(),
            s.handle(Of::Event) as _,
            s.handle(Of::Event) as _
        ]
    ),
    (cuModuleUnload, s, [s.take(Of::Module) as _]),
    (cuMemsetD8_v2, s, [s.address(), 7, s.size()]),
    (cuMemsetD32_v2, s, [s.address(), s.number(), s.size()]),
    (cuMemsetD16Async, s, [s.address(), 3, s.size(), s.stream()]),
    (
        cuMemsetD2D8_v2,
        s,
        [s.address(), s.size(), 1, s.size(), s.size()]
    ),
    (
        cuMemsetD2D32Async,
        s,
        [
            s.address(),
            s.size(),
            s.number(),
            s.size(),
            s.size(),
            s.stream()
        ]
    ),
    (
        cuMemcpyHtoD_v2,
        s,
        [s.address(), s.buffer::<c_void>(), s.small()]
    ),
    (cuMemcpyDtoH_v2, s, [s.buffer(), s.address(), s.small()]),
    (cuMemcpyDtoD_v2, s, [s.address(), s.address(), s.size()]),
    (
        cuMemcpyDtoDAsync_v2,
        s,
        [s.address(), s.address(), s.size(), s.stream()]
    ),
    (
        cuMemcpyHtoDAsync_v2,
        s,
        [s.address(), s.buffer::<c_void>(), s.small(), s.stream()]
    ),
    (
        cuMemcpyDtoHAsync_v2,
        s,
        [s.buffer(), s.address(), s.small(), s.stream()]
    ),
    (cuGraphDestroy, s, [s.take(Of::Graph) as _]),
    (cuGraphDestroyNode, s, [s.take(Of::Node) as _]),
    (cuGraphExecDestroy, s, [s.take(Of::Exec) as _]),
    (cuGraphLaunch, s, [s.handle(Of::Exec) as _, s.stream()]),
    (cuGraphLaunch, s, [s.handle(Of::Exec) as _, s.stream()]),
    (
        cuGraphExecUpdate_v2,
        s,
        [
            s.handle(Of::Exec) as _,
            s.handle(Of::Graph) as _,
            s.buffer()
        ]
    ),
    (cuGraphNodeGetType, s, [s.handle(Of::Node) as _, s.buffer()]),
    (
        cuGraphKernelNodeGetParams_v2,
        s,
        [s.handle(Of::Node) as _, s.buffer()]
    ),
    (
        cuGraphConditionalHandleCreate,
        s,
        [
            s.buffer(),
            s.handle(Of::Graph) as _,
            s.handle(Of::Context) as _,
            s.number(),
            s.random.below(2)
        ]
    ),
    (
        cuStreamBeginCapture_v2,
        s,
        [
            s.handle(Of::Stream) as _,
            CUstreamCaptureMode(s.random.below(4))
        ]
    ),
    (cuStreamIsCapturing, s, [s.stream(), s.buffer()]),
    (
        cuLaunchHostFunc,
        s,
        [s.stream(), Some(host_function), std::ptr::null_mut()]
    ),
    (
        cuPointerGetAttribute,
        s,
        [s.buffer(), CUpointer_attribute(s.choice()), s.address()]
    ),
    (
        cuMemGetAddressRange_v2,
        s,
        [s.buffer(), s.buffer(), s.address()]
    ),
    (cuMemGetInfo_v2, s, [s.buffer(), s.buffer()]),
    (
        cuFuncGetAttribute,
        s,
        [
            s.buffer(),
            CUfunction_attribute(s.choice()),
            s.handle(Of::Function) as _
        ]
    ),
    (
        cuFuncSetAttribute,
        s,
        [
            s.handle(Of::Function) as _,
            CUfunction_attribute(s.choice()),
            s.number() as i32
        ]
    ),
    (
        cuFuncGetParamInfo,
        s,
        [
            s.handle(Of::Function) as _,
            s.size(),
            s.buffer(),
            s.buffer()
        ]
    ),
    (
        cuOccupancyMaxActiveBlocksPerMultiprocessor,
        s,
        [
            s.buffer(),
            s.handle(Of::Function) as _,
            s.number() as i32,
            s.size()
        ]
    ),
    (
        cuMemAdvise,
        s,
        [
            s.address(),
            s.size(),
            CUmem_advise(s.choice()),
            s.number() as i32
        ]
    ),
    (
        cuMemPrefetchAsync,
        s,
        [s.address(), s.size(), s.number() as i32, s.stream()]
    ),
    (
        cuStreamAttachMemAsync,
        s,
        [s.stream(), s.address(), s.size(), s.number()]
    ),
    (cuMemPoolTrimTo, s, [s.handle(Of::Pool) as _, s.size()]),
    (
        cuMemPoolSetAttribute,
        s,
        [
            s.handle(Of::Pool) as _,
            CUmemPool_attribute(s.choice()),
            s.buffer()
        ]
    ),
    (
        cuMemPoolGetAttribute,
        s,
        [
            s.handle(Of::Pool) as _,
            CUmemPool_attribute(s.choice()),
            s.buffer()
        ]
    ),
    (cuCtxSetLimit, s, [CUlimit(s.choice()), s.size()]),
    (cuCtxGetLimit, s, [s.buffer(), CUlimit(s.choice())]),
    (cuCtxPushCurrent_v2, s, [s.handle(Of::Context) as _]),
    (cuCtxPopCurrent_v2, s, [s.buffer()]),
    (cuCtxSetCurrent, s, [s.handle(Of::Context) as _]),
    (cuCtxSynchronize, s, []),
    (
        cuDeviceGetAttribute,
        s,
        [
            s.buffer(),
            CUdevice_attribute(s.number()),
            s.number() as i32
        ]
    ),
    (
        cuMemHostGetDevicePointer_v2,
        s,
        [s.buffer(), s.handle(Of::Host) as _, s.number()]
    ),
    (cuMemHostRegister_v2, s, [s.buffer(), s.small(), s.number()]),
    (cuMemHostUnregister, s, [s.buffer()]),
];

/// Those with more to say.
static WITH_STRUCTURES: &[Operation] = &[
    Operation {
        name: "cuLaunchKernel",
        call: launch,
    },
    Operation {
        name: "cuLaunchKernel",
        call: launch,
    },
    Operation {
        name: "cuGraphAddKernelNode_v2",
        call: kernel_node,
    },
    Operation {
        name: "cuGraphAddMemsetNode",
        call: memset_node,
    },
    Operation {
        name: "cuGraphAddHostNode",
        call: host_node,
    },
    Operation {
        name: "cuGraphAddEmptyNode",
        call: |s| {
            let (nodes, count) = s.nodes(3);
            let (graph, mut node) = (s.handle(Of::Graph) as CUgraph, std::ptr::null_mut());
            let result = call!(cuGraphAddEmptyNode(&mut node, graph, nodes.as_ptr(), count));
            s.keep(Of::Node, result, node as u64)
        },
    },
    Operation {
        name: "cuGraphAddChildGraphNode",
        call: |s| {
            let (nodes, count) = s.nodes(3);
            let (graph, child) = (
                s.handle(Of::Graph) as CUgraph,
                s.handle(Of::Graph) as CUgraph,
            );
            let mut node = std::ptr::null_mut();
            let result = call!(cuGraphAddChildGraphNode(
                &mut node,
                graph,
                nodes.as_ptr(),
                count,
                child
            ));
            s.keep(Of::Node, result, node as u64)
        },
    },
    Operation {
        name: "cuGraphAddDependencies",
        call: |s| dependencies(s, true),
    },
    Operation {
        name: "cuGraphRemoveDependencies",
        call: |s| dependencies(s, false),
    },
    Operation {
        name: "cuGraphGetNodes",
        call: |s| {
            let mut nodes = [std::ptr::null_mut(); 50];
            let mut count = s.random.index(nodes.len() + 1);
            call!(cuGraphGetNodes(
                s.handle(Of::Graph) as _,
                nodes.as_mut_ptr(),
                &mut count
            ))
        },
    },
    Operation {
        name: "cuGraphGetEdges",
        call: |s| {
            let (mut from, mut to) = ([std::ptr::null_mut(); 50], [std::ptr::null_mut(); 50]);
            let mut count = s.random.index(from.len() + 1);
            let graph = s.handle(Of::Graph) as CUgraph;
            call!(cuGraphGetEdges(
                graph,
                from.as_mut_ptr(),
                to.as_mut_ptr(),
                &mut count
            ))
        },
    },
    Operation {
        name: "cuGraphNodeGetDependencies",
        call: |s| {
            let mut nodes = [std::ptr::null_mut(); 50];
            let mut count = s.random.index(nodes.len() + 1);
            let node = s.handle(Of::Node) as CUgraphNode;
            call!(cuGraphNodeGetDependencies(
                node,
                nodes.as_mut_ptr(),
                &mut count
            ))
        },
    },
    Operation {
        name: "cuStreamEndCapture",
        call: |s| {
            let mut graph = std::ptr::null_mut();
            let result = call!(cuStreamEndCapture(s.handle(Of::Stream) as _, &mut graph));
            s.keep(Of::Graph, result, graph as u64)
        },
    },
    Operation {
        name: "cuThreadExchangeStreamCaptureMode",
        call: |s| {
            let mut mode = CUstreamCaptureMode(s.random.below(4));
            call!(cuThreadExchangeStreamCaptureMode(&mut mode))
        },
    },
    Operation {
        name: "cuCtxCreate_v2",
        call: |s| {
            if !s.random.percent(10) {
                return CUresult::CUDA_SUCCESS;
            }
            let mut context = std::ptr::null_mut();
            let result = call!(cuCtxCreate_v2(&mut context, s.choice(), 0));
            s.keep(Of::Context, result, context as u64)
        },
    },
    Operation {
        name: "cuCtxDestroy_v2",
        call: |s| {
            if !s.random.percent(5) {
                return CUresult::CUDA_SUCCESS;
            }
            call!(cuCtxDestroy_v2(s.take(Of::Context) as _))
        },
    },
];

/// All of them.
pub fn all() -> impl Iterator<Item = &'static Operation> {
    MAKE.iter().chain(DO).chain(WITH_STRUCTURES)
}

/// An extent of a grid: small, or one that no device has.
fn extent(s: &mut State) -> u32 {
    [1, 1, 1, 1, 2, 2, 3, 0, 0x8000_0000, u32::MAX][s.random.index(10)]
}

fn launch(s: &mut State) -> CUresult {
    let [gx, gy, gz] = std::array::from_fn(|_| extent(s));
    let [bx, by, bz] = std::array::from_fn(|_| match s.random.index(10) {
        0 => s.number(),
        _ => 1 + s.random.below(4),
    });
    let shared = [0, 0, 64, 48 << 10, 1 << 30][s.random.index(5)];
    let (function, stream) = (s.handle(Of::Function) as CUfunction, s.stream());
    let mut parameters = Parameters::random(s);
    let (pointers, none) = (parameters.pointers(), std::ptr::null_mut());
    call!(cuLaunchKernel(
        function, gx, gy, gz, bx, by, bz, shared, stream, pointers, none
    ))
}

fn kernel_node(s: &mut State) -> CUresult {
    let mut parameters = Parameters::random(s);
    let node_parameters = CUDA_KERNEL_NODE_PARAMS {
        func: s.handle(Of::Function) as _,
        gridDimX: extent(s),
        gridDimY: 1,
        gridDimZ: extent(s),
        blockDimX: [1, 1, 2, 0, 70_000][s.random.index(5)],
        blockDimY: 1,
        blockDimZ: 1,
        sharedMemBytes: [0, 16, 1 << 30][s.random.index(3)],
        kernelParams: parameters.pointers(),
        extra: std::ptr::null_mut(),
        kern: std::ptr::null_mut(),
        ctx: std::ptr::null_mut(),
    };
    let (nodes, count) = s.nodes(3);
    let (graph, mut node) = (s.handle(Of::Graph) as CUgraph, std::ptr::null_mut());
    let result = call!(cuGraphAddKernelNode_v2(
        &mut node,
        graph,
        nodes.as_ptr(),
        count,
        &node_parameters
    ));
    s.keep(Of::Node, result, node as u64)
}

fn memset_node(s: &mut State) -> CUresult {
    let parameters = CUDA_MEMSET_NODE_PARAMS {
        dst: s.address(),
        pitch: [0, 64, 1 << 40][s.random.index(3)],
        value: s.number(),
        elementSize: [1, 2, 4, 3, 0][s.random.index(5)],
        width: [0, 1, 16, 1 << 40][s.random.index(4)],
        height: [1, 0, 4, 1 << 40][s.random.index(4)],
    };
    let (nodes, count) = s.nodes(3);
    let (graph, context) = (
        s.handle(Of::Graph) as CUgraph,
        s.handle(Of::Context) as CUcontext,
    );
    let mut node = std::ptr::null_mut();
    let result = call!(cuGraphAddMemsetNode(
        &mut node,
        graph,
        nodes.as_ptr(),
        count,
        &parameters,
        context
    ));
    s.keep(Of::Node, result, node as u64)
}

fn host_node(s: &mut State) -> CUresult {
    let parameters = CUDA_HOST_NODE_PARAMS {
        fn_: Some(host_function),
        userData: std::ptr::null_mut(),
    };
    let (nodes, count) = s.nodes(3);
    let (graph, mut node) = (s.handle(Of::Graph) as CUgraph, std::ptr::null_mut());
    let result = call!(cuGraphAddHostNode(
        &mut node,
        graph,
        nodes.as_ptr(),
        count,
        &parameters
    ));
    s.keep(Of::Node, result, node as u64)
}

fn dependencies(s: &mut State, add: bool) -> CUresult {
    let count = s.random.index(3);
    let mut ends = || -> Vec<CUgraphNode> { (0..2).map(|_| s.handle(Of::Node) as _).collect() };
    let (from, to) = (ends(), ends());
    let graph = s.handle(Of::Graph) as CUgraph;
    if add {
        call!(cuGraphAddDependencies(
            graph,
            from.as_ptr(),
            to.as_ptr(),
            count
        ))
    } else {
        call!(cuGraphRemoveDependencies(
            graph,
            from.as_ptr(),
            to.as_ptr(),
            count
        ))
    }
}

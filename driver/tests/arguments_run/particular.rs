//! Wrong fields of structures, and arguments that are wrong together.

use warpsmith_testkit::{Side, own_process};

use crate::children::{self, Rows};
use crate::common::graphs::*;
use crate::common::*;
use crate::health::{Answer, State};
use crate::signatures;
use crate::world::*;

/// What is wrong, the answer, and the call.
type Row = (&'static str, u32, fn(&World) -> CUresult);

/// Calls a function of the driver.
macro_rules! call {
    ($function:ident($($argument:expr),* $(,)?)) => {
        // SAFETY: the pointers are valid during the call; the driver finds out what is wrong with what they lead to.
        unsafe { $function($($argument),*) }
    };
}

/// Parameters of a kernel node with something changed.
fn kernel(w: &World, change: fn(&mut CUDA_KERNEL_NODE_PARAMS, &World)) -> CUresult {
    let mut pointers = [(&raw const w.own.memory).cast_mut().cast()];
    let mut parameters = kernel_parameters(w.own.function, 1, &mut pointers);
    change(&mut parameters, w);
    call!(cuGraphAddKernelNode_v2(
        out(),
        graph(),
        null(),
        0,
        &parameters
    ))
}

/// A launch with something changed in its configuration.
fn launch_with(w: &World, change: fn(&mut CUlaunchConfig)) -> CUresult {
    let mut configuration = CUlaunchConfig {
        gridDimX: 1,
        gridDimY: 1,
        gridDimZ: 1,
        blockDimX: 1,
        blockDimY: 1,
        blockDimZ: 1,
        hStream: w.own.stream,
        ..Default::default()
    };
    change(&mut configuration);
    call!(cuLaunchKernelEx(
        &configuration,
        w.own.idle,
        null_mut(),
        null_mut()
    ))
}

/// A configuration's only attribute.
fn set_attribute(configuration: &mut CUlaunchConfig, id: CUlaunchAttributeID, x: u32) {
    let mut attribute = CUlaunchAttribute {
        id,
        ..Default::default()
    };
    attribute.value.clusterDim = CUlaunchAttributeValue_union__bindgen_ty_1 { x, y: 1, z: 1 };
    configuration.attrs = slot(attribute);
    configuration.numAttrs = 1;
}

fn filled(w: &World, change: fn(&mut CUDA_MEMSET_NODE_PARAMS)) -> CUresult {
    let mut parameters = fill(w.own.memory, 0, 4);
    change(&mut parameters);
    let context = w.own.context;
    call!(cuGraphAddMemsetNode(
        out(),
        graph(),
        null(),
        0,
        &parameters,
        context
    ))
}

fn copied(w: &World, to: CUdeviceptr, from: CUdeviceptr, bytes: usize) -> CUresult {
    let (parameters, context) = (copy(to, from, bytes), w.own.context);
    call!(cuGraphAddMemcpyNode(
        out(),
        graph(),
        null(),
        0,
        &parameters,
        context
    ))
}

fn operate(w: &World, change: fn(&mut CUstreamBatchMemOpParams)) -> CUresult {
    let operations = memory_operations(&w.own);
    // SAFETY: the operation was just made, and nobody else has it.
    change(unsafe { &mut *operations });
    call!(cuStreamBatchMemOp_v2(w.own.stream, 1, operations, 0))
}

const CLUSTER: CUlaunchAttributeID = CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;

const ROWS: &[Row] = &[
    ("a node before itself", 1, |w| {
        call!(cuGraphAddDependencies(
            w.small,
            &w.small_node,
            &w.small_node,
            1
        ))
    }),
    ("an edge to another graph", 1, |w| {
        call!(cuGraphAddDependencies(
            w.small,
            &w.small_node,
            &w.nodes.empty,
            1
        ))
    }),
    ("an edge that is there", 1, |w| {
        call!(cuGraphAddDependencies(
            w.graph,
            &w.nodes.empty,
            &w.nodes.kernel,
            1
        ))
    }),
    ("an edge that is not there", 1, |w| {
        call!(cuGraphRemoveDependencies(
            w.graph,
            &w.nodes.kernel,
            &w.nodes.copy,
            1
        ))
    }),
    ("a node behind one of another graph", 1, |w| {
        call!(cuGraphAddEmptyNode(out(), graph(), &w.small_node, 1))
    }),
    ("a graph in itself", 1, |w| {
        call!(cuGraphAddChildGraphNode(out(), w.small, null(), 0, w.small))
    }),
    ("a copy of a graph that allocates", 801, |w| {
        call!(cuGraphClone(out(), w.memory_graph))
    }),
    ("a graph that is a node's", 1, |w| {
        let child: CUgraph = {
            let mut child = null_mut();
            ok!(cuGraphChildGraphNodeGetGraph(w.nodes.child, &mut child));
            child
        };
        call!(cuGraphDestroy(child))
    }),
    ("a kernel node without blocks", 1, |w| {
        kernel(w, |node, _| node.gridDimX = 0)
    }),
    ("a kernel node of too large blocks", 1, |w| {
        kernel(w, |node, _| node.blockDimX = 1025)
    }),
    ("a kernel node with too much shared memory", 1, |w| {
        kernel(w, |node, _| node.sharedMemBytes = 1 << 20)
    }),
    ("a kernel node without a kernel", 400, |w| {
        kernel(w, |node, _| node.func = null_mut())
    }),
    ("a kernel node of two kernels", 1, |w| {
        kernel(w, |node, w| node.kern = w.shared.kernel)
    }),
    ("a kernel node without parameters", 1, |w| {
        kernel(w, |node, _| node.kernelParams = null_mut())
    }),
    ("a launch with both lists of parameters", 1, |w| {
        let end = slot([null_mut::<c_void>(); 2]).cast();
        call!(cuLaunchKernel(
            w.own.function,
            1,
            1,
            1,
            1,
            1,
            1,
            0,
            w.own.stream,
            w.store(),
            end
        ))
    }),
    ("a launch without parameters", 1, |w| {
        let none: *mut *mut c_void = null_mut();
        call!(cuLaunchKernel(
            w.own.function,
            1,
            1,
            1,
            1,
            1,
            1,
            0,
            w.own.stream,
            none,
            none
        ))
    }),
    ("a launch without its attributes", 1, |w| {
        launch_with(w, |configuration| configuration.numAttrs = 1)
    }),
    ("a launch with an unknown attribute", 1, |w| {
        launch_with(w, |configuration| {
            set_attribute(configuration, CUlaunchAttributeID_enum(500), 1);
        })
    }),
    ("a grid that is no multiple of its clusters", 912, |w| {
        launch_with(w, |configuration| set_attribute(configuration, CLUSTER, 2))
    }),
    ("a cluster of too many blocks", 912, |w| {
        launch_with(w, |configuration| {
            configuration.gridDimX = 32;
            set_attribute(configuration, CLUSTER, 32);
        })
    }),
    ("a fill of elements of three bytes", 1, |w| {
        filled(w, |fill| fill.elementSize = 3)
    }),
    ("a fill of nothing", 1, |w| filled(w, |fill| fill.dst = 0)),
    ("a fill past the end", 1, |w| {
        filled(w, |fill| fill.width = BYTES)
    }),
    ("a fill of a misaligned address", 1, |w| {
        filled(w, |fill| fill.dst += 2)
    }),
    ("a copy past the end", 1, |w| {
        copied(w, w.own.memory, w.own.memory + 1, BYTES)
    }),
    ("a copy of more bytes than there are addresses", 1, |w| {
        copied(w, w.own.memory, w.own.memory, usize::MAX)
    }),
    ("an operation on memory of an unknown type", 1, |w| {
        operate(w, |operation| {
            operation.operation = CUstreamBatchMemOpType_enum(77)
        })
    }),
    ("an event for other processes with times", 1, |_| {
        call!(cuEventCreate(out(), 4))
    }),
    ("the time between events without times", 400, |_| {
        let event: CUevent = get!(cuEventCreate(2));
        call!(cuEventElapsedTime(out(), event, event))
    }),
    ("the time between events that nobody recorded", 400, |_| {
        let event: CUevent = get!(cuEventCreate(0));
        call!(cuEventElapsedTime(out(), event, event))
    }),
    ("two ways of waiting", 1, |_| call!(cuCtxSetFlags(5))),
    ("options of a module that are not there", 1, |_| {
        let image = TEXT.as_ptr().cast();
        call!(cuModuleLoadDataEx(out(), image, 1, null_mut(), null_mut()))
    }),
    ("options of a link that are not there", 1, |_| {
        call!(cuLinkCreate_v2(1, null_mut(), null_mut(), out()))
    }),
    ("a function that is not there", 500, |w| {
        call!(cuModuleGetFunction(out(), w.own.module, c"none".as_ptr()))
    }),
    ("a kernel that is not there", 500, |w| {
        call!(cuLibraryGetKernel(
            out(),
            w.shared.library,
            c"none".as_ptr()
        ))
    }),
    ("a variable that is not there", 500, |w| {
        call!(cuModuleGetGlobal_v2(
            out(),
            out(),
            w.own.module,
            c"none".as_ptr()
        ))
    }),
    ("a file that is not there", 301, |_| {
        call!(cuModuleLoad(out(), c"/nowhere/none.ptx".as_ptr()))
    }),
    ("a parameter that is not there", 1, |w| {
        call!(cuFuncGetParamInfo(w.own.function, 1, out(), out()))
    }),
    ("a capture in a capture", 401, |w| {
        call!(cuStreamBeginCapture_v2(w.capturing(), RELAXED))
    }),
    ("the end of no capture", 401, |w| {
        call!(cuStreamEndCapture(w.own.stream, out()))
    }),
    ("a capture of the legacy default stream", 900, |_| {
        call!(cuStreamBeginCapture_v2(null_mut(), RELAXED))
    }),
    ("more references than the graph has", 1, |w| {
        call!(cuGraphReleaseUserObject(w.graph, w.shared.object, 1))
    }),
    ("a device that is its own peer", 101, |w| {
        let _ = w;
        let attribute = CUdevice_P2PAttribute::CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED;
        call!(cuDeviceGetP2PAttribute(out(), attribute, 0, 0))
    }),
    ("a context that is its own peer", 217, |w| {
        call!(cuCtxEnablePeerAccess(w.own.context, 0))
    }),
    ("a peer that was not enabled", 705, |w| {
        call!(cuCtxDisablePeerAccess(w.other.context))
    }),
];

/// Names and answers of all rows.
pub fn answers() -> impl Iterator<Item = (String, u32)> {
    ROWS.iter().map(|&(name, answer, _)| (name.into(), answer))
}

/// All rows, as children run them.
struct Table;

impl Rows for Table {
    fn count(&self) -> usize {
        ROWS.len()
    }

    fn name(&self, row: usize) -> String {
        ROWS[row].0.into()
    }

    fn expected(&self, row: usize) -> u32 {
        ROWS[row].1
    }

    fn is_for_real_drivers(&self, _: usize) -> bool {
        true
    }

    fn perform(&self, row: usize, w: &World) -> Option<Answer> {
        let before = State::of(w);
        let answer = ROWS[row].2(w).0;
        Some(Answer::of(answer, w, &before))
    }
}

#[test]
fn each_wrong_field_gives_the_named_error() {
    children::run(&Table);
}

/// What a function answers before there is a driver to speak of, with zeros for arguments.
#[test]
fn nothing_is_done_before_initialisation() {
    const EARLY: &[&str] = &[
        "cuInit",
        "cuDriverGetVersion",
        "cuGetErrorName",
        "cuGetErrorString",
        "cuGetProcAddress",
        "cuGetProcAddress_v2",
    ];
    let Side::Child = own_process(&[("WARPSMITH_DEVICE", "simulator")]) else {
        return;
    };
    choose_driver();
    for (name, call) in signatures::with_zeros() {
        if EARLY.contains(&name) {
            continue;
        }
        // A function that the simulator lacks says so.
        let answer = call().0;
        assert!(matches!(answer, 3 | 801), "{name}: {answer}");
    }
}

/// On the simulator, which has none of them: neither an answer that a program could take for a success, nor a crash.
#[test]
fn what_is_known_by_name_alone_is_not_supported() {
    for name in signatures::FOREIGN {
        let Some(address) = warpsmith_simulator::entry_point(name) else {
            panic!("{name} is not found");
        };
        // SAFETY: the simulator stands in for these functions with one that looks at no arguments.
        let function: unsafe extern "C" fn() -> CUresult = unsafe { core::mem::transmute(address) };
        // SAFETY: it reads nothing.
        assert_eq!(unsafe { function() }.0, 801, "{name}");
    }
}

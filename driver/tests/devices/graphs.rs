//! Graphs whose nodes run on several devices. What is asked here two GPUs have answered (H100, driver 580.159.04); on the simulator, which can
//! show two, the tests run in processes of their own, and so they do on two GPUs.

use super::two::{Device, on_two_devices, two_devices};
use crate::common::graphs::*;
use crate::common::*;
use warpsmith_driver::fault;

/// Two devices with their kernel `add`, a stream and 64 words each. The first is current.
struct Two {
    devices: [Device; 2],
    kernels: [CUfunction; 2],
    streams: [CUstream; 2],
    words: [CUdeviceptr; 2],
    contexts: [CUcontext; 2],
}

impl Two {
    fn new() -> Two {
        let devices = two_devices();
        let each = |make: &dyn Fn(&Device) -> u64| {
            [&devices[1], &devices[0]].map(|device| {
                device.enter();
                make(device)
            })
        };
        let in_order = |[second, first]: [u64; 2]| [first, second];
        let contexts = in_order(each(&|_| {
            let context: CUcontext = get!(cuCtxGetCurrent());
            context as u64
        }));
        let kernels = in_order(each(&|device| device.function(c"add") as u64));
        let streams = in_order(each(&|_| stream() as u64));
        let words = in_order(each(&|_| upload(&[0u32; 64])));
        Two {
            kernels: kernels.map(|kernel| kernel as CUfunction),
            streams: streams.map(|stream| stream as CUstream),
            contexts: contexts.map(|context| context as CUcontext),
            words,
            devices,
        }
    }

    /// A node that adds 1 to a word on a device.
    fn add(&self, graph: CUgraph, after: &[CUgraphNode], device: usize, at: u64) -> CUgraphNode {
        kernel_node(graph, after, self.kernels[device], 1, &[at, 1])
    }

    fn run(&self, exec: CUgraphExec, device: usize) {
        ok!(cuGraphLaunch(exec, self.streams[device]));
        ok!(cuStreamSynchronize(self.streams[device]));
    }
}

fn instantiate(graph: CUgraph) -> CUgraphExec {
    get!(cuGraphInstantiateWithFlags(graph, 0))
}

/// The result of an update that is refused.
fn refused_update(exec: CUgraphExec, graph: CUgraph) -> u32 {
    let mut info = CUgraphExecUpdateResultInfo::default();
    fails!(910, cuGraphExecUpdate_v2(exec, graph, &mut info));
    info.result.0
}

#[test]
fn a_node_runs_in_the_context_of_its_kernel() {
    if !on_two_devices() {
        return;
    }
    let two = Two::new();
    let [a, b] = two.words;
    let graph = graph();
    let first = two.add(graph, &[], 0, a);
    // Device 1 cannot reach the memory of device 0, and its kernel reaches its own.
    let second = two.add(graph, &[first], 1, b);
    // Copies and fills reach the memory of both, whatever context they name, and need no peer access.
    let third = fill_node(graph, &[second], b + 4, 7, 3);
    copy_node(graph, &[third], a + 16, b, 16);
    let mut told = CUDA_KERNEL_NODE_PARAMS::default();
    for (node, context) in [first, second].into_iter().zip(two.contexts) {
        ok!(cuGraphKernelNodeGetParams_v2(node, &mut told));
        assert_eq!(told.ctx, context);
    }
    let exec = instantiate(graph);
    // Streams of either device take it, whichever is current.
    for (round, launched_on) in (1..).zip([0, 1, 1, 0]) {
        two.devices[launched_on ^ usize::from(round > 2)].enter();
        two.run(exec, launched_on);
        assert_eq!(download::<u32>(a, 8), [round, 0, 0, 0, round, 7, 7, 7]);
        assert_eq!(download::<u32>(b, 4), [round, 7, 7, 7]);
    }
    ok!(cuGraphExecDestroy(exec));
    ok!(cuGraphDestroy(graph));
}

// covers: GRAPH-50
#[test]
fn the_device_of_a_node_does_not_change() {
    if !on_two_devices() {
        return;
    }
    let two = Two::new();
    let ([a, b], [one, other]) = (two.words, two.contexts);
    let [mut to_a, mut to_b] = two.words.map(|word| vec![word + 64, 1]);
    let (mut at_a, mut at_b) = (pointers_to(&mut to_a), pointers_to(&mut to_b));
    let on_first = kernel_parameters(two.kernels[0], 1, &mut at_a);
    let on_second = kernel_parameters(two.kernels[1], 1, &mut at_b);

    let graph = graph();
    let kernel = two.add(graph, &[], 0, a);
    let filled = fill_node(graph, &[], b + 4, 7, 1);
    let copied = copy_node(graph, &[filled], a + 16, b, 16);
    let exec = instantiate(graph);
    fails!(
        1,
        cuGraphExecKernelNodeSetParams_v2(exec, kernel, &on_second)
    );
    ok!(cuGraphExecKernelNodeSetParams_v2(exec, kernel, &on_first));
    // Of a fill the memory's device counts, and not the context that the call names.
    for (memory, context, code) in [(a, one, 1), (a, other, 1), (b, one, 0), (b, other, 0)] {
        let fill = fill(memory, 9, 1);
        // SAFETY: the handles are alive, and the parameters are read during the call.
        let answer = unsafe { cuGraphExecMemsetNodeSetParams(exec, filled, &fill, context) };
        assert_eq!(answer.0, code);
    }
    for (to, from, context, code) in [
        (a + 16, b, other, 0),
        (b + 64, b, one, 1),
        (b, a, one, 1),
        (a + 64, a, one, 1),
        (a + 16, b, one, 0),
    ] {
        let copy = copy(to, from, 16);
        // SAFETY: the handles are alive, and the parameters are read during the call.
        let answer = unsafe { cuGraphExecMemcpyNodeSetParams(exec, copied, &copy, context) };
        assert_eq!(answer.0, code);
    }
    two.run(exec, 0);
    assert_eq!(download::<u32>(a + 64, 1), [1]);
    assert_eq!(download::<u32>(a + 16, 1), [9]);

    // A template takes another device, which no update does.
    let before = instantiate(graph);
    ok!(cuGraphKernelNodeSetParams_v2(kernel, &on_second));
    assert_eq!(refused_update(before, graph), 7);
    ok!(cuGraphKernelNodeSetParams_v2(kernel, &on_first));
    ok!(cuGraphMemsetNodeSetParams(filled, &fill(a, 9, 1)));
    assert_eq!(refused_update(before, graph), 5);
    for exec in [exec, before] {
        ok!(cuGraphExecDestroy(exec));
    }
    ok!(cuGraphDestroy(graph));
}

// covers: GRAPH-31
#[test]
fn a_capture_takes_streams_of_several_devices() {
    if !on_two_devices() {
        return;
    }
    let two = Two::new();
    let ([a, b], [here, there]) = (two.words, two.streams);
    two.devices[1].enter();
    let joined: CUevent = get!(cuEventCreate(2));
    two.devices[0].enter();
    let forked: CUevent = get!(cuEventCreate(2));
    let begin = || {
        two.devices[0].enter();
        let mode = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED;
        ok!(cuStreamBeginCapture_v2(here, mode));
        ok!(cuEventRecord(forked, here));
        ok!(cuStreamWaitEvent(there, forked, 0));
    };
    begin();
    let mut values = vec![b, 1];
    let mut pointers = pointers_to(&mut values);
    // What runs is what the stream's device has, whichever is current.
    for device in &two.devices {
        device.enter();
        let (parameters, none) = (pointers.as_mut_ptr(), null_mut());
        ok!(cuLaunchKernel(
            two.kernels[1],
            1,
            1,
            1,
            1,
            1,
            1,
            0,
            there,
            parameters,
            none
        ));
    }
    ok!(cuMemsetD32Async(b + 4, 9, 1, there));
    ok!(cuMemcpyAsync(a + 16, b, 16, there));
    ok!(cuEventRecord(joined, there));
    ok!(cuStreamWaitEvent(here, joined, 0));
    let mut graph: CUgraph = null_mut();
    ok!(cuStreamEndCapture(here, &mut graph));
    assert_eq!(download::<u32>(b, 2), [0, 0]);
    let exec = instantiate(graph);
    two.run(exec, 0);
    assert_eq!(download::<u32>(a + 16, 4), [2, 9, 0, 0]);

    // A copy that names contexts is none that a graph can have.
    begin();
    fails!(
        900,
        cuMemcpyPeerAsync(b, two.contexts[1], a, two.contexts[0], 16, there)
    );
    fails!(901, cuStreamEndCapture(here, &mut graph));
}

// covers: COND-08
#[test]
fn a_body_is_of_the_device_of_its_node() {
    if !on_two_devices() {
        return;
    }
    let two = Two::new();
    for (device, code) in [(0, 1), (1, 0)] {
        let graph = graph();
        two.devices[device].enter();
        let context = two.contexts[device];
        let handle = get!(cuGraphConditionalHandleCreate(graph, context, 1, 1));
        let kind = CUgraphConditionalNodeType::CU_GRAPH_COND_TYPE_IF;
        let (_, bodies) = conditional_node(graph, &[], handle, kind, 1);
        two.add(bodies[0], &[], 1, two.words[1]);
        two.devices[0].enter();
        let mut exec: CUgraphExec = null_mut();
        // SAFETY: the graph is alive, and `exec` takes a handle.
        let answer = unsafe { cuGraphInstantiateWithFlags(&mut exec, graph, 0) };
        assert_eq!(answer.0, code);
        if code == 0 {
            two.run(exec, 0);
        }
        ok!(cuGraphDestroy(graph));
    }
    assert_eq!(download::<u32>(two.words[1], 1), [1]);
}

// covers: MULTI-02
#[test]
fn a_context_does_not_wait_for_nodes_of_graphs_that_others_launch() {
    if !on_two_devices() {
        return;
    }
    let two = Two::new();
    let gate = Gate::new();
    let graph = graph();
    let (function, data) = gate.as_host_function();
    let parameters = CUDA_HOST_NODE_PARAMS {
        fn_: function,
        userData: data,
    };
    let waits: CUgraphNode = get!(cuGraphAddHostNode(graph, null(), 0, &parameters));
    two.add(graph, &[waits], 1, two.words[1]);
    let exec = instantiate(graph);
    ok!(cuGraphLaunch(exec, two.streams[0]));
    two.devices[1].enter();
    // A driver may wait here until the host function is done (580.159.04 on two H100, though not behind a kernel that spins).
    if warpsmith_driver::backend() == Some(Backend::Simulator) {
        ok!(cuCtxSynchronize());
    }
    ok!(cuStreamSynchronize(two.streams[1]));
    fails!(600, cuStreamQuery(two.streams[0]));
    gate.open();
    ok!(cuStreamSynchronize(two.streams[0]));
    assert_eq!(download::<u32>(two.words[1], 1), [1]);
}

// covers: ERROR-02
#[test]
fn a_fault_of_a_node_is_one_of_its_context_and_of_the_streams() {
    if !on_two_devices() {
        return;
    }
    let two = Two::new();
    let graph = graph();
    two.add(graph, &[], 1, 0);
    let exec = instantiate(graph);
    ok!(cuGraphLaunch(exec, two.streams[0]));
    fails!(700, cuStreamSynchronize(two.streams[0]));
    for device in &two.devices {
        device.enter();
        fails!(700, cuCtxSynchronize());
    }
}

/// Only the simulator says it.
// covers: GRAPH-03
#[test]
fn a_missing_edge_across_devices_is_a_conflict() {
    if !super::two::with_two_devices() {
        return;
    }
    let two = Two::new();
    let _checks = Checks::set("all");
    let [a, b] = two.words;
    for is_ordered in [true, false] {
        let graph = graph();
        let before = two.add(graph, &[], 1, b);
        let after = [before];
        copy_node(graph, if is_ordered { &after } else { &[] }, a, b, 4);
        let exec = instantiate(graph);
        ok!(cuGraphLaunch(exec, two.streams[0]));
        // SAFETY: the stream is alive.
        let answer = unsafe { cuStreamSynchronize(two.streams[0]) };
        assert_eq!(answer.0 == 0, is_ordered);
    }
    let text = fault(two.contexts[0]).expect("a conflict").to_string();
    assert!(
        text.contains("kernel `add`") && text.contains("a copy of 4 bytes"),
        "{text}"
    );
}

/// What a GPU does is undefined.
#[test]
fn a_node_of_a_context_that_has_ended_is_told() {
    if !super::two::with_two_devices() {
        return;
    }
    let two = Two::new();
    let graph = graph();
    two.devices[1].enter();
    let context: CUcontext = get!(cuCtxCreate_v2(0, 1));
    let lost = Device::of_current(context);
    let kernel = lost.function(c"add");
    kernel_node(graph, &[], kernel, 1, &[two.words[1], 1]);
    two.devices[0].enter();
    let exec = instantiate(graph);
    two.run(exec, 0);
    ok!(cuCtxDestroy_v2(context));
    two.devices[0].enter();
    ok!(cuGraphLaunch(exec, two.streams[0]));
    // SAFETY: the stream is alive.
    assert_ne!(unsafe { cuStreamSynchronize(two.streams[0]) }.0, 0);
    let text = fault(two.contexts[0]).expect("a fault").to_string();
    assert!(text.contains("in a context that has ended"), "{text}");
}

// covers: POOL-27
#[test]
fn a_copy_of_memory_of_the_others_pool_needs_access() {
    if !on_two_devices() {
        return;
    }
    let two = Two::new();
    let mut own = [0, 1].map(|device: usize| {
        two.devices[device].enter();
        let memory: CUdeviceptr = get!(cuMemAllocAsync(64, two.streams[device]));
        ok!(cuMemsetD32Async(memory, 5, 16, two.streams[device]));
        ok!(cuStreamSynchronize(two.streams[device]));
        memory
    });
    two.devices[0].enter();
    let graph = graph();
    let stream = two.streams[0];
    let mut node: CUgraphNode = null_mut();
    for _ in 0..2 {
        let [to, from] = own;
        let copy = copy(to, from, 16);
        for context in two.contexts {
            fails!(
                1,
                cuGraphAddMemcpyNode(&mut node, graph, null(), 0, &copy, context)
            );
        }
        // Captured it is refused, too, and the capture goes on.
        let mode = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED;
        ok!(cuStreamBeginCapture_v2(stream, mode));
        fails!(1, cuMemcpyAsync(to, from, 16, stream));
        let mut captured: CUgraph = null_mut();
        ok!(cuStreamEndCapture(stream, &mut captured));
        ok!(cuGraphDestroy(captured));
        own.reverse();
    }
    // By a context that may use both it works.
    let pool: CUmemoryPool = get!(cuDeviceGetDefaultMemPool(1));
    let access = CUmemAccessDesc {
        location: super::device_pools::on(0),
        flags: CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
    };
    ok!(cuMemPoolSetAccess(pool, &access, 1));
    let copy = copy(own[0], own[1], 16);
    let context = two.contexts[0];
    ok!(cuGraphAddMemcpyNode(
        &mut node,
        graph,
        null(),
        0,
        &copy,
        context
    ));
    ok!(cuMemsetD32Async(own[0], 0, 16, stream));
    two.run(instantiate(graph), 0);
    assert_eq!(download::<u32>(own[0], 5), [5, 5, 5, 5, 0]);
}

//! Waits of streams for words of memory, and writes of them: alone, in batches, captured and as nodes of graphs.
//!
//! What a real driver answers to wrong arguments was not measured: there a test asks only that it refuses them.

mod common;
use std::time::Duration;

use common::*;
use warpsmith_testkit::{Side, own_process};

const GEQ: c_uint = CUstreamWaitValue_flags::CU_STREAM_WAIT_VALUE_GEQ.0;
const EQ: c_uint = CUstreamWaitValue_flags::CU_STREAM_WAIT_VALUE_EQ.0;
const AND: c_uint = CUstreamWaitValue_flags::CU_STREAM_WAIT_VALUE_AND.0;
const NOR: c_uint = CUstreamWaitValue_flags::CU_STREAM_WAIT_VALUE_NOR.0;
const FLUSH: c_uint = CUstreamWaitValue_flags::CU_STREAM_WAIT_VALUE_FLUSH.0;
const NO_BARRIER: c_uint = CUstreamWriteValue_flags::CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER.0;
const RELAXED: CUstreamCaptureMode = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED;

/// Calls a driver function that refuses its arguments: the simulator with this code, a real driver with any.
macro_rules! refuses {
    ($code:expr, $function:ident($($argument:expr),* $(,)?)) => {{
        // SAFETY: the driver looks at its arguments before it uses them.
        let result = unsafe { $function($($argument),*) };
        match gpu() {
            Backend::Simulator => assert_eq!(result.0, $code, "{}", stringify!($function)),
            Backend::Cuda => assert_ne!(result.0, 0, "{}", stringify!($function)),
        }
    }};
}

/// Runs the calling test on the simulator in a process of its own with `variables` set. What it printed, where it is told to us.
fn in_child(variables: &[(&str, &str)]) -> Option<String> {
    let variables = [&[("WARPSMITH_DEVICE", "simulator")][..], variables].concat();
    match own_process(&variables) {
        Side::Child => None,
        Side::Parent(output) => Some(output.text()),
    }
}

fn has(attribute: CUdevice_attribute) -> bool {
    let value: c_int = get!(cuDeviceGetAttribute(attribute, 0));
    value != 0
}

/// Whether what stands behind a wait has not run after a while.
fn is_held(stream: CUstream, behind: &Flag) -> bool {
    std::thread::sleep(Duration::from_millis(10));
    fails!(600, cuStreamQuery(stream));
    behind.get() == 0
}

#[test]
fn a_wait_holds_its_stream_up_until_the_word_has_the_value() {
    let _turn = turn();
    gpu();
    let (waiting, other) = (stream(), stream());
    let word = Word::new();
    for (condition, value, before, after) in [
        (GEQ, 5, 4, 5),
        (GEQ, 5, 4, 100),
        // Round the circle: 1 comes after the largest number.
        (GEQ, u32::MAX, 0x8000_0000, 1),
        (EQ, 7, 8, 7),
        (AND, 6, 9, 2),
        (NOR, 0xffff_fff0, 0xf, 0xe),
    ] {
        if condition == NOR
            && !has(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_WAIT_VALUE_NOR)
        {
            continue;
        }
        word.store(before);
        let (behind, beside) = (Flag::new(), Flag::new());
        ok!(cuStreamWaitValue32_v2(
            waiting,
            word.address(),
            value,
            condition
        ));
        behind.set_on(waiting, 1);
        beside.set_on(other, 1);
        ok!(cuStreamSynchronize(other));
        assert_eq!(beside.get(), 1, "another stream does not wait");
        assert!(is_held(waiting, &behind), "{condition} {value:#x}");
        word.store(after);
        ok!(cuStreamSynchronize(waiting));
        assert_eq!(behind.get(), 1);
    }
    for stream in [waiting, other] {
        ok!(cuStreamDestroy_v2(stream));
    }
}

#[test]
fn words_may_have_64_bits() {
    let _turn = turn();
    gpu();
    if !has(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS) {
        return;
    }
    let waiting = stream();
    let word = Word::new();
    for (condition, value, before, after) in [
        (GEQ, 1 << 33, 1 << 32, 1 << 34),
        (EQ, 1 << 40, 0, 1 << 40),
        (AND, 3 << 40, 1 << 42, 1 << 41),
    ] {
        word.store_64(before);
        let behind = Flag::new();
        ok!(cuStreamWaitValue64_v2(
            waiting,
            word.address(),
            value,
            condition
        ));
        behind.set_on(waiting, 1);
        assert!(is_held(waiting, &behind), "{condition} {value:#x}");
        word.store_64(after);
        ok!(cuStreamSynchronize(waiting));
        assert_eq!(behind.get(), 1);
    }
    let memory = upload(&[1u64, 2]);
    ok!(cuStreamWriteValue64_v2(waiting, memory + 8, 7 << 33, 0));
    ok!(cuStreamSynchronize(waiting));
    assert_eq!(download::<u64>(memory, 2), [1, 7 << 33]);
    ok!(cuMemFree_v2(memory));
    ok!(cuStreamDestroy_v2(waiting));
}

#[test]
fn one_stream_writes_what_another_waits_for() {
    let _turn = turn();
    gpu();
    let (from, to) = (stream(), stream());
    // Device memory: nobody but streams reaches the word.
    let word = upload(&[0u32]);
    let data = upload(&[0u32; 64]);
    let host = pinned::<u32>(64);
    for round in 1..20 {
        ok!(cuStreamWaitValue32_v2(to, word, round, GEQ));
        ok!(cuMemcpyDtoHAsync_v2(host.cast(), data, 256, to));
        // The write comes after the fill, for who waits for it.
        ok!(cuMemsetD32Async(data, round, 64, from));
        ok!(cuStreamWriteValue32_v2(from, word, round, 0));
        ok!(cuStreamSynchronize(to));
        // SAFETY: page-locked memory of this size, and the copy into it is done.
        let copied = unsafe { std::slice::from_raw_parts(host, 64) };
        assert_eq!(copied, [round; 64]);
    }
    ok!(cuStreamSynchronize(from));
    for memory in [word, data] {
        ok!(cuMemFree_v2(memory));
    }
    ok!(cuMemFreeHost(host.cast()));
    for stream in [from, to] {
        ok!(cuStreamDestroy_v2(stream));
    }
}

#[test]
fn the_host_sees_what_came_before_a_write() {
    let _turn = turn();
    gpu();
    let stream = stream();
    let (word, data) = (Word::new(), pinned::<u32>(256));
    for round in 1..20 {
        ok!(cuMemsetD32Async(data as CUdeviceptr, round, 256, stream));
        ok!(cuStreamWriteValue32_v2(stream, word.address(), round, 0));
        while word.load() != round {
            std::thread::yield_now();
        }
        // SAFETY: page-locked memory of this size; the fill is done, and the next one is enqueued later.
        let seen = unsafe { std::slice::from_raw_parts(data, 256) };
        assert!(seen.iter().all(|&value| value == round));
    }
    ok!(cuStreamSynchronize(stream));
    ok!(cuStreamDestroy_v2(stream));
}

fn wait(address: CUdeviceptr, value: u32, flags: c_uint) -> CUstreamBatchMemOpParams {
    use CUstreamBatchMemOpParams_union_CUstreamMemOpWaitValueParams_st as Wait;
    let mut parameters = CUstreamBatchMemOpParams::default();
    let mut wait = Wait {
        operation: CUstreamBatchMemOpType::CU_STREAM_MEM_OP_WAIT_VALUE_32,
        address,
        flags,
        ..Wait::default()
    };
    wait.__bindgen_anon_1.value = value;
    parameters.waitValue = wait;
    parameters
}

fn write(address: CUdeviceptr, value: u32) -> CUstreamBatchMemOpParams {
    use CUstreamBatchMemOpParams_union_CUstreamMemOpWriteValueParams_st as Write;
    let mut parameters = CUstreamBatchMemOpParams::default();
    let mut write = Write {
        operation: CUstreamBatchMemOpType::CU_STREAM_MEM_OP_WRITE_VALUE_32,
        address,
        ..Write::default()
    };
    write.__bindgen_anon_1.value = value;
    parameters.writeValue = write;
    parameters
}

fn barrier(flags: c_uint) -> CUstreamBatchMemOpParams {
    let mut parameters = CUstreamBatchMemOpParams::default();
    parameters.memoryBarrier = CUstreamBatchMemOpParams_union_CUstreamMemOpMemoryBarrierParams_st {
        operation: CUstreamBatchMemOpType::CU_STREAM_MEM_OP_BARRIER,
        flags,
    };
    parameters
}

fn unknown_operation() -> CUstreamBatchMemOpParams {
    CUstreamBatchMemOpParams {
        operation: CUstreamBatchMemOpType_enum(99),
    }
}

#[test]
fn a_batch_is_executed_in_order() {
    let _turn = turn();
    gpu();
    let stream = stream();
    let (word, results) = (Word::new(), [Word::new(), Word::new()]);
    let mut batch = [
        write(results[0].address(), 1),
        wait(word.address(), 1, EQ),
        write(results[1].address(), 2),
        barrier(0),
        write(results[0].address(), 3),
    ];
    let (count, array) = (batch.len() as c_uint, batch.as_mut_ptr());
    ok!(cuStreamBatchMemOp_v2(stream, count, array, 0));
    // The driver has its own copy.
    batch.fill(write(results[1].address(), 9));
    while results[0].load() != 1 {
        std::thread::yield_now();
    }
    fails!(600, cuStreamQuery(stream));
    assert_eq!(results[1].load(), 0);
    word.store(1);
    ok!(cuStreamSynchronize(stream));
    assert_eq!([results[0].load(), results[1].load()], [3, 2]);
    ok!(cuStreamDestroy_v2(stream));
}

#[test]
fn wrong_arguments_are_refused() {
    let _turn = turn();
    let backend = gpu();
    let stream = stream();
    let word = Word::new();
    let address = word.address();
    // All of these waits would be over at once.
    refuses!(1, cuStreamWaitValue32_v2(stream, address + 2, 0, GEQ));
    refuses!(1, cuStreamWaitValue64_v2(stream, address + 4, 0, GEQ));
    refuses!(1, cuStreamWaitValue32_v2(stream, address, 0, 1 << 20));
    refuses!(1, cuStreamWriteValue32_v2(stream, address + 1, 0, 0));
    refuses!(1, cuStreamWriteValue32_v2(stream, address, 0, 1 << 20));
    refuses!(1, cuStreamWaitValue32_v2(stream, 0, 0, GEQ));
    refuses!(1, cuStreamWriteValue32_v2(stream, 0, 0, 0));
    let mut ordinary = 0u32;
    let unknown = &raw mut ordinary as CUdeviceptr;
    if !has(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS) {
        refuses!(1, cuStreamWriteValue32_v2(stream, unknown, 0, 0));
    }
    let mut batch = [write(address, 1); 256];
    refuses!(1, cuStreamBatchMemOp_v2(stream, 256, batch.as_mut_ptr(), 0));
    refuses!(1, cuStreamBatchMemOp_v2(stream, 1, batch.as_mut_ptr(), 1));
    // One that is wrong spoils the batch.
    for wrong in [write(address + 1, 1), unknown_operation()] {
        let mut batch = [write(address, 1), wrong];
        refuses!(1, cuStreamBatchMemOp_v2(stream, 2, batch.as_mut_ptr(), 0));
    }
    ok!(cuStreamSynchronize(stream));
    assert_eq!(word.load(), 0);
    if !has(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_CAN_FLUSH_REMOTE_WRITES) {
        refuses!(801, cuStreamWaitValue32_v2(stream, address, 0, FLUSH));
    }
    if backend == Backend::Simulator {
        // A real driver (580) reads the array, and the stream behind a handle, whatever they are.
        fails!(1, cuStreamBatchMemOp_v2(stream, 1, null_mut(), 0));
        fails!(
            400,
            cuStreamWriteValue32_v2(0x1234 as CUstream, address, 0, 0)
        );
        // "This flag is not supported in the v2 API", and managed memory cannot be used: the manual does not say what the answer is.
        fails!(1, cuStreamWriteValue32_v2(stream, address, 0, NO_BARRIER));
        let mut managed = 0;
        ok!(cuMemAllocManaged(&mut managed, 64, 1));
        fails!(1, cuStreamWaitValue32_v2(stream, managed, 0, GEQ));
        fails!(1, cuStreamWriteValue32_v2(stream, managed, 0, 0));
        ok!(cuMemFree_v2(managed));
        fails!(1, cuStreamWriteValue32_v2(stream, managed, 0, 0));
    }
    ok!(cuStreamDestroy_v2(stream));
}

/// The functions as they were before CUDA 11.7 are off unless the machine's administrator wants them.
#[test]
fn the_first_interface_is_another_one() {
    if in_child(&[]).is_some() {
        return;
    }
    gpu();
    let (stream, word) = (stream(), Word::new());
    let address = word.address();
    let mut batch = [write(address, 1)];
    fails!(801, cuStreamWaitValue32(stream, address, 0, GEQ));
    fails!(801, cuStreamWaitValue64(stream, address, 0, GEQ));
    fails!(801, cuStreamWriteValue32(stream, address, 1, NO_BARRIER));
    fails!(801, cuStreamBatchMemOp(stream, 1, batch.as_mut_ptr(), 0));
}

#[test]
fn a_device_may_have_the_first_interface() {
    if in_child(&[("WARPSMITH_SIMULATOR_ATTRIBUTES", "92=1,122=0,123=0")]).is_some() {
        return;
    }
    gpu();
    let (stream, word) = (stream(), Word::new());
    let address = word.address();
    ok!(cuStreamWriteValue32(stream, address, 1, NO_BARRIER));
    ok!(cuStreamWaitValue32(stream, address, 1, EQ));
    ok!(cuStreamSynchronize(stream));
    assert_eq!(word.load(), 1);
    // Neither here nor by the second one.
    fails!(801, cuStreamWaitValue64(stream, address, 0, GEQ));
    fails!(801, cuStreamWaitValue32(stream, address, 0, NOR));
    fails!(801, cuStreamWaitValue64_v2(stream, address, 0, GEQ));
    fails!(801, cuStreamWriteValue64_v2(stream, address, 0, 0));
    fails!(801, cuStreamWaitValue32_v2(stream, address, 0, NOR));
    // Nothing but the second one can be captured.
    let mut graph = null_mut();
    ok!(cuStreamBeginCapture_v2(stream, RELAXED));
    fails!(900, cuStreamWriteValue32(stream, address, 1, 0));
    fails!(901, cuStreamEndCapture(stream, &mut graph));
}

#[test]
fn a_destroyed_stream_still_waits() {
    let _turn = turn();
    gpu();
    let stream = stream();
    let (word, behind) = (Word::new(), Flag::new());
    ok!(cuStreamWaitValue32_v2(stream, word.address(), 1, EQ));
    behind.set_on(stream, 1);
    ok!(cuStreamDestroy_v2(stream));
    std::thread::sleep(Duration::from_millis(10));
    assert_eq!(behind.get(), 0);
    word.store(1);
    ok!(cuCtxSynchronize());
    assert_eq!(behind.get(), 1);
}

#[test]
fn captured_operations_are_nodes() {
    let _turn = turn();
    gpu();
    let (captured, other) = (stream(), stream());
    let (word, result) = (Word::new(), Word::new());
    ok!(cuStreamBeginCapture_v2(captured, RELAXED));
    // SAFETY: the stream and the memory live for the test.
    let first = unsafe { cuStreamWaitValue32_v2(captured, word.address(), 3, EQ) };
    if first.0 == 900 {
        // A driver that cannot capture it says so.
        assert_eq!(gpu(), Backend::Cuda);
        let mut graph = null_mut();
        fails!(901, cuStreamEndCapture(captured, &mut graph));
        return;
    }
    assert_eq!(first.0, 0);
    ok!(cuStreamWriteValue32_v2(captured, result.address(), 4, 0));
    let mut graph = null_mut();
    ok!(cuStreamEndCapture(captured, &mut graph));
    let mut count = 0;
    ok!(cuGraphGetNodes(graph, null_mut(), &mut count));
    let mut nodes = vec![null_mut(); count];
    ok!(cuGraphGetNodes(graph, nodes.as_mut_ptr(), &mut count));
    assert!(!nodes.is_empty());
    for &node in &nodes {
        let mut kind = CUgraphNodeType_enum(99);
        ok!(cuGraphNodeGetType(node, &mut kind));
        assert_eq!(kind, CUgraphNodeType::CU_GRAPH_NODE_TYPE_BATCH_MEM_OP);
    }
    let exec: CUgraphExec = get!(cuGraphInstantiateWithFlags(graph, 0));
    for _ in 0..2 {
        word.store(0);
        result.store(0);
        ok!(cuGraphLaunch(exec, captured));
        std::thread::sleep(Duration::from_millis(10));
        fails!(600, cuStreamQuery(captured));
        assert_eq!(result.load(), 0);
        ok!(cuStreamWriteValue32_v2(other, word.address(), 3, 0));
        ok!(cuStreamSynchronize(captured));
        assert_eq!(result.load(), 4);
    }
    ok!(cuStreamSynchronize(other));
    ok!(cuGraphExecDestroy(exec));
    ok!(cuGraphDestroy(graph));
    for stream in [captured, other] {
        ok!(cuStreamDestroy_v2(stream));
    }
}

fn node_parameters(batch: &mut [CUstreamBatchMemOpParams]) -> CUDA_BATCH_MEM_OP_NODE_PARAMS {
    CUDA_BATCH_MEM_OP_NODE_PARAMS {
        ctx: get!(cuCtxGetCurrent()),
        count: batch.len() as c_uint,
        paramArray: batch.as_mut_ptr(),
        flags: 0,
    }
}

#[test]
fn nodes_have_parameters_that_can_be_asked_for_and_changed() {
    let _turn = turn();
    gpu();
    let stream = stream();
    let results = [Word::new(), Word::new()];
    let graph: CUgraph = get!(cuGraphCreate(0));
    let mut batch = [
        write(results[0].address(), 1),
        wait(results[0].address(), 1, EQ),
    ];
    let parameters = node_parameters(&mut batch);
    let node: CUgraphNode = get!(cuGraphAddBatchMemOpNode(graph, null_mut(), 0, &parameters));
    let mut known = CUDA_BATCH_MEM_OP_NODE_PARAMS::default();
    ok!(cuGraphBatchMemOpNodeGetParams(node, &mut known));
    assert_eq!((known.count, known.flags), (2, 0));
    // SAFETY: the array is the node's and has so many entries, the first of which is a write.
    let first = unsafe { (*known.paramArray).writeValue };
    assert_eq!(first.address, results[0].address());

    let exec: CUgraphExec = get!(cuGraphInstantiateWithFlags(graph, 0));
    let run = |exec| {
        ok!(cuGraphLaunch(exec, stream));
        ok!(cuStreamSynchronize(stream));
    };
    run(exec);
    assert_eq!(results[0].load(), 1);

    // Addresses and values may change where the graph is executable already, the kinds of operation may not.
    let mut other = [
        write(results[1].address(), 5),
        wait(results[1].address(), 5, GEQ),
    ];
    let changed = node_parameters(&mut other);
    ok!(cuGraphExecBatchMemOpNodeSetParams(exec, node, &changed));
    run(exec);
    assert_eq!(results[1].load(), 5);
    let mut fewer = [write(results[1].address(), 6)];
    let wrong = node_parameters(&mut fewer);
    refuses!(1, cuGraphExecBatchMemOpNodeSetParams(exec, node, &wrong));
    let mut others = [
        write(results[1].address(), 6),
        write(results[1].address(), 7),
    ];
    let wrong = node_parameters(&mut others);
    refuses!(1, cuGraphExecBatchMemOpNodeSetParams(exec, node, &wrong));

    // The template's node may become anything.
    ok!(cuGraphBatchMemOpNodeSetParams(node, &wrong));
    let again: CUgraphExec = get!(cuGraphInstantiateWithFlags(graph, 0));
    run(again);
    assert_eq!(results[1].load(), 7);
    let mut misplaced = [write(results[1].address() + 2, 6)];
    let wrong = node_parameters(&mut misplaced);
    refuses!(1, cuGraphBatchMemOpNodeSetParams(node, &wrong));
    for exec in [exec, again] {
        ok!(cuGraphExecDestroy(exec));
    }
    ok!(cuGraphDestroy(graph));
    ok!(cuStreamDestroy_v2(stream));
}

/// A device may execute the branches one after the other; the simulator does not.
#[test]
fn branches_that_wait_do_not_hold_the_others_up() {
    let _turn = turn();
    if gpu() != Backend::Simulator {
        return;
    }
    let stream = stream();
    let word = Word::new();
    let graph: CUgraph = get!(cuGraphCreate(0));
    for _ in 0..20 {
        let parameters = &node_parameters(&mut [wait(word.address(), 1, EQ)]);
        let _: CUgraphNode = get!(cuGraphAddBatchMemOpNode(graph, null_mut(), 0, parameters));
    }
    let parameters = &node_parameters(&mut [write(word.address(), 1)]);
    let _: CUgraphNode = get!(cuGraphAddBatchMemOpNode(graph, null_mut(), 0, parameters));
    let exec: CUgraphExec = get!(cuGraphInstantiateWithFlags(graph, 0));
    ok!(cuGraphLaunch(exec, stream));
    ok!(cuStreamSynchronize(stream));
    ok!(cuGraphExecDestroy(exec));
    ok!(cuGraphDestroy(graph));
    ok!(cuStreamDestroy_v2(stream));
}

#[test]
fn a_wait_ends_with_its_context() {
    let _turn = turn();
    if gpu() != Backend::Simulator {
        return;
    }
    let context: CUcontext = get!(cuCtxCreate_v2(0, 0));
    let (stream, word) = (stream(), upload(&[0u32]));
    ok!(cuStreamWaitValue32_v2(stream, word, 1, EQ));
    ok!(cuStreamWriteValue32_v2(stream, word, 2, 0));
    fails!(600, cuStreamQuery(stream));
    ok!(cuCtxDestroy_v2(context));
}

#[test]
fn memory_that_is_freed_during_a_wait_is_a_fault() {
    if in_child(&[("WARPSMITH_REPORT", "0")]).is_some() {
        return;
    }
    gpu();
    let (waiting, other) = (stream(), stream());
    let mut word = 0;
    ok!(cuMemAllocAsync(&mut word, 4, other));
    ok!(cuMemsetD32Async(word, 0, 1, other));
    ok!(cuStreamSynchronize(other));
    ok!(cuStreamWaitValue32_v2(waiting, word, 1, EQ));
    ok!(cuMemFreeAsync(word, other));
    fails!(700, cuStreamSynchronize(waiting));
    let fault = warpsmith_driver::fault(null_mut()).expect("a fault");
    assert!(fault.message.contains("a wait of a stream"), "{fault}");
}

#[test]
fn a_wait_that_takes_long_is_named() {
    let Some(printed) = in_child(&[("WARPSMITH_PATIENCE", "0.05")]) else {
        gpu();
        let (stream, word) = (stream(), Word::new());
        word.store(0x11);
        ok!(cuStreamWaitValue32_v2(stream, word.address(), 0x22, EQ));
        std::thread::sleep(Duration::from_millis(400));
        word.store(0x22);
        ok!(cuStreamSynchronize(stream));
        return;
    };
    let lines: Vec<_> = printed
        .lines()
        .filter(|line| line.contains("a stream has waited"))
        .collect();
    assert_eq!(lines.len(), 1, "{printed}");
    assert!(
        lines[0].contains("it is 0x11, the wait is for `== 0x22`"),
        "{printed}"
    );
}

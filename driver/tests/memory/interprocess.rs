//! Memory and events that processes share by handles.

use crate::common::*;
use warpsmith_testkit::process::{calling_test, is_child, run_in_child};

/// Holds, in the child's environment, the handles that the parent sends: as text, since any way will do.
const HANDLES: &str = "WARPSMITH_TEST_HANDLES";
const LAZY: u32 = 1;
const BYTES: usize = 4 << 20;
const WORDS: usize = BYTES / 4;

fn memory_handle(memory: CUdeviceptr) -> [u8; 64] {
    let handle: CUipcMemHandle = get!(cuIpcGetMemHandle(memory));
    handle.reserved.map(|byte| byte as u8)
}

fn event_handle(event: CUevent) -> [u8; 64] {
    let handle: CUipcEventHandle = get!(cuIpcGetEventHandle(event));
    handle.reserved.map(|byte| byte as u8)
}

fn as_memory(bytes: [u8; 64]) -> CUipcMemHandle {
    CUipcMemHandle {
        reserved: bytes.map(|byte| byte as c_char),
    }
}

fn as_event(bytes: [u8; 64]) -> CUipcEventHandle {
    CUipcEventHandle {
        reserved: bytes.map(|byte| byte as c_char),
    }
}

fn open(handle: [u8; 64]) -> CUdeviceptr {
    get!(cuIpcOpenMemHandle_v2(as_memory(handle), LAZY))
}

fn open_event(handle: [u8; 64]) -> CUevent {
    get!(cuIpcOpenEventHandle(as_event(handle)))
}

/// An event that other processes may open.
fn shared_event() -> CUevent {
    const UNTIMED: u32 = 2;
    const INTERPROCESS: u32 = 4;
    get!(cuEventCreate(UNTIMED | INTERPROCESS))
}

/// Runs a test in another process, which gets these handles.
fn beside(test: &str, handles: &[[u8; 64]]) {
    let text: String = handles
        .iter()
        .flatten()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    run_in_child(test, &[(HANDLES, &text)]);
}

/// The handles that the parent has sent.
fn received<const COUNT: usize>() -> [[u8; 64]; COUNT] {
    let text = std::env::var(HANDLES).expect("the parent sends handles");
    let byte = |at: usize| u8::from_str_radix(&text[2 * at..2 * at + 2], 16).expect("digits");
    core::array::from_fn(|handle| core::array::from_fn(|at| byte(64 * handle + at)))
}

/// Base and bytes of the allocation around an address.
fn range_around(address: CUdeviceptr) -> (CUdeviceptr, usize) {
    let (mut base, mut bytes) = (0, 0);
    ok!(cuMemGetAddressRange_v2(&mut base, &mut bytes, address));
    (base, bytes)
}

fn the_other_process() {
    gpu();
    let [large, small, freed] = received();
    let mut none = 0;
    for flags in [0, 2] {
        fails!(1, cuIpcOpenMemHandle_v2(&mut none, as_memory(large), flags));
    }
    fails!(1, cuIpcOpenMemHandle_v2(null_mut(), as_memory(large), LAZY));
    for wrong in [[0; 64], [9; 64]] {
        fails!(1, cuIpcOpenMemHandle_v2(&mut none, as_memory(wrong), LAZY));
    }
    // An H200 has answered both, 800 and 1.
    // SAFETY: the result is for the call, and the handle is 64 bytes.
    let gone = unsafe { cuIpcOpenMemHandle_v2(&mut none, as_memory(freed), LAZY) };
    assert!(matches!(gone.0, 1 | 800), "{gone:?}");

    let memory = open(large);
    assert_eq!(range_around(memory + 100), (memory, BYTES));
    assert_eq!(download::<u32>(memory, WORDS), vec![7; WORDS]);
    ok!(cuMemsetD32_v2(memory + 4, 99, 1));
    let beside = open(small);
    assert_eq!(range_around(beside), (beside, 256));
    assert_eq!(download::<u32>(beside, 64), [2; 64]);

    // It is the owner's to free and to export.
    fails!(1, cuMemFree_v2(memory));
    fails!(1, cuMemFreeAsync(memory, null_mut()));
    let mut handle = as_memory([0; 64]);
    fails!(1, cuIpcGetMemHandle(&mut handle, memory));
    let mut is_capable = 7u32;
    let key = CUpointer_attribute::CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE;
    ok!(cuPointerGetAttribute(
        (&raw mut is_capable).cast(),
        key,
        memory
    ));
    assert_eq!(is_capable, 0);

    // Opened twice, it is closed twice.
    assert_eq!(open(large), memory);
    fails!(1, cuIpcCloseMemHandle(memory + 4));
    ok!(cuIpcCloseMemHandle(memory));
    assert_eq!(download::<u32>(memory, 2), [7, 99]);
    ok!(cuIpcCloseMemHandle(memory));
    fails!(1, cuIpcCloseMemHandle(memory));
    fails!(1, cuIpcCloseMemHandle(0));
    fails!(1, cuIpcCloseMemHandle(upload(&[1u32])));
    ok!(cuIpcCloseMemHandle(beside));
    ok!(cuCtxSynchronize());
}

#[test]
fn another_process_uses_the_same_memory() {
    // covers: IPC-01
    if is_child() {
        return the_other_process();
    }
    let _turn = turn();
    gpu();
    let large = upload(&vec![7u32; WORDS]);
    let (_first, second) = (upload(&[1u32; 64]), upload(&[2u32; 64]));
    let handle = memory_handle(large);
    assert_eq!(memory_handle(large), handle);
    assert_eq!(
        memory_handle(large + 4096),
        handle,
        "it is the allocation's"
    );
    let freed = upload(&vec![0u32; WORDS]);
    let handle_of_freed = memory_handle(freed);
    ok!(cuMemFree_v2(freed));
    beside(
        &calling_test(),
        &[handle, memory_handle(second), handle_of_freed],
    );
    assert_eq!(download::<u32>(large, 3), [7, 99, 7]);
    ok!(cuMemFree_v2(large));
}

#[test]
fn only_plain_device_memory_is_exported() {
    // covers: UM-15
    let _turn = turn();
    gpu();
    let stream = stream();
    let plain = upload(&[1u32; 64]);
    let managed: CUdeviceptr = get!(cuMemAllocManaged(4096, 1));
    let pooled: CUdeviceptr = get!(cuMemAllocAsync(4096, stream));
    let freed = upload(&[1u32; 64]);
    ok!(cuMemFree_v2(freed));
    let mut handle = as_memory([0; 64]);
    for other in [managed, pooled, pinned::<u32>(4) as u64, 0, freed] {
        fails!(1, cuIpcGetMemHandle(&mut handle, other));
    }
    fails!(1, cuIpcGetMemHandle(null_mut(), plain));
    ok!(cuIpcGetMemHandle(&mut handle, plain));
    // Its owner has it already.
    let mut same = 0;
    fails!(201, cuIpcOpenMemHandle_v2(&mut same, handle, LAZY));
    fails!(1, cuIpcOpenMemHandle_v2(&mut same, handle, 0));
    fails!(1, cuIpcCloseMemHandle(plain));
    ok!(cuMemFreeAsync(pooled, stream));
    for memory in [plain, managed] {
        ok!(cuMemFree_v2(memory));
    }
    ok!(cuStreamSynchronize(stream));
    ok!(cuStreamDestroy_v2(stream));
}

/// The simulator moves the bytes at the first export: what is written meanwhile must not get lost.
#[test]
fn what_is_written_while_memory_is_exported_stays() {
    let _turn = turn();
    gpu();
    let stream = stream();
    for round in 1..=8u32 {
        let memory = upload(&vec![0u32; WORDS]);
        for piece in 0..16 {
            let (at, count) = (piece * WORDS / 16, WORDS / 16);
            ok!(cuMemsetD32Async(
                memory + 4 * at as u64,
                round,
                count,
                stream
            ));
        }
        memory_handle(memory);
        ok!(cuStreamSynchronize(stream));
        assert!(download::<u32>(memory, WORDS) == vec![round; WORDS]);
        ok!(cuMemFree_v2(memory));
    }
    ok!(cuStreamDestroy_v2(stream));
}

/// Waits for the parent's event, answers in memory that both have, and records for the parent.
fn the_process_that_waits() {
    gpu();
    let stream = stream();
    let [begun, answered, words] = received();
    let (begun, answered) = (open_event(begun), open_event(answered));
    let words = open(words);
    fails!(600, cuEventQuery(begun));
    // Word 1 tells the parent that this process waits.
    ok!(cuMemsetD32_v2(words + 4, 1, 1));
    ok!(cuStreamWaitEvent(stream, begun, 0));
    ok!(cuMemcpyDtoDAsync_v2(words + 8, words, 4, stream));
    ok!(cuEventRecord(answered, stream));
    ok!(cuStreamSynchronize(stream));
    ok!(cuEventQuery(begun));
    ok!(cuEventQuery(answered));
    assert_eq!(download::<u32>(words, 3), [5, 1, 5]);

    // Such events measure no time, and only the process that made one exports it.
    let mut time = 0.0;
    fails!(400, cuEventElapsedTime(&mut time, begun, answered));
    let mut handle = as_event([0; 64]);
    fails!(400, cuIpcGetEventHandle(&mut handle, begun));
    let mut none: CUevent = null_mut();
    for wrong in [[0; 64], [9; 64], received::<3>()[2]] {
        fails!(205, cuIpcOpenEventHandle(&mut none, as_event(wrong)));
    }
    let mut memory = 0;
    let wrong = as_memory(received::<1>()[0]);
    fails!(1, cuIpcOpenMemHandle_v2(&mut memory, wrong, LAZY));
    fails!(
        1,
        cuIpcOpenEventHandle(null_mut(), as_event(received::<1>()[0]))
    );

    // Each opening is an event of its own.
    let again = open_event(received::<1>()[0]);
    assert_ne!(again, begun);
    ok!(cuEventDestroy_v2(begun));
    ok!(cuEventQuery(again));
    ok!(cuIpcCloseMemHandle(words));
}

#[test]
fn events_order_the_work_of_two_processes() {
    // covers: IPC-02
    if is_child() {
        return the_process_that_waits();
    }
    let _turn = turn();
    gpu();
    let (working, waiting) = (stream(), stream());
    let (begun, answered) = (shared_event(), shared_event());
    let words = upload(&vec![0u32; WORDS]);
    let handles = [
        event_handle(begun),
        event_handle(answered),
        memory_handle(words),
    ];
    assert_eq!(event_handle(begun), handles[0]);
    ok!(cuEventQuery(begun));
    // The other process sees the recording before it is reached.
    let gate = Word::new();
    ok!(cuStreamWaitValue32_v2(working, gate.address(), 1, 0));
    ok!(cuMemsetD32Async(words, 5, 1, working));
    ok!(cuEventRecord(begun, working));
    fails!(600, cuEventQuery(begun));
    let test = calling_test();
    let child = std::thread::spawn(move || beside(&test, &handles));
    // Nothing here may wait for the whole device, as frees do.
    let waits = Word::new();
    while waits.load() != 1 {
        assert!(!child.is_finished(), "the child never waited");
        ok!(cuMemcpyDtoDAsync_v2(waits.address(), words + 4, 4, waiting));
        ok!(cuStreamSynchronize(waiting));
    }
    gate.store(1);
    child.join().expect("the child passes");
    // What it has recorded this process waits for.
    ok!(cuStreamWaitEvent(waiting, answered, 0));
    ok!(cuStreamSynchronize(waiting));
    ok!(cuEventSynchronize(answered));
    assert_eq!(download::<u32>(words, 3), [5, 1, 5]);
    for event in [begun, answered] {
        ok!(cuEventDestroy_v2(event));
    }
    ok!(cuMemFree_v2(words));
    for stream in [working, waiting] {
        ok!(cuStreamDestroy_v2(stream));
    }
}

#[test]
fn events_that_cannot_be_shared_are_refused() {
    let _turn = turn();
    gpu();
    let (plain, shared): (CUevent, _) = (get!(cuEventCreate(2)), shared_event());
    let mut handle = as_event([0; 64]);
    fails!(400, cuIpcGetEventHandle(&mut handle, plain));
    fails!(1, cuIpcGetEventHandle(&mut handle, null_mut()));
    fails!(1, cuIpcGetEventHandle(null_mut(), shared));
    ok!(cuIpcGetEventHandle(&mut handle, shared));
    let mut same: CUevent = null_mut();
    fails!(201, cuIpcOpenEventHandle(&mut same, handle));
    // Timing and sharing exclude each other.
    fails!(1, cuEventCreate(&mut same, 4));
    let mut time = 0.0;
    fails!(400, cuEventElapsedTime(&mut time, shared, shared));
    for event in [plain, shared] {
        ok!(cuEventDestroy_v2(event));
    }
}

/// In a capture such an event is a node or nothing: it never stands for nodes.
#[test]
fn captures_take_shared_events_as_nodes_alone() {
    const GLOBAL: CUstreamCaptureMode = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_GLOBAL;
    const EXTERNAL: u32 = 1;
    let _turn = turn();
    gpu();
    let (stream, event) = (stream(), shared_event());
    ok!(cuStreamBeginCapture_v2(stream, GLOBAL));
    fails!(900, cuEventRecord(event, stream));
    ok!(cuStreamWaitEvent(stream, event, EXTERNAL));
    ok!(cuEventRecordWithFlags(event, stream, EXTERNAL));
    let graph: CUgraph = get_graph(stream, 0);
    let exec: CUgraphExec = get!(cuGraphInstantiateWithFlags(graph, 0));
    ok!(cuGraphLaunch(exec, stream));
    ok!(cuEventSynchronize(event));
    ok!(cuStreamBeginCapture_v2(stream, GLOBAL));
    fails!(900, cuStreamWaitEvent(stream, event, 0));
    get_graph(stream, 901);
    ok!(cuGraphExecDestroy(exec));
    ok!(cuGraphDestroy(graph));
    ok!(cuEventDestroy_v2(event));
    ok!(cuStreamDestroy_v2(stream));
}

/// Ends a capture, which is to answer this code.
fn get_graph(stream: CUstream, code: u32) -> CUgraph {
    let mut graph: CUgraph = null_mut();
    fails!(code, cuStreamEndCapture(stream, &mut graph));
    graph
}

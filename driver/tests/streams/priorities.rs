//! Priorities of streams, launches and nodes: what they are, and which of the grids that wait come first.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use crate::common::*;
use warpsmith_testkit::process::{calling_test, is_child, run_in_child};
use warpsmith_testkit::{Side, own_process, ptx};

const PRIORITY: CUlaunchAttributeID = CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_PRIORITY;

/// `hold` waits until a word is not zero; `note` writes how many came before it.
const PTX: &str = ptx!(
    "7.0",
    "sm_70",
    ".visible .entry hold(.param .u64 word)
{
.reg .b32 %r; .reg .b64 %a; .reg .pred %p;
ld.param.u64 %a, [word];
again:
ld.volatile.global.u32 %r, [%a];
setp.eq.u32 %p, %r, 0;
@%p bra again;
ret;
}
.visible .entry note(.param .u64 counter, .param .u64 place)
{
.reg .b32 %r; .reg .b64 %a, %b;
ld.param.u64 %a, [counter];
ld.param.u64 %b, [place];
atom.global.add.u32 %r, [%a], 1;
st.global.u32 [%b], %r;
ret;
}\0"
);

fn range() -> (c_int, c_int) {
    let (mut least, mut greatest) = (0, 0);
    ok!(cuCtxGetStreamPriorityRange(&mut least, &mut greatest));
    (least, greatest)
}

fn functions() -> [CUfunction; 2] {
    let module: CUmodule = get!(cuModuleLoadData(PTX.as_ptr().cast()));
    [c"hold", c"note"].map(|name| get!(cuModuleGetFunction(module, name.as_ptr())))
}

/// Launches one thread, with a priority of its own if there is one.
fn launch(function: CUfunction, stream: CUstream, words: &mut [CUdeviceptr], own: Option<c_int>) {
    let mut attribute = CUlaunchAttribute {
        id: PRIORITY,
        ..CUlaunchAttribute::default()
    };
    attribute.value.priority = own.unwrap_or(0);
    let config = CUlaunchConfig {
        gridDimX: 1,
        gridDimY: 1,
        gridDimZ: 1,
        blockDimX: 1,
        blockDimY: 1,
        blockDimZ: 1,
        hStream: stream,
        attrs: &mut attribute,
        numAttrs: c_uint::from(own.is_some()),
        ..CUlaunchConfig::default()
    };
    let mut parameters: Vec<*mut c_void> = words
        .iter_mut()
        .map(|word| core::ptr::from_mut(word).cast())
        .collect();
    ok!(cuLaunchKernelEx(
        &config,
        function,
        parameters.as_mut_ptr(),
        null_mut()
    ));
}

/// A real device has room for more grids than this, and is free in which of them it begins.
#[test]
fn of_the_grids_that_wait_the_most_urgent_comes_first() {
    // covers: STREAM-16
    let variables = [
        ("WARPSMITH_DEVICE", "simulator"),
        ("WARPSMITH_SIMULATOR_GRIDS", "1"),
    ];
    if let Side::Parent(_) = own_process(&variables) {
        return;
    }
    let _turn = turn();
    gpu();
    let (least, greatest) = range();
    let [hold, note] = functions();
    for own in [None, Some(greatest - 10)] {
        // A busy machine may take longer until a grid is ready. Without priorities the last one never is the first to begin.
        let orders = (0..6).map(|attempt| {
            let time = Duration::from_millis(100 << attempt);
            order_of_four(hold, note, (least, greatest), own, time)
        });
        let orders: Vec<_> = orders.scan(false, until_expected).collect();
        assert_eq!(orders.last(), Some(&EXPECTED), "{orders:?}");
    }
}

/// What the counter is when each of four grids begins, behind the number of grids: the last one is urgent.
const EXPECTED: [u32; 5] = [4, 1, 2, 3, 0];

/// Goes on up to the first order that is as expected.
fn until_expected(found: &mut bool, order: [u32; 5]) -> Option<[u32; 5]> {
    (!std::mem::replace(found, order == EXPECTED)).then_some(order)
}

/// Submits four grids while another one takes the only place, each `time` after the one before; the last one has a priority of its `own`, or
/// its stream has the greatest one.
fn order_of_four(
    hold: CUfunction,
    note: CUfunction,
    (least, greatest): (c_int, c_int),
    own: Option<c_int>,
    time: Duration,
) -> [u32; 5] {
    let counter = upload(&[0u32; 5]);
    // SAFETY: page-locked memory of this size, aligned, which lives for the test.
    let word = unsafe { AtomicU32::from_ptr(pinned::<u32>(1)) };
    word.store(0, Ordering::SeqCst);
    let address = core::ptr::from_ref(word) as CUdeviceptr;
    launch(hold, stream(), &mut [address], None);
    let mut streams = Vec::new();
    let mut submit = |priority, own, place: u64| {
        // Time for the grid before to become ready.
        std::thread::sleep(time);
        let stream: CUstream = get!(cuStreamCreateWithPriority(1, priority));
        launch(note, stream, &mut [counter, counter + 4 * place], own);
        streams.push(stream);
    };
    for place in 1..4 {
        submit(least, None, place);
    }
    match own {
        None => submit(greatest, None, 4),
        own => submit(least, own, 4),
    }
    std::thread::sleep(time);
    word.store(1, Ordering::SeqCst);
    ok!(cuCtxSynchronize());
    for stream in streams {
        ok!(cuStreamDestroy_v2(stream));
    }
    download::<u32>(counter, 5).try_into().expect("five words")
}

#[test]
fn nodes_have_the_priority_of_the_stream_that_was_captured() {
    let _turn = turn();
    gpu();
    let (_, greatest) = range();
    let [_, note] = functions();
    let counter = upload(&[0u32; 2]);
    let stream: CUstream = get!(cuStreamCreateWithPriority(1, greatest));
    ok!(cuStreamBeginCapture_v2(
        stream,
        CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED
    ));
    launch(note, stream, &mut [counter, counter + 4], None);
    let mut graph = null_mut();
    ok!(cuStreamEndCapture(stream, &mut graph));
    let (mut node, mut count) = (null_mut(), 1);
    ok!(cuGraphGetNodes(graph, &mut node, &mut count));
    let mut value = CUkernelNodeAttrValue::default();
    let priority = |value: &mut CUkernelNodeAttrValue| {
        ok!(cuGraphKernelNodeGetAttribute(node, PRIORITY, value));
        // SAFETY: the driver has written the attribute's value, a number.
        unsafe { value.priority }
    };
    assert_eq!(priority(&mut value), greatest);
    value.priority = 0;
    ok!(cuGraphKernelNodeSetAttribute(node, PRIORITY, &value));
    assert_eq!(priority(&mut value), 0);
    ok!(cuGraphDestroy(graph));
    ok!(cuMemFree_v2(counter));
    ok!(cuStreamDestroy_v2(stream));
}

/// An executable graph of one launch, whose node has a priority.
fn one_node(
    note: CUfunction,
    words: &mut [CUdeviceptr],
    priority: c_int,
    flags: u64,
) -> CUgraphExec {
    let stream: CUstream = get!(cuStreamCreateWithPriority(1, priority));
    ok!(cuStreamBeginCapture_v2(
        stream,
        CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED
    ));
    launch(note, stream, words, None);
    let mut graph = null_mut();
    ok!(cuStreamEndCapture(stream, &mut graph));
    let exec = get!(cuGraphInstantiateWithFlags(graph, flags));
    ok!(cuGraphDestroy(graph));
    ok!(cuStreamDestroy_v2(stream));
    exec
}

/// What the counter is when two graphs begin that have waited for the only place: the first one has an urgent node and no urgent stream, the
/// second one the other way round.
fn order_of_graphs(flags: u64, time: Duration) -> [u32; 2] {
    let (least, greatest) = range();
    let [hold, note] = functions();
    let counter = upload(&[0u32; 3]);
    // SAFETY: page-locked memory of this size, aligned, which lives for the test.
    let word = unsafe { AtomicU32::from_ptr(pinned::<u32>(1)) };
    word.store(0, Ordering::SeqCst);
    launch(
        hold,
        stream(),
        &mut [core::ptr::from_ref(word) as CUdeviceptr],
        None,
    );
    for (place, node, of_stream) in [(1, greatest, least), (2, least, greatest)] {
        std::thread::sleep(time);
        let exec = one_node(note, &mut [counter, counter + 4 * place], node, flags);
        let stream: CUstream = get!(cuStreamCreateWithPriority(1, of_stream));
        ok!(cuGraphLaunch(exec, stream));
        ok!(cuStreamDestroy_v2(stream));
    }
    std::thread::sleep(time);
    word.store(1, Ordering::SeqCst);
    ok!(cuCtxSynchronize());
    let [_, first, second] = download::<u32>(counter, 3).try_into().expect("three words");
    [first, second]
}

#[test]
fn a_graphs_kernels_have_the_streams_priority_or_their_own() {
    // covers: STREAM-16, ENV-12
    const USE_NODE_PRIORITY: u64 = 8;
    const BY_STREAM: [u32; 2] = [1, 0];
    const BY_NODE: [u32; 2] = [0, 1];
    const VARIABLE: &str = "CUDA_GRAPHS_USE_NODE_PRIORITY";
    if !is_child() {
        for forced in ["", "0", "1"] {
            let variables = [
                ("WARPSMITH_DEVICE", "simulator"),
                ("WARPSMITH_SIMULATOR_GRIDS", "1"),
                (VARIABLE, forced),
            ];
            run_in_child(&calling_test(), &variables);
        }
        return;
    }
    let _turn = turn();
    gpu();
    let forced = std::env::var(VARIABLE).unwrap_or_default();
    for flags in [0, USE_NODE_PRIORITY] {
        let expected = match (forced.as_str(), flags) {
            ("0", _) | ("", 0) => BY_STREAM,
            _ => BY_NODE,
        };
        // A busy machine may take longer until a grid is ready.
        let mut orders =
            (0..6).map(|attempt| order_of_graphs(flags, Duration::from_millis(50 << attempt)));
        assert!(orders.any(|order| order == expected), "{forced:?}, {flags}");
    }
}

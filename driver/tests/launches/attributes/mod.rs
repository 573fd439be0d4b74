//! Attributes of streams, kernel nodes and launches; the L2 cache's set-aside; memory synchronisation domains; programmatic dependent
//! launch.

mod cache;
mod dependent;
mod values;

use crate::common::*;
use std::time::{Duration, Instant};
use warpsmith_testkit::{Side, own_process, ptx};

type Id = CUlaunchAttributeID;
const WINDOW: Id = Id::CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW;
const COOPERATIVE: Id = Id::CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
const SYNC_POLICY: Id = Id::CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY;
const CLUSTER: Id = Id::CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
const SCHEDULING: Id = Id::CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE;
const EARLY: Id = Id::CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
const PROGRAMMATIC_EVENT: Id = Id::CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT;
const PRIORITY: Id = Id::CU_LAUNCH_ATTRIBUTE_PRIORITY;
const DOMAIN_MAP: Id = Id::CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP;
const DOMAIN: Id = Id::CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN;
const COMPLETION_EVENT: Id = Id::CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT;
const CARVEOUT: Id = Id::CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT;

const REMOTE: CUlaunchMemSyncDomain = CUlaunchMemSyncDomain::CU_LAUNCH_MEM_SYNC_DOMAIN_REMOTE;

/// What the driver answers where its manual names no code: one place to correct.
mod expected {
    /// An attribute on an object that cannot have it.
    pub const WRONG_HOLDER: u32 = 1;
    /// A window beyond the device's maximum, a ratio beyond 0 to 1, misses that persist.
    pub const BAD_WINDOW: u32 = 1;
    /// A physical domain that the device has not, a logical one that is none.
    pub const BAD_DOMAIN: u32 = 1;
    /// A synchronisation or scheduling policy that is none.
    pub const BAD_POLICY: u32 = 1;
    /// An event with timing for a programmatic event or a launch completion event.
    pub const TIMED_EVENT: u32 = 801;
    /// A set-aside beyond the maximum.
    pub const SET_ASIDE_BEYOND: u32 = 1;
    /// A limit that is none.
    pub const UNKNOWN_LIMIT: u32 = 1;
    /// A launch completion event in a capture: type and outgoing port of the edge.
    pub const STARTED_EDGE: (u8, u8) = (0, 2);
}

/// `add` adds a number to a word. `primary` lets dependents begin, then spends time and writes 1 to each word; `dependent` waits for it
/// and writes the sum of both. `meet` lets dependents begin and waits for a word; `greet` writes that word before it waits. `fail` writes to address 64.
const PTX: &str = ptx!(
    "7.8",
    "sm_90",
    ".visible .entry add(.param .u64 word, .param .u32 number)
{
.reg .b32 %r<3>; .reg .b64 %a;
ld.param.u64 %a, [word];
ld.param.u32 %r0, [number];
atom.global.add.u32 %r1, [%a], %r0;
ret;
}
.visible .entry primary(.param .u64 words, .param .u32 value)
{
.reg .b32 %r<6>; .reg .b64 %a<3>; .reg .pred %p;
ld.param.u64 %a0, [words];
ld.param.u32 %r3, [value];
griddepcontrol.wait;
griddepcontrol.launch_dependents;
griddepcontrol.launch_dependents;
mov.u32 %r1, 0;
again:
nanosleep.u32 1000;
add.u32 %r1, %r1, 1;
setp.lt.u32 %p, %r1, 20;
@%p bra again;
mov.u32 %r2, %ctaid.x;
mul.wide.u32 %a1, %r2, 4;
add.u64 %a2, %a0, %a1;
ld.global.u32 %r4, [%a2];
add.u32 %r4, %r4, %r3;
st.global.u32 [%a2], %r4;
ret;
}
.visible .entry dependent(.param .u64 words, .param .u64 sums)
{
.reg .b32 %r<6>; .reg .b64 %a<6>;
ld.param.u64 %a0, [words];
ld.param.u64 %a1, [sums];
mov.u32 %r0, %ctaid.x;
mul.wide.u32 %a2, %r0, 4;
add.u64 %a3, %a0, %a2;
add.u64 %a4, %a1, %a2;
griddepcontrol.wait;
ld.global.u32 %r1, [%a3];
ld.global.u32 %r2, [%a4];
add.u32 %r1, %r1, %r2;
st.global.u32 [%a4], %r1;
ret;
}
.visible .entry meet(.param .u64 word)
{
.reg .b32 %r; .reg .b64 %a; .reg .pred %p;
ld.param.u64 %a, [word];
griddepcontrol.launch_dependents;
again:
ld.volatile.global.u32 %r, [%a];
setp.eq.u32 %p, %r, 0;
@%p bra again;
ret;
}
.visible .entry greet(.param .u64 word)
{
.reg .b32 %r; .reg .b64 %a;
ld.param.u64 %a, [word];
mov.u32 %r, 1;
st.volatile.global.u32 [%a], %r;
griddepcontrol.wait;
ret;
}
.visible .entry fail()
{
.reg .b64 %a;
griddepcontrol.launch_dependents;
mov.u64 %a, 64;
st.global.u32 [%a], 1;
ret;
}
.visible .entry hold(.param .u64 word)
{
.reg .b32 %r; .reg .b64 %a; .reg .pred %p;
ld.param.u64 %a, [word];
again:
ld.volatile.global.u32 %r, [%a];
setp.eq.u32 %p, %r, 0;
@%p bra again;
ret;
}\0"
);

fn function(name: &core::ffi::CStr) -> CUfunction {
    let module: CUmodule = get!(cuModuleLoadData(PTX.as_ptr().cast()));
    get!(cuModuleGetFunction(module, name.as_ptr()))
}

fn device_attribute(attribute: CUdevice_attribute) -> usize {
    let value: c_int = get!(cuDeviceGetAttribute(attribute, 0));
    usize::try_from(value).unwrap()
}

fn attribute(id: Id, set: impl FnOnce(&mut CUlaunchAttributeValue)) -> CUlaunchAttribute {
    let mut value = CUlaunchAttributeValue::default();
    set(&mut value);
    CUlaunchAttribute {
        id,
        value,
        ..CUlaunchAttribute::default()
    }
}

fn window(base: CUdeviceptr, bytes: usize, hit_ratio: f32) -> CUaccessPolicyWindow {
    CUaccessPolicyWindow {
        base_ptr: base as *mut c_void,
        num_bytes: bytes,
        hitRatio: hit_ratio,
        hitProp: CUaccessProperty::CU_ACCESS_PROPERTY_PERSISTING,
        missProp: CUaccessProperty::CU_ACCESS_PROPERTY_STREAMING,
    }
}

fn window_attribute(window: CUaccessPolicyWindow) -> CUlaunchAttribute {
    attribute(WINDOW, |value| value.accessPolicyWindow = window)
}

fn remote_domain() -> CUlaunchAttribute {
    attribute(DOMAIN, |value| value.memSyncDomain = REMOTE)
}

fn domain_map(default_: u8, remote: u8) -> CUlaunchAttribute {
    attribute(DOMAIN_MAP, |value| {
        value.memSyncDomainMap = CUlaunchMemSyncDomainMap { default_, remote }
    })
}

fn early() -> CUlaunchAttribute {
    attribute(EARLY, |value| {
        value.programmaticStreamSerializationAllowed = 1
    })
}

fn programmatic_event(event: CUevent, at_block_start: c_int) -> CUlaunchAttribute {
    attribute(PROGRAMMATIC_EVENT, |value| {
        value.programmaticEvent.event = event;
        value.programmaticEvent.flags = 0;
        value.programmaticEvent.triggerAtBlockStart = at_block_start;
    })
}

fn completion_event(event: CUevent) -> CUlaunchAttribute {
    attribute(COMPLETION_EVENT, |value| {
        value.launchCompletionEvent.event = event;
        value.launchCompletionEvent.flags = 0;
    })
}

fn untimed() -> CUevent {
    get!(cuEventCreate(CUevent_flags::CU_EVENT_DISABLE_TIMING.0))
}

/// A launch of `blocks` blocks of one thread: the code that it answers.
fn try_launch(
    function: CUfunction,
    blocks: c_uint,
    stream: CUstream,
    words: &mut [u64],
    attributes: &mut [CUlaunchAttribute],
) -> u32 {
    let config = CUlaunchConfig {
        gridDimX: blocks,
        gridDimY: 1,
        gridDimZ: 1,
        blockDimX: 1,
        blockDimY: 1,
        blockDimZ: 1,
        hStream: stream,
        attrs: attributes.as_mut_ptr(),
        numAttrs: c_uint::try_from(attributes.len()).unwrap(),
        ..CUlaunchConfig::default()
    };
    let mut parameters: Vec<*mut c_void> = words
        .iter_mut()
        .map(|word| core::ptr::from_mut(word).cast())
        .collect();
    // SAFETY: configuration, attributes and parameters outlive the call and are those of the kernel.
    unsafe { cuLaunchKernelEx(&config, function, parameters.as_mut_ptr(), null_mut()) }.0
}

fn launch(
    function: CUfunction,
    blocks: c_uint,
    stream: CUstream,
    words: &mut [u64],
    attributes: &mut [CUlaunchAttribute],
) {
    assert_eq!(try_launch(function, blocks, stream, words, attributes), 0);
}

fn set_stream(stream: CUstream, attribute: &CUlaunchAttribute) {
    ok!(cuStreamSetAttribute(stream, attribute.id, &attribute.value));
}

fn stream_value(stream: CUstream, id: Id) -> CUlaunchAttributeValue {
    let mut value = CUlaunchAttributeValue::default();
    ok!(cuStreamGetAttribute(stream, id, &mut value));
    value
}

fn node_value(node: CUgraphNode, id: Id) -> CUlaunchAttributeValue {
    let mut value = CUlaunchAttributeValue::default();
    ok!(cuGraphKernelNodeGetAttribute(node, id, &mut value));
    value
}

fn window_of(value: &CUlaunchAttributeValue) -> (usize, usize, f32, u32, u32) {
    // SAFETY: the driver has written a window.
    let window = unsafe { value.accessPolicyWindow };
    (
        window.base_ptr as usize,
        window.num_bytes,
        window.hitRatio,
        window.hitProp.0,
        window.missProp.0,
    )
}

fn domain_of(value: &CUlaunchAttributeValue) -> u32 {
    // SAFETY: the driver has written a domain.
    unsafe { value.memSyncDomain }.0
}

fn map_of(value: &CUlaunchAttributeValue) -> (u8, u8) {
    // SAFETY: the driver has written a map.
    let map = unsafe { value.memSyncDomainMap };
    (map.default_, map.remote)
}

fn begin(stream: CUstream) {
    ok!(cuStreamBeginCapture_v2(
        stream,
        CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED
    ));
}

fn end(stream: CUstream) -> CUgraph {
    let mut graph = null_mut();
    ok!(cuStreamEndCapture(stream, &mut graph));
    graph
}

fn nodes(graph: CUgraph) -> Vec<CUgraphNode> {
    let mut count = 0;
    ok!(cuGraphGetNodes(graph, null_mut(), &mut count));
    let mut nodes = vec![null_mut(); count];
    ok!(cuGraphGetNodes(graph, nodes.as_mut_ptr(), &mut count));
    nodes
}

/// Type and outgoing port of each edge.
fn edges(graph: CUgraph) -> Vec<(u8, u8)> {
    // Room for more than there are: a question for the number alone has no place for the edges' data.
    let mut count = 8;
    let (mut from, mut to) = ([null_mut(); 8], [null_mut(); 8]);
    let mut data = [CUgraphEdgeData::default(); 8];
    ok!(cuGraphGetEdges_v2(
        graph,
        from.as_mut_ptr(),
        to.as_mut_ptr(),
        data.as_mut_ptr(),
        &mut count
    ));
    let data = &data[..count];
    assert!(data.iter().all(|edge| edge.to_port == 0));
    data.iter()
        .map(|edge| (edge.type_, edge.from_port))
        .collect()
}

fn run(graph: CUgraph, stream: CUstream) {
    let exec: CUgraphExec = get!(cuGraphInstantiateWithFlags(graph, 0));
    ok!(cuGraphLaunch(exec, stream));
    ok!(cuStreamSynchronize(stream));
    ok!(cuGraphExecDestroy(exec));
}

//! Attributes of streams, kernel nodes and launches; the L2 cache's set-aside; memory synchronisation domains; programmatic dependent
//! launch.

mod common;
use std::time::{Duration, Instant};

use common::*;
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

#[test]
fn the_device_says_how_much_of_its_cache_can_be_set_aside() {
    // covers: L2-01, DOMAIN-05
    let _turn = turn();
    gpu();
    type A = CUdevice_attribute;
    let cache = device_attribute(A::CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
    let most = device_attribute(A::CU_DEVICE_ATTRIBUTE_MAX_PERSISTING_L2_CACHE_SIZE);
    let widest = device_attribute(A::CU_DEVICE_ATTRIBUTE_MAX_ACCESS_POLICY_WINDOW_SIZE);
    assert!(most > 0 && most < cache && widest > 0);
    assert_eq!(
        device_attribute(A::CU_DEVICE_ATTRIBUTE_MEM_SYNC_DOMAIN_COUNT),
        4
    );
}

#[test]
fn a_set_aside_is_a_wish_that_is_read_back() {
    // covers: L2-02, L2-09
    let _turn = turn();
    gpu();
    let most =
        device_attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_PERSISTING_L2_CACHE_SIZE);
    let limit = CUlimit::CU_LIMIT_PERSISTING_L2_CACHE_SIZE;
    let before: usize = get!(cuCtxGetLimit(limit));
    for wish in [0, most / 2, most] {
        ok!(cuCtxSetLimit(limit, wish));
        let got: usize = get!(cuCtxGetLimit(limit));
        assert!(got <= most, "{got} of {most}");
        assert!(wish == 0 || got > 0);
    }
    fails!(expected::SET_ASIDE_BEYOND, cuCtxSetLimit(limit, 2 * most));
    assert!(get!(cuCtxGetLimit(limit)) <= most);
    ok!(cuCtxResetPersistingL2Cache());
    ok!(cuCtxSetLimit(limit, before));
}

#[test]
fn the_other_limits_can_be_asked_and_set() {
    // covers: ERROR-06
    let _turn = turn();
    gpu();
    for (limit, value) in [
        (CUlimit::CU_LIMIT_STACK_SIZE, 4096),
        (CUlimit::CU_LIMIT_PRINTF_FIFO_SIZE, 2 << 20),
        (CUlimit::CU_LIMIT_MALLOC_HEAP_SIZE, 16 << 20),
    ] {
        let before: usize = get!(cuCtxGetLimit(limit));
        ok!(cuCtxSetLimit(limit, value));
        assert!(get!(cuCtxGetLimit(limit)) >= value);
        // A heap that kernels have used cannot be changed; this process has none.
        ok!(cuCtxSetLimit(limit, before));
    }
    let granularity = CUlimit::CU_LIMIT_MAX_L2_FETCH_GRANULARITY;
    let before: usize = get!(cuCtxGetLimit(granularity));
    ok!(cuCtxSetLimit(granularity, 32));
    assert!(get!(cuCtxGetLimit(granularity)) <= 128);
    ok!(cuCtxSetLimit(granularity, before));
    fails!(expected::UNKNOWN_LIMIT, cuCtxSetLimit(CUlimit_enum(99), 1));
}

#[test]
fn a_stream_keeps_its_attributes_and_hands_them_on() {
    // covers: L2-04, L2-08, DOMAIN-04
    let _turn = turn();
    gpu();
    let memory = upload(&[0_u32; 1024]);
    let (one, other) = (stream(), stream());
    assert_eq!(window_of(&stream_value(one, WINDOW)).1, 0);
    assert_eq!(map_of(&stream_value(one, DOMAIN_MAP)), (0, 1));
    assert_eq!(domain_of(&stream_value(one, DOMAIN)), 0);
    let given = window(memory, 4096, 0.5);
    set_stream(one, &window_attribute(given));
    set_stream(one, &domain_map(2, 3));
    set_stream(one, &remote_domain());
    let policy = CUsynchronizationPolicy::CU_SYNC_POLICY_BLOCKING_SYNC;
    set_stream(
        one,
        &attribute(SYNC_POLICY, |value| value.syncPolicy = policy),
    );
    ok!(cuStreamCopyAttributes(other, one));
    for stream in [one, other] {
        let got = window_of(&stream_value(stream, WINDOW));
        assert_eq!(got, (memory as usize, 4096, 0.5, 2, 1));
        assert_eq!(map_of(&stream_value(stream, DOMAIN_MAP)), (2, 3));
        assert_eq!(domain_of(&stream_value(stream, DOMAIN)), REMOTE.0);
        let value = stream_value(stream, SYNC_POLICY);
        // SAFETY: the driver has written a policy.
        let got = unsafe { value.syncPolicy };
        assert_eq!(got, policy);
    }
    // No bytes: no window.
    set_stream(one, &window_attribute(window(memory, 0, 0.5)));
    assert_eq!(window_of(&stream_value(one, WINDOW)).1, 0);
    assert_eq!(window_of(&stream_value(other, WINDOW)).1, 4096);
    // The window changes nothing but speed.
    launch(function(c"add"), 3, other, &mut [memory, 5], &mut []);
    ok!(cuStreamSynchronize(other));
    assert_eq!(download::<u32>(memory, 1), [15]);
    ok!(cuStreamDestroy_v2(one));
    ok!(cuStreamDestroy_v2(other));
    ok!(cuMemFree_v2(memory));
}

#[test]
fn values_that_cannot_be_are_refused() {
    // covers: L2-06, L2-07, DOMAIN-04
    let _turn = turn();
    gpu();
    let memory = upload(&[0_u32; 64]);
    let (stream, add) = (stream(), function(c"add"));
    let widest =
        device_attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_ACCESS_POLICY_WINDOW_SIZE);
    let mut persistent_misses = window(memory, 256, 1.0);
    persistent_misses.missProp = CUaccessProperty::CU_ACCESS_PROPERTY_PERSISTING;
    let windows = [
        window(memory, widest + 1, 1.0),
        window(memory, 256, 1.25),
        window(memory, 256, -0.25),
        persistent_misses,
    ];
    let refused = windows
        .map(|window| (expected::BAD_WINDOW, window_attribute(window)))
        .into_iter()
        .chain([
            (expected::BAD_DOMAIN, domain_map(4, 0)),
            (expected::BAD_DOMAIN, domain_map(0, 200)),
            (
                expected::BAD_DOMAIN,
                attribute(DOMAIN, |value| {
                    value.memSyncDomain = CUlaunchMemSyncDomain(2)
                }),
            ),
        ]);
    for (number, (code, attribute)) in refused.enumerate() {
        let call = format!("value {number} of attribute {}", attribute.id.0);
        // SAFETY: the value is one of the attribute's type.
        let answer = unsafe { cuStreamSetAttribute(stream, attribute.id, &attribute.value) };
        assert_eq!(answer.0, code, "{call} of a stream");
        let answer = try_launch(add, 1, stream, &mut [memory, 1], &mut [attribute]);
        assert_eq!(answer, code, "{call} of a launch");
    }
    for policy in [0, 9] {
        let bad = attribute(SYNC_POLICY, |value| {
            value.syncPolicy = CUsynchronizationPolicy(policy)
        });
        fails!(
            expected::BAD_POLICY,
            cuStreamSetAttribute(stream, SYNC_POLICY, &bad.value)
        );
    }
    let bad = attribute(SCHEDULING, |value| {
        value.clusterSchedulingPolicyPreference = CUclusterSchedulingPolicy(99)
    });
    let answer = try_launch(add, 1, stream, &mut [memory, 1], &mut [bad]);
    assert_eq!(answer, expected::BAD_POLICY);
    // A real driver (580) reads and writes what it is given.
    if gpu() == Backend::Simulator {
        fails!(1, cuStreamSetAttribute(stream, WINDOW, null()));
        fails!(1, cuStreamGetAttribute(stream, WINDOW, null_mut()));
    }
    // The stream is as it was, and nothing ran.
    assert_eq!(window_of(&stream_value(stream, WINDOW)).1, 0);
    ok!(cuStreamSynchronize(stream));
    assert_eq!(download::<u32>(memory, 1), [0]);
    ok!(cuStreamDestroy_v2(stream));
    ok!(cuMemFree_v2(memory));
}

#[test]
fn who_cannot_have_an_attribute_refuses_it() {
    // covers: MODEL-25
    let _turn = turn();
    gpu();
    let memory = upload(&[0_u32]);
    let (stream, add) = (stream(), function(c"add"));
    let cooperative = attribute(COOPERATIVE, |value| value.cooperative = 1);
    let cluster = attribute(CLUSTER, |value| {
        value.clusterDim = CUlaunchAttributeValue_union__bindgen_ty_1 { x: 1, y: 1, z: 1 }
    });
    let nobody = attribute(CUlaunchAttributeID_enum(99), |_| ());
    for attribute in [cooperative, cluster, early(), nobody] {
        fails!(
            expected::WRONG_HOLDER,
            cuStreamSetAttribute(stream, attribute.id, &attribute.value)
        );
    }
    let policy = attribute(SYNC_POLICY, |value| {
        value.syncPolicy = CUsynchronizationPolicy::CU_SYNC_POLICY_SPIN
    });
    for attribute in [policy, nobody] {
        let answer = try_launch(add, 1, stream, &mut [memory, 1], &mut [attribute]);
        assert_eq!(answer, expected::WRONG_HOLDER, "{}", attribute.id.0);
    }
    begin(stream);
    launch(add, 1, stream, &mut [memory, 1], &mut []);
    let graph = end(stream);
    let [node] = nodes(graph)[..] else {
        panic!("one node");
    };
    for attribute in [policy, early(), nobody] {
        fails!(
            expected::WRONG_HOLDER,
            cuGraphKernelNodeSetAttribute(node, attribute.id, &attribute.value)
        );
    }
    ok!(cuGraphDestroy(graph));
    ok!(cuStreamDestroy_v2(stream));
    ok!(cuMemFree_v2(memory));
}

#[test]
fn a_launch_has_many_attributes_at_once() {
    // covers: MODEL-25, L2-05, DOMAIN-02, SHMEM-04
    let _turn = turn();
    gpu();
    let memory = upload(&[0_u32; 64]);
    let (stream, add, event) = (stream(), function(c"add"), untimed());
    let mut all = [
        attribute(Id::CU_LAUNCH_ATTRIBUTE_IGNORE, |_| ()),
        window_attribute(window(memory, 256, 1.0)),
        attribute(CLUSTER, |value| {
            value.clusterDim = CUlaunchAttributeValue_union__bindgen_ty_1 { x: 2, y: 1, z: 1 }
        }),
        attribute(SCHEDULING, |value| {
            value.clusterSchedulingPolicyPreference =
                CUclusterSchedulingPolicy::CU_CLUSTER_SCHEDULING_POLICY_SPREAD
        }),
        attribute(PRIORITY, |value| value.priority = -1),
        domain_map(1, 2),
        remote_domain(),
        attribute(CARVEOUT, |value| value.sharedMemCarveout = 50),
        completion_event(event),
    ];
    launch(add, 4, stream, &mut [memory, 3], &mut all);
    ok!(cuEventSynchronize(event));
    ok!(cuStreamSynchronize(stream));
    assert_eq!(download::<u32>(memory, 1), [12]);
    ok!(cuEventDestroy_v2(event));
    ok!(cuStreamDestroy_v2(stream));
    ok!(cuMemFree_v2(memory));
}

#[test]
fn nodes_have_the_attributes_of_the_stream_and_the_launch_that_were_captured() {
    // covers: L2-05, DOMAIN-06
    let _turn = turn();
    gpu();
    let memory = upload(&[0_u32; 64]);
    let (origin, add) = (stream(), function(c"add"));
    set_stream(origin, &window_attribute(window(memory, 128, 0.25)));
    set_stream(origin, &domain_map(3, 2));
    begin(origin);
    launch(add, 1, origin, &mut [memory, 1], &mut [remote_domain()]);
    launch(add, 1, origin, &mut [memory, 2], &mut []);
    let graph = end(origin);
    // What the stream is given now is nothing to the nodes.
    set_stream(origin, &domain_map(0, 0));
    let [first, second] = nodes(graph)[..] else {
        panic!("two nodes");
    };
    for (node, domain) in [(first, REMOTE.0), (second, 0)] {
        let got = window_of(&node_value(node, WINDOW));
        assert_eq!(got, (memory as usize, 128, 0.25, 2, 1));
        assert_eq!(map_of(&node_value(node, DOMAIN_MAP)), (3, 2));
        assert_eq!(domain_of(&node_value(node, DOMAIN)), domain);
    }
    let narrow = window_attribute(window(memory, 64, 1.0));
    ok!(cuGraphKernelNodeSetAttribute(second, WINDOW, &narrow.value));
    ok!(cuGraphKernelNodeCopyAttributes(first, second));
    for node in [first, second] {
        assert_eq!(window_of(&node_value(node, WINDOW)).1, 64);
        assert_eq!(domain_of(&node_value(node, DOMAIN)), 0);
    }
    let too_large = window_attribute(window(memory, 64, 2.0));
    fails!(
        expected::BAD_WINDOW,
        cuGraphKernelNodeSetAttribute(second, WINDOW, &too_large.value)
    );
    // A copied node has them, too.
    let clone: CUgraph = get!(cuGraphClone(graph));
    let mut copied = null_mut();
    ok!(cuGraphNodeFindInClone(&mut copied, first, clone));
    assert_eq!(window_of(&node_value(copied, WINDOW)).1, 64);
    run(graph, origin);
    assert_eq!(download::<u32>(memory, 1), [3]);
    ok!(cuGraphDestroy(clone));
    ok!(cuGraphDestroy(graph));
    ok!(cuStreamDestroy_v2(origin));
    ok!(cuMemFree_v2(memory));
}

/// Blocks of the grids below.
const BLOCKS: c_uint = 8;

#[test]
fn a_dependent_grid_sees_what_it_waits_for() {
    // covers: PDL-01, PDL-02, PDL-03, PDL-04
    let _turn = turn();
    gpu();
    let (primary, dependent) = (function(c"primary"), function(c"dependent"));
    let stream = stream();
    for attributes in [&mut [][..], &mut [early()][..]] {
        let (words, sums) = (upload(&[0_u32; 8]), upload(&[0_u32; 8]));
        for round in 1..=10 {
            launch(primary, BLOCKS, stream, &mut [words, 1], attributes);
            launch(dependent, BLOCKS, stream, &mut [words, sums], attributes);
            if round % 4 == 0 {
                // Something else between, which nothing overtakes.
                ok!(cuMemsetD32Async(words, round, 8, stream));
            }
        }
        ok!(cuStreamSynchronize(stream));
        // 1, 2, 3, 4, then 4 + 1 ... 4 + 4, then 8 + 1, 8 + 2.
        assert_eq!(download::<u32>(sums, 8), [55; 8]);
        assert_eq!(download::<u32>(words, 8), [10; 8]);
        ok!(cuMemFree_v2(words));
        ok!(cuMemFree_v2(sums));
    }
    ok!(cuStreamDestroy_v2(stream));
}

/// Two grids that each wait for the other run only where the second begins early, which no driver promises.
#[test]
fn the_simulator_begins_a_dependent_grid_as_early_as_it_may() {
    // covers: PDL-01, PDL-04
    if let Side::Parent(_) = own_process(&[("WARPSMITH_DEVICE", "simulator")]) {
        return;
    }
    gpu();
    let (meet, greet) = (function(c"meet"), function(c"greet"));
    let stream = stream();
    let word = upload(&[0_u32]);
    for _ in 0..20 {
        ok!(cuMemsetD32Async(word, 0, 1, stream));
        launch(meet, 4, stream, &mut [word], &mut []);
        launch(greet, 1, stream, &mut [word], &mut [early()]);
    }
    ok!(cuStreamSynchronize(stream));
    assert_eq!(download::<u32>(word, 1), [1]);
}

/// With room for one grid it begins as late as it may: two grids that each wait for the other are a deadlock.
#[test]
fn the_simulator_finds_grids_that_count_on_overlap() {
    // covers: PDL-04
    let variables = [
        ("WARPSMITH_DEVICE", "simulator"),
        ("WARPSMITH_SIMULATOR_GRIDS", "1"),
        ("WARPSMITH_PATIENCE", "1"),
    ];
    if let Side::Parent(_) = own_process(&variables) {
        return;
    }
    gpu();
    let (meet, greet) = (function(c"meet"), function(c"greet"));
    let stream = stream();
    let word = upload(&[0_u32]);
    launch(meet, 4, stream, &mut [word], &mut []);
    launch(greet, 1, stream, &mut [word], &mut [early()]);
    // SAFETY: the stream is alive.
    let answer = unsafe { cuStreamSynchronize(stream) };
    assert_ne!(answer.0, 0, "the deadlock is reported");
}

#[test]
fn a_dependent_of_a_grid_that_fails_ends_with_it() {
    // covers: PDL-02
    if let Side::Parent(_) = own_process(&[]) {
        return;
    }
    gpu();
    let (fail, dependent) = (function(c"fail"), function(c"dependent"));
    let stream = stream();
    let (words, sums) = (upload(&[1_u32; 8]), upload(&[0_u32; 8]));
    launch(fail, 1, stream, &mut [], &mut []);
    // The fault may be known already.
    let answer = try_launch(
        dependent,
        BLOCKS,
        stream,
        &mut [words, sums],
        &mut [early()],
    );
    assert!(matches!(answer, 0 | 700), "{answer}");
    fails!(700, cuStreamSynchronize(stream));
}

#[test]
fn an_event_tells_that_all_blocks_have_begun() {
    // covers: PDL-05
    let _turn = turn();
    gpu();
    let (hold, event, stream) = (function(c"hold"), untimed(), stream());
    let flag = Flag::new();
    launch(
        hold,
        BLOCKS,
        stream,
        &mut [flag.address()],
        &mut [completion_event(event)],
    );
    // A driver may let it complete with the grid: best effort.
    let deadline = Instant::now() + Duration::from_millis(500);
    let mut begun = false;
    while !begun && Instant::now() < deadline {
        // SAFETY: the event is alive.
        begun = unsafe { cuEventQuery(event) }.0 == 0;
    }
    fails!(600, cuStreamQuery(stream));
    // SAFETY: page-locked memory of this size, aligned, which lives for the test.
    let word = unsafe { std::sync::atomic::AtomicU32::from_ptr(flag.address() as *mut u32) };
    word.store(1, std::sync::atomic::Ordering::SeqCst);
    ok!(cuEventSynchronize(event));
    ok!(cuStreamSynchronize(stream));
    let simulated = gpu() == Backend::Simulator;
    assert!(begun || !simulated, "the simulator tells at once");
    ok!(cuEventDestroy_v2(event));
    ok!(cuStreamDestroy_v2(stream));
}

#[test]
fn a_programmatic_event_orders_streams() {
    // covers: PDL-05
    let _turn = turn();
    gpu();
    let (primary, dependent) = (function(c"primary"), function(c"dependent"));
    let (one, other, event) = (stream(), stream(), untimed());
    let (words, sums) = (upload(&[0_u32; 8]), upload(&[0_u32; 8]));
    for at_block_start in [0, 1] {
        let mut attributes = [programmatic_event(event, at_block_start)];
        launch(primary, BLOCKS, one, &mut [words, 1], &mut attributes);
        ok!(cuStreamWaitEvent(other, event, 0));
        launch(dependent, BLOCKS, other, &mut [words, sums], &mut []);
        ok!(cuStreamSynchronize(other));
        ok!(cuStreamSynchronize(one));
    }
    assert_eq!(download::<u32>(sums, 8), [3; 8]);
    let timed: CUevent = get!(cuEventCreate(0));
    for bad in [programmatic_event(timed, 0), completion_event(timed)] {
        let answer = try_launch(primary, BLOCKS, one, &mut [words, 1], &mut [bad]);
        assert_eq!(answer, expected::TIMED_EVENT, "attribute {}", bad.id.0);
    }
    for memory in [words, sums] {
        ok!(cuMemFree_v2(memory));
    }
    for event in [event, timed] {
        ok!(cuEventDestroy_v2(event));
    }
    for stream in [one, other] {
        ok!(cuStreamDestroy_v2(stream));
    }
}

#[test]
fn captured_dependencies_are_programmatic_edges() {
    // covers: PDL-06, GRAPH-15, GRAPH-16, GRAPH-17
    let _turn = turn();
    gpu();
    let (primary, dependent) = (function(c"primary"), function(c"dependent"));
    let (one, other, event) = (stream(), stream(), untimed());
    let (words, sums) = (upload(&[0_u32; 8]), upload(&[0_u32; 8]));
    // In one stream.
    begin(one);
    launch(primary, BLOCKS, one, &mut [words, 1], &mut []);
    launch(dependent, BLOCKS, one, &mut [words, sums], &mut [early()]);
    let serial = end(one);
    assert_eq!(edges(serial), [(1, 1)]);
    let (mut from, mut to, mut count) = (null_mut(), null_mut(), 1);
    fails!(402, cuGraphGetEdges(serial, &mut from, &mut to, &mut count));
    // The number alone drops nothing.
    let mut count = 0;
    let none = null_mut();
    ok!(cuGraphGetEdges_v2(
        serial,
        null_mut(),
        null_mut(),
        none,
        &mut count
    ));
    assert_eq!(count, 1);
    run(serial, one);
    assert_eq!(download::<u32>(sums, 8), [1; 8]);
    ok!(cuGraphDestroy(serial));
    // From stream to stream.
    for (attribute, edge) in [
        (programmatic_event(event, 0), (1, 1)),
        (programmatic_event(event, 1), (1, 2)),
        (completion_event(event), expected::STARTED_EDGE),
    ] {
        begin(one);
        launch(primary, BLOCKS, one, &mut [words, 1], &mut [attribute]);
        ok!(cuStreamWaitEvent(other, event, 0));
        launch(dependent, BLOCKS, other, &mut [words, sums], &mut []);
        let joined = untimed();
        ok!(cuEventRecord(joined, other));
        ok!(cuStreamWaitEvent(one, joined, 0));
        // A node after both streams, as a capture ends with all joined.
        ok!(cuMemsetD32Async(words, 0, 8, one));
        let graph = end(one);
        assert!(edges(graph).contains(&edge), "{:?}", edges(graph));
        ok!(cuGraphDestroy(graph));
        ok!(cuEventDestroy_v2(joined));
    }
    for memory in [words, sums] {
        ok!(cuMemFree_v2(memory));
    }
    ok!(cuEventDestroy_v2(event));
    for stream in [one, other] {
        ok!(cuStreamDestroy_v2(stream));
    }
}

#[test]
fn programmatic_edges_can_be_given_and_taken() {
    // covers: PDL-06, GRAPH-14, GRAPH-16
    let _turn = turn();
    gpu();
    let (primary, dependent) = (function(c"primary"), function(c"dependent"));
    let stream = stream();
    let (words, sums) = (upload(&[0_u32; 8]), upload(&[0_u32; 8]));
    let graph: CUgraph = get!(cuGraphCreate(0));
    let node = |function, values: &mut [u64]| {
        let mut pointers: Vec<*mut c_void> = values
            .iter_mut()
            .map(|value| core::ptr::from_mut(value).cast())
            .collect();
        let parameters = CUDA_KERNEL_NODE_PARAMS {
            func: function,
            gridDimX: BLOCKS,
            gridDimY: 1,
            gridDimZ: 1,
            blockDimX: 1,
            blockDimY: 1,
            blockDimZ: 1,
            kernelParams: pointers.as_mut_ptr(),
            ..CUDA_KERNEL_NODE_PARAMS::default()
        };
        let mut node = null_mut();
        ok!(cuGraphAddKernelNode_v2(
            &mut node,
            graph,
            null(),
            0,
            &parameters
        ));
        node
    };
    let from = node(primary, &mut [words, 4]);
    let to = node(dependent, &mut [words, sums]);
    let edge = |from_port, to_port, type_| CUgraphEdgeData {
        from_port,
        to_port,
        type_,
        reserved: [0; 5],
    };
    for bad in [edge(0, 0, 1), edge(3, 0, 1), edge(1, 1, 1), edge(0, 0, 9)] {
        fails!(1, cuGraphAddDependencies_v2(graph, &from, &to, &bad, 1));
    }
    for port in [2, 1] {
        let good = edge(port, 0, 1);
        ok!(cuGraphAddDependencies_v2(graph, &from, &to, &good, 1));
        assert_eq!(edges(graph), [(1, port)]);
        if port == 2 {
            ok!(cuGraphRemoveDependencies_v2(graph, &from, &to, &good, 1));
            assert_eq!(edges(graph), []);
        }
    }
    run(graph, stream);
    assert_eq!(download::<u32>(sums, 8), [4; 8]);
    ok!(cuGraphDestroy(graph));
    for memory in [words, sums] {
        ok!(cuMemFree_v2(memory));
    }
    ok!(cuStreamDestroy_v2(stream));
}

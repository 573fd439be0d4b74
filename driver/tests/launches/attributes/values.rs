//! Who has which attribute, and which values.

use super::*;

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

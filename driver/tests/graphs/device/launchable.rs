//! Which graphs kernels may launch, from where, and which launches are refused.

use super::*;

#[test]
fn only_work_of_one_device_can_be_launched_by_kernels() {
    // covers: DGRAPH-02
    let _turn = turn();
    let setting = Setting::new();
    let memory = upload(&[0u32; 64]);
    let accepted = (0, 0, null_mut());
    let refused = |node: CUgraphNode| (1, 3, node);
    let outcome = |graph| instantiated(graph, DEVICE_LAUNCH);

    let page_locked = pinned::<u32>(64) as CUdeviceptr;
    let managed: CUdeviceptr = get!(cuMemAllocManaged(256, 1));
    for from in [memory + 128, page_locked, managed] {
        let graph = graph();
        let first = copy_node(graph, &[], memory, from, 64);
        fill_node(graph, &[first], memory, 1, 4);
        assert_eq!(outcome(graph), accepted, "a copy from {from:#x}");
        let parent = self::graph();
        let _: CUgraphNode = get!(cuGraphAddChildGraphNode(parent, null(), 0, graph));
        assert_eq!(outcome(parent), accepted, "in a child graph");
    }
    assert_eq!(outcome(setting.template("current", &[memory])), accepted);

    // Empty ones name no node.
    let empty = graph();
    assert_eq!(outcome(empty), (1, 1, null_mut()));
    let parent = graph();
    let _: CUgraphNode = get!(cuGraphAddChildGraphNode(parent, null(), 0, empty));
    assert_eq!(outcome(parent).0, 1, "an empty child");

    let with = |add: &dyn Fn(CUgraph) -> CUgraphNode| {
        let graph = graph();
        let node = add(graph);
        assert_eq!(outcome(graph), refused(node));
        assert_eq!(
            instantiated(graph, 0),
            accepted,
            "for the host it is a graph"
        );
    };
    let event: CUevent = get!(cuEventCreate(0));
    ok!(cuEventRecord(event, setting.stream));
    let pageable = Box::leak(Box::new([0u32; 64])).as_mut_ptr() as CUdeviceptr;
    let context: CUcontext = get!(cuCtxGetCurrent());
    with(&|graph| get!(cuGraphAddEmptyNode(graph, null(), 0)));
    with(&|graph| get!(cuGraphAddEventRecordNode(graph, null(), 0, event)));
    with(&|graph| get!(cuGraphAddEventWaitNode(graph, null(), 0, event)));
    with(&|graph| {
        let nothing = CUDA_HOST_NODE_PARAMS {
            fn_: Some(does_nothing),
            userData: null_mut(),
        };
        get!(cuGraphAddHostNode(graph, null(), 0, &nothing))
    });
    with(&|graph| {
        let mut from_host = copy(memory, 0, 64);
        from_host.srcMemoryType = CUmemorytype::CU_MEMORYTYPE_HOST;
        from_host.srcHost = pageable as *const c_void;
        get!(cuGraphAddMemcpyNode(graph, null(), 0, &from_host, context))
    });
}

unsafe extern "C" fn does_nothing(_: *mut c_void) {}

#[test]
fn flags_of_instantiation() {
    // covers: DGRAPH-01
    let _turn = turn();
    let setting = Setting::new();
    let graph = setting.template("script", &setting.script(1, &[]));
    let told = |flags| {
        let exec: CUgraphExec = get!(cuGraphInstantiateWithFlags(graph, flags));
        let mut told = UNSET.into();
        ok!(cuGraphExecGetFlags(exec, &mut told));
        ok!(cuGraphExecDestroy(exec));
        told
    };
    // Free at the next launch, for kernels, by the nodes' priorities.
    for (flags, expected) in [(0, 0), (1, 1), (4, 4), (8, 0), (12, 4)] {
        assert_eq!(told(flags), expected, "flags {flags}");
        assert_eq!(instantiated(graph, flags).0, 0, "flags {flags}");
    }
    let mut exec = null_mut();
    for flags in [5, 7, 13, 16] {
        fails!(1, cuGraphInstantiateWithFlags(&mut exec, graph, flags));
        assert_eq!(instantiated(graph, flags).0, 1, "flags {flags}");
    }
    // An upload needs a stream.
    for flags in [2, 6] {
        fails!(1, cuGraphInstantiateWithFlags(&mut exec, graph, flags));
        assert_eq!(instantiated(graph, flags).0, 0, "flags {flags}");
    }
}

#[test]
fn a_kernel_launches_what_was_uploaded() {
    // covers: DGRAPH-03, DGRAPH-05
    let _turn = turn();
    let setting = Setting::new();
    let exec = for_device(setting.template("script", &setting.script(5, &[])));
    // An H200 answers the same in a fresh process, and hung where graphs had been destroyed before.
    if gpu() == Backend::Simulator {
        setting.run(&[(exec, FIRE_AND_FORGET)]);
        assert_eq!(setting.answers(1), [REFUSED], "never uploaded");
        assert_eq!(setting.logged(), [0]);
    }

    // One: a launch by the host.
    launch(exec, setting.stream);
    assert_eq!(setting.logged(), [5]);
    setting.run(&[(exec, FIRE_AND_FORGET)]);
    assert_eq!(
        (setting.answers(1), setting.logged()),
        (vec![DONE], vec![0, 5])
    );

    // Two: an upload.
    setting.run(&[(setting.appends(6), TAIL)]);
    assert_eq!(
        (setting.answers(1), setting.logged()),
        (vec![DONE], vec![0, 6])
    );

    // Three: an upload by the instantiation.
    let graph = setting.template("script", &setting.script(7, &[]));
    let mut parameters = CUDA_GRAPH_INSTANTIATE_PARAMS {
        flags: DEVICE_LAUNCH | UPLOAD,
        hUploadStream: setting.stream,
        ..Default::default()
    };
    let exec: CUgraphExec = get!(cuGraphInstantiateWithParams(graph, &mut parameters));
    ok!(cuStreamSynchronize(setting.stream));
    setting.run(&[(exec, SIBLING)]);
    assert_eq!(
        (setting.answers(1), setting.logged()),
        (vec![DONE], vec![0, 7])
    );
}

#[test]
fn changes_reach_kernels_with_the_next_upload() {
    let _turn = turn();
    let setting = Setting::new();
    let (kernel, first) = (setting.kernel("script"), graph());
    let node = kernel_node(first, &[], kernel, 1, &setting.script(1, &[]));
    let exec = for_device(first);
    setting.upload(exec);
    let launched = || {
        setting.run(&[(exec, FIRE_AND_FORGET)]);
        setting.logged()[1..].to_vec()
    };

    let mut values = setting.script(2, &[]);
    let mut pointers = pointers_to(&mut values);
    let changed = kernel_parameters(kernel, 1, &mut pointers);
    ok!(cuGraphExecKernelNodeSetParams_v2(exec, node, &changed));
    assert_eq!(launched(), [1]);
    setting.upload(exec);
    assert_eq!(launched(), [2]);

    let second = setting.template("script", &setting.script(3, &[]));
    let _: CUgraphExecUpdateResultInfo = {
        let mut result = CUgraphExecUpdateResultInfo::default();
        ok!(cuGraphExecUpdate_v2(exec, second, &mut result));
        result
    };
    assert_eq!(launched(), [2]);
    ok!(cuGraphNodeSetEnabled(exec, node, 0));
    setting.upload(exec);
    assert!(launched().is_empty());
}

#[test]
fn only_the_three_named_streams_launch() {
    // covers: DGRAPH-06
    let _turn = turn();
    let setting = Setting::new();
    let exec = setting.appends(5);
    let others = [
        0,
        1,
        2,
        setting.stream as u64,
        0x0400_0000_0000_0000,
        TAIL + 1,
    ];
    for mode in others {
        setting.run(&[(exec, mode)]);
        assert_eq!(setting.answers(1), [REFUSED], "stream {mode:#x}");
    }
    setting.run(&[(null_mut(), FIRE_AND_FORGET)]);
    assert_eq!(setting.answers(1), [REFUSED], "no graph");
    assert_eq!(setting.logged(), vec![0; others.len() + 1]);
    for mode in [TAIL, FIRE_AND_FORGET, SIBLING] {
        setting.run(&[(exec, mode)]);
        assert_eq!(
            (setting.answers(1), setting.logged()),
            (vec![DONE], vec![0, 5])
        );
    }
}

#[test]
fn a_kernel_outside_of_graphs_launches_none() {
    let _turn = turn();
    let setting = Setting::new();
    let exec = setting.appends(5);
    let mut values = [exec as u64, FIRE_AND_FORGET, setting.codes];
    let mut pointers = pointers_to(&mut values);
    let kernel = setting.kernel("launch");
    let parameters = pointers.as_mut_ptr();
    fails!(
        801,
        cuLaunchKernel(
            kernel,
            1,
            1,
            1,
            1,
            1,
            1,
            0,
            setting.stream,
            parameters,
            null_mut()
        )
    );
    ok!(cuStreamSynchronize(setting.stream));
    assert!(setting.logged().is_empty());
}

#[test]
fn a_graph_that_runs_is_not_launched_again() {
    // covers: DGRAPH-07
    let _turn = turn();
    let setting = Setting::new();
    for mode in [TAIL, FIRE_AND_FORGET, SIBLING] {
        setting.run_threads(setting.appends_late(5), mode, 32);
        let mut answers = setting.answers(32);
        answers.sort_unstable();
        assert_eq!(answers[..2], [DONE, REFUSED], "mode {mode:#x}");
        assert_eq!(answers[31], REFUSED);
        assert_eq!(setting.logged(), [5]);
    }
    let slow = setting.appends_late(1);
    for [first, second] in [
        [FIRE_AND_FORGET, FIRE_AND_FORGET],
        [TAIL, TAIL],
        [FIRE_AND_FORGET, TAIL],
        [SIBLING, TAIL],
    ] {
        setting.run(&[(slow, first), (slow, second)]);
        assert_eq!(setting.answers(2), [DONE, REFUSED]);
        assert_eq!(setting.logged(), [0, 1]);
    }
    // While the host's launch of it runs. That is undefined: an H200 answers the same, but the next launch by a kernel may hang.
    if gpu() != Backend::Simulator {
        return;
    }
    let (other, started, graph) = (stream(), Word::new(), graph());
    let first = kernel_node(graph, &[], setting.kernel("set"), 1, &[started.address()]);
    let late = setting.kernel("late");
    kernel_node(graph, &[first], late, 1, &[setting.log, 1]);
    let slow = for_device(graph);
    setting.upload(slow);
    ok!(cuGraphLaunch(slow, other));
    while started.load() == 0 {
        std::thread::yield_now();
    }
    setting.run(&[(slow, FIRE_AND_FORGET)]);
    ok!(cuStreamSynchronize(other));
    assert_eq!(setting.answers(1), [REFUSED]);
}

/// On a GPU what happens is undefined.
#[test]
fn the_simulator_reports_a_launch_by_the_host_beside_one_by_a_kernel() {
    // covers: DGRAPH-07
    let _turn = turn();
    if gpu() != Backend::Simulator {
        return;
    }
    let context = OwnContext::new();
    let setting = Setting::load();
    let slow = setting.appends_late(1);
    let parent =
        instantiate(setting.template("script", &setting.script(0, &[(slow, FIRE_AND_FORGET)])));
    ok!(cuGraphLaunch(parent, setting.stream));
    while download::<u32>(setting.codes, 1) == [UNSET] {
        std::thread::yield_now();
    }
    let other = stream();
    ok!(cuGraphLaunch(slow, other));
    fails!(999, cuStreamSynchronize(other));
    let report = context.report();
    assert!(
        report.contains("while a launch of it by a kernel is still running"),
        "{report}"
    );
}

#[test]
fn as_many_as_there_is_room_for() {
    // covers: DGRAPH-08, DGRAPH-10
    let _turn = turn();
    let setting = Setting::new();
    let graphs: Vec<CUgraphExec> = (0..258).map(|tag| setting.appends(tag)).collect();
    for (mode, most) in [(FIRE_AND_FORGET, 120), (SIBLING, 120), (TAIL, 255)] {
        let launches: Vec<_> = graphs.iter().map(|&exec| (exec, mode)).collect();
        let exec = instantiate(setting.template("script", &setting.script(300, &launches)));
        // The count starts anew with each launch.
        for _ in 0..2 {
            launch(exec, setting.stream);
            let answers = setting.answers(258);
            let accepted = answers.iter().take_while(|&&answer| answer == DONE).count();
            assert_eq!(accepted, most, "mode {mode:#x}");
            assert!(answers[most..].iter().all(|&answer| answer == REFUSED));
            let mut logged = setting.logged();
            if mode != TAIL {
                // Nothing orders them.
                logged[1..].sort_unstable();
            }
            assert_eq!(logged[0], 300);
            assert!(logged[1..].iter().copied().eq(0..most as u32), "{logged:?}");
        }
    }
}

/// On a GPU it is an illegal address, without more (and of a destroyed graph, undefined).
#[test]
fn a_handle_of_no_graph_for_kernels_is_a_fault() {
    // covers: DGRAPH-01
    let _turn = turn();
    if gpu() != Backend::Simulator {
        return;
    }
    let context = OwnContext::new();
    let setting = Setting::load();
    let exec = instantiate(setting.template("script", &setting.script(5, &[])));
    let parent = instantiate(setting.template("script", &setting.script(0, &[(exec, TAIL)])));
    ok!(cuGraphLaunch(parent, setting.stream));
    fails!(700, cuStreamSynchronize(setting.stream));
    let report = context.report();
    assert!(report.contains("no executable graph"), "{report}");
    assert!(report.contains("script"), "{report}");
}

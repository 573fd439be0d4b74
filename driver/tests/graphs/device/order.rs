//! In what order the graphs run: children, siblings and tails.

use super::*;

#[test]
fn a_tail_comes_after_the_children_and_a_stream_after_all() {
    // covers: DGRAPH-09, DGRAPH-10, DGRAPH-13
    let _turn = turn();
    let setting = Setting::new();
    let (child, tail) = (setting.appends_late(1), setting.appends(2));
    for (mode, order) in [(FIRE_AND_FORGET, [0, 1, 2, 3]), (SIBLING, [0, 2, 1, 3])] {
        let launches = [(child, mode), (tail, TAIL)];
        let exec = instantiate(setting.template("script", &setting.script(0, &launches)));
        let next = instantiate(setting.template("script", &setting.script(3, &[])));
        ok!(cuGraphLaunch(exec, setting.stream));
        ok!(cuGraphLaunch(next, setting.stream));
        ok!(cuStreamSynchronize(setting.stream));
        assert_eq!(setting.answers(2), [DONE, DONE]);
        assert_eq!(setting.logged(), order, "mode {mode:#x}");
    }
    // A grandchild: the child ends after it, so the tail of the parent comes last.
    let grandchild = setting.appends_late(11);
    let child = setting.on_device(
        "script",
        &setting.script(10, &[(grandchild, FIRE_AND_FORGET)]),
    );
    setting.run(&[(tail, TAIL), (child, FIRE_AND_FORGET)]);
    assert_eq!(setting.logged(), [0, 10, 11, 2]);
}

#[test]
fn tails_of_a_tail_come_before_the_next_tail() {
    // covers: DGRAPH-11
    let _turn = turn();
    let setting = Setting::new();
    let [p, q, y] = [3, 4, 2].map(|tag| setting.appends(tag));
    let x = setting.on_device("script", &setting.script(1, &[(p, TAIL), (q, TAIL)]));
    setting.run(&[(x, TAIL), (y, TAIL)]);
    assert_eq!(setting.logged(), [0, 1, 3, 4, 2]);
}

#[test]
fn a_graph_launches_itself_as_its_tail() {
    // covers: DGRAPH-12
    let _turn = turn();
    let setting = Setting::new();
    for (again, answers) in [(1, [DONE, UNSET]), (2, [DONE, REFUSED])] {
        let exec = setting.on_device("relaunch", &[setting.log, 5, again, setting.codes]);
        launch(exec, setting.stream);
        assert_eq!(setting.answers(2), answers);
        assert_eq!(download::<u32>(setting.log, 1), [5]);
        setting.logged();
    }

    let out = upload(&[77_u64]);
    let read = || download::<u64>(out, 1)[0];
    let graph = setting.template("current", &[out]);
    launch(instantiate(graph), setting.stream);
    assert_eq!(read(), 0, "a graph that only the host launches");
    let exec = for_device(graph);
    launch(exec, setting.stream);
    assert_eq!(read(), exec as u64);
    ok!(cuMemsetD8_v2(out, 0, 8));
    ok!(cuCtxSynchronize());
    setting.run(&[(exec, FIRE_AND_FORGET)]);
    assert_eq!(read(), exec as u64, "launched by a kernel");
    let parent = self::graph();
    let _: CUgraphNode = get!(cuGraphAddChildGraphNode(parent, null(), 0, graph));
    let parent = for_device(parent);
    launch(parent, setting.stream);
    assert_eq!(read(), parent as u64, "in a child graph");

    // Outside of graphs.
    let mut values = [out];
    let mut pointers = pointers_to(&mut values);
    let (kernel, parameters) = (setting.kernel("current"), pointers.as_mut_ptr());
    ok!(cuLaunchKernel(
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
    ));
    ok!(cuStreamSynchronize(setting.stream));
    assert_eq!(read(), 0);
}

#[test]
fn a_sibling_holds_up_no_tail() {
    // covers: DGRAPH-13
    let _turn = turn();
    let setting = Setting::new();
    let (word, seen) = (upload(&[0u32]), upload(&[0u32]));
    let watch = setting.on_device("watch", &[word, seen]);
    let set = setting.on_device("set", &[word]);
    setting.run(&[(watch, SIBLING), (set, TAIL)]);
    assert_eq!(download::<u32>(seen, 1), [1]);
    // A child does: the tail comes after it, and it waits in vain.
    ok!(cuMemsetD32_v2(word, 0, 1));
    ok!(cuMemsetD32_v2(seen, 0, 1));
    ok!(cuCtxSynchronize());
    setting.run(&[(watch, FIRE_AND_FORGET), (set, TAIL)]);
    assert_eq!(download::<u32>(seen, 1), [0]);
    assert_eq!(download::<u32>(word, 1), [1]);
}

//! Changes of single nodes of executable graphs: what they change, from when on, and what is refused.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::common::{Add, add, add_node, gpu, launch_add, module};
use warpsmith_host::KernelNode;
use warpsmith_host::prelude::*;

pub fn set_add(
    exec: &mut GraphExec,
    node: KernelNode,
    add: &Add,
    buffer: &mut DeviceBuffer<u32>,
    value: u32,
) -> Result<()> {
    let grid = Grid::cover(buffer.len(), 128);
    // SAFETY: the entry takes a slice and a number, and writes only the slice.
    unsafe { exec.set_kernel_untyped(node, add, grid, (buffer, value)) }
}

// covers: GRAPH-53, GRAPH-54
#[test]
fn a_change_counts_from_the_next_launch_on() -> Result<()> {
    let gpu = gpu();
    let module = module(&gpu);
    let add = add(&module);
    let (stream, other) = (gpu.stream()?, gpu.stream()?);
    let flag = gpu.flag(0_u32)?;
    let mut sum = stream.zeroed::<u32>(100)?;
    let mut graph = gpu.graph()?;
    let node = add_node(&mut graph, &add, &mut sum, 1000);
    let mut ready = graph.instantiate()?;
    drop(graph);
    // All are queued behind the flag.
    stream.wait_value(&flag, Wait::Equal(1))?;
    for value in 1..=50 {
        set_add(&mut ready, node, &add, &mut sum, value)?;
        ready.launch(if value % 2 == 0 { &stream } else { &other })?;
    }
    flag.set(1);
    assert_eq!(other.download(&sum)?, [50 * 51 / 2; 100]);
    Ok(())
}

// covers: GRAPH-54
#[test]
fn old_and_new_memory_live_until_launches_are_done() -> Result<()> {
    let gpu = gpu();
    let module = module(&gpu);
    let add = add(&module);
    let (stream, other) = (gpu.stream()?, gpu.stream()?);
    let flag = gpu.flag(0_u32)?;
    let mut result = stream.zeroed::<u32>(1000)?;
    let mut first = stream.filled(1000, 1_u32)?;
    let mut graph = gpu.graph()?;
    let node = add_node(&mut graph, &add, &mut first, 1);
    let copy = graph.copy(&first, &mut result)?;
    let mut ready = graph.instantiate()?;
    drop(graph);
    stream.wait_value(&flag, Wait::Equal(1))?;
    ready.launch(&stream)?;
    // The second buffer comes from another stream, and is in order with the launch there.
    let mut second = other.filled(1000, 10_u32)?;
    ready.set_copy(copy, &second, &mut result)?;
    set_add(&mut ready, node, &add, &mut second, 5)?;
    drop(first);
    // What takes memory meanwhile gets none that the launch uses.
    let noise = (0..4)
        .map(|_| other.filled(1000, 99_u32))
        .collect::<Result<Vec<_>>>()?;
    ready.launch(&stream)?;
    launch_add(&other, &add, &mut second, 100);
    drop(noise);
    flag.set(1);
    assert_eq!(stream.download(&result)?, [15; 1000]);
    assert_eq!(other.download(&second)?, [115; 1000]);
    drop(second);
    ready.launch(&stream)?;
    assert_eq!(stream.download(&result)?, [120; 1000]);
    Ok(())
}

// covers: GRAPH-50
#[test]
fn memory_that_would_be_in_no_order_is_refused_by_name() -> Result<()> {
    let gpu = gpu();
    let module = module(&gpu);
    let add = add(&module);
    let stream = gpu.stream()?;
    let (mut a, mut b) = (stream.zeroed::<u32>(100)?, stream.zeroed::<u32>(100)?);
    let mut c = stream.zeroed::<u32>(100)?;
    let mut graph = gpu.graph()?;
    let one = add_node(&mut graph, &add, &mut a, 1);
    let two = add_node(&mut graph, &add, &mut b, 2);
    let mut ready = graph.instantiate()?;
    let error = set_add(&mut ready, one, &add, &mut b, 5).unwrap_err();
    assert!(
        error.to_string().contains("would use the same memory")
            && error.to_string().contains("depend"),
        "{error}"
    );
    // All is as it was.
    ready.launch(&stream)?;
    assert_eq!(stream.download(&a)?, [1; 100]);
    assert_eq!(stream.download(&b)?, [2; 100]);
    // Memory that no other node uses, and then that which this one has left.
    set_add(&mut ready, one, &add, &mut c, 5)?;
    set_add(&mut ready, two, &add, &mut a, 7)?;
    assert!(set_add(&mut ready, one, &add, &mut a, 7).is_err());
    set_add(&mut ready, one, &add, &mut b, 9)?;
    ready.launch(&stream)?;
    assert_eq!(stream.download(&a)?, [8; 100]);
    assert_eq!(stream.download(&b)?, [11; 100]);
    assert_eq!(stream.download(&c)?, [0; 100]);
    // With an edge, also one over other nodes, it may.
    let between = graph.empty()?;
    graph.depend(one, between)?;
    graph.depend(between, two)?;
    let mut ready = graph.instantiate()?;
    set_add(&mut ready, one, &add, &mut b, 1)?;
    ready.launch(&stream)?;
    assert_eq!(stream.download(&b)?, [14; 100]);
    // An edge that orders beginnings alone does not do.
    let mut graph = gpu.graph()?;
    let one = add_node(&mut graph, &add, &mut a, 1);
    let two = add_node(&mut graph, &add, &mut b, 2);
    graph.depend_started(one, two)?;
    let mut ready = graph.instantiate()?;
    assert!(set_add(&mut ready, two, &add, &mut a, 5).is_err());
    Ok(())
}

// covers: GRAPH-53
#[test]
fn nodes_of_other_graphs_are_refused_by_name() -> Result<()> {
    let gpu = gpu();
    let module = module(&gpu);
    let add = add(&module);
    let stream = gpu.stream()?;
    let mut a = stream.zeroed::<u32>(100)?;
    let (mut graph, mut other) = (gpu.graph()?, gpu.graph()?);
    let node = add_node(&mut graph, &add, &mut a, 1);
    let foreign = add_node(&mut other, &add, &mut a, 2);
    let mut inside = None;
    let condition = graph.condition(1)?;
    graph.if_then(condition, |body| {
        inside = Some(add_node(body, &add, &mut a, 4));
        Ok(())
    })?;
    // Which object is which does not depend on where they lie.
    std::mem::swap(&mut graph, &mut other);
    let mut ready = other.instantiate()?;
    let mut second = graph.instantiate()?;
    for (foreign, why) in [
        (foreign, "another graph"),
        (inside.expect("a node"), "stands in a body of"),
    ] {
        let error = set_add(&mut ready, foreign, &add, &mut a, 5).unwrap_err();
        assert!(error.to_string().contains(why), "{error}");
        let error = ready.set_enabled(foreign, false).unwrap_err();
        assert!(error.to_string().contains(why), "{error}");
    }
    std::mem::swap(&mut ready, &mut second);
    drop((graph, other));
    set_add(&mut ready, foreign, &add, &mut a, 100)?;
    assert!(set_add(&mut ready, node, &add, &mut a, 100).is_err());
    set_add(&mut second, node, &add, &mut a, 1000)?;
    ready.launch(&stream)?;
    second.launch(&stream)?;
    assert_eq!(stream.download(&a)?, [1104; 100]);
    Ok(())
}

// covers: GRAPH-53
#[test]
fn one_graph_can_be_given_to_two_children() -> Result<()> {
    let gpu = gpu();
    let stream = gpu.stream()?;
    let calls = Arc::new(AtomicU32::new(0));
    let calling = |by: u32| -> Result<Graph> {
        let calls = calls.clone();
        let mut graph = gpu.graph()?;
        graph.host(move || {
            calls.fetch_add(by, Ordering::SeqCst);
        })?;
        Ok(graph)
    };
    let (first, second, third) = (calling(1)?, calling(10)?, calling(100)?);
    let mut graph = gpu.graph()?;
    let (one, two) = (graph.child(&first)?, graph.child(&first)?);
    let mut ready = graph.instantiate()?;
    let mut expected = 0;
    for (node, other, by) in [
        (one, &second, 11),
        (two, &second, 20),
        (one, &third, 110),
        (two, &third, 200),
        (one, &first, 101),
    ] {
        ready.set_child(node, other)?;
        ready.launch(&stream)?;
        stream.synchronize()?;
        gpu.synchronize()?;
        expected += by;
        assert_eq!(calls.load(Ordering::SeqCst), expected);
    }
    let mut other = gpu.graph()?;
    other.empty()?;
    other.empty()?;
    assert!(ready.set_child(one, &other).is_err(), "another shape");
    ready.launch(&stream)?;
    stream.synchronize()?;
    assert_eq!(calls.load(Ordering::SeqCst), expected + 101);
    Ok(())
}

// covers: GRAPH-57
#[test]
fn what_is_off_keeps_its_place_and_its_changes() -> Result<()> {
    let gpu = gpu();
    let module = module(&gpu);
    let add = add(&module);
    let stream = gpu.stream()?;
    let mut words = stream.zeroed::<u32>(64)?;
    let mut copy = stream.zeroed::<u32>(64)?;
    let make = |value, words: &mut DeviceBuffer<u32>, copy: &mut DeviceBuffer<u32>| -> Result<_> {
        let mut graph = gpu.graph()?;
        let fill = graph.fill(words, 1)?;
        let node = add_node(&mut graph, &add, words, value);
        let last = graph.copy(words, copy)?;
        Ok((graph, fill, node, last))
    };
    let (graph, fill, node, last) = make(10, &mut words, &mut copy)?;
    let mut ready = graph.instantiate()?;
    ready.set_enabled(node, false)?;
    assert!(!ready.is_enabled(node)? && ready.is_enabled(fill)?);
    ready.launch(&stream)?;
    assert_eq!(stream.download(&copy)?, [1; 64]);
    set_add(&mut ready, node, &add, &mut words, 20)?;
    assert!(!ready.is_enabled(node)?);
    ready.set_enabled(fill, false)?;
    ready.launch(&stream)?;
    assert_eq!(stream.download(&copy)?, [1; 64]);
    ready.set_enabled(node, true)?;
    ready.launch(&stream)?;
    assert_eq!(stream.download(&copy)?, [21; 64]);
    // An update of the whole switches nothing on.
    let (other, ..) = make(30, &mut words, &mut copy)?;
    ready.update(&other)?;
    ready.set_enabled(last, false)?;
    ready.launch(&stream)?;
    assert_eq!(stream.download(&words)?, [51; 64]);
    assert_eq!(stream.download(&copy)?, [21; 64]);
    ready.set_enabled(last, true)?;
    ready.set_enabled(fill, true)?;
    ready.launch(&stream)?;
    assert_eq!(stream.download(&copy)?, [31; 64]);
    Ok(())
}

// covers: GRAPH-51, GRAPH-53, GRAPH-55
#[test]
fn after_an_update_of_the_whole_nodes_keep_their_names_where_it_was_made_alike() -> Result<()> {
    let gpu = gpu();
    let module = module(&gpu);
    let add = add(&module);
    let mut stream = gpu.stream()?;
    let (mut a, mut b) = (stream.zeroed::<u32>(64)?, stream.zeroed::<u32>(64)?);
    let mut graph = gpu.graph()?;
    let one = add_node(&mut graph, &add, &mut a, 1);
    let two = add_node(&mut graph, &add, &mut a, 2);
    let mut ready = graph.instantiate()?;
    let mut other = gpu.graph()?;
    add_node(&mut other, &add, &mut b, 10);
    let foreign = add_node(&mut other, &add, &mut b, 20);
    ready.update(&other)?;
    drop(other);
    assert!(set_add(&mut ready, foreign, &add, &mut b, 5).is_err());
    // The nodes use other memory now, and what is noted of them is that.
    set_add(&mut ready, one, &add, &mut b, 100)?;
    set_add(&mut ready, two, &add, &mut b, 200)?;
    drop((a, graph));
    ready.launch(&stream)?;
    assert_eq!(stream.download(&b)?, [300; 64]);
    let captured = stream.capture(|capture| {
        launch_add(capture, &add, &mut b, 3);
        launch_add(capture, &add, &mut b, 4);
        Ok(())
    })?;
    ready.update(&captured)?;
    let error = set_add(&mut ready, one, &add, &mut b, 100).unwrap_err();
    assert!(
        error.to_string().contains("not made in the same way"),
        "{error}"
    );
    ready.set_enabled(one, false)?;
    ready.launch(&stream)?;
    let sum = stream.download(&b)?[0];
    assert!(sum == 303 || sum == 304, "{sum}");
    Ok(())
}

/// The description may be changed by one thread while another changes an executable graph by its nodes.
#[test]
fn description_and_executable_graph_in_two_threads() -> Result<()> {
    let gpu = gpu();
    let module = module(&gpu);
    let add = add(&module);
    let stream = gpu.stream()?;
    let mut words = stream.zeroed::<u32>(64)?;
    let mut others = stream.zeroed::<u32>(64)?;
    let mut graph = gpu.graph()?;
    let node = add_node(&mut graph, &add, &mut words, 0);
    let mut ready = graph.instantiate()?;
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for value in 1..=100 {
                set_add(&mut ready, node, &add, &mut words, value).expect("a change");
                ready.launch(&stream).expect("a launch");
            }
        });
        let mut graph = graph;
        let (add, others) = (&add, &mut others);
        scope.spawn(move || {
            for value in 1..=100 {
                add_node(&mut graph, add, others, value);
            }
            assert_eq!(graph.node_count().expect("nodes"), 101);
        });
    });
    assert_eq!(stream.download(&words)?, [5050; 64]);
    Ok(())
}

/// Memory that a graph allocates stays what its nodes had it for.
#[test]
fn memory_of_a_graph_comes_to_no_other_node() -> Result<()> {
    let gpu = gpu();
    let module = module(&gpu);
    let add = add(&module);
    let stream = gpu.stream()?;
    let mut result = stream.zeroed::<u32>(64)?;
    let mut other = stream.zeroed::<u32>(64)?;
    let mut graph = gpu.graph()?;
    let mut scratch = graph.filled::<u32>(64, 1)?;
    let node = add_node(&mut graph, &add, &mut scratch, 1);
    graph.copy(&scratch, &mut result)?;
    let free = add_node(&mut graph, &add, &mut other, 1);
    let mut ready = graph.instantiate()?;
    set_add(&mut ready, node, &add, &mut scratch, 41)?;
    let error = set_add(&mut ready, free, &add, &mut scratch, 1).unwrap_err();
    assert!(error.to_string().contains("a graph allocates"), "{error}");
    ready.launch(&stream)?;
    assert_eq!(stream.download(&result)?, [42; 64]);
    Ok(())
}

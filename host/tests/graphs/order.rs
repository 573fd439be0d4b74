//! Graphs: order, life time, conditions, capture, update.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::common::{Gate, add, gpu, launch_add, module};
use warpsmith_host::prelude::*;
use warpsmith_host::{Edge, EdgeKind, GraphBuilder, Node};

fn add_node(
    graph: &mut GraphBuilder,
    add: &crate::common::Add,
    buffer: &mut DeviceBuffer<u32>,
    value: u32,
) -> Node {
    let grid = Grid::cover(buffer.len(), 128);
    // SAFETY: the entry takes a slice and a number, and writes only the slice.
    let node = unsafe { graph.kernel_untyped(add, grid, (buffer, value)) };
    node.expect("kernel node").into()
}

// covers: GRAPH-01, GRAPH-02, GRAPH-13, GRAPH-X01
#[test]
fn a_diamond_gets_its_edges_from_its_buffers() -> Result<()> {
    let gpu = gpu();
    let module = module(&gpu);
    let add = add(&module);
    let stream = gpu.stream()?;
    let mut a = stream.zeroed::<u32>(10)?;
    let mut b = stream.zeroed::<u32>(10)?;
    let mut c = stream.zeroed::<u32>(10)?;

    let mut graph = gpu.graph()?;
    let first = add_node(&mut graph, &add, &mut a, 1);
    let left = graph.copy(&a, &mut b)?.node();
    let right = graph.copy(&a, &mut c)?.node();
    let last = add_node(&mut graph, &add, &mut a, 10);
    let mut edges = graph.edges()?;
    let order = |node: &Node| {
        [first, left, right, last]
            .iter()
            .position(|known| known == node)
    };
    edges.sort_by_key(|edge| (order(&edge.from), order(&edge.to)));
    // The last one follows the first through the two in the middle, or directly too.
    let kind = EdgeKind::Full;
    let edge = |from, to| Edge { from, to, kind };
    let expected = [
        edge(first, left),
        edge(first, right),
        edge(left, last),
        edge(right, last),
    ];
    assert!(
        expected.iter().all(|edge| edges.contains(edge)),
        "{edges:?}"
    );
    assert!(!edges.contains(&edge(left, right)) && !edges.contains(&edge(right, left)));
    assert_eq!(graph.node_count()?, 4);

    let mut ready = graph.instantiate()?;
    // A snapshot: what happens to the description afterwards does not matter.
    add_node(&mut graph, &add, &mut b, 1000);
    drop(graph);
    for launch in 1..=3 {
        ready.launch(&stream)?;
        assert_eq!(stream.download(&b)?, [(launch - 1) * 11 + 1; 10]);
        assert_eq!(stream.download(&c)?, [(launch - 1) * 11 + 1; 10]);
        assert_eq!(stream.download(&a)?, [launch * 11; 10]);
    }
    Ok(())
}

#[test]
fn edges_by_hand() -> Result<()> {
    let gpu = gpu();
    let mut graph = gpu.graph()?;
    let (a, b, c) = (graph.empty()?, graph.empty()?, graph.empty()?);
    graph.depend(a, b)?;
    graph.depend(b, c)?;
    assert_eq!(graph.edges()?.len(), 2);
    let text = graph.depend(a, b).unwrap_err().to_string();
    assert!(
        text.contains(&format!("an edge from {a:?} to {b:?} already")),
        "{text}"
    );
    for (before, after, way) in [
        (c, a, format!("{a:?}, {b:?}, {c:?}")),
        (b, b, format!("{b:?}")),
    ] {
        let text = graph.depend(before, after).unwrap_err().to_string();
        assert!(text.contains(&format!("a circle: {way} are")), "{text}");
    }
    assert_eq!(graph.edges()?.len(), 2);
    graph.instantiate()?;
    let other = gpu.graph()?;
    drop(other);
    let foreign = gpu.graph()?.empty()?;
    assert!(
        graph
            .depend(foreign, a)
            .unwrap_err()
            .to_string()
            .contains("another graph")
    );
    Ok(())
}

#[test]
fn an_empty_graph_is_fine() -> Result<()> {
    let gpu = gpu();
    let stream = gpu.stream()?;
    gpu.graph()?.instantiate()?.launch(&stream)?;
    stream.synchronize()
}

// covers: GRAPH-41, GRAPH-42, GRAPH-04
#[test]
fn what_a_graph_uses_lives_as_long_as_it() -> Result<()> {
    let gpu = gpu();
    let module = module(&gpu);
    let mut gate = Gate::new(&gpu, &module);
    let stream = gpu.stream()?;
    let mut out = gpu.pinned::<u32>(1000)?;
    let dropped = Arc::new(AtomicU32::new(0));
    struct Watch(Arc<AtomicU32>);
    impl Drop for Watch {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }
    let called = Arc::new(AtomicU32::new(0));
    {
        let mut ready = {
            let add = add(&module);
            let mut buffer = stream.filled(1000, 3_u32)?;
            let mut graph = gpu.graph()?;
            add_node(&mut graph, &add, &mut buffer, 4);
            graph.copy_to_host(&buffer, &mut out)?;
            let (watch, called) = (Watch(dropped.clone()), called.clone());
            graph.host(move || {
                let _ = &watch;
                called.fetch_add(1, Ordering::SeqCst);
            })?;
            drop(buffer);
            drop(add);
            graph.instantiate()?
        };
        drop(module);
        // Whatever else takes memory in the meantime does not get the graph's.
        let noise = stream.filled(1000, 99_u32)?;
        ready.launch(&stream)?;
        stream.synchronize()?;
        assert_eq!(*out.host()?, [7; 1000]);
        gate.close(&stream);
        ready.launch(&stream)?;
        drop(noise);
        // Dropped while it waits.
    }
    assert_eq!(
        dropped.load(Ordering::SeqCst),
        0,
        "the function's value is gone before the function is called"
    );
    gate.open();
    stream.synchronize()?;
    assert_eq!(*out.host()?, [11; 1000]);
    assert_eq!(called.load(Ordering::SeqCst), 2);
    gpu.synchronize()?;
    assert_eq!(dropped.load(Ordering::SeqCst), 1);
    Ok(())
}

// covers: GRAPH-06, GRAPH-07, GRAPH-05
#[test]
fn nodes_of_every_kind() -> Result<()> {
    let gpu = gpu();
    let stream = gpu.stream()?;
    let mut input = gpu.pinned::<u16>(6)?;
    let mut output = gpu.pinned::<u16>(6)?;
    let mut buffer = stream.zeroed::<u16>(6)?;
    let count = Arc::new(AtomicU32::new(0));
    let mut graph = gpu.graph()?;
    graph.copy_from_host(&input, &mut buffer)?;
    graph.fill(&mut buffer.slice_mut(1..3), 0xabcd)?;
    graph.upload(&[7, 8], &mut buffer.slice_mut(4..))?;
    graph.copy_to_host(&buffer, &mut output)?;
    let counted = count.clone();
    graph.host(move || {
        counted.fetch_add(1, Ordering::SeqCst);
    })?;
    let mut ready = graph.instantiate()?;
    for launch in 1..=5 {
        // Read at each launch anew.
        input.host_mut()?.fill(launch);
        ready.launch(&stream)?;
        stream.synchronize()?;
        assert_eq!(*output.host()?, [launch, 0xabcd, 0xabcd, launch, 7, 8]);
    }
    assert_eq!(count.load(Ordering::SeqCst), 5);
    let error = graph.fill(&mut stream.zeroed::<f64>(1)?, 0.1).unwrap_err();
    assert!(
        error.to_string().contains("patterns of 1, 2 or 4 bytes"),
        "{error}"
    );
    let dot = graph.dot()?;
    assert!(dot.contains("digraph"), "{dot}");
    Ok(())
}

// covers: GRAPH-20, GRAPH-21
#[test]
fn launches_take_their_place_among_other_work() -> Result<()> {
    let gpu = gpu();
    let module = module(&gpu);
    let add = add(&module);
    let (one, two) = (gpu.stream()?, gpu.stream()?);
    let mut buffer = one.zeroed::<u32>(100)?;
    let mut graph = gpu.graph()?;
    add_node(&mut graph, &add, &mut buffer, 1);
    let mut ready = graph.instantiate()?;
    for _ in 0..20 {
        launch_add(&one, &add, &mut buffer, 1);
        ready.launch(&two)?;
        ready.launch(&one)?;
        launch_add(&two, &add, &mut buffer, 1);
    }
    assert_eq!(two.download(&buffer)?, [80; 100]);
    Ok(())
}

// covers: GRAPH-24, GRAPH-29, GRAPH-31, GRAPH-X02, GRAPH-X03
#[test]
fn capture_with_fork_and_join() -> Result<()> {
    let gpu = gpu();
    let module = module(&gpu);
    let add = add(&module);
    let (mut stream, mut side) = (gpu.stream()?, gpu.stream()?);
    let mut a = stream.filled(10, 1_u32)?;
    let mut b = side.filled(10, 2_u32)?;
    // A library that knows nothing of captures.
    fn library(stream: &Stream, add: &crate::common::Add, buffer: &mut DeviceBuffer<u32>) {
        launch_add(stream, add, buffer, 5);
    }
    let graph = stream.capture(|capture| {
        launch_add(capture, &add, &mut a, 1);
        let side = capture.fork(&mut side)?;
        launch_add(side, &add, &mut b, 10);
        library(capture.stream(), &add, &mut a);
        capture.join(side)?;
        capture.copy(&b, &mut a)
    })?;
    assert_eq!(graph.node_count()?, 4);
    assert_eq!(graph.edges()?.len(), 4, "{:?}", graph.edges());
    assert_eq!(stream.download(&a)?, [1; 10], "nothing ran");
    assert_eq!(side.download(&b)?, [2; 10]);
    let mut ready = graph.instantiate()?;
    ready.launch(&stream)?;
    assert_eq!(stream.download(&a)?, [12; 10]);
    drop(b);
    ready.launch(&side)?;
    assert_eq!(side.download(&a)?, [22; 10]);
    Ok(())
}

#[test]
fn captured_streams_get_edges_where_they_share_memory_and_are_joined_at_the_end() -> Result<()> {
    let gpu = gpu();
    let module = module(&gpu);
    let add = add(&module);
    let (mut stream, mut side) = (gpu.stream()?, gpu.stream()?);
    let mut shared = stream.zeroed::<u32>(10)?;
    let mut graph = stream.capture(|capture| {
        let side = capture.fork(&mut side)?;
        for _ in 0..3 {
            launch_add(capture, &add, &mut shared, 1);
            launch_add(side, &add, &mut shared, 10);
        }
        Ok(())
    })?;
    // What is added by hand comes after all of it.
    add_node(&mut graph, &add, &mut shared, 100);
    assert_eq!(graph.node_count()?, 7);
    graph.instantiate()?.launch(&side)?;
    assert_eq!(stream.download(&shared)?, [133; 10]);
    Ok(())
}

// covers: GRAPH-33, GRAPH-36, GRAPH-37, GRAPH-38
#[test]
fn what_cannot_be_captured_is_refused_and_does_no_harm() -> Result<()> {
    let gpu = gpu();
    let module = module(&gpu);
    let add = add(&module);
    let (mut stream, other) = (gpu.stream()?, gpu.stream()?);
    let mut a = stream.filled(4, 1_u32)?;
    let (inside, outside) = (gpu.event()?, gpu.event()?);
    other.record(&outside)?;
    let refused = |result: Result<()>| {
        let code = result.unwrap_err().code().unwrap();
        assert!((900..910).contains(&code.0), "{code}");
    };
    let graph = stream.capture(|capture| {
        launch_add(capture, &add, &mut a, 1);
        refused(capture.synchronize());
        refused(capture.is_idle().map(drop));
        refused(capture.download(&a).map(drop));
        refused(capture.host_fn(|| ()));
        refused(gpu.synchronize());
        refused(capture.wait(&outside));
        capture.record(&inside)?;
        refused(inside.synchronize());
        refused(inside.is_complete().map(drop));
        refused(other.wait(&inside));
        // Elsewhere life goes on, memory of this capture included.
        let elsewhere = other.filled(4, 9_u32)?;
        assert_eq!(other.download(&elsewhere)?, [9; 4]);
        assert_eq!(other.download(&a)?, [1; 4]);
        launch_add(capture, &add, &mut a, 1);
        Ok(())
    })?;
    graph.instantiate()?.launch(&stream)?;
    assert_eq!(other.download(&a)?, [3; 4]);
    refused(other.wait(&inside));
    other.record(&inside)?;
    inside.synchronize()
}

#[test]
fn a_capture_ends_whatever_happens() -> Result<()> {
    let gpu = gpu();
    let (mut stream, mut side) = (gpu.stream()?, gpu.stream()?);
    let mut a = stream.zeroed::<u32>(4)?;
    let error = stream
        .capture(|capture| {
            capture.fork(&mut side)?.fill(&mut a, 1)?;
            Err("nonsense".parse::<DeviceChoice>().unwrap_err())
        })
        .unwrap_err();
    assert!(error.to_string().contains("nonsense"));
    let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let _ = stream.capture(|capture| {
            capture.fill(&mut a, 2)?;
            panic!("in the middle")
        });
    }));
    assert!(panic.is_err());
    side.fill(&mut a, 3)?;
    assert_eq!(stream.download(&a)?, [3; 4]);
    gpu.synchronize()
}

// covers: GRAPH-50, GRAPH-51, GRAPH-54, GRAPH-X04
#[test]
fn updates_and_their_refusal() -> Result<()> {
    let gpu = gpu();
    let module = module(&gpu);
    let add = add(&module);
    let mut stream = gpu.stream()?;
    let mut a = stream.zeroed::<u32>(4)?;
    let mut ready = {
        let mut graph = gpu.graph()?;
        add_node(&mut graph, &add, &mut a, 0);
        graph.instantiate()?
    };
    // Queued without waiting: each launch keeps its own parameters.
    for value in 1..=50 {
        let mut graph = gpu.graph()?;
        add_node(&mut graph, &add, &mut a, value);
        ready.update(&graph)?;
        ready.launch(&stream)?;
    }
    assert_eq!(stream.download(&a)?, [50 * 51 / 2; 4]);

    // The guide's loop: the shape changes in the middle and stays.
    let mut instantiations = 0;
    for i in 0..10 {
        let graph = stream.capture(|capture| {
            launch_add(capture, &add, &mut a, 1);
            if i >= 5 {
                launch_add(capture, &add, &mut a, 1);
            }
            Ok(())
        })?;
        match ready.update(&graph) {
            Ok(()) => {}
            Err(Error::GraphUpdate(error)) => {
                assert_eq!(error.code, Code::GRAPH_EXEC_UPDATE_FAILURE);
                assert!(error.to_string().contains("shape"), "{error}");
                ready = graph.instantiate()?;
                instantiations += 1;
            }
            Err(error) => return Err(error),
        }
        ready.launch(&stream)?;
    }
    assert_eq!(instantiations, 1);
    assert_eq!(stream.download(&a)?, [1275 + 15; 4]);
    let mut other = gpu.graph()?;
    other.empty()?;
    other.fill(&mut a, 0)?;
    // A graph without kernels: the reason is the shape, not what kernels were compiled for.
    let refused = ready.update(&other).unwrap_err().to_string();
    assert!(!refused.contains("clusters"), "{refused}");
    ready.update_or_reinstantiate(&other)?;
    ready.launch(&stream)?;
    assert_eq!(stream.download(&a)?, [0; 4]);
    Ok(())
}

//! Graphs in graphs: child graphs, copies, and values that graphs own.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::common::panicking;
use crate::common::{Add, add, gpu, module};
use warpsmith_host::GraphBuilder;
use warpsmith_host::prelude::*;

fn add_node(graph: &mut GraphBuilder, add: &Add, buffer: &mut DeviceBuffer<u32>, value: u32) {
    let grid = Grid::cover(buffer.len(), 128);
    // SAFETY: the entry takes a slice and a number, and writes only the slice.
    unsafe { graph.kernel_untyped(add, grid, (buffer, value)) }.expect("kernel node");
}

// covers: GRAPH-11
#[test]
fn a_child_graph_is_a_copy_with_the_uses_of_its_nodes() -> Result<()> {
    let gpu = gpu();
    let module = module(&gpu);
    let add = add(&module);
    let (stream, other) = (gpu.stream()?, gpu.stream()?);
    let mut a = stream.filled(100, 1_u32)?;
    let mut b = stream.zeroed::<u32>(100)?;
    let mut child = gpu.graph()?;
    add_node(&mut child, &add, &mut a, 1);
    child.copy(&a, &mut b)?;
    let mut graph = gpu.graph()?;
    let first = graph.fill(&mut a, 10)?;
    let node = graph.child(&child)?;
    let last = graph.fill(&mut b.slice_mut(..50), 99)?;
    // From memory alone: the child writes both.
    let edges = graph.edges()?;
    let has = |from: warpsmith_host::Node, to: warpsmith_host::Node| {
        edges.iter().any(|edge| edge.from == from && edge.to == to)
    };
    assert!(has(first.into(), node.into()) && has(node.into(), last.into()));
    assert_eq!(graph.node_count()?, 3);
    // Later nodes of the original are none of the copy's.
    add_node(&mut child, &add, &mut b, 1000);
    drop(child);
    let mut ready = graph.instantiate()?;
    drop(graph);
    for _ in 0..3 {
        ready.launch(&stream)?;
        let found = other.download(&b)?;
        assert_eq!((found[0], found[99]), (99, 11));
    }
    drop((a, add, module));
    ready.launch(&other)?;
    assert_eq!(stream.download(&b)?[99], 11);
    Ok(())
}

#[test]
fn a_child_in_a_child_calls_its_functions_and_tells_of_panics() -> Result<()> {
    let gpu = gpu();
    let kernels = panicking::kernels(&gpu);
    let stream = gpu.stream()?;
    let mut line = stream.zeroed::<u32>(1)?;
    let calls = Arc::new(AtomicU32::new(0));
    let mut inner = gpu.graph()?;
    let (first, second) = (calls.clone(), calls.clone());
    let node = inner.host(move || {
        first.fetch_add(1, Ordering::SeqCst);
    })?;
    let next = inner.host(move || {
        second.fetch_add(10, Ordering::SeqCst);
    })?;
    inner.depend(node, next)?;
    // SAFETY: the entries read one word of a slice.
    unsafe {
        inner.kernel_untyped(&kernels.first, Grid::new(2, 32), (&line,))?;
        inner.kernel_untyped(&kernels.second, Grid::new(2, 32), (&line,))?;
    }
    let mut middle = gpu.graph()?;
    middle.child(&inner)?;
    let mut outer = gpu.graph()?;
    outer.child(&middle)?;
    outer.child(&middle)?;
    let mut alone = inner.instantiate()?;
    let mut ready = outer.instantiate()?;
    let mut again = outer.instantiate()?;
    for (round, exec) in (1..).zip([&mut ready, &mut again, &mut alone]) {
        exec.launch(&stream)?;
        stream.synchronize()?;
        let expected = [22, 44, 55][round - 1];
        assert_eq!(calls.load(Ordering::SeqCst), expected);
    }
    drop((inner, middle, outer));
    stream.fill(&mut line, 7)?;
    for exec in [&mut ready, &mut again] {
        exec.launch(&stream)?;
        match stream.synchronize() {
            Err(Error::KernelPanic(panic)) => {
                assert!(panicking::NAMES.contains(&&*panic.kernel), "{panic}");
                assert_eq!(panic.line, 7);
            }
            other => panic!("{other:?}"),
        }
        stream.fill(&mut line, 0)?;
        exec.launch(&stream)?;
        stream.synchronize()?;
        stream.fill(&mut line, 7)?;
    }
    Ok(())
}

// covers: GRAPH-11, COND-08
#[test]
fn what_cannot_be_a_child_is_refused_by_name() -> Result<()> {
    let gpu = gpu();
    let stream = gpu.stream()?;
    let mut words = stream.zeroed::<u32>(4)?;
    let refusal = |graph: &Graph| gpu.graph().unwrap().child(graph).unwrap_err().to_string();
    let mut allocates = gpu.graph()?;
    let _scratch = allocates.zeroed::<u32>(4)?;
    assert!(refusal(&allocates).contains("allocates memory"));
    assert!(
        allocates
            .try_clone()
            .unwrap_err()
            .to_string()
            .contains("allocates memory")
    );
    let mut branches = gpu.graph()?;
    let condition = branches.condition(1)?;
    branches.if_then(condition, |body| body.fill(&mut words, 1).map(drop))?;
    assert!(refusal(&branches).contains("loops or branches"));
    // Bodies hold child graphs, of what bodies hold.
    let mut calls = gpu.graph()?;
    calls.host(|| ())?;
    let mut fills = gpu.graph()?;
    fills.fill(&mut words, 5)?;
    let mut nested = gpu.graph()?;
    nested.child(&calls)?;
    let mut graph = gpu.graph()?;
    let condition = graph.condition(1)?;
    graph.if_then(condition, |body| {
        for unfit in [&calls, &nested] {
            let error = body.child(unfit).unwrap_err().to_string();
            assert!(error.contains("cannot hold a host function"), "{error}");
        }
        body.child(&fills).map(drop)
    })?;
    graph.instantiate()?.launch(&stream)?;
    assert_eq!(stream.download(&words)?, [5; 4]);
    Ok(())
}

#[test]
fn a_captured_graph_can_be_a_child() -> Result<()> {
    let gpu = gpu();
    let mut stream = gpu.stream()?;
    let mut words = stream.zeroed::<u32>(4)?;
    let mut input = gpu.pinned::<u32>(4)?;
    let mut output = gpu.pinned::<u32>(4)?;
    let calls = Arc::new(AtomicU32::new(0));
    let captured = stream.capture(|capture| {
        capture.copy_from_host(&input, &mut words)?;
        capture.fill(&mut words.slice_mut(..1), 7)?;
        capture.copy_to_host(&words, &mut output)?;
        let calls = calls.clone();
        capture.host(capture.stream(), move || {
            calls.fetch_add(1, Ordering::SeqCst);
        })
    })?;
    let mut graph = gpu.graph()?;
    graph.child(&captured)?;
    graph.fill(&mut words.slice_mut(1..2), 9)?;
    let mut ready = graph.instantiate()?;
    drop((captured, graph));
    let flag = gpu.flag(0_u32)?;
    for value in 1..=3 {
        input.host_mut()?.fill(value);
        flag.set(0);
        stream.wait_value(&flag, Wait::Equal(1))?;
        ready.launch(&stream)?;
        assert!(output.host().is_err(), "the launch writes it");
        assert!(input.host_mut().is_err(), "the launch reads it");
        flag.set(1);
        stream.synchronize()?;
        assert_eq!(*output.host()?, [7, value, value, value]);
        assert_eq!(stream.download(&words)?, [7, 9, value, value]);
    }
    assert_eq!(calls.load(Ordering::SeqCst), 3);
    Ok(())
}

// covers: GRAPH-18, GRAPH-41
#[test]
fn a_copy_goes_its_own_way() -> Result<()> {
    let gpu = gpu();
    let module = module(&gpu);
    let add = add(&module);
    let stream = gpu.stream()?;
    let mut words = stream.zeroed::<u32>(64)?;
    let calls = Arc::new(AtomicU32::new(0));
    let mut graph = gpu.graph()?;
    let fill = graph.fill(&mut words, 5)?;
    add_node(&mut graph, &add, &mut words, 1);
    let called = calls.clone();
    let host = graph.host(move || {
        called.fetch_add(1, Ordering::SeqCst);
    })?;
    let mut copy = graph.try_clone()?;
    let last = copy.fill(&mut words.slice_mut(..1), 100)?;
    assert_eq!((graph.node_count()?, copy.node_count()?), (3, 4));
    // The order by memory goes on where it was.
    let before = copy
        .edges()?
        .into_iter()
        .filter(|edge| edge.to == last.node());
    assert!(before.count() >= 1);
    assert!(copy.twin(last).is_none() && graph.twin(fill).is_none());
    let twin = copy.twin(fill).expect("a node of the original");
    assert_ne!(twin, fill);
    let mut ready = copy.instantiate()?;
    drop(graph);
    ready.launch(&stream)?;
    let found = stream.download(&words)?;
    assert_eq!((found[0], found[63]), (100, 6));
    ready.set_enabled(twin, false)?;
    ready.set_host(copy.twin(host).expect("a node of the original"), || ())?;
    drop(copy);
    ready.launch(&stream)?;
    let found = stream.download(&words)?;
    assert_eq!((found[0], found[63]), (100, 7));
    assert_eq!(calls.load(Ordering::SeqCst), 1);
    assert!(
        ready.set_enabled(fill, false).is_err(),
        "a node of the original"
    );
    Ok(())
}

// covers: GRAPH-40, GRAPH-41, GRAPH-42, GRAPH-43, GRAPH-X05
#[test]
fn values_live_as_long_as_graphs_with_them() -> Result<()> {
    let gpu = gpu();
    let (stream, flag) = (gpu.stream()?, gpu.flag(0_u32)?);
    let (one, two) = (Arc::new(()), Arc::new(()));
    let mut words = stream.zeroed::<u32>(1)?;
    let mut child = gpu.graph()?;
    child.fill(&mut words, 1)?;
    child.keep(one.clone());
    let mut graph = gpu.graph()?;
    let node = graph.child(&child)?;
    let copy = graph.try_clone()?;
    drop(child);
    let mut ready = graph.instantiate()?;
    drop((graph, copy));
    assert_eq!(Arc::strong_count(&one), 2);
    stream.wait_value(&flag, Wait::Equal(1))?;
    ready.launch(&stream)?;
    let mut other = gpu.graph()?;
    other.fill(&mut words, 2)?;
    other.keep(two.clone());
    ready.set_child(node, &other)?;
    drop(other);
    assert!(Arc::strong_count(&one) > 1, "the launch may need it");
    flag.set(1);
    stream.synchronize()?;
    assert_eq!(stream.download(&words)?, [1]);
    gpu.synchronize()?;
    assert_eq!(Arc::strong_count(&one), 1);
    ready.launch(&stream)?;
    drop(ready);
    assert_eq!(stream.download(&words)?, [2]);
    gpu.synchronize()?;
    assert_eq!(Arc::strong_count(&two), 1);
    Ok(())
}

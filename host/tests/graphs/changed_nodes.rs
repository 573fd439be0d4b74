//! Single nodes of executable graphs: what of each kind changes.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::common::{add, add_node, gpu, module, panicking};
use crate::updates::set_add;
use warpsmith_host::prelude::*;

// covers: GRAPH-53, GRAPH-50
#[test]
fn copies_change_their_sides_and_their_length() -> Result<()> {
    let gpu = gpu();
    let stream = gpu.stream()?;
    let mut input = gpu.pinned::<u32>(4)?;
    let mut shorter = gpu.pinned::<u32>(2)?;
    let mut output = gpu.pinned::<u32>(4)?;
    input.host_mut()?.copy_from_slice(&[1, 2, 3, 4]);
    shorter.host_mut()?.copy_from_slice(&[8, 9]);
    let mut words = stream.zeroed::<u32>(4)?;
    let mut others = stream.zeroed::<u32>(4)?;
    let mut graph = gpu.graph()?;
    let read = graph.copy_from_host(&input, &mut words)?;
    let copy = graph.copy(&words, &mut others)?;
    let write = graph.copy_to_host(&others, &mut output)?;
    let empty = graph.copy(&words.slice(..0), &mut others.slice_mut(..0))?;
    let mut ready = graph.instantiate()?;
    ready.set_copy_from_host(read, &shorter, &mut words.slice_mut(1..3))?;
    ready.launch(&stream)?;
    stream.synchronize()?;
    assert_eq!(*output.host()?, [0, 8, 9, 0]);
    ready.set_copy(copy, &words.slice(1..3), &mut others.slice_mut(2..))?;
    ready.set_copy_to_host(write, &others, &mut input)?;
    let flag = gpu.flag(0_u32)?;
    stream.wait_value(&flag, Wait::Equal(1))?;
    ready.launch(&stream)?;
    assert!(input.host().is_err(), "the launch writes it");
    output.host_mut()?.fill(0);
    drop(ready);
    flag.set(1);
    stream.synchronize()?;
    assert_eq!(*input.host()?, [0, 8, 8, 9]);
    let mut ready = graph.instantiate()?;
    let error = ready.set_copy(read, &words, &mut others).unwrap_err();
    assert!(error.to_string().contains("direction"), "{error}");
    let error = ready
        .set_copy(copy, &words.slice(..1), &mut others)
        .unwrap_err();
    assert!(
        matches!(error, Error::Limit(_) | Error::Invalid(_)),
        "{error}"
    );
    let error = ready
        .set_copy(copy, &words.slice(..0), &mut others.slice_mut(..0))
        .unwrap_err();
    assert!(error.to_string().contains("no bytes"), "{error}");
    let error = ready.set_copy(empty, &words, &mut others).unwrap_err();
    assert!(error.to_string().contains("does nothing"), "{error}");
    assert!(ready.set_enabled(empty, false).is_err());
    Ok(())
}

// covers: GRAPH-53
#[test]
fn fills_change_where_the_driver_can() -> Result<()> {
    let gpu = gpu();
    let stream = gpu.stream()?;
    let mut words = gpu.mapped::<u32>(4)?;
    let mut pooled = stream.zeroed::<u32>(4)?;
    let mut graph = gpu.graph()?;
    let fill = graph.fill(&mut words, 1)?;
    let of_pool = graph.fill(&mut pooled, 1)?;
    let mut ready = graph.instantiate()?;
    ready.set_fill(fill, &mut words, 2)?;
    ready.launch(&stream)?;
    stream.synchronize()?;
    assert_eq!(*words.host()?, [2; 4]);
    // A driver that takes it does it.
    match ready.set_fill(of_pool, &mut pooled, 3) {
        Ok(()) => {
            ready.launch(&stream)?;
            assert_eq!(stream.download(&pooled)?, [3; 4]);
        }
        Err(error) => assert!(error.to_string().contains("set_child"), "{error}"),
    }
    // The way that the error names.
    let child_with = |value, pooled: &mut DeviceBuffer<u32>| -> Result<Graph> {
        let mut child = gpu.graph()?;
        child.fill(pooled, value)?;
        Ok(child)
    };
    let mut graph = gpu.graph()?;
    let node = graph.child(&child_with(5, &mut pooled)?)?;
    let mut ready = graph.instantiate()?;
    for value in [5, 6, 7] {
        ready.set_child(node, &child_with(value, &mut pooled)?)?;
        ready.launch(&stream)?;
        assert_eq!(stream.download(&pooled)?, [value; 4]);
    }
    Ok(())
}

// covers: GRAPH-53, GRAPH-05
#[test]
fn functions_are_dropped_when_no_launch_calls_them() -> Result<()> {
    let gpu = gpu();
    let (stream, flag) = (gpu.stream()?, gpu.flag(0_u32)?);
    let calls: Vec<Arc<AtomicU32>> = (0..3).map(|_| Arc::default()).collect();
    let function = |number: usize| {
        let count = calls[number].clone();
        move || {
            count.fetch_add(1, Ordering::SeqCst);
        }
    };
    let mut graph = gpu.graph()?;
    let node = graph.host(function(0))?;
    let mut ready = graph.instantiate()?;
    drop(graph);
    stream.wait_value(&flag, Wait::Equal(1))?;
    ready.launch(&stream)?;
    for number in [1, 2] {
        ready.set_host(node, function(number))?;
        ready.launch(&stream)?;
    }
    for count in &calls {
        assert_eq!(Arc::strong_count(count), 2, "launches call it");
    }
    drop(ready);
    flag.set(1);
    stream.synchronize()?;
    gpu.synchronize()?;
    for count in &calls {
        assert_eq!(count.load(Ordering::SeqCst), 1);
        assert_eq!(Arc::strong_count(count), 1);
    }
    Ok(())
}

#[test]
fn a_kernel_that_can_panic_may_come_by_a_change() -> Result<()> {
    let gpu = gpu();
    let kernels = panicking::kernels(&gpu);
    let module = module(&gpu);
    let add = add(&module);
    let stream = gpu.stream()?;
    let mut words = stream.zeroed::<u32>(64)?;
    let line = stream.filled(1, 7_u32)?;
    let mut graph = gpu.graph()?;
    let node = add_node(&mut graph, &add, &mut words, 1);
    let mut ready = graph.instantiate()?;
    ready.launch(&stream)?;
    let grid = Grid::new(2, 32);
    // SAFETY: the entry reads one word of a slice.
    unsafe { ready.set_kernel_untyped(node, &kernels.first, grid, (&line,)) }?;
    drop(line);
    ready.launch(&stream)?;
    match stream.synchronize() {
        Err(Error::KernelPanic(panic)) => {
            assert_eq!((panic.kernel.as_str(), panic.line), ("first", 7))
        }
        other => panic!("{other:?}"),
    }
    set_add(&mut ready, node, &add, &mut words, 5)?;
    ready.launch(&stream)?;
    assert_eq!(stream.download(&words)?, [6; 64]);
    Ok(())
}

#[test]
fn a_kernel_node_keeps_its_clusters() -> Result<()> {
    let gpu = gpu();
    let module = module(&gpu);
    let add = add(&module);
    let stream = gpu.stream()?;
    let mut words = stream.zeroed::<u32>(256)?;
    let mut graph = gpu.graph()?;
    let node = add_node(&mut graph, &add, &mut words, 1);
    let mut ready = graph.instantiate()?;
    let grid = Grid::new(2, 128).cooperative();
    // SAFETY: the entry takes a slice and a number, and writes only the slice.
    let error = unsafe { ready.set_kernel_untyped(node, &add, grid, (&mut words, 1)) };
    let error = error.unwrap_err().to_string();
    assert!(error.contains("keeps its clusters"), "{error}");
    Ok(())
}

// covers: GRAPH-53
#[test]
fn events_change() -> Result<()> {
    let gpu = gpu();
    let (stream, outside) = (gpu.stream()?, gpu.stream()?);
    let [never, before, old, new] = [(); 4].map(|()| gpu.event_untimed().expect("an event"));
    let flag = gpu.flag(0_u32)?;
    let mut graph = gpu.graph()?;
    let wait = graph.wait(&never)?;
    let record = graph.record(&old)?;
    graph.depend(wait, record)?;
    let mut ready = graph.instantiate()?;
    drop(graph);
    outside.wait_value(&flag, Wait::Equal(1))?;
    outside.record(&before)?;
    ready.set_awaited_event(wait, &before)?;
    ready.set_recorded_event(record, &new)?;
    drop((never, old));
    ready.launch(&stream)?;
    assert!(!new.is_complete()?);
    flag.set(1);
    new.synchronize()?;
    stream.synchronize()
}

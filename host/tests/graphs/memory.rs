//! Memory that graphs allocate for themselves: order, lifetime, and what is refused.

use crate::common::{Gate, add, gpu, module, refusal};
use warpsmith_host::prelude::*;

const WORDS: usize = 1 << 20;

/// Adds `value` to each element.
fn add_node(
    graph: &mut Graph,
    add: &crate::common::Add,
    buffer: &mut DeviceBuffer<u32>,
    value: u32,
) -> Result<()> {
    let grid = Grid::cover(buffer.len(), 128);
    // SAFETY: the entry takes a slice and a number, and writes only the slice.
    unsafe { graph.kernel_untyped(add, grid, (buffer, value)) }.map(drop)
}

// covers: GMEM-01, GMEM-02, GMEM-03, GMEM-05, GMEM-X01
#[test]
fn each_launch_has_its_memory_anew() -> Result<()> {
    let gpu = gpu();
    let module = module(&gpu);
    let add = add(&module);
    let stream = gpu.stream()?;
    let mut result = stream.zeroed::<u32>(WORDS)?;
    let mut graph = gpu.graph()?;
    let mut scratch = graph.zeroed::<u32>(WORDS)?;
    add_node(&mut graph, &add, &mut scratch, 3)?;
    graph.fill(&mut scratch.slice_mut(..2), 9)?;
    graph.copy(&scratch, &mut result)?;
    let mut ready = graph.instantiate()?;
    for _ in 0..10 {
        ready.launch(&stream)?;
    }
    let values = stream.download(&result)?;
    assert_eq!(values[..4], [9, 9, 3, 3]);
    assert_eq!(values[WORDS - 1], 3);
    Ok(())
}

// covers: GMEM-05, GMEM-10, GMEM-11
#[test]
fn objects_go_in_any_order_while_it_runs() -> Result<()> {
    let gpu = gpu();
    let module = module(&gpu);
    let add = add(&module);
    let mut gate = Gate::new(&gpu, &module);
    let (one, two) = (gpu.stream()?, gpu.stream()?);
    let mut result = one.zeroed::<u32>(WORDS)?;
    for leaks in [false, true] {
        let mut graph = gpu.graph()?;
        let mut scratch = graph.filled::<u32>(WORDS, 1)?;
        add_node(&mut graph, &add, &mut scratch, 4)?;
        graph.copy(&scratch, &mut result)?;
        match leaks {
            true => std::mem::forget(scratch),
            false => drop(scratch),
        }
        let mut ready = graph.instantiate()?;
        drop(graph);
        gate.close(&one);
        ready.launch(&one)?;
        ready.launch(&two)?;
        drop(ready);
        gate.open();
        assert_eq!(two.download(&result)?[WORDS - 1], 5);
        one.fill(&mut result, 0)?;
    }
    Ok(())
}

// covers: GMEM-17, GMEM-X07
#[test]
fn freed_memory_serves_later_allocations() -> Result<()> {
    let gpu = gpu();
    let module = module(&gpu);
    let add = add(&module);
    let stream = gpu.stream()?;
    let mut result = stream.zeroed::<u32>(WORDS)?;
    let mut graph = gpu.graph()?;
    let mut first = graph.filled::<u32>(WORDS, 1)?;
    let address = first.as_device_ptr().address();
    add_node(&mut graph, &add, &mut first, 1)?;
    graph.copy(&first, &mut result)?;
    assert!(graph.free(first)?.is_some());
    let mut second = graph.filled::<u32>(WORDS, 10)?;
    if gpu.is_simulator() {
        assert_eq!(second.as_device_ptr().address(), address);
    }
    add_node(&mut graph, &add, &mut second, 1)?;
    graph.copy(&second.slice(1..), &mut result.slice_mut(1..))?;
    graph.free(second)?;
    let mut ready = graph.instantiate()?;
    for _ in 0..3 {
        ready.launch(&stream)?;
    }
    assert_eq!(stream.download(&result.slice(..3))?, [2, 11, 11]);
    Ok(())
}

// covers: GMEM-04, GMEM-07, GMEM-08
#[test]
fn nobody_but_its_graph_uses_the_memory() -> Result<()> {
    let gpu = gpu();
    let module = module(&gpu);
    let add = add(&module);
    let mut stream = gpu.stream()?;
    let mut own = stream.zeroed::<u32>(8)?;
    let mut graph = gpu.graph()?;
    let mut other = gpu.graph()?;
    let mut scratch = graph.zeroed::<u32>(8)?;
    // A stream: copies, fills, launches.
    assert!(refusal(stream.download(&scratch)).contains("graph's"));
    assert!(refusal(stream.fill(&mut scratch, 1)).contains("graph's"));
    assert!(refusal(stream.copy(&scratch, &mut own)).contains("graph's"));
    let grid = Grid::new(1, 8);
    // SAFETY: the entry takes a slice and a number, and writes only the slice.
    let launched = unsafe { stream.launch_untyped(&add, grid, (&mut scratch, 1_u32)) };
    assert!(refusal(launched).contains("graph's"));
    // A capture.
    let captured = stream.capture(|capture| capture.fill(&mut scratch, 1));
    assert!(refusal(captured).contains("another graph"));
    // Another graph, by a node or a free.
    assert!(refusal(other.fill(&mut scratch, 1)).contains("another graph"));
    assert!(refusal(add_node(&mut other, &add, &mut scratch, 1)).contains("another graph"));
    assert!(refusal(other.free(scratch)).contains("another graph"));
    assert!(refusal(other.free(stream.zeroed::<u32>(4)?)).contains("not a graph's"));
    // All of that did no harm.
    let mut again = graph.filled::<u32>(8, 6)?;
    add_node(&mut graph, &add, &mut again, 1)?;
    graph.copy(&again, &mut own)?;
    graph.instantiate()?.launch(&stream)?;
    assert_eq!(stream.download(&own)?, [7; 8]);
    Ok(())
}

#[test]
fn nothing_uses_the_memory_after_its_free() -> Result<()> {
    let gpu = gpu();
    let stream = gpu.stream()?;
    let mut result = stream.zeroed::<u32>(8)?;
    let mut graph = gpu.graph()?;
    let mut scratch = graph.filled::<u32>(8, 2)?;
    graph.copy(&scratch, &mut result)?;
    let ready = graph.instantiate()?;
    let text = refusal(graph.fill(&mut scratch, 1));
    assert!(text.contains("has freed the memory"), "{text}");
    assert!(refusal(graph.free(scratch)).contains("has freed the memory"));
    drop(ready);
    gpu.synchronize()?;
    // Once is enough.
    graph.instantiate()?.launch(&stream)?;
    assert_eq!(stream.download(&result)?, [2; 8]);
    Ok(())
}

// covers: GMEM-14
#[test]
fn there_is_one_executable_graph_at_a_time() -> Result<()> {
    let gpu = gpu();
    let stream = gpu.stream()?;
    let mut result = stream.zeroed::<u32>(8)?;
    let mut graph = gpu.graph()?;
    let scratch = graph.filled::<u32>(8, 2)?;
    graph.copy(&scratch, &mut result)?;
    let mut ready = graph.instantiate()?;
    assert!(refusal(graph.instantiate()).contains("an executable graph of it exists"));
    assert!(matches!(ready.update(&graph), Err(Error::GraphUpdate(_))));
    let mut plain = gpu.graph()?;
    plain.fill(&mut result, 1)?;
    assert!(matches!(
        plain.instantiate()?.update(&graph),
        Err(Error::GraphUpdate(_))
    ));
    ready.launch(&stream)?;
    assert_eq!(stream.download(&result)?, [2; 8]);
    ready.update_or_reinstantiate(&plain)?;
    ready.launch(&stream)?;
    assert_eq!(stream.download(&result)?, [1; 8]);
    gpu.synchronize()?;
    graph.instantiate()?.launch(&stream)?;
    assert_eq!(stream.download(&result)?, [2; 8]);
    Ok(())
}

#[test]
fn a_loop_uses_its_graphs_memory_and_has_none_of_its_own() -> Result<()> {
    let gpu = gpu();
    let stream = gpu.stream()?;
    let mut result = stream.zeroed::<u32>(8)?;
    let mut graph = gpu.graph()?;
    let mut scratch = graph.filled::<u32>(8, 2)?;
    let condition = graph.condition(1)?;
    graph.if_then(condition, |body| {
        let text = refusal(body.zeroed::<u32>(4));
        assert!(text.contains("allocation"), "{text}");
        body.fill(&mut scratch, 8)?;
        Ok(())
    })?;
    graph.copy(&scratch, &mut result)?;
    graph.free(scratch)?;
    graph.instantiate()?.launch(&stream)?;
    assert_eq!(stream.download(&result)?, [8; 8]);
    Ok(())
}

// covers: GMEM-18, GMEM-20, GMEM-21, GMEM-22, GMEM-23, GMEM-X08
#[test]
fn graphs_of_one_stream_share_what_they_reserve() -> Result<()> {
    let gpu = gpu();
    let stream = gpu.stream()?;
    gpu.synchronize()?;
    gpu.trim_graph_memory()?;
    let (before, pool) = (gpu.graph_memory()?, gpu.default_pool()?.usage()?);
    let mut ready = Vec::new();
    for times in [1, 2, 4] {
        let mut graph = gpu.graph()?;
        graph.filled::<u8>(times * (32 << 20), 1)?;
        ready.push(graph.instantiate()?);
    }
    ready[2].upload(&stream)?;
    for exec in &mut ready {
        exec.launch(&stream)?;
    }
    stream.synchronize()?;
    let usage = gpu.graph_memory()?;
    assert!(usage.reserved >= before.reserved + (128 << 20), "{usage:?}");
    assert!(usage.reserved < before.reserved + (224 << 20), "{usage:?}");
    assert!(usage.used <= usage.reserved && usage.reserved <= usage.reserved_peak);
    assert_eq!(gpu.default_pool()?.usage()?.used, pool.used);
    gpu.trim_graph_memory()?;
    assert!(gpu.graph_memory()?.reserved < usage.reserved);
    gpu.reset_graph_memory_peaks()?;
    let reset = gpu.graph_memory()?;
    assert_eq!(reset.reserved_peak, reset.reserved);
    ready[0].launch(&stream)?;
    stream.synchronize()
}

#[test]
fn an_empty_buffer_has_no_memory() -> Result<()> {
    let gpu = gpu();
    let mut graph = gpu.graph()?;
    let nothing = graph.zeroed::<u32>(0)?;
    assert!(graph.free(nothing)?.is_none());
    Ok(())
}

//! Graphs, executable graphs, and what is in them.

use std::sync::Arc;

use warpsmith_host::FlagOperations;
use warpsmith_host::GraphBuilder;
use warpsmith_host::prelude::*;

use crate::world::{Case, World, leave_nothing};

/// Adds one to each element.
fn add_node(
    world: &World,
    graph: &mut GraphBuilder<'_>,
    words: &mut DeviceBuffer<u32>,
) -> Result<()> {
    let grid = Grid::cover(words.len(), 128);
    // SAFETY: the entry takes a slice and a number, and writes only the slice.
    unsafe { graph.kernel_untyped(&world.add, grid, (words, 1)) }.map(drop)
}

fn nodes_of_every_kind(world: &World, round: usize) -> Result<()> {
    let stream = &world.stream;
    let mut words = stream.zeroed::<u32>(100)?;
    let mut copy = stream.zeroed::<u32>(100)?;
    let mut host = world.gpu.pinned::<u32>(100)?;
    let (event, flag) = (world.gpu.event_untimed()?, world.gpu.flag(0_u32)?);
    let kept = Arc::new(round);
    let mut graph = world.gpu.graph()?;
    add_node(world, &mut graph, &mut words)?;
    graph.fill(&mut words.slice_mut(..3), 7)?;
    graph.copy(&words, &mut copy)?;
    graph.copy_to_host(&copy, &mut host)?;
    graph.upload(&[1, 2, 3], &mut copy.slice_mut(..3))?;
    let of_graph = kept.clone();
    graph.host(move || assert!(*of_graph < 5000))?;
    graph.record(&event)?;
    graph.flags(&FlagOperations::new().write(&flag, 1))?;
    graph.empty()?;
    graph.keep(vec![1_u8; 100]);
    let mut exec = graph.instantiate()?;
    exec.upload(stream)?;
    exec.launch(stream)?;
    match round % 4 {
        0 => drop((exec, graph, words, copy, host, event, flag)),
        1 => drop((flag, event, host, copy, words, graph, exec)),
        2 => {
            drop((words, host, flag));
            exec.launch(&world.other)?;
            drop((graph, event));
        }
        _ => {
            world.stream.synchronize()?;
            assert_eq!(host.host()?[2..4], [7, 1]);
        }
    }
    Ok(())
}

fn copies_and_children(world: &World, round: usize) -> Result<()> {
    let mut words = world.stream.zeroed::<u32>(100)?;
    let mut inner = world.gpu.graph()?;
    add_node(world, &mut inner, &mut words)?;
    inner.host(|| ())?;
    let mut outer = world.gpu.graph()?;
    let node = outer.child(&inner)?;
    let twin = outer.try_clone()?;
    let mut exec = outer.instantiate()?;
    exec.launch(&world.stream)?;
    exec.set_child(node, &inner)?;
    let mut other = twin.instantiate()?;
    if round.is_multiple_of(2) {
        drop((inner, outer));
    }
    other.launch(&world.other)
}

fn updates(world: &World, round: usize) -> Result<()> {
    // Drivers refuse to change a fill to memory of a pool.
    let (stream, mut one) = (&world.stream, world.gpu.exportable::<u32>(100)?);
    let mut two = world.gpu.exportable::<u32>(100)?;
    let mut graph = world.gpu.graph()?;
    let fill = graph.fill(&mut one, 1)?;
    let mut exec = graph.instantiate()?;
    exec.launch(stream)?;
    exec.set_fill(fill, &mut two, 2)?;
    exec.launch(stream)?;
    let mut next = world.gpu.graph()?;
    next.fill(&mut one, 3)?;
    exec.update(&next)?;
    exec.launch(stream)?;
    if round.is_multiple_of(2) {
        // Of another shape.
        add_node(world, &mut next, &mut two)?;
        assert!(exec.update(&next).is_err());
        exec.update_or_reinstantiate(&next)?;
        exec.launch(stream)?;
    }
    Ok(())
}

fn conditions(world: &World, round: usize) -> Result<()> {
    let mut words = world.stream.zeroed::<u32>(8)?;
    let mut graph = world.gpu.graph()?;
    let once = graph.condition(1)?;
    graph.if_then(once, |body| body.fill(&mut words, 3).map(drop))?;
    let mut exec = graph.instantiate()?;
    if round.is_multiple_of(2) {
        exec.launch(&world.stream)?;
    }
    Ok(())
}

fn memory_of_graphs(world: &World, round: usize) -> Result<()> {
    let mut words = world.stream.zeroed::<u32>(1000)?;
    let mut graph = world.gpu.graph()?;
    let mut scratch = graph.filled::<u32>(1000, 4)?;
    add_node(world, &mut graph, &mut scratch)?;
    graph.copy(&scratch, &mut words)?;
    match round % 3 {
        0 => drop(graph.free(scratch)?),
        1 => drop(scratch),
        // A graph that is dropped before its memory, without a launch.
        _ => {
            drop((graph, scratch));
            return Ok(());
        }
    }
    let mut exec = graph.instantiate()?;
    exec.launch(&world.stream)?;
    exec.launch(&world.other)
}

/// What launches reserve goes back when it is asked for.
fn trims(world: &World, _: usize) -> Result<()> {
    let mut graph = world.gpu.graph()?;
    graph.filled::<u32>(1000, 4)?;
    graph.instantiate()?.launch(&world.stream)?;
    world.stream.synchronize()?;
    world.gpu.trim_graph_memory()
}

fn device_graphs(world: &World, round: usize) -> Result<()> {
    let mut words = world.stream.zeroed::<u32>(100)?;
    let mut graph = world.gpu.graph()?;
    add_node(world, &mut graph, &mut words)?;
    let mut launchable = graph.instantiate_for_device_launch(&world.stream)?;
    launchable.launch(&world.stream)?;
    if round.is_multiple_of(4) {
        world.stream.synchronize()?;
        launchable.update(&graph, &world.stream)?;
        launchable.launch(&world.other)?;
    }
    Ok(())
}

#[test]
fn of_graphs() {
    leave_nothing(&[
        Case::new("nodes of every kind", nodes_of_every_kind),
        Case::new("copies and children", copies_and_children),
        Case::new("updates", updates),
        Case::new("conditions", conditions),
        Case::new("memory of graphs", memory_of_graphs),
        Case::new("memory of graphs that is trimmed", trims),
        Case::new("graphs that kernels launch", device_graphs),
    ]);
}

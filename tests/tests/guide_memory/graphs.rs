//! Chapter 12: memory of graphs. Where an example lets an allocation of a graph outlive its launch, to be used and freed by streams and
//! other graphs, a program of this library has a buffer of a stream, which graphs and streams use alike: there is no node that is
//! missing, and no free that is forgotten.

use warpsmith_host::prelude::*;
use warpsmith_test_kernels::guide_memory as kernels;
use warpsmith_tests::{Fixture, fixture};

/// A thread for each of the 64 words that these examples work on.
fn grid() -> Grid {
    Grid::cover(64, 64)
}

// covers: GMEM-01, GMEM-X11
#[test]
fn a_driver_of_any_age_says_whether_graphs_have_memory() -> Result<()> {
    let gpu = &fixture().gpu;
    let has_pools = gpu.attribute_if_known(Attribute::MEMORY_POOLS_SUPPORTED)?;
    let version = gpu.driver_version();
    let supported = has_pools.unwrap_or(0) != 0 && (version.major, version.minor) >= (11, 4);
    let mut graph = gpu.graph()?;
    assert_eq!(graph.zeroed::<u32>(64).is_ok(), supported);
    Ok(())
}

// covers: GMEM-X03
#[test]
fn a_graph_writes_what_its_stream_goes_on_with() -> Result<()> {
    let Fixture { gpu, module } = fixture();
    let (set, increase) = (
        module.kernel(kernels::set_each)?,
        module.kernel(kernels::increase_each)?,
    );
    let stream = gpu.stream()?;
    let mut memory = stream.zeroed::<u32>(64)?;
    let mut graph = gpu.graph()?;
    graph.kernel(&set, grid(), (5, &mut memory))?;
    let mut ready = graph.instantiate()?;
    for _ in 0..3 {
        ready.launch(&stream)?;
        stream.launch(&increase, grid(), (1, &mut memory))?;
        assert_eq!(stream.download(&memory)?, [6; 64]);
    }
    // The executable graph keeps it as long as it may be launched.
    drop(memory);
    ready.launch(&stream)?;
    stream.synchronize()
}

/// The events between the streams are the library's.
// covers: GMEM-X04
#[test]
fn two_graphs_and_a_kernel_in_three_streams() -> Result<()> {
    let Fixture { gpu, module } = fixture();
    let (set, increase) = (
        module.kernel(kernels::set_each)?,
        module.kernel(kernels::increase_each)?,
    );
    let (one, two, three) = (gpu.stream()?, gpu.stream()?, gpu.stream()?);
    let mut memory = one.zeroed::<u32>(64)?;
    let mut result = one.zeroed::<u32>(64)?;
    let mut first = gpu.graph()?;
    first.kernel(&set, grid(), (5, &mut memory))?;
    let mut last = gpu.graph()?;
    last.copy(&memory, &mut result)?;
    let (mut first, mut last) = (first.instantiate()?, last.instantiate()?);
    for _ in 0..20 {
        first.launch(&one)?;
        two.launch(&increase, grid(), (1, &mut memory))?;
        last.launch(&three)?;
    }
    assert_eq!(three.download(&result)?, [6; 64]);
    Ok(())
}

/// An event in a graph lets another stream go on before the graph has ended.
// covers: GMEM-13, GMEM-X05
#[test]
fn events_in_graphs_order_streams_outside() -> Result<()> {
    let Fixture { gpu, module } = fixture();
    let (set, increase) = (
        module.kernel(kernels::set_each)?,
        module.kernel(kernels::increase_each)?,
    );
    let (one, two, three) = (gpu.stream()?, gpu.stream()?, gpu.stream()?);
    let (made, used) = (gpu.event_untimed()?, gpu.event_untimed()?);
    let mut memory = one.zeroed::<u32>(64)?;
    let mut result = one.zeroed::<u32>(64)?;
    let mut first = gpu.graph()?;
    let writes = first.kernel(&set, grid(), (5, &mut memory))?;
    let tells = first.record(&made)?;
    first.depend(writes, tells)?;
    let mut last = gpu.graph()?;
    let hears = last.wait(&used)?;
    let reads = last.copy(&memory, &mut result)?;
    last.depend(hears, reads)?;
    let (mut first, mut last) = (first.instantiate()?, last.instantiate()?);
    for _ in 0..20 {
        first.launch(&one)?;
        two.wait(&made)?;
        two.launch(&increase, grid(), (1, &mut memory))?;
        two.record(&used)?;
        last.launch(&three)?;
    }
    assert_eq!(three.download(&result)?, [6; 64]);
    Ok(())
}

/// The example's producer is launched until its data say that it is enough; two consumers in streams of their own read each time.
// covers: GMEM-X06
#[test]
fn a_producer_and_two_consumers_in_a_loop_that_the_data_end() -> Result<()> {
    let Fixture { gpu, module } = fixture();
    let increase = module.kernel(kernels::increase_each)?;
    let streams = [gpu.stream()?, gpu.stream()?, gpu.stream()?];
    let before = gpu.graph_memory()?.used;
    let mut progress = streams[0].zeroed::<u32>(64)?;
    let mut copies = [streams[1].zeroed::<u32>(64)?, streams[2].zeroed::<u32>(64)?];
    // The producer has memory of its own for what no launch leaves.
    let mut producer = gpu.graph()?;
    let mut scratch = producer.filled::<u32>(64, 3)?;
    producer.kernel(&increase, grid(), (1, &mut scratch))?;
    producer.kernel(&increase, grid(), (4, &mut progress))?;
    let mut producer = producer.instantiate()?;
    let mut consumers = Vec::new();
    for copy in &mut copies {
        let mut consumer = gpu.graph()?;
        consumer.copy(&progress, copy)?;
        consumer.kernel(&increase, grid(), (1, copy))?;
        consumers.push(consumer.instantiate()?);
    }
    let mut launches = 0;
    loop {
        producer.launch(&streams[0])?;
        for (consumer, stream) in consumers.iter_mut().zip(&streams[1..]) {
            consumer.launch(stream)?;
        }
        launches += 1;
        if streams[0].download(&progress)?[0] >= 20 {
            break;
        }
    }
    assert_eq!(launches, 5);
    for (copy, stream) in copies.iter().zip(&streams[1..]) {
        assert_eq!(stream.download(copy)?, [21; 64]);
    }
    drop((producer, consumers));
    gpu.synchronize()?;
    gpu.trim_graph_memory()?;
    assert!(gpu.graph_memory()?.used <= before, "nothing is left of it");
    Ok(())
}

/// The same loop on the device: nobody downloads to decide.
// covers: GMEM-X06, COND-04
#[test]
fn a_loop_that_the_data_end_on_the_device() -> Result<()> {
    let Fixture { gpu, module } = fixture();
    let halve = module.kernel(kernels::halve_each)?;
    let stream = gpu.stream()?;
    let mut memory = stream.filled::<u32>(64, 1000)?;
    let mut graph = gpu.graph()?;
    let again = graph.condition(1)?;
    graph.while_loop(again, |body| {
        body.kernel(&halve, grid(), (100, &mut memory, again))?;
        Ok(())
    })?;
    graph.instantiate()?.launch(&stream)?;
    assert_eq!(stream.download(&memory)?, [62; 64]);
    Ok(())
}

//! Panics of kernels in graphs: each belongs to a launch.

use super::*;

/// Two launches of a graph, each of which panics, and a fill between them that another stream follows.
#[test]
fn launches_of_a_graph_are_told_apart_by_what_comes_between() -> Result<()> {
    let gpu = gpu();
    let kernels = kernels(&gpu);
    let (one, two) = (gpu.stream()?, gpu.stream()?);
    let (mut word, mut copy) = (one.zeroed::<u32>(1)?, two.zeroed::<u32>(1)?);
    let mut graph = gpu.graph()?;
    // SAFETY: the entry takes a number.
    unsafe { graph.kernel_untyped(&kernels.at, Grid::new(2, 32), (5,)) }?;
    let mut ready = graph.instantiate()?;
    ready.launch(&one)?;
    one.fill(&mut word, 7)?;
    ready.launch(&one)?;
    two.copy(&word, &mut copy)?;
    wait_silently(&one)?;
    assert_eq!(lines(two.synchronize()), [5]);
    assert_eq!(lines(one.synchronize()), [5]);
    gpu.synchronize()
}

/// A graph of two kernels whose line is in memory.
fn graph(gpu: &Gpu, kernels: &Kernels, line: &DeviceBuffer<u32>) -> Result<Graph> {
    let mut graph = gpu.graph()?;
    let no = gpu.stream()?.upload(&[0_u32])?;
    // SAFETY: the entry reads one word of a slice.
    unsafe { graph.kernel_untyped(&kernels.first, Grid::new(2, 32), (&no,)) }?;
    // SAFETY: the entry reads one word of a slice.
    unsafe { graph.kernel_untyped(&kernels.second, Grid::new(2, 32), (line,)) }?;
    Ok(graph)
}

#[test]
fn a_graphs_panic_belongs_to_one_of_its_launches() -> Result<()> {
    let gpu = gpu();
    let kernels = kernels(&gpu);
    let (one, two) = (gpu.stream()?, gpu.stream()?);
    let mut line = one.zeroed::<u32>(1)?;
    let mut ready = graph(&gpu, &kernels, &line)?.instantiate()?;
    // In two streams.
    for guilty_first in [true, false] {
        one.fill(&mut line, if guilty_first { 4 } else { 0 })?;
        ready.launch(&one)?;
        two.fill(&mut line, if guilty_first { 0 } else { 4 })?;
        ready.launch(&two)?;
        wait_silently(&two)?;
        if guilty_first {
            let panic = told(one.synchronize());
            assert_eq!((panic.kernel.as_str(), panic.line), ("second", 4));
            two.synchronize()?;
        } else {
            one.synchronize()?;
            assert_eq!(lines(two.synchronize()), [4]);
        }
        gpu.synchronize()?;
    }
    // In one stream, with events in between, in every order of waiting.
    let events = [gpu.event()?, gpu.event()?, gpu.event()?];
    for guilty in 0..3 {
        for order in [[0, 1, 2], [2, 1, 0]] {
            for (number, event) in events.iter().enumerate() {
                one.fill(&mut line, if number == guilty { 6 } else { 0 })?;
                ready.launch(&one)?;
                ready.launch(&one)?;
                one.record(event)?;
            }
            wait_silently(&one)?;
            let mut heard = false;
            for number in order {
                let result = events[number].synchronize();
                if number >= guilty && !heard {
                    heard = true;
                    assert!(lines(result).iter().all(|line| *line == 6));
                } else {
                    result?;
                }
            }
            one.synchronize()?;
        }
    }
    Ok(())
}

#[test]
fn executable_graphs_of_one_graph_tell_their_panics_apart() -> Result<()> {
    let gpu = gpu();
    let kernels = kernels(&gpu);
    let (one, two) = (gpu.stream()?, gpu.stream()?);
    let mut graph = gpu.graph()?;
    // SAFETY: the entry takes a number.
    unsafe { graph.kernel_untyped(&kernels.at, Grid::new(2, 32), (0,)) }?;
    let mut silent = graph.instantiate()?;
    let mut updated = graph.instantiate()?;
    let mut other = gpu.graph()?;
    // SAFETY: the entry takes a number.
    unsafe { other.kernel_untyped(&kernels.at, Grid::new(2, 32), (3,)) }?;
    updated.update(&other)?;
    let mut third = other.instantiate()?;
    drop((graph, other));
    for _ in 0..3 {
        silent.launch(&one)?;
        updated.launch(&two)?;
        wait_silently(&two)?;
        one.synchronize()?;
        assert_eq!(lines(two.synchronize()), [3]);
        third.launch(&one)?;
        silent.launch(&two)?;
        wait_silently(&one)?;
        two.synchronize()?;
        assert_eq!(lines(one.synchronize()), [3]);
    }
    // The graph and its stream are gone, the panic is not.
    updated.launch(&two)?;
    drop((updated, two));
    one.synchronize()?;
    assert_eq!(lines(gpu.synchronize()), [3]);
    Ok(())
}

/// A launch that was refused leaves the next one its own number.
#[test]
fn a_graphs_launch_after_a_refused_one_tells_its_panics() {
    // The simulated device reports no concurrent managed access, so that a launch can be refused where another one was not.
    in_own_process(&[("WARPSMITH_SIMULATOR_ATTRIBUTES", "89=0")], || {
        let gpu = gpu();
        if gpu.attribute(Attribute::CONCURRENT_MANAGED_ACCESS).unwrap() != 0 {
            return;
        }
        let kernels = kernels(&gpu);
        let (one, two) = (gpu.stream().unwrap(), gpu.stream().unwrap());
        let mut line = gpu.unified::<u32>(1).unwrap();
        line.attach(&one, Attach::Single).unwrap();
        let mut graph = gpu.graph().unwrap();
        // SAFETY: the entry reads one word of a slice.
        unsafe { graph.kernel_untyped(&kernels.first, Grid::new(2, 32), (&line,)) }.unwrap();
        let mut ready = graph.instantiate().unwrap();
        let held_up = hold_up(&one).unwrap();
        ready.launch(&one).unwrap();
        let error = ready.launch(&two).unwrap_err();
        assert_eq!(error.code(), Some(Code::NOT_PERMITTED), "{error}");
        drop(held_up);
        one.synchronize().unwrap();
        line.attach(&one, Attach::Global).unwrap();
        line.host_mut().unwrap()[0] = 7;
        ready.launch(&two).unwrap();
        wait_silently(&two).unwrap();
        one.synchronize().unwrap();
        assert_eq!(lines(two.synchronize()), [7]);
    });
}

/// The stream, the graph and what it is made of are gone before any of it ran.
#[test]
fn panics_of_a_graph_that_is_gone_are_told() -> Result<()> {
    let gpu = gpu();
    let kernels = kernels(&gpu);
    let stream = gpu.stream()?;
    let mut graph = gpu.graph()?;
    let condition = graph.condition(1)?;
    graph.if_then(condition, |body| {
        // SAFETY: the entry takes a number.
        unsafe { body.kernel_untyped(&kernels.at, Grid::new(2, 32), (5,)) }.map(drop)
    })?;
    graph.host(|| panic!("in a graph that is gone"))?;
    let mut ready = graph.instantiate()?;
    let mut unguilty = gpu.graph()?;
    unguilty.empty()?;
    let held_up = hold_up(&stream)?;
    ready.launch(&stream)?;
    ready.update_or_reinstantiate(&unguilty)?;
    drop((kernels, graph, ready, unguilty, stream));
    gpu.stream()?.synchronize()?;
    drop(held_up);
    assert_eq!(lines(gpu.synchronize()), [5]);
    let error = gpu.synchronize().unwrap_err();
    assert!(
        error.to_string().contains("in a graph that is gone"),
        "{error}"
    );
    gpu.synchronize()
}

#[test]
fn captured_launches_and_bodies_panic_as_parts_of_their_graph() -> Result<()> {
    let gpu = gpu();
    let kernels = kernels(&gpu);
    let (mut stream, mut side) = (gpu.stream()?, gpu.stream()?);
    let mut line = stream.zeroed::<u32>(1)?;
    let captured = stream.capture(|capture| {
        let side = capture.fork(&mut side)?;
        launch_at(capture, &kernels, 0);
        launch(side, &kernels.second, &line);
        launch_at(capture, &kernels, 0);
        Ok(())
    })?;
    // Nothing ran.
    wait_silently(&stream)?;
    stream.synchronize()?;
    let mut ready = captured.instantiate()?;
    drop(captured);
    stream.fill(&mut line, 12)?;
    ready.launch(&stream)?;
    let panic = told(stream.synchronize());
    assert_eq!((panic.kernel.as_str(), panic.line), ("second", 12));

    let mut graph = gpu.graph()?;
    let condition = graph.condition(1)?;
    graph.if_then(condition, |body| {
        // SAFETY: the entry takes a number.
        unsafe { body.kernel_untyped(&kernels.at, Grid::new(2, 32), (21,)) }.map(drop)
    })?;
    let mut ready = graph.instantiate()?;
    for _ in 0..2 {
        ready.launch(&stream)?;
        side.synchronize()?;
        assert_eq!(lines(stream.synchronize()), [21]);
    }
    Ok(())
}

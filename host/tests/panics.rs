//! Panics of kernels: each is told to the first wait that covers its launch, and to no other.

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use common::panicking::{Kernels, kernels, launch, launch_at};
use common::{add, gpu, hold_up, in_own_process, launch_add, module, wait_silently};
use warpsmith_host::KernelPanic;
use warpsmith_host::prelude::*;

/// The panic that a wait must tell.
#[track_caller]
fn told<T>(result: Result<T>) -> KernelPanic {
    match result {
        Ok(_) => panic!("the wait tells no panic"),
        Err(error) => error.panic().unwrap_or_else(|| panic!("{error}")).clone(),
    }
}

/// The lines of the panics that a wait must tell.
#[track_caller]
fn lines(result: Result<()>) -> Vec<u32> {
    let panic = told(result);
    let others = panic.others.iter().map(|other| other.line);
    [panic.line].into_iter().chain(others).collect()
}

#[test]
fn a_panic_is_an_error_and_the_context_lives_on() -> Result<()> {
    let gpu = gpu();
    let kernels = kernels(&gpu);
    let add = add(&module(&gpu));
    let stream = gpu.stream()?;
    let mut buffer = stream.filled(100, 1_u32)?;
    for round in 0..2 {
        launch_add(&stream, &add, &mut buffer, 1);
        launch_at(&stream, &kernels, 17);
        let error = stream.synchronize().unwrap_err();
        assert!(
            error
                .to_string()
                .starts_with("kernel `at` panicked at k.rs:17:5: oops"),
            "{error}"
        );
        let panic = told::<()>(Err(error));
        assert_eq!(panic.kernel, "at");
        assert_eq!(
            (panic.message.as_str(), panic.file.as_str()),
            ("oops", "k.rs")
        );
        assert_eq!((panic.line, panic.column), (17, 5));
        assert_eq!(panic.block, [1, 0, 0]);
        assert_eq!(panic.thread[0] % 2, 1);
        assert_eq!((panic.grid_dim[0], panic.block_dim[0]), (2, 32));
        assert!(panic.others.is_empty(), "one for a launch, of many threads");
        // Told once; then all is well.
        stream.synchronize()?;
        launch_add(&stream, &add, &mut buffer, 1);
        assert_eq!(stream.download(&buffer)?, [3 + 2 * round; 100]);
    }
    Ok(())
}

/// Modules, streams and kernels of the same shape: the panic is that of one launch.
#[test]
fn a_panic_is_told_to_the_stream_it_belongs_to_by_its_kernels_name() -> Result<()> {
    let gpu = gpu();
    let (ours, theirs) = (kernels(&gpu), kernels(&gpu));
    let (one, two) = (gpu.stream()?, gpu.stream()?);
    // The inputs are shared: who only reads what another stream reads has nothing to do with its launches.
    let (no, line) = (one.upload(&[0_u32])?, two.upload(&[9_u32])?);
    for (guilty, innocent) in [(&one, &two), (&two, &one)] {
        launch(guilty, &ours.first, &no);
        launch(guilty, &ours.second, &line);
        launch(guilty, &ours.first, &no);
        launch(innocent, &theirs.first, &no);
        launch(innocent, &ours.second, &no);
        wait_silently(guilty)?;
        innocent.synchronize()?;
        assert!(innocent.is_idle()?);
        assert_eq!(told(guilty.synchronize()).kernel, "second");
        guilty.synchronize()?;
        gpu.synchronize()?;
    }
    Ok(())
}

#[test]
fn an_event_tells_of_what_came_before_it() -> Result<()> {
    let gpu = gpu();
    let kernels = kernels(&gpu);
    let stream = gpu.stream()?;
    let (before, after, late) = (gpu.event()?, gpu.event()?, gpu.event()?);
    launch_at(&stream, &kernels, 0);
    stream.record(&before)?;
    launch_at(&stream, &kernels, 3);
    stream.record(&after)?;
    launch_at(&stream, &kernels, 4);
    stream.record(&late)?;
    wait_silently(&stream)?;
    before.synchronize()?;
    assert!(before.is_complete()?);
    assert_eq!(lines(after.synchronize()), [3]);
    after.synchronize()?;
    // A query that says yes is as good as a wait.
    assert_eq!(told(late.is_complete()).line, 4);
    stream.synchronize()
}

#[test]
fn who_follows_a_stream_hears_of_its_panics() -> Result<()> {
    let gpu = gpu();
    let kernels = kernels(&gpu);
    let (one, two, three) = (gpu.stream()?, gpu.stream()?, gpu.stream()?);
    // By an event, and over a stream in between.
    let event = gpu.event_untimed()?;
    launch_at(&one, &kernels, 1);
    one.record(&event)?;
    two.wait(&event)?;
    launch_at(&one, &kernels, 2);
    two.record(&event)?;
    three.wait(&event)?;
    assert_eq!(lines(three.synchronize()), [1]);
    two.synchronize()?;
    assert_eq!(lines(one.synchronize()), [2]);
    // By memory that one wrote after the launch, not by what it only read.
    let mut word = one.zeroed::<u32>(1)?;
    gpu.synchronize()?;
    launch_at(&one, &kernels, 3);
    one.fill(&mut word, 7)?;
    assert_eq!(told(two.download(&word)).line, 3);
    assert_eq!(one.download(&word)?, [7]);
    let shared = one.upload(&[4_u32])?;
    let mut copy = two.zeroed::<u32>(1)?;
    launch(&one, &kernels.first, &shared);
    two.copy(&shared, &mut copy)?;
    wait_silently(&one)?;
    assert_eq!(two.download(&copy)?, [4]);
    // Also through a stream in between, and parts of a buffer.
    let mut pair = one.zeroed::<u32>(2)?;
    one.synchronize().unwrap_err();
    let (mut left, right) = pair.slice_mut(..).split_at_mut(1);
    launch_at(&one, &kernels, 6);
    one.fill(&mut left, 1)?;
    two.copy(&left, &mut copy)?;
    assert_eq!(three.download(&right)?, [0]);
    assert_eq!(told(three.download(&copy)).line, 6);
    gpu.synchronize()
}

/// What it hears of is fixed when the memory was written, also where the memory is split or becomes a graph's after that.
#[test]
fn who_uses_what_a_panic_left_hears_of_it_whatever_became_of_the_memory() -> Result<()> {
    let gpu = gpu();
    let kernels = kernels(&gpu);
    let add = add(&module(&gpu));
    let (one, two) = (gpu.stream()?, gpu.stream()?);
    let mut copy = two.zeroed::<u32>(1)?;
    // Split when all is done.
    let mut pair = one.zeroed::<u32>(2)?;
    launch_at(&one, &kernels, 6);
    one.fill(&mut pair, 1)?;
    wait_silently(&one)?;
    let (left, _right) = pair.slice_mut(..).split_at_mut(1);
    two.copy(&left, &mut copy)?;
    assert_eq!(lines(two.synchronize()), [6]);
    // Part of a graph that is made later.
    let mut word = one.zeroed::<u32>(1)?;
    launch_at(&one, &kernels, 7);
    launch_add(&one, &add, &mut word, 1);
    let mut graph = gpu.graph()?;
    graph.copy(&word, &mut copy)?;
    graph.instantiate()?.launch(&two)?;
    assert_eq!(lines(two.synchronize()), [7]);
    gpu.synchronize()
}

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

#[test]
fn the_device_hears_of_all_of_them_also_where_the_stream_is_gone() -> Result<()> {
    let gpu = gpu();
    let kernels = kernels(&gpu);
    let (kept, dropped) = (gpu.stream()?, gpu.stream()?);
    let held_up = hold_up(&dropped)?;
    launch_at(&dropped, &kernels, 8);
    drop((dropped, kernels));
    // What another stream waits for has nothing to do with it.
    kept.synchronize()?;
    drop(held_up);
    assert_eq!(lines(gpu.synchronize()), [8]);
    gpu.synchronize()?;
    let kernels = common::panicking::kernels(&gpu);
    let gone = gpu.stream()?;
    launch_at(&kept, &kernels, 1);
    launch_at(&gone, &kernels, 2);
    wait_silently(&gone)?;
    drop(gone);
    for _ in 0..3 {
        // New streams take the place of the one that is gone, and nothing of its panics.
        gpu.stream()?.synchronize()?;
    }
    let mut found = lines(gpu.synchronize());
    found.sort_unstable();
    assert_eq!(found, [1, 2]);
    kept.synchronize()
}

#[test]
fn every_launch_that_panicked_is_told() -> Result<()> {
    let gpu = gpu();
    let kernels = kernels(&gpu);
    let stream = gpu.stream()?;
    for line in [0, 1, 2, 0, 3] {
        launch_at(&stream, &kernels, line);
    }
    let error = stream.synchronize().unwrap_err();
    assert_eq!(
        error.to_string().matches("panicked at").count(),
        3,
        "{error}"
    );
    assert_eq!(lines(Err(error)), [1, 2, 3]);
    stream.synchronize()?;
    // More than there is room for: the rest is told without its messages, each launch once, by the wait that covers it.
    let events = [gpu.event()?, gpu.event()?];
    for line in 1..=6 {
        launch_at(&stream, &kernels, line);
    }
    stream.record(&events[0])?;
    for line in [0, 8, 0, 9] {
        launch_at(&stream, &kernels, line);
    }
    stream.record(&events[1])?;
    launch_at(&stream, &kernels, 10);
    wait_silently(&stream)?;
    let mut first = lines(events[0].synchronize());
    first.sort_unstable();
    assert_eq!(first, [0, 0, 1, 2, 3, 4]);
    let rest = told(events[1].synchronize());
    assert_eq!(
        (rest.kernel.as_str(), rest.line, rest.others.len()),
        ("at", 0, 1)
    );
    assert!(rest.message.contains("was not kept"), "{rest}");
    assert_eq!(lines(stream.synchronize()), [0]);
    stream.synchronize()?;
    // More than there are notes for.
    for line in 1..=80 {
        launch_at(&stream, &kernels, line);
    }
    let panic = told(stream.synchronize());
    assert_eq!(panic.others.len(), 4 + 64);
    let limit = "between two waits, and more launches panicked: the first of these and the last are known, at most 12 in all";
    let beyond = |panic: &&KernelPanic| panic.message.contains(limit);
    assert_eq!(panic.others.iter().filter(beyond).count(), 1, "{panic}");
    stream.synchronize()?;
    launch_at(&stream, &kernels, 6);
    assert_eq!(lines(stream.synchronize()), [6]);
    Ok(())
}

#[test]
fn memory_that_a_panic_left_is_not_handed_over_without_a_word() -> Result<()> {
    let gpu = gpu();
    let kernels = kernels(&gpu);
    let add = module(&gpu).untyped_kernel::<(Out<u32>, Value<u32>)>("add")?;
    let (stream, other) = (gpu.stream()?, gpu.stream()?);
    let mut mapped = gpu.mapped::<u32>(4)?;
    launch_at(&stream, &kernels, 5);
    // SAFETY: a slice and a number.
    unsafe { stream.launch_untyped(&add, Grid::new(1, 4), (&mut mapped, 1)) }?;
    wait_silently(&stream)?;
    other.synchronize()?;
    let found = loop {
        match mapped.host() {
            Err(Error::Busy(_)) => std::thread::yield_now(),
            done => break told(done.map(drop)),
        }
    };
    assert_eq!(found.line, 5);
    assert_eq!(*mapped.host()?, [1; 4]);
    stream.synchronize()
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

/// Nothing rests on destructors.
#[test]
fn everything_may_be_forgotten_while_it_runs() {
    let output = in_own_process(&[], || {
        let gpu = gpu();
        let kernels = kernels(&gpu);
        let mut stream = gpu.stream().unwrap();
        let mut line = stream.upload(&[8_u32]).unwrap();
        let captured = stream
            .capture(|capture| {
                launch(capture, &kernels.first, &line);
                Ok(())
            })
            .unwrap();
        let mut graph = gpu.graph().unwrap();
        graph.fill(&mut line, 9).unwrap();
        graph.host(|| panic!("on the host")).unwrap();
        let (mut one, mut two) = (
            captured.instantiate().unwrap(),
            graph.instantiate().unwrap(),
        );
        let held_up = hold_up(&stream).unwrap();
        one.launch(&stream).unwrap();
        two.launch(&stream).unwrap();
        let event = gpu.event().unwrap();
        stream.record(&event).unwrap();
        one.launch(&stream).unwrap();
        stream.record(&event).unwrap();
        let other = gpu.stream().unwrap();
        other.wait(&event).unwrap();
        let mut pinned = gpu.pinned::<u32>(1).unwrap();
        other.copy_to_host(&line, &mut pinned).unwrap();
        let guard = gpu.unified::<u32>(4).unwrap();
        std::mem::forget(guard.host().unwrap());
        std::mem::forget((guard, pinned, event, one, two, graph, captured));
        std::mem::forget((kernels, line, stream, other));
        drop(held_up);
        assert_eq!(lines(gpu.synchronize()), [8, 9]);
        assert!(
            gpu.synchronize()
                .unwrap_err()
                .to_string()
                .contains("on the host")
        );
        gpu.synchronize().unwrap();
    });
    if let Some(output) = output {
        assert!(!output.contains("while dropping"), "{output}");
    }
}

/// Threads launch in one stream and wait for it beside each other: each panic is told, to one of them.
#[test]
fn no_panic_is_lost_between_threads_of_one_stream() -> Result<()> {
    const LAUNCHES: u32 = 300;
    let gpu = gpu();
    let kernels = kernels(&gpu);
    let stream = gpu.stream()?;
    let told_in_all = AtomicU32::new(0);
    let wait = || match stream.synchronize() {
        Ok(()) => 0,
        Err(error) => {
            let panic = told::<()>(Err(error));
            let count = 1 + panic.others.len() as u32;
            told_in_all.fetch_add(count, Ordering::SeqCst)
        }
    };
    std::thread::scope(|scope| {
        for thread in 0..2 {
            let (kernels, stream, wait) = (&kernels, &stream, &wait);
            scope.spawn(move || {
                for round in 0..LAUNCHES {
                    launch_at(stream, kernels, 1 + 2 * round + thread);
                    wait();
                }
            });
        }
    });
    // Whoever launched last waited for all. A launch that runs while the other thread's wait collects may be told by it, and then not again.
    assert_eq!(told_in_all.load(Ordering::SeqCst), 2 * LAUNCHES);
    stream.synchronize()
}

/// A wait for the device looks for panics while another thread's wait destroys a dropped stream: what that leaves goes from its log into a
/// list, and is always in one of them.
#[test]
fn a_wait_hears_of_a_stream_that_is_destroyed_meanwhile() -> Result<()> {
    let gpu = gpu();
    let kernels = kernels(&gpu);
    let other = gpu.stream()?;
    let both = std::sync::Barrier::new(2);
    for line in 1..=300 {
        let stream = gpu.stream()?;
        launch_at(&stream, &kernels, line);
        wait_silently(&stream)?;
        drop(stream);
        let result = std::thread::scope(|scope| {
            let destroys = scope.spawn(|| {
                both.wait();
                other.synchronize()
            });
            both.wait();
            let result = gpu.synchronize();
            destroys.join().expect("the thread waits")?;
            result
        });
        assert_eq!(lines(result), [line]);
    }
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

#[test]
fn threads_hear_of_their_own_panics_only() -> Result<()> {
    let gpu = gpu();
    let kernels = kernels(&gpu);
    let told_in_all = AtomicU32::new(0);
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4_u32)
            .map(|thread| {
                let (gpu, kernels, told_in_all) = (&gpu, &kernels, &told_in_all);
                scope.spawn(move || -> Result<()> {
                    let stream = gpu.stream()?;
                    for round in 0..40 {
                        let line = if (round * 7 + thread) % 3 == 0 {
                            100 * (thread + 1) + round
                        } else {
                            0
                        };
                        launch_at(&stream, kernels, 0);
                        launch_at(&stream, kernels, line);
                        if line == 0 {
                            stream.synchronize()?;
                        } else {
                            assert_eq!(lines(stream.synchronize()), [line]);
                            told_in_all.fetch_add(1, Ordering::Relaxed);
                        }
                    }
                    Ok(())
                })
            })
            .collect();
        for thread in threads {
            thread.join().unwrap()?;
        }
        assert!(told_in_all.load(Ordering::Relaxed) > 40);
        gpu.synchronize()
    })
}

#[test]
fn a_host_functions_panic_belongs_to_its_stream() -> Result<()> {
    let gpu = gpu();
    let (one, two) = (gpu.stream()?, gpu.stream()?);
    let told_by = |stream: &Stream, what: &str| {
        let error = stream.synchronize().unwrap_err();
        assert!(matches!(error, Error::HostFunctionPanic(_)), "{error}");
        assert!(error.to_string().contains(what), "{error}");
    };
    one.host_fn(|| panic!("in a stream"))?;
    wait_silently(&one)?;
    two.synchronize()?;
    told_by(&one, "in a stream");
    one.synchronize()?;
    // A wait tells all that it covers.
    for number in 0..3 {
        one.host_fn(move || panic!("number {number}"))?;
    }
    let error = one.synchronize().unwrap_err().to_string();
    assert!(
        (0..3).all(|number| error.contains(&format!("number {number}"))),
        "{error}"
    );
    one.synchronize()?;
    let calls = Arc::new(AtomicU32::new(0));
    let mut graph = gpu.graph()?;
    graph.host(move || {
        let call = calls.fetch_add(1, Ordering::SeqCst);
        assert!(call != 1, "in a graph");
    })?;
    let mut ready = graph.instantiate()?;
    drop(graph);
    ready.launch(&one)?;
    ready.launch(&two)?;
    wait_silently(&two)?;
    one.synchronize()?;
    told_by(&two, "in a graph");
    gpu.synchronize()
}

/// Nobody waits any more: it is told where destructors tell their errors.
#[test]
fn a_panic_that_no_wait_covered_is_told_at_the_end() {
    let output = in_own_process(&[], || {
        let gpu = gpu();
        let kernels = kernels(&gpu);
        let stream = gpu.stream().unwrap();
        launch_at(&stream, &kernels, 33);
        drop((kernels, stream, gpu));
    });
    if let Some(output) = output {
        assert!(output.contains("while dropping"), "{output}");
        assert!(
            output.contains("kernel `at` panicked at k.rs:33"),
            "{output}"
        );
    }
}

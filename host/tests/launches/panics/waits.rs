//! Which waits hear of a panic.

use super::*;

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
    let kernels = crate::common::panicking::kernels(&gpu);
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
    // More than there are texts for: the rest is told without its messages, each launch once, by the wait that covers it.
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
    assert!(rest.message.contains("were not kept"), "{rest}");
    assert_eq!(lines(stream.synchronize()), [0]);
    stream.synchronize()?;
    // More than there are records for.
    for line in 1..=80 {
        launch_at(&stream, &kernels, line);
    }
    let panic = told(stream.synchronize());
    assert_eq!(panic.others.len(), 64);
    let limit = "between two waits, and more launches panicked: the first of these and the last are known, at most 16 in all, and the kernel of one";
    let beyond = |panic: &&KernelPanic| panic.message.contains(limit);
    assert_eq!(panic.others.iter().filter(beyond).count(), 1, "{panic}");
    assert!(panic.others.iter().all(|other| other.kernel == "at"));
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

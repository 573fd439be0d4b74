//! Threads, functions of the host, and ends: no panic is lost, and each is told once.

use super::*;

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

//! Streams, events, host functions, threads.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, mpsc};

use crate::common::{Gate, add, gpu, launch_add, module};
use warpsmith_host::StreamPriorities;
use warpsmith_host::prelude::*;

// covers: STREAM-10, STREAM-12
#[test]
fn waiting_and_asking() -> Result<()> {
    let gpu = gpu();
    let module = module(&gpu);
    let mut gate = Gate::new(&gpu, &module);
    let (one, two) = (gpu.stream()?, gpu.stream()?);
    gate.close(&one);
    assert!(gate.holds(&one));
    two.synchronize()?;
    assert!(
        gate.holds(&one),
        "waiting for one stream does not wait for another"
    );
    gate.open();
    gpu.synchronize()?;
    assert!(one.is_idle()?);
    Ok(())
}

// covers: STREAM-11, EVENT-02, EVENT-03
#[test]
fn one_event_holds_several_streams_and_may_be_recorded_again() -> Result<()> {
    let gpu = gpu();
    let module = module(&gpu);
    let mut gate = Gate::new(&gpu, &module);
    let source = gpu.stream()?;
    let followers = [gpu.stream()?, gpu.stream()?, gpu.stream()?];
    let event = gpu.event_untimed()?;
    assert!(event.is_complete()?, "never recorded: nothing to wait for");
    followers[0].wait(&event)?;
    followers[0].synchronize()?;

    gate.close(&source);
    source.record(&event)?;
    for follower in &followers {
        follower.wait(&event)?;
        assert!(gate.holds(follower));
    }
    assert!(!event.is_complete()?);
    gate.open();
    event.synchronize()?;
    gpu.synchronize()?;

    // A wait is bound to the recording that it saw.
    source.record(&event)?;
    followers[0].wait(&event)?;
    gate.close(&source);
    source.record(&event)?;
    followers[0].synchronize()?;
    assert!(gate.holds(&source));
    // A new one, recorded at once.
    let another = source.record_event()?;
    followers[1].wait(&another)?;
    assert!(gate.holds(&followers[1]) && !another.is_complete()?);
    // Dropping a pending event does no harm.
    drop(event);
    drop(another);
    gate.open();
    followers[1].synchronize()?;
    source.synchronize()
}

/// A thread waits for an event while another one records it anew, behind other work: the wait is one for that, too, because what
/// it lets the program do is what the event's last recording stands for.
#[test]
fn an_event_that_is_recorded_during_a_wait_is_waited_for_again() -> Result<()> {
    let gpu = gpu();
    let module = module(&gpu);
    let mut gates = [Gate::new(&gpu, &module), Gate::new(&gpu, &module)];
    let streams = [gpu.stream()?, gpu.stream()?];
    for (gate, stream) in gates.iter_mut().zip(&streams) {
        gate.close(stream);
    }
    let event = gpu.event_untimed()?;
    streams[0].record(&event)?;
    let (waited, has_waited) = mpsc::channel();
    let moment = std::time::Duration::from_millis(200);
    std::thread::scope(|scope| {
        let event = &event;
        scope.spawn(move || waited.send(event.synchronize()));
        // The other thread is in its wait by now; if not, it waits for the second recording alone.
        std::thread::sleep(moment);
        streams[1].record(event)?;
        gates[0].open();
        let early = has_waited.recv_timeout(moment);
        assert!(
            early.is_err(),
            "the wait was one for the first recording only"
        );
        gates[1].open();
        has_waited.recv().expect("the thread waits")
    })
}

// covers: EVENT-04
#[test]
fn time_between_events() -> Result<()> {
    let gpu = gpu();
    let stream = gpu.stream()?;
    let (start, stop) = (gpu.event()?, gpu.event()?);
    stream.record(&start)?;
    let buffer = stream.zeroed::<u32>(1 << 20)?;
    stream.record(&stop)?;
    stop.synchronize()?;
    let forth = stop.elapsed_since(&start)?;
    assert!(forth.as_nanos() > 0 && forth.as_secs() < 10, "{forth:?}");
    drop(buffer);
    let error = start.elapsed_since(&stop).unwrap_err();
    assert!(error.to_string().contains("later"), "{error}");

    let untimed = gpu.event_untimed()?;
    stream.record(&untimed)?;
    let error = untimed.elapsed_since(&start).unwrap_err();
    assert!(error.to_string().contains("measures no time"), "{error}");
    let never = gpu.event()?;
    let error = stop.elapsed_since(&never).unwrap_err();
    assert_eq!(error.code(), Some(Code::INVALID_HANDLE));
    assert!(error.to_string().contains("never recorded"), "{error}");

    let module = module(&gpu);
    let mut gate = Gate::new(&gpu, &module);
    gate.close(&stream);
    stream.record(&stop)?;
    assert_eq!(
        stop.elapsed_since(&start).unwrap_err().code(),
        Some(Code::NOT_READY)
    );
    gate.open();
    stream.synchronize()
}

// covers: STREAM-18, EX1-20
#[test]
fn priorities_and_kinds_of_streams() -> Result<()> {
    let gpu = gpu();
    let StreamPriorities { least, greatest } = gpu.stream_priorities()?;
    assert!(greatest <= least);
    for priority in [least, greatest] {
        for non_blocking in [true, false] {
            let stream = gpu.stream_with(StreamOptions {
                non_blocking,
                priority,
            })?;
            assert_eq!(stream.priority()?, priority);
            assert_eq!(stream.is_non_blocking()?, non_blocking);
            assert_eq!(stream.download(&stream.upload(&[1_u8])?)?, [1]);
        }
    }
    for (beyond, clamped) in [(-100, greatest), (i32::MIN, greatest), (100, least)] {
        let stream = gpu.stream_with(StreamOptions {
            priority: beyond,
            ..Default::default()
        })?;
        assert_eq!(stream.priority()?, clamped, "{beyond}");
    }
    Ok(())
}

// covers: STREAM-15, EX1-19
#[test]
fn host_functions_keep_their_place() -> Result<()> {
    let gpu = gpu();
    let module = module(&gpu);
    let add = add(&module);
    let mut gate = Gate::new(&gpu, &module);
    let stream = gpu.stream()?;
    let mut buffer = stream.zeroed::<u32>(4)?;
    let called = Arc::new(AtomicU32::new(0));
    gate.close(&stream);
    launch_add(&stream, &add, &mut buffer, 1);
    let (sender, receiver) = mpsc::channel();
    for i in 0..3 {
        let (called, sender) = (called.clone(), sender.clone());
        stream.host_fn(move || {
            called.fetch_add(1, Ordering::SeqCst);
            sender.send(i).unwrap();
        })?;
    }
    assert_eq!(called.load(Ordering::SeqCst), 0, "called before its turn");
    gate.open();
    stream.synchronize()?;
    assert_eq!(receiver.try_iter().collect::<Vec<_>>(), [0, 1, 2]);
    Ok(())
}

#[test]
fn a_panic_in_a_host_function_is_an_error_of_the_next_wait() {
    // A process of its own: any test's wait could be the next.
    crate::common::in_own_process(&[], || {
        let gpu = gpu();
        let stream = gpu.stream().unwrap();
        stream.host_fn(|| panic!("seven is {}", 7)).unwrap();
        let error = stream.synchronize().unwrap_err();
        assert!(matches!(error, Error::HostFunctionPanic(_)));
        assert!(error.to_string().contains("seven is 7"), "{error}");
        stream.synchronize().unwrap();
        assert_eq!(stream.download(&stream.upload(&[5]).unwrap()).unwrap(), [5]);
    });
}

// covers: DRV-03, DRV-04, BUILD-13
#[test]
fn everything_works_on_any_thread() -> Result<()> {
    let gpu = gpu();
    let module = module(&gpu);
    let add = add(&module);
    let shared = gpu.stream()?;
    let results: Vec<u32> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|i| {
                let (gpu, add, shared) = (&gpu, &add, &shared);
                scope.spawn(move || {
                    let own = gpu.stream().unwrap();
                    let mut buffer = own.filled(100, i).unwrap();
                    for _ in 0..10 {
                        launch_add(shared, add, &mut buffer, 1);
                        launch_add(&own, add, &mut buffer, 1);
                    }
                    own.download(&buffer).unwrap()[99]
                })
            })
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    });
    assert_eq!(results, (20..28).collect::<Vec<_>>());
    // Dropped on another thread than it was made on.
    let buffer = shared.filled(3, 1_u8)?;
    std::thread::spawn(move || drop(buffer)).join().unwrap();
    Ok(())
}

#[test]
fn opening_again_gives_the_same_device() -> Result<()> {
    let gpu = gpu();
    let again = Gpu::open(gpu.choice())?;
    let (one, two) = (gpu.stream()?, again.stream()?);
    assert_eq!(two.download(&one.upload(&[8_u64])?)?, [8]);
    assert_eq!(gpu.compute_capability(), again.compute_capability());
    assert!(gpu.total_memory() > 1 << 30);
    let memory = gpu.memory_info()?;
    assert!(memory.free <= memory.total);
    assert_eq!(memory.total, gpu.total_memory());
    assert_eq!(gpu.attribute(Attribute::WARP_SIZE)?, 32);
    let error = gpu.attribute(Attribute(100_000)).unwrap_err();
    assert_eq!(error.code(), Some(Code::INVALID_VALUE));
    Ok(())
}

#[test]
fn there_is_no_such_device() {
    let other = if gpu().is_simulator() {
        DeviceChoice::Cuda(0)
    } else {
        DeviceChoice::Cuda(99)
    };
    let error = Gpu::open(other).unwrap_err();
    assert!(!error.to_string().is_empty());
    assert!(
        "cuda:x"
            .parse::<DeviceChoice>()
            .unwrap_err()
            .to_string()
            .contains("WARPSMITH_DEVICE")
    );
}

//! Streams, events, functions of the host, futures, captures.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Waker};

use warpsmith_host::prelude::*;
use warpsmith_host::{
    AccessPolicyWindow, LaunchOptions, MemSyncDomain, SynchronizationPolicy, Trigger,
};

use crate::common::awaited::block_on;
use crate::common::launch_add;
use crate::world::{Case, World, leave_nothing};

fn streams(world: &World, round: usize) -> Result<()> {
    let stream = match round % 3 {
        0 => world.gpu.stream()?,
        1 => world.gpu.stream_with(StreamOptions {
            non_blocking: false,
            ..Default::default()
        })?,
        _ => world.gpu.stream_with(StreamOptions {
            priority: world.gpu.stream_priorities()?.greatest,
            ..Default::default()
        })?,
    };
    let mut words = stream.upload(&[1_u32; 100])?;
    launch_add(&stream, &world.add, &mut words, 1);
    // It is dropped before what it made, and with work in it.
    drop(stream);
    world.stream.fill(&mut words, 2)
}

fn attributes(world: &World, _: usize) -> Result<()> {
    let stream = world.gpu.stream()?;
    let mut words = stream.zeroed::<u32>(1024)?;
    let window = AccessPolicyWindow::over(&words).hit_ratio(0.5);
    stream.set_access_policy(Some(&window))?;
    stream.set_mem_sync_domain(MemSyncDomain::Remote)?;
    stream.set_synchronization_policy(SynchronizationPolicy::Blocking)?;
    let twin = world.gpu.stream()?;
    twin.copy_attributes(&stream)?;
    launch_add(&twin, &world.add, &mut words, 1);
    Ok(())
}

fn default_streams(world: &World, _: usize) -> Result<()> {
    let legacy = world.gpu.legacy_stream()?;
    let mut words = legacy.upload(&[1_u32; 100])?;
    launch_add(&legacy, &world.add, &mut words, 1);
    let event = world.gpu.event_untimed()?;
    world.gpu.per_thread_stream()?.record(&event)?;
    world.stream.wait(&event)
}

fn events(world: &World, round: usize) -> Result<()> {
    let (begun, ended) = (world.gpu.event()?, world.gpu.event()?);
    let (plain, shared) = (world.gpu.event_untimed()?, world.gpu.event_interprocess()?);
    shared.export()?;
    world.stream.record(&begun)?;
    let mut words = world.stream.zeroed::<u32>(100)?;
    launch_add(&world.stream, &world.add, &mut words, 1);
    for event in [&ended, &plain, &shared] {
        world.stream.record(event)?;
        world.other.wait(event)?;
    }
    if round.is_multiple_of(4) {
        ended.synchronize()?;
        ended.elapsed_since(&begun)?;
    }
    Ok(())
}

fn launch_options(world: &World, _: usize) -> Result<()> {
    let (done, started) = (world.gpu.event_untimed()?, world.gpu.event_untimed()?);
    let mut words = world.stream.zeroed::<u32>(128)?;
    let options = LaunchOptions::new()
        .completion_event(&done)
        .programmatic_event(&started, Trigger::BlocksStarted)
        .access_policy(AccessPolicyWindow::over(&words));
    let grid = Grid::cover(128, 128);
    // SAFETY: the entry takes a slice and a number, and writes only the slice.
    unsafe {
        world
            .stream
            .launch_untyped_with(&world.add, grid, &options, (&mut words, 3))
    }?;
    world.other.wait(&done)?;
    world.other.wait(&started)
}

fn host_functions(world: &World, round: usize) -> Result<()> {
    let calls = Arc::new(AtomicUsize::new(0));
    let (counted, words) = (calls.clone(), world.other.zeroed::<u32>(100)?);
    world.stream.host_fn(move || {
        counted.fetch_add(1, Ordering::SeqCst);
        // Freed where the driver may not be called.
        drop(words);
    })?;
    if round.is_multiple_of(4) {
        world.stream.synchronize()?;
        assert_eq!(calls.load(Ordering::SeqCst), 1);
    }
    Ok(())
}

/// Functions that panic, of which a wait tells.
fn panicking_functions(world: &World, _: usize) -> Result<()> {
    let stream = world.gpu.stream()?;
    // Without the hook, whose text would be another thousand lines.
    stream.host_fn(|| std::panic::resume_unwind(Box::new("on purpose")))?;
    let error = stream.synchronize().expect_err("the function's panic");
    assert!(matches!(error, Error::HostFunctionPanic(_)), "{error}");
    Ok(())
}

fn futures(world: &World, round: usize) -> Result<()> {
    let mut words = world.stream.zeroed::<u32>(100)?;
    launch_add(&world.stream, &world.add, &mut words, 1);
    let completion = world.stream.completion()?;
    let mut context = Context::from_waker(Waker::noop());
    match round % 3 {
        // Never polled, polled once, waited for.
        0 => drop(completion),
        1 => drop(pin!(completion).as_mut().poll(&mut context)),
        _ => {
            let mut completion = pin!(completion);
            loop {
                match completion.as_mut().poll(&mut context) {
                    Poll::Ready(done) => break done?,
                    Poll::Pending => std::thread::yield_now(),
                }
            }
        }
    }
    Ok(())
}

/// Downloads and events, awaited or not.
fn awaited(world: &World, round: usize) -> Result<()> {
    let words = world.stream.upload(&[1_u32; 100])?;
    let mut here = world.gpu.pinned::<u32>(100)?;
    let download = world.stream.download_async(&words)?;
    let arrival = world.stream.download_into_async(&words, &mut here)?;
    let event = world.stream.record_event()?.completion()?;
    match round % 2 {
        0 => drop((event, arrival, download)),
        _ => {
            assert_eq!(block_on(download)?, [1; 100]);
            block_on(arrival)?;
            block_on(event)?;
        }
    }
    Ok(())
}

fn forks(world: &World, _: usize) -> Result<()> {
    let branch = world.stream.fork()?;
    let mut words = branch.upload(&[1_u32; 100])?;
    launch_add(&branch, &world.add, &mut words, 1);
    world.stream.join(&branch)
}

fn captures(world: &World, round: usize) -> Result<()> {
    let (mut stream, mut other) = (world.gpu.stream()?, world.gpu.stream()?);
    let mut words = stream.zeroed::<u32>(100)?;
    let mut beside = stream.zeroed::<u32>(100)?;
    let graph = stream.capture(|capture| {
        let other = capture.fork(&mut other)?;
        other.fill(&mut beside, 1)?;
        launch_add(capture.stream(), &world.add, &mut words, 1);
        capture.host(capture.stream(), || ())?;
        capture.join(other)
    })?;
    match round % 3 {
        // Never instantiated, launched, launched and dropped before the stream.
        0 => drop(graph),
        1 => graph.instantiate()?.launch(&stream)?,
        _ => {
            let mut exec = graph.instantiate()?;
            exec.launch(&stream)?;
            drop((graph, exec, words));
            stream.synchronize()?;
        }
    }
    Ok(())
}

/// Threads that use the device, and end.
fn threads(world: &World, round: usize) -> Result<()> {
    if !round.is_multiple_of(4) {
        return Ok(());
    }
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| -> Result<()> {
            let stream = world.gpu.stream()?;
            let mut words = stream.zeroed::<u32>(100)?;
            launch_add(&stream, &world.add, &mut words, 1);
            world.gpu.per_thread_stream()?.synchronize()
        });
        thread.join().expect("no panic")
    })
}

#[test]
fn of_streams_and_events() {
    leave_nothing(&[
        Case::new("streams", streams),
        Case::new("attributes of streams", attributes),
        Case::new("default streams", default_streams),
        Case::new("events", events),
        Case::new("launch options", launch_options),
        Case::new("functions of the host", host_functions),
        Case::new("functions that panic", panicking_functions),
        Case::new("futures", futures),
        Case::new("downloads and events that are awaited", awaited),
        Case::new("forks", forks),
        Case::new("captures", captures),
        Case::new("threads", threads),
    ]);
}

//! Profiling tools told where to look. No tool is there, so what counts is that the driver takes the calls.

use crate::common::{gpu, hold_up, in_own_process};
use warpsmith_host::ProfilerGuard;
use warpsmith_host::prelude::*;

#[test]
fn guards_overlap_and_end_in_any_order() -> Result<()> {
    let gpu = gpu();
    let stream = gpu.stream()?;
    let mut words = stream.zeroed::<u32>(10)?;
    let (one, two) = (gpu.start_profiler()?, gpu.start_profiler()?);
    stream.fill(&mut words, 1)?;
    one.stop()?;
    stream.fill(&mut words, 2)?;
    drop(two);
    let again = gpu.start_profiler()?;
    assert_eq!(stream.download(&words)?, [2; 10]);
    // On another thread than the one that has begun.
    std::thread::scope(|scope| scope.spawn(|| again.stop()).join().expect("no panic"))?;
    // Beside work that is not done, and in a capture.
    let release = hold_up(&stream)?;
    drop(gpu.start_profiler()?);
    drop(release);
    let mut captured = gpu.stream()?;
    captured
        .capture(|capture| {
            let profiler = capture.gpu().start_profiler()?;
            capture.fill(&mut words, 3)?;
            profiler.stop()
        })?
        .instantiate()?
        .launch(&stream)?;
    assert_eq!(stream.download(&words)?, [3; 10]);
    Ok(())
}

/// A guard that a host function drops, or tries to stop, is let go of where the driver may be called.
#[test]
fn a_guard_may_be_dropped_on_a_thread_of_the_driver() -> Result<()> {
    let gpu = gpu();
    let stream = gpu.stream()?;
    let profiler = gpu.start_profiler()?;
    stream.host_fn(move || drop(profiler))?;
    stream.synchronize()?;
    let profiler = gpu.start_profiler()?;
    let (sender, receiver) = std::sync::mpsc::channel();
    let inside = gpu.clone();
    stream.host_fn(move || {
        let refused = [profiler.stop().err(), inside.start_profiler().err()];
        let _ = sender.send(refused.map(|error| error.and_then(|error| error.code())));
    })?;
    stream.synchronize()?;
    let codes = receiver.recv().expect("the function was called");
    assert_eq!(codes, [Some(Code::NOT_PERMITTED); 2]);
    gpu.start_profiler()?.stop()
}

/// A guard keeps the device open, and one that is forgotten holds nothing up.
#[test]
fn a_guard_outlives_what_it_was_made_from() {
    let _ = in_own_process(&[], || {
        let guard: ProfilerGuard = Gpu::open_default()
            .and_then(|gpu| gpu.start_profiler())
            .expect("a guard");
        let gpu = Gpu::open_default().expect("a device");
        std::mem::forget(gpu.start_profiler().expect("a guard"));
        drop(gpu);
        guard.stop().expect("the device is open");
        let stream = Gpu::open_default().and_then(|gpu| gpu.stream());
        stream.and_then(|stream| stream.synchronize()).expect("it");
    });
}

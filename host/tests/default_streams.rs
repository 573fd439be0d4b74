//! The default streams, in a process of their own: what other tests do in blocking streams would be held up.

mod common;

use std::sync::{Mutex, MutexGuard, PoisonError};

use common::{Gate, gpu, module};
use warpsmith_host::prelude::*;

/// One test at a time: all have the same legacy stream.
fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

// covers: STREAM-09, STREAM-18
#[test]
fn blocking_streams_take_turns_with_the_legacy_stream() -> Result<()> {
    let _turn = turn();
    let gpu = gpu();
    let module = module(&gpu);
    let mut gate = Gate::new(&gpu, &module);
    let legacy = gpu.legacy_stream()?;
    let blocking = gpu.stream_with(StreamOptions {
        non_blocking: false,
        ..Default::default()
    })?;
    let (free, event) = (gpu.stream()?, gpu.event_untimed()?);
    assert!(!legacy.is_non_blocking()?);

    gate.close(&blocking);
    legacy.record(&event)?;
    assert!(!event.is_complete()?, "it comes after the blocking stream");
    // A non-blocking stream does not wait.
    free.record(&event)?;
    event.synchronize()?;
    gate.open();
    legacy.synchronize()?;

    gate.close(&legacy);
    blocking.record(&event)?;
    assert!(!event.is_complete()?, "the blocking stream comes after it");
    free.synchronize()?;
    gate.open();
    blocking.synchronize()
}

#[test]
fn the_legacy_stream_is_one_stream_in_which_buffers_are_used() -> Result<()> {
    let _turn = turn();
    let gpu = gpu();
    let (legacy, stream) = (gpu.legacy_stream()?, gpu.stream()?);
    let mut words = legacy.upload(&[1_u32, 2, 3])?;
    stream.fill(&mut words, 4)?;
    assert_eq!(gpu.legacy_stream()?.download(&words)?, [4; 3]);
    drop(legacy);
    let again = gpu.legacy_stream()?;
    again.fill(&mut words, 5)?;
    assert_eq!(stream.download(&words)?, [5; 3]);
    std::thread::scope(|scope| {
        let other = scope.spawn(|| again.download(&words));
        assert_eq!(other.join().unwrap()?, [5; 3]);
        Ok(())
    })
}

#[test]
fn captures_keep_out_of_the_legacy_streams_way() -> Result<()> {
    let _turn = turn();
    let gpu = gpu();
    let blocking = || {
        gpu.stream_with(StreamOptions {
            non_blocking: false,
            ..Default::default()
        })
    };
    let mut legacy = gpu.legacy_stream()?;
    let refused = legacy.capture(|_| Ok(())).map(drop).unwrap_err();
    assert_eq!(refused.code(), Some(Code::STREAM_CAPTURE_UNSUPPORTED));
    assert!(refused.to_string().contains("gpu.stream()"), "{refused}");

    let mut stream = blocking()?;
    let refused = stream.capture(|_| Ok(())).map(drop).unwrap_err();
    assert_eq!(refused.code(), Some(Code::STREAM_CAPTURE_IMPLICIT));
    // Neither is one drawn into a capture; the capture goes on.
    let (mut free, mut words) = (gpu.stream()?, gpu.stream()?.zeroed::<u32>(4)?);
    let graph = free.capture(|capture| {
        let refused = capture.fork(&mut stream).map(drop).unwrap_err();
        assert_eq!(refused.code(), Some(Code::STREAM_CAPTURE_IMPLICIT));
        let refused = capture.fork(&mut legacy).map(drop).unwrap_err();
        assert_eq!(refused.code(), Some(Code::STREAM_CAPTURE_UNSUPPORTED));
        capture.fill(&mut words, 3)
    })?;
    graph.instantiate()?.launch(&free)?;
    assert_eq!(free.download(&words)?, [3; 4]);
    // Without the legacy stream a blocking one can be captured, and then there is none.
    drop(legacy);
    gpu.synchronize()?;
    let graph = stream.capture(|_| {
        let refused = gpu.legacy_stream().map(drop).unwrap_err();
        assert_eq!(refused.code(), Some(Code::STREAM_CAPTURE_IMPLICIT));
        Ok(())
    })?;
    drop(graph);
    gpu.legacy_stream()?.synchronize()
}

// covers: STREAM-09
#[test]
fn each_thread_has_its_own_default_stream() -> Result<()> {
    let _turn = turn();
    let gpu = gpu();
    let module = module(&gpu);
    let mut gate = Gate::new(&gpu, &module);
    let (stream, after) = (gpu.stream()?, gpu.stream()?);
    let own = gpu.per_thread_stream()?;
    let (held, done) = (gpu.event_untimed()?, gpu.event_untimed()?);
    gate.close(&stream);
    stream.record(&held)?;
    own.wait(&held)?;
    own.record(&done)?;
    after.wait(&done)?;
    assert!(!own.is_idle()? && !after.is_idle()?);
    let gpu: &Gpu = &gpu;
    std::thread::scope(|scope| {
        let other = scope.spawn(|| gpu.per_thread_stream()?.is_idle());
        assert!(other.join().unwrap()?, "that of another thread");
        Ok::<_, Error>(())
    })?;
    gate.open();
    own.synchronize()?;
    after.synchronize()?;
    assert!(own.is_idle()?);
    Ok(())
}

#[test]
fn a_threads_default_stream_takes_no_part_in_captures() -> Result<()> {
    let _turn = turn();
    let gpu = gpu();
    let (mut stream, own, event) = (
        gpu.stream()?,
        gpu.per_thread_stream()?,
        gpu.event_untimed()?,
    );
    let graph = stream.capture(|capture| {
        capture.record(&event)?;
        let refused = own.wait(&event).unwrap_err();
        assert_eq!(refused.code(), Some(Code::STREAM_CAPTURE_ISOLATION));
        Ok(())
    })?;
    drop(graph);
    own.record(&event)?;
    event.synchronize()
}

//! Streams that begin after others and come back to them.

use crate::common::{Gate, gpu, hold_up, module, panicking};
use warpsmith_host::prelude::*;

// covers: STREAM-11
#[test]
fn a_fork_begins_after_its_stream_and_the_stream_goes_on_after_the_join() -> Result<()> {
    let gpu = gpu();
    let module = module(&gpu);
    let (mut before, mut within) = (Gate::new(&gpu, &module), Gate::new(&gpu, &module));
    let stream = gpu.stream()?;
    // No memory is shared, so nothing else puts the two in order.
    before.close(&stream);
    let branch = stream.fork()?;
    within.close(&branch);
    assert!(before.holds(&branch), "it waits for what the stream holds");
    before.open();
    stream.synchronize()?;
    assert!(within.holds(&branch), "the stream does not wait for it");
    let end = branch.record_event()?;
    stream.join(&branch)?;
    assert!(within.holds(&stream), "after the join it does");
    within.open();
    stream.synchronize()?;
    assert!(end.is_complete()?);
    // What the branch gets after the join is not waited for.
    within.close(&branch);
    stream.synchronize()?;
    assert!(within.holds(&branch));
    within.open();
    branch.synchronize()
}

#[test]
fn a_fork_is_like_its_stream() -> Result<()> {
    let gpu = gpu();
    let range = gpu.stream_priorities()?;
    let urgent = gpu.stream_with(StreamOptions {
        priority: range.greatest,
        non_blocking: false,
    })?;
    let branch = urgent.fork()?;
    assert_eq!(branch.priority()?, range.greatest);
    assert!(!branch.is_non_blocking()?);
    assert!(gpu.stream()?.fork()?.is_non_blocking()?);
    let legacy = gpu.legacy_stream()?.fork()?;
    assert!(
        legacy.is_non_blocking()?,
        "else it would wait for its own origin"
    );
    Ok(())
}

/// Dropped in any order with work under way, joined to itself, and joined twice.
#[test]
fn forks_may_be_dropped_and_joined_anyhow() -> Result<()> {
    let gpu = gpu();
    let stream = gpu.stream()?;
    let mut words = stream.zeroed::<u32>(100)?;
    let release = hold_up(&stream)?;
    let branches = (0..4).map(|_| stream.fork()).collect::<Result<Vec<_>>>()?;
    for (branch, mut piece) in branches.iter().zip(words.slice_mut(..).chunks_mut(25)) {
        branch.fill(&mut piece, 5)?;
        stream.join(branch)?;
        stream.join(branch)?;
    }
    stream.join(&stream)?;
    let orphan = branches[0].fork()?;
    drop(branches);
    // Each after the other.
    orphan.join(&stream)?;
    stream.join(&orphan)?;
    drop(orphan);
    drop(release);
    assert_eq!(stream.download(&words)?, [5; 100]);
    Ok(())
}

#[test]
fn a_join_tells_of_panics_in_the_branch() -> Result<()> {
    let gpu = gpu();
    let kernels = panicking::kernels(&gpu);
    let stream = gpu.stream()?;
    let branch = stream.fork()?;
    panicking::launch_at(&branch, &kernels, 42);
    stream.synchronize()?;
    stream.join(&branch)?;
    let error = stream.synchronize().unwrap_err();
    assert_eq!(error.panic().expect("the branch's panic").line, 42);
    branch.synchronize()
}

#[test]
fn captured_streams_are_forked_by_their_capture() -> Result<()> {
    let gpu = gpu();
    let (mut stream, other) = (gpu.stream()?, gpu.stream()?);
    let mut words = stream.zeroed::<u32>(10)?;
    let graph = stream.capture(|capture| {
        refused_in_a_capture(capture, &other)?;
        capture.fill(&mut words, 3)
    })?;
    graph.instantiate()?.launch(&other)?;
    assert_eq!(other.download(&words)?, [3; 10]);
    Ok(())
}

/// All that is refused in a capture, which goes on.
fn refused_in_a_capture(captured: &Stream, other: &Stream) -> Result<()> {
    let error = captured.fork().unwrap_err();
    assert_eq!(error.code(), Some(Code::STREAM_CAPTURE_UNSUPPORTED));
    assert!(error.to_string().contains("Capture::fork"), "{error}");
    for refused in [captured.join(other), other.join(captured)] {
        let error = refused.unwrap_err();
        assert_eq!(
            error.code(),
            Some(Code::STREAM_CAPTURE_ISOLATION),
            "{error}"
        );
    }
    other.synchronize()
}

//! Words that streams wait for and write.

use std::sync::mpsc;
use std::time::Duration;

use crate::common::gpu;
use warpsmith_host::{FlagOperations, FlagWord, Wait, prelude::*};

/// Work behind what the stream holds, and whether it was done.
fn behind(stream: &Stream) -> Result<mpsc::Receiver<()>> {
    let (sender, receiver) = mpsc::channel();
    stream.host_fn(move || {
        let _ = sender.send(());
    })?;
    Ok(receiver)
}

fn is_held(stream: &Stream, behind: &mpsc::Receiver<()>) -> Result<bool> {
    let moment = Duration::from_millis(10);
    Ok(behind.recv_timeout(moment).is_err() && !stream.is_idle()?)
}

fn wait_for<W: FlagWord + std::fmt::Debug>(gpu: &Gpu, cases: &[(Wait<W>, W, W)]) -> Result<()> {
    let stream = gpu.stream()?;
    for &(until, before, after) in cases {
        let flag = gpu.flag(before)?;
        match stream.wait_value(&flag, until) {
            Err(Error::Unsupported(_)) => continue,
            enqueued => enqueued?,
        }
        let behind = behind(&stream)?;
        assert!(is_held(&stream, &behind)?, "{until:?} at {flag:?}");
        flag.set(after);
        stream.synchronize()?;
        assert!(behind.try_recv().is_ok());
        // What is so already holds nothing up.
        stream.wait_value(&flag, until)?;
        stream.synchronize()?;
    }
    Ok(())
}

#[test]
fn a_stream_waits_until_the_host_has_set_the_flag() -> Result<()> {
    let gpu = gpu();
    wait_for::<u32>(
        &gpu,
        &[
            (Wait::AtLeast(5), 4, 6),
            (Wait::AtLeast(u32::MAX), 0x8000_0000, 1),
            (Wait::Equal(3), 4, 3),
            (Wait::AnySet(0b110), 0b1001, 0b100),
            (Wait::AnyClear(0b11), 0b111, 0b101),
        ],
    )?;
    match gpu.flag(0_u64) {
        Err(Error::Unsupported(_)) => Ok(()),
        flag => {
            flag?;
            wait_for::<u64>(
                &gpu,
                &[
                    (Wait::AtLeast(1 << 40), 1 << 39, 1 << 41),
                    (Wait::Equal(1 << 33), 0, 1 << 33),
                    (Wait::AnySet(3 << 40), 1 << 42, 1 << 41),
                    (Wait::AnyClear(3 << 40), 7 << 40, 5 << 40),
                ],
            )
        }
    }
}

#[test]
fn one_stream_lets_another_go_on() -> Result<()> {
    let gpu = gpu();
    let (producer, consumer) = (gpu.stream()?, gpu.stream()?);
    let (ready, taken) = (gpu.flag(0_u32)?, gpu.flag(0_u32)?);
    for round in 1..=20 {
        producer.wait_value(&taken, Wait::AtLeast(round - 1))?;
        producer.write_value(&ready, round)?;
        consumer.wait_value(&ready, Wait::Equal(round))?;
        consumer.write_value(&taken, round)?;
    }
    consumer.synchronize()?;
    assert_eq!((ready.get(), taken.get()), (20, 20));
    producer.synchronize()
}

#[test]
fn a_flag_is_no_use_of_memory_that_orders_streams() -> Result<()> {
    let gpu = gpu();
    let flag = gpu.flag(0_u32)?;
    // More streams than a buffer keeps apart: the one that writes may not wait for those that wait for it. A GPU has no more than 8 queues
    // for its streams, and one that waits holds its queue up.
    let count = if gpu.is_simulator() { 40 } else { 7 };
    let waiting: Vec<Stream> = (0..count).map(|_| gpu.stream()).collect::<Result<_>>()?;
    for stream in &waiting {
        stream.wait_value(&flag, Wait::Equal(1))?;
    }
    gpu.stream()?.write_value(&flag, 1)?;
    waiting.iter().try_for_each(Stream::synchronize)
}

#[test]
fn what_came_before_is_visible() -> Result<()> {
    let gpu = gpu();
    let (stream, flag) = (gpu.stream()?, gpu.flag(0_u32)?);
    let written = std::sync::Arc::new(std::sync::atomic::AtomicU32::new(0));
    for round in 1..50 {
        let writer = written.clone();
        stream.host_fn(move || writer.store(round, std::sync::atomic::Ordering::Relaxed))?;
        stream.write_value(&flag, round)?;
        while flag.get() != round {
            std::thread::yield_now();
        }
        assert_eq!(written.load(std::sync::atomic::Ordering::Relaxed), round);
    }
    Ok(())
}

#[test]
fn a_dropped_stream_that_waits_keeps_what_it_uses() -> Result<()> {
    let gpu = gpu();
    let (stream, flag) = (gpu.stream()?, gpu.flag(0_u32)?);
    let mut result = gpu.mapped::<u32>(1000)?;
    let source = stream.filled(1000, 7_u32)?;
    stream.wait_value(&flag, Wait::Equal(1))?;
    stream.copy(&source, &mut result)?;
    drop(source);
    drop(stream);
    // Others get memory meanwhile: not that.
    let other = gpu.stream()?;
    let noise: Vec<_> = (0..8)
        .map(|_| other.filled(1000, 9_u32))
        .collect::<Result<_>>()?;
    other.synchronize()?;
    assert!(matches!(result.host(), Err(Error::Busy(_))));
    flag.set(1);
    gpu.synchronize()?;
    assert_eq!(*result.host()?, [7; 1000]);
    drop(noise);
    Ok(())
}

#[test]
fn a_dropped_flag_stays_as_long_as_streams_wait_for_it() -> Result<()> {
    let gpu = gpu();
    let (waiting, writing) = (gpu.stream()?, gpu.stream()?);
    let (flag, release) = (gpu.flag(0_u32)?, gpu.flag(0_u32)?);
    waiting.wait_value(&flag, Wait::Equal(1))?;
    let behind = behind(&waiting)?;
    writing.wait_value(&release, Wait::Equal(1))?;
    writing.write_value(&flag, 1)?;
    let address = flag.as_device_ptr().address();
    drop(flag);
    drop(writing);
    let others: Vec<_> = (0..4).map(|_| gpu.flag(1_u32)).collect::<Result<_>>()?;
    assert!(
        others
            .iter()
            .all(|other| other.as_device_ptr().address() != address)
    );
    assert!(is_held(&waiting, &behind)?);
    release.set(1);
    waiting.synchronize()?;
    assert!(behind.try_recv().is_ok());
    Ok(())
}

// covers: GRAPH-37
#[test]
fn what_is_captured_of_flags_is_done_at_each_launch() -> Result<()> {
    let gpu = gpu();
    let (mut stream, go, done) = (gpu.stream()?, gpu.flag(0_u32)?, gpu.flag(0_u32)?);
    let graph = stream.capture(|capture| {
        capture.wait_value(&go, Wait::AtLeast(1))?;
        capture.flag_operations(&FlagOperations::new().write(&go, 0).write(&done, 5))
    })?;
    assert_eq!(graph.node_count()?, 2);
    let mut ready = graph.instantiate()?;
    drop(graph);
    for _ in 0..3 {
        done.set(0);
        ready.launch(&stream)?;
        assert_eq!(done.get(), 0, "held up by the flag");
        go.set(1);
        stream.synchronize()?;
        assert_eq!((go.get(), done.get()), (0, 5));
    }
    // The graph keeps what its launch still uses.
    go.set(1);
    ready.launch(&stream)?;
    drop((go, done, ready));
    stream.synchronize()
}

#[test]
fn a_batch_has_at_most_255_operations() -> Result<()> {
    let gpu = gpu();
    let (stream, flag) = (gpu.stream()?, gpu.flag(0_u64)?);
    let mut operations = FlagOperations::new();
    stream.flag_operations(&operations)?;
    for value in 1..=255 {
        operations = operations.write(&flag, value);
    }
    stream.flag_operations(&operations)?;
    stream.synchronize()?;
    assert_eq!(flag.get(), 255);
    let error = stream
        .flag_operations(&operations.write(&flag, 256))
        .unwrap_err();
    assert!(matches!(error, Error::Limit(_)), "{error}");
    Ok(())
}

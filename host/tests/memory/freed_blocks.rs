//! Buffers that are freed in the stream that made them, and what comes between.

use std::sync::mpsc;
use std::thread;

use crate::common::gpu;
use warpsmith_host::prelude::*;

/// A buffer describes the memory that it got, whatever its predecessors were, and however many there are at a time.
#[test]
fn every_buffer_is_its_own() -> Result<()> {
    let gpu = gpu();
    let stream = gpu.stream()?;
    for round in 1..50 {
        let buffers = (0..12)
            .map(|number| stream.filled(round + number, number as u32))
            .collect::<Result<Vec<_>>>()?;
        for (number, buffer) in buffers.iter().enumerate() {
            assert_eq!(buffer.len(), round + number);
            assert_eq!(
                stream.download(buffer)?,
                vec![number as u32; round + number]
            );
        }
    }
    Ok(())
}

/// Buffers of a stream that are dropped while it is captured, and while the capture begins, are freed beside the graph.
#[test]
fn a_capture_does_not_catch_frees() -> Result<()> {
    let gpu = gpu();
    let mut stream = gpu.stream()?;
    let mut target = stream.zeroed::<u32>(64)?;
    let pool = gpu.pool(Default::default())?;
    let (send, receive) = mpsc::channel::<Vec<DeviceBuffer<u32>>>();
    let (done, dropped) = mpsc::channel();
    thread::scope(|scope| {
        scope.spawn(move || {
            for buffers in receive {
                drop(buffers);
                done.send(()).expect("the test waits for it");
            }
        });
        for round in 0..warpsmith_testkit::cases(100) as u32 {
            let from_pool = stream.alloc_from(&pool)?;
            let mut buffers = (0..20)
                .map(|_| from_pool.zeroed(64))
                .collect::<Result<Vec<_>>>()?;
            let during = buffers.split_off(10);
            send.send(buffers).expect("the thread receives");
            let graph = stream.capture(|capture| {
                send.send(during).expect("the thread receives");
                for _ in 0..2 {
                    dropped.recv().expect("the thread answers");
                }
                capture.fill(&mut target, round)
            })?;
            assert_eq!(graph.node_count()?, 1);
            graph.instantiate()?.launch(&stream)?;
            assert_eq!(stream.download(&target)?, [round; 64]);
        }
        drop(send);
        gpu.synchronize()?;
        assert_eq!(pool.usage()?.used, 0);
        Ok(())
    })
}

/// What a stream keeps for its next allocation goes with it, also where a buffer outlives the stream.
#[test]
fn a_dropped_stream_keeps_nothing() -> Result<()> {
    let gpu = gpu();
    let pool = gpu.pool(Default::default())?;
    let mut outlives = Vec::new();
    for _ in 0..20 {
        let stream = gpu.stream()?;
        drop(stream.alloc_from(&pool)?.zeroed::<u32>(1024)?);
        outlives.push(stream.alloc_from(&pool)?.filled(1024, 7_u32)?);
    }
    let stream = gpu.stream()?;
    for buffer in outlives.drain(..) {
        assert_eq!(stream.download(&buffer.slice(..1))?, [7]);
    }
    gpu.synchronize()?;
    assert_eq!(pool.usage()?.used, 0);
    Ok(())
}

/// Threads for which no context is current allocate and free in one stream.
#[test]
fn other_threads_allocate_and_free() -> Result<()> {
    let gpu = gpu();
    let stream = gpu.stream()?;
    thread::scope(|scope| {
        let threads: Vec<_> = (0..4_u32)
            .map(|number| {
                let stream = &stream;
                scope.spawn(move || -> Result<()> {
                    for round in 0..100 {
                        let buffer = stream.filled(16, number * 1000 + round)?;
                        assert_eq!(stream.download(&buffer)?, [number * 1000 + round; 16]);
                    }
                    Ok(())
                })
            })
            .collect();
        threads
            .into_iter()
            .try_for_each(|thread| thread.join().expect("it does not panic"))
    })
}

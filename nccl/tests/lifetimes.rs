//! What becomes of communicators that are dropped, aborted or left in every order, on the simulator.

mod common;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use common::*;
use warpsmith_host::prelude::*;
use warpsmith_nccl::{Communicator, Error, Options, Reduction, UniqueId, group};

const LIMIT: Duration = Duration::from_secs(60);

/// Adds up ones in each rank, and gives the sums that are being made.
fn begin_sums(ranks: &[(Communicator, Stream)]) -> Vec<DeviceBuffer<u32>> {
    let mut data: Vec<_> = ranks
        .iter()
        .map(|(_, stream)| stream.upload(&[1_u32; 1000]).expect("upload"))
        .collect();
    group(|group| {
        for ((communicator, stream), data) in ranks.iter().zip(&mut data) {
            group.all_reduce_in_place(communicator, stream, data, Reduction::Sum)?;
        }
        Ok(())
    })
    .expect("all-reduce");
    data
}

/// Waits until what is given back in the background is.
fn settle(is_done: impl Fn() -> bool) {
    let end = Instant::now() + LIMIT;
    while !is_done() && Instant::now() < end {
        std::thread::sleep(Duration::from_millis(2));
    }
    assert!(is_done(), "something was not given back");
}

fn entries(folder: &str) -> usize {
    std::fs::read_dir(folder).map_or(0, Iterator::count)
}

/// How many files of the simulator's worlds this process has mapped.
fn worlds() -> usize {
    let maps = std::fs::read_to_string("/proc/self/maps").expect("maps");
    maps.lines()
        .filter(|line| line.contains("warpsmith-nccl-"))
        .count()
}

#[test]
fn communicators_are_dropped_in_every_order() {
    if !with_devices("3") {
        return;
    }
    let gpus = gpus();
    for order in [
        [0, 1, 2],
        [0, 2, 1],
        [1, 0, 2],
        [1, 2, 0],
        [2, 0, 1],
        [2, 1, 0],
    ] {
        let ranks = ranks(&gpus);
        let data = begin_sums(&ranks);
        let (mut communicators, streams): (Vec<_>, Vec<_>) = ranks
            .into_iter()
            .map(|(communicator, stream)| (Some(communicator), stream))
            .unzip();
        for rank in order {
            // The work is under way, or done.
            communicators[rank] = None;
        }
        for (stream, data) in streams.iter().zip(&data) {
            assert_eq!(stream.download(data).expect("download"), [3; 1000]);
        }
        // Buffers before streams, too, and streams before communicators.
        let ranks = common::ranks(&gpus);
        drop(begin_sums(&ranks));
        let (communicators, streams): (Vec<_>, Vec<_>) = ranks.into_iter().unzip();
        drop(streams);
        drop(communicators);
    }
    settle(|| worlds() == 0);
}

#[test]
fn a_group_that_panics_or_fails_enqueues_nothing() {
    if !with_devices("2") {
        return;
    }
    let ranks = ranks(&gpus());
    let (communicator, stream) = &ranks[0];
    let mut data = stream.upload(&[7_u32; 10]).expect("upload");
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        group(|group| {
            group.all_reduce_in_place(communicator, stream, &mut data, Reduction::Sum)?;
            panic!("in the middle of a group")
        })
    }));
    assert!(panicked.is_err());
    let failed = group(|group| {
        group.all_reduce_in_place(communicator, stream, &mut data, Reduction::Sum)?;
        Err(Error::Launcher("on purpose".into()))
    });
    assert!(
        failed
            .expect_err("failed")
            .to_string()
            .contains("on purpose")
    );
    stream.synchronize().expect("nothing waits");
    assert_eq!(stream.download(&data).expect("download"), [7; 10]);
    // All ranks are at the same call.
    for (data, (_, stream)) in begin_sums(&ranks).iter().zip(&ranks) {
        assert_eq!(stream.download(data).expect("download"), [2; 1000]);
    }
}

#[test]
fn a_communicator_is_dropped_in_the_middle_of_a_capture() {
    if !with_devices("2") {
        return;
    }
    let ranks = ranks(&gpus());
    std::thread::scope(|scope| {
        for (communicator, mut stream) in ranks {
            scope.spawn(move || {
                let mut data = stream.upload(&[1_i32; 1000]).expect("upload");
                let graph = stream
                    .capture(|capture| {
                        communicator
                            .all_reduce_in_place(capture, &mut data, Reduction::Sum)
                            .unwrap_or_else(|error| panic!("{error}"));
                        drop(communicator);
                        capture.fill(&mut data.slice_mut(..1), 5)
                    })
                    .expect("a graph");
                let mut ready = graph.instantiate().expect("instantiated");
                drop(graph);
                for _ in 0..3 {
                    ready.launch(&stream).expect("launch");
                }
                let data = stream.download(&data).expect("download");
                assert_eq!((data[0], &data[1..]), (5, &[8; 999][..]));
            });
        }
    });
    settle(|| worlds() == 0);
}

#[test]
fn a_communicator_is_aborted_in_the_middle_of_a_capture() {
    if !with_devices("2") {
        return;
    }
    let mut ranks = ranks(&gpus());
    let (communicator, mut stream) = ranks.remove(0);
    let mut data = stream.upload(&[1_i32; 10]).expect("upload");
    let graph = stream
        .capture(|capture| {
            communicator
                .all_reduce_in_place(capture, &mut data, Reduction::Sum)
                .unwrap_or_else(|error| panic!("{error}"));
            communicator
                .abort()
                .unwrap_or_else(|error| panic!("{error}"));
            let error = communicator
                .all_reduce_in_place(capture, &mut data, Reduction::Sum)
                .expect_err("aborted");
            assert!(matches!(error, Error::Aborted { .. }), "{error}");
            Ok(())
        })
        .expect("a graph");
    // What it holds finds out that the communicator is gone, and waits for nobody.
    let mut ready = graph.instantiate().expect("instantiated");
    ready.launch(&stream).expect("launch");
    stream.synchronize().expect("done");
}

#[test]
fn another_thread_aborts_a_communicator_whose_work_waits() {
    if !with_devices("2") {
        return;
    }
    let ranks = ranks(&gpus());
    let (communicator, stream) = &ranks[0];
    let mut data = stream.upload(&[1_u32; 4]).expect("upload");
    communicator
        .all_reduce_in_place(stream, &mut data, Reduction::Sum)
        .expect("enqueued");
    let begin = Instant::now();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(50));
            communicator.abort().expect("aborted");
        });
        let error = communicator.wait(stream, LIMIT).expect_err("aborted");
        assert!(matches!(error, Error::Aborted { .. }), "{error}");
    });
    let error = stream.download(&data).expect_err("undefined");
    assert!(
        error.to_string().contains("the communicator was aborted"),
        "{error}"
    );
    assert!(begin.elapsed() < LIMIT / 2);
    // The other rank is told, whichever way it waits.
    let (other, stream) = &ranks[1];
    let mut data = stream.upload(&[1_u32; 4]).expect("upload");
    other
        .all_reduce_in_place(stream, &mut data, Reduction::Sum)
        .expect("enqueued");
    let error = other.wait(stream, LIMIT).expect_err("rank 0 is gone");
    assert!(error.to_string().contains("rank 0"), "{error}");
}

/// What a thread waits for is given up meanwhile: neither the wait for the buffer nor that for memory which the host reaches takes it for done. What
/// was done before stands.
#[test]
fn what_an_aborted_collective_was_writing_is_not_read() {
    if !with_devices("2") {
        return;
    }
    let ranks = ranks(&gpus());
    let done = begin_sums(&ranks);
    for (communicator, stream) in &ranks {
        communicator.wait(stream, LIMIT).expect("done");
    }
    let (communicator, stream) = &ranks[0];
    let gpu = communicator.gpu();
    let mut data = stream.upload(&[1_u32; 4]).expect("upload");
    let mut mapped = gpu.mapped::<u32>(4).expect("mapped memory");
    let sent = stream.upload(&[1_u32; 4]).expect("upload");
    communicator
        .all_reduce_in_place(stream, &mut data, Reduction::Sum)
        .expect("enqueued");
    communicator
        .all_reduce(stream, &sent, &mut mapped, Reduction::Sum)
        .expect("enqueued");
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| stream.download(&data));
        std::thread::sleep(Duration::from_millis(50));
        communicator.abort().expect("aborted");
        let error = waiting.join().expect("no panic").expect_err("undefined");
        assert!(
            matches!(error, warpsmith_host::Error::Unfinished(_)),
            "{error}"
        );
    });
    stream.synchronize().expect("the wait succeeds");
    let error = mapped.host().map(drop).expect_err("undefined");
    assert!(
        matches!(error, warpsmith_host::Error::Unfinished(_)),
        "{error}"
    );
    // Written anew, by the host or by the device, in any stream.
    mapped.host_mut().expect("to write")[0] = 3;
    assert_eq!(mapped.host().expect("it was written")[0], 3);
    let other = gpu.stream().expect("a stream");
    other.fill(&mut data, 9).expect("a fill");
    assert_eq!(stream.download(&data).expect("it was written"), [9; 4]);
    assert_eq!(stream.download(&sent).expect("only read"), [1; 4]);
    for ((_, stream), done) in ranks.iter().zip(&done) {
        assert_eq!(stream.download(done).expect("done before"), [2; 1000]);
    }
}

/// Bytes of this process that are in memory.
fn resident() -> usize {
    let text = std::fs::read_to_string("/proc/self/statm").expect("statm");
    let pages = text.split(' ').nth(1).and_then(|pages| pages.parse().ok());
    4096 * pages.unwrap_or(0_usize)
}

#[test]
fn a_thousand_communicators_leave_nothing_behind() {
    if !with_devices("2") {
        return;
    }
    let gpus = gpus();
    let streams: Vec<_> = gpus
        .iter()
        .map(|gpu| gpu.stream().expect("a stream"))
        .collect();
    let mut data: Vec<_> = streams
        .iter()
        .map(|stream| stream.upload(&[1_u32; 256]).expect("upload"))
        .collect();
    let mut before = None;
    for round in 0..1000 {
        let world = Communicator::all(&gpus).expect("communicators");
        group(|group| {
            for ((communicator, stream), data) in world.iter().zip(&streams).zip(&mut data) {
                group.all_reduce_in_place(communicator, stream, data, Reduction::Max)?;
            }
            Ok(())
        })
        .expect("all-reduce");
        let parts: Vec<_> = world.iter().map(|part| (part, Some(0), 0)).collect();
        if round % 4 == 0 {
            Communicator::split_all(&parts).expect("split");
        }
        for stream in &streams {
            stream.synchronize().expect("done");
        }
        match round % 3 {
            0 => drop(world),
            1 => world.iter().for_each(|part| part.abort().expect("aborted")),
            _ => std::thread::scope(|scope| {
                for part in world {
                    scope.spawn(|| part.close().expect("closed"));
                }
            }),
        }
        if round == 200 {
            settle(|| worlds() == 0);
            before = Some((
                resident(),
                entries("/proc/self/fd"),
                entries("/proc/self/task"),
            ));
        }
    }
    settle(|| worlds() == 0);
    let (bytes, files, threads) = before.expect("round 200");
    settle(|| entries("/proc/self/task") <= threads);
    assert!(entries("/proc/self/fd") <= files);
    let grown = resident().saturating_sub(bytes);
    assert!(grown < 8 << 20, "{grown} bytes more after 800 rounds");
    assert_eq!(streams[1].download(&data[1]).expect("download"), [1; 256]);
}

#[test]
fn a_rank_that_does_not_come_leaves_nothing_behind() {
    if !with_devices("1") {
        return;
    }
    let gpu = &gpus()[0];
    let options = Options {
        timeout: Duration::from_millis(5),
        ..Options::default()
    };
    for _ in 0..10 {
        let id = UniqueId::new(gpu).expect("an id");
        let error = Communicator::join(gpu, &id, 0, 2, options).expect_err("alone");
        assert!(matches!(error, Error::Timeout { .. }), "{error}");
    }
    settle(|| worlds() == 0);
}

/// One of two splits fails, which are made together: what the other one has made is given back.
#[test]
fn a_split_that_fails_leaves_nothing_behind() {
    if !with_devices("2") {
        return;
    }
    let gpus = gpus();
    let options = Options {
        timeout: Duration::from_millis(50),
        ..Options::default()
    };
    let alone = Communicator::all(&gpus[..1]).expect("a communicator");
    let both = Communicator::all_with(&gpus, options).expect("communicators");
    for parts in [[&alone[0], &both[0]], [&both[0], &alone[0]]] {
        let parts = parts.map(|part| (part, Some(0), 0));
        let error = Communicator::split_all(&parts).expect_err("rank 1 does not come");
        assert!(
            matches!(error, Error::Timeout { .. } | Error::Aborted { .. }),
            "{error}"
        );
    }
    // The one that did not fail is as it was.
    let again = alone[0].split(Some(0), 0).expect("split");
    drop((again, alone, both));
    settle(|| worlds() == 0);
}

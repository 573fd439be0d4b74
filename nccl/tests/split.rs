//! Communicators that are split off others: on the simulator, which shows several devices, by one thread and by a thread for each rank.

mod common;

use std::time::{Duration, Instant};

use common::*;
use warpsmith_host::prelude::*;
use warpsmith_nccl::{Communicator, Error, Options, Reduction, Result, group};

const LIMIT: Duration = Duration::from_secs(60);

/// What the ranks of a communicator have, added up; each has its device's number.
fn sums(parts: &[(Communicator, Stream, u32)]) -> Vec<u32> {
    let mut data: Vec<_> = parts
        .iter()
        .map(|(_, stream, own)| stream.upload(&[*own; 10]).expect("upload"))
        .collect();
    group(|group| {
        for ((communicator, stream, _), data) in parts.iter().zip(&mut data) {
            group.all_reduce_in_place(communicator, stream, data, Reduction::Sum)?;
        }
        Ok(())
    })
    .expect("all-reduce");
    let parts = parts.iter().zip(&data);
    parts
        .map(|((_, stream, _), data)| stream.download(data).expect("download")[9])
        .collect()
}

#[test]
fn colors_make_communicators_and_keys_their_order() {
    if !with_devices("5") {
        return;
    }
    let gpus = gpus();
    let world = Communicator::all(&gpus).expect("communicators");
    // 0, 2 and 4 in the other order; 1 and 3; then 4 without a color.
    let parts: Vec<_> = world
        .iter()
        .map(|communicator| {
            let rank = communicator.rank();
            (communicator, Some(rank as u32 % 2), -(rank as i32))
        })
        .collect();
    let split = Communicator::split_all(&parts).expect("split");
    let places: Vec<_> = split
        .iter()
        .flatten()
        .map(|part| (part.rank(), part.size()))
        .collect();
    assert_eq!(places, [(2, 3), (1, 2), (1, 3), (0, 2), (0, 3)]);
    let split: Vec<_> = split
        .into_iter()
        .flatten()
        .zip(&gpus)
        .zip(0..)
        .map(|((part, gpu), own)| {
            assert_eq!(part.gpu().choice(), gpu.choice());
            (part, gpu.stream().expect("a stream"), own)
        })
        .collect();
    assert_eq!(sums(&split), [6, 4, 6, 4, 6]);

    let parts: Vec<_> = world
        .iter()
        .map(|communicator| (communicator, (communicator.rank() < 4).then_some(7), 0))
        .collect();
    let again = Communicator::split_all(&parts).expect("split");
    let is_there: Vec<bool> = again.iter().map(Option::is_some).collect();
    assert_eq!(is_there, [true, true, true, true, false]);
    // What was split off outlives what it was split off, and all work on beside each other.
    drop(world);
    let again: Vec<_> = again
        .into_iter()
        .flatten()
        .zip(&gpus)
        .zip(0..)
        .map(|((part, gpu), own)| (part, gpu.stream().expect("a stream"), own))
        .collect();
    assert_eq!(sums(&again), [6; 4]);
    assert_eq!(sums(&split), [6, 4, 6, 4, 6]);
}

#[test]
fn a_thread_for_each_rank_splits_again_and_again() {
    if !with_devices("4") {
        return;
    }
    let gpus = gpus();
    let world = Communicator::all(&gpus).expect("communicators");
    std::thread::scope(|scope| {
        for world in world {
            scope.spawn(move || {
                let rank = world.rank();
                for round in 0..20 {
                    let half = world.split(Some(rank as u32 / 2), 0).expect("split");
                    let half = half.expect("a color");
                    assert_eq!((half.rank(), half.size()), (rank % 2, 2));
                    let other = (rank == round % 4).then_some(0);
                    assert_eq!(
                        world.split(other, 0).expect("split").is_some(),
                        other.is_some()
                    );
                    let alone = half.split(Some(rank as u32), 5).expect("split");
                    assert_eq!(alone.expect("a color").size(), 1);
                    let stream = half.gpu().stream().expect("a stream");
                    let mut data = stream.upload(&[rank as u64]).expect("upload");
                    half.all_reduce_in_place(&stream, &mut data, Reduction::Sum)
                        .expect("all-reduce");
                    half.wait(&stream, LIMIT).expect("done");
                    let pair = rank as u64 / 2;
                    assert_eq!(stream.download(&data).expect("download"), [4 * pair + 1]);
                    half.close().expect("closed");
                }
                world.close().expect("closed");
            });
        }
    });
}

fn message<T: std::fmt::Debug>(result: Result<T>) -> String {
    result.expect_err("refused").to_string()
}

#[test]
fn what_cannot_be_split_is_refused_by_name() {
    if !with_devices("2") {
        return;
    }
    let world = Communicator::all(&gpus()).expect("communicators");
    let error = message(world[0].split(Some(1 << 31), 0));
    assert!(error.contains("up to i32::MAX"), "{error}");
    let error = message(Communicator::split_all(&[
        (&world[0], None, 0),
        (&world[0], None, 0),
    ]));
    assert!(
        error.contains("rank 0 of 2") && error.contains("twice"),
        "{error}"
    );
    assert!(Communicator::split_all(&[]).expect("nothing").is_empty());
    // Nothing was done.
    let parts = world.iter().map(|part| (part, Some(0), 0));
    let split = Communicator::split_all(&parts.collect::<Vec<_>>()).expect("split");
    assert_eq!(split.len(), 2);
}

#[test]
fn ranks_that_have_made_other_calls_before_are_told() {
    if !with_devices("2") {
        return;
    }
    let ranks = ranks(&gpus());
    let (communicator, stream) = &ranks[0];
    let mut data = stream.upload(&[1_u8; 4]).expect("upload");
    communicator
        .all_reduce_in_place(stream, &mut data, Reduction::Sum)
        .expect("enqueued");
    let parts: Vec<_> = ranks.iter().map(|(part, _)| (part, Some(0), 0)).collect();
    let error = message(Communicator::split_all(&parts));
    assert!(
        error.contains("ncclInvalidUsage") && error.contains("collectives, rank"),
        "{error}"
    );
    // The one that waits is told, too.
    let error = message(communicator.wait(stream, LIMIT));
    assert!(error.contains("same calls in the same order"), "{error}");
    stream.synchronize().expect("the device works on");
}

#[test]
fn a_rank_that_does_not_split_is_waited_for_as_long_as_allowed() {
    if !with_devices("2") {
        return;
    }
    let options = Options {
        timeout: Duration::from_millis(100),
        ..Options::default()
    };
    let gpus = gpus();
    let world = Communicator::all_with(&gpus, options).expect("communicators");
    let begin = Instant::now();
    let error = world[0].split(Some(0), 0).expect_err("alone");
    assert!(
        matches!(
            error,
            Error::Timeout {
                rank: 0,
                size: 2,
                ..
            }
        ),
        "{error}"
    );
    assert!(begin.elapsed() < Duration::from_secs(30));
    let error = world[0].split(Some(0), 0).expect_err("aborted");
    assert!(matches!(error, Error::Aborted { .. }), "{error}");
    // The other one is told.
    let error = message(world[1].split(Some(0), 0));
    assert!(
        error.contains("rank 0 has failed or was aborted"),
        "{error}"
    );
}

#[test]
fn a_rank_that_left_is_told_to_those_that_split() {
    if !with_devices("2") {
        return;
    }
    let mut world = Communicator::all(&gpus()).expect("communicators");
    world.pop().expect("rank 1").close().expect("closed");
    let error = message(world[0].split(Some(0), 0));
    assert!(
        error.contains("rank 1 has given its communicator back"),
        "{error}"
    );
}

/// The thread that waits on the host for other ranks has the communicator; another one ends it.
#[test]
fn another_thread_aborts_a_split_that_waits() {
    if !with_devices("2") {
        return;
    }
    let world = Communicator::all(&gpus()).expect("communicators");
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| world[0].split(Some(0), 0));
        std::thread::sleep(Duration::from_millis(50));
        let begin = Instant::now();
        world[0].abort().expect("aborted");
        assert!(begin.elapsed() < Duration::from_secs(30));
        let error = waiting.join().expect("no panic").expect_err("aborted");
        assert!(matches!(error, Error::Aborted { .. }), "{error}");
    });
}

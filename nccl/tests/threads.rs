//! Several devices of one process: each collective, by one thread in groups and by a thread for each rank. On the simulator, which shows
//! several devices; a machine with one GPU has only `one_gpu.rs`.

mod common;

use std::time::{Duration, Instant};

use common::*;
use half::{bf16, f16};
use warpsmith_host::CopyBatch;
use warpsmith_host::prelude::*;
use warpsmith_nccl::{Communicator, Element, Error, Reduction, Result, group};

/// Each rank's buffer, made from its number.
fn buffers<T: Element>(
    ranks: &[(Communicator, Stream)],
    make: impl Fn(usize) -> Vec<T>,
) -> Vec<DeviceBuffer<T>> {
    let uploaded = ranks
        .iter()
        .map(|(communicator, stream)| stream.upload(&make(communicator.rank())));
    uploaded
        .collect::<std::result::Result<_, _>>()
        .expect("uploads")
}

fn contents<T: Element>(
    ranks: &[(Communicator, Stream)],
    buffers: &[DeviceBuffer<T>],
) -> Vec<Vec<T>> {
    let downloaded = ranks
        .iter()
        .zip(buffers)
        .map(|((_, stream), buffer)| stream.download(buffer));
    downloaded
        .collect::<std::result::Result<_, _>>()
        .expect("downloads")
}

#[test]
fn each_collective_is_what_its_name_says() {
    if !with_devices("3") {
        return;
    }
    let ranks = ranks(&gpus());
    assert_eq!(ranks.len(), 3);
    let of_rank = |rank: usize| (0..6).map(|i| 10 * rank as i64 + i).collect::<Vec<i64>>();

    // All-reduce; the length is no multiple of the ranks.
    let send = buffers(&ranks, |rank| vec![rank as f32; 100_001]);
    let mut receive = buffers(&ranks, |_| vec![-1.0_f32; 100_001]);
    group(|group| {
        for (((communicator, stream), send), receive) in ranks.iter().zip(&send).zip(&mut receive) {
            group.all_reduce(communicator, stream, send, receive, Reduction::Sum)?;
        }
        Ok(())
    })
    .expect("all-reduce");
    assert!(
        contents(&ranks, &receive)
            .iter()
            .flatten()
            .all(|&x| x == 3.0)
    );

    // Broadcast, then a reduction to one rank.
    let mut data = buffers(&ranks, of_rank);
    group(|group| {
        for ((communicator, stream), data) in ranks.iter().zip(&mut data) {
            group.broadcast(communicator, stream, data, 1)?;
        }
        Ok(())
    })
    .expect("broadcast");
    assert_eq!(contents(&ranks, &data), vec![of_rank(1); 3]);
    group(|group| {
        for ((communicator, stream), data) in ranks.iter().zip(&mut data) {
            group.reduce_in_place(communicator, stream, data, Reduction::Sum, 2)?;
        }
        Ok(())
    })
    .expect("reduce");
    let tripled: Vec<i64> = of_rank(1).iter().map(|x| 3 * x).collect();
    assert_eq!(contents(&ranks, &data), [of_rank(1), of_rank(1), tripled]);

    // All-gather and reduce-scatter.
    let parts = buffers(&ranks, |rank| vec![rank as i64; 2]);
    let mut whole = buffers(&ranks, |_| vec![-1_i64; 6]);
    group(|group| {
        for (((communicator, stream), part), whole) in ranks.iter().zip(&parts).zip(&mut whole) {
            group.all_gather(communicator, stream, part, whole)?;
        }
        Ok(())
    })
    .expect("all-gather");
    assert_eq!(contents(&ranks, &whole), vec![vec![0, 0, 1, 1, 2, 2]; 3]);
    let send = buffers(&ranks, of_rank);
    let mut part = buffers(&ranks, |_| vec![0_i64; 2]);
    group(|group| {
        for (((communicator, stream), send), part) in ranks.iter().zip(&send).zip(&mut part) {
            group.reduce_scatter(communicator, stream, send, part, Reduction::Max)?;
        }
        Ok(())
    })
    .expect("reduce-scatter");
    assert_eq!(contents(&ranks, &part), [[20, 21], [22, 23], [24, 25]]);

    // All-to-all, which transposes.
    let mut receive = buffers(&ranks, |_| vec![0_i64; 6]);
    group(|group| {
        for (((communicator, stream), send), receive) in ranks.iter().zip(&send).zip(&mut receive) {
            group.all_to_all(communicator, stream, send, receive)?;
        }
        Ok(())
    })
    .expect("all-to-all");
    assert_eq!(
        contents(&ranks, &receive),
        [
            [0, 1, 10, 11, 20, 21],
            [2, 3, 12, 13, 22, 23],
            [4, 5, 14, 15, 24, 25]
        ]
    );
}

/// The sum over the ranks of values that are 1, 2 and 3.
fn sum_of<T: Element + PartialEq + std::fmt::Debug>(
    ranks: &[(Communicator, Stream)],
    value: impl Fn(u8) -> T,
) {
    let mut data = buffers(ranks, |rank| vec![value(rank as u8 + 1); 5]);
    group(|group| {
        for ((communicator, stream), data) in ranks.iter().zip(&mut data) {
            group.all_reduce_in_place(communicator, stream, data, Reduction::Sum)?;
        }
        Ok(())
    })
    .expect("all-reduce");
    assert_eq!(contents(ranks, &data), vec![vec![value(6); 5]; 3]);
}

#[test]
fn every_type_of_elements_is_reduced_as_itself() {
    if !with_devices("3") {
        return;
    }
    let ranks = ranks(&gpus());
    sum_of(&ranks, |x| x as i8);
    sum_of(&ranks, |x| x);
    sum_of(&ranks, i32::from);
    sum_of(&ranks, u32::from);
    sum_of(&ranks, i64::from);
    sum_of(&ranks, u64::from);
    sum_of(&ranks, |x| f16::from_f32(x.into()));
    sum_of(&ranks, |x| bf16::from_f32(x.into()));
    sum_of(&ranks, f32::from);
    sum_of(&ranks, f64::from);
}

/// The work is in order with what its own stream and others do before and after.
#[test]
fn collectives_are_in_order_with_uses_in_other_streams() {
    if !with_devices("2") {
        return;
    }
    let gpus = gpus();
    let ranks = ranks(&gpus);
    let others: Vec<Stream> = gpus
        .iter()
        .map(|gpu| gpu.stream().expect("a stream"))
        .collect();
    let mut data = buffers(&ranks, |_| vec![0_u32; 4096]);
    for round in 1..20 {
        for (stream, data) in others.iter().zip(&mut data) {
            // Slow to begin.
            let pause = || std::thread::sleep(Duration::from_millis(2));
            stream.host_fn(pause).expect("held up");
            stream.fill(data, round).expect("a fill");
        }
        group(|group| {
            for ((communicator, stream), data) in ranks.iter().zip(&mut data) {
                group.all_reduce_in_place(communicator, stream, data, Reduction::Sum)?;
            }
            Ok(())
        })
        .expect("all-reduce");
        for (stream, data) in others.iter().zip(&data) {
            assert!(
                stream
                    .download(data)
                    .expect("download")
                    .iter()
                    .all(|&x| x == 2 * round)
            );
        }
    }
}

#[test]
fn a_thread_for_each_rank_needs_no_group() {
    if !with_devices("4") {
        return;
    }
    let gpus = gpus();
    let ranks = ranks(&gpus);
    std::thread::scope(|scope| {
        for (communicator, stream) in &ranks {
            scope.spawn(move || {
                let rank = communicator.rank() as u64;
                let mut data = stream.upload(&[rank, 1]).expect("upload");
                for _ in 0..10 {
                    communicator
                        .all_reduce_in_place(stream, &mut data, Reduction::Max)
                        .expect("all-reduce");
                }
                communicator
                    .wait(stream, Duration::from_secs(60))
                    .expect("done");
                assert_eq!(stream.download(&data).expect("download"), [3, 1]);
            });
        }
    });
    for (communicator, _) in ranks {
        communicator.close().expect("closed");
    }
}

#[test]
fn a_captured_collective_runs_with_each_launch_of_the_graph() {
    if !with_devices("2") {
        return;
    }
    let gpus = gpus();
    let ranks = ranks(&gpus);
    std::thread::scope(|scope| {
        for (communicator, stream) in ranks {
            scope.spawn(move || {
                let mut stream = stream;
                let mut data = stream.upload(&[1_i32; 1000]).expect("upload");
                let graph = stream
                    .capture(|capture| {
                        communicator
                            .all_reduce_in_place(capture, &mut data, Reduction::Sum)
                            .map_err(|error| panic!("{error}"))
                    })
                    .expect("a graph");
                let mut ready = graph.instantiate().expect("instantiated");
                assert_eq!(stream.download(&data).expect("download"), [1; 1000]);
                for _ in 0..5 {
                    ready.launch(&stream).expect("launch");
                }
                assert_eq!(stream.download(&data).expect("download"), [32; 1000]);
                // The graph holds the communicator, which goes with it.
                let error = communicator.close().expect_err("it is held");
                assert!(error.to_string().contains("graph still holds"), "{error}");
                drop((graph, ready));
                assert_eq!(stream.download(&data).expect("download"), [32; 1000]);
            });
        }
    });
}

fn message(result: Result<()>) -> String {
    result.expect_err("refused").to_string()
}

#[test]
fn what_cannot_work_is_refused_by_name() {
    if !with_devices("2") {
        return;
    }
    let gpus = gpus();
    let twice = Communicator::all(&[gpus[0].clone(), gpus[0].clone()]);
    assert!(twice.expect_err("refused").to_string().contains("twice"));
    let ranks = ranks(&gpus);
    let (communicator, stream) = &ranks[0];
    let (_, elsewhere) = &ranks[1];
    let four = stream.upload(&[1.0_f32; 4]).expect("upload");
    let mut three = stream.upload(&[1.0_f32; 3]).expect("upload");
    let mut far = elsewhere.upload(&[1.0_f32; 4]).expect("upload");

    let error = message(communicator.all_reduce(stream, &four, &mut three, Reduction::Sum));
    assert!(
        error.contains("4 elements are sent and 3 received"),
        "{error}"
    );
    let error = message(communicator.all_gather(stream, &four, &mut three));
    assert!(error.contains("room for 3"), "{error}");
    let error = message(communicator.reduce_scatter(stream, &four, &mut three, Reduction::Sum));
    assert!(error.contains("get 3 elements each"), "{error}");
    let error = message(communicator.all_to_all(stream, &four, &mut three));
    assert!(error.contains("multiple of 2 ranks"), "{error}");
    let error = message(communicator.broadcast(stream, &mut three, 2));
    assert!(error.contains("no rank 2 of 2"), "{error}");
    let error = message(communicator.all_reduce(stream, &four, &mut far, Reduction::Sum));
    assert!(
        error.contains("the memory is of `simulator:1`, the stream of `simulator`"),
        "{error}"
    );
    let error = message(communicator.all_reduce_in_place(elsewhere, &mut far, Reduction::Sum));
    assert!(error.contains("the stream of simulator:1"), "{error}");
    let other = communicator.gpu().stream().expect("a stream");
    let mut left = stream.upload(&[1_u8]).expect("upload");
    let right = stream.upload(&[1_u8]).expect("upload");
    let error = message(group(|group| {
        group.send(communicator, stream, &right, 1)?;
        group.receive(communicator, &other, &mut left, 1)
    }));
    assert!(
        error.contains("one stream for each communicator"),
        "{error}"
    );
    // Nothing of all that was enqueued.
    stream.synchronize().expect("idle");
    communicator.check().expect("nothing was done");
}

#[test]
fn ranks_that_make_different_calls_are_told_which() {
    if !with_devices("2") {
        return;
    }
    let ranks = ranks(&gpus());
    let mut data = buffers(&ranks, |_| vec![1_u32; 4]);
    let (first, second) = data.split_at_mut(1);
    group(|group| {
        let (communicator, stream) = &ranks[0];
        group.all_reduce_in_place(communicator, stream, &mut first[0], Reduction::Sum)?;
        let (communicator, stream) = &ranks[1];
        group.all_reduce_in_place(communicator, stream, &mut second[0], Reduction::Max)
    })
    .expect("enqueued");
    let errors: Vec<String> = ranks
        .iter()
        .map(|(communicator, stream)| message(communicator.wait(stream, Duration::from_secs(60))))
        .collect();
    let told = errors.iter().any(|error| {
        error.contains("AllReduce of 4 ncclUint32 by ncclSum")
            && error.contains("AllReduce of 4 ncclUint32 by ncclMax")
    });
    assert!(told, "{errors:?}");
}

#[test]
fn a_rank_that_never_calls_costs_the_communicator_and_not_the_program() {
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
    let error = communicator
        .wait(stream, Duration::from_millis(100))
        .expect_err("alone");
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
    // The work has ended. What it was to write is nobody's until something else writes it.
    let other = communicator.gpu().stream().expect("a stream");
    for stream in [stream, &other] {
        let unfinished = stream.download(&data).expect_err("undefined");
        assert!(
            matches!(unfinished, warpsmith_host::Error::Unfinished(_)),
            "{unfinished}"
        );
        let unfinished = unfinished.to_string();
        assert!(
            unfinished.contains("`ncclAllReduce`") && unfinished.contains(&error.to_string()),
            "{unfinished}"
        );
    }
    let mut copy = stream.zeroed::<u32>(4).expect("zeros");
    let refused = stream.copy(&data, &mut copy).expect_err("undefined");
    assert!(
        matches!(refused, warpsmith_host::Error::Unfinished(_)),
        "{refused}"
    );
    // A batch is refused as a whole, whether the memory is copied as a row or as a box.
    let good = stream.upload(&[3_u32; 4]).expect("upload");
    let mut wide = stream.zeroed::<u32>(4).expect("zeros");
    let mut wide_rows = wide.matrix_mut(2, 2).expect("a matrix");
    let rows = data.matrix(2, 2).expect("a matrix");
    let mut copies = [0; 2].map(|_| stream.zeroed::<u32>(4).expect("zeros"));
    let [of_good, of_data] = &mut copies;
    let mut by_rows = CopyBatch::new();
    by_rows.copy(&good, of_good).expect("a copy");
    by_rows.copy(&data, of_data).expect("a copy");
    let mut by_boxes = CopyBatch::new();
    by_boxes
        .copy_matrix(&rows, &mut wide_rows)
        .expect("a copy of a box");
    for batch in [by_rows, by_boxes] {
        let refused = stream.copy_batch(batch).expect_err("undefined");
        assert!(
            matches!(refused, warpsmith_host::Error::Unfinished(_)),
            "{refused}"
        );
    }
    assert_eq!(stream.download(&copies[0]).expect("download"), [0; 4]);
    assert_eq!(stream.download(&wide).expect("download"), [0; 4]);
    // And the device works on.
    stream.fill(&mut data, 7).expect("a fill");
    assert_eq!(stream.download(&data).expect("download"), [7; 4]);
    assert!(begin.elapsed() < Duration::from_secs(30));
    let error = communicator
        .all_reduce_in_place(stream, &mut data, Reduction::Sum)
        .expect_err("aborted");
    assert!(matches!(error, Error::Aborted { .. }), "{error}");
    communicator.abort().expect("again");
    // The other rank is told when it waits for this one.
    let (other, stream) = &ranks[1];
    let mut data = stream.upload(&[1_u32; 4]).expect("upload");
    other
        .all_reduce_in_place(stream, &mut data, Reduction::Sum)
        .expect("enqueued");
    let error = message(other.wait(stream, Duration::from_secs(60)));
    assert!(
        error.contains("ncclRemoteError") && error.contains("rank 0"),
        "{error}"
    );
}

#[test]
fn ranks_that_do_not_come_are_waited_for_as_long_as_allowed() {
    if !with_devices("1") {
        return;
    }
    let gpu = &gpus()[0];
    let id = warpsmith_nccl::UniqueId::new(gpu).expect("an id");
    let options = warpsmith_nccl::Options {
        timeout: Duration::from_millis(50),
        ..Default::default()
    };
    let error = Communicator::join(gpu, &id, 0, 2, options).expect_err("alone");
    assert!(matches!(error, Error::Timeout { .. }), "{error}");
    let error = Communicator::join(gpu, &id, 2, 2, options).expect_err("no rank");
    assert!(error.to_string().contains("no such ranks"), "{error}");
    let garbage = warpsmith_nccl::UniqueId::from_bytes([3; 128]);
    let error = Communicator::join(gpu, &garbage, 0, 1, options).expect_err("no id");
    assert!(error.to_string().contains("ncclGetUniqueId"), "{error}");
}

//! Collectives with buffers of the root alone, counts for each pair, factors and registered buffers: on three devices of the simulator, or with NCCL itself
//! on all GPUs that there are (`WARPSMITH_DEVICE=cuda`), one too.

mod common;

use std::time::Duration;

use common::*;
use warpsmith_host::prelude::*;
use warpsmith_nccl::{
    Communicator, Element, F8E4M3, F8E5M2, PremultipliedSum, PremultipliedSumOnDevice, Reduction,
    Result, group,
};

const LIMIT: Duration = Duration::from_secs(120);

type Ranks = Vec<(Communicator, Stream)>;

/// A rank of each device, or nothing where the test runs in another process, or where there is no NCCL for a GPU.
fn world() -> Option<Ranks> {
    let on_gpu = std::env::var("WARPSMITH_DEVICE").is_ok_and(|device| device == "cuda");
    if !on_gpu && !with_devices("3") {
        return None;
    }
    let gpus = gpus();
    if on_gpu && let Err(error) = warpsmith_nccl::version(&gpus[0]) {
        eprintln!("not tried: {error}");
        return None;
    }
    Some(ranks(&gpus))
}

/// A buffer for each rank.
fn each<T: Element>(ranks: &Ranks, make: impl Fn(usize) -> Vec<T>) -> Vec<DeviceBuffer<T>> {
    let made = ranks.iter().enumerate();
    made.map(|(rank, (_, stream))| stream.upload(&make(rank)).expect("upload"))
        .collect()
}

fn read<T: Element>(ranks: &Ranks, buffers: &[DeviceBuffer<T>]) -> Vec<Vec<T>> {
    let all = ranks.iter().zip(buffers);
    all.map(|((communicator, stream), buffer)| {
        communicator.wait(stream, LIMIT).expect("done");
        stream.download(buffer).expect("download")
    })
    .collect()
}

#[test]
fn the_root_alone_needs_both_buffers() {
    let Some(ranks) = world() else { return };
    let size = ranks.len();
    let of_rank = |rank: usize| vec![rank as i32 + 1, -(rank as i32)];
    for root in 0..size {
        let send = each(&ranks, of_rank);
        let mut at_root = ranks[root].1.zeroed::<i32>(2).expect("a buffer");
        let mut gathered = ranks[root].1.zeroed::<i32>(2 * size).expect("a buffer");
        let (mut sum, mut all) = (Some(&mut at_root), Some(&mut gathered));
        group(|group| {
            for ((communicator, stream), send) in ranks.iter().zip(&send) {
                let is_root = communicator.rank() == root;
                let (sum, all) = match is_root {
                    true => (sum.take(), all.take()),
                    false => (None, None),
                };
                group.reduce(communicator, stream, send, sum, Reduction::Sum, root)?;
                group.gather(communicator, stream, send, all, root)?;
            }
            Ok(())
        })
        .expect("enqueued");
        let (communicator, stream) = &ranks[root];
        communicator.wait(stream, LIMIT).expect("done");
        let n = size as i32;
        let expected = [n * (n + 1) / 2, -n * (n - 1) / 2];
        assert_eq!(stream.download(&at_root).expect("download"), expected);
        let whole: Vec<i32> = (0..size).flat_map(of_rank).collect();
        assert_eq!(stream.download(&gathered).expect("download"), whole);

        let mut parts = each(&ranks, |_| vec![0; 2]);
        let mut copies = each(&ranks, |_| vec![0; 2]);
        group(|group| {
            for (((communicator, stream), part), copy) in
                ranks.iter().zip(&mut parts).zip(&mut copies)
            {
                let is_root = communicator.rank() == root;
                let (whole, two) = (is_root.then_some(&gathered), is_root.then_some(&at_root));
                group.scatter(communicator, stream, whole, part, root)?;
                group.broadcast_into(communicator, stream, two, copy, root)?;
            }
            Ok(())
        })
        .expect("enqueued");
        assert_eq!(read(&ranks, &parts).concat(), whole);
        assert_eq!(read(&ranks, &copies), vec![expected; size]);
    }
}

#[test]
fn each_pair_of_ranks_has_a_count_of_its_own() {
    let Some(ranks) = world() else { return };
    let size = ranks.len();
    // Rank 0 sends nothing to itself.
    let count = |from: usize, to: usize| from + 2 * to;
    let sent = |rank| (0..size).map(|to| count(rank, to)).collect::<Vec<_>>();
    let received = |rank| (0..size).map(|from| count(from, rank)).collect::<Vec<_>>();
    let part = |from: usize, to: usize| vec![(10 * from + to) as u64; count(from, to)];
    let send = each(&ranks, |rank| {
        (0..size).flat_map(|to| part(rank, to)).collect()
    });
    let mut receive = each(&ranks, |rank| vec![0; received(rank).iter().sum()]);
    group(|group| {
        for (((communicator, stream), send), receive) in ranks.iter().zip(&send).zip(&mut receive) {
            let rank = communicator.rank();
            let (sent, received) = (sent(rank), received(rank));
            group.all_to_all_varying(communicator, stream, send, &sent, receive, &received)?;
        }
        Ok(())
    })
    .expect("enqueued");
    for (rank, received) in read(&ranks, &receive).into_iter().enumerate() {
        let expected: Vec<u64> = (0..size).flat_map(|from| part(from, rank)).collect();
        assert_eq!(received, expected);
    }
}

/// All-reduces what `value` makes of each rank, and gives the first element of each rank's result.
fn reduced<T: Element>(
    ranks: &Ranks,
    value: impl Fn(usize) -> T,
    factor: impl Fn(usize) -> T,
) -> Vec<T> {
    let mut data = each(ranks, |rank| vec![value(rank); 1000]);
    group(|group| {
        for ((communicator, stream), data) in ranks.iter().zip(&mut data) {
            let sum = PremultipliedSum(factor(communicator.rank()));
            group.all_reduce_in_place(communicator, stream, data, sum)?;
        }
        Ok(())
    })
    .expect("enqueued");
    read(ranks, &data).iter().map(|data| data[999]).collect()
}

#[test]
fn each_rank_has_a_factor() {
    let Some(ranks) = world() else { return };
    let size = ranks.len();
    let squares = |size: usize| (1..=size).map(|x| x * x).sum::<usize>();
    let next = |rank: usize| rank + 1;
    let sums = reduced(&ranks, |r| next(r) as f32, |r| next(r) as f32);
    assert_eq!(sums, vec![squares(size) as f32; size]);
    let sums = reduced(&ranks, |r| next(r) as i64, |r| -(next(r) as i64));
    assert_eq!(sums, vec![-(squares(size) as i64); size]);
    // The same, where the device has the factors.
    let factors = each(&ranks, |rank| vec![0.5, next(rank) as f64]);
    let factors: Vec<_> = factors.iter().map(|factor| factor.slice(1..)).collect();
    let send = each(&ranks, |rank| vec![next(rank) as f64; size]);
    let mut receive = each(&ranks, |_| vec![0.0; 1]);
    group(|group| {
        let ranks = ranks.iter().zip(&send).zip(&mut receive).zip(&factors);
        for ((((communicator, stream), send), receive), factor) in ranks {
            let sum = PremultipliedSumOnDevice(factor);
            group.reduce_scatter(communicator, stream, send, receive, sum)?;
        }
        Ok(())
    })
    .expect("enqueued");
    assert_eq!(read(&ranks, &receive), vec![[squares(size) as f64]; size]);
}

#[test]
fn a_graph_reads_its_factor_at_each_launch() {
    let Some(ranks) = world() else { return };
    let gpu = ranks[0].0.gpu();
    let communicator = Communicator::all(&[gpu]).expect("alone").remove(0);
    let mut stream = communicator.gpu().stream().expect("a stream");
    let mut data = communicator
        .registered::<f32>(&stream, 64)
        .expect("registered");
    let mut fixed = stream.upload(&[1_i32; 8]).expect("upload");
    let mut factor = stream.upload(&[3.0_f32]).expect("upload");
    stream.fill(&mut data, 1.0).expect("a fill");
    let graph = stream.capture(|capture| {
        let made = communicator
            .all_reduce_in_place(capture, &mut data, PremultipliedSumOnDevice(&factor))
            .and_then(|()| {
                communicator.all_reduce_in_place(capture, &mut fixed, PremultipliedSum(2))
            });
        made.map_err(|error| panic!("{error}"))
    });
    let mut ready = graph.expect("a graph").instantiate().expect("instantiated");
    ready.launch(&stream).expect("launch");
    assert_eq!(stream.download(&data).expect("download"), [3.0; 64]);
    stream.fill(&mut factor, -1.0).expect("a fill");
    ready.launch(&stream).expect("launch");
    assert_eq!(stream.download(&data).expect("download"), [-3.0; 64]);
    assert_eq!(stream.download(&fixed).expect("download"), [4; 8]);
    // The graph keeps the registered memory, and the communicator.
    drop((data, communicator));
    stream.synchronize().expect("done");
    ready.launch(&stream).expect("launch");
    stream.synchronize().expect("done");
    assert_eq!(stream.download(&fixed).expect("download"), [8; 8]);
}

#[test]
fn registered_buffers_are_given_back() {
    let Some(ranks) = world() else { return };
    let mut free = Vec::new();
    for round in 0..40 {
        let make = |(communicator, stream): &(Communicator, Stream)| {
            communicator
                .registered::<f32>(stream, 1 << 20)
                .expect("registered")
        };
        let mut buffers: Vec<_> = ranks.iter().map(make).collect();
        assert_eq!(ranks[0].1.download(&buffers[0]).expect("download")[7], 0.0);
        for ((_, stream), buffer) in ranks.iter().zip(&mut buffers) {
            stream.fill(buffer, round as f32).expect("a fill");
        }
        group(|group| {
            for ((communicator, stream), buffer) in ranks.iter().zip(&mut buffers) {
                group.all_reduce_in_place(communicator, stream, buffer, Reduction::Max)?;
            }
            Ok(())
        })
        .expect("enqueued");
        for data in read(&ranks, &buffers) {
            assert!(data.iter().all(|&x| x == round as f32));
        }
        drop(buffers);
        for (communicator, stream) in &ranks {
            stream.synchronize().expect("done");
            communicator.wait(stream, LIMIT).expect("done");
        }
        free.push(ranks[0].0.gpu().memory_info().expect("memory").free);
    }
    // What NCCL keeps for itself is there after the first rounds.
    assert!(free[39] + (32 << 20) > free[9], "{free:?}");
}

#[test]
fn a_registered_buffer_outlives_its_communicator() {
    let Some(ranks) = world() else { return };
    for end in [
        Communicator::close as fn(Communicator) -> Result<()>,
        |communicator| communicator.abort(),
        |_| Ok(()),
    ] {
        let communicator = Communicator::all(&[ranks[0].0.gpu()])
            .expect("alone")
            .remove(0);
        let stream = communicator.gpu().stream().expect("a stream");
        let dropped = communicator
            .registered::<u32>(&stream, 100)
            .expect("registered");
        let mut kept = communicator
            .registered::<u32>(&stream, 100)
            .expect("registered");
        drop(dropped);
        communicator
            .all_reduce_in_place(&stream, &mut kept, Reduction::Max)
            .expect("enqueued");
        communicator.wait(&stream, LIMIT).expect("done");
        end(communicator).expect("ended");
        stream.fill(&mut kept, 9).expect("a fill");
        assert_eq!(stream.download(&kept).expect("download"), [9; 100]);
    }
}

#[test]
fn eight_bits_are_reduced_as_floats() {
    let Some(ranks) = world() else { return };
    let gpu = ranks[0].0.gpu();
    let version = warpsmith_nccl::version(&gpu).expect("a version");
    if (version.major, version.minor) < (2, 24) || gpu.compute_capability().major < 9 {
        return;
    }
    let size = ranks.len();
    let value = size as f32 * 1.5;
    let sums = reduced(&ranks, |_| F8E4M3::from_f32(1.5), |_| F8E4M3::from_f32(1.0));
    assert_eq!(sums, vec![F8E4M3::from_f32(value); size]);
    let sums = reduced(
        &ranks,
        |_| F8E5M2::from_f32(0.75),
        |_| F8E5M2::from_f32(2.0),
    );
    assert_eq!(sums, vec![F8E5M2::from_f32(value); size]);
    let great = reduced(
        &ranks,
        |_| F8E4M3::from_f32(448.0),
        |_| F8E4M3::from_f32(4.0),
    );
    assert_eq!(great, vec![F8E4M3::from_f32(448.0); size]);
}

#[test]
fn what_does_not_fit_is_named() {
    let Some(ranks) = world() else { return };
    let communicator = Communicator::all(&[ranks[0].0.gpu()])
        .expect("alone")
        .remove(0);
    let stream = communicator.gpu().stream().expect("a stream");
    let send = stream.upload(&[1_i32, 2, 3]).expect("upload");
    let mut receive = stream.zeroed::<i32>(2).expect("a buffer");
    let none = None::<&mut DeviceBuffer<i32>>;
    let named = |result: Result<()>, words: [&str; 2]| {
        let error = result.expect_err("refused").to_string();
        assert!(words.iter().all(|word| error.contains(word)), "{error}");
    };
    let (c, s) = (&communicator, &stream);
    named(
        c.reduce(s, &send, none, Reduction::Sum, 0),
        ["ncclReduce", "the root, rank 0"],
    );
    let sum = Reduction::Sum;
    named(
        c.reduce(s, &send, Some(&mut receive), sum, 0),
        ["3 elements are sent", "2 received"],
    );
    named(
        c.gather(s, &send, Some(&mut receive), 0),
        ["ncclGather", "room for 2"],
    );
    named(
        c.gather(s, &send, Some(&mut receive), 1),
        ["ncclGather", "no rank 1 of 1"],
    );
    named(
        c.scatter(s, Some(&send), &mut receive, 0),
        ["ncclScatter", "get 2 elements"],
    );
    let nothing = None::<&DeviceBuffer<i32>>;
    named(
        c.scatter(s, nothing, &mut receive, 0),
        ["ncclScatter", "no buffer to send"],
    );
    named(
        c.broadcast_into(s, nothing, &mut receive, 0),
        ["ncclBroadcast", "no buffer to send"],
    );
    named(
        c.all_to_all_varying(s, &send, &[3], &mut receive, &[3]),
        ["counts to receive are 3", "the buffer has 2"],
    );
    named(
        c.all_to_all_varying(s, &send, &[3], &mut receive, &[2]),
        ["sends 3 elements to itself", "receives 2"],
    );
    named(
        c.all_to_all_varying(s, &send, &[3, 0], &mut receive, &[2]),
        ["2 counts to send", "1 ranks"],
    );
    let counts = [usize::MAX];
    named(
        c.all_to_all_varying(s, &send, &counts, &mut receive, &[2]),
        ["counts to send", "the buffer has 3"],
    );
    named(
        c.all_reduce_in_place(s, &mut receive, PremultipliedSumOnDevice(&send)),
        ["PremultipliedSumOnDevice", "the memory has 3"],
    );
    let too_many = c.registered::<u64>(s, usize::MAX / 2).map(drop);
    named(
        too_many,
        ["Communicator::registered", "more than memory has"],
    );
    assert_eq!(c.registered::<u64>(s, 0).expect("empty").len(), 0);
    // Nothing was enqueued, and all still works.
    assert_eq!(stream.download(&receive).expect("download"), [0, 0]);
    c.reduce(s, &send.slice(1..), Some(&mut receive), sum, 0)
        .expect("enqueued");
    assert_eq!(stream.download(&receive).expect("download"), [2, 3]);
    c.abort().expect("aborted");
    named(
        c.registered::<u64>(s, 1).map(drop),
        ["Communicator::registered", "aborted"],
    );
}

//! A world of one rank, which every machine has: on the simulator, and with NCCL itself on a GPU, where it is found.

use std::time::Duration;

use warpsmith_host::prelude::*;
use warpsmith_nccl::{Communicator, Error, Options, Reduction, UniqueId, group, try_group};

const LIMIT: Duration = Duration::from_secs(120);

/// The only rank, or nothing where a GPU is used and there is no NCCL for it.
fn alone() -> Option<Communicator> {
    let gpu = Gpu::open_default().expect("a device");
    match warpsmith_nccl::version(&gpu) {
        Ok(version) => eprintln!("NCCL {version} on {gpu:?}"),
        Err(error @ Error::Library(_)) if !gpu.is_simulator() => {
            eprintln!("not tried: {error}");
            return None;
        }
        Err(error) => panic!("{error}"),
    }
    let id = UniqueId::new(&gpu).expect("an id");
    let id = UniqueId::from_bytes(id.to_bytes());
    Some(Communicator::join(&gpu, &id, 0, 1, Options::default()).expect("joined"))
}

#[test]
fn every_call_works_for_one_rank() {
    let Some(communicator) = alone() else { return };
    assert_eq!((communicator.rank(), communicator.size()), (0, 1));
    let stream = communicator.gpu().stream().expect("a stream");
    let data: Vec<f32> = (0..10_000).map(|i| i as f32).collect();
    let send = stream.upload(&data).expect("upload");
    let mut receive = stream.zeroed::<f32>(data.len()).expect("a buffer");
    type Call = fn(
        &Communicator,
        &Stream,
        &DeviceBuffer<f32>,
        &mut DeviceBuffer<f32>,
    ) -> warpsmith_nccl::Result<()>;
    let calls: [Call; 5] = [
        |c, s, from, to| c.all_reduce(s, from, to, Reduction::Average),
        |c, s, from, to| c.all_gather(s, from, to),
        |c, s, from, to| c.reduce_scatter(s, from, to, Reduction::Min),
        |c, s, from, to| c.all_to_all(s, from, to),
        |c, s, from, to| {
            group(|group| {
                group.send(c, s, from, 0)?;
                group.receive(c, s, to, 0)
            })
        },
    ];
    for call in calls {
        stream.fill(&mut receive, -1.0).expect("a fill");
        call(&communicator, &stream, &send, &mut receive).expect("enqueued");
        communicator.wait(&stream, LIMIT).expect("done");
        assert!(stream.download(&receive).expect("download") == data);
    }
    communicator
        .broadcast(&stream, &mut receive, 0)
        .expect("enqueued");
    communicator
        .reduce_in_place(&stream, &mut receive, Reduction::Sum, 0)
        .expect("enqueued");
    assert!(stream.download(&receive).expect("download") == data);
    communicator.check().expect("nothing went wrong");
    communicator.close().expect("closed");
}

#[test]
fn a_graph_holds_its_communicator() {
    let Some(communicator) = alone() else { return };
    let mut stream = communicator.gpu().stream().expect("a stream");
    let send = stream.upload(&[5_u32; 100]).expect("upload");
    let mut receive = stream.zeroed::<u32>(100).expect("a buffer");
    let graph = stream
        .capture(|capture| {
            communicator
                .all_reduce(capture, &send, &mut receive, Reduction::Sum)
                .map_err(|error| panic!("{error}"))
        })
        .expect("a graph");
    let mut ready = graph.instantiate().expect("instantiated");
    drop((communicator, graph));
    assert_eq!(stream.download(&receive).expect("download"), [0; 100]);
    ready.launch(&stream).expect("launch");
    assert_eq!(stream.download(&receive).expect("download"), [5; 100]);
}

#[test]
fn a_communicator_that_is_dropped_finishes_its_work() {
    let Some(communicator) = alone() else { return };
    let stream = communicator.gpu().stream().expect("a stream");
    let send = stream.upload(&[5_u64; 1000]).expect("upload");
    let mut receive = stream.zeroed::<u64>(1000).expect("a buffer");
    communicator
        .all_reduce(&stream, &send, &mut receive, Reduction::Max)
        .expect("enqueued");
    drop(communicator);
    drop(send);
    assert_eq!(stream.download(&receive).expect("download"), [5; 1000]);
}

#[test]
fn a_communicator_is_split_off() {
    let Some(communicator) = alone() else { return };
    assert!(communicator.split(None, 3).expect("split").is_none());
    let split = communicator.split(Some(7), -1).expect("split");
    let split = split.expect("it has a color");
    assert_eq!((split.rank(), split.size()), (0, 1));
    let stream = split.gpu().stream().expect("a stream");
    let mut data = stream.upload(&[3_i32; 100]).expect("upload");
    for communicator in [&communicator, &split] {
        communicator
            .all_reduce_in_place(&stream, &mut data, Reduction::Sum)
            .expect("enqueued");
        communicator.wait(&stream, LIMIT).expect("done");
    }
    communicator.close().expect("closed");
    split
        .broadcast(&stream, &mut data, 0)
        .expect("it works on by itself");
    assert_eq!(stream.download(&data).expect("download"), [3; 100]);
    split.close().expect("closed");
}

#[test]
fn options_reach_nccl() {
    let Some(communicator) = alone() else { return };
    let gpu = communicator.gpu();
    let join = |least_blocks, most_blocks| {
        let options = Options {
            least_blocks,
            most_blocks,
            ..Options::default()
        };
        let id = UniqueId::new(&gpu).expect("an id");
        Communicator::join(&gpu, &id, 0, 1, options)
    };
    let few = join(Some(1), Some(2)).expect("joined");
    few.close().expect("closed");
    for (least, most) in [(Some(3), Some(2)), (Some(0), None), (None, Some(0))] {
        let error = join(least, most).expect_err("refused").to_string();
        assert!(error.contains("ncclInvalidArgument"), "{error}");
    }
}

/// Memory that another stream has used, in streams that take turns.
#[test]
fn buffers_of_other_streams_are_waited_for() {
    let Some(communicator) = alone() else { return };
    let gpu = communicator.gpu();
    let (one, two) = (
        gpu.stream().expect("a stream"),
        gpu.stream().expect("a stream"),
    );
    let mut data = one.upload(&[0_u32; 1 << 16]).expect("upload");
    let mut copy = two.zeroed::<u32>(1 << 16).expect("a buffer");
    for round in 1..30 {
        let pause = || std::thread::sleep(Duration::from_millis(1));
        one.host_fn(pause).expect("held up");
        one.fill(&mut data, round).expect("a fill");
        communicator
            .all_reduce(&two, &data, &mut copy, Reduction::Sum)
            .expect("enqueued");
        // `one` owns it no more; what `two` reads is not overwritten before.
        one.fill(&mut data, 0).expect("a fill");
        communicator
            .all_reduce_in_place(&two, &mut copy, Reduction::Max)
            .expect("enqueued");
        assert!(
            one.download(&copy)
                .expect("download")
                .iter()
                .all(|&x| x == round)
        );
    }
}

/// A closure with an error of its own: what it gives is given back, and after its error nothing is enqueued. A call
/// needs no context to be current on its thread.
#[test]
fn a_group_has_any_error_and_a_value() {
    #[derive(Debug)]
    enum Failure {
        Collective(Error),
        Odd(usize),
    }
    impl From<Error> for Failure {
        fn from(error: Error) -> Self {
            Failure::Collective(error)
        }
    }
    let Some(communicator) = alone() else { return };
    let stream = communicator.gpu().stream().expect("a stream");
    let group_of = |count: usize| {
        let send = stream.upload(&[5_u32; 4]).expect("upload");
        let mut receive = stream.zeroed::<u32>(4).expect("a buffer");
        let made = try_group(|group| {
            group.all_reduce(&communicator, &stream, &send, &mut receive, Reduction::Sum)?;
            match count % 2 {
                0 => Ok(count / 2),
                _ => Err(Failure::Odd(count)),
            }
        });
        (made, stream.download(&receive).expect("download"))
    };
    let (made, received) = group_of(6);
    assert!(matches!(made, Ok(3)), "{made:?}");
    assert_eq!(received, [5; 4]);
    let (made, received) = group_of(7);
    assert!(matches!(made, Err(Failure::Odd(7))), "{made:?}");
    assert_eq!(received, [0; 4]);
    let mut short = stream.zeroed::<u32>(3).expect("a buffer");
    let send = stream.zeroed::<u32>(4).expect("a buffer");
    let made = try_group(|group| -> Result<(), Failure> {
        group.all_reduce(&communicator, &stream, &send, &mut short, Reduction::Sum)?;
        Ok(())
    });
    assert!(
        matches!(made, Err(Failure::Collective(Error::Invalid(_)))),
        "{made:?}"
    );
    // A thread on which nothing was made current yet.
    let mut data = stream.upload(&[2_u32; 4]).expect("upload");
    std::thread::scope(|scope| {
        let thread =
            scope.spawn(|| communicator.all_reduce_in_place(&stream, &mut data, Reduction::Sum));
        thread.join().expect("no panic").expect("enqueued");
    });
    assert_eq!(stream.download(&data).expect("download"), [2; 4]);
}

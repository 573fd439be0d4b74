//! A world of one rank, which every machine has: on the simulator, and with NCCL itself on a GPU, where it is found.

use std::time::{Duration, Instant};

use warpsmith_host::prelude::*;
use warpsmith_nccl::{Communicator, Error, Options, Reduction, UniqueId, group, try_group};
use warpsmith_testkit::{Side, own_process};

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

/// A child that is forked while communicators are given back in the background, and while one is in use, ends at once; it cannot use or give back what is
/// its parent's, which works on.
#[test]
fn a_forked_child_leaves_its_parents_communicators_alone() {
    unsafe extern "C" {
        fn fork() -> i32;
        fn waitpid(child: i32, status: *mut i32, options: i32) -> i32;
        fn kill(child: i32, signal: i32) -> i32;
        fn exit(code: i32) -> !;
    }
    const NO_HANG: i32 = 1;
    const KILL: i32 = 9;
    let Side::Child = own_process(&[("WARPSMITH_REPORT", "0")]) else {
        return;
    };
    let Some(communicator) = alone() else { return };
    if !communicator.gpu().is_simulator() {
        // What a driver does at the end of a child is undefined.
        return;
    }
    let (dropped, closed, aborted) = (alone(), alone(), alone());
    let stream = communicator.gpu().stream().expect("a stream");
    let mut data = stream.upload(&[1_u32; 100]).expect("upload");
    communicator
        .all_reduce_in_place(&stream, &mut data, Reduction::Sum)
        .expect("enqueued");
    // From here on the end of the process waits for what is given back in the background.
    drop(alone());
    // SAFETY: the child calls nothing but destructors and functions of this crate that refuse it, and ends.
    let child = unsafe { fork() };
    if child == 0 {
        drop(dropped);
        let refused = |result: warpsmith_nccl::Result<()>| {
            result.is_err_and(|error| error.to_string().contains("has forked this one"))
        };
        let are_refused = refused(communicator.wait(&stream, LIMIT))
            && refused(communicator.abort())
            && closed.is_some_and(|closed| refused(closed.close()))
            && aborted.is_some_and(|aborted| refused(aborted.abort()));
        // SAFETY: the functions that are called at the end of the process may be called here, by the only thread.
        unsafe { exit(if are_refused { 17 } else { 1 }) };
    }
    assert!(child > 0, "no process");
    let (mut status, end) = (0, Instant::now() + LIMIT);
    // SAFETY: the child is this process's, and was not waited for; the system writes to `status`.
    while unsafe { waitpid(child, &mut status, NO_HANG) } == 0 {
        if Instant::now() > end {
            // SAFETY: the child is this process's, and was not waited for.
            unsafe { kill(child, KILL) };
            panic!("the child does not end");
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    // It has ended by itself, and said so.
    assert_eq!(status, 17 << 8);
    communicator.wait(&stream, LIMIT).expect("done");
    assert_eq!(stream.download(&data).expect("download"), [1; 100]);
    for mut left in [Some(communicator), dropped, closed, aborted]
        .into_iter()
        .flatten()
    {
        left.all_reduce_in_place(&stream, &mut data, Reduction::Max)
            .expect("enqueued");
        left = left.split(Some(0), 0).expect("split").expect("a color");
        left.close().expect("closed");
    }
    assert_eq!(stream.download(&data).expect("download"), [1; 100]);
}

/// What a callback of the driver runs in would be waited for.
#[test]
fn a_callback_can_drop_a_communicator_and_not_wait_for_it() {
    let Some(communicator) = alone() else { return };
    let (closed, dropped) = (alone(), alone());
    let stream = communicator.gpu().stream().expect("a stream");
    let (tell, told) = std::sync::mpsc::channel();
    stream
        .host_fn(move || {
            drop(dropped);
            let closed = closed.map(Communicator::close);
            tell.send((communicator.abort(), closed, communicator))
                .expect("the test waits");
        })
        .expect("enqueued");
    let (aborted, closed, communicator) = told.recv_timeout(LIMIT).expect("it was called");
    for refused in [aborted, closed.expect("it was made")] {
        let error = refused.expect_err("in a callback").to_string();
        assert!(error.contains("must not call the driver"), "{error}");
    }
    stream.synchronize().expect("done");
    communicator.close().expect("closed");
}

#[test]
fn a_graph_that_is_never_launched_holds_its_communicator_until_it_is_dropped() {
    // No other test works on the device.
    let Side::Child = own_process(&[("WARPSMITH_REPORT", "0")]) else {
        return;
    };
    let Some(communicator) = alone() else { return };
    let mut stream = communicator.gpu().stream().expect("a stream");
    let mut data = stream.upload(&[5_u32; 100]).expect("upload");
    let mut capture = |data: &mut DeviceBuffer<u32>| {
        stream
            .capture(|capture| {
                communicator
                    .all_reduce_in_place(capture, data, Reduction::Sum)
                    .unwrap_or_else(|error| panic!("{error}"));
                Ok(())
            })
            .expect("a graph")
    };
    // One is only described, one made ready, and neither runs.
    let (described, graph) = (capture(&mut data), capture(&mut data));
    let ready = graph.instantiate().expect("instantiated");
    drop((described, graph, ready));
    communicator
        .all_reduce_in_place(&stream, &mut data, Reduction::Sum)
        .expect("enqueued");
    communicator.wait(&stream, LIMIT).expect("done");
    assert_eq!(stream.download(&data).expect("download"), [5; 100]);
    // An executable graph is given back when the device is idle.
    communicator.gpu().synchronize().expect("idle");
    communicator.close().expect("no graph holds it");
}

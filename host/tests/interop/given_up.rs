//! Work of a library that gives it up: what a wait has covered stands, and what shares a number with it does not hide behind it.

use std::ffi::c_void;
use std::sync::Arc;

use crate::common::gpu;
use warpsmith_driver::raw;
use warpsmith_host::prelude::*;
use warpsmith_host::{ForeignCall, ForeignOutcome, ForeignUse};

/// A fill of a buffer as a library would make it, which `before` is called in front of.
fn fill(
    outcome: &mut ForeignOutcome,
    stream: &Stream,
    buffer: &mut DeviceBuffer<u8>,
    value: u8,
    before: impl FnOnce() + Copy,
) -> Result<()> {
    let call = ForeignCall {
        call: "a library's fill",
        stream,
        memory: [ForeignUse::writes(buffer)],
        keeps: &Arc::new(()),
        name: "fill",
    };
    let memory = call.memory[0].memory();
    let stream: *mut c_void = stream.as_raw();
    // SAFETY: the fill is enqueued in the call's stream, and writes the bytes of `buffer` alone; the device's context is current, as the tests have one device.
    unsafe {
        call.enqueue(outcome, || {
            before();
            let (address, bytes) = (memory.pointer().address(), memory.len());
            let code = raw::cuMemsetD8Async(address, value, bytes, stream.cast());
            assert_eq!(code.0, 0);
            Ok(())
        })
    }
}

/// What comes of reading it: the bytes, or that it is undefined.
fn read(stream: &Stream, buffer: &DeviceBuffer<u8>) -> Option<Vec<u8>> {
    match stream.download(buffer) {
        Ok(bytes) => Some(bytes),
        Err(Error::Unfinished(_)) => None,
        Err(error) => panic!("{error}"),
    }
}

fn three(stream: &Stream) -> [DeviceBuffer<u8>; 3] {
    [(); 3].map(|()| stream.upload(&[1, 2]).expect("upload"))
}

#[test]
fn a_wait_separates_what_is_done_from_what_is_given_up() {
    let gpu = gpu();
    let stream = gpu.stream().expect("a stream");
    let [mut first, mut second, mut third] = three(&stream);
    let mut outcome = ForeignOutcome::default();
    for round in 0..3 {
        fill(&mut outcome, &stream, &mut first, 5, || ()).expect("enqueued");
        fill(&mut outcome, &stream, &mut second, 5, || ()).expect("enqueued");
        match round {
            0 => stream.synchronize().expect("done"),
            1 => gpu.synchronize().expect("done"),
            _ => {
                let event = stream.record_event().expect("an event");
                event.synchronize().expect("done");
            }
        }
        fill(&mut outcome, &stream, &mut third, 6, || ()).expect("enqueued");
        outcome.give_up("on purpose");
        assert_eq!(read(&stream, &first), Some(vec![5, 5]));
        assert_eq!(read(&stream, &second), Some(vec![5, 5]));
        assert_eq!(read(&stream, &third), None);
    }
}

/// As many as no wait lies between are given up together.
#[test]
fn what_no_wait_has_covered_is_given_up() {
    let gpu = gpu();
    let stream = gpu.stream().expect("a stream");
    let [mut first, mut second, mut third] = three(&stream);
    let mut outcome = ForeignOutcome::default();
    fill(&mut outcome, &stream, &mut first, 5, || ()).expect("enqueued");
    // Other work, with no number and with one.
    stream.fill(&mut third, 7).expect("a fill");
    fill(&mut outcome, &stream, &mut second, 5, || ()).expect("enqueued");
    outcome.give_up("on purpose");
    assert_eq!(read(&stream, &first), None);
    assert_eq!(read(&stream, &second), None);
    assert_eq!(read(&stream, &third), Some(vec![7, 7]));
    // Another library's work in between, and what is written anew by others.
    let mut other = ForeignOutcome::default();
    fill(&mut outcome, &stream, &mut first, 5, || ()).expect("enqueued");
    fill(&mut other, &stream, &mut second, 5, || ()).expect("enqueued");
    fill(&mut outcome, &stream, &mut third, 5, || ()).expect("enqueued");
    stream.fill(&mut first, 8).expect("a fill");
    outcome.give_up("on purpose");
    assert_eq!(read(&stream, &first), Some(vec![8, 8]));
    assert_eq!(read(&stream, &second), Some(vec![5, 5]));
    assert_eq!(read(&stream, &third), None);
}

/// A wait of another thread that comes while work is about to be enqueued is none for that work.
#[test]
fn a_wait_in_the_middle_of_a_call_does_not_cover_it() {
    let gpu = gpu();
    let stream = gpu.stream().expect("a stream");
    let [mut first, mut second, mut third] = three(&stream);
    let mut outcome = ForeignOutcome::default();
    let wait = || {
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| stream.synchronize());
            waiting.join().expect("no panic").expect("done");
        });
    };
    fill(&mut outcome, &stream, &mut first, 5, || ()).expect("enqueued");
    fill(&mut outcome, &stream, &mut second, 5, wait).expect("enqueued");
    fill(&mut outcome, &stream, &mut third, 5, || ()).expect("enqueued");
    outcome.give_up("on purpose");
    assert_eq!(read(&stream, &first), Some(vec![5, 5]));
    assert_eq!(read(&stream, &second), None);
    assert_eq!(read(&stream, &third), None);
    // The first of its stream, too.
    let [mut first, ..] = three(&stream);
    let other = gpu.stream().expect("a stream");
    let mut in_other = other.upload(&[1_u8, 2]).expect("upload");
    fill(&mut outcome, &stream, &mut first, 5, wait).expect("enqueued");
    fill(&mut outcome, &other, &mut in_other, 5, || {
        other.synchronize().expect("done");
    })
    .expect("enqueued");
    outcome.give_up("on purpose");
    assert_eq!(read(&stream, &first), None);
    assert_eq!(read(&other, &in_other), None);
}

/// Of a wait whose outcome is not known yet.
#[test]
fn what_is_held_is_given_up_though_a_wait_has_covered_it() {
    let gpu = gpu();
    let stream = gpu.stream().expect("a stream");
    let [mut first, mut second, mut third] = three(&stream);
    let mut outcome = ForeignOutcome::default();
    fill(&mut outcome, &stream, &mut first, 5, || ()).expect("enqueued");
    stream.synchronize().expect("done");
    fill(&mut outcome, &stream, &mut second, 5, || ()).expect("enqueued");
    outcome.hold();
    stream.synchronize().expect("done");
    fill(&mut outcome, &stream, &mut third, 5, || ()).expect("enqueued");
    outcome.give_up("on purpose");
    outcome.release();
    assert_eq!(read(&stream, &first), Some(vec![5, 5]));
    assert_eq!(read(&stream, &second), None);
    assert_eq!(read(&stream, &third), None);
}

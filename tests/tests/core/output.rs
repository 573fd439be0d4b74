//! Panics, printing, assertions: what a kernel says reaches the host.

use std::sync::atomic::{AtomicU32, Ordering};

use warpsmith_host::prelude::*;
use warpsmith_test_kernels::output as kernels;
use warpsmith_tests::{Fixture, Side, fixture, own_process};

/// Launches the panicking kernel; the error's text and what the others wrote.
fn panic_of(way: u32) -> (Error, Vec<u32>) {
    let f = Fixture::open().unwrap();
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::panics).unwrap();
    let x = stream.upload(&[7u32; 100]).unwrap();
    let mut out = stream.zeroed::<u32>(100).unwrap();
    stream
        .launch(&kernel, Grid::new(4, 32), (&x, 40u32, way, &mut out))
        .unwrap();
    let error = stream.synchronize().unwrap_err();
    // The context lives on: another launch works, and the buffers are still there.
    let values = stream.download(&out).unwrap();
    stream
        .launch(
            &kernel,
            Grid::new(4, 32),
            (&x, 1_000_000u32, 0u32, &mut out),
        )
        .unwrap();
    assert_eq!(stream.download(&out).unwrap(), [7; 100]);
    (error, values)
}

// covers: LANG-14
#[test]
fn panics_are_errors_and_the_context_survives() {
    for (way, message) in [
        (
            0,
            "index out of bounds: the len is 100 but the index is 140",
        ),
        (1, "thread 40 has had enough of 1"),
        (2, "not equal"),
        (3, "attempt to divide by zero"),
    ] {
        let (error, values) = panic_of(way);
        let text = error.to_string();
        assert!(text.contains(message), "{text}");
        for part in [
            "output.rs",
            "`panics`",
            "block [1, 0, 0]",
            "thread [8, 0, 0]",
        ] {
            assert!(text.contains(part), "{part} is missing in: {text}");
        }
        let expected: Vec<u32> = (0..100).map(|i| if i == 40 { 0 } else { 7 }).collect();
        assert_eq!(values, expected, "the other threads went on");
    }
}

/// A stream has 64 records, and four texts for what is put together in the kernel.
#[test]
fn more_panics_than_a_stream_keeps_are_told_as_such() {
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::panics).unwrap();
    let x = stream.upload(&[7u32; 100]).unwrap();
    let mut out = stream.zeroed::<u32>(100).unwrap();
    let mut panics_of = |way: u32, launches: usize| {
        for _ in 0..launches {
            let arguments = (&x, 40u32, way, &mut out);
            stream.launch(&kernel, Grid::new(4, 32), arguments).unwrap();
        }
        match stream.synchronize().unwrap_err() {
            Error::KernelPanic(first) => {
                let mut messages = vec![first.message.clone()];
                messages.extend(first.others.iter().map(|other| other.message.clone()));
                messages
            }
            error => panic!("{error}"),
        }
    };
    let of = |messages: &[String], what: &str| {
        let said = messages.iter().filter(|message| message.contains(what));
        said.count()
    };
    let messages = panics_of(0, 70);
    assert_eq!(
        of(&messages, "the len is 100 but the index is 140"),
        64,
        "{messages:?}"
    );
    assert_eq!(of(&messages, "at most 6 in all"), 1, "{messages:?}");
    assert_eq!(messages.len(), 65);
    let messages = panics_of(1, 6);
    assert_eq!(of(&messages, "thread 40 has had enough of 1"), 4);
    assert_eq!(of(&messages, "were not kept"), 2, "{messages:?}");
    // All is free again.
    assert_eq!(panics_of(1, 1), ["thread 40 has had enough of 1"]);
    assert_eq!(of(&panics_of(0, 64), "the index is 140"), 64);
    stream.synchronize().unwrap();
}

/// The launch is known wherever in it the panic is: behind vtables, pointers, recursion.
#[test]
fn a_panic_behind_calls_belongs_to_its_launch() {
    let f = fixture();
    let kernel = f.module.kernel(kernels::panics_behind_calls).unwrap();
    let streams = [f.stream(), f.stream()];
    let inputs = [0_u32, 1].map(|x| f.stream().upload(&[x; 32]).unwrap());
    let mut outputs = streams.each_ref().map(|s| s.zeroed::<u32>(32).unwrap());
    for (way, message) in [
        (1, "attempt to divide by zero"),
        (2, "nothing is left"),
        (3, "2 is forbidden"),
    ] {
        let [innocent, guilty] = &streams;
        let [theirs, ours] = &mut outputs;
        for (stream, way, output) in [(guilty, way, ours), (innocent, 0, theirs)] {
            let arguments = (way, &inputs[0], output);
            stream.launch(&kernel, Grid::new(1, 32), arguments).unwrap();
        }
        assert_eq!(innocent.download(&outputs[0]).unwrap(), [13; 32]);
        let error = guilty.download(&outputs[1]).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
        assert!(error.contains("kernel `panics_behind_calls`"), "{error}");
        assert!(error.contains("output.rs"), "{error}");
    }
    let [_, stream] = &streams;
    for (way, expected) in [(1, 1 + 2 + 15), (2, 4 + 15), (0, 4 + 2 + 15)] {
        let arguments = (way, &inputs[1], &mut outputs[1]);
        stream.launch(&kernel, Grid::new(1, 32), arguments).unwrap();
        assert_eq!(
            stream.download(&outputs[1]).unwrap(),
            [expected; 32],
            "{way}"
        );
    }
}

/// A wait frees an earlier launch's record while threads of a later one panic. That one has a single record all the same, so that the next
/// launch finds the free one.
#[test]
fn a_launch_takes_one_record_though_others_become_free() {
    // While a kernel waits for the host, what other tests load waits for the kernel, and holds up the calls that would let it go on.
    let Side::Child = own_process(&[]) else {
        return;
    };
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::panics_twice).unwrap();
    let (mut open, mut gate) = (
        stream.upload(&[0_u32, 1]).unwrap(),
        f.gpu.mapped::<u32>(2).unwrap(),
    );
    let words = gate.host_mut().unwrap().as_mut_ptr();
    // SAFETY: page-locked memory lives as long as `gate`, and the kernel accesses these words by atomic operations only.
    let [panicked, go_on] = [0, 1].map(|i| unsafe { AtomicU32::from_ptr(words.wrapping_add(i)) });
    let launch_open = |open: &mut DeviceBuffer<u32>| {
        let arguments = (open,);
        stream.launch(&kernel, Grid::new(1, 64), arguments).unwrap();
    };
    launch_open(&mut open);
    let first = f.gpu.event().unwrap();
    stream.record(&first).unwrap();
    launch_open(&mut open);
    launch_open(&mut open);
    stream
        .launch(&kernel, Grid::new(1, 64), (&mut gate,))
        .unwrap();
    while panicked.load(Ordering::Acquire) == 0 {
        std::thread::yield_now();
    }
    let told = |error: Error| -> Vec<String> {
        let panic = error.panic().unwrap_or_else(|| panic!("{error}"));
        let all = [panic].into_iter().chain(&panic.others);
        all.map(|panic| panic.message.clone()).collect()
    };
    let earlier = first.synchronize().unwrap_err();
    assert_eq!(told(earlier), ["the first thread"]);
    go_on.store(1, Ordering::Release);
    launch_open(&mut open);
    let later = stream.synchronize().unwrap_err();
    assert_eq!(told(later), ["the first thread"; 4]);
    stream.synchronize().unwrap();
}

// covers: PRINTF-01, PRINTF-03, PRINTF-E1
#[test]
fn each_thread_prints_its_lines() {
    let Side::Parent(output) = own_process(&[]) else {
        let f = fixture();
        let stream = f.stream();
        let kernel = f.module.kernel(kernels::prints).unwrap();
        let x: Vec<f32> = (0..32).map(|i| i as f32 * 1.25).collect();
        let xs = stream.upload(&x).unwrap();
        stream
            .launch(&kernel, Grid::new(1, 32), (5u32, &xs))
            .unwrap();
        return stream.synchronize().unwrap();
    };
    let text = output.stdout;
    for i in 0..5 {
        let line = format!("thread {i}: x = {:.4}, {}\n", i as f32 * 1.25, i % 2 == 0);
        assert!(text.contains(&line), "{line:?} is missing in:\n{text}");
    }
    assert!(!text.contains("thread 5:"));
    let line = "    -5|7     |0x00ff|1.500000e+00|é|text\n";
    assert_eq!(text.matches(line).count(), 5, "{text}");
}

// covers: DEBUG-03, DEBUG-04, DEBUG-E1
#[test]
fn a_failed_assertion_names_the_condition_and_breaks_the_context() {
    let Side::Parent(output) = own_process(&[]) else {
        let f = fixture();
        let stream = f.stream();
        let kernel = f.module.kernel(kernels::asserts).unwrap();
        stream.launch(&kernel, Grid::new(1, 1), (6u32,)).unwrap();
        stream.synchronize().unwrap();
        stream.launch(&kernel, Grid::new(1, 1), (5u32,)).unwrap();
        let error = stream.synchronize().unwrap_err();
        assert_eq!(error.code().map(|code| code.0), Some(710), "{error}");
        let again = stream.synchronize().unwrap_err();
        assert_eq!(
            again.code().map(|code| code.0),
            Some(710),
            "it stays: {again}"
        );
        return;
    };
    let text = output.stderr;
    assert!(
        text.contains("number > 5, \"five is not enough\""),
        "{text}"
    );
    assert!(text.contains("output.rs"), "{text}");
    assert!(!text.contains("number > 0"), "the first one holds: {text}");
}

// covers: DEBUG-06
#[test]
fn a_trap_is_a_failed_launch() {
    if let Side::Child = own_process(&[]) {
        let f = fixture();
        let stream = f.stream();
        let kernel = f.module.kernel(kernels::traps).unwrap();
        stream.launch(&kernel, Grid::new(2, 64), (70u32,)).unwrap();
        let error = stream.synchronize().unwrap_err();
        assert_eq!(error.code().map(|code| code.0), Some(719), "{error}");
    }
}

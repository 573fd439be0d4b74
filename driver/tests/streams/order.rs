//! Streams and events: order, concurrency, waiting, time.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use crate::common::*;

fn count_on(stream: CUstream, counter: &'static AtomicU32) {
    ok!(cuLaunchHostFunc(
        stream,
        Some(count_up),
        core::ptr::from_ref(counter).cast_mut().cast()
    ));
}

#[test]
fn a_stream_keeps_order_and_lets_others_pass() {
    // covers: STREAM-08, STREAM-10, STREAM-12
    let _turn = turn();
    gpu();
    let (slow, quick) = (stream(), stream());
    let gate = Gate::new();
    let passed = counter();
    gate.block(slow);
    count_on(slow, passed);
    fails!(600, cuStreamQuery(slow));
    let memory = upload(&[0u32; 1024]);
    ok!(cuMemsetD32Async(memory, 7, 1024, quick));
    ok!(cuStreamSynchronize(quick));
    ok!(cuStreamQuery(quick));
    assert_eq!(passed.load(Ordering::SeqCst), 0);
    gate.open();
    ok!(cuStreamSynchronize(slow));
    assert_eq!(passed.load(Ordering::SeqCst), 1);
    assert_eq!(download::<u32>(memory, 1024), [7; 1024]);
    ok!(cuMemFree_v2(memory));
    ok!(cuStreamDestroy_v2(slow));
    ok!(cuStreamDestroy_v2(quick));
}

#[test]
fn copies_of_locked_memory_are_asynchronous_and_read_late() {
    // covers: STREAM-21, STREAM-05
    let _turn = turn();
    gpu();
    let stream = stream();
    let gate = Gate::new();
    let source = pinned::<u32>(16);
    let memory = upload(&[0u32; 16]);
    gate.block(stream);
    ok!(cuMemcpyHtoDAsync_v2(memory, source.cast(), 64, stream));
    // SAFETY: the copy has not begun: the gate is shut.
    unsafe { source.write(5) };
    gate.open();
    ok!(cuStreamSynchronize(stream));
    assert_eq!(
        download::<u32>(memory, 1),
        [5],
        "the source is read when the stream gets there"
    );
    ok!(cuMemFree_v2(memory));
    ok!(cuMemFreeHost(source.cast()));
    ok!(cuStreamDestroy_v2(stream));
}

#[test]
fn small_ordinary_sources_may_change_after_the_call() {
    // covers: STREAM-01
    let _turn = turn();
    gpu();
    let stream = stream();
    let gate = Gate::new();
    let memory = upload(&[0u32; 16]);
    gate.block(stream);
    let mut source = [1u32; 16];
    ok!(cuMemcpyHtoDAsync_v2(
        memory,
        source.as_ptr().cast(),
        64,
        stream
    ));
    source.fill(2);
    gate.open();
    ok!(cuStreamSynchronize(stream));
    assert_eq!(download::<u32>(memory, 16), [1; 16]);
    ok!(cuMemFree_v2(memory));
    ok!(cuStreamDestroy_v2(stream));
}

#[test]
fn a_destroyed_stream_finishes_its_work() {
    // covers: STREAM-07
    let _turn = turn();
    gpu();
    let stream = stream();
    let gate = Gate::new();
    let count = counter();
    gate.block(stream);
    count_on(stream, count);
    ok!(cuStreamDestroy_v2(stream));
    gate.open();
    for _ in 0..2000 {
        if count.load(Ordering::SeqCst) == 1 {
            return;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    panic!("the work of a destroyed stream was lost");
}

#[test]
fn priorities_are_clamped() {
    // covers: STREAM-16
    let _turn = turn();
    gpu();
    let (mut least, mut greatest) = (0, 0);
    ok!(cuCtxGetStreamPriorityRange(&mut least, &mut greatest));
    for (wish, expected) in [
        (greatest - 10, greatest),
        (least + 10, least),
        (greatest, greatest),
    ] {
        let stream: CUstream = get!(cuStreamCreateWithPriority(1, wish));
        let mut priority = 99;
        ok!(cuStreamGetPriority(stream, &mut priority));
        assert_eq!(priority, expected);
        let mut flags = 99;
        ok!(cuStreamGetFlags(stream, &mut flags));
        assert_eq!(flags, 1);
        ok!(cuStreamDestroy_v2(stream));
    }
}

unsafe extern "C" fn call_the_driver(answer: *mut c_void) {
    let mut free = 0;
    let mut total = 0;
    // SAFETY: both places outlive the call; `answer` is the test's.
    unsafe {
        let result = cuMemGetInfo_v2(&mut free, &mut total);
        (*answer.cast::<AtomicU32>()).store(result.0, Ordering::SeqCst);
    }
}

#[test]
fn host_functions_may_not_call_the_driver() {
    // covers: STREAM-15
    let _turn = turn();
    if gpu() == Backend::Cuda {
        // There such a call is undefined, and may hang.
        return;
    }
    let stream = stream();
    let answer = counter();
    ok!(cuLaunchHostFunc(
        stream,
        Some(call_the_driver),
        core::ptr::from_ref(answer).cast_mut().cast()
    ));
    ok!(cuStreamSynchronize(stream));
    assert_eq!(answer.load(Ordering::SeqCst), 800);
    ok!(cuStreamDestroy_v2(stream));
}

#[test]
fn events_go_through_their_states() {
    // covers: EVENT-01, EVENT-02
    let _turn = turn();
    gpu();
    let stream = stream();
    let event: CUevent = get!(cuEventCreate(0));
    ok!(cuEventQuery(event));
    ok!(cuEventSynchronize(event));
    let gate = Gate::new();
    gate.block(stream);
    ok!(cuEventRecord(event, stream));
    fails!(600, cuEventQuery(event));
    gate.open();
    ok!(cuEventSynchronize(event));
    ok!(cuEventQuery(event));
    let mut other = null_mut();
    fails!(1, cuEventCreate(&mut other, 4));
    // Destroying an event that is still to come is no error.
    let gate = Gate::new();
    gate.block(stream);
    ok!(cuEventRecord(event, stream));
    ok!(cuEventDestroy_v2(event));
    gate.open();
    ok!(cuStreamSynchronize(stream));
    ok!(cuStreamDestroy_v2(stream));
}

#[test]
fn one_event_holds_up_several_streams_as_it_was_when_they_began_to_wait() {
    // covers: EVENT-03, STREAM-11
    let _turn = turn();
    gpu();
    let (first, second, third) = (stream(), stream(), stream());
    let event: CUevent = get!(cuEventCreate(2));
    let gate = Gate::new();
    gate.block(first);
    ok!(cuEventRecord(event, first));
    let flags = [Flag::new(), Flag::new()];
    for (waiting, flag) in [second, third].into_iter().zip(&flags) {
        ok!(cuStreamWaitEvent(waiting, event, 0));
        flag.set_on(waiting, 1);
    }
    // Recording it again, behind another gate, moves no wait that was made before.
    let later = Gate::new();
    later.block(first);
    ok!(cuEventRecord(event, first));
    fails!(600, cuStreamQuery(second));
    assert_eq!((flags[0].get(), flags[1].get()), (0, 0));
    gate.open();
    ok!(cuStreamSynchronize(second));
    ok!(cuStreamSynchronize(third));
    assert_eq!((flags[0].get(), flags[1].get()), (1, 1));
    fails!(600, cuEventQuery(event));
    later.open();
    ok!(cuStreamSynchronize(first));
    ok!(cuEventDestroy_v2(event));
    for stream in [first, second, third] {
        ok!(cuStreamDestroy_v2(stream));
    }
}

#[test]
fn events_measure_time() {
    // covers: EVENT-04
    let _turn = turn();
    gpu();
    let stream = stream();
    let (start, end, untimed): (CUevent, CUevent, CUevent) = (
        get!(cuEventCreate(0)),
        get!(cuEventCreate(0)),
        get!(cuEventCreate(2)),
    );
    let mut time = -1.0;
    fails!(400, cuEventElapsedTime(&mut time, start, end));
    let gate = Gate::new();
    ok!(cuEventRecord(start, stream));
    gate.block(stream);
    ok!(cuEventRecord(end, stream));
    ok!(cuEventRecord(untimed, stream));
    fails!(600, cuEventElapsedTime(&mut time, start, end));
    std::thread::sleep(Duration::from_millis(15));
    gate.open();
    ok!(cuEventSynchronize(end));
    ok!(cuStreamSynchronize(stream));
    ok!(cuEventElapsedTime(&mut time, start, end));
    assert!((10.0..10_000.0).contains(&time), "{time} ms");
    fails!(400, cuEventElapsedTime(&mut time, start, untimed));
    for event in [start, end, untimed] {
        ok!(cuEventDestroy_v2(event));
    }
    ok!(cuStreamDestroy_v2(stream));
}

#[test]
fn work_of_several_threads_into_one_stream_is_all_done() {
    let _turn = turn();
    gpu();
    let stream = stream() as usize;
    let count = counter();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(move || {
                gpu();
                (0..100).for_each(|_| count_on(stream as CUstream, count));
            });
        }
    });
    ok!(cuStreamSynchronize(stream as CUstream));
    assert_eq!(count.load(Ordering::SeqCst), 400);
    ok!(cuStreamDestroy_v2(stream as CUstream));
}

/// As an interpreter does that shuts down while a stream calls into it.
#[test]
fn a_host_function_may_end_its_thread() {
    let _turn = turn();
    if gpu() == Backend::Cuda {
        // The thread is the driver's, and is missed.
        return;
    }
    unsafe extern "C-unwind" {
        fn pthread_exit(result: *mut c_void) -> !;
    }
    unsafe extern "C-unwind" fn leave(_: *mut c_void) {
        // SAFETY: nothing in this frame is to be dropped, and the simulator's frame below has nothing either.
        unsafe { pthread_exit(null_mut()) }
    }
    type Function = unsafe extern "C" fn(*mut c_void);
    // SAFETY: the types differ in that one may unwind.
    let leave = unsafe {
        core::mem::transmute::<unsafe extern "C-unwind" fn(*mut c_void), Function>(leave)
    };
    let stream = stream();
    let counter = Box::leak(Box::new(std::sync::atomic::AtomicU32::new(0)));
    for _ in 0..3 {
        ok!(cuLaunchHostFunc(stream, Some(leave), null_mut()));
        let counter = core::ptr::from_ref(counter).cast_mut().cast();
        ok!(cuLaunchHostFunc(stream, Some(count_up), counter));
    }
    ok!(cuStreamSynchronize(stream));
    assert_eq!(counter.load(std::sync::atomic::Ordering::SeqCst), 3);
    ok!(cuStreamDestroy_v2(stream));
}

/// What a [`slow`] function watches: how many operations were enqueued, how many were executed, how far apart these were at most.
#[derive(Default)]
struct Backlog {
    enqueued: AtomicU32,
    executed: AtomicU32,
    most: AtomicU32,
}

unsafe extern "C" fn slow(backlog: *mut c_void) {
    // SAFETY: the test leaks it.
    let backlog = unsafe { &*backlog.cast::<Backlog>() };
    let executed = backlog.executed.fetch_add(1, Ordering::SeqCst);
    let waiting = backlog
        .enqueued
        .load(Ordering::SeqCst)
        .saturating_sub(executed);
    backlog.most.fetch_max(waiting, Ordering::SeqCst);
    std::thread::sleep(Duration::from_micros(100));
}

#[test]
fn a_full_stream_makes_the_host_wait() {
    let _turn = turn();
    gpu();
    let stream = stream();
    let backlog: &Backlog = Box::leak(Box::default());
    for _ in 0..5000 {
        ok!(cuLaunchHostFunc(
            stream,
            Some(slow),
            core::ptr::from_ref(backlog).cast_mut().cast()
        ));
        backlog.enqueued.fetch_add(1, Ordering::SeqCst);
    }
    ok!(cuStreamSynchronize(stream));
    ok!(cuStreamDestroy_v2(stream));
    // The driver 580 has room for more host functions than this.
    let most = backlog.most.load(Ordering::SeqCst);
    assert!(
        most <= 2048 || gpu() != Backend::Simulator,
        "{most} operations waited"
    );
}

/// A driver waits for ever where what it waits for waits for the caller; the simulator's queues grow instead.
#[test]
fn a_full_stream_that_waits_for_the_host_takes_more() {
    let _turn = turn();
    if gpu() != Backend::Simulator {
        return;
    }
    let (held, other) = (stream(), stream());
    let gate = Gate::new();
    let passed = counter();
    gate.block(held);
    let event: CUevent = get!(cuEventCreate(0));
    for _ in 0..700 {
        count_on(held, passed);
        ok!(cuEventRecord(event, held));
        ok!(cuStreamWaitEvent(other, event, 0));
        count_on(other, passed);
    }
    assert_eq!(passed.load(Ordering::SeqCst), 0);
    gate.open();
    ok!(cuStreamSynchronize(other));
    ok!(cuStreamSynchronize(held));
    assert_eq!(passed.load(Ordering::SeqCst), 1400);
    ok!(cuEventDestroy_v2(event));
    ok!(cuStreamDestroy_v2(held));
    ok!(cuStreamDestroy_v2(other));
}

//! Streams and processes that wait for each other.

use super::*;

// covers: INTEROP-10
#[test]
fn streams_wait_for_the_other_side_and_tell_it() {
    let _turn = turn();
    if gpu() == Backend::Cuda {
        return;
    }
    let (to_device, to_host) = (Binary::new(), Binary::new());
    let (waited, signalled) = (to_device.import(), to_host.import());
    let memory = upload(&[0_u32; 4]);
    let stream = stream();
    for round in 1..=3_u32 {
        wait(waited, 0, stream);
        ok!(cuMemsetD32Async(memory, round, 4, stream));
        signal(signalled, 0, stream);
        assert!(!is_idle(stream), "it waits");
        assert!(!to_host.take());
        to_device.signal();
        to_host.wait();
        assert_eq!(download::<u32>(memory, 4), [round; 4]);
        ok!(cuStreamSynchronize(stream));
        assert!(!to_device.take(), "the wait has reset it");
    }
    ok!(cuDestroyExternalSemaphore(waited));
    ok!(cuDestroyExternalSemaphore(signalled));
    ok!(cuStreamDestroy_v2(stream));
    ok!(cuMemFree_v2(memory));
}

// covers: INTEROP-10, INTEROP-14
#[test]
fn a_timeline_is_waited_for_by_value_and_by_many() {
    let _turn = turn();
    if gpu() == Backend::Cuda {
        return;
    }
    let (timeline, binary) = (Timeline::new(), Binary::new());
    let (number, flag) = (timeline.import(), binary.import());
    let streams = [stream(), stream(), stream()];
    wait(number, 2, streams[0]);
    wait(number, 5, streams[1]);
    // Several in one call: all are waited for.
    let both = [number, flag];
    ok!(cuWaitExternalSemaphoresAsync(
        both.as_ptr(),
        [wait_for(3), wait_for(0)].as_ptr(),
        2,
        streams[2]
    ));
    timeline.signal(2);
    ok!(cuStreamSynchronize(streams[0]));
    timeline.signal(4);
    // A value that is reached holds nobody up.
    wait(number, 4, streams[0]);
    ok!(cuStreamSynchronize(streams[0]));
    assert!(!is_idle(streams[1]) && !is_idle(streams[2]));
    binary.signal();
    ok!(cuStreamSynchronize(streams[2]));
    assert!(!is_idle(streams[1]));
    timeline.signal(5);
    ok!(cuStreamSynchronize(streams[1]));
    signal(number, 9, streams[0]);
    timeline.wait(9);
    for stream in streams {
        ok!(cuStreamDestroy_v2(stream));
    }
    ok!(cuDestroyExternalSemaphore(number));
    ok!(cuDestroyExternalSemaphore(flag));
}

/// Holds, in the child's environment, the numbers of the descriptors that it has from its parent.
const DESCRIPTORS: &str = "WARPSMITH_TEST_DESCRIPTORS";

// covers: INTEROP-10
#[test]
fn processes_take_turns_by_semaphores() {
    use std::os::fd::FromRawFd;
    const TURNS: u64 = 20;
    let _turn = turn();
    if gpu() == Backend::Cuda {
        return;
    }
    // What both have: words in a file, of which one is the timeline, and a semaphore.
    if is_child() {
        let numbers = std::env::var(DESCRIPTORS).expect("the parent sends them");
        let numbers: Vec<RawFd> = numbers.split(' ').map(|one| one.parse().unwrap()).collect();
        // SAFETY: the parent has left them open for this process, which uses each once.
        let [binary, timeline] =
            [numbers[0], numbers[1]].map(|number| unsafe { OwnedFd::from_raw_fd(number) });
        let (turn, count) = (Binary(binary), Timeline(timeline));
        let (turn, number) = (turn.import(), count.import());
        let stream = stream();
        for round in 0..TURNS {
            wait(turn, 0, stream);
            signal(number, round + 1, stream);
        }
        ok!(cuStreamSynchronize(stream));
        return;
    }
    let (binary, timeline) = (Binary::new(), Timeline::new());
    let (turn, number) = (binary.import(), timeline.import());
    let numbers = format!("{} {}", binary.0.as_raw_fd(), timeline.0.as_raw_fd());
    let test = calling_test();
    let child = std::thread::spawn(move || run_in_child(&test, &[(DESCRIPTORS, &numbers)]));
    let stream = stream();
    static SEEN: AtomicU64 = AtomicU64::new(0);
    unsafe extern "C" fn count(_: *mut c_void) {
        SEEN.fetch_add(1, Ordering::SeqCst);
    }
    for round in 0..TURNS {
        signal(turn, 0, stream);
        wait(number, round + 1, stream);
        ok!(cuLaunchHostFunc(stream, Some(count), null_mut()));
    }
    ok!(cuStreamSynchronize(stream));
    assert_eq!(
        (timeline.value(), SEEN.load(Ordering::SeqCst)),
        (TURNS, TURNS)
    );
    child.join().expect("the child has passed the test");
    ok!(cuDestroyExternalSemaphore(turn));
    ok!(cuDestroyExternalSemaphore(number));
    ok!(cuStreamDestroy_v2(stream));
}

// covers: INTEROP-10
#[test]
fn waits_end_with_their_context() {
    let _turn = turn();
    if gpu() == Backend::Cuda {
        return;
    }
    let context: CUcontext = get!(cuCtxCreate_v2(0, 0));
    let semaphore = Binary::new().import();
    wait(semaphore, 0, stream());
    ok!(cuCtxDestroy_v2(context));
    gpu();
}

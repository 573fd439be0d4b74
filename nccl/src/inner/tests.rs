//! An NCCL of which some functions fail after they have done their work, and processes that cannot start threads.

use std::time::Instant;

use warpsmith_nccl_abi::signature;
use warpsmith_testkit::{Side, own_process};

use super::*;
use crate::communicator::Communicator;
use crate::library::{Functions, loaded};
use crate::options::Options;
use crate::reduction::Reduction;
use crate::{UniqueId, at_exit};

const LIMIT: Duration = Duration::from_secs(60);

/// The library's own, with other functions in the place of some.
fn loaded_with(others: &[(&str, *const std::ffi::c_void)]) -> &'static Loaded {
    let find = |name: &str| {
        let other = others.iter().find(|(known, _)| *known == name);
        other.map_or_else(
            || warpsmith_nccl_simulator::entry_point(name),
            |&(_, function)| Some(function),
        )
    };
    // SAFETY: the simulator's functions have the types of their names, and so have the tests'.
    let functions = unsafe { Functions::resolve(&find) };
    Box::leak(Box::new(Loaded {
        functions: functions.expect("all functions of NCCL 2.18"),
        is_simulator: true,
        version: loaded().expect("the simulator's").version,
    }))
}

/// Ends the communicator, and says that this has failed.
unsafe extern "C" fn failing_abort(comm: ncclComm_t) -> ncclResult_t {
    // SAFETY: the caller's condition is NCCL's.
    let code = unsafe { (loaded().expect("loaded before").functions.ncclCommAbort)(comm) };
    assert_eq!(code, ncclResult_t::ncclSuccess);
    ncclResult_t::ncclInternalError
}

/// Rank 0 of two, of which the other never calls anything, and whose end fails. Both communicators, and a stream of the first.
fn lonely() -> (Communicator, Communicator, Stream) {
    let gpus: Vec<_> = Gpu::devices()
        .expect("devices")
        .iter()
        .map(|device| Gpu::open(device.choice).expect("a device"))
        .collect();
    let options = Options {
        timeout: Duration::from_millis(50),
        ..Options::default()
    };
    let mut both = Communicator::all_with(&gpus, options).expect("communicators");
    let other = both.pop().expect("rank 1");
    let mut first = both.pop().expect("rank 0");
    let abort = failing_abort as signature::ncclCommAbort as *const std::ffi::c_void;
    let inner = Arc::get_mut(&mut first.inner).expect("nothing else holds it");
    inner.nccl = loaded_with(&[("ncclCommAbort", abort)]);
    let stream = gpus[0].stream().expect("a stream");
    (first, other, stream)
}

/// In a process of its own with two devices.
fn with_two_devices() -> bool {
    let variables = [
        ("WARPSMITH_DEVICE", "simulator"),
        ("WARPSMITH_SIMULATOR_DEVICES", "2"),
        ("WARPSMITH_REPORT", "0"),
    ];
    matches!(own_process(&variables), Side::Child)
}

#[test]
fn a_wait_that_is_over_tells_of_that_and_not_of_the_abort() {
    if !with_two_devices() {
        return;
    }
    let (communicator, _other, stream) = lonely();
    let mut data = stream.upload(&[1_u32; 4]).expect("upload");
    communicator
        .all_reduce_in_place(&stream, &mut data, Reduction::Sum)
        .expect("enqueued");
    let error = communicator
        .wait(&stream, Duration::from_millis(50))
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
    // It was ended all the same, and what was being written is known to be undefined, for the first reason.
    let error = communicator.check().expect_err("aborted");
    assert!(matches!(error, Error::Aborted { .. }), "{error}");
    let error = stream.download(&data).expect_err("undefined").to_string();
    assert!(error.contains("waited 50ms"), "{error}");
}

#[test]
fn a_split_that_is_over_tells_of_that_and_not_of_the_abort() {
    if !with_two_devices() {
        return;
    }
    let (communicator, _other, _stream) = lonely();
    let error = communicator.split(Some(0), 0).expect_err("alone");
    assert!(matches!(error, Error::Timeout { .. }), "{error}");
    let error = communicator.check().expect_err("aborted");
    assert!(matches!(error, Error::Aborted { .. }), "{error}");
}

/// Its end fails, and then the abort, too.
#[test]
fn a_close_that_fails_tells_of_that_and_not_of_the_abort() {
    if !with_two_devices() {
        return;
    }
    let (communicator, other, stream) = lonely();
    let mut data = stream.upload(&[1_u32; 4]).expect("upload");
    communicator
        .all_reduce_in_place(&stream, &mut data, Reduction::Sum)
        .expect("enqueued");
    other.abort().expect("aborted");
    let error = communicator.close().expect_err("rank 1 is gone");
    let Error::Nccl(error) = error else {
        panic!("{error}");
    };
    assert_ne!(error.call, "ncclCommAbort");
    assert!(error.to_string().contains("rank 1"), "{error}");
}

/// An abort that was asked for tells its own error, once.
#[test]
fn an_abort_that_fails_is_told() {
    if !with_two_devices() {
        return;
    }
    let (communicator, ..) = lonely();
    let error = communicator.abort().expect_err("it fails");
    assert!(error.to_string().contains("ncclCommAbort"), "{error}");
    communicator.abort().expect("it was aborted before");
}

/// Lets this process map so many bytes, or as many as it ever may.
#[cfg(target_os = "linux")]
fn limit_memory(bytes: Option<u64>) {
    #[repr(C)]
    struct Limit {
        soft: u64,
        hard: u64,
    }
    const ADDRESS_SPACE: i32 = 9;
    unsafe extern "C" {
        fn getrlimit(resource: i32, limit: *mut Limit) -> i32;
        fn setrlimit(resource: i32, limit: *const Limit) -> i32;
    }
    let mut limit = Limit { soft: 0, hard: 0 };
    // SAFETY: the functions are the C library's, with these signatures, and read and write `limit`, which outlives the calls.
    unsafe {
        assert_eq!(getrlimit(ADDRESS_SPACE, &mut limit), 0);
        limit.soft = bytes.unwrap_or(limit.hard).min(limit.hard);
        assert_eq!(setrlimit(ADDRESS_SPACE, &limit), 0);
    }
}

/// Bytes that this process has mapped.
#[cfg(target_os = "linux")]
fn mapped_bytes() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").expect("statm");
    let pages: Option<u64> = text.split(' ').next().and_then(|pages| pages.parse().ok());
    4096 * pages.expect("a number of pages")
}

/// Where no thread can be started a communicator that is dropped stays; neither its destructor nor the end of the process waits for it.
#[test]
#[cfg(target_os = "linux")]
fn a_communicator_stays_where_no_thread_can_be_started() {
    let Side::Child = own_process(&[("WARPSMITH_REPORT", "0")]) else {
        return;
    };
    let gpu = Gpu::open_default().expect("a device");
    if !gpu.is_simulator() && loaded().is_err() {
        return;
    }
    let alone = || {
        let id = UniqueId::new(&gpu).expect("an id");
        Communicator::join(&gpu, &id, 0, 1, Options::default()).expect("joined")
    };
    let communicator = alone();
    let registrations = Arc::downgrade(&communicator.inner.registrations);
    // Room for what is small, and not for a stack.
    limit_memory(Some(mapped_bytes() + (1 << 20)));
    // Stacks of threads that have ended are used first.
    let over = Arc::new(AtomicBool::new(false));
    let mut threads = Vec::with_capacity(256);
    let refused = (0..256).any(|_| {
        let over = over.clone();
        let wait = move || {
            while !over.load(Ordering::SeqCst) {
                std::thread::park();
            }
        };
        let started = std::thread::Builder::new().spawn(wait);
        started.map(|thread| threads.push(thread)).is_err()
    });
    drop(communicator);
    let running = at_exit::running();
    limit_memory(None);
    over.store(true, Ordering::SeqCst);
    for thread in threads {
        thread.thread().unpark();
        thread.join().expect("no panic");
    }
    assert!(refused, "threads can be started");
    assert_eq!(running, 0);
    assert!(
        registrations.upgrade().is_some(),
        "the communicator is gone"
    );
    // Others are given back as ever.
    drop(alone());
    let end = Instant::now() + LIMIT;
    while at_exit::running() > 0 && Instant::now() < end {
        std::thread::sleep(Duration::from_millis(2));
    }
    assert_eq!(at_exit::running(), 0);
}

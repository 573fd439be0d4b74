//! Contexts, streams, events and memory of another library, by their handles, and ours for it. The library is this test, by raw calls of the driver.

use std::any::Any;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use crate::common::{Gate, add, gpu, launch_add, module};
use warpsmith_driver::raw;
use warpsmith_host::ForeignWork;
use warpsmith_host::prelude::*;
use warpsmith_testkit::{Side, own_process};

const LEN: usize = 1000;

macro_rules! ok {
    ($call:expr) => {{
        // SAFETY: of each call: handles and addresses are alive, and results are local variables.
        let code = unsafe { $call };
        assert_eq!(code.0, 0, stringify!($call));
    }};
}

/// A stream of the library, which counts how often it is destroyed.
struct TheirStream {
    raw: raw::CUstream,
    destroyed: Arc<AtomicU32>,
}

// SAFETY: the driver takes the handle on any thread.
unsafe impl Send for TheirStream {}

impl TheirStream {
    fn new(gpu: &Gpu) -> (TheirStream, Arc<AtomicU32>) {
        gpu.make_current().unwrap();
        let mut raw = null_mut();
        ok!(raw::cuStreamCreate(
            &mut raw,
            raw::CUstream_flags::CU_STREAM_NON_BLOCKING.0
        ));
        let destroyed = Arc::new(AtomicU32::new(0));
        let stream = TheirStream {
            raw,
            destroyed: destroyed.clone(),
        };
        (stream, destroyed)
    }
}

impl Drop for TheirStream {
    fn drop(&mut self) {
        ok!(raw::cuStreamQuery(self.raw));
        ok!(raw::cuStreamDestroy_v2(self.raw));
        self.destroyed.fetch_add(1, Ordering::SeqCst);
    }
}

/// Memory of the library.
struct TheirMemory {
    address: u64,
    freed: Arc<AtomicU32>,
}

impl TheirMemory {
    fn new(gpu: &Gpu, words: &[u32]) -> (TheirMemory, Arc<AtomicU32>) {
        gpu.make_current().unwrap();
        let mut address = 0;
        ok!(raw::cuMemAlloc_v2(&mut address, size_of_val(words)));
        ok!(raw::cuMemcpyHtoD_v2(
            address,
            words.as_ptr().cast(),
            size_of_val(words)
        ));
        let freed = Arc::new(AtomicU32::new(0));
        let memory = TheirMemory {
            address,
            freed: freed.clone(),
        };
        (memory, freed)
    }

    fn words(&self) -> DevicePointer<u32> {
        DevicePointer::from_address(self.address)
    }
}

impl Drop for TheirMemory {
    fn drop(&mut self) {
        ok!(raw::cuMemFree_v2(self.address));
        self.freed.fetch_add(1, Ordering::SeqCst);
    }
}

fn count(of: &AtomicU32) -> u32 {
    of.load(Ordering::SeqCst)
}

/// Adopts a stream that its keeper destroys.
fn adopt(gpu: &Gpu) -> (Stream, raw::CUstream, Arc<AtomicU32>) {
    let (theirs, destroyed) = TheirStream::new(gpu);
    let raw = theirs.raw;
    // SAFETY: its keeper alone destroys it, and nobody captures it.
    let stream = unsafe { gpu.adopt_stream(raw.cast(), theirs) }.unwrap();
    (stream, raw, destroyed)
}

#[test]
fn work_in_an_adopted_stream_is_in_order_with_both_sides() {
    let gpu = gpu();
    let module = module(&gpu);
    let add = add(&module);
    let own = gpu.stream().unwrap();
    let mut gate = Gate::new(&gpu, &module);
    let mut words = own.upload(&[1_u32; LEN]).unwrap();
    let (adopted, raw, destroyed) = adopt(&gpu);
    assert_eq!(adopted.as_raw(), raw.cast());
    assert!(adopted.is_non_blocking().unwrap());

    // Own stream, adopted stream, the library's work in it, adopted stream, own stream: each after the one before.
    gate.close(&own);
    launch_add(&own, &add, &mut words, 1);
    launch_add(&adopted, &add, &mut words, 1);
    let mut work = ForeignWork::new("the library's fill");
    let memory = work.writes(&adopted, &mut words).unwrap();
    let address = memory.pointer().address();
    let fill = || {
        ok!(raw::cuMemsetD32Async(address, 40, LEN / 2, raw));
        Ok::<(), Error>(())
    };
    // SAFETY: the fill is enqueued in the stream that was named, and writes what was named.
    unsafe { work.enqueue(fill) }.unwrap();
    launch_add(&adopted, &add, &mut words, 1);
    launch_add(&own, &add, &mut words, 1);
    assert!(gate.holds(&own) && gate.holds(&adopted));
    gate.open();
    let words = own.download(&words).unwrap();
    assert_eq!((words[0], words[LEN / 2 - 1]), (42, 42));
    assert_eq!((words[LEN / 2], words[LEN - 1]), (5, 5));

    assert_eq!(count(&destroyed), 0);
    drop(adopted);
    gpu.synchronize().unwrap();
    assert_eq!(count(&destroyed), 1);
}

#[test]
fn the_owner_of_a_stream_is_kept_until_its_work_is_done() {
    let gpu = gpu();
    let module = module(&gpu);
    let add = add(&module);
    let own = gpu.stream().unwrap();
    let mut gate = Gate::new(&gpu, &module);
    let mut words = own.upload(&[1_u32; LEN]).unwrap();
    let (adopted, _, destroyed) = adopt(&gpu);
    gate.close(&adopted);
    launch_add(&adopted, &add, &mut words, 1);
    drop(adopted);
    // Streams that are idle are looked for when one is made.
    drop(gpu.stream().unwrap());
    assert_eq!(count(&destroyed), 0);
    gate.open();
    // The memory knows the stream, which it is put in order with.
    launch_add(&own, &add, &mut words, 1);
    assert_eq!(own.download(&words).unwrap(), [3; LEN]);
    drop(words);
    gpu.synchronize().unwrap();
    assert_eq!(count(&destroyed), 1);
}

#[test]
fn one_stream_may_be_adopted_twice_and_be_ours() {
    let gpu = gpu();
    let module = module(&gpu);
    let add = add(&module);
    let (theirs, destroyed) = TheirStream::new(&gpu);
    let raw = theirs.raw;
    let shared = Arc::new(Mutex::new(theirs));
    // SAFETY: the keepers of both share the owner, and nobody captures it.
    let [one, two] =
        [(); 2].map(|()| unsafe { gpu.adopt_stream(raw.cast(), shared.clone()) }.unwrap());
    drop(shared);
    let own = Arc::new(gpu.stream().unwrap());
    // SAFETY: the keeper shares the owner of the stream, which nobody captures.
    let three = unsafe { gpu.adopt_stream(own.as_raw(), own.clone()) }.unwrap();
    let mut words = one.upload(&[0_u32; LEN]).unwrap();
    for stream in [&one, &two, &three, &own, &three, &two, &one] {
        launch_add(stream, &add, &mut words, 1);
    }
    assert_eq!(two.download(&words).unwrap(), [7; LEN]);
    drop((words, one));
    gpu.synchronize().unwrap();
    assert_eq!(count(&destroyed), 0);
    drop(two);
    gpu.synchronize().unwrap();
    assert_eq!(count(&destroyed), 1);
}

#[test]
fn a_stream_may_be_captured_by_its_owner_again_when_it_is_not_used() {
    let gpu = gpu();
    let (adopted, raw, destroyed) = adopt(&gpu);
    let words = adopted.upload(&[1_u32; LEN]).unwrap();
    adopted.synchronize().unwrap();
    drop((words, adopted));
    ok!(raw::cuStreamBeginCapture_v2(
        raw,
        raw::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED
    ));
    // Looks for streams that are idle, and for memory that is not used.
    drop(gpu.stream().unwrap());
    drop(gpu.pinned::<u8>(12).unwrap());
    let mut graph = null_mut();
    ok!(raw::cuStreamEndCapture(raw, &mut graph));
    ok!(raw::cuGraphDestroy(graph));
    assert_eq!(count(&destroyed), 0);
    gpu.synchronize().unwrap();
    assert_eq!(count(&destroyed), 1);
}

#[test]
fn default_streams_are_known_by_their_handles() {
    let gpu = gpu();
    for handle in [null_mut(), raw::CU_STREAM_LEGACY] {
        // SAFETY: it is the legacy default stream.
        let legacy = unsafe { gpu.adopt_stream(handle.cast(), ()) }.unwrap();
        assert_eq!(legacy.as_raw(), gpu.legacy_stream().unwrap().as_raw());
    }
    // SAFETY: it is a default stream.
    let refused = unsafe { gpu.adopt_stream(raw::CU_STREAM_PER_THREAD.cast(), 7) }.unwrap_err();
    assert_eq!(refused.value, 7);
    let error = Error::from(refused);
    assert!(
        error
            .hint()
            .is_some_and(|hint| hint.contains("per_thread_stream"))
    );
}

#[test]
fn a_stream_that_is_captured_or_of_another_context_is_refused() {
    let Side::Child = own_process(&[]) else {
        return;
    };
    let gpu = gpu();
    let (theirs, destroyed) = TheirStream::new(&gpu);
    let handle = theirs.raw;
    ok!(raw::cuStreamBeginCapture_v2(
        handle,
        raw::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED
    ));
    // SAFETY: the stream is alive.
    let refused = unsafe { gpu.adopt_stream(handle.cast(), theirs) }.unwrap_err();
    assert_eq!(refused.error.code(), Some(Code::STREAM_CAPTURE_UNSUPPORTED));
    let mut graph = null_mut();
    ok!(raw::cuStreamEndCapture(handle, &mut graph));
    ok!(raw::cuGraphDestroy(graph));
    drop(refused.value);
    assert_eq!(count(&destroyed), 1);

    let mut context = null_mut();
    ok!(raw::cuCtxCreate_v2(&mut context, 0, 0));
    let mut stream = null_mut();
    ok!(raw::cuStreamCreate(&mut stream, 0));
    // SAFETY: the stream is alive.
    let refused = unsafe { gpu.adopt_stream(stream.cast(), ()) }.unwrap_err();
    assert_eq!(
        refused.error.code(),
        Some(Code::INVALID_CONTEXT),
        "{refused}"
    );

    // Nor is that context a device of this library's.
    ok!(raw::cuCtxSetCurrent(context));
    let error = Gpu::of_current_context().unwrap_err();
    assert!(error.to_string().contains("not the primary one"), "{error}");
    let mut current = null_mut();
    ok!(raw::cuCtxGetCurrent(&mut current));
    assert_eq!(current, context);
    ok!(raw::cuCtxDestroy_v2(context));
}

// covers: DRV-17
#[test]
fn the_current_context_is_a_device_that_outlives_its_library() {
    let Side::Child = own_process(&[]) else {
        return;
    };
    drop(Gpu::open_default().unwrap());
    ok!(raw::cuCtxSetCurrent(null_mut()));
    let error = Gpu::of_current_context().unwrap_err();
    assert!(error.to_string().contains("no context"), "{error}");

    // The library retains the primary context, and gives it up again.
    let mut theirs = null_mut();
    ok!(raw::cuDevicePrimaryCtxRetain(&mut theirs, 0));
    ok!(raw::cuCtxSetCurrent(theirs));
    let gpu = Gpu::of_current_context().unwrap();
    assert_eq!(gpu.as_raw_context(), theirs.cast());
    ok!(raw::cuDevicePrimaryCtxRelease_v2(0));
    let stream = gpu.stream().unwrap();
    assert_eq!(stream.download(&stream.upload(&[5]).unwrap()).unwrap(), [5]);
    // It is the same device as any other.
    let same = Gpu::open(gpu.choice()).unwrap();
    let words = same.stream().unwrap().upload(&[6]).unwrap();
    assert_eq!(stream.download(&words).unwrap(), [6]);
}

#[test]
fn adopted_memory_is_given_back_after_its_last_use() {
    let gpu = gpu();
    let module = module(&gpu);
    let add = add(&module);
    let (one, two) = (gpu.stream().unwrap(), gpu.stream().unwrap());
    let mut gate = Gate::new(&gpu, &module);
    let (theirs, freed) = TheirMemory::new(&gpu, &[1; LEN]);
    let pointer = theirs.words();
    // SAFETY: the memory has these words, which are written; its keeper alone frees it, and nobody else uses it.
    let mut words = unsafe { one.adopt(pointer, LEN, theirs) }.unwrap();
    assert_eq!(words.as_device_ptr().address(), pointer.address());
    gate.close(&one);
    launch_add(&one, &add, &mut words, 1);
    launch_add(&two, &add, &mut words, 1);
    let copy = two.duplicate(&words).unwrap();
    drop(words);
    // Both streams hold uses.
    drop(gpu.pinned::<u8>(11).unwrap());
    assert_eq!(count(&freed), 0);
    gate.open();
    assert_eq!(two.download(&copy).unwrap(), [3; LEN]);
    gpu.synchronize().unwrap();
    assert_eq!(count(&freed), 1);
}

#[test]
fn what_is_not_adopted_comes_back() {
    let gpu = gpu();
    let mut stream = gpu.stream().unwrap();
    let (theirs, freed) = TheirMemory::new(&gpu, &[1; LEN]);
    let address = theirs.address;
    let at = DevicePointer::<u32>::from_address;
    let mut kept: Box<dyn Any + Send> = Box::new(theirs);
    for (pointer, code) in [
        (at(address + 2), Code::MISALIGNED_ADDRESS),
        (at(16), Code::INVALID_VALUE),
    ] {
        // SAFETY: it is refused.
        let refused = unsafe { stream.adopt(pointer, 1, kept) }.unwrap_err();
        assert_eq!(refused.error.code(), Some(code), "{refused}");
        kept = refused.value;
    }
    let graph = stream.capture(|capture| {
        let stream = capture.stream();
        // SAFETY: it is refused.
        let refused = unsafe { stream.adopt(at(address), 1, 7) }.unwrap_err();
        assert_eq!(refused.value, 7);
        // SAFETY: the event is null, which is not looked at.
        let error = unsafe { stream.wait_raw_event(null_mut()) }.unwrap_err();
        assert_eq!(error.code(), Some(Code::STREAM_CAPTURE_UNSUPPORTED));
        // SAFETY: the event is null, which is not looked at.
        let error = unsafe { stream.record_raw_event(null_mut()) }.unwrap_err();
        assert_eq!(error.code(), Some(Code::STREAM_CAPTURE_UNSUPPORTED));
        Ok(())
    });
    drop(graph.unwrap());
    // SAFETY: none of it is used.
    let none = unsafe { stream.adopt(at(address), 0, kept) }.unwrap();
    assert_eq!((none.len(), count(&freed)), (0, 1));
}

#[test]
fn a_keeper_may_make_another_context_current() {
    let Side::Child = own_process(&[]) else {
        return;
    };
    /// Makes no context current where it is dropped.
    struct Disturbs;
    impl Drop for Disturbs {
        fn drop(&mut self) {
            ok!(raw::cuCtxSetCurrent(null_mut()));
        }
    }
    let gpu = gpu();
    let stream = gpu.stream().unwrap();
    let (theirs, freed) = TheirMemory::new(&gpu, &[1; LEN]);
    let pointer = theirs.words();
    // SAFETY: the memory has these words; its keeper alone frees it.
    let words = unsafe { stream.adopt(pointer, LEN, (theirs, Disturbs)) }.unwrap();
    // More that waits to be freed, before it and behind it.
    let pinned = [(); 3].map(|()| gpu.pinned::<u8>(1 << 20).unwrap());
    let unified = [(); 3].map(|()| gpu.unified::<u8>(1 << 20).unwrap());
    drop((pinned, words, unified));
    let (theirs, destroyed) = TheirStream::new(&gpu);
    let raw = theirs.raw;
    // SAFETY: its keeper alone destroys it.
    drop(unsafe { gpu.adopt_stream(raw.cast(), (theirs, Disturbs)) }.unwrap());
    warpsmith_host::set_drop_error_hook(|error| panic!("{error}"));
    stream.synchronize().unwrap();
    gpu.synchronize().unwrap();
    assert_eq!((count(&freed), count(&destroyed)), (1, 1));
}

#[test]
fn events_give_an_order_with_streams_that_are_not_adopted() {
    let gpu = gpu();
    let module = module(&gpu);
    let add = add(&module);
    let own = gpu.stream().unwrap();
    let mut gate = Gate::new(&gpu, &module);
    let (theirs, _) = TheirStream::new(&gpu);
    let mut event = null_mut();
    ok!(raw::cuEventCreate(&mut event, 2));
    let mut words = own.upload(&[1_u32; LEN]).unwrap();
    gate.close(&own);
    launch_add(&own, &add, &mut words, 1);
    // SAFETY: the event exists.
    unsafe { own.record_raw_event(event.cast()) }.unwrap();
    ok!(raw::cuStreamWaitEvent(theirs.raw, event, 0));
    let address = words.as_device_ptr().address();
    ok!(raw::cuMemsetD32Async(address, 40, LEN / 2, theirs.raw));
    ok!(raw::cuEventRecord(event, theirs.raw));
    // SAFETY: the event exists, and no stream is captured.
    unsafe { own.wait_raw_event(event.cast()) }.unwrap();
    ok!(raw::cuEventDestroy_v2(event));
    launch_add(&own, &add, &mut words, 1);
    gate.open();
    let words = own.download(&words).unwrap();
    assert_eq!((words[0], words[LEN - 1]), (41, 3));

    // The other way round: a library waits for an event of ours.
    let ours = gpu.event_untimed().unwrap();
    own.record(&ours).unwrap();
    ok!(raw::cuStreamWaitEvent(theirs.raw, ours.as_raw().cast(), 0));
    ok!(raw::cuStreamSynchronize(theirs.raw));
}

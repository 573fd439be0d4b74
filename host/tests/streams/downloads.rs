//! Downloads and events that tasks await.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use crate::common::awaited::block_on;
use crate::common::{Gate, add, gpu, hold_up, in_own_process, launch_add, module, panicking};
use warpsmith_host::Completion;
use warpsmith_host::prelude::*;

fn is_pending<F: Future + Unpin>(future: &mut F) -> bool {
    let mut context = Context::from_waker(Waker::noop());
    matches!(pin!(future).as_mut().poll(&mut context), Poll::Pending)
}

// covers: EVENT-06, STREAM-05
#[test]
fn a_download_is_awaited() -> Result<()> {
    let gpu = gpu();
    let module = module(&gpu);
    let add = add(&module);
    let stream = gpu.stream()?;
    let mut buffer = stream.zeroed::<u32>(1000)?;
    let mut here = gpu.pinned::<u32>(1000)?;
    stream.synchronize()?;
    let release = hold_up(&stream)?;
    launch_add(&stream, &add, &mut buffer, 3);
    let mut download = stream.download_async(&buffer)?;
    assert!(is_pending(&mut download));
    assert!(format!("{download:?}").contains("done: false"));
    let mut arrival =
        stream.download_into_async(&buffer.slice(..10), &mut here.slice_mut(5..15))?;
    assert!(is_pending(&mut arrival));
    assert!(matches!(here.host(), Err(Error::Busy(_))));
    std::thread::scope(|scope| {
        scope.spawn(move || {
            std::thread::sleep(Duration::from_millis(30));
            drop(release);
        });
        assert_eq!(block_on(download)?, [3; 1000]);
        block_on(arrival)
    })?;
    let expected = [[0; 5].as_slice(), &[3; 10], &[0; 985]].concat();
    assert_eq!(*here.host()?, *expected);
    // Of nothing, it is the stream that is awaited, as with `download`.
    let nothing = block_on(stream.download_async(&buffer.slice(..0))?)?;
    assert!(nothing.is_empty());
    Ok(())
}

/// The download has the data as it was, and is ready while the stream goes on.
#[test]
fn what_the_stream_gets_later_is_not_awaited() {
    // Its kernel waits for the host, which waits for a function of the driver's: functions of other tests must not hold that up.
    let _ = in_own_process(&[], || {
        what_the_stream_gets_later_is_not_awaited_here().unwrap()
    });
}

fn what_the_stream_gets_later_is_not_awaited_here() -> Result<()> {
    let gpu = gpu();
    let module = module(&gpu);
    let mut gate = Gate::new(&gpu, &module);
    let stream = gpu.stream()?;
    let buffer = stream.upload(&[1_u32, 2, 3])?;
    let mut here = gpu.pinned::<u32>(3)?;
    let download = stream.download_async(&buffer)?;
    let arrival = stream.download_into_async(&buffer, &mut here)?;
    gate.close(&stream);
    assert_eq!(block_on(download)?, [1, 2, 3]);
    block_on(arrival)?;
    assert_eq!(*here.host()?, [1, 2, 3]);
    assert!(gate.holds(&stream));
    gate.open();
    Ok(())
}

/// Polled never, once, and not to its end; forgotten; and dropped while the copy waits. The memory stays what it is.
#[test]
fn downloads_that_nobody_awaits_harm_nobody() -> Result<()> {
    let gpu = gpu();
    let stream = gpu.stream()?;
    let mut buffer = stream.upload(&[1_u32; 1000])?;
    let release = hold_up(&stream)?;
    for round in 0..10 {
        let mut download = stream.download_async(&buffer)?;
        match round % 3 {
            0 => drop(download),
            1 => assert!(is_pending(&mut download)),
            _ => std::mem::forget(download),
        }
    }
    // Its source is free once the future is gone: the copy still comes before this.
    stream.fill(&mut buffer, 2)?;
    let mut here = gpu.pinned::<u32>(1000)?;
    std::mem::forget(stream.download_into_async(&buffer, &mut here)?);
    assert!(matches!(here.host_mut(), Err(Error::Busy(_))));
    drop(here);
    drop(buffer);
    drop(release);
    stream.synchronize()?;
    // New page-locked memory, of the size of what was given back, is nobody else's.
    let fresh = gpu.pinned::<u32>(1000)?;
    assert_eq!(*fresh.host()?, [0; 1000]);
    Ok(())
}

#[test]
fn tasks_on_other_threads_download() -> Result<()> {
    let gpu = gpu();
    let stream = gpu.stream()?;
    let buffers = (0..4)
        .map(|value| stream.filled(100, value))
        .collect::<Result<Vec<DeviceBuffer<u32>>>>()?;
    std::thread::scope(|scope| {
        let tasks: Vec<_> = buffers
            .iter()
            .map(|buffer| {
                // Enqueued here, awaited there.
                let download = stream.download_async(buffer);
                scope.spawn(move || download.and_then(block_on))
            })
            .collect();
        for (task, value) in tasks.into_iter().zip(0..) {
            assert_eq!(task.join().expect("no panic")?, [value; 100]);
        }
        Ok(())
    })
}

#[test]
fn a_captured_stream_is_not_awaited() -> Result<()> {
    let gpu = gpu();
    let mut stream = gpu.stream()?;
    let other = gpu.stream()?;
    let mut words = stream.zeroed::<u32>(10)?;
    let mut here = gpu.pinned::<u32>(10)?;
    let event = gpu.event_untimed()?;
    let graph = stream.capture(|capture| {
        capture.fill(&mut words, 3)?;
        let refused = [
            capture.download_async(&words).map(drop),
            capture.download_into_async(&words, &mut here).map(drop),
        ];
        for refused in refused {
            let error = refused.unwrap_err();
            assert_eq!(error.code(), Some(Code::STREAM_CAPTURE_UNSUPPORTED));
            assert!(error.to_string().contains("copy_to_host"), "{error}");
        }
        capture.record(&event)?;
        let error = event.completion().unwrap_err();
        assert_eq!(error.code(), Some(Code::CAPTURED_EVENT), "{error}");
        // Another stream is awaited meanwhile.
        block_on(other.record_event()?.completion()?)
    })?;
    // Nothing of what was refused is in the graph.
    assert_eq!(*here.host()?, [0; 10]);
    graph.instantiate()?.launch(&other)?;
    assert_eq!(block_on(other.download_async(&words)?)?, [3; 10]);
    Ok(())
}

#[test]
fn lengths_that_differ_are_refused() -> Result<()> {
    let gpu = gpu();
    let stream = gpu.stream()?;
    let buffer = stream.upload(&[1_u32, 2, 3])?;
    let mut here = gpu.pinned::<u32>(2)?;
    let error = stream.download_into_async(&buffer, &mut here).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("3 elements and the destination 2"),
        "{error}"
    );
    here.host_mut()?.fill(1);
    Ok(())
}

#[test]
fn a_panic_on_the_device_is_what_the_download_tells() -> Result<()> {
    let gpu = gpu();
    let kernels = panicking::kernels(&gpu);
    let stream = gpu.stream()?;
    let buffer = stream.upload(&[1_u32, 2, 3])?;
    panicking::launch_at(&stream, &kernels, 78);
    let error = block_on(stream.download_async(&buffer)?).unwrap_err();
    assert_eq!(error.panic().expect("the kernel's panic").line, 78);
    // It is told once.
    assert_eq!(block_on(stream.download_async(&buffer)?)?, [1, 2, 3]);
    Ok(())
}

/// The event's position counts, neither what comes after it nor a later recording.
// covers: EVENT-06
#[test]
fn an_event_is_awaited() {
    // Its kernel waits for the host, which waits for a function of the driver's: functions of other tests must not hold that up.
    let _ = in_own_process(&[], || an_event_is_awaited_here().unwrap());
}

fn an_event_is_awaited_here() -> Result<()> {
    let gpu = gpu();
    let module = module(&gpu);
    let (mut before, mut after) = (Gate::new(&gpu, &module), Gate::new(&gpu, &module));
    let stream = gpu.stream()?;
    let event = gpu.event()?;
    // Not recorded yet.
    block_on(event.completion()?)?;
    let nines = stream.filled(100, 9_u32)?;
    let mut here = gpu.pinned::<u32>(100)?;
    stream.synchronize()?;
    before.close(&stream);
    stream.copy_to_host(&nines, &mut here)?;
    stream.record(&event)?;
    let mut completion = event.completion()?;
    let mut again = event.completion()?;
    assert!(is_pending(&mut completion) && is_pending(&mut again));
    // It is of the recording that was last when it was asked for.
    after.close(&stream);
    stream.record(&event)?;
    let mut later = event.completion()?;
    before.open();
    block_on(completion)?;
    block_on(again)?;
    assert!(after.holds(&stream));
    assert_eq!(*here.host()?, [9; 100], "the copy was before the event");
    assert!(is_pending(&mut later) || after.holds(&stream));
    after.open();
    // Neither the event nor the stream is needed any more.
    drop((event, stream));
    block_on(later)
}

#[test]
fn events_that_nobody_awaits_hold_nothing_up() -> Result<()> {
    let gpu = gpu();
    let stream = gpu.stream()?;
    let release = hold_up(&stream)?;
    let event = stream.record_event()?;
    let mut futures: Vec<Completion<'static>> = Vec::new();
    for _ in 0..10 {
        futures.push(event.completion()?);
        drop(event.completion()?);
        std::mem::forget(event.completion()?);
    }
    drop(event);
    drop(release);
    stream.synchronize()?;
    for future in futures {
        block_on(future)?;
    }
    gpu.synchronize()
}

#[test]
fn a_panic_before_an_event_is_what_its_future_tells() -> Result<()> {
    let gpu = gpu();
    let kernels = panicking::kernels(&gpu);
    let stream = gpu.stream()?;
    let before = stream.record_event()?;
    panicking::launch_at(&stream, &kernels, 79);
    let after = stream.record_event()?;
    block_on(before.completion()?)?;
    let error = block_on(after.completion()?).unwrap_err();
    assert_eq!(error.panic().expect("the kernel's panic").line, 79);
    block_on(after.completion()?)?;
    stream.synchronize()
}

#[test]
fn downloads_and_events_end_after_a_fault() {
    let _ = in_own_process(&[("WARPSMITH_REPORT", "0")], || {
        let gpu = gpu();
        let module = module(&gpu);
        let stream = gpu.stream().expect("a stream");
        let buffer = stream.upload(&[1_u32; 10]).expect("a buffer");
        let release = hold_up(&stream).expect("a function");
        let kernel: UntypedKernel<(RawPtr<u32>,)> = module.untyped_kernel("wait_for").expect("it");
        let nowhere = DevicePointer::<u32>::from_address(64);
        // SAFETY: nothing depends on the context, which the fault ends, but this process.
        unsafe { stream.launch_untyped(&kernel, Grid::new(1, 1), (nowhere,)) }.expect("launch");
        let download = stream.download_async(&buffer).expect("it is enqueued");
        let event = stream.record_event().expect("an event");
        let completion = event.completion().expect("it is enqueued");
        drop(release);
        let of_download = block_on(download).expect_err("the address is nobody's");
        let of_event = block_on(completion).expect_err("the address is nobody's");
        for error in [of_download, of_event] {
            assert_eq!(error.code(), Some(Code(700)), "{error}");
        }
    });
}

//! Streams as futures: with an executor of a few lines, and with tokio.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Wake, Waker};
use std::time::Duration;

use crate::common::awaited::block_on;
use crate::common::{add, gpu, hold_up, in_own_process, launch_add, module, panicking};
use warpsmith_host::prelude::*;

// covers: EVENT-06
#[test]
fn a_task_is_woken_when_the_stream_is_done() -> Result<()> {
    let gpu = gpu();
    let module = module(&gpu);
    let stream = gpu.stream()?;
    let mut buffer = stream.zeroed::<u32>(1000)?;
    stream.synchronize()?;
    let release = hold_up(&stream)?;
    launch_add(&stream, &add(&module), &mut buffer, 3);
    let completion = stream.completion()?;
    assert!(format!("{completion:?}").contains("done: false"));
    std::thread::scope(|scope| {
        scope.spawn(move || {
            std::thread::sleep(Duration::from_millis(30));
            drop(release);
        });
        block_on(completion)
    })?;
    assert_eq!(stream.download(&buffer)?, [3; 1000]);
    // Of a stream that has nothing to do, too.
    block_on(stream.completion()?)
}

#[test]
fn tasks_of_tokio_go_on_beside_each_other() -> Result<()> {
    let gpu = gpu();
    let module = module(&gpu);
    let add = add(&module);
    let streams = [gpu.stream()?, gpu.stream()?, gpu.stream()?];
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .expect("a runtime");
    let work = |stream: Stream, add: crate::common::Add| async move {
        let mut buffer = stream.zeroed::<u32>(100)?;
        for round in 0..10 {
            launch_add(&stream, &add, &mut buffer, round);
            stream.completion()?.await?;
        }
        stream.download(&buffer)
    };
    let results = runtime.block_on(async {
        let local = tokio::task::LocalSet::new();
        let tasks = streams.map(|stream| local.spawn_local(work(stream, add.clone())));
        let mut results = Vec::new();
        local
            .run_until(async {
                for task in tasks {
                    results.push(task.await.expect("no panic"));
                }
            })
            .await;
        results
    });
    for result in results {
        assert_eq!(result?, [45; 100]);
    }
    Ok(())
}

#[test]
fn a_completion_that_nobody_awaits_holds_nothing_up() -> Result<()> {
    let gpu = gpu();
    let stream = gpu.stream()?;
    let release = hold_up(&stream)?;
    for _ in 0..10 {
        drop(stream.completion()?);
    }
    std::mem::forget(stream.completion()?);
    drop(release);
    stream.synchronize()
}

#[test]
fn a_wake_up_that_panics_harms_nobody() -> Result<()> {
    struct Panics;
    impl Wake for Panics {
        fn wake(self: Arc<Self>) {
            panic!("a panic on purpose");
        }
    }
    let gpu = gpu();
    let stream = gpu.stream()?;
    let release = hold_up(&stream)?;
    let waker = Waker::from(Arc::new(Panics));
    let mut completion = pin!(stream.completion()?);
    let pending = completion
        .as_mut()
        .poll(&mut Context::from_waker(&waker))
        .is_pending();
    assert!(pending);
    drop(release);
    stream.synchronize()?;
    block_on(completion)
}

#[test]
fn a_panic_on_the_device_is_what_the_future_tells() -> Result<()> {
    let gpu = gpu();
    let kernels = panicking::kernels(&gpu);
    let stream = gpu.stream()?;
    panicking::launch_at(&stream, &kernels, 77);
    let error = block_on(stream.completion()?).unwrap_err();
    let panic = error.panic().expect("the kernel's panic");
    assert_eq!(panic.line, 77);
    // It is told once, and the stream is as good as before.
    block_on(stream.completion()?)
}

#[test]
fn a_future_ends_after_a_fault() {
    let _ = in_own_process(&[("WARPSMITH_REPORT", "0")], || {
        let gpu = gpu();
        let module = module(&gpu);
        let stream = gpu.stream().expect("a stream");
        let kernel: UntypedKernel<(RawPtr<u32>,)> = module.untyped_kernel("wait_for").expect("it");
        let nowhere = DevicePointer::<u32>::from_address(64);
        // SAFETY: nothing depends on the context, which the fault ends, but this process.
        unsafe { stream.launch_untyped(&kernel, Grid::new(1, 1), (nowhere,)) }.expect("launch");
        let outcome = stream.completion().and_then(block_on);
        let error = outcome.expect_err("the address is nobody's");
        assert_eq!(error.code(), Some(Code(700)), "{error}");
    });
}

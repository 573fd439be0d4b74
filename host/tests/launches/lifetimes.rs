//! What work uses lives until it is done, also where the stream that holds it, and all else, was dropped.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use crate::common::{gpu, hold_up, module};
use warpsmith_host::prelude::*;

/// Says whether it was dropped.
struct Watched(Arc<AtomicBool>);

impl Drop for Watched {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

#[test]
fn a_graphs_function_lives_until_a_dropped_stream_has_called_it() -> Result<()> {
    let gpu = gpu();
    let (dropped, called) = (
        Arc::new(AtomicBool::new(false)),
        Arc::new(AtomicU32::new(0)),
    );
    for way in ["dropped", "updated"] {
        let watched = Watched(dropped.clone());
        let count = called.clone();
        let mut graph = gpu.graph()?;
        graph.host(move || {
            assert!(
                !watched.0.load(Ordering::SeqCst),
                "called after it was dropped"
            );
            count.fetch_add(1, Ordering::SeqCst);
        })?;
        let mut ready = graph.instantiate()?;
        let stream = gpu.stream()?;
        let held_up = hold_up(&stream)?;
        ready.launch(&stream)?;
        drop((stream, graph));
        if way == "updated" {
            let mut other = gpu.graph()?;
            other.host(|| ())?;
            ready.update(&other)?;
        }
        drop(ready);
        // Waits and new streams release what is not used any more.
        gpu.stream()?.synchronize()?;
        gpu.stream()?.synchronize()?;
        assert!(
            !dropped.load(Ordering::SeqCst),
            "{way}: dropped before it was called"
        );
        drop(held_up);
        gpu.synchronize()?;
        assert_eq!(called.swap(0, Ordering::SeqCst), 1, "{way}");
        assert!(dropped.swap(false, Ordering::SeqCst), "{way}: it leaks");
    }
    Ok(())
}

#[test]
fn a_module_lives_until_a_dropped_stream_has_run_its_kernel() -> Result<()> {
    let gpu = gpu();
    let stream = gpu.stream()?;
    let mut buffer = stream.zeroed::<u32>(4)?;
    let add = crate::common::add(&module(&gpu));
    let held_up = hold_up(&stream)?;
    crate::common::launch_add(&stream, &add, &mut buffer, 3);
    drop((stream, add));
    let other = gpu.stream()?;
    other.synchronize()?;
    drop(held_up);
    assert_eq!(other.download(&buffer)?, [3; 4]);
    gpu.synchronize()
}

/// Nothing but the graph knows of the kernel: it uses no memory.
#[test]
fn a_captured_kernel_without_memory_keeps_its_module() -> Result<()> {
    let gpu = gpu();
    let mut stream = gpu.stream()?;
    let graph = {
        let kernel = module(&gpu).untyped_kernel::<()>("bounded")?;
        stream.capture(|capture| {
            // SAFETY: the entry does nothing.
            unsafe { capture.launch_untyped(&kernel, Grid::new(1, 1), ()) }
        })?
    };
    gpu.synchronize()?;
    let mut ready = graph.instantiate()?;
    drop(graph);
    gpu.synchronize()?;
    ready.launch(&stream)?;
    stream.synchronize()
}

#[test]
fn streams_that_are_dropped_with_work_in_them_do_it() -> Result<()> {
    let gpu = gpu();
    let calls = Arc::new(AtomicU32::new(0));
    let first = gpu.stream()?;
    let held_up = hold_up(&first)?;
    for _ in 0..20 {
        let stream = gpu.stream()?;
        let event = gpu.event_untimed()?;
        first.record(&event)?;
        stream.wait(&event)?;
        let calls = calls.clone();
        stream.host_fn(move || {
            calls.fetch_add(1, Ordering::SeqCst);
        })?;
    }
    drop(first);
    assert_eq!(calls.load(Ordering::SeqCst), 0);
    drop(held_up);
    gpu.synchronize()?;
    assert_eq!(calls.load(Ordering::SeqCst), 20);
    Ok(())
}

//! Values whose destructors call this crate, given up while graphs are launched.

use std::ptr::null_mut;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

use crate::common::{gpu, in_own_process};
use warpsmith_driver::raw;
use warpsmith_host::prelude::*;

/// A stream of another library. Its destructor uses the device, as that of an object of this crate's may, or does something else at its end.
struct Theirs {
    raw: raw::CUstream,
    gpu: Gpu,
    instead: Option<Box<dyn FnOnce() + Send>>,
    dropped: Arc<AtomicU32>,
}

// SAFETY: the driver takes the handle on any thread.
unsafe impl Send for Theirs {}

impl Drop for Theirs {
    fn drop(&mut self) {
        if self.instead.is_none() {
            let stream = self.gpu.stream().expect("a stream");
            let words = stream.filled(4, 3_u32).expect("memory");
            assert_eq!(stream.download(&words).expect("the words"), [3; 4]);
        }
        self.gpu.make_current().expect("the context");
        // SAFETY: the stream was made for this value alone, and is idle.
        assert_eq!(unsafe { raw::cuStreamDestroy_v2(self.raw) }.0, 0);
        self.dropped.fetch_add(1, Ordering::SeqCst);
        if let Some(instead) = self.instead.take() {
            instead();
        }
    }
}

fn adopt(
    gpu: &Gpu,
    instead: Option<Box<dyn FnOnce() + Send>>,
    dropped: &Arc<AtomicU32>,
) -> Result<Stream> {
    gpu.make_current()?;
    let mut raw = null_mut();
    // SAFETY: the driver writes the stream's handle to `raw`.
    assert_eq!(unsafe { raw::cuStreamCreate(&mut raw, 1) }.0, 0);
    let theirs = Theirs {
        raw,
        gpu: gpu.clone(),
        instead,
        dropped: dropped.clone(),
    };
    // SAFETY: the keeper alone destroys the stream, and nobody captures it.
    unsafe { gpu.adopt_stream(raw.cast(), theirs) }.map_err(Error::from)
}

/// Ends the process where a test hangs.
fn watch(done: &Arc<AtomicBool>) {
    let done = done.clone();
    std::thread::spawn(move || {
        let start = Instant::now();
        while !done.load(Ordering::SeqCst) {
            if start.elapsed() > Duration::from_secs(120) {
                eprintln!("the launch and the keeper's destructor wait for each other");
                std::process::abort();
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    });
}

/// A launch looks up the stream of the launch before, of which another thread gives up the last share meanwhile: whoever has the last one, the keeper's
/// destructor runs where it can call this crate.
#[test]
fn a_keeper_that_calls_this_crate_goes_while_a_graph_is_launched() {
    let body = || {
        let done = Arc::new(AtomicBool::new(false));
        watch(&done);
        let gpu = gpu();
        let own = gpu.stream().expect("a stream");
        let dropped = Arc::new(AtomicU32::new(0));
        let rounds = warpsmith_testkit::cases(400) as u32;
        for round in 0..rounds {
            // A function on the host, so that the launch's number is set in the stream that follows the last one.
            let mut graph = gpu.graph().expect("a graph");
            graph.host(|| ()).expect("a node");
            let mut ready = graph.instantiate().expect("it is ready");
            let go = Arc::new(AtomicBool::new(false));
            let entered = Arc::new(AtomicBool::new(false));
            let wait = {
                let (go, entered) = (go.clone(), entered.clone());
                move || {
                    entered.store(true, Ordering::SeqCst);
                    while !go.load(Ordering::SeqCst) {
                        std::hint::spin_loop();
                    }
                    for _ in 0..round * 5 {
                        std::hint::spin_loop();
                    }
                }
            };
            // In the order in which they are given up: while the first one's keeper waits, the second has no other share than that of the list.
            let first = adopt(&gpu, Some(Box::new(wait)), &dropped).expect("a stream");
            let second = adopt(&gpu, None, &dropped).expect("a stream");
            ready.launch(&second).expect("a launch");
            // Nobody tells this crate that the launch is done: the next one has to follow the stream.
            // SAFETY: the stream is alive.
            while unsafe { raw::cuStreamQuery(second.as_raw().cast()) }.0 != 0 {
                std::thread::yield_now();
            }
            drop((first, second));
            std::thread::scope(|scope| {
                // Looks for streams that are idle.
                scope.spawn(|| gpu.stream().expect("a stream"));
                while !entered.load(Ordering::SeqCst) {
                    std::hint::spin_loop();
                }
                go.store(true, Ordering::SeqCst);
                ready.launch(&own).expect("a launch");
            });
            own.synchronize().expect("it is done");
        }
        gpu.synchronize().expect("it is done");
        drop(gpu.stream());
        assert_eq!(dropped.load(Ordering::SeqCst), 2 * rounds);
        done.store(true, Ordering::SeqCst);
    };
    if let Some(printed) = in_own_process(&[], body) {
        assert!(!printed.contains("wait for each other"), "{printed}");
    }
}

/// A value of a graph's, which uses the device when it is dropped.
struct Uses(Gpu, Arc<AtomicU32>);

impl Drop for Uses {
    fn drop(&mut self) {
        let stream = self.0.stream().expect("a stream");
        let words = stream.filled(4, 3_u32).expect("memory");
        assert_eq!(stream.download(&words).expect("the words"), [3; 4]);
        self.1.fetch_add(1, Ordering::SeqCst);
    }
}

// covers: GRAPH-40, GRAPH-42
#[test]
fn a_value_of_a_graph_that_calls_this_crate_goes_in_any_way() {
    let body = || {
        let done = Arc::new(AtomicBool::new(false));
        watch(&done);
        let gpu = gpu();
        let mut stream = gpu.stream().expect("a stream");
        let mut words = stream.zeroed::<u32>(4).expect("memory");
        let dropped = Arc::new(AtomicU32::new(0));
        let value = || Uses(gpu.clone(), dropped.clone());
        let keeping = |words: &mut DeviceBuffer<u32>| {
            let mut graph = gpu.graph().expect("a graph");
            graph.fill(words, 1).expect("a node");
            graph.keep(value());
            graph
        };
        // With the description, with the executable graph, by an update, with a child, and with a capture that fails.
        drop(keeping(&mut words));
        let mut ready = keeping(&mut words).instantiate().expect("it is ready");
        ready.launch(&stream).expect("a launch");
        ready.update(&keeping(&mut words)).expect("an update");
        drop(ready);
        let mut around = gpu.graph().expect("a graph");
        let child = around.child(&keeping(&mut words)).expect("a node");
        let mut ready = around.instantiate().expect("it is ready");
        drop(around);
        ready
            .set_child(child, &keeping(&mut words))
            .expect("a change");
        drop(ready);
        let step = keeping(&mut words);
        let failed = stream.capture(|capture| {
            capture.child(capture.stream(), &step)?;
            drop(step);
            capture.synchronize()
        });
        assert!(failed.is_err());
        gpu.synchronize().expect("it is done");
        // A value that owns a `Gpu` and waited is dropped at the next wait.
        gpu.synchronize().expect("it is done");
        assert_eq!(dropped.load(Ordering::SeqCst), 6);
        done.store(true, Ordering::SeqCst);
    };
    if let Some(printed) = in_own_process(&[], body) {
        assert!(!printed.contains("wait for each other"), "{printed}");
    }
}

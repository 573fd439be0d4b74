//! Code that does not know that it is captured: resources that streams give back, and graphs that keep them (3.2.8.7.4).

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use warpsmith_host::prelude::*;
use warpsmith_test_kernels::guide;
use warpsmith_tests::fixture;

const LEN: usize = 300;

/// A table of the library's, and how many are gone.
struct Table {
    numbers: DeviceBuffer<u32>,
    gone: &'static AtomicUsize,
}

impl Table {
    fn new(stream: &Stream, gone: &'static AtomicUsize) -> Result<Table> {
        let numbers = stream.filled(LEN, 5)?;
        Ok(Table { numbers, gone })
    }
}

impl Drop for Table {
    fn drop(&mut self) {
        self.gone.fetch_add(1, Ordering::SeqCst);
    }
}

type Work = TypedKernel<guide::library_work>;

/// Tables that are used again when their event says that the work on them is done.
#[derive(Default)]
struct EventPool(Mutex<Vec<(DeviceBuffer<u32>, Event)>>);

impl EventPool {
    fn work(&self, stream: &Stream, kernel: &Work, x: &mut DeviceBuffer<u32>) -> Result<()> {
        let mut entries = self.0.lock().expect("nobody panics with it");
        let mut free = None;
        for (at, (_, done)) in entries.iter().enumerate() {
            if done.is_complete()? {
                free = Some(at);
            }
        }
        let (table, done) = match free {
            Some(at) => entries.swap_remove(at),
            None => (stream.filled(LEN, 5)?, stream.gpu().event_untimed()?),
        };
        stream.launch(kernel, Grid::cover(LEN, 128), (&table, x))?;
        stream.record(&done)?;
        entries.push((table, done));
        Ok(())
    }
}

// covers: GRAPH-X06
#[test]
fn a_pool_that_asks_events_is_not_captured() -> Result<()> {
    let f = fixture();
    let mut stream = f.stream();
    let kernel = f.module.kernel(guide::library_work)?;
    let mut x = stream.zeroed::<u32>(LEN)?;
    let pool = EventPool::default();
    for _ in 0..2 {
        pool.work(&stream, &kernel, &mut x)?;
    }
    assert_eq!(stream.download(&x)?, [10; LEN]);

    let pool = EventPool::default();
    let error = stream
        .capture(|capture| {
            pool.work(capture, &kernel, &mut x)?;
            pool.work(capture, &kernel, &mut x)
        })
        .expect_err("the first call's event stands for a node");
    let text = error.to_string();
    assert!(text.contains("captured"), "{text}");
    assert!(text.contains("capture.keep"), "{text}");
    // Nothing ran, and the stream goes on.
    assert_eq!(stream.download(&x)?, [10; LEN]);
    Ok(())
}

// covers: GRAPH-X06
#[test]
fn a_callback_that_gives_a_resource_back_is_not_captured() -> Result<()> {
    static GONE: AtomicUsize = AtomicUsize::new(0);
    let f = fixture();
    let mut stream = f.stream();
    let kernel = f.module.kernel(guide::library_work)?;
    let mut x = stream.zeroed::<u32>(LEN)?;
    fn work(stream: &Stream, table: Table, kernel: &Work, x: &mut DeviceBuffer<u32>) -> Result<()> {
        stream.launch(kernel, Grid::cover(LEN, 128), (&table.numbers, x))?;
        stream.host_fn(move || drop(table))
    }
    work(&stream, Table::new(&stream, &GONE)?, &kernel, &mut x)?;
    assert_eq!(stream.download(&x)?, [5; LEN]);
    assert_eq!(GONE.load(Ordering::SeqCst), 1);

    let table = Table::new(&stream, &GONE)?;
    let error = stream
        .capture(|capture| work(capture, table, &kernel, &mut x))
        .expect_err("each launch would give the table back");
    let text = error.to_string();
    assert!(text.contains("capture.keep"), "{text}");
    assert_eq!(GONE.load(Ordering::SeqCst), 2);
    Ok(())
}

// covers: GRAPH-X06
#[test]
fn what_the_graph_keeps_is_given_back_once() -> Result<()> {
    static GONE: AtomicUsize = AtomicUsize::new(0);
    let f = fixture();
    let mut stream = f.stream();
    let kernel = f.module.kernel(guide::library_work)?;
    let mut x = stream.zeroed::<u32>(LEN)?;
    let table = Table::new(&stream, &GONE)?;
    let graph = stream.capture(|capture| {
        capture.launch(&kernel, Grid::cover(LEN, 128), (&table.numbers, &mut x))?;
        capture.keep(table);
        Ok(())
    })?;
    let mut ready = graph.instantiate()?;
    drop(graph);
    for launch in 1..=3 {
        ready.launch(&stream)?;
        assert_eq!(stream.download(&x)?, [5 * launch; LEN]);
        assert_eq!(GONE.load(Ordering::SeqCst), 0);
    }
    ready.launch(&stream)?;
    drop(ready);
    stream.synchronize()?;
    f.gpu.synchronize()?;
    assert_eq!(stream.download(&x)?, [20; LEN]);
    // The driver drops it when it finds that the last launch is done, on a thread of its own.
    let begun = std::time::Instant::now();
    while GONE.load(Ordering::SeqCst) == 0 && begun.elapsed() < std::time::Duration::from_secs(30) {
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    assert_eq!(GONE.load(Ordering::SeqCst), 1);

    // A capture that fails gives it back at once.
    let table = Table::new(&stream, &GONE)?;
    let failed = stream.capture(|capture| {
        capture.keep(table);
        capture.synchronize()
    });
    assert!(failed.is_err());
    assert_eq!(GONE.load(Ordering::SeqCst), 2);
    Ok(())
}

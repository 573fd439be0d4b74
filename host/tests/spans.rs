//! What devices and the program do, as spans of the `tracing` crate.

mod common;

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use common::{add, gpu, launch_add, module};
use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber, subscriber};
use warpsmith_host::prelude::*;
use warpsmith_host::{ForeignWork, trace};

/// A span as a subscriber meets it.
#[derive(Clone, Default, Debug)]
struct Span {
    kind: &'static str,
    target: String,
    fields: HashMap<&'static str, String>,
    /// The kinds of the spans that were open on the thread when it was entered.
    inside: Vec<&'static str>,
    exited: bool,
}

/// Collects all spans up to a level.
#[derive(Clone)]
struct Collector {
    most: LevelFilter,
    spans: Arc<Mutex<Vec<Span>>>,
    /// The numbers of those that are open.
    open: Arc<Mutex<Vec<u64>>>,
    unknown: Arc<AtomicU64>,
}

impl Collector {
    fn up_to(most: LevelFilter) -> Collector {
        Collector {
            most,
            spans: Arc::default(),
            open: Arc::default(),
            unknown: Arc::default(),
        }
    }

    /// The spans of a call, each of which has ended.
    fn of<R>(most: LevelFilter, call: impl FnOnce() -> R) -> (R, Vec<Span>) {
        let collector = Collector::up_to(most);
        let result = subscriber::with_default(collector.clone(), call);
        let spans = collector.spans.lock().unwrap().clone();
        assert!(spans.iter().all(|span| span.exited), "{spans:#?}");
        assert!(collector.open.lock().unwrap().is_empty());
        assert_eq!(collector.unknown.load(Ordering::SeqCst), 0);
        (result, spans)
    }
}

impl Visit for Span {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.fields.insert(field.name(), format!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.fields.insert(field.name(), value.to_owned());
    }
}

impl Subscriber for Collector {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() <= self.most
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(self.most)
    }

    fn new_span(&self, attributes: &Attributes<'_>) -> Id {
        let mut span = Span {
            kind: attributes.metadata().name(),
            target: attributes.metadata().target().to_owned(),
            ..Span::default()
        };
        attributes.record(&mut span);
        let mut spans = self.spans.lock().unwrap();
        spans.push(span);
        Id::from_u64(spans.len() as u64)
    }

    fn enter(&self, id: &Id) {
        let mut open = self.open.lock().unwrap();
        let mut spans = self.spans.lock().unwrap();
        let inside = open.iter().map(|&number| spans[number as usize - 1].kind);
        let inside = inside.collect();
        spans[id.into_u64() as usize - 1].inside = inside;
        open.push(id.into_u64());
    }

    fn exit(&self, id: &Id) {
        let last = self.open.lock().unwrap().pop();
        if last != Some(id.into_u64()) {
            self.unknown.fetch_add(1, Ordering::SeqCst);
        }
        self.spans.lock().unwrap()[id.into_u64() as usize - 1].exited = true;
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn event(&self, _: &Event<'_>) {}
}

fn of_kind<'a>(spans: &'a [Span], kind: &str) -> Vec<&'a Span> {
    spans.iter().filter(|span| span.kind == kind).collect()
}

fn named<'a>(spans: &'a [Span], name: &str) -> Vec<&'a Span> {
    let is_named = |span: &&Span| span.fields["name"] == name;
    spans.iter().filter(is_named).collect()
}

const LEN: usize = 1000;

#[test]
fn each_piece_of_work_is_a_span_with_its_sizes() {
    let gpu = gpu();
    let module = module(&gpu);
    let add = add(&module);
    let stream = gpu.stream().unwrap();
    let ((), spans) = Collector::of(LevelFilter::DEBUG, || {
        let mut words = stream.upload(&[1_u32; LEN]).unwrap();
        launch_add(&stream, &add, &mut words, 1);
        stream.fill(&mut words, 5).unwrap();
        // In the stream that alone has used the memory, and where others may use it, too.
        let part = words.slice(..100);
        let mut work = ForeignWork::new("work in its own stream");
        work.reads(&stream, &part).unwrap();
        // SAFETY: nothing is enqueued.
        unsafe { work.enqueue(|| Ok::<(), Error>(())) }.unwrap();
        let mut graph = gpu.graph().unwrap();
        // SAFETY: the entry takes a slice and a number, and writes only the slice.
        unsafe { graph.kernel_untyped(&add, Grid::cover(LEN, 128), (&mut words, 1)) }.unwrap();
        graph.instantiate().unwrap().launch(&stream).unwrap();
        let pinned = gpu.pinned::<u8>(77_777).unwrap();
        let mut work = ForeignWork::new("a library's work");
        work.reads(&stream, &words).unwrap();
        // SAFETY: nothing is enqueued.
        unsafe { work.enqueue(|| Ok::<(), Error>(())) }.unwrap();
        assert_eq!(stream.download(&words).unwrap()[LEN - 1], 6);
        drop(pinned);
    });
    assert!(spans.iter().all(|span| span.target == "warpsmith"));
    let [kernel] = of_kind(&spans, "kernel")[..] else {
        panic!("{spans:#?}")
    };
    let field = |span: &Span, name| span.fields.get(name).cloned().unwrap_or_default();
    assert_eq!(field(kernel, "name"), "add");
    assert_eq!(field(kernel, "grid"), "[8, 1, 1]");
    assert_eq!(field(kernel, "block"), "[128, 1, 1]");
    assert_eq!(field(kernel, "dynamic_shared_bytes"), "0");
    assert!(!kernel.fields.contains_key("cluster"), "{kernel:?}");
    assert_eq!(field(kernel, "device"), gpu.choice().to_string());
    assert!(field(kernel, "track").starts_with("stream "), "{kernel:?}");
    let bytes = |kind, name| {
        let [span] = named(&spans, name)[..] else {
            panic!("{name}: {spans:#?}")
        };
        assert_eq!((span.kind, field(span, "track").is_empty()), (kind, false));
        field(span, "bytes")
    };
    assert_eq!(bytes("copy", "cuMemcpyHtoDAsync"), "4000");
    assert_eq!(bytes("copy", "cuMemcpyDtoHAsync"), "4000");
    assert_eq!(bytes("set", "cuMemsetAsync"), "4000");
    assert_eq!(bytes("memory", "cuMemAllocAsync"), "4000");
    assert_eq!(bytes("memory", "cuMemFreeAsync"), "4000");
    assert_eq!(bytes("memory", "cuMemHostAlloc"), "77777");
    assert_eq!(bytes("library", "work in its own stream"), "400");
    assert_eq!(bytes("library", "a library's work"), "4000");
    let [graph] = of_kind(&spans, "graph")[..] else {
        panic!("{spans:#?}")
    };
    assert_eq!(field(graph, "kernels"), "1");
}

#[test]
fn a_cluster_and_memory_of_blocks_are_fields() {
    let gpu = gpu();
    let module = module(&gpu);
    let add = add(&module);
    let stream = gpu.stream().unwrap();
    let mut words = stream.zeroed::<u32>(LEN).unwrap();
    let ((), spans) = Collector::of(LevelFilter::DEBUG, || {
        let grid = Grid::new(8, 128).cluster(2).shared_bytes(64);
        // SAFETY: the entry takes a slice and a number, and writes only the slice.
        unsafe { stream.launch_untyped(&add, grid, (&mut words, 1)) }.unwrap();
    });
    let fields = &spans[0].fields;
    assert_eq!(fields["cluster"], "[2, 1, 1]");
    assert_eq!(fields["dynamic_shared_bytes"], "64");
}

#[test]
fn sections_hold_the_work_that_is_enqueued_in_them() {
    let gpu = gpu();
    let stream = gpu.stream().unwrap();
    let ((), spans) = Collector::of(LevelFilter::DEBUG, || {
        let outer = trace::range("preparation");
        let inner = trace::range(format!("upload {}", 1));
        let words = stream.upload(&[1_u8; 13]).unwrap();
        drop(inner);
        drop(words);
        drop(outer);
    });
    let [outer, inner] = of_kind(&spans, "section")[..] else {
        panic!("{spans:#?}")
    };
    assert_eq!(outer.fields["name"], "preparation");
    assert_eq!(inner.fields["name"], "upload 1");
    assert_eq!(inner.inside, ["section"]);
    let [copy] = of_kind(&spans, "copy")[..] else {
        panic!("{spans:#?}")
    };
    assert_eq!(copy.inside, ["section", "section"]);
    let [free] = named(&spans, "cuMemFreeAsync")[..] else {
        panic!("{spans:#?}")
    };
    assert_eq!(free.inside, ["section"]);
}

#[test]
fn a_subscriber_that_takes_less_gets_the_sections_alone() {
    let gpu = gpu();
    let stream = gpu.stream().unwrap();
    let ((), spans) = Collector::of(LevelFilter::INFO, || {
        let _section = trace::range("all of it");
        let words = stream.upload(&[1_u8; 13]).unwrap();
        drop(words);
    });
    assert_eq!(spans.len(), 1, "{spans:#?}");
    assert_eq!(spans[0].fields["name"], "all of it");
}

#[test]
fn what_is_captured_is_told_of_when_its_graph_is_launched() {
    let gpu = gpu();
    let module = module(&gpu);
    let add = add(&module);
    let mut stream = gpu.stream().unwrap();
    let mut words = stream.zeroed::<u32>(LEN).unwrap();
    let (graph, spans) = Collector::of(LevelFilter::DEBUG, || {
        let grid = Grid::cover(LEN, 128);
        let captured = stream.capture(|capture| {
            // SAFETY: the entry takes a slice and a number, and writes only the slice.
            unsafe { capture.stream().launch_untyped(&add, grid, (&mut words, 1)) }
        });
        captured.unwrap()
    });
    assert!(of_kind(&spans, "kernel").is_empty(), "{spans:#?}");
    let mut ready = graph.instantiate().unwrap();
    let ((), spans) = Collector::of(LevelFilter::DEBUG, || ready.launch(&stream).unwrap());
    assert_eq!(of_kind(&spans, "graph").len(), 1, "{spans:#?}");
}

#[test]
fn a_call_that_fails_ends_its_span() {
    let gpu = gpu();
    let stream = gpu.stream().unwrap();
    let (error, spans) = Collector::of(LevelFilter::DEBUG, || {
        // SAFETY: there is no such memory.
        unsafe { stream.uninit::<u8>(1 << 60) }.unwrap_err()
    });
    assert!(error.code().is_some(), "{error}");
    assert_eq!(named(&spans, "cuMemAllocAsync").len(), 1, "{spans:#?}");
}

/// Takes all spans, and panics at the end of each.
struct Panicking;

impl Subscriber for Panicking {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {
        panic!("the subscriber's own");
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn event(&self, _: &Event<'_>) {}
}

/// The memory of a copy is lent until its wait, which a panic between the two would leave out.
#[test]
fn a_subscriber_that_panics_at_a_spans_end_hinders_no_wait() {
    let gpu = gpu();
    let stream = gpu.stream().unwrap();
    let words = stream.upload(&[1_u32; LEN]).unwrap();
    let mut page = gpu.pinned::<u32>(LEN).unwrap();
    let done = subscriber::with_default(Panicking, || {
        stream.download_into(&words, &mut page.host_mut().unwrap())
    });
    done.unwrap();
    assert_eq!(&page.host().unwrap()[..], [1; LEN]);
}

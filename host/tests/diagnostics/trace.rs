//! The trace of what a device does. Each in a process of its own, which has one trace.

use std::path::{Path, PathBuf};

use crate::common::{Gate, add, gpu, in_own_process, launch_add, module};
use serde_json::Value;
use warpsmith_host::prelude::*;
use warpsmith_host::{ForeignWork, trace};
use warpsmith_testkit::process::is_child;

const VARIABLE: &str = "WARPSMITH_TRACE";
const LEN: usize = 1000;

/// A file of this run of the test; its child has been told which.
fn path(test: &str) -> PathBuf {
    if is_child() {
        return std::env::var_os(VARIABLE).expect("the file's name").into();
    }
    let run = std::process::id();
    std::env::temp_dir().join(format!("warpsmith-trace-{test}-{run}.json"))
}

/// Runs `body` in a process that is traced to a file, which it is told.
fn traced(test: &str, body: impl FnOnce(&Path)) {
    let path = path(test);
    in_own_process(&[(VARIABLE, path.to_str().expect("it is text"))], || {
        body(&path);
        std::fs::remove_file(&path).expect("the trace is there");
    });
}

fn read(path: &Path) -> Value {
    let text = std::fs::read_to_string(path).expect("the trace is there");
    serde_json::from_str(&text).expect("it is JSON")
}

/// The events of one kind.
fn events<'a>(trace: &'a Value, kind: &str) -> Vec<&'a Value> {
    let all = trace["traceEvents"].as_array().expect("a list of events");
    all.iter().filter(|event| event["ph"] == kind).collect()
}

fn spans(trace: &Value) -> Vec<&Value> {
    events(trace, "X")
}

fn named<'a>(trace: &'a Value, name: &str) -> Vec<&'a Value> {
    let all = spans(trace).into_iter();
    all.filter(|span| span["name"] == name).collect()
}

fn number(value: &Value) -> f64 {
    value.as_f64().expect("a number")
}

#[test]
fn each_piece_of_work_is_a_span_with_its_sizes() {
    traced("spans", |path| {
        let gpu = gpu();
        let module = module(&gpu);
        let add = add(&module);
        let stream = gpu.stream().unwrap();
        let mut words = stream.upload(&[1_u32; LEN]).unwrap();
        launch_add(&stream, &add, &mut words, 1);
        stream.fill(&mut words.slice_mut(..100), 5).unwrap();
        stream
            .fill(&mut words.slice_mut(..100), 0x1234_5678)
            .unwrap();
        let zeros = stream.zeroed::<u64>(LEN).unwrap();
        let mut graph = gpu.graph().unwrap();
        // SAFETY: the entry takes a slice and a number, and writes only the slice.
        unsafe { graph.kernel_untyped(&add, Grid::cover(LEN, 128), (&mut words, 1)) }.unwrap();
        let mut ready = graph.instantiate().unwrap();
        ready.launch(&stream).unwrap();
        assert_eq!(stream.download(&words).unwrap()[LEN - 1], 3);
        let pinned = gpu.pinned::<u8>(77).unwrap();
        drop((ready, graph, words, zeros, pinned, add, module, stream, gpu));

        let trace = read(path);
        let bytes = |name| {
            let spans = named(&trace, name).into_iter();
            let bytes = spans.map(|span| span["args"]["bytes"].as_u64().expect("a size"));
            bytes.collect::<Vec<_>>()
        };
        let [kernel] = named(&trace, "add")[..] else {
            panic!("{trace:#}")
        };
        assert_eq!(kernel["cat"], "kernel");
        assert_eq!(kernel["args"]["grid"], serde_json::json!([8, 1, 1]));
        assert_eq!(kernel["args"]["block"], serde_json::json!([128, 1, 1]));
        assert_eq!(kernel["args"]["dynamic_shared_bytes"], 0);
        assert_eq!(bytes("cuMemcpyHtoDAsync"), [4000]);
        assert_eq!(bytes("cuMemcpyDtoHAsync"), [4000]);
        assert_eq!(bytes("cuMemsetAsync"), [400, 400]);
        assert_eq!(bytes("cuMemsetD8Async"), [8000]);
        assert_eq!(bytes("cuMemAllocAsync"), [4000, 8000]);
        assert_eq!(bytes("cuMemFreeAsync").iter().sum::<u64>(), 12_000);
        assert!(bytes("cuMemHostAlloc").contains(&77));
        let [graph] = named(&trace, "graph")[..] else {
            panic!("{trace:#}")
        };
        assert_eq!(graph["args"]["kernels"], 1);
        assert_eq!(trace["otherData"]["left_out"], 0);

        // One stream does one thing after the other, and its track is called after it.
        let mut in_stream: Vec<&Value> = spans(&trace);
        in_stream.retain(|span| span["tid"] == kernel["tid"] && span["cat"] != "memory");
        assert!(in_stream.len() >= 7, "{trace:#}");
        for pair in in_stream.windows(2) {
            let end = number(&pair[0]["ts"]) + number(&pair[0]["dur"]);
            // The resolution of what the driver tells.
            assert!(number(&pair[1]["ts"]) > end - 2.0, "{pair:?}");
        }
        let names = events(&trace, "M");
        let named_so = |what: &str, of: &Value| {
            names.iter().any(|event| {
                let text = event["args"]["name"].as_str();
                event["name"] == what
                    && event["pid"] == of["pid"]
                    && text.is_some_and(|text| !text.is_empty())
            })
        };
        assert!(named_so("process_name", kernel) && named_so("thread_name", kernel));
        for span in spans(&trace) {
            assert!(number(&span["dur"]) >= 0.0, "{span}");
            // Viewers show what has these numbers otherwise.
            assert!(span["pid"].as_u64() > Some(0) && span["tid"].as_u64() > Some(0));
        }
    });
}

#[test]
fn streams_and_threads_have_tracks_of_their_own() {
    traced("tracks", |path| {
        const EACH: usize = 400;
        let gpu = gpu();
        let module = module(&gpu);
        let add = add(&module);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let stream = gpu.stream().unwrap();
                    let mut words = stream.zeroed::<u32>(LEN).unwrap();
                    for _ in 0..EACH {
                        launch_add(&stream, &add, &mut words, 1);
                    }
                    let expected = vec![EACH as u32; LEN];
                    assert_eq!(stream.download(&words).unwrap(), expected);
                });
            }
        });
        gpu.synchronize().unwrap();
        gpu.write_trace().unwrap();
        let trace = read(path);
        let launches = named(&trace, "add");
        assert_eq!(launches.len(), 4 * EACH);
        let mut tracks: Vec<_> = launches.iter().map(|span| span["tid"].as_u64()).collect();
        tracks.sort();
        tracks.dedup();
        assert_eq!(tracks.len(), 4);
    });
}

#[test]
fn what_is_captured_is_no_work_and_what_libraries_do_is() {
    traced("foreign", |path| {
        let gpu = gpu();
        let module = module(&gpu);
        let add = add(&module);
        let mut stream = gpu.stream().unwrap();
        let mut words = stream.zeroed::<u32>(LEN).unwrap();
        let graph = stream.capture(|capture| {
            launch_add(capture, &add, &mut words, 1);
            Ok(())
        });
        drop(graph.unwrap());
        let mut work = ForeignWork::new("a library's work");
        let memory = work.writes(&stream, &mut words).unwrap();
        // SAFETY: nothing is enqueued.
        let enqueued: Result<()> = unsafe { work.enqueue(|| Ok(())) };
        enqueued.unwrap();
        assert_eq!(memory.len(), LEN);
        stream.synchronize().unwrap();
        gpu.write_trace().unwrap();
        let trace = read(path);
        assert!(named(&trace, "add").is_empty());
        let [span] = named(&trace, "a library's work")[..] else {
            panic!("{trace:#}")
        };
        assert_eq!(span["args"]["bytes"], 4000);
        assert_eq!(span["cat"], "library");
    });
}

#[test]
fn what_may_serialise_streams_is_marked() {
    // covers: STREAM-13
    traced("serialise", |path| {
        let gpu = gpu();
        let module = module(&gpu);
        let add = add(&module);
        let stream = gpu.stream().unwrap();
        let legacy = gpu.legacy_stream().unwrap();
        let mut words = stream.zeroed::<u32>(LEN).unwrap();
        let mut copy = stream.upload(&[1_u32; LEN]).unwrap();
        launch_add(&stream, &add, &mut words, 1);
        launch_add(&legacy, &add, &mut words, 1);
        stream.copy(&words, &mut copy).unwrap();
        stream.fill(&mut copy, 5).unwrap();
        let pinned = gpu.pinned::<u8>(77).unwrap();
        let unified = gpu.unified::<u8>(78).unwrap();
        gpu.synchronize().unwrap();
        gpu.write_trace().unwrap();
        drop((pinned, unified));

        let trace = read(path);
        let marked = |name: &str, bytes: Option<u64>| {
            let mut marks: Vec<_> = named(&trace, name)
                .iter()
                .filter(|span| bytes.is_none_or(|bytes| span["args"]["bytes"] == bytes))
                .map(|span| span["args"]["may_serialise"].as_str())
                .collect();
            marks.dedup();
            marks
        };
        for (call, bytes, why) in [
            ("cuMemHostAlloc", 77, "allocation of page-locked memory"),
            ("cuMemAllocManaged", 78, "allocation of device memory"),
            (
                "cuMemcpyDtoDAsync",
                4000,
                "copy within the memory of a device",
            ),
            ("cuMemsetAsync", 4000, "memory set of a device"),
        ] {
            assert_eq!(marked(call, Some(bytes)), [Some(why)], "{call}");
        }
        // Stream-ordered memory and copies from the host hold up nobody.
        assert_eq!(marked("cuMemAllocAsync", None), [None]);
        assert_eq!(marked("cuMemcpyHtoDAsync", None), [None]);
        let mut launches = marked("add", None);
        launches.sort();
        assert_eq!(launches, [None, Some("work of the null stream")]);
    });
}

#[test]
fn devices_are_processes_of_one_trace() {
    let path = path("devices");
    let variables = [
        (VARIABLE, path.to_str().expect("it is text")),
        ("WARPSMITH_DEVICE", "simulator"),
        ("WARPSMITH_SIMULATOR_DEVICES", "2"),
    ];
    in_own_process(&variables, || {
        let one = Gpu::open(DeviceChoice::Simulator).unwrap();
        let other = Gpu::open(DeviceChoice::SimulatorDevice(1)).unwrap();
        let (here, there) = (one.stream().unwrap(), other.stream().unwrap());
        let from = there.upload(&[7_u32; 100]).unwrap();
        let mut to = here.zeroed::<u32>(100).unwrap();
        here.copy_from_peer(&there, &from, &mut to).unwrap();
        let rectangle = from.matrix(10, 10).unwrap().region(2..5, 1..6);
        let mut target = to.matrix_mut(10, 10).unwrap();
        here.copy_matrix_from_peer(&there, &rectangle, &mut target.region_mut(0..3, 0..5))
            .unwrap();
        assert_eq!(here.download(&to).unwrap(), [7; 100]);
        one.synchronize().unwrap();
        other.synchronize().unwrap();
        one.write_trace().unwrap();
        let trace = read(&path);
        for (call, bytes) in [("cuMemcpyPeerAsync", 400), ("cuMemcpy3DPeerAsync", 60)] {
            let copies = named(&trace, call);
            assert_eq!(copies.len(), 2, "one in each stream: {trace:#}");
            assert_ne!(copies[0]["pid"], copies[1]["pid"]);
            for copy in copies {
                assert_eq!(
                    (copy["cat"].as_str(), copy["args"]["bytes"].as_u64()),
                    (Some("copy"), Some(bytes))
                );
            }
        }
        drop((from, to, here, there, one, other));
        std::fs::remove_file(&path).expect("the trace is there");
    });
}

#[test]
fn the_file_is_complete_at_any_time() {
    traced("complete", |path| {
        let gpu = gpu();
        assert!(spans(&read(path)).is_empty());
        let module = module(&gpu);
        let add = add(&module);
        let stream = gpu.stream().unwrap();
        let mut words = stream.zeroed::<u32>(LEN).unwrap();
        stream.synchronize().unwrap();
        let mut gate = Gate::new(&gpu, &module);
        gate.close(&stream);
        launch_add(&stream, &add, &mut words, 1);
        // What still runs is not waited for, and not in it.
        gpu.write_trace().unwrap();
        let trace = read(path);
        assert_eq!(named(&trace, "cuMemsetD8Async").len(), 1);
        assert!(named(&trace, "add").is_empty());
        gate.open();
        stream.synchronize().unwrap();
        gpu.write_trace().unwrap();
        assert_eq!(named(&read(path), "add").len(), 1);
        let folder = path.parent().expect("it has a folder");
        let own = path
            .file_name()
            .and_then(|name| name.to_str())
            .expect("it is text");
        let beside = std::fs::read_dir(folder)
            .unwrap()
            .flatten()
            .filter(|entry| {
                let name = entry.file_name();
                let name = name.to_string_lossy();
                name.starts_with(own) && name != own
            });
        assert_eq!(beside.count(), 0, "something is left beside the file");

        // A device that is opened again goes on in the same file.
        drop((gate, words, add, module, stream, gpu));
        let again = crate::common::gpu();
        let stream = again.stream().unwrap();
        let words = stream.upload(&[1_u8; 13]).unwrap();
        drop((words, stream, again));
        let trace = read(path);
        let copies = named(&trace, "cuMemcpyHtoDAsync");
        assert_eq!(copies.len(), 1);
        assert_eq!(named(&trace, "add").len(), 1);
    });
}

#[test]
fn sections_of_the_program_are_spans_of_their_threads() {
    traced("sections", |path| {
        let before = trace::range("before the device");
        let gpu = gpu();
        drop(before);
        let outer = trace::range("outer");
        let inner = trace::range(format!("inner {}", 1));
        let stream = gpu.stream().unwrap();
        let words = stream.upload(&[1_u8; 13]).unwrap();
        drop(inner);
        std::thread::spawn(|| drop(trace::range("elsewhere")))
            .join()
            .unwrap();
        std::mem::forget(trace::range("forgotten"));
        drop(outer);
        drop((words, stream, gpu));

        let trace = read(path);
        let section = |name: &str| {
            let [section] = named(&trace, name)[..] else {
                panic!("{name}: {trace:#}")
            };
            assert_eq!(section["cat"], "section");
            section
        };
        let program = section("outer")["pid"].clone();
        let names = events(&trace, "M").into_iter();
        let is_programs =
            |event: &&Value| event["pid"] == program && event["name"] == "process_name";
        let [name] = names.filter(is_programs).collect::<Vec<_>>()[..] else {
            panic!("{trace:#}")
        };
        assert_eq!(name["args"]["name"], "the program");
        let times = |name: &str| {
            let section = section(name);
            let start = number(&section["ts"]);
            (
                start,
                start + number(&section["dur"]),
                section["tid"].clone(),
            )
        };
        let (outer, inner, elsewhere) = (times("outer"), times("inner 1"), times("elsewhere"));
        assert!(
            outer.0 <= inner.0 && inner.1 <= outer.1,
            "{outer:?}, {inner:?}"
        );
        assert!(
            inner.1 <= elsewhere.0 && elsewhere.1 <= outer.1,
            "{elsewhere:?}"
        );
        assert_eq!(inner.2, outer.2);
        assert_ne!(elsewhere.2, outer.2);
        // The file begins with the device.
        assert_eq!(times("before the device").0, 0.0);
        assert!(named(&trace, "forgotten").is_empty());
    });
}

#[test]
fn a_fault_leaves_a_trace_of_what_was_before() {
    traced("fault", |path| {
        let gpu = gpu();
        let module = module(&gpu);
        let stray = module.untyped_kernel::<()>("stray").unwrap();
        let stream = gpu.stream().unwrap();
        let words = stream.upload(&[1_u8; 13]).unwrap();
        gpu.write_trace().unwrap();
        assert_eq!(named(&read(path), "cuMemcpyHtoDAsync").len(), 1);
        // SAFETY: it is not; the fault is what this is about.
        unsafe { stream.launch_untyped(&stray, Grid::new(1, 1), ()) }.unwrap();
        let error = stream.synchronize().unwrap_err();
        assert_eq!(error.code(), Some(Code::ILLEGAL_ADDRESS), "{error}");
        drop((words, stray, module, stream, gpu));
        let trace = read(path);
        assert_eq!(named(&trace, "cuMemcpyHtoDAsync").len(), 1);
        assert_ne!(trace["otherData"]["left_out"], 0);
    });
}

#[test]
fn the_name_may_have_the_number_of_the_process() {
    let pattern = path("%p");
    in_own_process(&[(VARIABLE, pattern.to_str().expect("it is text"))], || {
        drop(gpu());
        let name = pattern.to_str().expect("it is text");
        let path = PathBuf::from(name.replace("%p", &std::process::id().to_string()));
        assert!(spans(&read(&path)).is_empty());
        std::fs::remove_file(path).expect("it is there");
    });
}

#[test]
fn a_file_that_cannot_be_written_is_named() {
    in_own_process(&[(VARIABLE, "/no/such/folder/trace.json")], || {
        let error = Gpu::open_default().unwrap_err();
        let text = error.to_string();
        assert!(text.contains("/no/such/folder/trace.json"), "{text}");
        assert!(text.contains(VARIABLE), "{text}");
        assert!(
            error.hint().is_some_and(|hint| hint.contains("folder")),
            "{text}"
        );
    });
}

#[test]
fn without_the_variable_nothing_is_written() {
    in_own_process(&[(VARIABLE, "")], || {
        let gpu = gpu();
        gpu.write_trace().unwrap();
        assert!(!Path::new("").exists());
    });
}

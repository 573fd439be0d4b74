//! Things that depend on each other, dropped in every order: when their work is done, while it waits, while another stream is captured,
//! each on a thread of its own, and after a fault. The work is done all the same, and everything is given back.

mod common;

use std::any::Any;
use std::sync::{Mutex, MutexGuard, PoisonError};

use common::watch::Watch;
use common::{add, gpu, in_own_process, module};
use warpsmith_host::prelude::*;
use warpsmith_host::{Extent2, MappingAccess, PhysicalOptions, TextureOptions};
use warpsmith_testkit::ptx;

const LEN: usize = 100;

/// One test at a time: a GPU has few queues, which streams that are held up fill.
fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// One of the things, and what it is called.
struct Part {
    name: &'static str,
    // Kept for its drop.
    _thing: Box<dyn Any + Send>,
}

/// Things with work that ends in a word of the host's.
struct Scene {
    parts: Vec<Part>,
    /// All of its words are 7 when the work is done.
    result: MappedBuffer<u32>,
}

/// Makes the things, closes the gate if there is one, and enqueues their work behind it.
struct Kind {
    name: &'static str,
    parts: usize,
    make: fn(&Gpu, Gate<'_>) -> Result<Scene>,
}

/// What may hold the work up.
#[derive(Clone, Copy)]
struct Gate<'a>(Option<&'a Watch>);

impl Gate<'_> {
    /// Holds a stream up from here on.
    fn close(self, stream: &Stream) -> Result<()> {
        self.0.map_or(Ok(()), |watch| watch.hold_up(stream))
    }

    fn step(self, step: &str) {
        if let Some(watch) = self.0 {
            watch.step(step);
        }
    }
}

/// Enqueues work behind the gate, each piece as a step of its own.
macro_rules! enqueue {
    ($gate:ident: $($work:expr);+ $(;)?) => {
        $(
            $gate.step(stringify!($work));
            $work?;
        )+
    };
}

macro_rules! parts {
    ($($part:expr),+ $(,)?) => {
        vec![$(Part { name: stringify!($part), _thing: Box::new($part) }),+]
    };
}

fn stream_and_buffer(gpu: &Gpu, gate: Gate<'_>) -> Result<Scene> {
    let (stream, mut result) = (gpu.stream()?, gpu.mapped::<u32>(LEN)?);
    let words = stream.filled(LEN, 7_u32)?;
    gate.close(&stream)?;
    enqueue!(gate: stream.copy(&words, &mut result));
    Ok(Scene {
        parts: parts![stream, words],
        result,
    })
}

fn event_and_streams(gpu: &Gpu, gate: Gate<'_>) -> Result<Scene> {
    let (first, second) = (gpu.stream()?, gpu.stream()?);
    let (event, mut result) = (gpu.event_untimed()?, gpu.mapped::<u32>(LEN)?);
    let mut words = first.zeroed::<u32>(LEN)?;
    gate.close(&first)?;
    enqueue!(gate:
        first.fill(&mut words, 7);
        first.record(&event);
        second.wait(&event);
        second.copy(&words, &mut result));
    Ok(Scene {
        parts: parts![first, event, second, words],
        result,
    })
}

fn graph_and_buffer(gpu: &Gpu, gate: Gate<'_>) -> Result<Scene> {
    let (stream, mut result) = (gpu.stream()?, gpu.mapped::<u32>(LEN)?);
    let words = stream.filled(LEN, 7_u32)?;
    let mut graph = gpu.graph()?;
    graph.copy(&words, &mut result)?;
    let mut exec = graph.instantiate()?;
    gate.close(&stream)?;
    enqueue!(gate: exec.launch(&stream));
    Ok(Scene {
        parts: parts![stream, words, graph, exec],
        result,
    })
}

fn module_and_graph(gpu: &Gpu, gate: Gate<'_>) -> Result<Scene> {
    let (stream, mut result) = (gpu.stream()?, gpu.mapped::<u32>(LEN)?);
    let module = module(gpu);
    let add = add(&module);
    let mut words = stream.filled(LEN, 3_u32)?;
    let mut graph = gpu.graph()?;
    // SAFETY: the entry takes a slice and a number, and writes only the slice.
    unsafe { graph.kernel_untyped(&add, Grid::cover(LEN, 128), (&mut words, 4)) }?;
    graph.copy(&words, &mut result)?;
    let mut exec = graph.instantiate()?;
    gate.close(&stream)?;
    enqueue!(gate: exec.launch(&stream));
    Ok(Scene {
        parts: parts![module, add, exec, (stream, words)],
        result,
    })
}

fn pool_and_buffer(gpu: &Gpu, gate: Gate<'_>) -> Result<Scene> {
    let (stream, mut result) = (gpu.stream()?, gpu.mapped::<u32>(LEN)?);
    let pool = gpu.pool(Default::default())?;
    let words = stream.alloc_from(&pool)?.filled(LEN, 7_u32)?;
    gate.close(&stream)?;
    enqueue!(gate: stream.copy(&words, &mut result));
    Ok(Scene {
        parts: parts![stream, pool, words],
        result,
    })
}

/// An entry that takes a texture.
const TAKES: &str = ptx!(
    "7.8",
    "sm_80",
    ".visible .entry takes(.param .u64 texture) { ret; }"
);

fn array_and_texture(gpu: &Gpu, gate: Gate<'_>) -> Result<Scene> {
    let (stream, mut result) = (gpu.stream()?, gpu.mapped::<u32>(LEN)?);
    let kernel = gpu
        .load(TAKES)?
        .untyped_kernel::<(TextureObject,)>("takes")?;
    let extents = Extent2 {
        width: LEN,
        height: 1,
    };
    let image = stream.array(&[7_u32; LEN], extents)?;
    let texture = image.texture(TextureOptions::default())?;
    gate.close(&stream)?;
    enqueue!(gate:
        // SAFETY: the entry does nothing.
        unsafe { stream.launch_untyped(&kernel, Grid::new(1, 1), (&texture,)) };
        stream.copy_from_array(&image, &mut result));
    Ok(Scene {
        parts: parts![stream, image, texture, kernel],
        result,
    })
}

fn virtual_memory(gpu: &Gpu, gate: Gate<'_>) -> Result<Scene> {
    let (stream, mut result) = (gpu.stream()?, gpu.mapped::<u32>(LEN)?);
    let memory = gpu.physical_memory(1, PhysicalOptions::default())?;
    // SAFETY: what is read is written before.
    let mut words = unsafe { memory.map::<u32>(MappingAccess::ReadWrite)? };
    let mut growable = gpu.growable::<u32>(LEN)?;
    stream.grow_zeroed(&mut growable, LEN)?;
    gate.close(&stream)?;
    enqueue!(gate:
        stream.fill(&mut words, 7);
        stream.copy(&words.slice(..LEN), &mut growable);
        stream.copy(&growable, &mut result));
    Ok(Scene {
        parts: parts![stream, memory, words, growable],
        result,
    })
}

fn host_memory(gpu: &Gpu, gate: Gate<'_>) -> Result<Scene> {
    let (stream, mut result) = (gpu.stream()?, gpu.mapped::<u32>(LEN)?);
    let registered = gpu.register(vec![7_u32; LEN])?;
    let mut pinned = gpu.pinned::<u32>(LEN)?;
    let (mut there, mut words) = (stream.zeroed::<u32>(LEN)?, stream.zeroed::<u32>(LEN)?);
    gate.close(&stream)?;
    enqueue!(gate:
        stream.copy(&registered, &mut there);
        stream.copy_to_host(&there, &mut pinned);
        stream.copy_from_host(&pinned, &mut words);
        stream.copy(&words, &mut result));
    Ok(Scene {
        parts: parts![(stream, there, words), registered, pinned],
        result,
    })
}

fn fork_and_futures(gpu: &Gpu, gate: Gate<'_>) -> Result<Scene> {
    let (stream, mut result) = (gpu.stream()?, gpu.mapped::<u32>(LEN)?);
    let words = stream.filled(LEN, 7_u32)?;
    let profiler = gpu.start_profiler()?;
    gate.close(&stream)?;
    gate.step("forking the stream");
    let branch = stream.fork()?;
    gate.step("awaiting an event");
    let arrival = stream.record_event()?.completion()?;
    enqueue!(gate:
        branch.copy(&words, &mut result);
        stream.join(&branch));
    Ok(Scene {
        parts: parts![(stream, words), branch, arrival, profiler],
        result,
    })
}

const KINDS: [Kind; 9] = [
    Kind {
        name: "a stream and a buffer",
        parts: 2,
        make: stream_and_buffer,
    },
    Kind {
        name: "an event and streams",
        parts: 4,
        make: event_and_streams,
    },
    Kind {
        name: "a graph and a buffer",
        parts: 4,
        make: graph_and_buffer,
    },
    Kind {
        name: "a module and a graph",
        parts: 4,
        make: module_and_graph,
    },
    Kind {
        name: "a pool and a buffer",
        parts: 3,
        make: pool_and_buffer,
    },
    Kind {
        name: "an array and a texture",
        parts: 4,
        make: array_and_texture,
    },
    Kind {
        name: "virtual memory",
        parts: 4,
        make: virtual_memory,
    },
    Kind {
        name: "memory of the host",
        parts: 3,
        make: host_memory,
    },
    Kind {
        name: "a fork and futures",
        parts: 4,
        make: fork_and_futures,
    },
];

/// All orders of so many things.
fn orders(count: usize) -> Vec<Vec<usize>> {
    let Some(last) = count.checked_sub(1) else {
        return vec![Vec::new()];
    };
    let shorter = orders(last);
    let with_last = |order: &Vec<usize>| {
        let order = order.clone();
        (0..count).map(move |at| {
            let mut order = order.clone();
            order.insert(at, last);
            order
        })
    };
    shorter.iter().flat_map(with_last).collect()
}

/// The parts in this order.
fn in_order(parts: Vec<Part>, order: &[usize]) -> Vec<Part> {
    let mut parts: Vec<Option<Part>> = parts.into_iter().map(Some).collect();
    let take = |&index: &usize| parts[index].take().expect("each comes once");
    order.iter().map(take).collect()
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum When {
    Done,
    Waiting,
    InACapture,
    OnThreads,
}

/// Drops the things in their order, each as a step.
fn drop_all(gate: Gate<'_>, parts: Vec<Part>, drop: impl Fn(Part)) {
    for part in parts {
        gate.step(&format!("dropping {}", part.name));
        drop(part);
    }
}

/// Drops the things while nothing else goes on, and lets the work go on.
fn drop_parts(
    gpu: &Gpu,
    when: When,
    watch: &Watch,
    gate: Gate<'_>,
    parts: Vec<Part>,
) -> Result<bool> {
    match when {
        When::Done | When::Waiting => drop_all(gate, parts, drop),
        When::OnThreads => drop_all(gate, parts, |part| {
            let thread = std::thread::spawn(move || drop(part));
            thread.join().expect("no panic");
        }),
        When::InACapture => {
            gate.step("making a stream to capture");
            let mut stream = gpu.stream()?;
            gate.step("allocating in it");
            let mut words = stream.zeroed::<u32>(LEN)?;
            gate.step("beginning the capture");
            let graph = stream.capture(|capture| {
                capture.fill(&mut words, 1)?;
                drop_all(gate, parts, drop);
                gate.step("capturing a fill");
                capture.fill(&mut words, 2)
            })?;
            assert_eq!(graph.node_count()?, 2);
            gate.step("instantiating what was captured");
            let mut exec = graph.instantiate()?;
            gate.step("launching it");
            exec.launch(&stream)?;
            gate.step("downloading what it has filled");
            assert_eq!(stream.download(&words)?, [2; LEN]);
            gate.step("dropping the graphs, the buffer and the stream");
        }
    }
    Ok(watch.let_go())
}

fn every_order(when: When) -> Result<()> {
    let (gpu, watch) = (gpu(), Watch::new());
    let gate = Gate((when != When::Done).then_some(&watch));
    let held = || -> Result<_> {
        gpu.synchronize()?;
        // What is free on a GPU is not this process's alone.
        let free = gpu.is_simulator().then(|| gpu.memory_info());
        let free = free.transpose()?.map(|memory| memory.free);
        Ok((free, gpu.default_pool()?.usage()?.used))
    };
    let mut found = Vec::new();
    for kind in &KINDS {
        // What the first one makes for good is made.
        drop((kind.make)(&gpu, Gate(None))?);
        let before = held()?;
        for order in orders(kind.parts) {
            let what = format!("{}, {when:?}, in the order {order:?}", kind.name);
            watch.begin(what.clone());
            gate.step("making what comes before the gate");
            let scene = (kind.make)(&gpu, gate)?;
            if when == When::Done {
                gpu.synchronize()?;
            }
            let all_ended = drop_parts(&gpu, when, &watch, gate, in_order(scene.parts, &order))?;
            gpu.synchronize()?;
            assert_eq!(*scene.result.host()?, [7; LEN], "{what}");
            drop(scene.result);
            assert_eq!(held()?, before, "{what}");
            if !all_ended {
                // Each further order would take as long.
                found.append(&mut watch.take_found());
                break;
            }
        }
    }
    assert!(found.is_empty(), "these wait for the work: {found:#?}");
    Ok(())
}

#[test]
fn when_the_work_is_done() -> Result<()> {
    let _turn = turn();
    every_order(When::Done)
}

#[test]
fn while_the_work_waits() -> Result<()> {
    let _turn = turn();
    every_order(When::Waiting)
}

#[test]
fn while_another_stream_is_captured() -> Result<()> {
    let _turn = turn();
    every_order(When::InACapture)
}

#[test]
fn on_threads_of_their_own() -> Result<()> {
    let _turn = turn();
    every_order(When::OnThreads)
}

/// Nothing can be freed any more, and nobody wants to read a line for each; but all of it goes.
#[test]
fn after_a_fault() {
    let output = in_own_process(&[("WARPSMITH_REPORT", "0")], || {
        let gpu = gpu();
        let stray = module(&gpu).untyped_kernel::<()>("stray").expect("stray");
        let mut scenes = Vec::new();
        for kind in &KINDS {
            for order in orders(kind.parts) {
                let scene = (kind.make)(&gpu, Gate(None)).expect(kind.name);
                scenes.push((in_order(scene.parts, &order), scene.result));
            }
        }
        let stream = gpu.stream().expect("a stream");
        // SAFETY: it is not; the fault is what this is about.
        unsafe { stream.launch_untyped(&stray, Grid::new(1, 1), ()) }.expect("a launch");
        stream.synchronize().expect_err("the fault");
        for (parts, result) in scenes {
            parts.into_iter().for_each(drop);
            drop(result);
        }
    });
    if let Some(output) = output {
        assert!(!output.contains("while dropping"), "{output}");
    }
}

#[test]
fn there_are_all_orders() {
    assert_eq!(orders(0), [[0; 0]]);
    let mut three = orders(3);
    three.sort();
    three.dedup();
    assert_eq!(three.len(), 6);
    for kind in &KINDS {
        assert!((2..=4).contains(&kind.parts), "{}", kind.name);
    }
}

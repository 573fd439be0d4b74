//! Things that depend on each other, dropped in every order: when their work is done, while it waits, while another stream is captured,
//! each on a thread of its own, and after a fault. The work is done all the same, and everything is given back.

mod common;

use std::any::Any;
use std::sync::mpsc::Sender;
use std::sync::{Mutex, MutexGuard, PoisonError};

use common::{add, gpu, hold_up, in_own_process, module};
use warpsmith_host::prelude::*;
use warpsmith_host::{Extent2, MappingAccess, PhysicalOptions, TextureOptions};
use warpsmith_testkit::ptx;

const LEN: usize = 100;

/// One test at a time: a GPU has few queues, which streams that are held up fill.
fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

type Part = Box<dyn Any + Send>;

/// Things with work that ends in a word of the host's.
struct Scene {
    parts: Vec<Part>,
    /// All of its words are 7 when the work is done.
    result: MappedBuffer<u32>,
    /// Holds the work up until it is dropped.
    gate: Option<Sender<()>>,
}

/// Makes the things, closes a gate if it is told so, and enqueues their work behind it.
struct Kind {
    name: &'static str,
    parts: usize,
    make: fn(&Gpu, bool) -> Result<Scene>,
}

fn gate(stream: &Stream, closed: bool) -> Result<Option<Sender<()>>> {
    closed.then(|| hold_up(stream)).transpose()
}

macro_rules! parts {
    ($($part:expr),+ $(,)?) => {
        vec![$(Box::new($part) as Part),+]
    };
}

fn stream_and_buffer(gpu: &Gpu, closed: bool) -> Result<Scene> {
    let (stream, mut result) = (gpu.stream()?, gpu.mapped::<u32>(LEN)?);
    let words = stream.filled(LEN, 7_u32)?;
    let gate = gate(&stream, closed)?;
    stream.copy(&words, &mut result)?;
    Ok(Scene {
        parts: parts![stream, words],
        result,
        gate,
    })
}

fn event_and_streams(gpu: &Gpu, closed: bool) -> Result<Scene> {
    let (first, second) = (gpu.stream()?, gpu.stream()?);
    let (event, mut result) = (gpu.event_untimed()?, gpu.mapped::<u32>(LEN)?);
    let mut words = first.zeroed::<u32>(LEN)?;
    let gate = gate(&first, closed)?;
    first.fill(&mut words, 7)?;
    first.record(&event)?;
    second.wait(&event)?;
    second.copy(&words, &mut result)?;
    Ok(Scene {
        parts: parts![first, event, second, words],
        result,
        gate,
    })
}

fn graph_and_buffer(gpu: &Gpu, closed: bool) -> Result<Scene> {
    let (stream, mut result) = (gpu.stream()?, gpu.mapped::<u32>(LEN)?);
    let words = stream.filled(LEN, 7_u32)?;
    let mut graph = gpu.graph()?;
    graph.copy(&words, &mut result)?;
    let mut exec = graph.instantiate()?;
    let gate = gate(&stream, closed)?;
    exec.launch(&stream)?;
    Ok(Scene {
        parts: parts![stream, words, graph, exec],
        result,
        gate,
    })
}

fn module_and_graph(gpu: &Gpu, closed: bool) -> Result<Scene> {
    let (stream, mut result) = (gpu.stream()?, gpu.mapped::<u32>(LEN)?);
    let module = module(gpu);
    let add = add(&module);
    let mut words = stream.filled(LEN, 3_u32)?;
    let mut graph = gpu.graph()?;
    // SAFETY: the entry takes a slice and a number, and writes only the slice.
    unsafe { graph.kernel_untyped(&add, Grid::cover(LEN, 128), (&mut words, 4)) }?;
    graph.copy(&words, &mut result)?;
    let mut exec = graph.instantiate()?;
    let gate = gate(&stream, closed)?;
    exec.launch(&stream)?;
    Ok(Scene {
        parts: parts![module, add, exec, (stream, words)],
        result,
        gate,
    })
}

fn pool_and_buffer(gpu: &Gpu, closed: bool) -> Result<Scene> {
    let (stream, mut result) = (gpu.stream()?, gpu.mapped::<u32>(LEN)?);
    let pool = gpu.pool(Default::default())?;
    let words = stream.alloc_from(&pool)?.filled(LEN, 7_u32)?;
    let gate = gate(&stream, closed)?;
    stream.copy(&words, &mut result)?;
    Ok(Scene {
        parts: parts![stream, pool, words],
        result,
        gate,
    })
}

/// An entry that takes a texture.
const TAKES: &str = ptx!(
    "7.8",
    "sm_80",
    ".visible .entry takes(.param .u64 texture) { ret; }"
);

fn array_and_texture(gpu: &Gpu, closed: bool) -> Result<Scene> {
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
    let gate = gate(&stream, closed)?;
    // SAFETY: the entry does nothing.
    unsafe { stream.launch_untyped(&kernel, Grid::new(1, 1), (&texture,)) }?;
    stream.copy_from_array(&image, &mut result)?;
    Ok(Scene {
        parts: parts![stream, image, texture, kernel],
        result,
        gate,
    })
}

fn virtual_memory(gpu: &Gpu, closed: bool) -> Result<Scene> {
    let (stream, mut result) = (gpu.stream()?, gpu.mapped::<u32>(LEN)?);
    let memory = gpu.physical_memory(1, PhysicalOptions::default())?;
    // SAFETY: what is read is written before.
    let mut words = unsafe { memory.map::<u32>(MappingAccess::ReadWrite)? };
    let mut growable = gpu.growable::<u32>(LEN)?;
    stream.grow_zeroed(&mut growable, LEN)?;
    let gate = gate(&stream, closed)?;
    stream.fill(&mut words, 7)?;
    stream.copy(&words.slice(..LEN), &mut growable)?;
    stream.copy(&growable, &mut result)?;
    Ok(Scene {
        parts: parts![stream, memory, words, growable],
        result,
        gate,
    })
}

fn host_memory(gpu: &Gpu, closed: bool) -> Result<Scene> {
    let (stream, mut result) = (gpu.stream()?, gpu.mapped::<u32>(LEN)?);
    let registered = gpu.register(vec![7_u32; LEN])?;
    let mut pinned = gpu.pinned::<u32>(LEN)?;
    let mut words = stream.zeroed::<u32>(LEN)?;
    let gate = gate(&stream, closed)?;
    stream.copy_to_host(&registered, &mut pinned)?;
    stream.copy_from_host(&pinned, &mut words)?;
    stream.copy(&words, &mut result)?;
    Ok(Scene {
        parts: parts![(stream, words), registered, pinned],
        result,
        gate,
    })
}

const KINDS: [Kind; 8] = [
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

fn drop_parts(gpu: &Gpu, when: When, parts: Vec<Part>) -> Result<()> {
    match when {
        When::Done | When::Waiting => parts.into_iter().for_each(drop),
        When::OnThreads => {
            for part in parts {
                let thread = std::thread::spawn(move || drop(part));
                thread.join().expect("no panic");
            }
        }
        When::InACapture => {
            let mut stream = gpu.stream()?;
            let mut words = stream.zeroed::<u32>(LEN)?;
            let graph = stream.capture(|capture| {
                capture.fill(&mut words, 1)?;
                parts.into_iter().for_each(drop);
                capture.fill(&mut words, 2)
            })?;
            assert_eq!(graph.node_count()?, 2);
            graph.instantiate()?.launch(&stream)?;
            assert_eq!(stream.download(&words)?, [2; LEN]);
        }
    }
    Ok(())
}

fn every_order(when: When) -> Result<()> {
    let gpu = gpu();
    let held = || -> Result<_> {
        gpu.synchronize()?;
        // What is free on a GPU is not this process's alone.
        let free = gpu.is_simulator().then(|| gpu.memory_info());
        let free = free.transpose()?.map(|memory| memory.free);
        Ok((free, gpu.default_pool()?.usage()?.used))
    };
    for kind in &KINDS {
        // What the first one makes for good is made.
        drop((kind.make)(&gpu, false)?);
        let before = held()?;
        for order in orders(kind.parts) {
            let scene = (kind.make)(&gpu, when != When::Done)?;
            if when == When::Done {
                gpu.synchronize()?;
            }
            drop_parts(&gpu, when, in_order(scene.parts, &order))?;
            drop(scene.gate);
            gpu.synchronize()?;
            let what = format!("{}, {when:?}, in the order {order:?}", kind.name);
            assert_eq!(*scene.result.host()?, [7; LEN], "{what}");
            drop(scene.result);
            assert_eq!(held()?, before, "{what}");
        }
    }
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
                let scene = (kind.make)(&gpu, false).expect(kind.name);
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

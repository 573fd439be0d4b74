//! Random programs on several streams against a model on the host: whatever the order in which streams get on, the results are those
//! of the program's text.

mod common;

use common::{Add, add, gpu, launch_add, module};
use warpsmith_host::CopyBatch;
use warpsmith_host::prelude::*;
use warpsmith_host::{ChildNode, KernelNode};
use warpsmith_testkit::Random;

const LEN: usize = 96;

/// One program: buffers with what they should hold, and streams to do it in.
struct Program<'a> {
    random: Random,
    add: &'a Add,
    gpu: &'a Gpu,
    streams: Vec<Stream>,
    buffers: Vec<(DeviceBuffer<u32>, Vec<u32>)>,
    pinned: Vec<(PinnedBuffer<u32>, Vec<u32>)>,
    graphs: Vec<Adding>,
}

/// An executable graph that adds a value to a buffer by a kernel, and another value to another buffer by a kernel in a child graph.
struct Adding {
    exec: GraphExec,
    own: (KernelNode, usize, u32),
    child: (ChildNode, usize, u32),
    is_enabled: bool,
}

/// A graph that adds a value to a buffer.
fn adding(
    gpu: &Gpu,
    add: &Add,
    buffer: &mut DeviceBuffer<u32>,
    value: u32,
) -> Result<(Graph, KernelNode)> {
    let mut graph = gpu.graph()?;
    let grid = Grid::cover(LEN, 32);
    // SAFETY: the entry takes a slice and a number, and writes only the slice.
    let node = unsafe { graph.kernel_untyped(add, grid, (buffer, value)) }?;
    Ok((graph, node))
}

impl Program<'_> {
    fn two(&mut self, n: usize) -> (usize, usize) {
        let one = self.random.index(n);
        (one, (one + 1 + self.random.index(n - 1)) % n)
    }

    fn step(&mut self) -> Result<()> {
        let stream = self.random.index(self.streams.len());
        let value = self.random.below(1000);
        let b = self.random.index(self.buffers.len());
        let (start, end) = {
            let (one, two) = (self.random.index(LEN), self.random.index(LEN));
            (one.min(two), one.max(two) + 1)
        };
        let stream_ref = &self.streams[stream];
        match self.random.index(15) {
            0 | 1 => {
                launch_add(stream_ref, self.add, &mut self.buffers[b].0, value);
                self.buffers[b].1.iter_mut().for_each(|x| *x += value);
            }
            2 => {
                stream_ref.fill(&mut self.buffers[b].0.slice_mut(start..end), value)?;
                self.buffers[b].1[start..end].fill(value);
            }
            3 => {
                let (from, to) = self.two(self.buffers.len());
                let [(from, source), (to, target)] = self
                    .buffers
                    .get_disjoint_mut([from, to])
                    .expect("two buffers");
                self.streams[stream]
                    .copy(&from.slice(start..end), &mut to.slice_mut(start..end))?;
                target[start..end].copy_from_slice(&source[start..end]);
            }
            4 => {
                // Halves, each in a stream of its own.
                let other = &self.streams[(stream + 1) % self.streams.len()];
                let (buffer, expected) = &mut self.buffers[b];
                let (mut left, mut right) = buffer.slice_mut(..).split_at_mut(start);
                stream_ref.fill(&mut right, value)?;
                other.fill(&mut left, value + 1)?;
                expected[..start].fill(value + 1);
                expected[start..].fill(value);
            }
            5 => {
                // A new buffer for an old one, which may still be in use.
                self.buffers[b] = (stream_ref.filled(LEN, value)?, vec![value; LEN]);
                self.graphs
                    .retain(|graph| graph.own.1 != b && graph.child.1 != b);
            }
            6 => {
                let p = self.random.index(self.pinned.len());
                let (pinned, expected) = &mut self.pinned[p];
                self.streams[stream].copy_to_host(&self.buffers[b].0, pinned)?;
                expected.copy_from_slice(&self.buffers[b].1);
            }
            7 => {
                let p = self.random.index(self.pinned.len());
                let (pinned, contents) = &mut self.pinned[p];
                if pinned.host_mut().is_err() {
                    self.gpu.synchronize()?;
                }
                assert_eq!(*pinned.host()?, contents[..]);
                pinned.host_mut()?.fill(value);
                contents.fill(value);
                self.streams[stream].copy_from_host(pinned, &mut self.buffers[b].0)?;
                self.buffers[b].1.fill(value);
            }
            8 if self.graphs.len() < 3 => {
                let (own, child) = self.two(self.buffers.len());
                let (inner, _) = adding(self.gpu, self.add, &mut self.buffers[child].0, value + 1)?;
                let (mut graph, node) =
                    adding(self.gpu, self.add, &mut self.buffers[own].0, value)?;
                let inside = graph.child(&inner)?;
                self.graphs.push(Adding {
                    exec: graph.instantiate()?,
                    own: (node, own, value),
                    child: (inside, child, value + 1),
                    is_enabled: true,
                });
            }
            9 if !self.graphs.is_empty() => {
                // A change while launches are under way: of what is added to what.
                let g = self.random.index(self.graphs.len());
                let which = self.random.index(3);
                let graph = &mut self.graphs[g];
                let buffer = &mut self.buffers[b].0;
                match which {
                    0 => {
                        let grid = Grid::cover(LEN, 32);
                        let arguments = (buffer, value);
                        // SAFETY: the entry takes a slice and a number, and writes only the slice.
                        let changed = unsafe {
                            graph
                                .exec
                                .set_kernel_untyped(graph.own.0, self.add, grid, arguments)
                        };
                        // The two nodes have no edge, so they cannot come to use the same memory.
                        assert_eq!(changed.is_err(), b == graph.child.1, "{changed:?}");
                        if changed.is_ok() {
                            graph.own = (graph.own.0, b, value);
                        }
                    }
                    1 => {
                        let (other, _) = adding(self.gpu, self.add, buffer, value)?;
                        let changed = graph.exec.set_child(graph.child.0, &other);
                        assert_eq!(changed.is_err(), b == graph.own.1, "{changed:?}");
                        if changed.is_ok() {
                            graph.child = (graph.child.0, b, value);
                        }
                    }
                    _ => {
                        graph.is_enabled = !graph.is_enabled;
                        graph.exec.set_enabled(graph.own.0, graph.is_enabled)?;
                    }
                }
            }
            10 => {
                // Parts of page-locked memory, there or back.
                let p = self.random.index(self.pinned.len());
                let (pinned, contents) = &mut self.pinned[p];
                let (buffer, expected) = &mut self.buffers[b];
                if value.is_multiple_of(2) {
                    let source = pinned.slice(start..end);
                    stream_ref.copy_from_host(&source, &mut buffer.slice_mut(start..end))?;
                    expected[start..end].copy_from_slice(&contents[start..end]);
                } else {
                    let mut target = pinned.slice_mut(start..end);
                    stream_ref.copy_to_host(&buffer.slice(start..end), &mut target)?;
                    contents[start..end].copy_from_slice(&expected[start..end]);
                }
            }
            11 => {
                // The host has a part, whatever becomes of the rest.
                let p = self.random.index(self.pinned.len());
                let (pinned, contents) = &mut self.pinned[p];
                let mut part = pinned.slice_mut(start..end);
                if part.host_mut().is_err() {
                    self.gpu.synchronize()?;
                }
                assert_eq!(*part.host()?, contents[start..end]);
                part.host_mut()?.fill(value);
                contents[start..end].fill(value);
            }
            12 => {
                // Two copies at a time, between halves.
                let p = self.random.index(self.pinned.len());
                let (pinned, contents) = &mut self.pinned[p];
                let (buffer, expected) = &mut self.buffers[b];
                let (mut left, right) = buffer.slice_mut(..).split_at_mut(start);
                let (source, mut target) = pinned.slice_mut(..).split_at_mut(start);
                let mut batch = CopyBatch::new();
                batch.copy_from_host(&source, &mut left)?;
                batch.copy_to_host(&right, &mut target)?;
                stream_ref.copy_batch(batch)?;
                expected[..start].copy_from_slice(&contents[..start]);
                contents[start..].copy_from_slice(&expected[start..]);
            }
            13 => {
                // A capture of two streams, with memory of its own that they free for each other.
                let (main, side) = self.two(self.streams.len());
                let launched = self.random.index(self.streams.len());
                let add = self.add;
                let (buffer, expected) = &mut self.buffers[b];
                let [main, side] = self
                    .streams
                    .get_disjoint_mut([main, side])
                    .expect("two streams");
                let graph = main.capture(|capture| {
                    let side = capture.fork(side)?;
                    let mut scratch = capture.filled(LEN, value)?;
                    let table = side.upload(&[value + 5; LEN])?;
                    launch_add(side, add, &mut scratch, 1);
                    capture.copy(&table.slice(start..end), &mut scratch.slice_mut(start..end))?;
                    capture.free(side, table)?;
                    side.copy(&scratch, buffer)?;
                    launch_add(capture, add, buffer, 2);
                    capture.free(capture.stream(), scratch)
                })?;
                graph.instantiate()?.launch(&self.streams[launched])?;
                expected.fill(value + 3);
                expected[start..end].fill(value + 7);
            }
            _ if !self.graphs.is_empty() => {
                let g = self.random.index(self.graphs.len());
                let graph = &mut self.graphs[g];
                graph.exec.launch(&self.streams[stream])?;
                let own = graph.is_enabled.then_some((graph.own.1, graph.own.2));
                for (buffer, value) in own.into_iter().chain([(graph.child.1, graph.child.2)]) {
                    self.buffers[buffer].1.iter_mut().for_each(|x| *x += value);
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn check(&mut self, seed: u64) -> Result<()> {
        for (i, (buffer, expected)) in self.buffers.iter().enumerate() {
            let stream = self.random.index(self.streams.len());
            assert_eq!(
                &self.streams[stream].download(buffer)?,
                expected,
                "buffer {i} of program {seed}"
            );
        }
        Ok(())
    }
}

// covers: STREAM-08, POOL-05, GRAPH-20, GRAPH-54
#[test]
fn programs_do_what_their_text_says() -> Result<()> {
    let gpu = gpu();
    let module = module(&gpu);
    let add = add(&module);
    for seed in 1..=12 {
        let streams = (0..4).map(|_| gpu.stream()).collect::<Result<Vec<_>>>()?;
        let buffers = (0..4)
            .map(|i| Ok((streams[i].filled(LEN, i as u32)?, vec![i as u32; LEN])))
            .collect::<Result<Vec<_>>>()?;
        let pinned = (0..2)
            .map(|_| Ok((gpu.pinned(LEN)?, vec![0; LEN])))
            .collect::<Result<Vec<_>>>()?;
        let random = Random::new(seed);
        let mut program = Program {
            random,
            add: &add,
            gpu: &gpu,
            streams,
            buffers,
            pinned,
            graphs: Vec::new(),
        };
        for step in 0..150 {
            program.step()?;
            if step % 50 == 49 {
                program.check(seed)?;
            }
        }
    }
    Ok(())
}

/// Many threads read one buffer, each in its own stream, while the owner goes on to write it as soon as they have *enqueued* their
/// reading.
#[test]
fn readers_in_many_threads_come_before_the_next_write() -> Result<()> {
    let gpu = gpu();
    let module = module(&gpu);
    let add = add(&module);
    let owner = gpu.stream()?;
    let streams = (0..4).map(|_| gpu.stream()).collect::<Result<Vec<_>>>()?;
    let mut source = owner.zeroed::<u32>(4096)?;
    for round in 0..20 {
        let copies = std::thread::scope(|scope| {
            let readers: Vec<_> = streams
                .iter()
                .map(|stream| {
                    let source = &source;
                    scope.spawn(move || stream.duplicate(source).expect("copy"))
                })
                .collect();
            readers
                .into_iter()
                .map(|reader| reader.join().expect("reader"))
                .collect::<Vec<_>>()
        });
        launch_add(&owner, &add, &mut source, 1);
        for (stream, copy) in streams.iter().zip(&copies) {
            assert_eq!(stream.download(copy)?, vec![round; 4096]);
        }
    }
    Ok(())
}

/// A graph may be launched by one thread while another uses the graph's memory directly: neither has a borrow that keeps the other
/// out, so checking and enqueueing must be one step.
#[test]
fn a_graph_and_direct_launches_from_two_threads() -> Result<()> {
    let gpu = gpu();
    let module = module(&gpu);
    let add = add(&module);
    let (one, two) = (gpu.stream()?, gpu.stream()?);
    let mut buffer = one.zeroed::<u32>(4096)?;
    let mut graph = gpu.graph()?;
    // SAFETY: the entry takes a slice and a number, and writes only the slice.
    unsafe { graph.kernel_untyped(&add, Grid::cover(4096, 128), (&mut buffer, 1))? };
    let mut ready = graph.instantiate()?;
    const ROUNDS: u32 = 200;
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..ROUNDS {
                ready.launch(&two).expect("graph");
            }
        });
        for _ in 0..ROUNDS {
            launch_add(&one, &add, &mut buffer, 1);
        }
    });
    // `y[i] += 1` loses what runs beside it.
    assert_eq!(one.download(&buffer)?, [2 * ROUNDS; 4096]);
    Ok(())
}

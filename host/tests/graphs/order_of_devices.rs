//! Random programs on streams of two devices, with graphs that each of the streams launches, against a model on the host: the results are those of
//! the program's text. With two simulated devices the order of all work is checked.

use crate::common::two::with_two;
use crate::common::{Add, add, add_node, hold_up, launch_add, module, open_soon};
use warpsmith_host::PeerAccess;
use warpsmith_host::prelude::*;
use warpsmith_testkit::Random;

const LEN: usize = 64;
/// Of each kind, on each device.
const EACH: usize = 2;

/// What is of one device, with what the buffers should hold.
struct Side {
    gpu: Gpu,
    add: Add,
    streams: Vec<Stream>,
    buffers: Vec<(DeviceBuffer<u32>, u32)>,
    /// The other device may use its memory.
    access: PeerAccess,
}

impl Side {
    fn new(gpu: &Gpu, other: &Gpu) -> Result<Side> {
        let streams = (0..EACH)
            .map(|_| gpu.stream())
            .collect::<Result<Vec<_>>>()?;
        let buffers = streams.iter().map(|stream| Ok((stream.zeroed(LEN)?, 0)));
        Ok(Side {
            buffers: buffers.collect::<Result<_>>()?,
            add: add(&module(gpu)),
            access: gpu.default_pool()?.allow_peer(other)?,
            gpu: gpu.clone(),
            streams,
        })
    }
}

/// A graph that adds to a buffer of one device, copies that to one of the other device, and adds there.
struct Ready {
    exec: GraphExec,
    /// Device and buffer, and what is added.
    first: (usize, usize, u32),
    second: (usize, usize, u32),
}

struct Program {
    random: Random,
    sides: [Side; 2],
    graphs: Vec<Ready>,
}

impl Program {
    fn make_graph(&mut self) -> Result<()> {
        let [device, own] = [2, 2].map(|count| self.random.index(count));
        let [from, to] = [EACH, EACH].map(|count| self.random.index(count));
        let [one, two] = [self.random.below(100), self.random.below(100)];
        let [first, second] = match device {
            0 => self.sides.each_mut(),
            _ => {
                let [first, second] = self.sides.each_mut();
                [second, first]
            }
        };
        // Made by either device.
        let mut graph = match own {
            0 => first.gpu.graph()?,
            _ => second.gpu.graph()?,
        };
        let (source, target) = (&mut first.buffers[from].0, &mut second.buffers[to].0);
        add_node(&mut graph, &first.add, source, one);
        graph.copy(&first.access.view(source)?, target)?;
        add_node(&mut graph, &second.add, target, two);
        self.graphs.push(Ready {
            exec: graph.instantiate()?,
            first: (device, from, one),
            second: (1 - device, to, two),
        });
        Ok(())
    }

    fn step(&mut self) -> Result<()> {
        let [device, stream, buffer] = [2, EACH, EACH].map(|count| self.random.index(count));
        let value = self.random.below(1000);
        match self.random.below(6) {
            0 | 1 => {
                let Side {
                    add,
                    streams,
                    buffers,
                    ..
                } = &mut self.sides[device];
                let (buffer, expected) = &mut buffers[buffer];
                launch_add(&streams[stream], add, buffer, value);
                *expected += value;
            }
            2 => {
                let [first, second] = self.sides.each_mut();
                let (from, to) = match device {
                    0 => (second, first),
                    _ => (first, second),
                };
                let index = self.random.index(EACH);
                let (source, expected) = &from.buffers[index];
                let (target, becomes) = &mut to.buffers[buffer];
                to.streams[stream].copy_from_peer(&from.streams[index], source, target)?;
                *becomes = *expected;
            }
            3 if self.graphs.len() < 6 => self.make_graph()?,
            3 => {
                let index = self.random.index(self.graphs.len());
                drop(self.graphs.swap_remove(index));
            }
            _ if self.graphs.is_empty() => {}
            _ => {
                let index = self.random.index(self.graphs.len());
                let Ready {
                    exec,
                    first,
                    second,
                } = &mut self.graphs[index];
                exec.launch(&self.sides[device].streams[stream])?;
                let (side, buffer, value) = *first;
                self.sides[side].buffers[buffer].1 += value;
                let copied = self.sides[side].buffers[buffer].1;
                let (side, buffer, value) = *second;
                self.sides[side].buffers[buffer].1 = copied + value;
            }
        }
        Ok(())
    }

    fn check(&mut self, seed: u64) -> Result<()> {
        for side in &self.sides {
            for (index, (buffer, expected)) in side.buffers.iter().enumerate() {
                let stream = &side.streams[self.random.index(EACH)];
                let found = stream.download(buffer)?;
                let name = side.gpu.choice();
                assert_eq!(
                    found, [*expected; LEN],
                    "buffer {index} of `{name}`, program {seed}"
                );
            }
        }
        Ok(())
    }
}

// covers: MULTI-05, MULTI-07, GRAPH-20
#[test]
fn programs_of_two_devices_do_what_their_text_says() {
    with_two(|one, other| {
        let run = |seed: u64| -> Result<()> {
            let mut program = Program {
                random: Random::new(seed),
                sides: [Side::new(&one, &other)?, Side::new(&other, &one)?],
                graphs: Vec::new(),
            };
            for _ in 0..3 {
                // One stream of the four begins late.
                let [device, stream] = [2, EACH].map(|count| program.random.index(count));
                open_soon(hold_up(&program.sides[device].streams[stream])?);
                for _ in 0..40 {
                    program.step()?;
                }
                program.check(seed)?;
            }
            Ok(())
        };
        for seed in 1..=12 {
            run(seed).expect("all of it is allowed");
        }
    });
}

//! A program of random steps, with what it must have done so far.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::{Context, Result, bail, ensure};
use warpsmith_host::prelude::*;
use warpsmith_testkit::Random;

use super::causes::{Cause, Causes, LogId, Memory, Position, StreamId, Use};
use super::kernels::{self, Add, Kernels, panics_grid};
use crate::choose::Choose;

/// Words of a buffer.
const LEN: usize = 96;
/// Buffers, and streams, that a program has at a time.
const MANY: usize = 4;

/// A step, drawn from a seed.
pub enum Step {
    Usual(u64),
    /// One in which kernels panic, or which waits for such.
    Panicking(u64),
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Step::Usual(seed) => write!(f, "{seed:x}"),
            Step::Panicking(seed) => write!(f, "panicking {seed:x}"),
        }
    }
}

impl FromStr for Step {
    type Err = anyhow::Error;

    fn from_str(line: &str) -> Result<Step> {
        let number = |text| u64::from_str_radix(text, 16).context("a seed in hexadecimal");
        match line.strip_prefix("panicking ") {
            Some(seed) => Ok(Step::Panicking(number(seed)?)),
            None => Ok(Step::Usual(number(line)?)),
        }
    }
}

/// What work does to the model. Buffers are named by numbers that are never used again: graphs keep memory that the program has dropped.
#[derive(Clone, Debug)]
enum Effect {
    Add(usize, u32),
    Fill(usize, std::ops::Range<usize>, u32),
    Copy(usize, usize),
    Count,
}

impl Effect {
    /// What it does to memory.
    fn uses(&self) -> Vec<Use> {
        match *self {
            Effect::Add(buffer, _) => vec![Use::Write(Memory::Device(buffer))],
            Effect::Fill(buffer, ref range, _) if *range == (0..LEN) => {
                vec![Use::Write(Memory::Device(buffer))]
            }
            Effect::Fill(buffer, ..) => vec![Use::WritePart(Memory::Device(buffer))],
            Effect::Copy(from, to) => vec![
                Use::Read(Memory::Device(from)),
                Use::Write(Memory::Device(to)),
            ],
            Effect::Count => vec![],
        }
    }
}

/// An executable graph, and what a launch of it does.
struct ReadyGraph {
    exec: GraphExec,
    effects: Vec<Effect>,
    log: LogId,
    panics: Vec<Cause>,
}

/// A program, and what it must have done so far.
struct Program {
    random: Random,
    gpu: Gpu,
    kernels: Kernels,
    streams: Vec<(Stream, StreamId)>,
    buffers: Vec<(DeviceBuffer<u32>, usize)>,
    pinned: Vec<(PinnedBuffer<u32>, Vec<u32>)>,
    graphs: Vec<ReadyGraph>,
    events: Vec<(Event, Position)>,
    /// What each buffer holds that there ever was.
    model: Vec<Vec<u32>>,
    /// How often functions on the host were called, and must have been when all is done.
    calls: Arc<AtomicU64>,
    expected_calls: u64,
    causes: Causes,
    /// So many panics got a number.
    panics: u32,
}

impl Program {
    fn new(gpu: &Gpu, kernels: Kernels) -> Result<Program> {
        let mut program = Program {
            random: Random::new(0),
            gpu: gpu.clone(),
            kernels,
            streams: Vec::new(),
            buffers: Vec::new(),
            pinned: (0..2)
                .map(|_| Ok((gpu.pinned(LEN)?, vec![0; LEN])))
                .collect::<Result<_>>()?,
            graphs: Vec::new(),
            events: Vec::new(),
            model: Vec::new(),
            calls: Arc::default(),
            expected_calls: 0,
            causes: Causes::default(),
            panics: 0,
        };
        for _ in 0..MANY {
            let stream = program.new_stream()?;
            program.streams.push(stream);
        }
        for number in 0..MANY {
            let buffer = program.new_buffer(number as u32)?;
            program.buffers.push(buffer);
        }
        Ok(program)
    }

    fn new_stream(&mut self) -> Result<(Stream, StreamId)> {
        Ok((self.gpu.stream()?, self.causes.number()))
    }

    fn new_buffer(&mut self, value: u32) -> Result<(DeviceBuffer<u32>, usize)> {
        let stream = self.random.index(self.streams.len());
        let buffer = self.streams[stream].0.filled(LEN, value)?;
        self.model.push(vec![value; LEN]);
        let number = self.model.len() - 1;
        self.done_in(stream, &[Effect::Fill(number, 0..LEN, value)]);
        Ok((buffer, number))
    }

    fn apply(&mut self, effect: &Effect) {
        match effect {
            Effect::Add(buffer, value) => {
                let words = self.model[*buffer].iter_mut();
                words.for_each(|word| *word = word.wrapping_add(*value));
            }
            Effect::Fill(buffer, range, value) => self.model[*buffer][range.clone()].fill(*value),
            Effect::Copy(from, to) => self.model[*to] = self.model[*from].clone(),
            Effect::Count => self.expected_calls += 1,
        }
    }

    /// Work with these effects, which does not panic, was enqueued in a stream.
    fn done_in(&mut self, stream: usize, effects: &[Effect]) {
        let log = self.streams[stream].1;
        self.panicked_in(stream, effects, log, &[]);
    }

    /// Work with these effects and panics was enqueued in a stream.
    fn panicked_in(&mut self, stream: usize, effects: &[Effect], log: LogId, panics: &[Cause]) {
        let uses: Vec<Use> = effects.iter().flat_map(Effect::uses).collect();
        self.causes.work(self.streams[stream].1, &uses, log, panics);
        effects.iter().for_each(|effect| self.apply(effect));
    }

    /// A stream was waited for.
    fn waited_for(&mut self, stream: usize, result: Result<(), Error>) -> Result<()> {
        let position = self.causes.end(self.streams[stream].1);
        self.causes.waited(&position, result)
    }

    fn wait_for_device(&mut self) -> Result<()> {
        let position = self.causes.everything();
        let result = self.gpu.synchronize();
        self.causes.waited(&position, result)
    }

    /// A number for a panic.
    fn new_panic(&mut self) -> u32 {
        self.panics += 1;
        self.panics
    }

    fn range(&mut self) -> std::ops::Range<usize> {
        let (one, other) = (self.random.index(LEN), self.random.index(LEN));
        one.min(other)..one.max(other) + 1
    }

    fn two_buffers(&mut self) -> [usize; 2] {
        let one = self.random.index(MANY);
        [one, (one + 1 + self.random.index(MANY - 1)) % MANY]
    }

    fn step(&mut self) -> Result<()> {
        let stream = self.random.index(self.streams.len());
        let value = self.random.below(1000);
        let buffer = self.random.index(MANY);
        match self.random.index(20) {
            0..=2 => {
                let (memory, number) = &mut self.buffers[buffer];
                let effect = Effect::Add(*number, value);
                launch(&self.streams[stream].0, &self.kernels.add, memory, value)?;
                self.done_in(stream, &[effect]);
            }
            3 => {
                let range = self.range();
                let (memory, number) = &mut self.buffers[buffer];
                let effect = Effect::Fill(*number, range.clone(), value);
                self.streams[stream]
                    .0
                    .fill(&mut memory.slice_mut(range), value)?;
                self.done_in(stream, &[effect]);
            }
            4 => {
                let pair = self.two_buffers();
                let [from, to] = self.buffers.get_disjoint_mut(pair).context("two buffers")?;
                let effect = Effect::Copy(from.1, to.1);
                self.streams[stream].0.copy(&from.0, &mut to.0)?;
                self.done_in(stream, &[effect]);
            }
            5 => {
                // Halves, each in a stream of its own.
                let end = self.range().end.min(LEN - 1);
                let other = (stream + 1) % self.streams.len();
                let (memory, number) = &mut self.buffers[buffer];
                let number = *number;
                let (mut left, mut right) = memory.slice_mut(..).split_at_mut(end);
                self.streams[stream].0.fill(&mut right, value)?;
                self.streams[other].0.fill(&mut left, value + 1)?;
                self.done_in(stream, &[Effect::Fill(number, end..LEN, value)]);
                self.done_in(other, &[Effect::Fill(number, 0..end, value + 1)]);
            }
            6 => {
                let new = self.new_buffer(value)?;
                let old = std::mem::replace(&mut self.buffers[buffer], new);
                dispose(&mut self.random, old.0);
            }
            7 => {
                let new = self.new_stream()?;
                let old = std::mem::replace(&mut self.streams[stream], new);
                dispose(&mut self.random, old.0);
            }
            8 => {
                let pinned = self.random.index(self.pinned.len());
                let (memory, number) = &self.buffers[buffer];
                let (to, contents) = &mut self.pinned[pinned];
                self.streams[stream].0.copy_to_host(memory, to)?;
                contents.copy_from_slice(&self.model[*number]);
                let uses = [
                    Use::Read(Memory::Device(*number)),
                    Use::Write(Memory::Pinned(pinned)),
                ];
                let id = self.streams[stream].1;
                self.causes.work(id, &uses, id, &[]);
            }
            9 => {
                let pinned = self.random.index(self.pinned.len());
                self.take_pinned(pinned)?;
                let (from, contents) = &mut self.pinned[pinned];
                ensure!(
                    *from.host()? == contents[..],
                    "page-locked memory {pinned} is wrong"
                );
                from.host_mut()?.fill(value);
                contents.fill(value);
                let (memory, number) = &mut self.buffers[buffer];
                let effect = Effect::Fill(*number, 0..LEN, value);
                self.streams[stream]
                    .0
                    .copy_from_host(&self.pinned[pinned].0, memory)?;
                let id = self.streams[stream].1;
                let uses = [Use::Read(Memory::Pinned(pinned))];
                self.causes.work(id, &uses, id, &[]);
                self.done_in(stream, &[effect]);
            }
            10 if self.graphs.len() < 5 => self.build_graph()?,
            11 if self.graphs.len() < 5 => self.capture_graph(stream)?,
            10..=14 if !self.graphs.is_empty() => {
                let graph = self.random.index(self.graphs.len());
                let elsewhere = self.random.percent(30);
                self.launch_graph(graph, stream, elsewhere)?;
            }
            15 if !self.graphs.is_empty() => {
                let graph = self.random.index(self.graphs.len());
                let graph = self.graphs.swap_remove(graph);
                dispose(&mut self.random, graph.exec);
            }
            16 => {
                let event = self.gpu.event()?;
                self.streams[stream].0.record(&event)?;
                let position = self.causes.end(self.streams[stream].1);
                self.events.push((event, position));
                let other = self.random.index(self.streams.len());
                let event = self.random.index(self.events.len());
                self.streams[other].0.wait(&self.events[event].0)?;
                self.causes
                    .follow(self.streams[other].1, &self.events[event].1);
                if self.events.len() > 3 {
                    let old = self.events.swap_remove(event);
                    dispose(&mut self.random, old.0);
                }
            }
            17 => {
                let calls = self.calls.clone();
                let panics = self.random.percent(30);
                let number = self.new_panic();
                self.streams[stream].0.host_fn(move || {
                    calls.fetch_add(1, Ordering::SeqCst);
                    assert!(!panics, "a random panic {number}");
                })?;
                let causes = [Cause::Function(number)];
                let causes = if panics { &causes[..] } else { &[] };
                let log = self.streams[stream].1;
                self.panicked_in(stream, &[Effect::Count], log, causes);
            }
            18 => {
                let waited = self.streams[stream].0.synchronize();
                self.waited_for(stream, waited)?;
            }
            _ => self.check(buffer, stream)?,
        }
        Ok(())
    }

    /// A step in which kernels panic, or which waits for such.
    fn panicking_step(&mut self) -> Result<()> {
        let stream = self.random.index(self.streams.len());
        let value = self.random.below(1000);
        match self.random.index(11) {
            0..=2 => self.launch_panicking(stream)?,
            3 => {
                self.launch_panicking(stream)?;
                let buffer = self.random.index(MANY);
                let (memory, number) = &mut self.buffers[buffer];
                let effect = Effect::Fill(*number, 0..LEN, value);
                self.streams[stream].0.fill(memory, value)?;
                self.done_in(stream, &[effect]);
            }
            4 | 5 if !self.events.is_empty() => {
                let event = self.random.index(self.events.len());
                let (event, position) = &self.events[event];
                let result = if self.random.percent(50) {
                    event.synchronize()
                } else {
                    match event.is_complete() {
                        Ok(false) => return Ok(()),
                        done => done.map(drop),
                    }
                };
                self.causes.waited(position, result)?;
            }
            6 => match self.streams[stream].0.is_idle() {
                Ok(false) => {}
                done => self.waited_for(stream, done.map(drop))?,
            },
            7 => {
                let pinned = self.random.index(self.pinned.len());
                self.look_at_pinned(pinned)?;
            }
            8 if self.graphs.len() < 5 => self.build_panicking_graph()?,
            8 | 9 if !self.graphs.is_empty() => {
                // Twice, perhaps with something between that a wait can be for.
                let graph = self.random.index(self.graphs.len());
                self.launch_graph(graph, stream, false)?;
                if self.random.percent(50) {
                    let event = self.gpu.event_untimed()?;
                    self.streams[stream].0.record(&event)?;
                    let position = self.causes.end(self.streams[stream].1);
                    self.events.push((event, position));
                }
                self.launch_graph(graph, stream, false)?;
            }
            10 if self.random.percent(20) => self.wait_for_device()?,
            _ if self.graphs.len() < 5 => self.capture_panicking_graph(stream)?,
            _ => {}
        }
        Ok(())
    }

    /// Launches a kernel that panics, if its stream's log has room for that.
    fn launch_panicking(&mut self, stream: usize) -> Result<()> {
        let (target, id) = &self.streams[stream];
        let id = *id;
        if !self.causes.has_room(id) {
            return Ok(());
        }
        self.panics += 1;
        let line = self.panics;
        // SAFETY: the entry takes a number.
        unsafe { target.launch_untyped(&self.kernels.panics, panics_grid(), (line,))? };
        self.panicked_in(stream, &[], id, &[Cause::Kernel(line)]);
        Ok(())
    }

    fn launch_graph(&mut self, graph: usize, stream: usize, elsewhere: bool) -> Result<()> {
        let ReadyGraph {
            exec,
            effects,
            log,
            panics,
        } = &mut self.graphs[graph];
        if !panics.is_empty() && !self.causes.has_room(*log) {
            return Ok(());
        }
        let (effects, log, panics) = (effects.clone(), *log, panics.clone());
        let target = &self.streams[stream].0;
        if elsewhere {
            std::thread::scope(|scope| scope.spawn(|| exec.launch(target)).join())
                .map_err(|_| anyhow::anyhow!("a launch panicked"))??;
        } else {
            exec.launch(target)?;
        }
        self.panicked_in(stream, &effects, log, &panics);
        Ok(())
    }

    /// Gets page-locked memory for the host to write, if need be by a wait for the device, after which it must be had.
    fn take_pinned(&mut self, pinned: usize) -> Result<()> {
        let memory = Memory::Pinned(pinned);
        let taken = self.pinned[pinned].0.host_mut().map(drop);
        if matches!(taken, Err(Error::Busy(_))) {
            self.wait_for_device()?;
            self.pinned[pinned].0.host_mut()?;
        } else {
            let position = self.causes.of_memory(memory);
            self.causes.had(&position, taken)?;
        }
        self.causes.forget(memory);
        Ok(())
    }

    /// Reads page-locked memory if it is to be had.
    fn look_at_pinned(&mut self, pinned: usize) -> Result<()> {
        let (memory, contents) = &self.pinned[pinned];
        let position = self.causes.of_memory(Memory::Pinned(pinned));
        match memory.host() {
            Err(Error::Busy(_)) => Ok(()),
            Err(error) => self.causes.had(&position, Err(error)),
            Ok(found) => {
                ensure!(
                    *found == contents[..],
                    "page-locked memory {pinned} is wrong"
                );
                self.causes.had(&position, Ok(()))
            }
        }
    }

    fn add_graph(&mut self, exec: GraphExec, effects: Vec<Effect>, panics: Vec<Cause>) {
        let log = self.causes.number();
        self.graphs.push(ReadyGraph {
            exec,
            effects,
            log,
            panics,
        });
    }

    /// A graph with a kernel that panics and perhaps a function that does, beside what uses memory.
    fn build_panicking_graph(&mut self) -> Result<()> {
        let mut graph = self.gpu.graph()?;
        let line = self.new_panic();
        let mut panics = vec![Cause::Kernel(line)];
        // SAFETY: the entry takes a number.
        unsafe { graph.kernel_untyped(&self.kernels.panics, panics_grid(), (line,))? };
        let value = self.random.below(1000);
        let buffer = self.random.index(MANY);
        let (memory, number) = &mut self.buffers[buffer];
        graph.fill(memory, value)?;
        let mut effects = vec![Effect::Fill(*number, 0..LEN, value)];
        if self.random.percent(40) {
            let number = self.new_panic();
            let calls = self.calls.clone();
            graph.host(move || {
                calls.fetch_add(1, Ordering::SeqCst);
                panic!("a random panic {number}");
            })?;
            effects.push(Effect::Count);
            panics.push(Cause::Function(number));
        }
        if self.random.percent(40) && !self.graphs.is_empty() {
            let other = self.random.index(self.graphs.len());
            self.graphs[other].exec.update_or_reinstantiate(&graph)?;
            // Its log may be another one now; the old one's panics count on both.
            self.graphs[other].effects = effects;
            self.graphs[other].panics = panics;
        } else {
            self.add_graph(graph.instantiate()?, effects, panics);
        }
        dispose(&mut self.random, graph);
        Ok(())
    }

    /// A graph that panics, from what is enqueued in one stream, or two.
    fn capture_panicking_graph(&mut self, stream: usize) -> Result<()> {
        let line = self.new_panic();
        let value = self.random.below(1000);
        let (fork, panics_in_fork) = (self.random.percent(50), self.random.percent(50));
        let side = (stream + 1) % self.streams.len();
        let buffer = self.random.index(MANY);
        let [main, side] = self
            .streams
            .get_disjoint_mut([stream, side])
            .context("two streams")?;
        let (memory, number) = &mut self.buffers[buffer];
        let effects = vec![Effect::Add(*number, value)];
        let Kernels { add, panics } = &self.kernels;
        let panicking = |stream: &Stream| {
            // SAFETY: the entry takes a number.
            unsafe { stream.launch_untyped(panics, panics_grid(), (line,)) }
        };
        let graph = main.0.capture(|capture| {
            if !fork {
                launch(capture, add, memory, value)?;
                return panicking(capture);
            }
            let side = capture.fork(&mut side.0)?;
            let (one, other) = match panics_in_fork {
                true => (side, capture.stream()),
                false => (capture.stream(), side),
            };
            panicking(one)?;
            launch(other, add, memory, value)
        })?;
        let exec = graph.instantiate()?;
        self.add_graph(exec, effects, vec![Cause::Kernel(line)]);
        dispose(&mut self.random, graph);
        Ok(())
    }

    /// A graph of a few nodes.
    fn build_graph(&mut self) -> Result<()> {
        let (mut graph, mut effects) = (self.gpu.graph()?, Vec::new());
        for _ in 0..self.random.within(1..5) {
            let value = self.random.below(1000);
            let pair = self.two_buffers();
            match self.random.index(4) {
                0 => {
                    let (memory, number) = &mut self.buffers[pair[0]];
                    graph.fill(memory, value)?;
                    effects.push(Effect::Fill(*number, 0..LEN, value));
                }
                1 => {
                    let [from, to] = self.buffers.get_disjoint_mut(pair).context("two buffers")?;
                    graph.copy(&from.0, &mut to.0)?;
                    effects.push(Effect::Copy(from.1, to.1));
                }
                2 => {
                    let calls = self.calls.clone();
                    graph.host(move || _ = calls.fetch_add(1, Ordering::SeqCst))?;
                    effects.push(Effect::Count);
                }
                _ => {
                    let (memory, number) = &mut self.buffers[pair[0]];
                    let grid = Grid::cover(LEN, 32);
                    // SAFETY: the entry takes a slice and a number, and writes only the slice.
                    unsafe { graph.kernel_untyped(&self.kernels.add, grid, (memory, value))? };
                    effects.push(Effect::Add(*number, value));
                }
            }
        }
        self.add_graph(graph.instantiate()?, effects, Vec::new());
        dispose(&mut self.random, graph);
        Ok(())
    }

    /// A graph from what is enqueued in one stream, or two.
    fn capture_graph(&mut self, stream: usize) -> Result<()> {
        let pair = self.two_buffers();
        let [value, other] = [(); 2].map(|()| self.random.below(1000));
        let (fork, fails) = (self.random.percent(50), self.random.percent(15));
        let side = (stream + 1) % self.streams.len();
        let [main, side] = self
            .streams
            .get_disjoint_mut([stream, side])
            .context("two streams")?;
        let [from, to] = self.buffers.get_disjoint_mut(pair).context("two buffers")?;
        let effects = vec![
            Effect::Add(from.1, value),
            Effect::Copy(from.1, to.1),
            Effect::Add(to.1, other),
        ];
        let add = &self.kernels.add;
        let captured = main.0.capture(|capture| {
            launch(capture, add, &mut from.0, value)?;
            if fork {
                let side = capture.fork(&mut side.0)?;
                side.copy(&from.0, &mut to.0)?;
                launch(side, add, &mut to.0, other)?;
                if value % 2 == 0 {
                    capture.join(side)?;
                }
            } else {
                capture.copy(&from.0, &mut to.0)?;
                launch(capture, add, &mut to.0, other)?;
            }
            // What cannot be captured is refused, and ends nothing but the capture.
            if fails { capture.synchronize() } else { Ok(()) }
        });
        match captured {
            Ok(graph) => {
                ensure!(!fails, "a wait was captured");
                self.add_graph(graph.instantiate()?, effects, Vec::new());
            }
            Err(_) if fails => {}
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }

    fn check(&mut self, buffer: usize, stream: usize) -> Result<()> {
        let (memory, number) = &self.buffers[buffer];
        let number = *number;
        let result = self.streams[stream].0.download(memory);
        let id = self.streams[stream].1;
        let uses = [Use::Read(Memory::Device(number))];
        self.causes.work(id, &uses, id, &[]);
        let found = match result {
            Err(error) => return self.waited_for(stream, Err(error)),
            Ok(found) => found,
        };
        self.waited_for(stream, Ok(()))?;
        let expected = &self.model[number];
        if let Some(place) = (0..LEN).find(|&place| found[place] != expected[place]) {
            bail!(
                "word {place} of buffer {buffer} is {} instead of {}",
                found[place],
                expected[place]
            );
        }
        Ok(())
    }

    /// Everything that must hold when all is done.
    fn end(mut self) -> Result<()> {
        // The first wait may tell panics of kernels, the second those of functions.
        self.wait_for_device()?;
        self.wait_for_device()?;
        self.gpu
            .synchronize()
            .context("a wait after all was told has something to tell")?;
        for buffer in 0..MANY {
            self.check(buffer, 0)?;
        }
        let calls = self.calls.load(Ordering::SeqCst);
        ensure!(
            calls == self.expected_calls,
            "{calls} functions were called instead of {}",
            self.expected_calls
        );
        Ok(())
    }
}

fn launch(
    stream: &Stream,
    add: &Add,
    memory: &mut DeviceBuffer<u32>,
    value: u32,
) -> Result<(), Error> {
    // SAFETY: the entry takes a slice and a number, and writes only the slice.
    unsafe { stream.launch_untyped(add, Grid::cover(LEN, 32), (memory, value)) }
}

/// Drops a value here or in another thread, or forgets it.
fn dispose<T: Send + 'static>(random: &mut Random, value: T) {
    match random.index(3) {
        0 => drop(value),
        1 => std::mem::forget(value),
        // The thread may end after the program: nothing depends on when a value is dropped.
        _ => drop(std::thread::spawn(move || drop(value))),
    }
}

/// Runs a program of these steps.
pub fn perform(steps: &[Step]) -> Result<()> {
    let gpu = Gpu::open_default()?;
    let kernels = kernels::load(&gpu)?;
    let mut program = Program::new(&gpu, kernels)?;
    for step in steps {
        let (Step::Usual(seed) | Step::Panicking(seed)) = step;
        program.random = Random::new(*seed);
        match step {
            Step::Usual(_) => program.step()?,
            Step::Panicking(_) => program.panicking_step()?,
        }
    }
    program.end()
}

//! Random programs of the host library: streams, events, buffers, graphs, captures, functions on the host, dropped here, dropped by
//! other threads, and forgotten. Whatever the order in which streams get on, memory has what the program's text says.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use warpsmith_host::prelude::*;
use warpsmith_testkit::Random;

use crate::choose::Choose;
use crate::isolated::Limits;
use crate::kind::Kind;
use crate::report::Report;

/// Random programs of the host library.
pub const HOST: Kind = Kind {
    name: "host",
    summary: "programs of the host library, against a model of its memory",
    usual: Duration::from_secs(15),
    limits: Limits {
        processor: Duration::from_secs(60),
        time: Duration::from_secs(120),
        memory: 3 << 30,
    },
    environment: &[
        ("WARPSMITH_REPORT", "0"),
        ("WARPSMITH_DEVICE", "simulator"),
        ("WARPSMITH_SIMULATOR_THREADS", "2"),
    ],
    reducible: true,
    round,
    replay,
};

/// Programs of a round.
const PROGRAMS: usize = 6;
/// Steps of a program.
const STEPS: usize = 250;
/// Words of a buffer.
const LEN: usize = 96;
/// Buffers, and streams, that a program has at a time.
const MANY: usize = 4;

const PTX: &str = "
.version 7.0
.target sm_70
.address_size 64
.visible .entry add(.param .u64 p, .param .u64 n, .param .u32 v)
{
    .reg .pred %c;
    .reg .b32 %r<6>;
    .reg .b64 %d<5>;
    ld.param.u64 %d1, [p];
    ld.param.u64 %d2, [n];
    ld.param.u32 %r1, [v];
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mov.u32 %r4, %tid.x;
    mad.lo.u32 %r2, %r2, %r3, %r4;
    cvt.u64.u32 %d3, %r2;
    setp.ge.u64 %c, %d3, %d2;
    @%c bra end;
    mad.wide.u32 %d4, %r2, 4, %d1;
    ld.global.u32 %r5, [%d4];
    add.u32 %r5, %r5, %r1;
    st.global.u32 [%d4], %r5;
end:
    ret;
}
";

/// `y[i] += v`
type Add = UntypedKernel<(Out<u32>, Value<u32>)>;

/// What work does to the model. Buffers are named by numbers that are never used again: graphs keep memory that the program has dropped.
#[derive(Clone, Debug)]
enum Effect {
    Add(usize, u32),
    Fill(usize, std::ops::Range<usize>, u32),
    Copy(usize, usize),
    Count,
}

/// A program, and what it must have done so far.
struct Program {
    random: Random,
    gpu: Gpu,
    add: Add,
    streams: Vec<Stream>,
    buffers: Vec<(DeviceBuffer<u32>, usize)>,
    pinned: Vec<(PinnedBuffer<u32>, Vec<u32>)>,
    graphs: Vec<(GraphExec, Vec<Effect>)>,
    events: Vec<Event>,
    /// What each buffer holds that there ever was.
    model: Vec<Vec<u32>>,
    /// How often functions on the host were called, and must have been when all is done.
    calls: Arc<AtomicU64>,
    expected_calls: u64,
    /// Functions that panic, and panics that waits have told of.
    panics: u64,
    told: u64,
}

impl Program {
    fn new(gpu: &Gpu, module: &Module) -> Result<Program> {
        let mut program = Program {
            random: Random::new(0),
            gpu: gpu.clone(),
            add: module.untyped_kernel("add")?,
            streams: (0..MANY).map(|_| gpu.stream()).collect::<Result<_, _>>()?,
            buffers: Vec::new(),
            pinned: (0..2)
                .map(|_| Ok((gpu.pinned(LEN)?, vec![0; LEN])))
                .collect::<Result<_>>()?,
            graphs: Vec::new(),
            events: Vec::new(),
            model: Vec::new(),
            calls: Arc::default(),
            expected_calls: 0,
            panics: 0,
            told: 0,
        };
        for number in 0..MANY {
            let buffer = program.new_buffer(number as u32)?;
            program.buffers.push(buffer);
        }
        Ok(program)
    }

    fn new_buffer(&mut self, value: u32) -> Result<(DeviceBuffer<u32>, usize)> {
        let stream = self.random.index(self.streams.len());
        let buffer = self.streams[stream].filled(LEN, value)?;
        self.model.push(vec![value; LEN]);
        Ok((buffer, self.model.len() - 1))
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

    /// A wait, which may tell of a function that panicked.
    fn waited(&mut self, result: Result<(), Error>) -> Result<()> {
        match result {
            Err(Error::HostFunctionPanic(panic)) => {
                self.told += 1;
                ensure!(
                    panic.message.contains("a random panic"),
                    "a wait tells of the panic `{}`",
                    panic.message
                );
                Ok(())
            }
            other => Ok(other?),
        }
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
                launch(&self.streams[stream], &self.add, memory, value)?;
                self.apply(&effect);
            }
            3 => {
                let range = self.range();
                let (memory, number) = &mut self.buffers[buffer];
                let effect = Effect::Fill(*number, range.clone(), value);
                self.streams[stream].fill(&mut memory.slice_mut(range), value)?;
                self.apply(&effect);
            }
            4 => {
                let pair = self.two_buffers();
                let [from, to] = self.buffers.get_disjoint_mut(pair).context("two buffers")?;
                let effect = Effect::Copy(from.1, to.1);
                self.streams[stream].copy(&from.0, &mut to.0)?;
                self.apply(&effect);
            }
            5 => {
                // Halves, each in a stream of its own.
                let end = self.range().end.min(LEN - 1);
                let other = (stream + 1) % self.streams.len();
                let (memory, number) = &mut self.buffers[buffer];
                let number = *number;
                let (mut left, mut right) = memory.slice_mut(..).split_at_mut(end);
                self.streams[stream].fill(&mut right, value)?;
                self.streams[other].fill(&mut left, value + 1)?;
                self.apply(&Effect::Fill(number, 0..end, value + 1));
                self.apply(&Effect::Fill(number, end..LEN, value));
            }
            6 => {
                let new = self.new_buffer(value)?;
                let old = std::mem::replace(&mut self.buffers[buffer], new);
                dispose(&mut self.random, old.0);
            }
            7 => {
                let new = self.gpu.stream()?;
                let old = std::mem::replace(&mut self.streams[stream], new);
                dispose(&mut self.random, old);
            }
            8 => {
                let pinned = self.random.index(self.pinned.len());
                let (memory, number) = &self.buffers[buffer];
                let (to, contents) = &mut self.pinned[pinned];
                self.streams[stream].copy_to_host(memory, to)?;
                contents.copy_from_slice(&self.model[*number]);
            }
            9 => {
                let pinned = self.random.index(self.pinned.len());
                if self.pinned[pinned].0.host_mut().is_err() {
                    let waited = self.gpu.synchronize();
                    self.waited(waited)?;
                }
                let (from, contents) = &mut self.pinned[pinned];
                ensure!(
                    *from.host()? == contents[..],
                    "page-locked memory {pinned} is wrong"
                );
                from.host_mut()?.fill(value);
                contents.fill(value);
                let (memory, number) = &mut self.buffers[buffer];
                let effect = Effect::Fill(*number, 0..LEN, value);
                self.streams[stream].copy_from_host(&self.pinned[pinned].0, memory)?;
                self.apply(&effect);
            }
            10 if self.graphs.len() < 5 => self.build_graph()?,
            11 if self.graphs.len() < 5 => self.capture_graph(stream)?,
            10..=14 if !self.graphs.is_empty() => {
                let graph = self.random.index(self.graphs.len());
                let (exec, effects) = &mut self.graphs[graph];
                let effects = effects.clone();
                let stream = &self.streams[stream];
                if self.random.percent(30) {
                    std::thread::scope(|scope| scope.spawn(|| exec.launch(stream)).join())
                        .map_err(|_| anyhow::anyhow!("a launch panicked"))??;
                } else {
                    exec.launch(stream)?;
                }
                effects.iter().for_each(|effect| self.apply(effect));
            }
            15 if !self.graphs.is_empty() => {
                let graph = self.random.index(self.graphs.len());
                let (exec, _) = self.graphs.swap_remove(graph);
                dispose(&mut self.random, exec);
            }
            16 => {
                let event = self.gpu.event()?;
                self.streams[stream].record(&event)?;
                self.events.push(event);
                let other = self.random.index(self.streams.len());
                let event = self.random.index(self.events.len());
                self.streams[other].wait(&self.events[event])?;
                if self.events.len() > 3 {
                    let old = self.events.swap_remove(event);
                    dispose(&mut self.random, old);
                }
            }
            17 => {
                let calls = self.calls.clone();
                let panics = self.random.percent(30);
                self.streams[stream].host_fn(move || {
                    calls.fetch_add(1, Ordering::SeqCst);
                    assert!(!panics, "a random panic");
                })?;
                self.panics += u64::from(panics);
                self.apply(&Effect::Count);
            }
            18 => {
                let waited = self.streams[stream].synchronize();
                self.waited(waited)?;
            }
            _ => self.check(buffer, stream)?,
        }
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
                    unsafe { graph.kernel_untyped(&self.add, grid, (memory, value))? };
                    effects.push(Effect::Add(*number, value));
                }
            }
        }
        self.graphs.push((graph.instantiate()?, effects));
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
        let add = &self.add;
        let captured = main.capture(|capture| {
            launch(capture, add, &mut from.0, value)?;
            if fork {
                let side = capture.fork(side)?;
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
                self.graphs.push((graph.instantiate()?, effects));
            }
            Err(_) if fails => {}
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }

    fn check(&mut self, buffer: usize, stream: usize) -> Result<()> {
        let (memory, number) = &self.buffers[buffer];
        let number = *number;
        let found = match self.streams[stream].download(memory) {
            Err(Error::HostFunctionPanic(_)) => {
                self.told += 1;
                return Ok(());
            }
            found => found?,
        };
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
        let waited = self.gpu.synchronize();
        self.waited(waited)?;
        self.gpu
            .synchronize()
            .context("a wait after a wait has something to tell")?;
        for buffer in 0..MANY {
            self.check(buffer, 0)?;
        }
        let calls = self.calls.load(Ordering::SeqCst);
        ensure!(
            calls == self.expected_calls,
            "{calls} functions were called instead of {}",
            self.expected_calls
        );
        ensure!(
            self.told <= self.panics && (self.told > 0) == (self.panics > 0),
            "{} functions panicked, and {} waits told of it",
            self.panics,
            self.told
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

/// Runs a program whose steps are drawn from these seeds.
fn perform(steps: &[u64]) -> Result<()> {
    let gpu = Gpu::open_default()?;
    let module = gpu.load(PTX)?;
    let mut program = Program::new(&gpu, &module)?;
    for &seed in steps {
        program.random = Random::new(seed);
        program.step()?;
    }
    program.end()
}

fn round(seed: u64, report: &mut Report) -> Result<()> {
    let mut random = Random::new(seed);
    for number in 0..PROGRAMS {
        let steps: Vec<u64> = (0..STEPS).map(|_| random.bits()).collect();
        let mut text = String::new();
        for step in &steps {
            let _ = writeln!(text, "{step:x}");
        }
        let file = report.write(&number.to_string(), "txt", text.as_bytes())?;
        report.trying(&file);
        match perform(&steps) {
            Err(error) => report.found(&file, &format!("{error:#}")),
            // What was only tried is of no use any more.
            Ok(()) => std::fs::remove_file(&file).context("a case was written")?,
        }
    }
    report.count("programs", PROGRAMS as u64);
    report.count("steps", (PROGRAMS * STEPS) as u64);
    Ok(())
}

fn replay(files: &[PathBuf], report: &mut Report) -> Result<()> {
    for file in files {
        let text = std::fs::read_to_string(file)
            .with_context(|| format!("cannot read {}", file.display()))?;
        let steps = text
            .lines()
            .filter(|line| !line.starts_with("//"))
            .map(|line| u64::from_str_radix(line, 16))
            .collect::<Result<Vec<u64>, _>>()
            .with_context(|| format!("{} is no list of seeds", file.display()))?;
        report.trying(file);
        if let Err(error) = perform(&steps) {
            report.found(file, &format!("{error:#}"));
        }
    }
    report.count("cases", files.len() as u64);
    Ok(())
}

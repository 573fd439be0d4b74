//! The benchmark: our kernels, their CUDA C++ twins and the roofs, in one run on one device.
//!
//! Each repetition draws new inputs, flushes the L2 cache, and times one launch between two events; ours and the twin take
//! turns, and take turns in going first. After the timings, both are launched and verified once more.

mod date;
mod options;
mod overhead;
mod report;
mod roofs;
mod setting;
mod statistics;

pub use options::Options;
pub use overhead::Overhead;
pub use report::{Report, Row};
pub use roofs::Roofs;
pub use setting::Setting;
pub use statistics::{Samples, Timing};

use crate::case::{Case, Problem, Progress, Work};
use crate::session::{Implementation, Session};
use crate::set::Set;
use crate::twins;
use anyhow::{Context, Result, bail};
use serde::Serialize;
use std::time::Duration;
use warpsmith_host::prelude::*;

/// More than the L2 cache of any GPU so far (an H200 has 60 MB).
const FLUSH: usize = 256 << 20;

/// What was measured of one case.
#[derive(Clone, Debug)]
pub struct Measured {
    /// The case.
    pub case: &'static Case,
    /// The problem.
    pub shape: String,
    /// Its work.
    pub work: Work,
    /// Ours.
    pub ours: Side,
    /// The twin, where twins were asked for.
    pub twin: Option<Side>,
}

/// One implementation of a kernel.
#[derive(Clone, Debug, Serialize)]
pub struct Side {
    /// Its times.
    pub timing: Timing,
    /// What was verified after timing.
    pub verified: String,
    /// What its entries use.
    pub resources: Vec<Resources>,
}

impl Side {
    /// Registers and local memory of its entries, in the words of tables.
    pub fn used(&self) -> String {
        let each: Vec<_> = self
            .resources
            .iter()
            .map(|entry| match entry.local_bytes {
                0 => entry.registers.to_string(),
                local => format!("{} + {local} B local", entry.registers),
            })
            .collect();
        each.join(" / ")
    }
}

/// What an entry uses.
#[derive(Clone, Debug, Serialize)]
pub struct Resources {
    /// The entry's name.
    pub entry: String,
    /// Registers a thread.
    pub registers: u32,
    /// Bytes of local memory a thread: spills and arrays that are not in registers.
    pub local_bytes: usize,
    /// Bytes of static shared memory a block.
    pub static_shared_bytes: usize,
}

/// Runs the benchmark of a set.
pub fn run(
    set: &'static Set,
    gpu: &Gpu,
    options: &Options,
    progress: &mut dyn FnMut(Progress),
) -> Result<Report> {
    check(set, gpu, options)?;
    let mut session = Session::of(set, gpu)?;
    let setting = Setting::of(gpu, options)?;
    let roofs = Roofs::measure(&session).context("cannot measure the roofs")?;
    let measured = measure_all(&mut session, options, progress)?;
    let rows = measured
        .into_iter()
        .map(|measured| Row::new(measured, &roofs));
    let overhead = overhead::measure(&session).context("cannot measure the cost of a launch")?;
    Ok(Report {
        setting,
        roofs,
        rows: rows.collect(),
        launch: overhead,
    })
}

/// Refuses the simulator, unless it was asked for, and names that no case of the set has.
pub fn check(set: &'static Set, gpu: &Gpu, options: &Options) -> Result<()> {
    if gpu.is_simulator() && !options.on_simulator {
        bail!(
            "the benchmark needs a GPU: the simulator executes instructions one by one, so its times say nothing about a GPU. \
             To see the benchmark work all the same, ask for the simulator (`--device simulator`)"
        );
    }
    set.chosen(&options.names).map(|_| ())
}

/// Measures the chosen cases of the session's set, each beside its twin where twins are asked for.
pub fn measure_all(
    session: &mut Session,
    options: &Options,
    progress: &mut dyn FnMut(Progress),
) -> Result<Vec<Measured>> {
    let chosen = session.set.chosen(&options.names)?;
    if options.twins {
        let stems: Vec<&str> = chosen.iter().map(|case| case.twin).collect();
        progress(Progress {
            case: session.set.name,
            step: "compiling the twins".into(),
            done: 0,
            steps: chosen.len(),
        });
        twins::load(session, &stems)?;
    }
    let mut flush = Flush::new(session)?;
    let mut all = Vec::new();
    for (done, case) in chosen.iter().enumerate() {
        let mut step = |step: &str| {
            progress(Progress {
                case: case.name,
                step: step.into(),
                done,
                steps: chosen.len(),
            });
        };
        all.push(measure(session, case, options, &mut flush, &mut step)?);
    }
    Ok(all)
}

fn measure(
    session: &Session,
    case: &'static Case,
    options: &Options,
    flush: &mut Flush,
    step: &mut dyn FnMut(&str),
) -> Result<Measured> {
    let doing = |what: &str| format!("{}: {what}", case.name);
    step("preparing");
    let size = options
        .size
        .unwrap_or_else(|| case.default_size(&session.gpu));
    let mut problem = (case.prepare)(session, size).with_context(|| doing("cannot prepare"))?;
    let sides: &[Implementation] = if options.twins {
        &[Implementation::Ours, Implementation::Twin]
    } else {
        &[Implementation::Ours]
    };
    let mut samples = [Samples::default(), Samples::default()];
    let mut seed = options.seed;
    for round in 0..options.warm_ups + options.repetitions {
        let timed = (round + 1).saturating_sub(options.warm_ups);
        step(&format!("timing, {timed} of {}", options.repetitions));
        for turn in 0..sides.len() {
            let implementation = sides[(turn + round) % sides.len()];
            seed = seed.wrapping_add(1);
            let time = once(session, problem.as_mut(), implementation, seed, flush)
                .with_context(|| doing("cannot run"))?;
            let samples = &mut samples[implementation as usize];
            match timed {
                0 => samples.warm_up(),
                _ => samples.add(time).with_context(|| doing("cannot time"))?,
            }
        }
    }
    step("verifying");
    let mut results = Vec::new();
    for &implementation in sides {
        seed = seed.wrapping_add(1);
        once(session, problem.as_mut(), implementation, seed, flush)
            .with_context(|| doing("cannot run"))?;
        results.push(
            problem
                .verify(session)
                .with_context(|| doing("cannot verify"))?,
        );
    }
    let mut side = |implementation: Implementation| -> Result<Side> {
        Ok(Side {
            timing: samples[implementation as usize].timing()?,
            verified: match results.remove(0) {
                Ok(verified) => verified.to_string(),
                Err(wrong) => bail!(
                    "{} ({implementation:?}) is wrong after timing: {wrong}",
                    case.name
                ),
            },
            resources: resources(session, case, implementation)?,
        })
    };
    let ours = side(Implementation::Ours)?;
    let twin = if options.twins {
        Some(side(Implementation::Twin)?)
    } else {
        None
    };
    Ok(Measured {
        case,
        shape: problem.shape(),
        work: problem.work(),
        ours,
        twin,
    })
}

/// One launch on new inputs with a cold cache.
fn once(
    session: &Session,
    problem: &mut dyn Problem,
    implementation: Implementation,
    seed: u64,
    flush: &mut Flush,
) -> Result<Duration> {
    problem.refresh(session, seed)?;
    flush.run(session)?;
    session.stream.synchronize()?;
    session.time(|| problem.launch(session, implementation))
}

/// Registers and local memory of the case's entries.
fn resources(
    session: &Session,
    case: &Case,
    implementation: Implementation,
) -> Result<Vec<Resources>> {
    let module = match implementation {
        Implementation::Ours => &session.module,
        Implementation::Twin => session.twin_module(case.twin)?,
    };
    case.entries
        .iter()
        .map(|&entry| {
            // Only looked at, never launched: so its parameters do not matter.
            let attributes = module.untyped_kernel::<()>(entry)?.attributes()?;
            Ok(Resources {
                entry: entry.into(),
                registers: attributes.registers,
                local_bytes: attributes.local_bytes as usize,
                static_shared_bytes: attributes.static_shared_bytes as usize,
            })
        })
        .collect()
}

/// A buffer that pushes everything else out of the L2 cache when it is filled.
struct Flush {
    buffer: DeviceBuffer<u32>,
    round: u32,
}

impl Flush {
    fn new(session: &Session) -> Result<Flush> {
        let bytes = if session.gpu.is_simulator() { 4 } else { FLUSH };
        Ok(Flush {
            buffer: session.stream.zeroed(bytes / 4)?,
            round: 0,
        })
    }

    fn run(&mut self, session: &Session) -> Result<()> {
        self.round = self.round.wrapping_add(1);
        Ok(session.stream.fill(&mut self.buffer, self.round)?)
    }
}

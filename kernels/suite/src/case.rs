//! What a case of the suite is: a kernel, a problem of some size for it, an oracle, and how much work it is.

use crate::check::Verified;
use crate::session::{Implementation, Session};
use anyhow::{Context, Result};
use std::time::{Duration, Instant};
use warpsmith_host::prelude::*;

/// One kernel of the suite with its problems.
#[derive(Debug)]
pub struct Case {
    /// The name on the command line; also the name of its page in the docs.
    pub name: &'static str,
    /// What it shows, in a few words.
    pub summary: &'static str,
    /// What `size` counts.
    pub unit: &'static str,
    /// The size on the simulator, where an instruction costs some hundred times more.
    pub simulator_size: usize,
    /// The size on a GPU: large enough to fill it and to leave its caches.
    pub gpu_size: usize,
    /// Small sizes around the kernel's tile and vector widths, which every run checks as well.
    pub ragged: &'static [usize],
    /// The stem of the CUDA C++ twin in `kernels/twins`.
    pub twin: &'static str,
    /// The entries that the benchmark lists registers of.
    pub entries: &'static [&'static str],
    /// Makes the problem of a size.
    pub prepare: fn(&Session, usize) -> Result<Box<dyn Problem>>,
}

/// Buffers on the device and the launches that work on them.
pub trait Problem {
    /// The problem in words, such as `1000 x 1000`.
    fn shape(&self) -> String;
    /// What one launch must do at least.
    fn work(&self) -> Work;
    /// Draws new inputs and poisons the outputs, so that what is left unwritten is found.
    fn refresh(&mut self, session: &Session, seed: u64) -> Result<()>;
    /// Enqueues the work on the session's stream.
    fn launch(&mut self, session: &Session, implementation: Implementation) -> Result<()>;
    /// Compares the outputs of the last launch with the oracle; the inner error says what is wrong.
    fn verify(&mut self, session: &Session) -> Result<Result<Verified, String>>;
}

/// The least work of a problem: what a roof is held against.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Work {
    /// Bytes to or from device memory, each input read once and each output written once.
    pub bytes: f64,
    /// Floating-point operations, a fused multiply-add counted as two.
    pub flops: f64,
    /// The roof that bounds it.
    pub roof: Roof,
}

impl Work {
    /// Work that memory bounds.
    pub fn copy(bytes: usize) -> Work {
        Work {
            bytes: bytes as f64,
            flops: 0.0,
            roof: Roof::Copy,
        }
    }
}

/// What can bound a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Roof {
    /// The bandwidth of a large device-to-device copy.
    Copy,
    /// `f32` multiply-adds.
    Fma,
    /// `f16` products with `f32` sums through `wmma`.
    Tensor,
}

/// What a run found.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The case's name.
    pub name: &'static str,
    /// The problem in words.
    pub shape: String,
    /// From the launch to its end.
    pub time: Duration,
    /// What was checked, or the first thing that is wrong.
    pub verified: Result<Verified, String>,
    /// A remark for the table, such as how many ragged sizes passed too.
    pub detail: String,
}

/// Where a run is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Progress {
    /// The case's name.
    pub case: &'static str,
    /// What it does now.
    pub step: String,
    /// Steps done.
    pub done: usize,
    /// Steps in all.
    pub steps: usize,
}

impl Case {
    /// The size for a device when the user gives none.
    pub fn default_size(&self, gpu: &Gpu) -> usize {
        if gpu.is_simulator() {
            self.simulator_size
        } else {
            self.gpu_size
        }
    }

    /// Runs the case once at `size` (or the device's default) and at its ragged sizes, and checks every result.
    ///
    /// A wrong result is in [`Outcome::verified`]; an `Err` is a failure to run.
    pub fn run(
        &self,
        session: &Session,
        size: Option<usize>,
        seed: u64,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Outcome> {
        let main = size.unwrap_or_else(|| self.default_size(&session.gpu));
        // A size of the user's own is what they want to see run, so it runs alone.
        let ragged = if size.is_some() { &[] } else { self.ragged };
        let steps = ragged.len() + 1;
        let mut ragged_checked = Verified::default();
        for (done, &size) in ragged.iter().enumerate() {
            let (shape, _, verified) =
                self.once(session, size, seed ^ size as u64, &mut |step| {
                    progress(Progress {
                        case: self.name,
                        step,
                        done,
                        steps,
                    });
                })?;
            match verified {
                Ok(verified) => ragged_checked = ragged_checked.and(verified),
                Err(wrong) => {
                    let detail = format!("at the ragged size {size}");
                    return Ok(Outcome {
                        name: self.name,
                        shape,
                        time: Duration::ZERO,
                        verified: Err(wrong),
                        detail,
                    });
                }
            }
        }
        let (shape, time, verified) = self.once(session, main, seed, &mut |step| {
            progress(Progress {
                case: self.name,
                step,
                done: steps - 1,
                steps,
            });
        })?;
        let detail = match ragged.len() {
            0 => String::new(),
            n => format!("and {n} ragged sizes ({} values)", ragged_checked.elements),
        };
        Ok(Outcome {
            name: self.name,
            shape,
            time,
            verified,
            detail,
        })
    }

    /// One size: prepare, fill, launch, check.
    fn once(
        &self,
        session: &Session,
        size: usize,
        seed: u64,
        step: &mut dyn FnMut(String),
    ) -> Result<(String, Duration, Result<Verified, String>)> {
        let doing = |what: &str| format!("{}: {what} at size {size}", self.name);
        anyhow::ensure!(
            size > 0,
            "{}: a problem has at least one of its {}",
            self.name,
            self.unit
        );
        step(format!("preparing {size} {}", self.unit));
        let mut problem = (self.prepare)(session, size).with_context(|| doing("cannot prepare"))?;
        problem
            .refresh(session, seed)
            .with_context(|| doing("cannot make inputs"))?;
        session
            .stream
            .synchronize()
            .with_context(|| doing("making inputs failed"))?;
        step(format!("running {}", problem.shape()));
        let time = if session.gpu.is_simulator() {
            let start = Instant::now();
            problem
                .launch(session, Implementation::Ours)
                .with_context(|| doing("cannot launch"))?;
            session
                .stream
                .synchronize()
                .with_context(|| doing("the launch failed"))?;
            start.elapsed()
        } else {
            session
                .time(|| problem.launch(session, Implementation::Ours))
                .with_context(|| doing("the launch failed"))?
        };
        step(format!("checking {}", problem.shape()));
        let verified = problem
            .verify(session)
            .with_context(|| doing("cannot check"))?;
        Ok((problem.shape(), time, verified))
    }
}

//! Two ways to do the same, timed in turns.

use std::fmt;
use std::time::{Duration, Instant};

use warpsmith_host::prelude::*;

/// Rounds that are counted, on a GPU.
const ROUNDS: usize = 41;

/// What came of a comparison.
pub struct Row {
    what: String,
    goal: &'static str,
    ours: Duration,
    plain: Duration,
}

impl Row {
    pub const HEAD: &str =
        "| what | warpsmith | plain calls | ratio | goal |\n| --- | --- | --- | --- | --- |";

    /// For rows of two ways of the library's.
    pub const WAYS: &str =
        "| what | the first | the second | ratio | less than |\n| --- | --- | --- | --- | --- |";

    /// The time of one of `repetitions` things that each side does in a round. A side returns when the work of its round is enqueued, or is
    /// done, whichever is to be timed; the device is idle when it begins.
    pub fn measure(
        gpu: &Gpu,
        what: impl Into<String>,
        goal: &'static str,
        repetitions: u32,
        mut ours: impl FnMut() -> Result<()>,
        mut plain: impl FnMut() -> Result<()>,
    ) -> Result<Row> {
        let rounds = if gpu.is_simulator() { 3 } else { ROUNDS };
        let mut times = [Vec::new(), Vec::new()];
        // The first round warms up.
        for round in 0..=rounds {
            for side in [round % 2, 1 - round % 2] {
                gpu.synchronize()?;
                let start = Instant::now();
                match side {
                    0 => ours()?,
                    _ => plain()?,
                }
                if round > 0 {
                    times[side].push(start.elapsed() / repetitions);
                }
            }
        }
        gpu.synchronize()?;
        let [ours, plain] = times;
        Ok(Row::of(what, goal, ours, plain))
    }

    /// The medians of these times.
    pub fn of(
        what: impl Into<String>,
        goal: &'static str,
        ours: Vec<Duration>,
        plain: Vec<Duration>,
    ) -> Row {
        Row {
            what: what.into(),
            goal,
            ours: median(ours),
            plain: median(plain),
        }
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ratio = self.ours.as_secs_f64() / self.plain.as_secs_f64();
        let Row {
            what,
            goal,
            ours,
            plain,
        } = self;
        write!(
            f,
            "| {what} | {ours:.2?} | {plain:.2?} | {ratio:.3} | {goal} |"
        )
    }
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

/// Panics unless the driver has succeeded.
#[track_caller]
pub fn expect(code: warpsmith_driver::raw::CUresult) {
    assert_eq!(code, warpsmith_driver::raw::CUresult::CUDA_SUCCESS);
}

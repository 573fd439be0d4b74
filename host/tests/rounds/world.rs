//! What rounds share, and how many there are of them.

use std::time::{Duration, Instant};

use warpsmith_host::prelude::*;

use crate::common::{Add, add, in_own_process, module};
use crate::footprint::Footprint;

/// Rounds of a case that are measured.
pub const ROUNDS: usize = 1000;
/// Rounds before, in which tables and caches become as large as the case needs.
const WARM_UP: usize = 200;
/// After so many rounds the host waits for the device, as a program does at times.
const BETWEEN_WAITS: usize = 8;
/// How long threads that end, and what they free, are waited for.
const PATIENCE: Duration = Duration::from_secs(5);

/// Something that is made, used and dropped again and again.
pub struct Case {
    pub name: &'static str,
    /// It is told the number of the round, by whose remainders it may do the same in different ways.
    pub round: fn(&World, usize) -> Result<()>,
    /// On a GPU, where each takes tens of milliseconds, rounds that are measured.
    rounds_on_gpu: usize,
}

impl Case {
    pub const fn new(name: &'static str, round: fn(&World, usize) -> Result<()>) -> Case {
        Case {
            name,
            round,
            rounds_on_gpu: ROUNDS,
        }
    }

    /// One that opens and closes a device, which a GPU's driver takes long for.
    pub const fn of_device(name: &'static str, round: fn(&World, usize) -> Result<()>) -> Case {
        Case {
            name,
            round,
            rounds_on_gpu: 20,
        }
    }
}

/// A device, and what all cases use on it.
pub struct World {
    pub gpu: Gpu,
    pub module: Module,
    pub add: Add,
    pub stream: Stream,
    pub other: Stream,
}

impl World {
    pub fn new() -> Result<World> {
        let gpu = Gpu::open_default()?;
        let module = module(&gpu);
        Ok(World {
            add: add(&module),
            module,
            stream: gpu.stream()?,
            other: gpu.stream()?,
            gpu,
        })
    }

    /// What grew in the rounds of a case.
    pub fn growth(&self, case: &Case) -> Result<Vec<String>> {
        let rounds = match self.gpu.is_simulator() {
            true => ROUNDS,
            false => case.rounds_on_gpu,
        };
        self.repeat(case, WARM_UP.min(rounds))?;
        let before = self.at_rest()?;
        let begun = Instant::now();
        self.repeat(case, rounds)?;
        let each = begun.elapsed() / rounds as u32;
        println!("{}: {each:?} a round", case.name);
        let end = Instant::now() + PATIENCE;
        loop {
            let growth = Footprint::now(&self.gpu)?.growth(&before);
            if growth.is_empty() || Instant::now() >= end {
                return Ok(growth);
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    fn repeat(&self, case: &Case, rounds: usize) -> Result<()> {
        for round in 0..rounds {
            (case.round)(self, round)?;
            if round % BETWEEN_WAITS == BETWEEN_WAITS - 1 {
                self.gpu.synchronize()?;
            }
        }
        Ok(())
    }

    /// The footprint after a moment in which it has not grown, nor shrunk: threads that end take some time.
    fn at_rest(&self) -> Result<Footprint> {
        let end = Instant::now() + PATIENCE;
        let mut last = Footprint::now(&self.gpu)?;
        loop {
            std::thread::sleep(Duration::from_millis(5));
            let now = Footprint::now(&self.gpu)?;
            let rests = now.growth(&last).is_empty() && last.growth(&now).is_empty();
            if rests || Instant::now() >= end {
                return Ok(now);
            }
            last = now;
        }
    }
}

/// Fails if something is left behind by one of these cases, which run in a process of their own.
pub fn leave_nothing(cases: &[Case]) {
    in_own_process(&[], || {
        let world = World::new().expect("a device");
        let failures = cases.iter().filter_map(|case| {
            let growth = match world.growth(case) {
                Ok(growth) => growth,
                Err(error) => vec![format!("a round failed: {error}")],
            };
            let text = growth.join("; ");
            (!text.is_empty()).then(|| format!("{}: {text}", case.name))
        });
        let failures: Vec<String> = failures.collect();
        assert!(failures.is_empty(), "{}", failures.join("\n"));
    });
}

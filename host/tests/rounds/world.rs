//! What rounds share, and how many there are of them.

use std::time::{Duration, Instant};

use warpsmith_host::prelude::*;

use crate::common::{Add, add, in_own_process, module};
use crate::footprint::Footprint;

/// Rounds of a case that are measured.
pub const ROUNDS: usize = 1000;
/// Rounds before, in which tables and caches become as large as the case needs.
const WARM_UP: usize = 200;
/// More rounds with several allocations each than the simulator remembers allocations of after they were freed.
const LONG_WARM_UP: usize = 2000;
/// After so many rounds the host waits for the device, as a program does at times.
const BETWEEN_WAITS: usize = 8;
/// How long threads that end, and what they free, are waited for.
const PATIENCE: Duration = Duration::from_secs(5);

/// Something that is made, used and dropped again and again.
pub struct Case {
    pub name: &'static str,
    /// It is told the number of the round, by whose remainders it may do the same in different ways.
    pub round: fn(&World, usize) -> Result<()>,
    warm_up: usize,
}

impl Case {
    pub const fn new(name: &'static str, round: fn(&World, usize) -> Result<()>) -> Case {
        Case {
            name,
            round,
            warm_up: WARM_UP,
        }
    }

    /// One that leaves a trace of what it has freed, which the simulator remembers for a while.
    pub const fn remembered(name: &'static str, round: fn(&World, usize) -> Result<()>) -> Case {
        Case {
            warm_up: LONG_WARM_UP,
            ..Case::new(name, round)
        }
    }
}

/// More allocations than the simulator remembers after they were freed, so that it remembers no more of them from then on.
const REMEMBERED: usize = 6000;

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
        let stream = gpu.stream()?;
        for _ in 0..REMEMBERED {
            drop(stream.zeroed::<u8>(1)?);
        }
        Ok(World {
            add: add(&module),
            module,
            stream,
            other: gpu.stream()?,
            gpu,
        })
    }

    /// What grew in the rounds of a case.
    pub fn growth(&self, case: &Case) -> Result<Vec<String>> {
        self.repeat(case, case.warm_up)?;
        let before = self.at_rest()?;
        let begun = Instant::now();
        self.repeat(case, ROUNDS)?;
        let each = begun.elapsed() / ROUNDS as u32;
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

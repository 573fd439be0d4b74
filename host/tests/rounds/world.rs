//! What rounds share, and how many there are of them.

use std::time::{Duration, Instant};

use warpsmith_host::prelude::*;

use crate::common::{Add, add, in_own_process, module};
use crate::footprint::{Footprint, Grown};

/// Rounds of a case that are measured.
pub const ROUNDS: usize = 1000;
/// Rounds before, in which tables and caches become as large as the case needs.
const WARM_UP: usize = 200;
/// More rounds with several allocations each than the simulator remembers allocations of after they were freed.
const LONG_WARM_UP: usize = 2000;
/// So often the rounds of a case are repeated that have left something: what each round leaves is left by all of them, and what a cache of
/// the driver took for itself by the first ones alone.
const REPEATS: usize = 3;
/// After so many rounds the host waits for the device, as a program does at times.
const BETWEEN_WAITS: usize = 8;
/// How long threads that end, and what they free, are waited for.
const PATIENCE: Duration = Duration::from_secs(5);
/// What has grown and does not change for so long stays.
const REST: Duration = Duration::from_secs(1);

/// Something that is made, used and dropped again and again.
pub struct Case {
    pub name: &'static str,
    /// It is told the number of the round, by whose remainders it may do the same in different ways.
    pub round: fn(&World, usize) -> Result<()>,
    /// The same by the driver's calls alone.
    plain: Option<fn(&World, usize) -> Result<()>>,
    warm_up: usize,
}

impl Case {
    pub const fn new(name: &'static str, round: fn(&World, usize) -> Result<()>) -> Case {
        Case {
            name,
            round,
            plain: None,
            warm_up: WARM_UP,
        }
    }

    /// One of whose calls a driver may keep something: as much as the same calls leave without this library is not this library's.
    pub const fn beside(
        name: &'static str,
        round: fn(&World, usize) -> Result<()>,
        plain: fn(&World, usize) -> Result<()>,
    ) -> Case {
        Case {
            plain: Some(plain),
            ..Case::new(name, round)
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
        if gpu.is_simulator() {
            for _ in 0..REMEMBERED {
                drop(stream.zeroed::<u8>(1)?);
            }
        }
        Ok(World {
            add: add(&module),
            module,
            stream,
            other: gpu.stream()?,
            gpu,
        })
    }

    /// What grows in the rounds of a case, however often they are repeated.
    pub fn growth(&self, case: &Case) -> Result<Vec<String>> {
        let warm_up = match self.gpu.is_simulator() {
            true => case.warm_up,
            false => WARM_UP,
        };
        let begun = Instant::now();
        let mut grown = self.grown(case.round, warm_up)?;
        println!("{}: {:?}", case.name, begun.elapsed());
        if let Some(plain) = case.plain
            && !grown.lines().is_empty()
        {
            let begun = Instant::now();
            let theirs = self.grown(plain, warm_up)?;
            let (name, lines) = (case.name, theirs.lines());
            println!("{name}, plainly: {:?}: {lines:?}", begun.elapsed());
            grown = grown.beyond(&theirs);
        }
        for _ in 0..REPEATS {
            let lines = grown.lines();
            if lines.is_empty() {
                break;
            }
            println!("{}, once more after {lines:?}", case.name);
            grown = grown.least(&self.grown(case.round, 0)?);
        }
        Ok(grown.lines())
    }

    /// By how much the footprint has grown in the rounds, when it has come to rest.
    fn grown(&self, round: fn(&World, usize) -> Result<()>, warm_up: usize) -> Result<Grown> {
        self.repeat(round, warm_up)?;
        let before = self.at_rest()?;
        self.repeat(round, ROUNDS)?;
        let end = Instant::now() + PATIENCE;
        let (mut last, mut changed) = (Grown::default(), Instant::now());
        loop {
            let grown = Footprint::now(&self.gpu)?.since(&before);
            if grown != last {
                (last, changed) = (grown, Instant::now());
            }
            let stays = changed.elapsed() >= REST || Instant::now() >= end;
            if stays || grown.lines().is_empty() {
                return Ok(grown);
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    fn repeat(&self, round: fn(&World, usize) -> Result<()>, rounds: usize) -> Result<()> {
        for number in 0..rounds {
            round(self, number)?;
            if number % BETWEEN_WAITS == BETWEEN_WAITS - 1 {
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
            let rests = now.since(&last).lines().is_empty() && last.since(&now).lines().is_empty();
            if rests || Instant::now() >= end {
                return Ok(now);
            }
            last = now;
        }
    }
}

/// Fails if something is left behind by one of these cases, which run in a process of their own.
pub fn leave_nothing(cases: &[Case]) {
    let output = in_own_process(&[], || {
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
    if let Some(output) = output {
        println!("{output}");
    }
}

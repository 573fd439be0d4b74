//! Which wait must tell which panic: what comes before what, by the program's text alone.

use std::collections::BTreeMap;

use anyhow::{Result, bail, ensure};
use warpsmith_host::Error;

/// A stream, by a number that is never used again.
pub type StreamId = usize;

/// A log of panics: a stream's or an executable graph's, by a number that is never used again.
pub type LogId = usize;

/// A piece of memory.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Memory {
    Device(usize),
    Pinned(usize),
}

/// What work does to a piece of memory.
#[derive(Clone, Copy, Debug)]
pub enum Use {
    Read(Memory),
    Write(Memory),
    /// Of a part, which may have nothing to do with earlier uses of other parts.
    WritePart(Memory),
}

/// Of each stream, launches up to a number.
#[derive(Clone, Default, Debug)]
struct Clock(BTreeMap<StreamId, u64>);

impl Clock {
    fn join(&mut self, other: &Clock) {
        for (&stream, &number) in &other.0 {
            let known = self.0.entry(stream).or_default();
            *known = number.max(*known);
        }
    }

    fn covers(&self, panic: &Untold) -> bool {
        self.0
            .get(&panic.stream)
            .is_some_and(|&number| panic.number <= number)
    }
}

/// What a position comes after.
#[derive(Clone, Default, Debug)]
pub struct Position {
    surely: Clock,
    perhaps: Clock,
}

impl Position {
    fn join(&mut self, other: &Position) {
        self.surely.join(&other.surely);
        self.perhaps.join(&other.perhaps);
    }
}

/// A panic that work causes, by a number that the wait tells again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cause {
    /// Of a kernel; the number is its line.
    Kernel(u32),
    /// Of a function on the host; the number is its message's.
    Function(u32),
}

/// A panic that no wait has told.
#[derive(Debug)]
struct Untold {
    cause: Cause,
    stream: StreamId,
    /// The launch.
    number: u64,
    log: LogId,
    /// A wait may have told it, or another launch of its graph.
    perhaps_told: bool,
}

/// What comes before what, and which panics nobody has heard of.
#[derive(Default)]
pub struct Causes {
    /// The ends of streams.
    streams: BTreeMap<StreamId, Position>,
    /// What comes before those who use the memory.
    memory: BTreeMap<Memory, Position>,
    untold: Vec<Untold>,
    numbers: usize,
    launches: u64,
}

impl Causes {
    /// A number for a stream or a log.
    pub fn number(&mut self) -> usize {
        self.numbers += 1;
        self.numbers
    }

    /// Whether the log has room for the panic of one more kernel: it keeps four.
    pub fn has_room(&self, log: LogId) -> bool {
        let kernels = |panic: &&Untold| panic.log == log && matches!(panic.cause, Cause::Kernel(_));
        self.untold.iter().filter(kernels).count() < 4
    }

    /// Work is enqueued, which causes panics that are written to this log.
    pub fn work(&mut self, stream: StreamId, uses: &[Use], log: LogId, causes: &[Cause]) {
        self.launches += 1;
        let position = self.streams.entry(stream).or_default();
        for used in uses {
            let (Use::Read(memory) | Use::Write(memory) | Use::WritePart(memory)) = used;
            let Some(known) = self.memory.get(memory) else {
                continue;
            };
            match used {
                Use::WritePart(_) => position.perhaps.join(&known.perhaps),
                _ => position.join(known),
            }
        }
        for clock in [&mut position.surely, &mut position.perhaps] {
            clock.0.insert(stream, self.launches);
        }
        for used in uses {
            if let Use::Write(memory) | Use::WritePart(memory) = used {
                self.memory.entry(*memory).or_default().join(position);
            }
        }
        self.untold.extend(causes.iter().map(|&cause| Untold {
            cause,
            stream,
            number: self.launches,
            log,
            perhaps_told: false,
        }));
    }

    /// The end of a stream as it is now.
    pub fn end(&self, stream: StreamId) -> Position {
        self.streams.get(&stream).cloned().unwrap_or_default()
    }

    /// All that there is.
    pub fn everything(&self) -> Position {
        let mut all = Position::default();
        self.streams.values().for_each(|stream| all.join(stream));
        all
    }

    /// What the host comes after that has this memory.
    pub fn of_memory(&self, memory: Memory) -> Position {
        self.memory.get(&memory).cloned().unwrap_or_default()
    }

    /// The host has the memory for itself: who uses it then comes after nothing.
    pub fn forget(&mut self, memory: Memory) {
        self.memory.remove(&memory);
    }

    /// Later work in the stream comes after a position.
    pub fn follow(&mut self, stream: StreamId, position: &Position) {
        self.streams.entry(stream).or_default().join(position);
    }

    /// A wait for a position is over.
    pub fn waited(&mut self, position: &Position, result: Result<(), Error>) -> Result<()> {
        let kernels = |cause| matches!(cause, Cause::Kernel(_));
        match result {
            Ok(()) => self.told(position, |_| true, &[]),
            Err(Error::HostFunctionPanic(panic)) => {
                self.told(position, kernels, &[])?;
                let messages = [panic.message].into_iter().chain(panic.others);
                let causes = messages
                    .map(|message| match message.strip_prefix("a random panic ") {
                        Some(number) => Ok(Cause::Function(number.parse()?)),
                        None => bail!("a wait tells of the panic `{message}`"),
                    })
                    .collect::<Result<Vec<_>>>()?;
                self.told(position, |cause| !kernels(cause), &causes)
            }
            result => self.had(position, result),
        }
    }

    /// The host got memory that was written at a position, which tells panics of kernels only.
    pub fn had(&mut self, position: &Position, result: Result<(), Error>) -> Result<()> {
        let kernels = |cause| matches!(cause, Cause::Kernel(_));
        match result {
            Ok(()) => self.told(position, kernels, &[]),
            Err(Error::KernelPanic(panic)) => {
                let lines = [panic.line]
                    .into_iter()
                    .chain(panic.others.iter().map(|other| other.line));
                let causes: Vec<Cause> = lines.map(Cause::Kernel).collect();
                self.told(position, kernels, &causes)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// A wait for a position told these panics, and was to tell all of a kind.
    fn told(
        &mut self,
        position: &Position,
        is_of_kind: impl Fn(Cause) -> bool,
        causes: &[Cause],
    ) -> Result<()> {
        let covered = |panic: &Untold| is_of_kind(panic.cause) && position.perhaps.covers(panic);
        let mut last = Vec::new();
        for cause in causes {
            let told = causes.iter().filter(|other| *other == cause).count();
            let of_cause = |panic: &&Untold| panic.cause == *cause && covered(panic);
            let most = self.untold.iter().filter(of_cause).count();
            ensure!(
                told <= most,
                "a wait tells {cause:?} {told} times, and covers {most} that were not told"
            );
            if told == most {
                last.push(*cause);
            }
        }
        if let Some(panic) = self.untold.iter().find(|panic| {
            is_of_kind(panic.cause)
                && position.surely.covers(panic)
                && !causes.contains(&panic.cause)
                && !panic.perhaps_told
        }) {
            bail!("a wait does not tell {panic:?}");
        }
        self.untold.retain_mut(|panic| {
            if !covered(panic) || !causes.contains(&panic.cause) {
                return true;
            }
            // Launches of one graph may be told as one, so that it is not known which of them were.
            panic.perhaps_told = true;
            !position.surely.covers(panic) && !last.contains(&panic.cause)
        });
        Ok(())
    }
}

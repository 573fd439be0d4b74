//! Random calls of the driver's interface, with hostile sizes, handles and orders: each answers a code. None crashes, hangs or panics,
//! and when the contexts are gone, so is the memory.

mod operations;
mod state;

use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use warpsmith_driver::raw::*;
use warpsmith_driver::{Choice, error, select};
use warpsmith_testkit::Random;

use crate::isolated::Limits;
use crate::kind::Kind;
use crate::report::Report;
use operations::Operation;
use state::{Of, State};

/// Random driver calls.
pub const API: Kind = Kind {
    name: "api",
    summary: "random driver calls, which must answer a code and leave nothing behind",
    usual: Duration::from_secs(20),
    limits: Limits {
        processor: Duration::from_secs(60),
        time: Duration::from_secs(120),
        memory: 3 << 30,
    },
    environment: &[
        ("WARPSMITH_REPORT", "0"),
        ("WARPSMITH_DEVICE", "simulator"),
        ("WARPSMITH_PATIENCE", "1"),
        // Less than any machine has, so that what is free depends on what is allocated alone.
        ("WARPSMITH_SIMULATOR_MEMORY", "512M"),
        ("WARPSMITH_SIMULATOR_THREADS", "2"),
    ],
    reducible: true,
    round,
    replay,
};

/// Sequences of a round.
const SEQUENCES: usize = 8;
/// Calls of a sequence.
const CALLS: usize = 600;
/// After so many sequences a process has what it keeps for good.
const WARM: usize = 3;
/// How much a process may grow after that.
const MOST_GROWTH: u64 = 48 << 20;

/// Stands between the sequences of a case that the process grows by; a comment, so that it stays where the case is reduced.
const NEXT: &str = "// The next context.\n";

/// The first panic in this process.
static PANIC: Mutex<Option<String>> = Mutex::new(None);

/// A call with the seed of its arguments.
struct Call {
    operation: &'static Operation,
    seed: u64,
}

/// The calls of a case.
struct Sequence(Vec<Call>);

impl Sequence {
    fn random(random: &mut Random) -> Sequence {
        let operations: Vec<&'static Operation> = operations::all().collect();
        let mut call = || Call {
            operation: operations[random.index(operations.len())],
            seed: random.bits(),
        };
        Sequence((0..CALLS).map(|_| call()).collect())
    }

    /// As a file: a line for each call. Of calls with the same name, which have different arguments, the number is given.
    fn text(&self) -> String {
        let mut text = String::new();
        for call in &self.0 {
            let same = operations::all().filter(|other| other.name == call.operation.name);
            let mut same = same.enumerate();
            let number = same.find(|(_, other)| std::ptr::eq(*other, call.operation));
            let number = number.map_or(0, |(number, _)| number);
            let _ = writeln!(text, "{} {number} {:x}", call.operation.name, call.seed);
        }
        text
    }

    fn parse(text: &str) -> Result<Sequence> {
        let mut named: HashMap<&str, Vec<&'static Operation>> = HashMap::new();
        for operation in operations::all() {
            named.entry(operation.name).or_default().push(operation);
        }
        let calls = text
            .lines()
            .filter(|line| !line.starts_with("//"))
            .map(|line| {
                let call = || {
                    let mut words = line.split(' ');
                    let operations = named.get(words.next()?)?;
                    let operation = operations.get(words.next()?.parse::<usize>().ok()?)?;
                    let seed = u64::from_str_radix(words.next()?, 16).ok()?;
                    Some(Call { operation, seed })
                };
                call().with_context(|| format!("`{line}` is no call"))
            });
        Ok(Sequence(calls.collect::<Result<_>>()?))
    }
}

/// Chooses the simulator. Panics in this process are noted from now on.
fn begin() -> Result<()> {
    std::panic::set_hook(Box::new(|info| {
        if let Ok(mut panic) = PANIC.lock() {
            panic.get_or_insert_with(|| info.to_string());
        }
    }));
    select(Choice::Simulator)?;
    // SAFETY: it takes a number.
    expect("cuInit", unsafe { cuInit(0) })
}

fn expect(call: &str, result: CUresult) -> Result<()> {
    match result {
        CUresult::CUDA_SUCCESS => Ok(()),
        failed => bail!("{call} answers {}", error::name(failed)),
    }
}

/// The free memory of the device, in a context that is made for the question. Memory of pools outlives contexts, so what of `allocated`
/// lives is freed before.
fn free_memory(allocated: &[CUdeviceptr]) -> Result<usize> {
    let (mut context, mut free, mut total) = (std::ptr::null_mut(), 0, 0);
    let mut pool = std::ptr::null_mut();
    // SAFETY: the calls write to variables that outlive them; the context is destroyed with nothing in it; nothing uses the memory any
    // more, and an address that is none any more is refused.
    unsafe {
        expect("cuCtxCreate", cuCtxCreate_v2(&mut context, 0, 0))?;
        for &address in allocated {
            cuMemFree_v2(address);
        }
        expect(
            "cuDeviceGetDefaultMemPool",
            cuDeviceGetDefaultMemPool(&mut pool, 0),
        )?;
        expect("cuMemPoolTrimTo", cuMemPoolTrimTo(pool, 0))?;
        expect("cuMemGetInfo", cuMemGetInfo_v2(&mut free, &mut total))?;
        expect("cuCtxDestroy", cuCtxDestroy_v2(context))?;
    }
    Ok(free)
}

/// Makes the calls, in a context of their own, and destroys what contexts there are. What is wrong, if anything is.
fn perform(sequence: &Sequence, codes: &mut HashMap<i32, u64>) -> Result<Option<String>> {
    let before = free_memory(&[])?;
    // What the calls leave enqueued may use the buffers as long as the process lives.
    let state: &'static mut State = Box::leak(Box::new(State::new()));
    let mut context = std::ptr::null_mut();
    // SAFETY: the context is written to a variable that outlives the call.
    expect("cuCtxCreate", unsafe { cuCtxCreate_v2(&mut context, 0, 0) })?;
    state.keep(Of::Context, CUresult::CUDA_SUCCESS, context as u64);
    let mut contexts = vec![context as u64];
    for call in &sequence.0 {
        state.random = Random::new(call.seed);
        let result = (call.operation.call)(state);
        *codes.entry(result.0 as i32).or_default() += 1;
    }
    let (known, allocated) = state.forget();
    contexts.extend(known);
    for context in contexts {
        // SAFETY: a handle is looked up, whether its context lives or not.
        unsafe { cuCtxDestroy_v2(context as CUcontext) };
    }
    if let Ok(mut panic) = PANIC.lock()
        && let Some(panic) = panic.take()
    {
        return Ok(Some(panic));
    }
    let after = free_memory(&allocated)?;
    Ok((before != after).then(|| {
        format!("{before} bytes were free before, and {after} are when the contexts are gone")
    }))
}

/// Watches the memory of this process over the sequences of a round, or of a case.
#[derive(Default)]
struct Growth {
    sequences: usize,
    warm: u64,
}

impl Growth {
    /// A sequence is done; the process has so many bytes.
    fn note(&mut self, bytes: u64) {
        self.sequences += 1;
        if self.sequences == WARM {
            self.warm = bytes;
        }
    }

    /// What is wrong, if anything is, where the process has so many bytes at the end.
    fn failure(&self, bytes: u64) -> Option<String> {
        let after = self
            .sequences
            .checked_sub(WARM)
            .filter(|&count| count > 0)?;
        let growth = bytes.saturating_sub(self.warm);
        (growth > MOST_GROWTH).then(|| {
            format!(
                "the process grows by {growth} bytes in {after} contexts, after the first {WARM}"
            )
        })
    }
}

/// The memory that this process has now; zero where the system does not say.
fn resident_memory() -> u64 {
    let pages = || -> Option<u64> {
        let text = std::fs::read_to_string("/proc/self/statm").ok()?;
        text.split_whitespace().nth(1)?.parse().ok()
    };
    pages().unwrap_or(0) * rustix::param::page_size() as u64
}

fn round(seed: u64, report: &mut Report) -> Result<()> {
    begin()?;
    let mut random = Random::new(seed);
    let (mut codes, mut growth, mut all) = (HashMap::new(), Growth::default(), Vec::new());
    for number in 0..SEQUENCES {
        let sequence = Sequence::random(&mut random);
        let text = sequence.text();
        let file = report.write(&number.to_string(), "txt", text.as_bytes())?;
        report.trying(&file);
        let harm = perform(&sequence, &mut codes)?;
        growth.note(resident_memory());
        all.push(text);
        match harm {
            Some(why) => report.found(&file, &why),
            None => report.dismiss(&file)?,
        }
    }
    if let Some(why) = growth.failure(resident_memory()) {
        let file = report.write("growth", "txt", all.join(NEXT).as_bytes())?;
        report.found(&file, &why);
    }
    let good = codes.get(&0).copied().unwrap_or(0);
    report.count("calls", (SEQUENCES * CALLS) as u64);
    report.count("of them successful", good);
    Ok(())
}

fn replay(files: &[PathBuf], report: &mut Report) -> Result<()> {
    begin()?;
    for file in files {
        report.trying(file);
        let text = std::fs::read_to_string(file)
            .with_context(|| format!("cannot read {}", file.display()))?;
        let mut growth = Growth::default();
        for text in text.split(NEXT) {
            let sequence = Sequence::parse(text).with_context(|| in_file(file))?;
            if let Some(why) = perform(&sequence, &mut HashMap::new())? {
                report.found(file, &why);
            }
            growth.note(resident_memory());
        }
        if let Some(why) = growth.failure(resident_memory()) {
            report.found(file, &why);
        }
    }
    report.count("cases", files.len() as u64);
    Ok(())
}

fn in_file(file: &Path) -> String {
    format!("in {}", file.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sequence_is_read_as_it_is_written() {
        let text = Sequence::random(&mut Random::new(3)).text();
        assert_eq!(text.lines().count(), CALLS);
        assert_eq!(Sequence::parse(&text).unwrap().text(), text);
        assert!(Sequence::parse("cuFly 0 1").is_err());
        // Each of those that a process grows by is a case by itself.
        let both = [text.as_str(), text.as_str()].join(NEXT);
        assert!(both.split(NEXT).all(|one| one == text));
    }

    #[test]
    fn growth_counts_from_where_the_process_is_warm() {
        let mut growth = Growth::default();
        for bytes in [100 << 20, 200 << 20, 300 << 20] {
            growth.note(bytes);
            assert_eq!(growth.failure(1 << 40), None);
        }
        growth.note(400 << 20);
        assert_eq!(growth.failure((300 << 20) + MOST_GROWTH), None);
        let why = growth.failure((300 << 20) + MOST_GROWTH + 1).unwrap();
        assert!(why.contains("in 1 contexts, after the first 3"), "{why}");
    }
}

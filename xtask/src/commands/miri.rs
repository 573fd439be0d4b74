//! `cargo xtask miri`: interprets unit and file tests with Miri, which finds undefined behaviour in unsafe code.

use crate::cargo;
use crate::progress::Step;
use anyhow::{Context, Result, bail};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::num::NonZero;
use std::process::{Command, ExitCode, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// The toolchain that has Miri: it exists for nightly compilers only.
const TOOLCHAIN: &str = "nightly";

/// What Miri is told.
///
/// * Blessed file tests, time and threads need the host.
/// * Addresses of guest programs are integers, so pointers to guest memory are made of them.
/// * Guests access the same bytes with several widths, which Miri's model of weak memory gives up on.
/// * The host's square roots and the like are exact enough for the tests; Miri's own are off by chance, to find programs that rely on them.
/// * Idle threads of streams linger by design, and are gone with the process.
const FLAGS: &str = "-Zmiri-disable-isolation -Zmiri-permissive-provenance \
                     -Zmiri-disable-weak-memory-emulation -Zmiri-deterministic-floats -Zmiri-ignore-leaks";

/// A test harness.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Harness {
    package: &'static str,
    /// The file below `tests`; the library's unit tests where there is none.
    file: Option<&'static str>,
}

const fn units(package: &'static str) -> Harness {
    let file = None;
    Harness { package, file }
}

const fn tests(package: &'static str, file: &'static str) -> Harness {
    let file = Some(file);
    Harness { package, file }
}

/// The simulator's unit tests.
const SIMULATOR: Harness = units("warpsmith-simulator");
/// Its file tests.
const FILES: Harness = tests("warpsmith-simulator", "files");
/// A program of driver calls: the whole way from a call to the kernel's bytes.
const DRIVER_CALLS: Harness = tests("warpsmith-simulator", "driver_calls");

/// Some tests, which one process interprets.
struct Part {
    /// What they are of.
    what: &'static str,
    harness: Harness,
    /// Parts of their names, or of the paths of file tests; all where there is none.
    names: &'static [&'static str],
    /// Parts of the names of those that are left out.
    without: &'static [&'static str],
}

const fn part(what: &'static str, harness: Harness, names: &'static [&'static str]) -> Part {
    let without: &[&str] = &[];
    Part {
        what,
        harness,
        names,
        without,
    }
}

/// What is interpreted by default, the longest first.
const USUAL: &[Part] = &[
    part(
        "file tests of synchronisation",
        FILES,
        &[
            "checks/barriers.ptx",
            "checks/cluster.ptx",
            "checks/mbarrier_tests.ptx",
            "checks/missing_barrier.ptx",
            "isa/async_store_wide.ptx",
            "isa/bulk_weak.ptx",
            "isa/copy.ptx",
            "isa/fences_restricted.ptx",
        ],
    ),
    part(
        "file tests of memory",
        FILES,
        &[
            "checks/bounds.ptx",
            "checks/uninitialised.ptx",
            "engine/byte_parts.ptx",
            "engine/extern_shared.ptx",
            "isa/memory.ptx",
            "isa/variables.ptx",
        ],
    ),
    part(
        "file tests of atomic operations and several workers",
        FILES,
        &[
            "checks/histogram.ptx",
            "engine/atomics.ptx",
            "engine/workers.ptx",
            "isa/atomic.ptx",
            "numerics/atomic_vectors.ptx",
        ],
    ),
    part(
        "file tests of warps, calls and matrices",
        FILES,
        &[
            "checks/warp.ptx",
            "engine/matrix_rows.ptx",
            "engine/partial_warp.ptx",
            "engine/register_places.ptx",
            "engine/rendezvous.ptx",
            "engine/warpgroup_product.ptx",
            "isa/control.ptx",
            "numerics/printf.ptx",
        ],
    ),
    part("the engine's unit tests", SIMULATOR, &["engine::"]),
    part("a program of driver calls", DRIVER_CALLS, &[]),
    part(
        "unit tests of memory, queues, streams and contexts",
        SIMULATOR,
        &["memory::", "work::", "streams::", "context::"],
    ),
    Part {
        what: "the host library's unit tests",
        harness: units("warpsmith-host"),
        names: &[],
        without: HOST_LEFT_OUT,
    },
    part(
        "the signature's unit tests",
        units("warpsmith-signature"),
        &[],
    ),
    part("the interface's unit tests", units("warpsmith-abi"), &[]),
];

/// What `--all` adds: safe code, and larger files.
const REST: &[Part] = &[
    part("the checks' unit tests", SIMULATOR, &["check::"]),
    Part {
        what: "the simulator's other unit tests, without arithmetic",
        harness: SIMULATOR,
        names: &[],
        without: &[
            "check::",
            "context::",
            "engine::",
            "memory::",
            "numerics::",
            "streams::",
            "work::",
        ],
    },
    part(
        "larger file tests of memory and calls",
        FILES,
        &[
            "checks/shared_variables.ptx",
            "engine/blocks.ptx",
            "engine/calls.ptx",
            "engine/memory.ptx",
            "isa/half.ptx",
            "numerics/mma.ptx",
        ],
    ),
    part(
        "larger file tests of synchronisation",
        FILES,
        &[
            "checks/bulk.ptx",
            "engine/asynchronous.ptx",
            "engine/progress.ptx",
            "isa/async_store.ptx",
            "isa/barrier.ptx",
            "isa/mbarrier.ptx",
        ],
    ),
];

/// Unit tests of the host library that are left out: one opens a device (how the program's simulator is found is made by the linker, which
/// Miri has none of), and one a pair of sockets, which Miri has not, either.
const HOST_LEFT_OUT: &[&str] = &[
    "a_record_that_is_being_filled_stays",
    "other_messages_and_closed_sockets_are_errors",
];

/// What the help says of the rest.
const NOT_INTERPRETED: &str = "\
Not interpreted:
  the simulator's arithmetic, and its checks without --all: safe code
  other file tests: what they execute touches memory in ways that these do, and Miri needs some seconds for each ten lines of PTX
  vector instructions and calls of the system's memory: Miri has none (`cargo xtask sanitize` runs them)
  tests that open a device through the host library: the linker, which Miri does without, brings the simulator
  tests with sockets: Miri has none";

/// The options of `cargo xtask miri`.
#[derive(clap::Args)]
#[command(after_help = NOT_INTERPRETED)]
pub struct Options {
    /// Tree Borrows in place of Stacked Borrows.
    #[arg(long)]
    tree_borrows: bool,
    /// The unit tests of safe code, and larger file tests, too.
    #[arg(long, conflicts_with = "files")]
    all: bool,
    /// So many processes at a time; as many as there are cores where it is left out.
    #[arg(long)]
    jobs: Option<NonZero<usize>>,
    /// The minutes of processor time that a process may take: one that needs more fails.
    #[arg(long, default_value = "30")]
    minutes: NonZero<u32>,
    /// File tests of the simulator by a part of their path, in place of all else.
    files: Vec<String>,
}

/// One process of Miri.
struct Interpretation {
    what: String,
    harness: Harness,
    /// For the harness.
    arguments: Vec<String>,
    /// Flags besides those of all.
    flags: String,
}

impl Interpretation {
    fn of_part(part: &Part) -> Self {
        if part.harness == FILES {
            let what = format!("{}: {}", part.what, part.names.join(" "));
            return Self::of_files(what, &part.names.join(","));
        }
        let mut arguments: Vec<String> = part.names.iter().map(|&name| name.into()).collect();
        for &name in part.without {
            arguments.extend(["--skip".into(), name.into()]);
        }
        Self {
            what: part.what.into(),
            harness: part.harness,
            arguments,
            flags: String::new(),
        }
    }

    /// The file tests whose paths have one of these parts, which commas separate.
    fn of_files(what: String, parts: &str) -> Self {
        Self {
            what,
            harness: FILES,
            arguments: vec!["--nocapture".into()],
            // Variables of the environment are those of the time when the test was built.
            flags: format!(" -Zmiri-env-set=WARPSMITH_FILES={parts}"),
        }
    }

    /// Why it fails, if it does.
    fn run(&self, common: &str, limit: Duration) -> Result<Option<String>> {
        let what = &self.what;
        eprintln!("  ... {what}");
        let start = Instant::now();
        let output = test_command(self.harness)
            .arg("--")
            .args(&self.arguments)
            .env("MIRIFLAGS", format!("{common}{}", self.flags))
            // A backtrace takes a second, and some tests panic on purpose.
            .env("RUST_BACKTRACE", "0")
            .output()?;
        let took = start.elapsed();
        let seconds = took.as_secs();
        if output.status.success() {
            eprintln!("   ok {what}: {seconds} s");
            return Ok(None);
        }
        // At once, so that processes do not talk at the same time.
        let [out, error] = [&output.stdout, &output.stderr].map(|b| String::from_utf8_lossy(b));
        let reason = if error.contains("SIGXCPU") {
            let minutes = limit.as_secs() / 60;
            format!(
                "stopped after {minutes} minutes of processor time, in the last test named above (`--minutes` allows more)"
            )
        } else {
            output.status.to_string()
        };
        eprintln!("{error}{out}  !!! {what}: {seconds} s, {reason}");
        Ok(Some(format!("{what} ({reason})")))
    }
}

/// `cargo miri test` of a harness.
fn test_command(harness: Harness) -> Command {
    let mut command = toolchain_cargo(&["miri", "test", "--package", harness.package]);
    match harness.file {
        None => command.arg("--lib"),
        Some(file) => command.args(["--test", file]),
    };
    command
}

fn interpretations(options: &Options) -> Vec<Interpretation> {
    if !options.files.is_empty() {
        let files = options.files.iter();
        let of_file = |file: &String| Interpretation::of_files(format!("file tests: {file}"), file);
        return files.map(of_file).collect();
    }
    let parts: &[&[Part]] = if options.all {
        &[REST, USUAL]
    } else {
        &[USUAL]
    };
    let parts = parts.iter().copied().flatten();
    parts.map(Interpretation::of_part).collect()
}

/// Has the system end each process that is started from now on when it has taken so much processor time: Miri itself, whoever started it.
fn limit_processes(limit: Duration) -> Result<()> {
    for (resource, most) in [(Resource::Cpu, limit.as_secs()), (Resource::Core, 0)] {
        let maximum = getrlimit(resource).maximum;
        let most = maximum.map_or(most, |maximum| most.min(maximum));
        let current = Some(most);
        setrlimit(resource, Rlimit { current, maximum })
            .context("the system does not limit processes")?;
    }
    Ok(())
}

/// Interprets tests, several processes at a time: each interprets one thread at a time, whatever it is told.
pub fn run(options: &Options) -> Result<ExitCode> {
    prepare()?;
    let start = Instant::now();
    let mut flags = FLAGS.to_owned();
    if options.tree_borrows {
        flags.push_str(" -Zmiri-tree-borrows");
    }
    let all = interpretations(options);
    build(&all)?;
    let limit = Duration::from_secs(60 * u64::from(options.minutes.get()));
    limit_processes(limit)?;
    let jobs = match options.jobs {
        Some(jobs) => jobs.get(),
        None => std::thread::available_parallelism().map_or(1, NonZero::get),
    };
    let (next, failed) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let work = || -> Result<()> {
        while let Some(interpretation) = all.get(next.fetch_add(1, Ordering::Relaxed)) {
            if let Some(reason) = interpretation.run(&flags, limit)? {
                let mut failed = failed.lock().expect("nobody panics with it");
                failed.push(reason);
            }
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..jobs).map(|_| scope.spawn(work)).collect();
        let mut ends = workers.into_iter().map(|worker| worker.join());
        ends.try_for_each(|end| end.expect("a worker does not panic"))
    })?;
    let failed = failed.into_inner().expect("nobody panicked with it");
    if failed.is_empty() {
        let (minutes, parts) = (start.elapsed().as_secs_f64() / 60.0, all.len());
        eprintln!("   ok no undefined behaviour in {parts} parts, {minutes:.1} minutes");
        Ok(ExitCode::SUCCESS)
    } else {
        bail!(
            "Miri objects to, or a test failed in: {}",
            failed.join("; ")
        )
    }
}

/// Builds what is to be interpreted, each harness once.
fn build(all: &[Interpretation]) -> Result<()> {
    let mut built = Vec::new();
    for interpretation in all {
        let harness = interpretation.harness;
        if !built.contains(&harness) {
            cargo::run_or_fail(test_command(harness).args(["--quiet", "--no-run"]))?;
            built.push(harness);
        }
    }
    Ok(())
}

/// Gets Miri and the source of the standard library, unless they are there.
fn prepare() -> Result<()> {
    let has_miri = || {
        toolchain_cargo(&["miri", "--version"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .is_ok_and(|status| status.success())
    };
    if has_miri() {
        return Ok(());
    }
    let step = Step::begin("fetching Miri");
    let arguments = [
        "component",
        "add",
        "--toolchain",
        TOOLCHAIN,
        "miri",
        "rust-src",
    ];
    let output = Command::new("rustup").args(arguments).output();
    if has_miri() {
        step.finish("it is installed");
        return Ok(());
    }
    let reason = match output {
        Ok(output) => String::from_utf8_lossy(&output.stderr).trim().to_owned(),
        Err(error) => format!("rustup cannot be started: {error}"),
    };
    bail!(
        "Miri is not installed and could not be fetched:\n{reason}\n\
         Run `rustup toolchain install {TOOLCHAIN} --component miri rust-src` where there is a network."
    )
}

/// Cargo of the toolchain that has Miri, whatever cargo runs this.
fn toolchain_cargo(arguments: &[&str]) -> Command {
    let mut command = cargo::of_toolchain(TOOLCHAIN);
    command.args(arguments);
    command
}

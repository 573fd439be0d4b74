//! `cargo xtask miri`: interprets unit and file tests with Miri, which finds undefined behaviour in unsafe code.

use crate::cargo;
use crate::progress::Step;
use anyhow::{Result, bail};
use std::num::NonZero;
use std::process::{Command, ExitCode, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

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
/// The host library's unit tests.
const HOST: Harness = units("warpsmith-host");

/// Some tests of a harness, which one process interprets.
struct Part {
    harness: Harness,
    /// Parts of their names; all where there is none.
    names: &'static [&'static str],
    /// Parts of the names of those that are left out.
    without: &'static [&'static str],
}

/// What is interpreted by default beside file tests, the longest first.
const USUAL: &[Part] = &[
    Part {
        harness: SIMULATOR,
        names: &["check::"],
        without: &[],
    },
    Part {
        harness: SIMULATOR,
        names: &["engine::"],
        without: &[],
    },
    Part {
        harness: DRIVER_CALLS,
        names: &[],
        without: &[],
    },
    Part {
        harness: SIMULATOR,
        names: &["memory::", "work::", "streams::", "context::"],
        without: &[],
    },
    Part {
        harness: HOST,
        names: &[],
        without: WITH_A_DEVICE,
    },
    Part {
        harness: units("warpsmith-signature"),
        names: &[],
        without: &[],
    },
    Part {
        harness: units("warpsmith-abi"),
        names: &[],
        without: &[],
    },
];

/// What `--all` adds: the rest of the simulator, but its arithmetic, which has no unsafe code, and much of which takes Miri long.
const REST: &[Part] = &[Part {
    harness: SIMULATOR,
    names: &[],
    without: &[
        "check::",
        "engine::",
        "memory::",
        "work::",
        "streams::",
        "context::",
        "numerics::",
    ],
}];

/// Unit tests of the host library that open a device. How the program's simulator is found is made by the linker, which Miri has none of.
const WITH_A_DEVICE: &[&str] = &["a_record_that_is_being_filled_stays"];

/// The file tests that are interpreted by default.
const FEW_FILES: &[&str] = &["isa/control", "isa/copy", "checks/uninitialised"];

/// Those that `--all` adds: families whose operations touch memory in a way of their own.
const MORE_FILES: &[&str] = &["isa/atomic", "isa/barrier", "isa/half", "isa/mbarrier"];

/// The options of `cargo xtask miri`.
#[derive(clap::Args)]
pub struct Options {
    /// Tree Borrows in place of Stacked Borrows.
    #[arg(long)]
    tree_borrows: bool,
    /// More of the simulator's unit tests, and a file test of each family of instructions that touches memory in a way of its own.
    #[arg(long, conflicts_with = "files")]
    all: bool,
    /// So many processes at a time; as many as there are cores where it is left out.
    #[arg(long)]
    jobs: Option<NonZero<usize>>,
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
        let mut what = part.harness.package.to_owned();
        if let Some(file) = part.harness.file {
            what += &format!(", {file}");
        }
        for (word, names) in [("", part.names), ("without ", part.without)] {
            if !names.is_empty() {
                what += &format!(", {word}{}", names.join(" "));
            }
        }
        let mut arguments: Vec<String> = part.names.iter().map(|&name| name.into()).collect();
        for &name in part.without {
            arguments.extend(["--skip".into(), name.into()]);
        }
        Self {
            what,
            harness: part.harness,
            arguments,
            flags: String::new(),
        }
    }

    /// The file tests whose paths have this part.
    fn of_files(part: &str) -> Self {
        Self {
            what: format!("file tests: {part}"),
            harness: FILES,
            arguments: vec!["--nocapture".into()],
            // Variables of the environment are those of the time when the test was built.
            flags: format!(" -Zmiri-env-set=WARPSMITH_FILES={part}"),
        }
    }

    /// Whether it succeeds.
    fn run(&self, common: &str) -> Result<bool> {
        let start = Instant::now();
        let output = test_command(self.harness)
            .arg("--quiet")
            .arg("--")
            .args(&self.arguments)
            .env("MIRIFLAGS", format!("{common}{}", self.flags))
            .output()?;
        let (what, seconds) = (&self.what, start.elapsed().as_secs());
        if output.status.success() {
            eprintln!("   ok {what}: {seconds} s");
        } else {
            // At once, so that processes do not talk at the same time.
            let [out, error] = [&output.stdout, &output.stderr].map(|b| String::from_utf8_lossy(b));
            eprintln!("{out}{error}  !!! {what}: {seconds} s, {}", output.status);
        }
        Ok(output.status.success())
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
        return files.map(|file| Interpretation::of_files(file)).collect();
    }
    let (parts, files): (Vec<&[Part]>, Vec<&[&str]>) = match options.all {
        true => (vec![USUAL, REST], vec![MORE_FILES, FEW_FILES]),
        false => (vec![USUAL], vec![FEW_FILES]),
    };
    let parts = parts.into_iter().flatten().map(Interpretation::of_part);
    let files = files.into_iter().flatten();
    let files = files.map(|file| Interpretation::of_files(file));
    parts.chain(files).collect()
}

/// Interprets tests, several processes at a time: each interprets one thread at a time, whatever it is told.
pub fn run(options: &Options) -> Result<ExitCode> {
    prepare()?;
    let mut flags = FLAGS.to_owned();
    if options.tree_borrows {
        flags.push_str(" -Zmiri-tree-borrows");
    }
    let all = interpretations(options);
    build(&all)?;
    let jobs = match options.jobs {
        Some(jobs) => jobs.get(),
        None => std::thread::available_parallelism().map_or(1, NonZero::get),
    };
    let (next, failed) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let work = || -> Result<()> {
        while let Some(interpretation) = all.get(next.fetch_add(1, Ordering::Relaxed)) {
            if !interpretation.run(&flags)? {
                let mut failed = failed.lock().expect("nobody panics with it");
                failed.push(interpretation.what.as_str());
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
        eprintln!("   ok no undefined behaviour");
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

//! `cargo xtask isa`: compares the instruction tables with ptxas.

mod judge;

use anyhow::{Context, Result, bail};
use std::collections::BTreeMap;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use warpsmith_builder::ptxas::Ptxas;
use warpsmith_isa::sample::{self, Example, Origin, Sample};
use warpsmith_isa::{PtxVersion, Target};

/// The options of `cargo xtask isa`.
#[derive(clap::Args)]
pub struct Options {
    /// Have ptxas judge an example of each form and of each alternative of it, for every PTX version and architecture.
    #[arg(long)]
    check: bool,
    /// Print since when ptxas knows each of them: for who adds a form.
    #[arg(long)]
    since: bool,
}

/// The versions that ptxas is asked about.
const VERSIONS: &[(u8, u8)] = &[
    (2, 3),
    (3, 0),
    (3, 1),
    (3, 2),
    (4, 0),
    (4, 1),
    (4, 2),
    (4, 3),
    (5, 0),
    (6, 0),
    (6, 1),
    (6, 2),
    (6, 3),
    (6, 4),
    (6, 5),
    (7, 0),
    (7, 1),
    (7, 2),
    (7, 3),
    (7, 4),
    (7, 5),
    (7, 6),
    (7, 7),
    (7, 8),
    (8, 0),
    (8, 1),
    (8, 2),
    (8, 3),
    (8, 4),
    (8, 5),
    (8, 6),
    (8, 7),
    (8, 8),
    (9, 0),
    (9, 1),
    (9, 2),
    (9, 3),
    (9, 4),
    (9, 5),
];

/// The architectures that ptxas is asked about.
const TARGETS: &[&str] = &[
    "sm_20", "sm_30", "sm_35", "sm_50", "sm_52", "sm_53", "sm_60", "sm_61", "sm_62", "sm_70",
    "sm_72", "sm_75", "sm_80", "sm_86", "sm_87", "sm_88", "sm_89", "sm_90", "sm_90a", "sm_100",
    "sm_100f", "sm_100a", "sm_103", "sm_103a", "sm_110", "sm_110f", "sm_110a", "sm_120", "sm_120f",
    "sm_120a", "sm_121", "sm_121a",
];

/// The architectures for which all versions are tried: the newest ones of each kind.
const BEST: &[&str] = &[
    "sm_90a", "sm_100a", "sm_120a", "sm_89", "sm_80", "sm_75", "sm_70",
];

/// One question: a version and an architecture.
type Cell = (PtxVersion, Target);

/// Which samples ptxas refuses, and why, for each version and architecture.
struct Verdicts {
    cells: Vec<(Cell, judge::Refusals)>,
}

impl Verdicts {
    fn ask(ptxas: &Ptxas, samples: &[Sample]) -> Result<Verdicts> {
        let target =
            |name: &&str| Target::parse(name).with_context(|| format!("{name} is no architecture"));
        let versions = VERSIONS
            .iter()
            .map(|&(major, minor)| PtxVersion::new(major, minor));
        let mut cells: Vec<Cell> = Vec::new();
        for target in TARGETS.iter().map(target) {
            cells.push((PtxVersion::NEWEST, target?));
        }
        for target in BEST.iter().map(target) {
            let target = target?;
            cells.extend(
                versions
                    .clone()
                    .filter(|&version| version != PtxVersion::NEWEST)
                    .map(|version| (version, target)),
            );
        }
        let statements: Vec<&str> = samples.iter().map(|sample| sample.text.as_str()).collect();
        let (next, results) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
        std::thread::scope(|scope| {
            for _ in 0..std::thread::available_parallelism()
                .map_or(2, usize::from)
                .min(8)
            {
                scope.spawn(|| {
                    loop {
                        let index = next.fetch_add(1, Ordering::Relaxed);
                        let Some(&(version, target)) = cells.get(index) else {
                            break;
                        };
                        let refusals = judge::refusals(ptxas, version, target, &statements);
                        results
                            .lock()
                            .expect("no thread panics with the results")
                            .push((index, refusals));
                    }
                });
            }
        });
        let mut results = results
            .into_inner()
            .expect("no thread panics with the results");
        results.sort_by_key(|&(index, _)| index);
        let mut all = Vec::new();
        for (index, refusals) in results {
            all.push((cells[index], refusals?));
        }
        Ok(Verdicts { cells: all })
    }

    fn accepts(&self, sample: usize, cell: Cell) -> bool {
        self.cells
            .iter()
            .any(|(other, refusals)| *other == cell && !refusals.contains_key(&sample))
    }
}

/// Compares the tables with ptxas; fails where they differ.
pub fn run(options: &Options) -> Result<ExitCode> {
    if !options.check && !options.since {
        bail!("say what to do: `--check` or `--since`");
    }
    let ptxas =
        Ptxas::find().context("ptxas was not found: `cargo xtask setup --ptxas` fetches it")?;
    let samples = sample::all();
    let verdicts = Verdicts::ask(&ptxas, &samples)?;
    if options.since {
        print_since(&samples, &verdicts);
    }
    if options.check {
        return Ok(check(&samples, &verdicts));
    }
    Ok(ExitCode::SUCCESS)
}

fn check(samples: &[Sample], verdicts: &Verdicts) -> ExitCode {
    let (mut agree, mut differ) = (0usize, BTreeMap::<usize, Vec<String>>::new());
    let (mut refused, mut same_words) = (0usize, 0usize);
    for ((version, target), refusals) in &verdicts.cells {
        for (index, sample) in samples.iter().enumerate() {
            let ours = sample.refusal(*version, *target);
            let theirs = refusals.get(&index);
            if ours.is_none() == theirs.is_none() {
                agree += 1;
                if let (Some(ours), Some(theirs)) = (ours, theirs) {
                    refused += 1;
                    same_words += usize::from(theirs.contains(&ours.to_string()));
                }
                continue;
            }
            let said = match theirs {
                Some(messages) => format!(
                    "ptxas refuses it for {target}, version {version}: {}",
                    messages.join("; ")
                ),
                None => format!("ptxas takes it for {target}, version {version}"),
            };
            differ.entry(index).or_default().push(said);
        }
    }
    for (index, said) in &differ {
        println!(
            "{}\n    {} ({} of {} differ)",
            samples[*index].text,
            said[0],
            said.len(),
            verdicts.cells.len()
        );
    }
    let total = agree + differ.values().map(Vec::len).sum::<usize>();
    println!(
        "{} instructions, {} versions and architectures each: {agree} of {total} verdicts agree; {} instructions differ",
        samples.len(),
        verdicts.cells.len(),
        differ.len()
    );
    println!("of {refused} refusals that agree, {same_words} have ptxas's very words");
    if differ.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// Since when ptxas takes each sample: a line each, with tabs.
fn print_since(samples: &[Sample], verdicts: &Verdicts) {
    for (index, sample) in samples.iter().enumerate() {
        let targets: Vec<&str> = TARGETS
            .iter()
            .copied()
            .filter(|name| {
                Target::parse(name)
                    .is_some_and(|target| verdicts.accepts(index, (PtxVersion::NEWEST, target)))
            })
            .collect();
        let version = VERSIONS.iter().find(|&&(major, minor)| {
            BEST.iter().any(|name| {
                Target::parse(name).is_some_and(|target| {
                    verdicts.accepts(index, (PtxVersion::new(major, minor), target))
                })
            })
        });
        let (what, syntax) = match &sample.origin {
            Origin::Form {
                found,
                family,
                example,
            } => {
                let example = match example {
                    Example::Form => "form".to_owned(),
                    Example::Alternative(slot, word) => format!("slot {slot} {word}"),
                    Example::Operand(name) => format!("operand {name}"),
                };
                (format!("{family}\t{example}"), found.form.syntax)
            }
            Origin::Special(name) => ("special\tform".to_owned(), name.as_str()),
        };
        let version = version.map_or("never".to_owned(), |(major, minor)| {
            format!("{major}.{minor}")
        });
        let why = verdicts
            .cells
            .iter()
            .find_map(|((version, target), refusals)| {
                (*version == PtxVersion::NEWEST && target.to_string() == "sm_90a")
                    .then(|| refusals.get(&index))?
            });
        println!(
            "{what}\t{version}\t{}\t{syntax}\t{}\t{}",
            targets.join(","),
            sample.text,
            why.map_or(String::new(), |w| w.join("; "))
        );
    }
}

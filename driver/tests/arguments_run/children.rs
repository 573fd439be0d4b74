//! Rows in processes of their own: one that ends its process costs no other.

use std::io::Write;
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::common::*;
use crate::health::Answer;
use crate::real;
use crate::world::World;
use warpsmith_testkit::process::{calling_test, output};

/// The row that a child begins with.
const FROM: &str = "WARPSMITH_ARGUMENTS_FROM";

/// The status of a child in which no row can follow.
const ILL: i32 = 4;

/// Longer than any call takes, the time for a driver's start included.
const PATIENCE: Duration = Duration::from_secs(60);

/// Rows of a table, by their places in it.
pub trait Rows {
    fn count(&self) -> usize;

    /// The row's name, of which there is no other.
    fn name(&self, row: usize) -> String;

    /// The simulator's answer.
    fn expected(&self, row: usize) -> u32;

    /// Whether a driver that ends with a wrong handle can be asked, too.
    fn is_for_real_drivers(&self, row: usize) -> bool;

    /// Executes a row; none where the world lacks what it needs.
    fn perform(&self, row: usize, w: &World) -> Option<Answer>;
}

/// What became of a row.
#[derive(Clone, PartialEq, Debug)]
enum Outcome {
    /// Not asked of this driver.
    Skipped,
    Answer(u32, String),
    /// The process ended.
    Ended,
}

/// Executes all rows in children of the calling test, which run the same test, and compares the answers.
///
/// # Panics
/// If any row has another outcome than the one that is right.
pub fn run(rows: &impl Rows) {
    if let Ok(from) = std::env::var(FROM) {
        execute(rows, from.parse().expect("a row"));
        return;
    }
    let (outcomes, errors) = outcomes(rows.count());
    let on_gpu = std::env::var("WARPSMITH_DEVICE").is_ok_and(|device| device == "cuda");
    let mut differences = Vec::new();
    for (row, outcome) in outcomes.iter().enumerate() {
        let name = rows.name(row);
        let own = on_gpu.then(|| real::answer(&name)).flatten();
        let expected = own.unwrap_or_else(|| rows.expected(row));
        if on_gpu && *outcome != Outcome::Skipped {
            println!("ROW {name}: {outcome:?}");
        }
        let is_right = match outcome {
            Outcome::Skipped => true,
            Outcome::Answer(answer, remark) => *answer == expected && remark.is_empty(),
            Outcome::Ended => false,
        };
        if !is_right {
            differences.push(format!("{name}: {expected} is right, but: {outcome:?}"));
        }
    }
    assert!(
        differences.is_empty(),
        "{} of {} rows:\n{}\n{errors}",
        differences.len(),
        rows.count(),
        differences.join("\n")
    );
}

/// A child: executes rows from one on and writes what became of them, each before the next begins.
fn execute(rows: &impl Rows, from: usize) {
    let backend = choose_driver();
    ok!(cuInit(0));
    let since = Arc::new(Mutex::new(Instant::now()));
    let watched = Arc::clone(&since);
    std::thread::spawn(move || {
        loop {
            std::thread::sleep(Duration::from_secs(1));
            if watched.lock().expect("nobody panics with it").elapsed() > PATIENCE {
                // The parent finds the row that does not end.
                std::process::exit(3);
            }
        }
    });
    let mut world = None;
    for row in from..rows.count() {
        let name = rows.name(row);
        if backend == Backend::Cuda
            && (!rows.is_for_real_drivers(row) || real::ends_the_process(&name))
        {
            continue;
        }
        *since.lock().expect("nobody panics with it") = Instant::now();
        say(&format!("begin {row}"));
        let w: &World = world.get_or_insert_with(World::new);
        let is_possible = w.far.is_some() || !real::needs_two_devices(&name);
        match is_possible.then(|| rows.perform(row, w)).flatten() {
            None => say(&format!("skip {row}")),
            Some(answer) => {
                say(&format!("answer {row} {} {}", answer.code, answer.remark));
                let is_ill = !answer.remark.is_empty();
                if is_ill && backend == Backend::Cuda {
                    // An error of a context may be the process's.
                    std::process::exit(ILL);
                }
                if is_ill || answer.changed {
                    world = None;
                }
            }
        }
    }
}

/// A line that is out before anything else happens.
fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "\n{line}").expect("the parent reads");
    out.flush().expect("the parent reads");
}

/// Runs all rows in children; what became of each, and what those wrote that ended.
fn outcomes(count: usize) -> (Vec<Outcome>, String) {
    let mut outcomes = vec![Outcome::Skipped; count];
    let (mut from, mut errors) = (0, String::new());
    while from < count {
        let mut command = Command::new(std::env::current_exe().expect("a test knows its program"));
        command
            .args([
                &calling_test(),
                "--exact",
                "--nocapture",
                "--test-threads=1",
            ])
            .env(FROM, from.to_string())
            .env("WARPSMITH_SIMULATOR_DEVICES", "2");
        let output = output(&mut command, Duration::from_secs(540));
        let (mut begun, mut last) = (None, from);
        for line in output.stdout.lines() {
            let mut words = line.splitn(4, ' ');
            let (word, index) = (words.next(), words.next());
            let Some(index) = index.and_then(|index| index.parse::<usize>().ok()) else {
                continue;
            };
            match word {
                Some("begin") => (begun, last) = (Some(index), index),
                Some("answer") => {
                    let answer = words.next().and_then(|word| word.parse().ok());
                    let remark = words.next().unwrap_or_default().to_owned();
                    outcomes[index] = Outcome::Answer(answer.expect("a code"), remark);
                    begun = None;
                }
                Some("skip") => begun = None,
                _ => {}
            }
        }
        if output.status.success() {
            break;
        }
        match begun {
            Some(index) => {
                errors += &output.stderr;
                outcomes[index] = Outcome::Ended;
            }
            None if output.status.code() == Some(ILL) => {}
            None => panic!("a child ended between rows: {output}"),
        }
        from = last + 1;
    }
    (outcomes, errors)
}

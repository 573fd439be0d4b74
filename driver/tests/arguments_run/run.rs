//! Runs every call with right arguments and with each wrong one, in processes of their own: a row that ends its process costs no other.

use std::io::Write;
use std::process::Command;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use crate::answers;
use crate::calls;
use crate::common::*;
use crate::health::{State, problem};
use crate::signatures;
use crate::table::{Call, Change};
use crate::world::{World, enter_ended_context, leave_context};
use crate::wrong::{self, Kind};
use warpsmith_testkit::process::{calling_test, output};

/// The row that a child begins with.
const FROM: &str = "WARPSMITH_ARGUMENTS_FROM";

/// The status of a child in which no row can follow.
const ILL: i32 = 4;

/// Longer than any call takes, the time for a driver's start included.
const PATIENCE: Duration = Duration::from_secs(60);

/// A call with at most one thing wrong.
#[derive(Clone, Copy)]
struct Row {
    call: &'static Call,
    /// The place of the wrong argument; none if it is another thing.
    place: Option<usize>,
    wrong: Option<Kind>,
}

impl Row {
    /// Name and type of what is wrong.
    fn parameter(&self) -> (&'static str, &'static str) {
        self.place.map_or(("-", "-"), |place| {
            signatures::of(self.call.name).parameters[place]
        })
    }

    fn name(&self) -> String {
        let wrong = self
            .wrong
            .map_or("Right".into(), |kind| format!("{kind:?}"));
        format!("{} {} {wrong}", self.call.name, self.parameter().0)
    }

    fn expected(&self) -> u32 {
        let (parameter, of) = self.parameter();
        self.wrong.map_or(self.call.answer, |kind| {
            answers::expected(self.call, parameter, of, kind)
        })
    }

    fn is_for(&self, backend: Backend) -> bool {
        let name = self.call.name;
        backend == Backend::Simulator
            || !(name.contains("ExternalSemaphore")
                || self.wrong.is_some_and(|kind| kind.is_for_simulator_alone())
                || answers::ends_a_real_process(&self.name()))
    }
}

/// All rows.
fn rows() -> Vec<Row> {
    let mut rows = Vec::new();
    for call in calls::all() {
        rows.push(Row {
            call,
            place: None,
            wrong: None,
        });
        rows.extend(wrong::OF_CALLS.iter().map(|&kind| Row {
            call,
            place: None,
            wrong: Some(kind),
        }));
        for (place, (parameter, of)) in signatures::of(call.name).parameters.iter().enumerate() {
            let kinds = wrong::kinds(parameter, of).iter();
            rows.extend(kinds.map(|&kind| Row {
                call,
                place: Some(place),
                wrong: Some(kind),
            }));
        }
    }
    rows
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

/// What a call did.
struct Answer {
    code: u32,
    /// What is not as it must be afterwards; empty if all is well.
    remark: String,
    /// Whether the world is another than before.
    changed: bool,
}

fn is_of_an_end(function: &str) -> bool {
    ["Destroy", "Unload"]
        .iter()
        .any(|word| function.contains(word))
}

/// Executes a row.
fn perform(row: &Row, w: &World) -> Option<Answer> {
    let before = State::of(w);
    let signature = signatures::of(row.call.name);
    let change = match (row.place, row.wrong) {
        (Some(place), Some(kind)) => {
            let (parameter, of) = row.parameter();
            let bits = wrong::bits(kind, of, parameter, row.call.name, w)?;
            Change::of_argument(place, bits)
        }
        (None, Some(Kind::NoContext)) => Change::before(signature.parameters.len(), leave_context),
        (None, Some(_)) => Change::before(signature.parameters.len(), enter_ended_context),
        (_, None) => Change::none(),
    };
    let answer = (row.call.perform)(w, &change).0;
    w.tidy();
    let ends = row.wrong.is_some() && answer == 0 && is_of_an_end(row.call.name);
    if ends {
        // What it ended is missing.
        return Some(Answer {
            code: answer,
            remark: String::new(),
            changed: true,
        });
    }
    let mut remark = problem(w).unwrap_or_default();
    let after = State::of(w);
    let changed = after.sizes != before.sizes;
    if remark.is_empty()
        && answer != 0
        && after != before
        && warpsmith_driver::backend() == Some(Backend::Simulator)
    {
        remark = format!("{before:?} became {after:?}");
    }
    Some(Answer {
        code: answer,
        remark,
        changed,
    })
}

/// A child: executes rows from one on and writes what became of them, each before the next begins.
fn execute(from: usize) {
    let backend = choose_driver();
    ok!(cuInit(0));
    let since = std::sync::Arc::new(Mutex::new(Instant::now()));
    let watched = std::sync::Arc::clone(&since);
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
    for (index, row) in rows().iter().enumerate().skip(from) {
        if !row.is_for(backend) {
            continue;
        }
        *since.lock().expect("nobody panics with it") = Instant::now();
        say(&format!("begin {index}"));
        let w = world.get_or_insert_with(World::new);
        match perform(row, w) {
            None => say(&format!("skip {index}")),
            Some(answer) => {
                say(&format!("answer {index} {} {}", answer.code, answer.remark));
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

/// Runs all rows in children; what became of each.
fn outcomes(rows: &[Row]) -> (Vec<Outcome>, String) {
    let mut outcomes = vec![Outcome::Skipped; rows.len()];
    let (mut from, mut errors) = (0, String::new());
    while from < rows.len() {
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

// covers: DRV-09
#[test]
fn each_wrong_argument_gives_the_named_error() {
    if let Ok(from) = std::env::var(FROM) {
        execute(from.parse().expect("a row"));
        return;
    }
    let rows = rows();
    let (outcomes, errors) = outcomes(&rows);
    let on_gpu = std::env::var("WARPSMITH_DEVICE").is_ok_and(|device| device == "cuda");
    let mut differences = Vec::new();
    for (row, outcome) in rows.iter().zip(&outcomes) {
        let (name, expected) = (row.name(), row.expected());
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
        rows.len(),
        differences.join("\n")
    );
}

#[test]
fn each_function_has_a_call_and_each_parameter_a_wrong_argument() {
    let mut missing = Vec::new();
    for signature in signatures::all() {
        let name = signature.name;
        if signatures::is_of_memory(name) {
            continue;
        }
        if calls::all().all(|call| call.name != name) {
            missing.push(format!("{name} has no call"));
        }
        for (parameter, of) in signature.parameters {
            if wrong::kinds(parameter, of).is_empty() && !wrong::has_no_wrong(parameter, of) {
                missing.push(format!("{name}: nothing is wrong with {parameter}: {of}"));
            }
        }
    }
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}

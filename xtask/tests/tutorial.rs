//! The tutorial's code is compiled and run: each chapter's blocks are written into a new project in the order of the page,
//! and each console block is run and its output compared. So are those of the README.
//!
//! A block whose fence says `file=PATH` is a whole file. A block ```` ```console ```` begins with `$ cargo ...`; the lines
//! below are what it prints, where a line `...` stands for any number of lines.

mod support;

use std::path::Path;
use support::Project;

/// What a page asks to be done.
enum Step {
    Write {
        path: String,
        text: String,
    },
    Run {
        arguments: Vec<String>,
        expected: Vec<String>,
    },
}

fn steps(page: &str) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        let Some(fence) = line.strip_prefix("```").filter(|fence| !fence.is_empty()) else {
            continue;
        };
        let body: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
        if let Some(path) = fence.split(',').find_map(|part| part.strip_prefix("file=")) {
            steps.push(Step::Write {
                path: path.to_owned(),
                text: body.join("\n") + "\n",
            });
        } else if fence == "console" {
            let call = body[0]
                .strip_prefix("$ cargo ")
                .expect("a console block begins with `$ cargo `");
            steps.push(Step::Run {
                arguments: call.split(' ').map(str::to_owned).collect(),
                expected: body[1..].iter().map(|line| (*line).to_owned()).collect(),
            });
        }
    }
    steps
}

/// Whether `actual` reads as `expected`, where `...` stands for any lines.
fn matches(expected: &[String], actual: &[&str]) -> bool {
    match expected.split_first() {
        None => actual.is_empty(),
        Some((first, rest)) if first == "..." => {
            (0..=actual.len()).any(|skip| matches(rest, &actual[skip..]))
        }
        Some((first, rest)) => {
            actual
                .first()
                .is_some_and(|line| line.trim_end() == first.trim_end())
                && matches(rest, &actual[1..])
        }
    }
}

/// Follows a page, given by its path in the workspace.
fn follow(chapter: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("..")
        .join(chapter);
    let page = std::fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let project = Project::new("first");
    let mut ran = 0;
    for step in steps(&page) {
        match step {
            Step::Write { path, text } => project.write(&path, &text),
            // `Project::new` has done that.
            Step::Run { arguments, .. }
                if arguments.starts_with(&["xtask".into(), "new".into()]) =>
            {
                assert_eq!(arguments[2], "../first");
            }
            Step::Run {
                arguments,
                expected,
            } => {
                let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
                let output = project.cargo(&arguments);
                // A report names files by their full path; the page names them inside the project.
                let folder = format!("{}/", project.dir.display());
                let printed = output.text().replace(&folder, "");
                let lines: Vec<&str> = printed.lines().collect();
                assert!(
                    matches(&expected, &lines),
                    "{chapter}: `cargo {}` printed\n{printed}\nbut the page says\n{}",
                    arguments.join(" "),
                    expected.join("\n")
                );
                ran += 1;
            }
        }
    }
    assert!(ran > 0, "{chapter} runs nothing");
}

#[test]
fn first_kernel() {
    follow("docs/src/tutorial/first-kernel.md");
}

#[test]
fn shared_memory() {
    follow("docs/src/tutorial/shared-memory.md");
}

#[test]
fn finding_a_bug() {
    follow("docs/src/tutorial/finding-a-bug.md");
}

#[test]
fn readme() {
    follow("README.md");
}

#[test]
fn wildcards_stand_for_any_lines() {
    let expected: Vec<String> = ["a", "...", "z"].map(String::from).to_vec();
    assert!(matches(&expected, &["a", "z"]));
    assert!(matches(&expected, &["a", "b", "c", "z"]));
    assert!(!matches(&expected, &["a", "b"]));
}

//! Runs the rows in processes of their own, so that neither a crash nor a row that succeeds unexpectedly spoils those behind it, and
//! collects all differences before it fails.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use warpsmith_testkit::process::calling_test;

use crate::common::*;
use crate::row::Row;
use crate::world::World;

/// Holds, in a child's environment, the number of the row to begin with and the folder for what it finds.
const BEGIN: &str = "WARPSMITH_ARGUMENTS_BEGIN";
const FOLDER: &str = "WARPSMITH_ARGUMENTS_FOLDER";

/// How long a row may take before it counts as hung.
const LIMIT: Duration = Duration::from_secs(60);

/// Runs all rows of the calling test. Each difference is printed when it is found, and fails the test in the end.
pub fn run(rows: &[Row]) {
    if let (Ok(begin), Ok(folder)) = (std::env::var(BEGIN), std::env::var(FOLDER)) {
        let begin = begin.parse().expect("a number of a row");
        return run_here(rows, begin, Path::new(&folder));
    }
    let test = calling_test();
    let folder = std::env::temp_dir().join(format!(
        "warpsmith-arguments-{}-{}",
        std::process::id(),
        test.replace("::", "-")
    ));
    fs::create_dir_all(&folder).expect("a folder for results");
    let mut begin = 0;
    let mut number_of_differences = 0;
    while begin < rows.len() {
        let mut differences = Vec::new();
        begin = run_in_child(rows, &test, begin, &folder, &mut differences);
        for difference in &differences {
            eprintln!("{difference}");
        }
        number_of_differences += differences.len();
    }
    fs::remove_dir_all(&folder).expect("the folder is there");
    assert_eq!(
        number_of_differences,
        0,
        "so many of {} rows differ, as printed above",
        rows.len()
    );
}

/// Runs rows from one on until the child ends; the row to go on with.
fn run_in_child(
    rows: &[Row],
    test: &str,
    begin: usize,
    folder: &Path,
    differences: &mut Vec<String>,
) -> usize {
    let (found, errors) = paths(folder);
    let stderr = fs::File::create(&errors).expect("a file for errors");
    fs::write(&found, "").expect("a file for results");
    let mut command = Command::new(std::env::current_exe().expect("a test knows its program"));
    command
        .args([test, "--exact", "--nocapture", "--test-threads=1"])
        .env(BEGIN, begin.to_string())
        .env(FOLDER, folder)
        .env("WARPSMITH_SIMULATOR_DEVICES", "2")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(stderr);
    let mut child = command.spawn().expect("the test's own program starts");
    let (mut lines, mut since) = (0, Instant::now());
    let status = loop {
        if let Some(status) = child.try_wait().expect("a child can be waited for") {
            break Some(status);
        }
        let now = fs::read_to_string(&found).map_or(0, |text| text.lines().count());
        if now != lines {
            (lines, since) = (now, Instant::now());
        }
        if since.elapsed() > LIMIT {
            child.kill().expect("a child can be killed");
            child.wait().expect("a child can be waited for");
            break None;
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    let results = fs::read_to_string(&found).expect("a file for results");
    let said = fs::read_to_string(&errors).unwrap_or_default();
    let mut begun = None;
    for line in results.lines() {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match word {
            "begin" => begun = Some(rest.parse::<usize>().expect("a number of a row")),
            "differs" => differences.push(rest.to_owned()),
            "end" => {
                let number = begun.take().expect("a row begins before it ends");
                check_words(number, &rows[number], &said, differences);
            }
            "stop" => return rest.parse().expect("a number of a row"),
            _ => panic!("what is `{line}`?"),
        }
    }
    let end = match status {
        Some(status) => format!("the process ended with {status}"),
        None => "the call does not return".to_owned(),
    };
    let Some(row) = begun else {
        panic!("the child of {test} did not come to its rows from {begin} on: {end}\n{said}");
    };
    differences.push(format!(
        "{}: {end}\n{}",
        rows[row],
        part_of(row, &said).trim_end()
    ));
    row + 1
}

fn paths(folder: &Path) -> (PathBuf, PathBuf) {
    (folder.join("results"), folder.join("errors"))
}

/// What was written to standard error during a row.
fn part_of(number: usize, said: &str) -> &str {
    let begin = format!("@row {number}\n");
    let Some((_, rest)) = said.split_once(&begin) else {
        return "";
    };
    rest.split("@row ").next().unwrap_or(rest)
}

fn check_words(number: usize, row: &Row, said: &str, differences: &mut Vec<String>) {
    let part = part_of(number, said);
    if part.contains("internal error") {
        differences.push(format!("{row}: {part}"));
    }
    if let Some(text) = row.says
        && !is_cuda()
        && !part.contains(text)
    {
        differences.push(format!("{row}: does not say `{text}` but `{part}`"));
    }
}

/// Whether the rows run on a real driver; the parent does not choose one.
pub fn is_cuda() -> bool {
    std::env::var("WARPSMITH_DEVICE").is_ok_and(|device| device.starts_with("cuda"))
}

/// Runs rows from one on, up to the first after which the process cannot go on.
fn run_here(rows: &[Row], begin: usize, folder: &Path) {
    let mut found = fs::OpenOptions::new()
        .append(true)
        .open(paths(folder).0)
        .expect("a file for results");
    let mut write = |line: String| {
        let line = format!("{}\n", line.replace('\n', " | "));
        found.write_all(line.as_bytes()).expect("room for results");
    };
    let world = World::new();
    let backend = warpsmith_driver::backend().expect("chosen for the world");
    let before = world.state();
    for (number, row) in rows.iter().enumerate().skip(begin) {
        let is_skipped =
            !row.is_asked_of(backend) || (row.needs_two_devices && world.elsewhere.is_none());
        if is_skipped {
            continue;
        }
        write(format!("begin {number}"));
        eprintln!("@row {number}");
        let current = row.is_bare.then(|| {
            let current: CUcontext = get!(cuCtxGetCurrent());
            ok!(cuCtxSetCurrent(null_mut()));
            current
        });
        let answer = (row.call)(&world);
        if let Some(current) = current {
            ok!(cuCtxSetCurrent(current));
        }
        let expected = row.expected(backend);
        // A real driver may do what the row says that the simulator refuses.
        let mut is_spoiled = answer.0 == 0 && row.code != 0;
        if answer.0 != expected {
            write(format!(
                "differs {row}: answers {} {}, expected {expected}",
                answer.0,
                warpsmith_driver::error::name(answer)
            ));
            is_spoiled |= answer.0 == 0 || expected == 0;
        }
        if answer.0 != 0 {
            let after = world.state();
            if after != before {
                let changes = before.differences(&after);
                write(format!(
                    "differs {row}: answers {} and changes {changes}",
                    answer.0
                ));
                is_spoiled = true;
            }
        }
        write("end".to_owned());
        if is_spoiled && number + 1 < rows.len() {
            write(format!("stop {}", number + 1));
            return;
        }
    }
    write(format!("stop {}", rows.len()));
}

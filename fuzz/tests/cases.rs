//! What was found once stays mended: every kept case passes.

use std::process::Command;
use std::time::Duration;

use warpsmith_fuzz::case_files;
use warpsmith_fuzz::kinds::KINDS;
use warpsmith_testkit::process::output;

const LIMIT: Duration = Duration::from_secs(900);

#[test]
fn kept_cases_pass() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_warpsmith-fuzz"));
    let output = output(command.arg("replay"), LIMIT).expect_success();
    for kind in KINDS {
        let files = case_files(kind.name).unwrap();
        let line = match files.len() {
            0 => format!("{}: 0 rounds, 0 failures", kind.name),
            count => format!("{}: 0 rounds, {count} cases, 0 failures", kind.name),
        };
        assert!(output.stdout.lines().any(|l| l == line), "{line}\n{output}");
    }
}

#[test]
fn an_unknown_kind_is_answered_with_those_there_are() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_warpsmith-fuzz"));
    let output = output(command.args(["run", "scalars"]), LIMIT);
    assert!(!output.status.success());
    assert!(
        output
            .stderr
            .contains("there is no kind `scalars`; there are scalar"),
        "{output}"
    );
}

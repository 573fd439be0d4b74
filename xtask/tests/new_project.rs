//! `cargo xtask new` makes a project that builds and runs, and refuses what it cannot make.

mod support;

use std::process::Command;
use support::{Project, text};

#[test]
fn a_new_project_builds_and_runs_on_the_simulator() {
    let project = Project::new("fresh");
    let output = project.cargo(&["run"]);
    assert!(
        output.status.success(),
        "{}\n{}",
        text(&output.stdout),
        text(&output.stderr)
    );
    assert!(
        text(&output.stdout).contains("saxpy of 1000000 elements is right"),
        "{}",
        text(&output.stdout)
    );
    // The kernels compile on the host as well, which is what an editor's checker does.
    let output = project.cargo(&["check"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(
        !text(&output.stderr).contains("warning"),
        "{}",
        text(&output.stderr)
    );
}

#[test]
fn an_existing_folder_is_left_alone() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let kept = folder.path().join("kept");
    std::fs::write(&kept, "mine").expect("the file can be written");
    let output = Command::new(env!("CARGO_BIN_EXE_xtask"))
        .arg("new")
        .arg(folder.path())
        .output()
        .expect("xtask starts");
    assert!(!output.status.success());
    assert!(
        text(&output.stderr).contains("exists already"),
        "{}",
        text(&output.stderr)
    );
    assert_eq!(
        std::fs::read_to_string(kept).expect("the file is still there"),
        "mine"
    );
}

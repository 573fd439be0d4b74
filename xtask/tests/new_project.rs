//! `cargo xtask new` makes a project that builds and runs, and refuses what it cannot make.

mod support;

use support::Project;

#[test]
fn a_new_project_builds_and_runs_on_the_simulator() {
    let project = Project::new("fresh");
    let output = project.cargo(&["run"]);
    assert!(
        output.status.success(),
        "{}\n{}",
        output.stdout,
        output.stderr
    );
    assert!(
        output.stdout.contains("saxpy of 1000000 elements is right"),
        "{}",
        output.stdout
    );
    // The kernels compile on the host as well, which is what an editor's checker does.
    let output = project.cargo(&["check"]);
    assert!(output.status.success(), "{}", output.stderr);
    assert!(!output.stderr.contains("warning"), "{}", output.stderr);
}

#[test]
fn an_existing_folder_is_left_alone() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let kept = folder.path().join("kept");
    std::fs::write(&kept, "mine").expect("the file can be written");
    let output = support::new(folder.path());
    assert!(!output.status.success());
    assert!(
        output.stderr.contains("exists already"),
        "{}",
        output.stderr
    );
    assert_eq!(
        std::fs::read_to_string(kept).expect("the file is still there"),
        "mine"
    );
}

//! `cargo xtask new` makes a project that builds and runs, and refuses what it cannot make; `build-ptx` makes its PTX.

mod support;

use std::path::Path;
use std::process::Command;
use support::Project;
use warpsmith_builder::ptxas::Ptxas;
use warpsmith_testkit::process::{self, ProcessOutput};

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

/// `cargo xtask build-ptx FOLDER`, with more arguments.
fn build_ptx(folder: &Path, arguments: &[&str]) -> ProcessOutput {
    let mut command = Command::new(env!("CARGO_BIN_EXE_xtask"));
    command
        .arg("build-ptx")
        .arg(folder)
        .args(arguments)
        .env("CARGO_TARGET_DIR", support::target());
    process::output(&mut command, process::BUILD_LIMIT)
}

#[test]
fn the_ptx_of_a_project_is_that_of_its_build_script() {
    let project = Project::new("fresh-ptx");
    let script = std::fs::read_to_string(project.dir.join("build.rs")).expect("it is there");
    project.write("build.rs", &script.replace("Arch::Sm70", "Arch::Sm86"));
    let check: &[&str] = match Ptxas::find() {
        Some(_) => &["--check"],
        None => &[],
    };
    let output = build_ptx(&project.dir, check).expect_success();
    assert!(output.stdout.contains("saxpy"), "{}", output.stdout);
    let ptx = std::fs::read_to_string(project.dir.join("target/ptx/fresh-ptx.sm_86.ptx"))
        .expect("the PTX was written");
    assert!(
        ptx.contains(".target sm_86") && ptx.contains(".entry saxpy("),
        "{ptx}"
    );
    // The build script decides.
    let output = build_ptx(&project.dir, &["--arch", "sm_90"]);
    assert!(!output.status.success());
    assert!(
        output.stderr.contains("leave `--arch`"),
        "{}",
        output.stderr
    );
    // What is wrong with the kernels is said as cargo says it.
    project.write("src/kernels.rs", "pub fn f() -> u32 { \"text\" }\n");
    let output = build_ptx(&project.dir, &[]);
    assert!(!output.status.success());
    assert!(
        output.stderr.contains("src/kernels.rs:1:21"),
        "{}",
        output.stderr
    );
}

#[test]
fn a_project_without_kernels_is_told_so() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let manifest =
        "[package]\nname = \"plain\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[workspace]\n";
    std::fs::write(folder.path().join("Cargo.toml"), manifest).expect("it can be written");
    std::fs::create_dir(folder.path().join("src")).expect("it can be made");
    std::fs::write(folder.path().join("src/lib.rs"), "").expect("it can be written");
    let output = build_ptx(folder.path(), &[]);
    assert!(!output.status.success());
    let text = &output.stderr;
    assert!(
        text.contains("has no kernels") && text.contains("`cargo xtask new DIR`"),
        "{text}"
    );
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

#[test]
fn a_folder_of_the_checkout_is_refused() {
    let folder = support::workspace().join("target/a-project-in-the-checkout");
    let output = support::new(&folder);
    assert!(!output.status.success());
    assert!(
        output.stderr.contains("lies in the warpsmith checkout"),
        "{}",
        output.stderr
    );
    assert!(!folder.exists());
}

//! The drop-in as a foreign program meets it: a C program of two processes, which loads the driver and NCCL by itself.

use std::path::Path;
use std::process::Command;

use warpsmith_testkit::foreign::{built_library, compile};
use warpsmith_testkit::process;

fn program(folder: &Path) -> Command {
    let program = folder.join("foreign");
    compile(
        Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/foreign.c")),
        &program,
    );
    let mut command = Command::new(&program);
    command.env("WARPSMITH_SIMULATOR_DEVICES", "2");
    command
}

/// Both libraries are named by their paths: the driver is known to the dynamic linker by its soname alone.
#[test]
fn two_processes_of_a_foreign_program_work_together() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut command = program(folder.path());
    command
        .arg(built_library("libwarpsmith_dropin.so"))
        .arg(built_library("libwarpsmith_nccl_dropin.so"));
    let output = process::output(&mut command, process::LIMIT).expect_success();
    let mut lines: Vec<&str> = output.stdout.lines().collect();
    lines.sort_unstable();
    assert_eq!(lines, ["rank 0 is right", "rank 1 is right"], "{output}");
}

/// As they are laid down: by their names in one folder, where the driver is not loaded before NCCL needs it.
#[test]
fn the_driver_is_loaded_where_the_process_has_none() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut command = program(folder.path());
    for (name, library) in [
        ("libcuda.so.1", "libwarpsmith_dropin.so"),
        ("libnccl.so.2", "libwarpsmith_nccl_dropin.so"),
    ] {
        let library = built_library(library).canonicalize().expect("its path");
        std::os::unix::fs::symlink(library, folder.path().join(name)).expect("a link");
    }
    command.env("LD_LIBRARY_PATH", folder.path());
    command.args(["-", "libnccl.so.2"]);
    let output = process::output(&mut command, process::LIMIT).expect_success();
    assert_eq!(output.stdout, "a driver was found\n", "{output}");
}

#[test]
fn a_process_without_a_driver_is_told() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut command = program(folder.path());
    // Nothing is found by name there; a machine with a driver of its own has that.
    command
        .env("LD_LIBRARY_PATH", folder.path())
        .arg("-")
        .arg(built_library("libwarpsmith_nccl_dropin.so"));
    let output = process::output(&mut command, process::LIMIT);
    let refused = output
        .stdout
        .starts_with("ncclCommInitAll answered 2: the CUDA driver: ")
        && output.stdout.contains("libcuda.so.1");
    assert!(
        refused || output.stdout == "a driver was found\n",
        "{output}"
    );
}

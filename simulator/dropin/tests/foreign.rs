//! The drop-in as a foreign program meets it: a C program that loads `libcuda.so.1` by name.

use std::path::Path;
use std::process::Command;
use warpsmith_testkit::foreign::compile;
use warpsmith_testkit::{dropin, process};

#[test]
fn a_foreign_program_runs_on_the_simulator() {
    // covers: DRV-18, DRV-EX01
    let folder = tempfile::tempdir().expect("a folder");
    std::os::unix::fs::symlink(dropin::library(), folder.path().join("libcuda.so.1"))
        .expect("a link");
    let program = folder.path().join("foreign");
    compile(
        Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/foreign.c")),
        &program,
    );
    let mut command = Command::new(&program);
    command.env("LD_LIBRARY_PATH", folder.path());
    let output = process::output(&mut command, process::LIMIT).expect_success();
    assert_eq!(output.stdout, "1000 sums are right\n");
    assert!(
        output
            .stderr
            .contains("cuGreenCtxCreate is not implemented"),
        "{output}"
    );
}

//! The drop-in as a foreign program meets it: a C program that loads `libcuda.so.1` by name.

use std::path::Path;
use std::process::Command;

mod library;

fn compile(source: &Path, into: &Path) {
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".to_owned());
    let status = Command::new(&compiler)
        .arg("-o")
        .arg(into)
        .arg(source)
        .arg("-ldl")
        .status();
    let status = status.unwrap_or_else(|error| panic!("{compiler} does not start: {error}"));
    assert!(status.success(), "{compiler} refused {}", source.display());
}

#[test]
fn a_foreign_program_runs_on_the_simulator() {
    // covers: DRV-18, DRV-EX01
    let folder = tempfile::tempdir().expect("a folder");
    std::os::unix::fs::symlink(
        library::path().canonicalize().unwrap(),
        folder.path().join("libcuda.so.1"),
    )
    .expect("a link");
    let program = folder.path().join("foreign");
    compile(
        Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/foreign.c")),
        &program,
    );
    let output = Command::new(&program)
        .env("LD_LIBRARY_PATH", folder.path())
        .output()
        .expect("the program starts");
    let (stdout, stderr) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    assert!(
        output.status.success(),
        "{}\n{stdout}{stderr}",
        output.status
    );
    assert_eq!(stdout, "1000 sums are right\n");
    assert!(
        stderr.contains("cuGreenCtxCreate is not implemented"),
        "{stderr}"
    );
}

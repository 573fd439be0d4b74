//! The suite's program, as `cargo xtask run` starts it.

use std::process::{Command, Output};

fn run(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_suite"))
        .args(["run", "saxpy", "--device", "simulator", "--size", "100"])
        .args(arguments)
        .output()
        .expect("cargo has built the program")
}

#[test]
fn checks_are_chosen_by_name() {
    let output = run(&["--checks", "all"]);
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{text}");

    let output = run(&["--checks", "manners"]);
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        !output.status.success() && text.contains("manners"),
        "{text}"
    );
}

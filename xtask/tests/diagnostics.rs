//! Errors in kernels reach those who read cargo's messages, such as rust-analyzer: with the user's file, line and column; and
//! nothing is built with kernels missing.

mod support;

use serde_json::Value;
use support::Project;

/// A kernel whose marked line is replaced.
const KERNELS: &str = "\
//! Kernels.

use warpsmith_device::prelude::*;

/// Doubles.
#[kernel]
pub fn saxpy(a: f32, x: &[f32], mut y: PerThread<[f32]>) {
    if let (Some(x), Some(y)) = (x.get(thread::index()), y.mine()) {
        *y += helper(a) * x;
    }
}

/// What the kernel calls.
fn helper(a: f32) -> f32 {
    a
}
";

/// The errors of `cargo check --message-format=json`: place, and text.
fn errors(project: &Project) -> Vec<(String, String)> {
    let output = project.cargo(&["check", "--message-format=json"]);
    assert!(!output.status.success(), "it compiles: {}", output.stderr);
    let messages = output
        .stdout
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok());
    messages
        .filter(|message| {
            message["reason"] == "compiler-message" && message["target"]["name"] == "diagnosed"
        })
        .filter_map(|message| {
            let message = &message["message"];
            let span = message["spans"]
                .as_array()?
                .iter()
                .find(|span| span["is_primary"] == true)?;
            (message["level"] == "error").then_some(())?;
            let place = format!(
                "{}:{}:{}",
                span["file_name"].as_str()?,
                span["line_start"],
                span["column_start"]
            );
            Some((place, message["message"].as_str()?.to_owned()))
        })
        .collect()
}

/// One error, at `place`, that contains `text`; and no program comes out of it.
fn expect(project: &Project, place: &str, text: &str) {
    let found = errors(project);
    assert!(
        matches!(&found[..], [(at, message)] if at == place && message.contains(text)),
        "{found:#?}"
    );
    let output = project.cargo(&["build"]);
    assert!(!output.status.success(), "{}", output.stderr);
}

#[test]
fn errors_in_kernels_stand_at_their_places() {
    let project = Project::new("diagnosed");
    let with = |from: &str, to: &str| {
        assert!(KERNELS.contains(from));
        project.write("src/kernels.rs", &KERNELS.replace(from, to));
    };

    // What rustc finds for the host, too, is said once, by itself.
    with("helper(a) * x", "helper(\"a\") * x");
    expect(&project, "src/kernels.rs:9:22", "mismatched types");
    // What it finds for the GPU only.
    let only_there = "#[cfg(target_arch = \"nvptx64\")] nowhere(); helper(a) * x";
    with("*y += helper(a) * x", &format!("*y += {{ {only_there} }}"));
    expect(
        &project,
        "src/kernels.rs:9:49",
        "cannot find function `nowhere`",
    );
    // What the PTX linker finds: in the kernel itself, and in a function that it calls.
    with("*y += helper(a) * x", "*y += a.tanh_approx() * x");
    expect(
        &project,
        "src/kernels.rs:9:17",
        "tanh_approx` (`tanh.approx.f32`) needs sm_75, and this build is for sm_70",
    );
    with("{\n    a\n}", "{\n    a.tanh_approx()\n}");
    expect(&project, "src/kernels.rs:6:1", "src/kernels.rs:15:7: `");

    // Mended, it runs.
    project.write("src/kernels.rs", KERNELS);
    let output = project.cargo(&["run"]);
    assert!(output.status.success(), "{}", output.stderr);
}

/// A package whose host side does not even have the module still cannot be built.
#[test]
fn nothing_is_built_without_its_kernels() {
    let project = Project::new("diagnosed");
    project.write(
        "src/kernels.rs",
        &KERNELS.replace("helper(a) * x", "helper(\"a\") * x"),
    );
    project.write("src/lib.rs", "");
    project.write("src/main.rs", "fn main() {}\n");
    project.write("tests/kernels.rs", "");
    let output = project.cargo(&["build"]);
    assert!(!output.status.success(), "{}", output.stderr);
    assert!(
        output
            .stderr
            .contains("the kernels, which do not compile for the GPU"),
        "{}",
        output.stderr
    );
}

//! Errors in kernels reach those who read cargo's messages, such as rust-analyzer: with the user's file, line and column; and
//! nothing is built with kernels missing.

mod support;

use serde_json::Value;
use support::Project;
use warpsmith_testkit::process::ProcessOutput;

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

/// Whether a message is about one of the projects here. Each has a name of its own: they share a target folder.
fn is_diagnosed(target: &Value) -> bool {
    target
        .as_str()
        .is_some_and(|name| name.starts_with("diagnosed"))
}

/// The errors that `cargo check --message-format=json` gave: place, and text.
fn errors(output: &ProcessOutput) -> Vec<(String, String)> {
    assert!(!output.status.success(), "it compiles: {}", output.stderr);
    let messages = output
        .stdout
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok());
    messages
        .filter(|message| {
            message["reason"] == "compiler-message" && is_diagnosed(&message["target"]["name"])
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
    let output = project.cargo(&["check", "--message-format=json"]);
    let found = errors(&output);
    assert!(
        matches!(&found[..], [(at, message)] if at == place && message.contains(text)),
        "{found:#?}\n{}",
        output.stderr
    );
    let output = project.cargo(&["build"]);
    assert!(!output.status.success(), "{}", output.stderr);
}

/// Writes wrong kernels into `file`, which holds `kernels`, and expects each error once, at its place.
fn expect_errors_at_their_places(project: &Project, file: &str, kernels: &str) {
    let with = |from: &str, to: &str| {
        assert!(kernels.contains(from));
        project.write(file, &kernels.replace(from, to));
    };
    let above = kernels
        .lines()
        .position(|line| line.starts_with("#[kernel]"));
    let attribute = above.expect("there is a kernel") + 1;
    let place = |line: usize, column: usize| format!("{file}:{}:{column}", attribute + line);

    // What rustc finds for the host, too, is said once, by itself.
    with("helper(a) * x", "helper(\"a\") * x");
    expect(project, &place(3, 22), "mismatched types");
    // What it finds for the GPU only.
    let only_there = "#[cfg(target_arch = \"nvptx64\")] nowhere(); helper(a) * x";
    with("*y += helper(a) * x", &format!("*y += {{ {only_there} }}"));
    expect(project, &place(3, 49), "cannot find function `nowhere`");
    // What the PTX linker finds: in the kernel itself, and in a function that it calls.
    with("*y += helper(a) * x", "*y += a.tanh_approx() * x");
    let lacks = "tanh_approx` (`tanh.approx.f32`) needs sm_75, and this build is for sm_70";
    expect(project, &place(3, 17), lacks);
    with("{\n    a\n}", "{\n    a.tanh_approx()\n}");
    expect(project, &place(0, 1), &format!("{}: `", place(9, 7)));

    // Mended, it runs.
    project.write(file, kernels);
    let output = project.cargo(&["run"]);
    assert!(output.status.success(), "{}", output.stderr);
}

#[test]
fn errors_in_kernels_stand_at_their_places() {
    let project = Project::new("diagnosed");
    expect_errors_at_their_places(&project, "src/kernels.rs", KERNELS);
}

/// A kernel crate with a build script of its own.
#[test]
fn errors_in_a_kernel_crate_stand_at_their_places() {
    let project = Project::new("diagnosed_crate");
    let script = std::fs::read_to_string(project.dir.join("build.rs")).expect("a build script");
    let of_module = "CudaBuilder::for_module(\"src/kernels.rs\")";
    assert!(script.contains(of_module));
    project.write(
        "build.rs",
        &script.replace(of_module, "CudaBuilder::new(\".\")"),
    );
    project.write(
        "src/main.rs",
        "fn main() {\n    assert!(diagnosed_crate::PTX.contains(\".entry saxpy(\"));\n}\n",
    );
    for file in ["src/kernels.rs", "tests/kernels.rs"] {
        std::fs::remove_file(project.dir.join(file)).expect("the project has the file");
    }
    let kernels = KERNELS.replacen(
        "\n\n",
        "\n#![no_std]\n\n/// For the host.\n#[cfg(not(target_arch = \"nvptx64\"))]\n\
         pub const PTX: &str = include_str!(concat!(env!(\"OUT_DIR\"), \"/kernels.ptx\"));\n\n",
        1,
    );
    expect_errors_at_their_places(&project, "src/lib.rs", &kernels);

    // Without the condition, the way out is named.
    let everywhere = kernels.replace("#[cfg(not(target_arch = \"nvptx64\"))]\n", "");
    project.write("src/lib.rs", &everywhere);
    expect(
        &project,
        "src/lib.rs:10:1",
        "write `#[cfg(not(target_arch = \"nvptx64\"))]` before it",
    );
}

/// A package whose host side does not even have the module still cannot be built.
#[test]
fn nothing_is_built_without_its_kernels() {
    let project = Project::new("diagnosed_alone");
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

//! What devices and the program do, as ranges of NVTX. The tool is a library of this test's own, which writes down what it is told; each test is
//! in a process of its own, which loads it once.

#[path = "../common/mod.rs"]
mod common;

use std::path::{Path, PathBuf};
use std::process::Command;

use common::{add, gpu, in_own_process, launch_add, module};
use warpsmith_host::trace;
use warpsmith_testkit::process::{LIMIT, is_child, output};

const TOOL: &str = "NVTX_INJECTION64_PATH";
const NOTES: &str = "WARPSMITH_TEST_NVTX";
/// The tool, where there is no compiler: a bundle brings it.
const COMPILED: &str = "WARPSMITH_NVTX_TOOL";

/// A folder of this run of the test.
struct Folder(PathBuf);

impl Folder {
    fn new(test: &str) -> Folder {
        let run = std::process::id();
        let path = std::env::temp_dir().join(format!("warpsmith-nvtx-{test}-{run}"));
        std::fs::create_dir_all(&path).expect("it can be made");
        Folder(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The tool, compiled in this folder unless it is there.
fn tool(folder: &Path) -> PathBuf {
    if let Some(compiled) = std::env::var_os(COMPILED) {
        return compiled.into();
    }
    let library = folder.join("libtool.so");
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let mut command = Command::new(rustc);
    command
        .args(["--edition", "2024", "--crate-type", "cdylib", "-o"])
        .arg(&library)
        .arg(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/tests/nvtx/injection.rs"
        ));
    output(&mut command, LIMIT).expect_success();
    library
}

/// What the tool has noted.
fn notes(path: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

/// Runs `body` in a process that the tool watches; gives what it noted, and what the process wrote.
fn watched(
    test: &str,
    more: &[(&str, &str)],
    body: impl FnOnce(),
) -> Option<(Vec<String>, String)> {
    if is_child() {
        in_own_process(&[], body);
        return None;
    }
    let folder = Folder::new(test);
    let (tool, noted) = (tool(&folder.0), folder.0.join("notes"));
    let text = |path: &Path| path.to_str().expect("it is text").to_owned();
    let (tool, noted_in) = (text(&tool), text(&noted));
    let mut variables = vec![(TOOL, &*tool), (NOTES, &*noted_in)];
    variables.extend_from_slice(more);
    let written = in_own_process(&variables, body)?;
    Some((notes(&noted), written))
}

#[test]
fn each_piece_of_work_is_a_range_with_its_bytes() {
    let noted = watched("work", &[], || {
        let gpu = gpu();
        let module = module(&gpu);
        let add = add(&module);
        let stream = gpu.stream().unwrap();
        let section = trace::range("all\0 of it");
        let mut words = stream.upload(&[1_u32; 100]).unwrap();
        launch_add(&stream, &add, &mut words, 1);
        stream.fill(&mut words, 5).unwrap();
        assert_eq!(stream.download(&words).unwrap(), [5; 100]);
        drop(section);
        let words = stream.zeroed::<u64>(100).unwrap();
        std::mem::forget(trace::range("never ends"));
        drop(words);
    });
    let Some((noted, _)) = noted else { return };
    let expected = [
        "initialized",
        "domain warpsmith",
        "push none all",
        "push 400 cuMemAllocAsync",
        "pop",
        "push 400 cuMemcpyHtoDAsync",
        "pop",
        "push none add",
        "pop",
        "push 400 cuMemsetAsync",
        "pop",
        "push 400 cuMemcpyDtoHAsync",
        "pop",
        "pop",
        "push 800 cuMemAllocAsync",
        "pop",
        "push 800 cuMemsetD8Async",
        "pop",
        "push none never ends",
        "push 800 cuMemFreeAsync",
        "pop",
    ];
    // What opening a device and loading a module allocate is this library's own affair.
    let section = noted.iter().position(|line| *line == "push none all");
    let start = section.expect("the section");
    assert_eq!(noted[..2], expected[..2], "{noted:#?}");
    let rest = &noted[start..];
    // Behind it, memory that waited to be freed may be, and the device closes.
    assert_eq!(rest[..expected.len() - 2], expected[2..], "{rest:#?}");
}

#[test]
fn a_tool_that_is_not_there_is_named_once() {
    let written = in_own_process(&[(TOOL, "/no/such/tool.so")], || {
        let gpu = gpu();
        let stream = gpu.stream().unwrap();
        let _section = trace::range("nobody listens");
        assert_eq!(
            stream.download(&stream.upload(&[1, 2]).unwrap()).unwrap(),
            [1, 2]
        );
    });
    let Some(written) = written else { return };
    assert_eq!(
        written
            .matches("NVTX_INJECTION64_PATH names `/no/such/tool.so`")
            .count(),
        1
    );
}

#[test]
fn a_tool_that_refuses_is_let_alone() {
    let noted = watched("refusal", &[("WARPSMITH_TEST_NVTX_REFUSES", "1")], || {
        let gpu = gpu();
        let stream = gpu.stream().unwrap();
        assert_eq!(
            stream.download(&stream.upload(&[1, 2]).unwrap()).unwrap(),
            [1, 2]
        );
    });
    let Some((noted, written)) = noted else {
        return;
    };
    assert!(noted.is_empty(), "{noted:?}");
    assert!(written.contains("the library refuses"), "{written}");
}

#[test]
fn without_a_tool_nothing_is_told() {
    let written = in_own_process(&[(TOOL, "")], || {
        let gpu = gpu();
        let stream = gpu.stream().unwrap();
        let _section = trace::range("nobody listens");
        assert_eq!(
            stream.download(&stream.upload(&[1, 2]).unwrap()).unwrap(),
            [1, 2]
        );
    });
    assert!(!written.unwrap_or_default().contains("NVTX"));
}

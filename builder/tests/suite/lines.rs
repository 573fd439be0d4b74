//! Source locations in PTX, and the calls that were inlined around them.

use std::collections::HashMap;
use std::process::Command;

use warpsmith_builder::ptxas::Ptxas;
use warpsmith_builder::{Arch, CudaBuilder, DebugInfo, PtxVersion};

use super::support::*;

#[test]
fn instructions_name_their_source_lines() {
    let source = std::fs::read_to_string(fixture("features/src/arithmetic.rs")).unwrap();
    let line = 1 + source
        .lines()
        .position(|l| l.contains("*data * a + b"))
        .unwrap();
    let file = features()
        .lines()
        .find(|l| l.trim().starts_with(".file") && l.contains("src/arithmetic.rs"))
        .and_then(|l| l.split_whitespace().nth(1))
        .unwrap();
    assert!(
        features().contains(&format!(".loc\t{file} {line} ")),
        "line {line} of file {file}"
    );

    let ptx = features_with(|b| b.debug(DebugInfo::None));
    assert!(!ptx.contains(".loc\t") && !ptx.contains(".file"));
}

#[test]
fn inlined_code_has_the_line_of_the_kernel_that_called_it() {
    let text = features();
    let start = text.find(".entry traits_and_closures(").unwrap();
    let kernel = &text[start..start + text[start..].find("\n}").unwrap()];
    let files = |number: &str| {
        let prefix = format!(".file\t{number} ");
        text.lines()
            .find(|l| l.trim().starts_with(&prefix))
            .unwrap_or_else(|| panic!("no file {number}"))
    };
    let mut seen = 0;
    for location in kernel.lines().filter(|l| l.trim().starts_with(".loc\t")) {
        let file = files(location.split_whitespace().nth(1).unwrap());
        assert!(
            file.contains("fixtures/features/src/language.rs"),
            "{location} is in {file}"
        );
        seen += 1;
    }
    assert!(seen > 3);
}

/// A file's name without its folder, and a line.
type Line = (String, u32);

/// What the text says of the instructions of a kernel that contain `part`: for each, its line and then the name of each inlined
/// function with the line of its call. A call's own chain is that of the newest `.loc` with its point, as ptxas has it.
fn chains(ptx: &str, kernel: &str, part: &str) -> Vec<(Line, Vec<(String, Line)>)> {
    let files = files(ptx);
    let names = names(ptx);
    let start = ptx.find(&format!(".entry {kernel}(")).unwrap();
    let body = &ptx[start..start + ptx[start..].find("\n}").unwrap()];
    let line_of = |point: &str| -> Line {
        let mut words = point.split_whitespace();
        let file = files[words.next().unwrap()].rsplit('/').next().unwrap();
        (file.to_owned(), words.next().unwrap().parse().unwrap())
    };
    let mut newest: HashMap<&str, Vec<(String, Line)>> = HashMap::new();
    let mut current = (Line::default(), Vec::new());
    let mut found = Vec::new();
    for line in body.lines() {
        if let Some(location) = line.trim().strip_prefix(".loc\t") {
            let mut parts = location.split(", ");
            let point = parts.next().unwrap();
            let mut chain = Vec::new();
            if let Some(name) = parts.next() {
                let name = name.strip_prefix("function_name ").unwrap();
                let call = parts.next().unwrap().strip_prefix("inlined_at ").unwrap();
                chain.push((names[name].clone(), line_of(call)));
                chain.extend(newest[call].iter().cloned());
            }
            newest.insert(point, chain.clone());
            current = (line_of(point), chain);
        } else if line.contains(part) {
            found.push(current.clone());
        }
    }
    found
}

/// The paths of the `.file` directives by their numbers.
fn files(ptx: &str) -> HashMap<&str, &str> {
    ptx.lines()
        .filter_map(|line| line.trim().strip_prefix(".file\t")?.split_once(' '))
        .map(|(number, path)| (number, path.trim_matches('"')))
        .collect()
}

/// The strings of `.debug_str` by their labels.
fn names(ptx: &str) -> HashMap<&str, String> {
    let section = ptx.split(".section\t.debug_str").nth(1).unwrap_or("");
    let labels = section.lines().filter_map(|line| line.strip_suffix(':'));
    let strings = section.lines().filter_map(|line| {
        let bytes = line.strip_prefix(".b8 ")?.strip_suffix(",0")?;
        let bytes = bytes.split(',').map(|byte| byte.parse().unwrap()).collect();
        Some(String::from_utf8(bytes).unwrap())
    });
    labels.zip(strings).collect()
}

/// The line of a fixture's file that ends with this mark.
fn marked(file: &str, mark: &str) -> Line {
    let source = std::fs::read_to_string(fixture(file)).unwrap();
    let mark = format!("// mark: {mark}");
    let line = source.lines().position(|l| l.ends_with(&mark)).unwrap();
    let name = file.rsplit('/').next().unwrap();
    (name.to_owned(), line as u32 + 1)
}

#[test]
fn instructions_name_the_calls_that_were_inlined() {
    let marked = |mark| marked("features/src/lines.rs", mark);
    let store = |call| ("features::lines::store::<u32>".to_owned(), marked(call));
    let store_two = |call| ("features::lines::store_two".to_owned(), marked(call));
    let closure = (
        "features::lines::nested_inlining::{closure#0}".to_owned(),
        marked("iteration"),
    );
    let expected = [
        vec![store("first of two"), store_two("two")],
        vec![store("second of two"), store_two("two")],
        vec![store("first of two"), store_two("two more")],
        vec![store("second of two"), store_two("two more")],
        vec![store("one")],
        vec![store("iteration"), closure.clone()],
        vec![store("iteration"), closure],
    ];
    let found = chains(features(), "nested_inlining", "st.volatile.global");
    assert_eq!(found, expected.map(|chain| (marked("store"), chain)));
}

#[test]
fn ptx_before_7_2_names_the_innermost_line_alone() {
    let line = |mark| marked("minimal/src/lib.rs", mark);
    let of = |version| {
        let builder = CudaBuilder::new(fixture("minimal")).arch(Arch::Sm80);
        let ptx = build(builder.ptx_version(version)).ptx;
        assert!(ptx.contains(&format!(".version {version}")));
        (chains(&ptx, "minimal", "st.global"), ptx)
    };
    let (found, ptx) = of(PtxVersion::new(7, 1));
    assert_eq!(found, [(line("increment"), vec![])]);
    assert!(!ptx.contains(".debug_str"));
    let (found, _) = of(PtxVersion::new(7, 2));
    let call = ("minimal::increment".to_owned(), line("call"));
    assert_eq!(found, [(line("increment"), vec![call])]);
}

#[test]
fn ptxas_takes_the_lines() {
    let Some(ptxas) = Ptxas::find() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("features.ptx");
    std::fs::write(&input, features()).unwrap();
    let output = Command::new(ptxas.path())
        .args(["--generate-line-info", "--gpu-name=sm_90"])
        .arg(&input)
        .arg("--output-file")
        .arg(folder.path().join("features.cubin"))
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    // The names of inlined functions are in the cubin, so the chains are.
    let cubin = std::fs::read(folder.path().join("features.cubin")).unwrap();
    let name = b"features::lines::store_two\0";
    assert!(cubin.windows(name.len()).any(|bytes| bytes == name));
}

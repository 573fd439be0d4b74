//! Faults on the simulator name the user's line and the calls that were inlined around it.

use warpsmith_host::fault::{FaultKind, Frame, SourceLocation};
use warpsmith_host::prelude::*;
use warpsmith_test_kernels::faults as kernels;
use warpsmith_tests::{Fixture, Side, own_process};

const FILE: &str = "tests/kernels/src/faults.rs";
const SOURCE: &str = include_str!("../../kernels/src/faults.rs");

/// The line of the kernels' file with this mark.
fn line(mark: &str) -> u32 {
    let mark = format!("// mark: {mark}");
    let found = SOURCE.lines().position(|line| line.ends_with(&mark));
    1 + found.unwrap_or_else(|| panic!("no line ends with `{mark}`")) as u32
}

/// The frame's line, and the name of each inlined function with the line of its call. All are in the kernels' file.
fn chain(frame: &Frame) -> (u32, Vec<(String, u32)>) {
    let line_in_file = |at: &SourceLocation| {
        assert!(at.file.ends_with(FILE), "{at}");
        at.line
    };
    let calls = frame.inlined.iter().map(|inlined| {
        let name = inlined.function.as_deref();
        let name = name.expect("inlined functions have names");
        let short = name.replace("warpsmith_test_kernels::faults::", "");
        (short, line_in_file(&inlined.call))
    });
    let location = frame.location.as_ref().expect("the PTX has lines");
    (line_in_file(location), calls.collect())
}

/// A chain as it is expected: the mark of the innermost line, and each inlined function with the mark of its call.
fn marked(mark: &str, calls: &[(&str, &str)]) -> (u32, Vec<(String, u32)>) {
    let calls = calls
        .iter()
        .map(|(function, mark)| ((*function).to_owned(), line(mark)));
    (line(mark), calls.collect())
}

/// The report without columns and without the folders of files.
fn plain(report: &str) -> String {
    let mut text = String::new();
    for line in report.lines() {
        let Some((before, column)) = line.rsplit_once(':') else {
            text += &format!("{line}\n");
            continue;
        };
        match before.find(FILE) {
            Some(file) if column.parse::<u32>().is_ok() => {
                let start = before[..file].rfind(' ').map_or(0, |space| space + 1);
                text += &format!("{}{}\n", &before[..start], &before[file..]);
            }
            _ => text += &format!("{line}\n"),
        }
    }
    text
}

#[test]
fn an_access_out_of_bounds_names_the_inlined_calls() {
    let Side::Child = own_process(&[("WARPSMITH_REPORT", "0")]) else {
        return;
    };
    let f = Fixture::open().unwrap();
    if !f.gpu.is_simulator() {
        return;
    }
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::stray).unwrap();
    let mut out = stream.zeroed::<u32>(10).unwrap();
    // SAFETY: it is not; the fault is what this is about.
    unsafe { stream.launch_unchecked(&kernel, Grid::new(1, 1), (&mut out, 10u32)) }.unwrap();
    let error = stream.synchronize().unwrap_err();
    let fault = error.fault().unwrap_or_else(|| panic!("{error}"));
    assert_eq!(
        (fault.kind(), fault.kernel()),
        (FaultKind::IllegalAddress, Some("stray"))
    );
    assert_eq!(fault.location().map(|at| at.line), Some(line("set")));
    let [frame] = fault.frames() else {
        panic!("{fault}")
    };
    assert_eq!(
        chain(frame),
        marked(
            "set",
            &[
                ("<List<u32>>::set", "iteration"),
                ("fill::{closure#0}", "iteration"),
                ("fill", "stray"),
            ]
        )
    );
    let report = plain(fault.report());
    let expected = format!(
        "
    in kernel stray, block (0,0,0), thread (0,0,0)
    at {FILE}:{}
    in <warpsmith_test_kernels::faults::List<u32>>::set, inlined at {FILE}:{}
    in warpsmith_test_kernels::faults::fill::{{closure#0}}, inlined at {FILE}:{}
    in warpsmith_test_kernels::faults::fill, inlined at {FILE}:{}
    the address is 0 bytes after the end of",
        line("set"),
        line("iteration"),
        line("iteration"),
        line("stray"),
    );
    assert!(report.contains(&expected), "{report}");
}

#[test]
fn a_tree_without_a_barrier_between_its_steps_is_a_race() {
    let Side::Child = own_process(&[("WARPSMITH_REPORT", "0"), ("WARPSMITH_CHECKS", "races")])
    else {
        return;
    };
    let f = Fixture::open().unwrap();
    if !f.gpu.is_simulator() {
        return;
    }
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::tree_without_a_barrier).unwrap();
    let mut out = stream.zeroed::<u32>(256).unwrap();
    // SAFETY: it is not; the race is what this is about.
    unsafe { stream.launch_unchecked(&kernel, Grid::new(1, 256), (&mut out,)) }.unwrap();
    let error = stream.synchronize().unwrap_err();
    let fault = error.fault().unwrap_or_else(|| panic!("{error}"));
    assert_eq!(fault.kind(), FaultKind::Race);
}

#[test]
fn both_sides_of_a_race_name_the_inlined_calls() {
    let Side::Child = own_process(&[("WARPSMITH_REPORT", "0"), ("WARPSMITH_CHECKS", "races")])
    else {
        return;
    };
    let f = Fixture::open().unwrap();
    if !f.gpu.is_simulator() {
        return;
    }
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::reversed_without_barrier).unwrap();
    let mut out = stream.zeroed::<u32>(64).unwrap();
    // SAFETY: it is not; the race is what this is about.
    unsafe { stream.launch_unchecked(&kernel, Grid::new(1, 64), (&mut out,)) }.unwrap();
    let error = stream.synchronize().unwrap_err();
    let fault = error.fault().unwrap_or_else(|| panic!("{error}"));
    assert_eq!(fault.kind(), FaultKind::Race);
    let other = fault.other_side().expect("a race has two sides");
    let mut sides = [&fault.frames()[0], &other.frames[0]].map(chain);
    sides.sort();
    let mut expected = [
        marked("publish", &[("publish", "one side")]),
        marked("fetch", &[("fetch", "other side")]),
    ];
    expected.sort();
    assert_eq!(sides, expected, "{fault}");
    let report = plain(fault.report());
    let (_, conflict) = report.split_once("it conflicts with the ").expect("a race");
    let call = conflict.lines().nth(1).unwrap_or_default();
    assert!(
        call.starts_with("        in warpsmith_test_kernels::faults::"),
        "{report}"
    );
}

//! Each entry point that can fail has rows, or it is said where else it is given wrong arguments, or why that is not possible.

use std::collections::BTreeSet;

use crate::rows;
use crate::sources::{entry_points, package};

/// Where the entry points are tested that need more than a row: another process, a device with something special, an `unsafe` promise.
const ELSEWHERE: &[(&str, &[&str])] = &[];

/// What no argument is wrong for, and why.
const NOTHING_IS_WRONG: &[(&str, &[&str])] = &[];

#[test]
fn each_entry_point_that_can_fail_has_rows() {
    let topics = rows::of_one_device().into_iter().chain(rows::of_two_devices());
    let rows: Vec<_> = topics.flat_map(|topic| topic.rows).collect();
    let mut titles = BTreeSet::new();
    for row in &rows {
        assert!(titles.insert((row.function, row.case)), "twice: {}: {}", row.function, row.case);
    }
    let mut known: BTreeSet<&str> = rows.iter().map(|row| row.function).collect();
    for (file, functions) in ELSEWHERE {
        let text = std::fs::read_to_string(package().join("tests").join(file)).expect(file);
        for function in *functions {
            let name = function.rsplit("::").next().unwrap_or_default();
            assert!(text.contains(name), "tests/{file} has no `{name}`");
            known.insert(function);
        }
    }
    known.extend(NOTHING_IS_WRONG.iter().flat_map(|(_, functions)| *functions));
    let entry_points = entry_points();
    assert!(entry_points.len() > 300, "{}", entry_points.len());
    let missing: Vec<_> = entry_points
        .iter()
        .filter(|&(name, &takes_arguments)| takes_arguments && !known.contains(name.as_str()))
        .map(|(name, _)| name)
        .collect();
    assert!(missing.is_empty(), "no rows: {missing:#?}");
    let gone: Vec<_> = known
        .iter()
        .filter(|name| !entry_points.contains_key(**name))
        .collect();
    assert!(gone.is_empty(), "no entry points: {gone:#?}");
}

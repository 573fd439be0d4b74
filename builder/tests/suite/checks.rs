//! Checks that are made at once, and those that are not.

use super::support::*;

/// The branches before the last load from global memory.
fn branches(kernel: &str) -> usize {
    let body = body(features(), kernel);
    let is_load = |line: &&str| line.contains("ld.global");
    let last = body.iter().rposition(is_load).expect("each kernel loads");
    let branches = body[..last].iter().filter(|line| line.starts_with('@'));
    branches.count()
}

#[test]
fn are_one_branch_around_stores_to_shared_memory() {
    assert_eq!(branches("checks_around_shared_stores"), 1);
}

#[test]
fn stay_where_the_host_sees_what_is_stored_between() {
    assert_eq!(branches("checks_around_global_stores"), 4);
}

#[test]
fn stay_behind_barriers_and_volatile_stores() {
    assert_eq!(branches("checks_around_barriers"), 4);
    assert_eq!(branches("checks_around_volatile_stores"), 4);
}

#[test]
fn stay_where_the_thread_exits_or_reads_what_it_stored() {
    assert_eq!(branches("exits_around_shared_stores"), 4);
    assert_eq!(branches("panics_that_read_shared_memory"), 4);
}

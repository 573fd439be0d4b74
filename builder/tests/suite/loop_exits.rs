//! Threads that leave a loop at two places reconverge before what is left to do.

use std::collections::HashSet;

use super::support::*;

/// The lines that a thread may come to from one, without going through another; that one is not among them.
fn reached(body: &[&str], from: usize, without: usize) -> HashSet<usize> {
    let (mut reached, mut open) = (HashSet::new(), vec![from]);
    while let Some(line) = open.pop() {
        if line != without && reached.insert(line) {
            open.extend(successors(body, line));
        }
    }
    reached
}

/// The lines that threads may come to from the first instruction of a loop on, before their ways meet again; `None` if they do not.
fn before_ways_meet(body: &[&str], first: &str) -> Option<HashSet<usize>> {
    let first = position(body, first);
    let is_end = |line: &usize| successors(body, *line).next().is_none();
    let leads_back = |line: &usize| reached(body, *line, body.len()).contains(&first);
    let behind = (0..body.len()).filter(|line| !leads_back(line));
    let all_ways = behind.map(|line| reached(body, first, line));
    let before = all_ways.filter(|reached| !reached.iter().any(is_end));
    before.min_by_key(HashSet::len)
}

/// How many loads from global memory are among them.
fn loads_before_ways_meet(name: &str, first: &str) -> usize {
    let body = body(features(), name);
    let lines = before_ways_meet(&body, first);
    let lines = lines.unwrap_or_else(|| panic!("the ways do not meet: {body:#?}"));
    let loads = lines.iter();
    loads
        .filter(|line| body[**line].contains("ld.global"))
        .count()
}

/// Whether threads that leave a loop meet, also those that panic in it.
fn panics_are_behind(name: &str) -> bool {
    before_ways_meet(&body(features(), name), "mul.hi.u32").is_some()
}

#[test]
fn threads_that_leave_a_loop_at_two_places_meet_before_what_is_left() {
    assert_eq!(
        loads_before_ways_meet("number_behind_blanks", "ld.global"),
        1
    );
}

#[test]
fn so_do_those_that_leave_it_by_what_they_computed_or_go_past_it() {
    let body = body(features(), "number_behind_squares");
    let square = position(&body, "mul.lo");
    let past = body[..square]
        .iter()
        .rposition(|line| line.starts_with('@'));
    let past = past.expect("a condition whether to enter the loop");
    // What is passed on the ways from there before they meet has none of the loads that follow.
    let is_end = |line: &usize| successors(&body, *line).next().is_none();
    let all_ways = (past + 1..body.len()).map(|line| reached(&body, past, line));
    let before = all_ways.filter(|reached| !reached.iter().any(is_end));
    let before = before.min_by_key(HashSet::len).expect("they meet");
    assert!(before.contains(&square), "{body:#?}");
    let loads = before
        .iter()
        .filter(|line| body[**line].contains("ld.global"));
    assert_eq!(loads.count(), 0, "{body:#?}");
}

#[test]
fn a_loop_with_little_behind_it_is_left_alone() {
    assert!(loads_before_ways_meet("first_behind_blanks", "ld.global") > 1);
}

#[test]
fn threads_that_hold_a_lock_do_not_wait_for_those_in_the_loop() {
    assert!(loads_before_ways_meet("number_behind_locks", "atom") > 0);
}

#[test]
fn threads_that_leave_a_loop_meet_before_one_panics() {
    assert!(panics_are_behind("digits_of_a_number"));
    assert!(panics_are_behind("counted_digits_at_last"));
}

#[test]
fn the_panics_of_a_loop_that_is_counted_before_another_one_are_left_alone() {
    assert!(!panics_are_behind("counted_digits_of_a_number"));
}

/// How many copies of 64 bits a loop makes, by its first instruction and what it ends with.
fn copies_in_loop(name: &str) -> usize {
    let body = body(features(), name);
    let product = position(&body, "mul.hi.u32");
    let first = body[..product]
        .iter()
        .rposition(|line| line.starts_with("ld.global"));
    let first = first.expect("a round reads a digit");
    let is_last =
        |line: &&str| line.contains("bra") && !line.starts_with("@%p") || line.contains(':');
    let last = product
        + body[product..]
            .iter()
            .position(is_last)
            .expect("a round ends");
    count(&body[first..last], "mov.b64")
}

#[test]
fn what_a_loop_does_not_change_is_copied_behind_it() {
    assert_eq!(copies_in_loop("digits_or_no_number"), 0);
    assert!(copies_in_loop("digits_of_others_or_no_number") > 0);
}

//! Unrolled loops, and special registers that a kernel's launches decide.

use super::support::*;

const LOAD: &str = "ld.global.nc";

#[test]
fn a_loop_by_a_step_of_run_time_makes_four_rounds_at_once() {
    let body = body(features(), "loop_by_step");
    // Four, and the round that is made for the rest.
    assert_eq!(count(&body, LOAD), 5, "{body:#?}");
    // Nothing is divided to find out how many rounds there are, and nothing lies between the four loads that they would wait for.
    assert_eq!(count(&body, "div."), 0, "{body:#?}");
    let rounds = rounds_at_once(&body);
    assert_eq!(rounds, 4, "{body:#?}");
}

#[test]
fn so_does_an_iteration_over_every_nth_element() {
    let body = body(features(), "loop_by_iterators");
    assert_eq!(count(&body, "div."), 0, "{body:#?}");
    assert_eq!(rounds_at_once(&body), 4, "{body:#?}");
}

#[test]
fn the_parts_of_a_structure_count_as_one_load() {
    let body = body(features(), "loop_over_structures");
    assert_eq!(rounds_at_once(&body), 4 * 4, "{body:#?}");
}

#[test]
fn a_loop_that_may_panic_makes_four_rounds_at_once() {
    let body = body(features(), "loop_with_checks");
    // Two slices are read.
    assert!(count(&body, LOAD) > 8, "{body:#?}");
}

#[test]
fn a_loop_in_which_all_threads_meet_makes_four_rounds_at_once() {
    let body = body(features(), "loop_in_which_all_threads_meet");
    assert_eq!(count(&body, "bar.sync"), 5, "{body:#?}");
    assert_eq!(count(&body, LOAD), 5, "{body:#?}");
    // The places in the ring of three are those of one counter.
    assert_eq!(count(&body, "mul.hi"), 0, "{body:#?}");
    // Both conditions are one branch in each round; two lead back, one past the loop and one past its rest, and the guard one.
    let branches = body
        .iter()
        .filter(|line| line.contains("bra") && line.starts_with('@'));
    assert_eq!(branches.count(), 5 + 5, "{body:#?}");
}

#[test]
fn a_loop_of_few_rounds_is_counted_out() {
    let body = body(features(), "loop_of_five_rounds");
    assert_eq!(count(&body, "bar.sync"), 5, "{body:#?}");
    assert_eq!(count(&body, "bra"), 0, "{body:#?}");
    assert_eq!(count(&body, "rem"), 0, "{body:#?}");
}

#[test]
fn a_loop_that_stores_and_may_panic_stays_as_it_is() {
    let body = body(features(), "loop_that_stores_and_checks");
    assert_eq!(count(&body, "ld.global"), 2, "{body:#?}");
    assert_eq!(count(&body, "st.global"), 1, "{body:#?}");
}

#[test]
fn the_copies_of_rounds_have_one_test() {
    for kernel in [
        "loop_by_iterators",
        "loop_over_inclusive_range",
        "loop_by_step",
    ] {
        let body = body(features(), kernel);
        let mut pieces = body.split(|line| line.ends_with(':') || line.contains("bra"));
        let copies = pieces.find(|piece| count(piece, LOAD) == 4).unwrap();
        assert_eq!(count(copies, "setp"), 1, "{body:#?}");
    }
}

#[test]
fn a_loop_in_which_threads_meet_stays_as_it_is() {
    let body = body(features(), "loop_in_which_threads_meet");
    assert_eq!(count(&body, LOAD), 1, "{body:#?}");
    assert_eq!(count(&body, "shfl.sync"), 1, "{body:#?}");
}

#[test]
fn a_range_with_its_end_has_no_flag_in_the_loop() {
    let body = body(features(), "loop_over_inclusive_range");
    assert_eq!(rounds_at_once(&body), 4, "{body:#?}");
    assert_eq!(count(&body, "selp"), 0, "{body:#?}");
}

#[test]
fn pairs_are_not_skipped_one_by_one() {
    let body = body(features(), "loop_over_pairs");
    // Two loads in each round.
    assert_eq!(rounds_at_once(&body), 8, "{body:#?}");
    assert_eq!(count(&body, "min."), 1, "of the lengths: {body:#?}");
}

/// The most loads between two labels or branches.
fn rounds_at_once(body: &[&str]) -> usize {
    let pieces = body.split(|line| line.ends_with(':') || line.contains("bra"));
    let loads = pieces.map(|piece| count(piece, LOAD));
    loads.max().unwrap_or(0)
}

#[test]
fn special_registers_that_launches_decide_are_not_read() {
    let axes = ["x", "y", "z"];
    let all: Vec<String> = ["tid", "ntid", "ctaid", "nctaid"]
        .iter()
        .flat_map(|register| axes.map(|axis| format!("%{register}.{axis}")))
        .collect();
    let read = |kernel: &str| -> Vec<&str> {
        let body = body(features(), kernel);
        let reads = all.iter().map(String::as_str);
        reads
            .filter(|register| count(&body, &format!("{register};")) > 0)
            .collect()
    };
    assert_eq!(read("registers_of_any_launch"), all);
    let flat = read("registers_of_flat_launches");
    let expected: Vec<_> = all.iter().filter(|name| !name.ends_with('z')).collect();
    assert_eq!(flat, expected);
    let exact = read("registers_of_exact_blocks");
    let grid = ["ctaid", "nctaid"].iter();
    let mut expected = vec!["%tid.x".to_owned()];
    expected.extend(grid.flat_map(|register| axes.map(|axis| format!("%{register}.{axis}"))));
    assert_eq!(exact, expected);
}

#[test]
fn places_in_exact_blocks_are_below_each_extent() {
    let exact = body(features(), "places_in_exact_blocks");
    assert_eq!(count(&exact, "setp"), 0, "{exact:#?}");
    let bounded = body(features(), "places_in_bounded_blocks");
    assert!(count(&bounded, "setp") >= 2, "{bounded:#?}");
}

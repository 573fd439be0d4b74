//! Local arrays that are used as stacks do not begin with what is never read.

use super::support::*;

#[test]
fn a_stack_does_not_begin_with_what_is_above_its_top() {
    assert_eq!(stored_zeros("depth_by_one"), 0);
    assert_eq!(stored_zeros("depth_by_two"), 0);
    assert_eq!(stored_zeros("depth_below_zero"), 0);
    // The first element, of a word and a long word.
    assert!(stored_zeros("depth_by_last") <= 4);
}

#[test]
fn what_may_be_read_of_a_stack_before_it_is_stored_to_begins_with_zeros() {
    for kernel in [
        "depth_and_above",
        "depth_without_store",
        "depth_of_parts",
        "depth_and_any",
        "depth_that_wraps",
        "depth_again",
    ] {
        assert_eq!(stored_zeros(kernel), 24, "{kernel}");
    }
}

/// How many accesses of a kernel to local memory are of 64 bits.
fn long_accesses(kernel: &str) -> usize {
    let body = body(features(), kernel);
    let is_long = |line: &&&str| {
        let is_local = line.starts_with("ld.local") || line.starts_with("st.local");
        is_local && line.contains("64")
    };
    assert!(count(&body, "st.local") > 0, "{kernel}: {body:#?}");
    body.iter().filter(is_long).count()
}

#[test]
fn elements_that_need_32_bits_are_stored_as_those() {
    assert_eq!(long_accesses("depth_of_places"), 0);
}

#[test]
fn elements_that_need_more_or_are_read_in_parts_are_stored_whole() {
    for kernel in ["depth_of_long_numbers", "depth_of_halves"] {
        assert!(long_accesses(kernel) > 0, "{kernel}");
    }
}

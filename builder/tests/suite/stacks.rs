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

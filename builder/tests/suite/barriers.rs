//! Which barriers of a block are removed, and which stay.

use super::support::*;

/// How often a round of a loop is there: four are made at once, and the rest is made one by one.
const ROUNDS: usize = 4 + 1;

/// How many barriers are left.
fn barriers(kernel: &str) -> usize {
    count(&body(features(), kernel), "bar.sync")
}

#[test]
fn tiles_that_are_filled_in_turn_have_one_barrier_behind_both() {
    assert_eq!(barriers("tiles_in_turn"), 2 * ROUNDS);
}

#[test]
fn two_arrays_in_turns_have_a_barrier_a_step() {
    assert_eq!(barriers("two_arrays_in_turns"), 3);
}

#[test]
fn accesses_of_one_array_keep_their_barrier() {
    assert_eq!(barriers("one_array_filled_twice"), 2);
    assert_eq!(barriers("carried_by_a_loop"), 2 * ROUNDS);
    // The first one stands before a third array.
    assert_eq!(barriers("either_array"), 2);
}

#[test]
fn what_other_memory_may_be_keeps_its_barrier() {
    assert_eq!(barriers("stored_and_loaded"), 1);
    assert_eq!(barriers("stored_before_leaving"), 1);
    assert_eq!(barriers("told_by_an_atomic"), 3);
    assert_eq!(barriers("dynamic_beside_static"), 2);
}

#[test]
fn all_threads_must_pass_the_same_barriers_for_certain() {
    assert_eq!(barriers("barriers_of_some_warps"), 3);
    assert_eq!(barriers("rounds_of_some_threads"), 3 * ROUNDS);
    assert_eq!(barriers("stores_of_some_threads"), 2 * ROUNDS);
}

//! Local arrays and stack slots: those that can be registers are.

use super::support::*;

/// Whether a kernel has something in local memory.
fn is_in_local_memory(body: &[&str]) -> bool {
    count(body, ".local") > 0
}

#[test]
fn an_array_whose_indices_constant_rounds_decide_is_in_registers() {
    for kernel in [
        "array_of_long_loop",
        "array_of_triangle",
        "array_by_value",
        "array_of_doubled_steps",
        "array_of_numbered_words",
    ] {
        let body = body(features(), kernel);
        assert!(!is_in_local_memory(&body), "{kernel}: {body:#?}");
    }
}

#[test]
fn a_loop_around_is_not_unrolled_with_it() {
    let body = body(features(), "array_of_long_loop");
    // Once, and not for each round of the loop around.
    assert_eq!(count(&body, "min.u32"), 64, "{body:#?}");
}

#[test]
fn where_an_index_stays_unknown_nothing_is_unrolled() {
    let rounds = body(features(), "array_of_run_time_rounds");
    assert!(is_in_local_memory(&rounds), "{rounds:#?}");
    for kernel in ["array_of_any_index", "array_of_many_bytes"] {
        let body = body(features(), kernel);
        assert!(is_in_local_memory(&body), "{kernel}: {body:#?}");
        // Without those of the zeros that it begins with.
        let stores = count(&body, "st.local.b");
        // At most the four rounds that LLVM makes at once.
        assert!(stores < 16, "{kernel}: {body:#?}");
    }
}

#[test]
fn a_choice_between_stack_slots_is_one_between_values() {
    for kernel in [
        "slot_of_default",
        "slot_of_default_in_words",
        "slots_in_turns",
    ] {
        let body = body(features(), kernel);
        assert!(!is_in_local_memory(&body), "{kernel}: {body:#?}");
    }
}

#[test]
fn a_volatile_access_stays_one_access() {
    let body = body(features(), "slot_read_once");
    assert!(is_in_local_memory(&body), "{body:#?}");
    assert_eq!(count(&body, "ld.local"), 1, "{body:#?}");
}

#[test]
fn an_array_that_stays_starts_at_a_multiple_of_16_bytes() {
    // ptxas joins the stores that fill it then.
    for kernel in ["stack_machine", "array_of_any_index", "array_of_many_bytes"] {
        let (_, text) = features().split_once(&format!(".entry {kernel}(")).unwrap();
        let (_, array) = text.split_once(".local").unwrap();
        assert!(array.starts_with(" .align 16 .b8"), "{kernel}: {array:.40}");
    }
}

/// How many loads of local memory a kernel has.
fn local_loads(kernel: &str) -> usize {
    count(&body(features(), kernel), "ld.local")
}

#[test]
fn rows_that_are_exchanged_are_not_copied() {
    // Two of each element that is computed, in up to five copies of a round, and the result.
    for kernel in ["rows_assigned", "rows_exchanged"] {
        let loads = local_loads(kernel);
        assert!((2..=11).contains(&loads), "{kernel}: {loads}");
    }
    // Both rows are used again.
    let loads = local_loads("rows_copied");
    assert!(loads > 11, "{loads}");
}

#[test]
fn rows_that_can_be_registers_are_exchanged_as_those() {
    let body = body(features(), "rows_in_registers");
    assert!(!is_in_local_memory(&body), "{body:#?}");
}

#[test]
fn rows_that_are_exchanged_keep_their_alignment() {
    let (_, text) = features().split_once(".entry rows_of_64_bytes(").unwrap();
    let (_, array) = text.split_once(".local").unwrap();
    assert!(array.starts_with(" .align 64 .b8"), "{array:.40}");
    assert!(local_loads("rows_of_64_bytes") < 16);
}

#[test]
fn an_array_that_rounds_fill_does_not_begin_with_zeros() {
    // The first row.
    assert_eq!(stored_zeros("table_of_all_rows"), 9);
}

#[test]
fn what_may_be_read_of_an_array_before_it_is_written_begins_with_zeros() {
    // The first one, and those that are not filled.
    assert!(stored_zeros("table_of_some_rows") >= 5 * 9);
    assert_eq!(stored_zeros("table_of_any_rows"), 24 * 9);
    for kernel in ["table_until_found", "table_of_its_own"] {
        assert_eq!(stored_zeros(kernel), 96, "{kernel}");
    }
    // Their loop makes sixteen of them at once.
    assert!(stored_zeros("table_of_every_other_word") > 15);
}

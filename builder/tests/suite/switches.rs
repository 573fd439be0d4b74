//! Decisions between several ways: by the order of two numbers, and between cases of which one is certain.

use super::support::*;

fn body_of(kernel: &str) -> Vec<&'static str> {
    body(features(), kernel)
}

/// Comparisons, and what ends in a case of none.
fn tests(kernel: &str) -> (usize, usize) {
    let body = body_of(kernel);
    (count(&body, "setp."), count(&body, "exit;"))
}

#[test]
fn an_order_chooses_values_by_two_comparisons() {
    for (kernel, less) in [
        ("order_of_values", "setp.lt.u32"),
        ("order_of_signed", "setp.lt.s64"),
    ] {
        let body = body_of(kernel);
        assert_eq!(count(&body, less), 1, "{body:#?}");
        assert_eq!(count(&body, "setp.eq."), 1, "{body:#?}");
        assert_eq!(count(&body, "setp."), 2, "{body:#?}");
        assert_eq!(count(&body, "selp."), 2, "{body:#?}");
        assert_eq!(count(&body, "bra"), 0, "{body:#?}");
    }
}

#[test]
fn an_order_decides_ways_by_comparisons() {
    for (kernel, comparisons) in [("order_of_ways", 2), ("order_of_two_ways", 1)] {
        let body = body_of(kernel);
        assert_eq!(count(&body, "setp."), comparisons, "{body:#?}");
        assert_eq!(count(&body, "selp."), 0, "{body:#?}");
        for n in 1..=comparisons + 1 {
            assert_eq!(count(&body, &format!("nanosleep.u32 {n};")), 1, "{body:#?}");
        }
    }
}

#[test]
fn an_order_that_is_stored_is_computed_once_and_not_tested() {
    let body = body_of("order_stored");
    assert_eq!(count(&body, "st.global"), 1, "{body:#?}");
    assert_eq!(count(&body, "setp.eq.s16"), 0, "{body:#?}");
    assert_eq!(count(&body, "nanosleep"), 3, "{body:#?}");
}

#[test]
fn a_loop_over_sorted_lists_has_one_end() {
    let body = body_of("order_in_loop");
    let load = position(&body, "ld.global");
    let branches = count(&body[load..], "bra");
    assert_eq!(branches, 1, "{body:#?}");
}

#[test]
fn what_threads_meet_in_stays_on_its_way() {
    let body = body_of("order_with_barriers");
    let barriers = ["bar.sync 0", "bar.sync \t0", "bar.sync 1", "bar.sync 2"];
    let counts = barriers.map(|barrier| count(&body, barrier));
    // Rounds may be unrolled; a round has one of each.
    assert_eq!(counts[0] + counts[1], counts[2], "{body:#?}");
    assert_eq!(counts[2], counts[3], "{body:#?}");
    assert!(counts[2] > 0, "{body:#?}");
}

#[test]
fn a_number_from_memory_is_no_order() {
    let body = body_of("order_from_memory");
    assert_eq!(count(&body, "nanosleep"), 4, "{body:#?}");
    assert_eq!(count(&body, "setp."), 3, "{body:#?}");
}

#[test]
fn the_last_of_certain_cases_is_not_tested() {
    assert_eq!(tests("cases_3"), (2, 0));
    assert_eq!(tests("cases_with_most"), (3, 0));
    let body = body_of("cases_in_loop");
    assert_eq!(count(&body, "exit;"), 0, "{body:#?}");
    assert_eq!(count(&body, "nanosleep"), 3, "{body:#?}");
}

#[test]
fn few_cases_are_compared_and_many_are_a_table() {
    for (kernel, ways) in [("cases_4", 4), ("cases_7", 7)] {
        let body = body_of(kernel);
        assert_eq!(count(&body, "brx.idx"), 0, "{body:#?}");
        assert_eq!(count(&body, "exit;"), 0, "{body:#?}");
        assert_eq!(count(&body, "nanosleep"), ways, "{body:#?}");
    }
    let body = body_of("cases_12");
    assert_eq!(count(&body, "brx.idx"), 1, "{body:#?}");
    assert_eq!(count(&body, "exit;"), 0, "{body:#?}");
    assert_eq!(count(&body, "nanosleep"), 12, "{body:#?}");
}

#[test]
fn a_case_that_is_not_certain_is_tested() {
    let body = body_of("cases_or_trap");
    assert_eq!(count(&body, "setp."), 3, "{body:#?}");
    assert_eq!(count(&body, "trap;"), 1, "{body:#?}");
    let body = body_of("cases_or_exit");
    assert_eq!(count(&body, "setp."), 3, "{body:#?}");
    assert!(count(&body, "exit;") > 0, "{body:#?}");
}

#[test]
fn one_of_several_numbers_is_a_bit_of_a_word() {
    for (kernel, word) in [
        ("numbers_of_blanks", ", 8388635, %r"),
        ("numbers_of_a_word", ", -2147483611, %r"),
    ] {
        let body = body_of(kernel);
        let shifts = body.iter().filter(|line| line.starts_with("shr.u32"));
        assert_eq!(
            shifts.filter(|line| line.contains(word)).count(),
            1,
            "{body:#?}"
        );
        assert_eq!(count(&body, "setp."), 1, "{body:#?}");
        for n in 1..=2 {
            assert_eq!(count(&body, &format!("nanosleep.u32 {n};")), 1, "{body:#?}");
        }
    }
}

#[test]
fn what_no_bit_of_a_word_says_or_one_comparison_is_compared() {
    for kernel in [
        "numbers_of_more_than_a_word",
        "numbers_in_a_row",
        "numbers_of_two",
        "numbers_of_64_bits",
        "numbers_of_three_ways",
    ] {
        let body = body_of(kernel);
        assert_eq!(count(&body, "shr.u32"), 0, "{body:#?}");
        assert!(count(&body, "setp.") > 0, "{body:#?}");
    }
}

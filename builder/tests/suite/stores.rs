//! Stores that are overwritten on one way behind them, and stores that somebody may miss there.

use super::support::*;

/// The stores to global memory before the first branch, and all.
fn stores(kernel: &str) -> (usize, usize) {
    let body = body(features(), kernel);
    let stores = |part: &[&str]| count(part, "st.global") + count(part, "st.volatile.global");
    let released = count(&body, "st.release");
    let branch = position(&body, "@%p");
    (stores(&body[..branch]), stores(&body) + released)
}

#[test]
fn what_one_way_overwrites_is_stored_once_on_each() {
    for kernel in ["store_of_edges", "store_of_neighbours"] {
        assert_eq!(stores(kernel), (0, 1), "{kernel}");
    }
}

#[test]
fn a_store_stays_that_may_be_read_before_the_next() {
    assert_eq!(stores("store_read_between"), (1, 2));
}

#[test]
fn a_store_stays_that_is_the_last_of_a_thread_that_panics_or_leaves() {
    for kernel in ["store_before_panic", "store_before_exit"] {
        assert_eq!(stores(kernel), (1, 2), "{kernel}");
    }
}

#[test]
fn a_store_stays_before_what_threads_agree_by() {
    for kernel in [
        "store_before_barrier",
        "store_before_atomic",
        "store_before_fence",
        "store_before_volatile",
        "store_before_release",
    ] {
        assert_eq!(stores(kernel), (1, 2), "{kernel}");
    }
}

#[test]
fn a_store_stays_that_is_not_overwritten_as_a_whole() {
    for kernel in ["store_of_a_part", "store_of_the_next"] {
        assert_eq!(stores(kernel), (1, 2), "{kernel}");
    }
}

#[test]
fn a_store_stays_before_a_loop_that_may_make_no_round() {
    assert_eq!(stores("store_before_loop"), (1, 2));
}

/// The pointer is another one by then.
#[test]
fn a_store_stays_that_the_next_round_does_not_overwrite() {
    let body = body(features(), "store_of_each_round");
    let barrier = body.iter().rposition(|line| line.contains("bar.sync"));
    let behind = &body[barrier.unwrap()..];
    let store = position(behind, "st.global");
    assert!(store < position(behind, "@%p"), "{body:#?}");
}

#[test]
fn a_store_stays_that_may_be_to_an_array_which_is_read() {
    let body = body(features(), "store_to_one_of_two");
    assert_eq!(count(&body, "st.b32"), 2, "{body:#?}");
    let (store, load) = (position(&body, "st.b32"), position(&body, "ld.local"));
    assert!(store < load, "{body:#?}");
}

/// Shifts and what puts bits together.
fn packing(body: &[&str]) -> usize {
    let operations = ["shl.", "shr.", "or.b", "bfi.", "prmt.", "and.b"];
    let is_one = |line: &&&str| operations.iter().any(|part| line.starts_with(part));
    body.iter().filter(is_one).count()
}

#[test]
fn an_array_that_is_put_together_is_stored_by_its_elements() {
    let body = body(features(), "store_of_bytes");
    assert_eq!(count(&body, "st.global.b8"), 3, "{body:#?}");
    assert_eq!(packing(&body), 0, "{body:#?}");
    let body = self::body(features(), "store_of_halves");
    assert_eq!(count(&body, "st.global.b16"), 2, "{body:#?}");
    assert_eq!(packing(&body), 0, "{body:#?}");
}

#[test]
fn a_whole_number_is_stored_as_one() {
    let body = body(features(), "store_of_aligned_bytes");
    assert_eq!(count(&body, "st.global.b32"), 1, "{body:#?}");
    assert_eq!(count(&body, "st.global"), 1, "{body:#?}");
}

#[test]
fn parts_that_overlap_are_put_together_first() {
    let body = body(features(), "store_of_overlapping_bytes");
    assert_eq!(count(&body, "st.global.b8"), 4, "{body:#?}");
    assert!(packing(&body) > 2, "{body:#?}");
}

#[test]
fn exchanged_elements_go_through_registers() {
    let body = body(features(), "exchanged_rows");
    assert_eq!(count(&body, "local"), 0, "{body:#?}");
    let (loads, stores) = (count(&body, "ld.global"), count(&body, "st.global"));
    assert_eq!((loads, stores), (12, 12), "{body:#?}");
    // Both may be one place, and overlap.
    let first_store = position(&body, "st.global");
    assert_eq!(count(&body[..first_store], "ld.global"), 12, "{body:#?}");
    let other = self::body(features(), "exchanged_and_read_rows");
    assert!(count(&other, "local") >= 1, "{other:#?}");
}

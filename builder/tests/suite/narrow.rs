//! Remainders, divisions and conversions that take fewer instructions than they seem to.

use super::support::*;

#[test]
fn remainders_of_what_a_loop_counts_are_counters() {
    let body = body(features(), "remainders_of_a_counter");
    for multiplication in ["mul.hi", "mul.wide", "rem.", "div."] {
        assert_eq!(count(&body, multiplication), 0, "{body:#?}");
    }
}

#[test]
fn a_place_in_a_ring_is_divided_once() {
    let body = body(features(), "place_in_a_ring");
    // Where it starts, of small and of great numbers.
    assert_eq!(count(&body, "rem.u32"), 1, "{body:#?}");
    assert_eq!(count(&body, "rem.u64"), 1, "{body:#?}");
    let first_load = position(&body, "ld.global");
    let remainder = position(&body, "rem.u32");
    assert!(
        remainder < first_load || !body[first_load..remainder].contains(&"ret;"),
        "{body:#?}"
    );
}

#[test]
fn neighbours_take_one_division_of_32_bits() {
    let body = body(features(), "neighbours_on_a_ring");
    assert_eq!(count(&body, "rem.u32"), 1, "{body:#?}");
    assert_eq!(count(&body, "rem.u64"), 0, "{body:#?}");
}

#[test]
fn one_test_decides_about_several_divisions() {
    let body = body(features(), "quotients");
    assert_eq!(count(&body, "rem.u32"), 1, "{body:#?}");
    assert_eq!(count(&body, "rem.u64"), 1, "{body:#?}");
    // The other remainder is what the quotient leaves.
    assert_eq!(count(&body, "div.u32"), 1, "{body:#?}");
    assert_eq!(count(&body, "div.u64"), 1, "{body:#?}");
    assert_eq!(count(&body, "or.b64"), 2, "{body:#?}");
}

#[test]
fn bounds_make_tests_of_divisions_superfluous() {
    let body = body(features(), "short_quotient");
    assert_eq!(count(&body, "div.u32"), 1, "{body:#?}");
    assert_eq!(count(&body, "div.u64"), 0, "{body:#?}");
}

#[test]
fn conversions_saturate_by_themselves() {
    let body = body(features(), "saturating_casts");
    assert_eq!(count(&body, "cvt.rzi"), 5, "{body:#?}");
    assert_eq!(count(&body, "setp"), 0, "{body:#?}");
    assert_eq!(count(&body, "selp"), 0, "{body:#?}");
}

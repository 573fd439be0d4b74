//! Remainders, divisions and conversions that take fewer instructions than they seem to.

use super::support::*;

/// What stands in the PTX of a quotient and of a remainder of 32 bits, and of the reciprocal that both take.
const QUOTIENT: &str = "@%p add.u32 %y, %y, 1; setp";
const REMAINDER: &str = "{ .reg .pred %p; .reg .b32 %z; mul.hi.u32";
const RECIPROCAL: &str = "rcp.approx";

#[test]
fn remainders_of_what_a_loop_counts_are_counters() {
    let body = body(features(), "remainders_of_a_counter");
    // Addresses take `mul.wide`.
    for multiplication in ["mul.hi", "rem.", "div."] {
        assert_eq!(count(&body, multiplication), 0, "{body:#?}");
    }
}

#[test]
fn a_place_in_a_ring_is_divided_once() {
    let body = body(features(), "place_in_a_ring");
    // Where it starts: of short lengths, and of small and of great numbers.
    assert_eq!(count(&body, REMAINDER), 2, "{body:#?}");
    assert_eq!(count(&body, "rem.u64"), 1, "{body:#?}");
    let first_load = position(&body, "ld.global");
    let remainder = position(&body, REMAINDER);
    assert!(
        remainder < first_load || !body[first_load..remainder].contains(&"ret;"),
        "{body:#?}"
    );
}

#[test]
fn neighbours_take_one_division_of_32_bits() {
    let body = body(features(), "neighbours_on_a_ring");
    assert_eq!(count(&body, REMAINDER), 1, "{body:#?}");
    assert_eq!(count(&body, "rem.u64"), 0, "{body:#?}");
}

#[test]
fn one_test_decides_about_several_divisions() {
    let body = body(features(), "quotients");
    assert_eq!(count(&body, REMAINDER), 1, "{body:#?}");
    assert_eq!(count(&body, "rem.u64"), 1, "{body:#?}");
    // The other remainder is what the quotient leaves.
    assert_eq!(count(&body, QUOTIENT), 1, "{body:#?}");
    assert_eq!(count(&body, "div.u64"), 1, "{body:#?}");
    assert_eq!(count(&body, "or.b64"), 2, "{body:#?}");
}

#[test]
fn bounds_make_tests_of_divisions_superfluous() {
    let body = body(features(), "short_quotient");
    assert_eq!(count(&body, QUOTIENT), 1, "{body:#?}");
    assert_eq!(count(&body, "div.u64"), 0, "{body:#?}");
}

#[test]
fn conversions_saturate_by_themselves() {
    let lower = body(features(), "casts_to_lower_bits");
    let body = body(features(), "saturating_casts");
    assert_eq!(count(&body, "cvt.rzi"), 5, "{body:#?}");
    assert_eq!(count(&body, "setp"), 0, "{body:#?}");
    assert_eq!(count(&body, "selp"), 0, "{body:#?}");
    // Of NaN, PTX gives the highest bit alone in 64 bits.
    assert_eq!(count(&body, "max.f"), 2, "{body:#?}");
    assert_eq!(count(&lower, "cvt.rzi"), 3, "{lower:#?}");
    for more in ["max.f", "setp", "selp"] {
        assert_eq!(count(&lower, more), 0, "{lower:#?}");
    }
}

#[test]
fn sums_and_choices_of_short_indices_are_of_32_bits() {
    let body = body(features(), "short_sums");
    for wide in [
        "sub.s64",
        "selp.b64",
        "setp.lt.u64",
        "setp.ge.u64",
        "setp.gt.u64",
        "setp.le.u64",
    ] {
        assert_eq!(count(&body, wide), 0, "{body:#?}");
    }
}

#[test]
fn kernels_whose_lengths_matter_have_code_for_short_ones() {
    let lengths = body(features(), "short_lengths");
    // One test of both, and their product.
    assert_eq!(count(&lengths, "1073741824"), 1, "{lengths:#?}");
    assert!(count(&lengths, QUOTIENT) >= 2, "{lengths:#?}");
    assert!(count(&lengths, "div.u64") >= 1, "{lengths:#?}");
    // Nothing is saved there.
    assert_eq!(count(&body(features(), "quotients"), "1073741824"), 0);
}

#[test]
fn places_of_which_no_loop_knows_the_steps_are_short_in_code_for_short_lengths() {
    let walks = body(features(), "walks_through_a_matrix");
    assert_eq!(count(&walks, "1073741824"), 1, "{walks:#?}");
    // A row's place is a product of 32 bits in one copy.
    let products = (
        count(&walks, "mad.lo.s32") + count(&walks, "mul.wide.u32"),
        count(&walks, "mad.lo.s64"),
    );
    assert!(products.0 >= 2 && products.1 == 2, "{walks:#?}");
    // What saves less has no copy.
    let machine = body(features(), "stack_machine");
    assert_eq!(count(&machine, "1073741824"), 0, "{machine:#?}");
}

#[test]
fn an_index_into_local_memory_is_extended_where_it_is_told_alone() {
    let machine = body(features(), "stack_machine");
    for (at, _) in machine
        .iter()
        .enumerate()
        .filter(|(_, line)| line.starts_with("cvt.s64.s32"))
    {
        let block = machine[at..]
            .iter()
            .take_while(|line| !line.starts_with("$L"));
        let accesses = block.filter(|line| line.contains(".local") || line.starts_with("setp"));
        assert_eq!(accesses.count(), 0, "{:#?}", &machine[at..]);
    }
    assert!(count(&machine, "mul.wide.s32") >= 7, "{machine:#?}");
}

#[test]
fn checks_lead_to_panics_by_one_branch() {
    let body = body(features(), "checks_together");
    let first_load = position(&body, "ld.global");
    let branches = body[..first_load]
        .iter()
        .filter(|line| line.starts_with('@'));
    assert_eq!(branches.count(), 1, "{body:#?}");
}

#[test]
fn places_in_a_matrix_are_short_products_and_one_sum() {
    let body = body(features(), "rows_above_and_below");
    assert_eq!(count(&body, "mul.wide.u32"), 2, "{body:#?}");
    assert_eq!(count(&body, "mul.lo"), 0, "{body:#?}");
    // Of each place, and not of row and column.
    assert_eq!(count(&body, "shl.b64"), 2, "{body:#?}");
}

#[test]
fn clamped_indices_are_checked_once_and_short() {
    let body = body(features(), "clamped_neighbours");
    assert_eq!(count(&body, "setp"), 1, "{body:#?}");
    assert_eq!(count(&body, "min.u32"), 1, "{body:#?}");
    assert_eq!(count(&body, "min.u64"), 0, "{body:#?}");
    assert_eq!(count(&body, "mul.wide.u32"), 3, "{body:#?}");
}

#[test]
fn a_counter_below_a_short_bound_is_short() {
    let body = body(features(), "counts_along_a_row");
    assert_eq!(count(&body, "mul.wide.u32"), 1, "{body:#?}");
    // Of the address alone.
    assert_eq!(count(&body, "add.s64"), 1, "{body:#?}");
    for comparison in ["setp.lt.u64", "setp.ge.u64", "setp.gt.u64", "setp.le.u64"] {
        assert_eq!(count(&body, comparison), 0, "{body:#?}");
    }
}

#[test]
fn elements_a_constant_apart_have_one_product() {
    let body = body(features(), "elements_a_constant_apart");
    for bytes in ["+1024]", "+2048]", "+3072]"] {
        assert_eq!(count(&body, bytes), 1, "{body:#?}");
    }
    let products = count(&body, "mul.wide.u32") + count(&body, "shl.b64");
    assert!(products <= 2, "of x and of out: {body:#?}");
}

#[test]
fn parts_of_an_index_are_divided_together() {
    let body = body(features(), "parts_of_an_index");
    let divisions: Vec<_> = (0..body.len())
        .filter(|n| body[*n].contains(QUOTIENT) || body[*n].contains(REMAINDER))
        .collect();
    assert_eq!(divisions.len(), 3, "{body:#?}");
    let between = &body[divisions[0]..divisions[2]];
    assert_eq!(count(between, "bra"), 0, "{body:#?}");
    assert_eq!(count(between, ":"), 0, "{body:#?}");
    // What is tested of them decides one branch.
    assert_eq!(count(&body[divisions[2]..], "bra"), 1, "{body:#?}");
}

#[test]
fn divisions_of_other_numbers_stay_where_they_are_needed() {
    let body = body(features(), "other_divisions");
    let first = position(&body, QUOTIENT);
    let between = &body[first + 1..];
    let second = position(between, QUOTIENT);
    assert_eq!(count(&between[..second], "bra"), 1, "{body:#?}");
}

#[test]
fn divisions_in_loops_stay_there() {
    let body = body(features(), "divisions_in_a_loop");
    let first = position(&body, QUOTIENT);
    let between = &body[first + 1..];
    let second = position(between, QUOTIENT);
    assert!(count(&between[..second], "bra") >= 1, "{body:#?}");
}

#[test]
fn a_number_in_a_window_is_compared_once() {
    let body = body(features(), "in_a_window");
    assert_eq!(count(&body, "setp"), 1, "{body:#?}");
    assert_eq!(count(&body, "sub.s64"), 1, "{body:#?}");
}

#[test]
fn a_number_in_any_window_is_compared_with_both_ends() {
    for kernel in ["in_any_window", "behind_a_start"] {
        let body = body(features(), kernel);
        assert_eq!(count(&body, "setp"), 2, "{body:#?}");
    }
}

#[test]
fn divisions_by_one_number_have_a_reciprocal_in_common() {
    let body = body(features(), "parts_of_an_index");
    assert_eq!(count(&body, RECIPROCAL), 3, "{body:#?}");
    let twice = self::body(features(), "twice_by_one_number");
    assert_eq!(count(&twice, QUOTIENT), 2, "{twice:#?}");
    assert_eq!(count(&twice, RECIPROCAL), 1, "{twice:#?}");
    // Nothing asks for a divisor of 0 but the kernel.
    assert_eq!(count(&twice, "div."), 0, "{twice:#?}");
}

/// How many comparisons of 64 bits there are.
fn wide_comparisons(body: &[&str]) -> usize {
    let wide = |line: &&&str| line.starts_with("setp") && line.contains("64 ");
    body.iter().filter(wide).count()
}

#[test]
fn a_last_place_is_known_by_32_bits_where_there_is_one_behind() {
    let short = body(features(), "last_place");
    assert_eq!(count(&short, "setp"), 1, "{short:#?}");
    assert_eq!(wide_comparisons(&short), 0, "{short:#?}");
    let wide = body(features(), "last_place_of_32_bits");
    assert_eq!(wide_comparisons(&wide), 1, "{wide:#?}");
}

#[test]
fn behind_a_place_that_is_not_the_last_there_is_one() {
    let comparisons = |kernel, expected| {
        let body = body(features(), kernel);
        assert_eq!(count(&body, "setp"), expected, "{kernel}: {body:#?}");
    };
    comparisons("behind_an_inner_element", 2);
    comparisons("behind_an_element_of_two", 4);
    comparisons("behind_any_element_but_one", 3);
    comparisons("below_the_last", 2);
}

#[test]
fn a_check_that_follows_from_a_later_one_decides_nothing() {
    let comparisons = |kernel, expected| {
        let body = body(features(), kernel);
        let first_load = position(&body, "ld.global");
        let before = &body[..first_load];
        // Two numbers are both below a third where the greater one is.
        let all = count(before, "setp") + count(before, "max.u");
        assert_eq!(all, expected, "{kernel}: {body:#?}");
    };
    comparisons("around_an_inner_element", 3);
    comparisons("before_any_element", 2);
    // Two of the lengths, and the last element.
    comparisons("layers_behind", 3);
    comparisons("layers_behind_any", 6);
    comparisons("layers_of_any_height", 2);
    comparisons("layers_far_behind", 2);
}

#[test]
fn factors_of_a_product_that_is_not_zero_are_not_zero() {
    let body = body(features(), "remainders_by_products");
    let division = position(&body, RECIPROCAL);
    assert_eq!(count(&body[..division], "setp"), 1, "{body:#?}");
}

#[test]
fn the_lower_half_of_a_product_says_nothing_of_its_factors() {
    let body = body(features(), "low_half_of_product");
    assert_eq!(count(&body, "setp"), 3, "{body:#?}");
}

#[test]
fn a_place_in_a_plane_needs_no_check() {
    let comparisons = |kernel, expected| {
        let body = body(features(), kernel);
        assert_eq!(count(&body, "setp"), expected, "{kernel}: {body:#?}");
    };
    // Both ends of the plane in order and inside, the row and the column.
    comparisons("place_in_a_plane", 4);
    comparisons("place_in_a_volume", 4);
    // The place, too.
    comparisons("place_in_a_plane_of_any_size", 4);
    comparisons("place_behind_a_plane", 4);
    comparisons("place_in_a_turned_plane", 4);
    comparisons("place_in_a_great_volume", 5);
}

#[test]
fn a_short_number_is_divided_by_a_short_one_only() {
    let short = body(features(), "short_by_any");
    for wide in ["div.u64", "rem.u64"] {
        assert_eq!(count(&short, wide), 0, "{short:#?}");
    }
    let signed = body(features(), "short_by_any_signed");
    assert_eq!(count(&signed, "div.s64"), 1, "{signed:#?}");
}

#[test]
fn signed_numbers_that_are_short_are_converted_from_32_bits() {
    let body = body(features(), "squares_of_distances");
    let wide = |body: &[&str]| count(body, "cvt.rn.f32.s64") + count(body, "cvt.rn.f32.u64");
    assert_eq!(wide(&body), 0, "{body:#?}");
    assert_eq!(count(&body, "mul.lo.s64"), 0, "{body:#?}");
    let any = self::body(features(), "squares_of_any_distances");
    assert!(count(&any, "cvt.rn.f32.s64") >= 1, "{any:#?}");
    assert!(count(&any, "mul.lo.s64") >= 1, "{any:#?}");
}

#[test]
fn divisions_of_few_bits_are_of_32() {
    let body = body(features(), "tiny_divisions");
    for narrow in ["div.u16", "rem.u16", "mul.lo.s16", "mul.hi.u16", "sub.s16"] {
        assert_eq!(count(&body, narrow), 0, "{body:#?}");
    }
    assert_eq!(count(&body, QUOTIENT), 1, "{body:#?}");
    // What wraps around is cut off before it is divided.
    let product = self::body(features(), "tiny_division_of_a_product");
    assert_eq!(count(&product, "255"), 1, "{product:#?}");
}

#[test]
fn a_reciprocal_that_all_rounds_take_is_computed_before_them() {
    let body = body(features(), "quotients_in_a_loop");
    let reciprocals = count(&body, RECIPROCAL);
    assert!(reciprocals >= 1, "{body:#?}");
    let before = position(&body, "shfl.sync");
    assert_eq!(count(&body[..before], RECIPROCAL), reciprocals, "{body:#?}");
    let some = self::body(features(), "quotients_of_some_rounds");
    let before = position(&some, "shfl.sync");
    assert_eq!(count(&some[..before], RECIPROCAL), 0, "{some:#?}");
    assert!(count(&some, RECIPROCAL) >= 2, "{some:#?}");
}

#[test]
fn in_a_loop_a_length_is_compared_by_32_bits() {
    let places = body(features(), "common_beginning");
    // Where the shorter length is cut off.
    assert_eq!(wide_comparisons(&places), 1, "{places:#?}");
    let read = body(features(), "gathered");
    let short = read
        .iter()
        .filter(|line| line.starts_with("setp") && line.contains(".u32"));
    // In each of four rounds that are made at once, and in the one of those that are left.
    assert_eq!(short.count(), 5, "{read:#?}");
}

#[test]
fn what_is_left_of_a_short_slice_is_short() {
    let body = body(features(), "codes_of_a_list");
    assert_eq!(count(&body, "min.u32"), 1, "{body:#?}");
    for wide in [
        "min.u64",
        "sub.s64",
        "setp.ne.b64",
        "setp.eq.b64",
        "setp.lt.u64",
    ] {
        assert_eq!(count(&body, wide), 0, "{body:#?}");
    }
    // No code ends behind the slice: a panic would tell where it is.
    assert_eq!(count(&body, "ctaid"), 0, "{body:#?}");
    assert_eq!(count(&body, "setp."), 4, "{body:#?}");
}

#[test]
fn what_may_become_more_or_begins_behind_the_end_is_not() {
    for (kernel, wide) in [
        ("taken_until_nothing_is_left", "sub.s64"),
        ("counted_from_behind", "add.s64"),
    ] {
        let body = body(features(), kernel);
        let all = body.iter().filter(|line| line.starts_with(wide));
        assert!(all.count() > 0, "{body:#?}");
    }
}

/// Comparisons of 64 bits for equality.
fn wide_equalities(kernel: &str) -> usize {
    let body = body(features(), kernel);
    count(&body, "setp.eq.b64") + count(&body, "setp.ne.b64")
}

#[test]
fn a_search_in_a_short_slice_ends_by_the_place() {
    for kernel in ["first_place_of_a_byte", "last_place_of_a_byte"] {
        assert_eq!(
            wide_equalities(kernel),
            0,
            "{:#?}",
            body(features(), kernel)
        );
    }
}

#[test]
fn a_search_ends_by_the_address_where_the_place_tells_nothing() {
    for kernel in ["place_counted_from_three", "first_place_in_a_long_slice"] {
        assert!(
            wide_equalities(kernel) > 0,
            "{:#?}",
            body(features(), kernel)
        );
    }
}

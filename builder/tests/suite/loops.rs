//! Unrolled loops, and special registers that a kernel's launches decide.

use super::support::*;

const LOAD: &str = "ld.global.nc";

#[test]
fn a_loop_by_a_step_of_run_time_makes_four_rounds_at_once() {
    let body = body(features(), "loop_by_step");
    // Four, and the three rounds that are left at most.
    assert_eq!(count(&body, LOAD), 7, "{body:#?}");
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
    // Behind the last round's nothing is shared.
    assert_eq!(count(&body, "bar.sync"), 4, "{body:#?}");
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
        let copies = pieces(&body).find(|piece| count(piece, LOAD) == 4).unwrap();
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
fn an_iterator_whose_place_is_a_pointer_goes_on_by_a_constant() {
    let body = body(features(), "loop_over_bytes_with_table");
    assert_eq!(count(&body, "selp"), 0, "{body:#?}");
    // The words of the table; bytes may be written through `out`, so they are loaded otherwise.
    assert_eq!(rounds_at_once(&body), 4, "{body:#?}");
}

#[test]
fn pairs_are_not_skipped_one_by_one() {
    let body = body(features(), "loop_over_pairs");
    // Two loads in each round.
    assert_eq!(rounds_at_once(&body), 8, "{body:#?}");
    assert_eq!(count(&body, "min."), 1, "of the lengths: {body:#?}");
}

#[test]
fn ptxas_is_kept_from_unrolling_copies_of_rounds_over_shared_memory() {
    let body = body(features(), "loop_over_shared_memory");
    assert_eq!(count(&body, "ld.shared"), 5, "{body:#?}");
    assert_eq!(count(&body, "nounroll"), 1, "{body:#?}");
}

/// Four rounds, up to the branch that leads back to them, have no other branch; the loop with its checks is beside them.
#[test]
fn rounds_that_all_pass_their_checks_make_none() {
    for kernel in ["loop_over_places", "loop_over_column"] {
        let body = body(features(), kernel);
        let four = pieces(&body).position(|piece| count(piece, LOAD) == 4);
        assert!(four.is_some(), "{kernel}: {body:#?}");
        let is_single = |piece: &[&str]| count(piece, LOAD) == 1;
        assert!(pieces(&body).any(is_single), "{kernel}: {body:#?}");
        // Nothing is divided to find out how many rounds fit.
        assert_eq!(count(&body, "div."), 0, "{kernel}: {body:#?}");
    }
}

#[test]
fn a_check_of_what_a_round_has_read_stays() {
    let body = body(features(), "loop_along_links");
    assert_eq!(rounds_at_once(&body), 1, "{body:#?}");
}

/// The threads of a warp agree on the copy without checks before the loop.
#[test]
fn a_warp_whose_threads_meet_in_a_loop_with_checks_votes_before_it() {
    let body = body(features(), "loop_over_places_with_shuffles");
    assert_eq!(count(&body, "vote.sync.all"), 1, "{body:#?}");
    let four = pieces(&body).find(|piece| count(piece, "shfl.sync") == 4);
    let four = four.unwrap_or_else(|| panic!("no rounds without checks: {body:#?}"));
    assert_eq!(count(four, LOAD), 4, "{body:#?}");
    assert_eq!(count(four, "setp"), 1, "{body:#?}");
}

#[test]
fn threads_that_may_not_all_come_to_a_vote_meet_in_one_place() {
    for kernel in [
        "rows_of_places_with_shuffles",
        "loop_over_places_with_shuffles_of_some",
        "loop_over_places_with_shuffles_and_barriers",
        "loop_over_small_places_with_shuffles",
        "parts_of_places_with_shuffles",
    ] {
        let body = body(features(), kernel);
        assert_eq!(count(&body, "vote.sync"), 0, "{kernel}: {body:#?}");
    }
}

/// What stands between two labels or branches.
fn pieces<'b>(body: &'b [&'b str]) -> impl Iterator<Item = &'b [&'b str]> {
    body.split(|line| line.ends_with(':') || line.contains("bra"))
}

/// The most loads between two labels or branches.
fn rounds_at_once(body: &[&str]) -> usize {
    let loads = pieces(body).map(|piece| count(piece, LOAD));
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
fn the_rounds_that_are_left_are_a_group() {
    for kernel in ["loop_by_step", "loop_over_inclusive_range"] {
        let body = body(features(), kernel);
        // Behind the copies: what decides about the second and third round is known before the first of their loads.
        let group = &body[body
            .iter()
            .rposition(|line| line.ends_with("nounroll\";"))
            .unwrap()..];
        let (first, last) = (position(group, LOAD), group.len() - 1);
        let loads = group[..last].iter().filter(|line| line.contains(LOAD));
        assert_eq!(loads.count(), 3, "{body:#?}");
        let second = first + 1 + position(&group[first + 1..], LOAD);
        assert_eq!(count(&group[second..], "setp"), 0, "{body:#?}");
    }
}

#[test]
fn counters_that_are_the_same_in_each_round_become_one() {
    let of_part = body(features(), "loop_over_part");
    let counted = of_part
        .iter()
        .filter(|line| line.starts_with("add.") && line.ends_with(", 4;"));
    assert_eq!(counted.count(), 1, "{of_part:#?}");
    let of_two = body(features(), "loop_with_two_steps");
    for step in [", 12;", ", 20;"] {
        let counted = of_two
            .iter()
            .filter(|line| line.starts_with("add.") && line.ends_with(step));
        assert!(counted.count() > 0, "{of_two:#?}");
    }
}

#[test]
fn a_counter_whose_end_is_checked_has_32_bits() {
    let copies = |kernel| {
        let body = body(features(), kernel);
        let mut pieces = body.split(|line| line.ends_with(':') || line.contains("bra"));
        let copies = pieces.find(|piece| count(piece, LOAD) == 4).unwrap();
        copies.to_vec()
    };
    let short = copies("loop_over_window");
    assert_eq!(count(&short, "setp.lt.u32"), 1, "{short:#?}");
    // Nothing says how far this one goes.
    let long = copies("loop_over_inclusive_range");
    assert_eq!(count(&long, "setp.lt.u64"), 1, "{long:#?}");
}

#[test]
fn whether_rounds_do_anything_is_tested_before_the_loop() {
    // Whether the window is empty: before the first label that something leads back to.
    let is_tested_before = |kernel| {
        let body = body(features(), kernel);
        let leads_back = |label: &str| {
            let at = body.iter().position(|line| *line == label).unwrap();
            let name = label.trim_end_matches(':');
            let to = |line: &&str| line.contains("bra") && line.contains(&format!("{name};"));
            body[at..].iter().any(to)
        };
        let first = body
            .iter()
            .position(|line| line.ends_with(':') && leads_back(line))
            .unwrap();
        (
            count(&body[..first], "setp.gt.u64"),
            count(&body[first..], "setp.gt.u64"),
            body,
        )
    };
    let (before, inside, body) = is_tested_before("loop_over_window");
    assert_eq!((before, inside), (1, 0), "{body:#?}");
    // Each round has something to do.
    let (_, inside, body) = is_tested_before("loop_that_stores_each_row");
    assert!(inside > 0, "{body:#?}");
}

#[test]
fn a_check_of_all_elements_compares_the_last_one() {
    let body = body(features(), "loop_over_window_at_once");
    // One of them finds the first element; another one would be the end of the first round that is outside.
    assert_eq!(count(&body, "max.u"), 1, "{body:#?}");
}

/// Behind a first element the last one may come when the rounds have gone past the greatest number, which is outside.
#[test]
fn a_check_of_all_elements_in_no_known_order_compares_distances() {
    let body = body(features(), "loop_over_ring_at_once");
    assert_eq!(count(&body, "max.u"), 2, "{body:#?}");
}

#[test]
fn places_in_exact_blocks_are_below_each_extent() {
    let exact = body(features(), "places_in_exact_blocks");
    assert_eq!(count(&exact, "setp"), 0, "{exact:#?}");
    let bounded = body(features(), "places_in_bounded_blocks");
    assert!(count(&bounded, "setp") >= 2, "{bounded:#?}");
}

/// The stores behind the check of a round, and those of rounds that have none.
fn stores_with_and_without_check(kernel: &str) -> [usize; 2] {
    let body = body(features(), kernel);
    // A round begins at a label; a check that it passes is a branch behind that.
    let is_checked = |store: usize| {
        let mut before = body[..store].iter().rev();
        before
            .find(|line| line.ends_with(':') || line.contains("bra"))
            .is_some_and(|line| line.contains("bra"))
    };
    let stores = (0..body.len()).filter(|n| body[*n].contains("st.global"));
    let (with, without): (Vec<_>, Vec<_>) = stores.partition(|store| is_checked(*store));
    [with.len(), without.len()]
}

#[test]
fn rounds_of_the_grid_that_store_and_pass_their_checks_make_none() {
    for kernel in ["loop_over_grid_with_table", "loop_over_grid_of_pairs"] {
        // Four rounds at once, and one of those that are left; the loop with its checks is beside them.
        assert_eq!(stores_with_and_without_check(kernel), [1, 5], "{kernel}");
    }
    // The greatest byte decides.
    let body = body(features(), "loop_over_grid_with_table");
    let first_load = position(&body, LOAD);
    let is_test = |line: &&&str| line.starts_with("setp") && line.contains(", 256;");
    let tests = body[..first_load].iter().filter(is_test);
    assert_eq!(tests.count(), 1, "{body:#?}");
}

#[test]
fn rounds_of_a_block_or_a_warp_that_store_have_their_checks() {
    assert_eq!(
        stores_with_and_without_check("loop_over_block_with_table"),
        [1, 0]
    );
    // A step of 32 is a constant, by which the loads of four rounds are made early, and those of the rounds that are left: the greatest byte of each
    // group decides. The loop with its checks is beside them.
    let stores: usize = stores_with_and_without_check("loop_over_warp_with_table")
        .into_iter()
        .sum();
    assert_eq!(stores, 4 + 3 + 1);
}

#[test]
fn whole_warps_make_rounds_without_checks_by_a_constant_step() {
    let kernel = "loop_over_row_of_warp";
    assert_eq!(stores_with_and_without_check(kernel), [1, 5]);
    let body = body(features(), kernel);
    for round in 1..4 {
        let loads = format!("+{}]", 128 * round);
        let is_load = |line: &&&str| line.contains(LOAD) && line.contains(&loads);
        assert_eq!(body.iter().filter(is_load).count(), 2, "{body:#?}");
    }
    assert_eq!(rounds_at_once(&body), 2 * 4, "{body:#?}");
}

#[test]
fn other_checks_and_steps_of_warps_stay_as_they_are() {
    for kernel in [
        "loop_over_row_of_warp_and_next",
        "loop_over_row_of_rest",
        "loop_over_row_of_divisions",
    ] {
        assert_eq!(stores_with_and_without_check(kernel), [1, 0], "{kernel}");
    }
}

#[test]
fn a_table_that_is_asked_for_any_word_is_checked_each_time() {
    let kernel = "loop_over_grid_with_words";
    assert_eq!(stores_with_and_without_check(kernel), [1, 0]);
}

#[test]
fn a_loop_to_an_included_end_inside_another_one_is_counted_out() {
    let body = body(features(), "loop_over_triangle");
    assert_eq!(count(&body, "local"), 0, "{body:#?}");
    assert_eq!(count(&body, "bra"), 0, "{body:#?}");
    // Those of the triangle.
    assert_eq!(count(&body, LOAD), 15, "{body:#?}");
}

#[test]
fn a_reversed_range_with_its_end_is_counted() {
    let body = body(features(), "loop_over_reversed_range");
    assert_eq!(count(&body, "selp"), 0, "{body:#?}");
    assert_eq!(rounds_at_once(&body), 4, "{body:#?}");
}

/// How often words of a table are read by turns, each time behind a check or in a loop without checks.
fn lookups(kernel: &str) -> usize {
    let body = body(features(), kernel);
    body.iter()
        .filter(|line| line.starts_with("ld.global") && line.contains(".b32"))
        .count()
}

#[test]
fn a_table_that_is_asked_for_bytes_by_turns_is_tested_once() {
    let body = body(features(), "loop_with_lookups_by_turns");
    // Two in each copy of a round, in what is left of them, and in the loop with checks.
    let lookups = lookups("loop_with_lookups_by_turns");
    assert_eq!(lookups, 2 * (4 + 1 + 1), "{body:#?}");
    // The greatest byte decides: it is the only one of both that is compared.
    let is_test = |line: &&&str| line.starts_with("setp") && line.contains(", 25");
    assert_eq!(body.iter().filter(is_test).count(), 1, "{body:#?}");
    let is_test_of_less = |line: &&&str| line.starts_with("setp") && line.contains(", 12");
    assert_eq!(body.iter().filter(is_test_of_less).count(), 0, "{body:#?}");
}

#[test]
fn tables_that_may_be_too_short_in_any_round_are_checked_in_each() {
    // Where the words themselves are read, that is one more in each copy of a round and in what is left of them.
    for (kernel, loads) in [
        ("loop_with_lookups_of_words", 3),
        ("loop_with_lookups_in_parts", 2),
    ] {
        let body = body(features(), kernel);
        assert_eq!(lookups(kernel), loads * (4 + 1), "{kernel}: {body:#?}");
    }
    // Each copy of a round has its checks: none is beside them.
    let body = body(features(), "loop_with_lookups_and_shuffles");
    let is_wide_or_short = |line: &str| line.contains("u64") || line.contains("u32");
    let compared = |line: &&&str| line.starts_with("setp") && is_wide_or_short(line);
    let rounds = count(&body, "shfl.sync");
    let lookups = lookups("loop_with_lookups_and_shuffles");
    assert_eq!(lookups, 2 * rounds, "{body:#?}");
    // Each lookup's, and what leads to the copies and their rest.
    let compared = body.iter().filter(compared).count();
    assert!(compared >= lookups, "{body:#?}");
}

#[test]
fn loads_of_rounds_that_branch_and_store_are_made_before_the_rounds() {
    let body = body(features(), "loop_over_edges");
    // Those of the second slice behind one test of all their places.
    assert!(rounds_at_once(&body) >= 4, "{body:#?}");
    assert_eq!(count(&body, "max.u32"), 3 + 2, "{body:#?}");
    let of_copies = pieces(&body).map(|piece| count(piece, "ld.global"));
    assert_eq!(
        of_copies.filter(|loads| *loads >= 4).count(),
        2 + 1,
        "{body:#?}"
    );
    // The copies', those of the rounds that are left, and the loop's own.
    assert_eq!(count(&body, "st.global"), 4 + 3 + 1, "{body:#?}");
}

#[test]
fn loads_that_stores_or_other_loads_decide_are_not_made_early() {
    // Before the first store: of one round, but for the edges that go with lengths that are written.
    for (kernel, first) in [
        ("loop_along_a_chain", 1),
        ("loop_over_raw_edges", 3),
        ("loop_over_edges_and_own_lengths", 4 * 2 + 1),
    ] {
        let body = body(features(), kernel);
        let before = &body[..position(&body, "st.global")];
        assert_eq!(count(before, "ld.global"), first, "{kernel}: {body:#?}");
    }
}

/// Comparisons of 64 bits between the first load from shared memory and the branch that leads back to it.
fn wide_comparisons_of_round(kernel: &str) -> usize {
    let body = body(features(), kernel);
    let first = body.iter().position(|line| line.contains("ld.shared"));
    let round = &body[first.expect("a tile is read")..];
    let end = round.iter().position(|line| line.contains("bra"));
    let round = &round[..end.expect("a loop ends by a branch")];
    let is_wide = |line: &&&str| line.starts_with("setp") && line.contains("64");
    round.iter().filter(is_wide).count()
}

#[test]
fn sums_with_a_counter_are_compared_in_32_bits() {
    assert_eq!(wide_comparisons_of_round("rank_by_sums"), 0);
}

#[test]
fn sums_that_wrap_around_or_of_great_numbers_are_compared_as_they_are() {
    for kernel in ["rank_by_wrapping_sums", "rank_by_great_sums"] {
        let body = body(features(), kernel);
        assert!(count(&body, "setp.lt.u64") > 0, "{body:#?}");
    }
}

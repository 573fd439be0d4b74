//! Loads and stores beside others.

use super::support::*;

#[test]
fn a_place_is_loaded_once_by_whatever_sums() {
    let loads = |kernel| count(&body(features(), kernel), "ld.global");
    assert_eq!(loads("one_place_by_two_sums"), 1);
    assert_eq!(loads("one_place_written_between"), 2);
}

#[test]
fn loads_come_before_stores_to_other_memory() {
    let loads_and_stores = |kernel| {
        let body = body(features(), kernel);
        let accesses = body.iter().filter_map(|line| {
            let of = |name| line.starts_with(name);
            of("ld.global")
                .then_some('l')
                .or(of("st.global").then_some('s'))
        });
        accesses.collect::<String>()
    };
    assert_eq!(loads_and_stores("results_in_turn"), "lllss");
    assert_eq!(loads_and_stores("results_that_may_be_one"), "llsls");
}

#[test]
fn rounded_halves_are_a_pair_of_registers() {
    let body = body(features(), "halves_side_by_side");
    assert_eq!(count(&body, "shl"), 0, "{body:#?}");
    let pairs = body.iter().filter(|line| line.contains("{%rs"));
    assert_eq!(pairs.count(), 1, "{body:#?}");
}

#[test]
fn a_copy_of_a_constant_that_is_only_read_is_the_constant() {
    let body = body(features(), "words_in_an_order");
    assert_eq!(count(&body, "local"), 0, "{body:#?}");
    let changed = self::body(features(), "rows_of_a_changed_copy");
    assert!(count(&changed, "st.local") > 0, "{changed:#?}");
}

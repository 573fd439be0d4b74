//! Loops whose rounds are made in another way than they are written.

use warpsmith_builder::toolchain::Toolchain;

use super::support::*;

#[test]
fn what_all_rounds_do_but_one_each_round_does() {
    // Four rounds without branches: their loads are made together.
    let together = |kernel| {
        let body = body(features(), kernel);
        let parts = body.split(|line| line.contains("bra"));
        parts.map(|part| count(part, "ld.global")).max()
    };
    assert!(together("all_others") >= Some(4));
    // Half of the elements are not asked for.
    assert_eq!(together("every_other_pair"), Some(1));
}

#[test]
fn what_is_done_with_all_stands_in_one_loop() {
    let times = |kernel| count(&body(features(), kernel), "brev");
    assert_eq!(times("folded_to_the_end"), times("counted_to_the_end"));
    // Later ones keep a loop to the first element and one for the others.
    let release = Toolchain::find().unwrap().release().unwrap();
    if release.minor < 97 {
        assert_eq!(times("least_of_some"), times("least_found"));
    }
}

#[test]
fn pairs_are_left_out_without_rounds() {
    let body = body(features(), "pair_at_a_distance");
    let mut labels = Vec::new();
    for line in &body {
        labels.extend(line.strip_suffix(':'));
        let goes_back = |label: &&str| line.ends_with(&format!("{label};"));
        assert!(!labels.iter().any(goes_back), "{body:#?}");
    }
}

#[test]
fn bytes_are_no_vectors() {
    let body = body(features(), "greatest_byte");
    assert_eq!(count(&body, "prmt"), 0, "{body:#?}");
}

#[test]
fn indices_of_several_rounds_are_loaded_before_the_first_is_checked() {
    let body = body(features(), "numbers_of_others");
    let parts = body.split(|line| line.contains("bra"));
    let loads: Vec<_> = parts.map(|part| count(part, "ld.global")).collect();
    let follow = |count| loads.windows(2).any(|two| two == [count, count]);
    // Four rounds, and up to three that are left.
    assert!(follow(4) && follow(3), "{body:#?}");
}

#[test]
fn all_chunks_but_the_last_are_whole_ones() {
    let body = body(features(), "own_of_chunks");
    assert_eq!(count(&body, "min.u"), 0, "{body:#?}");
    let is_end = |line: &&&str| line.starts_with("setp.gt.u64") && line.ends_with(" 32;");
    assert_eq!(body.iter().filter(is_end).count(), 1, "{body:#?}");
}

#[test]
fn windows_are_read_by_several_rounds_at_once() {
    let body = body(features(), "first_around");
    let parts = body.split(|line| line.ends_with(':') || line.contains("bra"));
    let loads = parts.map(|part| count(part, "ld.global")).max();
    // The second corner of a window is the first one of the next.
    assert_eq!(loads, Some(5), "{body:#?}");
}

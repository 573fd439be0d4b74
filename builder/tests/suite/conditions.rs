//! Two conditions that lead the same way: one branch, or two.

use super::support::*;

fn branches(body: &[&str]) -> usize {
    body.iter().filter(|line| line.starts_with('@')).count()
}

/// The innermost loop: from a label to the last branch that leads back to it.
fn the_loop<'b>(body: &'b [&'b str]) -> &'b [&'b str] {
    let mut loops = (0..body.len()).rev().filter_map(|start| {
        let label = body[start].strip_suffix(':')?;
        let to = |line: &&str| line.contains("bra") && line.contains(&format!("{label};"));
        let end = body[start..].iter().rposition(to)?;
        Some(&body[start..=start + end])
    });
    loops.next().expect("each kernel has a loop")
}

#[test]
fn a_loop_by_two_conditions_has_one_end() {
    let body = body(features(), "rounds_by_cheap_condition");
    let rounds = the_loop(&body);
    assert_eq!(branches(rounds), 1, "{body:#?}");
    assert_eq!(count(rounds, "setp"), 2, "{body:#?}");
    assert_eq!(count(rounds, "and.pred"), 1, "{body:#?}");
}

#[test]
fn what_is_long_or_loaded_or_divided_is_not_computed_in_vain() {
    for kernel in [
        "rounds_by_long_condition",
        "rounds_by_division",
        "rounds_by_load",
    ] {
        let body = body(features(), kernel);
        assert_eq!(branches(the_loop(&body)), 2, "{body:#?}");
        assert_eq!(count(&body, ".pred"), 0, "{body:#?}");
    }
}

#[test]
fn conditions_of_a_panic_stay_apart() {
    let body = body(features(), "conditions_of_a_panic");
    assert_eq!(branches(&body), 2, "{body:#?}");
}

#[test]
fn so_do_conditions_of_which_it_is_told_which_one_failed() {
    let body = body(features(), "conditions_told_apart");
    assert_eq!(branches(&body), 2, "{body:#?}");
}

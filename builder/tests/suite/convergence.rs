//! Operations in which threads meet stay where the source has them.

use super::support::*;

/// In lines: is `part` in front of the first conditional branch?
fn before_first_branch(body: &[&str], part: &str) -> bool {
    let branch = body.iter().position(|line| is_conditional_branch(line));
    position(body, part) < branch.expect("a branch")
}

/// LLVM 22 writes `@%p1 bra`, and LLVM 23 `@!%p1 bra`, too.
fn is_conditional_branch(line: &str) -> bool {
    line.starts_with('@') && line.contains("bra")
}

#[test]
fn a_shuffle_does_not_sink_into_the_branch_behind_it() {
    let body = body(features(), "shuffle_before_branch");
    assert_eq!(count(&body, "shfl.sync"), 1);
    assert!(before_first_branch(&body, "shfl.sync"), "{body:#?}");
}

#[test]
fn a_shuffle_in_an_unrolled_loop_stays_outside_of_the_branch() {
    let body = body(features(), "shuffle_in_loop");
    // Every path from one shuffle to the next passes a label: the branch around the store ends before it.
    let shuffles: Vec<usize> = (0..body.len())
        .filter(|i| body[*i].contains("shfl.sync"))
        .collect();
    assert!(shuffles.len() == 5 || shuffles.len() == 1, "{body:#?}");
    for pair in shuffles.windows(2) {
        let between = &body[pair[0] + 1..pair[1]];
        let branch = between
            .iter()
            .position(|line| is_conditional_branch(line))
            .expect("a branch");
        let label = between[branch]
            .split_whitespace()
            .last()
            .unwrap()
            .trim_end_matches(';');
        let target = position(between, &format!("{label}:"));
        assert!(
            target > branch,
            "a shuffle is inside of the branch over the store: {body:#?}"
        );
        assert_eq!(count(&between[target..], "bra"), 0, "{body:#?}");
    }
}

#[test]
fn barriers_in_two_arms_stay_two() {
    let body = body(features(), "barrier_in_arms");
    assert_eq!(count(&body, "bar.sync"), 2, "{body:#?}");
    // Each stands behind its arm's store.
    let stores: Vec<usize> = (0..body.len())
        .filter(|i| body[*i].starts_with("st.global"))
        .collect();
    assert!(
        body[stores[0] + 1].starts_with("bar.sync") && body[stores[1] + 1].starts_with("bar.sync"),
        "{body:#?}"
    );
}

#[test]
fn a_barrier_between_two_branches_on_one_condition_stays_one() {
    assert_eq!(
        count(&body(features(), "barrier_between_ifs"), "bar.sync"),
        1
    );
    assert_eq!(
        count(&body(features(), "barrier_after_match"), "bar.sync"),
        1
    );
}

#[test]
fn of_barriers_with_nothing_between_one_stays() {
    let body = body(features(), "barriers_beside_each_other");
    assert_eq!(count(&body, "bar.sync"), 3, "{body:#?}");
    let body = self::body(features(), "barriers_beside_arrivals");
    assert_eq!(count(&body, "bar.sync"), 2, "{body:#?}");
}

#[test]
fn a_function_with_a_barrier_is_called_in_both_arms() {
    let body = body(features(), "barrier_in_function");
    assert_eq!(
        count(&body, "call.uni") + count(&body, "bar.sync"),
        2,
        "{body:#?}"
    );
}

#[test]
fn a_shuffle_leaves_neither_loop_nor_condition() {
    // In a loop whose trip count the threads disagree on, each round has its own shuffle.
    let loop_body = body(features(), "shuffle_in_divergent_loop");
    // Unrolled, rounds of one number would be different instructions for threads with different trip counts.
    assert_eq!(count(&loop_body, "shfl.sync"), 1, "{loop_body:#?}");
    let shuffle = position(&loop_body, "shfl.sync");
    let back_edge = loop_body
        .iter()
        .rposition(|line| is_conditional_branch(line))
        .unwrap();
    assert!(shuffle < back_edge, "{loop_body:#?}");
    // Under a condition, it is not executed by all.
    let conditional = body(features(), "vote_in_branch");
    assert!(
        !before_first_branch(&conditional, "vote.sync"),
        "{conditional:#?}"
    );
}

#[test]
fn two_equal_votes_with_a_barrier_between_stay_two() {
    assert_eq!(count(&body(features(), "vote_twice"), "vote.sync"), 2);
}

#[test]
fn assembly_in_which_threads_do_not_meet_is_merged() {
    assert_eq!(count(&body(features(), "plain_assembly"), "%tid.x"), 1);
}

/// The loops of a body: the lines to which a way leads back that began there.
fn loops(body: &[&str]) -> usize {
    let (mut first, mut seen, mut way) = (vec![], vec![0], vec![(0, successors(body, 0))]);
    while let Some((_, ways)) = way.last_mut() {
        match ways.next() {
            Some(to) if way.iter().any(|(on_way, _)| *on_way == to) => first.push(to),
            Some(to) if !seen.contains(&to) => {
                seen.push(to);
                way.push((to, successors(body, to)));
            }
            Some(_) => {}
            None => drop(way.pop()),
        }
    }
    first.sort_unstable();
    first.dedup();
    first.len()
}

#[test]
fn a_loop_with_several_ways_back_stays_one() {
    let body = body(features(), "three_ways_back");
    assert_eq!(loops(&body), 1, "{body:#?}");
}

#[test]
fn a_loop_in_a_loop_stays_two() {
    let body = body(features(), "loop_in_loop");
    assert_eq!(loops(&body), 2, "{body:#?}");
}

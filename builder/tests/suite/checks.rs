//! Checks that are made at once, and those that are not.

use super::support::*;

/// The branches before the last load from global memory.
fn branches(kernel: &str) -> usize {
    let body = body(features(), kernel);
    let is_load = |line: &&str| line.contains("ld.global");
    let last = body.iter().rposition(is_load).expect("each kernel loads");
    let branches = body[..last].iter().filter(|line| line.starts_with('@'));
    branches.count()
}

#[test]
fn are_one_branch_around_stores_to_shared_memory() {
    assert_eq!(branches("checks_around_shared_stores"), 1);
}

#[test]
fn stay_where_the_host_sees_what_is_stored_between() {
    assert_eq!(branches("checks_around_global_stores"), 4);
}

#[test]
fn stay_behind_barriers_and_volatile_stores() {
    assert_eq!(branches("checks_around_barriers"), 4);
    assert_eq!(branches("checks_around_volatile_stores"), 4);
}

#[test]
fn stay_where_the_thread_exits_or_reads_what_it_stored() {
    assert_eq!(branches("exits_around_shared_stores"), 4);
    assert_eq!(branches("panics_that_read_shared_memory"), 4);
}

/// The way of the threads that do not panic, from the load of the index on, and the rest.
fn ways(kernel: &str) -> (Vec<&'static str>, Vec<&'static str>) {
    let body = body(features(), kernel);
    let first = position(&body, "@");
    let barrier = position(&body, "bar.sync");
    let check = barrier + position(&body[barrier..], "@");
    let is_hot = |n: &usize| *n < first || (barrier..check).contains(n);
    let (hot, cold): (Vec<_>, Vec<_>) = (0..body.len()).partition(is_hot);
    let lines = |of: Vec<usize>| of.into_iter().map(|n| body[n]).collect();
    (lines(hot), lines(cold))
}

#[test]
fn tell_an_index_that_is_computed_where_they_fail() {
    let (hot, cold) = ways("index_that_panics_tell");
    assert_eq!(count(&hot, "cvt.s64.s32"), 0, "{hot:#?}");
    assert!(count(&cold, "cvt.s64.s32") >= 2, "{cold:#?}");
}

#[test]
fn tell_an_index_that_is_needed_anyway_as_it_is() {
    let body = body(features(), "index_that_is_needed");
    assert_eq!(count(&body, "cvt.s64.s32"), 1, "{body:#?}");
}

#[test]
fn branch_to_panics_alone_and_fall_through_else() {
    let lines: Vec<_> = features().lines().map(str::trim).collect();
    let mut branches = 0;
    for (n, line) in lines.iter().enumerate() {
        let Some(label) = line.strip_suffix(':') else {
            continue;
        };
        let before: Vec<_> = lines[..n]
            .iter()
            .rev()
            .filter(|l| !l.starts_with(".loc"))
            .take(2)
            .collect();
        if let [last, first] = before[..] {
            let goes_around = first.starts_with('@') && first.ends_with(&format!("{label};"));
            assert!(
                !(goes_around && last.starts_with("bra.uni")),
                "{first} {last} {line}"
            );
            branches += usize::from(last.starts_with("@!%p"));
        }
    }
    assert!(branches > 100, "only {branches} branches fall through");
}

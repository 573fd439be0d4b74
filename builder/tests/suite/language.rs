//! Ordinary Rust works, and leaves nothing behind that it does not use.

use super::support::*;

// covers: LANG-21
// covers: LANG-17
// covers: HEAP-08
#[test]
fn wide_integers_recursion_and_memory_functions_have_no_unresolved_symbols() {
    for line in features().lines().filter(|l| l.contains(".extern")) {
        assert!(line.contains("__warpsmith_dynamic_shared_memory"), "{line}");
    }
    assert!(count(&body(features(), "wide_integers"), "mul.hi.u64") >= 1);
    assert_eq!(count(&body(features(), "recursion"), "call.uni"), 1);
}

#[test]
fn iterators_become_plain_loops() {
    let body = body(features(), "traits_and_closures");
    assert_eq!(count(&body, "call.uni"), 0, "{body:#?}");
    assert_eq!(count(&body, "local"), 0, "{body:#?}");
}

/// The standard library's own algorithm reads one more behind its loop.
#[test]
fn a_search_reads_an_element_a_step() {
    let body = body(features(), "partition_point");
    assert_eq!(count(&body, "ld.global"), 1, "{body:#?}");
    assert_eq!(count(&body, "call.uni"), 0, "{body:#?}");
}

/// Without jump threading, the iterator's `Option` survives and the loop is not unrolled.
#[test]
fn a_loop_over_a_constant_range_is_unrolled() {
    let body = body(features(), "constant_loop");
    assert_eq!(count(&body, "bra"), 0, "{body:#?}");
    assert_eq!(count(&body, "fma.rn.f32"), 4, "{body:#?}");
}

#[test]
fn a_bounds_check_costs_a_comparison_and_a_cold_call() {
    let body = body(features(), "bounds_check");
    assert_eq!(count(&body, "setp"), 1);
    assert_eq!(count(&body, "local"), 0);
    // The store comes first in the text, the call behind it.
    assert!(
        position(&body, "st.global") < position(&body, "call.uni"),
        "{body:#?}"
    );
}

#[test]
fn nothing_of_core_is_left_that_is_not_called() {
    let defined: Vec<&str> = features()
        .lines()
        .filter(|l| l.starts_with(".func") || l.starts_with(".visible .func"))
        .filter(|l| l.contains("4core"))
        .collect();
    for function in defined {
        let name = function
            .split_whitespace()
            .last()
            .unwrap()
            .trim_end_matches(['(', ')']);
        assert!(
            features().matches(name).count() > 1,
            "{name} is defined and not called"
        );
        assert!(!name.contains("3fmt"), "formatting code: {name}");
    }
}

// covers: LANG-16
// covers: LANG-18
#[test]
fn function_pointers_and_trait_objects_are_indirect_calls() {
    let body = body(features(), "dynamic_dispatch");
    assert!(
        body.iter()
            .any(|l| l.starts_with("call") && l.contains("%rd")),
        "{body:#?}"
    );
}

// covers: LANG-15
#[test]
fn alloc_works_with_an_allocator() {
    let ptx = build(warpsmith_builder::CudaBuilder::new(fixture("heap"))).ptx;
    let externs: Vec<&str> = ptx.lines().filter(|l| l.starts_with(".extern")).collect();
    assert_eq!(externs.len(), 2, "{externs:?}");
    assert!(
        externs
            .iter()
            .all(|l| l.contains("malloc") || l.contains("free")),
        "{externs:?}"
    );
}

// covers: ERROR-08
// covers: BUILD-25
#[test]
fn ptxas_reports_and_warns() {
    let Some(ptxas) = warpsmith_builder::ptxas::Ptxas::find() else {
        return;
    };
    let report = ptxas
        .report(features(), warpsmith_builder::Arch::Sm90)
        .unwrap();
    let of = |name: &str| report.kernels.iter().find(|k| k.name == name).unwrap();
    assert!(
        report.warnings.iter().any(|w| w.contains("recursion")),
        "{:?}",
        report.warnings
    );
    assert!(
        !report.warnings.iter().any(|w| w.contains("bounded")),
        "{:?}",
        report.warnings
    );
    assert!(of("multiply_add").registers >= 4 && of("multiply_add").stack == 0);
    assert_eq!(of("shared_by_section").shared, 256);
    let error = ptxas
        .check(
            &features().replace("fma.rn.f32", "fma.rn.f99"),
            warpsmith_builder::Arch::Sm90,
        )
        .unwrap_err();
    assert!(
        error.to_string().starts_with("ptxas rejects the PTX:\n")
            && error.to_string().contains("f99"),
        "{error}"
    );
}

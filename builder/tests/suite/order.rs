//! `core`'s atomics keep their order and their scope, which is the whole system.

use super::support::*;

fn atomics(kernel: &str) -> Vec<&'static str> {
    body(features(), kernel)
        .into_iter()
        .filter(|l| {
            [
                "atom",
                "red.",
                "fence",
                "ld.acquire",
                "st.release",
                "membar",
            ]
            .iter()
            .any(|a| l.starts_with(a))
        })
        .map(|l| l.split_whitespace().next().unwrap())
        .collect()
}

// covers: LANG-22
#[test]
fn read_modify_writes() {
    assert_eq!(
        atomics("atomic_relaxed"),
        ["atom.relaxed.sys.global.add.u32"]
    );
    assert_eq!(
        atomics("atomic_acq_rel"),
        ["atom.acq_rel.sys.global.add.u32"]
    );
    assert_eq!(
        atomics("atomic_release_swap"),
        ["atom.release.sys.global.exch.b32"]
    );
    assert_eq!(
        atomics("atomic_seq_cst"),
        ["fence.sc.sys;", "atom.acq_rel.sys.global.max.s64"]
    );
    assert_eq!(
        atomics("atomic_shared"),
        ["atom.relaxed.sys.shared.add.u32"]
    );
    // No such instruction: of 8 bits, or nand. A wider one, and a loop of compare-exchange; LLVM 23 writes their order as fences.
    let widened = |operation: &str| {
        let (before, after) = ("fence.acq_rel.sys;", "fence.acq_rel.sys;");
        match llvm_major() {
            22 => vec![format!("atom.acq_rel.sys.global.{operation}.b32")],
            _ => vec![
                before.to_owned(),
                format!("atom.relaxed.sys.global.{operation}.b32"),
                after.to_owned(),
            ],
        }
    };
    assert_eq!(atomics("atomic_narrow"), widened("or"));
    assert_eq!(atomics("atomic_nand"), widened("cas"));
}

#[test]
fn the_rest_keeps_what_it_has() {
    assert_eq!(atomics("atomic_cas"), ["atom.acquire.sys.global.cas.b32"]);
    assert_eq!(
        atomics("atomic_load_store"),
        ["ld.acquire.sys.global.b32", "st.release.sys.global.b32"]
    );
    assert_eq!(atomics("atomic_fence"), ["fence.sc.sys;"]);
}

#[test]
fn a_fence_stays_between_its_stores() {
    let body = body(features(), "atomic_fence");
    let stores: Vec<usize> = (0..body.len())
        .filter(|i| body[*i].starts_with("st.global"))
        .collect();
    let fence = position(&body, "fence.sc.sys");
    assert!(stores[0] < fence && fence < stores[1], "{body:#?}");
}

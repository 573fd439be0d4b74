//! What orders accesses: barriers of some threads and of clusters, locks and flags.

use super::*;

#[test]
fn named_barriers_order_producers_and_consumers() {
    let mut machine = Machine::new(1);
    // Warp 0 produces and only arrives; warps 1 and 2 wait; warp 3 is not part of it.
    assert_eq!(machine.access(0, 0, !0, WRITE, |t| t * 4), None);
    machine.shared.arrive(0, 5, 1, !0, true);
    machine.shared.arrive(0, 5, 0, !0, false);
    // What the producer does after arriving is not covered.
    assert_eq!(machine.access(0, 0, !0, WRITE, |t| 2048 + t * 4), None);
    machine.shared.arrive(0, 5, 2, !0, true);
    machine.shared.complete(0, 5);
    assert_eq!(machine.access(0, 1, !0, READ, |t| (t - 32) * 4), None);
    assert_eq!(machine.access(0, 2, !0, READ, |t| (t - 64) * 4), None);
    race(machine.access(0, 3, !0, READ, |t| (t - 96) * 4));
    race(machine.access(0, 1, !0, READ, |t| 2048 + (t - 32) * 4));
    // The consumers released nothing to the producer that did not wait.
    race(machine.access(0, 0, !0, WRITE, |t| t * 4));
}

#[test]
fn half_a_warp_passes_on_what_it_learned_from_the_other_half() {
    for synchronised in [true, false] {
        let mut machine = Machine::new(1);
        assert_eq!(machine.access(0, 1, 0xffff_0000, WRITE, |t| t * 4), None);
        if synchronised {
            machine.shared.warp_sync(0, 1, !0);
        }
        machine.shared.arrive(0, 2, 1, 0xffff, false);
        machine.shared.arrive(0, 2, 0, !0, true);
        machine.shared.complete(0, 2);
        let found = machine.access(0, 0, 0xffff_0000, READ, |t| (t + 32) * 4);
        assert_eq!(found.is_none(), synchronised);
    }
}

// covers: SLEEP-X1
#[test]
fn locks_order_what_they_protect() {
    let lock = |machine: &mut Machine, warp: u32, fences: bool| {
        assert_eq!(machine.access(0, warp, 1, ATOMIC, |_| 0), None);
        if fences {
            machine.shared.fence(0, warp, 1, Scope::Block);
        }
        let found = machine
            .access(0, warp, 1, READ, |_| 64)
            .or_else(|| machine.access(0, warp, 1, WRITE, |_| 64));
        if fences {
            machine.shared.fence(0, warp, 1, Scope::Block);
        }
        assert_eq!(machine.access(0, warp, 1, ATOMIC, |_| 0), None);
        found
    };
    let mut machine = Machine::new(1);
    for warp in [0, 1, 2, 3, 1, 0] {
        assert_eq!(lock(&mut machine, warp, true), None);
    }
    let mut machine = Machine::new(1);
    assert_eq!(lock(&mut machine, 0, false), None);
    race(lock(&mut machine, 1, false));
}

// covers: FENCE-05
#[test]
fn flags_need_both_sides() {
    let release = class(AccessKind::Write, Order::Release);
    let acquire = class(AccessKind::Read, Order::Acquire);
    for (write, read, ordered) in [
        (release, acquire, true),
        (release, STRONG_READ, false),
        (STRONG_WRITE, acquire, false),
    ] {
        let mut machine = Machine::new(1);
        assert_eq!(machine.access(0, 0, 1, WRITE, |_| 64), None);
        assert_eq!(machine.access(0, 0, 1, write, |_| 0), None);
        assert_eq!(machine.access(0, 3, 1, read, |_| 0), None);
        let found = machine.access(0, 3, 1, READ, |_| 64);
        assert_eq!(found.is_none(), ordered, "{write} {read} {found:?}");
    }
}

#[test]
fn clusters_need_the_clusters_barrier() {
    let barrier = |machine: &mut Machine, releases: bool| {
        for block in 0..2 {
            for warp in 0..4 {
                machine.shared.cluster_arrive(block, warp, !0, releases);
            }
        }
        machine.shared.cluster_complete();
    };
    let block_barrier = |machine: &mut Machine, block: u32| {
        for warp in 0..4 {
            machine.shared.arrive(block, 0, warp, !0, true);
        }
        machine.shared.complete(block, 0);
    };
    for releases in [true, false] {
        let mut machine = Machine::new(2);
        assert_eq!(machine.access(1, 0, !0, WRITE, |t| 4096 + t * 4), None);
        block_barrier(&mut machine, 1);
        barrier(&mut machine, releases);
        let found = machine.access(0, 3, !0, READ, |t| 4096 + (t - 96) * 4);
        assert_eq!(found.is_none(), releases);
    }
    // A barrier of one block says nothing to the other.
    let mut machine = Machine::new(2);
    assert_eq!(machine.access(1, 0, !0, WRITE, |t| 4096 + t * 4), None);
    block_barrier(&mut machine, 1);
    block_barrier(&mut machine, 0);
    let finding = machine.access(0, 3, !0, READ, |t| 4096 + (t - 96) * 4);
    assert!(
        matches!(
            finding,
            Some(Finding::Race {
                block: 1,
                offset: 0,
                ..
            })
        ),
        "{finding:?}"
    );
    // Round after round, reads of the last round against writes of the next.
    let mut machine = Machine::new(2);
    for _ in 0..3 {
        assert_eq!(machine.access(1, 0, !0, WRITE, |t| 4096 + t * 4), None);
        barrier(&mut machine, true);
        assert_eq!(
            machine.access(0, 3, !0, READ, |t| 4096 + (t - 96) * 4),
            None
        );
        barrier(&mut machine, true);
    }
    assert_eq!(
        machine.access(0, 3, !0, READ, |t| 4096 + (t - 96) * 4),
        None
    );
    race(machine.access(1, 0, !0, WRITE, |t| 4096 + t * 4));
}

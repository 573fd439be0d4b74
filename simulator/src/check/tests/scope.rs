//! Scopes: strong accesses and fences of `.cta` scope order nothing between the blocks of a cluster.

use super::*;

fn scoped(class: AccessClass, scope: Scope) -> AccessClass {
    AccessClass { scope, ..class }
}

#[test]
fn strong_accesses_meet_only_within_their_scopes() {
    for first in [READ, STRONG_READ, STRONG_WRITE, ATOMIC] {
        for (scopes, allowed) in [
            ([Scope::Cluster, Scope::Cluster], true),
            ([Scope::Device, Scope::System], true),
            ([Scope::Block, Scope::Cluster], false),
            ([Scope::Cluster, Scope::Block], false),
        ] {
            let mut machine = Machine::new(2);
            let first = scoped(first, scopes[0]);
            assert_eq!(machine.access(0, 1, 1, first, |_| 64), None);
            let found = machine.access(1, 1, 1, scoped(ATOMIC, scopes[1]), |_| 64);
            assert_eq!(found.is_none(), allowed && first.is_strong(), "{found:?}");
            if let Some(Finding::Race { cause, .. }) = found {
                let expected = if first.is_strong() {
                    RaceCause::Scope
                } else {
                    RaceCause::Unordered
                };
                assert_eq!(cause, expected);
            }
            // In one block every scope includes everybody.
            let mut machine = Machine::new(2);
            assert_eq!(
                machine.access(0, 1, 1, scoped(ATOMIC, scopes[0]), |_| 64),
                None
            );
            assert_eq!(
                machine.access(0, 2, 1, scoped(ATOMIC, scopes[1]), |_| 64),
                None
            );
        }
    }
}

/// A narrow read is not forgotten behind a wide one.
#[test]
fn reads_of_both_scopes_are_remembered() {
    for narrow_first in [true, false] {
        let mut machine = Machine::new(2);
        let scopes = if narrow_first {
            [Scope::Block, Scope::Cluster]
        } else {
            [Scope::Cluster, Scope::Block]
        };
        for scope in scopes {
            assert_eq!(
                machine.access(0, 1, 1, scoped(STRONG_READ, scope), |_| 64),
                None
            );
        }
        race(machine.access(1, 1, 1, scoped(ATOMIC, Scope::Cluster), |_| 64));
    }
}

/// A flag in global memory between two blocks.
struct Flag {
    machine: Machine,
}

impl Flag {
    fn new() -> Flag {
        let mut machine = Machine::new(2);
        assert_eq!(machine.access(0, 1, 1, WRITE, |_| 64), None);
        Flag { machine }
    }

    fn use_it(&mut self, (block, warp): (u32, u32), class: AccessClass) {
        self.machine
            .shared
            .synchronise_globally(&GlobalSynchronisation {
                block,
                warp,
                mask: 1,
                addresses: &[0x7000; 32],
                kind: class.kind,
                order: class.order,
                scope: class.scope,
            });
    }

    fn is_ordered(&mut self, block: u32) -> bool {
        self.machine.access(block, 2, 1, READ, |_| 64).is_none()
    }
}

const RELEASE: AccessClass = class(AccessKind::Write, Order::Release);
const ACQUIRE: AccessClass = class(AccessKind::Read, Order::Acquire);

#[test]
fn releases_and_acquires_order_within_their_scopes() {
    for (release, acquire, ordered) in [
        (Scope::Cluster, Scope::Cluster, true),
        (Scope::Device, Scope::System, true),
        (Scope::Block, Scope::Device, false),
        (Scope::Device, Scope::Block, false),
    ] {
        for reader in 0..2 {
            let mut flag = Flag::new();
            flag.use_it((0, 1), scoped(RELEASE, release));
            flag.use_it((reader, 2), scoped(ACQUIRE, acquire));
            assert_eq!(flag.is_ordered(reader), ordered || reader == 0);
        }
    }
}

// covers: FENCE-07
#[test]
fn fences_order_within_their_scopes() {
    for (release, acquire, access, ordered) in [
        (Scope::Cluster, Scope::Cluster, Scope::Device, true),
        (Scope::Block, Scope::Cluster, Scope::Device, false),
        (Scope::Cluster, Scope::Block, Scope::Device, false),
        (Scope::Cluster, Scope::Cluster, Scope::Block, false),
    ] {
        for reader in 0..2 {
            let mut flag = Flag::new();
            flag.machine.shared.fence(0, 1, 1, release);
            flag.use_it((0, 1), scoped(STRONG_WRITE, access));
            flag.use_it((reader, 2), scoped(STRONG_READ, access));
            flag.machine.shared.fence(reader, 2, 1, acquire);
            assert_eq!(flag.is_ordered(reader), ordered || reader == 0);
        }
    }
}

#[test]
fn a_wide_fence_counts_after_a_narrow_one() {
    // The wide one first: what it made ready still is, but not what was written after it.
    let mut flag = Flag::new();
    flag.machine.shared.fence(0, 1, 1, Scope::Cluster);
    assert_eq!(flag.machine.access(0, 1, 1, WRITE, |_| 128), None);
    flag.machine.shared.fence(0, 1, 1, Scope::Block);
    flag.use_it((0, 1), scoped(STRONG_WRITE, Scope::Device));
    flag.use_it((1, 2), scoped(STRONG_READ, Scope::Device));
    flag.machine.shared.fence(1, 2, 1, Scope::Block);
    flag.machine.shared.fence(1, 2, 1, Scope::Cluster);
    assert!(flag.is_ordered(1));
    race(flag.machine.access(1, 2, 1, READ, |_| 128));
}

#[test]
fn release_sequences_go_on_through_atomics_whose_scope_suffices() {
    let update = class(AccessKind::Atomic, Order::Relaxed);
    for (between, ordered) in [(Scope::Cluster, true), (Scope::Block, false)] {
        let mut flag = Flag::new();
        flag.use_it((0, 1), scoped(RELEASE, Scope::Cluster));
        flag.use_it((0, 3), scoped(update, between));
        flag.use_it((1, 2), scoped(ACQUIRE, Scope::Cluster));
        assert_eq!(flag.is_ordered(1), ordered);
    }
    // A plain write ends it.
    let mut flag = Flag::new();
    flag.use_it((0, 1), scoped(RELEASE, Scope::Cluster));
    flag.use_it((0, 3), scoped(STRONG_WRITE, Scope::Cluster));
    flag.use_it((1, 2), scoped(ACQUIRE, Scope::Cluster));
    assert!(!flag.is_ordered(1));
}

/// `fence.mbarrier_init.release.cluster; barrier.cluster.arrive.relaxed; barrier.cluster.wait`, as mbarriers are set up.
#[test]
fn a_fence_releases_through_a_relaxed_arrival_at_the_clusters_barrier() {
    for (scope, ordered) in [
        (None, false),
        (Some(Scope::Block), false),
        (Some(Scope::Cluster), true),
    ] {
        let mut machine = Machine::new(2);
        assert_eq!(machine.access(0, 1, 1, WRITE, |_| 64), None);
        if let Some(scope) = scope {
            machine.shared.fence(0, 1, 1, scope);
        }
        machine.cluster_barrier(false);
        let found = machine.access(1, 2, 1, READ, |_| 64);
        assert_eq!(found.is_none(), ordered, "{found:?}");
    }
}

/// Operations of a whole warp are done at once where they can be: only for the lanes that took part, and within their scope.
#[test]
fn a_warps_release_is_that_of_its_lanes_and_its_scope() {
    let release = class(AccessKind::Atomic, Order::Release);
    let acquire = class(AccessKind::Atomic, Order::Acquire);
    for (mask, scopes, ordered) in [
        (!0, [Scope::Cluster; 2], true),
        (0xffff, [Scope::Cluster; 2], false),
        (!0, [Scope::Cluster, Scope::Block], false),
        (!0, [Scope::Block, Scope::Cluster], false),
    ] {
        let mut machine = Machine::new(2);
        assert_eq!(machine.access(0, 1, !0, WRITE, |t| t * 4), None);
        let flag = |block, warp, mask, class: AccessClass, scope| GlobalSynchronisation {
            block,
            warp,
            mask,
            addresses: &[0x7000; 32],
            kind: class.kind,
            order: class.order,
            scope,
        };
        let shared = &mut machine.shared;
        shared.synchronise_globally(&flag(0, 1, mask, release, scopes[0]));
        shared.synchronise_globally(&flag(1, 2, !0, acquire, scopes[1]));
        let found = machine.access(1, 2, 1, READ, |_| 63 * 4);
        assert_eq!(found.is_none(), ordered, "{mask:x} {scopes:?} {found:?}");
    }
    // An update of narrow scope ends what others of wider scope have published for other blocks.
    let mut flag = Flag::new();
    flag.use_it((0, 1), scoped(RELEASE, Scope::Cluster));
    flag.machine
        .shared
        .synchronise_globally(&GlobalSynchronisation {
            block: 0,
            warp: 3,
            mask: !0,
            addresses: &[0x7000; 32],
            kind: AccessKind::Atomic,
            order: Order::Release,
            scope: Scope::Block,
        });
    flag.use_it((1, 2), scoped(ACQUIRE, Scope::Cluster));
    assert!(!flag.is_ordered(1));
}

/// A test of an mbarrier synchronises the lanes that find its phase over, when that is known.
#[test]
fn a_test_synchronises_where_its_result_says_so() {
    for answers in [false, true] {
        let mut machine = Machine::new(1);
        assert_eq!(machine.access(0, 1, 1, WRITE, |_| 64), None);
        assert_eq!(machine.access(0, 1, 1, RELEASE, |_| 8), None);
        let offsets = [8; 32];
        let test = Access {
            synchronises: false,
            is_followed: false,
            ..access_by(2, 3, &offsets, 8, ACQUIRE, 5)
        };
        assert_eq!(machine.shared.access(&test, &()), None);
        if answers {
            machine.shared.synchronise(&Access { mask: 1, ..test });
        }
        let found = machine.access(0, 2, 1, READ, |_| 64);
        assert_eq!(found.is_none(), answers, "{found:?}");
        race(machine.access(0, 2, 2, READ, |_| 64));
    }
}

//! What stamps must not admit: each of these races is between accesses whose cells the fast path has stamped.

use super::*;

const RELEASE: AccessClass = class(AccessKind::Atomic, Order::Release);
const ACQUIRE: AccessClass = class(AccessKind::Atomic, Order::Acquire);

/// A cell for the tests, and where flags lie.
const CELL: u32 = 64;
const FLAGS: u32 = 2048;

fn cell(_: u32) -> u32 {
    CELL
}

/// A machine whose warps have met at a barrier, so that nothing but the tests' own accesses matters.
fn machine() -> Machine {
    let mut machine = Machine::new(1);
    machine.barrier();
    machine
}

impl Machine {
    fn warp_sync(&mut self, warp: u32) {
        self.shared.warp_sync(0, warp, !0);
    }

    /// All lanes of a warp release at its flag, and all lanes of another acquire there.
    fn pass_on(&mut self, from: u32, to: u32) {
        let flag = |_| FLAGS + from * 8;
        assert_eq!(self.access(0, from, !0, RELEASE, flag), None);
        assert_eq!(self.access(0, to, !0, ACQUIRE, flag), None);
    }
}

#[test]
fn the_first_lane_of_a_broadcast_is_one_of_many() {
    for (first, then) in [(WRITE, READ), (WRITE, ATOMIC), (READ, ATOMIC)] {
        let mut machine = machine();
        assert_eq!(machine.access(0, 0, 1, first, cell), None);
        let (access, earlier, _) = race(machine.access(0, 0, !0, then, cell));
        assert_eq!((access.thread, earlier.thread), (1, 0));
    }
    // And the other way round.
    let mut machine = machine();
    assert_eq!(machine.access(0, 0, !0, READ, cell), None);
    let (access, earlier, _) = race(machine.access(0, 0, 1, WRITE, cell));
    assert_eq!((access.thread, earlier.thread), (0, 1));
}

#[test]
fn readers_of_several_warps_and_lanes_are_not_taken_for_one() {
    for (readers, synchronised, earlier) in [
        // Two lanes of the writer's warp.
        ([(1, 1 << 3), (1, 1 << 5)], false, 35),
        // Lanes of two warps, with and without a barrier of the writer's.
        ([(0, 1 << 5), (1, 1 << 5)], false, 5),
        ([(0, 1 << 5), (1, 1 << 5)], true, 5),
        ([(0, !0), (1, !0)], true, 0),
        ([(1, 1 << 3), (0, 1 << 5)], true, 5),
    ] {
        let mut machine = machine();
        for (warp, mask) in readers {
            assert_eq!(machine.access(0, warp, mask, READ, cell), None);
        }
        if synchronised {
            machine.warp_sync(1);
        }
        let (access, found, _) = race(machine.access(0, 1, 1 << 5, WRITE, cell));
        assert_eq!((access.thread, found.thread), (37, earlier));
    }
}

/// The epochs of warps do not grow evenly: the last reader's may be below that of an earlier one.
#[test]
fn the_latest_epoch_of_several_readers_counts() {
    let mut machine = machine();
    machine.pass_on(1, 0);
    machine.pass_on(3, 0);
    machine.warp_sync(0);
    assert_eq!(machine.access(0, 1, !0, READ, cell), None);
    assert_eq!(machine.access(0, 2, !0, READ, cell), None);
    machine.pass_on(2, 0);
    machine.warp_sync(0);
    let (_, earlier, _) = race(machine.access(0, 0, 1, WRITE, cell));
    assert_eq!(earlier.thread, 32);
}

#[test]
fn strong_accesses_do_not_hide_a_weak_one() {
    // The write is ordered before the first atomic, but not before the second.
    for second in 1..4 {
        let mut machine = machine();
        assert_eq!(machine.access(0, 0, 1, WRITE, cell), None);
        machine.warp_sync(0);
        assert_eq!(machine.access(0, 0, 1, ATOMIC, cell), None);
        let (_, earlier, _) = race(machine.access(0, second, 1, ATOMIC, cell));
        assert_eq!(earlier.class, WRITE);
    }
}

#[test]
fn what_is_passed_on_is_what_was_done_before() {
    let mut machine = machine();
    assert_eq!(machine.access(0, 1, !0, WRITE, |t| t * 4), None);
    machine.pass_on(1, 2);
    assert_eq!(machine.access(0, 2, !0, WRITE, |t| (t - 32) * 4), None);
    // The third warp has not waited; the first one's later writes are not passed on.
    race(machine.access(0, 3, 1, READ, |_| 32 * 4));
    let mut machine = self::machine();
    machine.pass_on(1, 2);
    assert_eq!(machine.access(0, 1, !0, WRITE, |t| t * 4), None);
    let (_, earlier, _) = race(machine.access(0, 2, !0, READ, |t| (t - 32) * 4));
    assert_eq!(earlier.class, WRITE);
}

/// Epochs that no longer fit into a stamp.
#[test]
fn long_intervals_are_still_checked() {
    let (counts, step) = if cfg!(miri) {
        (0..1, 0)
    } else {
        (0..16, 1 << 20)
    };
    for count in counts {
        let mut machine = machine();
        // One of them is in the first epoch that does not fit.
        for _ in 16..count + step {
            machine.warp_sync(1);
        }
        assert_eq!(machine.access(0, 1, 1, WRITE, cell), None);
        race(machine.access(0, 2, 1, READ, cell));
    }
}

/// A thread goes on after it has arrived at the cluster's barrier: the barrier says nothing of what it does then.
#[test]
fn accesses_after_an_arrival_at_the_clusters_barrier_are_remembered() {
    for is_in_shadow in [false, true] {
        let mut machine = Machine::new(2);
        if is_in_shadow {
            // What a warp of the other block reads takes the block's memory to the shadow.
            assert_eq!(machine.access(1, 0, 1, READ, |_| 512), None);
        }
        for block in 0..2 {
            for warp in 0..4 {
                machine.shared.cluster_arrive(block, warp, !0, true);
            }
        }
        assert_eq!(machine.access(0, 1, 1, WRITE, cell), None);
        machine.shared.cluster_complete();
        let (_, earlier, _) = race(machine.access(0, 2, 1, READ, cell));
        assert_eq!(earlier.thread, 32);
    }
}

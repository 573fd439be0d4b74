//! What the shadow must not forget, and what it must: races between accesses of which another one stands in between.

use super::*;

const CELL: u32 = 64;
const MBARRIERS: [u32; 2] = [3072, 3080];

fn cell(_: u32) -> u32 {
    CELL
}

/// Each way to check: by stamps as long as they suffice, and by the shadow.
fn machines(blocks: u32) -> [Machine; 2] {
    [Machine::new(blocks), Machine::without_stamps(blocks)]
}

fn operation(warp: u32, kind: AccessKind, completion: AsyncCompletion) -> AsyncAccess {
    AsyncAccess {
        block: 0,
        warp,
        lane: 0,
        offset: CELL,
        bytes: 4,
        kind,
        proxy: Proxy::Async,
        site: 77,
        completion,
    }
}

fn counted_by(mbarrier: usize) -> AsyncCompletion {
    AsyncCompletion::Mbarrier {
        offset: MBARRIERS[mbarrier],
    }
}

impl Machine {
    /// Lanes release at a flag, and others acquire there.
    fn pass(&mut self, from: (u32, u32), to: (u32, u32)) {
        let flag = |_: u32| 2048 + from.0 * 8;
        let release = class(AccessKind::Atomic, Order::Release);
        let acquire = class(AccessKind::Atomic, Order::Acquire);
        assert_eq!(self.access(0, from.0, from.1, release, flag), None);
        assert_eq!(self.access(0, to.0, to.1, acquire, flag), None);
    }

    fn acquire_at(&mut self, warp: u32, mbarrier: usize) {
        let acquire = class(AccessKind::Atomic, Order::Acquire);
        let at = |_: u32| MBARRIERS[mbarrier];
        assert_eq!(self.access(0, warp, !0, acquire, at), None);
    }
}

/// The thread that issues an operation has seen the read; the lanes that wait for it have not.
#[test]
fn an_operations_read_does_not_stand_for_what_its_issuer_has_seen() {
    let mut machine = Machine::without_stamps(1);
    assert_eq!(machine.access(0, 1, 1 << 3, READ, cell), None);
    machine.pass((1, 1 << 3), (0, 1));
    let product = operation(0, AccessKind::Read, AsyncCompletion::Products);
    let ticket = machine.shared.issue(&product).unwrap();
    machine.shared.finish(&product, ticket);
    machine.shared.wait(0, 0, !0, ticket);
    let (_, earlier, _) = race(machine.access(0, 0, 1 << 9, WRITE, cell));
    assert_eq!((earlier.thread, earlier.class), (35, READ));
}

/// Nor does a thread's read stand for that of an operation which it does not know to be done.
#[test]
fn a_threads_read_does_not_stand_for_an_operations() {
    let mut machine = Machine::without_stamps(1);
    let store = operation(0, AccessKind::Read, AsyncCompletion::BulkGroup);
    machine.shared.issue(&store).unwrap();
    assert_eq!(machine.access(0, 0, 1, READ, cell), None);
    let (_, earlier, _) = race(machine.access(0, 0, 1, WRITE, cell));
    assert_eq!(earlier.performer, Performer::Operation);
}

/// A strong access tolerates the strong read, not the weak one before it.
#[test]
fn a_strong_read_does_not_stand_for_a_weak_one() {
    for mut machine in machines(1) {
        assert_eq!(machine.access(0, 1, 1, READ, cell), None);
        assert_eq!(machine.access(0, 1, 1, STRONG_READ, cell), None);
        let (_, earlier, _) = race(machine.access(0, 2, 1, ATOMIC, cell));
        assert_eq!(earlier.class, READ);
    }
    // Behind a barrier of its block, which another block does not know.
    let wide = |class| AccessClass {
        scope: Scope::Cluster,
        ..class
    };
    for mut machine in machines(2) {
        assert_eq!(machine.access(0, 1, 1, READ, cell), None);
        machine.barrier();
        assert_eq!(machine.access(0, 1, 1, wide(STRONG_READ), cell), None);
        let (_, earlier, _) = race(machine.access(1, 2, 1, wide(ATOMIC), cell));
        assert_eq!(earlier.class, READ);
    }
}

/// A read is remembered as long as it is not known to be ordered before the next one.
#[test]
fn a_read_does_not_stand_for_those_of_other_warps_and_lanes() {
    for mut machine in machines(1) {
        machine.barrier();
        assert_eq!(machine.access(0, 2, 1, READ, cell), None);
        // What the warp has seen of itself says nothing of another warp.
        machine.shared.warp_sync(0, 1, !0);
        assert_eq!(machine.access(0, 1, 1, READ, cell), None);
        let (_, earlier, _) = race(machine.access(0, 1, 1, WRITE, cell));
        assert_eq!(earlier.thread, 64);
    }
    for mut machine in machines(1) {
        machine.barrier();
        assert_eq!(machine.access(0, 1, !0, READ, cell), None);
        // The warp goes on to another epoch, but its lanes have not met.
        machine.pass((1, !0), (3, !0));
        assert_eq!(machine.access(0, 1, 1, READ, cell), None);
        let (_, earlier, _) = race(machine.access(0, 1, 1, WRITE, cell));
        assert_eq!(earlier.thread, 33);
    }
    // When they have met, the lane's read stands for all.
    for mut machine in machines(1) {
        machine.barrier();
        assert_eq!(machine.access(0, 1, !0, READ, cell), None);
        machine.shared.warp_sync(0, 1, !0);
        assert_eq!(machine.access(0, 1, 1, READ, cell), None);
        assert_eq!(machine.access(0, 1, 1, WRITE, cell), None);
    }
}

/// Reads by several instructions of a warp are told apart.
#[test]
fn a_race_names_the_instruction_of_the_thread_that_it_names() {
    let mut machine = Machine::without_stamps(1);
    for (lane, site) in [(0, 5), (1, 6), (2, 5)] {
        let read = access_by(1, 1 << lane, &[CELL; 32], 4, READ, site);
        assert_eq!(machine.shared.access(&read, &()), None);
    }
    machine.pass((1, 1), (2, 1));
    machine.pass((1, 4), (2, 1));
    let (_, earlier, _) = race(machine.access(0, 2, 1, WRITE, cell));
    assert_eq!((earlier.thread, earlier.site), (33, 6));
}

/// Reads by several warps of a word that is split into bytes afterwards belong to each byte, and each byte's go on alone.
#[test]
fn reads_of_several_warps_are_kept_when_cells_become_narrower() {
    let split = || {
        let mut machine = Machine::without_stamps(1);
        for warp in 0..3 {
            assert_eq!(machine.access(0, warp, 1, READ, cell), None);
        }
        machine
    };
    let byte = |machine: &mut Machine, warp, at, class, site| {
        let offsets = [CELL + at; 32];
        let access = access_by(warp, 1, &offsets, 1, class, site);
        machine.shared.access(&access, &())
    };
    for at in 0..4 {
        for straggler in 1..3 {
            let mut machine = split();
            (0..3)
                .filter(|&warp| warp != straggler)
                .for_each(|warp| machine.pass((warp, 1), (3, 1)));
            let (_, earlier, _) = race(byte(&mut machine, 3, at, WRITE, 9));
            assert_eq!(earlier.thread / 32, straggler);
        }
    }
    let mut machine = split();
    assert_eq!(byte(&mut machine, 1, 0, READ, 11), None);
    (0..3).for_each(|warp| machine.pass((warp, 1), (3, 1)));
    assert_eq!(byte(&mut machine, 1, 1, READ, 12), None);
    let (_, earlier, _) = race(byte(&mut machine, 3, 1, WRITE, 13));
    assert_eq!(earlier.site, 12);
    for at in [0, 2, 3] {
        assert_eq!(byte(&mut machine, 3, at, WRITE, 14), None);
    }
}

/// A fence makes an mbarrier visible to the other proxy; whoever uses it there must know of the fence all the same.
#[test]
fn an_operation_is_ordered_behind_the_initialisation_of_its_mbarrier() {
    for proxy in [Proxy::Async, Proxy::Generic] {
        for ordered in [false, true] {
            let mut machine = Machine::without_stamps(1);
            assert_eq!(machine.access(0, 1, 1, WRITE, |_| MBARRIERS[0]), None);
            let fence = ProxyFence::MbarrierInit;
            machine.shared.proxy_fence(0, 1, 1, fence);
            if ordered {
                machine.pass((1, 1), (0, 1));
            }
            let load = AsyncAccess {
                proxy,
                ..operation(0, AccessKind::Write, counted_by(0))
            };
            let found = machine.shared.issue(&load);
            assert_eq!(found.is_ok(), ordered);
            if let Err(Finding::Race { cause, earlier, .. }) = found {
                assert_eq!((cause, earlier.thread), (RaceCause::Unordered, 32));
            }
        }
    }
}

/// Whoever learns of an operation's completion has seen what its issuer had done before.
#[test]
fn a_completion_passes_on_what_the_issuer_knew() {
    for learns in [false, true] {
        let mut machine = Machine::without_stamps(1);
        assert_eq!(machine.access(0, 0, 1, WRITE, |_| 128), None);
        let load = operation(0, AccessKind::Write, counted_by(0));
        let ticket = machine.shared.issue(&load).unwrap();
        // What it does behind the instruction is not passed on.
        assert_eq!(machine.access(0, 0, 1, WRITE, |_| 132), None);
        machine.shared.finish(&load, ticket);
        if learns {
            machine.acquire_at(1, 0);
        }
        let found = machine.access(0, 1, 1, READ, |_| 128);
        assert_eq!(found.is_none(), learns, "{found:?}");
        race(machine.access(0, 1, 1, READ, |_| 132));
    }
}

/// An operation at one mbarrier is done, another one at another is not.
#[test]
fn mbarriers_count_each_its_own_operations() {
    let mut machine = Machine::without_stamps(1);
    let slow = AsyncAccess {
        offset: 512,
        ..operation(0, AccessKind::Write, counted_by(0))
    };
    let quick = operation(0, AccessKind::Write, counted_by(1));
    machine.shared.issue(&slow).unwrap();
    let ticket = machine.shared.issue(&quick).unwrap();
    machine.shared.finish(&quick, ticket);
    machine.acquire_at(1, 1);
    assert_eq!(machine.access(0, 1, 1, READ, cell), None);
    race(machine.access(0, 1, 1, READ, |_| 512));
}

#[test]
fn operations_of_an_earlier_cluster_are_done() {
    let mut machine = Machine::without_stamps(1);
    let load = operation(0, AccessKind::Write, counted_by(0));
    machine.shared.issue(&load).unwrap();
    machine.shared.start();
    assert_eq!(machine.access(0, 1, 1, READ, cell), None);
}

/// When epochs begin anew, what was remembered under the old ones is forgotten.
#[test]
fn epochs_begin_anew() {
    for mut machine in machines(1) {
        machine.shared.skip_epochs(u32::MAX / 2);
        machine.shared.warp_sync(0, 0, !0);
        assert_eq!(machine.access(0, 0, 1, WRITE, cell), None);
        race(machine.access(0, 1, 1, READ, cell));
        machine.shared.start();
        machine.shared.assume_initialised(0, 4096);
        assert_eq!(machine.access(0, 1, 1, READ, cell), None);
        race(machine.access(0, 2, 1, WRITE, cell));
    }
}

/// A thread of another block goes on after it has arrived at the cluster's barrier: the barrier says nothing of what it does then.
#[test]
fn accesses_of_another_block_after_its_arrival_are_remembered() {
    for mut machine in machines(2) {
        for block in 0..2 {
            for warp in 0..4 {
                machine.shared.cluster_arrive(block, warp, !0, true);
            }
        }
        assert_eq!(machine.access(1, 1, 1, WRITE, cell), None);
        machine.shared.cluster_complete();
        let (_, earlier, _) = race(machine.access(0, 2, 1, READ, cell));
        assert_eq!((earlier.block, earlier.thread), (1, 32));
    }
}

//! The checker on the programs it is for, and on their correct twins.

use warpsmith_isa::effect::{AccessKind, ObjectUse, Order, Proxy, Scope};

use super::*;

mod async_copies;
mod asynchronous;
mod collision;
mod exit;
mod mbarriers;
mod orders;
mod poison;
mod scope;
mod shadow;
mod stamps;

const THREADS: u32 = 128;

pub(super) const READ: AccessClass = class(AccessKind::Read, Order::Weak);
pub(super) const WRITE: AccessClass = class(AccessKind::Write, Order::Weak);
pub(super) const STRONG_READ: AccessClass = class(AccessKind::Read, Order::Relaxed);
pub(super) const STRONG_WRITE: AccessClass = class(AccessKind::Write, Order::Relaxed);
pub(super) const ATOMIC: AccessClass = class(AccessKind::Atomic, Order::Relaxed);

/// By the generic proxy, at the scope of the block.
pub(super) const fn class(kind: AccessKind, order: Order) -> AccessClass {
    AccessClass {
        kind,
        order,
        scope: Scope::Block,
        proxy: Proxy::Generic,
    }
}

/// An access by lanes of a warp of the first block.
pub(super) fn access_by(
    warp: u32,
    mask: u32,
    offsets: &[u32; 32],
    size: u32,
    class: AccessClass,
    site: Site,
) -> Access<'_> {
    Access {
        block: 0,
        warp,
        mask,
        offsets,
        size,
        kind: class.kind,
        order: class.order,
        scope: class.scope,
        proxy: class.proxy,
        object: ObjectUse::Data,
        synchronises: true,
        is_followed: false,
        site,
    }
}

/// A block of four warps (or a cluster of them) with 4 KiB of shared memory.
struct Machine {
    shared: SharedMemory,
}

/// Values that are all the same.
struct Same;

impl Values for Same {
    fn unchanged(&self, _: usize) -> bool {
        true
    }
    fn equal(&self, _: usize, _: usize) -> Option<bool> {
        Some(true)
    }
}

/// The exit of a thread.
fn exit_of(block: u32, thread: u32) -> ThreadExit {
    ThreadExit {
        block,
        thread,
        site: 99,
    }
}

impl Machine {
    fn new(blocks: u32) -> Machine {
        let mut shared = SharedMemory::new(blocks, THREADS, 4096, true, true);
        shared.start();
        shared.assume_initialised(0, 4096 * blocks);
        Machine { shared }
    }

    /// That checks every access by the shadow.
    fn without_stamps(blocks: u32) -> Machine {
        let shared = SharedMemory::new(blocks, THREADS, 4096, true, false);
        let mut shared = shared.with_async_proxy().without_stamps();
        shared.start();
        Machine { shared }
    }

    fn access(
        &mut self,
        block: u32,
        warp: u32,
        mask: u32,
        class: AccessClass,
        offset: impl Fn(u32) -> u32,
    ) -> Option<Finding> {
        let offsets = std::array::from_fn(|lane| offset(warp * 32 + lane as u32));
        let number = [READ, WRITE, STRONG_READ, STRONG_WRITE]
            .iter()
            .position(|&known| known == class)
            .unwrap_or(4) as u32;
        let site = 100 * (number + 1) + warp;
        let access = Access {
            block,
            ..access_by(warp, mask, &offsets, 4, class, site)
        };
        self.shared.access(&access, &())
    }

    /// All four warps.
    fn all(&mut self, class: AccessClass, offset: impl Fn(u32) -> u32 + Copy) -> Option<Finding> {
        (0..4).find_map(|warp| self.access(0, warp, !0, class, offset))
    }

    fn barrier(&mut self) {
        self.barrier_of(0);
    }

    fn barrier_of(&mut self, block: u32) {
        for warp in 0..4 {
            self.shared.arrive(block, 0, warp, !0, true);
        }
        self.shared.complete(block, 0);
    }

    fn cluster_barrier(&mut self, releases: bool) {
        for block in 0..2 {
            for warp in 0..4 {
                self.shared.cluster_arrive(block, warp, !0, releases);
            }
        }
        self.shared.cluster_complete();
    }
}

fn race(finding: Option<Finding>) -> (ThreadAccess, ThreadAccess, u32) {
    match finding {
        Some(Finding::Race {
            access,
            earlier,
            offset,
            ..
        }) => (access, earlier, offset),
        other => panic!("expected a race, found {other:?}"),
    }
}

// covers: SYNC-01
// covers: FENCE-01
#[test]
fn a_missing_barrier_is_a_race() {
    let reversed = |t: u32| (THREADS - 1 - t) * 4;
    let mut machine = Machine::new(1);
    assert_eq!(machine.all(WRITE, |t| t * 4), None);
    let (access, earlier, offset) = race(machine.all(READ, reversed));
    assert_eq!((access.thread, access.class), (0, READ));
    assert_eq!(
        (earlier.thread, earlier.class, earlier.site),
        (127, WRITE, 203)
    );
    assert_eq!(offset, 508);

    let mut machine = Machine::new(1);
    assert_eq!(machine.all(WRITE, |t| t * 4), None);
    machine.barrier();
    assert_eq!(machine.all(READ, reversed), None);
    // The next round writes what others may still be reading.
    let (access, earlier, _) = race(machine.all(WRITE, |t| t * 4));
    assert_eq!(
        (access.thread, earlier.thread, earlier.class),
        (0, 127, READ)
    );
    machine.barrier();
    assert_eq!(machine.all(WRITE, |t| t * 4), None);
}

#[test]
fn many_readers_are_all_remembered() {
    // Every thread reads word 0 in turn; the write must find each of them, whichever barrier-free order they came in.
    for straggler in 0..4 {
        let mut machine = Machine::new(1);
        for warp in 0..4 {
            assert_eq!(machine.access(0, warp, !0, READ, |_| 0), None);
        }
        // All warps but one meet at a named barrier with warp `writer`.
        for warp in (0..4).filter(|&w| w != straggler) {
            machine.shared.arrive(0, 1, warp, !0, true);
        }
        machine.shared.complete(0, 1);
        let writer = (straggler + 1) % 4;
        let (_, earlier, _) = race(machine.access(0, writer, 1, WRITE, |_| 0));
        assert_eq!(earlier.thread / 32, straggler);
    }
}

// covers: SYNC-05
// covers: SYNC-06
// covers: CC-EX04
#[test]
fn lanes_of_a_warp_need_a_warp_barrier() {
    let neighbour = |t: u32| (t ^ 1) * 4;
    let mut machine = Machine::new(1);
    assert_eq!(machine.access(0, 2, !0, WRITE, |t| t * 4), None);
    let (access, earlier, _) = race(machine.access(0, 2, !0, READ, neighbour));
    assert_eq!((access.thread, earlier.thread), (64, 65));

    let mut machine = Machine::new(1);
    assert_eq!(machine.access(0, 2, !0, WRITE, |t| t * 4), None);
    machine.shared.warp_sync(0, 2, !0);
    assert_eq!(machine.access(0, 2, !0, READ, neighbour), None);
    // Only half of the warp synchronises: that half may exchange, the other not.
    machine.shared.warp_sync(0, 2, !0);
    assert_eq!(machine.access(0, 2, !0, WRITE, |t| t * 4), None);
    machine.shared.warp_sync(0, 2, 0xffff);
    assert_eq!(machine.access(0, 2, 0xffff, READ, neighbour), None);
    race(machine.access(0, 2, 0xffff_0000, READ, neighbour));
    // A synchronised half does not order anything for another warp.
    race(machine.access(0, 1, 1, READ, |_| 64 * 4));
}

#[test]
fn atomics_meet_atomics_but_not_plain_accesses() {
    let mut machine = Machine::new(1);
    assert_eq!(machine.access(0, 0, 1, WRITE, |_| 16), None);
    // Without a barrier after the initialisation: found, and found again after other atomics have been there.
    assert_eq!(machine.access(0, 0, 1, ATOMIC, |_| 16), None);
    let (access, earlier, _) = race(machine.access(0, 3, 1, ATOMIC, |_| 16));
    assert_eq!(
        (access.class, earlier.class, earlier.thread),
        (ATOMIC, WRITE, 0)
    );
    machine.barrier();
    assert_eq!(machine.all(ATOMIC, |t| t % 8 * 4), None);
    assert_eq!(machine.all(STRONG_READ, |t| t % 8 * 4), None);
    assert_eq!(machine.all(STRONG_WRITE, |t| t % 8 * 4), None);
    let (access, earlier, _) = race(machine.access(0, 1, 1, READ, |_| 0));
    assert_eq!((access.class, earlier.class), (READ, STRONG_WRITE));
    machine.barrier();
    assert_eq!(machine.all(READ, |t| t % 8 * 4), None);
    race(machine.access(0, 1, 1, ATOMIC, |_| 0));
}

#[test]
fn writing_the_same_value_again_is_harmless() {
    let mut shared = Machine::new(1).shared;
    let mut write = |warp, values: &dyn Values| {
        shared.access(&access_by(warp, 1, &[8; 32], 4, WRITE, 7), values)
    };
    assert_eq!(write(0, &()), None);
    assert_eq!(write(1, &Same), None);
    race(write(2, &()));
    // Of two weak writes alone: whoever reads, or changes what others may change meanwhile, is not helped by equal values.
    for (first, then) in [
        (READ, WRITE),
        (WRITE, READ),
        (WRITE, ATOMIC),
        (WRITE, STRONG_WRITE),
    ] {
        let mut shared = Machine::new(1).shared;
        let mut access =
            |warp, class| shared.access(&access_by(warp, 1, &[8; 32], 4, class, 7), &Same);
        assert_eq!(access(0, first), None);
        race(access(1, then));
    }
}

#[test]
fn exited_threads_are_not_waited_for() {
    let mut machine = Machine::new(1);
    assert_eq!(machine.access(0, 3, !0, WRITE, |t| t * 4), None);
    machine.shared.exit(exit_of(0, 0), !0, false);
    for warp in 0..3 {
        machine.shared.arrive(0, 0, warp, !0, true);
    }
    machine.shared.complete(0, 0);
    assert_eq!(machine.access(0, 0, !0, READ, |t| (96 + t) * 4), None);
}

#[test]
fn narrow_accesses_are_told_apart() {
    let mut shared = Machine::new(1).shared;
    let mut access = |warp, size, offset: u32, class| {
        let offsets = std::array::from_fn(|lane| offset + lane as u32 * size);
        shared.access(&access_by(warp, 1, &offsets, size, class, 1), &())
    };
    assert_eq!(access(0, 4, 0, WRITE), None);
    assert_eq!(access(0, 1, 8, WRITE), None);
    assert_eq!(access(1, 1, 9, WRITE), None);
    assert_eq!(access(2, 2, 10, WRITE), None);
    // The word written before the cells became narrower is still known.
    let (.., offset) = race(access(3, 1, 3, READ));
    assert_eq!(offset, 3);
    let (_, earlier, offset) = race(access(3, 4, 8, READ));
    assert_eq!((earlier.thread, offset), (0, 8));
    let (_, earlier, _) = race(access(0, 16, 0, WRITE));
    assert_eq!(earlier.thread, 32);
}

#[test]
fn uninitialised_bytes_are_found() {
    let mut shared = SharedMemory::new(2, 32, 256, false, true);
    shared.start();
    let mut access = |block, offset: u32, size, class| {
        let offsets = std::array::from_fn(|lane| offset + lane as u32 * size);
        shared.access(
            &Access {
                block,
                ..access_by(0, 3, &offsets, size, class, 9)
            },
            &(),
        )
    };
    let by = |block, thread, class| ThreadAccess {
        block,
        thread,
        site: 9,
        class,
        performer: Performer::Thread,
    };
    assert_eq!(access(0, 0, 8, WRITE), None);
    assert_eq!(access(0, 0, 8, READ), None);
    let expected = Finding::Uninitialised {
        access: by(0, 1, READ),
        block: 0,
        offset: 16,
        size: 8,
        decision: None,
    };
    assert_eq!(access(0, 8, 8, READ), Some(expected));
    // In the second block's memory, reached through the cluster.
    let expected = Finding::Uninitialised {
        access: by(0, 0, ATOMIC),
        block: 1,
        offset: 60,
        size: 4,
        decision: None,
    };
    assert_eq!(access(0, 256 + 60, 4, ATOMIC), Some(expected));
    // A word of which one byte is written passes: padding.
    assert_eq!(access(0, 100, 1, WRITE), None);
    assert_eq!(access(0, 100, 1, READ), None);
    assert!(access(0, 96, 4, READ).is_some());
    let offsets = [100; 32];
    let word = access_by(0, 1, &offsets, 4, READ, 9);
    assert_eq!(shared.access(&word, &()), None);
    // With races looked for as well, the report waits: a write before the next barrier makes it a race.
    for writes in [false, true] {
        let mut both = SharedMemory::new(1, 64, 256, true, true);
        both.start();
        let offsets = [8; 32];
        let access = |warp, class| access_by(warp, 1, &offsets, 4, class, 3);
        assert_eq!(both.access(&access(0, READ), &()), None);
        assert_eq!(both.overdue(false), None);
        if writes {
            assert_eq!(race(both.access(&access(1, WRITE), &())).1.class, READ);
        }
        (0..2).for_each(|warp| both.arrive(0, 0, warp, !0, true));
        both.complete(0, 0);
        assert!(matches!(
            both.overdue(false),
            Some(Finding::Uninitialised { offset: 8, .. })
        ));
        assert_eq!(both.overdue(true), None);
    }
    // A new cluster starts with nothing.
    shared.start();
    assert!(shared.access(&word, &()).is_some());
}

/// Writes whose values are not known when they are issued are never taken to write the same.
#[test]
fn asynchronous_writes_to_the_same_bytes_race() {
    for proxy in [Proxy::Generic, Proxy::Async] {
        let copy = AccessClass { proxy, ..WRITE };
        let mut machine = Machine::new(1);
        assert_eq!(machine.access(0, 0, 1, copy, |_| 16), None);
        let (access, earlier, offset) = race(machine.access(0, 1, 1, copy, |_| 16));
        assert_eq!((access.thread, earlier.thread, offset), (32, 0, 16));
        assert_eq!((access.class, earlier.class), (copy, copy));
        // Lanes of one instruction, too.
        race(machine.access(0, 2, 3, copy, |_| 32));
    }
}

/// Whatever kind of access carries a release or an acquire, and however wide it is, it synchronises.
#[test]
fn every_kind_of_access_can_release_and_acquire() {
    let kinds = [AccessKind::Write, AccessKind::Atomic];
    for (kind, size) in kinds
        .into_iter()
        .flat_map(|kind| [4, 8, 16].map(|size| (kind, size)))
    {
        for (releases, acquires) in [(true, true), (true, false), (false, true)] {
            let order = |on, order| if on { order } else { Order::Relaxed };
            let release = class(kind, order(releases, Order::Release));
            let mut machine = Machine::new(1);
            assert_eq!(machine.access(0, 0, 1, WRITE, |_| 64), None);
            let flag = access_by(0, 1, &[0; 32], size, release, 1);
            assert_eq!(machine.shared.access(&flag, &()), None);
            let acquire = class(AccessKind::Atomic, order(acquires, Order::AcquireRelease));
            let flag = access_by(3, 1, &[0; 32], size, acquire, 2);
            assert_eq!(machine.shared.access(&flag, &()), None);
            let found = machine.access(0, 3, 1, READ, |_| 64);
            assert_eq!(found.is_none(), releases && acquires, "{found:?}");
        }
    }
}

#[test]
fn a_flag_in_global_memory_orders_shared_memory() {
    for (order, ordered) in [(Order::AcquireRelease, true), (Order::Relaxed, false)] {
        let mut machine = Machine::new(1);
        assert_eq!(machine.access(0, 0, 1, WRITE, |_| 64), None);
        for warp in [0, 3] {
            machine.shared.synchronise_globally(&GlobalSynchronisation {
                block: 0,
                warp,
                mask: 1,
                addresses: &[0x7000; 32],
                kind: AccessKind::Atomic,
                order,
                scope: Scope::Device,
            });
        }
        let found = machine.access(0, 3, 1, READ, |_| 64);
        assert_eq!(found.is_none(), ordered, "{found:?}");
    }
}

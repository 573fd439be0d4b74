//! The checker on the programs it is for, and on their correct twins.

use super::*;

const THREADS: u32 = 128;

/// A block of four warps (or a cluster of them) with 4 KiB of shared memory.
struct Machine {
    shared: SharedMemory,
}

impl Machine {
    fn new(blocks: u32) -> Machine {
        let mut shared = SharedMemory::new(blocks, THREADS, 4096, true, true);
        shared.start();
        shared.assume_written(0, 4096 * blocks);
        Machine { shared }
    }

    fn access(
        &mut self,
        block: u32,
        warp: u32,
        mask: u32,
        kind: Kind,
        place: impl Fn(u32) -> u32,
    ) -> Option<Finding> {
        let offsets = std::array::from_fn(|lane| place(warp * 32 + lane as u32));
        let site = 100 * (kind as u32 + 1) + warp;
        self.shared.access(
            &Access {
                block,
                warp,
                mask,
                offsets: &offsets,
                size: 4,
                kind,
                site,
            },
            &(),
        )
    }

    /// All four warps.
    fn all(&mut self, kind: Kind, place: impl Fn(u32) -> u32 + Copy) -> Option<Finding> {
        (0..4).find_map(|warp| self.access(0, warp, !0, kind, place))
    }

    fn barrier(&mut self) {
        for warp in 0..4 {
            self.shared.arrive(0, 0, warp, !0, true);
        }
        self.shared.complete(0, 0);
    }
}

fn race(finding: Option<Finding>) -> (Side, Side, u32) {
    match finding {
        Some(Finding::Race {
            now,
            before,
            offset,
            ..
        }) => (now, before, offset),
        other => panic!("expected a race, found {other:?}"),
    }
}

// covers: SYNC-01
// covers: FENCE-01
#[test]
fn a_missing_barrier_is_a_race() {
    let reversed = |t: u32| (THREADS - 1 - t) * 4;
    let mut machine = Machine::new(1);
    assert_eq!(machine.all(Kind::Write, |t| t * 4), None);
    let (now, before, offset) = race(machine.all(Kind::Read, reversed));
    assert_eq!((now.thread, now.kind), (0, Kind::Read));
    assert_eq!(
        (before.thread, before.kind, before.site),
        (127, Kind::Write, 203)
    );
    assert_eq!(offset, 508);

    let mut machine = Machine::new(1);
    assert_eq!(machine.all(Kind::Write, |t| t * 4), None);
    machine.barrier();
    assert_eq!(machine.all(Kind::Read, reversed), None);
    // The next round writes what others may still be reading.
    let (now, before, _) = race(machine.all(Kind::Write, |t| t * 4));
    assert_eq!(
        (now.thread, before.thread, before.kind),
        (0, 127, Kind::Read)
    );
    machine.barrier();
    assert_eq!(machine.all(Kind::Write, |t| t * 4), None);
}

#[test]
fn many_readers_are_all_remembered() {
    // Every thread reads word 0 in turn; the write must find each of them, whichever barrier-free order they came in.
    for straggler in 0..4 {
        let mut machine = Machine::new(1);
        for warp in 0..4 {
            assert_eq!(machine.access(0, warp, !0, Kind::Read, |_| 0), None);
        }
        // All warps but one meet at a named barrier with warp `writer`.
        for warp in (0..4).filter(|&w| w != straggler) {
            machine.shared.arrive(0, 1, warp, !0, true);
        }
        machine.shared.complete(0, 1);
        let writer = (straggler + 1) % 4;
        let (_, before, _) = race(machine.access(0, writer, 1, Kind::Write, |_| 0));
        assert_eq!(before.thread / 32, straggler);
    }
}

// covers: SYNC-05
// covers: SYNC-06
// covers: CC-EX04
#[test]
fn lanes_of_a_warp_need_a_warp_barrier() {
    let neighbour = |t: u32| (t ^ 1) * 4;
    let mut machine = Machine::new(1);
    assert_eq!(machine.access(0, 2, !0, Kind::Write, |t| t * 4), None);
    let (now, before, _) = race(machine.access(0, 2, !0, Kind::Read, neighbour));
    assert_eq!((now.thread, before.thread), (64, 65));

    let mut machine = Machine::new(1);
    assert_eq!(machine.access(0, 2, !0, Kind::Write, |t| t * 4), None);
    machine.shared.warp_sync(0, 2, !0);
    assert_eq!(machine.access(0, 2, !0, Kind::Read, neighbour), None);
    // Only half of the warp synchronises: that half may exchange, the other not.
    machine.shared.warp_sync(0, 2, !0);
    assert_eq!(machine.access(0, 2, !0, Kind::Write, |t| t * 4), None);
    machine.shared.warp_sync(0, 2, 0xffff);
    assert_eq!(machine.access(0, 2, 0xffff, Kind::Read, neighbour), None);
    race(machine.access(0, 2, 0xffff_0000, Kind::Read, neighbour));
    // A synchronised half does not order anything for another warp.
    race(machine.access(0, 1, 1, Kind::Read, |_| 64 * 4));
}

#[test]
fn atomics_meet_atomics_but_not_plain_accesses() {
    let mut machine = Machine::new(1);
    assert_eq!(machine.access(0, 0, 1, Kind::Write, |_| 16), None);
    // Without a barrier after the initialisation: found, and found again after other atomics have been there.
    assert_eq!(machine.access(0, 0, 1, Kind::Atomic, |_| 16), None);
    let (now, before, _) = race(machine.access(0, 3, 1, Kind::Atomic, |_| 16));
    assert_eq!(
        (now.kind, before.kind, before.thread),
        (Kind::Atomic, Kind::Write, 0)
    );
    machine.barrier();
    assert_eq!(machine.all(Kind::Atomic, |t| t % 8 * 4), None);
    assert_eq!(machine.all(Kind::StrongRead, |t| t % 8 * 4), None);
    assert_eq!(machine.all(Kind::StrongWrite, |t| t % 8 * 4), None);
    let (now, before, _) = race(machine.access(0, 1, 1, Kind::Read, |_| 0));
    assert_eq!((now.kind, before.kind), (Kind::Read, Kind::Atomic));
    machine.barrier();
    assert_eq!(machine.all(Kind::Read, |t| t % 8 * 4), None);
    race(machine.access(0, 1, 1, Kind::Atomic, |_| 0));
}

#[test]
fn one_instruction_can_race_with_itself() {
    struct Written(fn(usize) -> u32);
    impl Values for Written {
        fn unchanged(&self, _: usize) -> bool {
            false
        }
        fn equal(&self, lane: usize, other: usize) -> bool {
            (self.0)(lane) == (self.0)(other)
        }
    }
    let access = |kind, values: &dyn Values| {
        let mut shared = Machine::new(1).shared;
        shared.access(
            &Access {
                block: 0,
                warp: 0,
                mask: !0,
                offsets: &[8; 32],
                size: 4,
                kind,
                site: 7,
            },
            values,
        )
    };
    assert_eq!(access(Kind::Write, &Written(|_| 1)), None);
    let (now, before, _) = race(access(Kind::Write, &Written(|lane| lane as u32 / 16)));
    assert_eq!((now.thread, before.thread), (16, 15));
    assert_eq!(access(Kind::Atomic, &Written(|lane| lane as u32)), None);
}

#[test]
fn writing_the_same_value_again_is_harmless() {
    struct Same;
    impl Values for Same {
        fn unchanged(&self, _: usize) -> bool {
            true
        }
        fn equal(&self, _: usize, _: usize) -> bool {
            true
        }
    }
    let mut shared = Machine::new(1).shared;
    let mut write = |warp, values: &dyn Values| {
        shared.access(
            &Access {
                block: 0,
                warp,
                mask: 1,
                offsets: &[8; 32],
                size: 4,
                kind: Kind::Write,
                site: 7,
            },
            values,
        )
    };
    assert_eq!(write(0, &()), None);
    assert_eq!(write(1, &Same), None);
    race(write(2, &()));
}

#[test]
fn named_barriers_order_producers_and_consumers() {
    let mut machine = Machine::new(1);
    // Warp 0 produces and only arrives; warps 1 and 2 wait; warp 3 is not part of it.
    assert_eq!(machine.access(0, 0, !0, Kind::Write, |t| t * 4), None);
    machine.shared.arrive(0, 5, 1, !0, true);
    machine.shared.arrive(0, 5, 0, !0, false);
    // What the producer does after arriving is not covered.
    assert_eq!(
        machine.access(0, 0, !0, Kind::Write, |t| 2048 + t * 4),
        None
    );
    machine.shared.arrive(0, 5, 2, !0, true);
    machine.shared.complete(0, 5);
    assert_eq!(machine.access(0, 1, !0, Kind::Read, |t| (t - 32) * 4), None);
    assert_eq!(machine.access(0, 2, !0, Kind::Read, |t| (t - 64) * 4), None);
    race(machine.access(0, 3, !0, Kind::Read, |t| (t - 96) * 4));
    race(machine.access(0, 1, !0, Kind::Read, |t| 2048 + (t - 32) * 4));
    // The consumers released nothing to the producer that did not wait.
    race(machine.access(0, 0, !0, Kind::Write, |t| t * 4));
}

#[test]
fn half_a_warp_passes_on_what_it_learned_from_the_other_half() {
    for synchronised in [true, false] {
        let mut machine = Machine::new(1);
        assert_eq!(
            machine.access(0, 1, 0xffff_0000, Kind::Write, |t| t * 4),
            None
        );
        if synchronised {
            machine.shared.warp_sync(0, 1, !0);
        }
        machine.shared.arrive(0, 2, 1, 0xffff, false);
        machine.shared.arrive(0, 2, 0, !0, true);
        machine.shared.complete(0, 2);
        let found = machine.access(0, 0, 0xffff_0000, Kind::Read, |t| (t + 32) * 4);
        assert_eq!(found.is_none(), synchronised);
    }
}

// covers: SLEEP-X1
#[test]
fn locks_order_what_they_protect() {
    let lock = |machine: &mut Machine, warp: u32, fences: bool| {
        assert_eq!(machine.access(0, warp, 1, Kind::Atomic, |_| 0), None);
        machine
            .shared
            .synchronise(0, warp, 0, 0, Kind::Atomic, false, false);
        if fences {
            machine.shared.fence(0, warp, 0);
        }
        let found = machine
            .access(0, warp, 1, Kind::Read, |_| 64)
            .or_else(|| machine.access(0, warp, 1, Kind::Write, |_| 64));
        if fences {
            machine.shared.fence(0, warp, 0);
        }
        assert_eq!(machine.access(0, warp, 1, Kind::Atomic, |_| 0), None);
        machine
            .shared
            .synchronise(0, warp, 0, 0, Kind::Atomic, false, false);
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
    for (release, acquire, ordered) in [
        (true, true, true),
        (true, false, false),
        (false, true, false),
    ] {
        let mut machine = Machine::new(1);
        assert_eq!(machine.access(0, 0, 1, Kind::Write, |_| 64), None);
        assert_eq!(machine.access(0, 0, 1, Kind::StrongWrite, |_| 0), None);
        machine
            .shared
            .synchronise(0, 0, 0, 0, Kind::StrongWrite, false, release);
        assert_eq!(machine.access(0, 3, 1, Kind::StrongRead, |_| 0), None);
        machine
            .shared
            .synchronise(0, 3, 0, 0, Kind::StrongRead, acquire, false);
        let found = machine.access(0, 3, 1, Kind::Read, |_| 64);
        assert_eq!(found.is_none(), ordered, "{release} {acquire} {found:?}");
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
        assert_eq!(
            machine.access(1, 0, !0, Kind::Write, |t| 4096 + t * 4),
            None
        );
        block_barrier(&mut machine, 1);
        barrier(&mut machine, releases);
        let found = machine.access(0, 3, !0, Kind::Read, |t| 4096 + (t - 96) * 4);
        assert_eq!(found.is_none(), releases);
    }
    // A barrier of one block says nothing to the other.
    let mut machine = Machine::new(2);
    assert_eq!(
        machine.access(1, 0, !0, Kind::Write, |t| 4096 + t * 4),
        None
    );
    block_barrier(&mut machine, 1);
    block_barrier(&mut machine, 0);
    let finding = machine.access(0, 3, !0, Kind::Read, |t| 4096 + (t - 96) * 4);
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
        assert_eq!(
            machine.access(1, 0, !0, Kind::Write, |t| 4096 + t * 4),
            None
        );
        barrier(&mut machine, true);
        assert_eq!(
            machine.access(0, 3, !0, Kind::Read, |t| 4096 + (t - 96) * 4),
            None
        );
        barrier(&mut machine, true);
    }
    assert_eq!(
        machine.access(0, 3, !0, Kind::Read, |t| 4096 + (t - 96) * 4),
        None
    );
    race(machine.access(1, 0, !0, Kind::Write, |t| 4096 + t * 4));
}

#[test]
fn exited_threads_are_not_waited_for() {
    let mut machine = Machine::new(1);
    assert_eq!(machine.access(0, 3, !0, Kind::Write, |t| t * 4), None);
    machine.shared.exit(0, !0);
    for warp in 0..3 {
        machine.shared.arrive(0, 0, warp, !0, true);
    }
    machine.shared.complete(0, 0);
    assert_eq!(machine.access(0, 0, !0, Kind::Read, |t| (96 + t) * 4), None);
}

#[test]
fn narrow_accesses_are_told_apart() {
    let mut shared = Machine::new(1).shared;
    let mut access = |warp, size, offset: u32, kind| {
        let offsets = std::array::from_fn(|lane| offset + lane as u32 * size);
        shared.access(
            &Access {
                block: 0,
                warp,
                mask: 1,
                offsets: &offsets,
                size,
                kind,
                site: 1,
            },
            &(),
        )
    };
    assert_eq!(access(0, 4, 0, Kind::Write), None);
    assert_eq!(access(0, 1, 8, Kind::Write), None);
    assert_eq!(access(1, 1, 9, Kind::Write), None);
    assert_eq!(access(2, 2, 10, Kind::Write), None);
    // The word written before the cells became narrower is still known.
    let (.., offset) = race(access(3, 1, 3, Kind::Read));
    assert_eq!(offset, 3);
    let (_, before, offset) = race(access(3, 4, 8, Kind::Read));
    assert_eq!((before.thread, offset), (0, 8));
    let (_, before, _) = race(access(0, 16, 0, Kind::Write));
    assert_eq!(before.thread, 32);
}

#[test]
fn unwritten_bytes_are_found() {
    let mut shared = SharedMemory::new(2, 32, 256, false, true);
    shared.start();
    let mut access = |block, offset: u32, size, kind| {
        let offsets = std::array::from_fn(|lane| offset + lane as u32 * size);
        shared.access(
            &Access {
                block,
                warp: 0,
                mask: 3,
                offsets: &offsets,
                size,
                kind,
                site: 9,
            },
            &(),
        )
    };
    let side = |block, thread, kind| Side {
        block,
        thread,
        site: 9,
        kind,
    };
    assert_eq!(access(0, 0, 8, Kind::Write), None);
    assert_eq!(access(0, 0, 8, Kind::Read), None);
    let expected = Finding::Uninitialised {
        now: side(0, 1, Kind::Read),
        block: 0,
        offset: 16,
        size: 8,
    };
    assert_eq!(access(0, 8, 8, Kind::Read), Some(expected));
    // In the second block's memory, reached through the cluster.
    let expected = Finding::Uninitialised {
        now: side(0, 0, Kind::Atomic),
        block: 1,
        offset: 60,
        size: 4,
    };
    assert_eq!(access(0, 256 + 60, 4, Kind::Atomic), Some(expected));
    // A word of which one byte is written passes: padding.
    assert_eq!(access(0, 100, 1, Kind::Write), None);
    assert_eq!(access(0, 100, 1, Kind::Read), None);
    assert!(access(0, 96, 4, Kind::Read).is_some());
    let offsets = [100; 32];
    let word = Access {
        block: 0,
        warp: 0,
        mask: 1,
        offsets: &offsets,
        size: 4,
        kind: Kind::Read,
        site: 9,
    };
    assert_eq!(shared.access(&word, &()), None);
    // With races looked for as well, the report waits: a write before the next barrier makes it a race.
    for writes in [false, true] {
        let mut both = SharedMemory::new(1, 64, 256, true, true);
        both.start();
        let offsets = [8; 32];
        let access = |warp, kind| Access {
            block: 0,
            warp,
            mask: 1,
            offsets: &offsets,
            size: 4,
            kind,
            site: 3,
        };
        assert_eq!(both.access(&access(0, Kind::Read), &()), None);
        assert_eq!(both.overdue(false), None);
        if writes {
            assert_eq!(
                race(both.access(&access(1, Kind::Write), &())).1.kind,
                Kind::Read
            );
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

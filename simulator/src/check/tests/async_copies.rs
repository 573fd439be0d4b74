//! Copies that their threads wait for (`cp.async`): from the instruction until then their bytes may be written at any time.

use super::*;

const SITE: Site = 40;

impl Machine {
    /// Lanes of a warp of the first block start copies of four bytes.
    fn begin(&mut self, warp: u32, mask: u32, offset: impl Fn(u32) -> u32) -> Option<Finding> {
        let offsets = std::array::from_fn(|lane| offset(warp * 32 + lane as u32));
        let copies = access_by(warp, mask, &offsets, 4, WRITE, SITE);
        self.shared.begin_copies(&copies)
    }

    /// They have waited.
    fn complete(&mut self, warp: u32, mask: u32, offset: impl Fn(u32) -> u32) {
        let offsets = std::array::from_fn(|lane| offset(warp * 32 + lane as u32));
        let copies = access_by(warp, mask, &offsets, 4, WRITE, SITE);
        assert_eq!(self.shared.complete_copies(&copies), None);
    }
}

fn word(thread: u32) -> u32 {
    thread * 4
}

/// Whoever touches the bytes, and whatever barriers stand around that.
#[test]
fn what_is_being_copied_is_not_touched() {
    for class in [READ, WRITE, ATOMIC, STRONG_READ] {
        for warp in 0..2 {
            let mut machine = Machine::new(1);
            assert_eq!(machine.begin(0, !0, word), None);
            machine.barrier();
            let (access, earlier, offset) = race(machine.access(0, warp, 1 << 7, class, |_| 36));
            assert_eq!((access.thread, access.class), (warp * 32 + 7, class));
            assert_eq!((earlier.thread, earlier.site, offset), (9, SITE, 36));
            assert_eq!(earlier.performer, Performer::Operation);
            // The word behind them is free.
            assert_eq!(machine.access(0, warp, 1 << 7, class, |_| 128), None);
        }
    }
}

#[test]
fn a_copy_is_ordered_behind_what_precedes_its_instruction() {
    for ordered in [false, true] {
        let mut machine = Machine::new(1);
        assert_eq!(machine.access(0, 1, !0, READ, |t| t % 32 * 4), None);
        if ordered {
            machine.barrier();
        }
        let found = machine.begin(0, !0, word);
        assert_eq!(found.is_none(), ordered);
        if let Some(found) = found {
            let (access, earlier, _) = race(Some(found));
            assert_eq!(access.performer, Performer::Operation);
            assert_eq!((earlier.thread, earlier.class), (32, READ));
        }
    }
}

#[test]
fn copies_meet_no_other_copies() {
    let mut machine = Machine::new(1);
    assert_eq!(machine.begin(0, !0, word), None);
    // Neither of the same thread, nor by the asynchronous proxy.
    race(machine.begin(0, 1, word));
    let bulk = AsyncAccess {
        block: 0,
        warp: 0,
        lane: 0,
        offset: 112,
        bytes: 64,
        kind: AccessKind::Read,
        proxy: Proxy::Async,
        site: 9,
        completion: AsyncCompletion::BulkGroup,
    };
    let (access, earlier, offset) = race(machine.shared.issue(&bulk).err());
    assert_eq!((access.site, earlier.thread, offset), (9, 28, 112));
    // One instruction that copies to the same word in several lanes.
    race(machine.begin(1, 3, |_| 256));
}

/// Lanes may start copies together and wait for them apart, or the other way round.
#[test]
fn each_lane_waits_for_its_own_copies() {
    let mut machine = Machine::new(1);
    assert_eq!(machine.begin(0, 0xffff, word), None);
    assert_eq!(machine.begin(0, 0xffff_0000, word), None);
    assert_eq!(machine.begin(0, !0, |t| 128 + t * 4), None);
    machine.complete(0, 0x00ff_ff00, word);
    for lane in [0, 7, 8, 23, 24, 31] {
        let found = machine.access(0, 0, 1 << lane, READ, word);
        assert_eq!(found.is_none(), (8..24).contains(&lane), "{found:?}");
        race(machine.access(0, 0, 1 << lane, READ, |t| 128 + t * 4));
    }
    machine.complete(0, !0x00ff_ff00, word);
    machine.complete(0, !0, |t| 128 + t * 4);
    assert_eq!(machine.access(0, 0, !0, READ, word), None);
    assert_eq!(machine.access(0, 0, !0, READ, |t| 128 + t * 4), None);
}

/// A completed copy is a write of its thread at the time of its wait.
#[test]
fn others_read_a_copy_behind_its_wait_and_a_barrier() {
    let mut machine = Machine::new(1);
    assert_eq!(machine.begin(0, !0, word), None);
    machine.barrier();
    machine.complete(0, !0, word);
    let (_, earlier, _) = race(machine.access(0, 1, 1, READ, |_| 0));
    assert_eq!((earlier.thread, earlier.site), (0, SITE));
    machine.barrier();
    assert_eq!(machine.access(0, 1, !0, READ, |t| t % 32 * 4), None);
}

#[test]
fn a_new_cluster_begins_with_no_copy() {
    let mut machine = Machine::new(1);
    assert_eq!(machine.begin(0, !0, word), None);
    machine.shared.start();
    machine.shared.assume_initialised(0, 4096);
    assert_eq!(machine.access(0, 1, !0, READ, |t| t % 32 * 4), None);
}

#[test]
fn copied_bytes_are_initialised_when_they_have_come() {
    let mut shared = SharedMemory::new(1, THREADS, 4096, false, true);
    shared.start();
    let offsets = [8; 32];
    let copy = access_by(0, 1, &offsets, 4, WRITE, SITE);
    let read = access_by(0, 1, &offsets, 4, READ, 3);
    assert_eq!(shared.begin_copies(&copy), None);
    assert!(matches!(
        shared.access(&read, &()),
        Some(Finding::Uninitialised { offset: 8, .. })
    ));
    assert_eq!(shared.complete_copies(&copy), None);
    assert_eq!(shared.access(&read, &()), None);
}

/// Where an mbarrier lies.
const MBARRIER: u32 = 2048;

impl Machine {
    /// The copies are done, and the lanes arrive at the mbarrier.
    fn arrive_for_copies(&mut self, warp: u32, mask: u32, offset: impl Fn(u32) -> u32) {
        let offsets = std::array::from_fn(|lane| offset(warp * 32 + lane as u32));
        let copies = access_by(warp, mask, &offsets, 4, WRITE, SITE);
        let found = self.shared.complete_copies_at(&copies, &[MBARRIER; 32]);
        assert_eq!(found, None);
        let release = class(AccessKind::Atomic, Order::Release);
        assert_eq!(self.access(0, warp, mask, release, |_| MBARRIER), None);
    }

    /// Lanes test the mbarrier, and find the phase over.
    fn wait_at_mbarrier(&mut self, warp: u32, mask: u32) {
        let acquire = class(AccessKind::Atomic, Order::Acquire);
        let test = Access {
            object: ObjectUse::Mbarrier,
            synchronises: false,
            ..access_by(warp, mask, &[MBARRIER; 32], 8, acquire, 41)
        };
        assert_eq!(self.shared.access(&test, &()), None);
        self.shared.synchronise(&test);
    }
}

#[test]
fn copies_that_an_mbarrier_counts_are_under_way_until_somebody_waits_there() {
    for reader in 0..2 {
        for waits in [false, true] {
            let mut machine = Machine::new(1);
            assert_eq!(machine.begin(0, !0, word), None);
            machine.arrive_for_copies(0, !0, word);
            // A barrier does not help: the lanes that started them have not seen them, either.
            machine.barrier();
            if waits {
                machine.wait_at_mbarrier(reader, !0);
            }
            let found = machine.access(0, reader, 1 << 7, READ, |_| 36);
            assert_eq!(found.is_none(), waits);
            if found.is_some() {
                let (_, earlier, _) = race(found);
                assert_eq!(
                    (earlier.thread, earlier.performer),
                    (9, Performer::Operation)
                );
            }
        }
    }
}

/// Others have not seen what one has.
#[test]
fn a_wait_at_an_mbarrier_is_its_threads_own() {
    let mut machine = Machine::new(1);
    assert_eq!(machine.begin(0, !0, word), None);
    machine.arrive_for_copies(0, !0, word);
    machine.wait_at_mbarrier(1, !0);
    assert_eq!(machine.access(0, 1, !0, READ, |t| word(t % 32)), None);
    race(machine.access(0, 2, 1, READ, |_| 0));
}

#[test]
fn a_thread_may_wait_for_the_copies_that_an_mbarrier_counts() {
    let mut machine = Machine::new(1);
    assert_eq!(machine.begin(0, !0, word), None);
    machine.arrive_for_copies(0, !0, word);
    machine.shared.wait_for_copies(0, 0, 0xffff);
    assert_eq!(machine.access(0, 0, 0xffff, READ, word), None);
    race(machine.access(0, 0, 1 << 20, READ, word));
}

/// What was before the arrival is no news of the copies, not even to the threads that started them.
#[test]
fn who_touches_copies_that_an_mbarrier_counts_has_heard_of_its_phase() {
    for reader in 0..2 {
        for heard in [false, true] {
            let mut machine = Machine::new(1);
            assert_eq!(machine.begin(0, !0, word), None);
            machine.arrive_for_copies(0, !0, word);
            machine.barrier();
            machine.wait_at_mbarrier(2, !0);
            if heard {
                // From those who have waited.
                machine.barrier();
            }
            let found = machine.access(0, reader, !0, READ, |t| word(t % 32));
            assert_eq!(found.is_none(), heard);
            if found.is_some() {
                let (_, earlier, _) = race(found);
                assert_eq!(earlier.performer, Performer::Operation);
            }
        }
    }
}

/// Copies into bytes that were copied to before take their place: whoever has heard of the second has nothing else to
/// hear of.
#[test]
fn a_second_copy_takes_the_place_of_the_first() {
    let mut machine = Machine::new(1);
    for _ in 0..2 {
        assert_eq!(machine.begin(0, !0, word), None);
        machine.arrive_for_copies(0, !0, word);
        machine.wait_at_mbarrier(1, !0);
        machine.wait_at_mbarrier(0, !0);
        assert_eq!(machine.access(0, 1, !0, READ, |t| word(t % 32)), None);
        machine.barrier();
    }
    assert_eq!(machine.access(0, 2, !0, WRITE, |t| word(t % 32)), None);
}

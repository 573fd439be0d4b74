//! Operations of the asynchronous proxy: what orders them with ordinary accesses, and what does not.

use super::*;

/// Where the tests' mbarriers lie.
const MBARRIERS: [u32; 2] = [3072, 3080];
/// Where the tests' tile lies, and its bytes.
const TILE: u32 = 1024;
const BYTES: u32 = 512;

fn machine(blocks: u32) -> Machine {
    let mut shared = SharedMemory::new(blocks, THREADS, 4096, true, true).with_async_proxy();
    shared.start();
    shared.assume_initialised(0, 4096 * blocks);
    Machine { shared }
}

/// A bulk copy of the tile by lane 0 of a warp of the first block.
fn copy(warp: u32, kind: AccessKind, completion: AsyncCompletion) -> AsyncAccess {
    AsyncAccess {
        block: 0,
        warp,
        lane: 0,
        offset: TILE,
        bytes: BYTES,
        kind,
        proxy: Proxy::Async,
        site: 77,
        completion,
    }
}

fn load(warp: u32, mbarrier: usize) -> AsyncAccess {
    let completion = AsyncCompletion::Mbarrier {
        offset: MBARRIERS[mbarrier],
    };
    copy(warp, AccessKind::Write, completion)
}

fn store(warp: u32) -> AsyncAccess {
    copy(warp, AccessKind::Read, AsyncCompletion::BulkGroup)
}

fn tile(thread: u32) -> u32 {
    TILE + thread * 4
}

impl Machine {
    /// All lanes of a warp test an mbarrier and find its phase over.
    fn wait_at(&mut self, warp: u32, mbarrier: usize) {
        let wait = class(AccessKind::Atomic, Order::Acquire);
        let found = self.access(0, warp, !0, wait, |_| MBARRIERS[mbarrier]);
        assert_eq!(found, None);
    }

    fn arrive_at(&mut self, warp: u32, mask: u32, mbarrier: usize) {
        let arrival = class(AccessKind::Atomic, Order::Release);
        let found = self.access(0, warp, mask, arrival, |_| MBARRIERS[mbarrier]);
        assert_eq!(found, None);
    }

    fn fence_proxy(&mut self, warps: std::ops::Range<u32>) {
        for warp in warps {
            self.shared.proxy_fence(0, warp, !0, ProxyFence::Async);
        }
    }
}

fn cause(finding: &Finding) -> RaceCause {
    match finding {
        Finding::Race { cause, .. } => *cause,
        other => panic!("expected a race, found {other:?}"),
    }
}

// covers: TMA-01
#[test]
fn a_bulk_load_is_seen_by_those_who_wait_at_its_mbarrier() {
    let mut machine = machine(1);
    let load = load(0, 0);
    let ticket = machine.shared.issue(&load).unwrap();
    // Neither before it is done, nor by those who have not waited, whoever issued it.
    let (access, earlier, offset) = race(machine.access(0, 0, 1, READ, tile));
    assert_eq!((access.thread, earlier.thread, earlier.site), (0, 0, 77));
    assert_eq!(offset, TILE);
    machine.shared.finish(&load, ticket);
    race(machine.access(0, 0, 1, READ, tile));
    // At another mbarrier nothing is learned of it.
    machine.wait_at(1, 1);
    race(machine.access(0, 1, !0, READ, tile));
    machine.wait_at(1, 0);
    assert_eq!(machine.access(0, 1, !0, READ, tile), None);
    assert_eq!(machine.access(0, 1, !0, WRITE, tile), None);
    // A barrier passes it on.
    race(machine.access(0, 2, !0, READ, tile));
    machine.barrier();
    assert_eq!(machine.all(READ, tile), None);
}

#[test]
fn a_wait_before_the_completion_is_none() {
    let mut machine = machine(1);
    let load = load(0, 0);
    let ticket = machine.shared.issue(&load).unwrap();
    machine.wait_at(1, 0);
    machine.shared.finish(&load, ticket);
    race(machine.access(0, 1, !0, READ, tile));
}

#[test]
fn of_two_loads_at_one_mbarrier_both_must_be_done() {
    let mut machine = machine(1);
    let first = AsyncAccess {
        bytes: BYTES / 2,
        ..load(0, 0)
    };
    let second = AsyncAccess {
        offset: TILE + BYTES / 2,
        ..first
    };
    let tickets = [&first, &second].map(|load| machine.shared.issue(load).unwrap());
    machine.shared.finish(&second, tickets[1]);
    machine.wait_at(1, 0);
    race(machine.access(0, 1, 1, READ, |_| TILE));
    machine.shared.finish(&first, tickets[0]);
    machine.wait_at(1, 0);
    assert_eq!(machine.access(0, 1, !0, READ, tile), None);
}

#[test]
fn bytes_that_are_still_copied_are_not_initialised() {
    let mut shared = SharedMemory::new(1, THREADS, 4096, false, true);
    shared.start();
    let load = load(0, 0);
    let ticket = shared.issue(&load).unwrap();
    let offsets = [TILE; 32];
    let read = access_by(1, 1, &offsets, 4, READ, 5);
    assert!(matches!(
        shared.access(&read, &()),
        Some(Finding::Uninitialised { offset: TILE, .. })
    ));
    shared.finish(&load, ticket);
    assert_eq!(shared.access(&read, &()), None);
    // What a copy reads must be initialised, to the last byte.
    let store = store(0);
    assert!(shared.issue(&store).is_ok());
    let longer = AsyncAccess {
        bytes: BYTES + 16,
        ..store
    };
    assert!(matches!(
        shared.issue(&longer),
        Err(Finding::Uninitialised { offset, .. }) if offset == TILE + BYTES
    ));
}

// covers: TMA-08
#[test]
fn what_threads_write_needs_their_own_proxy_fences() {
    enum Fences {
        Nobody,
        OnlyTheIssuer,
        BeforeTheWrites,
        Everybody,
        Mbarriers,
    }
    for (fences, allowed) in [
        (Fences::Nobody, false),
        (Fences::OnlyTheIssuer, false),
        (Fences::BeforeTheWrites, false),
        (Fences::Everybody, true),
        (Fences::Mbarriers, false),
    ] {
        let mut machine = machine(1);
        if matches!(fences, Fences::BeforeTheWrites) {
            machine.fence_proxy(0..4);
        }
        assert_eq!(machine.all(WRITE, tile), None);
        match fences {
            Fences::Everybody => machine.fence_proxy(0..4),
            Fences::Mbarriers => (0..4).for_each(|warp| {
                let fence = ProxyFence::MbarrierInit;
                machine.shared.proxy_fence(0, warp, !0, fence);
            }),
            _ => {}
        }
        machine.barrier();
        if matches!(fences, Fences::OnlyTheIssuer) {
            machine.fence_proxy(0..1);
        }
        let found = machine.shared.issue(&store(0));
        assert_eq!(found.is_ok(), allowed, "{found:?}");
        if let Err(finding) = found {
            assert_eq!(cause(&finding), RaceCause::Proxy);
            let thread = u32::from(matches!(fences, Fences::OnlyTheIssuer));
            let (access, earlier, _) = race(Some(finding));
            assert_eq!((access.thread, earlier.thread), (0, thread));
        }
    }
}

/// A fence helps those alone who have seen it.
#[test]
fn a_proxy_fence_must_be_ordered_before_the_copy() {
    let mut machine = machine(1);
    assert_eq!(machine.access(0, 1, !0, WRITE, tile), None);
    machine.fence_proxy(1..2);
    let finding = machine.shared.issue(&store(0)).unwrap_err();
    assert_eq!(cause(&finding), RaceCause::Unordered);
    // The write is passed on, the fence comes too late.
    let mut machine = self::machine(1);
    assert_eq!(machine.access(0, 1, !0, WRITE, tile), None);
    machine.shared.warp_sync(0, 1, !0);
    machine.arrive_at(1, 1, 1);
    machine.fence_proxy(1..2);
    machine.wait_at(0, 1);
    let finding = machine.shared.issue(&store(0)).unwrap_err();
    assert_eq!(cause(&finding), RaceCause::Proxy);
}

#[test]
fn the_issuing_thread_needs_the_fence_for_its_own_writes_too() {
    for fenced in [true, false] {
        let mut machine = machine(1);
        assert_eq!(machine.access(0, 0, 1, WRITE, |_| TILE), None);
        if fenced {
            machine.shared.proxy_fence(0, 0, 1, ProxyFence::Async);
        }
        assert_eq!(machine.shared.issue(&store(0)).is_ok(), fenced);
    }
}

/// What was read before the copy, and ordered before it, is as it was.
#[test]
fn reads_before_a_bulk_load_need_no_proxy_fence() {
    for ordered in [true, false] {
        let mut machine = machine(1);
        assert_eq!(machine.all(READ, tile), None);
        if ordered {
            machine.barrier();
        }
        assert_eq!(machine.shared.issue(&load(0, 0)).is_ok(), ordered);
    }
}

// covers: TMA-09
#[test]
fn a_source_is_free_when_its_thread_has_waited() {
    let mut machine = machine(1);
    let first = machine.shared.issue(&store(0)).unwrap();
    let later = AsyncAccess {
        offset: TILE + BYTES,
        ..store(0)
    };
    let second = machine.shared.issue(&later).unwrap();
    // Reads disturb nothing, and neither does a second copy.
    assert_eq!(machine.all(READ, tile), None);
    machine.shared.finish(&store(0), first);
    race(machine.access(0, 0, 1, WRITE, |_| TILE));
    machine.shared.wait(0, 0, 1, first);
    assert_eq!(machine.access(0, 0, 1, WRITE, |_| 0), None);
    race(machine.access(0, 0, 1, WRITE, |_| TILE + BYTES));
    // Another thread of the same warp has not waited, until a barrier tells it.
    race(machine.access(0, 0, 2, WRITE, |_| TILE + 32));
    machine.barrier();
    assert_eq!(machine.all(WRITE, tile), None);
    race(machine.access(0, 3, 1, WRITE, |_| TILE + BYTES));
    machine.shared.finish(&later, second);
    machine.shared.wait(0, 0, 1, second);
    race(machine.access(0, 3, 1, WRITE, |_| TILE + BYTES));
    machine.barrier();
    assert_eq!(machine.access(0, 3, 1, WRITE, |_| TILE + BYTES), None);
}

#[test]
fn operations_race_with_each_other() {
    let mut machine = machine(1);
    let load = load(0, 0);
    let ticket = machine.shared.issue(&load).unwrap();
    let finding = machine.shared.issue(&store(0)).unwrap_err();
    assert_eq!(cause(&finding), RaceCause::Unordered);
    let (access, earlier, _) = race(Some(finding));
    assert_eq!(access.to_string(), "asynchronous read");
    assert_eq!(earlier.to_string(), "asynchronous write");
    assert!(
        machine
            .shared
            .issue(&super::asynchronous::load(0, 1))
            .is_err()
    );
    machine.shared.finish(&load, ticket);
    machine.wait_at(0, 0);
    // What a copy wrote is no ordinary write: the next copy reads it without a fence.
    assert!(machine.shared.issue(&store(0)).is_ok());
    // Reductions meet each other, but not atomic operations of threads.
    let reduction = AsyncAccess {
        offset: 0,
        kind: AccessKind::Atomic,
        ..load
    };
    assert!(machine.shared.issue(&reduction).is_ok());
    assert!(machine.shared.issue(&reduction).is_ok());
    race(machine.access(0, 0, 1, ATOMIC, |_| 0));
}

/// Several stages, refilled when their readers have arrived at a second mbarrier.
#[test]
fn a_pipeline_of_stages_is_ordered_by_its_mbarriers() {
    for forgets in [None, Some("full"), Some("empty")] {
        let mut machine = machine(1);
        let load = load(0, 0);
        let mut found = None;
        for _ in 0..3 {
            let ticket = match machine.shared.issue(&load) {
                Ok(ticket) => ticket,
                Err(finding) => {
                    found = Some(finding);
                    break;
                }
            };
            machine.shared.finish(&load, ticket);
            for warp in 1..4 {
                if !(forgets == Some("full") && warp == 3) {
                    machine.wait_at(warp, 0);
                }
                let read = machine.access(0, warp, !0, READ, |thread| TILE + thread % 32 * 4);
                found = found.or(read);
                machine.shared.warp_sync(0, warp, !0);
                if !(forgets == Some("empty") && warp == 3) {
                    machine.arrive_at(warp, 1, 1);
                }
            }
            machine.wait_at(0, 1);
        }
        assert_eq!(found.is_none(), forgets.is_none(), "{forgets:?} {found:?}");
    }
}

/// Matrix products read their operands until all lanes of the warp have waited.
#[test]
fn products_are_waited_for_by_the_whole_warp() {
    let mut machine = machine(1);
    assert_eq!(machine.access(0, 1, !0, WRITE, |t| TILE + t % 32 * 4), None);
    let product = |warp| AsyncAccess {
        bytes: 128,
        ..copy(warp, AccessKind::Read, AsyncCompletion::Products)
    };
    machine.fence_proxy(1..2);
    machine.barrier();
    let tickets = [0, 1].map(|warp| machine.shared.issue(&product(warp)).unwrap());
    for (warp, ticket) in [0, 1].into_iter().zip(tickets) {
        machine.shared.finish(&product(warp), ticket);
        machine.shared.wait(0, warp, !0, ticket);
    }
    // Each warp knows of its own products.
    race(machine.access(0, 0, 1 << 9, WRITE, |_| TILE));
    machine.barrier();
    assert_eq!(machine.access(0, 0, 1 << 9, WRITE, |_| TILE), None);

    let mut machine = self::machine(1);
    let ticket = machine.shared.issue(&product(0)).unwrap();
    machine.shared.finish(&product(0), ticket);
    machine.shared.wait(0, 0, !0, ticket);
    for lane in [3, 31] {
        let found = machine.access(0, 0, 1 << lane, WRITE, |_| TILE + lane * 4);
        assert_eq!(found, None);
    }
}

// covers: TMA-05
#[test]
fn an_mbarrier_is_made_visible_to_the_asynchronous_proxy() {
    for (fence, allowed) in [
        (None, false),
        (Some(ProxyFence::Async), true),
        (Some(ProxyFence::MbarrierInit), true),
    ] {
        let mut machine = machine(1);
        let mbarrier = |_| MBARRIERS[0];
        assert_eq!(machine.access(0, 0, 1, WRITE, mbarrier), None);
        if let Some(fence) = fence {
            machine.shared.proxy_fence(0, 0, 1, fence);
        }
        machine.barrier();
        // Ordinary operations on it, in whatever order, do not matter.
        machine.arrive_at(2, 1, 0);
        let found = machine.shared.issue(&load(3, 0));
        assert_eq!(found.is_ok(), allowed);
        if let Err(finding) = found {
            assert_eq!(cause(&finding), RaceCause::Proxy);
            let (_, earlier, offset) = race(Some(finding));
            assert_eq!((earlier.class, offset), (WRITE, MBARRIERS[0]));
        }
    }
}

// covers: TMA-03
#[test]
fn a_copy_into_another_block_is_seen_at_its_mbarrier() {
    let mut machine = machine(2);
    let load = AsyncAccess {
        offset: 4096 + TILE,
        completion: AsyncCompletion::Mbarrier {
            offset: 4096 + MBARRIERS[0],
        },
        ..load(0, 0)
    };
    let ticket = machine.shared.issue(&load).unwrap();
    machine.shared.finish(&load, ticket);
    machine.barrier_of(1);
    race(machine.access(1, 2, 1, READ, |_| 4096 + TILE));
    let wait = class(AccessKind::Atomic, Order::Acquire);
    let found = machine.access(1, 2, !0, wait, |_| 4096 + MBARRIERS[0]);
    assert_eq!(found, None);
    assert_eq!(machine.access(1, 2, 1, READ, |_| 4096 + TILE), None);
    race(machine.access(0, 0, 1, READ, |_| 4096 + TILE));
    machine.cluster_barrier(true);
    assert_eq!(machine.access(0, 0, 1, READ, |_| 4096 + TILE), None);
}

#[test]
fn a_new_cluster_begins_with_no_operation() {
    let mut machine = machine(1);
    machine.shared.issue(&load(0, 0)).unwrap();
    machine.shared.start();
    machine.shared.assume_initialised(0, 4096);
    assert_eq!(machine.all(WRITE, tile), None);
    machine.barrier();
    assert!(machine.shared.issue(&store(0)).is_err());
}

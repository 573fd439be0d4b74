//! The checker against plain vector clocks and a full history of accesses, on random programs.

use std::collections::HashMap;

use proptest::prelude::*;
use warpsmith_isa::effect::{AccessKind, Order};

use super::tests::{ATOMIC, READ, STRONG_READ, STRONG_WRITE, WRITE, access_by, class};
use super::*;

const WARPS: u32 = 2;
const THREADS: usize = 64;
const BLOCKS: usize = 2;
const CASES: u32 = warpsmith_testkit::cases(1500);

/// One more than the steps of the longest program.
const STEPS: usize = if cfg!(miri) { 16 } else { 60 };
const ALL: usize = THREADS * BLOCKS;

#[derive(Clone, Debug)]
enum Step {
    Access {
        block: u32,
        warp: u32,
        mask: u32,
        class: AccessClass,
        word: u32,
        spread: bool,
    },
    Barrier {
        block: u32,
    },
    Named {
        block: u32,
        first_waits: bool,
    },
    WarpSync {
        block: u32,
        warp: u32,
        mask: u32,
    },
    ClusterBarrier,
    Fence {
        block: u32,
        warp: u32,
        lane: u32,
    },
    Flag {
        block: u32,
        warp: u32,
        lane: u32,
        kind: AccessKind,
        order: Order,
        location: u64,
    },
}

impl Step {
    /// The same in a cluster of so many blocks.
    fn within(&self, blocks: u32) -> Step {
        let mut step = self.clone();
        match &mut step {
            Step::Access { block, .. }
            | Step::Barrier { block }
            | Step::Named { block, .. }
            | Step::WarpSync { block, .. }
            | Step::Fence { block, .. }
            | Step::Flag { block, .. } => *block %= blocks,
            Step::ClusterBarrier => {}
        }
        step
    }
}

fn steps(strong: bool) -> impl Strategy<Value = Vec<Step>> {
    let mask = prop_oneof![
        Just(u32::MAX),
        Just(1u32),
        Just(0xffff),
        Just(0x8000_0001),
        any::<u32>().prop_map(|m| m | 2)
    ];
    let plain = prop_oneof![Just(READ), Just(WRITE)];
    let any_class = prop_oneof![
        Just(READ),
        Just(WRITE),
        Just(ATOMIC),
        Just(STRONG_READ),
        Just(STRONG_WRITE),
        Just(class(AccessKind::Atomic, Order::AcquireRelease)),
        Just(class(AccessKind::Read, Order::Acquire)),
        Just(class(AccessKind::Write, Order::Release))
    ];
    let class = if strong {
        any_class.boxed()
    } else {
        plain.boxed()
    };
    let flag = prop_oneof![
        Just(AccessKind::Atomic),
        Just(AccessKind::Read),
        Just(AccessKind::Write)
    ];
    let order = prop_oneof![
        Just(Order::Relaxed),
        Just(Order::Acquire),
        Just(Order::Release),
        Just(Order::AcquireRelease)
    ];
    let place = (0..BLOCKS as u32, 0..WARPS);
    let step = prop_oneof![
        8 => (place.clone(), mask.clone(), class, 0..200u32, any::<bool>()).prop_map(|((block, warp), mask, class, word, spread)|
            Step::Access { block, warp, mask, class, word: if spread { word / 64 * 64 } else { word % 3 }, spread }),
        2 => (0..BLOCKS as u32).prop_map(|block| Step::Barrier { block }),
        1 => (0..BLOCKS as u32, any::<bool>()).prop_map(|(block, first_waits)| Step::Named { block, first_waits }),
        3 => (place.clone(), mask).prop_map(|((block, warp), mask)| Step::WarpSync { block, warp, mask }),
        1 => Just(Step::ClusterBarrier),
        2 => (place.clone(), 0..32u32).prop_map(|((block, warp), lane)| Step::Fence { block, warp, lane }),
        3 => (place, 0..3u32, flag, order, 0..2u64).prop_map(
            |((block, warp), lane, kind, order, location)|
            Step::Flag { block, warp, lane, kind, order, location }),
    ];
    proptest::collection::vec(step, 1..STEPS)
}

/// Where strong accesses meet.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Flag {
    Word(u32),
    Global(u64),
}

/// An access as the oracle remembers it.
struct Recorded {
    thread: usize,
    epoch: u32,
    class: AccessClass,
    word: u32,
}

/// Vector clocks without any compression.
struct Oracle {
    clocks: Vec<[u32; ALL]>,
    released: Vec<[u32; ALL]>,
    acquired: Vec<[u32; ALL]>,
    locations: HashMap<Flag, [u32; ALL]>,
    history: Vec<Recorded>,
}

fn merge(a: &mut [u32; ALL], b: &[u32; ALL]) {
    a.iter_mut().zip(b).for_each(|(a, b)| *a = (*a).max(*b));
}

impl Oracle {
    fn new() -> Oracle {
        let clocks = (0..ALL)
            .map(|t| std::array::from_fn(|u| u32::from(t == u)))
            .collect();
        Oracle {
            clocks,
            released: vec![[0; ALL]; ALL],
            acquired: vec![[0; ALL]; ALL],
            locations: HashMap::new(),
            history: Vec::new(),
        }
    }

    /// All of `from` release, all of `to` acquire.
    fn sync(&mut self, from: &[usize], to: &[usize]) {
        let mut joined = [0; ALL];
        from.iter()
            .for_each(|&t| merge(&mut joined, &self.clocks[t]));
        to.iter().for_each(|&t| merge(&mut self.clocks[t], &joined));
        from.iter().chain(to).for_each(|&t| self.clocks[t][t] += 1);
    }

    /// Whether the access races with an earlier one; if not, it is remembered.
    fn access(&mut self, thread: usize, class: AccessClass, word: u32) -> bool {
        let clock = self.clocks[thread];
        let races = self.history.iter().any(|other| {
            other.word == word
                && (class.kind.writes() || other.class.kind.writes())
                && !(class.is_strong() && other.class.is_strong())
                && other.thread != thread
                && other.epoch > clock[other.thread]
        });
        self.history.push(Recorded {
            thread,
            epoch: clock[thread],
            class,
            word,
        });
        races
    }

    /// What a strong access orders.
    fn synchronise(&mut self, thread: usize, flag: Flag, kind: AccessKind, order: Order) {
        let location = self.locations.entry(flag).or_insert([0; ALL]);
        if kind.reads() {
            let seen = if order.acquires() {
                &mut self.clocks[thread]
            } else {
                &mut self.acquired[thread]
            };
            merge(seen, location);
        }
        if kind.writes() {
            let published = if order.releases() {
                &self.clocks[thread]
            } else {
                &self.released[thread]
            };
            if kind == AccessKind::Write {
                *location = [0; ALL];
            }
            merge(location, published);
            if order.releases() {
                self.clocks[thread][thread] += 1;
            }
        }
    }
}

fn threads(block: u32, warp: u32, mask: u32) -> Vec<usize> {
    let first = block as usize * THREADS + warp as usize * 32;
    (0..32)
        .filter(|l| mask >> l & 1 != 0)
        .map(|l| first + l)
        .collect()
}

/// Runs a program on both until the first race: (oracle found it at, checker found it at).
fn run(steps: &[Step], blocks: u32) -> (Option<usize>, Option<usize>) {
    let mut shared = SharedMemory::new(blocks, THREADS as u32, 2048 / blocks, true, false);
    shared.start();
    let mut oracle = Oracle::new();
    for (at, step) in steps.iter().enumerate() {
        match step.within(blocks) {
            Step::Access {
                block,
                warp,
                mask,
                class,
                word,
                spread,
            } => {
                let offsets =
                    std::array::from_fn(|lane| (word + if spread { lane as u32 } else { 0 }) * 4);
                let access = Access {
                    block,
                    ..access_by(warp, mask, &offsets, 4, class, at as u32)
                };
                let found = shared.access(&access, &()).is_some();
                let mut expected = false;
                for thread in threads(block, warp, mask) {
                    expected |= oracle.access(thread, class, offsets[thread % 32] / 4);
                }
                if found || expected {
                    return (expected.then_some(at), found.then_some(at));
                }
                if class.is_strong() {
                    for thread in threads(block, warp, mask) {
                        let flag = Flag::Word(offsets[thread % 32] / 4);
                        oracle.synchronise(thread, flag, class.kind, class.order);
                    }
                }
            }
            Step::Barrier { block } => {
                (0..WARPS).for_each(|warp| shared.arrive(block, 0, warp, !0, true));
                shared.complete(block, 0);
                let all: Vec<usize> = (0..WARPS)
                    .flat_map(|warp| threads(block, warp, !0))
                    .collect();
                oracle.sync(&all, &all);
            }
            Step::Named { block, first_waits } => {
                // One warp waits for half of the other.
                shared.arrive(block, 3, 0, !0, first_waits);
                shared.arrive(block, 3, 1, 0xffff, !first_waits);
                shared.complete(block, 3);
                let (first, half) = (threads(block, 0, !0), threads(block, 1, 0xffff));
                let from: Vec<usize> = first.iter().chain(&half).copied().collect();
                oracle.sync(&from, if first_waits { &first } else { &half });
            }
            Step::WarpSync { block, warp, mask } => {
                shared.warp_sync(block, warp, mask);
                let lanes = threads(block, warp, mask);
                oracle.sync(&lanes, &lanes);
            }
            Step::ClusterBarrier => {
                for block in 0..blocks {
                    (0..WARPS).for_each(|warp| shared.cluster_arrive(block, warp, !0, true));
                }
                shared.cluster_complete();
                let all: Vec<usize> = (0..THREADS * blocks as usize).collect();
                oracle.sync(&all, &all);
            }
            Step::Fence { block, warp, lane } => {
                shared.fence(block, warp, lane);
                let thread = threads(block, warp, 1 << lane)[0];
                let acquired = std::mem::replace(&mut oracle.acquired[thread], [0; ALL]);
                merge(&mut oracle.clocks[thread], &acquired);
                oracle.released[thread] = oracle.clocks[thread];
                oracle.clocks[thread][thread] += 1;
            }
            Step::Flag {
                block,
                warp,
                lane,
                kind,
                order,
                location,
            } => {
                shared.synchronise_globally(&GlobalSynchronisation {
                    block,
                    warp,
                    mask: 1 << lane,
                    addresses: &[location; 32],
                    kind,
                    order,
                });
                let thread = threads(block, warp, 1 << lane)[0];
                oracle.synchronise(thread, Flag::Global(location), kind, order);
            }
        }
    }
    (None, None)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(CASES) })]

    /// With plain accesses only, the first race is found exactly where it is.
    #[test]
    fn finds_the_first_race(steps in steps(false)) {
        for blocks in 1..=BLOCKS as u32 {
            let (expected, found) = run(&steps, blocks);
            prop_assert_eq!(found, expected);
        }
    }

    /// With atomics too, nothing is reported that is no race. (Of unordered atomics only the last is remembered.)
    #[test]
    fn reports_only_races(steps in steps(true)) {
        for blocks in 1..=BLOCKS as u32 {
            let (expected, found) = run(&steps, blocks);
            prop_assert!(found.is_none() || found == expected);
        }
    }
}

//! The checker against plain vector clocks and a full history of accesses, on random programs.

use std::collections::HashMap;

use proptest::prelude::*;
use warpsmith_isa::effect::{AccessKind, Order, Proxy, Scope};

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
        scope: Scope,
    },
    Flag {
        block: u32,
        warp: u32,
        lane: u32,
        kind: AccessKind,
        order: Order,
        scope: Scope,
        location: u64,
    },
    ProxyFence {
        block: u32,
        warp: u32,
        mask: u32,
    },
    /// A thread starts an asynchronous operation on some words, counted by an mbarrier or in its group.
    Issue {
        block: u32,
        warp: u32,
        lane: u32,
        kind: AccessKind,
        word: u32,
        words: u32,
        mbarrier: Option<u32>,
    },
    /// One of those that are under way is done.
    Finish {
        which: usize,
    },
    /// Lanes find that the phase of an mbarrier is over.
    WaitAt {
        block: u32,
        warp: u32,
        mask: u32,
        mbarrier: u32,
    },
    /// A thread waits for all its groups.
    WaitForGroups {
        block: u32,
        warp: u32,
        lane: u32,
    },
}

/// The words of the mbarriers, beyond all that is accessed otherwise.
const MBARRIERS: [u32; 2] = [250, 252];

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
            | Step::Flag { block, .. }
            | Step::ProxyFence { block, .. }
            | Step::Issue { block, .. }
            | Step::WaitAt { block, .. }
            | Step::WaitForGroups { block, .. } => *block %= blocks,
            Step::ClusterBarrier | Step::Finish { .. } => {}
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
    let scope = || {
        prop_oneof![
            Just(Scope::Block),
            Just(Scope::Cluster),
            Just(Scope::Device)
        ]
    };
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
    let any_class = (any_class, scope()).prop_map(|(class, scope)| AccessClass { scope, ..class });
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
    let operation = prop_oneof![
        Just(AccessKind::Read),
        Just(AccessKind::Write),
        Just(if strong {
            AccessKind::Atomic
        } else {
            AccessKind::Write
        })
    ];
    let step = prop_oneof![
        8 => (place.clone(), mask.clone(), class, 0..200u32, any::<bool>()).prop_map(|((block, warp), mask, class, word, spread)|
            Step::Access { block, warp, mask, class, word: if spread { word / 64 * 64 } else { word % 3 }, spread }),
        2 => (0..BLOCKS as u32).prop_map(|block| Step::Barrier { block }),
        1 => (0..BLOCKS as u32, any::<bool>()).prop_map(|(block, first_waits)| Step::Named { block, first_waits }),
        3 => (place.clone(), mask.clone()).prop_map(|((block, warp), mask)| Step::WarpSync { block, warp, mask }),
        1 => Just(Step::ClusterBarrier),
        2 => (place.clone(), 0..32u32, scope()).prop_map(|((block, warp), lane, scope)| Step::Fence { block, warp, lane, scope }),
        3 => (place.clone(), 0..3u32, flag, order, scope(), 0..2u64).prop_map(
            |((block, warp), lane, kind, order, scope, location)|
            Step::Flag { block, warp, lane, kind, order, scope, location }),
        2 => (place.clone(), mask.clone()).prop_map(|((block, warp), mask)| Step::ProxyFence { block, warp, mask }),
        2 => (place.clone(), 0..3u32, operation, 0..40u32, 1..=8u32, prop::option::of(0..2u32)).prop_map(
            |((block, warp), lane, kind, word, words, mbarrier)|
            Step::Issue { block, warp, lane, kind, word, words, mbarrier }),
        2 => any::<usize>().prop_map(|which| Step::Finish { which }),
        2 => (place.clone(), mask, 0..2u32).prop_map(|((block, warp), mask, mbarrier)| Step::WaitAt { block, warp, mask, mbarrier }),
        1 => (place, 0..3u32).prop_map(|((block, warp), lane)| Step::WaitForGroups { block, warp, lane }),
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
    /// The operation, if it is asynchronous.
    operation: Option<usize>,
}

/// A vector clock without any compression, and the asynchronous operations that are known to be done.
#[derive(Clone, Copy)]
struct Clock {
    threads: [u32; ALL],
    done: u64,
}

impl Clock {
    const NOTHING: Clock = Clock {
        threads: [0; ALL],
        done: 0,
    };

    fn merge(&mut self, other: &Clock) {
        let threads = self.threads.iter_mut().zip(&other.threads);
        threads.for_each(|(a, b)| *a = (*a).max(*b));
        self.done |= other.done;
    }
}

/// What was published at an address.
#[derive(Clone, Copy)]
struct Published {
    within: [Clock; BLOCKS],
    beyond: Clock,
}

impl Published {
    const NOTHING: Published = Published {
        within: [Clock::NOTHING; BLOCKS],
        beyond: Clock::NOTHING,
    };
}

/// An asynchronous operation.
struct Operation {
    access: AsyncAccess,
    thread: usize,
    ticket: AsyncTicket,
    is_done: bool,
}

/// Vector clocks without any compression, all accesses, all fences.
struct Oracle {
    clocks: Vec<Clock>,
    /// What fences have made ready: for the block, and beyond it.
    released: Vec<[Clock; 2]>,
    acquired: Vec<[Clock; 2]>,
    locations: HashMap<Flag, Published>,
    history: Vec<Recorded>,
    /// Of each thread, when it was.
    proxy_fences: Vec<Vec<u32>>,
    operations: Vec<Operation>,
}

fn block_of(thread: usize) -> usize {
    thread / THREADS
}

fn is_beyond(scope: Scope) -> bool {
    scope != Scope::Block
}

impl Oracle {
    fn new() -> Oracle {
        let clocks = (0..ALL)
            .map(|t| Clock {
                threads: std::array::from_fn(|u| u32::from(t == u)),
                done: 0,
            })
            .collect();
        Oracle {
            clocks,
            released: vec![[Clock::NOTHING; 2]; ALL],
            acquired: vec![[Clock::NOTHING; 2]; ALL],
            locations: HashMap::new(),
            history: Vec::new(),
            proxy_fences: vec![Vec::new(); ALL],
            operations: Vec::new(),
        }
    }

    /// All of `from` release, all of `to` acquire.
    fn sync(&mut self, from: &[usize], to: &[usize]) {
        let mut joined = Clock::NOTHING;
        from.iter().for_each(|&t| joined.merge(&self.clocks[t]));
        to.iter().for_each(|&t| self.clocks[t].merge(&joined));
        from.iter()
            .chain(to)
            .for_each(|&t| self.clocks[t].threads[t] += 1);
    }

    fn has_seen(&self, thread: usize, other: usize, epoch: u32) -> bool {
        other == thread || epoch <= self.clocks[thread].threads[other]
    }

    /// Whether an earlier access is ordered before one that a thread makes or starts now.
    fn is_ordered(&self, earlier: &Recorded, thread: usize, class: AccessClass) -> bool {
        if let Some(operation) = earlier.operation {
            return self.clocks[thread].done >> operation & 1 != 0;
        }
        let needs_fence = class.proxy == Proxy::Async && earlier.class.kind.writes();
        self.has_seen(thread, earlier.thread, earlier.epoch)
            && (!needs_fence
                || self.proxy_fences[earlier.thread].iter().any(|&fence| {
                    earlier.epoch <= fence && self.has_seen(thread, earlier.thread, fence)
                }))
    }

    /// Whether the access races with an earlier one; if not, it is remembered.
    fn access(
        &mut self,
        thread: usize,
        class: AccessClass,
        word: u32,
        operation: Option<usize>,
    ) -> bool {
        let races = self.history.iter().any(|other| {
            let may_meet = class.is_strong()
                && other.class.is_strong()
                && class.proxy == other.class.proxy
                && (block_of(thread) == block_of(other.thread)
                    || is_beyond(class.scope) && is_beyond(other.class.scope));
            other.word == word
                && (class.kind.writes() || other.class.kind.writes())
                && !may_meet
                && !self.is_ordered(other, thread, class)
        });
        self.history.push(Recorded {
            thread,
            epoch: self.clocks[thread].threads[thread],
            class,
            word,
            operation,
        });
        races
    }

    /// What a strong access orders.
    fn synchronise(&mut self, thread: usize, flag: Flag, class: AccessClass) {
        let AccessClass {
            kind, order, scope, ..
        } = class;
        let block = block_of(thread);
        let location = self.locations.entry(flag).or_insert(Published::NOTHING);
        if kind.reads() {
            let beyond = if is_beyond(scope) {
                location.beyond
            } else {
                Clock::NOTHING
            };
            if order.acquires() {
                self.clocks[thread].merge(&location.within[block]);
                self.clocks[thread].merge(&beyond);
            } else {
                self.acquired[thread][0].merge(&location.within[block]);
                self.acquired[thread][1].merge(&beyond);
            }
        }
        if kind.writes() {
            let [within, beyond] = if order.releases() {
                [self.clocks[thread]; 2]
            } else {
                self.released[thread]
            };
            if kind == AccessKind::Write {
                *location = Published::NOTHING;
            }
            if is_beyond(scope) {
                location.beyond.merge(&beyond);
            } else {
                location.beyond = Clock::NOTHING;
            }
            location.within[block].merge(&within);
            if order.releases() {
                self.clocks[thread].threads[thread] += 1;
            }
        }
    }

    fn fence(&mut self, thread: usize, scope: Scope) {
        let parts = if is_beyond(scope) { 2 } else { 1 };
        for part in 0..parts {
            let acquired = std::mem::replace(&mut self.acquired[thread][part], Clock::NOTHING);
            self.clocks[thread].merge(&acquired);
        }
        for part in 0..parts {
            self.released[thread][part] = self.clocks[thread];
        }
        self.clocks[thread].threads[thread] += 1;
    }

    fn proxy_fence(&mut self, thread: usize) {
        let now = &mut self.clocks[thread].threads[thread];
        self.proxy_fences[thread].push(*now);
        *now += 1;
    }

    /// What an mbarrier tells: operations that it counts are known to be done when all before them are.
    fn count(&mut self, offset: u32) {
        let flag = Flag::Word(offset / 4);
        let completion = AsyncCompletion::Mbarrier { offset };
        let done = self
            .operations
            .iter()
            .enumerate()
            .filter(|(_, operation)| operation.access.completion == completion)
            .take_while(|(_, operation)| operation.is_done)
            .fold(0, |done, (number, _)| done | 1 << number);
        let location = self.locations.entry(flag).or_insert(Published::NOTHING);
        location
            .within
            .iter_mut()
            .for_each(|clock| clock.done |= done);
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
    let mut shared =
        SharedMemory::new(blocks, THREADS as u32, 2048 / blocks, true, false).with_async_proxy();
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
                    expected |= oracle.access(thread, class, offsets[thread % 32] / 4, None);
                }
                if found || expected {
                    return (expected.then_some(at), found.then_some(at));
                }
                if class.is_strong() {
                    for thread in threads(block, warp, mask) {
                        let flag = Flag::Word(offsets[thread % 32] / 4);
                        oracle.synchronise(thread, flag, class);
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
            Step::Fence {
                block,
                warp,
                lane,
                scope,
            } => {
                shared.fence(block, warp, 1 << lane, scope);
                oracle.fence(threads(block, warp, 1 << lane)[0], scope);
            }
            Step::Flag {
                block,
                warp,
                lane,
                kind,
                order,
                scope,
                location,
            } => {
                shared.synchronise_globally(&GlobalSynchronisation {
                    block,
                    warp,
                    mask: 1 << lane,
                    addresses: &[location; 32],
                    kind,
                    order,
                    scope,
                });
                let thread = threads(block, warp, 1 << lane)[0];
                let class = AccessClass {
                    scope,
                    ..class(kind, order)
                };
                oracle.synchronise(thread, Flag::Global(location), class);
            }
            Step::ProxyFence { block, warp, mask } => {
                shared.proxy_fence(block, warp, mask, ProxyFence::Async);
                for thread in threads(block, warp, mask) {
                    oracle.proxy_fence(thread);
                }
            }
            Step::Issue {
                block,
                warp,
                lane,
                kind,
                word,
                words,
                mbarrier,
            } => {
                let completion = match mbarrier {
                    Some(number) => AsyncCompletion::Mbarrier {
                        offset: MBARRIERS[number as usize] * 4,
                    },
                    None => AsyncCompletion::BulkGroup,
                };
                let access = AsyncAccess {
                    block,
                    warp,
                    lane,
                    offset: word * 4,
                    bytes: words * 4,
                    kind,
                    proxy: Proxy::Async,
                    site: at as u32,
                    completion,
                };
                let thread = threads(block, warp, 1 << lane)[0];
                let number = oracle.operations.len();
                let mut expected = false;
                for word in word..word + words {
                    expected |= oracle.access(thread, access.class(), word, Some(number));
                }
                let ticket = match shared.issue(&access) {
                    Ok(ticket) if !expected => ticket,
                    other => return (expected.then_some(at), other.is_err().then_some(at)),
                };
                oracle.operations.push(Operation {
                    access,
                    thread,
                    ticket,
                    is_done: false,
                });
                if mbarrier.is_some() {
                    let known = oracle.clocks[thread];
                    let flag = Flag::Word(match completion {
                        AsyncCompletion::Mbarrier { offset } => offset / 4,
                        _ => unreachable!("it has an mbarrier"),
                    });
                    let location = oracle.locations.entry(flag).or_insert(Published::NOTHING);
                    location
                        .within
                        .iter_mut()
                        .for_each(|clock| clock.merge(&known));
                    oracle.clocks[thread].threads[thread] += 1;
                }
            }
            Step::Finish { which } => {
                let pending: Vec<usize> = (0..oracle.operations.len())
                    .filter(|&number| !oracle.operations[number].is_done)
                    .collect();
                if let Some(&number) = pending.get(which % pending.len().max(1)) {
                    let operation = &mut oracle.operations[number];
                    operation.is_done = true;
                    shared.finish(&operation.access, operation.ticket);
                    if let AsyncCompletion::Mbarrier { offset } = operation.access.completion {
                        oracle.count(offset);
                    }
                }
            }
            Step::WaitAt {
                block,
                warp,
                mask,
                mbarrier,
            } => {
                let offset = MBARRIERS[mbarrier as usize] * 4;
                let wait = AccessClass {
                    scope: Scope::Cluster,
                    ..class(AccessKind::Read, Order::Acquire)
                };
                let offsets = [offset; 32];
                let access = Access {
                    block,
                    ..access_by(warp, mask, &offsets, 8, wait, at as u32)
                };
                assert_eq!(shared.access(&access, &()), None);
                for thread in threads(block, warp, mask) {
                    oracle.synchronise(thread, Flag::Word(offset / 4), wait);
                }
            }
            Step::WaitForGroups { block, warp, lane } => {
                let thread = threads(block, warp, 1 << lane)[0];
                let mut last = None;
                for (number, operation) in oracle.operations.iter_mut().enumerate() {
                    let is_own = operation.thread == thread
                        && operation.access.completion == AsyncCompletion::BulkGroup;
                    if !is_own {
                        continue;
                    }
                    if !operation.is_done {
                        operation.is_done = true;
                        shared.finish(&operation.access, operation.ticket);
                    }
                    oracle.clocks[thread].done |= 1 << number;
                    last = Some(operation.ticket);
                }
                if let Some(ticket) = last {
                    shared.wait(block, warp, 1 << lane, ticket);
                }
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

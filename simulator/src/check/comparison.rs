//! The checker with stamps against the shadow alone, on random programs: every access that races is found by both.

use proptest::prelude::*;
use warpsmith_isa::effect::{AccessKind, Order, Proxy, Scope};

use super::tests::{ATOMIC, READ, STRONG_READ, STRONG_WRITE, WRITE, access_by, class};
use super::*;

/// Threads of a block: two whole warps and a part of one.
const THREADS: u32 = 80;
const WARPS: u32 = 3;
/// Bytes of a block.
const BYTES: u32 = 4096;
const CASES: u32 = warpsmith_testkit::cases(1000);

/// One more than the steps of the longest program.
const STEPS: usize = if cfg!(miri) { 16 } else { 80 };

/// How the lanes' offsets lie.
#[derive(Clone, Copy, Debug)]
enum Layout {
    Consecutive,
    Same,
    /// Runs of 8 or 16 lanes, each run at an offset of its own or all at the same.
    Runs {
        lanes: u32,
        apart: bool,
    },
    Strided,
    Random,
}

#[derive(Clone, Debug)]
struct Step {
    block: u32,
    warp: u32,
    mask: u32,
    action: Action,
}

#[derive(Clone, Debug)]
enum Action {
    Access {
        class: AccessClass,
        layout: Layout,
        size: u32,
        /// Where it starts: in the warp's own part of the memory, or in that of all.
        own: bool,
        remote: bool,
        start: u32,
        seed: u32,
    },
    Barrier,
    Named {
        first_waits: bool,
    },
    WarpSync,
    /// With `between`, a thread writes after it has arrived and before the barrier is complete; the memory of another block if
    /// that is true.
    ClusterBarrier {
        between: Option<bool>,
    },
    Fence(Scope),
    Flag {
        kind: AccessKind,
        order: Order,
        scope: Scope,
        /// At the same address in all lanes, or at one for each.
        same: bool,
    },
    ProxyFence,
    /// A lane starts an asynchronous operation on the words from `start`, counted by an mbarrier or in its group.
    Issue {
        kind: AccessKind,
        start: u32,
        bytes: u32,
        mbarrier: bool,
    },
    /// The oldest operation is done.
    Finish,
    /// Lanes find the phase of the mbarrier over, or the lane that issued the last operation waits for its groups.
    Wait {
        mbarrier: bool,
    },
    Restart,
}

/// Values that are the same now and then.
struct Values(u32);

impl super::Values for Values {
    fn unchanged(&self, lane: usize) -> bool {
        self.0 >> lane & 1 != 0
    }
    fn equal(&self, lane: usize, other: usize) -> Option<bool> {
        ((self.0 >> lane ^ self.0 >> other) & 1 != 0).then_some(true)
    }
}

fn scope() -> impl Strategy<Value = Scope> {
    prop_oneof![Just(Scope::Block), Just(Scope::Cluster)]
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let mask = prop_oneof![
        6 => Just(u32::MAX),
        1 => Just(1u32),
        1 => Just(0xffff),
        1 => any::<u32>().prop_map(|mask| mask | 2)
    ];
    let class = prop_oneof![
        8 => Just(READ),
        6 => Just(WRITE),
        1 => Just(ATOMIC),
        1 => Just(STRONG_READ),
        1 => Just(STRONG_WRITE),
        1 => Just(class(AccessKind::Atomic, Order::AcquireRelease)),
        1 => Just(class(AccessKind::Read, Order::Acquire)),
        1 => Just(class(AccessKind::Write, Order::Release))
    ];
    let class = (class, scope()).prop_map(|(class, scope)| AccessClass { scope, ..class });
    let layout = prop_oneof![
        4 => Just(Layout::Consecutive),
        2 => Just(Layout::Same),
        1 => Just(Layout::Runs { lanes: 8, apart: true }),
        1 => Just(Layout::Runs { lanes: 16, apart: false }),
        2 => Just(Layout::Strided),
        1 => Just(Layout::Random)
    ];
    let size = prop_oneof![
        12 => Just(4u32), 2 => Just(8u32), 2 => Just(16u32), 1 => Just(2u32), 1 => Just(1u32)
    ];
    let order = prop_oneof![
        Just(Order::Relaxed),
        Just(Order::Acquire),
        Just(Order::Release),
        Just(Order::AcquireRelease)
    ];
    let kind = prop_oneof![
        Just(AccessKind::Atomic),
        Just(AccessKind::Read),
        Just(AccessKind::Write)
    ];
    let start = prop_oneof![Just(0u32), 0..8u32, 0..256u32];
    let access = (
        class,
        layout,
        size,
        (prop::bool::weighted(0.8), prop::bool::weighted(0.03)),
        start,
        any::<u32>(),
    )
        .prop_map(
            |(class, layout, size, (own, remote), start, seed)| Action::Access {
                class,
                layout,
                size,
                own,
                remote,
                start,
                seed,
            },
        );
    let action = prop_oneof![
        24 => access,
        6 => Just(Action::Barrier),
        1 => any::<bool>().prop_map(|first_waits| Action::Named { first_waits }),
        3 => Just(Action::WarpSync),
        1 => any::<Option<bool>>().prop_map(|between| Action::ClusterBarrier { between }),
        1 => scope().prop_map(Action::Fence),
        4 => (kind.clone(), order, scope(), any::<bool>())
            .prop_map(|(kind, order, scope, same)| Action::Flag { kind, order, scope, same }),
        1 => Just(Action::ProxyFence),
        1 => (kind, 0..64u32, 1..64u32, any::<bool>()).prop_map(|(kind, start, words, mbarrier)|
            Action::Issue { kind, start: start * 4, bytes: words * 4, mbarrier }),
        1 => Just(Action::Finish),
        1 => any::<bool>().prop_map(|mbarrier| Action::Wait { mbarrier }),
        1 => Just(Action::Restart),
    ];
    let step = (0..2u32, 0..WARPS, mask, action).prop_map(|(block, warp, mask, action)| Step {
        block,
        warp,
        mask,
        action,
    });
    proptest::collection::vec(step, 1..STEPS)
}

/// The lanes that there are.
fn lanes(warp: u32) -> u32 {
    let count = (THREADS - warp * 32).min(32);
    u32::MAX >> (32 - count)
}

fn offset(layout: Layout, lane: u32, size: u32, seed: u32) -> u32 {
    match layout {
        Layout::Consecutive => lane * size,
        Layout::Same => 0,
        Layout::Runs { lanes, apart } => {
            lane % lanes * size + if apart { lane / lanes * 256 } else { 0 }
        }
        Layout::Strided => lane * (size + 4),
        Layout::Random => (seed.rotate_left(lane) % 64) * size,
    }
}

/// A checker with the operations that are under way and done.
struct Machine {
    shared: SharedMemory,
    pending: Vec<(AsyncAccess, AsyncTicket)>,
    done: Vec<(AsyncAccess, AsyncTicket)>,
}

impl Machine {
    fn new(mut shared: SharedMemory) -> Machine {
        shared.start();
        Machine {
            shared,
            pending: Vec::new(),
            done: Vec::new(),
        }
    }

    /// The oldest operation is done.
    fn finish(&mut self) {
        if !self.pending.is_empty() {
            let (access, ticket) = self.pending.remove(0);
            self.shared.finish(&access, ticket);
            self.done.push((access, ticket));
        }
    }
}

/// The word of the mbarrier, at the end of a block's memory.
const MBARRIER: u32 = BYTES - 8;

/// Does a step; gives what is found.
fn perform(machine: &mut Machine, blocks: u32, site: u32, step: &Step) -> Option<Finding> {
    let shared = &mut machine.shared;
    let (block, warp) = (step.block % blocks, step.warp);
    let mask = match step.mask & lanes(warp) {
        0 => 1,
        mask => mask,
    };
    match step.action {
        Action::Access {
            class,
            layout,
            size,
            own,
            remote,
            start,
            seed,
        } => {
            let home = if remote { (block + 1) % blocks } else { block };
            let part = if own { warp * BYTES / WARPS } else { 0 };
            let start = (part + start * 4).next_multiple_of(size);
            let last = BYTES - size;
            let offsets = std::array::from_fn(|lane| {
                let offset = start + offset(layout, lane as u32, size, seed);
                home * BYTES + offset.min(last).next_multiple_of(size)
            });
            let access = Access {
                block,
                ..access_by(warp, mask, &offsets, size, class, site)
            };
            return shared.access(&access, &Values(seed));
        }
        Action::Barrier => {
            (0..WARPS).for_each(|warp| shared.arrive(block, 0, warp, lanes(warp), true));
            shared.complete(block, 0);
        }
        Action::Named { first_waits } => {
            shared.arrive(block, 3, 0, u32::MAX, first_waits);
            shared.arrive(block, 3, 1, 0xffff, !first_waits);
            shared.complete(block, 3);
        }
        Action::WarpSync => shared.warp_sync(block, warp, mask),
        Action::ClusterBarrier { between } => {
            for block in 0..blocks {
                (0..WARPS).for_each(|warp| shared.cluster_arrive(block, warp, lanes(warp), true));
            }
            if let Some(remote) = between {
                let home = (block + u32::from(remote)) % blocks;
                let offsets = [home * BYTES + warp * 4; 32];
                let access = Access {
                    block,
                    ..access_by(warp, 1, &offsets, 4, WRITE, site)
                };
                let found = shared.access(&access, &());
                if found.is_some() {
                    return found;
                }
            }
            shared.cluster_complete();
        }
        Action::Fence(scope) => shared.fence(block, warp, mask, scope),
        Action::Flag {
            kind,
            order,
            scope,
            same,
        } => shared.synchronise_globally(&GlobalSynchronisation {
            block,
            warp,
            mask,
            addresses: &std::array::from_fn(|lane| if same { 8 } else { 8 * lane as u64 }),
            kind,
            order,
            scope,
        }),
        Action::ProxyFence => shared.proxy_fence(block, warp, mask, ProxyFence::Async),
        Action::Issue {
            kind,
            start,
            bytes,
            mbarrier,
        } => {
            let home = block * BYTES;
            let access = AsyncAccess {
                block,
                warp,
                lane: mask.trailing_zeros(),
                offset: home + start,
                bytes,
                kind,
                proxy: Proxy::Async,
                site,
                completion: if mbarrier {
                    AsyncCompletion::Mbarrier {
                        offset: home + MBARRIER,
                    }
                } else {
                    AsyncCompletion::BulkGroup
                },
            };
            match shared.issue(&access) {
                Ok(ticket) => machine.pending.push((access, ticket)),
                Err(finding) => return Some(finding),
            }
        }
        Action::Finish => machine.finish(),
        Action::Wait { mbarrier: true } => {
            let wait = AccessClass {
                scope: Scope::Cluster,
                ..class(AccessKind::Atomic, Order::Acquire)
            };
            let offsets = [block * BYTES + MBARRIER; 32];
            let access = Access {
                block,
                ..access_by(warp, mask, &offsets, 8, wait, site)
            };
            return shared.access(&access, &());
        }
        Action::Wait { mbarrier: false } => {
            let (access, ticket) = *machine.done.last()?;
            if access.completion == AsyncCompletion::BulkGroup {
                shared.wait(access.block, access.warp, 1 << access.lane, ticket);
            }
        }
        Action::Restart => {
            while !machine.pending.is_empty() {
                machine.finish();
            }
            machine.done.clear();
            machine.shared.start();
        }
    }
    machine.shared.overdue(false)
}

/// A finding without the earlier read of a race. Of several reads that an access races with, either way may name another one, since
/// they do not forget the same ones: with stamps, what a warp knew when it read is kept as two epochs, and a read that is ordered
/// before the next one by more than those stays. Both name a read that does race, which the model confirms (`oracle`).
fn comparable(finding: Option<Finding>) -> Option<Finding> {
    let mut finding = finding?;
    if let Finding::Race {
        access,
        earlier,
        cause,
        ..
    } = &mut finding
        && !earlier.class.kind.writes()
    {
        (*earlier, *cause) = (*access, RaceCause::Unordered);
    }
    Some(finding)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(CASES) })]

    /// Up to the first race: what is remembered after it does not matter.
    #[test]
    fn stamps_change_nothing(
        steps in steps(),
        (blocks, proxies) in (1..=2u32, any::<bool>()),
        (races, uninitialised) in prop_oneof![Just((true, false)), Just((true, true)), Just((false, true))],
    ) {
        let new = || {
            let shared = SharedMemory::new(blocks, THREADS, BYTES, races, uninitialised);
            if proxies { shared.with_async_proxy() } else { shared }
        };
        let (mut fast, mut slow) = (Machine::new(new()), Machine::new(new().without_stamps()));
        for (site, step) in steps.iter().enumerate() {
            if matches!(step.action, Action::Issue { .. }) && !proxies {
                continue;
            }
            let found = perform(&mut fast, blocks, site as u32, step);
            let expected = perform(&mut slow, blocks, site as u32, step);
            prop_assert_eq!(comparable(found), comparable(expected));
            if found.is_some() {
                break;
            }
        }
        prop_assert_eq!(fast.shared.overdue(true), slow.shared.overdue(true));
    }
}

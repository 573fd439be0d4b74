//! The checker with stamps against the shadow alone, on random programs: every finding is the same.

use proptest::prelude::*;
use warpsmith_isa::effect::{AccessKind, Order, Scope};

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
    Fence,
    Flag {
        kind: AccessKind,
        order: Order,
    },
    Restart,
}

/// Values that are the same now and then.
struct Values(u32);

impl super::Values for Values {
    fn unchanged(&self, lane: usize) -> bool {
        self.0 >> lane & 1 != 0
    }
    fn equal(&self, lane: usize, other: usize) -> bool {
        (self.0 >> lane ^ self.0 >> other) & 1 != 0
    }
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
        1 => Just(Action::Fence),
        2 => (kind, order).prop_map(|(kind, order)| Action::Flag { kind, order }),
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

/// Does a step; gives what is found.
fn perform(shared: &mut SharedMemory, blocks: u32, site: u32, step: &Step) -> Option<Finding> {
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
        Action::Fence => shared.fence(block, warp, mask & mask.wrapping_neg(), Scope::Cluster),
        Action::Flag { kind, order } => shared.synchronise_globally(&GlobalSynchronisation {
            block,
            warp,
            mask,
            addresses: &[8; 32],
            kind,
            order,
            scope: Scope::Device,
        }),
        Action::Restart => shared.start(),
    }
    shared.overdue(false)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(CASES) })]

    /// Up to the first race: what is remembered after it does not matter.
    #[test]
    fn stamps_change_nothing(
        steps in steps(),
        blocks in 1..=2u32,
        (races, uninitialised) in prop_oneof![Just((true, false)), Just((true, true)), Just((false, true))],
    ) {
        let new = || SharedMemory::new(blocks, THREADS, BYTES, races, uninitialised);
        let (mut fast, mut slow) = (new(), new().without_stamps());
        fast.start();
        slow.start();
        for (site, step) in steps.iter().enumerate() {
            let found = perform(&mut fast, blocks, site as u32, step);
            prop_assert_eq!(found, perform(&mut slow, blocks, site as u32, step));
            if found.is_some() {
                break;
            }
        }
        prop_assert_eq!(fast.overdue(true), slow.overdue(true));
    }
}

//! Random programs.

use proptest::prelude::*;
use warpsmith_isa::effect::{AccessKind, Order, Scope};

use super::super::tests::{ATOMIC, READ, STRONG_READ, STRONG_WRITE, WRITE, class};
use super::super::{AccessClass, ProxyFence};
use super::world::{Lanes, WARPS, World};

/// One more than the steps of the longest program.
const STEPS: usize = if cfg!(miri) { 16 } else { 60 };

/// The words of the mbarriers, beyond all that is accessed otherwise.
pub const MBARRIERS: [u32; 2] = [250, 252];

/// A step of a program. Blocks and memories are counted modulo those that there are.
#[derive(Clone, Copy, Debug)]
pub enum Step {
    Access {
        by: Lanes,
        class: AccessClass,
        /// In which memory.
        home: u32,
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
        by: Lanes,
    },
    /// The barrier of all threads.
    ClusterBarrier,
    /// By the first lane.
    Fence {
        by: Lanes,
        scope: Scope,
    },
    /// By the first lane.
    Flag {
        by: Lanes,
        class: AccessClass,
        location: u64,
    },
    ProxyFence {
        by: Lanes,
        fence: ProxyFence,
    },
    /// A thread starts an asynchronous operation on some words, counted by an mbarrier or in its group.
    Issue {
        by: Lanes,
        kind: AccessKind,
        home: u32,
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
        by: Lanes,
        mbarrier: u32,
    },
    /// The first lane waits for all its groups.
    WaitForGroups {
        by: Lanes,
    },
}

impl Step {
    /// The same among so many blocks and memories.
    pub fn within(mut self, world: &World) -> Step {
        match &mut self {
            Step::Access { by, home, .. } | Step::Issue { by, home, .. } => {
                by.block %= world.blocks();
                *home %= world.memories();
            }
            Step::WarpSync { by }
            | Step::Fence { by, .. }
            | Step::Flag { by, .. }
            | Step::ProxyFence { by, .. }
            | Step::WaitAt { by, .. }
            | Step::WaitForGroups { by } => by.block %= world.blocks(),
            Step::Barrier { block } | Step::Named { block, .. } => *block %= world.blocks(),
            Step::ClusterBarrier | Step::Finish { .. } => {}
        }
        self
    }
}

fn scope() -> impl Strategy<Value = Scope> {
    prop_oneof![
        Just(Scope::Block),
        Just(Scope::Cluster),
        Just(Scope::Device),
        Just(Scope::System)
    ]
}

fn order() -> impl Strategy<Value = Order> {
    prop_oneof![
        Just(Order::Relaxed),
        Just(Order::Acquire),
        Just(Order::Release),
        Just(Order::AcquireRelease)
    ]
}

fn kind() -> impl Strategy<Value = AccessKind> {
    prop_oneof![
        Just(AccessKind::Atomic),
        Just(AccessKind::Read),
        Just(AccessKind::Write)
    ]
}

fn any_class() -> impl Strategy<Value = AccessClass> {
    let class = prop_oneof![
        Just(READ),
        Just(WRITE),
        Just(ATOMIC),
        Just(STRONG_READ),
        Just(STRONG_WRITE),
        Just(class(AccessKind::Atomic, Order::AcquireRelease)),
        Just(class(AccessKind::Read, Order::Acquire)),
        Just(class(AccessKind::Write, Order::Release))
    ];
    (class, scope()).prop_map(|(class, scope)| AccessClass { scope, ..class })
}

fn lanes() -> impl Strategy<Value = Lanes> {
    let mask = prop_oneof![
        Just(u32::MAX),
        Just(1u32),
        Just(0xffff),
        Just(0x8000_0001),
        any::<u32>().prop_map(|m| m | 2)
    ];
    (0..6u32, 0..WARPS, mask).prop_map(|(block, warp, mask)| Lanes { block, warp, mask })
}

/// One of the first lanes of a warp.
fn lane() -> impl Strategy<Value = Lanes> {
    (0..6u32, 0..WARPS, 0..3u32).prop_map(|(block, warp, lane)| Lanes {
        block,
        warp,
        mask: 1 << lane,
    })
}

/// Programs with strong accesses or without.
pub fn steps(strong: bool) -> impl Strategy<Value = Vec<Step>> {
    let class_of_access = if strong {
        any_class().boxed()
    } else {
        prop_oneof![Just(READ), Just(WRITE)].boxed()
    };
    let reduction = if strong {
        AccessKind::Atomic
    } else {
        AccessKind::Write
    };
    let operation = prop_oneof![
        Just(AccessKind::Read),
        Just(AccessKind::Write),
        Just(reduction)
    ];
    let flag = (kind(), order(), scope()).prop_map(|(kind, order, scope)| AccessClass {
        scope,
        ..class(kind, order)
    });
    let step = prop_oneof![
        8 => (lanes(), class_of_access, 0..2u32, 0..200u32, any::<bool>()).prop_map(|(by, class, home, word, spread)|
            Step::Access { by, class, home, word: if spread { word / 64 * 64 } else { word % 3 }, spread }),
        2 => (0..6u32).prop_map(|block| Step::Barrier { block }),
        1 => (0..6u32, any::<bool>()).prop_map(|(block, first_waits)| Step::Named { block, first_waits }),
        3 => lanes().prop_map(|by| Step::WarpSync { by }),
        1 => Just(Step::ClusterBarrier),
        2 => (lane(), scope()).prop_map(|(by, scope)| Step::Fence { by, scope }),
        3 => (lane(), flag, 0..2u64).prop_map(|(by, class, location)| Step::Flag { by, class, location }),
        2 => (lanes(), prop_oneof![3 => Just(ProxyFence::Async), 1 => Just(ProxyFence::MbarrierInit)])
            .prop_map(|(by, fence)| Step::ProxyFence { by, fence }),
        2 => (lane(), operation, 0..2u32, 0..40u32, 1..=8u32, prop::option::of(0..2u32)).prop_map(
            |(by, kind, home, word, words, mbarrier)| Step::Issue { by, kind, home, word, words, mbarrier }),
        2 => any::<usize>().prop_map(|which| Step::Finish { which }),
        2 => (lanes(), 0..2u32).prop_map(|(by, mbarrier)| Step::WaitAt { by, mbarrier }),
        1 => lane().prop_map(|by| Step::WaitForGroups { by }),
    ];
    proptest::collection::vec(step, 1..STEPS)
}

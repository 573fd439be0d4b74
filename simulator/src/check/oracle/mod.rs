//! The checker against plain vector clocks and a full history of accesses, on random programs: that of shared memory, and the same
//! algorithm with other stores of cells and other numbers of threads.

use proptest::prelude::*;
use warpsmith_isa::effect::{AccessKind, Order, Proxy, Scope};

use super::tests::{access_by, class};
use super::*;

mod model;
mod program;
mod subject;
mod world;

use model::{Flag, Model, Operation, Race};
use program::{MBARRIERS, Step, steps};
use subject::{Devices, Subject, cluster};
use world::{Lanes, THREADS, WARPS, World, threads};

const CASES: u32 = warpsmith_testkit::cases(1500);

/// What is found in a step: the races that there are, and what the checker names.
struct Outcome {
    step: usize,
    races: Vec<Race>,
    found: Option<Finding>,
}

impl Outcome {
    /// Whether the checker reports no more than there is: a race that the model knows.
    fn is_sound(&self) -> bool {
        match &self.found {
            None => true,
            Some(Finding::Race {
                access, earlier, ..
            }) => {
                let thread = |access: &ThreadAccess| {
                    access.block as usize * THREADS + access.thread as usize
                };
                let named = (thread(access), thread(earlier), earlier.site);
                self.races.contains(&named)
            }
            Some(_) => false,
        }
    }
}

/// The lanes of both warps of a block.
fn warps(block: u32) -> impl Iterator<Item = Lanes> {
    (0..WARPS).map(move |warp| Lanes {
        block,
        warp,
        mask: !0,
    })
}

/// Runs a program on both until the first race.
fn run(steps: &[Step], world: &World, subject: &mut impl Subject) -> Option<Outcome> {
    let mut model = Model::new(world);
    for (at, step) in steps.iter().enumerate() {
        let site = at as u32;
        let (races, found) = perform(step.within(world), site, world, &mut model, subject);
        if found.is_some() || !races.is_empty() {
            return Some(Outcome {
                step: at,
                races,
                found,
            });
        }
    }
    None
}

fn perform(
    step: Step,
    site: u32,
    world: &World,
    model: &mut Model,
    subject: &mut impl Subject,
) -> (Vec<Race>, Option<Finding>) {
    match step {
        Step::Access {
            by,
            class,
            home,
            word,
            spread,
        } => {
            let word_of = |lane: usize| word + if spread { lane as u32 } else { 0 };
            let offsets = std::array::from_fn(|lane| word_of(lane) * 4);
            let access = Access {
                block: by.block,
                ..access_by(by.warp, by.mask, &offsets, 4, class, site)
            };
            let found = subject.access(home, &access);
            let mut races = Vec::new();
            for thread in threads(by) {
                let word = (home, word_of(thread % 32));
                races.extend(model.access(thread, (class, site), word, None));
            }
            if races.is_empty() && class.is_strong() {
                for thread in threads(by) {
                    let flag = Flag::Word(home, word_of(thread % 32));
                    model.synchronise(thread, flag, class);
                }
            }
            return (races, found);
        }
        Step::Issue {
            by,
            kind,
            home,
            word,
            words,
            mbarrier,
        } => {
            let completion = mbarrier.map_or(AsyncCompletion::BulkGroup, |number| {
                AsyncCompletion::Mbarrier {
                    offset: MBARRIERS[number as usize] * 4,
                }
            });
            let access = AsyncAccess {
                block: by.block,
                warp: by.warp,
                lane: by.mask.trailing_zeros(),
                offset: word * 4,
                bytes: words * 4,
                kind,
                proxy: Proxy::Async,
                site,
                completion,
            };
            let thread = threads(by)[0];
            let number = model.operations.len();
            let mut races = Vec::new();
            for word in word..word + words {
                let class = (access.class(), site);
                races.extend(model.access(thread, class, (home, word), Some(number)));
            }
            let ticket = match subject.issue(home, &access) {
                Ok(ticket) => ticket,
                Err(found) => return (races, Some(found)),
            };
            if let Some(number) = mbarrier {
                model.start_operation(thread, flag_of(number));
            }
            model.operations.push(Operation {
                access,
                thread,
                ticket,
                is_done: false,
            });
            return (races, None);
        }
        Step::Barrier { block } => {
            warps(block).for_each(|warp| subject.arrive(warp, 0, true));
            subject.complete(block, 0);
            let all: Vec<usize> = warps(block).flat_map(threads).collect();
            model.sync(&all, &all);
        }
        Step::Named { block, first_waits } => {
            // One warp waits for half of the other.
            let [first, second] = [0, 1].map(|warp| Lanes {
                block,
                warp,
                mask: if warp == 0 { !0 } else { 0xffff },
            });
            subject.arrive(first, 3, first_waits);
            subject.arrive(second, 3, !first_waits);
            subject.complete(block, 3);
            let (first, second) = (threads(first), threads(second));
            let from: Vec<usize> = first.iter().chain(&second).copied().collect();
            model.sync(&from, if first_waits { &first } else { &second });
        }
        Step::WarpSync { by } => {
            subject.warp_sync(by);
            model.sync(&threads(by), &threads(by));
        }
        Step::ClusterBarrier => {
            let all = (0..world.blocks()).flat_map(warps);
            all.for_each(|warp| subject.arrive_at_all(warp));
            subject.complete_all();
            let all: Vec<usize> = (0..world.threads()).collect();
            model.sync(&all, &all);
        }
        Step::Fence { by, scope } => {
            subject.fence(by, scope);
            model.fence(threads(by)[0], scope);
        }
        Step::Flag {
            by,
            class,
            location,
        } => {
            subject.flag(by, class, location);
            model.synchronise(threads(by)[0], Flag::Global(location), class);
        }
        Step::ProxyFence { by, fence } => {
            subject.proxy_fence(by, fence);
            let lanes = threads(by);
            lanes.iter().for_each(|&t| model.proxy_fence(t, fence));
        }
        Step::Finish { which } => {
            let pending: Vec<usize> = (0..model.operations.len())
                .filter(|&number| !model.operations[number].is_done)
                .collect();
            if let Some(&number) = pending.get(which % pending.len().max(1)) {
                finish(number, model, subject);
            }
        }
        Step::WaitAt { by, mbarrier } => {
            let wait = AccessClass {
                scope: Scope::System,
                ..class(AccessKind::Read, Order::Acquire)
            };
            let offsets = [MBARRIERS[mbarrier as usize] * 4; 32];
            let access = Access {
                block: by.block,
                ..access_by(by.warp, by.mask, &offsets, 8, wait, site)
            };
            subject.test(&access);
            for thread in threads(by) {
                model.synchronise(thread, flag_of(mbarrier), wait);
            }
        }
        Step::WaitForGroups { by } => {
            let thread = threads(by)[0];
            for number in 0..model.operations.len() {
                let operation = &model.operations[number];
                if operation.thread == thread
                    && operation.access.completion == AsyncCompletion::BulkGroup
                    && !operation.is_done
                {
                    finish(number, model, subject);
                }
            }
            if let Some(ticket) = model.wait_for_groups(thread) {
                subject.wait(by, ticket);
            }
        }
    }
    (Vec::new(), None)
}

/// The flag that an mbarrier is.
fn flag_of(mbarrier: u32) -> Flag {
    Flag::Mbarrier(mbarrier)
}

/// An operation is done.
fn finish(number: usize, model: &mut Model, subject: &mut impl Subject) {
    let operation = &mut model.operations[number];
    operation.is_done = true;
    let completion = operation.access.completion;
    subject.finish(&operation.access, operation.ticket);
    if let Some(mbarrier) = MBARRIERS
        .iter()
        .position(|word| completion == AsyncCompletion::Mbarrier { offset: word * 4 })
    {
        model.count(completion, flag_of(mbarrier as u32));
    }
}

/// A cluster of so many blocks.
fn cluster_of(blocks: u32) -> World {
    World {
        clusters: vec![1],
        blocks,
    }
}

/// Two clusters of two blocks on the first device, one on the second.
fn two_devices() -> World {
    World {
        clusters: vec![2, 1],
        blocks: 2,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(CASES) })]

    /// With plain accesses only, the first race is found exactly where it is.
    #[test]
    fn finds_the_first_race(steps in steps(false)) {
        for world in [cluster_of(1), cluster_of(2)] {
            if let Some(outcome) = run(&steps, &world, &mut cluster(&world)) {
                prop_assert!(outcome.found.is_some() && outcome.is_sound(), "step {}: {:?}", outcome.step, outcome.found);
            }
        }
    }

    /// With atomics too, nothing is reported that is no race. (Of unordered atomics only the last is remembered.)
    #[test]
    fn reports_only_races(steps in steps(true)) {
        for world in [cluster_of(1), cluster_of(2)] {
            if let Some(outcome) = run(&steps, &world, &mut cluster(&world)) {
                prop_assert!(outcome.is_sound(), "step {}: {:?}", outcome.step, outcome.found);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(CASES / 4) })]

    /// The same of the memories of two devices.
    #[test]
    fn finds_the_first_race_on_devices(steps in steps(false)) {
        let world = two_devices();
        if let Some(outcome) = run(&steps, &world, &mut Devices::new(&world)) {
            prop_assert!(outcome.found.is_some() && outcome.is_sound(), "step {}: {:?}", outcome.step, outcome.found);
        }
    }

    #[test]
    fn reports_only_races_on_devices(steps in steps(true)) {
        let world = two_devices();
        if let Some(outcome) = run(&steps, &world, &mut Devices::new(&world)) {
            prop_assert!(outcome.is_sound(), "step {}: {:?}", outcome.step, outcome.found);
        }
    }
}

/// A write without a proxy fence does not matter any more when another one, with a fence, has taken its place.
#[test]
fn a_write_that_was_replaced_needs_no_proxy_fence() {
    let lanes = |block, mask| Lanes {
        block,
        warp: 0,
        mask,
    };
    let write = |by| Step::Access {
        by,
        class: AccessClass {
            kind: AccessKind::Write,
            order: Order::Weak,
            scope: Scope::Block,
            proxy: Proxy::Generic,
        },
        home: 0,
        word: 0,
        spread: true,
    };
    let by = lanes(0, 1 << 31 | 1);
    let read = Step::Issue {
        by: lanes(0, 1),
        kind: AccessKind::Read,
        home: 0,
        word: 31,
        words: 1,
        mbarrier: None,
    };
    let fence = Step::ProxyFence {
        by,
        fence: ProxyFence::Async,
    };
    let first = [write(lanes(1, !0)), Step::ClusterBarrier];
    let barrier = Step::Barrier { block: 0 };
    let world = cluster_of(2);
    let replaced = [&first[..], &[write(by), fence, barrier, read]].concat();
    assert!(run(&replaced, &world, &mut cluster(&world)).is_none());
    // The fence of a thread that wrote nothing is none for what another one wrote.
    let kept = [&first[..], &[fence, barrier, read]].concat();
    let outcome = run(&kept, &world, &mut cluster(&world)).expect("a race");
    assert!(outcome.found.is_some() && outcome.is_sound());
}

/// Threads whose numbers do not fit into 16 bits are told apart.
#[test]
#[cfg_attr(miri, ignore = "takes minutes: a model this large, in safe code")]
fn threads_beyond_those_of_a_cluster_have_numbers_of_their_own() {
    let world = World {
        clusters: vec![600, 600],
        blocks: 1,
    };
    let mut devices = Devices::new(&world);
    // Modulo 2^16, both are the same thread.
    let blocks = [1, 1 + (1 << 16) / THREADS as u32];
    let mut access = |block, class| {
        let offsets = [64; 32];
        let access = Access {
            block,
            ..access_by(1, 1, &offsets, 4, class, block)
        };
        devices.access(0, &access)
    };
    assert_eq!(access(blocks[0], super::tests::WRITE), None);
    let Some(Finding::Race {
        access, earlier, ..
    }) = access(blocks[1], super::tests::READ)
    else {
        panic!("the two are not ordered");
    };
    assert_eq!((access.block, earlier.block), (blocks[1], blocks[0]));
    assert_eq!((access.thread, earlier.thread), (32, 32));
}

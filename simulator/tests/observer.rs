//! The observer seam: what an observer is told, and that a seed repeats a run exactly.

mod support;

use std::sync::atomic::AtomicU64;

use support::{Memory, Nothing};
use warpsmith_isa::effect::{AccessKind, Space};
use warpsmith_simulator::engine::observe::{Access, Arrival, At, LaunchEvent, Observer};
use warpsmith_simulator::engine::{Environment, Launch, Module, run};
use warpsmith_testkit::Lines;

/// Each thread puts its number into shared memory; behind a barrier, odd threads add their neighbour's to a counter.
const PTX: &str = warpsmith_testkit::ptx!(
    "7.8",
    "sm_90",
    "
.visible .entry sum(.param .u64 counter)
{
    .shared .align 4 .b8 tile[256];
    .reg .pred %p<2>; .reg .b32 %r<6>; .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [counter];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, tile;
    mad.lo.u32 %r2, %r1, 4, %r2;
    st.shared.u32 [%r2], %r1;
    bar.sync 0;
    and.b32 %r3, %r1, 1;
    setp.eq.u32 %p1, %r3, 0;
    @%p1 bra DONE;
    ld.shared.u32 %r4, [%r2+-4];
    red.global.add.u32 [%rd1], %r4;
DONE:
    ret;
}"
);

/// Writes down everything.
#[derive(Default)]
struct Recorder {
    lines: Lines,
}

fn place(at: &At<'_>) -> String {
    format!("{:?} {} {:08x} {}", at.block, at.warp, at.lanes, at.name())
}

impl Observer for Recorder {
    fn launch(&self, launch: &LaunchEvent<'_>) {
        let LaunchEvent {
            kernel,
            grid,
            block,
            ..
        } = launch;
        self.lines
            .push(format!("launch {kernel} {grid:?} {block:?}"));
    }

    fn step(&self, at: &At<'_>) {
        self.lines.push(format!("step {}", place(at)));
    }

    fn branch(&self, at: &At<'_>, of: u32) {
        self.lines.push(format!("branch {} of {of:08x}", place(at)));
    }

    fn access(&self, at: &At<'_>, access: &Access<'_>) {
        let lane = at.lanes.trailing_zeros() as usize;
        assert_ne!(access.addresses[lane], 0);
        self.lines.push(format!(
            "access {} {:?} {:?} {}",
            place(at),
            access.kind,
            access.space,
            access.size
        ));
    }

    fn barrier(&self, at: &At<'_>, arrival: &Arrival) {
        let (barrier, completes) = (arrival.barrier, arrival.completes);
        let end = if completes { "complete" } else { "open" };
        self.lines
            .push(format!("barrier {} {barrier:?} {end}", place(at)));
    }
}

/// Runs the kernel; its sum, and the instructions that were executed.
fn sum(observer: Option<&dyn Observer>, seed: u64, blocks: u32) -> (u64, u64) {
    let module = Module::load(PTX, &mut |_| None).expect("the module loads");
    let memory = Memory {
        words: vec![0; 512],
        generation: AtomicU64::new(0),
    };
    let address = memory.words.as_ptr().expose_provenance() as u64;
    let environment = Environment {
        seed,
        threads: 2,
        observer,
        ..Environment::new(&memory, &Nothing)
    };
    let launch = Launch {
        kernel: module.kernel("sum").expect("the kernel is there"),
        grid: [blocks, 1, 1],
        block: [64, 1, 1],
        cluster: [1; 3],
        dynamic_shared: 0,
        cooperative: false,
        params: &address.to_le_bytes(),
    };
    let statistics = run(&launch, &environment).unwrap_or_else(|fault| panic!("{fault}"));
    // SAFETY: the first word of the memory, which the kernel no longer accesses.
    let sum = unsafe { memory.words.as_ptr().read_volatile() };
    (sum, statistics.warp_instructions)
}

#[test]
fn an_observer_is_told_of_every_step_access_branch_and_barrier() {
    let recorder = Recorder::default();
    let (result, instructions) = sum(Some(&recorder), 0, 1);
    assert_eq!(result, (0..64).step_by(2).sum::<u64>());
    let lines = &recorder.lines;
    let launch = "launch sum [1, 1, 1] [64, 1, 1]";
    assert_eq!((lines.count("launch", ""), lines.count(launch, "")), (1, 1));
    // The branch that no lane takes is counted, but nobody executes it.
    assert_eq!(lines.count("step", "") as u64, instructions);
    assert_eq!(lines.count("barrier", ""), 2);
    assert_eq!(lines.count("barrier", "Block { number: 0 } complete"), 1);
    // Half of each warp's lanes jump.
    assert_eq!(lines.count("branch", ""), 2);
    assert_eq!(lines.count("branch", "55555555 bra of ffffffff"), 2);
    // A store, a load and a reduction for each of the two warps.
    let accesses =
        |kind: AccessKind, space: Space| lines.count("access", &format!("{kind:?} {space:?} 4"));
    assert_eq!(accesses(AccessKind::Write, Space::Shared), 2);
    assert_eq!(accesses(AccessKind::Read, Space::Shared), 2);
    assert_eq!(accesses(AccessKind::Atomic, Space::Global), 2);
}

#[test]
fn an_observer_changes_nothing() {
    let recorder = Recorder::default();
    assert_eq!(sum(Some(&recorder), 0, 4), sum(None, 0, 4));
}

#[test]
fn a_seed_repeats_a_run_exactly_and_another_one_does_not() {
    let trace = |seed| {
        let recorder = Recorder::default();
        sum(Some(&recorder), seed, 8);
        recorder.lines.take()
    };
    assert_eq!(trace(7), trace(7));
    assert_ne!(trace(7), trace(8));
}

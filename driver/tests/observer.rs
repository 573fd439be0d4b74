//! Observers of kernels that are launched through the driver's functions, on the simulator.

mod common;
use common::*;

use std::sync::Arc;

use warpsmith_abi::fault::FaultKind;
use warpsmith_driver::fault;
use warpsmith_simulator::observe::{
    self, Access, Arrival, At, LaunchEvent, Observer, Statistics, UnknownContext,
};
use warpsmith_testkit::Lines;

const PTX: &core::ffi::CStr = c"
.version 7.8
.target sm_90
.address_size 64
.visible .entry neighbours(.param .u64 out)
{
    .shared .align 4 .b8 tile[128];
    .reg .pred %p<2>; .reg .b32 %r<4>; .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, tile;
    mad.lo.u32 %r2, %r1, 4, %r2;
    st.shared.u32 [%r2], %r1;
    bar.sync 0;
    setp.lt.u32 %p1, %r1, 8;
    @%p1 bra DONE;
    ld.shared.u32 %r3, [%r2+-4];
    red.global.add.u32 [%rd1], %r3;
DONE:
    ret;
}
.visible .entry wait_for(.param .u64 flag)
{
    .reg .pred %p<2>; .reg .b32 %r<2>; .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [flag];
AGAIN:
    ld.acquire.sys.global.u32 %r1, [%rd1];
    setp.eq.u32 %p1, %r1, 0;
    @%p1 bra AGAIN;
    ret;
}
.visible .entry trap_at_once(.param .u64 unused)
{
    trap;
    ret;
}
";

/// Launches a kernel with 32 threads and one pointer in a stream of the current context.
fn launch(kernel: &core::ffi::CStr, stream: CUstream, pointer: CUdeviceptr) {
    let module: CUmodule = get!(cuModuleLoadData(PTX.as_ptr().cast()));
    let function: CUfunction = get!(cuModuleGetFunction(module, kernel.as_ptr()));
    let mut pointer = pointer;
    let mut parameters: [*mut c_void; 1] = [(&raw mut pointer).cast()];
    ok!(cuLaunchKernel(
        function,
        1,
        1,
        1,
        32,
        1,
        1,
        0,
        stream,
        parameters.as_mut_ptr(),
        null_mut()
    ));
}

/// Runs `neighbours` in the current context and checks its result.
fn run_neighbours() {
    let out = upload(&[0u32]);
    launch(c"neighbours", null_mut(), out);
    ok!(cuCtxSynchronize());
    assert_eq!(download::<u32>(out, 1), [(7..31).sum::<u32>()]);
}

/// Writes down what it is told, each line behind its name.
struct Recorder {
    name: &'static str,
    lines: Arc<Lines>,
}

impl Recorder {
    fn new(name: &'static str, lines: &Arc<Lines>) -> Arc<Recorder> {
        Arc::new(Recorder {
            name,
            lines: lines.clone(),
        })
    }

    fn note(&self, text: String) {
        self.lines.push(format!("{} {text}", self.name));
    }
}

impl Observer for Recorder {
    fn launch(&self, launch: &LaunchEvent<'_>) {
        self.note(format!("launch {} {:?}", launch.kernel, launch.block));
    }

    fn step(&self, at: &At<'_>) {
        self.note(format!("step {}", at.name()));
    }

    fn branch(&self, at: &At<'_>, of: u32) {
        self.note(format!("branch {:08x} of {of:08x}", at.lanes));
    }

    fn access(&self, at: &At<'_>, access: &Access<'_>) {
        self.note(format!(
            "access {:08x} {:?} {:?} {}",
            at.lanes, access.kind, access.space, access.size
        ));
    }

    fn barrier(&self, at: &At<'_>, arrival: &Arrival) {
        self.note(format!("barrier {:08x} {}", at.lanes, arrival.completes));
    }

    fn finished(
        &self,
        launch: &LaunchEvent<'_>,
        outcome: Result<Statistics, &warpsmith_abi::fault::Fault>,
    ) {
        let outcome = match outcome {
            Ok(statistics) => statistics.warp_instructions.to_string(),
            Err(fault) => format!("{:?}", fault.kind),
        };
        self.note(format!("finished {} {outcome}", launch.kernel));
    }
}

/// What an observer of one run of `neighbours` is told.
fn neighbours_lines(name: &str) -> Vec<String> {
    [
        "launch neighbours [32, 1, 1]",
        "step ld.param.u64",
        "step mov.u32",
        "step mov.u32",
        "step mad.lo.u32",
        "step st.shared.u32",
        "access ffffffff Write Shared 4",
        "step bar.sync",
        "barrier ffffffff true",
        "step setp.lt.u32",
        "step bra",
        "branch 000000ff of ffffffff",
        "step ld.shared.u32",
        "access ffffff00 Read Shared 4",
        "step red.global.add.u32",
        "access ffffff00 Atomic Global 4",
        "step ret",
        "finished neighbours 11",
    ]
    .map(|line| format!("{name} {line}"))
    .to_vec()
}

#[test]
fn an_observer_is_told_what_a_launched_kernel_does_until_it_is_removed() {
    let _turn = turn();
    if gpu() == Backend::Cuda {
        return;
    }
    let lines = Arc::<Lines>::default();
    let registration = observe::register(Recorder::new("all", &lines));
    run_neighbours();
    assert_eq!(lines.take(), neighbours_lines("all"));

    drop(registration);
    run_neighbours();
    assert_eq!(lines.take(), [""; 0]);
    assert_eq!(Arc::strong_count(&lines), 1, "the observer is gone");
}

#[test]
fn an_observer_of_a_context_is_told_of_its_launches_alone() {
    let _turn = turn();
    if gpu() == Backend::Cuda {
        return;
    }
    let first: CUcontext = get!(cuCtxCreate_v2(0, 0));
    let second: CUcontext = get!(cuCtxCreate_v2(0, 0));
    let lines = Arc::<Lines>::default();
    let of_second = observe::register_for_context(second, Recorder::new("second", &lines))
        .expect("the context is there");
    let of_all = observe::register(Recorder::new("all", &lines));

    ok!(cuCtxSetCurrent(first));
    run_neighbours();
    assert_eq!(lines.take(), neighbours_lines("all"));

    // Each event goes to both, first to the one that was registered first.
    ok!(cuCtxSetCurrent(second));
    run_neighbours();
    let each = neighbours_lines("second")
        .into_iter()
        .zip(neighbours_lines("all"));
    let both: Vec<String> = each.flat_map(|(second, all)| [second, all]).collect();
    assert_eq!(lines.take(), both);

    drop(of_all);
    run_neighbours();
    assert_eq!(lines.take(), neighbours_lines("second"));

    ok!(cuCtxDestroy_v2(second));
    let again = observe::register_for_context(second, Recorder::new("late", &lines));
    assert_eq!(again.err(), Some(UnknownContext));
    let nowhere = observe::register_for_context(null_mut(), Recorder::new("nowhere", &lines));
    assert_eq!(nowhere.err(), Some(UnknownContext));
    ok!(cuCtxSetCurrent(first));
    run_neighbours();
    drop(of_second);
    assert_eq!(lines.take(), [""; 0]);
    ok!(cuCtxDestroy_v2(first));
}

#[test]
fn a_leaked_registration_stays() {
    let _turn = turn();
    if gpu() == Backend::Cuda {
        return;
    }
    let context: CUcontext = get!(cuCtxCreate_v2(0, 0));
    let lines = Arc::<Lines>::default();
    let registration = observe::register_for_context(context, Recorder::new("leaked", &lines));
    std::mem::forget(registration);
    for _ in 0..2 {
        run_neighbours();
        assert_eq!(lines.take(), neighbours_lines("leaked"));
    }
    ok!(cuCtxDestroy_v2(context));
}

#[test]
fn a_launch_keeps_the_observers_that_it_began_with() {
    let _turn = turn();
    if gpu() == Backend::Cuda {
        return;
    }
    let flag = pinned::<u32>(1);
    let stream = stream();
    let lines = Arc::<Lines>::default();
    let early = observe::register(Recorder::new("early", &lines));
    launch(c"wait_for", stream, flag as CUdeviceptr);
    while lines.is_empty() {
        std::thread::yield_now();
    }
    let late = observe::register(Recorder::new("late", &lines));
    drop(early);
    lines.take();
    // SAFETY: page-locked memory of this size, aligned, which lives to the end of the process; the kernel reads it at the same time.
    unsafe { &*flag.cast::<std::sync::atomic::AtomicU32>() }
        .store(1, std::sync::atomic::Ordering::Release);
    ok!(cuStreamSynchronize(stream));
    drop(late);

    let lines = lines.take();
    assert!(lines.iter().all(|line| line.starts_with("early ")));
    let last = lines.last().expect("the end, at least");
    assert!(last.starts_with("early finished wait_for "), "{last}");
}

#[test]
fn an_observer_learns_of_the_fault_that_stops_a_launch() {
    let _turn = turn();
    if gpu() == Backend::Cuda {
        return;
    }
    assert!(warpsmith_driver::configure_simulator("stderr", "off"));
    let context: CUcontext = get!(cuCtxCreate_v2(0, 0));
    let lines = Arc::<Lines>::default();
    let registration = observe::register(Recorder::new("all", &lines));
    launch(c"trap_at_once", null_mut(), 0);
    fails!(719, cuCtxSynchronize());
    drop(registration);
    let last = lines.take().pop();
    assert_eq!(last.as_deref(), Some("all finished trap_at_once Trap"));
    ok!(cuCtxDestroy_v2(context));
}

/// Panics at the first barrier.
struct Panicking;

impl Observer for Panicking {
    fn barrier(&self, _: &At<'_>, _: &Arrival) {
        panic!("a panic on purpose");
    }
}

#[test]
fn a_panic_of_an_observer_is_the_error_of_the_context() {
    let _turn = turn();
    if gpu() == Backend::Cuda {
        return;
    }
    assert!(warpsmith_driver::configure_simulator("stderr", "off"));
    let context: CUcontext = get!(cuCtxCreate_v2(0, 0));
    let out = upload(&[0u32]);
    let registration = observe::register(Arc::new(Panicking));
    launch(c"neighbours", null_mut(), out);
    fails!(999, cuCtxSynchronize());
    drop(registration);
    let fault = fault(context).expect("a panic is a fault");
    assert_eq!(fault.kind, FaultKind::Other);
    assert_eq!(
        fault.message,
        "an observer panicked, which stopped kernel `neighbours`: a panic on purpose"
    );
    ok!(cuCtxDestroy_v2(context));
    gpu();
    run_neighbours();
}

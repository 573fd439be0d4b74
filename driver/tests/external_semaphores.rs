//! Semaphores of other program interfaces, imported by a file descriptor. No GPU knows those that a test can make, so what they do is shown
//! on the simulator.

mod common;
use std::os::fd::{AsRawFd, IntoRawFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicU64, Ordering};

use common::graphs::{fill_node, graph, instantiate, launch};
use common::*;
use rustix::event::EventfdFlags;
use rustix::fs::{MemfdFlags, SealFlags};
use warpsmith_driver::fault;
use warpsmith_testkit::process::{is_child, run_in_child};

const OPAQUE: u32 = 1;
const TIMELINE: u32 = 9;

type SignalParameters = CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS;
type WaitParameters = CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS;

/// A binary semaphore of another interface. Children have it, too.
struct Binary(OwnedFd);

impl Binary {
    fn new() -> Self {
        Self(rustix::event::eventfd(0, EventfdFlags::NONBLOCK).expect("the system has room"))
    }

    fn import(&self) -> CUexternalSemaphore {
        import(OPAQUE, self.0.try_clone().expect("there are numbers left"))
    }

    fn signal(&self) {
        let written = rustix::io::write(&self.0, &1_u64.to_ne_bytes());
        assert_eq!(written, Ok(8));
    }

    /// Waits for it without a wait: whether it was signalled.
    fn take(&self) -> bool {
        rustix::io::read(&self.0, &mut [0_u8; 8]).is_ok()
    }

    fn wait(&self) {
        while !self.take() {
            std::thread::yield_now();
        }
    }
}

/// A timeline semaphore of another interface. Children have it, too.
struct Timeline(OwnedFd);

impl Timeline {
    fn new() -> Self {
        let file = rustix::fs::memfd_create("timeline", MemfdFlags::ALLOW_SEALING);
        let file = file.expect("the system has room");
        rustix::fs::ftruncate(&file, 8).expect("the system has room");
        rustix::fs::fcntl_add_seals(&file, SealFlags::SHRINK).expect("it can be sealed");
        Self(file)
    }

    fn import(&self) -> CUexternalSemaphore {
        import(
            TIMELINE,
            self.0.try_clone().expect("there are numbers left"),
        )
    }

    fn value(&self) -> u64 {
        let mut bytes = [0; 8];
        rustix::io::pread(&self.0, &mut bytes, 0).expect("it is open");
        u64::from_ne_bytes(bytes)
    }

    fn signal(&self, value: u64) {
        rustix::io::pwrite(&self.0, &value.to_ne_bytes(), 0).expect("it is open");
    }

    fn wait(&self, value: u64) {
        while self.value() < value {
            std::thread::yield_now();
        }
    }
}

fn description(kind: u32, descriptor: RawFd) -> CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC {
    CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC {
        type_: CUexternalSemaphoreHandleType_enum(kind),
        handle: CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC_st__bindgen_ty_1 { fd: descriptor },
        ..Default::default()
    }
}

fn import(kind: u32, descriptor: OwnedFd) -> CUexternalSemaphore {
    get!(cuImportExternalSemaphore(&description(
        kind,
        descriptor.into_raw_fd()
    )))
}

fn signal_to(value: u64) -> SignalParameters {
    let mut parameters = SignalParameters::default();
    parameters.params.fence.value = value;
    parameters
}

fn wait_for(value: u64) -> WaitParameters {
    let mut parameters = WaitParameters::default();
    parameters.params.fence.value = value;
    parameters
}

fn signal(semaphore: CUexternalSemaphore, value: u64, stream: CUstream) {
    ok!(cuSignalExternalSemaphoresAsync(
        &semaphore,
        &signal_to(value),
        1,
        stream
    ));
}

fn wait(semaphore: CUexternalSemaphore, value: u64, stream: CUstream) {
    ok!(cuWaitExternalSemaphoresAsync(
        &semaphore,
        &wait_for(value),
        1,
        stream
    ));
}

fn is_idle(stream: CUstream) -> bool {
    // SAFETY: the stream lives.
    unsafe { cuStreamQuery(stream) }.0 == 0
}

/// Whether a number is that of an open descriptor of the file of this name. Other tests may have one of its number.
fn is_open(number: RawFd, name: &str) -> bool {
    std::fs::read_link(format!("/proc/self/fd/{number}"))
        .is_ok_and(|file| file.to_string_lossy().contains(name))
}

/// What a refused import answers. The descriptor stays the test's where it was not looked at.
fn refused(kind: u32, descriptor: RawFd) -> u32 {
    let mut none: CUexternalSemaphore = null_mut();
    // SAFETY: both pointers are valid during the call; the descriptor is the test's, or none.
    let answer = unsafe { cuImportExternalSemaphore(&mut none, &description(kind, descriptor)) };
    assert_ne!(answer.0, 0, "kind {kind}");
    answer.0
}

// covers: INTEROP-09, INTEROP-14
#[test]
fn a_file_that_is_no_semaphore_is_refused_by_name() {
    let backend = gpu();
    for kind in [OPAQUE, TIMELINE] {
        let file = std::fs::File::open("/proc/self/exe").expect("it is there");
        let number = OwnedFd::from(file).into_raw_fd();
        let answer = refused(kind, number);
        let name = warpsmith_driver::error::name(CUresult(answer));
        assert!(name.starts_with("CUDA_ERROR_"), "{name}");
        if backend == Backend::Simulator {
            assert_eq!(answer, 999);
            let program = std::fs::read_link("/proc/self/exe").expect("a link");
            let program = program.to_str().expect("a path in UTF-8");
            assert!(!is_open(number, program), "the driver has closed it");
        }
        for none in [-1, 1_000_000] {
            let answer = refused(kind, none);
            assert!(backend == Backend::Cuda || answer == 999);
        }
    }
    // None of these is looked at.
    let own = Timeline::new();
    for kind in [0, 77] {
        assert_eq!(refused(kind, own.0.as_raw_fd()), 1, "kind {kind}");
    }
    fails!(
        1,
        cuImportExternalSemaphore(null_mut(), &description(OPAQUE, own.0.as_raw_fd()))
    );
    assert!(is_open(own.0.as_raw_fd(), "timeline"));
}

// covers: INTEROP-09, INTEROP-12
#[test]
fn what_the_simulator_takes_is_what_any_process_can_make() {
    if gpu() == Backend::Cuda {
        return;
    }
    let blocking = rustix::event::eventfd(0, EventfdFlags::CLOEXEC).expect("there is room");
    assert_eq!(refused(OPAQUE, blocking.into_raw_fd()), 999);
    let unsealed = rustix::fs::memfd_create("unsealed", MemfdFlags::CLOEXEC);
    let unsealed = unsealed.expect("there is room");
    rustix::fs::ftruncate(&unsealed, 8).expect("there is room");
    assert_eq!(refused(TIMELINE, unsealed.into_raw_fd()), 999);
    // The one is not the other.
    let number = Timeline::new().0.into_raw_fd();
    assert_eq!(refused(OPAQUE, number), 999);
    assert!(!is_open(number, "timeline"));
    let own = Binary::new();
    let number = own.0.as_raw_fd();
    for windows in [2, 3, 4, 5, 7, 8, 10] {
        assert_eq!(refused(windows, number), 801);
    }
    let mut flagged = description(OPAQUE, number);
    flagged.flags = 1;
    let mut none: CUexternalSemaphore = null_mut();
    fails!(1, cuImportExternalSemaphore(&mut none, &flagged));
    assert!(is_open(number, "eventfd"));

    let semaphore = own.import();
    let stream = stream();
    let parameters = signal_to(0);
    let flagged = SignalParameters {
        flags: 1,
        ..parameters
    };
    fails!(
        1,
        cuSignalExternalSemaphoresAsync(&semaphore, &parameters, 0, stream)
    );
    fails!(
        1,
        cuSignalExternalSemaphoresAsync(null_mut(), &parameters, 1, stream)
    );
    fails!(
        1,
        cuSignalExternalSemaphoresAsync(&semaphore, core::ptr::null(), 1, stream)
    );
    fails!(
        1,
        cuSignalExternalSemaphoresAsync(&semaphore, &flagged, 1, stream)
    );
    ok!(cuDestroyExternalSemaphore(semaphore));
    fails!(400, cuDestroyExternalSemaphore(semaphore));
    fails!(
        400,
        cuSignalExternalSemaphoresAsync(&semaphore, &parameters, 1, stream)
    );
    ok!(cuStreamDestroy_v2(stream));
    assert!(!own.take(), "nobody has signalled it");
}

// covers: INTEROP-10
#[test]
fn streams_wait_for_the_other_side_and_tell_it() {
    if gpu() == Backend::Cuda {
        return;
    }
    let (to_device, to_host) = (Binary::new(), Binary::new());
    let (waited, signalled) = (to_device.import(), to_host.import());
    let memory = upload(&[0_u32; 4]);
    let stream = stream();
    for round in 1..=3_u32 {
        wait(waited, 0, stream);
        ok!(cuMemsetD32Async(memory, round, 4, stream));
        signal(signalled, 0, stream);
        assert!(!is_idle(stream), "it waits");
        assert!(!to_host.take());
        to_device.signal();
        to_host.wait();
        assert_eq!(download::<u32>(memory, 4), [round; 4]);
        ok!(cuStreamSynchronize(stream));
        assert!(!to_device.take(), "the wait has reset it");
    }
    ok!(cuDestroyExternalSemaphore(waited));
    ok!(cuDestroyExternalSemaphore(signalled));
    ok!(cuStreamDestroy_v2(stream));
    ok!(cuMemFree_v2(memory));
}

// covers: INTEROP-10, INTEROP-14
#[test]
fn a_timeline_is_waited_for_by_value_and_by_many() {
    if gpu() == Backend::Cuda {
        return;
    }
    let (timeline, binary) = (Timeline::new(), Binary::new());
    let (number, flag) = (timeline.import(), binary.import());
    let streams = [stream(), stream(), stream()];
    wait(number, 2, streams[0]);
    wait(number, 5, streams[1]);
    // Several in one call: all are waited for.
    let both = [number, flag];
    ok!(cuWaitExternalSemaphoresAsync(
        both.as_ptr(),
        [wait_for(3), wait_for(0)].as_ptr(),
        2,
        streams[2]
    ));
    timeline.signal(2);
    ok!(cuStreamSynchronize(streams[0]));
    timeline.signal(4);
    // A value that is reached holds nobody up.
    wait(number, 4, streams[0]);
    ok!(cuStreamSynchronize(streams[0]));
    assert!(!is_idle(streams[1]) && !is_idle(streams[2]));
    binary.signal();
    ok!(cuStreamSynchronize(streams[2]));
    assert!(!is_idle(streams[1]));
    timeline.signal(5);
    ok!(cuStreamSynchronize(streams[1]));
    signal(number, 9, streams[0]);
    timeline.wait(9);
    for stream in streams {
        ok!(cuStreamDestroy_v2(stream));
    }
    ok!(cuDestroyExternalSemaphore(number));
    ok!(cuDestroyExternalSemaphore(flag));
}

/// Holds, in the child's environment, the numbers of the descriptors that it has from its parent.
const DESCRIPTORS: &str = "WARPSMITH_TEST_DESCRIPTORS";

// covers: INTEROP-10
#[test]
fn processes_take_turns_by_semaphores() {
    use std::os::fd::FromRawFd;
    const TURNS: u64 = 20;
    if gpu() == Backend::Cuda {
        return;
    }
    // What both have: words in a file, of which one is the timeline, and a semaphore.
    if is_child() {
        let numbers = std::env::var(DESCRIPTORS).expect("the parent sends them");
        let numbers: Vec<RawFd> = numbers.split(' ').map(|one| one.parse().unwrap()).collect();
        // SAFETY: the parent has left them open for this process, which uses each once.
        let [binary, timeline] =
            [numbers[0], numbers[1]].map(|number| unsafe { OwnedFd::from_raw_fd(number) });
        let (turn, count) = (Binary(binary), Timeline(timeline));
        let (turn, number) = (turn.import(), count.import());
        let stream = stream();
        for round in 0..TURNS {
            wait(turn, 0, stream);
            signal(number, round + 1, stream);
        }
        ok!(cuStreamSynchronize(stream));
        return;
    }
    let (binary, timeline) = (Binary::new(), Timeline::new());
    let (turn, number) = (binary.import(), timeline.import());
    let numbers = format!("{} {}", binary.0.as_raw_fd(), timeline.0.as_raw_fd());
    let child = std::thread::spawn(move || {
        run_in_child(
            "processes_take_turns_by_semaphores",
            &[(DESCRIPTORS, &numbers)],
        )
    });
    let stream = stream();
    static SEEN: AtomicU64 = AtomicU64::new(0);
    unsafe extern "C" fn count(_: *mut c_void) {
        SEEN.fetch_add(1, Ordering::SeqCst);
    }
    for round in 0..TURNS {
        signal(turn, 0, stream);
        wait(number, round + 1, stream);
        ok!(cuLaunchHostFunc(stream, Some(count), null_mut()));
    }
    ok!(cuStreamSynchronize(stream));
    assert_eq!(
        (timeline.value(), SEEN.load(Ordering::SeqCst)),
        (TURNS, TURNS)
    );
    child.join().expect("the child has passed the test");
    ok!(cuDestroyExternalSemaphore(turn));
    ok!(cuDestroyExternalSemaphore(number));
    ok!(cuStreamDestroy_v2(stream));
}

fn signal_node_parameters(
    semaphores: &mut [CUexternalSemaphore],
    parameters: &[SignalParameters],
) -> CUDA_EXT_SEM_SIGNAL_NODE_PARAMS {
    CUDA_EXT_SEM_SIGNAL_NODE_PARAMS {
        extSemArray: semaphores.as_mut_ptr(),
        paramsArray: parameters.as_ptr(),
        numExtSems: parameters.len() as u32,
    }
}

fn wait_node_parameters(
    semaphores: &mut [CUexternalSemaphore],
    parameters: &[WaitParameters],
) -> CUDA_EXT_SEM_WAIT_NODE_PARAMS {
    CUDA_EXT_SEM_WAIT_NODE_PARAMS {
        extSemArray: semaphores.as_mut_ptr(),
        paramsArray: parameters.as_ptr(),
        numExtSems: parameters.len() as u32,
    }
}

// covers: GRAPH-10, GRAPH-50
#[test]
fn nodes_signal_and_wait_and_never_change_their_number() {
    if gpu() == Backend::Cuda {
        return;
    }
    let timelines = [Timeline::new(), Timeline::new()];
    let [first, second] = [timelines[0].import(), timelines[1].import()];
    let memory = upload(&[0_u32]);
    let graph = graph();
    // The arrays are copied when the node is added.
    let waits = {
        let mut semaphores = [first];
        let given = [wait_for(1)];
        let parameters = wait_node_parameters(&mut semaphores, &given);
        get!(cuGraphAddExternalSemaphoresWaitNode(
            graph,
            core::ptr::null(),
            0,
            &parameters
        ))
    };
    let fill = fill_node(graph, &[waits], memory, 7, 1);
    let mut generic = CUgraphNodeParams {
        type_: CUgraphNodeType::CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL,
        ..Default::default()
    };
    let (mut semaphores, given) = ([first, second], [signal_to(2), signal_to(1)]);
    generic.__bindgen_anon_1.extSemSignal = CUDA_EXT_SEM_SIGNAL_NODE_PARAMS_v2 {
        extSemArray: semaphores.as_mut_ptr(),
        paramsArray: given.as_ptr(),
        numExtSems: 2,
        ..Default::default()
    };
    let signals: CUgraphNode = get!(cuGraphAddNode(graph, &fill, 1, &mut generic));
    let types = [waits, signals].map(|node| {
        let kind: CUgraphNodeType = {
            let mut kind = CUgraphNodeType(99);
            ok!(cuGraphNodeGetType(node, &mut kind));
            kind
        };
        kind.0
    });
    assert_eq!(types, [9, 8]);

    let mut told = CUDA_EXT_SEM_SIGNAL_NODE_PARAMS::default();
    ok!(cuGraphExternalSemaphoresSignalNodeGetParams(
        signals, &mut told
    ));
    assert_eq!(told.numExtSems, 2);
    // SAFETY: the arrays are the node's, of so many entries.
    let (handles, parameters) = unsafe {
        (
            core::slice::from_raw_parts(told.extSemArray, 2),
            core::slice::from_raw_parts(told.paramsArray, 2),
        )
    };
    assert_eq!(handles, [first, second]);
    assert_eq!(parameters[0].params.fence.value, 2);
    fails!(
        1,
        cuGraphExternalSemaphoresSignalNodeGetParams(waits, &mut told)
    );

    let (exec, stream) = (instantiate(graph), stream());
    ok!(cuGraphLaunch(exec, stream));
    assert!(!is_idle(stream), "it waits");
    timelines[0].signal(1);
    ok!(cuStreamSynchronize(stream));
    assert_eq!([timelines[0].value(), timelines[1].value()], [2, 1]);
    assert_eq!(download::<u32>(memory, 1), [7]);

    // Other semaphores and values, in the executable graph; never another number.
    let fewer = signal_node_parameters(&mut semaphores[..1], &given[..1]);
    fails!(
        1,
        cuGraphExecExternalSemaphoresSignalNodeSetParams(exec, signals, &fewer)
    );
    fails!(
        1,
        cuGraphExternalSemaphoresSignalNodeSetParams(signals, &fewer)
    );
    let (mut swapped, given) = ([second, first], [signal_to(5), signal_to(6)]);
    let other = signal_node_parameters(&mut swapped, &given);
    fails!(
        1,
        cuGraphExecExternalSemaphoresSignalNodeSetParams(exec, waits, &other)
    );
    ok!(cuGraphExecExternalSemaphoresSignalNodeSetParams(
        exec, signals, &other
    ));
    launch(exec, stream);
    assert_eq!([timelines[0].value(), timelines[1].value()], [6, 5]);

    // In the template, for the whole update.
    let (mut one, later) = ([first], [wait_for(6)]);
    ok!(cuGraphExternalSemaphoresWaitNodeSetParams(
        waits,
        &wait_node_parameters(&mut one, &later)
    ));
    let mut told = CUDA_EXT_SEM_WAIT_NODE_PARAMS::default();
    ok!(cuGraphExternalSemaphoresWaitNodeGetParams(waits, &mut told));
    // SAFETY: the array is the node's, of one entry.
    assert_eq!(unsafe { (*told.paramsArray).params.fence.value }, 6);
    let given = [signal_to(7), signal_to(8)];
    let next = signal_node_parameters(&mut semaphores, &given);
    ok!(cuGraphExternalSemaphoresSignalNodeSetParams(signals, &next));
    let mut outcome = CUgraphExecUpdateResultInfo::default();
    ok!(cuGraphExecUpdate_v2(exec, graph, &mut outcome));
    launch(exec, stream);
    assert_eq!([timelines[0].value(), timelines[1].value()], [7, 8]);
    let exec_waits = wait_node_parameters(&mut one, &later);
    ok!(cuGraphExecExternalSemaphoresWaitNodeSetParams(
        exec,
        waits,
        &exec_waits
    ));

    ok!(cuGraphExecDestroy(exec));
    ok!(cuGraphDestroy(graph));
    ok!(cuDestroyExternalSemaphore(first));
    ok!(cuDestroyExternalSemaphore(second));
    ok!(cuStreamDestroy_v2(stream));
    ok!(cuMemFree_v2(memory));
}

// covers: GRAPH-50
#[test]
fn an_update_with_another_number_of_semaphores_is_refused() {
    if gpu() == Backend::Cuda {
        return;
    }
    let timeline = Timeline::new();
    let semaphore = timeline.import();
    let with = |count: usize| {
        let graph = graph();
        let mut semaphores = vec![semaphore; count];
        let given = vec![wait_for(0); count];
        let parameters = wait_node_parameters(&mut semaphores, &given);
        let node: CUgraphNode = get!(cuGraphAddExternalSemaphoresWaitNode(
            graph,
            core::ptr::null(),
            0,
            &parameters
        ));
        (graph, node)
    };
    let ((one, old), (two, new)) = (with(1), with(2));
    let exec = instantiate(one);
    let mut outcome = CUgraphExecUpdateResultInfo::default();
    fails!(910, cuGraphExecUpdate_v2(exec, two, &mut outcome));
    // `CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED`
    assert_eq!(outcome.result.0, 5);
    assert_eq!((outcome.errorFromNode, outcome.errorNode), (old, new));
    ok!(cuGraphExecDestroy(exec));
    ok!(cuGraphDestroy(one));
    ok!(cuGraphDestroy(two));
    ok!(cuDestroyExternalSemaphore(semaphore));
}

// covers: GRAPH-10
#[test]
fn a_capture_makes_nodes_of_them() {
    let _turn = turn();
    if gpu() == Backend::Cuda {
        return;
    }
    let timeline = Timeline::new();
    let semaphore = timeline.import();
    let stream = stream();
    ok!(cuStreamBeginCapture_v2(
        stream,
        CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED
    ));
    wait(semaphore, 1, stream);
    signal(semaphore, 2, stream);
    let graph: CUgraph = {
        let mut graph = null_mut();
        ok!(cuStreamEndCapture(stream, &mut graph));
        graph
    };
    assert_eq!(timeline.value(), 0, "nothing has run");
    let exec = instantiate(graph);
    timeline.signal(1);
    launch(exec, stream);
    assert_eq!(timeline.value(), 2);
    ok!(cuGraphExecDestroy(exec));
    ok!(cuGraphDestroy(graph));
    ok!(cuDestroyExternalSemaphore(semaphore));
    ok!(cuStreamDestroy_v2(stream));
}

/// The text of the fault that `body` leaves in a context of its own.
fn fault_of(body: impl FnOnce()) -> String {
    gpu();
    assert!(warpsmith_driver::configure_simulator("stderr", "off"));
    let context: CUcontext = get!(cuCtxCreate_v2(0, 0));
    body();
    fails!(999, cuCtxSynchronize());
    let text = fault(context).expect("a fault").to_string();
    ok!(cuCtxDestroy_v2(context));
    text
}

#[track_caller]
fn expect(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "{text}");
    }
}

// covers: INTEROP-09
#[test]
fn a_semaphore_that_is_destroyed_while_it_is_in_use_is_reported() {
    if gpu() == Backend::Cuda {
        return;
    }
    let text = fault_of(|| {
        let semaphore = Binary::new().import();
        let stream = stream();
        wait(semaphore, 0, stream);
        fails!(0, cuDestroyExternalSemaphore(semaphore));
    });
    expect(
        &text,
        &["external binary semaphore", "is destroyed before 1"],
    );
    let text = fault_of(|| {
        let timeline = Timeline::new();
        let semaphore = timeline.import();
        let graph = graph();
        let (mut semaphores, given) = ([semaphore], [signal_to(1)]);
        let parameters = signal_node_parameters(&mut semaphores, &given);
        let _: CUgraphNode = get!(cuGraphAddExternalSemaphoresSignalNode(
            graph,
            core::ptr::null(),
            0,
            &parameters
        ));
        let (exec, stream) = (instantiate(graph), stream());
        launch(exec, stream);
        ok!(cuDestroyExternalSemaphore(semaphore));
        ok!(cuGraphLaunch(exec, stream));
    });
    expect(
        &text,
        &["external timeline semaphore", "was destroyed before"],
    );
}

// covers: INTEROP-10
#[test]
fn a_wait_that_is_issued_before_its_signal_is_reported() {
    if gpu() == Backend::Cuda {
        return;
    }
    let text = fault_of(|| {
        let semaphore = Binary::new().import();
        let (waiting, signalling) = (stream(), stream());
        wait(semaphore, 0, waiting);
        signal(semaphore, 0, signalling);
    });
    expect(&text, &["was issued before the signal that ends it"]);
    let text = fault_of(|| {
        let semaphore = Timeline::new().import();
        let (waiting, signalling) = (stream(), stream());
        wait(semaphore, 3, waiting);
        signal(semaphore, 2, signalling);
        signal(semaphore, 3, signalling);
    });
    expect(&text, &["was issued before the signal that ends it"]);
}

// covers: INTEROP-10
#[test]
fn a_signal_that_changes_nothing_is_reported() {
    if gpu() == Backend::Cuda {
        return;
    }
    let text = fault_of(|| {
        let semaphore = Binary::new().import();
        let stream = stream();
        signal(semaphore, 0, stream);
        signal(semaphore, 0, stream);
    });
    expect(&text, &["is signalled again before anybody has waited"]);
    let text = fault_of(|| {
        let semaphore = Timeline::new().import();
        let stream = stream();
        signal(semaphore, 3, stream);
        signal(semaphore, 3, stream);
    });
    expect(&text, &["is signalled to 3, but it is 3 already"]);
}

// covers: INTEROP-10
#[test]
fn waits_end_with_their_context() {
    if gpu() == Backend::Cuda {
        return;
    }
    let context: CUcontext = get!(cuCtxCreate_v2(0, 0));
    let semaphore = Binary::new().import();
    wait(semaphore, 0, stream());
    ok!(cuCtxDestroy_v2(context));
    gpu();
}

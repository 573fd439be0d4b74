//! Graphs that kernels launch: which may be, and in what order they run. What a test expects is what an H200 does (driver 580.159.04).

mod common;
use common::graphs::*;
use common::*;
use warpsmith_driver::fault;
use warpsmith_testkit::ptx;

const TAIL: u64 = 0x0100_0000_0000_0000;
const FIRE_AND_FORGET: u64 = 0x0200_0000_0000_0000;
const SIBLING: u64 = 0x0300_0000_0000_0000;
/// `CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH`
const DEVICE_LAUNCH: u64 = 4;
/// `CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD`
const UPLOAD: u64 = 2;
/// What launches answer.
const DONE: u32 = 0;
const REFUSED: u32 = 1;
/// What a code is before a launch has answered.
const UNSET: u32 = 99;

const KERNELS: &str = ptx!(
    "8.0",
    "sm_90",
    "
.extern .func (.param .b32 result) cudaGraphLaunch(.param .b64 exec, .param .b64 stream);

// Each thread launches the same graph; its answer goes to codes[thread].
.visible .entry launch(.param .u64 exec, .param .u64 mode, .param .u64 codes)
{
    .reg .b32 %r<3>; .reg .b64 %rd<6>;
    ld.param.u64 %rd1, [exec];
    ld.param.u64 %rd2, [mode];
    ld.param.u64 %rd3, [codes];
    {
        .param .b64 a; .param .b64 b; .param .b32 c;
        st.param.b64 [a], %rd1;
        st.param.b64 [b], %rd2;
        call.uni (c), cudaGraphLaunch, (a, b);
        ld.param.b32 %r1, [c];
    }
    mov.u32 %r2, %tid.x;
    mul.wide.u32 %rd4, %r2, 4;
    add.u64 %rd5, %rd3, %rd4;
    st.global.u32 [%rd5], %r1;
    ret;
}

// Appends a number to the log, then launches `count` graphs, one after the other: pairs of a graph and a mode.
.visible .entry script(.param .u64 log, .param .u64 tag, .param .u64 list, .param .u64 count, .param .u64 codes)
{
    .reg .b32 %r<4>; .reg .b64 %rd<12>; .reg .pred %p<2>;
    ld.param.u64 %rd1, [log];
    ld.param.u64 %rd2, [tag];
    ld.param.u64 %rd3, [list];
    ld.param.u64 %rd4, [count];
    ld.param.u64 %rd5, [codes];
    atom.global.add.u32 %r1, [%rd1], 1;
    add.u32 %r1, %r1, 1;
    mul.wide.u32 %rd6, %r1, 4;
    add.u64 %rd6, %rd6, %rd1;
    cvt.u32.u64 %r2, %rd2;
    st.global.u32 [%rd6], %r2;
$next:
    setp.eq.u64 %p1, %rd4, 0;
    @%p1 bra $end;
    ld.global.u64 %rd7, [%rd3];
    ld.global.u64 %rd8, [%rd3+8];
    {
        .param .b64 a; .param .b64 b; .param .b32 c;
        st.param.b64 [a], %rd7;
        st.param.b64 [b], %rd8;
        call.uni (c), cudaGraphLaunch, (a, b);
        ld.param.b32 %r3, [c];
    }
    st.global.u32 [%rd5], %r3;
    add.u64 %rd3, %rd3, 16;
    add.u64 %rd5, %rd5, 4;
    sub.u64 %rd4, %rd4, 1;
    bra $next;
$end:
    ret;
}

// Appends a number to the log after a while.
.visible .entry late(.param .u64 log, .param .u64 tag)
{
    .reg .b32 %r<3>; .reg .b64 %rd<6>; .reg .pred %p<2>;
    ld.param.u64 %rd1, [log];
    ld.param.u64 %rd2, [tag];
    mov.u64 %rd3, %globaltimer;
$wait:
    mov.u64 %rd4, %globaltimer;
    sub.u64 %rd5, %rd4, %rd3;
    setp.lt.u64 %p1, %rd5, 20000000;
    @%p1 bra $wait;
    atom.global.add.u32 %r1, [%rd1], 1;
    add.u32 %r1, %r1, 1;
    mul.wide.u32 %rd3, %r1, 4;
    add.u64 %rd3, %rd3, %rd1;
    cvt.u32.u64 %r2, %rd2;
    st.global.u32 [%rd3], %r2;
    ret;
}

.visible .entry current(.param .u64 out)
{
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [out];
    mov.u64 %rd2, %current_graph_exec;
    st.global.u64 [%rd1], %rd2;
    ret;
}

// Counts up in the log, and launches its own graph again until it has counted to `limit`; `again` times each.
.visible .entry relaunch(.param .u64 log, .param .u64 limit, .param .u64 again, .param .u64 codes)
{
    .reg .b32 %r<4>; .reg .b64 %rd<7>; .reg .pred %p<2>;
    ld.param.u64 %rd1, [log];
    ld.param.u64 %rd2, [limit];
    ld.param.u64 %rd3, [again];
    ld.param.u64 %rd4, [codes];
    atom.global.add.u32 %r1, [%rd1], 1;
    add.u32 %r1, %r1, 1;
    cvt.u64.u32 %rd5, %r1;
    setp.ge.u64 %p1, %rd5, %rd2;
    @%p1 bra $end;
    mov.u64 %rd6, %current_graph_exec;
$next:
    {
        .param .b64 a; .param .b64 b; .param .b32 c;
        st.param.b64 [a], %rd6;
        st.param.b64 [b], 0x0100000000000000;
        call.uni (c), cudaGraphLaunch, (a, b);
        ld.param.b32 %r3, [c];
    }
    st.global.u32 [%rd4], %r3;
    add.u64 %rd4, %rd4, 4;
    sub.u64 %rd3, %rd3, 1;
    setp.ne.u64 %p1, %rd3, 0;
    @%p1 bra $next;
$end:
    ret;
}

// Waits until a word is not 0, a second at most; writes 1 to `seen` if it saw that.
.visible .entry watch(.param .u64 word, .param .u64 seen)
{
    .reg .b32 %r<2>; .reg .b64 %rd<6>; .reg .pred %p<2>;
    ld.param.u64 %rd1, [word];
    ld.param.u64 %rd2, [seen];
    mov.u64 %rd3, %globaltimer;
$wait:
    ld.volatile.global.u32 %r1, [%rd1];
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra $seen;
    mov.u64 %rd4, %globaltimer;
    sub.u64 %rd5, %rd4, %rd3;
    setp.lt.u64 %p1, %rd5, 1000000000;
    @%p1 bra $wait;
    ret;
$seen:
    st.global.u32 [%rd2], %r1;
    ret;
}

.visible .entry set(.param .u64 word)
{
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [word];
    st.volatile.global.u32 [%rd1], 1;
    ret;
}\0"
);

/// A log, the answers of launches, the kernels, and a stream.
struct Setting {
    module: CUmodule,
    stream: CUstream,
    log: CUdeviceptr,
    codes: CUdeviceptr,
}

/// Words of the log and of the answers.
const WORDS: usize = 512;

impl Setting {
    fn new() -> Self {
        gpu();
        Self::load()
    }

    /// One in the current context.
    fn load() -> Self {
        Self {
            module: get!(cuModuleLoadData(KERNELS.as_ptr().cast())),
            stream: stream(),
            log: upload(&[0u32; WORDS]),
            codes: upload(&[UNSET; WORDS]),
        }
    }

    fn kernel(&self, name: &str) -> CUfunction {
        let name = std::ffi::CString::new(name).expect("no zeros in names");
        get!(cuModuleGetFunction(self.module, name.as_ptr()))
    }

    /// A graph of one kernel of one thread.
    fn template(&self, kernel: &str, parameters: &[u64]) -> CUgraph {
        let graph = graph();
        kernel_node(graph, &[], self.kernel(kernel), 1, parameters);
        graph
    }

    /// A graph that kernels can launch, of one kernel; uploaded.
    fn on_device(&self, kernel: &str, parameters: &[u64]) -> CUgraphExec {
        let exec = for_device(self.template(kernel, parameters));
        self.upload(exec);
        exec
    }

    fn upload(&self, exec: CUgraphExec) {
        ok!(cuGraphUpload(exec, self.stream));
        ok!(cuStreamSynchronize(self.stream));
    }

    /// A graph that kernels can launch, which appends to the log.
    fn appends(&self, tag: u64) -> CUgraphExec {
        self.on_device("script", &[self.log, tag, 0, 0, 0])
    }

    /// One that does so after a while.
    fn appends_late(&self, tag: u64) -> CUgraphExec {
        self.on_device("late", &[self.log, tag])
    }

    /// The parameters of a kernel that appends to the log and launches graphs.
    fn script(&self, tag: u64, launches: &[(CUgraphExec, u64)]) -> [u64; 5] {
        let list: Vec<u64> = launches
            .iter()
            .flat_map(|&(exec, mode)| [exec as u64, mode])
            .collect();
        let list = upload(if list.is_empty() { &[0] } else { &list });
        [self.log, tag, list, launches.len() as u64, self.codes]
    }

    /// Runs a graph of a kernel that launches others, and waits for its stream.
    fn run(&self, launches: &[(CUgraphExec, u64)]) {
        let exec = instantiate(self.template("script", &self.script(0, launches)));
        launch(exec, self.stream);
        ok!(cuGraphExecDestroy(exec));
    }

    /// Lets `threads` threads launch one graph.
    fn run_threads(&self, exec: CUgraphExec, mode: u64, threads: u32) {
        let graph = graph();
        let parameters = [exec as u64, mode, self.codes];
        kernel_node(graph, &[], self.kernel("launch"), threads, &parameters);
        let exec = instantiate(graph);
        launch(exec, self.stream);
        ok!(cuGraphExecDestroy(exec));
    }

    /// The first answers; all are forgotten then.
    fn answers(&self, count: usize) -> Vec<u32> {
        let answers = download(self.codes, count);
        clear(self.codes, UNSET);
        answers
    }

    /// The log, which is empty then.
    fn logged(&self) -> Vec<u32> {
        let log: Vec<u32> = download(self.log, WORDS);
        clear(self.log, 0);
        log[1..=log[0] as usize].to_vec()
    }
}

fn clear(words: CUdeviceptr, value: u32) {
    ok!(cuMemsetD32_v2(words, value, WORDS));
    ok!(cuCtxSynchronize());
}

fn for_device(graph: CUgraph) -> CUgraphExec {
    get!(cuGraphInstantiateWithFlags(graph, DEVICE_LAUNCH))
}

/// The outcome of an instantiation: the error, its reason, and the node at fault.
fn instantiated(graph: CUgraph, flags: u64) -> (u32, u32, CUgraphNode) {
    let mut parameters = CUDA_GRAPH_INSTANTIATE_PARAMS {
        flags,
        ..Default::default()
    };
    let mut exec = null_mut();
    // SAFETY: both places outlive the call.
    let error = unsafe { cuGraphInstantiateWithParams(&mut exec, graph, &mut parameters) };
    (error.0, parameters.result_out.0, parameters.hErrNode_out)
}

#[test]
fn only_work_of_one_device_can_be_launched_by_kernels() {
    // covers: DGRAPH-02
    let _turn = turn();
    let setting = Setting::new();
    let memory = upload(&[0u32; 64]);
    let accepted = (0, 0, null_mut());
    let refused = |node: CUgraphNode| (1, 3, node);
    let outcome = |graph| instantiated(graph, DEVICE_LAUNCH);

    let page_locked = pinned::<u32>(64) as CUdeviceptr;
    let managed: CUdeviceptr = get!(cuMemAllocManaged(256, 1));
    for from in [memory + 128, page_locked, managed] {
        let graph = graph();
        let first = copy_node(graph, &[], memory, from, 64);
        fill_node(graph, &[first], memory, 1, 4);
        assert_eq!(outcome(graph), accepted, "a copy from {from:#x}");
        let parent = self::graph();
        let _: CUgraphNode = get!(cuGraphAddChildGraphNode(parent, null(), 0, graph));
        assert_eq!(outcome(parent), accepted, "in a child graph");
    }
    assert_eq!(outcome(setting.template("current", &[memory])), accepted);

    // Empty ones name no node.
    let empty = graph();
    assert_eq!(outcome(empty), (1, 1, null_mut()));
    let parent = graph();
    let _: CUgraphNode = get!(cuGraphAddChildGraphNode(parent, null(), 0, empty));
    assert_eq!(outcome(parent).0, 1, "an empty child");

    let with = |add: &dyn Fn(CUgraph) -> CUgraphNode| {
        let graph = graph();
        let node = add(graph);
        assert_eq!(outcome(graph), refused(node));
        assert_eq!(
            instantiated(graph, 0),
            accepted,
            "for the host it is a graph"
        );
    };
    let event: CUevent = get!(cuEventCreate(0));
    ok!(cuEventRecord(event, setting.stream));
    let pageable = Box::leak(Box::new([0u32; 64])).as_mut_ptr() as CUdeviceptr;
    let context: CUcontext = get!(cuCtxGetCurrent());
    with(&|graph| get!(cuGraphAddEmptyNode(graph, null(), 0)));
    with(&|graph| get!(cuGraphAddEventRecordNode(graph, null(), 0, event)));
    with(&|graph| get!(cuGraphAddEventWaitNode(graph, null(), 0, event)));
    with(&|graph| {
        let nothing = CUDA_HOST_NODE_PARAMS {
            fn_: Some(does_nothing),
            userData: null_mut(),
        };
        get!(cuGraphAddHostNode(graph, null(), 0, &nothing))
    });
    with(&|graph| {
        let mut from_host = copy(memory, 0, 64);
        from_host.srcMemoryType = CUmemorytype::CU_MEMORYTYPE_HOST;
        from_host.srcHost = pageable as *const c_void;
        get!(cuGraphAddMemcpyNode(graph, null(), 0, &from_host, context))
    });
}

unsafe extern "C" fn does_nothing(_: *mut c_void) {}

#[test]
fn flags_of_instantiation() {
    // covers: DGRAPH-01
    let _turn = turn();
    let setting = Setting::new();
    let graph = setting.template("script", &setting.script(1, &[]));
    let told = |flags| {
        let exec: CUgraphExec = get!(cuGraphInstantiateWithFlags(graph, flags));
        let mut told = UNSET.into();
        ok!(cuGraphExecGetFlags(exec, &mut told));
        ok!(cuGraphExecDestroy(exec));
        told
    };
    // Free at the next launch, for kernels, by the nodes' priorities.
    for (flags, expected) in [(0, 0), (1, 1), (4, 4), (8, 0), (12, 4)] {
        assert_eq!(told(flags), expected, "flags {flags}");
        assert_eq!(instantiated(graph, flags).0, 0, "flags {flags}");
    }
    let mut exec = null_mut();
    for flags in [5, 7, 13, 16] {
        fails!(1, cuGraphInstantiateWithFlags(&mut exec, graph, flags));
        assert_eq!(instantiated(graph, flags).0, 1, "flags {flags}");
    }
    // An upload needs a stream.
    for flags in [2, 6] {
        fails!(1, cuGraphInstantiateWithFlags(&mut exec, graph, flags));
        assert_eq!(instantiated(graph, flags).0, 0, "flags {flags}");
    }
}

#[test]
fn a_kernel_launches_what_was_uploaded() {
    // covers: DGRAPH-03, DGRAPH-05
    let _turn = turn();
    let setting = Setting::new();
    let exec = for_device(setting.template("script", &setting.script(5, &[])));
    // An H200 answers the same in a fresh process, and hung where graphs had been destroyed before.
    if gpu() == Backend::Simulator {
        setting.run(&[(exec, FIRE_AND_FORGET)]);
        assert_eq!(setting.answers(1), [REFUSED], "never uploaded");
        assert_eq!(setting.logged(), [0]);
    }

    // One: a launch by the host.
    launch(exec, setting.stream);
    assert_eq!(setting.logged(), [5]);
    setting.run(&[(exec, FIRE_AND_FORGET)]);
    assert_eq!(
        (setting.answers(1), setting.logged()),
        (vec![DONE], vec![0, 5])
    );

    // Two: an upload.
    setting.run(&[(setting.appends(6), TAIL)]);
    assert_eq!(
        (setting.answers(1), setting.logged()),
        (vec![DONE], vec![0, 6])
    );

    // Three: an upload by the instantiation.
    let graph = setting.template("script", &setting.script(7, &[]));
    let mut parameters = CUDA_GRAPH_INSTANTIATE_PARAMS {
        flags: DEVICE_LAUNCH | UPLOAD,
        hUploadStream: setting.stream,
        ..Default::default()
    };
    let exec: CUgraphExec = get!(cuGraphInstantiateWithParams(graph, &mut parameters));
    ok!(cuStreamSynchronize(setting.stream));
    setting.run(&[(exec, SIBLING)]);
    assert_eq!(
        (setting.answers(1), setting.logged()),
        (vec![DONE], vec![0, 7])
    );
}

#[test]
fn changes_reach_kernels_with_the_next_upload() {
    let _turn = turn();
    let setting = Setting::new();
    let (kernel, first) = (setting.kernel("script"), graph());
    let node = kernel_node(first, &[], kernel, 1, &setting.script(1, &[]));
    let exec = for_device(first);
    setting.upload(exec);
    let launched = || {
        setting.run(&[(exec, FIRE_AND_FORGET)]);
        setting.logged()[1..].to_vec()
    };

    let mut values = setting.script(2, &[]);
    let mut pointers = pointers_to(&mut values);
    let changed = kernel_parameters(kernel, 1, &mut pointers);
    ok!(cuGraphExecKernelNodeSetParams_v2(exec, node, &changed));
    assert_eq!(launched(), [1]);
    setting.upload(exec);
    assert_eq!(launched(), [2]);

    let second = setting.template("script", &setting.script(3, &[]));
    let _: CUgraphExecUpdateResultInfo = {
        let mut result = CUgraphExecUpdateResultInfo::default();
        ok!(cuGraphExecUpdate_v2(exec, second, &mut result));
        result
    };
    assert_eq!(launched(), [2]);
    ok!(cuGraphNodeSetEnabled(exec, node, 0));
    setting.upload(exec);
    assert!(launched().is_empty());
}

#[test]
fn only_the_three_named_streams_launch() {
    // covers: DGRAPH-06
    let _turn = turn();
    let setting = Setting::new();
    let exec = setting.appends(5);
    let others = [
        0,
        1,
        2,
        setting.stream as u64,
        0x0400_0000_0000_0000,
        TAIL + 1,
    ];
    for mode in others {
        setting.run(&[(exec, mode)]);
        assert_eq!(setting.answers(1), [REFUSED], "stream {mode:#x}");
    }
    setting.run(&[(null_mut(), FIRE_AND_FORGET)]);
    assert_eq!(setting.answers(1), [REFUSED], "no graph");
    assert_eq!(setting.logged(), vec![0; others.len() + 1]);
    for mode in [TAIL, FIRE_AND_FORGET, SIBLING] {
        setting.run(&[(exec, mode)]);
        assert_eq!(
            (setting.answers(1), setting.logged()),
            (vec![DONE], vec![0, 5])
        );
    }
}

#[test]
fn a_kernel_outside_of_graphs_launches_none() {
    let _turn = turn();
    let setting = Setting::new();
    let exec = setting.appends(5);
    let mut values = [exec as u64, FIRE_AND_FORGET, setting.codes];
    let mut pointers = pointers_to(&mut values);
    let kernel = setting.kernel("launch");
    let parameters = pointers.as_mut_ptr();
    fails!(
        801,
        cuLaunchKernel(
            kernel,
            1,
            1,
            1,
            1,
            1,
            1,
            0,
            setting.stream,
            parameters,
            null_mut()
        )
    );
    ok!(cuStreamSynchronize(setting.stream));
    assert!(setting.logged().is_empty());
}

#[test]
fn a_graph_that_runs_is_not_launched_again() {
    // covers: DGRAPH-07
    let _turn = turn();
    let setting = Setting::new();
    for mode in [TAIL, FIRE_AND_FORGET, SIBLING] {
        setting.run_threads(setting.appends_late(5), mode, 32);
        let mut answers = setting.answers(32);
        answers.sort_unstable();
        assert_eq!(answers[..2], [DONE, REFUSED], "mode {mode:#x}");
        assert_eq!(answers[31], REFUSED);
        assert_eq!(setting.logged(), [5]);
    }
    let slow = setting.appends_late(1);
    for [first, second] in [
        [FIRE_AND_FORGET, FIRE_AND_FORGET],
        [TAIL, TAIL],
        [FIRE_AND_FORGET, TAIL],
        [SIBLING, TAIL],
    ] {
        setting.run(&[(slow, first), (slow, second)]);
        assert_eq!(setting.answers(2), [DONE, REFUSED]);
        assert_eq!(setting.logged(), [0, 1]);
    }
    // While the host's launch of it runs. That is undefined: an H200 answers the same, but the next launch by a kernel may hang.
    if gpu() != Backend::Simulator {
        return;
    }
    let (other, started, graph) = (stream(), Word::new(), graph());
    let first = kernel_node(graph, &[], setting.kernel("set"), 1, &[started.address()]);
    let late = setting.kernel("late");
    kernel_node(graph, &[first], late, 1, &[setting.log, 1]);
    let slow = for_device(graph);
    setting.upload(slow);
    ok!(cuGraphLaunch(slow, other));
    while started.load() == 0 {
        std::thread::yield_now();
    }
    setting.run(&[(slow, FIRE_AND_FORGET)]);
    ok!(cuStreamSynchronize(other));
    assert_eq!(setting.answers(1), [REFUSED]);
}

/// On a GPU what happens is undefined.
#[test]
fn the_simulator_reports_a_launch_by_the_host_beside_one_by_a_kernel() {
    // covers: DGRAPH-07
    let _turn = turn();
    if gpu() != Backend::Simulator {
        return;
    }
    let context = OwnContext::new();
    let setting = Setting::load();
    let slow = setting.appends_late(1);
    let parent =
        instantiate(setting.template("script", &setting.script(0, &[(slow, FIRE_AND_FORGET)])));
    ok!(cuGraphLaunch(parent, setting.stream));
    while download::<u32>(setting.codes, 1) == [UNSET] {
        std::thread::yield_now();
    }
    let other = stream();
    ok!(cuGraphLaunch(slow, other));
    fails!(999, cuStreamSynchronize(other));
    let report = context.report();
    assert!(
        report.contains("while a launch of it by a kernel is still running"),
        "{report}"
    );
}

/// A context that a fault may end.
struct OwnContext(CUcontext);

impl OwnContext {
    fn new() -> Self {
        gpu();
        Self(get!(cuCtxCreate_v2(0, 0)))
    }

    fn report(&self) -> String {
        fault(self.0).expect("a fault of the context").to_string()
    }
}

impl Drop for OwnContext {
    fn drop(&mut self) {
        ok!(cuCtxDestroy_v2(self.0));
    }
}

#[test]
fn as_many_as_there_is_room_for() {
    // covers: DGRAPH-08, DGRAPH-10
    let _turn = turn();
    let setting = Setting::new();
    let graphs: Vec<CUgraphExec> = (0..258).map(|tag| setting.appends(tag)).collect();
    for (mode, most) in [(FIRE_AND_FORGET, 120), (SIBLING, 120), (TAIL, 255)] {
        let launches: Vec<_> = graphs.iter().map(|&exec| (exec, mode)).collect();
        let exec = instantiate(setting.template("script", &setting.script(300, &launches)));
        // The count starts anew with each launch.
        for _ in 0..2 {
            launch(exec, setting.stream);
            let answers = setting.answers(258);
            let accepted = answers.iter().take_while(|&&answer| answer == DONE).count();
            assert_eq!(accepted, most, "mode {mode:#x}");
            assert!(answers[most..].iter().all(|&answer| answer == REFUSED));
            let mut logged = setting.logged();
            if mode != TAIL {
                // Nothing orders them.
                logged[1..].sort_unstable();
            }
            assert_eq!(logged[0], 300);
            assert!(logged[1..].iter().copied().eq(0..most as u32), "{logged:?}");
        }
    }
}

#[test]
fn a_tail_comes_after_the_children_and_a_stream_after_all() {
    // covers: DGRAPH-09, DGRAPH-10, DGRAPH-13
    let _turn = turn();
    let setting = Setting::new();
    let (child, tail) = (setting.appends_late(1), setting.appends(2));
    for (mode, order) in [(FIRE_AND_FORGET, [0, 1, 2, 3]), (SIBLING, [0, 2, 1, 3])] {
        let launches = [(child, mode), (tail, TAIL)];
        let exec = instantiate(setting.template("script", &setting.script(0, &launches)));
        let next = instantiate(setting.template("script", &setting.script(3, &[])));
        ok!(cuGraphLaunch(exec, setting.stream));
        ok!(cuGraphLaunch(next, setting.stream));
        ok!(cuStreamSynchronize(setting.stream));
        assert_eq!(setting.answers(2), [DONE, DONE]);
        assert_eq!(setting.logged(), order, "mode {mode:#x}");
    }
    // A grandchild: the child ends after it, so the tail of the parent comes last.
    let grandchild = setting.appends_late(11);
    let child = setting.on_device(
        "script",
        &setting.script(10, &[(grandchild, FIRE_AND_FORGET)]),
    );
    setting.run(&[(tail, TAIL), (child, FIRE_AND_FORGET)]);
    assert_eq!(setting.logged(), [0, 10, 11, 2]);
}

#[test]
fn tails_of_a_tail_come_before_the_next_tail() {
    // covers: DGRAPH-11
    let _turn = turn();
    let setting = Setting::new();
    let [p, q, y] = [3, 4, 2].map(|tag| setting.appends(tag));
    let x = setting.on_device("script", &setting.script(1, &[(p, TAIL), (q, TAIL)]));
    setting.run(&[(x, TAIL), (y, TAIL)]);
    assert_eq!(setting.logged(), [0, 1, 3, 4, 2]);
}

#[test]
fn a_graph_launches_itself_as_its_tail() {
    // covers: DGRAPH-12
    let _turn = turn();
    let setting = Setting::new();
    for (again, answers) in [(1, [DONE, UNSET]), (2, [DONE, REFUSED])] {
        let exec = setting.on_device("relaunch", &[setting.log, 5, again, setting.codes]);
        launch(exec, setting.stream);
        assert_eq!(setting.answers(2), answers);
        assert_eq!(download::<u32>(setting.log, 1), [5]);
        setting.logged();
    }

    let out = upload(&[77_u64]);
    let read = || download::<u64>(out, 1)[0];
    let graph = setting.template("current", &[out]);
    launch(instantiate(graph), setting.stream);
    assert_eq!(read(), 0, "a graph that only the host launches");
    let exec = for_device(graph);
    launch(exec, setting.stream);
    assert_eq!(read(), exec as u64);
    ok!(cuMemsetD8_v2(out, 0, 8));
    ok!(cuCtxSynchronize());
    setting.run(&[(exec, FIRE_AND_FORGET)]);
    assert_eq!(read(), exec as u64, "launched by a kernel");
    let parent = self::graph();
    let _: CUgraphNode = get!(cuGraphAddChildGraphNode(parent, null(), 0, graph));
    let parent = for_device(parent);
    launch(parent, setting.stream);
    assert_eq!(read(), parent as u64, "in a child graph");

    // Outside of graphs.
    let mut values = [out];
    let mut pointers = pointers_to(&mut values);
    let (kernel, parameters) = (setting.kernel("current"), pointers.as_mut_ptr());
    ok!(cuLaunchKernel(
        kernel,
        1,
        1,
        1,
        1,
        1,
        1,
        0,
        setting.stream,
        parameters,
        null_mut()
    ));
    ok!(cuStreamSynchronize(setting.stream));
    assert_eq!(read(), 0);
}

#[test]
fn a_sibling_holds_up_no_tail() {
    // covers: DGRAPH-13
    let _turn = turn();
    let setting = Setting::new();
    let (word, seen) = (upload(&[0u32]), upload(&[0u32]));
    let watch = setting.on_device("watch", &[word, seen]);
    let set = setting.on_device("set", &[word]);
    setting.run(&[(watch, SIBLING), (set, TAIL)]);
    assert_eq!(download::<u32>(seen, 1), [1]);
    // A child does: the tail comes after it, and it waits in vain.
    ok!(cuMemsetD32_v2(word, 0, 1));
    ok!(cuMemsetD32_v2(seen, 0, 1));
    ok!(cuCtxSynchronize());
    setting.run(&[(watch, FIRE_AND_FORGET), (set, TAIL)]);
    assert_eq!(download::<u32>(seen, 1), [0]);
    assert_eq!(download::<u32>(word, 1), [1]);
}

/// On a GPU it is an illegal address, without more (and of a destroyed graph, undefined).
#[test]
fn a_handle_of_no_graph_for_kernels_is_a_fault() {
    // covers: DGRAPH-01
    let _turn = turn();
    if gpu() != Backend::Simulator {
        return;
    }
    let context = OwnContext::new();
    let setting = Setting::load();
    let exec = instantiate(setting.template("script", &setting.script(5, &[])));
    let parent = instantiate(setting.template("script", &setting.script(0, &[(exec, TAIL)])));
    ok!(cuGraphLaunch(parent, setting.stream));
    fails!(700, cuStreamSynchronize(setting.stream));
    let report = context.report();
    assert!(report.contains("no executable graph"), "{report}");
    assert!(report.contains("script"), "{report}");
}

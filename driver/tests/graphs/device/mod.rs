//! Graphs that kernels launch: which may be, and in what order they run. What a test expects is what an H200 does (driver 580.159.04).

mod launchable;
mod order;

use crate::common::graphs::*;
use crate::common::*;
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

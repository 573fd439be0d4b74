//! What the calls name: objects that live, that have ended, of another context, and of another device.

use std::cell::RefCell;

use rustix::event::EventfdFlags;
use std::os::fd::IntoRawFd;

use crate::common::graphs::*;
use crate::common::*;
use warpsmith_testkit::ptx;

/// Objects of one context.
pub struct Objects {
    pub context: CUcontext,
    pub stream: CUstream,
    pub event: CUevent,
    pub module: CUmodule,
    /// A kernel with one parameter of 8 bytes, which stores 7 where that points to.
    pub function: CUfunction,
    /// A kernel without parameters.
    pub idle: CUfunction,
    pub memory: CUdeviceptr,
}

/// Objects that belong to no context, or that a context needs one of.
pub struct Shared {
    pub library: CUlibrary,
    pub kernel: CUkernel,
    pub link: CUlinkState,
    pub object: CUuserObject,
    pub semaphore: CUexternalSemaphore,
    pub graph: CUgraph,
    pub exec: CUgraphExec,
    pub node: CUgraphNode,
}

/// The nodes of a graph that has one of each type, and nodes that other graphs must have.
#[derive(Clone, Copy)]
pub struct Nodes {
    pub empty: CUgraphNode,
    pub kernel: CUgraphNode,
    pub copy: CUgraphNode,
    pub fill: CUgraphNode,
    pub host: CUgraphNode,
    pub record: CUgraphNode,
    pub wait: CUgraphNode,
    pub child: CUgraphNode,
    pub batch: CUgraphNode,
}

pub struct World {
    /// Whose objects the calls name. Its context is current.
    pub own: Objects,
    pub shared: Shared,
    /// Of another context of the same device.
    pub other: Objects,
    /// Of another device, if there is one.
    pub far: Option<Objects>,
    /// Ended.
    pub gone: Objects,
    pub gone_shared: Shared,
    /// A graph with a node of each type that needs no graph of its own, and its executable form.
    pub graph: CUgraph,
    pub nodes: Nodes,
    pub exec: CUgraphExec,
    /// A graph with one empty node, and its copy.
    pub small: CUgraph,
    pub small_node: CUgraphNode,
    pub clone: CUgraph,
    /// A graph that allocates and frees.
    pub memory_graph: CUgraph,
    pub allocate: CUgraphNode,
    pub free: CUgraphNode,
    /// Nodes of external semaphores in a graph of their own, where there are any.
    pub signal: CUgraphNode,
    pub await_signal: CUgraphNode,
    pub semaphore_exec: CUgraphExec,
    /// An event for other processes.
    pub shared_event: CUevent,
    streams: RefCell<Vec<CUstream>>,
}

pub const TEXT: &str = ptx!(
    "7.0",
    "sm_70",
    ".visible .global .align 4 .u32 variable;
     .visible .entry store(.param .u64 to) {
        .reg .u64 %address;
        .reg .u32 %value;
        ld.param.u64 %address, [to];
        mov.u32 %value, 7;
        st.global.u32 [%address], %value;
        ret;
     }
     .visible .entry idle() { ret; }\0"
);

/// A value that lives as long as the process.
pub fn slot<T>(value: T) -> *mut T {
    Box::leak(Box::new(value))
}

/// The same, to read.
pub fn given<T>(value: T) -> *const T {
    slot(value)
}

/// Room for results of any type, which nobody reads.
pub fn out<T>() -> *mut T {
    slot([0u64; 128]).cast()
}

pub const BYTES: usize = 4096;

fn objects(device: CUdevice) -> Objects {
    let context: CUcontext = get!(cuCtxCreate_v2(0, device));
    let module: CUmodule = get!(cuModuleLoadData(TEXT.as_ptr().cast()));
    let stream = stream();
    let event: CUevent = get!(cuEventCreate(0));
    ok!(cuEventRecord(event, stream));
    ok!(cuStreamSynchronize(stream));
    Objects {
        context,
        stream,
        event,
        module,
        function: get!(cuModuleGetFunction(module, c"store".as_ptr())),
        idle: get!(cuModuleGetFunction(module, c"idle".as_ptr())),
        memory: get!(cuMemAlloc_v2(BYTES)),
    }
}

unsafe extern "C" fn nothing(_: *mut c_void) {}
pub const NOTHING: CUhostFn = Some(nothing);

pub fn eventfd() -> c_int {
    let file = rustix::event::eventfd(0, EventfdFlags::NONBLOCK).expect("the system has room");
    file.into_raw_fd()
}

/// A semaphore of another program interface, as nobody else has it; none on a GPU, which knows no such.
pub fn semaphore() -> CUexternalSemaphore {
    if warpsmith_driver::backend() == Some(Backend::Cuda) {
        return null_mut();
    }
    get!(cuImportExternalSemaphore(&semaphore_description()))
}

pub fn semaphore_description() -> CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC {
    CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC {
        type_: CUexternalSemaphoreHandleType::CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD,
        handle: CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC_st__bindgen_ty_1 { fd: eventfd() },
        ..Default::default()
    }
}

pub fn library() -> CUlibrary {
    get!(cuLibraryLoadData(
        TEXT.as_ptr().cast(),
        null_mut(),
        null_mut(),
        0,
        null_mut(),
        null_mut(),
        0
    ))
}

pub fn link() -> CUlinkState {
    let mut link = null_mut();
    ok!(cuLinkCreate_v2(0, null_mut(), null_mut(), &mut link));
    link
}

/// A link of one module, which can be completed.
pub fn filled_link() -> CUlinkState {
    let link = link();
    ok!(cuLinkAddData_v2(
        link,
        CUjitInputType::CU_JIT_INPUT_PTX,
        TEXT.as_ptr().cast_mut().cast(),
        TEXT.len(),
        null(),
        0,
        null_mut(),
        null_mut()
    ));
    link
}

pub fn user_object() -> CUuserObject {
    get!(cuUserObjectCreate(null_mut(), NOTHING, 1, 1))
}

pub fn empty_node(graph: CUgraph) -> CUgraphNode {
    get!(cuGraphAddEmptyNode(graph, null(), 0))
}

fn shared() -> Shared {
    let library = library();
    let graph = graph();
    Shared {
        library,
        kernel: get!(cuLibraryGetKernel(library, c"store".as_ptr())),
        link: filled_link(),
        object: user_object(),
        semaphore: semaphore(),
        graph,
        node: empty_node(graph),
        exec: instantiate(graph),
    }
}

/// Ends all of it.
fn end(objects: &Objects, shared: &Shared) {
    ok!(cuGraphExecDestroy(shared.exec));
    ok!(cuGraphDestroy(shared.graph));
    if !shared.semaphore.is_null() {
        ok!(cuDestroyExternalSemaphore(shared.semaphore));
    }
    ok!(cuUserObjectRelease(shared.object, 1));
    ok!(cuLinkDestroy(shared.link));
    ok!(cuLibraryUnload(shared.library));
    ok!(cuMemFree_v2(objects.memory));
    ok!(cuModuleUnload(objects.module));
    ok!(cuEventDestroy_v2(objects.event));
    ok!(cuStreamDestroy_v2(objects.stream));
    ok!(cuCtxDestroy_v2(objects.context));
}

impl World {
    /// A world in which every object is used by nobody.
    pub fn new() -> Self {
        let far = (get!(cuDeviceGetCount()) > 1).then(|| objects(1));
        let other = objects(0);
        let gone = objects(0);
        let gone_shared = shared();
        end(&gone, &gone_shared);
        let own = objects(0);
        let shared = shared();
        let small = graph();
        let small_node = empty_node(small);
        let big = graph();
        let nodes = nodes(big, &own, small);
        let memory_graph = graph();
        let mut wish = allocation();
        let allocate = get!(cuGraphAddMemAllocNode(memory_graph, null(), 0, &mut wish));
        let free = get!(cuGraphAddMemFreeNode(memory_graph, &allocate, 1, wish.dptr));
        let semaphore_graph = graph();
        let (mut signal, mut await_signal) = (null_mut(), null_mut());
        if !shared.semaphore.is_null() {
            signal = get!(cuGraphAddExternalSemaphoresSignalNode(
                semaphore_graph,
                null(),
                0,
                signal_parameters(shared.semaphore)
            ));
            await_signal = get!(cuGraphAddExternalSemaphoresWaitNode(
                semaphore_graph,
                &signal,
                1,
                wait_parameters(shared.semaphore)
            ));
        }
        Self {
            exec: instantiate(big),
            graph: big,
            nodes,
            small,
            small_node,
            clone: get!(cuGraphClone(small)),
            memory_graph,
            allocate,
            free,
            semaphore_exec: instantiate(semaphore_graph),
            signal,
            await_signal,
            shared_event: get!(cuEventCreate(6)),
            own,
            shared,
            other,
            far,
            gone,
            gone_shared,
            streams: RefCell::default(),
        }
    }

    /// A stream for one call, after which it is destroyed.
    pub fn stream(&self) -> CUstream {
        let stream = stream();
        self.streams.borrow_mut().push(stream);
        stream
    }

    /// The same, capturing.
    pub fn capturing(&self) -> CUstream {
        let stream = self.stream();
        ok!(cuStreamBeginCapture_v2(stream, RELAXED));
        stream
    }

    /// Ends what a call left.
    pub fn tidy(&self) {
        ok!(cuCtxSetCurrent(self.own.context));
        for stream in self.streams.borrow_mut().drain(..) {
            // SAFETY: the call may have destroyed the stream on the simulator, which finds that out; on a GPU, see `table`.
            let _ = unsafe { cuStreamDestroy_v2(stream) };
        }
        let foreign = [Some(&self.other), self.far.as_ref()];
        for objects in foreign.into_iter().flatten() {
            // SAFETY: what the capture made, if there is one, is nobody's, and the stream lives: a call that ended it is followed by a new
            // world.
            let _ = unsafe { cuStreamEndCapture(objects.stream, out()) };
        }
        let mut mode = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_GLOBAL;
        ok!(cuThreadExchangeStreamCaptureMode(&mut mode));
    }

    /// The stream is destroyed by the call itself.
    pub fn forget_stream(&self, stream: CUstream) -> CUstream {
        self.streams.borrow_mut().retain(|other| *other != stream);
        stream
    }

    /// Parameters of a kernel that stores.
    pub fn store(&self) -> *mut *mut c_void {
        slot([slot(self.own.memory).cast::<c_void>()]).cast()
    }
}

pub const RELAXED: CUstreamCaptureMode = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED;

fn nodes(graph: CUgraph, own: &Objects, child: CUgraph) -> Nodes {
    let memory = own.memory;
    let empty = empty_node(graph);
    let after = [empty];
    Nodes {
        empty,
        kernel: get!(cuGraphAddKernelNode_v2(
            graph,
            after.as_ptr(),
            1,
            kernel_node_parameters(own)
        )),
        copy: copy_node(graph, &after, memory + 1024, memory + 2048, 64),
        fill: fill_node(graph, &after, memory + 3072, 1, 4),
        host: get!(cuGraphAddHostNode(
            graph,
            after.as_ptr(),
            1,
            host_parameters()
        )),
        record: get!(cuGraphAddEventRecordNode(
            graph,
            after.as_ptr(),
            1,
            own.event
        )),
        wait: get!(cuGraphAddEventWaitNode(graph, after.as_ptr(), 1, own.event)),
        child: get!(cuGraphAddChildGraphNode(graph, after.as_ptr(), 1, child)),
        batch: get!(cuGraphAddBatchMemOpNode(
            graph,
            after.as_ptr(),
            1,
            batch_parameters(own)
        )),
    }
}

pub fn allocation() -> CUDA_MEM_ALLOC_NODE_PARAMS {
    let mut wish = CUDA_MEM_ALLOC_NODE_PARAMS::default();
    wish.poolProps.allocType = CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED;
    wish.poolProps.location.type_ = CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE;
    wish.bytesize = BYTES;
    wish
}

pub fn host_parameters() -> *const CUDA_HOST_NODE_PARAMS {
    given(CUDA_HOST_NODE_PARAMS {
        fn_: NOTHING,
        userData: null_mut(),
    })
}

pub fn kernel_node_parameters(own: &Objects) -> *const CUDA_KERNEL_NODE_PARAMS {
    let pointers: &'static mut [*mut c_void] = Box::leak(Box::new([slot(own.memory).cast()]));
    given(kernel_parameters(own.function, 1, pointers))
}

pub fn first_kernel_node_parameters(own: &Objects) -> *const CUDA_KERNEL_NODE_PARAMS_v1 {
    given(CUDA_KERNEL_NODE_PARAMS_v1 {
        func: own.idle,
        gridDimX: 1,
        gridDimY: 1,
        gridDimZ: 1,
        blockDimX: 1,
        blockDimY: 1,
        blockDimZ: 1,
        ..Default::default()
    })
}

/// A write of a word, as a list of operations.
pub fn memory_operations(own: &Objects) -> *mut CUstreamBatchMemOpParams {
    let mut operation = CUstreamBatchMemOpParams::default();
    operation.writeValue = CUstreamBatchMemOpParams_union_CUstreamMemOpWriteValueParams_st {
        operation: CUstreamBatchMemOpType::CU_STREAM_MEM_OP_WRITE_VALUE_32,
        address: own.memory,
        ..Default::default()
    };
    slot(operation)
}

pub fn batch_parameters(own: &Objects) -> *const CUDA_BATCH_MEM_OP_NODE_PARAMS {
    given(CUDA_BATCH_MEM_OP_NODE_PARAMS {
        ctx: own.context,
        count: 1,
        paramArray: memory_operations(own),
        flags: 0,
    })
}

pub fn signal_parameters(semaphore: CUexternalSemaphore) -> *const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS {
    given(CUDA_EXT_SEM_SIGNAL_NODE_PARAMS {
        extSemArray: slot(semaphore),
        paramsArray: given(CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS::default()),
        numExtSems: 1,
    })
}

pub fn wait_parameters(semaphore: CUexternalSemaphore) -> *const CUDA_EXT_SEM_WAIT_NODE_PARAMS {
    given(CUDA_EXT_SEM_WAIT_NODE_PARAMS {
        extSemArray: slot(semaphore),
        paramsArray: given(CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS::default()),
        numExtSems: 1,
    })
}

/// Leaves the calling thread without a context.
pub fn leave_context() {
    // SAFETY: nothing is written.
    while unsafe { cuCtxPopCurrent_v2(null_mut()) }.0 == 0 {}
}

/// Leaves the calling thread with a context that another one has destroyed.
pub fn enter_ended_context() {
    leave_context();
    let context = get_context() as usize;
    let end = move || ok!(cuCtxDestroy_v2(context as CUcontext));
    std::thread::spawn(end).join().expect("it was destroyed");
}

fn get_context() -> CUcontext {
    get!(cuCtxCreate_v2(0, 0))
}

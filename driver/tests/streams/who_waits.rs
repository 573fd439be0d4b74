//! Which calls of the driver wait while a stream is held up that has nothing to do with them, and which enqueue work behind what holds a stream
//! up without waiting for it. The manual does not say; the test tells (`--nocapture`), and holds what does not depend on it: that each is done
//! once the stream goes on.

use std::sync::mpsc;
use std::time::Duration;

use crate::common::graphs::{graph, host_node, instantiate, kernel_node};
use crate::common::*;

/// So long a call is waited for before it counts as one that waits.
const WHILE: Duration = Duration::from_millis(300);
const BYTES: usize = 2 << 20;

const NOTHING: &str = warpsmith_testkit::ptx!("7.8", "sm_90", ".visible .entry nothing() { ret; }");

/// A call, on a thread of its own; it is given the stream that is held up.
type Call = Box<dyn FnOnce(CUstream)>;

/// What is made before the stream is held up, and what is called meanwhile.
struct Case {
    call: &'static str,
    prepare: fn() -> Call,
}

/// What goes to another thread.
struct Sent<T>(T);

// SAFETY: handles of the driver, and addresses, may be used by any thread.
unsafe impl<T> Send for Sent<T> {}

impl<T> Sent<T> {
    fn get(self) -> T {
        self.0
    }
}

macro_rules! case {
    ($call:expr, $prepare:block, |$value:pat_param, $held:pat_param| $body:expr) => {
        Case {
            call: $call,
            prepare: || {
                let value = $prepare;
                Box::new(move |$held| {
                    let $value = value;
                    $body;
                })
            },
        }
    };
}

fn module() -> CUmodule {
    let image = format!("{NOTHING}\0");
    get!(cuModuleLoadData(image.as_ptr().cast()))
}

fn function() -> CUfunction {
    get!(cuModuleGetFunction(module(), c"nothing".as_ptr()))
}

fn launch_in(function: CUfunction, stream: CUstream) {
    let none = null_mut();
    ok!(cuLaunchKernel(
        function, 1, 1, 1, 1, 1, 1, 0, stream, none, none
    ));
}

/// A graph with one kernel.
fn kernel_graph() -> CUgraph {
    let graph = graph();
    kernel_node(graph, &[], function(), 1, &[]);
    graph
}

fn array() -> CUarray {
    texels::array_of(
        [64, 0, 0],
        CUarray_format::CU_AD_FORMAT_UNSIGNED_INT32,
        1,
        2, // CUDA_ARRAY3D_SURFACE_LDST
    )
}

fn of_array(array: CUarray) -> CUDA_RESOURCE_DESC {
    let mut resource = CUDA_RESOURCE_DESC {
        resType: CUresourcetype::CU_RESOURCE_TYPE_ARRAY,
        ..Default::default()
    };
    resource.res.array.hArray = array;
    resource
}

fn texture(array: CUarray) -> CUtexObject {
    get!(cuTexObjectCreate(
        &of_array(array),
        &CUDA_TEXTURE_DESC::default(),
        null()
    ))
}

fn mipmapped() -> CUmipmappedArray {
    let descriptor = CUDA_ARRAY3D_DESCRIPTOR {
        Width: 64,
        Height: 64,
        Format: CUarray_format::CU_AD_FORMAT_UNSIGNED_INT32,
        NumChannels: 1,
        ..Default::default()
    };
    get!(cuMipmappedArrayCreate(&descriptor, 2))
}

fn device() -> CUmemLocation {
    CUmemLocation {
        type_: CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE,
        ..Default::default()
    }
}

fn pool() -> CUmemoryPool {
    get!(cuMemPoolCreate(&CUmemPoolProps {
        allocType: CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED,
        location: device(),
        ..Default::default()
    }))
}

fn physical() -> CUmemGenericAllocationHandle {
    get!(cuMemCreate(
        BYTES,
        &CUmemAllocationProp {
            type_: CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED,
            location: device(),
            ..Default::default()
        },
        0
    ))
}

fn map(address: CUdeviceptr, memory: CUmemGenericAllocationHandle) {
    ok!(cuMemMap(address, BYTES, 0, memory, 0));
    let wish = CUmemAccessDesc {
        location: device(),
        flags: CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
    };
    ok!(cuMemSetAccess(address, BYTES, &wish, 1));
}

fn addresses() -> CUdeviceptr {
    get!(cuMemAddressReserve(BYTES, 0, 0, 0))
}

fn mapped() -> (CUdeviceptr, CUmemGenericAllocationHandle) {
    let (address, memory) = (addresses(), physical());
    map(address, memory);
    (address, memory)
}

/// Page-aligned memory of the process, which stays.
fn pages() -> *mut c_void {
    Box::leak(vec![0_u8; BYTES].into_boxed_slice())
        .as_mut_ptr()
        .cast()
}

fn registered() -> *mut c_void {
    let memory = pages();
    ok!(cuMemHostRegister_v2(memory, BYTES, 2)); // CU_MEMHOSTREGISTER_DEVICEMAP
    memory
}

fn allocated_in(stream: CUstream) -> CUdeviceptr {
    let address = get!(cuMemAllocAsync(BYTES, stream));
    ok!(cuStreamSynchronize(stream));
    address
}

fn from_pool(pool: CUmemoryPool, stream: CUstream) -> CUdeviceptr {
    let address = get!(cuMemAllocFromPoolAsync(BYTES, pool, stream));
    ok!(cuStreamSynchronize(stream));
    address
}

/// What frees, on objects that the stream does not use.
const FREES: &[Case] = &[
    case!("cuMemFree", { upload(&[0_u32]) }, |at, _| ok!(
        cuMemFree_v2(at)
    )),
    case!(
        "cuMemFree of managed memory",
        { get!(cuMemAllocManaged(BYTES, 1)) },
        |at, _| ok!(cuMemFree_v2(at))
    ),
    case!("cuMemFreeHost", { pinned::<u32>(1) }, |at, _| ok!(
        cuMemFreeHost(at.cast())
    )),
    case!("cuMemHostUnregister", { registered() }, |at, _| ok!(
        cuMemHostUnregister(at)
    )),
    case!(
        "cuMemFreeAsync",
        {
            let stream = stream();
            (allocated_in(stream), stream)
        },
        |(at, stream), _| ok!(cuMemFreeAsync(at, stream))
    ),
    case!("cuArrayDestroy", { array() }, |array, _| ok!(
        cuArrayDestroy(array)
    )),
    case!("cuMipmappedArrayDestroy", { mipmapped() }, |array, _| ok!(
        cuMipmappedArrayDestroy(array)
    )),
    case!(
        "cuTexObjectDestroy",
        { texture(array()) },
        |texture, _| ok!(cuTexObjectDestroy(texture))
    ),
    case!(
        "cuSurfObjectDestroy",
        { get!(cuSurfObjectCreate(&of_array(array()))) },
        |surface, _| ok!(cuSurfObjectDestroy(surface))
    ),
    case!("cuMemUnmap", { mapped().0 }, |at, _| ok!(cuMemUnmap(
        at, BYTES
    ))),
    case!("cuMemRelease", { physical() }, |memory, _| ok!(
        cuMemRelease(memory)
    )),
    case!(
        "cuMemRelease of what is mapped",
        { mapped().1 },
        |memory, _| ok!(cuMemRelease(memory))
    ),
    case!("cuMemAddressFree", { addresses() }, |at, _| ok!(
        cuMemAddressFree(at, BYTES)
    )),
    case!("cuMemPoolDestroy", { pool() }, |pool, _| ok!(
        cuMemPoolDestroy(pool)
    )),
    case!(
        "cuMemPoolDestroy with memory that was freed",
        {
            let (pool, stream) = (pool(), stream());
            ok!(cuMemFreeAsync(from_pool(pool, stream), stream));
            ok!(cuStreamSynchronize(stream));
            pool
        },
        |pool, _| ok!(cuMemPoolDestroy(pool))
    ),
    case!(
        "cuMemPoolTrimTo",
        {
            let (pool, stream) = (pool(), stream());
            let mut most = u64::MAX;
            let key = CUmemPool_attribute::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD;
            ok!(cuMemPoolSetAttribute(pool, key, (&raw mut most).cast()));
            ok!(cuMemFreeAsync(from_pool(pool, stream), stream));
            ok!(cuStreamSynchronize(stream));
            pool
        },
        |pool, _| ok!(cuMemPoolTrimTo(pool, 0))
    ),
    case!(
        "cuStreamDestroy",
        {
            let stream = stream();
            ok!(cuStreamSynchronize(stream));
            stream
        },
        |stream, _| ok!(cuStreamDestroy_v2(stream))
    ),
    case!(
        "cuEventDestroy",
        { get!(cuEventCreate(2)) },
        |event, _| ok!(cuEventDestroy_v2(event))
    ),
    case!("cuGraphDestroy", { kernel_graph() }, |graph, _| ok!(
        cuGraphDestroy(graph)
    )),
    case!(
        "cuGraphExecDestroy of a host function",
        {
            let graph = graph();
            host_node(graph, &[], counter());
            instantiate(graph)
        },
        |exec, _| ok!(cuGraphExecDestroy(exec))
    ),
    case!(
        "cuGraphExecDestroy of a kernel",
        { instantiate(kernel_graph()) },
        |exec, _| ok!(cuGraphExecDestroy(exec))
    ),
    case!("cuModuleUnload", { module() }, |module, _| ok!(
        cuModuleUnload(module)
    )),
    case!(
        "cuModuleUnload of a kernel that has run",
        {
            let module = module();
            let function = get!(cuModuleGetFunction(module, c"nothing".as_ptr()));
            launch_in(function, null_mut());
            ok!(cuCtxSynchronize());
            module
        },
        |module, _| ok!(cuModuleUnload(module))
    ),
];

/// What makes objects and asks for states.
const MAKERS: &[Case] = &[
    case!("cuMemAlloc", {}, |(), _| {
        let _: CUdeviceptr = get!(cuMemAlloc_v2(BYTES));
    }),
    case!("cuMemAllocManaged", {}, |(), _| {
        let _: CUdeviceptr = get!(cuMemAllocManaged(BYTES, 1));
    }),
    case!("cuMemHostAlloc", {}, |(), _| pinned::<u32>(1 << 20)),
    case!("cuMemHostRegister", {}, |(), _| registered()),
    case!("cuMemAllocAsync", { stream() }, |stream, _| {
        let _: CUdeviceptr = get!(cuMemAllocAsync(BYTES, stream));
    }),
    case!("cuArrayCreate", {}, |(), _| array()),
    case!("cuTexObjectCreate", { array() }, |array, _| texture(array)),
    case!("cuMemCreate", {}, |(), _| physical()),
    case!(
        "cuMemMap and cuMemSetAccess",
        { (addresses(), physical()) },
        |(address, memory), _| map(address, memory)
    ),
    case!("cuMemPoolCreate", {}, |(), _| pool()),
    case!("cuStreamCreate", {}, |(), _| stream()),
    case!("cuEventCreate", {}, |(), _| {
        let _: CUevent = get!(cuEventCreate(2));
    }),
    case!("cuModuleLoadData", {}, |(), _| module()),
    case!("cuModuleGetFunction", { module() }, |module, _| {
        let _: CUfunction = get!(cuModuleGetFunction(module, c"nothing".as_ptr()));
    }),
    case!(
        "cuGraphInstantiate of a kernel",
        { kernel_graph() },
        |graph, _| instantiate(graph)
    ),
    case!("cuMemGetInfo", {}, |(), _| {
        let (mut free, mut total) = (0, 0);
        ok!(cuMemGetInfo_v2(&mut free, &mut total));
    }),
];

/// Work in a stream that is not held up.
const BESIDE: &[Case] = &[
    case!(
        "cuLaunchKernel for the first time",
        { (function(), stream()) },
        |(function, stream), _| launch_in(function, stream)
    ),
    case!(
        "cuGraphLaunch for the first time",
        { (instantiate(kernel_graph()), stream()) },
        |(exec, stream), _| ok!(cuGraphLaunch(exec, stream))
    ),
    case!(
        "cuMemcpyAsync from page-locked to page-locked memory",
        { (pinned::<u32>(64) as u64, pinned::<u32>(64) as u64, stream()) },
        |(from, to, stream), _| ok!(cuMemcpyAsync(to, from, 256, stream))
    ),
    case!(
        "a copy to pageable memory, and cuStreamSynchronize",
        { (upload(&[0_u32; 64]), stream()) },
        |(from, stream), _| {
            let mut words = [0_u32; 64];
            let to = words.as_mut_ptr().cast();
            ok!(cuMemcpyDtoHAsync_v2(to, from, 256, stream));
            ok!(cuStreamSynchronize(stream));
        }
    ),
    case!(
        "a host function, and cuStreamSynchronize",
        { stream() },
        |stream, _| {
            let counter = core::ptr::from_ref(counter()).cast_mut().cast();
            ok!(cuLaunchHostFunc(stream, Some(count_up), counter));
            ok!(cuStreamSynchronize(stream));
        }
    ),
];

/// Work in the stream that is held up.
const BEHIND: &[Case] = &[
    case!(
        "cuLaunchKernel for the first time",
        { function() },
        |function, held| launch_in(function, held)
    ),
    case!(
        "cuGraphLaunch for the first time",
        { instantiate(kernel_graph()) },
        |exec, held| ok!(cuGraphLaunch(exec, held))
    ),
    case!(
        "cuMemcpyAsync from page-locked to page-locked memory",
        { (pinned::<u32>(64) as u64, pinned::<u32>(64) as u64) },
        |(from, to), held| ok!(cuMemcpyAsync(to, from, 256, held))
    ),
    case!(
        "cuMemcpyDtoHAsync from page-locked to page-locked memory",
        { (pinned::<u32>(64) as u64, pinned::<u32>(64)) },
        |(from, to), held| ok!(cuMemcpyDtoHAsync_v2(to.cast(), from, 256, held))
    ),
    case!(
        "cuMemcpyDtoHAsync from registered to page-locked memory",
        { (registered() as u64, pinned::<u32>(64)) },
        |(from, to), held| ok!(cuMemcpyDtoHAsync_v2(to.cast(), from, 256, held))
    ),
    case!(
        "cuMemcpyDtoHAsync to page-locked memory",
        { (upload(&[0_u32; 64]), pinned::<u32>(64)) },
        |(from, to), held| ok!(cuMemcpyDtoHAsync_v2(to.cast(), from, 256, held))
    ),
    case!(
        "cuMemcpyHtoDAsync from page-locked memory",
        { (upload(&[0_u32; 64]), pinned::<u32>(64)) },
        |(to, from), held| ok!(cuMemcpyHtoDAsync_v2(to, from.cast(), 256, held))
    ),
    case!(
        "cuMemcpyAsync from device to page-locked memory",
        { (upload(&[0_u32; 64]), pinned::<u32>(64) as u64) },
        |(from, to), held| ok!(cuMemcpyAsync(to, from, 256, held))
    ),
    case!(
        "cuMemcpy3DAsync from an array to page-locked memory",
        { (array(), pinned::<u32>(64) as u64) },
        |(array, to), held| {
            let copy = CUDA_MEMCPY3D {
                srcMemoryType: CUmemorytype::CU_MEMORYTYPE_ARRAY,
                srcArray: array,
                dstMemoryType: CUmemorytype::CU_MEMORYTYPE_UNIFIED,
                dstDevice: to,
                WidthInBytes: 256,
                Height: 1,
                Depth: 1,
                ..Default::default()
            };
            ok!(cuMemcpy3DAsync_v2(&copy, held));
        }
    ),
    case!("cuMemsetD8Async", { upload(&[0_u32; 64]) }, |at, held| ok!(
        cuMemsetD8Async(at, 0, 256, held)
    )),
    case!(
        "cuMemFreeAsync",
        { allocated_in(stream()) },
        |at, held| ok!(cuMemFreeAsync(at, held))
    ),
    case!("cuMemAllocAsync", {}, |(), held| {
        let _: CUdeviceptr = get!(cuMemAllocAsync(BYTES, held));
    }),
    case!(
        "cuEventRecord and cuEventQuery",
        { get!(cuEventCreate(2)) },
        |event, held| {
            ok!(cuEventRecord(event, held));
            fails!(600, cuEventQuery(event));
            ok!(cuEventDestroy_v2(event));
        }
    ),
    case!("cuStreamQuery", {}, |(), held| fails!(
        600,
        cuStreamQuery(held)
    )),
    case!("cuStreamDestroy", {}, |(), held| {
        // Another one, which waits for it.
        let (event, follower): (CUevent, _) = (get!(cuEventCreate(2)), stream());
        ok!(cuEventRecord(event, held));
        ok!(cuStreamWaitEvent(follower, event, 0));
        ok!(cuStreamDestroy_v2(follower));
    }),
];

/// What holds a stream up until the host lets it go on.
trait Hold {
    const NAME: &'static str;
    fn new(stream: CUstream) -> Self;
    fn let_go(&self);
}

/// A function on the host.
struct Function(&'static Gate);

impl Hold for Function {
    const NAME: &'static str = "a host function";

    fn new(stream: CUstream) -> Self {
        let gate = Gate::new();
        gate.block(stream);
        Self(gate)
    }

    fn let_go(&self) {
        self.0.open();
    }
}

/// A wait for a word.
struct Wait(Word);

impl Hold for Wait {
    const NAME: &'static str = "a wait for a word";

    fn new(stream: CUstream) -> Self {
        let word = Word::new();
        ok!(cuStreamWaitValue32_v2(stream, word.address(), 1, 0));
        Self(word)
    }

    fn let_go(&self) {
        self.0.store(1);
    }
}

/// Makes the calls of all cases, each while a stream is held up in this way.
fn tell<H: Hold>(backend: Backend, role: &str, cases: &[Case]) {
    for case in cases {
        let call = Sent((case.prepare)());
        ok!(cuCtxSynchronize());
        let held = stream();
        let hold = H::new(held);
        let (done, is_done) = mpsc::channel();
        let held_there = Sent(held);
        let thread = std::thread::spawn(move || {
            gpu();
            call.get()(held_there.get());
            done.send(()).expect("the test waits");
        });
        let waits = is_done.recv_timeout(WHILE).is_err();
        let answer = if waits { "WAITS" } else { "passes" };
        println!("{backend:?}, {}: {role}: {}: {answer}", H::NAME, case.call);
        hold.let_go();
        thread
            .join()
            .expect("the call is done once the stream goes on");
        ok!(cuCtxSynchronize());
        ok!(cuStreamDestroy_v2(held));
    }
}

fn tell_all<H: Hold>() {
    let _turn = turn();
    let backend = gpu();
    tell::<H>(backend, "frees", FREES);
    tell::<H>(backend, "makes", MAKERS);
    tell::<H>(backend, "beside it", BESIDE);
    tell::<H>(backend, "behind it", BEHIND);
}

#[test]
fn for_a_host_function() {
    tell_all::<Function>();
}

#[test]
fn for_a_word() {
    tell_all::<Wait>();
}

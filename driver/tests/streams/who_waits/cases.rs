//! The calls of the test.

use super::objects::*;
use super::{BYTES, Case};
use crate::common::graphs::{graph, host_node, instantiate};
use crate::common::*;

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

/// What frees, on objects that the stream does not use.
pub const FREES: &[Case] = &[
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
pub const MAKERS: &[Case] = &[
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
pub const BESIDE: &[Case] = &[
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
pub const BEHIND: &[Case] = &[
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

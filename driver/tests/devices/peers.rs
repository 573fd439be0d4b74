//! Several devices: peer access, copies between them, and their pools. On the simulator, which can show several, in processes of their own;
//! what one device answers about itself, on a GPU, too.

use crate::common::*;
use warpsmith_driver::fault;
use warpsmith_testkit::{Side, own_process};

/// Runs the calling test in a process of its own, which sees two simulated devices. `true` there.
pub fn with_two_devices() -> bool {
    with_devices("2")
}

/// As [`with_two_devices`], with so many.
fn with_devices(count: &str) -> bool {
    let variables = [
        ("WARPSMITH_DEVICE", "simulator"),
        ("WARPSMITH_SIMULATOR_DEVICES", count),
        ("WARPSMITH_REPORT", "0"),
    ];
    matches!(own_process(&variables), Side::Child)
}

/// Adds to a word, plainly or atomically for the whole system; the second is slow to begin.
const PTX: &core::ffi::CStr = c"
.version 7.8
.target sm_90
.address_size 64
.visible .entry add(.param .u64 at, .param .u64 by)
{
    .reg .b32 %r<4>; .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [at];
    ld.param.u32 %r1, [by];
    ld.global.u32 %r2, [%rd1];
    add.u32 %r3, %r1, %r2;
    st.global.u32 [%rd1], %r3;
    ret;
}
.visible .entry count(.param .u64 at, .param .u64 by)
{
    .reg .b32 %r<2>; .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [at];
    ld.param.u32 %r1, [by];
    red.sys.global.add.u32 [%rd1], %r1;
    ret;
}
";

/// A device's primary context, made current, with the kernels.
pub struct Device {
    context: CUcontext,
    module: CUmodule,
}

impl Device {
    fn new(ordinal: CUdevice) -> Device {
        let context: CUcontext = get!(cuDevicePrimaryCtxRetain(ordinal));
        ok!(cuCtxSetCurrent(context));
        Device::of_current(context)
    }

    /// The current context, with the kernels.
    pub fn of_current(context: CUcontext) -> Device {
        let module = get!(cuModuleLoadData(PTX.as_ptr().cast()));
        Device { context, module }
    }

    pub fn function(&self, name: &core::ffi::CStr) -> CUfunction {
        get!(cuModuleGetFunction(self.module, name.as_ptr()))
    }

    pub fn enter(&self) {
        ok!(cuCtxSetCurrent(self.context));
    }

    /// Launches a kernel of so many threads in a stream of this device, which is current afterwards.
    fn launch(&self, name: &core::ffi::CStr, threads: u32, stream: CUstream, at: CUdeviceptr) {
        self.enter();
        let function = self.function(name);
        let mut arguments = [at, 1];
        let [first, second] = &mut arguments;
        let mut parameters: [*mut c_void; 2] =
            [(&raw mut *first).cast(), (&raw mut *second).cast()];
        let (parameters, none) = (parameters.as_mut_ptr(), null_mut());
        ok!(cuLaunchKernel(
            function, 1, 1, 1, threads, 1, 1, 0, stream, parameters, none
        ));
    }

    /// Adds 1 to a word on the default stream.
    pub fn add(&self, at: CUdeviceptr) {
        self.launch(c"add", 1, null_mut(), at);
    }
}

pub fn two_devices() -> [Device; 2] {
    gpu();
    let second = Device::new(1);
    [Device::new(0), second]
}

/// Both devices: what a wrong access of `device` says, in a context that is lost by it.
pub fn fault_of(device: CUdevice, address: CUdeviceptr) -> String {
    let before: CUcontext = get!(cuCtxGetCurrent());
    let context: CUcontext = get!(cuCtxCreate_v2(0, device));
    let lost = Device::of_current(context);
    lost.add(address);
    fails!(700, cuCtxSynchronize());
    let text = fault(context).expect("a fault").to_string();
    ok!(cuCtxDestroy_v2(context));
    ok!(cuCtxSetCurrent(before));
    text
}

#[test]
fn a_device_is_no_peer_of_itself() {
    let _turn = turn();
    gpu();
    let context: CUcontext = get!(cuCtxGetCurrent());
    let mut value = 7;
    ok!(cuDeviceCanAccessPeer(&mut value, 0, 0));
    assert_eq!(value, 0);
    fails!(1, cuDeviceCanAccessPeer(null_mut(), 0, 0));
    fails!(101, cuDeviceCanAccessPeer(&mut value, 0, 99));
    let rank = CUdevice_P2PAttribute::CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK;
    fails!(101, cuDeviceGetP2PAttribute(&mut value, rank, 0, 0));
    fails!(101, cuDeviceGetP2PAttribute(&mut value, rank, 0, 99));
    fails!(1, cuDeviceGetP2PAttribute(null_mut(), rank, 0, 0));
    fails!(217, cuCtxEnablePeerAccess(context, 0));
    fails!(1, cuCtxEnablePeerAccess(context, 1));
    fails!(201, cuCtxEnablePeerAccess(null_mut(), 0));
    fails!(705, cuCtxDisablePeerAccess(context));
    fails!(201, cuCtxDisablePeerAccess(null_mut()));
}

#[test]
fn peer_copies_take_any_context_and_no_capture() {
    // covers: MULTI-09
    let _turn = turn();
    gpu();
    let (context, stream): (CUcontext, _) = (get!(cuCtxGetCurrent()), stream());
    let (from, to) = (upload(&[5u32; 64]), upload(&[0u32; 64]));
    ok!(cuMemcpyPeer(to, context, from, context, 128));
    ok!(cuMemcpyPeer(to + 128, null_mut(), from, null_mut(), 64));
    ok!(cuMemcpyPeerAsync(
        to + 192,
        context,
        from,
        null_mut(),
        64,
        stream
    ));
    ok!(cuStreamSynchronize(stream));
    assert_eq!(download::<u32>(to, 64), [5; 64]);
    ok!(cuMemcpyPeer(0, context, 0, context, 0));
    fails!(1, cuMemcpyPeer(to, context, from, context, 1 << 40));
    let host = [1u32; 16];
    fails!(
        1,
        cuMemcpyPeer(to, context, host.as_ptr() as u64, context, 64)
    );
    let mode = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_GLOBAL;
    ok!(cuStreamBeginCapture_v2(stream, mode));
    fails!(
        900,
        cuMemcpyPeerAsync(to, context, from, context, 64, stream)
    );
    let mut graph: CUgraph = null_mut();
    fails!(901, cuStreamEndCapture(stream, &mut graph));

    // Two layers of two rows of two words, out of rows of eight.
    let wish = CUDA_MEMCPY3D_PEER {
        srcXInBytes: 4,
        srcMemoryType: CUmemorytype::CU_MEMORYTYPE_DEVICE,
        srcDevice: upload(&(0..64u32).collect::<Vec<_>>()),
        srcContext: context,
        srcPitch: 32,
        srcHeight: 4,
        dstMemoryType: CUmemorytype::CU_MEMORYTYPE_DEVICE,
        dstDevice: to,
        dstContext: context,
        dstPitch: 8,
        dstHeight: 2,
        WidthInBytes: 8,
        Height: 2,
        Depth: 2,
        ..Default::default()
    };
    ok!(cuMemcpy3DPeer(&wish));
    assert_eq!(download::<u32>(to, 8), [1, 2, 9, 10, 33, 34, 41, 42]);
    let elsewhere = CUDA_MEMCPY3D_PEER {
        dstDevice: to + 64,
        srcContext: null_mut(),
        dstContext: null_mut(),
        ..wish
    };
    ok!(cuMemcpy3DPeerAsync(&elsewhere, stream));
    ok!(cuStreamSynchronize(stream));
    assert_eq!(download::<u32>(to + 64, 2), [1, 2]);
    let narrow = CUDA_MEMCPY3D_PEER {
        srcPitch: 4,
        ..wish
    };
    fails!(1, cuMemcpy3DPeer(&narrow));
    let nowhere = CUDA_MEMCPY3D_PEER {
        srcMemoryType: CUmemorytype_enum(0),
        ..wish
    };
    fails!(1, cuMemcpy3DPeer(&nowhere));
    ok!(cuStreamDestroy_v2(stream));
}

#[test]
fn kernels_reach_another_device_only_with_peer_access() {
    // covers: MULTI-07, MULTI-X04
    if !with_two_devices() {
        return;
    }
    let [first, second] = two_devices();
    let mut there = 0;
    for (one, other) in [(0, 1), (1, 0)] {
        ok!(cuDeviceCanAccessPeer(&mut there, one, other));
        assert_eq!(there, 1);
    }
    use CUdevice_P2PAttribute as Attribute;
    for (attribute, expected) in [
        (Attribute::CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK, 0),
        (Attribute::CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, 1),
        (
            Attribute::CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED,
            1,
        ),
    ] {
        let value: c_int = get!(cuDeviceGetP2PAttribute(attribute, 0, 1));
        assert_eq!(value, expected);
    }
    let unknown = CUdevice_P2PAttribute_enum(99);
    fails!(1, cuDeviceGetP2PAttribute(&mut there, unknown, 0, 1));

    first.enter();
    let memory = upload(&[40u32]);
    let why = "memory of another device, and peer access to that is not enabled";
    let text = fault_of(1, memory);
    assert!(text.contains(why), "{text}");

    // Device 1 reaches device 0 from here on, and not the other way round.
    second.enter();
    let on_second = upload(&[0u32]);
    ok!(cuCtxEnablePeerAccess(first.context, 0));
    fails!(704, cuCtxEnablePeerAccess(first.context, 0));
    second.add(memory);
    // Default streams of two contexts do not wait for each other.
    ok!(cuCtxSynchronize());
    first.add(memory);
    ok!(cuCtxSynchronize());
    second.enter();
    // Also what is allocated later.
    first.enter();
    let later = upload(&[1u32]);
    second.add(later);
    ok!(cuCtxSynchronize());
    assert_eq!(
        [memory, later].map(|word| download::<u32>(word, 1)[0]),
        [42, 2]
    );
    let text = fault_of(0, on_second);
    assert!(text.contains(why), "{text}");

    second.enter();
    ok!(cuCtxDisablePeerAccess(first.context));
    fails!(705, cuCtxDisablePeerAccess(first.context));
    second.add(memory);
    fails!(700, cuCtxSynchronize());
}

#[test]
fn copies_between_devices_need_no_peer_access() {
    // covers: MULTI-09, MULTI-X05
    if !with_two_devices() {
        return;
    }
    let [first, second] = two_devices();
    second.enter();
    let there = upload(&[0u32; 4]);
    first.enter();
    let here = upload(&[1u32; 4]);
    ok!(cuMemcpyPeer(there, second.context, here, first.context, 16));
    assert_eq!(download::<u32>(there, 4), [1; 4]);
    ok!(cuMemcpyDtoD_v2(here, there, 8));
    ok!(cuCtxSynchronize());
    // The copy alone puts the kernels of both devices in order.
    for _ in 0..20 {
        first.add(here);
        ok!(cuMemcpyPeer(there, second.context, here, first.context, 4));
        second.add(there);
        ok!(cuMemcpyPeer(here, first.context, there, second.context, 4));
    }
    assert_eq!(download::<u32>(here, 1), [41]);
}

#[test]
fn a_copy_on_the_default_stream_comes_between_the_work_of_both_devices() {
    // covers: MULTI-06, MULTI-10
    if !with_two_devices() {
        return;
    }
    let [first, second] = two_devices();
    let default: CUstream = null_mut();
    second.enter();
    let (there, stream_there) = (upload(&[0u32]), stream());
    first.enter();
    let (here, stream_here) = (upload(&[7u32]), stream());
    let gate = Word::new();
    let is_done = |stream| {
        // SAFETY: the streams live to the end of the test.
        let answer = unsafe { cuStreamQuery(stream) }.0;
        assert!(answer == 0 || answer == 600, "{answer}");
        answer == 0
    };
    // The default streams by themselves are independent: one that is held up holds no other one up.
    ok!(cuStreamWaitValue32_v2(default, gate.address(), 1, 0));
    second.enter();
    ok!(cuMemsetD32Async(there, 3, 1, default));
    ok!(cuStreamSynchronize(default));
    // The copy waits for the first device, and what comes after it on the second one for the copy, in each stream.
    ok!(cuMemcpyPeerAsync(
        there,
        second.context,
        here,
        first.context,
        4,
        default
    ));
    ok!(cuMemcpyDtoDAsync_v2(there, there, 4, stream_there));
    assert!(!is_done(default) && !is_done(stream_there));
    // One in a stream of its own waits for nobody.
    first.enter();
    ok!(cuMemcpyPeerAsync(
        here,
        first.context,
        here,
        first.context,
        4,
        stream_here
    ));
    assert!(!is_done(stream_here), "it was submitted after the copy");
    gate.store(1);
    for stream in [stream_here, stream_there] {
        ok!(cuStreamSynchronize(stream));
    }
    assert_eq!(download::<u32>(there, 1), [7]);
}

/// A device of a pool's access.
pub fn on(device: c_int) -> CUmemLocation {
    let mut location = CUmemLocation {
        type_: CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE,
        ..Default::default()
    };
    location.__bindgen_anon_1.id = device;
    location
}

fn access(pool: CUmemoryPool, mut location: CUmemLocation) -> u32 {
    let flags: CUmemAccess_flags = get!(cuMemPoolGetAccess(pool, &mut location));
    flags.0
}

#[test]
fn a_device_cannot_lose_its_own_pool() {
    // covers: POOL-28
    let _turn = turn();
    gpu();
    let pool: CUmemoryPool = get!(cuDeviceGetDefaultMemPool(0));
    assert_eq!(access(pool, on(0)), 3);
    let host = CUmemLocation {
        type_: CUmemLocationType::CU_MEM_LOCATION_TYPE_HOST,
        ..Default::default()
    };
    assert_eq!(access(pool, host), 0);
    let mut flags = CUmemAccess_flags(0);
    fails!(1, cuMemPoolGetAccess(&mut flags, pool, &mut on(99)));
    fails!(1, cuMemPoolGetAccess(&mut flags, pool, null_mut()));
    let wish = |location, flags| CUmemAccessDesc {
        location,
        flags: CUmemAccess_flags(flags),
    };
    for (code, wish) in [
        (0, wish(on(0), 3)),
        (101, wish(on(0), 0)),
        (801, wish(on(0), 1)),
        (1, wish(on(0), 2)),
        (101, wish(on(99), 3)),
        (801, wish(host, 3)),
    ] {
        fails!(code, cuMemPoolSetAccess(pool, &wish, 1));
    }
    fails!(1, cuMemPoolSetAccess(pool, null(), 0));
    fails!(1, cuMemPoolSetAccess(pool, null(), 1));
}

#[test]
fn a_pool_is_another_devices_by_its_own_access() {
    // covers: POOL-03, POOL-27, POOL-28
    if !with_two_devices() {
        return;
    }
    let [first, second] = two_devices();
    second.enter();
    let stream_there = stream();
    // The stream's device, whichever is current.
    first.enter();
    let there: CUdeviceptr = get!(cuMemAllocAsync(64, stream_there));
    let mut ordinal: CUdevice = 9;
    let key = CUpointer_attribute::CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL;
    ok!(cuPointerGetAttribute((&raw mut ordinal).cast(), key, there));
    assert_eq!(ordinal, 1);
    ok!(cuCtxSetCurrent(null_mut()));
    fails!(201, cuMemAllocAsync(&mut 0, 64, null_mut()));
    first.enter();

    let pool: CUmemoryPool = get!(cuDeviceGetDefaultMemPool(1));
    assert_eq!((access(pool, on(1)), access(pool, on(0))), (3, 0));
    ok!(cuMemsetD32Async(there, 1, 16, stream_there));
    ok!(cuStreamSynchronize(stream_there));
    let why = "has not been granted access to the memory";
    let text = fault_of(0, there);
    assert!(text.contains(why), "{text}");
    // Peer access is something else.
    ok!(cuCtxEnablePeerAccess(second.context, 0));
    let text = fault_of(0, there);
    assert!(text.contains(why), "{text}");

    let wish = |flags| CUmemAccessDesc {
        location: on(0),
        flags: CUmemAccess_flags(flags),
    };
    ok!(cuMemPoolSetAccess(pool, &wish(3), 1));
    assert_eq!(access(pool, on(0)), 3);
    // What is there, and what comes.
    let later: CUdeviceptr = get!(cuMemAllocAsync(64, stream_there));
    ok!(cuMemsetD32Async(later, 1, 16, stream_there));
    ok!(cuStreamSynchronize(stream_there));
    for memory in [there, later] {
        first.add(memory);
        ok!(cuCtxSynchronize());
        assert_eq!(download::<u32>(memory, 2), [2, 1]);
    }
    ok!(cuMemPoolSetAccess(pool, &wish(0), 1));
    let text = fault_of(0, later);
    assert!(text.contains(why), "{text}");
}

#[test]
fn managed_memory_is_every_devices() {
    // covers: UM-45
    if !with_two_devices() {
        return;
    }
    let devices = two_devices();
    let memory: CUdeviceptr = get!(cuMemAllocManaged(8, 1));
    ok!(cuMemsetD32_v2(memory, 0, 2));
    ok!(cuCtxSynchronize());
    for turn in 0..10 {
        devices[turn % 2].add(memory);
        ok!(cuCtxSynchronize());
    }
    for _ in 0..10 {
        for device in &devices {
            device.launch(c"count", 64, null_mut(), memory + 4);
        }
    }
    for device in &devices {
        device.enter();
        ok!(cuCtxSynchronize());
    }
    assert_eq!(download::<u32>(memory, 2), [10, 1280]);
}

/// A graph that allocates on the second of several devices, for those of `granted` besides, whose kernels of the devices `users` use the memory,
/// one after the other. It is for streams of the first device.
fn graph_on_the_second(devices: &[Device], granted: &[CUdevice], users: &[usize]) -> CUgraphExec {
    let mut graph: CUgraph = null_mut();
    ok!(cuGraphCreate(&mut graph, 0));
    let granted: Vec<CUmemAccessDesc> = granted
        .iter()
        .map(|&device| CUmemAccessDesc {
            location: on(device),
            flags: CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
        })
        .collect();
    let mut wish = CUDA_MEM_ALLOC_NODE_PARAMS {
        poolProps: CUmemPoolProps {
            allocType: CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED,
            location: on(1),
            ..Default::default()
        },
        accessDescs: granted.as_ptr(),
        accessDescCount: granted.len(),
        bytesize: 4,
        dptr: 0,
    };
    let mut last: CUgraphNode = null_mut();
    ok!(cuGraphAddMemAllocNode(
        &mut last,
        graph,
        null(),
        0,
        &mut wish
    ));
    let at = wish.dptr;
    let fill = CUDA_MEMSET_NODE_PARAMS {
        dst: at,
        elementSize: 4,
        width: 1,
        height: 1,
        value: 40,
        ..Default::default()
    };
    let before = last;
    ok!(cuGraphAddMemsetNode(
        &mut last,
        graph,
        &before,
        1,
        &fill,
        devices[1].context
    ));
    for &user in users {
        devices[user].enter();
        let function = devices[user].function(c"add");
        let mut arguments = [at, 1];
        let [first, second] = &mut arguments;
        let mut parameters: [*mut c_void; 2] =
            [(&raw mut *first).cast(), (&raw mut *second).cast()];
        let launch = CUDA_KERNEL_NODE_PARAMS {
            func: function,
            gridDimX: 1,
            gridDimY: 1,
            gridDimZ: 1,
            blockDimX: 1,
            blockDimY: 1,
            blockDimZ: 1,
            kernelParams: parameters.as_mut_ptr(),
            ..Default::default()
        };
        let before = last;
        ok!(cuGraphAddKernelNode_v2(
            &mut last, graph, &before, 1, &launch
        ));
    }
    let before = last;
    ok!(cuGraphAddMemFreeNode(&mut last, graph, &before, 1, at));
    // It is launched in streams of the device that is current here.
    devices[0].enter();
    let exec: CUgraphExec = get!(cuGraphInstantiateWithFlags(graph, 0));
    ok!(cuGraphDestroy(graph));
    exec
}

#[test]
fn memory_of_a_graph_is_that_of_the_devices_that_its_node_names() {
    // covers: GMEM-24, GMEM-X09
    if !with_devices("3") {
        return;
    }
    gpu();
    let devices = [0, 1, 2].map(Device::new);
    // The device that has the memory needs no grant.
    let exec = graph_on_the_second(&devices, &[0, 2], &[0, 1, 2]);
    devices[0].enter();
    for _ in 0..2 {
        ok!(cuGraphLaunch(exec, null_mut()));
        ok!(cuCtxSynchronize());
    }
    ok!(cuGraphExecDestroy(exec));
    // Peer access is another thing, and another device's grant, too.
    ok!(cuCtxEnablePeerAccess(devices[1].context, 0));
    let exec = graph_on_the_second(&devices, &[2], &[0]);
    ok!(cuGraphLaunch(exec, null_mut()));
    // SAFETY: the call takes no arguments.
    let code = unsafe { cuCtxSynchronize() }.0;
    assert_eq!(code, 700);
    let faults = devices.iter().filter_map(|device| fault(device.context));
    let text: String = faults.map(|fault| fault.to_string()).collect();
    assert!(text.contains("has not been granted access"), "{text}");
}

//! Memory of several devices: their pools, managed memory, and graphs that allocate. On the simulator, which can show several, in processes of
//! their own; what one device answers about itself, on a GPU, too.

use crate::common::*;
use crate::two::{Device, fault_of, two_devices, with_devices, with_two_devices};
use warpsmith_driver::fault;

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

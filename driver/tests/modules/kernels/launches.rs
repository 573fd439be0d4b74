//! Launches: parameters, shapes, order.

use super::*;

#[test]
fn a_kernel_runs_and_its_parameters_are_copied_at_the_call() {
    // covers: DRV-13, DRV-14
    let _turn = turn();
    gpu();
    let module = module();
    let kernel = function(module, "store");
    assert_eq!(function(module, "store"), kernel);
    let stream = stream();
    let memory = upload(&[0u32; 1000]);
    let gate = Gate::new();
    gate.block(stream);
    assert_eq!(store(kernel, stream, memory, 999, 5).0, 0);
    gate.open();
    ok!(cuStreamSynchronize(stream));
    let mut expected: Vec<u32> = (5..1004).collect();
    expected.push(0);
    assert_eq!(download::<u32>(memory, 1000), expected);
    let name = CString::new("Store").unwrap();
    fails!(
        500,
        cuModuleGetFunction(&mut null_mut(), module, name.as_ptr())
    );
    ok!(cuMemFree_v2(memory));
    ok!(cuStreamDestroy_v2(stream));
    ok!(cuModuleUnload(module));
}

#[test]
fn parameters_can_come_packed() {
    // covers: DRV-15
    let _turn = turn();
    gpu();
    let module = module();
    let kernel = function(module, "store");
    let memory = upload(&[0u32; 4]);
    let mut packed = [0u8; 16];
    packed[..8].copy_from_slice(&memory.to_ne_bytes());
    packed[8..12].copy_from_slice(&4u32.to_ne_bytes());
    packed[12..].copy_from_slice(&10u32.to_ne_bytes());
    let mut size = packed.len();
    let mut extra: [*mut c_void; 5] = [
        core::ptr::without_provenance_mut(1),
        packed.as_mut_ptr().cast(),
        core::ptr::without_provenance_mut(2),
        (&raw mut size).cast(),
        null_mut(),
    ];
    ok!(cuLaunchKernel(
        kernel,
        1,
        1,
        1,
        4,
        1,
        1,
        0,
        null_mut(),
        null_mut(),
        extra.as_mut_ptr()
    ));
    ok!(cuCtxSynchronize());
    assert_eq!(download::<u32>(memory, 4), [10, 11, 12, 13]);
    let mut both = [null_mut(); 3];
    fails!(
        1,
        cuLaunchKernel(
            kernel,
            1,
            1,
            1,
            4,
            1,
            1,
            0,
            null_mut(),
            both.as_mut_ptr(),
            extra.as_mut_ptr()
        )
    );
    let (mut offset, mut bytes) = (0, 0);
    ok!(cuFuncGetParamInfo(kernel, 2, &mut offset, &mut bytes));
    assert_eq!((offset, bytes), (12, 4));
    fails!(1, cuFuncGetParamInfo(kernel, 3, &mut offset, &mut bytes));
    ok!(cuMemFree_v2(memory));
    ok!(cuModuleUnload(module));
}

#[test]
fn launches_that_cannot_be_are_refused_with_the_drivers_codes() {
    // covers: MODEL-22, LAUNCH-06
    let _turn = turn();
    gpu();
    let module = module();
    let kernel = function(module, "tile");
    let try_launch = |grid: [u32; 3], block: [u32; 3], shared: u32| {
        // SAFETY: the kernel has no parameters.
        unsafe {
            cuLaunchKernel(
                kernel,
                grid[0],
                grid[1],
                grid[2],
                block[0],
                block[1],
                block[2],
                shared,
                null_mut(),
                null_mut(),
                null_mut(),
            )
        }
        .0
    };
    assert_eq!(try_launch([1; 3], [32, 1, 1], 0), 0);
    assert_eq!(try_launch([0, 1, 1], [32, 1, 1], 0), 1);
    assert_eq!(try_launch([1; 3], [0, 1, 1], 0), 1);
    assert_eq!(try_launch([1; 3], [1025, 1, 1], 0), 1);
    assert_eq!(try_launch([1; 3], [32, 32, 2], 0), 1);
    assert_eq!(try_launch([1; 3], [1, 1, 65], 0), 1);
    assert_eq!(try_launch([1, 65536, 1], [1, 1, 1], 0), 1);
    // 48 KiB are for static and dynamic together, until the kernel is allowed more.
    assert_eq!(try_launch([1; 3], [1; 3], 48 << 10), 1);
    let most = get!(cuDeviceGetAttribute(
        CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
        0
    ));
    let allow = CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
    fails!(1, cuFuncSetAttribute(kernel, allow, most));
    ok!(cuFuncSetAttribute(kernel, allow, most - 1024));
    assert_eq!(get!(cuFuncGetAttribute(allow, kernel)), most - 1024);
    assert_eq!(try_launch([1; 3], [1; 3], (most - 1024) as u32), 0);
    assert_eq!(
        get!(cuFuncGetAttribute(
            CUfunction_attribute::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES,
            kernel
        )),
        1024
    );
    ok!(cuCtxSynchronize());

    let bounded = function(module, "bounded");
    assert_eq!(
        get!(cuFuncGetAttribute(
            CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK,
            bounded
        )),
        64
    );
    let mut out = 0u64;
    let mut parameters: [*mut c_void; 1] = [(&raw mut out).cast()];
    ok!(cuLaunchKernel(
        bounded,
        1,
        1,
        1,
        64,
        1,
        1,
        0,
        null_mut(),
        parameters.as_mut_ptr(),
        null_mut()
    ));
    fails!(
        1,
        cuLaunchKernel(
            bounded,
            1,
            1,
            1,
            96,
            1,
            1,
            0,
            null_mut(),
            parameters.as_mut_ptr(),
            null_mut()
        )
    );
    ok!(cuCtxSynchronize());
    ok!(cuModuleUnload(module));
}

#[test]
fn cooperative_grids_must_fit_the_device() {
    // covers: CG-42
    let _turn = turn();
    gpu();
    let module = module();
    let kernel = function(module, "tile");
    let mut blocks = 0;
    ok!(cuOccupancyMaxActiveBlocksPerMultiprocessor(
        &mut blocks,
        kernel,
        256,
        0
    ));
    assert!(blocks >= 1);
    let processors = get!(cuDeviceGetAttribute(
        CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT,
        0
    ));
    let most = (blocks * processors) as u32;
    ok!(cuLaunchCooperativeKernel(
        kernel,
        most,
        1,
        1,
        256,
        1,
        1,
        0,
        null_mut(),
        null_mut()
    ));
    fails!(
        720,
        cuLaunchCooperativeKernel(kernel, most + 1, 1, 1, 256, 1, 1, 0, null_mut(), null_mut())
    );
    ok!(cuCtxSynchronize());
    ok!(cuModuleUnload(module));
}

#[test]
fn clusters_divide_the_grid_and_stay_small() {
    // covers: MODEL-07, MODEL-09
    let _turn = turn();
    gpu();
    let module = module();
    let kernel = function(module, "tile");
    let try_launch = |grid: u32, cluster: u32| {
        let mut attribute = CUlaunchAttribute {
            id: CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
            ..Default::default()
        };
        attribute.value.clusterDim.x = cluster;
        attribute.value.clusterDim.y = 1;
        attribute.value.clusterDim.z = 1;
        let configuration = CUlaunchConfig {
            gridDimX: grid,
            gridDimY: 1,
            gridDimZ: 1,
            blockDimX: 32,
            blockDimY: 1,
            blockDimZ: 1,
            attrs: &mut attribute,
            numAttrs: 1,
            ..Default::default()
        };
        // SAFETY: the kernel has no parameters.
        unsafe { cuLaunchKernelEx(&configuration, kernel, null_mut(), null_mut()) }.0
    };
    assert_eq!(try_launch(8, 2), 0);
    assert_eq!(try_launch(7, 2), 912);
    assert_eq!(try_launch(8, 0), 912);
    assert_eq!(try_launch(16, 16), 912);
    ok!(cuFuncSetAttribute(
        kernel,
        CUfunction_attribute::CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED,
        1
    ));
    assert_eq!(try_launch(16, 16), 0);
    ok!(cuCtxSynchronize());
    ok!(cuModuleUnload(module));
}

#[test]
fn kernels_of_two_streams_run_in_the_order_of_events() {
    // covers: STREAM-04, STREAM-19
    let _turn = turn();
    gpu();
    let module = module();
    let kernel = function(module, "store");
    let (one, two) = (stream(), stream());
    let event: CUevent = get!(cuEventCreate(2));
    let memory = upload(&[0u32; 256]);
    for round in 0..20 {
        assert_eq!(store(kernel, one, memory, 256, round).0, 0);
        ok!(cuEventRecord(event, one));
        ok!(cuStreamWaitEvent(two, event, 0));
        assert_eq!(store(kernel, two, memory, 256, round + 1).0, 0);
        ok!(cuEventRecord(event, two));
        ok!(cuStreamWaitEvent(one, event, 0));
    }
    ok!(cuStreamSynchronize(one));
    assert_eq!(
        download::<u32>(memory, 256),
        (20..276).collect::<Vec<u32>>()
    );
    ok!(cuEventDestroy_v2(event));
    for stream in [one, two] {
        ok!(cuStreamDestroy_v2(stream));
    }
    ok!(cuModuleUnload(module));
}

#[test]
fn kernel_nodes_copy_their_arguments() {
    // covers: GRAPH-04
    let _turn = turn();
    gpu();
    let module = module();
    let kernel = function(module, "store");
    let stream = stream();
    let memory = upload(&[0u32; 4]);
    let (mut out, mut n, mut value) = (memory, 4u32, 10u32);
    let mut pointers: [*mut c_void; 3] = [
        (&raw mut out).cast(),
        (&raw mut n).cast(),
        (&raw mut value).cast(),
    ];
    let mut parameters = CUDA_KERNEL_NODE_PARAMS {
        func: kernel,
        gridDimX: 1,
        gridDimY: 1,
        gridDimZ: 1,
        blockDimX: 4,
        blockDimY: 1,
        blockDimZ: 1,
        kernelParams: pointers.as_mut_ptr(),
        ..Default::default()
    };
    let graph: CUgraph = get!(cuGraphCreate(0));
    let node: CUgraphNode = get!(cuGraphAddKernelNode_v2(graph, null(), 0, &parameters));
    // SAFETY: `value` is read through the pointer array later.
    unsafe { (&raw mut value).write_volatile(20) };
    let exec: CUgraphExec = get!(cuGraphInstantiateWithFlags(graph, 0));
    let run = || {
        ok!(cuGraphLaunch(exec, stream));
        ok!(cuStreamSynchronize(stream));
        download::<u32>(memory, 4)
    };
    assert_eq!(run(), [10, 11, 12, 13]);
    ok!(cuGraphExecKernelNodeSetParams_v2(exec, node, &parameters));
    assert_eq!(run(), [20, 21, 22, 23]);
    let mut back = CUDA_KERNEL_NODE_PARAMS::default();
    ok!(cuGraphKernelNodeGetParams_v2(node, &mut back));
    assert_eq!((back.func, back.blockDimX), (kernel, 4));
    // SAFETY: the driver gives an array of pointers to the three parameters.
    assert_eq!(unsafe { *(*back.kernelParams.add(2)).cast::<u32>() }, 10);
    parameters.gridDimX = 0;
    fails!(
        1,
        cuGraphAddKernelNode_v2(&mut null_mut(), graph, null(), 0, &parameters)
    );
    ok!(cuGraphExecDestroy(exec));
    ok!(cuGraphDestroy(graph));
    ok!(cuStreamDestroy_v2(stream));
    ok!(cuModuleUnload(module));
}

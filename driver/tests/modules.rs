//! Modules, functions, launches and faults, with hand-written PTX.

mod common;
use std::ffi::CString;

use common::*;
use warpsmith_testkit::process::{is_child, run_in_child};
use warpsmith_testkit::{Side, own_process, ptx};

const HEAD: &str = ptx!("7.8", "sm_90", "");

/// Each thread writes its number and the value; `fail` stores far behind the buffer.
const KERNELS: &str = "
.visible .global .align 4 .u32 answer = 42;
.visible .entry store(.param .u64 out, .param .u32 n, .param .u32 value)
{
    .reg .pred %p<2>; .reg .b32 %r<8>; .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [out];
    ld.param.u32 %r1, [n];
    ld.param.u32 %r6, [value];
    mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;
    mad.lo.s32 %r5, %r2, %r3, %r4;
    setp.ge.u32 %p1, %r5, %r1;
    @%p1 bra DONE;
    mul.wide.u32 %rd2, %r5, 4;
    add.s64 %rd3, %rd1, %rd2;
    add.s32 %r7, %r5, %r6;
    st.global.u32 [%rd3], %r7;
DONE:
    ret;
}
.visible .entry bounded(.param .u64 out) .maxntid 64, 1, 1
{
    ret;
}
.visible .entry tile()
{
    .shared .align 4 .b8 tile[1024];
    ret;
}
.visible .entry stop()
{
    trap;
    ret;
}
";

fn load(ptx: &str) -> CUmodule {
    let text = CString::new(ptx).unwrap();
    get!(cuModuleLoadData(text.as_ptr().cast()))
}

fn module() -> CUmodule {
    load(&format!("{HEAD}{KERNELS}"))
}

fn function(module: CUmodule, name: &str) -> CUfunction {
    let name = CString::new(name).unwrap();
    get!(cuModuleGetFunction(module, name.as_ptr()))
}

/// Launches `store`.
fn store(function: CUfunction, stream: CUstream, out: CUdeviceptr, n: u32, value: u32) -> CUresult {
    let (mut out, mut n, mut value) = (out, n, value);
    let mut parameters: [*mut c_void; 3] = [
        (&raw mut out).cast(),
        (&raw mut n).cast(),
        (&raw mut value).cast(),
    ];
    // SAFETY: the kernel has these three parameters.
    unsafe {
        cuLaunchKernel(
            function,
            n.div_ceil(128).max(1),
            1,
            1,
            128,
            1,
            1,
            0,
            stream,
            parameters.as_mut_ptr(),
            null_mut(),
        )
    }
}

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
fn variables_have_addresses_and_first_values() {
    let _turn = turn();
    gpu();
    let module = module();
    let name = CString::new("answer").unwrap();
    let (mut address, mut size) = (0, 0);
    ok!(cuModuleGetGlobal_v2(
        &mut address,
        &mut size,
        module,
        name.as_ptr()
    ));
    assert_eq!(size, 4);
    assert_eq!(download::<u32>(address, 1), [42]);
    let name = CString::new("question").unwrap();
    fails!(
        500,
        cuModuleGetGlobal_v2(&mut address, &mut size, module, name.as_ptr())
    );
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
fn broken_ptx_says_where_in_the_log() {
    // covers: DRV-10, DRV-11, DRV-EX03
    let _turn = turn();
    gpu();
    let text = CString::new(format!(
        "{HEAD}.visible .entry k()\n{{\n    frobnicate.u32 %r1, %r2;\n    ret;\n}}\n"
    ))
    .unwrap();
    let mut log = [0u8; 8192];
    let mut keys = [
        CUjit_option::CU_JIT_ERROR_LOG_BUFFER,
        CUjit_option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
        CUjit_option::CU_JIT_WALL_TIME,
    ];
    let mut values: [*mut c_void; 3] = [
        log.as_mut_ptr().cast(),
        log.len() as *mut c_void,
        null_mut(),
    ];
    let mut module = null_mut();
    fails!(
        218,
        cuModuleLoadDataEx(
            &mut module,
            text.as_ptr().cast(),
            3,
            keys.as_mut_ptr(),
            values.as_mut_ptr()
        )
    );
    let log = std::ffi::CStr::from_bytes_until_nul(&log)
        .unwrap()
        .to_str()
        .unwrap();
    assert!(log.contains("line 6"), "{log}");
    fails!(
        200,
        cuModuleLoadData(&mut module, c"no PTX at all".as_ptr().cast())
    );
    let newer = CString::new(HEAD.replace("7.8", "99.0")).unwrap();
    fails!(222, cuModuleLoadData(&mut module, newer.as_ptr().cast()));
    let other = CString::new(format!(
        "{}.visible .entry k() {{ ret; }}",
        HEAD.replace("sm_90", "sm_100")
    ))
    .unwrap();
    fails!(218, cuModuleLoadData(&mut module, other.as_ptr().cast()));
}

#[test]
fn when_kernels_are_loaded_is_asked_for_by_a_variable() {
    // covers: LAZY-01, LAZY-02, ENV-09
    const VARIABLE: &str = "CUDA_MODULE_LOADING";
    if !is_child() {
        for mode in ["DEFAULT", "LAZY", "EAGER"] {
            run_in_child(
                "when_kernels_are_loaded_is_asked_for_by_a_variable",
                &[(VARIABLE, mode)],
            );
        }
        return;
    }
    gpu();
    let eager = std::env::var(VARIABLE).is_ok_and(|mode| mode == "EAGER");
    let mode: CUmoduleLoadingMode = get!(cuModuleGetLoadingMode());
    assert_eq!(
        mode,
        if eager {
            CUmoduleLoadingMode::CU_MODULE_EAGER_LOADING
        } else {
            CUmoduleLoadingMode::CU_MODULE_LAZY_LOADING
        }
    );
    // In either mode PTX is compiled as a whole when the module is loaded: one bad kernel spoils the others there, not at its lookup.
    let text = CString::new(format!(
        "{HEAD}{KERNELS}.visible .entry bad() {{ frobnicate.u32 %r1; ret; }}"
    ))
    .unwrap();
    fails!(218, cuModuleLoadData(&mut null_mut(), text.as_ptr().cast()));
    // A kernel that has been looked up is loaded, and runs.
    let kernel = function(module(), "store");
    let state: CUfunctionLoadingState = get!(cuFuncIsLoaded(kernel));
    assert_eq!(
        state,
        CUfunctionLoadingState::CU_FUNCTION_LOADING_STATE_LOADED
    );
    let memory = upload(&[0u32; 4]);
    assert_eq!(store(kernel, null_mut(), memory, 4, 1).0, 0);
    ok!(cuCtxSynchronize());
    assert_eq!(download::<u32>(memory, 4), [1, 2, 3, 4]);
}

#[test]
fn a_fault_stays_until_the_context_is_reset_and_says_what_happened() {
    // covers: ERROR-02
    let _turn = turn();
    if gpu() == Backend::Cuda {
        // There it would end this process's use of the device.
        return;
    }
    let context: CUcontext = get!(cuCtxCreate_v2(0, 0));
    assert!(warpsmith_driver::configure_simulator("stderr", "off"));
    let module = module();
    let kernel = function(module, "store");
    let memory: CUdeviceptr = get!(cuMemAlloc_v2(400));
    let stream = stream();
    assert_eq!(
        store(kernel, stream, memory, 101, 0).0,
        0,
        "the launch itself is fine"
    );
    fails!(700, cuStreamSynchronize(stream));
    let mut other = 0;
    fails!(700, cuMemAlloc_v2(&mut other, 16));
    let report = warpsmith_driver::simulator_report().expect("a report");
    assert!(report.contains("store"), "{report}");
    assert!(
        report.contains("cuMemAlloc"),
        "the allocation that was missed: {report}"
    );
    assert!(report.contains("400"), "{report}");
    ok!(cuCtxDestroy_v2(context));

    // A freed allocation is told apart.
    let context: CUcontext = get!(cuCtxCreate_v2(0, 0));
    let kernel = function(load(&format!("{HEAD}{KERNELS}")), "store");
    let memory: CUdeviceptr = get!(cuMemAlloc_v2(400));
    ok!(cuMemFree_v2(memory));
    assert_eq!(store(kernel, null_mut(), memory, 4, 0).0, 0);
    fails!(700, cuCtxSynchronize());
    let report = warpsmith_driver::simulator_report().unwrap();
    assert!(report.contains("freed"), "{report}");
    ok!(cuCtxDestroy_v2(context));

    // And no address at all brings the process down.
    for wild in [0u64, 8, 0x10, 0xdead_0000, 1 << 46, u64::MAX - 3] {
        let context: CUcontext = get!(cuCtxCreate_v2(0, 0));
        let kernel = function(load(&format!("{HEAD}{KERNELS}")), "store");
        assert_eq!(store(kernel, null_mut(), wild, 4, 0).0, 0);
        // SAFETY: waiting has no arguments.
        let result = unsafe { cuCtxSynchronize() };
        assert!(
            (700..=719).contains(&result.0),
            "address {wild:#x}: {}",
            result.0
        );
        ok!(cuCtxDestroy_v2(context));
    }
    ok!(cuCtxSynchronize());
}

#[test]
fn resetting_the_primary_context_heals() {
    let _turn = turn();
    if gpu() == Backend::Cuda {
        return;
    }
    // A process of its own: the primary context is everybody's.
    let Side::Child = own_process(&[]) else {
        return;
    };
    let stop = function(module(), "stop");
    ok!(cuLaunchKernel(
        stop,
        1,
        1,
        1,
        1,
        1,
        1,
        0,
        null_mut(),
        null_mut(),
        null_mut()
    ));
    fails!(719, cuCtxSynchronize());
    let mut memory = 0;
    fails!(719, cuMemAlloc_v2(&mut memory, 16));
    ok!(cuDevicePrimaryCtxReset_v2(0));
    ok!(cuMemAlloc_v2(&mut memory, 16));
    fails!(
        400,
        cuLaunchKernel(
            stop,
            1,
            1,
            1,
            1,
            1,
            1,
            0,
            null_mut(),
            null_mut(),
            null_mut()
        )
    );
    let kernel = function(module(), "store");
    let memory = upload(&[0u32; 4]);
    assert_eq!(store(kernel, null_mut(), memory, 4, 1).0, 0);
    ok!(cuCtxSynchronize());
    assert_eq!(download::<u32>(memory, 4), [1, 2, 3, 4]);
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

#[test]
fn a_function_tells_the_constant_memory_of_its_module() {
    let _turn = turn();
    gpu();
    let text = format!(
        "{HEAD}
.visible .const .align 4 .b8 first[6];
.visible .const .align 16 .b8 second[40];
.visible .entry read(.param .u64 out)
{{
    .reg .b32 %r<4>; .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [out];
    ld.const.u32 %r1, [first];
    ld.const.u32 %r2, [second];
    add.u32 %r3, %r1, %r2;
    st.global.u32 [%rd1], %r3;
    ret;
}}
"
    );
    let module = load(&text);
    let bytes: c_int = get!(cuFuncGetAttribute(
        CUfunction_attribute::CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES,
        function(module, "read")
    ));
    assert_eq!(bytes, 56);
    ok!(cuModuleUnload(module));
}

#[test]
fn ptx_as_new_as_the_newest_published_is_taken() {
    let _turn = turn();
    // A driver refuses what is newer than itself.
    let newest = match gpu() {
        Backend::Simulator => "9.5",
        Backend::Cuda => "9.0",
    };
    for version in ["6.0", "8.8", "9.0", newest] {
        let head = HEAD.replace("7.8", version);
        let head = match version {
            "6.0" => head.replace("sm_90", "sm_70"),
            _ => head,
        };
        let module = load(&format!("{head}.visible .entry k() {{ ret; }}"));
        ok!(cuModuleUnload(module));
    }
}

//! Initialisation, devices, contexts and their threads.

use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::common::*;
use warpsmith_testkit::{Side, own_process};

#[test]
fn contexts_form_a_stack_for_each_thread() {
    // covers: DRV-03, DRV-04
    let _turn = turn();
    gpu();
    std::thread::spawn(|| {
        let mut memory = 0;
        fails!(201, cuMemAlloc_v2(&mut memory, 16));
        fails!(201, cuCtxPopCurrent_v2(null_mut()));
        let first: CUcontext = get!(cuCtxCreate_v2(0, 0));
        let second: CUcontext = get!(cuCtxCreate_v2(0, 0));
        assert_ne!(first, second);
        assert_eq!(get!(cuCtxGetCurrent()), second);
        assert_eq!(get!(cuCtxPopCurrent_v2()), second);
        assert_eq!(get!(cuCtxGetCurrent()), first);
        ok!(cuMemAlloc_v2(&mut memory, 16));
        // A floating context may be taken up by another thread.
        let floating = second as usize;
        std::thread::spawn(move || {
            ok!(cuCtxPushCurrent_v2(floating as CUcontext));
            let _: CUdeviceptr = get!(cuMemAlloc_v2(16));
        })
        .join()
        .unwrap();
        ok!(cuCtxDestroy_v2(second));
        ok!(cuCtxDestroy_v2(first));
        fails!(201, cuMemAlloc_v2(&mut memory, 16));
    })
    .join()
    .unwrap();
}

#[test]
fn a_destroyed_context_takes_everything_with_it() {
    // covers: DRV-05
    let _turn = turn();
    gpu();
    let context: CUcontext = get!(cuCtxCreate_v2(0, 0));
    let stream: CUstream = get!(cuStreamCreate(1));
    let memory: CUdeviceptr = get!(cuMemAlloc_v2(4096));
    ok!(cuMemsetD8Async(memory, 1, 4096, stream));
    ok!(cuCtxDestroy_v2(context));
    if gpu() == Backend::Cuda {
        // The real driver looks through dead handles.
        return;
    }
    fails!(400, cuStreamSynchronize(stream));
    fails!(1, cuMemFree_v2(memory));
    fails!(201, cuCtxPushCurrent_v2(context));
}

/// Which context is current matters to no call that names a stream.
#[test]
fn a_stream_tells_the_context() {
    // covers: DRV-03
    let _turn = turn();
    gpu();
    let stream = stream() as usize;
    let module: CUmodule = get!(cuModuleLoadData(
        c".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry nothing() { ret; }"
            .as_ptr()
            .cast()
    ));
    let function: CUfunction = get!(cuModuleGetFunction(module, c"nothing".as_ptr()));
    let function = function as usize;
    for other in [false, true] {
        std::thread::spawn(move || {
            let stream = stream as CUstream;
            let context: Option<CUcontext> = other.then(|| get!(cuCtxCreate_v2(0, 0)));
            let memory: CUdeviceptr = get!(cuMemAllocAsync(4096, stream));
            ok!(cuMemsetD8Async(memory, 7, 4096, stream));
            let config = CUlaunchConfig {
                gridDimX: 1,
                gridDimY: 1,
                gridDimZ: 1,
                blockDimX: 32,
                blockDimY: 1,
                blockDimZ: 1,
                sharedMemBytes: 0,
                hStream: stream,
                attrs: null_mut(),
                numAttrs: 0,
            };
            ok!(cuLaunchKernelEx(
                &config,
                function as CUfunction,
                null_mut(),
                null_mut()
            ));
            ok!(cuMemFreeAsync(memory, stream));
            ok!(cuStreamSynchronize(stream));
            if let Some(context) = context {
                assert_eq!(get!(cuCtxGetCurrent()), context);
                ok!(cuCtxDestroy_v2(context));
            }
        })
        .join()
        .unwrap();
    }
    ok!(cuModuleUnload(module));
}

/// Pointers are good in all contexts, so a free waits for the work of all of them.
#[test]
fn a_free_waits_for_streams_of_other_contexts() {
    static IS_DONE: AtomicBool = AtomicBool::new(false);
    unsafe extern "C" fn late(_: *mut c_void) {
        std::thread::sleep(std::time::Duration::from_millis(50));
        IS_DONE.store(true, Ordering::Relaxed);
    }
    let _turn = turn();
    if gpu() == Backend::Cuda {
        // What a free of another context's memory waits for is not documented.
        return;
    }
    let first: CUcontext = get!(cuCtxCreate_v2(0, 0));
    let stream: CUstream = get!(cuStreamCreate(1));
    let memory: CUdeviceptr = get!(cuMemAlloc_v2(4096));
    ok!(cuLaunchHostFunc(stream, Some(late), null_mut()));
    ok!(cuMemsetD8Async(memory, 1, 4096, stream));
    let second: CUcontext = get!(cuCtxCreate_v2(0, 0));
    ok!(cuMemFree_v2(memory));
    assert!(IS_DONE.load(Ordering::Relaxed));
    ok!(cuCtxDestroy_v2(second));
    ok!(cuCtxDestroy_v2(first));
}

#[test]
fn the_primary_context_is_one_and_counted() {
    // covers: DRV-07
    let _turn = turn();
    gpu();
    let first: CUcontext = get!(cuDevicePrimaryCtxRetain(0));
    let second: CUcontext = get!(cuDevicePrimaryCtxRetain(0));
    assert_eq!(first, second);
    let (mut flags, mut active) = (0, 0);
    ok!(cuDevicePrimaryCtxGetState(0, &mut flags, &mut active));
    assert_eq!(active, 1);
    ok!(cuDevicePrimaryCtxRelease_v2(0));
    ok!(cuDevicePrimaryCtxRelease_v2(0));
    fails!(101, cuDevicePrimaryCtxRelease_v2(99));
}

#[test]
fn devices_tell_what_they_are() {
    // covers: DRV-02, MULTI-01
    let _turn = turn();
    let backend = gpu();
    let count: c_int = get!(cuDeviceGetCount());
    assert!(count >= 1);
    let mut device = 0;
    fails!(101, cuDeviceGet(&mut device, count));
    let mut name = [0 as c_char; 100];
    ok!(cuDeviceGetName(name.as_mut_ptr(), 100, 0));
    // SAFETY: the driver has ended the name with a zero.
    let name = unsafe { core::ffi::CStr::from_ptr(name.as_ptr()) }
        .to_str()
        .unwrap();
    let warp: c_int = get!(cuDeviceGetAttribute(
        CUdevice_attribute::CU_DEVICE_ATTRIBUTE_WARP_SIZE,
        0
    ));
    assert_eq!(warp, 32);
    let mut value = 0;
    fails!(
        1,
        cuDeviceGetAttribute(&mut value, CUdevice_attribute_enum(9999), 0)
    );
    if backend == Backend::Simulator {
        assert_eq!(name, "NVIDIA H200");
        let processors = CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT;
        assert_eq!(get!(cuDeviceGetAttribute(processors, 0)), 132);
        assert_eq!(get!(cuDeviceTotalMem_v2(0)), 150_109_880_320usize);
    }
}

#[test]
fn old_properties_are_attributes() {
    // covers: DRV-02
    use CUdevice_attribute as Attribute;
    let _turn = turn();
    let backend = gpu();
    let mut properties = CUdevprop::default();
    ok!(cuDeviceGetProperties(&mut properties, 0));
    let told = [
        (
            properties.maxThreadsPerBlock,
            Attribute::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK,
        ),
        (
            properties.maxThreadsDim[0],
            Attribute::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X,
        ),
        (
            properties.maxThreadsDim[1],
            Attribute::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y,
        ),
        (
            properties.maxThreadsDim[2],
            Attribute::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z,
        ),
        (
            properties.maxGridSize[0],
            Attribute::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X,
        ),
        (
            properties.maxGridSize[1],
            Attribute::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y,
        ),
        (
            properties.maxGridSize[2],
            Attribute::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z,
        ),
        (
            properties.sharedMemPerBlock,
            Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK,
        ),
        (
            properties.totalConstantMemory,
            Attribute::CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY,
        ),
        (
            properties.SIMDWidth,
            Attribute::CU_DEVICE_ATTRIBUTE_WARP_SIZE,
        ),
        (
            properties.memPitch,
            Attribute::CU_DEVICE_ATTRIBUTE_MAX_PITCH,
        ),
        (
            properties.regsPerBlock,
            Attribute::CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK,
        ),
        (
            properties.clockRate,
            Attribute::CU_DEVICE_ATTRIBUTE_CLOCK_RATE,
        ),
        (
            properties.textureAlign,
            Attribute::CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT,
        ),
    ];
    for (value, attribute) in told {
        assert_eq!(
            value,
            get!(cuDeviceGetAttribute(attribute, 0)),
            "{attribute:?}"
        );
    }
    let (kind, mut affinity) = (
        CUexecAffinityType::CU_EXEC_AFFINITY_TYPE_SM_COUNT,
        CUexecAffinityParam::default(),
    );
    ok!(cuCtxGetExecAffinity(&mut affinity, kind));
    assert_eq!(affinity.type_, kind);
    // SAFETY: the union's only field, a number, was written.
    let processors = unsafe { affinity.param.smCount.val };
    let all: c_int = get!(cuDeviceGetAttribute(
        Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT,
        0
    ));
    assert!((1..=all as u32).contains(&processors), "{processors}");
    if backend == Backend::Simulator {
        assert_eq!(processors, all as u32);
        let is_supported: c_int = get!(cuDeviceGetExecAffinitySupport(kind, 0));
        assert_eq!(is_supported, 0, "as cuCtxCreate_v3 refuses it");
    }
}

#[test]
fn limits_can_be_asked_and_set() {
    // covers: ERROR-06
    let _turn = turn();
    gpu();
    let stack = CUlimit::CU_LIMIT_STACK_SIZE;
    let before: usize = get!(cuCtxGetLimit(stack));
    ok!(cuCtxSetLimit(stack, 8192));
    assert!(get!(cuCtxGetLimit(stack)) >= 8192);
    ok!(cuCtxSetLimit(stack, before));
    let mut value = 0;
    fails!(
        215,
        cuCtxGetLimit(&mut value, CUlimit::CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH)
    );
    let (mut least, mut greatest) = (9, 9);
    ok!(cuCtxGetStreamPriorityRange(&mut least, &mut greatest));
    assert!(greatest <= least);
}

#[test]
fn handles_of_nothing_are_found_out() {
    let _turn = turn();
    let backend = gpu();
    if backend == Backend::Cuda {
        // The real driver looks through handles; a wrong one is the program's end.
        return;
    }
    let wild = 0xdead_beef_usize;
    fails!(400, cuStreamSynchronize(wild as CUstream));
    fails!(400, cuEventQuery(wild as CUevent));
    fails!(400, cuModuleUnload(wild as CUmodule));
    fails!(400, cuGraphDestroy(wild as CUgraph));
    fails!(201, cuCtxSetCurrent(wild as CUcontext));
    let event: CUevent = get!(cuEventCreate(0));
    ok!(cuEventDestroy_v2(event));
    fails!(400, cuEventDestroy_v2(event));
    fails!(400, cuEventSynchronize(event));
    fails!(
        400,
        cuLaunchKernel(
            wild as CUfunction,
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
}

#[test]
fn what_belongs_to_one_context_is_refused_in_another() {
    // covers: DRV-09
    let _turn = turn();
    gpu();
    let text = c".version 7.0 .target sm_70 .address_size 64 .visible .entry k() { ret; }";
    let own: CUcontext = get!(cuCtxCreate_v2(0, 0));
    let module: CUmodule = get!(cuModuleLoadData(text.as_ptr().cast()));
    let kernel: CUfunction = get!(cuModuleGetFunction(module, c"k".as_ptr()));
    let (own_stream, event): (CUstream, CUevent) =
        (get!(cuStreamCreate(1)), get!(cuEventCreate(2)));
    let other: CUcontext = get!(cuCtxCreate_v2(0, 0));
    let other_stream: CUstream = get!(cuStreamCreate(1));
    let launch = |stream| {
        // SAFETY: the kernel has no parameters.
        unsafe { cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, stream, null_mut(), null_mut()) }.0
    };
    assert_eq!(launch(other_stream), 400);
    fails!(400, cuEventRecord(event, other_stream));
    // Nothing was harmed: in its own stream all of it works.
    ok!(cuCtxSetCurrent(own));
    assert_eq!(launch(own_stream), 0);
    ok!(cuEventRecord(event, own_stream));
    ok!(cuEventSynchronize(event));
    ok!(cuCtxDestroy_v2(other));
    ok!(cuCtxDestroy_v2(own));
}

/// The nanoseconds that the processor has worked for the calling thread.
fn processor_time() -> u128 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux has it");
    let first = text.split_whitespace().next().expect("three numbers");
    first.parse().expect("a number")
}

#[test]
fn a_context_has_the_way_of_waiting_that_it_was_made_with() {
    // covers: EVENT-05
    const SPIN: u32 = 1;
    const BLOCKING: u32 = 4;
    let Side::Child = own_process(&[]) else {
        return;
    };
    let _turn = turn();
    let backend = gpu();
    ok!(cuDevicePrimaryCtxSetFlags_v2(0, BLOCKING));
    let (mut flags, mut active) = (0, 0);
    ok!(cuDevicePrimaryCtxGetState(0, &mut flags, &mut active));
    assert_eq!(flags & 7, BLOCKING);
    // Two ways at once.
    fails!(1, cuCtxCreate_v2(&mut null_mut(), SPIN | BLOCKING, 0));
    for way in [0, SPIN, 2, BLOCKING] {
        let context: CUcontext = get!(cuCtxCreate_v2(way, 0));
        let flags: u32 = get!(cuCtxGetFlags());
        assert_eq!(flags & 7, way);
        let (stream, gate) = (stream(), Gate::new());
        gate.block(stream);
        let opener = std::thread::spawn(move || {
            std::thread::sleep(std::time::Duration::from_millis(400));
            gate.open();
        });
        let (start, worked) = (std::time::Instant::now(), processor_time());
        ok!(cuStreamSynchronize(stream));
        let (waited, worked) = (start.elapsed().as_nanos(), processor_time() - worked);
        opener.join().unwrap();
        // The call returns when the work is done, however it waits.
        assert!(waited > 300_000_000, "{waited} ns");
        ok!(cuStreamQuery(stream));
        match way {
            BLOCKING => assert!(worked < waited / 4, "{worked} of {waited} ns"),
            // The simulator never spins.
            SPIN if backend == Backend::Cuda => {
                assert!(worked > waited / 2, "{worked} of {waited} ns");
            }
            _ => {}
        }
        ok!(cuCtxDestroy_v2(context));
    }
}

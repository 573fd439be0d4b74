//! Memory that is left when a context or the process ends. A GPU's driver says nothing of it, so this is shown on the simulator alone.

use crate::common::*;
use warpsmith_driver::{configure_simulator, simulator_report};
use warpsmith_testkit::process::{calling_test, is_child, run_in_child};

#[test]
fn what_is_left_at_the_end_of_a_context_is_named() {
    // covers: POOL-41
    let _turn = turn();
    if gpu() == Backend::Cuda {
        return;
    }
    assert!(configure_simulator("stderr", "off"));
    let _checks = Checks::set("default,leaks");
    let context: CUcontext = get!(cuCtxCreate_v2(0, 0));
    let stream = stream();
    let plain: CUdeviceptr = get!(cuMemAlloc_v2(640));
    let pooled: CUdeviceptr = get!(cuMemAllocAsync(72, stream));
    let managed: CUdeviceptr = get!(cuMemAllocManaged(80, 1));
    let host = pinned::<u32>(22);
    let shape = CUDA_ARRAY_DESCRIPTOR {
        Width: 16,
        Height: 4,
        Format: CUarray_format::CU_AD_FORMAT_UNSIGNED_INT8,
        NumChannels: 1,
    };
    let array: CUarray = get!(cuArrayCreate_v2(&shape));
    // What is freed in time is not named, and neither are variables.
    let freed: CUdeviceptr = get!(cuMemAlloc_v2(1232));
    ok!(cuMemFree_v2(freed));
    let freed: CUdeviceptr = get!(cuMemAllocAsync(1232, stream));
    ok!(cuMemFreeAsync(freed, stream));
    let text = c".version 8.0 .target sm_90 .address_size 64 .global .b8 variable[1232];";
    let _module: CUmodule = get!(cuModuleLoadData(text.as_ptr().cast()));
    ok!(cuCtxDestroy_v2(context));

    let report = simulator_report().expect("a report");
    let first = format!(
        "leak: 5 allocations are not freed at the end of context {:#x} (cuCtxDestroy), {} bytes in all",
        context as usize,
        640 + 72 + 80 + 88 + 64
    );
    assert!(report.starts_with(&first), "{report}");
    for line in [
        format!("640 bytes of device memory of cuMemAlloc at {plain:#x}"),
        format!(
            "72 bytes of stream-ordered device memory of cuMemAllocAsync in stream {:#x} at {pooled:#x}",
            stream as usize
        ),
        format!("80 bytes of managed memory of cuMemAllocManaged at {managed:#x}"),
        format!("88 bytes of pinned host memory of cuMemHostAlloc at {host:p}"),
        "64 bytes of CUDA array of cuArrayCreate".to_owned(),
    ] {
        assert!(report.contains(&line), "{line}\n{report}");
    }
    assert!(!report.contains("1232"), "{report}");
    let _ = array;

    // Without the check nobody says anything, and a context that leaves nothing is not named.
    let next: CUcontext = get!(cuCtxCreate_v2(0, 0));
    let memory: CUdeviceptr = get!(cuMemAlloc_v2(640));
    ok!(cuMemFree_v2(memory));
    ok!(cuCtxDestroy_v2(next));
    let _checks = Checks::set("all");
    let last: CUcontext = get!(cuCtxCreate_v2(0, 0));
    let _left: CUdeviceptr = get!(cuMemAlloc_v2(640));
    ok!(cuCtxDestroy_v2(last));
    assert_eq!(simulator_report().as_deref(), Some(&*report));
}

/// A process whose context does not end before it.
fn a_process_that_leaves_memory() {
    gpu();
    let stream = stream();
    let _plain: CUdeviceptr = get!(cuMemAlloc_v2(640));
    let _pooled: CUdeviceptr = get!(cuMemAllocAsync(72, stream));
    // The process ends before the stream has come to it.
    let given: CUdeviceptr = get!(cuMemAllocAsync(1232, stream));
    Gate::new().block(stream);
    ok!(cuMemFreeAsync(given, stream));
    let properties = CUmemAllocationProp {
        type_: CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED,
        location: CUmemLocation {
            type_: CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE,
            ..Default::default()
        },
        ..Default::default()
    };
    let physical: CUmemGenericAllocationHandle = get!(cuMemCreate(2 << 20, &properties, 0));
    let released: CUmemGenericAllocationHandle = get!(cuMemCreate(4 << 20, &properties, 0));
    ok!(cuMemRelease(released));
    println!("physical {physical:#x}");
    println!("stream {:#x}", stream as usize);
}

#[test]
fn what_is_left_at_the_end_of_the_process_is_named() {
    // covers: POOL-41
    if is_child() {
        return a_process_that_leaves_memory();
    }
    let _turn = turn();
    if gpu() == Backend::Cuda {
        return;
    }
    let test = calling_test();
    let output = run_in_child(&test, &[("WARPSMITH_CHECKS", "default,leaks")]);
    let printed = |key: &str| {
        let mut lines = output.stdout.lines();
        let found = lines.find_map(|line| line.split_once(key)).expect(key);
        found.1.to_owned()
    };
    let (physical, stream) = (printed("physical "), printed("stream "));
    for line in [
        format!(
            "leak: 3 allocations are not freed at the end of the process, {} bytes in all",
            640 + 72 + (2 << 20)
        ),
        "640 bytes of device memory of cuMemAlloc at 0x".to_owned(),
        format!(
            "72 bytes of stream-ordered device memory of cuMemAllocAsync in stream {stream} at 0x"
        ),
        format!("2097152 bytes of physical memory of cuMemCreate, handle {physical}"),
    ] {
        assert!(output.stderr.contains(&line), "{line}\n{output}");
    }
    let silent = run_in_child(&test, &[("WARPSMITH_CHECKS", "all")]);
    assert!(!silent.stderr.contains("leak"), "{silent}");
}

//! Devices and their addresses; several devices, which the simulator can show: those tests run in a process of their own with the
//! environment that they need.

use std::ffi::{CStr, CString};

use crate::common::*;
use warpsmith_testkit::process::{calling_test, is_child, run_in_child};
use warpsmith_testkit::{Side, own_process, ptx};

/// Runs the calling test on the simulator in a process of its own with `variables` set. `true` there.
fn in_child(variables: &[(&str, &str)]) -> bool {
    let variables = [&[("WARPSMITH_DEVICE", "simulator")][..], variables].concat();
    matches!(own_process(&variables), Side::Child)
}

#[test]
fn devices_have_contexts_and_streams_of_their_own() {
    // covers: MULTI-02, MULTI-03, MULTI-04, MULTI-05
    if !in_child(&[("WARPSMITH_SIMULATOR_DEVICES", "2")]) {
        return;
    }
    let _turn = turn();
    gpu();
    assert_eq!(get!(cuDeviceGetCount()), 2);
    let memory = upload(&[1u32; 4]);
    let (stream, event): (CUstream, CUevent) = (stream(), get!(cuEventCreate(0)));
    ok!(cuEventRecord(event, stream));
    let other: CUcontext = get!(cuDevicePrimaryCtxRetain(1));
    ok!(cuCtxSetCurrent(other));
    let device: CUdevice = get!(cuCtxGetDevice());
    assert_eq!(device, 1);
    let (own_stream, own_event): (CUstream, CUevent) =
        (get!(cuStreamCreate(1)), get!(cuEventCreate(0)));
    // A copy may go into a stream of the other device, a record may not; waiting works across.
    ok!(cuMemsetD32Async(memory, 2, 4, stream));
    fails!(400, cuEventRecord(own_event, stream));
    ok!(cuStreamWaitEvent(own_stream, event, 0));
    ok!(cuEventRecord(own_event, own_stream));
    ok!(cuStreamSynchronize(own_stream));
    ok!(cuEventSynchronize(event));
    let mut time = 0.0;
    fails!(400, cuEventElapsedTime(&mut time, event, own_event));
    ok!(cuStreamSynchronize(stream));
    let mut ordinal: CUdevice = 9;
    let key = CUpointer_attribute::CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL;
    ok!(cuPointerGetAttribute(
        (&raw mut ordinal).cast(),
        key,
        memory
    ));
    assert_eq!(ordinal, 0);
    let mut there = 0;
    ok!(cuDeviceCanAccessPeer(&mut there, 0, 1));
    assert_eq!(there, 1);
}

#[test]
fn the_size_of_a_simulated_device_can_be_set() {
    if !in_child(&[("WARPSMITH_SIMULATOR_MEMORY", "64M")]) {
        return;
    }
    let _turn = turn();
    gpu();
    let all = 64 << 20;
    let info = || {
        let (mut free, mut total) = (0, 0);
        ok!(cuMemGetInfo_v2(&mut free, &mut total));
        (free, total)
    };
    let total: usize = get!(cuDeviceTotalMem_v2(0));
    assert_eq!((total, info()), (all, (all, all)));
    let mut memory = 0;
    fails!(2, cuMemAlloc_v2(&mut memory, all + 1));
    let most: CUdeviceptr = get!(cuMemAlloc_v2(all - (4 << 20)));
    fails!(2, cuMemAlloc_v2(&mut memory, 5 << 20));
    // A pool takes less at once than it likes to where there is no more.
    let stream = stream();
    let pooled: CUdeviceptr = get!(cuMemAllocAsync(1 << 20, stream));
    assert_eq!(info().0, 2 << 20);
    ok!(cuMemFree_v2(most));
    ok!(cuMemFreeAsync(pooled, stream));
    ok!(cuStreamSynchronize(stream));
    assert_eq!(info(), (all, all));
}

#[test]
fn portable_page_locked_memory_is_for_all_devices() {
    // covers: PINNED-03
    const PORTABLE: u32 = 1;
    if !in_child(&[("WARPSMITH_SIMULATOR_DEVICES", "2")]) {
        return;
    }
    let _turn = turn();
    gpu();
    let words: *mut c_void = get!(cuMemHostAlloc(16, PORTABLE));
    let (mut plain, mut portable) = (0, 0);
    ok!(cuMemHostGetFlags(&mut portable, words));
    ok!(cuMemHostGetFlags(&mut plain, pinned::<u32>(4).cast()));
    assert_eq!((plain & PORTABLE, portable & PORTABLE), (0, PORTABLE));
    // SAFETY: page-locked memory of four words.
    unsafe { words.cast::<[u32; 4]>().write([1, 2, 3, 4]) };
    for device in [1, 0] {
        let context: CUcontext = get!(cuDevicePrimaryCtxRetain(device));
        ok!(cuCtxSetCurrent(context));
        let (stream, memory) = (stream(), upload(&[0u32; 4]));
        // Asynchronously, for which memory must be page-locked.
        ok!(cuMemcpyHtoDAsync_v2(memory, words, 16, stream));
        ok!(cuStreamSynchronize(stream));
        assert_eq!(download::<u32>(memory, 4), [1, 2, 3, 4]);
        ok!(cuMemFree_v2(memory));
        ok!(cuStreamDestroy_v2(stream));
    }
    ok!(cuMemFreeHost(words));
}

/// On the simulator alone: a GPU would need more than it has.
#[test]
fn managed_memory_may_be_more_than_the_device_has() {
    // covers: UM-13, MEM-17
    if !in_child(&[("WARPSMITH_SIMULATOR_MEMORY", "64M")]) {
        return;
    }
    let _turn = turn();
    gpu();
    const BYTES: usize = 256 << 20;
    let memory: CUdeviceptr = get!(cuMemAllocManaged(BYTES, 1));
    fails!(2, cuMemAlloc_v2(&mut 0, BYTES));
    // Plain memory is taken at once, whether or not it is used, and leaves nothing to others; managed memory takes none of it.
    let all: CUdeviceptr = get!(cuMemAlloc_v2(60 << 20));
    fails!(2, cuMemAlloc_v2(&mut 0, 8 << 20));
    fails!(2, cuMemAllocAsync(&mut 0, 8 << 20, null_mut()));
    let more: CUdeviceptr = get!(cuMemAllocManaged(77 << 20, 1));
    ok!(cuMemFree_v2(more));
    ok!(cuMemFree_v2(all));
    ok!(cuMemsetD32_v2(memory, 0x0102_0304, BYTES / 4));
    ok!(cuCtxSynchronize());
    // SAFETY: managed memory of this size, with nothing running.
    let words = unsafe { core::slice::from_raw_parts(memory as *const u32, BYTES / 4) };
    assert!(words.iter().all(|&word| word == 0x0102_0304));
    ok!(cuMemFree_v2(memory));
}

/// A device's address on the PCI bus, in text.
fn bus_address(device: CUdevice) -> String {
    let mut text: [c_char; 13] = [0; 13];
    // One byte is missing for the end of the text.
    fails!(1, cuDeviceGetPCIBusId(text.as_mut_ptr(), 12, device));
    ok!(cuDeviceGetPCIBusId(text.as_mut_ptr(), 13, device));
    // SAFETY: the driver has written a C string.
    let text = unsafe { CStr::from_ptr(text.as_ptr()) };
    text.to_str().expect("digits").to_owned()
}

fn device_at(address: &str) -> CUdevice {
    let address = CString::new(address).expect("a C string");
    get!(cuDeviceGetByPCIBusId(address.as_ptr()))
}

#[test]
fn a_device_is_found_by_its_address() {
    let _turn = turn();
    gpu();
    let address = bus_address(0);
    assert_eq!(device_at(&address), 0);
    assert_eq!(device_at(&address.to_uppercase()), 0);
    let (whole, function) = address.split_once('.').expect("a function");
    assert_eq!(function, "0");
    assert_eq!(device_at(whole), 0);
    let (domain, short) = address.split_once(':').expect("a domain");
    if domain == "0000" {
        assert_eq!(device_at(short), 0);
    }
    let mut device: CUdevice = 7;
    for (code, text) in [
        (101, c"0000:ff:1f.0"),
        (101, c"ff:1f.0"),
        (1, c"ff:1f"),
        (1, c"0000:ff:1f."),
        (1, c"0000:zz:00.0"),
        (1, c"hello"),
        (1, c""),
    ] {
        fails!(code, cuDeviceGetByPCIBusId(&mut device, text.as_ptr()));
    }
    fails!(1, cuDeviceGetByPCIBusId(&mut device, null()));
    assert_eq!(device, 7);
    fails!(
        1,
        cuDeviceGetByPCIBusId(null_mut(), c"0000:ff:1f.0".as_ptr())
    );
}

#[test]
fn each_device_has_an_address() {
    if !in_child(&[
        ("WARPSMITH_SIMULATOR_DEVICES", "3"),
        ("CUDA_VISIBLE_DEVICES", "2,0"),
    ]) {
        return;
    }
    let _turn = turn();
    gpu();
    for device in 0..2 {
        assert_eq!(device_at(&bus_address(device)), device);
    }
    // The machine has this one, but the program does not see it.
    fails!(101, cuDeviceGetByPCIBusId(&mut 0, c"0000:00:07.0".as_ptr()));
}

#[test]
fn a_machine_may_have_none() {
    // covers: DRV-02, ENV-01
    if !in_child(&[("CUDA_VISIBLE_DEVICES", "-1")]) {
        return;
    }
    warpsmith_driver::select(Choice::Simulator).unwrap();
    fails!(100, cuInit(0));
}

#[test]
fn the_visible_ones_come_in_the_order_of_the_list() {
    // covers: ENV-01, EGM-07
    let variables = [
        ("WARPSMITH_SIMULATOR_DEVICES", "4"),
        ("CUDA_VISIBLE_DEVICES", "2,1"),
    ];
    if !in_child(&variables) {
        return;
    }
    let _turn = turn();
    gpu();
    assert_eq!(get!(cuDeviceGetCount()), 2);
    let slot = CUdevice_attribute::CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID;
    let (first, second): (c_int, c_int) = (
        get!(cuDeviceGetAttribute(slot, 0)),
        get!(cuDeviceGetAttribute(slot, 1)),
    );
    assert_eq!(first, second + 1);
    let (first, second): (CUuuid, CUuuid) =
        (get!(cuDeviceGetUuid_v2(0)), get!(cuDeviceGetUuid_v2(1)));
    assert_ne!(first.bytes, second.bytes);
}

#[test]
fn devices_that_are_alike_have_one_order() {
    // covers: ENV-02
    if !is_child() {
        for order in ["FASTEST_FIRST", "PCI_BUS_ID"] {
            let variables = [
                ("WARPSMITH_DEVICE", "simulator"),
                ("WARPSMITH_SIMULATOR_DEVICES", "4"),
                ("CUDA_DEVICE_ORDER", order),
                ("CUDA_VISIBLE_DEVICES", "0,2,3"),
            ];
            run_in_child(&calling_test(), &variables);
        }
        return;
    }
    let _turn = turn();
    gpu();
    assert_eq!(get!(cuDeviceGetCount()), 3);
    let addresses: Vec<String> = (0..3).map(bus_address).collect();
    assert!(addresses.is_sorted(), "{addresses:?}");
}

#[test]
fn blocking_launches_show_their_fault_at_once() {
    // covers: STREAM-02, ENV-07
    if !in_child(&[("CUDA_LAUNCH_BLOCKING", "1"), ("WARPSMITH_REPORT", "0")]) {
        return;
    }
    let _turn = turn();
    gpu();
    let text = ptx!("7.0", "sm_70", ".visible .entry stop() { trap; ret; }\0");
    let module: CUmodule = get!(cuModuleLoadData(text.as_ptr().cast()));
    let kernel: CUfunction = get!(cuModuleGetFunction(module, c"stop".as_ptr()));
    fails!(
        719,
        cuLaunchKernel(
            kernel,
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

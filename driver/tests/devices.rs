//! Several devices, which the simulator can show. Each test runs in a process of its own with the environment that it needs.

mod common;
use common::*;
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
fn blocking_launches_show_their_fault_at_once() {
    // covers: STREAM-02, ENV-07
    if !in_child(&[("CUDA_LAUNCH_BLOCKING", "1"), ("WARPSMITH_REPORT", "0")]) {
        return;
    }
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

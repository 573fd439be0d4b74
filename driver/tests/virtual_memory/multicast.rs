//! Multicast objects. On the simulator alone: no test makes one on GPUs.

use std::ffi::CString;

use warpsmith_driver::fault;
use warpsmith_testkit::{Side, own_process};

use super::support::*;
use crate::common::*;

const PLACE: CUdevice_attribute = CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED;

/// Whether the calling test is in a process with four simulated devices. Multicast objects are created on the simulator only: GPUs are asked whether
/// they have them, and nothing else.
fn in_child_with_four(checks: &str) -> bool {
    if gpu() == Backend::Cuda {
        let mut count = 0;
        ok!(cuDeviceGetCount(&mut count));
        for device in 0..count {
            let answer: i32 = get!(cuDeviceGetAttribute(PLACE, device));
            assert!(answer == 0 || answer == 1, "{answer}");
        }
        return false;
    }
    let variables = [
        ("WARPSMITH_DEVICE", "simulator"),
        ("WARPSMITH_SIMULATOR_DEVICES", "4"),
        ("WARPSMITH_REPORT", "0"),
        ("WARPSMITH_CHECKS", checks),
    ];
    matches!(own_process(&variables), Side::Child)
}

fn on_device(ordinal: i32) -> CUmemLocation {
    let mut location = device();
    location.__bindgen_anon_1.id = ordinal;
    location
}

fn memory_of(ordinal: i32) -> CUmemGenericAllocationHandle {
    let mut wish = properties();
    wish.location = on_device(ordinal);
    get!(cuMemCreate(PIECE, &wish, 0))
}

fn map(handle: CUmemGenericAllocationHandle, ordinal: i32) -> CUdeviceptr {
    let address = reserve(PIECE);
    ok!(cuMemMap(address, PIECE, 0, handle, 0));
    let grants = CUmemAccessDesc {
        location: on_device(ordinal),
        flags: READ_WRITE,
    };
    ok!(cuMemSetAccess(address, PIECE, &grants, 1));
    address
}

fn wish(devices: u32) -> CUmulticastObjectProp {
    CUmulticastObjectProp {
        numDevices: devices,
        size: PIECE,
        ..Default::default()
    }
}

/// An object of the first devices.
fn team(devices: u32) -> CUmemGenericAllocationHandle {
    let object = get!(cuMulticastCreate(&wish(devices)));
    for device in 0..devices {
        ok!(cuMulticastAddDevice(object, device as i32));
    }
    object
}

/// Launches a kernel of this body, where `%d0` and `%d1` are its arguments.
fn begin(body: &str, arguments: Vec<u64>) {
    let text = format!(
        ".version 8.6\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 a, .param .u64 b)\n{{\n.reg .b32 %r<4>; .reg .b64 \
         %d<2>;\nld.param.u64 %d0, [a]; ld.param.u64 %d1, [b];\n{body}\nret;\n}}\n"
    );
    let text = CString::new(text).expect("no NUL in it");
    let module: CUmodule = get!(cuModuleLoadData(text.as_ptr().cast()));
    launch(module, c"k", arguments);
}

/// As [`begin`]; the code with which it ends.
fn run(body: &str, arguments: Vec<u64>) -> u32 {
    begin(body, arguments);
    // SAFETY: the call takes no arguments.
    unsafe { cuCtxSynchronize() }.0
}

#[test]
fn an_object_is_made_filled_and_used_step_by_step() {
    // covers: VMM-37, VMM-38, VMM-39, VMM-40, VMM-42, VMM-X08
    if !in_child_with_four("all") {
        return;
    }
    gpu();
    assert_eq!(get!(cuDeviceGetAttribute(PLACE, 0)), 1);
    let least = CUmulticastGranularity_flags::CU_MULTICAST_GRANULARITY_MINIMUM;
    let granularity: usize = get!(cuMulticastGetGranularity(&wish(4), least));
    assert_eq!(granularity, PIECE);
    let mut object = 0;
    for wrong in [
        CUmulticastObjectProp {
            size: PIECE - 1,
            ..wish(4)
        },
        CUmulticastObjectProp { size: 0, ..wish(4) },
        CUmulticastObjectProp {
            flags: 1,
            ..wish(4)
        },
        CUmulticastObjectProp {
            handleTypes: 2,
            ..wish(4)
        },
        wish(0),
    ] {
        fails!(1, cuMulticastCreate(&mut object, &wrong));
    }
    let object: u64 = get!(cuMulticastCreate(&wish(4)));
    let memory: Vec<u64> = (0..4).map(memory_of).collect();
    fails!(101, cuMulticastAddDevice(object, 4));
    for device in 0..4 {
        // A real driver would wait for the rest of the team.
        fails!(401, cuMulticastBindMem(object, 0, memory[0], 0, PIECE, 0));
        fails!(401, cuMemMap(reserve(PIECE), PIECE, 0, object, 0));
        ok!(cuMulticastAddDevice(object, device));
    }
    fails!(1, cuMulticastAddDevice(object, 0));
    for (start, from, bytes) in [
        (1, 0, PIECE),
        (0, 4096, PIECE),
        (0, 0, 4096),
        (PIECE, 0, PIECE),
    ] {
        fails!(
            1,
            cuMulticastBindMem(object, start, memory[0], from, bytes, 0)
        );
    }
    fails!(1, cuMulticastBindMem(object, 0, memory[0], 0, PIECE, 1));
    fails!(
        101,
        cuMulticastBindMem_v2(object, 1, 0, memory[0], 0, PIECE, 0)
    );
    let own: Vec<u64> = (0..4)
        .map(|device| map(memory[device as usize], device))
        .collect();
    let all = map(object, 0);
    let (add, read) = (
        "multimem.red.global.add.u32 [%d0], 5;",
        "multimem.ld_reduce.global.add.u32 %r0, [%d0];\nst.global.u32 [%d1], %r0;",
    );
    let out: CUdeviceptr = get!(cuMemAlloc_v2(4));
    ok!(cuMulticastBindMem(object, 0, memory[0], 0, PIECE, 0));
    fails!(1, cuMulticastBindMem(object, 0, memory[0], 0, PIECE, 0));
    ok!(cuMulticastBindAddr(object, 0, own[1], PIECE, 0));
    ok!(cuMulticastBindMem_v2(object, 2, 0, memory[2], 0, PIECE, 0));
    ok!(cuMulticastBindAddr_v2(object, 3, 0, own[3], PIECE, 0));
    for (place, &address) in (1..).zip(&own) {
        ok!(cuMemcpyHtoD_v2(address, (&raw const place).cast(), 4));
        let _: i32 = place;
    }
    assert_eq!(run(add, vec![all, out]), 0);
    assert_eq!(run(read, vec![all, out]), 0);
    assert_eq!(download::<u32>(out, 1), [1 + 2 + 3 + 4 + 4 * 5]);
    // Each device's own mapping shows its replica.
    for (place, &address) in (1..).zip(&own) {
        assert_eq!(download::<u32>(address, 1), [place + 5]);
    }
    // Handles may go first: mappings and bindings keep what they name.
    for &handle in memory.iter().chain([&object]) {
        ok!(cuMemRelease(handle));
    }
    assert_eq!(run(add, vec![all, out]), 0);
    assert_eq!(download::<u32>(own[3], 1), [14]);
    // Copies do not go to a multicast address.
    fails!(1, cuMemsetD32_v2(all, 0, 1));
    let held: u64 = get!(cuMemRetainAllocationHandle(all as *mut c_void));
    fails!(1, cuMulticastUnbind(held, 3, 0, PIECE / 2));
    ok!(cuMulticastUnbind(held, 3, 0, PIECE));
    fails!(1, cuMulticastUnbind(held, 3, 0, PIECE));
    ok!(cuMemRelease(held));
    assert_eq!(run(add, vec![all, out]), 700);
    let text = fault(null_mut()).expect("a fault").to_string();
    assert!(text.contains("device 3 of the team has none"), "{text}");
}

#[test]
fn wrong_accesses_are_told_apart() {
    // covers: VMM-39, VMM-42
    if !in_child_with_four("all") {
        return;
    }
    gpu();
    let object = team(2);
    // A device that is not of the team has no replica, and no access.
    fails!(
        101,
        cuMulticastBindMem(object, 0, memory_of(2), 0, PIECE, 0)
    );
    let address = reserve(PIECE);
    ok!(cuMemMap(address, PIECE, 0, object, 0));
    for (ordinal, code) in [(1, 0), (2, 101), (0, 0)] {
        let grants = CUmemAccessDesc {
            location: on_device(ordinal),
            flags: READ_WRITE,
        };
        // SAFETY: the call reads one description.
        let answer = unsafe { cuMemSetAccess(address, PIECE, &grants, 1) };
        assert_eq!(answer.0, code, "{ordinal}");
    }
    for (body, part) in [
        (
            "ld.global.u32 %r0, [%d0];",
            "which multimem instructions alone use",
        ),
        (
            "st.global.u32 [%d0], 1;",
            "which multimem instructions alone use",
        ),
        (
            "atom.global.add.u32 %r0, [%d0], 1;",
            "which multimem instructions alone use",
        ),
        (
            "multimem.st.global.u32 [%d1], 1;",
            "uses addresses of multicast objects alone",
        ),
        (
            "multimem.st.global.u32 [%d0+2], 1;",
            "must be a multiple of 4",
        ),
        (
            "multimem.st.global.u32 [%d0+2097152], 1;",
            "uses addresses of multicast objects alone",
        ),
    ] {
        let context: CUcontext = get!(cuCtxCreate_v2(0, 0));
        let [one, two] = [0, 1].map(memory_of);
        let object = team(2);
        ok!(cuMulticastBindMem(object, 0, one, 0, PIECE, 0));
        ok!(cuMulticastBindMem(object, 0, two, 0, PIECE, 0));
        let (all, own) = (map(object, 0), map(one, 0));
        assert_ne!(run(body, vec![all, own]), 0, "{body}");
        let text = fault(context).expect("a fault").to_string();
        assert!(text.contains(part), "{body}: {text}");
        ok!(cuCtxDestroy_v2(context));
    }
}

#[test]
fn a_replica_is_an_alias_of_the_objects_address() {
    // covers: VMM-40
    if !in_child_with_four("all") {
        return;
    }
    gpu();
    for (between, code) in [("fence.proxy.alias;", 0), ("fence.sc.sys;", 719)] {
        let context: CUcontext = get!(cuCtxCreate_v2(0, 0));
        let [one, two] = [0, 1].map(memory_of);
        let object = team(2);
        ok!(cuMulticastBindMem(object, 0, one, 0, PIECE, 0));
        ok!(cuMulticastBindMem(object, 0, two, 0, PIECE, 0));
        let (all, own) = (map(object, 0), map(one, 0));
        let body = format!(
            "multimem.red.relaxed.sys.global.add.u32 [%d0], 1;\n{between}\nld.global.u32 %r0, [%d1];"
        );
        assert_eq!(run(&body, vec![all, own]), code, "{between}");
        ok!(cuCtxDestroy_v2(context));
    }
}

#[test]
fn an_object_is_exported_and_imported() {
    // covers: VMM-41
    if !in_child_with_four("all") {
        return;
    }
    gpu();
    let mut descriptor = -1i32;
    let plain = team(1);
    let to = (&raw mut descriptor).cast();
    fails!(1, cuMemExportToShareableHandle(to, plain, DESCRIPTOR, 0));
    let properties = CUmulticastObjectProp {
        handleTypes: 1,
        ..wish(1)
    };
    let object: u64 = get!(cuMulticastCreate(&properties));
    ok!(cuMemExportToShareableHandle(to, object, DESCRIPTOR, 0));
    let number = core::ptr::without_provenance_mut(descriptor as usize);
    let same: u64 = get!(cuMemImportFromShareableHandle(number, DESCRIPTOR));
    ok!(cuMulticastAddDevice(same, 0));
    // It is complete by the other handle, too, and takes memory alone that others may have.
    fails!(1, cuMulticastBindMem(object, 0, memory_of(0), 0, PIECE, 0));
    let mut shareable = self::properties();
    shareable.requestedHandleTypes = DESCRIPTOR;
    let memory: u64 = get!(cuMemCreate(PIECE, &shareable, 0));
    ok!(cuMulticastBindMem(object, 0, memory, 0, PIECE, 0));
    ok!(cuMemRelease(object));
    let all = map(same, 0);
    assert_eq!(run("multimem.st.global.u32 [%d0], 3;", vec![all, 0]), 0);
    let own = map(memory, 0);
    assert_eq!(download::<u32>(own, 1), [3]);
}

#[test]
fn what_is_given_back_while_a_kernel_uses_it_is_a_fault() {
    // covers: VMM-39, VMM-40
    if !in_child_with_four("none") {
        return;
    }
    gpu();
    let beside = CUstream_flags::CU_STREAM_NON_BLOCKING.0;
    for part in [
        "an unbound replica",
        "an unmapped object",
        "an unmapped replica",
    ] {
        let context: CUcontext = get!(cuCtxCreate_v2(0, 0));
        let stream: CUstream = get!(cuStreamCreate(beside));
        let look = |address| {
            let mut word = 0u32;
            ok!(cuMemcpyDtoHAsync_v2(
                (&raw mut word).cast(),
                address,
                4,
                stream
            ));
            ok!(cuStreamSynchronize(stream));
            word
        };
        let memory = [0, 1].map(memory_of);
        let object = team(2);
        for memory in memory {
            ok!(cuMulticastBindMem(object, 0, memory, 0, PIECE, 0));
        }
        let (all, own) = (map(object, 0), map(memory[0], 0));
        begin(
            "again: multimem.red.global.add.u32 [%d0], 1;\nbra again;",
            vec![all, 0],
        );
        while look(own) == 0 {}
        match part {
            "an unbound replica" => ok!(cuMulticastUnbind(object, 1, 0, PIECE)),
            "an unmapped object" => ok!(cuMemUnmap(all, PIECE)),
            _ => {
                // Its binding keeps it, so the kernel goes on.
                ok!(cuMemUnmap(own, PIECE));
                ok!(cuMemRelease(memory[0]));
                let other = map(memory[1], 1);
                let seen = look(other);
                while look(other) == seen {}
                ok!(cuMulticastUnbind(object, 0, 0, PIECE));
            }
        }
        // SAFETY: the call takes no arguments.
        assert_eq!(unsafe { cuCtxSynchronize() }.0, 700, "{part}");
        ok!(cuCtxDestroy_v2(context));
    }
}

#[test]
fn each_order_of_giving_back_frees_the_memory() {
    // covers: VMM-39, VMM-40
    if !in_child_with_four("all") {
        return;
    }
    gpu();
    let free = || {
        let (mut free, mut total) = (0, 0);
        ok!(cuMemGetInfo_v2(&mut free, &mut total));
        free
    };
    let before = free();
    for order in 0..120usize {
        let memory = memory_of(0);
        let object = team(1);
        ok!(cuMulticastBindMem(object, 0, memory, 0, PIECE, 0));
        let (all, own) = (map(object, 0), map(memory, 0));
        assert_eq!(free(), before - PIECE);
        let mut left = vec![
            "object",
            "memory",
            "mapped object",
            "mapped memory",
            "binding",
        ];
        let mut rest = order;
        while !left.is_empty() {
            let next = rest % left.len();
            rest /= left.len();
            match left.swap_remove(next) {
                "object" => ok!(cuMemRelease(object)),
                "memory" => ok!(cuMemRelease(memory)),
                "mapped object" => ok!(cuMemUnmap(all, PIECE)),
                "mapped memory" => ok!(cuMemUnmap(own, PIECE)),
                // By a handle that is live.
                _ if left.contains(&"object") => ok!(cuMulticastUnbind(object, 0, 0, PIECE)),
                _ => fails!(1, cuMulticastUnbind(object, 0, 0, PIECE)),
            }
            if left.contains(&"mapped memory") {
                // What is mapped is kept, whatever else has gone.
                ok!(cuMemsetD32_v2(own, order as u32, 1));
                assert_eq!(download::<u32>(own, 1), [order as u32]);
            }
        }
        assert_eq!(free(), before, "{order}");
        fails!(1, cuMemRelease(object));
        fails!(1, cuMulticastAddDevice(object, 1));
        ok!(cuMemAddressFree(all, PIECE));
        ok!(cuMemAddressFree(own, PIECE));
    }
}

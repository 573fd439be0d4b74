//! Who may access a mapping.

use warpsmith_driver::fault;
use warpsmith_testkit::{Side, own_process};

use super::support::*;
use crate::common::*;

fn device_of(ordinal: CUdevice) -> CUmemLocation {
    let mut location = device();
    location.__bindgen_anon_1.id = ordinal;
    location
}

#[test]
fn a_mapping_gives_no_access_by_itself() {
    // covers: VMM-08, VMM-09, VMM-16
    let _turn = turn();
    gpu();
    let range = reserve(4 * PIECE);
    let (one, two) = (create(PIECE), create(2 * PIECE));
    ok!(cuMemMap(range, PIECE, 0, one, 0));
    ok!(cuMemMap(range + PIECE as u64, 2 * PIECE, 0, two, 0));
    let access = || -> c_ulonglong { get!(cuMemGetAccess(&device(), range)) };
    assert_eq!(access(), 0);
    let mut flags = 0;
    fails!(
        1,
        cuMemGetAccess(&mut flags, &device(), range + 3 * PIECE as u64)
    );
    let mut nobody = device();
    nobody.__bindgen_anon_1.id = 99;
    fails!(101, cuMemGetAccess(&mut flags, &nobody, range));

    let bytes = [7u8; 64];
    let mut back = [0u8; 64];
    fails!(1, cuMemcpyHtoD_v2(range, bytes.as_ptr().cast(), 64));
    fails!(1, cuMemsetD8_v2(range, 1, 64));
    let wish = |location, flags| CUmemAccessDesc { location, flags };
    let all = wish(device(), READ_WRITE);
    fails!(1, cuMemSetAccess(range, PIECE / 2, &all, 1));
    fails!(1, cuMemSetAccess(range, 0, &all, 1));
    fails!(1, cuMemSetAccess(range, PIECE, &all, 0));
    fails!(1, cuMemSetAccess(range, 4 * PIECE, &all, 1));
    fails!(1, cuMemSetAccess(range + PIECE as u64, PIECE, &all, 1));
    fails!(
        1,
        cuMemSetAccess(range, PIECE, &wish(device(), CUmemAccess_flags(2)), 1)
    );
    fails!(1, cuMemSetAccess(range, PIECE, &wish(nobody, READ), 1));
    fails!(
        801,
        cuMemSetAccess(range, PIECE, &wish(host_node(), READ), 1)
    );

    // Two mappings, one grant, and one copy across.
    grant(range, 3 * PIECE, READ_WRITE);
    assert_eq!(access(), 3);
    ok!(cuMemsetD8_v2(range, 1, 3 * PIECE));
    let seam = range + PIECE as u64 - 32;
    ok!(cuMemcpyHtoD_v2(seam, bytes.as_ptr().cast(), 64));
    ok!(cuMemcpyDtoH_v2(back.as_mut_ptr().cast(), seam, 64));
    assert_eq!(back, bytes);
    fails!(1, cuMemsetD8_v2(range, 1, 3 * PIECE + 1));

    grant(range, PIECE, READ);
    assert_eq!(access(), 1);
    fails!(1, cuMemsetD8_v2(range, 5, 64));
    fails!(1, cuMemcpyHtoD_v2(range, bytes.as_ptr().cast(), 64));
    ok!(cuMemcpyDtoH_v2(back.as_mut_ptr().cast(), range, 64));
    grant(range, PIECE, NONE);
    fails!(1, cuMemcpyDtoH_v2(back.as_mut_ptr().cast(), range, 64));
    ok!(cuMemUnmap(range, 3 * PIECE));
    for handle in [one, two] {
        ok!(cuMemRelease(handle));
    }
    ok!(cuMemAddressFree(range, 4 * PIECE));
}

#[test]
fn one_range_has_memory_of_two_devices() {
    // covers: VMM-14, VMM-16
    let variables = [
        ("WARPSMITH_DEVICE", "simulator"),
        ("WARPSMITH_SIMULATOR_DEVICES", "2"),
        ("WARPSMITH_REPORT", "0"),
    ];
    if !matches!(own_process(&variables), Side::Child) {
        return;
    }
    gpu();
    let range = reserve(2 * PIECE);
    for ordinal in 0..2 {
        let mut wish = properties();
        wish.location = device_of(ordinal);
        let handle: CUmemGenericAllocationHandle = get!(cuMemCreate(PIECE, &wish, 0));
        let address = range + ordinal as u64 * PIECE as u64;
        ok!(cuMemMap(address, PIECE, 0, handle, 0));
        ok!(cuMemRelease(handle));
        let place = CUpointer_attribute::CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL;
        assert_eq!(attribute(place, address) as u32, ordinal as u32);
    }
    // The first device may use both halves, the second only its own.
    let grants = |ordinal| CUmemAccessDesc {
        location: device_of(ordinal),
        flags: READ_WRITE,
    };
    ok!(cuMemSetAccess(range, 2 * PIECE, &grants(0), 1));
    ok!(cuMemSetAccess(range + PIECE as u64, PIECE, &grants(1), 1));
    let access = |ordinal| -> c_ulonglong { get!(cuMemGetAccess(&device_of(ordinal), range)) };
    assert_eq!((access(0), access(1)), (3, 0));
    let seam = range + PIECE as u64;
    let (last, first) = (seam - 4, seam);
    let module: CUmodule = get!(cuModuleLoadData(PTX.as_ptr().cast()));
    launch(module, c"store", vec![last]);
    launch(module, c"store", vec![first]);
    launch(module, c"add", vec![last, first]);
    assert_eq!(download::<u32>(last, 2), [82, 41]);

    let other: CUcontext = get!(cuDevicePrimaryCtxRetain(1));
    ok!(cuCtxSetCurrent(other));
    let module: CUmodule = get!(cuModuleLoadData(PTX.as_ptr().cast()));
    launch(module, c"store", vec![first]);
    ok!(cuCtxSynchronize());
    launch(module, c"store", vec![last]);
    fails!(700, cuCtxSynchronize());
    let text = fault(other).expect("a fault").to_string();
    assert!(text.contains("has not been granted access"), "{text}");
}

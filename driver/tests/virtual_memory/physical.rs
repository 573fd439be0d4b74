//! Physical memory: sizes, properties, how long it lives.

use super::support::*;
use crate::common::*;

#[test]
fn what_sizes_are_multiples_of_is_asked_for() {
    // covers: VMM-01, VMM-02
    gpu();
    let key = CUdevice_attribute::CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED;
    assert_eq!(get!(cuDeviceGetAttribute(key, 0)), 1);
    for option in [
        CUmemAllocationGranularity_flags::CU_MEM_ALLOC_GRANULARITY_MINIMUM,
        CUmemAllocationGranularity_flags::CU_MEM_ALLOC_GRANULARITY_RECOMMENDED,
    ] {
        let granularity: usize = get!(cuMemGetAllocationGranularity(&properties(), option));
        assert_eq!(granularity, PIECE);
    }
    let mut granularity = 0;
    let other = CUmemAllocationGranularity_flags(2);
    fails!(
        1,
        cuMemGetAllocationGranularity(&mut granularity, &properties(), other)
    );
}

#[test]
fn physical_memory_has_whole_pieces_and_tells_what_it_is() {
    // covers: VMM-03, VMM-04, VMM-30, VMM-33
    let _turn = turn();
    gpu();
    let mut handle = 0;
    for bytes in [0, PIECE + 1, PIECE / 2] {
        fails!(1, cuMemCreate(&mut handle, bytes, &properties(), 0));
    }
    fails!(1, cuMemCreate(&mut handle, PIECE, &properties(), 1));
    fails!(2, cuMemCreate(&mut handle, 1 << 42, &properties(), 0));
    let mut wish = properties();
    wish.type_ = CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_INVALID;
    fails!(1, cuMemCreate(&mut handle, PIECE, &wish, 0));
    wish = properties();
    wish.location.type_ = CUmemLocationType::CU_MEM_LOCATION_TYPE_INVALID;
    fails!(1, cuMemCreate(&mut handle, PIECE, &wish, 0));
    wish = properties();
    wish.location.__bindgen_anon_1.id = 99;
    fails!(101, cuMemCreate(&mut handle, PIECE, &wish, 0));
    wish = properties();
    wish.requestedHandleTypes = CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_WIN32;
    fails!(1, cuMemCreate(&mut handle, PIECE, &wish, 0));
    wish = properties();
    wish.allocFlags.compressionType = 7;
    fails!(1, cuMemCreate(&mut handle, PIECE, &wish, 0));

    let before = free_memory();
    wish = properties();
    wish.allocFlags.compressionType = 1;
    wish.requestedHandleTypes = DESCRIPTOR;
    handle = get!(cuMemCreate(PIECE, &wish, 0));
    assert_eq!(before - free_memory(), PIECE);
    let granted: CUmemAllocationProp = get!(cuMemGetAllocationPropertiesFromHandle(handle));
    assert_eq!(granted.type_, wish.type_);
    assert_eq!(granted.location.type_, wish.location.type_);
    assert_eq!(granted.requestedHandleTypes, DESCRIPTOR);
    // Whether it was granted, the properties tell.
    assert!(granted.allocFlags.compressionType <= 1);
    ok!(cuMemRelease(handle));
    assert_eq!(free_memory(), before);
    fails!(1, cuMemRelease(handle));
}

#[test]
fn memory_lives_as_long_as_its_last_mapping() {
    // covers: VMM-10, VMM-X10
    let _turn = turn();
    gpu();
    let range = reserve(PIECE);
    let before = free_memory();
    let handle = map_new(range, PIECE);
    ok!(cuMemRelease(handle));
    fails!(1, cuMemRelease(handle));
    assert_eq!(before - free_memory(), PIECE);
    ok!(cuMemsetD8_v2(range, 9, PIECE));
    let again: CUmemGenericAllocationHandle =
        get!(cuMemRetainAllocationHandle(range as *mut c_void));
    assert_eq!(again, handle, "a released handle is held again");
    ok!(cuMemRelease(again));
    assert_eq!(download::<u8>(range, 64), [9; 64]);
    ok!(cuMemUnmap(range, PIECE));
    assert_eq!(free_memory(), before);
    ok!(cuMemAddressFree(range, PIECE));
}

#[test]
fn memory_of_the_host_is_for_both() {
    // covers: EGM-02, EGM-03, EGM-X01
    let _turn = turn();
    gpu();
    let mut wish = properties();
    wish.location = host_node();
    let handle = get!(cuMemCreate(PIECE, &wish, 0));
    let range = reserve(PIECE);
    ok!(cuMemMap(range, PIECE, 0, handle, 0));
    let grants = [device(), host_node()].map(|location| CUmemAccessDesc {
        location,
        flags: READ_WRITE,
    });
    ok!(cuMemSetAccess(range, PIECE, grants.as_ptr(), 2));
    ok!(cuMemsetD8_v2(range, 9, 64));
    ok!(cuCtxSynchronize());
    // SAFETY: the host may access the mapping since the grant above, and the device has finished.
    let bytes = unsafe { core::slice::from_raw_parts(range as *const u8, 64) };
    assert_eq!(bytes, [9; 64]);
    let key = CUpointer_attribute::CU_POINTER_ATTRIBUTE_MEMORY_TYPE;
    assert_eq!(attribute(key, range), 1);
    ok!(cuMemUnmap(range, PIECE));
    ok!(cuMemRelease(handle));
    ok!(cuMemAddressFree(range, PIECE));
}

//! Virtual memory: physical allocations, reserved addresses, mappings and who may access them. What a real driver answers was measured
//! on an H200.

mod common;
use common::*;

use std::os::fd::{FromRawFd, OwnedFd};

use warpsmith_abi::fault::FaultKind;
use warpsmith_driver::fault;
use warpsmith_testkit::{Side, own_process};

/// What sizes and addresses are multiples of on an H200.
const PIECE: usize = 2 << 20;
const READ: CUmemAccess_flags = CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READ;
const READ_WRITE: CUmemAccess_flags = CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
const NONE: CUmemAccess_flags = CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_NONE;
const DESCRIPTOR: CUmemAllocationHandleType =
    CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;

fn device() -> CUmemLocation {
    CUmemLocation {
        type_: CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE,
        ..Default::default()
    }
}

fn host_node() -> CUmemLocation {
    CUmemLocation {
        type_: CUmemLocationType::CU_MEM_LOCATION_TYPE_HOST_NUMA,
        ..Default::default()
    }
}

fn properties() -> CUmemAllocationProp {
    CUmemAllocationProp {
        type_: CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED,
        location: device(),
        ..Default::default()
    }
}

fn create(bytes: usize) -> CUmemGenericAllocationHandle {
    get!(cuMemCreate(bytes, &properties(), 0))
}

fn reserve(bytes: usize) -> CUdeviceptr {
    get!(cuMemAddressReserve(bytes, 0, 0, 0))
}

fn grant(address: CUdeviceptr, bytes: usize, flags: CUmemAccess_flags) {
    let wish = CUmemAccessDesc {
        location: device(),
        flags,
    };
    ok!(cuMemSetAccess(address, bytes, &wish, 1));
}

/// New memory at an address, for reading and writing.
fn map_new(address: CUdeviceptr, bytes: usize) -> CUmemGenericAllocationHandle {
    let handle = create(bytes);
    ok!(cuMemMap(address, bytes, 0, handle, 0));
    grant(address, bytes, READ_WRITE);
    handle
}

fn attribute(key: CUpointer_attribute, address: CUdeviceptr) -> u64 {
    let mut value = 0u64;
    ok!(cuPointerGetAttribute((&raw mut value).cast(), key, address));
    value
}

fn free_memory() -> usize {
    let (mut free, mut total) = (0, 0);
    ok!(cuMemGetInfo_v2(&mut free, &mut total));
    free
}

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
fn addresses_are_reserved_and_given_back_as_a_whole() {
    // covers: VMM-05, VMM-11
    let _turn = turn();
    gpu();
    let mut address = 0;
    for bytes in [0, 100, 4096, 1 << 16] {
        fails!(1, cuMemAddressReserve(&mut address, bytes, 0, 0, 0));
    }
    fails!(1, cuMemAddressReserve(&mut address, PIECE, 3, 0, 0));
    fails!(1, cuMemAddressReserve(&mut address, PIECE, 0, 0, 1));
    fails!(1, cuMemAddressReserve(&mut address, PIECE, 0, 12345, 0));
    fails!(2, cuMemAddressReserve(&mut address, 1 << 60, 0, 0, 0));
    let aligned: CUdeviceptr = get!(cuMemAddressReserve(PIECE, 1 << 33, 0, 0));
    assert_eq!(aligned % (1 << 33), 0);
    ok!(cuMemAddressFree(aligned, PIECE));

    // More than any device has, and it costs nothing.
    const LARGE: usize = 1 << 40;
    let before = free_memory();
    let large = reserve(LARGE);
    assert_eq!(free_memory(), before);
    fails!(1, cuMemAddressFree(large, PIECE));
    fails!(1, cuMemAddressFree(large + PIECE as u64, PIECE));
    fails!(1, cuMemAddressFree(0, PIECE));
    let handle = map_new(large, PIECE);
    fails!(1, cuMemAddressFree(large, LARGE));
    ok!(cuMemUnmap(large, PIECE));
    ok!(cuMemAddressFree(large, LARGE));
    fails!(1, cuMemAddressFree(large, LARGE));
    ok!(cuMemRelease(handle));
}

#[test]
fn only_whole_memory_is_mapped_and_only_into_free_addresses() {
    // covers: VMM-06
    let _turn = turn();
    let backend = gpu();
    let range = reserve(8 * PIECE);
    let (one, two) = (create(PIECE), create(2 * PIECE));
    let at = |piece: usize| range + (piece * PIECE) as u64;
    for (bytes, offset, flags, code) in [
        (PIECE, 4096, 0, 801),
        (PIECE, PIECE, 0, 801),
        (2 * PIECE, 0, 0, 801),
        (PIECE / 2, 0, 0, 801),
        (0, 0, 0, 1),
        (PIECE, 0, 1, 1),
    ] {
        fails!(code, cuMemMap(range, bytes, offset, one, flags));
    }
    fails!(1, cuMemMap(range + 4096, PIECE, 0, one, 0));
    fails!(1, cuMemMap(0x1000000, PIECE, 0, one, 0));
    if backend == Backend::Simulator {
        // A real driver takes it where the next reservation happens to begin there.
        fails!(1, cuMemMap(at(7), 2 * PIECE, 0, two, 0));
    }
    ok!(cuMemMap(range, PIECE, 0, one, 0));
    fails!(1, cuMemMap(range, PIECE, 0, one, 0));
    fails!(1, cuMemMap(range, 2 * PIECE, 0, two, 0));
    ok!(cuMemMap(at(1), 2 * PIECE, 0, two, 0));

    // One part of a mapping cannot be unmapped; several, and gaps beside them, can.
    fails!(1, cuMemUnmap(range, PIECE / 2));
    fails!(1, cuMemUnmap(at(1), PIECE));
    fails!(1, cuMemUnmap(range, 0));
    fails!(1, cuMemAddressFree(range, 8 * PIECE));
    ok!(cuMemUnmap(range, 4 * PIECE));
    // There is nothing left to unmap, which is no error as long as the addresses are reserved.
    ok!(cuMemUnmap(range, 3 * PIECE));
    for handle in [one, two] {
        ok!(cuMemRelease(handle));
    }
    ok!(cuMemAddressFree(range, 8 * PIECE));
    fails!(1, cuMemUnmap(range, 3 * PIECE));
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
fn memory_keeps_its_bytes_when_it_is_mapped_elsewhere() {
    // covers: VMM-07, VMM-15, VMM-19
    let _turn = turn();
    gpu();
    let range = reserve(4 * PIECE);
    let at = |piece: usize| range + (piece * PIECE) as u64;
    let handles: Vec<_> = (0..3).map(|piece| map_new(at(piece), PIECE)).collect();
    for piece in 0..3 {
        ok!(cuMemsetD8_v2(at(piece), piece as u8 + 1, PIECE));
    }
    ok!(cuCtxSynchronize());
    // The first piece moves behind the others, whose mappings stay.
    let again: CUmemGenericAllocationHandle =
        get!(cuMemRetainAllocationHandle((range + 64) as *mut c_void));
    assert_eq!(again, handles[0]);
    ok!(cuMemUnmap(range, PIECE));
    ok!(cuMemMap(at(3), PIECE, 0, again, 0));
    let mut byte = 0u8;
    fails!(1, cuMemcpyDtoH_v2((&raw mut byte).cast(), at(3), 1));
    grant(at(3), PIECE, READ_WRITE);
    for (piece, expected) in [(1, 2), (2, 3), (3, 1)] {
        assert_eq!(download::<u8>(at(piece), PIECE), vec![expected; PIECE]);
    }
    let mut none = 0;
    fails!(
        1,
        cuMemRetainAllocationHandle(&mut none, range as *mut c_void)
    );
    ok!(cuMemUnmap(range, 4 * PIECE));
    ok!(cuMemRelease(again));
    for handle in handles {
        ok!(cuMemRelease(handle));
    }
    ok!(cuMemAddressFree(range, 4 * PIECE));
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
fn one_memory_has_two_addresses() {
    // covers: VMM-20, VMM-21, VMM-X04
    let _turn = turn();
    gpu();
    let (a, b) = (reserve(PIECE), reserve(PIECE));
    let handle = map_new(a, PIECE);
    ok!(cuMemMap(b, PIECE, 0, handle, 0));
    grant(b, PIECE, READ);
    let streams = [stream(), stream()];
    let event: CUevent = get!(cuEventCreate(0));
    ok!(cuMemsetD32Async(a, 1, 16, streams[0]));
    ok!(cuEventRecord(event, streams[0]));
    ok!(cuStreamWaitEvent(streams[1], event, 0));
    let back = pinned::<u32>(16);
    ok!(cuMemcpyDtoHAsync_v2(back.cast(), b, 64, streams[1]));
    ok!(cuStreamSynchronize(streams[1]));
    // SAFETY: the copy is complete.
    assert_eq!(unsafe { core::slice::from_raw_parts(back, 16) }, [1; 16]);
    fails!(1, cuMemsetD32Async(b, 2, 16, streams[0]));
    for address in [a, b] {
        ok!(cuMemUnmap(address, PIECE));
        ok!(cuMemAddressFree(address, PIECE));
    }
    ok!(cuMemRelease(handle));
}

#[test]
fn pointers_tell_of_their_mapping_and_their_reservation() {
    // covers: VMM-17, VMM-29
    let _turn = turn();
    gpu();
    type Key = CUpointer_attribute;
    let range = reserve(4 * PIECE);
    let mut value = 0u64;
    let key = Key::CU_POINTER_ATTRIBUTE_MEMORY_TYPE;
    fails!(
        1,
        cuPointerGetAttribute((&raw mut value).cast(), key, range)
    );
    let handle = create(2 * PIECE);
    let base = range + PIECE as u64;
    ok!(cuMemMap(base, 2 * PIECE, 0, handle, 0));
    let inside = base + 64;
    let key = Key::CU_POINTER_ATTRIBUTE_DEVICE_POINTER;
    fails!(
        1,
        cuPointerGetAttribute((&raw mut value).cast(), key, inside)
    );
    assert_eq!(attribute(Key::CU_POINTER_ATTRIBUTE_ACCESS_FLAGS, inside), 0);
    grant(base, 2 * PIECE, READ_WRITE);
    for (key, expected) in [
        (Key::CU_POINTER_ATTRIBUTE_CONTEXT, 0),
        (Key::CU_POINTER_ATTRIBUTE_MEMORY_TYPE, 2),
        (Key::CU_POINTER_ATTRIBUTE_DEVICE_POINTER, inside),
        (Key::CU_POINTER_ATTRIBUTE_IS_MANAGED, 0),
        (Key::CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, 0),
        (Key::CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE, 0),
        (Key::CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, range),
        (Key::CU_POINTER_ATTRIBUTE_RANGE_SIZE, 4 * PIECE as u64),
        (Key::CU_POINTER_ATTRIBUTE_MAPPED, 1),
        (Key::CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES, 0),
        (Key::CU_POINTER_ATTRIBUTE_ACCESS_FLAGS, 3),
        (Key::CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, 0),
        (Key::CU_POINTER_ATTRIBUTE_MAPPING_SIZE, 2 * PIECE as u64),
        (Key::CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR, base),
    ] {
        assert_eq!(attribute(key, inside), expected, "{key:?}");
    }
    let (mut start, mut bytes) = (0, 0);
    ok!(cuMemGetAddressRange_v2(&mut start, &mut bytes, inside));
    assert_eq!((start, bytes), (base, 2 * PIECE));
    fails!(1, cuMemFree_v2(base));
    fails!(1, cuMemFreeAsync(base, null_mut()));
    ok!(cuMemUnmap(base, 2 * PIECE));
    ok!(cuMemRelease(handle));
    ok!(cuMemAddressFree(range, 4 * PIECE));
}

#[test]
fn memory_is_exported_as_a_file_descriptor() {
    // covers: VMM-25, VMM-26, VMM-28
    let _turn = turn();
    let backend = gpu();
    let mut number: c_int = -1;
    let kept = create(PIECE);
    fails!(
        1,
        cuMemExportToShareableHandle((&raw mut number).cast(), kept, DESCRIPTOR, 0)
    );
    ok!(cuMemRelease(kept));
    let mut wish = properties();
    wish.requestedHandleTypes = DESCRIPTOR;
    let before = free_memory();
    let handle = get!(cuMemCreate(PIECE, &wish, 0));
    fails!(
        1,
        cuMemExportToShareableHandle((&raw mut number).cast(), handle, DESCRIPTOR, 1)
    );
    ok!(cuMemExportToShareableHandle(
        (&raw mut number).cast(),
        handle,
        DESCRIPTOR,
        0
    ));
    // SAFETY: the call above made the descriptor, which nothing else owns.
    let descriptor = unsafe { OwnedFd::from_raw_fd(number) };
    let range = reserve(2 * PIECE);
    ok!(cuMemMap(range, PIECE, 0, handle, 0));
    grant(range, PIECE, READ_WRITE);
    ok!(cuMemsetD8_v2(range, 77, PIECE));
    ok!(cuCtxSynchronize());
    ok!(cuMemUnmap(range, PIECE));
    ok!(cuMemRelease(handle));
    // The descriptor alone keeps it now. The simulator does not see who has descriptors: its account is of handles and mappings.
    if backend == Backend::Cuda {
        assert_eq!(before - free_memory(), PIECE);
    }
    let mut imported = 0;
    let import = |imported: &mut u64, number: c_int| {
        // SAFETY: the driver looks the descriptor up, whichever number it is.
        unsafe {
            cuMemImportFromShareableHandle(imported, number as usize as *mut c_void, DESCRIPTOR)
        }
        .0
    };
    assert_eq!(import(&mut imported, 999), 999);
    assert_eq!(import(&mut imported, -1), 999);
    assert_eq!(import(&mut imported, number), 0);
    assert_ne!(imported, handle);
    drop(descriptor);
    let granted: CUmemAllocationProp = get!(cuMemGetAllocationPropertiesFromHandle(imported));
    assert_eq!(
        granted.requestedHandleTypes.0, 0,
        "it cannot be exported again"
    );
    ok!(cuMemMap(range + PIECE as u64, PIECE, 0, imported, 0));
    grant(range + PIECE as u64, PIECE, READ);
    assert_eq!(download::<u8>(range + PIECE as u64, PIECE), vec![77; PIECE]);
    ok!(cuMemUnmap(range, 2 * PIECE));
    ok!(cuMemRelease(imported));
    assert_eq!(free_memory(), before);
    ok!(cuMemAddressFree(range, 2 * PIECE));
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

/// Stores one word at an address and adds up two.
const PTX: &core::ffi::CStr = c"
.version 7.8
.target sm_90
.address_size 64
.visible .entry store(.param .u64 to)
{
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [to];
    st.global.u32 [%rd1], 41;
    ret;
}
.visible .entry add(.param .u64 to, .param .u64 from)
{
    .reg .b32 %r<4>; .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [to];
    ld.param.u64 %rd2, [from];
    ld.global.u32 %r1, [%rd1];
    ld.global.u32 %r2, [%rd2];
    add.s32 %r3, %r1, %r2;
    st.global.u32 [%rd1], %r3;
    ret;
}
";

fn launch(module: CUmodule, name: &core::ffi::CStr, mut arguments: Vec<u64>) {
    let function: CUfunction = get!(cuModuleGetFunction(module, name.as_ptr()));
    let mut parameters: Vec<*mut c_void> = arguments
        .iter_mut()
        .map(|argument| (&raw mut *argument).cast())
        .collect();
    ok!(cuLaunchKernel(
        function,
        1,
        1,
        1,
        1,
        1,
        1,
        0,
        null_mut(),
        parameters.as_mut_ptr(),
        null_mut()
    ));
}

#[test]
fn kernels_use_mappings_like_any_memory() {
    // covers: VMM-X01, VMM-X02
    let _turn = turn();
    gpu();
    let module: CUmodule = get!(cuModuleLoadData(PTX.as_ptr().cast()));
    let range = reserve(2 * PIECE);
    let handles = [map_new(range, PIECE), map_new(range + PIECE as u64, PIECE)];
    let (last, first) = (range + PIECE as u64 - 4, range + PIECE as u64);
    launch(module, c"store", vec![last]);
    launch(module, c"store", vec![first]);
    launch(module, c"add", vec![last, first]);
    assert_eq!(download::<u32>(last, 2), [82, 41]);
    ok!(cuMemUnmap(range, 2 * PIECE));
    for handle in handles {
        ok!(cuMemRelease(handle));
    }
    ok!(cuMemAddressFree(range, 2 * PIECE));
    ok!(cuModuleUnload(module));
}

#[test]
fn each_wrong_access_is_told_apart() {
    // covers: VMM-18
    if gpu() == Backend::Cuda {
        // There all of them are one error, which ends the context.
        return;
    }
    let _turn = turn();
    assert!(warpsmith_driver::configure_simulator("stderr", "off"));
    let range = reserve(4 * PIECE);
    let at = |piece: usize| range + (piece * PIECE) as u64;
    let handles: Vec<_> = (0..3).map(|piece| map_new(at(piece), PIECE)).collect();
    grant(range, PIECE, READ);
    grant(at(1), PIECE, NONE);
    ok!(cuMemUnmap(at(2), PIECE));
    let given_back = reserve(PIECE);
    ok!(cuMemAddressFree(given_back, PIECE));
    for (address, why, near) in [
        (
            range,
            "the memory is read-only",
            "virtual memory of cuMemMap",
        ),
        (
            at(1) + 8,
            "this device has not been granted access to the mapping",
            "virtual memory of cuMemMap",
        ),
        (
            at(2),
            "nothing is mapped there",
            "virtual memory of cuMemMap, freed by cuMemUnmap",
        ),
        (
            at(3),
            "nothing is mapped there",
            "reserved by cuMemAddressReserve, where nothing is mapped",
        ),
        (
            given_back,
            "out of bounds",
            "cuMemAddressFree has given back",
        ),
    ] {
        let context: CUcontext = get!(cuCtxCreate_v2(0, 0));
        let module: CUmodule = get!(cuModuleLoadData(PTX.as_ptr().cast()));
        launch(module, c"store", vec![address]);
        fails!(700, cuCtxSynchronize());
        let fault = fault(context).expect("a fault");
        assert_eq!(fault.kind, FaultKind::IllegalAddress);
        let text = fault.to_string();
        assert!(text.contains(why) && text.contains(near), "{text}");
        ok!(cuCtxDestroy_v2(context));
    }
    gpu();
    ok!(cuMemUnmap(range, 2 * PIECE));
    for handle in handles {
        ok!(cuMemRelease(handle));
    }
    ok!(cuMemAddressFree(range, 4 * PIECE));
}

fn device_of(ordinal: CUdevice) -> CUmemLocation {
    let mut location = device();
    location.__bindgen_anon_1.id = ordinal;
    location
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

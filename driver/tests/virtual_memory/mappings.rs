//! Reserved addresses and what is mapped into them.

use super::support::*;
use crate::common::*;

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

//! Allocations: what is taken and freed, and what a pointer tells of its memory.

use crate::common::*;

#[test]
fn sizes_and_pointers_that_cannot_be_are_refused() {
    let _turn = turn();
    gpu();
    let mut memory = 0;
    fails!(1, cuMemAlloc_v2(&mut memory, 0));
    fails!(2, cuMemAlloc_v2(&mut memory, 1 << 50));
    fails!(1, cuMemAlloc_v2(null_mut(), 16));
    let memory: CUdeviceptr = get!(cuMemAlloc_v2(100));
    let host = [0u8; 512];
    // One byte more than there is.
    fails!(1, cuMemcpyHtoD_v2(memory, host.as_ptr().cast(), 4096 + 1));
    fails!(1, cuMemcpyHtoD_v2(0, host.as_ptr().cast(), 4));
    ok!(cuMemFree_v2(memory));
    fails!(1, cuMemFree_v2(memory));
    fails!(1, cuMemcpyHtoD_v2(memory, host.as_ptr().cast(), 4));
}

#[test]
fn host_memory_must_be_freed_by_its_own_call() {
    // covers: PINNED-01
    let _turn = turn();
    gpu();
    let memory: *mut c_void = get!(cuMemHostAlloc(4096, 0));
    fails!(1, cuMemFree_v2(memory as CUdeviceptr));
    let device: CUdeviceptr = get!(cuMemHostGetDevicePointer_v2(memory, 0));
    assert_eq!(
        device, memory as CUdeviceptr,
        "with unified addressing both are one"
    );
    let mut flags = 0;
    ok!(cuMemHostGetFlags(&mut flags, memory));
    assert_eq!(flags, 2, "page-locked memory is always mapped");
    ok!(cuMemFreeHost(memory));
    let memory: CUdeviceptr = get!(cuMemAlloc_v2(4096));
    fails!(1, cuMemFreeHost(memory as *mut c_void));
    ok!(cuMemFree_v2(memory));
}

#[test]
fn registering_twice_and_forgetting_twice_are_errors() {
    // covers: PINNED-02
    let _turn = turn();
    gpu();
    let mut range = vec![7u32; 16 << 10];
    let address: *mut c_void = range.as_mut_ptr().cast();
    ok!(cuMemHostRegister_v2(address, range.len() * 4, 0));
    fails!(712, cuMemHostRegister_v2(address, range.len() * 4, 0));
    let device: CUdeviceptr = get!(cuMemHostGetDevicePointer_v2(address, 0));
    let copy: CUdeviceptr = get!(cuMemAlloc_v2(range.len() * 4));
    ok!(cuMemcpyDtoD_v2(copy, device, range.len() * 4));
    assert_eq!(download::<u32>(copy, range.len()), range);
    ok!(cuMemHostUnregister(address));
    fails!(713, cuMemHostUnregister(address));
    ok!(cuMemFree_v2(copy));
}

#[test]
fn a_pointer_tells_where_it_lives() {
    // covers: MULTI-11, UM-03
    let _turn = turn();
    gpu();
    let kind = |address: CUdeviceptr| -> (u32, u32) {
        let (mut kind, mut managed) = (9u32, 9u32);
        let mut keys = [
            CUpointer_attribute::CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
            CUpointer_attribute::CU_POINTER_ATTRIBUTE_IS_MANAGED,
        ];
        let mut slots: [*mut c_void; 2] = [(&raw mut kind).cast(), (&raw mut managed).cast()];
        ok!(cuPointerGetAttributes(
            2,
            keys.as_mut_ptr(),
            slots.as_mut_ptr(),
            address
        ));
        (kind, managed)
    };
    let device: CUdeviceptr = get!(cuMemAlloc_v2(64));
    let managed: CUdeviceptr = get!(cuMemAllocManaged(64, 1));
    let locked = pinned::<u8>(64);
    let plain = 0u64;
    assert_eq!(kind(device), (2, 0));
    assert_eq!(kind(device + 63), (2, 0), "inside counts too");
    assert_eq!(kind(managed), (2, 1));
    assert_eq!(kind(locked as CUdeviceptr), (1, 0));
    assert_eq!(kind(&raw const plain as CUdeviceptr), (0, 0));
    let mut answer = 0u32;
    let memory_type = CUpointer_attribute::CU_POINTER_ATTRIBUTE_MEMORY_TYPE;
    fails!(
        1,
        cuPointerGetAttribute(
            (&raw mut answer).cast(),
            memory_type,
            &raw const plain as CUdeviceptr
        )
    );
    let (mut base, mut size) = (0, 0);
    ok!(cuMemGetAddressRange_v2(&mut base, &mut size, device + 10));
    assert_eq!(base, device);
    assert!(size >= 64);
    ok!(cuMemFree_v2(device));
    ok!(cuMemFree_v2(managed));
    ok!(cuMemFreeHost(locked.cast()));
}

#[test]
fn memory_that_is_taken_is_not_free() {
    let _turn = turn();
    gpu();
    let info = || {
        let (mut free, mut total) = (0, 0);
        ok!(cuMemGetInfo_v2(&mut free, &mut total));
        (free, total)
    };
    let (_, total) = info();
    let memory: CUdeviceptr = get!(cuMemAlloc_v2(64 << 20));
    let (free, same) = info();
    assert_eq!(total, same);
    assert!(free <= total - (64 << 20));
    ok!(cuMemFree_v2(memory));
}

#[test]
fn addresses_fit_in_47_bits_and_are_no_memory_of_the_program() {
    // covers: MEM-03
    let _turn = turn();
    gpu();
    let (stream, bytes) = (stream(), 1 << 20);
    let own = vec![0u8; bytes];
    let own = own.as_ptr() as u64..own.as_ptr() as u64 + bytes as u64;
    let plain: CUdeviceptr = get!(cuMemAlloc_v2(bytes));
    let ordered: CUdeviceptr = get!(cuMemAllocAsync(bytes, stream));
    let managed: CUdeviceptr = get!(cuMemAllocManaged(bytes, 1));
    let host: *mut c_void = get!(cuMemHostAlloc(bytes, 0));
    let reserved: CUdeviceptr = get!(cuMemAddressReserve(32 << 20, 0, 0, 0));
    let all = [plain, ordered, managed, host as CUdeviceptr, reserved];
    for (i, start) in all.into_iter().enumerate() {
        let end = start + bytes as u64;
        assert!(end <= 1 << 47, "{start:#x}");
        assert!(end <= own.start || own.end <= start, "{start:#x}, {own:x?}");
        for other in &all[..i] {
            assert!(start.abs_diff(*other) >= bytes as u64, "{all:x?}");
        }
    }
    ok!(cuMemAddressFree(reserved, 32 << 20));
    ok!(cuMemFreeHost(host));
    ok!(cuMemFree_v2(managed));
    ok!(cuMemFreeAsync(ordered, stream));
    ok!(cuMemFree_v2(plain));
    ok!(cuStreamDestroy_v2(stream));
}

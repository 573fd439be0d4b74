//! Memory of other program interfaces, imported by a file descriptor.

use std::os::fd::{AsRawFd, IntoRawFd, OwnedFd, RawFd};

use crate::common::external::*;
use crate::common::*;
use rustix::fs::MemfdFlags;

fn part(offset: usize, size: usize) -> CUDA_EXTERNAL_MEMORY_BUFFER_DESC {
    CUDA_EXTERNAL_MEMORY_BUFFER_DESC {
        offset: offset as u64,
        size: size as u64,
        ..Default::default()
    }
}

fn map(memory: CUexternalMemory, offset: usize, size: usize) -> CUdeviceptr {
    get!(cuExternalMemoryGetMappedBuffer(memory, &part(offset, size)))
}

/// Whether a number is that of an open descriptor of the file of this name. Other tests may have one of its number.
fn is_open(number: RawFd, name: &str) -> bool {
    std::fs::read_link(format!("/proc/self/fd/{number}"))
        .is_ok_and(|file| file.to_string_lossy().contains(name))
}

// covers: INTEROP-05, INTEROP-06
#[test]
fn both_sides_see_the_same_bytes() {
    let _turn = turn();
    if gpu() != Backend::Simulator {
        return;
    }
    const NAME: &str = "external-both-sides";
    let exporter = file(NAME, BYTES);
    let imported = exporter.try_clone().expect("there are descriptors left");
    let number = imported.as_raw_fd();
    assert!(is_open(number, NAME));
    let memory = import(imported, BYTES);
    assert!(
        !is_open(number, NAME),
        "it is the driver's, which has closed it"
    );
    rustix::io::pwrite(&exporter, &[1, 2, 3], 3 * PAGE as u64).expect("it is open");
    let all = map(memory, 0, BYTES);
    let some = map(memory, 3 * PAGE, 100);
    assert_ne!(all, some);
    assert_eq!(download::<u8>(some, 4), [1, 2, 3, 0]);
    ok!(cuMemsetD8_v2(all + 3 * PAGE as u64 + 1, 7, 98));
    ok!(cuCtxSynchronize());
    let mut seen = [0; 100];
    rustix::io::pread(&exporter, &mut seen, 3 * PAGE as u64).expect("it is open");
    assert_eq!((seen[0], seen[1], seen[98], seen[99]), (1, 7, 7, 0));
    assert_eq!(download::<u8>(some, 100), seen);

    let mut base = 0;
    let mut bytes = 0;
    ok!(cuMemGetAddressRange_v2(&mut base, &mut bytes, some + 9));
    assert_eq!((base, bytes), (some, 100));
    // Each buffer is freed by itself, and the memory object with neither.
    ok!(cuMemFree_v2(all));
    assert_eq!(download::<u8>(some, 2), [1, 7]);
    ok!(cuMemFree_v2(some));
    fails!(1, cuMemFree_v2(some));
    ok!(cuDestroyExternalMemory(memory));
    fails!(400, cuDestroyExternalMemory(memory));
}

// covers: INTEROP-06
#[test]
fn a_buffer_outlives_its_object_only_to_be_freed() {
    let _turn = turn();
    if gpu() != Backend::Simulator {
        return;
    }
    let memory = import(file("external-outlived", BYTES), BYTES);
    let buffer = map(memory, 0, PAGE);
    ok!(cuMemsetD8_v2(buffer, 7, PAGE));
    ok!(cuCtxSynchronize());
    ok!(cuDestroyExternalMemory(memory));
    let mut byte = 0_u8;
    fails!(1, cuMemcpyDtoH_v2((&raw mut byte).cast(), buffer, 1));
    ok!(cuMemFree_v2(buffer));
    fails!(1, cuMemFree_v2(buffer));
    let mut none = 0;
    fails!(
        400,
        cuExternalMemoryGetMappedBuffer(&mut none, memory, &part(0, PAGE))
    );
}

/// What an import answers that is refused.
fn refused(wish: &CUDA_EXTERNAL_MEMORY_HANDLE_DESC) -> u32 {
    let mut none: CUexternalMemory = null_mut();
    // SAFETY: both pointers are valid during the call; the descriptor is the test's, or none.
    let answer = unsafe { cuImportExternalMemory(&mut none, wish) };
    assert_ne!(answer.0, 0);
    answer.0
}

// covers: INTEROP-05
#[test]
fn refused_arguments_leave_the_descriptor_open() {
    let _turn = turn();
    gpu();
    const NAME: &str = "external-arguments";
    let own = file(NAME, PAGE);
    let number = own.as_raw_fd();
    let mut wish = description(number, 0);
    assert_eq!(refused(&wish), 1);
    wish.size = PAGE as u64;
    wish.flags = 2;
    assert_eq!(refused(&wish), 1);
    for kind in [0, 10] {
        let mut wish = description(number, PAGE);
        wish.type_ = CUexternalMemoryHandleType_enum(kind);
        assert_eq!(refused(&wish), 1, "type {kind}");
    }
    fails!(
        1,
        cuImportExternalMemory(null_mut(), &description(number, PAGE))
    );
    assert!(is_open(number, NAME));
}

// covers: INTEROP-05
#[test]
fn a_refused_file_is_the_drivers_all_the_same() {
    let _turn = turn();
    gpu();
    let exe = std::fs::File::open("/proc/self/exe").expect("it is there");
    let name = std::fs::read_link("/proc/self/exe").expect("a link");
    let name = name.to_str().expect("a path in UTF-8");
    let number = OwnedFd::from(exe).into_raw_fd();
    assert!(is_open(number, name));
    assert_eq!(refused(&description(number, BYTES)), 999);
    assert!(!is_open(number, name), "the driver has closed it");
    const NONE: RawFd = 1_000_000;
    for none in [-1, NONE] {
        assert_eq!(refused(&description(none, BYTES)), 999);
    }
    // Another process could make it shorter; a GPU knows no such memory anyway.
    const NAME: &str = "external-unsealed";
    let unsealed = rustix::fs::memfd_create(NAME, MemfdFlags::CLOEXEC).expect("there is room");
    rustix::fs::ftruncate(&unsealed, PAGE as u64).expect("there is room");
    let number = unsealed.into_raw_fd();
    assert_eq!(refused(&description(number, PAGE)), 999);
    assert!(!is_open(number, NAME));
}

// covers: INTEROP-05
#[test]
fn exported_physical_memory_is_external_memory_too() {
    let _turn = turn();
    gpu();
    let physical = physical(BYTES);
    // The size is what the exporter says, whom the driver believes until the memory is mapped.
    for (size, is_right) in [(BYTES, true), (BYTES / 2, true), (BYTES + 1, false)] {
        let memory = import(export(physical), size);
        let mut none = 0;
        let mut refuse = |offset: usize, size: usize| {
            // SAFETY: the pointers are valid during the call.
            let answer =
                unsafe { cuExternalMemoryGetMappedBuffer(&mut none, memory, &part(offset, size)) };
            assert_eq!(answer.0, 1, "{size} bytes from {offset} on");
        };
        refuse(0, 0);
        refuse(0, size + 1);
        if is_right {
            let buffer = map(memory, 0, size);
            ok!(cuMemsetD8_v2(buffer, 7, size));
            assert!(download::<u8>(buffer, size).iter().all(|&byte| byte == 7));
            ok!(cuMemFree_v2(buffer));
        } else {
            refuse(0, size);
        }
        ok!(cuDestroyExternalMemory(memory));
    }
    ok!(cuMemRelease(physical));
}

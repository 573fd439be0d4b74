//! Memory of other program interfaces: what stands for it, and its import.

use std::os::fd::{FromRawFd, IntoRawFd, OwnedFd, RawFd};

use rustix::fs::{MemfdFlags, SealFlags};

use super::*;

pub const PAGE: usize = 4096;
pub const BYTES: usize = 2 << 20;
pub const OPAQUE: CUexternalMemoryHandleType =
    CUexternalMemoryHandleType::CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD;

/// What another interface would export: a file in memory of a fixed size. No GPU knows such memory.
pub fn file(name: &str, bytes: usize) -> OwnedFd {
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    let file = rustix::fs::memfd_create(name, flags).expect("the system has room");
    rustix::fs::ftruncate(&file, bytes as u64).expect("the system has room");
    rustix::fs::fcntl_add_seals(&file, SealFlags::SHRINK).expect("it can be sealed");
    file
}

pub fn description(descriptor: RawFd, size: usize) -> CUDA_EXTERNAL_MEMORY_HANDLE_DESC {
    CUDA_EXTERNAL_MEMORY_HANDLE_DESC {
        type_: OPAQUE,
        handle: CUDA_EXTERNAL_MEMORY_HANDLE_DESC_st__bindgen_ty_1 { fd: descriptor },
        size: size as u64,
        flags: 0,
        reserved: [0; 16],
    }
}

pub fn import(file: OwnedFd, size: usize) -> CUexternalMemory {
    get!(cuImportExternalMemory(&description(
        file.into_raw_fd(),
        size
    )))
}

/// Physical memory that can be exported.
pub fn physical(bytes: usize) -> CUmemGenericAllocationHandle {
    let device: CUdevice = get!(cuCtxGetDevice());
    let mut properties = CUmemAllocationProp {
        type_: CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED,
        requestedHandleTypes: CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
        ..Default::default()
    };
    properties.location.type_ = CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE;
    properties.location.__bindgen_anon_1.id = device;
    get!(cuMemCreate(bytes, &properties, 0))
}

/// A descriptor of physical memory.
pub fn export(physical: CUmemGenericAllocationHandle) -> OwnedFd {
    let mut number: RawFd = -1;
    ok!(cuMemExportToShareableHandle(
        (&raw mut number).cast(),
        physical,
        CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
        0
    ));
    // SAFETY: the driver has made the descriptor for its caller.
    unsafe { OwnedFd::from_raw_fd(number) }
}

//! Physical memory as a file descriptor.

use std::os::fd::{FromRawFd, OwnedFd};

use super::support::*;
use crate::common::*;

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

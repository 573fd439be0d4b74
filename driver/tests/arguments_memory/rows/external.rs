//! Memory of other program interfaces.

use std::os::fd::IntoRawFd;

use crate::common::external::{PAGE, description, file};
use crate::common::*;
use crate::row::*;
use crate::world::{ODD, array_description, changed};

const BYTES: usize = 16 * PAGE;

/// An import, whose descriptor stays the caller's when it is refused before it is looked at.
fn asked() -> CUDA_EXTERNAL_MEMORY_HANDLE_DESC {
    let number = file("warpsmith-arguments", BYTES).into_raw_fd();
    description(number, BYTES)
}

/// Imported memory.
fn memory() -> CUexternalMemory {
    get!(cuImportExternalMemory(&asked()))
}

fn destroyed() -> CUexternalMemory {
    let memory = memory();
    ok!(cuDestroyExternalMemory(memory));
    memory
}

fn part(offset: u64, size: u64) -> CUDA_EXTERNAL_MEMORY_BUFFER_DESC {
    CUDA_EXTERNAL_MEMORY_BUFFER_DESC {
        offset,
        size,
        ..Default::default()
    }
}

fn levels(offset: u64, number: u32) -> CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC {
    CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC {
        offset,
        arrayDesc: array_description([16, 4, 0], 0),
        numLevels: number,
        reserved: [0; 16],
    }
}

/// A GPU imports no file of this process; what it imports is tested in `memory/external_memory.rs`.
pub fn rows() -> Vec<Row> {
    rows! { |w|
        cuImportExternalMemory {
            "null result": INVALID_VALUE => (null_mut(), at(asked()));
            "null description": INVALID_VALUE => (out(), null());
            "no bytes": INVALID_VALUE => (out(), changed(asked(), |d| d.size = 0));
            "no type": INVALID_VALUE => (out(), changed(asked(), |d| d.type_ = CUexternalMemoryHandleType_enum(0)));
            "an odd type": INVALID_VALUE => (out(), changed(asked(), |d| d.type_ = CUexternalMemoryHandleType_enum(ODD)));
            "a type of another system" [not_on_gpu("1 on an H100, 801 on an H200")]: NOT_SUPPORTED => (
                out(), changed(asked(), |d| d.type_ = CUexternalMemoryHandleType::CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_WIN32),
            );
            "odd flags": INVALID_VALUE => (out(), changed(asked(), |d| d.flags = ODD));
            "a descriptor that is not open": UNKNOWN => (out(), at(description(9999, BYTES)));
            "a negative descriptor": UNKNOWN => (out(), at(description(-1, BYTES)));
            "no context" [bare]: INVALID_CONTEXT => (out(), at(asked()));
        }
        cuExternalMemoryGetMappedBuffer {
            "null result" [undefined]: INVALID_VALUE => (null_mut(), memory(), at(part(0, 64)));
            "null description" [undefined]: INVALID_VALUE => (out(), memory(), null());
            "null": INVALID_VALUE => (out(), null_mut(), at(part(0, 64)));
            "destroyed" [undefined]: INVALID_HANDLE => (out(), destroyed(), at(part(0, 64)));
            "another kind of handle" [undefined]: INVALID_HANDLE => (out(), w.array.cast(), at(part(0, 64)));
            "no bytes" [undefined]: INVALID_VALUE => (out(), memory(), at(part(0, 0)));
            "beyond the end" [undefined]: INVALID_VALUE => (out(), memory(), at(part(0, BYTES as u64 + 1)));
            "behind the end" [undefined]: INVALID_VALUE => (out(), memory(), at(part(BYTES as u64, 1)));
            "an offset that overflows" [undefined]: INVALID_VALUE => (out(), memory(), at(part(u64::MAX, 64)));
            "a flag" [undefined]: INVALID_VALUE => (out(), memory(), changed(part(0, 64), |d| d.flags = 1));
            "null, and no context" [bare]: INVALID_VALUE => (out(), null_mut(), at(part(0, 64)));
        }
        cuExternalMemoryGetMappedMipmappedArray {
            "null result" [undefined]: INVALID_VALUE => (null_mut(), memory(), at(levels(0, 1)));
            "null description" [undefined]: INVALID_VALUE => (out(), memory(), null());
            "null": INVALID_VALUE => (out(), null_mut(), at(levels(0, 1)));
            "destroyed" [undefined]: INVALID_HANDLE => (out(), destroyed(), at(levels(0, 1)));
            "no levels" [undefined]: INVALID_VALUE => (out(), memory(), at(levels(0, 0)));
            "an offset that overflows" [undefined]: INVALID_VALUE => (out(), memory(), at(levels(u64::MAX, 1)));
            "behind the end" [undefined]: INVALID_VALUE => (out(), memory(), at(levels(BYTES as u64, 1)));
            "no width" [undefined]: INVALID_VALUE => (
                out(), memory(), changed(levels(0, 1), |d| d.arrayDesc.Width = 0),
            );
            "null, and no context" [bare]: INVALID_VALUE => (out(), null_mut(), at(levels(0, 1)));
        }
        cuDestroyExternalMemory {
            "null": INVALID_VALUE => (null_mut());
            "twice" [undefined]: INVALID_HANDLE => (destroyed());
            "another kind of handle" [undefined]: INVALID_HANDLE => (w.pool.cast());
            "null, and no context" [bare]: INVALID_VALUE => (null_mut());
        }
    }
}

//! Memory of other processes.

use crate::common::*;
use crate::row::*;
use crate::world::{NOWHERE, World};

const LAZY: c_uint = 1;

/// A handle that no process has given.
fn forged(byte: u8) -> CUipcMemHandle {
    CUipcMemHandle {
        reserved: [byte as c_char; 64],
    }
}

/// The handle of this process's own memory.
fn own(w: &World) -> CUipcMemHandle {
    let mut handle = forged(0);
    ok!(cuIpcGetMemHandle(&mut handle, w.memory));
    handle
}

pub fn rows() -> Vec<Row> {
    rows! { |w|
        cuIpcGetMemHandle {
            "null result": INVALID_VALUE => (null_mut(), w.memory);
            "nothing": INVALID_VALUE => (out(), 0);
            "nowhere": INVALID_VALUE => (out(), NOWHERE);
            "freed": INVALID_VALUE => (out(), w.freed);
            "of a destroyed context": INVALID_VALUE => (out(), w.orphaned);
            "pageable memory": INVALID_VALUE => (out(), w.host_address());
            "page-locked memory": INVALID_VALUE => (out(), w.pinned as CUdeviceptr);
            "managed memory": INVALID_VALUE => (out(), w.managed);
            "pooled memory": INVALID_VALUE => (out(), w.pooled);
            "mapped memory": INVALID_VALUE => (out(), w.range);
            "no context" [bare]: INVALID_CONTEXT => (out(), w.memory);
        }
        cuIpcOpenMemHandle_v2 {
            "null result": INVALID_VALUE => (null_mut(), own(w), LAZY);
            "no flag": INVALID_VALUE => (out(), own(w), 0);
            "zeros": INVALID_VALUE => (out(), forged(0), LAZY);
            "a forged handle": INVALID_VALUE => (out(), forged(9), LAZY);
            "this process's own": INVALID_CONTEXT => (out(), own(w), LAZY);
            "no context" [bare]: INVALID_CONTEXT => (out(), forged(0), LAZY);
        }
        cuIpcCloseMemHandle {
            "nothing": INVALID_VALUE => (0);
            "nowhere": INVALID_VALUE => (NOWHERE);
            "memory of its own": INVALID_VALUE => (w.memory);
            "freed": INVALID_VALUE => (w.freed);
            "no context" [bare]: INVALID_CONTEXT => (w.memory);
        }
    }
}

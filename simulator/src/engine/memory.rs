//! Aligned memory for registers, constants and shared memory.

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};

/// Alignment of all such memory: a cache line, and the widest vector.
const ALIGN: usize = 128;

/// A block of zeroed memory that starts at a multiple of 128.
#[derive(Debug)]
pub(crate) struct Aligned {
    pointer: *mut u8,
    len: usize,
}

// SAFETY: the memory is owned; who may touch it when is decided by those who take the raw pointer.
unsafe impl Send for Aligned {}
// SAFETY: a shared reference gives only the raw pointer and the length, which do not change.
unsafe impl Sync for Aligned {}

impl Default for Aligned {
    fn default() -> Self {
        Aligned {
            pointer: std::ptr::without_provenance_mut(ALIGN),
            len: 0,
        }
    }
}

impl Aligned {
    /// A copy of these bytes.
    pub fn copied(bytes: &[u8]) -> Self {
        let mut copy = Aligned::default();
        copy.ensure(bytes.len());
        // SAFETY: the new block is as long as the source.
        unsafe {
            copy.pointer
                .copy_from_nonoverlapping(bytes.as_ptr(), bytes.len())
        };
        copy
    }

    /// Makes it at least this long; the contents are zero if it grows.
    pub fn ensure(&mut self, len: usize) {
        if len <= self.len {
            return;
        }
        let layout = Layout::from_size_align(len, ALIGN).expect("a sane length");
        // SAFETY: the layout's size is not zero, as `len` is greater than the present length.
        let pointer = unsafe { alloc_zeroed(layout) };
        if pointer.is_null() {
            handle_alloc_error(layout);
        }
        self.free();
        self.pointer = pointer;
        self.len = len;
    }

    /// Its start.
    #[inline(always)]
    pub fn as_ptr(&self) -> *mut u8 {
        self.pointer
    }

    /// Its length.
    pub fn len(&self) -> usize {
        self.len
    }

    fn free(&mut self) {
        if self.len > 0 {
            let layout = Layout::from_size_align(self.len, ALIGN)
                .expect("it was allocated with this layout");
            // SAFETY: allocated with this layout in `ensure`, freed once.
            unsafe { dealloc(self.pointer, layout) };
        }
    }
}

impl Drop for Aligned {
    fn drop(&mut self) {
        self.free();
    }
}

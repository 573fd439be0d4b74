//! The system's heap, which counts what is alive: a leak of a single block in many rounds shows here, long before the process grows.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

static BLOCKS: AtomicUsize = AtomicUsize::new(0);
static BYTES: AtomicUsize = AtomicUsize::new(0);

pub struct Counting;

// SAFETY: every call goes on to the system's allocator with what the caller gave; the counters are beside it.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps this function's contract, which is the same.
        let block = unsafe { System.alloc(layout) };
        if !block.is_null() {
            BLOCKS.fetch_add(1, Ordering::Relaxed);
            BYTES.fetch_add(layout.size(), Ordering::Relaxed);
        }
        block
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        BLOCKS.fetch_sub(1, Ordering::Relaxed);
        BYTES.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller keeps this function's contract, which is the same.
        unsafe { System.dealloc(block, layout) }
    }
}

/// Blocks that are allocated and not freed.
pub fn blocks() -> usize {
    BLOCKS.load(Ordering::Relaxed)
}

/// The bytes of these blocks.
pub fn bytes() -> usize {
    BYTES.load(Ordering::Relaxed)
}

//! A count of the program's allocations, while it is wanted: what is timed is not slowed down by it.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use warpsmith_host::prelude::Result;

static COUNTING: AtomicBool = AtomicBool::new(false);
static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

/// The system's allocator, counted. What the driver allocates is its own.
pub struct Counter;

// SAFETY: all is handed on to the system's allocator, which keeps the trait's contract.
unsafe impl GlobalAlloc for Counter {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if COUNTING.load(Ordering::Relaxed) {
            ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        }
        // SAFETY: the caller's promise is the one that is asked for.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: `pointer` came from `alloc` above, which is the system's allocator.
        unsafe { System.dealloc(pointer, layout) }
    }
}

/// How often `work` allocates memory.
pub fn count(work: impl FnOnce() -> Result<()>) -> Result<u64> {
    let before = ALLOCATIONS.load(Ordering::Relaxed);
    COUNTING.store(true, Ordering::Relaxed);
    let done = work();
    COUNTING.store(false, Ordering::Relaxed);
    done.map(|()| ALLOCATIONS.load(Ordering::Relaxed) - before)
}

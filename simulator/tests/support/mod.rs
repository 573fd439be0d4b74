//! The least that the engine needs of the world, for tests and examples that run it without a driver.

use std::sync::atomic::AtomicU64;

use warpsmith_simulator::engine::{
    AccessError, AllocationInfo, DeviceMemory, Extent, Runtime, RuntimeError,
};

/// One buffer that is all of memory.
pub struct Memory {
    /// Its content.
    pub words: Vec<u64>,
    /// See [`DeviceMemory::generation`].
    pub generation: AtomicU64,
}

impl DeviceMemory for Memory {
    fn arena(&self) -> (u64, u64) {
        (
            self.words.as_ptr().addr() as u64,
            self.words.len() as u64 * 8,
        )
    }
    fn validate(&self, address: u64, size: u64, _: bool) -> Result<Extent, AccessError> {
        let (base, len) = self.arena();
        let place = address.wrapping_sub(base);
        if place < len && len - place >= size {
            Ok(Extent {
                base,
                end: base + len,
                writable: true,
            })
        } else {
            Err(AccessError::OutOfBounds)
        }
    }
    fn nearest(&self, _: u64) -> Option<AllocationInfo> {
        None
    }
    fn generation(&self) -> &AtomicU64 {
        &self.generation
    }
}

/// A runtime that prints nothing and has no heap.
pub struct Nothing;

impl Runtime for Nothing {
    fn print(&self, _: &[u8]) {}
    fn malloc(&self, _: u64) -> u64 {
        0
    }
    fn free(&self, _: u64) -> bool {
        false
    }
    fn call(&self, _: &str, _: &[u64]) -> Result<u64, RuntimeError> {
        Err(RuntimeError::NoSuchFunction)
    }
}

//! Which bytes of arrays a grid has written: texture fetches and surface reads of the same grid may see them or not (CUDA C++ Programming
//! Guide, "Read/Write Coherency").

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use rustc_hash::FxHashMap;

use crate::sync::lock;

/// Bytes that a grid has written by surfaces.
#[derive(Default)]
pub(crate) struct SurfaceWrites {
    /// Whether there are any.
    any: AtomicBool,
    /// For each 64 bytes with such, by number, a bit for each.
    bytes: Mutex<FxHashMap<u64, u64>>,
}

/// The bits of at most 64 bytes at an address, by number of 64 bytes.
fn bits(address: u64, size: u32) -> impl Iterator<Item = (u64, u64)> {
    (address..address + u64::from(size)).map(|byte| (byte / 64, 1 << (byte % 64)))
}

impl SurfaceWrites {
    /// Notes a write.
    pub fn note(&self, address: u64, size: u32) {
        let mut bytes = lock(&self.bytes);
        for (number, bit) in bits(address, size) {
            *bytes.entry(number).or_default() |= bit;
        }
        self.any.store(true, Ordering::Release);
    }

    /// Whether one of these bytes was written.
    pub fn holds(&self, address: u64, size: u32) -> bool {
        if !self.any.load(Ordering::Acquire) {
            return false;
        }
        let bytes = lock(&self.bytes);
        bits(address, size)
            .any(|(number, bit)| bytes.get(&number).is_some_and(|found| found & bit != 0))
    }
}

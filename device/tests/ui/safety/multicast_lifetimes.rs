//! Memory of several devices that outlives the kernel, or moves to a static.
use warpsmith_device::atomic::{Atomic, MulticastSlice, scope};
use warpsmith_device::prelude::*;

fn outlives<'a>(words: MulticastSlice<'a, u32>) -> &'static [Atomic<u32, scope::System>] {
    words.local()
}

#[kernel]
pub fn kept(words: MulticastSlice<'_, u32>) {
    let longer: MulticastSlice<'static, u32> = words;
    longer.store(0, 1, Relaxed);
}

fn main() {}

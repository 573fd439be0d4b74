//! Memory of several devices: an operation that its words do not have, a replica that is written as plain memory, one that outlives the kernel,
//! and an address that nobody vouches for.
use warpsmith_device::atomic::MulticastSlice;
use warpsmith_device::prelude::*;

fn minimum(words: MulticastSlice<'_, f32>) -> f32 {
    words.load_reduce_min(0, Relaxed)
}

fn halves(words: MulticastSlice<'_, u16>) {
    words.store(0, 1, Relaxed);
}

fn four_integers(words: MulticastSlice<'_, u32>) -> [u32; 4] {
    words.load_reduce_add_4(0, Relaxed)
}

fn released_by_a_load(words: MulticastSlice<'_, u32>) -> u32 {
    words.load_reduce_add(0, Release)
}

fn plain(words: MulticastSlice<'_, u32>) {
    words.local()[0] = 1;
}

fn made(address: *mut u32) -> MulticastSlice<'static, u32> {
    MulticastSlice::from_raw_parts(address, address, 1)
}

fn main() {}

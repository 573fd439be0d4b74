//! What a thread has filled is read after the block's barrier; the error says so.
use warpsmith_device::prelude::*;

#[kernel]
pub fn array_without_barrier(mut out: PerThread<[u32]>) {
    let filled = shared!([u32; 64]).write(1);
    if let Some(out) = out.mine() {
        *out = filled[0];
    }
}

#[kernel]
pub fn tile_without_barrier(mut out: PerThread<[u32]>) {
    let filled = shared!([[u32; 8]; 8]).fill_with(|_, _| 1);
    if let Some(out) = out.mine() {
        *out = filled[(0, 0)];
    }
}

/// Updated by atomic operations on the host, this is no memory that a kernel takes.
#[kernel]
pub fn atomics_of_core(x: &[core::sync::atomic::AtomicU32]) {
    let _ = x;
}

fn main() {}

//! Asynchronous copies into shared memory.

use warpsmith_device::prelude::*;

/// Reverses each 128 elements, of which the last may be missing: zeros stand for those.
#[kernel(launch_bounds(64, exact), instantiate(u32, u64, u128))]
pub fn copied_reversed<T: shared::Element>(x: &[T], mut out: PerThread<[[T; 2]]>)
where
    [T; 2]: bytemuck::Pod,
{
    let array = shared!([T; 128]);
    let tile = x.get(grid::linear_block() as usize * 128..).unwrap_or(&[]);
    let own = thread::linear_in_block() as usize;
    let pair = shared::copies(|copies| {
        let values = copies.copy(tile, array).sync();
        [values[127 - 2 * own], values[126 - 2 * own]]
    });
    if let Some(out) = out.mine() {
        *out = pair;
    }
}

/// Weighed sums over tiles of 128 elements, of which three are in shared memory at a time.
#[kernel(launch_bounds(128, exact))]
pub fn copied_ring(x: &[u32], tiles: u32, mut out: PerThread<[u32]>) {
    let one = shared!([u32; 128]);
    let two = shared!([u32; 128]);
    let three = shared!([u32; 128]);
    let tile = |number: u32| x.get(number as usize * 128..).unwrap_or(&[]);
    let own = thread::linear_in_block() as usize;
    let sum = shared::copies(|copies| {
        let mut first = copies.copy(tile(0), one);
        let mut second = copies.copy(tile(1), two);
        let mut free = three;
        let mut sum = 0u32;
        for number in 0..tiles {
            let third = copies.copy(tile(number + 2), free);
            let values = first.sync();
            sum = sum.wrapping_add(values[127 - own].wrapping_mul(number + 1));
            free = values.sync();
            (first, second) = (second, third);
        }
        sum
    });
    if let Some(out) = out.mine() {
        *out = sum;
    }
}

/// Copies out of a thread's own memory, which no asynchronous copy reads, and fills the array again that it had lent.
#[kernel(launch_bounds(32, exact))]
pub fn copied_from_elsewhere(factor: u32, mut out: PerThread<[u32]>) {
    let mut array = shared!([u32; 32]);
    let mut own = [0u32; 32];
    for (index, value) in own.iter_mut().enumerate() {
        *value = index as u32 * factor;
    }
    let lane = thread::linear_in_block() as usize;
    let lent = array.refill();
    let sum = shared::copies(|copies| {
        // Not waited for: the end of the scope does.
        let _unused = copies.copy(&own, lent);
        0
    });
    let sum = sum
        + shared::copies(|copies| {
            let values = copies.copy(&own, array.refill()).sync();
            values[31 - lane]
        });
    let values = array.write(sum).sync();
    if let Some(out) = out.mine() {
        *out = values[lane] + values[31 - lane];
    }
}

/// Forgets a copy, and fills its array again: the end of the scope has waited.
#[kernel(launch_bounds(32, exact))]
pub fn copied_and_forgotten(x: &[u32], mut out: PerThread<[u32]>) {
    let mut array = shared!([u32; 32]);
    shared::copies(|copies| core::mem::forget(copies.copy(x, array.refill())));
    let lane = thread::linear_in_block();
    let values = array.write(100 + lane).sync();
    if let Some(out) = out.mine() {
        *out = values[31 - lane as usize];
    }
}

//! Six kernels of the suite in small, each with one mistake that a GPU would hide or answer with a wrong number.
//!
//! They are built apart from the suite (feature `broken`); the suite's tests show that the simulator names each mistake
//! with kernel, block, thread, file and line. All need `unsafe` for it: the safe views do not let these through, except
//! for the barriers.

use warpsmith_device::atomic::{Atomic, scope};
use warpsmith_device::prelude::*;

/// Threads of a block of all of them.
pub const THREADS: u32 = 128;

/// saxpy, off by one: the last thread of the grid's bounds check lets the element after the last through.
///
/// # Safety
/// None can be given: this is wrong for every length that the grid covers with a thread to spare.
#[kernel]
pub unsafe fn broken_saxpy(a: f32, x: *const f32, y: *mut f32, n: u32) {
    let i = thread::index();
    if i <= n as usize {
        // SAFETY: not for i = n.
        unsafe { *y.add(i) += a * *x.add(i) }
    }
}

/// A block's sum, without the barrier between the warps' partial sums and their use.
///
/// # Safety
/// `x` has an element for each thread, `sum` one.
#[kernel(launch_bounds(128, exact))]
pub unsafe fn broken_reduce(x: *const f32, sum: *mut f32) {
    let partial = shared!(raw [f32; 4]).as_mut_ptr().cast::<f32>();
    let t = thread::thread_idx_x() as usize;
    // SAFETY: in bounds; but the partial sums are read while other warps still write theirs.
    unsafe {
        if t < 4 {
            *partial.add(t) = 0.0;
        }
        block::sync();
        let own = warp::reduce(*x.add(thread::index()), |a, b| a + b);
        if t & 31 == 0 {
            *partial.add(t / 32) = own;
        }
        if t == 0 {
            let mut total = 0.0;
            for warp in 0..4 {
                total += *partial.add(warp);
            }
            *sum = total;
        }
    }
}

/// A transpose whose barrier only the threads with an element reach.
///
/// # Safety
/// `src` has `n` elements for a block of 128 threads, `dst` as many.
#[kernel(launch_bounds(128, exact))]
pub unsafe fn broken_transpose(src: *const f32, dst: *mut f32, n: u32) {
    let tile = shared!(raw [f32; 128]).as_mut_ptr().cast::<f32>();
    let t = thread::thread_idx_x();
    if t < n {
        // SAFETY: in bounds; but the barrier is for all threads of the block.
        unsafe {
            tile.add(t as usize).write_volatile(*src.add(t as usize));
            block::sync();
            *dst.add(t as usize) = tile.add((n - 1 - t) as usize).read_volatile();
        }
    } else {
        block::sync_count(true);
    }
}

/// A histogram that counts in uninitialised shared memory.
///
/// # Safety
/// `data` has an element for each thread, `bins` has 16.
#[kernel(launch_bounds(128, exact))]
pub unsafe fn broken_histogram(data: *const u8, bins: *mut u32) {
    let counts = shared!(raw [u32; 16]).as_mut_ptr().cast::<u32>();
    let t = thread::thread_idx_x() as usize;
    // SAFETY: in bounds; but the counts begin with whatever the memory held.
    unsafe {
        let bin = counts.add(usize::from(*data.add(t) & 15));
        Atomic::<u32, scope::Block>::from_ptr(bin).add(1, Relaxed);
        block::sync();
        if t < 16 {
            *bins.add(t) = *counts.add(t);
        }
    }
}

/// A convolution that steps through the rows by their number instead of their stride.
///
/// # Safety
/// None can be given: the picture's rows lie `columns` apart.
#[kernel(launch_bounds(128))]
pub unsafe fn broken_convolution(input: *const f32, output: *mut f32, rows: u32, columns: u32) {
    let column = thread::index() as u32;
    if column >= columns {
        return;
    }
    let mut sum = 0.0;
    for row in 0..rows {
        // SAFETY: not where there are more columns than rows.
        sum += unsafe { *input.add((column * rows.max(columns) + row) as usize) };
    }
    // SAFETY: column < columns.
    unsafe { *output.add(column as usize) = sum };
}

/// A scan whose tiles never publish their sums: all but the first wait for ever.
///
/// # Safety
/// `state` has a zero word for each block.
#[kernel(launch_bounds(128, exact))]
pub unsafe fn broken_scan(state: *mut u32, out: *mut u32) {
    let tile = thread::block_idx_x() as usize;
    let mut before = 0;
    if tile > 0 {
        // SAFETY: `state` has a word for each block, the function asks; that the word stays zero is what is broken here.
        let previous = unsafe { Atomic::<u32>::from_ptr(state.add(tile - 1)) };
        while before == 0 {
            before = previous.load(Acquire);
        }
    }
    if thread::thread_idx_x() == 0 {
        // SAFETY: `out` has a word for each block, the function asks.
        unsafe { *out.add(tile) = before + 1 };
    }
}

//! Kernels that break the rules of memory in functions that are inlined. Tests find the lines by the marks at their ends.

use warpsmith_device::prelude::*;
use warpsmith_device::shared;

/// Elements from an address on.
struct List<T> {
    first: *mut T,
}

impl<T: Copy> List<T> {
    /// Writes an element.
    ///
    /// # Safety
    ///
    /// The list has an element `n`.
    #[inline]
    unsafe fn set(&self, n: usize, value: T) {
        // SAFETY: the element is there (this function's contract).
        unsafe { self.first.add(n).write(value) }; // mark: set
    }
}

/// Writes four elements.
///
/// # Safety
///
/// The list has elements up to `from + 3`.
#[inline]
unsafe fn fill(list: &List<u32>, from: usize) {
    let elements = from..from + 4;
    // SAFETY: the elements are there (this function's contract).
    elements.for_each(|n| unsafe { list.set(n, 7) }); // mark: iteration
}

/// Writes four elements behind the first `length`.
///
/// # Safety
///
/// There are none: it is for a device that finds that out.
#[kernel]
pub unsafe fn stray(out: *mut u32, length: u32) {
    let list = List { first: out };
    // SAFETY: broken on purpose.
    unsafe { fill(&list, length as usize) }; // mark: stray
}

/// Writes a cell.
///
/// # Safety
///
/// The pointer may be written through.
#[inline]
unsafe fn publish(cell: *mut u32, value: u32) {
    // SAFETY: this function's contract.
    unsafe { cell.write(value) }; // mark: publish
}

/// Reads a cell.
///
/// # Safety
///
/// The pointer may be read through.
#[inline]
unsafe fn fetch(cell: *mut u32) -> u32 {
    // SAFETY: this function's contract.
    unsafe { cell.read() } // mark: fetch
}

/// The steps of `SharedFilled::reduce`, without a barrier between two of them.
///
/// # Safety
///
/// It has a race: it is for a device that finds that out.
#[kernel(launch_bounds(256, exact))]
pub unsafe fn tree_without_a_barrier(out: *mut u32) {
    let own = thread::linear_in_block() as usize;
    let cells = shared!([u32; 256]);
    let cells: *mut u32 = cells.as_mut_ptr().cast();
    // SAFETY: the index is below 256, by the bounds of the launch.
    unsafe { cells.add(own).write(own as u32) };
    block::sync();
    for half in [128, 64] {
        if own < half {
            // SAFETY: both indices are below 256; the race is on purpose.
            unsafe { *cells.add(own) += cells.add(own + half).read() };
        }
    }
    // SAFETY: the caller gives 256 elements, and the index is below that.
    unsafe { out.add(own).write(cells.add(own).read()) };
}

/// Each thread reads what its opposite wrote, without a barrier.
///
/// # Safety
///
/// It has a race: it is for a device that finds that out.
#[kernel(launch_bounds(64, exact))]
pub unsafe fn reversed_without_barrier(out: *mut u32) {
    let own = thread::linear_in_block() as usize;
    let cells = shared!([u32; 64]);
    let cells: *mut u32 = cells.as_mut_ptr().cast();
    // SAFETY: the index is below 64, by the bounds of the launch; the race is on purpose.
    let value = unsafe {
        publish(cells.add(own), 7); // mark: one side
        fetch(cells.add(63 - own)) // mark: other side
    };
    // SAFETY: the caller gives 64 elements.
    unsafe { out.add(own).write(value) };
}

//! Kernels of the worked examples on memory in the CUDA C++ Programming Guide (chapters 10, 11, 12 and 19).

use warpsmith_device::graph::Condition;
use warpsmith_device::prelude::*;
use warpsmith_device::statics::Plain;

/// Writes a value to each element.
#[kernel]
pub fn set_each(value: u32, mut out: PerThread<[u32]>) {
    if let Some(out) = out.mine() {
        *out = value;
    }
}

/// Adds a value to each element.
#[kernel]
pub fn increase_each(value: u32, mut out: PerThread<[u32]>) {
    if let Some(out) = out.mine() {
        *out += value;
    }
}

/// Halves each element, and asks for another pass as long as the first is not small enough.
#[kernel]
pub fn halve_each(limit: u32, mut out: PerThread<[u32]>, again: Condition) {
    let is_first = thread::is_first();
    if let Some(out) = out.mine() {
        *out /= 2;
        if is_first {
            again.set(u32::from(*out > limit));
        }
    }
}

/// Writes a value, wherever the pointer leads.
///
/// # Safety
///
/// The pointer is valid for writes of the device, and nothing else uses the value meanwhile.
#[kernel]
pub unsafe fn write_value(to: *mut i32, value: i32) {
    if thread::is_first() {
        // SAFETY: by the kernel's condition; one thread writes.
        unsafe { to.write(value) };
    }
}

warpsmith_device::managed_static! {
    /// What `write_managed_static` writes.
    pub static GUIDE_VALUE: Plain<i32> = Plain::new(0);
    /// What `a_plus_b_static` writes.
    pub static GUIDE_SUMS: [Atomic<u32>; 1000] = [const { Atomic::new(0) }; 1000];
    /// `GUIDE_X[1]` becomes `GUIDE_X[0] + GUIDE_Y`.
    pub static GUIDE_X: [Atomic<u32>; 2] = [const { Atomic::new(0) }; 2];
    /// See `GUIDE_X`.
    pub static GUIDE_Y: Atomic<u32> = Atomic::new(0);
}

/// Writes a managed static.
#[kernel]
pub fn write_managed_static(value: i32) {
    if thread::is_first() {
        // SAFETY: one thread of the grid writes, and none reads.
        unsafe { GUIDE_VALUE.as_mut_ptr().write(value) };
    }
}

/// Each element becomes `a + b` and its index.
#[kernel]
pub fn a_plus_b(a: u32, b: u32, mut ret: PerThread<[u32]>) {
    if let Some(ret) = ret.mine() {
        *ret = a + b + thread::index() as u32;
    }
}

/// As [`a_plus_b`], in a managed static.
#[kernel]
pub fn a_plus_b_static(a: u32, b: u32) {
    let index = thread::index();
    if let Some(ret) = GUIDE_SUMS.get(index) {
        ret.store(a + b + index as u32, Relaxed);
    }
}

/// Adds `a + b` and its index to each element.
#[kernel]
pub fn add_a_plus_b(a: u32, b: u32, mut ret: PerThread<[u32]>) {
    if let Some(ret) = ret.mine() {
        *ret += a + b + thread::index() as u32;
    }
}

/// `x[1] = x[0] + y`, all of them managed statics.
#[kernel]
pub fn add_statics() {
    if thread::is_first() {
        GUIDE_X[1].store(GUIDE_X[0].load(Relaxed) + GUIDE_Y.load(Relaxed), Relaxed);
    }
}

/// Prints text up to its first zero byte.
#[kernel]
pub fn print_text(text: &[u8]) {
    if thread::is_first() {
        for byte in text.iter().take_while(|byte| **byte != 0) {
            gpu_print!("{}", *byte as char);
        }
        gpu_println!("");
    }
}

/// Prints the first `len` bytes, wherever the pointer leads.
///
/// # Safety
///
/// The device may read so many bytes there, and nothing writes them meanwhile.
#[kernel]
pub unsafe fn print_beginning(text: *const u8, len: usize) {
    if thread::is_first() {
        for index in 0..len {
            // SAFETY: by the kernel's condition.
            gpu_print!("{}", unsafe { text.add(index).read() } as char);
        }
        gpu_println!("");
    }
}

/// Adds `len` bytes up, wherever the pointer leads, one thread for each.
///
/// # Safety
///
/// The device may read so many bytes there, and nothing writes them meanwhile.
#[kernel]
pub unsafe fn add_bytes(bytes: *const u8, len: usize, sum: AtomicSlice<u32>) {
    let index = thread::index();
    if index < len {
        // SAFETY: by the kernel's condition.
        sum[0].fetch_add(u32::from(unsafe { bytes.add(index).read() }), Relaxed);
    }
}

/// Adds words up, one thread for each.
#[kernel]
pub fn add_words(words: &[u32], sum: AtomicSlice<u32>) {
    if let Some(word) = words.get(thread::index()) {
        sum[0].fetch_add(*word, Relaxed);
    }
}

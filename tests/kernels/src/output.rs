//! Kernels that speak: panics, printing, assertions.

use warpsmith_device::prelude::*;

/// Panics, in several ways, in the thread whose number is asked for.
#[kernel]
pub fn panics(x: &[u32], thread_number: u32, way: u32, mut out: PerThread<[u32]>) {
    let index = thread::index();
    if index == thread_number as usize {
        match way {
            0 => {
                let past = x.len() + index;
                if let Some(out) = out.mine() {
                    *out = x[past];
                }
            }
            1 => panic!("thread {index} has had enough of {way}"),
            2 => assert_eq!(x[0], x[0] + 1, "not equal"),
            _ => {
                if let Some(out) = out.mine() {
                    *out = 1 / (x[0] - x[0]);
                }
            }
        }
    }
    if let Some(out) = out.mine() {
        *out = 7;
    }
}

/// Prints from the threads whose number is below `count`.
#[kernel]
pub fn prints(count: u32, x: &[f32]) {
    let index = thread::index();
    if index < count as usize {
        gpu_println!("thread {index}: x = {:.4}, {}", x[index], index % 2 == 0);
        gpu_print!(
            "{:>6}|{:<6}|{:#06x}|{:e}|{}|{}\n",
            -5i8,
            7u16,
            255u32,
            1.5f64,
            'é',
            "text"
        );
    }
}

/// One true and one false assertion.
#[kernel]
pub fn asserts(number: u32) {
    gpu_assert!(number > 0);
    gpu_assert!(number > 5, "five is not enough");
}

/// Aborts the grid from one thread.
#[kernel]
pub fn traps(thread_number: u32) {
    if thread::index() == thread_number as usize {
        thread::trap();
    }
}

//! Probe kernels: each shows one thing that every kernel relies on. `probe.rs` says what must stand in their PTX.
#![no_std]

/// The version of kernel records, which the builder writes.
mod record;

use core::arch::asm;
use core::sync::atomic::{AtomicU32, Ordering};

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {
        unsafe { asm!("trap;") }
    }
}

fn thread() -> usize {
    let x: u32;
    unsafe { asm!("mov.u32 {}, %tid.x;", out(reg32) x, options(pure, nomem, nostack)) };
    x as usize
}

fn barrier() {
    unsafe { asm!("bar.sync 0;") }
}

fn shuffle(value: u32) -> u32 {
    let result: u32;
    unsafe { asm!("shfl.sync.bfly.b32 {}, {}, 1, 31, -1;", out(reg32) result, in(reg32) value) };
    result
}

fn vote(condition: bool) -> u32 {
    let result: u32;
    unsafe {
        asm!(
            "{{ .reg .pred %c; setp.ne.u32 %c, {}, 0; vote.sync.ballot.b32 {}, %c, -1; }}",
            in(reg32) condition as u32,
            out(reg32) result,
        );
    }
    result
}

/// The shuffle is used under a condition, and executed by all.
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn probe_shuffle(data: *mut u32) {
    let at = unsafe { data.add(thread()) };
    let value = shuffle(unsafe { *at });
    if thread() % 2 == 0 {
        unsafe { *at = value };
    }
}

/// A barrier in each arm: they are two.
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn probe_barriers(data: *mut u32) {
    if thread() < 32 {
        unsafe { *data.add(thread()) = 1 };
        barrier();
    } else {
        unsafe { *data.add(thread()) = 2 };
        barrier();
    }
    unsafe { *data.add(thread() + 64) = *data.add(63 - thread()) };
}

/// A barrier between two uses of one condition, and between a store and another thread's load: it is one.
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn probe_barrier(data: *mut u32, flag: u32) {
    unsafe { *data.add(thread()) = flag };
    let choice = match flag {
        0 => Some(1),
        1 => Some(2),
        _ => None,
    };
    barrier();
    if let Some(value) = choice {
        unsafe { *data.add(thread() + 64) = *data.add(63 - thread()) + value };
    }
}

/// Two equal votes with a barrier between them, which a store and another thread's load need: they are two.
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn probe_votes(data: *mut u32) {
    let first = vote(thread() > 3);
    unsafe { *data.add(thread()) = first };
    barrier();
    let second = vote(thread() > 3);
    unsafe { *data.add(thread() + 64) = *data.add(63 - thread()) ^ second };
}

#[unsafe(link_section = ".nv.shared")]
static mut TILE: [u32; 64] = [0; 64];

/// A static of shared memory.
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn probe_shared(data: *mut u32) {
    unsafe {
        TILE[thread() % 64] = *data.add(thread());
        barrier();
        *data.add(thread()) = TILE[(thread() + 1) % 64];
    }
}

/// Read-modify-writes with an order that the whole system sees.
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn probe_atomics(x: *const AtomicU32, data: *mut u32) {
    unsafe {
        *data = (*x).fetch_add(3, Ordering::AcqRel);
        *data.add(1) = (*x).swap(4, Ordering::SeqCst);
    }
}

/// A product and a sum become one operation, which flushes subnormal numbers: the probe is built so.
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn probe_flush(data: *mut f32, a: f32, b: f32) {
    unsafe { *data = *data * a + b };
}

/// What the macro `#[kernel]` leaves for the linker: 64 x 2 threads at most, a read-only pointer, a struct by value.
#[used]
#[unsafe(export_name = "__warpsmith_kernel.probe_record")]
static RECORD: [u32; 28] = {
    let mut words = [0; 28];
    let header = [0x314B5357, record::VERSION, 3, 64, 2, 1];
    let parameters = [1, 4, 4, 0, 4, 32, 8, 0, 3, 4, 4, 0];
    let mut i = 0;
    while i < header.len() {
        words[i] = header[i];
        i += 1;
    }
    let mut i = 0;
    while i < parameters.len() {
        words[16 + i] = parameters[i];
        i += 1;
    }
    words
};

#[repr(C)]
pub struct Settings {
    scale: [u32; 6],
    offset: u64,
}

#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn probe_record(input: *const u32, settings: *const Settings, data: *mut u32) {
    let settings = unsafe { &*settings };
    unsafe { *data = *input * settings.scale[2] + settings.offset as u32 };
}

/// `core` and `compiler_builtins`: a checked index, and a division of 128 bits.
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn probe_library(data: *mut u128, len: usize) {
    let data = unsafe { core::slice::from_raw_parts_mut(data, len) };
    data[thread()] = data[1] / data[2];
}

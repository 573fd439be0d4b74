//! Kernels for cached loads and stores, address spaces, clocks.

use warpsmith_device::prelude::*;
use warpsmith_device::statics::Plain;
use warpsmith_device::vector::{Float2, Float3, Float4, UChar4};
use warpsmith_device::{mem, space};

/// An element of a linked list; each may lie in an allocation of its own.
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct ListNode {
    /// The address of the next one; 0 at the end.
    pub next: u64,
    /// What it holds.
    pub value: u64,
}

warpsmith_device::device_static! {
    /// The address of a list's first node: the host stores the pointer, not what it leads to.
    pub static LIST_HEAD: Plain<u64> = Plain::new(0);
}

/// Each thread adds up the list at `LIST_HEAD`.
///
/// # Safety
/// The nodes from `LIST_HEAD` on are in memory that the device reads and nobody writes.
#[kernel]
pub unsafe fn walk_list(mut out: PerThread<[u64]>) {
    let mut sum = 0;
    // SAFETY: the host alone sets the static, between grids; the nodes are the kernel's condition.
    unsafe {
        let mut at = LIST_HEAD.as_mut_ptr().read() as *const ListNode;
        while !at.is_null() {
            sum += (*at).value;
            at = (*at).next as *const ListNode;
        }
    }
    if let Some(out) = out.mine() {
        *out = sum;
    }
}

/// Copies words of 16 bytes, which are aligned to their size.
#[kernel]
pub fn copy_float4(x: &[Float4], mut out: PerThread<[Float4]>) {
    if let (Some(x), Some(out)) = (x.get(thread::index()), out.mine()) {
        *out = *x;
    }
}

/// Copies structures of 12 bytes, which are aligned to their fields.
#[kernel]
pub fn copy_float3(x: &[Float3], mut out: PerThread<[Float3]>) {
    if let (Some(x), Some(out)) = (x.get(thread::index()), out.mine()) {
        *out = *x;
    }
}

/// Copies by every load and store on references: row `k` of the output comes through the `k`-th pair.
#[kernel(instantiate(u8, u16, f32, f64, Float4, UChar4, Float2))]
pub fn hinted_copies<T: mem::Wide>(x: &[T], mut out: PerThread<[[T; 6]]>) {
    if let (Some(x), Some(out)) = (x.get(thread::index()), out.mine()) {
        let [a, b, c, d, e, f] = out;
        mem::store_wb(a, mem::load_ca(x));
        mem::store_cg(b, mem::load_cg(x));
        mem::store_cs(c, mem::load_cs(x));
        mem::store_wt(d, mem::load_lu(x));
        mem::store(e, mem::load_cv(x));
        mem::store(f, mem::load(x));
    }
}

/// The same on pointers to global memory.
///
/// # Safety
/// `x` is valid for one element a thread of the grid, `out` for seven.
#[kernel(instantiate(u8, u16, f32, f64, Float4))]
pub unsafe fn hinted_global_copies<T: mem::Wide>(x: *const T, out: *mut T) {
    let index = thread::index();
    // SAFETY: the kernel's condition; each thread has its own elements.
    unsafe {
        let (x, out) = (x.add(index), out.add(7 * index));
        mem::store_wb_global(out, mem::load_ca_global(x));
        mem::store_cg_global(out.add(1), mem::load_cg_global(x));
        mem::store_cs_global(out.add(2), mem::load_cs_global(x));
        mem::store_wt_global(out.add(3), mem::load_lu_global(x));
        mem::store_global(out.add(4), mem::load_cv_global(x));
        mem::store_global(out.add(5), mem::load_global(x));
        mem::store_global(out.add(6), mem::load_nc_global(x));
    }
}

/// Which spaces pointers are to: rows for global, shared, local; columns for the predicates, and a round trip.
#[kernel(launch_bounds(32, exact))]
pub fn spaces(x: &[u32], index: u32, mut out: PerThread<[[[u32; 6]; 3]]>) {
    let in_shared = shared!(raw [u32; 8]).as_mut_ptr().cast::<u32>();
    let mut in_local = [7u32; 4];
    // A run-time index keeps the array in memory.
    in_local[index as usize % 4] = 9;
    let of = |pointer: *const u32| {
        [
            u32::from(space::is_global(pointer)),
            u32::from(space::is_shared(pointer)),
            u32::from(space::is_constant(pointer)),
            u32::from(space::is_local(pointer)),
            u32::from(space::is_grid_constant(pointer)),
        ]
    };
    let with = |[a, b, c, d, e]: [u32; 5], round_trip: bool| [a, b, c, d, e, u32::from(round_trip)];
    let local = in_local.as_ptr();
    let rows = [
        with(
            of(x.as_ptr()),
            space::from_global(space::to_global(x.as_ptr())) == x.as_ptr().cast_mut(),
        ),
        with(
            of(in_shared),
            space::from_shared(space::to_shared(in_shared)) == in_shared,
        ),
        with(
            of(local),
            space::from_local(space::to_local(local)) == local.cast_mut(),
        ),
    ];
    if let Some(out) = out.mine() {
        *out = rows;
    }
}

/// Clocks before and after some work: the differences.
#[kernel]
pub fn clocks(rounds: u32, mut out: PerThread<[[u64; 4]]>) {
    let (low, cycles, time) = (clock::cycles_low(), clock::cycles(), clock::nanoseconds());
    let mut x = thread::index() as u32;
    for _ in 0..rounds {
        x = x.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
    }
    thread::nanosleep(2000);
    if let Some(out) = out.mine() {
        *out = [
            u64::from(clock::cycles_low().wrapping_sub(low)),
            clock::cycles() - cycles,
            clock::nanoseconds() - time,
            u64::from(x),
        ];
    }
}

/// A counter of profilers, a breakpoint never reached, and the end of single threads.
#[kernel]
pub fn thread_ends(limit: u32, mut out: PerThread<[u32]>) {
    thread::profiler_event::<3>();
    let index = thread::index() as u32;
    if index == u32::MAX {
        thread::breakpoint();
    }
    if let Some(out) = out.mine() {
        *out = 1;
        if index >= limit {
            thread::exit();
        }
        *out = 2;
    }
}

/// Threads of a block of `references_kept`.
pub const KEPT_THREADS: usize = 64;

/// Elements above a limit, plus how many of them the threads before in the block have. The others stay as they were.
#[kernel(launch_bounds(64, exact))]
pub fn references_kept(x: &[f32], limit: f32, mut out: PerThread<[f32]>) {
    let kept = x.get(thread::index()).filter(|x| **x > limit);
    let counts = shared!([u32; KEPT_THREADS])
        .write(kept.is_some().into())
        .sync();
    let before: u32 = (0..thread::thread_idx_x() as usize)
        .map(|n| counts[n])
        .sum();
    if let (Some(&x), Some(out)) = (kept, out.mine()) {
        *out = x + before as f32;
    }
}

/// An element of which only some rounds of a loop take parts; a thread without one makes no rounds.
#[kernel]
pub fn parts_of_some_rounds(x: &[[f32; 3]], y: &[f32], mut out: PerThread<[f32]>) {
    let i = thread::index();
    let mut sum = 0.0;
    if let Some(x) = x.get(i) {
        for &y in y {
            if y < 0.0 {
                continue;
            }
            sum += x[0] * y;
            if y > 4.0 {
                sum += x[1];
            }
        }
        sum += x[2];
    }
    if let Some(out) = out.mine() {
        *out = sum;
    }
}

/// The same where the loop alone asks whether there is such an element, and panics if there is none: a thread without one makes no rounds.
#[kernel]
pub fn parts_asked_in_rounds(x: &[[f32; 3]], y: &[f32], mut out: PerThread<[f32]>) {
    let i = thread::index();
    let rounds = if i < x.len() { y.len() } else { 0 };
    let mut sum = 0.0;
    for &y in &y[..rounds] {
        if y < 0.0 {
            continue;
        }
        sum += x[i][0] * y;
        if y > 4.0 {
            sum += x[i][1];
        }
    }
    if let Some(out) = out.mine() {
        *out = sum;
    }
}

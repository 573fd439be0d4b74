//! The barrier of a whole grid, for kernels launched cooperatively (public as part of [`grid`](crate::grid)).
//!
//! The driver gives each cooperative launch a workspace of its own, whose address it passes in the special registers
//! `%envreg1` (high half) and `%envreg2`; the word after its first is a barrier for the grid, shared with CUDA C++'s
//! cooperative groups and used by their protocol: each block adds 1, the grid's first block such an amount that the sum
//! flips the top bit when all have come.

use crate::atomic::{Acquire, Atomic, Release};
use crate::{block, grid, space, thread};

/// Whether the kernel was launched cooperatively, so that [`sync`] may be called.
///
/// PTX: `mov.u32` of `%envreg1` and `%envreg2`. Any arch. CUDA C++: `this_grid().is_valid()`.
///
/// ```no_run
/// assert!(warpsmith_device::grid::is_cooperative());
/// ```
#[inline(always)]
pub fn is_cooperative() -> bool {
    workspace() != 0
}

/// Waits for all threads of the grid; what each of them wrote before, to global memory, all of them see after.
///
/// Only in a cooperative launch (`Grid::cooperative` on the host), which guarantees that all blocks run at the same time. All
/// threads of the grid must come here, each thread equally often; threads of a block that has ended are waited for in
/// vain.
///
/// Becomes two `bar.sync 0` around `atom.release.gpu.add` and a loop of `ld.acquire.gpu`, both by one thread of the block.
/// Any arch. CUDA C++: `this_grid().sync()`. Guide §8.4.1.3.
///
/// ```no_run
/// use warpsmith_device::prelude::*;
/// fn two_steps(first: impl Fn(), second: impl Fn()) {
///     first();
///     grid::sync();
///     second();
/// }
/// ```
///
/// # Panics
/// If the launch was not cooperative.
#[inline]
#[track_caller]
pub fn sync() {
    arrive().wait();
}

/// A thread's word that it has come to the grid's barrier; see [`arrive`].
#[must_use = "the barrier is only passed by `wait`"]
pub struct Arrival {
    old: u32,
}

/// The first half of [`sync`]: announces this thread's arrival without waiting. Between it and [`Arrival::wait`] is room for
/// work that needs nothing from other blocks. Each arrival must be waited for before the next.
///
/// ```no_run
/// # use warpsmith_device::grid;
/// # fn work() {}
/// let arrival = grid::arrive();
/// work();
/// arrival.wait();
/// ```
///
/// # Panics
/// If the launch was not cooperative.
#[inline]
#[track_caller]
pub fn arrive() -> Arrival {
    let barrier = barrier();
    block::sync();
    let mut old = 0;
    if thread::linear_in_block() == 0 {
        let (x, y, z) = grid::dim();
        let blocks = x * y * z;
        let first = block::idx() == (0, 0, 0);
        // All additions of one round sum up to 2^31.
        let share = if first { 0x8000_0000 - (blocks - 1) } else { 1 };
        old = barrier.fetch_add(share, Release);
    }
    Arrival { old }
}

impl Arrival {
    /// The second half of [`sync`]: waits until all threads of the grid have arrived.
    #[inline]
    pub fn wait(self) {
        if thread::linear_in_block() == 0 {
            let barrier = barrier();
            while (self.old ^ barrier.load(Acquire)) & 0x8000_0000 == 0 {}
        }
        block::sync();
    }
}

/// The address of the launch's workspace, 0 in an ordinary launch.
#[inline(always)]
fn workspace() -> usize {
    on_device! {
        let (high, low): (u32, u32);
        // SAFETY: reading special registers has no conditions.
        unsafe {
            core::arch::asm!("mov.u32 {high}, %envreg1;", high = out(reg32) high, options(pure, nomem, nostack));
            core::arch::asm!("mov.u32 {low}, %envreg2;", low = out(reg32) low, options(pure, nomem, nostack));
        }
        ((u64::from(high) << 32) | u64::from(low)) as usize
    }
}

#[inline(always)]
#[track_caller]
fn barrier<'a>() -> &'a Atomic<u32> {
    let workspace = workspace();
    assert!(
        workspace != 0,
        "the grid's barrier needs a cooperative launch"
    );
    // SAFETY: the driver's workspace, in global memory, lives as long as the grid; its second word is the barrier and only used atomically.
    unsafe { Atomic::from_ptr(space::from_global::<u32>(workspace).add(1)) }
}

//! A barrier of the block in two halves: between its arrival and its wait a thread does what needs nothing from the others.
//!
//! From sm_80 on it is an `mbarrier` in shared memory; before, the work is done first, and then the block waits.

use core::marker::PhantomData;

use super::{Element, SharedArray, SharedFilled, SharedView};
use crate::{block, thread};

/// A barrier of all threads of the block that is passed in two steps: see [`split_barrier`].
pub struct SplitBarrier {
    object: *mut u64,
    of_its_block: PhantomData<*mut u64>,
}

/// Calls `body` with a barrier of the block that is passed in two steps; `word` is its place. Two [`block::sync`], one before and one
/// after.
///
/// The rule of barriers holds as for [`block::sync`], with one difference: a thread that ends before `body` is done is waited for, from
/// sm_80 on for ever (the simulator says who waits). Becomes `mbarrier.init` and `mbarrier.inval`. Arch: sm_80; before, no barrier in
/// memory is used. CUDA C++: `cuda::barrier<cuda::thread_scope_block>`, `arrive` and `wait`. Guide §7.26.
///
/// ```
/// use warpsmith_device::prelude::*;
///
/// /// Each thread's value and its neighbour's, weighed.
/// #[kernel(launch_bounds(128, exact))]
/// pub fn neighbours(x: &[f32], mut out: PerThread<[f32]>) {
///     let word = shared!([u64; 1]);
///     let array = shared!([f32; 128]);
///     let own = x.get(thread::index()).copied().unwrap_or(0.0);
///     let sum = shared::split_barrier(word, |barrier| {
///         // The square root is computed while others are still on their way.
///         let (values, root) = array.write(own).sync_during(barrier, || own.sqrt());
///         root + values[(thread::linear_in_block() as usize + 1) % 128]
///     });
///     if let Some(out) = out.mine() {
///         *out = sum;
///     }
/// }
/// ```
#[inline(always)]
pub fn split_barrier<R>(
    word: SharedArray<'_, u64, 1>,
    body: impl FnOnce(&mut SplitBarrier) -> R,
) -> R {
    let object = word.into_pointer();
    let is_first = thread::linear_in_block() == 0;
    if is_first {
        // SAFETY: the word is the barrier's alone, by its handle, and no thread knows of it before the block's barrier.
        unsafe { init(object, block::threads()) };
    }
    block::sync();
    let result = body(&mut SplitBarrier {
        object,
        of_its_block: PhantomData,
    });
    // Nobody waits there any more behind it.
    block::sync();
    if is_first {
        // SAFETY: it was initialised above, and all threads have left it.
        unsafe { invalidate(object) };
    }
    result
}

impl SplitBarrier {
    /// Arrives at the barrier, calls `work`, and waits for all threads of the block to arrive; what each of them wrote before it arrived,
    /// all of them see after. What `work` writes is not among that.
    ///
    /// Becomes `mbarrier.arrive` and a loop of `mbarrier.test_wait`, from sm_90 on of `mbarrier.try_wait`. Arch: sm_80; before, `work`
    /// and a [`block::sync`].
    #[inline(always)]
    pub fn sync_during<R>(&mut self, work: impl FnOnce() -> R) -> R {
        // SAFETY: `split_barrier` has initialised it for all threads of the block, none of which arrives again before it has waited: this
        // function borrows it until then.
        let arrival = unsafe { arrive(self.object) };
        let result = work();
        // SAFETY: the barrier is initialised (`split_barrier`), and the arrival is this phase's: no thread arrives again before it has waited.
        unsafe { wait(self.object, arrival) };
        result
    }
}

impl<'a, T: Element, const N: usize> SharedFilled<'a, T, N> {
    /// [`sync`](SharedFilled::sync) in two steps: tells the block that this thread's part is filled, calls `work`, which needs nothing
    /// from the others, and then waits for the whole block.
    #[inline(always)]
    pub fn sync_during<R>(
        self,
        barrier: &mut SplitBarrier,
        work: impl FnOnce() -> R,
    ) -> (SharedView<'a, T, N>, R) {
        let result = barrier.sync_during(work);
        let (pointer, length) = self.into_parts();
        (SharedView::from_parts(pointer, length), result)
    }
}

/// Makes an mbarrier for so many arrivals.
///
/// # Safety
/// The word is in shared memory, and no other thread uses it before the next barrier of the block.
#[inline(always)]
unsafe fn init(object: *mut u64, arrivals: u32) {
    #[cfg(all(target_arch = "nvptx64", warpsmith_arch_at_least = "80"))]
    // SAFETY: the caller vouches for the word.
    unsafe {
        core::arch::asm!("mbarrier.init.shared.b64 [{}], {};", in(reg64) crate::space::to_shared(object), in(reg32) arrivals,
            options(nostack));
    }
    #[cfg(not(all(target_arch = "nvptx64", warpsmith_arch_at_least = "80")))]
    let _ = (object, arrivals);
}

/// Ends an mbarrier's life.
///
/// # Safety
/// It was initialised, and nobody uses it any more.
#[inline(always)]
unsafe fn invalidate(object: *mut u64) {
    #[cfg(all(target_arch = "nvptx64", warpsmith_arch_at_least = "80"))]
    // SAFETY: the caller vouches for the mbarrier.
    unsafe {
        core::arch::asm!("mbarrier.inval.shared.b64 [{}];", in(reg64) crate::space::to_shared(object), options(nostack));
    }
    #[cfg(not(all(target_arch = "nvptx64", warpsmith_arch_at_least = "80")))]
    let _ = object;
}

/// Arrives at an mbarrier: the state of the phase that the arrival belongs to.
///
/// # Safety
/// It was initialised, and the thread has waited for its last arrival.
#[inline(always)]
unsafe fn arrive(object: *mut u64) -> u64 {
    #[cfg(all(target_arch = "nvptx64", warpsmith_arch_at_least = "80"))]
    {
        let state;
        // SAFETY: the caller vouches for the mbarrier.
        unsafe {
            core::arch::asm!("mbarrier.arrive.shared.b64 {}, [{}];", out(reg64) state,
                in(reg64) crate::space::to_shared(object), options(nostack));
        }
        state
    }
    #[cfg(not(all(target_arch = "nvptx64", warpsmith_arch_at_least = "80")))]
    {
        let _ = object;
        0
    }
}

/// Waits for the end of the phase with this state.
///
/// # Safety
/// The thread's last arrival gave the state.
#[inline(always)]
unsafe fn wait(object: *mut u64, state: u64) {
    #[cfg(all(target_arch = "nvptx64", warpsmith_arch_at_least = "80"))]
    {
        #[cfg(warpsmith_arch_at_least = "90")]
        macro_rules! test {
            () => {
                "try_wait"
            };
        }
        #[cfg(not(warpsmith_arch_at_least = "90"))]
        macro_rules! test {
            () => {
                "test_wait"
            };
        }
        let address = crate::space::to_shared(object);
        loop {
            let done: u32;
            // SAFETY: the caller vouches for mbarrier and state.
            unsafe {
                core::arch::asm!(
                    concat!("{{ .reg .pred %p; mbarrier.", test!(), ".shared.b64 %p, [{a}], {state}; selp.u32 {o}, 1, 0, %p; }}"),
                    o = lateout(reg32) done, a = in(reg64) address, state = in(reg64) state, options(nostack),
                );
            }
            if done != 0 {
                break;
            }
        }
    }
    #[cfg(not(all(target_arch = "nvptx64", warpsmith_arch_at_least = "80")))]
    {
        let _ = (object, state);
        block::sync();
    }
}

//! The value of a conditional node.

use core::marker::PhantomData;

/// A condition of the graph that the kernel is a node of: a parameter, for which the host passes a `Condition` of its library. Flat: its
/// handle, a `u64`.
///
/// A kernel with such a parameter runs as a node of that graph alone, or of one of its bodies.
///
/// ```
/// use warpsmith_device::graph::Condition;
/// use warpsmith_device::prelude::*;
///
/// /// Counts down, one pass of the loop's body at a time.
/// #[kernel]
/// pub fn count_down(counter: AtomicSlice<u32>, again: Condition) {
///     if thread::is_first() {
///         let left = counter[0].fetch_sub(1, Relaxed) - 1;
///         again.set(left);
///     }
/// }
/// ```
///
/// It is good for the launch that it is passed to, and cannot be made, or kept for a later one:
///
/// ```compile_fail
/// use warpsmith_device::graph::Condition;
/// use warpsmith_device::prelude::*;
///
/// #[kernel]
/// pub fn later(condition: Condition<'static>) {}
/// ```
// covers: COND-01
#[derive(Clone, Copy)]
pub struct Condition<'launch> {
    handle: u64,
    launch: PhantomData<&'launch ()>,
}

impl<'launch> Condition<'launch> {
    /// # Safety
    ///
    /// As long as `'launch` lasts, `handle` is that of a condition of the graph that this kernel is a node of.
    #[inline(always)]
    pub(crate) unsafe fn from_raw(handle: u64) -> Condition<'launch> {
        Condition {
            handle,
            launch: PhantomData,
        }
    }

    /// Sets the value, which the conditional node tests next: zero is false, everything else true; of a switch it is the body's number. The
    /// last value before the test counts, whichever thread set it.
    ///
    /// Becomes a call of `cudaGraphSetConditional`, which the driver supplies (no device runtime library is needed). Needs a driver of CUDA
    /// 12.3. Guide §3.2.8.7.8.
    #[inline(always)]
    pub fn set(self, value: u32) {
        // SAFETY: the handle is good, by the condition of `from_raw`.
        unsafe { set_conditional(self.handle, value) }
    }
}

/// As [`Condition::set`], by the handle: for kernels that get it in a way of their own.
///
/// # Safety
///
/// `condition` is the handle of a condition of the graph that this kernel is a node of (`cudaGraphConditionalHandle`).
#[inline(always)]
pub unsafe fn set_conditional(condition: u64, value: u32) {
    on_device! {
        #[allow(non_snake_case)]
        unsafe extern "C" {
            fn cudaGraphSetConditional(condition: u64, value: u32);
        }
        // SAFETY: the caller's promise.
        unsafe { cudaGraphSetConditional(condition, value) }
    }
}

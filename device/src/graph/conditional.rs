//! The value of a conditional node.

/// Sets the value of a graph's condition, which the conditional node tests next: zero is false, everything else true. The
/// last value before the test counts, whichever thread set it.
///
/// `condition` is the handle that the host made (`Graph::condition`), passed to the kernel by value. Becomes a call of
/// `cudaGraphSetConditional`, which the driver supplies (no device runtime library is needed). Needs a driver of CUDA
/// 12.3. Guide §3.2.8.7.8.
///
/// ```
/// use warpsmith_device::prelude::*;
///
/// /// Counts down, one pass of the loop's body at a time.
/// #[kernel]
/// pub fn count_down(counter: AtomicSlice<u32>, condition: u64) {
///     if thread::is_first() {
///         let left = counter[0].fetch_sub(1, Relaxed) - 1;
///         warpsmith_device::graph::set_conditional(condition, left);
///     }
/// }
/// ```
#[inline(always)]
pub fn set_conditional(condition: u64, value: u32) {
    on_device! {
        #[allow(non_snake_case)]
        unsafe extern "C" {
            fn cudaGraphSetConditional(condition: u64, value: u32);
        }
        // SAFETY: a handle that is none is an error of the launch, not undefined behaviour.
        unsafe { cudaGraphSetConditional(condition, value) }
    }
}

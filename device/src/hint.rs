//! Hints to the optimiser.
//!
//! For the rest there are `core`'s: `core::hint::assert_unchecked` (CUDA C++'s `__builtin_assume`),
//! `core::hint::unreachable_unchecked`, `#[cold]` functions.

#[cold]
#[inline(always)]
fn cold() {}

/// Says that `condition` is nearly always true; gives it back. CUDA C++'s `__builtin_expect(condition, 1)`.
///
/// ```
/// use warpsmith_device::hint::likely;
/// fn clamp(x: u32) -> u32 {
///     if likely(x < 100) { x } else { 100 }
/// }
/// # assert_eq!(clamp(3), 3);
/// ```
#[inline(always)]
pub fn likely(condition: bool) -> bool {
    if !condition {
        cold();
    }
    condition
}

/// Says that `condition` is nearly always false; gives it back. CUDA C++'s `__builtin_expect(condition, 0)`.
///
/// ```
/// use warpsmith_device::hint::unlikely;
/// fn halve(x: u32) -> Option<u32> {
///     if unlikely(x % 2 == 1) { None } else { Some(x / 2) }
/// }
/// # assert_eq!(halve(8), Some(4));
/// ```
#[inline(always)]
pub fn unlikely(condition: bool) -> bool {
    if condition {
        cold();
    }
    condition
}

/// The pointer, of which the compiler may assume that it is a multiple of `ALIGN`: CUDA C++'s `__builtin_assume_aligned`.
///
/// # Safety
/// It is.
///
/// ```
/// let array = [0u32; 4];
/// // SAFETY: a `u32` is aligned to 4.
/// let pointer = unsafe { warpsmith_device::hint::assume_aligned::<4, u32>(array.as_ptr()) };
/// assert_eq!(pointer, array.as_ptr());
/// ```
#[inline(always)]
pub unsafe fn assume_aligned<const ALIGN: usize, T>(pointer: *const T) -> *const T {
    const { assert!(ALIGN.is_power_of_two()) };
    debug_assert!(pointer.addr().is_multiple_of(ALIGN));
    // SAFETY: `pointer` is a multiple of `ALIGN`, by the function's condition.
    unsafe { core::hint::assert_unchecked(pointer.addr().is_multiple_of(ALIGN)) };
    pointer
}

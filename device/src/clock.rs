//! Clocks: cycles of the multiprocessor, and wall time.
//!
//! The reads keep their position in the program: none is merged with another or moved over memory accesses.

#[cfg(target_arch = "nvptx64")]
use core::arch::asm;

macro_rules! clocks {
    ($($(#[$documentation:meta])* $name:ident -> $ty:ty, $class:ident, $ptx:literal;)*) => {$(
        $(#[$documentation])*
        ///
        #[doc = concat!("Becomes `", $ptx, "`. Any arch.")]
        ///
        /// ```no_run
        #[doc = concat!("let begin = warpsmith_device::clock::", stringify!($name), "();")]
        /// # let _ = begin;
        /// ```
        #[inline(always)]
        pub fn $name() -> $ty {
            on_device! {
                let value: $ty;
                // SAFETY: reading a counter of the hardware has no conditions.
                unsafe { asm!(concat!($ptx, ";"), out($class) value) };
                value
            }
        }
    )*};
}

clocks! {
    /// CUDA C++'s `clock()`: cycles of this multiprocessor, modulo 2^32; subtract with `wrapping_sub`.
    cycles_low -> u32, reg32, "mov.u32 {}, %clock";
    /// CUDA C++'s `clock64()`: cycles of this multiprocessor. Not comparable between multiprocessors.
    cycles -> u64, reg64, "mov.u64 {}, %clock64";
    /// Nanoseconds of a clock that all multiprocessors share; it advances in steps (about a microsecond, or 32 ns).
    nanoseconds -> u64, reg64, "mov.u64 {}, %globaltimer";
}

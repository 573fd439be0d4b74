//! Address spaces: in which one a pointer lies, and its address there.
//!
//! Rust's pointers are *generic*: they reach every space. Inline PTX sometimes wants the address within one.

#[cfg(target_arch = "nvptx64")]
use core::arch::asm;

macro_rules! predicates {
    ($($(#[$documentation:meta])* $name:ident = $space:literal;)*) => {$(
        $(#[$documentation])*
        ///
        #[doc = concat!("Becomes `isspacep.", $space, "`. Any arch. For a null pointer the answer means nothing.")]
        ///
        /// ```no_run
        /// let value = 3;
        #[doc = concat!("let inside: bool = warpsmith_device::space::", stringify!($name), "(&raw const value);")]
        /// # let _ = inside;
        /// ```
        #[inline(always)]
        pub fn $name<T: ?Sized>(pointer: *const T) -> bool {
            on_device! {
                let inside: u32;
                // SAFETY: the instruction compares the address with the space's window, and accesses no memory.
                unsafe {
                    asm!(
                        concat!("{{ .reg .pred %p; isspacep.", $space, " %p, {a}; selp.u32 {o}, 1, 0, %p; }}"),
                        o = lateout(reg32) inside, a = in(reg64) pointer.cast::<u8>(), options(pure, nomem, nostack),
                    );
                }
                inside != 0
            }
        }
    )*};
}

predicates! {
    /// CUDA C++'s `__isGlobal()`: whether the pointer is to global memory (kernel parameters count too).
    is_global = "global";
    /// CUDA C++'s `__isShared()`: whether the pointer is to the block's own shared memory.
    is_shared = "shared";
    /// CUDA C++'s `__isConstant()`: whether the pointer is to constant memory.
    is_constant = "const";
    /// CUDA C++'s `__isLocal()`: whether the pointer is to the thread's local memory.
    is_local = "local";
    /// CUDA C++'s `__isGridConstant()`: whether the pointer is to the kernel's parameters.
    is_grid_constant = "param";
}

macro_rules! conversions {
    ($($to:ident, $from:ident, $space:literal, $cuda:literal;)*) => {$(
        #[doc = concat!("CUDA C++'s `__cvta_generic_to_", $cuda, "()`: the address within the space; meaningless for a pointer elsewhere.")]
        ///
        #[doc = concat!("Becomes `cvta.to.", $space, ".u64`. Any arch.")]
        ///
        /// ```no_run
        /// let value = 3;
        #[doc = concat!("let address: usize = warpsmith_device::space::", stringify!($to), "(&raw const value);")]
        /// # let _ = address;
        /// ```
        #[inline(always)]
        pub fn $to<T: ?Sized>(pointer: *const T) -> usize {
            on_device! {
                let address: usize;
                // SAFETY: the instruction computes an address from an address, and accesses no memory.
                unsafe {
                    asm!(concat!("cvta.to.", $space, ".u64 {}, {};"), lateout(reg64) address,
                        in(reg64) pointer.cast::<u8>(), options(pure, nomem, nostack));
                }
                address
            }
        }

        #[doc = concat!("CUDA C++'s `__cvta_", $cuda, "_to_generic()`: a pointer to an address within the space.")]
        ///
        #[doc = concat!("Becomes `cvta.", $space, ".u64`. Any arch.")]
        ///
        /// ```no_run
        #[doc = concat!("let pointer: *mut f32 = warpsmith_device::space::", stringify!($from), "(64);")]
        /// # let _ = pointer;
        /// ```
        #[inline(always)]
        pub fn $from<T>(address: usize) -> *mut T {
            on_device! {
                let pointer: *mut T;
                // SAFETY: the instruction computes an address from an address, and accesses no memory.
                unsafe {
                    asm!(concat!("cvta.", $space, ".u64 {}, {};"), lateout(reg64) pointer, in(reg64) address,
                        options(pure, nomem, nostack));
                }
                pointer
            }
        }
    )*};
}

conversions! {
    to_global, from_global, "global", "global";
    to_shared, from_shared, "shared", "shared";
    to_constant, from_constant, "const", "constant";
    to_local, from_local, "local", "local";
}

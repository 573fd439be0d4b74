//! Printing and asserting from kernels, over CUDA's own protocols: what [`gpu_println!`](crate::gpu_println) expands to.
//!
//! The text appears on the host's standard output at the next synchronisation, put together there by C's `printf`. The
//! device only writes the address of the format and the values into a buffer of fixed size (1 MiB by default; when a
//! kernel prints more, the oldest is lost).

mod conversion;
mod format;

pub use conversion::{
    Argument, Debug, Display, LowerExp, LowerHex, Octal, Pointer, UpperExp, UpperHex, WidthArgument,
};
#[doc(hidden)]
pub use conversion::{Conversion, Packed};
#[doc(hidden)]
pub use format::{Cons, Format, List, Nil, Piece, Width, cons};

use core::ffi::CStr;

#[cfg(target_arch = "nvptx64")]
mod driver {
    unsafe extern "C" {
        pub fn vprintf(format: *const u8, arguments: *const u8) -> i32;
        pub fn __assertfail(
            message: *const u8,
            file: *const u8,
            line: u32,
            function: *const u8,
            char_size: usize,
        ) -> !;
    }
}

/// CUDA C's `vprintf`, as it is: prints `format` with the arguments in the buffer `arguments`, each at its natural
/// alignment, promoted as C's variable arguments are.
///
/// Becomes `call vprintf`. Any arch. Gives the number of arguments that the format asked for; -1 for a null format, -2
/// for an internal error.
///
/// # Safety
/// `arguments` points to as many values as the format asks for, of the types it says, or anywhere if it asks for none.
///
/// ```no_run
/// use warpsmith_device::print;
/// // SAFETY: the format asks for no arguments.
/// let count = unsafe { print::vprintf(c"hello\n", core::ptr::null()) };
/// assert_eq!(count, 0);
/// ```
#[inline(always)]
pub unsafe fn vprintf(format: &CStr, arguments: *const u8) -> i32 {
    // SAFETY: the caller's promise; the format ends in zero.
    on_device! { unsafe { driver::vprintf(format.as_ptr().cast(), arguments) } }
}

/// Room for what an argument's value points to.
#[doc(hidden)]
#[inline(always)]
pub fn storage<S, T: Argument<S> + ?Sized>(_: &T) -> T::Storage {
    T::Storage::default()
}

/// The value as printf takes it.
#[doc(hidden)]
#[inline(always)]
pub fn pack<S, T: Argument<S> + ?Sized>(value: &T, storage: &mut T::Storage) -> T::Packed {
    value.pack(storage)
}

/// The format that a call hands to printf, for tests.
#[doc(hidden)]
pub fn format_text<F: Format, L: List>(_: F, _: L) -> &'static CStr {
    CStr::from_bytes_until_nul(format::text::<F, L>()).expect("the text ends in zero")
}

/// Prints.
///
/// # Safety
/// `arguments` is a `repr(C)` structure of the values that the list's [`Argument`]s pack, in their order; what they point to
/// lives.
#[doc(hidden)]
#[inline(always)]
pub unsafe fn send<F: Format, L: List, A>(_: F, _: L, arguments: &A) {
    let format = format::text::<F, L>();
    on_device! {
        // SAFETY: the format was made from the conversions of the list, whose values are the arguments, in C's layout, by the
        // function's condition.
        unsafe { driver::vprintf(format.as_ptr(), core::ptr::from_ref(arguments).cast()) };
    }
}

/// What a failed `gpu_assert!` calls.
///
/// # Safety
/// `file` and `function` end in zero.
#[doc(hidden)]
#[cold]
#[inline(never)]
pub unsafe fn assertion_failed(condition: &CStr, file: &str, line: u32, function: &str) -> ! {
    // SAFETY: all three texts end in zero: the first by its type, the others by the function's condition.
    on_device! {
        unsafe { driver::__assertfail(condition.as_ptr().cast(), file.as_ptr(), line, function.as_ptr(), 1) }
    }
}

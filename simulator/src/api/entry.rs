//! What every driver function has in common: its two forms, its guard, and how results are written.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::context;
pub(in crate::api) use crate::error::{Result, code};
use crate::streams::in_host_function;
pub(in crate::api) use warpsmith_abi::*;

/// Defines driver functions: `GUARD fn NAME(ARGUMENTS) { BODY }`. The body is a [`Result`] and may return early; falling off its end is
/// success. Makes a function `find` that gives a function's address by name and [`Variant`].
macro_rules! driver_calls {
    ($($guard:ident fn $name:ident($($argument:ident: $kind:ty),* $(,)?) $body:block)*) => {
        mod plain {
            use super::*;
            $(
                #[allow(non_snake_case, unused_unsafe, clippy::too_many_arguments)]
                pub(super) unsafe extern "C" fn $name($($argument: $kind),*) -> CUresult {
                    $crate::api::entry::enter(stringify!($name), $crate::api::entry::Guard::$guard, || {
                        // SAFETY: the caller keeps the driver function's contract: each pointer that is not null is valid for
                        // what the function reads and writes through it.
                        unsafe { $body }
                        #[allow(unreachable_code)]
                        Ok(())
                    })
                }
                const _: signature::$name = $name;
            )*
        }

        /// The same functions with the null stream meaning the calling thread's default stream.
        mod per_thread {
            use super::*;
            $(
                #[allow(non_snake_case, clippy::too_many_arguments)]
                pub(super) unsafe extern "C" fn $name($($argument: $kind),*) -> CUresult {
                    let _mode = $crate::streams::PerThreadDefault::enter();
                    // SAFETY: the caller keeps the contract of this variant, which is the plain function's.
                    unsafe { plain::$name($($argument),*) }
                }
            )*
        }

        pub(in crate::api) fn find(name: &str, variant: $crate::api::entry::Variant) -> Option<*const c_void> {
            match (name, variant) {
                $((stringify!($name), $crate::api::entry::Variant::Plain) => Some(plain::$name as *const c_void),)*
                $((stringify!($name), $crate::api::entry::Variant::PerThread) => Some(per_thread::$name as *const c_void),)*
                _ => None,
            }
        }
    };
}
pub(in crate::api) use driver_calls;

/// Which form of a function is asked for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::api) enum Variant {
    Plain,
    PerThread,
}

/// What must hold before a call does anything.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::api) enum Guard {
    /// Nothing: the call works before `cuInit`.
    Early,
    /// `cuInit` has been called, and the caller is no host function on a stream.
    Ready,
}

/// The common entry of every driver function.
pub(in crate::api) fn enter(
    name: &'static str,
    guard: Guard,
    body: impl FnOnce() -> Result,
) -> CUresult {
    if guard == Guard::Ready {
        if in_host_function() {
            return CUresult::CUDA_ERROR_NOT_PERMITTED;
        }
        if !context::is_initialised() {
            return CUresult::CUDA_ERROR_NOT_INITIALIZED;
        }
    }
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => CUresult::CUDA_SUCCESS,
        Ok(Err(code)) => code,
        Err(_) => {
            eprintln!("warpsmith simulator: internal error in {name} (see the panic above)");
            CUresult::CUDA_ERROR_UNKNOWN
        }
    }
}

/// Writes a result through a pointer of the caller.
///
/// # Safety
///
/// `to` is null or valid for writing.
pub(in crate::api) unsafe fn put<T>(to: *mut T, value: T) -> Result {
    if to.is_null() {
        return Err(code::INVALID_VALUE);
    }
    // SAFETY: not null, so valid for writing by the caller's contract.
    unsafe { to.write(value) };
    Ok(())
}

/// A handle that is not null, for calls to which a null one is an invalid value and not an invalid handle.
pub(in crate::api) fn not_null<T>(handle: *mut T) -> Result<*mut T> {
    match handle.is_null() {
        true => Err(code::INVALID_VALUE),
        false => Ok(handle),
    }
}

/// What a pointer of the caller leads to; a null one is refused.
///
/// # Safety
///
/// `pointer` is null or valid.
pub(in crate::api) unsafe fn parameters<'a, T>(pointer: *const T) -> Result<&'a T> {
    // SAFETY: null or valid by the caller's contract.
    unsafe { pointer.as_ref() }.ok_or(code::INVALID_VALUE)
}

//! The driver's C functions, one module a topic, and the table that finds them by symbol name.
//!
//! Handles are numbers from the registries of [`crate::state`], never addresses: a wrong handle is found out, not followed. Pointers
//! to parameters are the caller's responsibility, as in C; null ones are refused.

use core::ffi::c_void;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::abi::*;
use crate::state::Result;
use crate::state::code;

macro_rules! driver_calls {
    ($($guard:ident fn $name:ident($($argument:ident: $kind:ty),* $(,)?) $body:block)*) => {
        mod plain {
            use super::*;
            $(
                #[allow(non_snake_case, unused_unsafe, clippy::too_many_arguments)]
                pub(super) unsafe extern "C" fn $name($($argument: $kind),*) -> CUresult {
                    $crate::api::enter(stringify!($name), $crate::api::Guard::$guard, || {
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
                    // SAFETY: the contract is the same function's.
                    unsafe { plain::$name($($argument),*) }
                }
            )*
        }

        pub(super) fn find(name: &str, variant: $crate::api::Variant) -> Option<*const c_void> {
            match (name, variant) {
                $((stringify!($name), $crate::api::Variant::Plain) => Some(plain::$name as *const c_void),)*
                $((stringify!($name), $crate::api::Variant::PerThread) => Some(per_thread::$name as *const c_void),)*
                _ => None,
            }
        }
    };
}

mod capture;
mod context;
mod copy;
mod device;
mod error;
mod event;
mod fill;
mod function;
mod graph;
mod graph_exec;
mod graph_nodes;
mod init;
mod launch;
mod managed;
mod memory;
mod module;
mod pool;
mod private;
mod stream;
mod symbols;

/// Which form of a function is asked for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Variant {
    Plain,
    PerThread,
}

/// What must hold before a call does anything.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Guard {
    /// Nothing: the call works before `cuInit`.
    Early,
    /// `cuInit` has been called, and the caller is no host function on a stream.
    Ready,
}

thread_local! {
    /// Whether this thread is running a host function or destructor for a stream; driver calls are forbidden there.
    static IN_HOST_FUNCTION: Cell<bool> = const { Cell::new(false) };
}

/// Runs a user's host function with driver calls from it refused.
pub(crate) fn as_host_function(run: impl FnOnce()) {
    let before = IN_HOST_FUNCTION.replace(true);
    run();
    IN_HOST_FUNCTION.set(before);
}

/// The common entry of every driver function.
fn enter(name: &'static str, guard: Guard, body: impl FnOnce() -> Result) -> CUresult {
    if guard == Guard::Ready {
        if IN_HOST_FUNCTION.get() {
            return CUresult::CUDA_ERROR_NOT_PERMITTED;
        }
        if !crate::state::initialised() {
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
unsafe fn put<T>(to: *mut T, value: T) -> Result {
    if to.is_null() {
        return Err(code::INVALID_VALUE);
    }
    // SAFETY: not null, so valid by the caller's contract.
    unsafe { to.write(value) };
    Ok(())
}

/// The `extern "C"` function of a versioned driver symbol, `cuMemAlloc_v2` for example. A function of the driver that the simulator
/// does not implement is found too: it answers `CUDA_ERROR_NOT_SUPPORTED` and names itself on stderr, once.
pub fn entry_point(name: &str) -> Option<*const c_void> {
    implemented(name).or_else(|| unsupported::find(name))
}

fn implemented(name: &str) -> Option<*const c_void> {
    if let Some(base) = name
        .strip_suffix("_ptsz")
        .or_else(|| name.strip_suffix("_ptds"))
    {
        return unsupported::is_per_thread(name)
            .then(|| find(base, Variant::PerThread))
            .flatten();
    }
    find(name, Variant::Plain)
}

fn find(name: &str, variant: Variant) -> Option<*const c_void> {
    const TOPICS: &[fn(&str, Variant) -> Option<*const c_void>] = &[
        capture::find,
        context::find,
        copy::find,
        device::find,
        error::find,
        event::find,
        fill::find,
        function::find,
        graph::find,
        graph_exec::find,
        graph_nodes::find,
        init::find,
        launch::find,
        managed::find,
        memory::find,
        module::find,
        pool::find,
        private::find,
        stream::find,
    ];
    TOPICS.iter().find_map(|topic| topic(name, variant))
}

mod unsupported;

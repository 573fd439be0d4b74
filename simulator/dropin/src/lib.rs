//! The simulator as a drop-in `libcuda.so.1`: every symbol of the driver, each a jump to the simulator's entry point of its name.
//!
//! A program that loads the CUDA driver runs on the simulator when its dynamic linker finds this library first, for example with
//! `LD_LIBRARY_PATH=$(cargo xtask simulator)`. Functions that the simulator does not implement answer `CUDA_ERROR_NOT_SUPPORTED` and
//! name themselves on stderr once.
#![allow(
    non_snake_case,
    missing_docs,
    clippy::missing_safety_doc,
    clippy::too_many_arguments
)]

use core::ffi::c_void;
use std::sync::atomic::{AtomicPtr, Ordering};

use warpsmith_abi::*;
use warpsmith_simulator::entry_point;

/// One entry point, looked up at its first call.
struct EntryPoint {
    name: &'static str,
    address: AtomicPtr<c_void>,
}

impl EntryPoint {
    const fn new(name: &'static str) -> Self {
        Self {
            name,
            address: AtomicPtr::new(core::ptr::null_mut()),
        }
    }

    #[inline]
    fn get(&self) -> *const c_void {
        let known = self.address.load(Ordering::Acquire);
        if known.is_null() { self.find() } else { known }
    }

    #[cold]
    fn find(&self) -> *const c_void {
        match entry_point(self.name) {
            Some(address) => {
                self.address.store(address.cast_mut(), Ordering::Release);
                address
            }
            // Each symbol here stands in the simulator's own lists.
            None => std::process::abort(),
        }
    }
}

macro_rules! typed {
    ($(fn $name:ident($($argument:ident: $kind:ty),* $(,)?) -> $result:ty;)*) => {
        $(
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name($($argument: $kind),*) -> $result {
                static ENTRY: EntryPoint = EntryPoint::new(stringify!($name));
                // SAFETY: the entry point of this name has this type, and the caller keeps its contract.
                unsafe {
                    core::mem::transmute::<*const c_void, signature::$name>(ENTRY.get())($($argument),*)
                }
            }
        )*
    };
}

macro_rules! untyped {
    ($($name:ident),* $(,)?) => {
        $(
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name() -> CUresult {
                static ENTRY: EntryPoint = EntryPoint::new(stringify!($name));
                // SAFETY: none of these is implemented; the stub behind the name takes no arguments.
                unsafe { core::mem::transmute::<*const c_void, unsafe extern "C" fn() -> CUresult>(ENTRY.get())() }
            }
        )*
    };
}

warpsmith_abi::for_each_established_function!(typed);
warpsmith_abi::for_each_newer_function!(typed);
warpsmith_abi::for_each_per_thread_function!(typed);
warpsmith_abi::for_each_foreign_symbol!(untyped);

/// The simulator's own functions are exported too.
mod own {
    use core::ffi::{c_char, c_uint, c_void};

    use warpsmith_abi::CUcontext;
    use warpsmith_abi::extension::{FaultFormat, signature};

    use super::EntryPoint;

    warpsmith_abi::for_each_extension_function!(typed);
}

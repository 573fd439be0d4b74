//! The functions of the driver that the simulator does not have: each answers `CUDA_ERROR_NOT_SUPPORTED` and names itself once.

use core::ffi::c_void;
use std::collections::BTreeSet;
use std::sync::Mutex;

use crate::sync::lock;
use warpsmith_abi::*;

fn refuse(name: &'static str) -> CUresult {
    static NAMED: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    if lock(&NAMED).insert(name) {
        eprintln!(
            "warpsmith simulator: {name} is not implemented; it answers CUDA_ERROR_NOT_SUPPORTED"
        );
    }
    CUresult::CUDA_ERROR_NOT_SUPPORTED
}

macro_rules! typed {
    ($(fn $name:ident($($argument:ident: $kind:ty),* $(,)?) -> $result:ty;)*) => {
        #[allow(non_snake_case)]
        mod stubs {
            use super::*;
            $(pub(super) unsafe extern "C" fn $name($(_: $kind),*) -> $result { refuse(stringify!($name)) })*
        }
        pub(super) fn find(name: &str) -> Option<*const c_void> {
            match name {
                $(stringify!($name) => Some(stubs::$name as *const c_void),)*
                _ => None,
            }
        }
    };
}

// On the System V ABI the caller removes the arguments, so a function without parameters stands in for any.
macro_rules! untyped {
    ($($name:ident),* $(,)?) => {
        #[allow(non_snake_case)]
        mod stubs {
            use super::*;
            $(pub(super) unsafe extern "C" fn $name() -> CUresult { refuse(stringify!($name)) })*
        }
        pub(super) fn find(name: &str) -> Option<*const c_void> {
            match name {
                $(stringify!($name) => Some(stubs::$name as *const c_void),)*
                _ => None,
            }
        }
    };
}

mod established {
    use super::*;
    warpsmith_abi::for_each_established_function!(typed);
}
mod newer {
    use super::*;
    warpsmith_abi::for_each_newer_function!(typed);
}
mod per_thread {
    use super::*;
    warpsmith_abi::for_each_per_thread_function!(typed);
}
mod foreign {
    use super::*;
    warpsmith_abi::for_each_foreign_symbol!(untyped);
}

pub(super) fn find(name: &str) -> Option<*const c_void> {
    established::find(name)
        .or_else(|| newer::find(name))
        .or_else(|| per_thread::find(name))
        .or_else(|| foreign::find(name))
}

/// Whether the driver has a per-thread variant of this very name.
pub(super) fn is_per_thread(name: &str) -> bool {
    per_thread::find(name).is_some()
}

//! The simulator's NCCL as a drop-in `libnccl.so.2`, beside the drop-in `libcuda.so.1`: collectives of foreign programs with no GPU.
//!
//! It calls the CUDA driver that the process has loaded, wherever that is from: the dynamic linker knows it by its soname. Where the process
//! has none yet, it loads `libcuda.so.1` as any program does. `cargo xtask simulator` lays both libraries down.
#![allow(
    non_snake_case,
    missing_docs,
    clippy::missing_safety_doc,
    clippy::too_many_arguments
)]

use std::ffi::{CString, c_char, c_int, c_void};
use std::sync::LazyLock;

use libloading::os::unix::Library;
use warpsmith_nccl_abi::*;
use warpsmith_nccl_simulator::{Driver, entry_point, set_driver};

/// The function of this name, with the driver there that it calls.
fn find(name: &str) -> *const c_void {
    static SET: LazyLock<()> = LazyLock::new(|| set_driver(load()));
    LazyLock::force(&SET);
    // Each symbol here stands in the simulator's own lists.
    entry_point(name).unwrap_or_else(|| std::process::abort())
}

fn load() -> Result<Driver, String> {
    // SAFETY: a CUDA driver's constructors may run in any process and on any thread: programs load it this way at any time.
    let library = unsafe { Library::new("libcuda.so.1") }.map_err(|error| {
        // The dynamic linker's own words are below libloading's.
        let source = std::error::Error::source(&error).map(ToString::to_string);
        source.unwrap_or_else(|| error.to_string())
    })?;
    let symbol = |name: &str| {
        let name = CString::new(name).ok()?;
        // SAFETY: only the symbol's address is taken, whatever its type.
        let found = unsafe { library.get::<*const c_void>(name.as_bytes_with_nul()) };
        Some(found.ok()?.into_raw().cast_const())
    };
    // SAFETY: a driver has under each of these names the function of that name; it is never unloaded (below).
    let driver = unsafe { Driver::resolve(&symbol) }.map_err(|name| format!("it has no {name}"));
    // Its threads outlive any caller.
    std::mem::forget(library);
    driver
}

macro_rules! exported {
    ($(fn $name:ident($($argument:ident: $kind:ty),* $(,)?) -> $result:ty;)*) => {
        $(
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name($($argument: $kind),*) -> $result {
                static ENTRY: LazyLock<signature::$name> = LazyLock::new(|| {
                    // SAFETY: the entry point of this name has this type.
                    unsafe { std::mem::transmute::<*const c_void, signature::$name>(find(stringify!($name))) }
                });
                // SAFETY: the caller keeps the contract of NCCL's function of this name.
                unsafe { ENTRY($($argument),*) }
            }
        )*
    };
}

warpsmith_nccl_abi::for_each_nccl_function!(exported);
warpsmith_nccl_abi::for_each_newer_nccl_function!(exported);

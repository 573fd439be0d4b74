//! The table of function pointers behind every driver symbol, and the functions that jump through it.

use core::ffi::c_void;

use warpsmith_simulator::abi::*;

use crate::backend;

macro_rules! table {
    ($(fn $name:ident($($argument:ident: $kind:ty),* $(,)?) -> $result:ty;)*) => {
        /// One pointer for each function. A function that the chosen driver lacks answers `CUDA_ERROR_NOT_SUPPORTED`.
        #[allow(non_snake_case)]
        pub(crate) struct Functions {
            $(pub(crate) $name: signature::$name,)*
        }

        impl Functions {
            pub(super) fn resolve(find: &dyn Fn(&str) -> Option<*const c_void>) -> Self {
                Self {
                    $($name: match find(stringify!($name)) {
                        // SAFETY: both sources give a function of the type that the symbol's name stands for.
                        Some(address) => unsafe { core::mem::transmute::<*const c_void, signature::$name>(address) },
                        None => absent::$name,
                    },)*
                }
            }
        }

        #[allow(non_snake_case)]
        mod absent {
            use super::*;
            $(pub(super) unsafe extern "C" fn $name($(_: $kind),*) -> $result {
                CUresult::CUDA_ERROR_NOT_SUPPORTED
            })*
        }
    };
}

mod established {
    use super::*;
    warpsmith_simulator::for_each_established_function!(table);
}

mod newer {
    use super::*;
    warpsmith_simulator::for_each_newer_function!(table);
}

/// All functions of one driver.
pub(crate) struct Table {
    established: established::Functions,
    newer: newer::Functions,
}

impl Table {
    pub(crate) fn resolve(find: impl Fn(&str) -> Option<*const c_void>) -> Self {
        Self { established: established::Functions::resolve(&find), newer: newer::Functions::resolve(&find) }
    }
}

/// The symbols that `cust_raw` declares as coming from a CUDA library.
macro_rules! exported_jumps {
    ($(fn $name:ident($($argument:ident: $kind:ty),* $(,)?) -> $result:ty;)*) => {
        $(
            #[allow(non_snake_case, missing_docs, clippy::missing_safety_doc, clippy::too_many_arguments)]
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name($($argument: $kind),*) -> $result {
                match backend::table() {
                    // SAFETY: the caller keeps the contract of the driver function of this name.
                    Some(table) => unsafe { (table.established.$name)($($argument),*) },
                    None => CUresult::CUDA_ERROR_NO_DEVICE,
                }
            }
        )*
    };
}

macro_rules! plain_jumps {
    ($(fn $name:ident($($argument:ident: $kind:ty),* $(,)?) -> $result:ty;)*) => {
        $(
            #[allow(non_snake_case, missing_docs, clippy::missing_safety_doc, clippy::too_many_arguments)]
            #[inline]
            pub unsafe fn $name($($argument: $kind),*) -> $result {
                match backend::table() {
                    // SAFETY: the caller keeps the contract of the driver function of this name.
                    Some(table) => unsafe { (table.newer.$name)($($argument),*) },
                    None => CUresult::CUDA_ERROR_NO_DEVICE,
                }
            }
        )*
    };
}

/// The functions themselves.
pub(crate) mod jumps {
    use super::*;
    warpsmith_simulator::for_each_established_function!(exported_jumps);
    warpsmith_simulator::for_each_newer_function!(plain_jumps);
}

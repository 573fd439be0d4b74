//! The table of function pointers behind every driver symbol, and the functions that jump through it.

use core::ffi::c_void;

use warpsmith_abi::*;

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
    warpsmith_abi::for_each_established_function!(table);
}

mod newer {
    use super::*;
    warpsmith_abi::for_each_newer_function!(table);
}

/// All functions of one driver.
pub(crate) struct Table {
    established: established::Functions,
    newer: newer::Functions,
}

impl Table {
    pub(crate) fn resolve(find: impl Fn(&str) -> Option<*const c_void>) -> Self {
        Self {
            established: established::Functions::resolve(&find),
            newer: newer::Functions::resolve(&find),
        }
    }
}

/// The symbols that `cust_raw` declares as coming from a CUDA library, for `cust` alone (see [`known_to_cust`]).
macro_rules! exported_jumps {
    ($(fn $name:ident($($argument:ident: $kind:ty),* $(,)?) -> $result:ty;)*) => {
        $(
            #[allow(non_snake_case, missing_docs, clippy::missing_safety_doc, clippy::too_many_arguments)]
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name($($argument: $kind),*) -> $result {
                // SAFETY: the caller keeps the contract of the driver function of this name.
                known_to_cust(unsafe { super::jumps::$name($($argument),*) })
            }
        )*
    };
}

macro_rules! plain_jumps {
    ($($table:ident: fn $name:ident($($argument:ident: $kind:ty),* $(,)?) -> $result:ty;)*) => {
        $(
            #[allow(non_snake_case, missing_docs, clippy::missing_safety_doc, clippy::too_many_arguments)]
            #[inline]
            pub unsafe extern "C" fn $name($($argument: $kind),*) -> $result {
                match backend::table() {
                    // SAFETY: the caller keeps the contract of the driver function of this name.
                    Some(table) => unsafe { (table.$table.$name)($($argument),*) },
                    None => CUresult::CUDA_ERROR_NO_DEVICE,
                }
            }
        )*
    };
}

macro_rules! established_jumps {
    ($(fn $name:ident($($arguments:tt)*) -> $result:ty;)*) => {
        plain_jumps! { $(established: fn $name($($arguments)*) -> $result;)* }
    };
}

macro_rules! newer_jumps {
    ($(fn $name:ident($($arguments:tt)*) -> $result:ty;)*) => {
        plain_jumps! { $(newer: fn $name($($arguments)*) -> $result;)* }
    };
}

/// The functions themselves.
pub(crate) mod jumps {
    use super::*;
    warpsmith_abi::for_each_established_function!(established_jumps);
    warpsmith_abi::for_each_newer_function!(newer_jumps);
}

/// The same for the linker.
mod symbols {
    use super::*;
    warpsmith_abi::for_each_established_function!(exported_jumps);
}

/// In `cust_raw` a result code is a Rust enum of CUDA 11.4's codes: any other value in it is undefined behaviour. So a newer code
/// becomes `CUDA_ERROR_UNKNOWN` on its way to `cust`; who calls through [`crate::raw`] sees it as it is.
fn known_to_cust(code: CUresult) -> CUresult {
    match code.0 {
        0..=8
        | 34
        | 100..=102
        | 200..=202
        | 205..=224
        | 300..=304
        | 400
        | 401
        | 500
        | 600
        | 700..=705
        | 708..=720
        | 800..=809
        | 900..=911
        | 999 => code,
        _ => CUresult::CUDA_ERROR_UNKNOWN,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cust_sees_no_code_that_its_enum_lacks() {
        // covers: ERROR-01
        for code in [9, 46, 225, 402, 706, 721, 912, 1000, u32::MAX] {
            assert_eq!(
                known_to_cust(CUresult(code)),
                CUresult::CUDA_ERROR_UNKNOWN,
                "{code}"
            );
        }
        for code in [0, 1, 200, 700, 720, 911, 999] {
            assert_eq!(known_to_cust(CUresult(code)), CUresult(code));
        }
    }
}

//! The functions of one driver, as pointers of their types.

use core::ffi::c_void;

use warpsmith_abi::*;

macro_rules! functions {
    ($(fn $name:ident($($argument:ident: $kind:ty),* $(,)?) -> $result:ty;)*) => {
        /// One pointer for each function. A function that the driver lacks answers `CUDA_ERROR_NOT_SUPPORTED`.
        #[allow(non_snake_case)]
        pub(crate) struct Functions {
            $(pub(crate) $name: signature::$name,)*
        }

        impl Functions {
            /// # Safety
            ///
            /// As for [`Table::resolve`](super::Table::resolve).
            pub(super) unsafe fn resolve(find: &dyn Fn(&str) -> Option<*const c_void>) -> Self {
                Self {
                    $($name: match find(stringify!($name)) {
                        // SAFETY: the caller promises that the address under this name is of a function with this name's signature.
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
    warpsmith_abi::for_each_established_function!(functions);
}

mod newer {
    use super::*;
    warpsmith_abi::for_each_newer_function!(functions);
}

/// All functions of one driver.
pub(crate) struct Table {
    pub(crate) established: established::Functions,
    pub(crate) newer: newer::Functions,
}

impl Table {
    /// Looks up every function.
    ///
    /// # Safety
    ///
    /// What `find` answers for a name is the address of a function of the name's type in [`signature`], valid until the process ends.
    pub(crate) unsafe fn resolve(find: &dyn Fn(&str) -> Option<*const c_void>) -> Self {
        Self {
            // SAFETY: the caller's promise covers every name, so also those of this list.
            established: unsafe { established::Functions::resolve(find) },
            // SAFETY: the caller's promise covers every name, so also those of this list.
            newer: unsafe { newer::Functions::resolve(find) },
        }
    }
}

//! The driver's functions for callers in Rust: each jumps through the chosen driver's table.

use warpsmith_abi::*;

use crate::select;

macro_rules! jumps {
    ($($list:ident: fn $name:ident($($argument:ident: $kind:ty),* $(,)?) -> $result:ty;)*) => {
        $(
            #[allow(non_snake_case, missing_docs, clippy::missing_safety_doc, clippy::too_many_arguments)]
            #[inline]
            pub unsafe extern "C" fn $name($($argument: $kind),*) -> $result {
                match select::table() {
                    // SAFETY: the caller keeps the contract of the driver function of this name.
                    Some(table) => unsafe { (table.$list.$name)($($argument),*) },
                    None => CUresult::CUDA_ERROR_NO_DEVICE,
                }
            }
        )*
    };
}

macro_rules! established_jumps {
    ($(fn $name:ident($($arguments:tt)*) -> $result:ty;)*) => {
        jumps! { $(established: fn $name($($arguments)*) -> $result;)* }
    };
}

macro_rules! newer_jumps {
    ($(fn $name:ident($($arguments:tt)*) -> $result:ty;)*) => {
        jumps! { $(newer: fn $name($($arguments)*) -> $result;)* }
    };
}

warpsmith_abi::for_each_established_function!(established_jumps);
warpsmith_abi::for_each_newer_function!(newer_jumps);

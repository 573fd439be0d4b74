//! The driver's symbols for the linker: those that `cust_raw` declares as coming from a CUDA library.

use warpsmith_abi::*;

use crate::jumps;

macro_rules! exported {
    ($(fn $name:ident($($argument:ident: $kind:ty),* $(,)?) -> $result:ty;)*) => {
        $(
            #[allow(non_snake_case, missing_docs, clippy::missing_safety_doc, clippy::too_many_arguments)]
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name($($argument: $kind),*) -> $result {
                // SAFETY: the caller keeps the contract of the driver function of this name.
                known_to_cust(unsafe { jumps::$name($($argument),*) })
            }
        )*
    };
}

warpsmith_abi::for_each_established_function!(exported);

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

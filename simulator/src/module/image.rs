//! Images: what `cuModuleLoadData` is given.

use core::ffi::{CStr, c_void};

use super::load::LoadFailure;
use crate::error::code;

/// The PTX text of an image.
///
/// # Safety
///
/// `image` is a C string, or starts with the magic number of a binary.
pub(crate) unsafe fn ptx_text(image: *const c_void) -> core::result::Result<String, LoadFailure> {
    const ELF: [u8; 4] = *b"\x7fELF";
    const FATBIN: [u8; 4] = [0x50, 0xed, 0x55, 0xba];
    const FATBIN_WRAPPER: [u8; 4] = [0xb1, 0x43, 0x62, 0x46];
    let refuse = |code, text: &str| {
        Err(LoadFailure {
            code,
            text: text.to_owned(),
        })
    };
    let mut magic = [0u8; 4];
    for (index, byte) in magic.iter_mut().enumerate() {
        // SAFETY: a C string is read up to its end, a binary up to its magic number's.
        *byte = unsafe { image.cast::<u8>().add(index).read() };
        if *byte == 0 {
            break;
        }
    }
    match magic {
        ELF => refuse(
            code::NO_BINARY_FOR_GPU,
            "the image is a cubin; the simulator executes PTX only",
        ),
        FATBIN | FATBIN_WRAPPER => refuse(
            code::NO_BINARY_FOR_GPU,
            "the image is a fat binary; the simulator takes PTX text only",
        ),
        _ => {
            // SAFETY: no binary, so a C string by the caller's contract.
            let text = unsafe { CStr::from_ptr(image.cast()) };
            match text.to_str() {
                Ok(text) => Ok(text.to_owned()),
                Err(_) => refuse(
                    code::INVALID_IMAGE,
                    "the image is neither PTX text nor a known binary",
                ),
            }
        }
    }
}

//! JIT linking: PTX is added to a link state, which gives the image of all.

use core::ffi::CStr;

use super::entry::*;
use super::jit_options::JitOptions;
use crate::context::current;
use crate::module::{LINKS, LinkState, LoadFailure, ptx_text};
use crate::report;
use crate::streams::capture;

driver_calls! {
    Ready fn cuLinkCreate_v2(
        numOptions: c_uint, options: *mut CUjit_option, optionValues: *mut *mut c_void, stateOut: *mut CUlinkState,
    ) {
        let context = current()?;
        if stateOut.is_null() {
            return Err(code::INVALID_VALUE);
        }
        let log = JitOptions::new(numOptions, options, optionValues)?.error_log();
        let state = LinkState::create(&context, Box::new(move |text| match log {
            // SAFETY: the options and their buffers are the link's until it is destroyed (cuLinkCreate: they "must remain valid for the life
            // of the CUlinkState"), and calls for one link come one after the other.
            Some(log) => unsafe { log.write(text) },
            None => report::remark(text),
        }));
        stateOut.write(state.handle as CUlinkState);
    }

    Ready fn cuLinkAddData_v2(
        state: CUlinkState, type_: CUjitInputType, data: *mut c_void, size: usize, name: *const c_char, numOptions: c_uint,
        options: *mut CUjit_option, optionValues: *mut *mut c_void,
    ) {
        let state = LINKS.get(state)?;
        JitOptions::new(numOptions, options, optionValues)?;
        if data.is_null() || size == 0 {
            return Err(code::INVALID_VALUE);
        }
        let name = match name.is_null() {
            true => "application ptx input".into(),
            false => CStr::from_ptr(name).to_string_lossy(),
        };
        add(&state, type_, &name, core::slice::from_raw_parts(data.cast(), size))?;
    }

    Ready fn cuLinkAddFile_v2(
        state: CUlinkState, type_: CUjitInputType, path: *const c_char, numOptions: c_uint, options: *mut CUjit_option,
        optionValues: *mut *mut c_void,
    ) {
        let state = LINKS.get(state)?;
        JitOptions::new(numOptions, options, optionValues)?;
        if path.is_null() {
            return Err(code::INVALID_VALUE);
        }
        let path = CStr::from_ptr(path).to_str().map_err(|_| code::INVALID_VALUE)?;
        let bytes = std::fs::read(path).map_err(|_| code::FILE_NOT_FOUND)?;
        add(&state, type_, path, &bytes)?;
    }

    Ready fn cuLinkComplete(state: CUlinkState, cubinOut: *mut *mut c_void, sizeOut: *mut usize) {
        let state = LINKS.get(state)?;
        if cubinOut.is_null() {
            return Err(code::INVALID_VALUE);
        }
        capture::refuse_unsafe_call()?;
        let image = told(&state, state.complete())?;
        cubinOut.write(image.address.cast_mut().cast());
        if !sizeOut.is_null() {
            sizeOut.write(image.bytes);
        }
    }

    Ready fn cuLinkDestroy(state: CUlinkState) {
        LINKS.remove(state)?;
    }
}

/// Adds an image of a type.
fn add(state: &LinkState, kind: CUjitInputType, name: &str, bytes: &[u8]) -> Result {
    match kind {
        CUjitInputType::CU_JIT_INPUT_PTX => {}
        CUjitInputType(0..6) => {
            let text = format!("{name}: the simulator links PTX text only");
            return told(
                state,
                Err(LoadFailure {
                    code: code::NO_BINARY_FOR_GPU,
                    text,
                }),
            );
        }
        _ => return Err(code::INVALID_VALUE),
    }
    // With or without the NUL that ends a C string.
    let mut image: Vec<u8> = bytes
        .iter()
        .copied()
        .take_while(|&byte| byte != 0)
        .collect();
    image.push(0);
    // SAFETY: the image ends with a NUL.
    let text = unsafe { ptx_text(image.as_ptr().cast()) };
    told(state, text.and_then(|text| state.add(name, text)))
}

/// What a step of a link gave; the program is told what is wrong with it.
fn told<T>(state: &LinkState, outcome: core::result::Result<T, LoadFailure>) -> Result<T> {
    outcome.map_err(|failure| {
        (state.report)(&failure.text);
        failure.code
    })
}

//! `cust` as the owner of handles that it cannot make itself.
//!
//! cust strips `NON_BLOCKING` from stream flags and loads modules without a log, so we create those by the driver directly and hand
//! the handle over; cust then owns and destroys it. Its types have no public constructor from a handle, but are structs of that
//! single field.

use cust::event::Event;
use cust::module::Module;
use cust::stream::Stream;

use warpsmith_driver::raw;

use super::cust_failed;
use crate::error::Result;

/// Checks what the conversions rest on: a struct as large as its one pointer-sized field has it at offset 0.
const _: () = {
    assert!(size_of::<Stream>() == size_of::<raw::CUstream>());
    assert!(size_of::<Module>() == size_of::<raw::CUmodule>());
    assert!(size_of::<Event>() == size_of::<raw::CUevent>());
};

/// # Safety
///
/// The handle is valid, and the result is its only owner.
pub(crate) unsafe fn stream(handle: raw::CUstream) -> Stream {
    // SAFETY: `Stream` is one pointer (the assertion at the top of this file), which may be any stream's handle; the caller hands over
    // a valid one.
    unsafe { core::mem::transmute_copy::<raw::CUstream, Stream>(&handle) }
}

/// # Safety
///
/// The handle is valid, and the result is its only owner.
pub(crate) unsafe fn module(handle: raw::CUmodule) -> Module {
    // SAFETY: `Module` is one pointer (the assertion at the top of this file), which may be any module's handle; the caller hands over
    // a valid one.
    unsafe { core::mem::transmute_copy::<raw::CUmodule, Module>(&handle) }
}

/// # Safety
///
/// The handle is valid, and the result is its only owner.
pub(crate) unsafe fn event(handle: raw::CUevent) -> Event {
    // SAFETY: `Event` is one pointer (the assertion at the top of this file), which may be any event's handle; the caller hands over
    // a valid one.
    unsafe { core::mem::transmute_copy::<raw::CUevent, Event>(&handle) }
}

/// The handle inside one of cust's events, which cust keeps to itself.
pub(crate) fn event_handle(event: &Event) -> raw::CUevent {
    // SAFETY: `Event` is one pointer (the assertion at the top of this file), the handle, which is copied; a handle owns nothing.
    unsafe { core::mem::transmute_copy::<Event, raw::CUevent>(event) }
}

/// The result of destroying one of cust's objects, which is forgotten where the driver refused.
pub(crate) fn destroyed<T>(
    call: &'static str,
    result: std::result::Result<(), (cust::error::CudaError, T)>,
) -> Result<()> {
    result.map_err(|(error, object)| {
        std::mem::forget(object);
        cust_failed(call, error)
    })
}

//! Beginning and ending a rank's membership in a communicator.

use std::ffi::c_int;
use std::sync::Arc;

use warpsmith_nccl_abi::*;

use super::arguments::put;
use crate::communicator::{self, Communicator};
use crate::driver::call;
use crate::failure::{Failure, Result};
use crate::split::Seat;
use crate::{group, job, registration};

/// # Safety
///
/// `place` is null or valid for a write.
pub(super) unsafe fn begin(
    place: *mut ncclComm_t,
    ranks: c_int,
    key: String,
    rank: c_int,
    blocking: bool,
) -> Result<()> {
    // SAFETY: this function's condition.
    unsafe { put(place, std::ptr::null_mut()) }?;
    if ranks <= 0 || rank < 0 || rank >= ranks {
        return Err(Failure::argument(format!(
            "there is no rank {rank} of {ranks}"
        )));
    }
    let (rank, ranks) = (rank as usize, ranks as usize);
    let seat = Seat {
        key,
        rank,
        ranks,
        members: Vec::new(),
    };
    let communicator = Communicator::begin(seat, blocking)?;
    // SAFETY: the place is valid: this function's condition.
    unsafe { settle(Some(place), communicator, blocking) }
}

/// Writes a handle for a communicator that has begun to come in, if there is to be one, and waits for it where the call blocks.
///
/// # Safety
///
/// The place is valid for a write.
pub(super) unsafe fn settle(
    place: Option<*mut ncclComm_t>,
    communicator: Arc<Communicator>,
    blocking: bool,
) -> Result<()> {
    let handle = place.map(|place| (place, communicator::register(&communicator)));
    if let Some((place, handle)) = handle {
        // SAFETY: this function's condition.
        unsafe { place.write(handle) };
    }
    if !blocking {
        return group::go_on();
    }
    let joined = group::join(communicator);
    if let (Err(_), Some((place, handle))) = (&joined, handle) {
        communicator::forget(handle);
        // SAFETY: this function's condition.
        unsafe { place.write(std::ptr::null_mut()) };
    }
    joined
}

/// Does something with a device's primary context, which is kept from then on, as the CUDA runtime keeps it.
pub(super) fn with_primary(device: c_int, body: impl FnOnce() -> Result<()>) -> Result<()> {
    let mut context = std::ptr::null_mut();
    // SAFETY: the driver writes one handle to `context`, which outlives the call.
    unsafe { call!(cuDevicePrimaryCtxRetain(&mut context, device)) }?;
    // SAFETY: the context was retained above.
    unsafe { call!(cuCtxPushCurrent_v2(context)) }?;
    let result = body();
    // SAFETY: the driver writes one handle to `context`, which outlives the call.
    unsafe { call!(cuCtxPopCurrent_v2(&mut context)) }?;
    result
}

/// The communicator leaves its world, and its handle becomes invalid.
pub(super) fn give_back(handle: ncclComm_t, communicator: &Communicator) {
    communicator.leave();
    let _ = communicator.context().with(|| {
        job::forget_last(communicator);
        Ok(())
    });
    registration::forget(handle);
    communicator::forget(handle);
}

//! What the callers of NCCL's functions hand over, checked: ids, configurations, ranks, buffers, and places for answers.

use std::ffi::{c_int, c_void};

use warpsmith_nccl_abi::*;

use crate::failure::{Failure, Result};
use crate::job::Region;

/// What an id begins with.
pub(super) const MARK: &[u8; 16] = b"warpsmith-nccl-1";

/// Writes an answer where the caller wants it.
///
/// # Safety
///
/// `place` is null or valid for a write.
pub(super) unsafe fn put<T>(place: *mut T, value: T) -> Result<()> {
    if place.is_null() {
        return Err(Failure::argument("a pointer for an answer is null"));
    }
    // SAFETY: it is not null: this function's condition.
    unsafe { place.write(value) };
    Ok(())
}

/// The key in an id, by which ranks find each other.
pub(super) fn key_of(id: &ncclUniqueId) -> Result<String> {
    let bytes = id.internal.map(|byte| byte as u8);
    let key = &bytes[MARK.len()..MARK.len() + 32];
    match bytes.starts_with(MARK) && key.iter().all(u8::is_ascii_hexdigit) {
        true => Ok(String::from_utf8_lossy(key).into_owned()),
        false => Err(Failure::argument(
            "the id does not come from ncclGetUniqueId of the simulator's NCCL",
        )),
    }
}

/// What a configuration says about whether calls wait; `None` where there is none, and `true` where it says nothing.
///
/// # Errors
///
/// It is none, or NCCL refuses what it says.
///
/// # Safety
///
/// `config` is null, or as many bytes can be read there as the structure says.
pub(super) unsafe fn blocking(config: *const ncclConfig_t) -> Result<Option<bool>> {
    if config.is_null() {
        return Ok(None);
    }
    // SAFETY: all versions of the structure begin with these two: this function's condition.
    let (size, magic) = unsafe {
        (
            (&raw const (*config).size).read(),
            (&raw const (*config).magic).read(),
        )
    };
    /// Of the structure of NCCL 2.14, the first.
    const LEAST: usize = 24;
    if magic != NCCL_API_MAGIC || size < LEAST {
        return Err(Failure::argument(
            "the configuration was not initialised with NCCL_CONFIG_INITIALIZER",
        ));
    }
    let mut known = ncclConfig_t::DEFAULT;
    // SAFETY: so many bytes can be read and written, and any bytes are a configuration.
    unsafe {
        (&raw mut known)
            .cast::<u8>()
            .copy_from_nonoverlapping(config.cast(), size.min(size_of::<ncclConfig_t>()));
    }
    let said = |value: c_int| (value != NCCL_CONFIG_UNDEF_INT).then_some(value);
    let least = said(known.minCTAs);
    let most = said(known.maxCTAs);
    let refused = |what: &str, value: c_int| {
        Err(Failure::argument(format!(
            "the configuration's {what} is {value}"
        )))
    };
    match (said(known.blocking), least, most) {
        (Some(value), ..) if value != 0 && value != 1 => refused("blocking", value),
        (_, Some(value), _) if value <= 0 => refused("minCTAs", value),
        (_, _, Some(value)) if value <= 0 => refused("maxCTAs", value),
        (_, Some(least), Some(most)) if least > most => refused("minCTAs, above maxCTAs,", least),
        (blocking, ..) => Ok(Some(blocking != Some(0))),
    }
}

pub(super) fn rank_of(rank: c_int, ranks: usize) -> Result<usize> {
    usize::try_from(rank)
        .ok()
        .filter(|&rank| rank < ranks)
        .ok_or_else(|| Failure::argument(format!("there is no rank {rank} of {ranks}")))
}

pub(super) fn region(pointer: *const c_void, bytes: usize, what: &str) -> Result<Region> {
    if pointer.is_null() && bytes > 0 {
        return Err(Failure::argument(format!("the buffer to {what} is null")));
    }
    Ok(Region {
        address: pointer.addr() as u64,
        bytes,
    })
}

pub(super) fn bytes_of(count: usize, element: usize, ranks: usize) -> Result<()> {
    count
        .checked_mul(element)
        .and_then(|bytes| bytes.checked_mul(ranks))
        .filter(|&bytes| bytes <= isize::MAX as usize)
        .map(drop)
        .ok_or_else(|| Failure::argument(format!("{count} elements are more than memory has")))
}

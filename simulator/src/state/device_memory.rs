//! Taking and giving back memory of a device in the name of a context.

use std::borrow::Cow;

use super::{Context, Result, code};
use crate::device;
use crate::memory::{Kind, Memory};

/// Allocates in the name of a context. The bytes are zero.
pub(crate) fn allocate(
    context: &Context,
    bytes: usize,
    kind: Kind,
    by: impl Into<Cow<'static, str>>,
) -> Result<usize> {
    if device::exceeds_host(bytes) {
        return Err(code::OUT_OF_MEMORY);
    }
    let counted = counts(kind);
    if counted && !device::take_memory(context.device, bytes) {
        return Err(code::OUT_OF_MEMORY);
    }
    let base = Memory::global().allocate(bytes, kind, context.id(), context.device, by);
    if base.is_none() && counted {
        device::give_memory(context.device, bytes);
    }
    base.ok_or(code::OUT_OF_MEMORY)
}

/// Frees the allocation at `base` if its kind is `wanted`, after all work of the context: a plain free waits for the device.
pub(crate) fn free(
    context: &Context,
    base: usize,
    wanted: impl Fn(Kind) -> bool,
    by: &'static str,
) -> Result {
    let (info, detail) = Memory::global().detail(base).ok_or(code::INVALID_VALUE)?;
    if info.base != base || !wanted(detail.kind) || info.state == crate::memory::State::Freed {
        return Err(code::INVALID_VALUE);
    }
    if !matches!(detail.kind, Kind::Pool(_)) {
        settle(context);
    }
    release(base, by).ok_or(code::INVALID_VALUE)
}

/// Frees at once, and gives the bytes back to the device.
pub(crate) fn release(base: usize, by: &'static str) -> Option<()> {
    let (info, detail) = Memory::global().free(base, by)?;
    match detail.kind {
        Kind::Pool(pool) => crate::pool::returned(pool, info.len),
        kind if counts(kind) => device::give_memory(detail.device, info.len),
        _ => {}
    }
    Some(())
}

/// Waits for all work of a context.
pub(crate) fn settle(context: &Context) {
    crate::streams::settle(context);
}

/// Whether a kind takes memory of the device by itself: managed memory may exceed the device's, and pools keep their own book.
fn counts(kind: Kind) -> bool {
    matches!(kind, Kind::Device | Kind::Global)
}

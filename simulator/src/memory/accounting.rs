//! Allocations with the device memory that they take: plain ones count against their device, stream-ordered ones against their pool, those
//! of graphs against what `graph_memory` has.

use std::borrow::Cow;

use super::allocation::{AllocationKind, AllocationState};
use super::attachment;
use super::external;
use super::graph_memory;
use super::hints;
use super::interprocess;
use super::peers;
use super::pool;
use super::space::Memory;
use crate::device;
use crate::error::{Result, code};

/// Allocates in the name of a context of a device. The bytes are zero.
pub(crate) fn allocate(
    context: u64,
    device: usize,
    bytes: usize,
    kind: AllocationKind,
    by: impl Into<Cow<'static, str>>,
) -> Result<usize> {
    if device::exceeds_host(bytes) {
        return Err(code::OUT_OF_MEMORY);
    }
    let counted = counts(kind);
    if counted {
        pool::take_from_device(device, bytes)?;
    }
    let base = Memory::global().allocate(bytes, kind, context, device, by);
    if base.is_none() && counted {
        device::give_memory(device, bytes);
    }
    base.ok_or(code::OUT_OF_MEMORY)
}

/// Frees the allocation that starts at `base`, at once, and gives the bytes back to the device or the pool. `None` if there is no
/// live one.
pub(crate) fn release(base: usize, by: &'static str) -> Option<()> {
    let (info, detail) = Memory::global().free(base, by)?;
    if matches!(detail.kind, AllocationKind::Device | AllocationKind::Opened) {
        interprocess::forget(info.base);
    }
    match detail.kind {
        AllocationKind::Managed => {
            attachment::forget(info.base);
            hints::forget(&info);
        }
        AllocationKind::External => external::forget_buffer(info.base),
        AllocationKind::Pool(pool) => pool::give_back(pool, info.base, info.len),
        kind if counts(kind) => device::give_memory(detail.device, info.len),
        _ => {}
    }
    Some(())
}

/// Frees all allocations of a context that ends, and forgets the host ranges that it registered.
pub(crate) fn release_context(context: u64) {
    let memory = Memory::global();
    for (info, _) in memory.of_context(context) {
        release(info.base, "the end of its context");
    }
    graph_memory::release_context(context);
    peers::release_context(context);
    memory.unregister_context(context);
}

/// Frees stream-ordered memory, or plain device memory that was given to a stream to free. Does nothing where none starts or it is
/// free already.
pub(crate) fn free_in_stream_order(address: usize) {
    let live = Memory::global()
        .find(address)
        .is_some_and(|info| info.base == address && info.state == AllocationState::Live);
    if live {
        release(address, "cuMemFreeAsync");
    }
}

/// Whether a kind takes memory of the device by itself: managed memory may exceed the device's, and pools and graphs count for
/// themselves.
fn counts(kind: AllocationKind) -> bool {
    matches!(
        kind,
        AllocationKind::Device | AllocationKind::Global | AllocationKind::Array
    )
}

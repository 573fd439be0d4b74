//! Peer access: which contexts reach the memory of other contexts' devices.
//!
//! All simulated devices have one address space, and any two of them can be peers. But a kernel reaches plain memory of another device only
//! after `cuCtxEnablePeerAccess`, which is for one direction. Stream-ordered memory goes by its pool, and virtual memory by its mapping.

use std::collections::BTreeSet;
use std::sync::RwLock;

use super::allocation::{AllocationDetail, AllocationKind};
use super::graph_memory;
use super::pool;
use super::space::Memory;
use crate::engine::AccessError;
use crate::error::{Result, code};
use crate::sync::{read, write};

/// Who reaches whose memory, as identities of contexts.
static ENABLED: RwLock<BTreeSet<(u64, u64)>> = RwLock::new(BTreeSet::new());

/// Lets a context reach all memory of another one, now and later.
///
/// # Errors
///
/// Already enabled.
pub(crate) fn enable(context: u64, peer: u64) -> Result {
    let is_new = write(&ENABLED).insert((context, peer));
    is_new
        .then_some(())
        .ok_or(code::PEER_ACCESS_ALREADY_ENABLED)
}

/// Takes that back.
///
/// # Errors
///
/// Not enabled.
pub(crate) fn disable(context: u64, peer: u64) -> Result {
    if !write(&ENABLED).remove(&(context, peer)) {
        return Err(code::PEER_ACCESS_NOT_ENABLED);
    }
    Memory::global().changed();
    Ok(())
}

/// Forgets a context that ends.
pub(super) fn release_context(context: u64) {
    write(&ENABLED).retain(|&(from, to)| from != context && to != context);
    Memory::global().changed();
}

/// Whether kernels of a context of `device` may access the memory of another device that `detail` describes, at `base`.
pub(super) fn check(
    context: u64,
    device: usize,
    base: usize,
    detail: &AllocationDetail,
) -> std::result::Result<(), AccessError> {
    let allowed = match detail.kind {
        AllocationKind::Pool(pool) => {
            return match pool::of_allocation(pool) {
                Some(pool) if !pool.is_accessible(device) => Err(AccessError::NotGranted),
                _ => Ok(()),
            };
        }
        AllocationKind::Graph => {
            return match graph_memory::find(base) {
                Some(memory) if !memory.is_accessible(device) => Err(AccessError::NotGranted),
                _ => Ok(()),
            };
        }
        // Opening it lets its context reach it.
        AllocationKind::Opened if detail.context == context => true,
        _ => read(&ENABLED).contains(&(context, detail.context)),
    };
    allowed.then_some(()).ok_or(AccessError::NoPeerAccess)
}

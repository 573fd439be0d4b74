//! What the checks and an observer are told of the accesses. Called only while there is one.

use warpsmith_isa::effect::Scope;

use super::bytes::Bytes;
use super::declared::{Declared, Region};
use super::finding;
use super::followed;
use super::told::as_told;
use super::values::{Comparison, Stored};
use crate::check::{
    AsyncAccess, AsyncCompletion, Finding, GlobalSynchronisation, ProxyFence, SharedMemory, Values,
};
use crate::engine::exec::bulk_copy::Watched;
use crate::engine::exec::cluster::Cluster;
use crate::engine::exec::issuer::Issuer;
use crate::engine::exec::operand::{LANES, lanes_of};
use crate::engine::exec::warp::{Flow, Warp};
use crate::engine::observe;

/// Whether an access concerns a check that is on: those of shared memory, and those that can order what threads do there.
#[inline(always)]
pub(super) fn concerns(warp: &Warp, declared: Declared) -> bool {
    (warp.watches_reads || declared.writes())
        && (declared.is_strong() || matches!(declared.region(), Region::Generic | Region::Shared))
}

/// The lanes of the warp are about to access `size` bytes each.
#[cold]
#[inline(never)]
pub(super) fn access(
    warp: &mut Warp,
    cluster: &mut Cluster<'_>,
    declared: Declared,
    size: u32,
    stored: Stored<'_>,
    bytes: &Bytes,
) -> Flow {
    let pointers = bytes.pointers(warp, size);
    let shared = match declared.region() {
        Region::Shared => warp.mask,
        _ => lanes_of(warp.mask)
            .filter(|&lane| cluster.holds(pointers[lane]))
            .fold(0, |mask, lane| mask | 1 << lane),
    };
    if warp.observed {
        let access = observe::Access {
            space: declared.space(),
            kind: declared.kind(),
            order: declared.order(),
            size,
            addresses: &pointers.map(|pointer| pointer.addr() as u64),
            shared,
        };
        warp.observe(cluster, |observer, at| observer.access(at, &access));
    }
    let mut reads_uninitialised = false;
    // An asynchronous access that is no copy of `cp.async` is told of by its operation (`issue`).
    if shared != 0 && (declared.is_synchronous() || declared.is_copy_to_shared()) {
        let comparison = Comparison {
            warp,
            stored,
            pointers: &pointers,
            size: size as usize,
        };
        let found = shared_access(
            warp.issuer(),
            cluster,
            declared,
            shared,
            &pointers,
            size,
            &comparison,
        );
        if let Some(found) = found {
            return finding::fail(warp, cluster, &found);
        }
        let checker = cluster.checker.as_deref_mut();
        reads_uninitialised = checker.is_some_and(SharedMemory::take_reads_uninitialised);
    }
    if declared.is_followed_by_operation() {
        if reads_uninitialised {
            warp.poison.get_or_insert_default();
        }
    } else if reads_uninitialised || warp.poison.is_some() {
        let offsets = pointers.map(|pointer| cluster.shared_offset(pointer));
        let told = as_told(warp.issuer(), declared, warp.mask, &offsets, size);
        followed::access(warp, cluster, declared, &told, &pointers);
    }
    let elsewhere = warp.mask & !shared;
    if declared.is_strong()
        && elsewhere != 0
        && let Some(checker) = cluster.checker.as_deref_mut()
    {
        checker.synchronise_globally(&GlobalSynchronisation {
            block: warp.block,
            warp: warp.index,
            mask: elsewhere,
            addresses: &pointers.map(|pointer| pointer.addr() as u64),
            kind: declared.kind(),
            order: declared.order(),
            scope: declared.scope(),
        });
    }
    Flow::Next
}

/// Lanes of a warp access shared memory of the cluster.
pub(super) fn shared_access(
    issuer: Issuer,
    cluster: &mut Cluster<'_>,
    declared: Declared,
    mask: u32,
    pointers: &[*mut u8; LANES],
    size: u32,
    values: &dyn Values,
) -> Option<Finding> {
    let offsets = pointers.map(|pointer| cluster.shared_offset(pointer));
    let access = as_told(issuer, declared, mask, &offsets, size);
    let checker = cluster.checker.as_deref_mut()?;
    if declared.is_synchronous() {
        checker.access(&access, values)
    } else {
        checker.begin_copies(&access)
    }
}

/// Copies to shared memory by an instruction are done, of lanes that have waited for them, or have had the mbarriers arrived at for them.
pub(super) fn complete_copies(
    issuer: Issuer,
    cluster: &mut Cluster<'_>,
    declared: Declared,
    mask: u32,
    (pointers, size): (&[*mut u8; LANES], u32),
    mbarriers: Option<&[*mut u8; LANES]>,
) -> Option<Finding> {
    let offsets = pointers.map(|pointer| cluster.shared_offset(pointer));
    let mbarriers = mbarriers.map(|all| all.map(|pointer| cluster.shared_offset(pointer)));
    let access = as_told(issuer, declared, mask, &offsets, size);
    let checker = cluster.checker.as_deref_mut()?;
    match mbarriers {
        Some(mbarriers) => checker.complete_copies_at(&access, &mbarriers),
        None => checker.complete_copies(&access),
    }
}

/// The lanes of `mask` synchronise at the objects of `size` bytes at `warp.pointers`, which they access. Call it for an access that is
/// [synchronised by its operation](Declared::synchronised_by_operation).
#[inline]
pub(crate) fn synchronise(
    warp: &Warp,
    cluster: &mut Cluster<'_>,
    declared: Declared,
    mask: u32,
    size: u32,
) {
    if warp.watched && mask != 0 {
        synchronise_watched(warp, cluster, declared, mask, size);
    }
}

#[cold]
fn synchronise_watched(
    warp: &Warp,
    cluster: &mut Cluster<'_>,
    declared: Declared,
    mask: u32,
    size: u32,
) {
    let offsets = warp.pointers.map(|pointer| cluster.shared_offset(pointer));
    let access = as_told(warp.issuer(), declared, mask, &offsets, size);
    if let Some(checker) = cluster.checker.as_deref_mut() {
        checker.synchronise(&access);
    }
}

/// A fence by the lanes of the mask.
pub(crate) fn fence(warp: &Warp, cluster: &mut Cluster<'_>, scope: Scope) {
    if let Some(checker) = cluster.checker.as_deref_mut() {
        checker.fence(warp.block, warp.index, warp.mask, scope);
    }
}

/// A fence between proxies by the lanes of the mask.
pub(crate) fn proxy_fence(warp: &Warp, cluster: &mut Cluster<'_>, fence: ProxyFence) {
    if let Some(checker) = cluster.checker.as_deref_mut() {
        checker.proxy_fence(warp.block, warp.index, warp.mask, fence);
    }
}

/// A lane of the warp starts an asynchronous access; `None` if no check is concerned. `Err`: a fault was recorded.
pub(crate) fn issue(
    warp: &mut Warp,
    cluster: &mut Cluster<'_>,
    lane: usize,
    declared: Declared,
    (pointer, bytes): (*mut u8, u32),
    completion: AsyncCompletion,
) -> Result<Option<Watched>, Flow> {
    if !warp.watched || !cluster.holds(pointer) {
        return Ok(None);
    }
    let issuer = warp.issuer();
    let access = AsyncAccess {
        block: issuer.block,
        warp: issuer.warp,
        lane: lane as u32,
        offset: cluster.shared_offset(pointer),
        bytes,
        kind: declared.kind(),
        proxy: declared.proxy(),
        site: issuer.site,
        completion,
    };
    let Some(checker) = cluster.checker.as_deref_mut() else {
        return Ok(None);
    };
    match checker.issue(&access) {
        Ok(ticket) => Ok(Some(Watched { access, ticket })),
        Err(found) => Err(finding::fail(warp, cluster, &found)),
    }
}

/// The bytes of an asynchronous access have been moved.
pub(crate) fn finish(cluster: &mut Cluster<'_>, watched: Option<&Watched>) {
    if let (Some(watched), Some(checker)) = (watched, cluster.checker.as_deref_mut()) {
        checker.finish(&watched.access, watched.ticket);
    }
}

/// The lanes of the mask have waited for copies of their own.
pub(super) fn wait_for_copies(warp: &Warp, cluster: &mut Cluster<'_>) {
    if let Some(checker) = cluster.checker.as_deref_mut() {
        checker.wait_for_copies(warp.block, warp.index, warp.mask);
    }
}

/// Lanes of the warp that issued an asynchronous access have waited for it.
pub(crate) fn wait(warp: &Warp, cluster: &mut Cluster<'_>, mask: u32, watched: Option<&Watched>) {
    if let (Some(watched), Some(checker)) = (watched, cluster.checker.as_deref_mut()) {
        checker.wait(warp.block, warp.index, mask, watched.ticket);
    }
}

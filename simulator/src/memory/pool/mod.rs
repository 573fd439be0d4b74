//! Stream-ordered memory pools: how much memory of a device, or of the host, each holds and uses.
//!
//! Every allocation has an address of its own (see [`crate::memory`]), so that using memory after its free in stream order shows. What
//! a pool reuses is therefore not addresses but bytes: memory freed into it is *cached* and serves later requests before the pool takes
//! more from the device, in large pieces; a synchronisation gives back what exceeds the release threshold.
//!
//! | file | what |
//! | --- | --- |
//! | `account` | how many bytes a pool has and uses, and whom freed ones may serve |
//! | `shared` | the file that the memory of exported and imported pools is |
//! | `ledger` | what the processes that share a pool tell each other of its allocations |
//! | `attributes` | what the driver answers about a pool and what it is told |
//! | `directory` | all pools, and which ones a device has |
//! | `reservation` | taking memory for allocations, from a pool or from its device |

mod account;
mod attributes;
mod directory;
mod ledger;
mod reservation;
mod shared;

use std::collections::BTreeMap;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, MutexGuard};

use self::account::Account;
pub(crate) use self::attributes::is_int;
pub(super) use self::directory::give_back;
pub(crate) use self::directory::{
    POOLS, after_synchronisation, current_of, default_of, destroy, import, importer_of, of_address,
    of_allocation, of_handle, of_host_memory, set_current,
};
pub(crate) use self::ledger::{OwnersSide, now};
pub(super) use self::reservation::take_from_device;
use self::shared::SharedMemory;
use super::access::Access;
use super::allocation::AllocationKind;
use super::location::{self, MemoryLocation};
use super::space::Memory;
use crate::device;
use crate::error::{Result, code};
use crate::sync::lock;
use crate::work::CompletionPoint;

/// A pool.
pub(crate) struct Pool {
    pub(crate) handle: usize,
    pub(crate) location: MemoryLocation,
    pub(crate) is_default: bool,
    max_size: usize,
    /// The file that its allocations are parts of, if it can be exported or was imported.
    shared: Option<SharedMemory>,
    /// See [`own_state`](Self::own_state).
    state: Mutex<PoolState>,
    /// What devices but its own may do with its allocations.
    rights: Mutex<BTreeMap<usize, Access>>,
    /// Allocations that streams have been told to free and have not freed, with the streams.
    frees: Mutex<BTreeMap<usize, Arc<str>>>,
}

/// How a pool is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PoolKind {
    /// Every device has one.
    Default,
    /// It is one process's.
    Private,
    /// It can be exported.
    Shareable,
}

#[derive(Default)]
struct PoolState {
    account: Account<CompletionPoint>,
    release_threshold: u64,
    destroyed: bool,
}

impl Pool {
    /// A pool of memory there; 0 bytes at most stand for no limit.
    pub(crate) fn new(
        handle: usize,
        location: MemoryLocation,
        kind: PoolKind,
        max_size: usize,
    ) -> Self {
        let shared = (kind == PoolKind::Shareable).then(|| SharedMemory::create(location));
        Self {
            handle,
            location,
            is_default: kind == PoolKind::Default,
            max_size,
            shared: shared.flatten(),
            state: Mutex::default(),
            rights: Mutex::default(),
            frees: Mutex::default(),
        }
    }

    /// A pool that this or another process has exported.
    fn imported(handle: usize, location: MemoryLocation, shared: SharedMemory) -> Self {
        Self {
            handle,
            location,
            is_default: false,
            max_size: 0,
            shared: Some(shared),
            state: Mutex::default(),
            rights: Mutex::default(),
            frees: Mutex::default(),
        }
    }

    /// The state of a pool that this process has made; `None` if it is imported, whose memory is counted by the process that made it.
    fn own_state(&self) -> Option<MutexGuard<'_, PoolState>> {
        let imported = self.shared.as_ref().is_some_and(SharedMemory::is_imported);
        (!imported).then(|| lock(&self.state))
    }

    /// The file of a pool that this process has made to be exported.
    fn exportable(&self) -> Result<&SharedMemory> {
        let own = self.shared.as_ref().filter(|shared| !shared.is_imported());
        own.ok_or(code::INVALID_VALUE)
    }

    /// A file descriptor of the pool for another process.
    ///
    /// # Errors
    ///
    /// Invalid value if it was not made to be exported.
    pub(crate) fn export(&self) -> Result<OwnedFd> {
        self.exportable()?.export()
    }

    /// What another process needs to find an allocation of the pool in it.
    ///
    /// # Errors
    ///
    /// Invalid value if the pool was not made to be exported.
    pub(crate) fn export_pointer(&self, address: usize) -> Result<[u8; 64]> {
        self.exportable()?.export_pointer(address)
    }

    /// The address at which this process sees an allocation of an imported pool.
    ///
    /// # Errors
    ///
    /// Invalid value if the pool is not imported, or if the allocation is not one of it; out of memory.
    pub(crate) fn import_pointer(&self, context: u64, data: &[u8; 64]) -> Result<usize> {
        let imported = self.shared.as_ref().filter(|shared| shared.is_imported());
        let shared = imported.ok_or(code::INVALID_VALUE)?;
        let part = shared.import_pointer(data)?;
        let kind = AllocationKind::Pool(self.handle as u64);
        let base = Memory::global()
            .allocate(
                part.bytes(),
                kind,
                context,
                self.device_number(),
                "cuMemPoolImportPointer",
            )
            .ok_or(code::OUT_OF_MEMORY)?;
        shared.show_imported(base, part)?;
        Ok(base)
    }

    /// What a device may do with all allocations, now and later.
    pub(crate) fn access_of(&self, device: usize) -> Access {
        match self.is_of(device) {
            true => Access::ReadWrite,
            false => lock(&self.rights).get(&device).copied().unwrap_or_default(),
        }
    }

    /// Whether its memory is this device's.
    pub(crate) fn is_of(&self, device: usize) -> bool {
        self.location.device() == Some(device)
    }

    /// Whether its memory is the host's.
    pub(crate) fn is_of_host(&self) -> bool {
        self.location.device().is_none()
    }

    /// The number that its allocations have for their device.
    fn device_number(&self) -> usize {
        self.location.device().unwrap_or(location::HOST)
    }

    /// Whether kernels of a device reach its allocations.
    pub(in crate::memory) fn is_accessible(&self, device: usize) -> bool {
        self.access_of(device) != Access::None
    }

    /// Sets what another device may do with all allocations.
    pub(crate) fn set_access(&self, device: usize, access: Access) {
        lock(&self.rights).insert(device, access);
        Memory::global().changed();
    }

    /// The other devices that it is granted to, as an allocation of a graph takes them over when it is captured.
    pub(crate) fn grants(&self) -> Vec<(usize, Access)> {
        let rights = lock(&self.rights);
        let granted = rights.iter().map(|(&device, &access)| (device, access));
        granted
            .filter(|&(device, access)| access != Access::None && !self.is_of(device))
            .collect()
    }

    /// Refuses what an imported pool cannot do.
    pub(crate) fn refuse_imported(&self) -> Result {
        self.own_state().map(drop).ok_or(code::INVALID_VALUE)
    }

    /// Whether other processes may see its allocations.
    pub(crate) fn is_shared(&self) -> bool {
        self.shared.is_some()
    }

    /// Says that an allocation is about to be freed in a stream.
    ///
    /// # Errors
    ///
    /// Invalid value if that was said before.
    pub(crate) fn announce_free(&self, address: usize, bytes: usize, stream: Arc<str>) -> Result {
        let announced = match self.own_state() {
            Some(mut state) => state.account.announce(address, bytes),
            None => !lock(&self.frees).contains_key(&address),
        };
        if announced {
            lock(&self.frees).insert(address, stream);
        }
        announced.then_some(()).ok_or(code::INVALID_VALUE)
    }

    /// The stream that an allocation was given to be freed in, while it has not been.
    pub(crate) fn freed_in(&self, address: usize) -> Option<Arc<str>> {
        lock(&self.frees).get(&address).cloned()
    }

    /// Says where the free that was announced is enqueued; nowhere if it became part of a graph or was refused.
    pub(crate) fn note_free(&self, address: usize, point: Option<CompletionPoint>) {
        if point.is_none() {
            lock(&self.frees).remove(&address);
        }
        let Some(mut state) = self.own_state() else {
            return;
        };
        match point {
            Some(point) => state.account.enqueued(address, point),
            None => state.account.withdraw(address),
        }
    }

    /// The stream has come to an allocation.
    pub(crate) fn make(&self, address: usize) {
        if let Some(shared) = &self.shared {
            shared.make(address);
        }
    }

    /// The process that made the pool, if this one has imported it.
    pub(crate) fn owner(&self) -> Option<u32> {
        let imported = self.shared.as_ref().filter(|shared| shared.is_imported());
        imported.map(SharedMemory::owner)
    }

    /// What the process that made the pool has done with an allocation that this one has imported, which makes a use wrong that began at
    /// `begun` ([`now`]) and ends now.
    pub(crate) fn owners_side(&self, address: usize, begun: u64) -> Option<OwnersSide> {
        let imported = self.shared.as_ref().filter(|shared| shared.is_imported());
        imported?.owners_side(address, begun)
    }

    /// Another process that has imported an allocation of this one and has not freed it, if there is one.
    fn importer(&self, address: usize) -> Option<u32> {
        self.exportable().ok()?.importer(address)
    }

    /// Takes an allocation's memory back.
    fn give_back(&self, address: usize, bytes: usize) {
        lock(&self.frees).remove(&address);
        if let Some(shared) = &self.shared {
            shared.give_back(address);
        }
        let Some(mut state) = self.own_state() else {
            return;
        };
        state.account.freed(address, bytes);
        if state.destroyed {
            state.account.synchronised();
            drop(state);
            self.trim(0);
        }
    }

    /// Gives memory that nothing uses back to the device until `keep` bytes are left.
    pub(crate) fn trim(&self, keep: usize) {
        let released = lock(&self.state).account.trim(keep);
        if let Some(device) = self.location.device().filter(|_| released > 0) {
            device::give_memory(device, released);
        }
    }

    /// After a synchronisation all that is freed serves everyone, and what is above the threshold goes back.
    fn synchronised(&self) {
        let threshold = {
            let mut state = lock(&self.state);
            state.account.synchronised();
            state.release_threshold
        };
        self.trim(usize::try_from(threshold).unwrap_or(usize::MAX));
    }

    /// Ends the pool: its unused memory goes back to the device.
    fn destroy(&self) {
        {
            let mut state = lock(&self.state);
            state.destroyed = true;
            state.account.synchronised();
        }
        self.trim(0);
    }

    /// Whether it was imported, and so was memory of it that is not freed.
    fn has_imported_memory(&self) -> bool {
        self.own_state().is_none() && self.is_in_use()
    }

    /// Whether it has memory of its device, or shows such that another process has.
    fn is_in_use(&self) -> bool {
        match self.own_state() {
            // Also what is to be freed and is not yet.
            Some(state) => state.account.reserved > 0,
            None => self.shared.as_ref().is_some_and(SharedMemory::is_in_use),
        }
    }
}

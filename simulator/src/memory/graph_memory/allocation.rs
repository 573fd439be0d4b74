//! What an allocation node allocates.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, Weak};

use super::backing::{self, Backing};
use crate::error::{Result, code};
use crate::memory::space::Memory;
use crate::sync::lock;
use warpsmith_abi::{CUdeviceptr, CUmemAccess_flags, CUmemAccessDesc};

/// The memory of one allocation node. It is live from its node to its free, at each launch anew.
pub(crate) struct GraphAllocation {
    addresses: Arc<Addresses>,
    pub(crate) placement: Placement,
    state: Mutex<State>,
}

/// Where an allocation lies and who may use it, as its node was told.
#[derive(Clone)]
pub(crate) struct Placement {
    pub(crate) bytes: usize,
    pub(crate) device: usize,
    /// Under which it is freed at the latest.
    pub(crate) context: u64,
    /// Devices that may access it besides its own.
    pub(crate) access: Arc<[CUmemAccessDesc]>,
    /// The call that made the node.
    pub(crate) made_by: &'static str,
}

/// What calls have said of an allocation. Work that they have enqueued may not have been executed yet.
#[derive(Default)]
struct State {
    /// A node of its own graph frees it.
    has_own_free: bool,
    /// It was allocated by a launch and not freed: by what physical memory is held.
    unfreed: Option<Backing>,
}

/// Addresses that a graph has taken. Allocations that follow each other in a graph may share them.
struct Addresses {
    base: usize,
}

impl GraphAllocation {
    /// Whether kernels of a device reach it.
    pub(in crate::memory) fn is_accessible(&self, device: usize) -> bool {
        let is_it = |wish: &CUmemAccessDesc| {
            // SAFETY: the field is the union's only one, and any bytes are a number.
            let id = unsafe { wish.location.__bindgen_anon_1.id };
            wish.flags != CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_NONE
                && usize::try_from(id) == Ok(device)
        };
        device == self.placement.device || self.placement.access.iter().any(is_it)
    }
}

impl Drop for Addresses {
    fn drop(&mut self) {
        Memory::global().end_graph(self.base);
    }
}

/// For each address the allocation that may be freed by it: the last one there.
static KNOWN: Mutex<BTreeMap<usize, Weak<GraphAllocation>>> = Mutex::new(BTreeMap::new());

/// Allocations that outlive their launch, and so may outlive their graph.
static UNFREED: Mutex<BTreeMap<usize, Arc<GraphAllocation>>> = Mutex::new(BTreeMap::new());

/// The allocation that starts at an address.
pub(crate) fn find(address: usize) -> Option<Arc<GraphAllocation>> {
    lock(&KNOWN).get(&address)?.upgrade()
}

/// Has everything that a context's graphs have left count as freed, and gives their memory back to the devices.
pub(in crate::memory) fn release_context(context: u64) {
    let left: Vec<_> = lock(&UNFREED)
        .extract_if(.., |_, allocation| allocation.placement.context == context)
        .collect();
    for (_, allocation) in left {
        if let Some(backing) = lock(&allocation.state).unfreed.take() {
            backing.let_go();
        }
    }
    backing::release_context(context);
}

impl GraphAllocation {
    /// Takes an address, or that of an allocation that is certain to be freed before.
    ///
    /// # Errors
    ///
    /// Out of memory if there are no addresses.
    pub(crate) fn new(placement: Placement, at: Option<&GraphAllocation>) -> Result<Arc<Self>> {
        let addresses = match at {
            Some(earlier) => Arc::clone(&earlier.addresses),
            None => {
                let Placement {
                    bytes,
                    device,
                    context,
                    made_by,
                    ..
                } = placement;
                let base = Memory::global()
                    .keep_for_graph(bytes, context, device, made_by)
                    .ok_or(code::OUT_OF_MEMORY)?;
                Arc::new(Addresses { base })
            }
        };
        let allocation = Arc::new(Self {
            addresses,
            placement,
            state: Mutex::default(),
        });
        lock(&KNOWN).insert(allocation.address(), Arc::downgrade(&allocation));
        Ok(allocation)
    }

    /// The first byte's address.
    pub(crate) fn address(&self) -> usize {
        self.addresses.base
    }

    /// The address as the driver's interface has it.
    pub(crate) fn pointer(&self) -> CUdeviceptr {
        self.address() as CUdeviceptr
    }

    /// Whether a node of its own graph frees it.
    pub(crate) fn has_own_free(&self) -> bool {
        lock(&self.state).has_own_free
    }

    /// Says that a node of its own graph frees it.
    ///
    /// # Errors
    ///
    /// Invalid value if that was said before.
    pub(crate) fn set_own_free(&self) -> Result {
        let mut state = lock(&self.state);
        if state.has_own_free {
            return Err(code::INVALID_VALUE);
        }
        state.has_own_free = true;
        Ok(())
    }

    /// Whether a launch has allocated it and nothing that was enqueued since frees it.
    pub(crate) fn is_unfreed(&self) -> bool {
        lock(&self.state).unfreed.is_some()
    }

    /// A launch is about to be enqueued that allocates it and does not free it.
    pub(crate) fn begin(self: &Arc<Self>, backing: Backing) {
        backing.hold();
        lock(&self.state).unfreed = Some(backing);
        lock(&UNFREED).insert(self.address(), Arc::clone(self));
    }

    /// Something is about to be enqueued, or done, that frees it. Gives the physical memory that it was in.
    ///
    /// # Errors
    ///
    /// Invalid value if it is not allocated as far as calls say.
    pub(crate) fn begin_free(&self) -> Result<Backing> {
        let backing = lock(&self.state)
            .unfreed
            .take()
            .ok_or(code::INVALID_VALUE)?;
        lock(&UNFREED).remove(&self.address());
        backing.let_go();
        Ok(backing)
    }

    /// Its node is executed: the memory is live, its contents are new.
    pub(crate) fn make_live(&self) -> core::result::Result<(), String> {
        match Memory::global().revive(self.address()) {
            true => Ok(()),
            false => Err(self.wrong(
                "was allocated while it was still in use: nothing orders its last free before",
            )),
        }
    }

    /// A free of it is executed.
    pub(crate) fn end(&self, by: &'static str) -> core::result::Result<(), String> {
        match Memory::global().free(self.address(), by) {
            Some(_) => Ok(()),
            None => Err(self.wrong("was freed while it was not allocated: nothing orders the free after its allocation")),
        }
    }

    fn wrong(&self, what: &str) -> String {
        format!(
            "memory of a graph, {} bytes at {:#x} of {}, {what}",
            self.placement.bytes,
            self.address(),
            self.placement.made_by
        )
    }
}

impl Drop for GraphAllocation {
    fn drop(&mut self) {
        // Of those that share an address only the last one is known by it, and that one may be this.
        let is_gone = |known: &Weak<Self>| known.strong_count() == 0;
        let mut known = lock(&KNOWN);
        if known.get(&self.addresses.base).is_some_and(is_gone) {
            known.remove(&self.addresses.base);
        }
    }
}

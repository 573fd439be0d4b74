//! Communicators: one rank's membership, its state, and what it keeps for its work.

use std::collections::HashMap;
use std::ffi::CString;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};

use warpsmith_driver::raw;
use warpsmith_nccl_abi::{ncclComm_t, ncclResult_t};

use crate::driver::{Context, Pinned, call};
use crate::failure::{Failure, Result};
use crate::world::World;

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A rank's communicator.
pub(crate) struct Communicator {
    pub(crate) rank: usize,
    pub(crate) ranks: usize,
    pub(crate) device: i32,
    pub(crate) context: Context,
    /// Whether calls wait for other ranks.
    pub(crate) blocking: bool,
    state: Mutex<State>,
    changed: Condvar,
    /// Filled once all ranks have come.
    world: OnceLock<World>,
    /// Held by the work that is being done: one at a time.
    pub(crate) working: Mutex<()>,
    stopped: AtomicBool,
    finalizing: AtomicBool,
    /// Work that was enqueued and is not done; graphs' work does not count.
    outstanding: AtomicUsize,
    /// The stream that was given work last, which others follow.
    pub(crate) last_stream: Mutex<Option<LastStream>>,
    /// Page-locked memory that no work uses now.
    unused: Mutex<Vec<Pinned>>,
    messages: Mutex<Vec<CString>>,
}

/// A stream, and the event that is recorded behind its last work.
pub(crate) struct LastStream {
    pub(crate) stream: usize,
    pub(crate) event: usize,
}

#[derive(Default)]
struct State {
    /// The rank has come in, or has failed to.
    settled: bool,
    failure: Option<Failure>,
}

static COMMUNICATORS: Mutex<Option<HashMap<usize, Arc<Communicator>>>> = Mutex::new(None);
/// The first handle; they are numbers, never addresses.
static NEXT: AtomicUsize = AtomicUsize::new(0x2cc1_0001);

impl Communicator {
    /// Begins to come in, on a thread of its own; [`settle`](Self::settle) waits for it.
    pub(crate) fn begin(
        key: String,
        rank: usize,
        ranks: usize,
        blocking: bool,
    ) -> Result<(ncclComm_t, Arc<Communicator>)> {
        let context = Context::current()?;
        let mut device = 0;
        // SAFETY: the driver writes one number to `device`, which outlives the call.
        unsafe { call!(cuCtxGetDevice(&mut device)) }?;
        let device_key = bus_address(device)?;
        let communicator = Arc::new(Communicator {
            rank,
            ranks,
            device,
            context,
            blocking,
            state: Mutex::default(),
            changed: Condvar::new(),
            world: OnceLock::new(),
            working: Mutex::new(()),
            stopped: AtomicBool::new(false),
            finalizing: AtomicBool::new(false),
            outstanding: AtomicUsize::new(0),
            last_stream: Mutex::new(None),
            unused: Mutex::new(Vec::new()),
            messages: Mutex::new(Vec::new()),
        });
        let joining = communicator.clone();
        std::thread::spawn(move || {
            let joined = World::join(&key, rank, ranks, device_key, &|| joining.is_stopped());
            let failure = match joined {
                Ok(world) => {
                    let _ = joining.world.set(world);
                    None
                }
                Err(failure) => Some(failure),
            };
            let mut state = lock(&joining.state);
            state.settled = true;
            state.failure = failure;
            joining.changed.notify_all();
        });
        let handle = NEXT.fetch_add(1, Ordering::Relaxed);
        lock(&COMMUNICATORS)
            .get_or_insert_default()
            .insert(handle, communicator.clone());
        Ok((handle as ncclComm_t, communicator))
    }

    /// Waits until the rank has come in.
    ///
    /// # Errors
    ///
    /// It has not.
    pub(crate) fn settle(&self) -> Result<()> {
        let mut state = lock(&self.state);
        while !state.settled {
            state = self
                .changed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
        state.failure.clone().map_or(Ok(()), Err)
    }

    /// The other ranks.
    ///
    /// # Errors
    ///
    /// They have not come yet, or something went wrong before.
    pub(crate) fn ready(&self) -> Result<&World> {
        let state = lock(&self.state);
        if let Some(failure) = &state.failure {
            return Err(failure.clone());
        }
        if self.finalizing.load(Ordering::SeqCst) {
            return Err(Failure::usage("the communicator was finalized"));
        }
        self.world.get().ok_or_else(|| {
            Failure::argument("not all ranks have come yet: ask ncclCommGetAsyncError until it answers ncclSuccess")
        })
    }

    /// Whether work that was enqueued before is still to be done.
    pub(crate) fn ready_to_work(&self) -> bool {
        lock(&self.state).failure.is_none()
    }

    /// The other ranks, for work that was enqueued before.
    pub(crate) fn world(&self) -> Option<&World> {
        self.world.get()
    }

    /// What went wrong in work, or `ncclInProgress`.
    pub(crate) fn asynchronous_result(&self) -> ncclResult_t {
        let state = lock(&self.state);
        match &state.failure {
            Some(failure) => failure.code,
            None if !state.settled => ncclResult_t::ncclInProgress,
            None if self.finalizing.load(Ordering::SeqCst)
                && self.outstanding.load(Ordering::SeqCst) > 0 =>
            {
                ncclResult_t::ncclInProgress
            }
            None => ncclResult_t::ncclSuccess,
        }
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::SeqCst)
    }

    /// Notes what went wrong in work, and lets the other ranks know that there was something.
    pub(crate) fn fail(&self, failure: Failure) {
        lock(&self.state).failure.get_or_insert(failure);
        if let Some(world) = self.world.get() {
            world.fail();
        }
    }

    /// What went wrong, in words, as a string that lives as long as the communicator.
    pub(crate) fn message(&self) -> Option<*const std::ffi::c_char> {
        let reason = lock(&self.state).failure.as_ref()?.reason.clone();
        Some(intern(&mut lock(&self.messages), &reason))
    }

    pub(crate) fn begin_work(&self) {
        self.outstanding.fetch_add(1, Ordering::SeqCst);
    }

    pub(crate) fn end_work(&self) {
        self.outstanding.fetch_sub(1, Ordering::SeqCst);
    }

    /// Takes no more work.
    pub(crate) fn finalize(&self) {
        self.finalizing.store(true, Ordering::SeqCst);
    }

    /// Waits until all work that was enqueued is done.
    pub(crate) fn wait_for_work(&self) {
        while self.outstanding.load(Ordering::SeqCst) > 0 {
            std::thread::sleep(std::time::Duration::from_micros(100));
        }
    }

    /// Leaves in good order.
    pub(crate) fn leave(&self) {
        if let Some(world) = self.world.get() {
            world.leave();
        }
    }

    /// Ends all waiting, here and in the other ranks.
    pub(crate) fn abort(&self) {
        self.stopped.store(true, Ordering::SeqCst);
        self.fail(Failure::remote("the communicator was aborted"));
    }

    /// Page-locked memory of at least so many bytes.
    pub(crate) fn take_memory(&self, bytes: usize) -> Result<Pinned> {
        let known = {
            let mut unused = lock(&self.unused);
            let fits =
                |memory: &Pinned| memory.bytes >= bytes && memory.bytes / 2 <= bytes.max(4096);
            unused
                .iter()
                .position(fits)
                .map(|index| unused.swap_remove(index))
        };
        match known {
            Some(memory) => Ok(memory),
            None => Pinned::new(bytes.next_power_of_two().max(4096)),
        }
    }

    /// Takes memory back.
    pub(crate) fn return_memory(&self, memory: Pinned) {
        lock(&self.unused).push(memory);
    }
}

/// A string that is the same for the same text, and stays where it is.
pub(crate) fn intern(known: &mut Vec<CString>, text: &str) -> *const std::ffi::c_char {
    let text = CString::new(text).unwrap_or_default();
    if !known.contains(&text) {
        known.push(text.clone());
    }
    known
        .iter()
        .find(|known| **known == text)
        .map_or(c"".as_ptr(), |known| known.as_ptr())
}

/// What tells a device from all others of this machine.
fn bus_address(device: i32) -> Result<u64> {
    use raw::CUdevice_attribute as attribute;
    let ask = |wanted| {
        let mut value = 0;
        // SAFETY: the driver writes one number to `value`, which outlives the call.
        unsafe { call!(cuDeviceGetAttribute(&mut value, wanted, device)) }?;
        Ok(u64::from(value as u32))
    };
    let domain = ask(attribute::CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID)?;
    let bus = ask(attribute::CU_DEVICE_ATTRIBUTE_PCI_BUS_ID)?;
    let number = ask(attribute::CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID)?;
    Ok(domain << 32 | bus << 8 | number)
}

/// The communicator of a handle.
pub(crate) fn find(handle: ncclComm_t) -> Result<Arc<Communicator>> {
    lock(&COMMUNICATORS)
        .as_ref()
        .and_then(|known| known.get(&handle.addr()).cloned())
        .ok_or_else(|| Failure::argument(format!("{handle:?} is no communicator")))
}

/// Takes a handle back.
pub(crate) fn forget(handle: ncclComm_t) {
    if let Some(known) = lock(&COMMUNICATORS).as_mut() {
        known.remove(&handle.addr());
    }
}

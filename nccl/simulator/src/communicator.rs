//! Communicators: one rank's membership, its state, and what it keeps for its work.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::ffi::CString;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use warpsmith_abi as raw;
use warpsmith_nccl_abi::{ncclComm_t, ncclDataType_t, ncclRedOp_t, ncclResult_t};

use crate::driver::{Context, Pinned, call};
use crate::failure::{Failure, Result};
use crate::split::{Seat, split};
use crate::world::{self, Part, World};

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A rank's communicator.
pub(crate) struct Communicator {
    home: Home,
    /// Whether calls wait for other ranks.
    pub(crate) blocking: bool,
    state: Mutex<State>,
    changed: Condvar,
    /// Filled once all ranks have come.
    world: OnceLock<World>,
    /// How many collectives were called, [`Part::UNKNOWN`] once one was captured.
    calls: AtomicU64,
    /// Splits that were begun, and those that are done.
    splits: AtomicU64,
    splits_done: AtomicU64,
    /// Reductions that were made, by their numbers: the type of their elements and the factor.
    reductions: Mutex<BTreeMap<u32, (ncclDataType_t, Factor)>>,
    next_reduction: AtomicU32,
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

/// The device of a rank, and the context there that is its work's.
#[derive(Clone, Copy)]
struct Home {
    device: i32,
    /// What tells the device from all others of this machine.
    key: u64,
    context: Context,
}

/// What a reduction that was made multiplies each rank's elements with before their sum.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Factor {
    /// An element of at most so many bytes.
    Known([u8; 8]),
    /// One at this address on the device, when the work is done.
    OnDevice(u64),
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
    /// Begins to come in on the current device; [`settle`](Self::settle) waits for it.
    pub(crate) fn begin(seat: Seat, blocking: bool) -> Result<Arc<Communicator>> {
        let context = Context::current()?;
        let mut device = 0;
        // SAFETY: the driver writes one number to `device`, which outlives the call.
        unsafe { call!(cuCtxGetDevice(&mut device)) }?;
        let home = Home {
            device,
            key: bus_address(device)?,
            context,
        };
        Ok(Communicator::begin_at(
            home,
            blocking,
            |_| Ok(Some(seat)),
            |_| Ok(()),
        ))
    }

    /// Begins to split off the communicator of this rank's color, which [`settle`](Self::settle) waits for. Without a color it comes to
    /// nothing, when all ranks have said their colors.
    ///
    /// # Errors
    ///
    /// Not all ranks have come yet, or something went wrong before.
    pub(crate) fn begin_split(
        self: &Arc<Self>,
        color: i32,
        key: i32,
        blocking: bool,
    ) -> Result<Arc<Communicator>> {
        self.ready()?;
        let part = Part {
            color,
            key,
            calls: self.calls.load(Ordering::SeqCst),
            id: world::random()?,
        };
        let number = self.splits.fetch_add(1, Ordering::SeqCst) + 1;
        let parent = self.clone();
        let meet = move |stopped: &dyn Fn() -> bool| {
            let seat = parent.split(number, &part, &|| stopped() || parent.is_stopped());
            if let Err(failure) = &seat {
                parent.fail(failure.clone());
            }
            parent.splits_done.fetch_max(number, Ordering::SeqCst);
            seat
        };
        let parent = self.clone();
        let watch = move |members: &[usize]| match parent.world() {
            Some(world) => world.look(&|| false, &|rank| members.contains(&rank)),
            None => Ok(()),
        };
        Ok(Communicator::begin_at(self.home, blocking, meet, watch))
    }

    fn split(&self, number: u64, part: &Part, stopped: &dyn Fn() -> bool) -> Result<Option<Seat>> {
        let world = self.ready()?;
        // All ranks split in the same order.
        while self.splits_done.load(Ordering::SeqCst) + 1 < number {
            world.look(stopped, &|_| false)?;
            std::thread::sleep(Duration::from_micros(100));
        }
        split(world, number, part, stopped)
    }

    /// Begins to come in, on a thread of its own, where `meet` finds out as which rank, and `watch` whether one is gone that has not come.
    fn begin_at(
        home: Home,
        blocking: bool,
        meet: impl FnOnce(&dyn Fn() -> bool) -> Result<Option<Seat>> + Send + 'static,
        watch: impl Fn(&[usize]) -> Result<()> + Send + 'static,
    ) -> Arc<Communicator> {
        let communicator = Arc::new(Communicator {
            home,
            blocking,
            calls: AtomicU64::new(0),
            splits: AtomicU64::new(0),
            splits_done: AtomicU64::new(0),
            reductions: Mutex::default(),
            next_reduction: AtomicU32::new(ncclRedOp_t::BUILT_IN),
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
            let stopped = || joining.is_stopped();
            let joined = meet(&stopped).and_then(|seat| {
                let Some(seat) = seat else {
                    return Ok(());
                };
                let gone = RefCell::new(None);
                let stopped = || {
                    let is_gone =
                        watch(&seat.members).map_err(|failure| gone.replace(Some(failure)));
                    stopped() || is_gone.is_err()
                };
                let world = World::join(&seat.key, seat.rank, seat.ranks, home.key, &stopped)
                    .map_err(|failure| gone.take().unwrap_or(failure))?;
                let _ = joining.world.set(world);
                Ok(())
            });
            let failure = joined.err();
            let mut state = lock(&joining.state);
            state.settled = true;
            state.failure = failure;
            joining.changed.notify_all();
        });
        communicator
    }

    pub(crate) fn device(&self) -> i32 {
        self.home.device
    }

    /// In which its work is done.
    pub(crate) fn context(&self) -> Context {
        self.home.context
    }

    /// Notes that a collective was called, and whether a graph makes it.
    pub(crate) fn count_call(&self, captured: bool) {
        let next = |calls: u64| match captured {
            true => Part::UNKNOWN,
            false => calls.saturating_add(1),
        };
        self.calls.update(Ordering::SeqCst, Ordering::SeqCst, next);
    }

    /// Makes a reduction of elements of this type.
    pub(crate) fn add_reduction(&self, kind: ncclDataType_t, factor: Factor) -> ncclRedOp_t {
        let number = self.next_reduction.fetch_add(1, Ordering::Relaxed);
        lock(&self.reductions).insert(number, (kind, factor));
        ncclRedOp_t(number)
    }

    /// The factor of a reduction that was made.
    ///
    /// # Errors
    ///
    /// There is no such reduction, or it is of elements of another type.
    pub(crate) fn factor(&self, op: ncclRedOp_t, kind: ncclDataType_t) -> Result<Factor> {
        match lock(&self.reductions).get(&op.0) {
            Some((known, factor)) if *known == kind => Ok(*factor),
            Some((known, _)) => Err(Failure::argument(format!(
                "reduction {} was made for {known:?}, and the call is of {kind:?}",
                op.0
            ))),
            None => Err(Failure::argument(format!(
                "the communicator has no reduction {}",
                op.0
            ))),
        }
    }

    /// Takes a reduction back, which work that was enqueued before does not need.
    pub(crate) fn forget_reduction(&self, op: ncclRedOp_t) -> Result<()> {
        lock(&self.reductions)
            .remove(&op.0)
            .map(drop)
            .ok_or_else(|| Failure::argument(format!("no reduction {} was made", op.0)))
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
        self.known_world()
    }

    /// Whether work that was enqueued before is still to be done.
    pub(crate) fn ready_to_work(&self) -> bool {
        lock(&self.state).failure.is_none()
    }

    /// The other ranks, for work that was enqueued before.
    pub(crate) fn world(&self) -> Option<&World> {
        self.world.get()
    }

    /// The other ranks, whatever has become of the communicator since they came.
    ///
    /// # Errors
    ///
    /// They have not come.
    pub(crate) fn known_world(&self) -> Result<&World> {
        self.world.get().ok_or_else(not_all_have_come)
    }

    /// What went wrong in work, or `ncclInProgress`.
    pub(crate) fn asynchronous_result(&self) -> ncclResult_t {
        let state = lock(&self.state);
        match &state.failure {
            Some(failure) => failure.code,
            None if !state.settled => ncclResult_t::ncclInProgress,
            None if self.splits_done.load(Ordering::SeqCst)
                < self.splits.load(Ordering::SeqCst) =>
            {
                ncclResult_t::ncclInProgress
            }
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
            std::thread::sleep(Duration::from_micros(100));
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

fn not_all_have_come() -> Failure {
    Failure::argument(
        "not all ranks have come yet: ask ncclCommGetAsyncError until it answers ncclSuccess",
    )
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

/// Gives a communicator a handle, until [`forget`].
pub(crate) fn register(communicator: &Arc<Communicator>) -> ncclComm_t {
    let handle = NEXT.fetch_add(1, Ordering::Relaxed);
    lock(&COMMUNICATORS)
        .get_or_insert_default()
        .insert(handle, communicator.clone());
    handle as ncclComm_t
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

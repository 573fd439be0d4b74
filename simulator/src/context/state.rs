//! One context.

use std::borrow::Cow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use super::guests::Guests;
use super::limits::Limits;
use super::loads::Loads;
use super::output::PrintBuffer;
use super::quiet;
use crate::error::{Result, code};
use crate::memory::{self, AllocationKind, AllocationState, Memory, refusal};
use crate::registry::{ContextBound, ContextObjects, Registry};
use crate::report;
use crate::sync::lock;
use crate::work::QueueSet;
use warpsmith_abi::CUresult;
use warpsmith_abi::fault::{Fault, FaultKind};

/// All contexts, primary and created.
pub(crate) static CONTEXTS: Registry<Context> = Registry::new();

/// A context.
pub(crate) struct Context {
    pub(crate) handle: usize,
    pub(crate) device: usize,
    pub(crate) is_primary: bool,
    pub(crate) flags: AtomicU32,
    /// Whether it may be used: a created context until it is destroyed, a primary one while it is retained.
    alive: AtomicBool,
    /// The error code that a fault has left behind; every later call answers it. 0 for none.
    sticky: AtomicU32,
    /// The fault behind the sticky error.
    fault: Mutex<Option<Arc<Fault>>>,
    /// How often the primary context has been retained.
    retained: Mutex<u32>,
    pub(crate) limits: Mutex<Limits>,
    pub(crate) cache_config: AtomicU32,
    pub(crate) shared_config: AtomicU32,
    /// Tells running kernels to end.
    cancel: AtomicBool,
    /// The queues of its streams.
    pub(crate) queues: QueueSet,
    /// Who keeps objects that end with the context.
    keepers: Mutex<Vec<&'static dyn ContextObjects>>,
    /// Counts resets.
    epoch: AtomicU64,
    /// Bytes of the device heap in use.
    heap_used: AtomicUsize,
    output: PrintBuffer,
    /// What is being loaded into it.
    pub(super) loads: Loads,
    /// Nodes of graphs that were launched in other contexts.
    guests: Guests,
}

impl Context {
    /// A context of `cuCtxCreate`.
    pub(crate) fn created(handle: usize, device: usize, flags: u32) -> Self {
        let context = Self::primary(handle, device);
        context.flags.store(flags, Ordering::Relaxed);
        context.alive.store(true, Ordering::Relaxed);
        Self {
            is_primary: false,
            ..context
        }
    }

    /// A device's primary context.
    pub(crate) fn primary(handle: usize, device: usize) -> Self {
        Self {
            handle,
            device,
            is_primary: true,
            flags: AtomicU32::new(0),
            alive: AtomicBool::new(false),
            sticky: AtomicU32::new(0),
            fault: Mutex::new(None),
            retained: Mutex::new(0),
            limits: Mutex::new(Limits::of_device(device)),
            cache_config: AtomicU32::new(0),
            shared_config: AtomicU32::new(0),
            cancel: AtomicBool::new(false),
            queues: QueueSet::default(),
            keepers: Mutex::default(),
            epoch: AtomicU64::new(0),
            heap_used: AtomicUsize::new(0),
            output: PrintBuffer::default(),
            loads: Loads::default(),
            guests: Guests::default(),
        }
    }

    /// The context of a handle.
    pub(crate) fn of_handle<H>(handle: *mut H) -> Result<Arc<Self>> {
        CONTEXTS.get(handle).map_err(|_| code::INVALID_CONTEXT)
    }

    /// The context of an identity ([`Context::id`]).
    pub(crate) fn of_id(id: u64) -> Result<Arc<Self>> {
        CONTEXTS
            .get(id as usize as *mut ())
            .map_err(|_| code::CONTEXT_IS_DESTROYED)
    }

    /// The identity under which the context's memory and objects are kept.
    pub(crate) fn id(&self) -> u64 {
        self.handle as u64
    }

    /// Whether the context may be used at all.
    pub(crate) fn is_alive(&self) -> bool {
        self.alive.load(Ordering::Acquire)
    }

    /// Refuses a destroyed context, and one with a sticky error.
    pub(crate) fn check(&self) -> Result {
        if !self.is_alive() {
            return Err(code::CONTEXT_IS_DESTROYED);
        }
        match self.sticky.load(Ordering::Acquire) {
            0 => Ok(()),
            error => Err(CUresult(error)),
        }
    }

    /// Reports a fault and makes it the context's sticky error, unless there is one.
    pub(crate) fn fail(&self, mut fault: Fault) {
        self.loads.explain(&mut fault);
        let code = fault.kind.code();
        let fault = Arc::new(fault);
        report::fault(&fault);
        let mut first = lock(&self.fault);
        if first.is_none() {
            *first = Some(fault);
            self.sticky.store(code.0, Ordering::Release);
        }
    }

    /// Executes work of the context, unless it has a sticky error. A panic in the work is an error of the simulator itself, or of an observer:
    /// it becomes the sticky error, so that the program learns of it.
    pub(crate) fn execute(&self, work: impl FnOnce()) {
        if self.check().is_err() {
            return;
        }
        let _running = quiet::begin_work();
        // A panic of an observer has been told already.
        if catch_unwind(AssertUnwindSafe(work)).is_err() && self.check().is_ok() {
            let text = "internal error of the simulator (see the panic above)";
            self.fail(Fault::outside_kernels(FaultKind::Other, text));
        }
    }

    /// Executes a node of a graph that was launched in a stream of another context; `false` if this one has ended since it had this
    /// [`epoch`](Self::epoch), or ends meanwhile.
    pub(crate) fn execute_as_guest(&self, epoch: u64, node: impl FnOnce()) -> bool {
        let is_the_same = || self.is_alive() && self.epoch() == epoch;
        let Some(_guest) = self.guests.enter(is_the_same) else {
            return false;
        };
        if self.check().is_ok() {
            node();
        }
        !self.cancel.load(Ordering::Acquire)
    }

    /// Makes the fault of another context this one's, unless it has one: it has been reported.
    pub(crate) fn share_fault(&self, other: &Context) {
        if let Some(fault) = other.fault() {
            let code = fault.kind.code();
            lock(&self.fault).get_or_insert(fault);
            let _ = self
                .sticky
                .compare_exchange(0, code.0, Ordering::AcqRel, Ordering::Acquire);
        }
    }

    /// Whether waits of its streams for somebody else are to end: it ends itself, or has a sticky error.
    pub(crate) fn is_ending(&self) -> bool {
        self.cancel.load(Ordering::Acquire) || self.check().is_err()
    }

    /// The fault behind the sticky error.
    pub(crate) fn fault(&self) -> Option<Arc<Fault>> {
        lock(&self.fault).clone()
    }

    /// `cuDevicePrimaryCtxRetain`.
    pub(crate) fn retain(&self) {
        let mut retained = lock(&self.retained);
        *retained += 1;
        self.alive.store(true, Ordering::Release);
    }

    /// `cuDevicePrimaryCtxRelease`.
    pub(crate) fn release(&self) -> Result {
        let mut retained = lock(&self.retained);
        if *retained == 0 {
            return Err(code::INVALID_CONTEXT);
        }
        *retained -= 1;
        if *retained == 0 {
            self.alive.store(false, Ordering::Release);
            self.reset("cuDevicePrimaryCtxRelease");
        }
        Ok(())
    }

    /// `cuCtxDestroy`: ends a created context.
    pub(crate) fn destroy(&self) {
        self.alive.store(false, Ordering::Release);
        self.reset("cuCtxDestroy");
    }

    /// How often the context has been reset.
    pub(crate) fn epoch(&self) -> u64 {
        self.epoch.load(Ordering::Acquire)
    }

    /// Set while running kernels are to end early.
    pub(crate) fn cancel_flag(&self) -> &AtomicBool {
        &self.cancel
    }

    /// Remembers who keeps objects of this context, so that they are dropped with it.
    pub(crate) fn keeps_objects_in(&self, keeper: &'static dyn ContextObjects) {
        let mut keepers = lock(&self.keepers);
        if !keepers
            .iter()
            .any(|known| std::ptr::addr_eq(*known, keeper))
        {
            keepers.push(keeper);
        }
    }

    /// Adds an object of this context to its registry.
    pub(crate) fn add_to<T: ContextBound>(
        &self,
        registry: &'static Registry<T>,
        make: impl FnOnce(usize) -> T,
    ) -> Arc<T> {
        self.keeps_objects_in(registry);
        registry.add(make)
    }

    /// Ends all work and frees everything that belongs to the context, by this call; the sticky error is gone afterwards.
    pub(crate) fn reset(&self, call: &str) {
        self.cancel.store(true, Ordering::Release);
        let closed = self.guests.close();
        self.queues.wait_all();
        self.flush_output();
        memory::leaks::at_end_of_context(self.id(), call);
        let keepers = std::mem::take(&mut *lock(&self.keepers));
        keepers.iter().for_each(|keeper| keeper.release(self.id()));
        self.queues.clear();
        memory::release_context(self.id());
        // The end of a context is a synchronisation, too: what was freed in it serves everyone.
        memory::pool::after_synchronisation(self.device);
        *lock(&self.limits) = Limits::of_device(self.device);
        self.heap_used.store(0, Ordering::Release);
        self.epoch.fetch_add(1, Ordering::AcqRel);
        drop(closed);
        self.cancel.store(false, Ordering::Release);
        let mut fault = lock(&self.fault);
        *fault = None;
        self.sticky.store(0, Ordering::Release);
    }

    /// Allocates memory of the context's device. The bytes are zero.
    pub(crate) fn allocate(
        &self,
        bytes: usize,
        kind: AllocationKind,
        by: impl Into<Cow<'static, str>>,
    ) -> Result<usize> {
        memory::allocate(self.id(), self.device, bytes, kind, by)
    }

    /// Frees the allocation at `base` if its kind is `wanted`, in words `what`. A plain free waits for the device, which is all work of its
    /// contexts.
    pub(crate) fn free(
        &self,
        base: usize,
        wanted: impl Fn(AllocationKind) -> bool,
        what: &str,
        by: &'static str,
    ) -> Result {
        let found = Memory::global().detail(base).filter(|(info, detail)| {
            info.base == base && wanted(detail.kind) && info.state != AllocationState::Freed
        });
        let Some((_, detail)) = found else {
            refusal::tell_of_free(by, base, what);
            return Err(code::INVALID_VALUE);
        };
        if !matches!(detail.kind, AllocationKind::Pool(_)) {
            self.wait_for_device();
        }
        memory::release(base, by).ok_or(code::INVALID_VALUE)
    }

    /// Waits for the work of all contexts of the device: a pointer and an array are good in each of them.
    pub(crate) fn wait_for_device(&self) {
        let all = CONTEXTS.filter(|context| context.device == self.device);
        all.iter().for_each(|context| context.queues.wait_all());
    }

    /// Counts `bytes` of the device heap as used; `false` if they exceed the limit.
    pub(crate) fn take_heap(&self, bytes: usize) -> bool {
        let limit = lock(&self.limits).malloc_heap;
        let room = |used: usize| used.checked_add(bytes).filter(|&sum| sum <= limit);
        self.heap_used
            .try_update(Ordering::AcqRel, Ordering::Acquire, room)
            .is_ok()
    }

    /// Counts `bytes` of the device heap as free again.
    pub(crate) fn give_heap(&self, bytes: usize) {
        self.heap_used.fetch_sub(bytes, Ordering::AcqRel);
    }

    /// Keeps what a kernel prints until the next synchronisation.
    pub(crate) fn print(&self, text: &[u8]) {
        let capacity = lock(&self.limits).printf_fifo;
        self.output.append(text, capacity);
    }

    /// Writes out what kernels have printed.
    pub(crate) fn flush_output(&self) {
        self.output.flush();
    }

    /// What becomes visible with the completion of work of the context: output, memory that its pools need not keep, and the sticky
    /// error.
    pub(crate) fn after_synchronisation(&self) -> Result {
        self.flush_output();
        memory::pool::after_synchronisation(self.device);
        self.check()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_in_work_becomes_the_sticky_error() {
        let context = Context::created(0x10, 0, 0);
        context.execute(|| panic!("a panic on purpose"));
        assert_eq!(context.check(), Err(CUresult::CUDA_ERROR_UNKNOWN));
        let fault = context.fault().expect("there is one");
        assert!(fault.message.contains("internal error"), "{fault}");
        context.execute(|| panic!("nothing is executed any more"));
    }

    #[test]
    fn the_first_fault_stays() {
        let context = Context::created(0x20, 0, 0);
        for kind in [FaultKind::Trap, FaultKind::EndlessLoop] {
            context.fail(Fault::outside_kernels(kind, "a fault on purpose"));
        }
        assert_eq!(context.check(), Err(FaultKind::Trap.code()));
        assert_eq!(
            context.fault().map(|fault| fault.kind),
            Some(FaultKind::Trap)
        );
    }
}

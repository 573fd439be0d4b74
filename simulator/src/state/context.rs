//! Contexts, and each thread's stack of current ones.

use std::cell::RefCell;
use std::io::Write;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use super::{Result, code, device_memory, lock, registries};
use crate::abi::CUresult;
use crate::device;
use crate::memory::Memory;
use crate::streams::{self, Lane, Stream};

/// The settings of `cuCtxSetLimit`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub(crate) stack: usize,
    pub(crate) printf_fifo: usize,
    pub(crate) malloc_heap: usize,
    pub(crate) pending_launches: usize,
    pub(crate) max_l2_fetch: usize,
    pub(crate) persisting_l2: usize,
}

impl Limits {
    fn of(device: usize) -> Self {
        let profile = device::profile(device);
        Self {
            stack: profile.stack_limit,
            printf_fifo: profile.printf_fifo,
            malloc_heap: profile.malloc_heap,
            pending_launches: profile.pending_launches,
            max_l2_fetch: profile.max_l2_fetch,
            persisting_l2: profile.persisting_l2,
        }
    }
}

/// A context.
pub(crate) struct Context {
    pub(crate) handle: usize,
    pub(crate) device: usize,
    pub(crate) is_primary: bool,
    pub(crate) flags: AtomicU32,
    /// Whether it may be used: a created context until it is destroyed, a primary one while somebody retains it.
    alive: AtomicBool,
    /// The error that a fault has left behind; every later call answers it. 0 for none.
    sticky: AtomicU32,
    /// How often the primary context has been retained.
    retained: Mutex<u32>,
    pub(crate) limits: Mutex<Limits>,
    pub(crate) cache_config: AtomicU32,
    pub(crate) shared_config: AtomicU32,
    /// Tells running kernels to end.
    pub(crate) cancel: AtomicBool,
    /// Held while work is issued, so that the rules between default and other streams see one order.
    pub(crate) order: Mutex<()>,
    /// The lanes of all streams that may have work, and whether each waits for the legacy stream.
    pub(crate) lanes: Mutex<Vec<(Arc<Lane>, bool)>>,
    pub(crate) legacy: Mutex<Option<Arc<Stream>>>,
    /// Counts resets.
    epoch: AtomicU64,
    /// Bytes of the device heap in use.
    pub(crate) heap_used: AtomicUsize,
    /// What kernels have printed since the last synchronisation.
    output: Mutex<Vec<u8>>,
}

impl Context {
    pub(crate) fn created(handle: usize, device: usize, flags: u32) -> Self {
        let context = Self::primary(handle, device);
        context.flags.store(flags, Ordering::Relaxed);
        context.alive.store(true, Ordering::Relaxed);
        Self {
            is_primary: false,
            ..context
        }
    }

    pub(crate) fn primary(handle: usize, device: usize) -> Self {
        Self {
            handle,
            device,
            is_primary: true,
            flags: AtomicU32::new(0),
            alive: AtomicBool::new(false),
            sticky: AtomicU32::new(0),
            retained: Mutex::new(0),
            limits: Mutex::new(Limits::of(device)),
            cache_config: AtomicU32::new(0),
            shared_config: AtomicU32::new(0),
            cancel: AtomicBool::new(false),
            order: Mutex::new(()),
            lanes: Mutex::default(),
            legacy: Mutex::new(None),
            epoch: AtomicU64::new(0),
            heap_used: AtomicUsize::new(0),
            output: Mutex::default(),
        }
    }

    /// The identity under which the context's memory is kept.
    pub(crate) fn id(&self) -> u64 {
        self.handle as u64
    }

    pub(crate) fn is_alive(&self) -> bool {
        self.alive.load(Ordering::Acquire)
    }

    /// Refuses a destroyed context, and one that a fault has spoilt.
    pub(crate) fn check(&self) -> Result {
        if !self.is_alive() {
            return Err(code::CONTEXT_IS_DESTROYED);
        }
        match self.sticky.load(Ordering::Acquire) {
            0 => Ok(()),
            error => Err(CUresult(error)),
        }
    }

    /// Spoils the context: the first fault stays.
    pub(crate) fn spoil(&self, error: CUresult) {
        let _ = self
            .sticky
            .compare_exchange(0, error.0, Ordering::AcqRel, Ordering::Acquire);
    }

    pub(crate) fn retain(&self) {
        let mut retained = lock(&self.retained);
        *retained += 1;
        self.alive.store(true, Ordering::Release);
    }

    pub(crate) fn release(&self) -> Result {
        let mut retained = lock(&self.retained);
        if *retained == 0 {
            return Err(code::INVALID_CONTEXT);
        }
        *retained -= 1;
        if *retained == 0 {
            self.alive.store(false, Ordering::Release);
            self.clear();
        }
        Ok(())
    }

    /// Destroys a created context.
    pub(crate) fn destroy(&self) {
        self.alive.store(false, Ordering::Release);
        self.clear();
    }

    /// How often the context has been reset.
    pub(crate) fn epoch(&self) -> u64 {
        self.epoch.load(Ordering::Acquire)
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        self.cancel.load(Ordering::Acquire)
    }

    /// Ends all work and frees everything that belongs to the context; what a fault has spoilt is whole again.
    pub(crate) fn clear(&self) {
        self.cancel.store(true, Ordering::Release);
        streams::settle(self);
        self.drain_output();
        let (id, all) = (self.id(), registries());
        drop(all.execs.drain(|exec| exec.context == id));
        drop(all.streams.drain(|stream| stream.context_id == id));
        drop(all.events.drain(|event| event.context == id));
        drop(all.functions.drain(|function| function.context == id));
        drop(all.modules.drain(|module| module.context == id));
        lock(&self.lanes).clear();
        *lock(&self.legacy) = None;
        let memory = Memory::global();
        for (info, _) in memory.of_context(id) {
            device_memory::release(info.base, "the end of its context");
        }
        memory.unregister_context(id);
        *lock(&self.limits) = Limits::of(self.device);
        self.heap_used.store(0, Ordering::Release);
        self.epoch.fetch_add(1, Ordering::AcqRel);
        self.cancel.store(false, Ordering::Release);
        self.sticky.store(0, Ordering::Release);
    }

    /// Keeps what a kernel prints until the next synchronisation. What exceeds the buffer pushes the oldest out.
    pub(crate) fn print(&self, text: &[u8]) {
        let most = lock(&self.limits).printf_fifo;
        let mut output = lock(&self.output);
        output.extend_from_slice(text);
        if output.len() > most {
            let excess = output.len() - most;
            output.drain(..excess);
        }
    }

    /// Writes out what kernels have printed.
    pub(crate) fn drain_output(&self) {
        let text = std::mem::take(&mut *lock(&self.output));
        if !text.is_empty() {
            let mut stdout = std::io::stdout().lock();
            let _ = stdout.write_all(&text).and_then(|()| stdout.flush());
        }
    }
}

thread_local! {
    static STACK: RefCell<Vec<Arc<Context>>> = const { RefCell::new(Vec::new()) };
}

/// The calling thread's current context, fit for use.
pub(crate) fn current() -> Result<Arc<Context>> {
    let context = current_unchecked().ok_or(code::INVALID_CONTEXT)?;
    context.check()?;
    Ok(context)
}

/// The calling thread's current context, whatever its state.
pub(crate) fn current_unchecked() -> Option<Arc<Context>> {
    STACK.with_borrow(|stack| stack.last().cloned())
}

/// Makes a context current above the present one.
pub(crate) fn push(context: Arc<Context>) {
    STACK.with_borrow_mut(|stack| stack.push(context));
}

/// Takes the current context off.
pub(crate) fn pop() -> Result<Arc<Context>> {
    STACK.with_borrow_mut(Vec::pop).ok_or(code::INVALID_CONTEXT)
}

/// Replaces the current context; `None` leaves none.
pub(crate) fn set_current(context: Option<Arc<Context>>) {
    STACK.with_borrow_mut(|stack| {
        stack.pop();
        stack.extend(context);
    });
}

//! Who uses the variables of a module, so that the host's writes and reads come between kernels, not beside them.
//!
//! Kernels name no variables in their launches: the PTX's signature says which kernels use any. Kernels use them beside each other, by
//! their own rules; the host's access excludes all of them. It is enqueued in a stream of this crate, after the streams that use the
//! variables, and what is launched later waits for it, on the device; the host waits for its own copy alone.
//!
//! A managed variable is the host's memory, too. While the host has one open no kernel that uses variables is launched.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, RwLock, RwLockReadGuard, Weak};

use crate::error::{Busy, Error, Result};
use crate::gpu::open_device::OpenDevice;
use crate::memory::KeptOut;
use crate::order::access::{Access, AccessKind, ViewScope};
use crate::order::history::{OrderedMemory, UseHistory};
use crate::order::order_lock::OrderGuard;
use crate::order::recorded_event::RecordedEvent;
use crate::order::stream_handle::StreamHandle;
use crate::panics::timeline::{NewLaunch, Reach};
use crate::sync::{lock, read, write};

/// Streams that the fast path knows; those beyond take the order lock at each launch.
const FAST: usize = 8;

/// What a kernel does to the variables: as much beside other kernels as it likes.
pub(crate) const KERNEL_ACCESS: Access = Access {
    start: 0,
    end: u64::MAX,
    kind: AccessKind::Read,
};

/// The uses of one module's variables, all of them together.
#[derive(Default)]
pub(crate) struct ModuleVariables {
    /// Read while a launch is checked and enqueued, written while an access of the host is.
    launching: RwLock<()>,
    /// The numbers of streams that need nothing more: they follow the host's last access, and its next one follows them.
    fast: [AtomicU64; FAST],
    uses: Mutex<Uses>,
    /// For graphs, which ask for one of whatever they keep.
    history: UseHistory,
}

#[derive(Default)]
struct Uses {
    /// Where kernels that use the variables were enqueued since the host's last access. A stream that is gone was idle.
    streams: Vec<UsingStream>,
    /// The host's last access, if it may still be under way.
    last_access: Option<Arc<RecordedEvent>>,
    /// The variables that the host has open, by their addresses.
    open: BTreeMap<u64, Open>,
}

/// How the host has a variable open. Guards that were forgotten keep it so.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Open {
    /// For so many readers.
    Read(usize),
    Write,
}

fn busy(call: &'static str, reason: &str, hint: &'static str) -> Error {
    Error::Busy(Box::new(Busy {
        call,
        reason: reason.into(),
        hint,
    }))
}

impl Uses {
    /// # Errors
    ///
    /// The host has the variable open in a way that an access of this kind conflicts with.
    fn refuse_beside_host(&self, call: &'static str, address: u64, kind: AccessKind) -> Result<()> {
        match (self.open.get(&address), kind) {
            (None, _) | (Some(Open::Read(_)), AccessKind::Read) => Ok(()),
            _ => Err(busy(
                call,
                "the host has this variable open",
                "drop the guards of `host()` and `host_mut()` first",
            )),
        }
    }
}

/// A stream in which kernels use the variables.
struct UsingStream {
    handle: Weak<StreamHandle>,
    number: u64,
}

impl ModuleVariables {
    /// Held while a launch that uses the variables is put in order and enqueued.
    #[inline]
    pub(crate) fn launching(&self) -> RwLockReadGuard<'_, ()> {
        read(&self.launching)
    }

    /// The fast path: the stream has used the variables since the host's last access. To be asked with [`launching`](Self::launching) held.
    #[inline]
    pub(crate) fn are_used_by(&self, stream: u64) -> bool {
        self.fast
            .iter()
            .any(|number| number.load(Ordering::Acquire) == stream)
    }

    /// Puts a use by kernels of this stream after the host's last access.
    fn note_use(
        &self,
        guard: &OrderGuard<'_>,
        stream: &Arc<StreamHandle>,
        launch: &NewLaunch<'_>,
    ) -> Result<()> {
        let mut uses = lock(&self.uses);
        if !uses.open.is_empty() {
            return Err(busy(
                "cuLaunchKernel",
                "the host has a managed static of the kernel's module open",
                "drop the guards of `host()` and `host_mut()` first",
            ));
        }
        if let Some(access) = &uses.last_access {
            if access.is_done()? {
                uses.last_access = None;
            } else {
                access.hold_back(guard, stream.stream_ref())?;
                stream.timeline().follow(launch, access.reach());
            }
        }
        if !uses
            .streams
            .iter()
            .any(|known| known.number == stream.number())
        {
            uses.streams.retain(|known| known.handle.strong_count() > 0);
            uses.streams.push(UsingStream {
                handle: Arc::downgrade(stream),
                number: stream.number(),
            });
            self.let_pass(&uses.streams);
        }
        Ok(())
    }

    /// Sets which streams take the fast path. A launch that looks meanwhile may take the slow one, which is always right.
    fn let_pass(&self, streams: &[UsingStream]) {
        let numbers = streams.iter().map(|stream| stream.number);
        for (fast, number) in self.fast.iter().zip(numbers.chain(std::iter::repeat(0))) {
            fast.store(number, Ordering::Release);
        }
    }

    /// Enqueues an access of the host in the service stream, after all kernels that use the variables; those launched later follow it.
    /// Gives the event that is complete when it is done, which what the host reads depends on.
    ///
    /// # Errors
    ///
    /// The host has the variable at this address open; or `enqueue` fails.
    pub(super) fn access(
        &self,
        gpu: &OpenDevice,
        (call, address, kind): (&'static str, u64, AccessKind),
        enqueue: impl FnOnce() -> Result<()>,
    ) -> Result<Arc<RecordedEvent>> {
        // Given up after the locks: with its last owner a stream of another library gives up its keeper, which may call this crate.
        let streams: Vec<Arc<StreamHandle>>;
        let _no_launch = write(&self.launching);
        let guard = gpu.lock_order();
        let mut uses = lock(&self.uses);
        uses.refuse_beside_host(call, address, kind)?;
        let mut reach = Reach::default();
        let known = uses.streams.iter();
        streams = known.filter_map(|known| known.handle.upgrade()).collect();
        for stream in &streams {
            // Before the event is recorded by which the service stream follows: what others enqueue meanwhile is not among it.
            reach.merge(&stream.timeline().end());
            stream.hold_back(&guard, gpu.service_stream())?;
        }
        enqueue()?;
        // Whoever hears of an error gives the host's side of the copy back.
        let done = RecordedEvent::record(gpu.context(), gpu.service_stream(), reach)
            .inspect_err(|_| gpu.report_drop(gpu.context().wait_for_service_stream()))?;
        uses.streams.clear();
        self.let_pass(&uses.streams);
        uses.last_access = Some(done.clone());
        Ok(done)
    }

    /// Opens the managed variable at this address to the host, with the kernels kept out that the device requires.
    ///
    /// # Errors
    ///
    /// [`Error::Busy`] while a stream in which variables were used does something, a copy of one is under way, or the host has the variable open
    /// already; a kernel that uses variables panicked, and it was not told yet; or an earlier fault on the device.
    pub(super) fn open(
        &self,
        gpu: &OpenDevice,
        (call, address, kind): (&'static str, u64, AccessKind),
        kept_out: &KeptOut,
    ) -> Result<()> {
        const WAIT: &str =
            "wait first: `stream.synchronize()`, `event.synchronize()` or `gpu.synchronize()`";
        // Given up after the locks, as in `access`.
        let streams: Vec<Arc<StreamHandle>>;
        let _no_launch = write(&self.launching);
        let guard = gpu.lock_order();
        let mut uses = lock(&self.uses);
        uses.refuse_beside_host(call, address, kind)?;
        let in_use = || busy(call, "the device may still be using this variable", WAIT);
        let mut reach = Reach::default();
        let known = uses.streams.iter();
        streams = known.filter_map(|known| known.handle.upgrade()).collect();
        for stream in &streams {
            if !stream.past_is_done(&guard)? {
                return Err(in_use());
            }
            reach.merge(&stream.timeline().end());
        }
        if let Some(access) = &uses.last_access
            && !access.is_done()?
        {
            return Err(in_use());
        }
        gpu.panics().take_kernel_panics(&reach)?;
        kept_out.begin(call, gpu, &guard)?;
        // All of it is done. What is launched from here on comes by `note_use`.
        uses.streams.clear();
        self.let_pass(&uses.streams);
        uses.last_access = None;
        let opened = match (uses.open.get(&address), kind) {
            (_, AccessKind::Write) => Open::Write,
            (Some(Open::Read(readers)), _) => Open::Read(readers + 1),
            _ => Open::Read(1),
        };
        uses.open.insert(address, opened);
        self.history.open_host_access(&guard);
        Ok(())
    }

    /// Takes one [`open`](Self::open) back.
    pub(super) fn close(&self, address: u64) {
        let mut uses = lock(&self.uses);
        match uses.open.remove(&address) {
            Some(Open::Read(readers)) if readers > 1 => {
                uses.open.insert(address, Open::Read(readers - 1));
            }
            _ => {}
        }
        self.history.close_host_access();
    }
}

impl OrderedMemory for ModuleVariables {
    fn history(&self) -> &UseHistory {
        &self.history
    }

    fn order_use(
        &self,
        _call: &'static str,
        guard: &OrderGuard<'_>,
        stream: &Arc<StreamHandle>,
        launch: &NewLaunch<'_>,
        _access: Access,
        _scope: ViewScope,
    ) -> Result<()> {
        self.note_use(guard, stream, launch)
    }
}

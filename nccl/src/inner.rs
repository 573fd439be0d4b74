//! What a communicator shares with the graphs that it is part of: NCCL's handle, and the lock of whoever calls NCCL with it.

use std::fmt::Display;
use std::mem::ManuallyDrop;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use smallvec::SmallVec;
use warpsmith_host::{ForeignOutcome, Gpu, Revocable, Stream};
use warpsmith_nccl_abi::{ncclComm_t, ncclResult_t};

use crate::at_exit::Awaited;
use crate::call::{check, finish};
use crate::error::{Error, Result};
use crate::library::Loaded;
use crate::registrations::Registrations;

/// What a graph keeps of a communicator.
pub(crate) struct Inner {
    /// The process that it is of. A child that this forks has a copy, and not the threads and the connections behind the handle.
    process: u32,
    pub(crate) nccl: &'static Loaded,
    comm: usize,
    pub(crate) gpu: Gpu,
    pub(crate) rank: usize,
    pub(crate) size: usize,
    pub(crate) timeout: Duration,
    /// Of buffers that outlive it.
    pub(crate) registrations: Arc<Registrations>,
    state: Mutex<State>,
    /// Another thread wants to abort it: whoever waits on the host for other ranks gives up.
    pub(crate) gives_up: AtomicBool,
}

/// What is held by whoever calls NCCL with the handle: by one thread at a time.
pub(crate) struct State {
    life: Life,
    /// Of the work that was enqueued.
    pub(crate) outcome: ForeignOutcome,
}

/// Whether the handle is one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Life {
    Alive,
    Aborted,
    /// NCCL has not ended a call, and a graph's work needs the communicator: it is left as it is.
    Lost,
    Closed,
}

/// Keeps what waits cover from being taken for done ([`ForeignOutcome::hold`]) until it is dropped.
pub(crate) struct Held<'a>(&'a Inner);

impl Held<'_> {
    pub(crate) fn new(inner: &Inner) -> Held<'_> {
        inner.state().outcome.hold();
        Held(inner)
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.0.state().outcome.release();
    }
}

/// Most groups have one communicator or two.
pub(crate) type TakenList<'a> = SmallVec<[Taken<'a>; 2]>;

/// A communicator that this thread alone calls NCCL with.
pub(crate) struct Taken<'a> {
    inner: &'a Arc<Inner>,
    state: MutexGuard<'a, State>,
    /// Whether a graph held it before.
    is_held: bool,
}

impl<'a> Taken<'a> {
    /// # Errors
    ///
    /// It was aborted.
    #[inline]
    pub(crate) fn take(call: &'static str, inner: &'a Arc<Inner>) -> Result<Taken<'a>> {
        let state = inner.alive(call)?;
        let is_held = inner.is_held();
        Ok(Taken {
            inner,
            state,
            is_held,
        })
    }

    /// Takes each of several communicators once.
    ///
    /// # Errors
    ///
    /// One was aborted.
    pub(crate) fn take_all(
        call: &'static str,
        inners: impl Iterator<Item = &'a Arc<Inner>>,
    ) -> Result<TakenList<'a>> {
        let mut inners: SmallVec<[&Arc<Inner>; 2]> = inners.collect();
        // All threads take several in the same order.
        inners.sort_by_key(|inner| Arc::as_ptr(inner).addr());
        inners.dedup_by_key(|inner| Arc::as_ptr(inner).addr());
        let taken = inners.into_iter().map(|inner| Taken::take(call, inner));
        taken.collect()
    }

    pub(crate) fn inner(&self) -> &'a Arc<Inner> {
        self.inner
    }

    /// Is told of work that is about to be enqueued with the communicator.
    #[inline]
    pub(crate) fn outcome(&mut self) -> &mut ForeignOutcome {
        &mut self.state.outcome
    }

    /// The work in `stream` that is about to be enqueued with the communicator.
    #[inline]
    pub(crate) fn revocable<'o>(
        &'o mut self,
        stream: &'o Stream,
        name: &'static str,
    ) -> Revocable<'o> {
        Revocable {
            outcome: &mut self.state.outcome,
            stream,
            name,
        }
    }

    /// As [`Inner::finish`], for calls that enqueue nothing.
    pub(crate) fn finish(&mut self, call: &'static str) -> Result<()> {
        // SAFETY: the communicator was alive when `take` locked its state, which this value has held since.
        unsafe { self.inner.finish(call) }.map_err(|error| self.end_after(error))
    }

    /// Whether NCCL may not have ended what was begun; of one that was aborted nothing is known.
    pub(crate) fn may_be_in_progress(&self) -> bool {
        let mut progress = ncclResult_t::ncclInProgress;
        if self.state.life == Life::Alive {
            let nccl = &self.inner.nccl.functions;
            // SAFETY: the communicator is alive, and this thread has its state; NCCL writes one value to `progress`, which outlives the call.
            let _ = unsafe { (nccl.ncclCommGetAsyncError)(self.inner.comm(), &mut progress) };
        }
        progress == ncclResult_t::ncclInProgress
    }

    /// What becomes of the communicator after an error of [`Inner::finish`]: if that has not seen the end of what was begun, it is aborted, so that what was
    /// begun is not enqueued, and no graph has any of it. Gives the error to tell.
    #[cold]
    pub(crate) fn end_after(&mut self, error: Error) -> Error {
        if !matches!(error, Error::Timeout { .. } | Error::Aborted { .. }) {
            return error;
        }
        let (inner, state) = (self.inner, &mut *self.state);
        if self.is_held && !inner.nccl.is_simulator {
            state.life = Life::Lost;
            state.outcome.give_up(&error);
            return error;
        }
        // The first error is the one to tell.
        let _ = inner.abort(state, &error);
        error
    }
}

impl Inner {
    /// A communicator of NCCL that has come together, or is about to.
    pub(crate) fn new(
        nccl: &'static Loaded,
        comm: ncclComm_t,
        gpu: Gpu,
        (rank, size): (usize, usize),
        timeout: Duration,
    ) -> Inner {
        Inner {
            process: std::process::id(),
            nccl,
            comm: comm.addr(),
            gpu,
            rank,
            size,
            timeout,
            registrations: Arc::default(),
            state: Mutex::new(State {
                life: Life::Alive,
                outcome: ForeignOutcome::default(),
            }),
            gives_up: AtomicBool::new(false),
        }
    }

    /// Whether something beside its [`Communicator`] holds it: a graph. The caller has its state, so that none comes to hold it meanwhile.
    #[inline]
    pub(crate) fn is_held(self: &Arc<Self>) -> bool {
        Arc::strong_count(self) > 1
    }

    /// Makes the device current, for a call that takes the communicator's life or waits for it.
    ///
    /// # Errors
    ///
    /// This process is a child of the communicator's, or this thread is inside of a callback of the driver, which such a call may wait for.
    pub(crate) fn enter(&self, call: &'static str) -> Result<()> {
        if !self.is_own() {
            return Err(Error::misuse(
                call,
                "the communicator is of the process that has forked this one",
                "make communicators in the process that uses them",
            ));
        }
        Ok(self.gpu.make_current()?)
    }

    /// Whether this process has made it.
    fn is_own(&self) -> bool {
        self.process == std::process::id()
    }

    #[inline]
    pub(crate) fn comm(&self) -> ncclComm_t {
        self.comm as ncclComm_t
    }

    #[inline]
    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The right to call NCCL.
    ///
    /// # Errors
    ///
    /// The communicator was aborted.
    #[inline]
    pub(crate) fn alive(&self, call: &'static str) -> Result<MutexGuard<'_, State>> {
        let state = self.state();
        match state.life {
            Life::Alive => Ok(state),
            Life::Aborted | Life::Lost | Life::Closed => Err(Error::Aborted { call }),
        }
    }

    /// Waits until what was begun is no longer in progress.
    ///
    /// # Errors
    ///
    /// What NCCL reports; [`Error::Timeout`]; that another thread aborts the communicator.
    ///
    /// # Safety
    ///
    /// The communicator is alive, and the caller has its state.
    #[cold]
    pub(crate) unsafe fn finish(&self, call: &'static str) -> Result<()> {
        let gives_up = || self.gives_up.load(Ordering::SeqCst);
        // SAFETY: the communicator is alive: this function's condition.
        let done = unsafe { finish(self.nccl, call, self.comm(), self.timeout, &gives_up) };
        done?.ok_or_else(|| self.timed_out(call, self.timeout))
    }

    /// Ends all waiting for other ranks, and with it the communicator.
    pub(crate) fn abort(&self, state: &mut State, reason: impl Display) -> Result<()> {
        if state.life != Life::Alive {
            return Ok(());
        }
        state.life = Life::Aborted;
        state.outcome.give_up(reason);
        // SAFETY: the communicator was alive, and is never used again; whoever calls this knows that no graph's work needs it, or that it
        // is the simulator's, whose graphs find out that it is gone.
        let code = unsafe { (self.nccl.functions.ncclCommAbort)(self.comm()) };
        self.registrations.end();
        check("ncclCommAbort", code, None)
    }

    pub(crate) fn timed_out(&self, call: &'static str, waited: Duration) -> Error {
        Error::Timeout {
            call,
            rank: self.rank,
            size: self.size,
            waited,
        }
    }

    /// Gives the communicator back.
    pub(crate) fn close(&self) -> Result<()> {
        let mut state = self.state();
        if state.life != Life::Alive {
            return Ok(());
        }
        let (nccl, comm) = (self.nccl, self.comm());
        // SAFETY: the communicator is alive (`life` was read above), and this thread holds its state.
        let code = unsafe { (nccl.functions.ncclCommFinalize)(comm) };
        check("ncclCommFinalize", code, Some(comm))?;
        // SAFETY: the communicator is alive until `ncclCommDestroy` below; this thread holds its state.
        let done = unsafe { finish(nccl, "ncclCommFinalize", comm, self.timeout, &|| false) };
        match done {
            Ok(Some(())) => {}
            Ok(None) => return Err(self.timed_out("Communicator::close", self.timeout)),
            Err(error) => {
                // The first error is the one to tell.
                let _ = self.abort(&mut state, &error);
                return Err(error);
            }
        }
        state.life = Life::Closed;
        // SAFETY: the communicator is alive until this call (this thread holds its state), and `Life::Closed` keeps all others from using it.
        let code = unsafe { (nccl.functions.ncclCommDestroy)(comm) };
        self.registrations.end();
        check("ncclCommDestroy", code, None)
    }
}

impl Inner {
    /// Takes registered memory back that is not used any more.
    ///
    /// # Errors
    ///
    /// The device cannot be made current.
    ///
    /// # Safety
    ///
    /// The communicator is alive, and this thread alone calls NCCL with it.
    pub(crate) unsafe fn take_back_registered(&self) -> Result<()> {
        let nccl = &self.nccl.functions.newer;
        // SAFETY: the communicator is the one of `registrations`, alive and this thread's: this function's condition.
        unsafe { self.registrations.take_back(nccl, self.comm(), &self.gpu) }
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        // The parent's is left alone.
        let is_own = self.is_own();
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        if state.life != Life::Alive || !is_own {
            return;
        }
        state.life = Life::Closed;
        let outcome = std::mem::take(&mut state.outcome);
        // On a thread of its own: NCCL waits for work and for other ranks, and this thread may be one that must not call the driver.
        let place = (self.rank, self.size);
        let mut rest = Inner::new(
            self.nccl,
            self.comm(),
            self.gpu.clone(),
            place,
            self.timeout,
        );
        rest.state().outcome = outcome;
        rest.registrations = self.registrations.clone();
        // Where no thread can be started the communicator leaks: dropping it would only try to start another thread.
        let rest = ManuallyDrop::new(rest);
        let awaited = Awaited::new();
        let started = std::thread::Builder::new().spawn(move || {
            let _awaited = awaited;
            let rest = ManuallyDrop::into_inner(rest);
            let _ = rest.gpu.make_current();
            if rest.close().is_err() {
                // Nothing more can be done but to leave it.
                rest.state().life = Life::Aborted;
            }
        });
        // A destructor has nobody to tell.
        drop(started);
    }
}

#[cfg(test)]
mod tests;

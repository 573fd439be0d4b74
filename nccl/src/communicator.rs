//! Communicators: a rank's membership in a set of ranks, each on a GPU of its own.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use warpsmith_host::{Gpu, Stream};
use warpsmith_nccl_abi::{ncclComm_t, ncclResult_t};

use crate::call::failed;
use crate::error::{Error, Result};
use crate::inner::{Held, Inner};

/// What to do about a graph that holds a communicator. An executable graph is given back when the device is idle.
const DROP_GRAPHS: &str = "drop the graph and what was instantiated from it first, and wait for the device: `gpu.synchronize()`";

/// A rank among several, on a GPU of its own. Its methods are those of [`Group`](crate::Group), each as a group of one call.
///
/// Dropping it gives it back in the background, when its work is done and the graphs that it is part of are gone. The end of the process
/// waits for that, for ten seconds at most; a process that ends before is an error for ranks that still wait for it, so [`close`](Self::close)
/// is better at the end of a program.
pub struct Communicator {
    pub(crate) inner: Arc<Inner>,
}

impl Communicator {
    pub(crate) fn of(inner: Inner) -> Communicator {
        Communicator {
            inner: Arc::new(inner),
        }
    }

    /// This rank's number.
    pub fn rank(&self) -> usize {
        self.inner.rank
    }

    /// How many ranks there are.
    pub fn size(&self) -> usize {
        self.inner.size
    }

    /// The GPU of this rank.
    pub fn gpu(&self) -> Gpu {
        self.inner.gpu.clone()
    }

    /// NCCL's handle, for [`functions`](crate::functions): valid until this is closed, aborted or dropped. Other threads must not use the
    /// communicator beside such a call.
    pub fn as_raw(&self) -> ncclComm_t {
        self.inner.comm()
    }

    /// # Errors
    ///
    /// What went wrong in work that was enqueued: another rank ended or made another call. The communicator is lost then; work that still
    /// waits does so until [`abort`](Self::abort).
    pub fn check(&self) -> Result<()> {
        let mut state = self.inner.alive("Communicator::check")?;
        match self.asynchronous_error() {
            None => Ok(()),
            Some(error) => {
                state.outcome.give_up(&error);
                Err(error)
            }
        }
    }

    /// The caller has the right to call NCCL.
    fn asynchronous_error(&self) -> Option<Error> {
        let comm = self.inner.comm();
        let mut state = ncclResult_t::ncclSuccess;
        // SAFETY: the communicator is alive: the caller got its state from `Inner::alive`; NCCL writes one value to `state`, which outlives the
        // call.
        let code = unsafe { (self.inner.nccl.functions.ncclCommGetAsyncError)(comm, &mut state) };
        let code = if code == ncclResult_t::ncclSuccess {
            state
        } else {
            code
        };
        match code {
            ncclResult_t::ncclSuccess | ncclResult_t::ncclInProgress => None,
            code => Some(failed("ncclCommGetAsyncError", code, Some(comm))),
        }
    }

    /// Waits until everything in `stream` is done, as [`Stream::synchronize`] does, but not for ever: when NCCL reports an error, or the
    /// time is over, the communicator is aborted, so that what waits for other ranks ends. What that work was to write is undefined then, and the
    /// host cannot read it: [`warpsmith_host::Error::Unfinished`], until something else has written it.
    ///
    /// # Errors
    ///
    /// [`Error::Timeout`], what NCCL reports, or what went wrong in the stream.
    pub fn wait(&self, stream: &Stream, timeout: Duration) -> Result<()> {
        const CALL: &str = "Communicator::wait";
        self.inner.enter(CALL)?;
        let begin = Instant::now();
        let mut pause = Duration::from_micros(20);
        let _held = Held::new(&self.inner);
        while !stream.is_idle()? {
            {
                let mut state = self.inner.alive(CALL)?;
                let error = match self.asynchronous_error() {
                    None if begin.elapsed() < timeout => None,
                    None => Some(self.inner.timed_out(CALL, timeout)),
                    error => error,
                };
                if let Some(error) = error {
                    if self.may_be_aborted() {
                        // The first error is the one to tell.
                        let _ = self.inner.abort(&mut state, &error);
                    } else {
                        state.outcome.give_up(&error);
                    }
                    return Err(error);
                }
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(2));
        }
        stream.synchronize()?;
        let mut state = self.inner.alive(CALL)?;
        if let Some(error) = self.asynchronous_error() {
            state.outcome.give_up(&error);
            return Err(error);
        }
        // SAFETY: the communicator is alive and this thread's: `alive` gave `state`, which locks it.
        unsafe { self.inner.take_back_registered() }?;
        Ok(())
    }

    /// Whether no graph's work on a GPU needs it.
    fn may_be_aborted(&self) -> bool {
        self.inner.nccl.is_simulator || !self.inner.is_held()
    }

    /// Ends the communicator at once: its work that waits for other ranks ends, and the other ranks' work gets an error. A call of another thread
    /// that waits on the host for other ranks ends, too. Memory that its unfinished work was writing is undefined, and the host cannot read it
    /// ([`warpsmith_host::Error::Unfinished`]) until something else has written it. Does nothing if the communicator was aborted before.
    ///
    /// # Errors
    ///
    /// On a GPU, a graph holds the communicator, whose work would reach memory that is gone: drop the graph and its executables first. The thread is inside
    /// of a callback of the driver; or the process is a child that the communicator's has forked.
    pub fn abort(&self) -> Result<()> {
        const CALL: &str = "Communicator::abort";
        self.inner.enter(CALL)?;
        let gives_up = &self.inner.gives_up;
        gives_up.store(true, Ordering::SeqCst);
        let mut state = self.inner.state();
        if !self.may_be_aborted() {
            gives_up.store(false, Ordering::SeqCst);
            return Err(Error::misuse(
                CALL,
                "a graph still holds the communicator",
                DROP_GRAPHS,
            ));
        }
        self.inner.abort(&mut state, "the communicator was aborted")
    }

    /// Gives the communicator back when all its work is done; all ranks do it. Waits for that.
    ///
    /// # Errors
    ///
    /// What went wrong in the work; that it does not end in [`Options::timeout`](crate::Options::timeout); that a graph still holds the communicator; that
    /// the thread is inside of a callback of the driver, which would be waited for; or that the process is a child that the communicator's has forked.
    /// The communicator is given back in the background then, by the process that it is of.
    pub fn close(self) -> Result<()> {
        const CALL: &str = "Communicator::close";
        self.inner.enter(CALL)?;
        if self.inner.is_held() {
            return Err(Error::misuse(
                CALL,
                "a graph still holds the communicator, which is given back with it",
                DROP_GRAPHS,
            ));
        }
        self.inner.close()
    }
}

impl std::fmt::Debug for Communicator {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "Communicator(rank {} of {} on {})",
            self.rank(),
            self.size(),
            self.inner.gpu.choice()
        )
    }
}

//! Communicators: a rank's membership in a set of ranks, each on a GPU of its own.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use warpsmith_driver::Backend;
use warpsmith_host::{Gpu, Stream};
use warpsmith_nccl_abi::{ncclComm_t, ncclConfig_t, ncclResult_t};

use crate::at_exit::Awaited;
use crate::call::{check, failed, finish};
use crate::error::{Error, Result};
use crate::id::UniqueId;
use crate::library::{Loaded, loaded};

/// How a communicator is made.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// How long a call may wait on the host for other ranks: to come together, and to connect when they first speak to each other.
    pub timeout: Duration,
}

impl Default for Options {
    /// Five minutes.
    fn default() -> Self {
        Options {
            timeout: Duration::from_secs(300),
        }
    }
}

/// A rank among several, on a GPU of its own. Its methods are those of [`Group`](crate::Group), each as a group of one call.
///
/// Dropping it gives it back in the background, when its work is done and the graphs that it is part of are gone. The end of the process
/// waits for that, for ten seconds at most; a process that ends before is an error for ranks that still wait for it, so [`close`](Self::close)
/// is better at the end of a program.
pub struct Communicator {
    pub(crate) inner: Arc<Inner>,
}

/// What a graph keeps of a communicator.
pub(crate) struct Inner {
    pub(crate) nccl: &'static Loaded,
    comm: usize,
    pub(crate) gpu: Gpu,
    pub(crate) rank: usize,
    pub(crate) size: usize,
    pub(crate) timeout: Duration,
    life: Mutex<Life>,
}

/// Whether the handle is one. Held by whoever calls NCCL with it: by one thread at a time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Life {
    Alive,
    Aborted,
    Closed,
}

impl Inner {
    pub(crate) fn comm(&self) -> ncclComm_t {
        self.comm as ncclComm_t
    }

    fn life(&self) -> MutexGuard<'_, Life> {
        self.life.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The right to call NCCL.
    ///
    /// # Errors
    ///
    /// The communicator was aborted.
    pub(crate) fn alive(&self, call: &'static str) -> Result<MutexGuard<'_, Life>> {
        let life = self.life();
        match *life {
            Life::Alive => Ok(life),
            Life::Aborted | Life::Closed => Err(Error::Aborted { call }),
        }
    }

    /// Ends all waiting for other ranks, and with it the communicator.
    pub(crate) fn abort(&self, life: &mut Life) -> Result<()> {
        if *life != Life::Alive {
            return Ok(());
        }
        *life = Life::Aborted;
        // SAFETY: the communicator was alive, and is never used again; whoever calls this knows that no graph's work needs it, or that it
        // is the simulator's, whose graphs find out that it is gone.
        let code = unsafe { (self.nccl.functions.ncclCommAbort)(self.comm()) };
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
    fn close(&self) -> Result<()> {
        let mut life = self.life();
        if *life != Life::Alive {
            return Ok(());
        }
        let (nccl, comm) = (self.nccl, self.comm());
        // SAFETY: the communicator is alive.
        let code = unsafe { (nccl.functions.ncclCommFinalize)(comm) };
        check("ncclCommFinalize", code, Some(comm))?;
        // SAFETY: the communicator is alive.
        let done = unsafe { finish(nccl, "ncclCommFinalize", comm, self.timeout) };
        match done {
            Ok(Some(())) => {}
            Ok(None) => return Err(self.timed_out("Communicator::close", self.timeout)),
            Err(error) => {
                self.abort(&mut life)?;
                return Err(error);
            }
        }
        *life = Life::Closed;
        // SAFETY: the communicator is alive until here, and never used again.
        let code = unsafe { (nccl.functions.ncclCommDestroy)(comm) };
        check("ncclCommDestroy", code, None)
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        if *self.life() != Life::Alive {
            return;
        }
        // On a thread of its own: NCCL waits for work and for other ranks, and this thread may be one that must not call the driver.
        let rest = Inner {
            nccl: self.nccl,
            comm: self.comm,
            gpu: self.gpu.clone(),
            rank: self.rank,
            size: self.size,
            timeout: self.timeout,
            life: Mutex::new(Life::Alive),
        };
        *self.life() = Life::Closed;
        let awaited = Awaited::new();
        std::thread::spawn(move || {
            let _awaited = awaited;
            let _ = rest.gpu.make_current();
            if rest.close().is_err() {
                // Nothing more can be done but to leave it.
                *rest.life() = Life::Aborted;
            }
        });
    }
}

impl Communicator {
    /// One communicator for each GPU of this process: rank `i` is `gpus[i]`. One thread may speak for all of them, in groups
    /// ([`group`](crate::group())), or a thread for each.
    ///
    /// # Errors
    ///
    /// NCCL cannot be loaded; a GPU is named twice; NCCL refuses.
    pub fn all(gpus: &[Gpu]) -> Result<Vec<Communicator>> {
        Communicator::all_with(gpus, Options::default())
    }

    /// As [`all`](Self::all), with these options.
    pub fn all_with(gpus: &[Gpu], options: Options) -> Result<Vec<Communicator>> {
        let Some(first) = gpus.first() else {
            return Ok(Vec::new());
        };
        for (index, gpu) in gpus.iter().enumerate() {
            if gpus[..index]
                .iter()
                .any(|known| known.choice() == gpu.choice())
            {
                return Err(Error::misuse(
                    "Communicator::all",
                    format!("{} is there twice", gpu.choice()),
                    "each rank needs a GPU of its own",
                ));
            }
        }
        let id = UniqueId::new(first)?;
        let ranks: Vec<_> = gpus.iter().enumerate().collect();
        come_together(&ranks, gpus.len(), &id, options)
    }

    /// Rank `rank` of `size`, on this GPU. Waits until all ranks have come with the same id.
    ///
    /// ```
    /// use warpsmith_host::prelude::*;
    /// use warpsmith_nccl::{Communicator, Options, Reduction, UniqueId};
    ///
    /// # fn main() -> Result<(), warpsmith_nccl::Error> {
    /// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
    /// let id = UniqueId::new(&gpu)?;   // made by one rank, and handed to the others
    /// let communicator = Communicator::join(&gpu, &id, 0, 1, Options::default())?;
    /// let stream = gpu.stream()?;
    /// let mut buffer = stream.upload(&[1.0_f32, 2.0])?;
    /// communicator.all_reduce_in_place(&stream, &mut buffer, Reduction::Sum)?;
    /// assert_eq!(stream.download(&buffer)?, [1.0, 2.0]);
    /// communicator.close()
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// NCCL cannot be loaded; the ranks disagree on their number; two use one GPU; not all have come in [`Options::timeout`].
    pub fn join(
        gpu: &Gpu,
        id: &UniqueId,
        rank: usize,
        size: usize,
        options: Options,
    ) -> Result<Communicator> {
        let mut one = come_together(&[(rank, gpu)], size, id, options)?;
        Ok(one.remove(0))
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
        let _life = self.inner.alive("Communicator::check")?;
        self.asynchronous_error().map_or(Ok(()), Err)
    }

    /// The caller has the right to call NCCL.
    fn asynchronous_error(&self) -> Option<Error> {
        let comm = self.inner.comm();
        let mut state = ncclResult_t::ncclSuccess;
        // SAFETY: the communicator is alive; NCCL writes one value to `state`, which outlives the call.
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
    /// time is over, the communicator is aborted, so that what waits for other ranks ends. What that work was to write is undefined then.
    ///
    /// # Errors
    ///
    /// [`Error::Timeout`], what NCCL reports, or what went wrong in the stream.
    pub fn wait(&self, stream: &Stream, timeout: Duration) -> Result<()> {
        const CALL: &str = "Communicator::wait";
        let begin = Instant::now();
        let mut pause = Duration::from_micros(20);
        while !stream.is_idle()? {
            {
                let mut life = self.inner.alive(CALL)?;
                let error = match self.asynchronous_error() {
                    None if begin.elapsed() < timeout => None,
                    None => Some(self.inner.timed_out(CALL, timeout)),
                    error => error,
                };
                if let Some(error) = error {
                    if self.may_be_aborted() {
                        self.inner.abort(&mut life)?;
                    }
                    return Err(error);
                }
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(2));
        }
        stream.synchronize()?;
        match *self.inner.life() {
            Life::Alive => self.asynchronous_error().map_or(Ok(()), Err),
            Life::Aborted | Life::Closed => Err(Error::Aborted { call: CALL }),
        }
    }

    /// Whether no graph's work on a GPU needs it.
    fn may_be_aborted(&self) -> bool {
        self.inner.nccl.is_simulator || Arc::strong_count(&self.inner) == 1
    }

    /// Ends the communicator at once: work that waits for other ranks ends, with nothing said of what it was to write, and theirs gets an
    /// error. Once it is aborted, or if it was before, this does nothing.
    ///
    /// # Errors
    ///
    /// On a GPU, a graph holds the communicator, whose work would reach memory that is gone: drop the graph and its executables first.
    pub fn abort(&self) -> Result<()> {
        if !self.may_be_aborted() {
            return Err(Error::misuse(
                "Communicator::abort",
                "a graph still holds the communicator",
                "drop the graph and what was instantiated from it first",
            ));
        }
        self.inner.abort(&mut self.inner.life())
    }

    /// Gives the communicator back when all its work is done; all ranks do it. Waits for that.
    ///
    /// # Errors
    ///
    /// What went wrong in the work; that it does not end in [`Options::timeout`]; that a graph still holds the communicator.
    pub fn close(self) -> Result<()> {
        if Arc::strong_count(&self.inner) > 1 {
            return Err(Error::misuse(
                "Communicator::close",
                "a graph still holds the communicator, which is given back with it",
                "drop the graph and what was instantiated from it first",
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

/// Ranks of this thread come in together.
fn come_together(
    ranks: &[(usize, &Gpu)],
    size: usize,
    id: &UniqueId,
    options: Options,
) -> Result<Vec<Communicator>> {
    const CALL: &str = "ncclCommInitRankConfig";
    let nccl = loaded()?;
    if nccl.is_simulator != (warpsmith_driver::backend() == Some(Backend::Simulator))
        && !nccl.is_simulator
    {
        return Err(Error::misuse(
            CALL,
            "NCCL itself does not run on the simulator",
            "leave WARPSMITH_NCCL_LIBRARY out",
        ));
    }
    let size_of_nccl = i32::try_from(size).unwrap_or(0);
    if size_of_nccl == 0 || ranks.iter().any(|&(rank, _)| rank >= size) {
        return Err(Error::misuse(
            CALL,
            format!("there are no such ranks among {size}"),
            "ranks are numbered from 0",
        ));
    }
    let mut joined = Vec::new();
    // SAFETY: the call takes no arguments, and `ncclGroupEnd` follows on this thread.
    let code = unsafe { (nccl.functions.ncclGroupStart)() };
    check("ncclGroupStart", code, None)?;
    let begun = ranks.iter().try_for_each(|&(rank, gpu)| {
        gpu.make_current()?;
        let mut comm = std::ptr::null_mut();
        let mut config = ncclConfig_t::with_blocking(false);
        // SAFETY: NCCL writes one handle to `comm` and reads `config`, which outlive the call: it copies the configuration. The GPU's
        // context is current.
        let code = unsafe {
            (nccl.functions.ncclCommInitRankConfig)(
                &mut comm,
                size_of_nccl,
                id.raw(),
                rank as i32,
                &mut config,
            )
        };
        check(CALL, code, None)?;
        joined.push(Communicator {
            inner: Arc::new(Inner {
                nccl,
                comm: comm.addr(),
                gpu: gpu.clone(),
                rank,
                size,
                timeout: options.timeout,
                life: Mutex::new(Life::Alive),
            }),
        });
        Ok(())
    });
    // SAFETY: the group was begun above, on this thread.
    let code = unsafe { (nccl.functions.ncclGroupEnd)() };
    let begun = begun.and_then(|()| check("ncclGroupEnd", code, None));
    let done = begun.and_then(|()| {
        joined.iter().try_for_each(|communicator| {
            let inner = &communicator.inner;
            // SAFETY: the communicator was made above.
            let done = unsafe { finish(nccl, CALL, inner.comm(), options.timeout) }?;
            done.ok_or_else(|| inner.timed_out(CALL, options.timeout))
        })
    });
    if let Err(error) = done {
        for communicator in &joined {
            // The first error is the one to tell.
            let _ = communicator.inner.abort(&mut communicator.inner.life());
        }
        return Err(error);
    }
    Ok(joined)
}

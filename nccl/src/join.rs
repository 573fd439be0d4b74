//! Making communicators: ranks join by an id, or split an existing communicator.

use std::sync::Arc;
use std::time::Duration;

use warpsmith_driver::Backend;
use warpsmith_host::Gpu;
use warpsmith_nccl_abi::{NCCL_SPLIT_NOCOLOR, ncclComm_t, ncclResult_t};

use crate::call::{check, finish, grouped};
use crate::communicator::Communicator;
use crate::error::{Error, Result};
use crate::id::UniqueId;
use crate::inner::{Inner, Taken};
use crate::library::{Loaded, loaded};
use crate::options::Options;

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

    /// Splits off a communicator of the ranks that give the same color, in which their keys give the order, and for equal keys their ranks
    /// here. `None` for a rank without a color. All ranks of the communicator call it; it stays as it is.
    ///
    /// No work of the communicator may be under way that waits for other ranks: NCCL may not get to it meanwhile, so that the call ends with
    /// [`Options::timeout`]. The new communicator is made with this one's options.
    ///
    /// ```
    /// use warpsmith_host::prelude::*;
    /// use warpsmith_nccl::Communicator;
    ///
    /// # fn main() -> Result<(), warpsmith_nccl::Error> {
    /// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
    /// let world = Communicator::all(&[gpu])?.remove(0);
    /// // Rows of four ranks each.
    /// let row = world.split(Some(world.rank() as u32 / 4), 0)?.expect("it has a color");
    /// assert_eq!((row.rank(), row.size()), (0, 1));
    /// assert!(world.split(None, 0)?.is_none());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// A color is above `i32::MAX`; the communicator was aborted; a rank has ended, has left, or has not called it in time, which costs the
    /// communicator. On the simulator also that a rank has called other collectives before.
    pub fn split(&self, color: Option<u32>, key: i32) -> Result<Option<Communicator>> {
        let mut split = Communicator::split_all(&[(self, color, key)])?;
        Ok(split.pop().flatten())
    }

    /// As [`split`](Self::split), for a thread that speaks for several ranks: each communicator with its color and its key. What comes of each
    /// stands in its place.
    ///
    /// # Errors
    ///
    /// A communicator is there twice, or as for [`split`](Self::split).
    pub fn split_all(
        parts: &[(&Communicator, Option<u32>, i32)],
    ) -> Result<Vec<Option<Communicator>>> {
        const CALL: &str = "ncclCommSplit";
        let Some((first, ..)) = parts.first() else {
            return Ok(Vec::new());
        };
        let nccl = first.inner.nccl;
        for (index, &(communicator, color, _)) in parts.iter().enumerate() {
            if color.is_some_and(|color| color > i32::MAX as u32) {
                return Err(Error::misuse(
                    CALL,
                    format!("the color is {color:?}"),
                    "colors are numbers up to i32::MAX",
                ));
            }
            let is_same = |&(known, ..): &(&Communicator, _, _)| std::ptr::eq(known, communicator);
            if parts[..index].iter().any(is_same) {
                return Err(Error::misuse(
                    CALL,
                    format!("{communicator:?} is there twice"),
                    "each rank gives one color at a time",
                ));
            }
        }
        let mut taken = Taken::take_all(CALL, parts.iter().map(|(part, ..)| &part.inner))?;
        // NCCL may write there as long as a communicator is in progress: where one stays so the places are never freed.
        let places: &'static mut [ncclComm_t] = vec![std::ptr::null_mut(); parts.len()].leak();
        let places: *mut [ncclComm_t] = places;
        let begun = grouped(&nccl.functions, || {
            for (index, &(communicator, color, key)) in parts.iter().enumerate() {
                let inner = &communicator.inner;
                inner.gpu.make_current()?;
                let color = color.map_or(NCCL_SPLIT_NOCOLOR, |color| color as i32);
                // SAFETY: the communicator is alive and this thread's: it was taken. NCCL writes one handle to a place of its own, at once or
                // as long as the communicator is in progress; no configuration is the communicator's own.
                let code = unsafe {
                    let place = places.cast::<ncclComm_t>().add(index);
                    (nccl.functions.ncclCommSplit)(
                        inner.comm(),
                        color,
                        key,
                        place,
                        std::ptr::null_mut(),
                    )
                };
                check(CALL, code, Some(inner.comm()))?;
            }
            Ok(())
        });
        let mut finish = || taken.iter_mut().try_for_each(|taken| taken.finish(CALL));
        if let Err(error) = begun.and_then(|_| finish()) {
            for (index, (parent, ..)) in parts.iter().enumerate() {
                let of_parent = |taken: &&Taken<'_>| Arc::ptr_eq(taken.inner(), &parent.inner);
                if taken
                    .iter()
                    .find(of_parent)
                    .is_none_or(Taken::may_be_in_progress)
                {
                    continue;
                }
                // SAFETY: the parent is not in progress, so NCCL has written the handle, if there is one, and does not write any more; the places were
                // leaked above.
                let comm = unsafe { places.cast::<ncclComm_t>().add(index).read() };
                if !comm.is_null() {
                    // SAFETY: NCCL has made the communicator, which nobody else knows and nobody uses. The first error is the one to tell.
                    let _: ncclResult_t = unsafe { (nccl.functions.ncclCommAbort)(comm) };
                }
            }
            return Err(error);
        }
        // SAFETY: no communicator is in progress, so NCCL has written the handles and does not write any more; the places were leaked above.
        let comms = unsafe { Box::from_raw(places) };
        drop(taken);
        let there: Vec<(ncclComm_t, &Communicator)> = comms
            .iter()
            .zip(parts)
            .filter(|(comm, _)| !comm.is_null())
            .map(|(&comm, &(parent, ..))| (comm, parent))
            .collect();
        // SAFETY: NCCL has just made the communicators, which nobody else knows.
        unsafe {
            settle(nccl, CALL, Ok(()), &there, |(_, parent)| {
                let inner = &parent.inner;
                (inner.timeout, (inner.rank, inner.size))
            })
        }?;
        comms
            .iter()
            .zip(parts)
            .map(|(&comm, &(parent, ..))| {
                let inner = &parent.inner;
                let made = |place| {
                    Communicator::of(Inner::new(
                        nccl,
                        comm,
                        inner.gpu.clone(),
                        place,
                        inner.timeout,
                    ))
                };
                let is_there = !comm.is_null();
                // SAFETY: the communicator has come together.
                is_there
                    .then(|| unsafe { place_of(nccl, comm) }.map(made))
                    .transpose()
            })
            .collect()
    }
}

/// The rank and the number of ranks of a communicator.
///
/// # Safety
///
/// It is one, and has come together.
unsafe fn place_of(nccl: &Loaded, comm: ncclComm_t) -> Result<(usize, usize)> {
    let (mut rank, mut size) = (0, 0);
    // SAFETY: the communicator is alive: this function's condition; NCCL writes one number, which outlives the call.
    let code = unsafe { (nccl.functions.ncclCommUserRank)(comm, &mut rank) };
    check("ncclCommUserRank", code, Some(comm))?;
    // SAFETY: the communicator is alive: this function's condition; NCCL writes one number, which outlives the call.
    let code = unsafe { (nccl.functions.ncclCommCount)(comm, &mut size) };
    check("ncclCommCount", code, Some(comm))?;
    Ok((rank as usize, size as usize))
}

/// Waits until communicators that were begun have come together; if one has not all of them are aborted. `of` says of each how long that may take, and which
/// rank it is for the error that says so.
///
/// # Safety
///
/// The communicators were begun, and nobody else knows them.
unsafe fn settle<T>(
    nccl: &Loaded,
    call: &'static str,
    begun: Result<()>,
    comms: &[(ncclComm_t, T)],
    of: impl Fn(&(ncclComm_t, T)) -> (Duration, (usize, usize)),
) -> Result<()> {
    let come = |one: &(ncclComm_t, T)| {
        let (timeout, (rank, size)) = of(one);
        // SAFETY: the communicator is alive: it was begun, and nobody else can have ended it: this function's condition.
        let done = unsafe { finish(nccl, call, one.0, timeout, &|| false) }?;
        done.ok_or(Error::Timeout {
            call,
            rank,
            size,
            waited: timeout,
        })
    };
    let done = begun.and_then(|()| comms.iter().try_for_each(come));
    if done.is_err() {
        for (comm, _) in comms {
            // SAFETY: the communicator is alive, and never used again. The first error is the one to tell.
            let _: ncclResult_t = unsafe { (nccl.functions.ncclCommAbort)(*comm) };
        }
    }
    done
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
    if !nccl.is_simulator && warpsmith_driver::backend() == Some(Backend::Simulator) {
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
    let mut comms: Vec<(ncclComm_t, (usize, &Gpu))> = Vec::new();
    let begun = grouped(&nccl.functions, || {
        for &(rank, gpu) in ranks {
            gpu.make_current()?;
            let mut comm = std::ptr::null_mut();
            let mut config = options.config();
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
            comms.push((comm, (rank, gpu)));
        }
        Ok(())
    });
    // SAFETY: NCCL has just begun the communicators, which nobody else knows.
    unsafe {
        settle(nccl, CALL, begun.map(drop), &comms, |(_, (rank, _))| {
            (options.timeout, (*rank, size))
        })
    }?;
    let joined = comms.into_iter().map(|(comm, (rank, gpu))| {
        let place = (rank, size);
        Communicator::of(Inner::new(nccl, comm, gpu.clone(), place, options.timeout))
    });
    Ok(joined.collect())
}

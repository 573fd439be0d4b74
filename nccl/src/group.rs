//! Calls on communicators, alone or in groups.

use std::sync::Arc;

use smallvec::SmallVec;
use warpsmith_host::{ForeignMemory, ForeignWork, Stream};
use warpsmith_nccl_abi::{ncclDataType_t, ncclRedOp_t, ncclResult_t};

use crate::call::{failed, grouped};
use crate::collective::{Arguments, Collective};
use crate::communicator::Communicator;
use crate::element::Element;
use crate::error::{Error, Result};
use crate::inner::{Inner, Taken};
use crate::library::Version;
use crate::reduction::{Made, Operation};

/// Calls that are made together: none of them waits for another one of the group. A thread that speaks for several ranks of a
/// communicator needs one, and so do sends and receives that depend on each other. See [`group`].
pub struct Group<'a> {
    pub(crate) work: ForeignWork<'a>,
    /// Most groups have one, or a send and a receive.
    calls: SmallVec<[Queued<'a>; 2]>,
}

/// A call that is about to be made.
pub(crate) struct Queued<'a> {
    collective: &'static Collective,
    communicator: &'a Communicator,
    stream: &'a Stream,
    /// Made before the call, if NCCL has it not: then the arguments name it.
    operation: Operation,
    arguments: Arguments,
}

/// Makes all calls of the closure together. They are enqueued when it returns, each in its stream; if it returns an error, none is.
///
/// ```
/// use warpsmith_host::prelude::*;
/// use warpsmith_nccl::{Communicator, group};
///
/// # fn main() -> Result<(), warpsmith_nccl::Error> {
/// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
/// # let communicator = Communicator::all(&[gpu.clone()])?.remove(0);
/// let stream = gpu.stream()?;
/// let right = stream.upload(&[1_u32, 2])?;
/// let mut left = stream.zeroed::<u32>(2)?;
/// // A ring: to the next rank, from the one before.
/// let (rank, size) = (communicator.rank(), communicator.size());
/// group(|group| {
///     group.send(&communicator, &stream, &right, (rank + 1) % size)?;
///     group.receive(&communicator, &stream, &mut left, (rank + size - 1) % size)
/// })?;
/// assert_eq!(stream.download(&left)?, [1, 2]);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// The closure's; what NCCL refuses; [`Error::Timeout`] where other ranks do not connect, which costs the communicator.
pub fn group<'a>(build: impl FnOnce(&mut Group<'a>) -> Result<()>) -> Result<()> {
    try_group(build)
}

/// As [`group`], for a closure with an error type of its own, and with a value, which is given back when the calls are enqueued.
///
/// ```
/// use warpsmith_host::prelude::*;
/// use warpsmith_nccl::{Communicator, Reduction, try_group};
///
/// fn contribute(path: &str, communicator: &Communicator, stream: &Stream) -> std::result::Result<usize, Box<dyn std::error::Error>> {
///     let mut sums = stream.zeroed::<u8>(4)?;
///     try_group(|group| {
///         let data = std::fs::read(path)?;
///         group.all_reduce_in_place(communicator, stream, &mut sums, Reduction::Sum)?;
///         Ok(data.len())
///     })
/// }
///
/// # fn main() -> Result<(), warpsmith_nccl::Error> {
/// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
/// # let communicator = Communicator::all(&[gpu.clone()])?.remove(0);
/// # let stream = gpu.stream()?;
/// assert!(contribute("/nonexistent", &communicator, &stream).is_err());
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// As for [`group`].
pub fn try_group<'a, R, E: From<Error>>(
    build: impl FnOnce(&mut Group<'a>) -> Result<R, E>,
) -> Result<R, E> {
    let mut work = ForeignWork::new(CALL);
    // NCCL sets the device that its communicator is of, and the one again that was.
    work.sets_device();
    let mut group = Group {
        work,
        calls: SmallVec::new(),
    };
    let value = build(&mut group)?;
    let Group {
        mut work,
        mut calls,
    } = group;
    match &mut calls[..] {
        [only] => only.enqueue_alone(&mut work),
        calls => enqueue_together(&mut work, calls),
    }?;
    Ok(value)
}

/// By which errors name what puts calls in order.
pub(crate) const CALL: &str = "warpsmith_nccl::group";

/// The first that has 8-bit floats.
const WITH_FLOAT8: Version = Version {
    major: 2,
    minor: 24,
    patch: 0,
};

impl<'a> Group<'a> {
    /// The stream and the communicator go together, there is such a rank, and the group uses no other stream for the communicator.
    pub(crate) fn check(
        &self,
        collective: &'static Collective,
        communicator: &Communicator,
        stream: &Stream,
        rank: usize,
    ) -> Result<()> {
        Queued::check(collective, communicator, stream, rank)?;
        let is_mixed = |known: &Queued<'_>| {
            std::ptr::eq(known.communicator, communicator) && !std::ptr::eq(known.stream, stream)
        };
        if !self.calls.iter().any(is_mixed) {
            return Ok(());
        }
        Err(Error::misuse(
            collective.name,
            "the group uses another stream for the same communicator already",
            "use one stream for each communicator in a group",
        ))
    }

    /// Adds a call that was checked.
    #[inline]
    pub(crate) fn add(&mut self, call: Queued<'a>) {
        self.calls.push(call);
    }
}

impl<'a> Queued<'a> {
    /// The stream and the communicator go together, and there is such a rank.
    #[inline(always)]
    pub(crate) fn check(
        collective: &'static Collective,
        communicator: &Communicator,
        stream: &Stream,
        rank: usize,
    ) -> Result<()> {
        let inner = &communicator.inner;
        if stream.is_of(&inner.gpu) && rank < inner.size {
            return Ok(());
        }
        Err(refused(collective, communicator, stream, rank))
    }

    /// A call whose stream, communicator and rank were checked, and whose buffers were named. Buffers of other lengths are refused.
    #[inline(always)]
    pub(crate) fn new<S: Element, D>(
        collective: &'static Collective,
        communicator: &'a Communicator,
        stream: &'a Stream,
        (send, receive): (&ForeignMemory<S>, &ForeignMemory<D>),
        operation: Operation,
        rank: usize,
    ) -> Result<Queued<'a>> {
        let inner = &communicator.inner;
        let count = collective.count(send.len(), receive.len(), inner.size)?;
        let at = [send.pointer().address(), receive.pointer().address()];
        Queued::at::<S>(collective, communicator, stream, at, count, operation, rank)
    }

    /// As [`new`](Self::new), for buffers of which the addresses to send from and to receive at are given, 0 where there is none. The count is that of
    /// NCCL's call, which the buffers have.
    #[inline(always)]
    pub(crate) fn at<T: Element>(
        collective: &'static Collective,
        communicator: &'a Communicator,
        stream: &'a Stream,
        at: [u64; 2],
        count: usize,
        operation: Operation,
        rank: usize,
    ) -> Result<Queued<'a>> {
        let reduction = operation.built_in().unwrap_or(ncclRedOp_t::ncclSum);
        let inner = &communicator.inner;
        Ok(Queued {
            collective,
            communicator,
            stream,
            operation,
            arguments: arguments::<T>(collective, inner, stream, at, count, reduction, rank)?,
        })
    }

    /// Enqueues the call, whose buffers are named to `work`, and nothing else.
    ///
    /// NCCL enqueues in the streams of the calls alone, which were named; it reads what was named for reading and writes what was named for
    /// writing, as far as the counts say, which are those of the buffers; a graph keeps the communicators. What NCCL has begun it has enqueued
    /// when it is no longer in progress.
    #[inline(always)]
    pub(crate) fn enqueue_alone(&mut self, work: &mut ForeignWork<'a>) -> Result<()> {
        if self.collective.is_several || self.operation.built_in().is_none() {
            return enqueue_together(work, std::slice::from_mut(self));
        }
        let call = self.collective.name;
        let inner = &self.communicator.inner;
        let mut taken = Taken::take(call, inner)?;
        work.keeps(inner);
        let revocable = &mut [taken.revocable(self.stream, call)];
        // SAFETY: NCCL enqueues in the call's stream alone, which was named; it uses the buffers as they were named, as far as the counts say,
        // which `new` took from them; `work` keeps the communicator, which was taken, so it is alive, and this thread's alone. What it has
        // begun it has enqueued when it is no longer in progress.
        let done = unsafe {
            work.enqueue_revocable(revocable, || match self.make()? {
                true => Ok(()),
                false => inner.finish(call),
            })
        };
        done.map_err(|error| taken.end_after(error))
    }
}

/// Enqueues several calls, as [`Queued::enqueue_alone`] does one.
#[inline(never)]
fn enqueue_together<'a>(work: &mut ForeignWork<'a>, calls: &mut [Queued<'a>]) -> Result<()> {
    const CALL: &str = "ncclGroupEnd";
    let Some(first) = calls.first() else {
        return Ok(());
    };
    let nccl = &first.communicator.inner.nccl.functions;
    let inners = calls.iter().map(|queued| &queued.communicator.inner);
    let mut taken = Taken::take_all(CALL, inners)?;
    let inners: SmallVec<[_; 2]> = taken.iter().map(Taken::inner).collect();
    inners.iter().for_each(|inner| work.keeps(inner));
    let mut revocable: SmallVec<[_; 2]> = SmallVec::new();
    for taken in &mut taken {
        let is_of = |call: &&Queued<'_>| Arc::ptr_eq(&call.communicator.inner, taken.inner());
        if let Some(call) = calls.iter().find(is_of) {
            revocable.push(taken.revocable(call.stream, call.collective.name));
        }
    }
    let mut make = || {
        let mut made = Made::new(nccl);
        for call in &mut *calls {
            let Arguments { kind, comm, .. } = call.arguments;
            // SAFETY: the communicator was taken above, and is so until `made` is dropped; `Queued` has an operation for its type.
            call.arguments.reduction = unsafe { made.make(call.operation, kind, comm) }?;
        }
        grouped(nccl, || {
            calls.iter().try_for_each(|call| call.make().map(drop))
        })
    };
    // Which communicator has not ended what was begun.
    let mut unfinished = 0;
    // SAFETY: NCCL enqueues in the calls' streams alone, which were named; it uses the buffers as they were named, as far as the counts say,
    // which `Queued::new` took from them; `work` keeps the communicators, which were taken, so they are alive, and this thread's alone. What it
    // has begun it has enqueued when it is no longer in progress.
    let done = unsafe {
        work.enqueue_revocable(&mut revocable, || match make()? {
            // Whether what was begun is enqueued, as NCCL says.
            true => Ok(()),
            false => inners.iter().enumerate().try_for_each(|(index, inner)| {
                unfinished = index;
                inner.finish(CALL)
            }),
        })
    };
    drop(revocable);
    done.map_err(|error| match taken.get_mut(unfinished) {
        Some(taken) => taken.end_after(error),
        None => error,
    })
}

#[inline(always)]
fn is_float8(kind: ncclDataType_t) -> bool {
    kind == ncclDataType_t::ncclFloat8e4m3 || kind == ncclDataType_t::ncclFloat8e5m2
}

#[cold]
fn lacks_float8(collective: &Collective, version: Version) -> Error {
    Error::misuse(
        collective.name,
        format!("NCCL {version} has no 8-bit floats"),
        "NCCL 2.24 or newer has them; others move them as u8",
    )
}

/// Why a call cannot be added.
#[cold]
fn refused(
    collective: &Collective,
    communicator: &Communicator,
    stream: &Stream,
    rank: usize,
) -> Error {
    let (own, other) = (communicator.inner.gpu.choice(), stream.gpu().choice());
    let size = communicator.size();
    let (message, hint) = if own != other {
        (
            format!("the communicator is of {own}, the stream of {other}"),
            "make the stream from `communicator.gpu()`",
        )
    } else {
        (
            format!("there is no rank {rank} of {size}"),
            "ranks are numbered from 0",
        )
    };
    Error::misuse(collective.name, message, hint)
}

impl Queued<'_> {
    /// As [`make`](fn@make).
    fn make(&self) -> Result<bool> {
        make(self.collective, &self.communicator.inner, &self.arguments)
    }
}

/// What NCCL's function takes, with the addresses to send from and to receive at.
///
/// # Errors
///
/// NCCL does not have the type of elements.
#[inline(always)]
pub(crate) fn arguments<T: Element>(
    collective: &'static Collective,
    inner: &Inner,
    stream: &Stream,
    [send, receive]: [u64; 2],
    count: usize,
    reduction: ncclRedOp_t,
    rank: usize,
) -> Result<Arguments> {
    if is_float8(T::DATA_TYPE) && inner.nccl.version < WITH_FLOAT8 {
        return Err(lacks_float8(collective, inner.nccl.version));
    }
    Ok(Arguments {
        send,
        receive,
        count,
        kind: T::DATA_TYPE,
        element: size_of::<T>(),
        reduction,
        rank: rank as i32,
        ranks: inner.size,
        comm: inner.comm(),
        stream: stream.as_raw(),
    })
}

/// Calls NCCL, which enqueues at the end of the group, if there is one. Whether it has all that it needs for that.
#[inline(always)]
pub(crate) fn make(
    collective: &'static Collective,
    inner: &Inner,
    arguments: &Arguments,
) -> Result<bool> {
    // SAFETY: the communicator is alive, and this thread alone calls with it (whoever calls this has taken it); the stream is borrowed, and of
    // the same device; the buffers have what the count says (both were checked when the call was described), and are borrowed until the work is
    // enqueued, behind which they stay until it is done.
    match unsafe { collective.call(&inner.nccl.functions, arguments) } {
        ncclResult_t::ncclSuccess => Ok(true),
        ncclResult_t::ncclInProgress => Ok(false),
        code => Err(failed(collective.name, code, Some(arguments.comm))),
    }
}

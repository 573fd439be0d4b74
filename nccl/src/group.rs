//! Calls on communicators, alone or in groups.

use std::sync::Arc;

use smallvec::SmallVec;
use warpsmith_host::{DeviceRead, DeviceWrite, ForeignMemory, ForeignWork, Stream};
use warpsmith_nccl_abi::{ncclRedOp_t, ncclResult_t};

use crate::call::{failed, grouped};
use crate::collective::{self, Arguments, Collective};
use crate::communicator::{Communicator, Taken};
use crate::element::{Element, Reduction};
use crate::error::{Error, Result};

/// Calls that are made together: none of them waits for another one of the group. A thread that speaks for several ranks of a
/// communicator needs one, and so do sends and receives that depend on each other. See [`group`].
pub struct Group<'a> {
    work: ForeignWork<'a>,
    /// Most groups have one, or a send and a receive.
    calls: SmallVec<[Queued<'a>; 2]>,
}

struct Queued<'a> {
    collective: &'static Collective,
    communicator: &'a Communicator,
    stream: &'a Stream,
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
    let mut group = Group {
        work: new_work(),
        calls: SmallVec::new(),
    };
    let value = build(&mut group)?;
    let Group { mut work, calls } = group;
    match &calls[..] {
        [only] => only.enqueue_alone(&mut work),
        calls => enqueue_together(&mut work, calls),
    }?;
    Ok(value)
}

/// No work yet. NCCL sets the device that its communicator is of, and the one again that was.
#[inline(always)]
fn new_work<'a>() -> ForeignWork<'a> {
    let mut work = ForeignWork::new(CALL);
    work.sets_device();
    work
}

/// By which errors name what puts calls in order.
const CALL: &str = "warpsmith_nccl::group";

/// Neither a root nor another side: of calls that have none.
const NO_RANK: usize = 0;
/// Of calls that do not reduce.
const NO_REDUCTION: ncclRedOp_t = ncclRedOp_t::ncclSum;

impl<'a> Group<'a> {
    /// The group uses no other stream for the communicator.
    fn check(
        &self,
        collective: &'static Collective,
        communicator: &Communicator,
        stream: &Stream,
    ) -> Result<()> {
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
}

impl<'a> Queued<'a> {
    /// The stream and the communicator go together, and there is such a rank.
    #[inline(always)]
    fn check(
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

    /// A call whose stream, communicator and rank were checked, and whose buffers were named.
    #[inline(always)]
    fn new<S: Element, D>(
        collective: &'static Collective,
        communicator: &'a Communicator,
        stream: &'a Stream,
        (send, receive): (&ForeignMemory<S>, &ForeignMemory<D>),
        reduction: ncclRedOp_t,
        rank: usize,
    ) -> Result<Queued<'a>> {
        let inner = &communicator.inner;
        let count = collective.count(send.len(), receive.len(), inner.size)?;
        Ok(Queued {
            collective,
            communicator,
            stream,
            arguments: Arguments {
                send: send.pointer().address(),
                receive: receive.pointer().address(),
                count,
                kind: S::DATA_TYPE,
                element: size_of::<S>(),
                reduction,
                rank: rank as i32,
                ranks: inner.size,
                comm: inner.comm(),
                stream: stream.as_raw(),
            },
        })
    }

    /// Enqueues the call, whose buffers are named to `work`, and nothing else.
    ///
    /// NCCL enqueues in the streams of the calls alone, which were named; it reads what was named for reading and writes what was named for
    /// writing, as far as the counts say, which are those of the buffers; a graph keeps the communicators. What NCCL has begun it has enqueued
    /// when it is no longer in progress.
    #[inline(always)]
    fn enqueue_alone(&self, work: &mut ForeignWork<'a>) -> Result<()> {
        if self.collective.is_several {
            return enqueue_together(work, std::slice::from_ref(self));
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
fn enqueue_together<'a>(work: &mut ForeignWork<'a>, calls: &[Queued<'a>]) -> Result<()> {
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
    let make = || calls.iter().try_for_each(|call| call.make().map(drop));
    // Which communicator has not ended what was begun.
    let mut unfinished = 0;
    // SAFETY: NCCL enqueues in the calls' streams alone, which were named; it uses the buffers as they were named, as far as the counts say,
    // which `Queued::new` took from them; `work` keeps the communicators, which were taken, so they are alive, and this thread's alone. What it
    // has begun it has enqueued when it is no longer in progress.
    let done = unsafe {
        work.enqueue_revocable(&mut revocable, || match grouped(nccl, make)? {
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
    /// Calls NCCL, which enqueues at the end of the group, if there is one. Whether it has all that it needs for that.
    #[inline(always)]
    fn make(&self) -> Result<bool> {
        let nccl = &self.communicator.inner.nccl.functions;
        // SAFETY: the communicator is alive, and this thread alone calls with it (whoever calls this has taken it); the stream is borrowed, and of
        // the same device; the buffers have what the count says (both were checked when the call was added), and are borrowed until the work is
        // enqueued, behind which they stay until it is done.
        match unsafe { self.collective.call(nccl, &self.arguments) } {
            ncclResult_t::ncclSuccess => Ok(true),
            ncclResult_t::ncclInProgress => Ok(false),
            code => Err(failed(
                self.collective.name,
                code,
                Some(self.arguments.comm),
            )),
        }
    }
}

/// An example of a method of [`Communicator`] or [`Group`], which makes one call.
macro_rules! example {
    ($fence:literal, $before:literal, $call:expr, $after:literal) => {
        concat!(
            "```",
            $fence,
            "\nuse warpsmith_host::prelude::*;\nuse warpsmith_nccl::{Communicator, Reduction, group};\n\n",
            "# fn main() -> Result<(), warpsmith_nccl::Error> {\n# let gpu = Gpu::open(DeviceChoice::Simulator)?;\n",
            "# let communicator = Communicator::all(&[gpu.clone()])?.remove(0);\nlet stream = gpu.stream()?;\n",
            $before,
            "\n",
            $call,
            "\n",
            $after,
            "\n# Ok(())\n# }\n```"
        )
    };
}

/// The methods of [`Group`] and [`Communicator`] for one collective: `(send, receive)` reads one buffer and writes another, `(buffer)` writes
/// one and may read it, `(send)` reads one. Behind these is what else the method takes, then the collective with its reduction and its rank,
/// and an example: what stands before the call, its arguments, and what stands behind it.
macro_rules! method {
    (
        $(#[$doc:meta])*
        $name:ident(send, receive $(, $argument:ident: $kind:ty)*) = $collective:ident($reduction:expr, $rank:expr);
        example $fence:literal $before:literal $call:literal $after:literal
    ) => {
        method! { @both
            [$(#[$doc])*] $name [S: {DeviceRead<Item: Element>}, D: {DeviceWrite<Item = S::Item>}]
            [send: {S}, receive: {mut D}] [$($argument: $kind),*]
            $collective($reduction, $rank) |work, stream| {
                let send = work.reads(stream, send)?;
                let receive = work.writes(stream, receive)?;
            } (send, receive)
            $fence $before $call $after
        }
    };
    (
        $(#[$doc:meta])*
        $name:ident(buffer $(, $argument:ident: $kind:ty)*) = $collective:ident($reduction:expr, $rank:expr);
        example $fence:literal $before:literal $call:literal $after:literal
    ) => {
        method! { @both
            [$(#[$doc])*] $name [D: {DeviceWrite<Item: Element>}] [buffer: {mut D}] [$($argument: $kind),*]
            $collective($reduction, $rank) |work, stream| {
                let buffer = work.writes(stream, buffer)?;
            } (buffer, buffer)
            $fence $before $call $after
        }
    };
    (
        $(#[$doc:meta])*
        $name:ident(send $(, $argument:ident: $kind:ty)*) = $collective:ident($reduction:expr, $rank:expr);
        example $fence:literal $before:literal $call:literal $after:literal
    ) => {
        method! { @both
            [$(#[$doc])*] $name [S: {DeviceRead<Item: Element>}] [send: {S}] [$($argument: $kind),*]
            $collective($reduction, $rank) |work, stream| {
                let send = work.reads(stream, send)?;
            } (send, send)
            $fence $before $call $after
        }
    };
    (@both
        [$(#[$doc:meta])*] $name:ident [$($type:ident: {$($bound:tt)*}),*]
        [$($buffer:ident: {$($access:tt)*}),*] [$($argument:ident: $kind:ty),*]
        $collective:ident($reduction:expr, $rank:expr)
        |$work:ident, $stream:ident| { $($named:tt)* } ($from:ident, $to:ident)
        $fence:literal $before:literal $call:literal $after:literal
    ) => {
        impl<'a> Group<'a> {
            $(#[$doc])*
            ///
            /// # Errors
            ///
            /// The lengths do not go together, or there is no such rank; the buffers, the stream and the communicator are not of one GPU; the
            /// group uses another stream for it.
            ///
            #[doc = example!($fence, $before, concat!("group(|group| group.", stringify!($name), "(&communicator, &stream, ", $call, "))?;"), $after)]
            #[inline]
            pub fn $name<$($type),*>(
                &mut self,
                communicator: &'a Communicator,
                stream: &'a Stream,
                $($buffer: &'a $($access)*,)*
                $($argument: $kind,)*
            ) -> Result<()>
            where
                $($type: $($bound)* + ?Sized),*
            {
                let collective = &collective::$collective;
                Queued::check(collective, communicator, stream, $rank)?;
                self.check(collective, communicator, stream)?;
                let ($work, $stream) = (&mut self.work, stream);
                $($named)*
                let buffers = (&$from, &$to);
                let call = Queued::new(collective, communicator, stream, buffers, $reduction, $rank)?;
                self.calls.push(call);
                Ok(())
            }
        }

        impl Communicator {
            $(#[$doc])*
            ///
            /// # Errors
            ///
            /// The lengths do not go together, or there is no such rank; the buffers, the stream and the communicator are not of one GPU; or as
            /// for [`group`].
            ///
            #[doc = example!($fence, $before, concat!("communicator.", stringify!($name), "(&stream, ", $call, ")?;"), $after)]
            #[inline]
            pub fn $name<$($type),*>(
                &self,
                stream: &Stream,
                $($buffer: & $($access)*,)*
                $($argument: $kind,)*
            ) -> Result<()>
            where
                $($type: $($bound)* + ?Sized),*
            {
                let collective = &collective::$collective;
                Queued::check(collective, self, stream, $rank)?;
                let mut work = new_work();
                let ($work, $stream) = (&mut work, stream);
                $($named)*
                let buffers = (&$from, &$to);
                Queued::new(collective, self, stream, buffers, $reduction, $rank)?.enqueue_alone($work)
            }
        }
    };
}

method! {
    /// Each rank gets the reduction of all ranks' `send`, which has the length of `receive`.
    all_reduce(send, receive, reduction: Reduction) = ALL_REDUCE(reduction.raw(), NO_RANK);
    example "" "let send = stream.upload(&[1.0_f32, 2.0])?;\nlet mut receive = stream.zeroed::<f32>(2)?;"
        "&send, &mut receive, Reduction::Sum" "assert_eq!(stream.download(&receive)?, [1.0, 2.0]);"
}

method! {
    /// As [`all_reduce`](Self::all_reduce), with the result in the place of this rank's contribution.
    all_reduce_in_place(buffer, reduction: Reduction) = ALL_REDUCE(reduction.raw(), NO_RANK);
    example "" "let mut buffer = stream.upload(&[1.0_f32, 2.0])?;"
        "&mut buffer, Reduction::Average" "assert_eq!(stream.download(&buffer)?, [1.0, 2.0]);"
}

method! {
    /// Each rank's `buffer` becomes that of `root`.
    broadcast(buffer, root: usize) = BROADCAST(NO_REDUCTION, root);
    example "" "let mut buffer = stream.upload(&[1_u8, 2])?;"
        "&mut buffer, 0" "assert_eq!(stream.download(&buffer)?, [1, 2]);"
}

method! {
    /// The buffer of `root` becomes the reduction of all ranks' buffers. The others' stay as they are.
    reduce_in_place(buffer, reduction: Reduction, root: usize) = REDUCE(reduction.raw(), root);
    example "" "let mut buffer = stream.upload(&[1_i64, 2])?;"
        "&mut buffer, Reduction::Max, 0" "assert_eq!(stream.download(&buffer)?, [1, 2]);"
}

method! {
    /// Each rank gets all ranks' `send`, one behind the other: `receive` has room for one of each rank.
    all_gather(send, receive) = ALL_GATHER(NO_REDUCTION, NO_RANK);
    example "" "let send = stream.upload(&[1_u32, 2])?;\nlet mut receive = stream.zeroed::<u32>(2 * communicator.size())?;"
        "&send, &mut receive" "assert_eq!(stream.download(&receive)?[..2], [1, 2]);"
}

method! {
    /// Each rank gets its part of the reduction of all ranks' `send`, which has one `receive` for each rank: rank 0 the first part, and so on.
    reduce_scatter(send, receive, reduction: Reduction) = REDUCE_SCATTER(reduction.raw(), NO_RANK);
    example "" "let send = stream.zeroed::<f64>(2 * communicator.size())?;\nlet mut receive = stream.upload(&[1.0, 1.0])?;"
        "&send, &mut receive, Reduction::Min" "assert_eq!(stream.download(&receive)?, [0.0, 0.0]);"
}

method! {
    /// Part `j` of this rank's `send` becomes part `i` of rank `j`'s `receive`, where this is rank `i`. There are as many parts as ranks.
    all_to_all(send, receive) = ALL_TO_ALL(NO_REDUCTION, NO_RANK);
    example "" "let send = stream.upload(&vec![3_i32; 2 * communicator.size()])?;\nlet mut receive = stream.zeroed::<i32>(send.len())?;"
        "&send, &mut receive" "assert_eq!(stream.download(&receive)?[..2], [3, 3]);"
}

method! {
    /// Sends to a rank, which receives as many elements of the same type. Two ranks that send to each other first, and receive then, wait for
    /// ever: a [`group`] makes both calls together.
    send(send, to: usize) = SEND(NO_REDUCTION, to);
    example "no_run" "let data = stream.upload(&[1_u8, 2])?;" "&data, 1" ""
}

method! {
    /// Receives from a rank, which sends as many elements of the same type.
    receive(buffer, from: usize) = RECEIVE(NO_REDUCTION, from);
    example "no_run" "let mut data = stream.zeroed::<u8>(2)?;" "&mut data, 1" ""
}

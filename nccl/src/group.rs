//! Calls on communicators, alone or in groups.

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
    /// Most groups have one.
    calls: SmallVec<[Queued<'a>; 1]>,
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
    let mut group = Group {
        work: ForeignWork::new("warpsmith_nccl::group"),
        calls: SmallVec::new(),
    };
    build(&mut group)?;
    group.enqueue()
}

/// Neither a root nor another side: of calls that have none.
const NO_RANK: usize = 0;
/// Of calls that do not reduce.
const NO_REDUCTION: ncclRedOp_t = ncclRedOp_t::ncclSum;

impl<'a> Group<'a> {
    /// The stream and the communicator go together, and there is such a rank.
    #[inline]
    fn check(
        &self,
        collective: &'static Collective,
        communicator: &Communicator,
        stream: &Stream,
        rank: usize,
    ) -> Result<()> {
        let inner = &communicator.inner;
        let is_mixed = |known: &Queued<'_>| {
            std::ptr::eq(known.communicator, communicator) && !std::ptr::eq(known.stream, stream)
        };
        if stream.is_of(&inner.gpu) && rank < inner.size && !self.calls.iter().any(is_mixed) {
            return Ok(());
        }
        Err(refused(collective, communicator, stream, rank))
    }

    /// Adds a call whose buffers were named.
    #[inline]
    #[allow(clippy::too_many_arguments)] // What a call is.
    fn add<S: Element, D>(
        &mut self,
        collective: &'static Collective,
        communicator: &'a Communicator,
        stream: &'a Stream,
        send: &ForeignMemory<S>,
        receive: &ForeignMemory<D>,
        reduction: ncclRedOp_t,
        rank: usize,
    ) -> Result<()> {
        let inner = &communicator.inner;
        let count = collective.count(send.len(), receive.len(), inner.size)?;
        self.calls.push(Queued {
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
        });
        Ok(())
    }

    /// NCCL enqueues in the streams of the calls alone, which were named; it reads what was named for reading and writes what was named for
    /// writing, as far as the counts say, which are those of the buffers; a graph keeps the communicators. What NCCL has begun it has enqueued
    /// when it is no longer in progress.
    #[inline]
    fn enqueue(self) -> Result<()> {
        let Group { mut work, calls } = self;
        match &calls[..] {
            [only] if !only.collective.is_several => {
                let call = only.collective.name;
                let inner = &only.communicator.inner;
                let mut taken = Taken::take(call, inner)?;
                work.keeps(inner);
                work.belongs_to(&inner.outcome, call);
                // SAFETY: as this function's first lines say.
                unsafe {
                    work.enqueue(|| match only.make()? {
                        true => Ok(()),
                        false => taken.finish(call),
                    })
                }
            }
            calls => enqueue_together(work, calls),
        }
    }
}

/// Enqueues several calls: see [`Group::enqueue`].
fn enqueue_together<'a>(mut work: ForeignWork<'a>, calls: &[Queued<'a>]) -> Result<()> {
    const CALL: &str = "ncclGroupEnd";
    let Some(first) = calls.first() else {
        return Ok(());
    };
    let nccl = &first.communicator.inner.nccl.functions;
    let inners = calls.iter().map(|queued| &queued.communicator.inner);
    let mut taken = Taken::take_all(CALL, inners)?;
    for taken in &taken {
        work.keeps(taken.inner());
        work.belongs_to(&taken.inner().outcome, first.collective.name);
    }
    let make = || calls.iter().try_for_each(|call| call.make().map(drop));
    // SAFETY: as the first lines of `Group::enqueue` say.
    unsafe {
        work.enqueue(|| match grouped(nccl, make)? {
            // Whether what was begun is enqueued, as NCCL says.
            true => Ok(()),
            false => taken.iter_mut().try_for_each(|taken| taken.finish(CALL)),
        })
    }
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
    } else if rank >= size {
        (
            format!("there is no rank {rank} of {size}"),
            "ranks are numbered from 0",
        )
    } else {
        (
            "the group uses another stream for the same communicator already".into(),
            "use one stream for each communicator in a group",
        )
    };
    Error::misuse(collective.name, message, hint)
}

impl Queued<'_> {
    /// Calls NCCL, which enqueues at the end of the group, if there is one. Whether it has all that it needs for that.
    #[inline]
    fn make(&self) -> Result<bool> {
        let nccl = &self.communicator.inner.nccl.functions;
        // SAFETY: the communicator is alive, and this thread alone calls with it (`enqueue` has taken it); the stream is borrowed, and of the
        // same device; the buffers have what the count says (both were checked when the call was added), and are borrowed until the work is
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
            |group, communicator, stream| {
                group.check(&collective::$collective, communicator, stream, $rank)?;
                let send = group.work.reads(stream, send)?;
                let receive = group.work.writes(stream, receive)?;
                group.add(&collective::$collective, communicator, stream, &send, &receive, $reduction, $rank)
            }
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
            |group, communicator, stream| {
                group.check(&collective::$collective, communicator, stream, $rank)?;
                let buffer = group.work.writes(stream, buffer)?;
                group.add(&collective::$collective, communicator, stream, &buffer, &buffer, $reduction, $rank)
            }
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
            |group, communicator, stream| {
                group.check(&collective::$collective, communicator, stream, $rank)?;
                let send = group.work.reads(stream, send)?;
                group.add(&collective::$collective, communicator, stream, &send, &send, $reduction, $rank)
            }
            $fence $before $call $after
        }
    };
    (@both
        [$(#[$doc:meta])*] $name:ident [$($type:ident: {$($bound:tt)*}),*]
        [$($buffer:ident: {$($access:tt)*}),*] [$($argument:ident: $kind:ty),*]
        |$group:ident, $communicator:ident, $stream:ident| $body:block
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
                let ($group, $communicator, $stream) = (self, communicator, stream);
                $body
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
                group(|group| group.$name(self, stream, $($buffer,)* $($argument),*))
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

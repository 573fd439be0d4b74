//! Calls on communicators, alone or in groups.

use std::ffi::c_void;
use std::sync::Arc;

use smallvec::SmallVec;
use warpsmith_host::{DeviceRead, DeviceWrite, ForeignMemory, ForeignWork, Stream};
use warpsmith_nccl_abi::{cudaStream_t, ncclDataType_t, ncclRedOp_t, ncclResult_t};

use crate::call::{check, failed, finish};
use crate::communicator::{Communicator, Inner};
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
    communicator: &'a Communicator,
    stream: &'a Stream,
    call: Call,
}

enum Call {
    AllReduce(Buffers, ncclRedOp_t),
    Broadcast(Buffers, i32),
    Reduce(Buffers, ncclRedOp_t, i32),
    AllGather(Buffers),
    ReduceScatter(Buffers, ncclRedOp_t),
    Send(Buffers, i32),
    Receive(Buffers, i32),
}

/// Addresses on the device, and elements as the call counts them.
#[derive(Clone, Copy)]
struct Buffers {
    send: u64,
    receive: u64,
    count: usize,
    kind: ncclDataType_t,
}

impl Buffers {
    fn of<T: Element>(send: u64, receive: u64, count: usize) -> Buffers {
        Buffers {
            send,
            receive,
            count,
            kind: T::DATA_TYPE,
        }
    }
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
/// The closure's; what NCCL refuses; [`Error::Timeout`] where other ranks do not connect, which aborts the communicator.
pub fn group<'a>(build: impl FnOnce(&mut Group<'a>) -> Result<()>) -> Result<()> {
    let mut group = Group {
        work: ForeignWork::new("warpsmith_nccl::group"),
        calls: SmallVec::new(),
    };
    build(&mut group)?;
    group.enqueue()
}

fn root_of(call: &'static str, communicator: &Communicator, rank: usize) -> Result<i32> {
    if rank < communicator.size() {
        return Ok(rank as i32);
    }
    Err(Error::misuse(
        call,
        format!("there is no rank {rank} of {}", communicator.size()),
        "ranks are numbered from 0",
    ))
}

fn mismatch(call: &'static str, what: String) -> Error {
    Error::misuse(call, what, "use slices of the buffers: `buffer.slice(..n)`")
}

impl<'a> Group<'a> {
    /// The stream and the communicator go together.
    fn check(
        &self,
        call: &'static str,
        communicator: &Communicator,
        stream: &Stream,
    ) -> Result<()> {
        let (own, other) = (communicator.inner.gpu.choice(), stream.gpu().choice());
        if own != other {
            return Err(Error::misuse(
                call,
                format!("the communicator is of {own}, the stream of {other}"),
                "make the stream from `communicator.gpu()`",
            ));
        }
        let mixed = self.calls.iter().any(|known| {
            Arc::ptr_eq(&known.communicator.inner, &communicator.inner)
                && !std::ptr::eq(known.stream, stream)
        });
        if mixed {
            return Err(Error::misuse(
                call,
                "the group uses another stream for the same communicator already",
                "use one stream for each communicator in a group",
            ));
        }
        Ok(())
    }

    fn push(&mut self, communicator: &'a Communicator, stream: &'a Stream, call: Call) {
        self.work.uses(stream);
        self.calls.push(Queued {
            communicator,
            stream,
            call,
        });
    }

    /// The buffers of a call that reads one and writes another.
    fn two<S, D>(
        &mut self,
        call: &'static str,
        communicator: &Communicator,
        stream: &'a Stream,
        send: &'a S,
        receive: &'a mut D,
    ) -> Result<[ForeignMemory<S::Item>; 2]>
    where
        S: DeviceRead<Item: Element> + ?Sized,
        D: DeviceWrite<Item = S::Item> + ?Sized,
    {
        self.check(call, communicator, stream)?;
        let send = self.work.reads(stream, send)?;
        Ok([send, self.work.writes(stream, receive)?])
    }

    /// Adds a call with one buffer, which it writes and may read.
    fn push_in_place<D: DeviceWrite<Item: Element> + ?Sized>(
        &mut self,
        communicator: &'a Communicator,
        stream: &'a Stream,
        buffer: &'a mut D,
        call: impl FnOnce(Buffers) -> Call,
    ) -> Result<()> {
        let buffer = self.work.writes(stream, buffer)?;
        let buffers = both(&buffer, &buffer, buffer.len());
        self.push(communicator, stream, call(buffers));
        Ok(())
    }

    /// Each rank gets the reduction of all ranks' `send`, which has the length of `receive`.
    ///
    /// # Errors
    ///
    /// The lengths differ; the buffers, the stream and the communicator are not of one GPU; the group uses another stream for it.
    pub fn all_reduce<S, D>(
        &mut self,
        communicator: &'a Communicator,
        stream: &'a Stream,
        send: &'a S,
        receive: &'a mut D,
        reduction: Reduction,
    ) -> Result<()>
    where
        S: DeviceRead<Item: Element> + ?Sized,
        D: DeviceWrite<Item = S::Item> + ?Sized,
    {
        const CALL: &str = "ncclAllReduce";
        let [send, receive] = self.two(CALL, communicator, stream, send, receive)?;
        if send.len() != receive.len() {
            return Err(mismatch(
                CALL,
                format!(
                    "{} elements are sent and {} received",
                    send.len(),
                    receive.len()
                ),
            ));
        }
        let buffers = both(&send, &receive, send.len());
        self.push(
            communicator,
            stream,
            Call::AllReduce(buffers, reduction.raw()),
        );
        Ok(())
    }

    /// As [`all_reduce`](Self::all_reduce), with the result in the place of this rank's contribution.
    ///
    /// # Errors
    ///
    /// As for [`all_reduce`](Self::all_reduce).
    pub fn all_reduce_in_place<D: DeviceWrite<Item: Element> + ?Sized>(
        &mut self,
        communicator: &'a Communicator,
        stream: &'a Stream,
        buffer: &'a mut D,
        reduction: Reduction,
    ) -> Result<()> {
        self.check("ncclAllReduce", communicator, stream)?;
        self.push_in_place(communicator, stream, buffer, |buffers| {
            Call::AllReduce(buffers, reduction.raw())
        })
    }

    /// Each rank's `buffer` becomes that of `root`.
    ///
    /// # Errors
    ///
    /// There is no such rank, or as for [`all_reduce`](Self::all_reduce).
    pub fn broadcast<D: DeviceWrite<Item: Element> + ?Sized>(
        &mut self,
        communicator: &'a Communicator,
        stream: &'a Stream,
        buffer: &'a mut D,
        root: usize,
    ) -> Result<()> {
        const CALL: &str = "ncclBroadcast";
        self.check(CALL, communicator, stream)?;
        let root = root_of(CALL, communicator, root)?;
        self.push_in_place(communicator, stream, buffer, |buffers| {
            Call::Broadcast(buffers, root)
        })
    }

    /// The buffer of `root` becomes the reduction of all ranks' buffers. The others' stay as they are.
    ///
    /// # Errors
    ///
    /// There is no such rank, or as for [`all_reduce`](Self::all_reduce).
    pub fn reduce_in_place<D: DeviceWrite<Item: Element> + ?Sized>(
        &mut self,
        communicator: &'a Communicator,
        stream: &'a Stream,
        buffer: &'a mut D,
        reduction: Reduction,
        root: usize,
    ) -> Result<()> {
        const CALL: &str = "ncclReduce";
        self.check(CALL, communicator, stream)?;
        let root = root_of(CALL, communicator, root)?;
        self.push_in_place(communicator, stream, buffer, |buffers| {
            Call::Reduce(buffers, reduction.raw(), root)
        })
    }

    /// Each rank gets all ranks' `send`, one behind the other.
    ///
    /// # Errors
    ///
    /// `receive` has not one `send` for each rank, or as for [`all_reduce`](Self::all_reduce).
    pub fn all_gather<S, D>(
        &mut self,
        communicator: &'a Communicator,
        stream: &'a Stream,
        send: &'a S,
        receive: &'a mut D,
    ) -> Result<()>
    where
        S: DeviceRead<Item: Element> + ?Sized,
        D: DeviceWrite<Item = S::Item> + ?Sized,
    {
        const CALL: &str = "ncclAllGather";
        let [send, receive] = self.two(CALL, communicator, stream, send, receive)?;
        let size = communicator.size();
        if send.len().checked_mul(size) != Some(receive.len()) {
            return Err(mismatch(
                CALL,
                format!(
                    "{size} ranks send {} elements each, and there is room for {}",
                    send.len(),
                    receive.len()
                ),
            ));
        }
        let buffers = both(&send, &receive, send.len());
        self.push(communicator, stream, Call::AllGather(buffers));
        Ok(())
    }

    /// Each rank gets its part of the reduction of all ranks' `send`: rank 0 the first part, and so on.
    ///
    /// # Errors
    ///
    /// `send` has not one `receive` for each rank, or as for [`all_reduce`](Self::all_reduce).
    pub fn reduce_scatter<S, D>(
        &mut self,
        communicator: &'a Communicator,
        stream: &'a Stream,
        send: &'a S,
        receive: &'a mut D,
        reduction: Reduction,
    ) -> Result<()>
    where
        S: DeviceRead<Item: Element> + ?Sized,
        D: DeviceWrite<Item = S::Item> + ?Sized,
    {
        const CALL: &str = "ncclReduceScatter";
        let [send, receive] = self.two(CALL, communicator, stream, send, receive)?;
        let size = communicator.size();
        if receive.len().checked_mul(size) != Some(send.len()) {
            return Err(mismatch(
                CALL,
                format!(
                    "{size} ranks get {} elements each, and {} are sent",
                    receive.len(),
                    send.len()
                ),
            ));
        }
        let buffers = both(&send, &receive, receive.len());
        self.push(
            communicator,
            stream,
            Call::ReduceScatter(buffers, reduction.raw()),
        );
        Ok(())
    }

    /// Part `j` of this rank's `send` becomes part `i` of rank `j`'s `receive`, where this is rank `i`. There are as many parts as ranks.
    ///
    /// # Errors
    ///
    /// The lengths differ or are no multiple of the number of ranks, or as for [`all_reduce`](Self::all_reduce).
    pub fn all_to_all<S, D>(
        &mut self,
        communicator: &'a Communicator,
        stream: &'a Stream,
        send: &'a S,
        receive: &'a mut D,
    ) -> Result<()>
    where
        S: DeviceRead<Item: Element> + ?Sized,
        D: DeviceWrite<Item = S::Item> + ?Sized,
    {
        const CALL: &str = "all-to-all (ncclSend, ncclRecv)";
        let [send, receive] = self.two(CALL, communicator, stream, send, receive)?;
        let size = communicator.size();
        if send.len() != receive.len() || !send.len().is_multiple_of(size) {
            return Err(mismatch(
                CALL,
                format!(
                    "{} elements are sent and {} received, which must be the same multiple of {size} ranks",
                    send.len(),
                    receive.len()
                ),
            ));
        }
        let count = send.len() / size;
        let bytes = (count * size_of::<S::Item>()) as u64;
        for peer in 0..size {
            let part = peer as u64 * bytes;
            let buffers = Buffers::of::<S::Item>(send.pointer().address() + part, 0, count);
            self.push(communicator, stream, Call::Send(buffers, peer as i32));
            let buffers = Buffers::of::<S::Item>(0, receive.pointer().address() + part, count);
            self.push(communicator, stream, Call::Receive(buffers, peer as i32));
        }
        Ok(())
    }

    /// Sends to a rank, which receives as many elements of the same type.
    ///
    /// # Errors
    ///
    /// There is no such rank, or as for [`all_reduce`](Self::all_reduce).
    pub fn send<S: DeviceRead<Item: Element> + ?Sized>(
        &mut self,
        communicator: &'a Communicator,
        stream: &'a Stream,
        send: &'a S,
        to: usize,
    ) -> Result<()> {
        const CALL: &str = "ncclSend";
        self.check(CALL, communicator, stream)?;
        let peer = root_of(CALL, communicator, to)?;
        let send = self.work.reads(stream, send)?;
        let buffers = both(&send, &send, send.len());
        self.push(communicator, stream, Call::Send(buffers, peer));
        Ok(())
    }

    /// Receives from a rank, which sends as many elements of the same type.
    ///
    /// # Errors
    ///
    /// There is no such rank, or as for [`all_reduce`](Self::all_reduce).
    pub fn receive<D: DeviceWrite<Item: Element> + ?Sized>(
        &mut self,
        communicator: &'a Communicator,
        stream: &'a Stream,
        receive: &'a mut D,
        from: usize,
    ) -> Result<()> {
        const CALL: &str = "ncclRecv";
        self.check(CALL, communicator, stream)?;
        let peer = root_of(CALL, communicator, from)?;
        self.push_in_place(communicator, stream, receive, |buffers| {
            Call::Receive(buffers, peer)
        })
    }

    fn enqueue(self) -> Result<()> {
        const CALL: &str = "ncclGroupEnd";
        let Group { mut work, calls } = self;
        let mut communicators: SmallVec<[&Arc<Inner>; 1]> =
            calls.iter().map(|call| &call.communicator.inner).collect();
        // All threads take several communicators in the same order.
        communicators.sort_by_key(|inner| Arc::as_ptr(inner).addr());
        communicators.dedup_by_key(|inner| Arc::as_ptr(inner).addr());
        let Some(nccl) = communicators.first().map(|inner| inner.nccl) else {
            return Ok(());
        };
        let mut lives: SmallVec<[_; 1]> = SmallVec::new();
        for inner in &communicators {
            lives.push(inner.alive(CALL)?);
            work.keeps((*inner).clone());
        }
        // Whether what was begun is enqueued, as NCCL says.
        let make_calls = || -> Result<bool> {
            if let [only] = &calls[..] {
                return only.make();
            }
            // SAFETY: the call takes no arguments, and `ncclGroupEnd` follows on this thread.
            let code = unsafe { (nccl.functions.ncclGroupStart)() };
            check("ncclGroupStart", code, None)?;
            let made = calls.iter().try_for_each(|call| call.make().map(drop));
            // SAFETY: the group was begun above, on this thread.
            let code = unsafe { (nccl.functions.ncclGroupEnd)() };
            made?;
            check(CALL, code, Some(communicators[0].comm()))?;
            Ok(code == ncclResult_t::ncclSuccess)
        };
        let wait = |lives: &mut [std::sync::MutexGuard<'_, _>]| -> Result<()> {
            for (inner, life) in communicators.iter().zip(lives) {
                // SAFETY: the communicator is alive: `life` says so.
                match unsafe { finish(nccl, CALL, inner.comm(), inner.timeout) }? {
                    Some(()) => {}
                    None => {
                        // What was begun is not enqueued, and no graph has any of it.
                        inner.abort(life)?;
                        return Err(inner.timed_out(CALL, inner.timeout));
                    }
                }
            }
            Ok(())
        };
        // SAFETY: NCCL enqueues in the streams of the calls alone, which were named; it reads what was named for reading and writes what was
        // named for writing, as far as the counts say, which are those of the buffers; a graph keeps the communicators. What NCCL has begun
        // it has enqueued when it is no longer in progress.
        unsafe {
            work.enqueue(|| match make_calls()? {
                true => Ok(()),
                false => wait(&mut lives),
            })
        }
    }
}

fn both<T: Element>(send: &ForeignMemory<T>, receive: &ForeignMemory<T>, count: usize) -> Buffers {
    Buffers::of::<T>(send.pointer().address(), receive.pointer().address(), count)
}

impl Queued<'_> {
    /// Calls NCCL, which enqueues at the end of the group, if there is one. Whether it has all that it needs for that.
    fn make(&self) -> Result<bool> {
        let inner = &self.communicator.inner;
        let (nccl, comm) = (&inner.nccl.functions, inner.comm());
        let stream: cudaStream_t = self.stream.as_raw();
        let from = |buffers: &Buffers| buffers.send as *const c_void;
        let to = |buffers: &Buffers| buffers.receive as *mut c_void;
        // SAFETY: the communicator is alive, and this thread alone calls with it; the stream is borrowed, and of the same device; the buffers
        // have the counts, times the number of ranks where the function says so (checked when the call was added to the group), and are
        // borrowed until the work is enqueued.
        let (name, code) = unsafe {
            match &self.call {
                Call::AllReduce(b, op) => (
                    "ncclAllReduce",
                    (nccl.ncclAllReduce)(from(b), to(b), b.count, b.kind, *op, comm, stream),
                ),
                Call::Broadcast(b, root) => (
                    "ncclBroadcast",
                    (nccl.ncclBroadcast)(from(b), to(b), b.count, b.kind, *root, comm, stream),
                ),
                Call::Reduce(b, op, root) => (
                    "ncclReduce",
                    (nccl.ncclReduce)(from(b), to(b), b.count, b.kind, *op, *root, comm, stream),
                ),
                Call::AllGather(b) => (
                    "ncclAllGather",
                    (nccl.ncclAllGather)(from(b), to(b), b.count, b.kind, comm, stream),
                ),
                Call::ReduceScatter(b, op) => (
                    "ncclReduceScatter",
                    (nccl.ncclReduceScatter)(from(b), to(b), b.count, b.kind, *op, comm, stream),
                ),
                Call::Send(b, peer) => (
                    "ncclSend",
                    (nccl.ncclSend)(from(b), b.count, b.kind, *peer, comm, stream),
                ),
                Call::Receive(b, peer) => (
                    "ncclRecv",
                    (nccl.ncclRecv)(to(b), b.count, b.kind, *peer, comm, stream),
                ),
            }
        };
        match code {
            ncclResult_t::ncclSuccess => Ok(true),
            ncclResult_t::ncclInProgress => Ok(false),
            code => Err(failed(name, code, Some(comm))),
        }
    }
}

/// A method of [`Communicator`] that makes one call of [`Group`].
macro_rules! alone {
    ($(
        $(#[$doc:meta])*
        fn $name:ident[$($type:ident: {$($bound:tt)*}),*](stream, $($argument:ident: $kind:ty),*);
    )*) => {
        impl Communicator {
            $(
                $(#[$doc])*
                pub fn $name<$($type),*>(&self, stream: &Stream, $($argument: $kind),*) -> Result<()>
                where
                    $($type: $($bound)* + ?Sized),*
                {
                    group(|group| group.$name(self, stream, $($argument),*))
                }
            )*
        }
    };
}

alone! {
    /// [`Group::all_reduce`], alone.
    ///
    /// # Errors
    ///
    /// As there, and as for [`group`].
    fn all_reduce[S: {DeviceRead<Item: Element>}, D: {DeviceWrite<Item = S::Item>}](
        stream, send: &S, receive: &mut D, reduction: Reduction
    );
    /// [`Group::all_reduce_in_place`], alone.
    ///
    /// # Errors
    ///
    /// As there, and as for [`group`].
    fn all_reduce_in_place[D: {DeviceWrite<Item: Element>}](stream, buffer: &mut D, reduction: Reduction);
    /// [`Group::broadcast`], alone.
    ///
    /// # Errors
    ///
    /// As there, and as for [`group`].
    fn broadcast[D: {DeviceWrite<Item: Element>}](stream, buffer: &mut D, root: usize);
    /// [`Group::reduce_in_place`], alone.
    ///
    /// # Errors
    ///
    /// As there, and as for [`group`].
    fn reduce_in_place[D: {DeviceWrite<Item: Element>}](stream, buffer: &mut D, reduction: Reduction, root: usize);
    /// [`Group::all_gather`], alone.
    ///
    /// # Errors
    ///
    /// As there, and as for [`group`].
    fn all_gather[S: {DeviceRead<Item: Element>}, D: {DeviceWrite<Item = S::Item>}](stream, send: &S, receive: &mut D);
    /// [`Group::reduce_scatter`], alone.
    ///
    /// # Errors
    ///
    /// As there, and as for [`group`].
    fn reduce_scatter[S: {DeviceRead<Item: Element>}, D: {DeviceWrite<Item = S::Item>}](
        stream, send: &S, receive: &mut D, reduction: Reduction
    );
    /// [`Group::all_to_all`], alone.
    ///
    /// # Errors
    ///
    /// As there, and as for [`group`].
    fn all_to_all[S: {DeviceRead<Item: Element>}, D: {DeviceWrite<Item = S::Item>}](stream, send: &S, receive: &mut D);
    /// [`Group::send`], alone.
    ///
    /// # Errors
    ///
    /// As there, and as for [`group`].
    fn send[S: {DeviceRead<Item: Element>}](stream, send: &S, to: usize);
    /// [`Group::receive`], alone.
    ///
    /// # Errors
    ///
    /// As there, and as for [`group`].
    fn receive[D: {DeviceWrite<Item: Element>}](stream, receive: &mut D, from: usize);
}

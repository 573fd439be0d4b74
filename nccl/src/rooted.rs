//! Collectives of which the root alone has one of the buffers.

use warpsmith_host::{DeviceRead, DeviceWrite, Stream};

use crate::collective::{self, Collective};
use crate::communicator::Communicator;
use crate::element::Element;
use crate::error::{Error, Result};
use crate::group::{Group, Queued, group};
use crate::reduction::{Operation, Reduce};

/// The methods of [`Group`] and [`Communicator`] for one collective.
macro_rules! method {
    (
        $(#[$doc:meta])*
        $name:ident(send: $send:ty, receive: $receive:ty $(, $argument:ident: $kind:ty)*)
        |$group:ident, $communicator:ident, $stream:ident, $from:ident, $to:ident, $root:ident| $body:block
        example $before:literal $call:literal $after:literal
    ) => {
        impl<'a> Group<'a> {
            $(#[$doc])*
            ///
            /// # Errors
            ///
            /// The root has no such buffer, the lengths do not go together, or there is no such rank; the buffers, the stream and the communicator
            /// are not of one GPU; the group uses another stream for it.
            pub fn $name<S, D>(
                &mut self,
                $communicator: &'a Communicator,
                $stream: &'a Stream,
                $from: $send,
                $to: $receive,
                $($argument: $kind,)*
                $root: usize,
            ) -> Result<()>
            where
                S: DeviceRead<Item: Element> + ?Sized,
                D: DeviceWrite<Item = S::Item> + ?Sized,
            {
                let $group = self;
                $body
            }
        }

        impl Communicator {
            $(#[$doc])*
            ///
            /// ```
            /// use warpsmith_host::prelude::*;
            /// use warpsmith_nccl::{Communicator, Reduction};
            ///
            /// # fn main() -> Result<(), warpsmith_nccl::Error> {
            /// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
            /// # let communicator = Communicator::all(&[gpu.clone()])?.remove(0);
            /// let stream = gpu.stream()?;
            /// let is_root = communicator.rank() == 0;
            #[doc = $before]
            #[doc = concat!("communicator.", stringify!($name), "(&stream, ", $call, ", 0)?;")]
            #[doc = $after]
            /// # Ok(())
            /// # }
            /// ```
            ///
            /// # Errors
            ///
            /// The root has no such buffer, the lengths do not go together, or there is no such rank; the buffers, the stream and the communicator
            /// are not of one GPU; or as for [`group`].
            pub fn $name<'a, S, D>(
                &'a self,
                stream: &'a Stream,
                send: $send,
                receive: $receive,
                $($argument: $kind,)*
                root: usize,
            ) -> Result<()>
            where
                S: DeviceRead<Item: Element> + ?Sized,
                D: DeviceWrite<Item = S::Item> + ?Sized,
            {
                group(|group| group.$name(self, stream, send, receive, $($argument,)* root))
            }
        }
    };
}

method! {
    /// The root's `receive` becomes the reduction of all ranks' `send`, which has its length. The others have none, or one that is left as it is.
    reduce(send: &'a S, receive: Option<&'a mut D>, reduction: impl Reduce<'a, S::Item>)
    |group, communicator, stream, send, receive, root| {
        let collective = &collective::REDUCE;
        group.check(collective, communicator, stream, root)?;
        let from = group.work.reads(stream, send)?;
        let (at, count) = match of_root(collective, communicator, root, receive, "receive")? {
            None => (0, from.len()),
            Some(receive) => {
                let to = group.work.writes(stream, receive)?;
                let count = collective.count(from.len(), to.len(), communicator.size())?;
                (to.pointer().address(), count)
            }
        };
        let operation = Operation::of(&from, reduction, &mut group.work, stream)?;
        let at = [from.pointer().address(), at];
        group.add(Queued::at::<S::Item>(collective, communicator, stream, at, count, operation, root)?);
        Ok(())
    }
    example
        "let send = stream.upload(&[1.0_f32, 2.0])?;\nlet mut sum = if is_root { Some(stream.zeroed::<f32>(2)?) } else { None };"
        "&send, sum.as_mut(), Reduction::Sum"
        "if let Some(sum) = &sum {\n    assert_eq!(stream.download(sum)?, [1.0, 2.0]);\n}"
}

method! {
    /// Each rank's `receive` becomes the root's `send`, which has its length. The others have none, or one that is not looked at.
    broadcast_into(send: Option<&'a S>, receive: &'a mut D)
    |group, communicator, stream, send, receive, root| {
        let collective = &collective::BROADCAST;
        group.check(collective, communicator, stream, root)?;
        let to = group.work.writes(stream, receive)?;
        let address = to.pointer().address();
        let (at, count) = match of_root(collective, communicator, root, send, "send")? {
            None => ([address, address], to.len()),
            Some(send) => {
                let from = group.work.reads(stream, send)?;
                let count = collective.count(from.len(), to.len(), communicator.size())?;
                ([from.pointer().address(), address], count)
            }
        };
        let operation = Operation::SUM;
        group.add(Queued::at::<S::Item>(collective, communicator, stream, at, count, operation, root)?);
        Ok(())
    }
    example
        "let send = if is_root { Some(stream.upload(&[1_u8, 2])?) } else { None };\nlet mut receive = stream.zeroed::<u8>(2)?;"
        "send.as_ref(), &mut receive"
        "assert_eq!(stream.download(&receive)?, [1, 2]);"
}

method! {
    /// The root's `receive` becomes all ranks' `send`, one behind the other: it has room for one of each rank. The others have none, or one that is
    /// left as it is.
    gather(send: &'a S, receive: Option<&'a mut D>)
    |group, communicator, stream, send, receive, root| {
        let collective = &collective::GATHER;
        group.check(collective, communicator, stream, root)?;
        let from = group.work.reads(stream, send)?;
        let (at, count) = match of_root(collective, communicator, root, receive, "receive")? {
            None => (0, from.len()),
            Some(receive) => {
                let to = group.work.writes(stream, receive)?;
                let count = collective.count(from.len(), to.len(), communicator.size())?;
                (to.pointer().address(), count)
            }
        };
        let at = [from.pointer().address(), at];
        let operation = Operation::SUM;
        group.add(Queued::at::<S::Item>(collective, communicator, stream, at, count, operation, root)?);
        Ok(())
    }
    example
        "let send = stream.upload(&[7_u32; 2])?;\nlet room = 2 * communicator.size();\nlet mut all = if is_root { Some(stream.zeroed::<u32>(room)?) } else { None };"
        "&send, all.as_mut()"
        "if let Some(all) = &all {\n    assert_eq!(stream.download(all)?[..2], [7, 7]);\n}"
}

method! {
    /// Each rank's `receive` becomes its part of the root's `send`, which has one `receive` for each rank: rank 0 the first part, and so on. The others
    /// have none, or one that is not looked at.
    scatter(send: Option<&'a S>, receive: &'a mut D)
    |group, communicator, stream, send, receive, root| {
        let collective = &collective::SCATTER;
        group.check(collective, communicator, stream, root)?;
        let to = group.work.writes(stream, receive)?;
        let (at, count) = match of_root(collective, communicator, root, send, "send")? {
            None => (0, to.len()),
            Some(send) => {
                let from = group.work.reads(stream, send)?;
                let count = collective.count(from.len(), to.len(), communicator.size())?;
                (from.pointer().address(), count)
            }
        };
        let at = [at, to.pointer().address()];
        let operation = Operation::SUM;
        group.add(Queued::at::<S::Item>(collective, communicator, stream, at, count, operation, root)?);
        Ok(())
    }
    example
        "let parts = vec![5_i64; 2 * communicator.size()];\nlet send = if is_root { Some(stream.upload(&parts)?) } else { None };\nlet mut receive = stream.zeroed::<i64>(2)?;"
        "send.as_ref(), &mut receive"
        "assert_eq!(stream.download(&receive)?, [5, 5]);"
}

/// The buffer that the root alone has, where this is the root.
///
/// # Errors
///
/// This is the root, and has none.
fn of_root<B>(
    collective: &Collective,
    communicator: &Communicator,
    root: usize,
    buffer: Option<B>,
    what: &str,
) -> Result<Option<B>> {
    match buffer {
        _ if communicator.rank() != root => Ok(None),
        Some(buffer) => Ok(Some(buffer)),
        None => Err(Error::misuse(
            collective.name,
            format!("this is the root, rank {root}, and it has no buffer to {what}"),
            "the root gives `Some` buffer",
        )),
    }
}

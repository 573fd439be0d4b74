//! The collectives as methods of communicators and groups.

use warpsmith_host::{DeviceRead, DeviceWrite, ForeignUse, Stream};

use crate::alone::alone;
use crate::collective;
use crate::communicator::Communicator;
use crate::element::Element;
use crate::error::Result;
use crate::group::{Group, Queued, group};
use crate::reduction::{Operation, Reduce, Reduction};

/// Neither a root nor another side: of calls that have none.
const NO_RANK: usize = 0;
/// Of calls that do not reduce.
const NO_REDUCTION: Reduction = Reduction::Sum;

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
            <S> [ForeignUse::reads(send), ForeignUse::writes(receive)]
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
            <D> [ForeignUse::writes(buffer)]
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
            <S> [ForeignUse::reads(send)]
            $fence $before $call $after
        }
    };
    (@both
        [$(#[$doc:meta])*] $name:ident [$($type:ident: {$($bound:tt)*}),*]
        [$($buffer:ident: {$($access:tt)*}),*] [$($argument:ident: $kind:ty),*]
        $collective:ident($reduction:expr, $rank:expr)
        |$work:ident, $stream:ident| { $($named:tt)* } ($from:ident, $to:ident)
        <$items:ident> [$($use:expr),*]
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
                self.check(collective, communicator, stream, $rank)?;
                let ($work, $stream) = (&mut self.work, stream);
                $($named)*
                let operation = Operation::of(&$from, $reduction, $work, stream)?;
                let buffers = (&$from, &$to);
                let call = Queued::new(collective, communicator, stream, buffers, operation, $rank)?;
                self.add(call);
                Ok(())
            }
        }

        impl Communicator {
            $(#[$doc])*
            ///
            /// # Errors
            ///
            /// The lengths do not go together, or there is no such rank; the buffers, the stream and the communicator are not of one GPU; or as
            /// for [`group`](fn@crate::group).
            ///
            #[doc = example!($fence, $before, concat!("communicator.", stringify!($name), "(&stream, ", $call, ")?;"), $after)]
            #[inline]
            pub fn $name<'a, $($type),*>(
                &'a self,
                stream: &'a Stream,
                $($buffer: &'a $($access)*,)*
                $($argument: $kind,)*
            ) -> Result<()>
            where
                $($type: $($bound)* + ?Sized),*
            {
                let collective = &collective::$collective;
                let built_in = Operation::built_in_of::<$items::Item>(&$reduction);
                let Some(reduction) = built_in.filter(|_| !collective.is_several) else {
                    return group(|group| group.$name(self, stream, $($buffer,)* $($argument),*));
                };
                alone(collective, self, stream, [$($use),*], reduction, $rank)
            }
        }
    };
}

method! {
    /// Each rank gets the reduction of all ranks' `send`, which has the length of `receive`.
    all_reduce(send, receive, reduction: impl Reduce<'a, S::Item>) = ALL_REDUCE(reduction, NO_RANK);
    example "" "let send = stream.upload(&[1.0_f32, 2.0])?;\nlet mut receive = stream.zeroed::<f32>(2)?;"
        "&send, &mut receive, Reduction::Sum" "assert_eq!(stream.download(&receive)?, [1.0, 2.0]);"
}

method! {
    /// As [`all_reduce`](Self::all_reduce), with the result in the place of this rank's contribution.
    all_reduce_in_place(buffer, reduction: impl Reduce<'a, D::Item>) = ALL_REDUCE(reduction, NO_RANK);
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
    reduce_in_place(buffer, reduction: impl Reduce<'a, D::Item>, root: usize) = REDUCE(reduction, root);
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
    reduce_scatter(send, receive, reduction: impl Reduce<'a, S::Item>) = REDUCE_SCATTER(reduction, NO_RANK);
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
    /// ever: a [`group`](fn@crate::group) makes both calls together.
    send(send, to: usize) = SEND(NO_REDUCTION, to);
    example "no_run" "let data = stream.upload(&[1_u8, 2])?;" "&data, 1" ""
}

method! {
    /// Receives from a rank, which sends as many elements of the same type.
    receive(buffer, from: usize) = RECEIVE(NO_REDUCTION, from);
    example "no_run" "let mut data = stream.zeroed::<u8>(2)?;" "&mut data, 1" ""
}

//! All-to-all with another count for each pair of ranks.

use warpsmith_host::{DeviceRead, DeviceWrite, Stream};

use crate::collective;
use crate::communicator::Communicator;
use crate::element::Element;
use crate::error::{Error, Result};
use crate::group::{Group, Queued, group};
use crate::reduction::Operation;

/// By which errors name it.
const CALL: &str = "all-to-all with counts";

impl<'a> Group<'a> {
    /// Part `j` of this rank's `send`, of `send_counts[j]` elements, becomes part `i` of rank `j`'s `receive`, of `receive_counts[i]` elements there, where
    /// this is rank `i`. There are as many parts as ranks, each behind the one before; they may be empty. It is made of sends and receives.
    ///
    /// # Errors
    ///
    /// There are not as many counts as ranks, or they are not together the buffer's length; a rank sends itself another count than it receives; the
    /// buffers, the stream and the communicator are not of one GPU; the group uses another stream for it.
    pub fn all_to_all_varying<S, D>(
        &mut self,
        communicator: &'a Communicator,
        stream: &'a Stream,
        send: &'a S,
        send_counts: &[usize],
        receive: &'a mut D,
        receive_counts: &[usize],
    ) -> Result<()>
    where
        S: DeviceRead<Item: Element> + ?Sized,
        D: DeviceWrite<Item = S::Item> + ?Sized,
    {
        let (rank, ranks) = (communicator.rank(), communicator.size());
        self.check(&collective::SEND, communicator, stream, rank)?;
        let from = self.work.reads(stream, send)?;
        let to = self.work.writes(stream, receive)?;
        check_counts("send", send_counts, from.len(), ranks)?;
        check_counts("receive", receive_counts, to.len(), ranks)?;
        if send_counts[rank] != receive_counts[rank] {
            return Err(Error::misuse(
                CALL,
                format!(
                    "rank {rank} sends {} elements to itself and receives {}",
                    send_counts[rank], receive_counts[rank]
                ),
                "what one rank sends to another is what that receives from it",
            ));
        }
        let bytes = size_of::<S::Item>() as u64;
        let mut at = [from.pointer().address(), to.pointer().address()];
        for (peer, (&sent, &received)) in send_counts.iter().zip(receive_counts).enumerate() {
            let parts = [
                (&collective::SEND, sent, [at[0]; 2]),
                (&collective::RECEIVE, received, [at[1]; 2]),
            ];
            for (collective, count, at) in parts.into_iter().filter(|(_, count, _)| *count > 0) {
                self.add(Queued::at::<S::Item>(
                    collective,
                    communicator,
                    stream,
                    at,
                    count,
                    Operation::SUM,
                    peer,
                )?);
            }
            at[0] += sent as u64 * bytes;
            at[1] += received as u64 * bytes;
        }
        Ok(())
    }
}

impl Communicator {
    /// Part `j` of this rank's `send`, of `send_counts[j]` elements, becomes part `i` of rank `j`'s `receive`, of `receive_counts[i]` elements there, where
    /// this is rank `i`. There are as many parts as ranks, each behind the one before; they may be empty. It is made of sends and receives.
    ///
    /// ```
    /// use warpsmith_host::prelude::*;
    /// use warpsmith_nccl::Communicator;
    ///
    /// # fn main() -> Result<(), warpsmith_nccl::Error> {
    /// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
    /// # let communicator = Communicator::all(&[gpu.clone()])?.remove(0);
    /// let stream = gpu.stream()?;
    /// // Each rank sends rank `j` as many elements as this says, and gets as many from rank `i` as its own number says.
    /// let count = |to: usize| 3 + to;
    /// let send_counts: Vec<usize> = (0..communicator.size()).map(count).collect();
    /// let receive_counts = vec![count(communicator.rank()); communicator.size()];
    /// let send = stream.upload(&vec![1.5_f32; send_counts.iter().sum()])?;
    /// let mut receive = stream.zeroed::<f32>(receive_counts.iter().sum())?;
    /// communicator.all_to_all_varying(&stream, &send, &send_counts, &mut receive, &receive_counts)?;
    /// assert_eq!(stream.download(&receive)?[..3], [1.5; 3]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// There are not as many counts as ranks, or they are not together the buffer's length; a rank sends itself another count than it receives; the
    /// buffers, the stream and the communicator are not of one GPU; or as for [`group`].
    pub fn all_to_all_varying<S, D>(
        &self,
        stream: &Stream,
        send: &S,
        send_counts: &[usize],
        receive: &mut D,
        receive_counts: &[usize],
    ) -> Result<()>
    where
        S: DeviceRead<Item: Element> + ?Sized,
        D: DeviceWrite<Item = S::Item> + ?Sized,
    {
        group(|group| {
            group.all_to_all_varying(self, stream, send, send_counts, receive, receive_counts)
        })
    }
}

/// There is one count for each rank, and together they are the buffer's length.
fn check_counts(what: &str, counts: &[usize], len: usize, ranks: usize) -> Result<()> {
    if counts.len() != ranks {
        return Err(Error::misuse(
            CALL,
            format!(
                "there are {} counts to {what} for {ranks} ranks",
                counts.len()
            ),
            "give one count for each rank, 0 for one that has no part",
        ));
    }
    let sum = counts
        .iter()
        .try_fold(0_usize, |sum, &count| sum.checked_add(count));
    match sum {
        Some(sum) if sum == len => Ok(()),
        sum => Err(Error::misuse(
            CALL,
            format!(
                "the counts to {what} are {} elements, and the buffer has {len}",
                sum.map_or("more than memory has".into(), |sum| sum.to_string())
            ),
            "use a slice of the buffer: `buffer.slice(..n)`",
        )),
    }
}

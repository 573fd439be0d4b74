//! Bandwidth as `nccl-tests` counts it.

use std::time::Duration;

/// A kind of collective, for [`bus_bandwidth`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Collective {
    /// [`Communicator::all_reduce`](crate::Communicator::all_reduce).
    AllReduce,
    /// [`Communicator::all_gather`](crate::Communicator::all_gather).
    AllGather,
    /// [`Communicator::reduce_scatter`](crate::Communicator::reduce_scatter).
    ReduceScatter,
    /// [`Communicator::all_to_all`](crate::Communicator::all_to_all).
    AllToAll,
    /// [`Communicator::broadcast`](crate::Communicator::broadcast).
    Broadcast,
    /// [`Communicator::reduce_in_place`](crate::Communicator::reduce_in_place).
    Reduce,
    /// [`Group::send`](crate::Group::send) and [`Group::receive`](crate::Group::receive).
    SendReceive,
}

/// The *bus bandwidth* of a collective in bytes a second, which says how well the links are used, whatever the number of ranks: `bytes` by
/// `time`, times the part of it that crosses each link at least. That is `2 (n - 1) / n` for an all-reduce, `(n - 1) / n` for all-gather,
/// reduce-scatter and all-to-all, and 1 for the rest.
///
/// `bytes` is the size of the larger buffer of a rank: for an all-gather that of the result. One rank has nothing to send: 0 for those that
/// depend on the number.
///
/// ```
/// use std::time::Duration;
/// use warpsmith_nccl::{Collective, bus_bandwidth};
///
/// let second = Duration::from_secs(1);
/// assert_eq!(bus_bandwidth(Collective::AllReduce, 4, 1000, second), 1500.0);
/// assert_eq!(bus_bandwidth(Collective::AllGather, 4, 1000, second), 750.0);
/// assert_eq!(bus_bandwidth(Collective::Broadcast, 4, 1000, second), 1000.0);
/// ```
pub fn bus_bandwidth(collective: Collective, ranks: usize, bytes: usize, time: Duration) -> f64 {
    let others = ranks.saturating_sub(1) as f64 / ranks.max(1) as f64;
    let factor = match collective {
        Collective::AllReduce => 2.0 * others,
        Collective::AllGather | Collective::ReduceScatter | Collective::AllToAll => others,
        Collective::Broadcast | Collective::Reduce | Collective::SendReceive => 1.0,
    };
    bytes as f64 / time.as_secs_f64() * factor
}

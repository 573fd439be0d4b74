//! Collectives as exchanges of messages. Who reduces a part does so in the order of the ranks, and sends the others what came out: all
//! ranks get the same bits.

use warpsmith_nccl_abi::{ncclDataType_t, ncclRedOp_t};

use crate::communicator::Factor;
use crate::element;
use crate::exchange::{Call, Header, Incoming, Outgoing, exchange};
use crate::failure::Result;
use crate::world::World;

/// A call, with what all ranks say alike.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Collective {
    pub(crate) call: Call,
    pub(crate) kind: ncclDataType_t,
    pub(crate) reduction: ncclRedOp_t,
    pub(crate) root: usize,
    pub(crate) count: usize,
    /// Of one element.
    pub(crate) element: usize,
    /// Of a reduction that was made: what this rank's elements are multiplied with first.
    pub(crate) factor: Option<Factor>,
}

impl Collective {
    /// The bytes that a rank of so many gives.
    pub(crate) fn send_bytes(&self, rank: usize, ranks: usize) -> usize {
        let one = self.count * self.element;
        match self.call {
            Call::ReduceScatter => one * ranks,
            Call::Broadcast if rank != self.root => 0,
            _ => one,
        }
    }

    /// The bytes that it gets.
    pub(crate) fn receive_bytes(&self, rank: usize, ranks: usize) -> usize {
        let one = self.count * self.element;
        match self.call {
            Call::AllGather => one * ranks,
            Call::Reduce if rank != self.root => 0,
            _ => one,
        }
    }

    fn header(&self) -> Header {
        Header {
            call: self.call,
            kind: self.kind,
            reduction: self.reduction,
            root: self.root as u32,
            count: self.count as u64,
        }
    }

    /// Does it, with the other ranks.
    ///
    /// # Errors
    ///
    /// As for [`exchange`].
    pub(crate) fn run(
        &self,
        world: &World,
        send: &[u8],
        receive: &mut [u8],
        stopped: &dyn Fn() -> bool,
    ) -> Result<()> {
        let one = self.count * self.element;
        let everyone = || 0..world.ranks;
        match self.call {
            Call::Transfer => unreachable!("transfers are not collectives"),
            Call::AllReduce => self.all_reduce(world, send, receive, stopped),
            Call::AllGather => {
                let parts = everyone().map(|to| (to, send)).collect();
                let places = parts_of(receive, &vec![one; world.ranks]);
                self.step(world, parts, everyone().zip(places).collect(), stopped)
            }
            Call::Broadcast => {
                let parts = match world.rank == self.root {
                    true => everyone().map(|to| (to, send)).collect(),
                    false => Vec::new(),
                };
                self.step(world, parts, vec![(self.root, receive)], stopped)
            }
            Call::Reduce => {
                let all = match world.rank == self.root {
                    true => one,
                    false => 0,
                };
                let mut contributions = vec![vec![0; all]; world.ranks];
                let places = match world.rank == self.root {
                    true => gathered(&mut contributions),
                    false => Vec::new(),
                };
                self.step(world, vec![(self.root, send)], places, stopped)?;
                if world.rank == self.root {
                    element::reduce(self.kind, self.reduction, &contributions, receive);
                }
                Ok(())
            }
            Call::ReduceScatter => {
                let mut contributions = vec![vec![0; one]; world.ranks];
                let parts = everyone()
                    .map(|to| (to, &send[to * one..(to + 1) * one]))
                    .collect();
                self.step(world, parts, gathered(&mut contributions), stopped)?;
                element::reduce(self.kind, self.reduction, &contributions, receive);
                Ok(())
            }
        }
    }

    /// Each rank reduces a part, then all give their parts to all.
    fn all_reduce(
        &self,
        world: &World,
        send: &[u8],
        receive: &mut [u8],
        stopped: &dyn Fn() -> bool,
    ) -> Result<()> {
        let bound = |rank: usize| {
            let elements = self.count as u128 * rank as u128 / world.ranks as u128;
            elements as usize * self.element
        };
        let part = |rank: usize| bound(rank)..bound(rank + 1);
        let own = part(world.rank);
        let mut contributions = vec![vec![0; own.len()]; world.ranks];
        let parts = (0..world.ranks).map(|to| (to, &send[part(to)])).collect();
        self.step(world, parts, gathered(&mut contributions), stopped)?;
        let mut reduced = vec![0; own.len()];
        element::reduce(self.kind, self.reduction, &contributions, &mut reduced);
        let parts = (0..world.ranks).map(|to| (to, &reduced[..])).collect();
        let lengths: Vec<usize> = (0..world.ranks).map(|rank| part(rank).len()).collect();
        let places = (0..world.ranks).zip(parts_of(receive, &lengths)).collect();
        self.step(world, parts, places, stopped)
    }

    fn step(
        &self,
        world: &World,
        parts: Vec<(usize, &[u8])>,
        places: Vec<(usize, &mut [u8])>,
        stopped: &dyn Fn() -> bool,
    ) -> Result<()> {
        let header = self.header();
        let outgoing = parts
            .into_iter()
            .map(|(to, data)| Outgoing { to, data, header })
            .collect();
        let incoming = places
            .into_iter()
            .map(|(from, data)| Incoming { from, data, header })
            .collect();
        exchange(world, outgoing, incoming, stopped)
    }
}

/// A place for each rank's contribution.
fn gathered(contributions: &mut [Vec<u8>]) -> Vec<(usize, &mut [u8])> {
    contributions
        .iter_mut()
        .map(Vec::as_mut_slice)
        .enumerate()
        .collect()
}

/// Consecutive parts of these lengths.
fn parts_of<'a>(mut data: &'a mut [u8], lengths: &[usize]) -> Vec<&'a mut [u8]> {
    let mut parts = Vec::new();
    for &length in lengths {
        let (part, rest) = data.split_at_mut(length);
        parts.push(part);
        data = rest;
    }
    parts
}

//! Collectives and transfers: one call of NCCL's as operations of the group that it is part of.

use std::ffi::{c_int, c_void};
use std::sync::Arc;

use warpsmith_abi as raw;
use warpsmith_nccl_abi::*;

use super::arguments::{bytes_of, rank_of, region};
use crate::collective::Collective;
use crate::communicator::{self, Communicator, Factor};
use crate::element;
use crate::exchange::{Call, Header};
use crate::failure::Result;
use crate::group::{self, Operation};
use crate::job::{Region, Transfer};

#[allow(clippy::too_many_arguments)] // NCCL's own.
pub(super) fn collective(
    call: Call,
    send: *const c_void,
    receive: *mut c_void,
    count: usize,
    kind: ncclDataType_t,
    reduction: ncclRedOp_t,
    root: c_int,
    comm: ncclComm_t,
    stream: cudaStream_t,
) -> Result<()> {
    let communicator = communicator::find(comm)?;
    let world = communicator.ready()?;
    let (rank, ranks) = (world.rank, world.ranks);
    let element = element::size(kind)?;
    bytes_of(count, element, ranks)?;
    let (reduction, factor) = if reduction.0 < ncclRedOp_t::BUILT_IN {
        (reduction, None)
    } else {
        let made = ncclRedOp_t(ncclRedOp_t::BUILT_IN);
        (made, Some(communicator.factor(reduction, kind)?))
    };
    let collective = Collective {
        call,
        kind,
        reduction,
        root: rank_of(root, ranks)?,
        count,
        element,
        factor,
    };
    let mut inputs = vec![region(send, collective.send_bytes(rank, ranks), "send")?];
    if let Some(Factor::OnDevice(address)) = factor {
        inputs.push(Region {
            address,
            bytes: element,
        });
    }
    let output = region(receive, collective.receive_bytes(rank, ranks), "receive")?;
    let operation = Operation::Collective(collective, inputs, output);
    group::add(communicator.clone(), stream as raw::CUstream, operation)
}

/// A collective that is a group of sends and receives, of as many elements each.
pub(super) struct Parts {
    communicator: Arc<Communicator>,
    pub(super) rank: usize,
    ranks: usize,
    count: usize,
    bytes: usize,
    kind: ncclDataType_t,
    stream: cudaStream_t,
}

impl Parts {
    pub(super) fn of(
        count: usize,
        kind: ncclDataType_t,
        comm: ncclComm_t,
        stream: cudaStream_t,
    ) -> Result<Parts> {
        let communicator = communicator::find(comm)?;
        let world = communicator.ready()?;
        let (rank, ranks) = (world.rank, world.ranks);
        let element = element::size(kind)?;
        bytes_of(count, element, ranks)?;
        Ok(Parts {
            communicator: communicator.clone(),
            rank,
            ranks,
            count,
            bytes: count * element,
            kind,
            stream,
        })
    }

    pub(super) fn rank_of(&self, rank: c_int) -> Result<usize> {
        rank_of(rank, self.ranks)
    }

    /// Makes the sends and receives of each rank, beside each other.
    pub(super) fn transfer(&self, part: impl FnMut(usize) -> Result<()>) -> Result<()> {
        group::start();
        let added = (0..self.ranks).try_for_each(part);
        if let Err(failure) = &added {
            group::note_failure(failure);
        }
        group::end()
    }

    pub(super) fn send(&self, from: *const c_void, part: usize, peer: usize) -> Result<()> {
        self.add(true, from, part, peer)
    }

    pub(super) fn receive(&self, to: *const c_void, part: usize, peer: usize) -> Result<()> {
        self.add(false, to, part, peer)
    }

    fn add(&self, sends: bool, pointer: *const c_void, part: usize, peer: usize) -> Result<()> {
        let what = if sends { "send" } else { "receive" };
        let mut region = region(pointer, self.bytes, what)?;
        region.address += (part * self.bytes) as u64;
        let header = Header {
            call: Call::Transfer,
            kind: self.kind,
            reduction: ncclRedOp_t::ncclSum,
            root: 0,
            count: self.count as u64,
        };
        let transfer = Transfer {
            peer,
            header,
            sends,
        };
        let operation = Operation::Transfer(transfer, region);
        group::add(
            self.communicator.clone(),
            self.stream as raw::CUstream,
            operation,
        )
    }
}

pub(super) fn transfer(
    sends: bool,
    pointer: *const c_void,
    count: usize,
    kind: ncclDataType_t,
    peer: c_int,
    comm: ncclComm_t,
    stream: cudaStream_t,
) -> Result<()> {
    let parts = Parts::of(count, kind, comm, stream)?;
    parts.add(sends, pointer, 0, parts.rank_of(peer)?)
}

//! Execution: what a grid is ([`grid`]), warps of 32 lanes with divergence ([`warp`], [`schedule`], [`wait`], [`frame`]), blocks and
//! clusters with their barriers and shared memory ([`cluster`], [`barrier`], [`shared_map`]), and a cluster with its warps on a worker thread ([`resident`]).
//! Lanes that wait for each other are brought together from different calls ([`transfer`]), and from different instructions ([`rendezvous`]). Operations are types ([`op::Op`]) with declared operands ([`operand`]); lanes of a warp exchange values in [`exchange`].

pub(crate) mod async_copy;
pub(crate) mod barrier;
pub(crate) mod bulk_copy;
mod calls;
pub(crate) mod cluster;
pub(crate) mod exchange;
mod follow;
pub(crate) mod frame;
pub(crate) mod grid;
pub(crate) mod group;
pub(crate) mod group_queue;
pub(crate) mod guest;
pub(crate) mod issuer;
pub(crate) mod lanes;
pub(crate) mod level;
pub(crate) mod mbarrier;
pub(crate) mod notes;
pub(crate) mod op;
pub(crate) mod operand;
pub(crate) mod product;
pub(crate) mod progress;
mod rendezvous;
pub(crate) mod resident;
pub(crate) mod schedule;
pub(crate) mod shared_map;
pub(crate) mod surface_writes;
pub(crate) mod touches;
mod transfer;
pub(crate) mod wait;
pub(crate) mod warp;
pub(crate) mod warpgroup;
pub(crate) mod windows;

//! The checks of shared memory, and of the order of whole pieces of work ([`stream_order`]).
//!
//! Those of shared memory: data races by happens-before, reads of uninitialised bytes, and writes over mbarriers.
//!
//! The race check itself is a `HappensBefore`, which knows what is ordered, and a
//! `Shadow`, which remembers accesses. Both take the width of thread numbers as a parameter, the shadow its store of
//! cells, too (`Cells`): dense for a cluster's shared memory; sparse for memory of any size. Scopes are those of a
//! `Topology` of blocks, clusters and devices. What is beside them for shared memory ([`SharedMemory`]) makes it
//! fast: stamps and intervals.
//!
//! Nothing here knows about instructions or registers. The engine tells a [`SharedMemory`] of a cluster what its warps do
//! (accesses in the words of `warpsmith_isa::effect`, barriers, fences), and gets [`Finding`]s back, which name both accesses by thread and by *site*, a
//! number that the engine gave to the instruction.
//!
//! # The algorithm
//!
//! It is FastTrack (Flanagan and Freund, PLDI 2009) with vector clocks compressed the way GPU programs synchronise, as in
//! BARRACUDA (Eizenberg et al., PLDI 2017): nearly all clocks of a block agree, because barriers make them agree.
//!
//! * One counter per cluster gives *epochs*. A thread has a current epoch; whenever it releases (arrives at a barrier,
//!   synchronises its warp, fences) it moves to a fresh one. An access is known as `(thread, epoch)`.
//! * What a thread has *seen* is, for every other thread, the epoch below which all accesses are ordered before its own.
//!   Most of that is three numbers: for all threads of the cluster, of its block, of its warp (`clock`). Threads that
//!   synchronise in smaller groups have explicit entries on top: per lane for parts of a warp, and a shared vector for
//!   named barriers, locks and flags.
//! * Shadow memory keeps for each word the last weak write, the last strong write and the reads since (`shadow`). An access
//!   races with what it finds there unless that was seen, or both are *strong* (atomic, volatile, relaxed ...): those are
//!   allowed to meet. A weak write must not push a strong one out, nor the other way round: forgetting the plain
//!   initialisation of a histogram, once atomics have touched it, would hide the commonest race there is.
//! * Most accesses are checked by less: two stamps for each cell say who has touched it last (`stamps`). If that is the same
//!   thread, or ordered before all that the accessing warp does (by a barrier of the block or the warp, or an mbarrier), or all
//!   of them read, there is no race, and the access is only noted (`interval`). This is the idea of FastTrack's epochs once
//!   more: the block's barrier orders all that was noted before all that follows, so the notes can be forgotten there.
//!   Whatever stamps do not decide goes to the shadow, after the notes so far; both ways find the same accesses to race
//!   (`comparison`).
//! * Strong accesses may meet, and a release is seen by an acquire, if each one's scope includes the other's thread (`release`):
//!   in a cluster `.cta` does not reach another block.
//! * Operations of the asynchronous proxy are performed by agents, as if by threads of their own, from their instruction until
//!   somebody learns of their completion (`agents`). They see what threads have written once those have executed a proxy fence
//!   (`proxy`).
//! * Copies by `cp.async` are of the generic proxy and most often completed by their own threads: which bytes they write is a set
//!   (`in_flight`), and nobody may touch those between the instruction and its thread's wait.
//! * The exit of a block is a write of all of its shared memory, which is gone then: what other blocks of the cluster have accessed there
//!   must have been seen by some thread of the block before that thread's exit (`shared::exit`).
//! * Two writes of the same value are let pass, as compute-sanitizer does: whoever wins, nothing changes. Where the values are
//!   not known when the write is issued, as those of an asynchronous copy, no two are taken to be the same.
//! * Lanes of one instruction may write different values to the same bytes: which one stays is undefined, but one of them does (CUDA
//!   C++ Programming Guide, "SIMT architecture"). That is no race, and worth a note (`collision`).
//!
//! Ordering comes from `bar`, `barrier.cluster`, `bar.warp.sync`, mbarriers, and from fences with atomics (release and acquire
//! patterns; PTX ISA, memory consistency model), not from shuffles, votes and matches, which order no memory. Lanes of a warp are threads like all others: the
//! order in which the hardware happens to run them promises nothing.

mod access;
mod agents;
mod byte_set;
mod cells;
mod clock;
mod collision;
mod finding;
mod happens_before;
mod in_flight;
mod interval;
mod known;
mod mbarriers;
mod pattern;
mod poison;
mod proxy;
mod release;
mod shadow;
mod shared;
mod stamps;
pub mod stream_order;
mod topology;
mod validity;

pub use access::{
    Access, AccessClass, AsyncAccess, AsyncCompletion, AsyncTicket, GlobalSynchronisation,
    Performer, ProxyFence, RaceCause, Site, ThreadAccess, Values,
};
pub use collision::colliding_lanes;
pub use finding::{Finding, ThreadExit};
pub use poison::{Decision, DecisionKind, Marks, Poison, PoisonOrigin, PoisonSource};
pub use shared::SharedMemory;

#[cfg(test)]
mod tests;

#[cfg(test)]
mod oracle;

#[cfg(test)]
mod comparison;

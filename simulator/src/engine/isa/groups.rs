//! What the instructions that close groups of asynchronous operations, and wait for them, have in common.

use crate::engine::exec::cluster::Cluster;
use crate::engine::exec::group_queue::GroupQueue;
use crate::engine::exec::level::Level;
use crate::engine::exec::op::Op;
use crate::engine::exec::operand::lanes_of;
use crate::engine::exec::warp::{Flow, Warp};
use crate::ptx::ast::{Instruction, OperandKind};
use crate::ptx::{Error, Result};

/// A queue of a warp's lanes.
pub(super) trait LaneQueue {
    /// What is in it.
    type Operation;

    /// The queue.
    fn of(warp: &mut Warp) -> &mut GroupQueue<Self::Operation>;
}

/// Closes the open groups of the lanes.
pub(super) struct Commit<Q>(std::marker::PhantomData<Q>);

impl<Q: LaneQueue> Op for Commit<Q> {
    type Operands = ();

    #[inline(always)]
    fn run<L: Level>(warp: &mut Warp, _: &mut Cluster<'_>, (): ()) -> Flow {
        for lane in lanes_of(warp.mask) {
            Q::of(warp).commit(lane);
        }
        Flow::Next
    }
}

/// The number of groups that a wait leaves under way.
pub(super) fn groups_to_keep(inst: &Instruction<'_>) -> Result<u32> {
    let operand = &inst.operands[0];
    match operand.kind {
        OperandKind::Int(number @ 0..=0xFFFF) => Ok(number as u32),
        _ => Err(Error::new(operand.at, "expected a number of groups")),
    }
}

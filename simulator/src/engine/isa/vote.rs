//! `vote activemask elect`: which lanes of a warp are here, which agree, and one of them.

use super::family::Family;
use super::lowering::emit;
use std::marker::PhantomData;

use crate::engine::dataflow::Dataflow;
use crate::engine::exec::cluster::Cluster;
use crate::engine::exec::exchange::{Exchange, exchange};
use crate::engine::exec::level::Level;
use crate::engine::exec::op::{Op, scalar};
use crate::engine::exec::operand::{
    FULL, LANES, Read, ReadPredicate, Write, WriteOptional, WritePredicate, WritePredicateOptional,
    operands,
};
use crate::engine::exec::warp::{Flow, Warp};
use crate::engine::lower::form::FormReader;
use crate::engine::lower::lowerings::Lowering;
use crate::engine::lower::types::Ty;

/// The instructions of this file.
pub(super) const FAMILY: Family = Family {
    opcodes: &["vote", "activemask", "elect"],
    read,
};

operands! {
    pub(crate) struct VoteOperands { d: WritePredicate, vote: ReadPredicate, members: Read<u32> }
    pub(crate) struct BallotOperands { d: Write<u32>, vote: ReadPredicate, members: Read<u32> }
    pub(crate) struct ElectOperands {
        leader: WriteOptional<u32>, is_leader: WritePredicateOptional, members: Read<u32>,
    }
    pub(crate) struct ActiveMaskOperands { d: Write<u32> }
}

/// What a vote decides.
trait Question {
    /// The answer, given the lanes that say yes and all that take part.
    fn answer(yes: u32, voters: u32) -> bool;
}

macro_rules! questions {
    ($($name:ident |$yes:ident, $voters:ident| $body:expr;)*) => { $(
        struct $name;

        impl Question for $name {
            #[inline(always)]
            fn answer($yes: u32, $voters: u32) -> bool { $body }
        }
    )* };
}
questions! {
    All |yes, voters| yes == voters;
    Any |yes, _voters| yes != 0;
    Uniform |yes, voters| yes == voters || yes == 0;
}

/// `vote.sync.all`, `any` and `uni`
struct Vote<Q>(PhantomData<Q>);

impl<Q: Question> Exchange for Vote<Q> {
    type Operands = VoteOperands;

    #[inline(always)]
    fn members(o: &VoteOperands) -> Read<u32> {
        o.members
    }

    #[inline(always)]
    fn exchange(warp: &mut Warp, o: VoteOperands, _: u32) {
        let yes = o.vote.bits(warp) & warp.mask;
        let answer = Q::answer(yes, warp.mask);
        o.d.put(warp, if answer { FULL } else { 0 });
    }
}

/// `vote.sync.ballot`
struct Ballot;

impl Exchange for Ballot {
    type Operands = BallotOperands;

    #[inline(always)]
    fn members(o: &BallotOperands) -> Read<u32> {
        o.members
    }

    #[inline(always)]
    fn exchange(warp: &mut Warp, o: BallotOperands, _: u32) {
        let votes = o.vote.bits(warp) & warp.mask;
        o.d.put(warp, &[votes; LANES]);
    }
}

/// `elect.sync`: the lowest lane.
struct Elect;

impl Exchange for Elect {
    type Operands = ElectOperands;

    #[inline(always)]
    fn members(o: &ElectOperands) -> Read<u32> {
        o.members
    }

    #[inline(always)]
    fn exchange(warp: &mut Warp, o: ElectOperands, _: u32) {
        let leader = warp.mask.trailing_zeros();
        o.leader.put(warp, &[leader; LANES]);
        o.is_leader.put(warp, 1u32.checked_shl(leader).unwrap_or(0));
    }
}

/// `activemask`: lanes of the current path, which may be any of them. Without a seed they are all that are together here; with one, some
/// of these may come later.
struct ActiveMask;

impl Op for ActiveMask {
    type Operands = ActiveMaskOperands;
    const DATAFLOW: Dataflow = Dataflow::Lanewise;

    #[inline(always)]
    fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, o: Self::Operands) -> Flow {
        warp.fall_apart(cluster);
        let mask = warp.mask;
        o.d.put(warp, &[mask; LANES]);
        Flow::Next
    }
}

fn read(form: &FormReader<'_>) -> Option<Lowering> {
    match form.opcode() {
        "activemask" => {
            let ty = form.ty().filter(|&ty| ty == Ty::B32)?;
            Some(emit(scalar::<ActiveMask>(), ty, &[]))
        }
        _ if !form.has("sync") => None,
        "elect" => Some(Lowering::new(|cx, inst| {
            let (leader, is_leader) = cx.dst_pair(&inst.operands[0])?;
            let operands = ElectOperands {
                leader: leader.into(),
                is_leader: is_leader.into(),
                members: cx.src(&inst.operands[1], Ty::B32)?.into(),
            };
            cx.emit(exchange::<Elect>(), operands);
            Ok(())
        })),
        _ => vote(form),
    }
}

fn vote(form: &FormReader<'_>) -> Option<Lowering> {
    let (code, ty) = match form.one_of(&["all", "any", "uni", "ballot"])? {
        "all" => (exchange::<Vote<All>>(), Ty::PRED),
        "any" => (exchange::<Vote<Any>>(), Ty::PRED),
        "uni" => (exchange::<Vote<Uniform>>(), Ty::PRED),
        _ => (exchange::<Ballot>(), Ty::B32),
    };
    let ty = form.ty().filter(|&found| found == ty)?;
    Some(emit(code, ty, &[Ty::PRED, Ty::B32]))
}

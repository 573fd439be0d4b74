//! `vote activemask elect`: which lanes of a warp are here, which agree, and one of them.

use super::family::Family;
use std::marker::PhantomData;

use crate::engine::exec::cluster::Cluster;
use crate::engine::exec::exchange::{Exchange, exchange};
use crate::engine::exec::level::Level;
use crate::engine::exec::op::{Op, scalar};
use crate::engine::exec::operand::{
    FULL, LANES, Read, ReadPredicate, Write, WriteOptional, WritePredicate, WritePredicateOptional,
    operands,
};
use crate::engine::exec::warp::{Flow, Warp};
use crate::engine::lower::modifiers::{Modifiers, Ty, unknown};
use crate::engine::lower::{Builder, Width, expect_operands};
use crate::ptx::Result;
use crate::ptx::ast::Instruction;

/// The instructions of this file.
pub(super) const FAMILY: Family = Family {
    opcodes: &["vote", "activemask", "elect"],
    lower,
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

/// `activemask`
struct ActiveMask;

impl Op for ActiveMask {
    type Operands = ActiveMaskOperands;

    #[inline(always)]
    fn run<L: Level>(warp: &mut Warp, _: &mut Cluster<'_>, o: Self::Operands) -> Flow {
        let mask = warp.mask;
        o.d.put(warp, &[mask; LANES]);
        Flow::Next
    }
}

pub(crate) fn lower<'a>(cx: &mut Builder<'a, '_>, inst: &'a Instruction<'a>) -> Result<()> {
    let mut modifiers = Modifiers::new(inst);
    if inst.opcode == "activemask" {
        if modifiers.ty() != Some(Ty::B32) {
            return Err(unknown(inst));
        }
        modifiers.finish(inst)?;
        expect_operands(inst, &[1])?;
        let d = cx.dst(&inst.operands[0], Width::W32)?.into();
        cx.emit(scalar::<ActiveMask>(), ActiveMaskOperands { d });
        return Ok(());
    }
    if !modifiers.flag("sync") {
        return Err(unknown(inst));
    }
    if inst.opcode == "elect" {
        modifiers.finish(inst)?;
        expect_operands(inst, &[2])?;
        let (leader, is_leader) = cx.dst_pair(&inst.operands[0])?;
        let operands = ElectOperands {
            leader: leader.into(),
            is_leader: is_leader.into(),
            members: cx.src(&inst.operands[1], Ty::B32)?.into(),
        };
        cx.emit(exchange::<Elect>(), operands);
        return Ok(());
    }
    let (code, ty) = match modifiers.any(&["all", "any", "uni", "ballot"]) {
        Some("all") => (exchange::<Vote<All>>(), Ty::PRED),
        Some("any") => (exchange::<Vote<Any>>(), Ty::PRED),
        Some("uni") => (exchange::<Vote<Uniform>>(), Ty::PRED),
        Some(_) => (exchange::<Ballot>(), Ty::B32),
        None => return Err(unknown(inst)),
    };
    if modifiers.ty() != Some(ty) {
        return Err(unknown(inst));
    }
    modifiers.finish(inst)?;
    expect_operands(inst, &[3])?;
    let fields = [
        cx.dst(&inst.operands[0], Width::of(ty))?,
        cx.src(&inst.operands[1], Ty::PRED)?,
        cx.src(&inst.operands[2], Ty::B32)?,
    ];
    cx.emit_fields(code, &fields);
    Ok(())
}

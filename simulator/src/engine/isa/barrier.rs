//! `bar barrier`: the barriers of the block; those of the warp and of the cluster are in files of their own.

use super::family::Family;
use super::{cluster_barrier, warp_barrier};
use crate::engine::exec::barrier::Votes;
use crate::engine::exec::cluster::{Arrival, Cluster};
use crate::engine::exec::level::Level;
use crate::engine::exec::op::{Op, scalar};
use crate::engine::exec::operand::{Read, ReadPredicate, Write, WritePredicate, operands};
use crate::engine::exec::wait::{Reduction, ReductionTarget, Wait};
use crate::engine::exec::warp::{Flow, Warp};
use crate::engine::fault::FaultKind;
use crate::engine::lower::form::FormReader;
use crate::engine::lower::lowerings::{Lowering, unsupported};
use crate::engine::lower::types::Ty;
use crate::engine::lower::{Builder, Field, Width};
use crate::engine::observe;
use crate::ptx::ast::Instruction;
use crate::ptx::{Error, Result};

/// The instructions of this file.
pub(super) const FAMILY: Family = Family {
    opcodes: &["bar", "barrier"],
    read,
};

/// What a barrier of the block is used for, as a number in an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct BarrierFlags(u32);

impl BarrierFlags {
    const NONE: BarrierFlags = BarrierFlags(0);
    /// It is for a given number of threads, not for all.
    const COUNTED: BarrierFlags = BarrierFlags(1);
    /// The threads arrive and do not wait.
    const ARRIVES: BarrierFlags = BarrierFlags(2);
    /// All lanes of a warp execute the same instruction.
    const ALIGNED: BarrierFlags = BarrierFlags(4);

    fn set(&mut self, flag: BarrierFlags, on: bool) {
        self.0 |= if on { flag.0 } else { 0 };
    }

    fn word(self) -> u32 {
        self.0
    }

    fn has(self, flag: BarrierFlags) -> bool {
        self.0 & flag.0 != 0
    }
}

operands! {
    /// `flags`: [`BarrierFlags`], in all three.
    pub(crate) struct BlockOperands { number: Read<u32>, count: Read<u32>, flags: u32 }
    pub(crate) struct BlockCountOperands {
        d: Write<u32>, vote: ReadPredicate, number: Read<u32>, count: Read<u32>, flags: u32,
    }
    pub(crate) struct BlockVoteOperands {
        d: WritePredicate, vote: ReadPredicate, number: Read<u32>, count: Read<u32>, flags: u32,
    }
}

/// A barrier of the block.
struct Block;

impl Op for Block {
    type Operands = BlockOperands;

    #[inline(always)]
    fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, o: Self::Operands) -> Flow {
        barrier(warp, cluster, o, None)
    }
}

/// `barrier.red.popc`
struct BlockCount;

impl Op for BlockCount {
    type Operands = BlockCountOperands;

    #[inline(always)]
    fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, o: Self::Operands) -> Flow {
        let target = ReductionTarget {
            reduction: Reduction::Count,
            register: o.d.offset(),
        };
        let block = BlockOperands {
            number: o.number,
            count: o.count,
            flags: o.flags,
        };
        barrier(warp, cluster, block, Some((o.vote, target)))
    }
}

/// `barrier.red.and` (`ALL`) and `or`
struct BlockVote<const ALL: bool>;

impl<const ALL: bool> Op for BlockVote<ALL> {
    type Operands = BlockVoteOperands;

    #[inline(always)]
    fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, o: Self::Operands) -> Flow {
        let target = ReductionTarget {
            reduction: if ALL { Reduction::And } else { Reduction::Or },
            register: o.d.offset(),
        };
        let block = BlockOperands {
            number: o.number,
            count: o.count,
            flags: o.flags,
        };
        barrier(warp, cluster, block, Some((o.vote, target)))
    }
}

/// Arrives at a barrier; `reduced` is what the lanes of a reduction vote, and where its result goes.
fn barrier(
    warp: &mut Warp,
    cluster: &mut Cluster<'_>,
    o: BlockOperands,
    reduced: Option<(ReadPredicate, ReductionTarget)>,
) -> Flow {
    let first = warp.mask.trailing_zeros() as usize;
    let flags = BarrierFlags(o.flags);
    let number = o.number.lanes(warp)[first];
    let count = flags
        .has(BarrierFlags::COUNTED)
        .then(|| o.count.lanes(warp)[first]);
    if number > 15 {
        let message = format!("barrier {number}: there are 16 barriers, 0 to 15");
        return warp.fail(FaultKind::IllegalInstruction, first, message);
    }
    if let Some(count) = count
        && (count == 0 || count % 32 != 0)
    {
        let message =
            format!("barrier {number} with a count of {count} threads, which is no multiple of 32");
        return warp.fail(FaultKind::IllegalInstruction, first, message);
    }
    // Lanes that are elsewhere may still come to an aligned barrier: they are waited for. Who never comes is reported then.
    let others = warp.live & !warp.mask;
    if flags.has(BarrierFlags::ALIGNED)
        && warp.checks.barriers
        && others != 0
        && !warp.gather(cluster.grid.program, warp.live)
    {
        return Flow::Leave;
    }
    let mask = warp.mask;
    // Read now that all lanes are here.
    let bits = reduced.map_or(0, |(vote, _)| vote.bits(warp));
    let reduction = reduced.map(|(_, target)| target);
    // A whole warp counts as 32 threads where threads are counted.
    let threads = if count.is_some() && mask == warp.live {
        32
    } else {
        mask.count_ones()
    };
    let phase = cluster.blocks[warp.block as usize].barriers[number as usize].phase;
    let complete = cluster.arrive(Arrival {
        id: number as u8,
        block: warp.block,
        warp: warp.index,
        mask,
        waits: !flags.has(BarrierFlags::ARRIVES),
        count: threads,
        expected: count,
        votes: Votes {
            count: (bits & mask).count_ones(),
            all: bits & mask == mask,
            any: bits & mask != 0,
        },
    });
    if warp.observed {
        let arrival = observe::Arrival {
            barrier: observe::Barrier::Block {
                number: number as u8,
            },
            completes: complete,
        };
        warp.observe(cluster, |observer, at| observer.barrier(at, &arrival));
    }
    if flags.has(BarrierFlags::ARRIVES) {
        return Flow::Next;
    }
    let next = warp.pc + 1;
    warp.wait(
        Wait::Barrier {
            id: number as u8,
            phase,
            reduction,
        },
        next,
    );
    Flow::Leave
}

fn read(form: &FormReader<'_>) -> Option<Lowering> {
    if form.has("warp") {
        warp_barrier::read(form)
    } else if form.has("cluster") {
        cluster_barrier::read(form)
    } else {
        block(form)
    }
}

/// `barrier` and `bar` of the block.
fn block(form: &FormReader<'_>) -> Option<Lowering> {
    form.ignore(&["cta"]);
    let mode = form.one_of(&["sync", "arrive", "red"])?;
    let mut flags = BarrierFlags::NONE;
    let aligned = form.has("aligned") || form.opcode() == "bar";
    flags.set(BarrierFlags::ALIGNED, aligned);
    flags.set(BarrierFlags::ARRIVES, mode == "arrive");
    let reduction = match mode {
        "red" => Some(match (form.one_of(&["popc", "and", "or"])?, form.ty()?) {
            ("popc", Ty::U32) => Reduction::Count,
            ("and", Ty::PRED) => Reduction::And,
            ("or", Ty::PRED) => Reduction::Or,
            _ => return None,
        }),
        _ => None,
    };
    Some(Lowering::new(move |cx, inst| {
        lower_block(cx, inst, flags, reduction)
    }))
}

fn lower_block<'a>(
    cx: &mut Builder<'a, '_>,
    inst: &'a Instruction<'a>,
    mut flags: BarrierFlags,
    reduction: Option<Reduction>,
) -> Result<()> {
    let mut operands = inst.operands.as_slice();
    let mut reduced = None;
    if let Some(reduction) = reduction {
        let [target, rest @ .., source] = operands else {
            return Err(unsupported(inst));
        };
        let width = match reduction {
            Reduction::Count => Width::W32,
            _ => Width::Pred,
        };
        let d = cx.dst(target, width)?;
        let vote = cx.src(source, Ty::PRED)?;
        operands = rest;
        // `barrier.red` waits for the result, so its destination is written when it wakes up.
        if d == Field::Sink {
            return Err(Error::new(target.at, "this result is needed"));
        }
        reduced = Some((reduction, d, vote));
    }
    let (number, count) = (&operands[0], operands.get(1));
    flags.set(BarrierFlags::COUNTED, count.is_some());
    let number = cx.src(number, Ty::B32)?.into();
    let count = match count {
        Some(count) => cx.src(count, Ty::B32)?,
        None => cx.constant(0, Width::W32),
    }
    .into();
    let flags = flags.word();
    match reduced {
        None => cx.emit(
            scalar::<Block>(),
            BlockOperands {
                number,
                count,
                flags,
            },
        ),
        Some((Reduction::Count, d, vote)) => cx.emit(
            scalar::<BlockCount>(),
            BlockCountOperands {
                d: d.into(),
                vote: vote.into(),
                number,
                count,
                flags,
            },
        ),
        Some((reduction, d, vote)) => {
            let operands = BlockVoteOperands {
                d: d.into(),
                vote: vote.into(),
                number,
                count,
                flags,
            };
            match reduction {
                Reduction::And => cx.emit(scalar::<BlockVote<true>>(), operands),
                _ => cx.emit(scalar::<BlockVote<false>>(), operands),
            }
        }
    };
    Ok(())
}

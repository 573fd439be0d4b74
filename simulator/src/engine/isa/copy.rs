//! `cp.async`: copies from global to shared memory that are done as late as the rules allow, when their thread waits for
//! them, so that a missing wait shows.

use warpsmith_isa::effect::Effect;

use super::addresses::address;
use super::bulk;
use super::family::Family;
use super::groups::{Commit, LaneQueue, groups_to_keep};
use super::mbarrier::{self, ArrivalCount};
use crate::engine::access::check;
use crate::engine::access::completion::{complete_at, wait_for_copies};
use crate::engine::access::declared::Declared;
use crate::engine::access::path::access;
use crate::engine::access::values::Stored;
use crate::engine::exec::async_copy::AsyncCopy;
use crate::engine::exec::cluster::Cluster;
use crate::engine::exec::group_queue::{Completed, GroupQueue};
use crate::engine::exec::level::Level;
use crate::engine::exec::op::{Op, scalar};
use crate::engine::exec::operand::{
    Address, LANES, Read, ReadPredicate, Write, lanes_of, operands,
};
use crate::engine::exec::warp::{Flow, Warp};
use crate::engine::lower::form::FormReader;
use crate::engine::lower::lowerings::Lowering;
use crate::engine::lower::types::Ty;
use crate::engine::lower::{Builder, Field, Width};
use crate::ptx::ast::{Instruction, OperandKind};
use crate::ptx::{Error, Result};

/// The instructions of this file.
pub(super) const FAMILY: Family = Family {
    opcodes: &["cp"],
    read,
};

operands! {
    /// `from_bytes`: how many are read, the others become zero; `size`: how many are written.
    pub(crate) struct IssueOperands { to: Address, from: Address, from_bytes: Read<u32>, size: u32 }
    pub(crate) struct SourceBytesOperands { d: Write<u32>, ignored: ReadPredicate, size: u32 }
    /// `keep`: groups that need not be done.
    pub(crate) struct WaitOperands { keep: u32 }
    /// `counted`: whether the arrival is among those that the mbarrier expects (`.noinc`).
    pub(crate) struct ArriveOperands { barrier: Address, counted: u32 }
}

/// `cp.async`
struct Issue;

impl Op for Issue {
    type Operands = IssueOperands;

    #[inline(always)]
    fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, o: Self::Operands) -> Flow {
        access::<L>(
            warp,
            cluster,
            o.to,
            o.size,
            Stored::Unknown,
            |warp, cluster, bytes| {
                let to = bytes.pointers(warp, o.size);
                let wanted = o.from_bytes.lanes(warp).map(|bytes| bytes.min(o.size));
                let mask = warp.mask;
                let mut from = [std::ptr::null_mut(); LANES];
                // Lanes that read nothing only write zeros: their source is not accessed.
                warp.mask = lanes_of(mask)
                    .filter(|&lane| wanted[lane] > 0)
                    .fold(0, |reading, lane| reading | 1 << lane);
                if warp.mask != 0 {
                    let flow = access::<L>(
                        warp,
                        cluster,
                        o.from,
                        o.size,
                        Stored::Unknown,
                        |warp, _, bytes| {
                            from = bytes.pointers(warp, o.size);
                            Flow::Next
                        },
                    );
                    if flow == Flow::Fault {
                        return flow;
                    }
                }
                warp.mask = mask;
                let issuer = warp.issuer();
                for lane in lanes_of(mask) {
                    let copy = AsyncCopy {
                        bytes: o.size as u8,
                        from_bytes: wanted[lane] as u8,
                        from: from[lane],
                        to: to[lane],
                        // It is done, and seen by the checks, when it completes.
                        declared: Declared::of(o.to).completed().word(),
                        issuer,
                    };
                    warp.copies.issue(lane, copy);
                }
                Flow::Next
            },
        )
    }
}

/// The bytes that a copy reads whose lane may ignore its source.
struct SourceBytes;

impl Op for SourceBytes {
    type Operands = SourceBytesOperands;

    #[inline(always)]
    fn run<L: Level>(warp: &mut Warp, _: &mut Cluster<'_>, o: Self::Operands) -> Flow {
        let ignored = o.ignored.bits(warp);
        let bytes = std::array::from_fn(|lane| match ignored >> lane & 1 {
            0 => o.size,
            _ => 0,
        });
        o.d.put(warp, &bytes);
        Flow::Next
    }
}

/// The copies of a warp's lanes.
struct Copies;

impl LaneQueue for Copies {
    type Operation = AsyncCopy;

    fn of(warp: &mut Warp) -> &mut GroupQueue<AsyncCopy> {
        &mut warp.copies
    }
}

/// `cp.async.wait_group`
struct WaitGroup;

impl Op for WaitGroup {
    type Operands = WaitOperands;

    #[inline(always)]
    fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, o: Self::Operands) -> Flow {
        wait_for_copies(warp, cluster, Completed::AllButGroups(o.keep))
    }
}

/// `cp.async.wait_all`
struct WaitAll;

impl Op for WaitAll {
    type Operands = ();

    #[inline(always)]
    fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, (): ()) -> Flow {
        wait_for_copies(warp, cluster, Completed::All)
    }
}

/// `cp.async.mbarrier.arrive`
struct Arrive;

impl Op for Arrive {
    type Operands = ArriveOperands;

    #[inline(always)]
    fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, o: Self::Operands) -> Flow {
        let count = match o.counted {
            0 => ArrivalCount::Added,
            _ => ArrivalCount::Expected,
        };
        let declared = Declared::of(o.barrier);
        access::<L>(
            warp,
            cluster,
            o.barrier,
            8,
            Stored::Unknown,
            |warp, cluster, bytes| {
                let pointers = bytes.pointers(warp, 8);
                if complete_at(warp, cluster, &pointers) == Flow::Fault {
                    return Flow::Fault;
                }
                // What the arrival releases is the copies' bytes, so it comes behind them.
                warp.pointers = pointers;
                check::synchronise(warp, cluster, declared, warp.mask, 8);
                for lane in lanes_of(warp.mask) {
                    // SAFETY: the access path found these 8 bytes for the lanes of the mask.
                    let flow =
                        unsafe { mbarrier::arrive_for_copies(warp, lane, pointers[lane], count) };
                    if flow == Flow::Fault {
                        return Flow::Fault;
                    }
                }
                Flow::Next
            },
        )
    }
}

fn read(form: &FormReader<'_>) -> Option<Lowering> {
    if form.has("bulk") {
        return bulk::read(form);
    }
    if !form.has("async") {
        return None;
    }
    if form.has("commit_group") {
        return Some(Lowering::new(|cx, _| {
            cx.emit(scalar::<Commit<Copies>>(), ());
            Ok(())
        }));
    }
    if form.has("wait_all") {
        return Some(Lowering::new(|cx, _| {
            cx.emit(scalar::<WaitAll>(), ());
            Ok(())
        }));
    }
    if form.has("wait_group") {
        return Some(Lowering::new(wait_group));
    }
    if form.has("mbarrier") {
        form.has("arrive").then_some(())?;
        form.ty()?;
        let counted = u32::from(form.has("noinc"));
        let effect = form.effect(0);
        return Some(Lowering::new(move |cx, inst| {
            let mut barrier = address(cx, &inst.operands[0], effect)?;
            // The copies are done with the instruction, so this is the time of the arrival.
            let declared = Declared::of(barrier).completed();
            barrier.access = declared.synchronised_by_operation().word();
            cx.emit(scalar::<Arrive>(), ArriveOperands { barrier, counted });
            Ok(())
        }));
    }
    form.one_of(&["ca", "cg"])?;
    form.ignore(&["prefetch_size"]);
    let copy = Copy {
        // The last operand is the cache policy then.
        has_policy: form.slot("level::cache_hint").is_some(),
        by_predicate: form.takes("ignore-src"),
        to: form.effect(0),
        from: form.effect(1),
    };
    Some(Lowering::new(move |cx, inst| issue(cx, inst, copy)))
}

/// What the modifiers of a copy say.
#[derive(Clone, Copy)]
struct Copy {
    has_policy: bool,
    /// The operand behind the size ignores the source; otherwise it is the source's size.
    by_predicate: bool,
    to: Effect,
    from: Effect,
}

fn wait_group<'a>(cx: &mut Builder<'a, '_>, inst: &'a Instruction<'a>) -> Result<()> {
    let keep = groups_to_keep(inst)?;
    cx.emit(scalar::<WaitGroup>(), WaitOperands { keep });
    Ok(())
}

fn issue<'a>(cx: &mut Builder<'a, '_>, inst: &'a Instruction<'a>, copy: Copy) -> Result<()> {
    let operand = &inst.operands[2];
    let OperandKind::Int(size @ (4 | 8 | 16)) = operand.kind else {
        return Err(Error::new(operand.at, "a size is 4, 8 or 16 bytes"));
    };
    let size = size as u32;
    let has_more = inst.operands.len() - usize::from(copy.has_policy) == 4;
    let from_bytes = match inst.operands.get(3).filter(|_| has_more) {
        Some(operand) if copy.by_predicate => {
            let ignored = cx.src(operand, Ty::PRED)?;
            let bytes = Field::Register(cx.new_register(Width::W32));
            cx.emit_fields_with(scalar::<SourceBytes>(), &[bytes, ignored], &[size]);
            bytes
        }
        Some(operand) => cx.src(operand, Ty::U32)?,
        None => cx.constant(size.into(), Width::W32),
    };
    let from = address(cx, &inst.operands[1], copy.from)?;
    let to = address(cx, &inst.operands[0], copy.to)?;
    cx.emit(
        scalar::<Issue>(),
        IssueOperands {
            to,
            from,
            from_bytes: from_bytes.into(),
            size,
        },
    );
    Ok(())
}

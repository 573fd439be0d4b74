//! `cp.async`: copies from global to shared memory that are done as late as the rules allow, when their thread waits for
//! them, so that a missing wait shows.

use super::bulk;
use super::family::Family;
use super::mbarrier::{self, ArrivalCount};
use super::memory::address;
use crate::engine::access::completion::complete;
use crate::engine::access::declared::Declared;
use crate::engine::access::path::access;
use crate::engine::access::values::Stored;
use crate::engine::exec::async_copy::AsyncCopy;
use crate::engine::exec::cluster::Cluster;
use crate::engine::exec::group_queue::Completed;
use crate::engine::exec::level::Level;
use crate::engine::exec::op::{Op, scalar};
use crate::engine::exec::operand::{
    Address, LANES, Read, ReadPredicate, Write, lanes_of, operands,
};
use crate::engine::exec::warp::{Flow, Warp};
use crate::engine::lower::modifiers::{Ty, unknown};
use crate::engine::lower::{Builder, Field, Width};
use crate::ptx::ast::{Instruction, OperandKind};
use crate::ptx::{Error, Result};

/// The instructions of this file.
pub(super) const FAMILY: Family = Family {
    opcodes: &["cp"],
    lower,
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

/// `cp.async.commit_group`
struct Commit;

impl Op for Commit {
    type Operands = ();

    #[inline(always)]
    fn run<L: Level>(warp: &mut Warp, _: &mut Cluster<'_>, (): ()) -> Flow {
        for lane in lanes_of(warp.mask) {
            warp.copies.commit(lane);
        }
        Flow::Next
    }
}

/// `cp.async.wait_group`
struct WaitGroup;

impl Op for WaitGroup {
    type Operands = WaitOperands;

    #[inline(always)]
    fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, o: Self::Operands) -> Flow {
        complete(warp, cluster, warp.mask, Completed::AllButGroups(o.keep))
    }
}

/// `cp.async.wait_all`
struct WaitAll;

impl Op for WaitAll {
    type Operands = ();

    #[inline(always)]
    fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, (): ()) -> Flow {
        complete(warp, cluster, warp.mask, Completed::All)
    }
}

/// `cp.async.mbarrier.arrive`
struct Arrive;

impl Op for Arrive {
    type Operands = ArriveOperands;

    #[inline(always)]
    fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, o: Self::Operands) -> Flow {
        if complete(warp, cluster, warp.mask, Completed::All) == Flow::Fault {
            return Flow::Fault;
        }
        let count = match o.counted {
            0 => ArrivalCount::Added,
            _ => ArrivalCount::Expected,
        };
        // The copies are done, so this is the time of the arrival.
        let mut barrier = o.barrier;
        barrier.access = Declared::of(barrier).completed().word();
        access::<L>(
            warp,
            cluster,
            barrier,
            8,
            Stored::Unknown,
            |warp, _, bytes| {
                let pointers = bytes.pointers(warp, 8);
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

pub(crate) fn lower<'a>(cx: &mut Builder<'a, '_>, inst: &'a Instruction<'a>) -> Result<()> {
    let form = *cx.form();
    if form.has("bulk") {
        return bulk::lower(cx, inst);
    }
    if !form.has("async") {
        return Err(unknown(inst));
    }
    if form.has("commit_group") {
        cx.emit(scalar::<Commit>(), ());
        return Ok(());
    }
    if form.has("wait_all") {
        cx.emit(scalar::<WaitAll>(), ());
        return Ok(());
    }
    if form.has("wait_group") {
        let OperandKind::Int(number @ 0..=0xFFFF) = inst.operands[0].kind else {
            return Err(Error::new(
                inst.operands[0].at,
                "expected a number of groups",
            ));
        };
        let keep = number as u32;
        cx.emit(scalar::<WaitGroup>(), WaitOperands { keep });
        return Ok(());
    }
    if form.has("mbarrier") {
        let counted = u32::from(form.has("noinc"));
        let barrier = address(cx, inst, 0)?;
        cx.emit(scalar::<Arrive>(), ArriveOperands { barrier, counted });
        return Ok(());
    }
    let size = match inst.operands[2].kind {
        OperandKind::Int(size @ (4 | 8 | 16)) => size as u32,
        _ => {
            return Err(Error::new(
                inst.operands[2].at,
                "a size is 4, 8 or 16 bytes",
            ));
        }
    };
    // The operand behind the size is the source's size or a predicate that ignores the source, if it is not the cache policy.
    let policy = usize::from(form.has("L2::cache_hint"));
    let from_bytes = match inst
        .operands
        .get(3)
        .filter(|_| inst.operands.len() - policy == 4)
    {
        Some(operand) if form.operands().any(|operand| operand.name == "ignore-src") => {
            let ignored = cx.src(operand, Ty::PRED)?;
            let bytes = Field::Register(cx.new_register(Width::W32));
            cx.emit_fields_with(scalar::<SourceBytes>(), &[bytes, ignored], &[size]);
            bytes
        }
        Some(operand) => cx.src(operand, Ty::U32)?,
        None => cx.constant(size.into(), Width::W32),
    };
    let from = address(cx, inst, 1)?;
    let to = address(cx, inst, 0)?;
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

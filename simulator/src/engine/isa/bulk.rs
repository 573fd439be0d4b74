//! `cp.async.bulk`, `cp.reduce.async.bulk`: copies of any number of bytes by the asynchronous proxy, done as late as the rules
//! allow: when the issuing thread waits for its groups, or some thread for the mbarrier that counts the bytes.

use super::addresses::address;
use super::control::nothing;
use super::groups::{Commit, LaneQueue, groups_to_keep};
use super::reduction::{NO_REDUCTION, combine_of, reduction};
use crate::check::AsyncCompletion;
use crate::engine::access::check;
use crate::engine::access::completion::{complete_bulk, read_bulk};
use crate::engine::access::declared::Declared;
use crate::engine::access::locate::Extent;
use crate::engine::access::path::access_range;
use crate::engine::exec::bulk_copy::{BulkCopy, Transaction};
use crate::engine::exec::cluster::Cluster;
use crate::engine::exec::group_queue::{Completed, GroupQueue};
use crate::engine::exec::level::Level;
use crate::engine::exec::op::{Op, scalar};
use crate::engine::exec::operand::{Address, Read, lanes_of, operands};
use crate::engine::exec::warp::{Flow, Warp};
use crate::engine::fault::FaultKind;
use crate::engine::lower::Width;
use crate::engine::lower::form::FormReader;
use crate::engine::lower::lowerings::Lowering;
use crate::engine::lower::types::{ScalarKind, Ty};

/// What addresses and sizes are multiples of.
const UNIT: u32 = 16;

operands! {
    /// `reduction`: its number ([`reduction`]).
    pub(crate) struct GroupCopyOperands { to: Address, from: Address, bytes: Read<u32>, reduction: u32 }
    /// `multicast`: whether the copy goes to the blocks of `blocks`, a bit for each, instead of the destination's alone.
    pub(crate) struct BarrierCopyOperands {
        to: Address, from: Address, bytes: Read<u32>, barrier: Address, blocks: Read<u16>, multicast: u32, reduction: u32,
    }
    /// `keep`: groups that need not be done; `read`: it suffices that their sources have been read.
    pub(crate) struct WaitOperands { keep: u32, read: u32 }
}

/// What an instruction's operands are of a copy.
#[derive(Clone, Copy)]
struct Ends {
    to: Address,
    from: Address,
}

/// A copy of one lane whose source and destination have been found; the checks do not know of it yet.
fn found(
    warp: &mut Warp,
    cluster: &mut Cluster<'_>,
    lane: usize,
    ends: Ends,
    bytes: u32,
    reduction: u32,
) -> std::result::Result<BulkCopy, Flow> {
    if !bytes.is_multiple_of(UNIT) {
        let name = cluster
            .grid
            .program
            .instruction_name(warp.function, warp.pc);
        let message = format!("{name} of {bytes} bytes: the size must be a multiple of {UNIT}");
        return Err(warp.fail(FaultKind::IllegalInstruction, lane, message));
    }
    let extent = Extent { bytes, align: UNIT };
    Ok(BulkCopy {
        to: access_range(warp, cluster, ends.to, lane, extent)?,
        from: access_range(warp, cluster, ends.from, lane, extent)?,
        bytes,
        combine: combine_of(reduction),
        read: None,
        source: None,
        destination: None,
    })
}

/// Tells the checks of a lane's copy.
fn watch(
    warp: &mut Warp,
    cluster: &mut Cluster<'_>,
    lane: usize,
    ends: Ends,
    copy: &mut BulkCopy,
    completion: AsyncCompletion,
) -> std::result::Result<(), Flow> {
    let (from, to) = (Declared::of(ends.from), Declared::of(ends.to));
    let (source, destination) = ((copy.from, copy.bytes), (copy.to, copy.bytes));
    copy.source = check::issue(warp, cluster, lane, from, source, completion)?;
    copy.destination = check::issue(warp, cluster, lane, to, destination, completion)?;
    Ok(())
}

/// A bulk copy that its thread waits for by groups.
struct GroupCopy;

impl GroupCopy {
    fn issue(
        warp: &mut Warp,
        cluster: &mut Cluster<'_>,
        lane: usize,
        bytes: u32,
        o: GroupCopyOperands,
    ) -> std::result::Result<(), Flow> {
        let ends = Ends {
            to: o.to,
            from: o.from,
        };
        let mut copy = found(warp, cluster, lane, ends, bytes, o.reduction)?;
        let completion = AsyncCompletion::BulkGroup;
        watch(warp, cluster, lane, ends, &mut copy, completion)?;
        warp.bulk_copies.issue(lane, copy);
        Ok(())
    }
}

impl Op for GroupCopy {
    type Operands = GroupCopyOperands;

    #[inline(always)]
    fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, o: Self::Operands) -> Flow {
        let bytes = *o.bytes.lanes(warp);
        for lane in lanes_of(warp.mask).filter(|&lane| bytes[lane] > 0) {
            if let Err(flow) = GroupCopy::issue(warp, cluster, lane, bytes[lane], o) {
                return flow;
            }
        }
        Flow::Next
    }
}

/// A bulk copy whose bytes an mbarrier counts.
struct BarrierCopy;

impl BarrierCopy {
    fn issue(
        warp: &mut Warp,
        cluster: &mut Cluster<'_>,
        lane: usize,
        bytes: u32,
        o: BarrierCopyOperands,
    ) -> std::result::Result<(), Flow> {
        let ends = Ends {
            to: o.to,
            from: o.from,
        };
        let copy = found(warp, cluster, lane, ends, bytes, o.reduction)?;
        let barrier = access_range(warp, cluster, o.barrier, lane, Extent::value(8))?;
        let (Some(to), Some(at)) = (cluster.place(copy.to), cluster.place(barrier)) else {
            let message = "a bulk copy with an mbarrier goes to shared memory";
            return Err(warp.fail(FaultKind::InvalidAddressSpace, lane, message));
        };
        if to.block != at.block {
            let message = "the mbarrier of a bulk copy lies in another block than its destination";
            return Err(warp.fail(FaultKind::InvalidAddressSpace, lane, message));
        }
        let targets = match o.multicast {
            0 => 1u64 << to.block,
            _ => o.blocks.lanes(warp)[lane].into(),
        };
        let count = cluster.blocks.len() as u32;
        if let Some(none) = (count..16).find(|block| targets >> block & 1 != 0) {
            let message = format!("multicast to block {none} of a cluster of {count}");
            return Err(warp.fail(FaultKind::IllegalInstruction, lane, message));
        }
        for block in (0..count).filter(|block| targets >> block & 1 != 0) {
            let target = &cluster.blocks[block as usize];
            if target.live == 0 {
                let message =
                    format!("multicast to block {block} of the cluster, which has exited");
                return Err(warp.fail(FaultKind::IllegalAddress, lane, message));
            }
            let base = target.shared;
            let barrier = base.wrapping_add(at.offset as usize);
            let mut copy = BulkCopy {
                to: base.wrapping_add(to.offset as usize),
                read: None,
                ..copy
            };
            let completion = AsyncCompletion::Mbarrier {
                offset: cluster.shared_offset(barrier),
            };
            watch(warp, cluster, lane, ends, &mut copy, completion)?;
            cluster.transactions.issue(Transaction { barrier, copy });
        }
        Ok(())
    }
}

impl Op for BarrierCopy {
    type Operands = BarrierCopyOperands;

    #[inline(always)]
    fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, o: Self::Operands) -> Flow {
        let bytes = *o.bytes.lanes(warp);
        for lane in lanes_of(warp.mask).filter(|&lane| bytes[lane] > 0) {
            if let Err(flow) = BarrierCopy::issue(warp, cluster, lane, bytes[lane], o) {
                return flow;
            }
        }
        Flow::Next
    }
}

/// The bulk copies of a warp's lanes.
struct Copies;

impl LaneQueue for Copies {
    type Operation = BulkCopy;

    fn of(warp: &mut Warp) -> &mut GroupQueue<BulkCopy> {
        &mut warp.bulk_copies
    }
}

/// `cp.async.bulk.wait_group`
struct WaitGroup;

impl Op for WaitGroup {
    type Operands = WaitOperands;

    #[inline(always)]
    fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, o: Self::Operands) -> Flow {
        let which = Completed::AllButGroups(o.keep);
        if o.read != 0 {
            read_bulk(warp, cluster, warp.mask, which);
        } else {
            complete_bulk(warp, cluster, warp.mask, which);
        }
        Flow::Next
    }
}

/// Reads the modifiers behind `.bulk`.
pub(super) fn read(form: &FormReader<'_>) -> Option<Lowering> {
    if !form.has("async") || form.has("tensor") {
        return None;
    }
    if form.has("commit_group") {
        return Some(Lowering::new(|cx, _| {
            cx.emit(scalar::<Commit<Copies>>(), ());
            Ok(())
        }));
    }
    if form.has("wait_group") {
        let read = u32::from(form.has("read"));
        return Some(Lowering::new(move |cx, inst| {
            let keep = groups_to_keep(inst)?;
            cx.emit(scalar::<WaitGroup>(), WaitOperands { keep, read });
            Ok(())
        }));
    }
    if form.has("prefetch") {
        return Some(nothing(form));
    }
    let reduction = match form.has("reduce") {
        true => reduction(form)?,
        false => NO_REDUCTION,
    };
    form.ignore(&["weak", "level::cache_hint", "type"]);
    // Additions of 16 bits keep subnormal numbers in any case; those of 32 bits that do are not executed.
    if form.any_type(|ty| ty.bits == 16) {
        form.ignore(&["noftz"]);
    }
    let (to, from) = (form.effect(0), form.effect(1));
    if form.slot("completion")? == "bulk_group" {
        return Some(Lowering::new(move |cx, inst| {
            let operands = GroupCopyOperands {
                bytes: cx.src(&inst.operands[2], Ty::U32)?.into(),
                to: address(cx, &inst.operands[0], to)?,
                from: address(cx, &inst.operands[1], from)?,
                reduction,
            };
            cx.emit(scalar::<GroupCopy>(), operands);
            Ok(())
        }));
    }
    let barrier = form.effect(3);
    let multicast = form.slot("multicast").is_some();
    Some(Lowering::new(move |cx, inst| {
        let operands = BarrierCopyOperands {
            bytes: cx.src(&inst.operands[2], Ty::U32)?.into(),
            to: address(cx, &inst.operands[0], to)?,
            from: address(cx, &inst.operands[1], from)?,
            barrier: address(cx, &inst.operands[3], barrier)?,
            blocks: match multicast {
                true => cx.src(&inst.operands[4], Ty::new(ScalarKind::Unsigned, 16))?,
                false => cx.constant(0, Width::W16),
            }
            .into(),
            multicast: multicast.into(),
            reduction,
        };
        cx.emit(scalar::<BarrierCopy>(), operands);
        Ok(())
    }))
}

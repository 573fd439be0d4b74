//! What all `wgmma` instructions share: the four warps of a warpgroup execute the same sequence of them.

use super::matrix_operands::whole_warp;
use crate::engine::exec::cluster::Cluster;
use crate::engine::exec::operand::FULL;
use crate::engine::exec::wait::Wait;
use crate::engine::exec::warp::{Flow, Warp};
use crate::engine::exec::warpgroup::{Descriptors, Mismatch, Step, WARPS, Warpgroup};
use crate::engine::fault::{FaultDetails, FaultKind, OtherSide};
use crate::engine::program::Program;

/// A warp's number in its warpgroup.
pub(super) fn number(warp: &Warp) -> u32 {
    warp.index % WARPS
}

/// The warpgroup of a warp; `None` if its block ends before the warpgroup does.
pub(super) fn warpgroup<'c>(
    warp: &Warp,
    cluster: &'c mut Cluster<'_>,
) -> Option<&'c mut Warpgroup> {
    let block = &mut cluster.blocks[warp.block as usize];
    block.warpgroups.get_mut((warp.index / WARPS) as usize)
}

/// Brings the lanes of the warp together for an instruction of its warpgroup. `Some` if it cannot be executed now.
pub(super) fn prepare(warp: &mut Warp, cluster: &mut Cluster<'_>) -> Option<Flow> {
    let others = |warp: &Warp| {
        let elsewhere = warp.groups.iter().find(|group| {
            let function = warp.frames[group.frame as usize].function;
            group.wait == Wait::Lanes { members: FULL }
                && (group.pc, function) != (warp.pc, warp.function)
        });
        elsewhere.copied()
    };
    if warp.mask != FULL
        && let Some(group) = others(warp)
    {
        let program = cluster.grid.program;
        let function = &program.functions[warp.frames[group.frame as usize].function as usize];
        let other = function.instruction_name(group.pc).to_owned();
        let name = program.instruction_name(warp.function, warp.pc);
        let message = format!(
            "{name} by lanes {:#010x} of warp {}, whose lanes {:#010x} wait in {other}: all lanes must execute the same",
            warp.mask, warp.index, group.mask
        );
        let lane = warp.mask.trailing_zeros() as usize;
        return Some(warp.fail(FaultKind::IllegalInstruction, lane, message));
    }
    if let Some(flow) = whole_warp(warp, cluster, "an instruction of a warpgroup") {
        return Some(flow);
    }
    let own = number(warp);
    let Some(group) = warpgroup(warp, cluster) else {
        return Some(not_full(warp, cluster));
    };
    // Nobody waits for a slower warp here, unless it is so far behind that it may never come.
    let behind = group.is_ahead(own)?;
    Some(wait(warp, behind))
}

#[cold]
fn not_full(warp: &mut Warp, cluster: &Cluster<'_>) -> Flow {
    let name = cluster
        .grid
        .program
        .instruction_name(warp.function, warp.pc);
    let first = warp.index / WARPS * WARPS;
    let message = format!("{name} in a block without a full warpgroup");
    let note = format!(
        "warp {} belongs to the warpgroup of warps {first} to {}; the block has {} warps",
        warp.index,
        first + WARPS - 1,
        cluster.grid.warps
    );
    warp.fail_with(FaultKind::IllegalInstruction, 0, message, vec![note])
}

/// The warp executes its instruction again once all warps of its warpgroup have executed the one of this number.
pub(super) fn wait(warp: &mut Warp, number: u64) -> Flow {
    let warpgroup = warp.index / WARPS;
    let pc = warp.pc;
    warp.wait(Wait::Warpgroup { warpgroup, number }, pc);
    Flow::Leave
}

/// An instruction of the warpgroup that is nothing more: the warp may execute it, and has.
pub(super) fn execute(warp: &mut Warp, cluster: &mut Cluster<'_>) -> Result<(), Flow> {
    match prepare(warp, cluster) {
        Some(flow) => Err(flow),
        None => step(warp, cluster, None).map(drop),
    }
}

/// The warp executes its current instruction as the next one of its warpgroup's: its number, or the fault.
pub(super) fn step(
    warp: &mut Warp,
    cluster: &mut Cluster<'_>,
    descriptors: Option<Descriptors>,
) -> Result<u64, Flow> {
    let site = Program::site(warp.function, warp.pc);
    let own = number(warp);
    let Some(group) = warpgroup(warp, cluster) else {
        return Err(not_full(warp, cluster));
    };
    match group.step(own, Step { site, descriptors }) {
        Ok(number) => Ok(number),
        Err(mismatch) => {
            let number = group.next(own);
            Err(fail(warp, cluster, number, mismatch, descriptors))
        }
    }
}

/// The last lanes of a warp exit.
pub(super) fn exit(warp: &mut Warp, cluster: &mut Cluster<'_>) -> Flow {
    let own = number(warp);
    let Some(group) = warpgroup(warp, cluster) else {
        return Flow::Next;
    };
    match group.exit(own) {
        Ok(()) => Flow::Next,
        Err(mismatch) => {
            let number = group.next(own);
            fail(warp, cluster, number, mismatch, None)
        }
    }
}

#[cold]
fn fail(
    warp: &mut Warp,
    cluster: &Cluster<'_>,
    number: u64,
    mismatch: Mismatch,
    own: Option<Descriptors>,
) -> Flow {
    let grid = cluster.grid;
    let program = grid.program;
    let first = warp.index / WARPS * WARPS;
    let name = program.instruction_name(warp.function, warp.pc);
    let whose = format!("warp {}", warp.index);
    let (other, site, message) = match mismatch {
        Mismatch::Instruction { other, site } => {
            let theirs = program.site_name(site);
            let message = match theirs == name {
                true => format!(
                    "{name} by {whose}, where warp {} of its warpgroup has executed another one of this name",
                    first + other
                ),
                false => format!(
                    "{name} by {whose}, where warp {} of its warpgroup has executed {theirs}",
                    first + other
                ),
            };
            (other, Some(site), message)
        }
        Mismatch::Descriptor {
            other,
            site,
            factor,
            value,
        } => {
            let own = own.and_then(|own| match factor {
                'A' => own.a,
                _ => Some(own.b),
            });
            let (own, value) = (own.unwrap_or(0), value.unwrap_or(0));
            let message = format!(
                "{name} by {whose} with the descriptor {own:#x} of {factor}, where warp {} of its warpgroup has {value:#x}",
                first + other
            );
            (other, Some(site), message)
        }
        Mismatch::Exited { other } => {
            let message = format!(
                "{name} by {whose}, where warp {} of its warpgroup has exited",
                first + other
            );
            (other, None, message)
        }
        Mismatch::Exits { other, site } => {
            let message = format!(
                "{whose} exits, where warp {} of its warpgroup has executed {}",
                first + other,
                program.site_name(site)
            );
            (other, Some(site), message)
        }
    };
    let details = FaultDetails {
        other: site.map(|site| OtherSide {
            what: program.site_name(site).to_owned(),
            block: cluster.blocks[warp.block as usize].index,
            thread: grid.thread_index(first + other, 0),
            frames: program.site_frame(site).into_iter().collect(),
        }),
        notes: vec![format!(
            "all warps of a warpgroup execute the same sequence of wgmma instructions; this is number {number}, counted from 0"
        )],
        ..FaultDetails::default()
    };
    let lane = warp.mask.trailing_zeros() as usize;
    warp.fail_with(FaultKind::IllegalInstruction, lane, message, details)
}

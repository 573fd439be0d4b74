//! The faults that are made of what the checks find.

use warpsmith_isa::effect::ObjectUse;

use crate::check::{Decision, DecisionKind, Finding, RaceCause, ThreadAccess};
use crate::engine::exec::cluster::Cluster;
use crate::engine::exec::grid::Grid;
use crate::engine::exec::issuer::Issuer;
use crate::engine::exec::warp::{Flow, Warp};
use crate::engine::fault::{Fault, FaultDetails, FaultKind, FaultOrigin, Frame, OtherSide};

/// The earlier access of a race.
fn other_side(cluster: &Cluster<'_>, grid: &Grid<'_>, earlier: &ThreadAccess) -> OtherSide {
    OtherSide {
        what: earlier.to_string(),
        block: cluster.blocks[earlier.block as usize].index,
        thread: grid.thread_index(earlier.thread / 32, earlier.thread % 32),
        frames: grid.program.site_frame(earlier.site).into_iter().collect(),
    }
}

/// Where in shared memory, by variable where there is one.
pub(super) fn shared_name(
    cluster: &Cluster<'_>,
    grid: &Grid<'_>,
    home: u32,
    block: u32,
    offset: u32,
) -> String {
    let found = grid.program.shared.iter().find(|v| {
        v.kernels.contains(&grid.entry) && offset >= v.address && offset - v.address < v.size.max(1)
    });
    let name = match found {
        Some(variable) => format!("`{}` + {}", variable.name, offset - variable.address),
        None if offset >= grid.dynamic_base => {
            format!("dynamic shared memory + {}", offset - grid.dynamic_base)
        }
        None => format!("shared memory + {offset}"),
    };
    if block == home {
        return name;
    }
    let [x, y, z] = cluster.blocks[block as usize].index;
    format!("{name} of block ({x},{y},{z})")
}

/// What an uninitialised value decides, and where.
fn decision_note(cluster: &Cluster<'_>, grid: &Grid<'_>, decision: &Decision) -> String {
    let name = grid.program.site_name(decision.site);
    let what = match decision.kind {
        DecisionKind::Guard => format!("decides whether {name} is executed"),
        DecisionKind::Address => format!("decides the address of {name}"),
        DecisionKind::Output => format!("is written to global memory by {name}"),
        DecisionKind::Operand => format!("is an operand of {name}"),
    };
    let [bx, by, bz] = cluster.blocks[decision.block as usize].index;
    let [x, y, z] = grid.thread_index(decision.thread / 32, decision.thread % 32);
    let frame = grid.program.site_frame(decision.site);
    let location = frame.as_ref().and_then(Frame::user_location);
    let at = location.map_or_else(String::new, |location| format!(", at {location}"));
    format!("the value {what} in block ({bx},{by},{bz}), thread ({x},{y},{z}){at}")
}

/// A finding as a fault: kind, message, details.
fn describe(
    cluster: &Cluster<'_>,
    grid: &Grid<'_>,
    finding: &Finding,
) -> (FaultKind, String, FaultDetails) {
    match finding {
        Finding::Race {
            access,
            earlier,
            cause,
            block,
            offset,
            size,
        } => {
            let place = shared_name(cluster, grid, access.block, *block, *offset);
            let note = match cause {
                RaceCause::Unordered => "no barrier, fence or atomic operation orders the two",
                RaceCause::Scope => {
                    "the scope of one does not include the other's block, and nothing else orders the two"
                }
                RaceCause::InFlight => {
                    "the thread that started the asynchronous write has not waited for it"
                }
                RaceCause::Proxy => {
                    "the writing thread has not executed fence.proxy.async between the write and what orders the two"
                }
            };
            let details = FaultDetails {
                other: Some(other_side(cluster, grid, earlier)),
                notes: vec![note.to_owned()],
                ..FaultDetails::default()
            };
            (
                FaultKind::Race,
                format!("race in shared memory: {access} of {size} bytes at {place}"),
                details,
            )
        }
        Finding::Uninitialised {
            access,
            block,
            offset,
            size,
            decision,
        } => {
            let place = shared_name(cluster, grid, access.block, *block, *offset);
            let message =
                format!("uninitialised shared memory: {access} of {size} bytes at {place}");
            let mut notes = vec!["no thread had written there since the block started".to_owned()];
            notes.extend(decision.map(|decision| decision_note(cluster, grid, &decision)));
            (FaultKind::Uninitialised, message, notes.into())
        }
        Finding::InFlight { access, decision } => {
            let name = grid.program.site_name(access.site);
            let message = format!("result of {name} used before it was waited for");
            let notes = vec![
                "the registers of D are the product's until a wgmma.wait_group that waits for its group".to_owned(),
                decision_note(cluster, grid, decision),
            ];
            (FaultKind::Uninitialised, message, notes.into())
        }
        Finding::Exit {
            access,
            exit,
            offset,
        } => {
            let place = shared_name(cluster, grid, access.block, exit.block, *offset);
            let details = FaultDetails {
                other: Some(OtherSide {
                    what: "exit of the block".to_owned(),
                    block: cluster.blocks[exit.block as usize].index,
                    thread: grid.thread_index(exit.thread / 32, exit.thread % 32),
                    frames: grid.program.site_frame(exit.site).into_iter().collect(),
                }),
                notes: vec![
                    "nothing orders the access before the exit, with which the block's shared memory is gone; a cluster barrier does"
                        .to_owned(),
                ],
                ..FaultDetails::default()
            };
            (
                FaultKind::Race,
                format!("race in shared memory: {access} at {place}"),
                details,
            )
        }
        Finding::MbarrierOverwritten {
            access,
            object,
            initialised,
            block,
            offset,
            size,
        } => {
            let place = shared_name(cluster, grid, access.block, *block, *offset);
            let what = match object {
                ObjectUse::MbarrierInit => "mbarrier.init".to_owned(),
                _ => format!("{access} of {size} bytes"),
            };
            let details = FaultDetails {
                other: Some(OtherSide {
                    what: "mbarrier.init".to_owned(),
                    ..other_side(cluster, grid, initialised)
                }),
                notes: vec![
                    "only mbarrier.inval ends an mbarrier's life before its block's".to_owned(),
                ],
                ..FaultDetails::default()
            };
            (
                FaultKind::MbarrierOverwritten,
                format!("initialised mbarrier overwritten: {what} at {place}"),
                details,
            )
        }
    }
}

/// Records a finding as the warp's fault.
#[cold]
pub(super) fn fail(warp: &mut Warp, cluster: &Cluster<'_>, finding: &Finding) -> Flow {
    let access = *finding.access();
    let (kind, message, details) = describe(cluster, cluster.grid, finding);
    let flow = warp.fail_with(kind, access.thread as usize % 32, message, details);
    let issuer = Issuer {
        block: access.block,
        warp: access.thread / 32,
        site: access.site,
    };
    if issuer != warp.issuer()
        && let Some(fault) = &mut warp.fault
    {
        // An asynchronous access, found when it completed.
        fault.issuer = Some(issuer);
    }
    flow
}

/// The report of a finding that was held back; `kernel` is the kernel's name.
#[cold]
pub(crate) fn fault(cluster: &Cluster<'_>, kernel: &str, finding: &Finding) -> Box<Fault> {
    let grid = cluster.grid;
    let access = *finding.access();
    let (kind, message, details) = describe(cluster, grid, finding);
    let origin = FaultOrigin {
        kernel: kernel.to_owned(),
        block: cluster.blocks[access.block as usize].index,
        thread: grid.thread_index(access.thread / 32, access.thread % 32),
        frames: grid.program.site_frame(access.site).into_iter().collect(),
    };
    Box::new(details.into_fault(kind, message, origin))
}

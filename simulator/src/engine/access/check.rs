//! What the checks are told of the accesses, and the faults made of what they find. Called only while a check is on.

use warpsmith_isa::effect::{AccessKind, Space};

use super::declared::Declared;
use super::path::Bytes;
use super::values::{Comparison, Stored};
use crate::check::{self, Finding, Kind, Side};
use crate::engine::exec::cluster::Cluster;
use crate::engine::exec::grid::Grid;
use crate::engine::exec::operand::{LANES, lanes_of};
use crate::engine::exec::warp::{Flow, Warp};
use crate::engine::fault::{Fault, FaultKind};
use crate::engine::program::Program;

/// Whether an access concerns a check that is on: those of shared memory, and those that can order what threads do there.
#[inline(always)]
pub(super) fn concerns(_: &Warp, declared: Declared) -> bool {
    declared.is_strong()
        || !matches!(
            declared.space(),
            Space::Global | Space::Const | Space::Local | Space::Parameter
        )
}

/// What the checker calls an access.
fn check_kind(declared: Declared) -> Kind {
    match (declared.kind(), declared.is_strong()) {
        (AccessKind::Read, false) => Kind::Read,
        (AccessKind::Read, true) => Kind::StrongRead,
        (AccessKind::Write, false) => Kind::Write,
        (AccessKind::Write, true) => Kind::StrongWrite,
        (AccessKind::Atomic, _) => Kind::Atomic,
    }
}

/// The lanes of the warp are about to access `size` bytes each.
#[cold]
#[inline(never)]
pub(super) fn access(
    warp: &mut Warp,
    cluster: &mut Cluster<'_>,
    declared: Declared,
    size: u32,
    stored: Stored<'_>,
    bytes: &Bytes,
) -> Flow {
    let pointers = bytes.pointers(warp, size);
    let shared = lanes_of(warp.mask)
        .filter(|&lane| cluster.holds(pointers[lane]))
        .fold(0, |mask, lane| mask | 1 << lane);
    let base = cluster.shared_start();
    let Some(checker) = cluster.checker.as_deref_mut() else {
        return Flow::Next;
    };
    // An asynchronous access happens when it completes; issuing it only orders nothing.
    if shared != 0 && declared.is_synchronous() {
        let offsets: [u32; LANES] =
            std::array::from_fn(|lane| pointers[lane].addr().wrapping_sub(base) as u32);
        let access = check::Access {
            block: warp.block,
            warp: warp.index,
            mask: shared,
            offsets: &offsets,
            size,
            kind: check_kind(declared),
            site: Program::site(warp.function, warp.pc),
        };
        let comparison = Comparison {
            warp,
            stored,
            pointers: &pointers,
            size: size as usize,
        };
        if let Some(finding) = checker.access(&access, &comparison) {
            return report(warp, cluster, &finding);
        }
    }
    if declared.is_strong() {
        for lane in lanes_of(warp.mask) {
            checker.synchronise(
                warp.block,
                warp.index,
                lane as u32,
                pointers[lane].addr() as u64,
                check_kind(declared),
                declared.acquires(),
                declared.releases(),
            );
        }
    }
    Flow::Next
}

/// A fence by the lanes of the mask.
pub(crate) fn fence(warp: &Warp, cluster: &mut Cluster<'_>) {
    if let Some(checker) = cluster.checker.as_deref_mut() {
        for lane in lanes_of(warp.mask) {
            checker.fence(warp.block, warp.index, lane as u32);
        }
    }
}

/// `thread (x,y,z)`, with its block where that is not `home`, the rank of the block that the report is about.
fn who(cluster: &Cluster<'_>, grid: &Grid<'_>, home: u32, side: &Side) -> String {
    let [bx, by, bz] = cluster.blocks[side.block as usize].index;
    let [tx, ty, tz] = grid.thread_index(side.thread / 32, side.thread % 32);
    if side.block == home {
        format!("thread ({tx},{ty},{tz})")
    } else {
        format!("block ({bx},{by},{bz}), thread ({tx},{ty},{tz})")
    }
}

/// The place in shared memory, by variable where there is one.
fn place(cluster: &Cluster<'_>, grid: &Grid<'_>, home: u32, block: u32, offset: u32) -> String {
    let found = grid.program.shared.iter().find(|v| {
        v.kernels.contains(&grid.entry)
            && offset >= v.address
            && offset - v.address < v.size.max(1)
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

/// A finding in words: kind, message, notes.
fn describe(cluster: &Cluster<'_>, grid: &Grid<'_>, finding: &Finding) -> (FaultKind, String, Vec<String>) {
    match finding {
        Finding::Race {
            now,
            before,
            block,
            offset,
            size,
        } => {
            let place = place(cluster, grid, now.block, *block, *offset);
            let location = grid.program.site_location(before.site);
            let location = location.map_or(String::new(), |location| format!(", at {location}"));
            let other = who(cluster, grid, now.block, before);
            let notes = vec![
                format!("it conflicts with the {} by {other}{location}", before.kind),
                "no barrier, fence or atomic operation orders the two".to_owned(),
            ];
            (
                FaultKind::Race,
                format!(
                    "race in shared memory: {} of {size} bytes at {place}",
                    now.kind
                ),
                notes,
            )
        }
        Finding::Uninitialised {
            now,
            block,
            offset,
            size,
        } => {
            let place = place(cluster, grid, now.block, *block, *offset);
            let message = format!(
                "uninitialised shared memory: {} of {size} bytes at {place}",
                now.kind
            );
            let notes = vec!["no thread had written there since the block started".to_owned()];
            (FaultKind::Uninitialised, message, notes)
        }
    }
}

#[cold]
fn report(warp: &mut Warp, cluster: &Cluster<'_>, finding: &Finding) -> Flow {
    let (Finding::Race { now, .. } | Finding::Uninitialised { now, .. }) = finding;
    let (kind, message, notes) = describe(cluster, cluster.grid, finding);
    warp.fail_with(kind, now.thread as usize % 32, message, notes)
}

/// The report of a finding that was held back; `kernel` is the kernel's name.
#[cold]
pub(crate) fn fault(cluster: &Cluster<'_>, kernel: &str, finding: &Finding) -> Box<Fault> {
    let grid = cluster.grid;
    let (Finding::Race { now, .. } | Finding::Uninitialised { now, .. }) = finding;
    let (kind, message, notes) = describe(cluster, grid, finding);
    Box::new(Fault {
        kind,
        message,
        kernel: kernel.to_owned(),
        block: cluster.blocks[now.block as usize].index,
        thread: grid.thread_index(now.thread / 32, now.thread % 32),
        location: grid.program.site_location(now.site),
        notes,
    })
}

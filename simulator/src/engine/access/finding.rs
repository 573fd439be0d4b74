//! The faults that are made of what the checks find.

use crate::check::{Finding, ThreadAccess};
use crate::engine::exec::cluster::Cluster;
use crate::engine::exec::grid::Grid;
use crate::engine::exec::warp::{Flow, Warp};
use crate::engine::fault::{Fault, FaultKind};

/// `thread (x,y,z)`, with its block where that is not `home`, the rank of the block that the report is about.
fn who(cluster: &Cluster<'_>, grid: &Grid<'_>, home: u32, access: &ThreadAccess) -> String {
    let [bx, by, bz] = cluster.blocks[access.block as usize].index;
    let [tx, ty, tz] = grid.thread_index(access.thread / 32, access.thread % 32);
    if access.block == home {
        format!("thread ({tx},{ty},{tz})")
    } else {
        format!("block ({bx},{by},{bz}), thread ({tx},{ty},{tz})")
    }
}

/// Where in shared memory, by variable where there is one.
fn shared_name(
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

/// A finding in words: kind, message, notes.
fn describe(
    cluster: &Cluster<'_>,
    grid: &Grid<'_>,
    finding: &Finding,
) -> (FaultKind, String, Vec<String>) {
    match finding {
        Finding::Race {
            access,
            earlier,
            block,
            offset,
            size,
        } => {
            let place = shared_name(cluster, grid, access.block, *block, *offset);
            let location = grid.program.site_location(earlier.site);
            let location = location.map_or(String::new(), |location| format!(", at {location}"));
            let other = who(cluster, grid, access.block, earlier);
            let notes = vec![
                format!(
                    "it conflicts with the {} by {other}{location}",
                    earlier.class
                ),
                "no barrier, fence or atomic operation orders the two".to_owned(),
            ];
            (
                FaultKind::Race,
                format!(
                    "race in shared memory: {} of {size} bytes at {place}",
                    access.class
                ),
                notes,
            )
        }
        Finding::Uninitialised {
            access,
            block,
            offset,
            size,
        } => {
            let place = shared_name(cluster, grid, access.block, *block, *offset);
            let message = format!(
                "uninitialised shared memory: {} of {size} bytes at {place}",
                access.class
            );
            let notes = vec!["no thread had written there since the block started".to_owned()];
            (FaultKind::Uninitialised, message, notes)
        }
    }
}

/// Records a finding as the warp's fault.
#[cold]
pub(super) fn fail(warp: &mut Warp, cluster: &Cluster<'_>, finding: &Finding) -> Flow {
    let access = *finding.access();
    let (kind, message, notes) = describe(cluster, cluster.grid, finding);
    warp.fail_with(kind, access.thread as usize % 32, message, notes)
}

/// The report of a finding that was held back; `kernel` is the kernel's name.
#[cold]
pub(crate) fn fault(cluster: &Cluster<'_>, kernel: &str, finding: &Finding) -> Box<Fault> {
    let grid = cluster.grid;
    let access = *finding.access();
    let (kind, message, notes) = describe(cluster, grid, finding);
    Box::new(Fault {
        kind,
        message,
        kernel: kernel.to_owned(),
        block: cluster.blocks[access.block as usize].index,
        thread: grid.thread_index(access.thread / 32, access.thread % 32),
        location: grid.program.site_location(access.site),
        notes,
    })
}

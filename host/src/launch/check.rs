//! The limits of launches: checked before the driver is asked, and explained when it refuses.

use std::sync::atomic::Ordering;

use super::attributes::CALL;
use super::function::Function;
use super::grid::{Dim3, Grid};
use super::kernel_launch::KernelLaunch;
use super::packer::Packer;
use crate::driver_call;
use crate::error::{Code, Error, LimitError, Result};

const GRID_EXTENTS: [&str; 3] = [
    "the grid's extent in x",
    "the grid's extent in y",
    "the grid's extent in z",
];
const BLOCK_EXTENTS: [&str; 3] = [
    "the block's extent in x",
    "the block's extent in y",
    "the block's extent in z",
];
const CLUSTER_EXTENTS: [&str; 3] = [
    "the cluster's extent in x",
    "the cluster's extent in y",
    "the cluster's extent in z",
];

const TOO_MANY_THREADS: &str = "use more blocks of fewer threads";

/// Everything that can be said about a launch without asking the driver.
#[inline(always)]
pub(crate) fn check(launch: &KernelLaunch<'_>, packer: &Packer<'_>) -> Result<()> {
    let KernelLaunch {
        function,
        attributes,
        grid,
        ..
    } = launch;
    let limits = &function.limits;
    let (blocks, threads) = (grid.blocks.array(), grid.threads.array());
    let within = |extents: [u32; 3], limits: [u32; 3]| {
        (0..3).all(|i| extents[i].wrapping_sub(1) < limits[i])
    };
    let one_dimensional = blocks[1] | blocks[2] | threads[1] | threads[2] == 1;
    let flat = blocks[2] | threads[2] == 1;
    let within_limits = within(blocks, limits.grid)
        && within(threads, limits.block)
        && grid.threads.count() <= limits.function_threads.min(limits.device_threads).into()
        && grid.shared <= function.dynamic_shared.load(Ordering::Relaxed)
        && (attributes.launch_dimensions > 2
            || one_dimensional
            || (attributes.launch_dimensions == 2 && flat))
        && !packer.empty_reference
        && !packer.written_array_twice
        && packer.misaligned.is_none()
        && grid.cluster.is_none()
        && attributes.cluster.is_none()
        // A bound that is no exact size is in what the driver says of the kernel.
        && !attributes.exact
        && !grid.cooperative;
    if within_limits {
        Ok(())
    } else {
        check_slowly(launch, packer)
    }
}

/// Finds what is wrong, if anything is: some of what brings a launch here is fine.
// covers: MODEL-03, MODEL-06, MODEL-22
#[cold]
fn check_slowly(launch: &KernelLaunch<'_>, packer: &Packer<'_>) -> Result<()> {
    let KernelLaunch {
        function: kernel,
        attributes,
        grid,
        ..
    } = launch;
    let gpu = &kernel.module.gpu;
    let limits = &gpu.limits();
    let fail = |code: Code, what: &'static str, value: u64, limit: u64, hint: String| {
        Err(Error::Limit(Box::new(LimitError {
            call: CALL,
            code,
            subject: kernel.name.clone(),
            what,
            value,
            limit,
            hint,
        })))
    };
    let (blocks, threads) = (grid.blocks.array(), grid.threads.array());
    // The block first: `Grid::cover` computes the grid by it.
    for (names, extents, most, too_few, too_many) in [
        (
            BLOCK_EXTENTS,
            threads,
            limits.block,
            "a block has at least one thread: give `Grid::cover` or `Grid::new` the threads of a block, 256 for example",
            TOO_MANY_THREADS,
        ),
        (
            GRID_EXTENTS,
            blocks,
            limits.grid,
            "there is nothing to do: skip the launch when `grid.is_empty()`",
            "let each thread work on several elements, or spread the grid over more dimensions",
        ),
    ] {
        for i in 0..3 {
            if extents[i] == 0 {
                return fail(Code::INVALID_VALUE, names[i], 0, 1, too_few.into());
            }
            if extents[i] > most[i] {
                return fail(
                    Code::INVALID_VALUE,
                    names[i],
                    extents[i].into(),
                    most[i].into(),
                    too_many.into(),
                );
            }
        }
    }
    let count = grid.threads.count();
    if count > limits.threads.into() {
        return fail(
            Code::INVALID_VALUE,
            "the block's number of threads",
            count,
            limits.threads.into(),
            TOO_MANY_THREADS.into(),
        );
    }
    if let Some(bounds) = attributes.max_threads {
        let most = bounds.iter().map(|&n| u64::from(n.max(1))).product::<u64>();
        let beyond = if attributes.exact {
            threads != bounds.map(|n| n.max(1))
        } else {
            count > most
        };
        if beyond && attributes.exact {
            return Err(Error::misuse(
                CALL,
                Code::INVALID_VALUE,
                format!(
                    "kernel `{}` is launched with blocks of {threads:?} threads, and was compiled for exactly {bounds:?}",
                    kernel.name
                ),
                "launch it with such blocks, or change its `launch_bounds`",
            ));
        }
        if beyond {
            return fail(
                Code::INVALID_VALUE,
                "the block's number of threads",
                count,
                most,
                format!("the kernel was compiled for at most {bounds:?} threads (`launch_bounds`)"),
            );
        }
    }
    if count > kernel.limits.function_threads.into() {
        let hint = "the kernel's registers or its own bounds (`launch_bounds`, `.maxntid`) allow no more: use smaller blocks, or have it compiled for larger ones";
        return fail(
            Code::INVALID_VALUE,
            "the block's number of threads",
            count,
            kernel.limits.function_threads.into(),
            hint.into(),
        );
    }
    if attributes.launch_dimensions < 3 {
        let used = (1..=3)
            .rev()
            .find(|&n| blocks[n - 1] > 1 || threads[n - 1] > 1)
            .unwrap_or(1) as u64;
        let most = u64::from(attributes.launch_dimensions.max(1));
        if used > most {
            let hint = "the kernel's outputs are numbered along fewer dimensions: `PerThread3d` and `VolumeOut` take any, `MatrixOut` and `TilePerBlock` two, `PerThread` one, surfaces as many as their texels";
            return fail(
                Code::INVALID_VALUE,
                "the number of dimensions of grid and block",
                used,
                most,
                hint.into(),
            );
        }
    }
    if grid.shared > kernel.dynamic_shared.load(Ordering::Acquire) {
        kernel.allow_dynamic_shared(grid.shared)?;
    }
    if packer.empty_reference {
        return Err(Packer::empty_reference_error(&kernel.name));
    }
    if packer.written_array_twice {
        return Err(Packer::written_array_twice_error(&kernel.name));
    }
    if let Some(found) = packer.misaligned {
        return Err(Packer::misaligned_error(&kernel.name, found));
    }
    check_cluster(launch)?;
    if grid.cooperative && !limits.cooperative {
        return Err(Error::unsupported(
            "a cooperative launch",
            "a device since compute capability 6.0",
        ));
    }
    Ok(())
}

fn check_cluster(launch: &KernelLaunch<'_>) -> Result<()> {
    let KernelLaunch {
        function: kernel,
        attributes,
        grid,
        ..
    } = launch;
    let Some(cluster) = grid.cluster.or(attributes.cluster.map(Dim3::from)) else {
        return Ok(());
    };
    if !kernel.module.gpu.limits().clusters {
        return Err(Error::unsupported(
            "a cluster launch",
            "a device since compute capability 9.0",
        ));
    }
    let fail = |what: &'static str, value: u64, limit: u64, hint: String| {
        let code = Code::INVALID_CLUSTER_SIZE;
        Err(Error::Limit(Box::new(LimitError {
            call: CALL,
            code,
            subject: kernel.name.clone(),
            what,
            value,
            limit,
            hint,
        })))
    };
    if let Some(i) = cluster.array().iter().position(|&extent| extent == 0) {
        let hint =
            "an extent counts blocks: write 1 for a dimension in which blocks are not grouped";
        return fail(CLUSTER_EXTENTS[i], 0, 1, hint.into());
    }
    if let (Some(fixed), Some(asked)) = (attributes.cluster, grid.cluster)
        && Dim3::from(fixed) != asked
    {
        return Err(Error::misuse(
            CALL,
            Code::INVALID_CLUSTER_SIZE,
            format!(
                "kernel `{}` is launched with clusters of {:?} blocks, and was compiled for exactly {fixed:?}",
                kernel.name,
                asked.array()
            ),
            "leave `.cluster(..)` away",
        ));
    }
    if let Some(most) = attributes.max_cluster
        && cluster.count() > most.into()
    {
        let hint = "the kernel was compiled with this `max_cluster`".into();
        return fail(
            "the number of blocks in a cluster",
            cluster.count(),
            most.into(),
            hint,
        );
    }
    for (i, (blocks, cluster)) in grid
        .blocks
        .array()
        .into_iter()
        .zip(cluster.array())
        .enumerate()
    {
        if blocks % cluster != 0 {
            let most = blocks / cluster * cluster;
            return Err(Error::misuse(
                CALL,
                Code::INVALID_CLUSTER_SIZE,
                format!(
                    "`{}`: {} is {blocks}, no multiple of the cluster's, which is {cluster}",
                    kernel.name, GRID_EXTENTS[i]
                ),
                format!(
                    "{} blocks would do",
                    blocks.checked_next_multiple_of(cluster).unwrap_or(most)
                ),
            ));
        }
    }
    Ok(())
}

/// The error of a kernel that is passed a condition of another graph than the one that it is to be a node of.
#[cold]
pub(crate) fn condition_elsewhere(call: &'static str, kernel: &Function) -> Error {
    Error::misuse(
        call,
        Code::INVALID_VALUE,
        format!(
            "`{}` is passed a condition, and may be a node of that condition's graph or of its bodies alone",
            kernel.name
        ),
        "add it by `graph.kernel(..)` to the graph that the condition was made in, or to a body of that",
    )
}

/// The error for a launch in a stream of a kernel that is passed a graph.
#[cold]
pub(crate) fn graph_outside_of_graphs(kernel: &Function) -> Error {
    Error::misuse(
        CALL,
        Code::NOT_SUPPORTED,
        format!(
            "kernel `{}` is passed a graph to launch, which only a kernel that is a node of a graph can do",
            kernel.name
        ),
        "add it to a graph by `graph.kernel(..)`, or capture its launch",
    )
}

/// The error for a launch that the driver refused, with figures where they can be had.
#[cold]
pub(crate) fn launch_failed(kernel: &Function, grid: &Grid, code: Code) -> Error {
    let threads = grid.threads.count();
    if code == Code::COOPERATIVE_LAUNCH_TOO_LARGE
        && let Ok(resident) =
            kernel.resident_blocks(u32::try_from(threads).unwrap_or(u32::MAX), grid.shared)
    {
        let multiprocessors = kernel.module.gpu.limits().multiprocessors;
        return Error::Limit(Box::new(LimitError {
            call: CALL,
            code,
            subject: kernel.name.clone(),
            what: "the number of blocks of a cooperative grid",
            value: grid.blocks.count(),
            limit: u64::from(resident) * u64::from(multiprocessors),
            hint: format!(
                "{resident} blocks of {threads} threads fit on each of {multiprocessors} multiprocessors at once: let each block do more"
            ),
        }));
    }
    if code == Code::INVALID_CLUSTER_SIZE
        && let (Some(cluster), Ok(most)) = (grid.cluster, kernel.max_cluster_size(grid))
        && cluster.count() > most.into()
    {
        return Error::Limit(Box::new(LimitError {
            call: CALL,
            code,
            subject: kernel.name.clone(),
            what: "the number of blocks in a cluster",
            value: cluster.count(),
            limit: most.into(),
            hint:
                "8 is portable; `kernel.set_cluster_sizes(ClusterSizes::NonPortable)` allows what the device can"
                    .into(),
        }));
    }
    driver_call::failed(CALL, code).while_doing(|| {
        let Dim3 { x, y, z } = grid.blocks;
        let block = grid.threads;
        let reason = match code {
            Code::NOT_SUPPORTED => {
                "a kernel that launches graphs runs as a node of a graph alone: add it by `graph.kernel(..)`"
            }
            _ => "or an earlier fault",
        };
        format!(
            "kernel `{}`, grid {x} x {y} x {z}, block {} x {} x {}, {} bytes of dynamic shared memory; {reason}",
            kernel.name, block.x, block.y, block.z, grid.shared
        )
    })
}

//! Launching kernels: shape, arguments, checks.
//!
//! A typed launch does what a plain `cuLaunchKernelEx` call does, plus: some comparisons with limits that were asked for once, one
//! comparison for each buffer (see [`crate::memory`]), and a note for naming the kernel of a panic. It allocates nothing and takes
//! no lock as long as each buffer is used in one stream; everything else is out of line.

mod arguments;
mod grid;
pub(crate) mod kernel;

use std::sync::Arc;
use std::sync::atomic::Ordering;

use warpsmith_device::launch::{Kernel, KernelAttributes, SafeKernel};

pub(crate) use arguments::Packer;
pub use arguments::{Argument, Arguments};
pub use grid::{Dim3, Grid};
use kernel::KernelInner;
pub use kernel::{FunctionAttributes, Occupancy, TypedKernel, UntypedKernel};

use crate::error::{Busy, Code, Error, LimitError, Result};
use crate::gpu::attention;
use crate::memory::allocation::wrong_gpu;
use crate::raw;
use crate::stream::Stream;

const CALL: &str = "cuLaunchKernelEx";

impl Stream {
    /// Launches a safe kernel and returns; it runs after everything that this stream holds already, and after whatever other streams
    /// do to the same memory.
    ///
    /// ```no_run
    /// # use warpsmith_device::prelude::*;
    /// # #[kernel]
    /// # pub fn saxpy(a: f32, x: &[f32], mut y: PerThread<[f32]>) {}
    /// # const PTX: &str = "";
    /// use warpsmith_host::prelude::*;
    ///
    /// # fn main() -> Result<()> {
    /// let gpu = Gpu::open_default()?;
    /// let kernel = gpu.load(PTX)?.kernel(saxpy)?;
    /// let stream = gpu.stream()?;
    /// let x = stream.upload(&[1.0, 2.0, 3.0])?;
    /// let mut y = stream.zeroed::<f32>(3)?;
    /// stream.launch(&kernel, Grid::cover(3, 128), (2.0, &x, &mut y))?;
    /// assert_eq!(stream.download(&y)?, [2.0, 4.0, 6.0]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Limit`] where the shape is beyond the kernel or the device: an empty grid, too many threads, too much shared memory, a
    /// cluster that does not divide the grid, a cooperative grid that does not fit. [`Error::Driver`] where the driver refuses, or an
    /// earlier fault on the device comes to light. A panic or a fault of *this* launch shows at a later wait.
    // covers: MODEL-01, ERROR-05
    #[inline]
    pub fn launch<K, A>(&self, kernel: &TypedKernel<K>, grid: Grid, arguments: A) -> Result<()>
    where
        K: SafeKernel,
        A: Arguments<K::Parameters>,
    {
        let mut packer = Packer::new(self.inner.current_number());
        arguments.pack(&mut packer);
        self.enqueue(&kernel.inner, const { &K::ATTRIBUTES }, &grid, &mut packer)
    }

    /// Launches any kernel, `unsafe fn`s too.
    ///
    /// # Safety
    ///
    /// The kernel's own conditions hold, as its documentation gives them.
    #[inline]
    pub unsafe fn launch_unchecked<K, A>(
        &self,
        kernel: &TypedKernel<K>,
        grid: Grid,
        arguments: A,
    ) -> Result<()>
    where
        K: Kernel,
        A: Arguments<K::Parameters>,
    {
        let mut packer = Packer::new(self.inner.current_number());
        arguments.pack(&mut packer);
        self.enqueue(&kernel.inner, const { &K::ATTRIBUTES }, &grid, &mut packer)
    }

    /// Launches a kernel of foreign PTX.
    ///
    /// # Safety
    ///
    /// The entry's parameters are those that `P` describes, and it does with them what its source promises: it stays inside of the
    /// memory that it is given, writes only what is passed by `&mut`, and no two threads race.
    #[inline]
    pub unsafe fn launch_untyped<P, A>(
        &self,
        kernel: &UntypedKernel<P>,
        grid: Grid,
        arguments: A,
    ) -> Result<()>
    where
        A: Arguments<P>,
    {
        let mut packer = Packer::new(self.inner.current_number());
        arguments.pack(&mut packer);
        self.enqueue(&kernel.inner, &UNKNOWN, &grid, &mut packer)
    }

    fn enqueue(
        &self,
        kernel: &Arc<KernelInner>,
        attributes: &KernelAttributes,
        grid: &Grid,
        packer: &mut Packer<'_>,
    ) -> Result<()> {
        let stream = &self.inner;
        let gpu = &stream.gpu;
        if !Arc::ptr_eq(gpu, &kernel.module.gpu)
            || packer
                .uses()
                .iter()
                .any(|used| !Arc::ptr_eq(gpu, &used.allocation.gpu))
        {
            return Err(wrong_gpu(CALL));
        }
        check(kernel, attributes, grid, packer)?;
        gpu.bind()?;
        let attention = gpu.attention.load(Ordering::Acquire);
        if packer.slow || attention != 0 {
            return self.enqueue_slowly(kernel, grid, packer, attention);
        }
        self.call_driver(kernel, grid, packer)
    }

    /// As [`enqueue`](Self::enqueue) where memory was used in other streams, or something else needs looking at.
    #[cold]
    fn enqueue_slowly(
        &self,
        kernel: &Arc<KernelInner>,
        grid: &Grid,
        packer: &mut Packer<'_>,
        attention: u32,
    ) -> Result<()> {
        let stream = &self.inner;
        {
            let _order = stream.gpu.order();
            let attention = attention | stream.gpu.attention.load(Ordering::Acquire);
            if attention & attention::HOST_ACCESSES != 0 {
                return Err(Error::Busy(Box::new(Busy {
                    call: CALL,
                    reason: "the host has unified memory open, and this device cannot run kernels meanwhile".into(),
                    hint: "drop the guards of `host()` and `host_mut()` first",
                })));
            }
            for used in packer.uses() {
                used.allocation.order(stream, used.access, used.whole)?;
            }
            if let Some(capture) = stream.capture() {
                capture.keep(kernel, *grid);
            }
            self.call_driver(kernel, grid, packer)?;
        }
        if attention & attention::BLOCKING != 0 && stream.capture().is_none() {
            return self.synchronize().map_err(|error| {
                error.while_doing(|| format!("after launching `{}`", kernel.name))
            });
        }
        Ok(())
    }

    #[inline]
    fn call_driver(
        &self,
        kernel: &KernelInner,
        grid: &Grid,
        packer: &mut Packer<'_>,
    ) -> Result<()> {
        let mut attributes = LaunchAttributes::new(grid);
        let config = raw::CUlaunchConfig {
            gridDimX: grid.blocks.x,
            gridDimY: grid.blocks.y,
            gridDimZ: grid.blocks.z,
            blockDimX: grid.threads.x,
            blockDimY: grid.threads.y,
            blockDimZ: grid.threads.z,
            sharedMemBytes: grid.shared,
            hStream: self.inner.raw,
            attrs: attributes.list.as_mut_ptr(),
            numAttrs: attributes.count,
        };
        // SAFETY: configuration, attributes and parameters outlive the call; the parameters are those of the entry (by its type, or
        // by the promise of an unsafe launch), and the memory among them is alive until its last use in a stream.
        let code = unsafe {
            raw::cuLaunchKernelEx(
                &config,
                kernel.function,
                packer.pointers(),
                std::ptr::null_mut(),
            )
        };
        if code.0 != 0 {
            return Err(launch_failed(kernel, grid, Code(code.0)));
        }
        kernel.launched(grid);
        Ok(())
    }
}

/// For kernels about whose source nothing is known.
pub(crate) static UNKNOWN: KernelAttributes = KernelAttributes {
    max_threads: None,
    exact: false,
    min_blocks: None,
    max_registers: None,
    cluster: None,
    max_cluster: None,
    launch_dimensions: 3,
};

/// The launch's attributes in the driver's form.
// covers: MODEL-07, MODEL-25
pub(crate) struct LaunchAttributes {
    pub(crate) list: [raw::CUlaunchAttribute; 2],
    pub(crate) count: u32,
}

impl LaunchAttributes {
    #[inline]
    pub(crate) fn new(grid: &Grid) -> LaunchAttributes {
        let mut attributes = LaunchAttributes {
            list: [EMPTY, EMPTY],
            count: 0,
        };
        if let Some(cluster) = grid.cluster {
            let mut value = EMPTY.value;
            value.clusterDim.x = cluster.x;
            value.clusterDim.y = cluster.y;
            value.clusterDim.z = cluster.z;
            attributes.add(
                raw::CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
                value,
            );
        }
        if grid.cooperative {
            attributes.add(
                raw::CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_COOPERATIVE,
                raw::CUlaunchAttributeValue { cooperative: 1 },
            );
        }
        attributes
    }

    fn add(&mut self, id: raw::CUlaunchAttributeID, value: raw::CUlaunchAttributeValue) {
        self.list[self.count as usize] = raw::CUlaunchAttribute { id, value, ..EMPTY };
        self.count += 1;
    }
}

const EMPTY: raw::CUlaunchAttribute = raw::CUlaunchAttribute {
    id: raw::CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_IGNORE,
    pad: [0; 4],
    value: raw::CUlaunchAttributeValue { pad: [0; 64] },
};

/// Everything that can be said about a launch without asking the driver.
#[inline]
pub(crate) fn check(
    kernel: &KernelInner,
    attributes: &KernelAttributes,
    grid: &Grid,
    packer: &Packer<'_>,
) -> Result<()> {
    let limits = &kernel.module.gpu.limits;
    let (blocks, threads) = (grid.blocks.array(), grid.threads.array());
    let within = |extents: [u32; 3], limits: [u32; 3]| {
        (0..3).all(|i| extents[i].wrapping_sub(1) < limits[i])
    };
    let one_dimensional = blocks[1] | blocks[2] | threads[1] | threads[2] == 1;
    let flat = blocks[2] | threads[2] == 1;
    let good = within(blocks, limits.grid)
        && within(threads, limits.block)
        && grid.threads.count() <= kernel.max_threads.min(limits.threads).into()
        && grid.shared <= kernel.dynamic_shared.load(Ordering::Relaxed)
        && (attributes.launch_dimensions > 2
            || one_dimensional
            || (attributes.launch_dimensions == 2 && flat))
        && !packer.empty_reference
        && grid.cluster.is_none()
        && attributes.cluster.is_none()
        && attributes.max_threads.is_none()
        && !grid.cooperative;
    if good {
        Ok(())
    } else {
        check_slowly(kernel, attributes, grid, packer)
    }
}

/// Finds what is wrong, if anything is: some of what brings a launch here is fine.
// covers: MODEL-03, MODEL-06, MODEL-22
#[cold]
fn check_slowly(
    kernel: &KernelInner,
    attributes: &KernelAttributes,
    grid: &Grid,
    packer: &Packer<'_>,
) -> Result<()> {
    let gpu = &kernel.module.gpu;
    let limits = &gpu.limits;
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
    const BLOCKS: [&str; 3] = [
        "the grid's extent in x",
        "the grid's extent in y",
        "the grid's extent in z",
    ];
    const THREADS: [&str; 3] = [
        "the block's extent in x",
        "the block's extent in y",
        "the block's extent in z",
    ];
    for (names, extents, most) in [
        (BLOCKS, blocks, limits.grid),
        (THREADS, threads, limits.block),
    ] {
        for i in 0..3 {
            if extents[i] == 0 {
                let hint = "an extent is at least 1 (here the limit is the least): skip the launch when `grid.is_empty()`";
                return fail(Code::INVALID_VALUE, names[i], 0, 1, hint.into());
            }
            if extents[i] > most[i] {
                let hint = "let each thread work on several elements, or spread the grid over more dimensions";
                return fail(
                    Code::INVALID_VALUE,
                    names[i],
                    extents[i].into(),
                    most[i].into(),
                    hint.into(),
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
            "use more blocks of fewer threads".into(),
        );
    }
    if let Some(bounds) = attributes.max_threads {
        let most = bounds.iter().map(|&n| u64::from(n.max(1))).product::<u64>();
        let beyond = if attributes.exact {
            threads != bounds.map(|n| n.max(1))
        } else {
            count > most
        };
        if beyond {
            let hint = format!(
                "the kernel was compiled for {} {bounds:?} threads (`launch_bounds`)",
                if attributes.exact {
                    "exactly"
                } else {
                    "at most"
                }
            );
            return fail(
                Code::INVALID_VALUE,
                "the block's number of threads",
                count,
                most,
                hint,
            );
        }
    }
    if count > kernel.max_threads.into() {
        let hint = "the kernel's registers do not allow more: bound them with `launch_bounds`, or use smaller blocks";
        return fail(
            Code::INVALID_VALUE,
            "the block's number of threads",
            count,
            kernel.max_threads.into(),
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
            let hint = "the kernel's outputs are numbered along fewer dimensions: `PerThread3d` takes any, `MatrixOut` two, `PerThread` one";
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
    check_cluster(kernel, attributes, grid)?;
    if grid.cooperative && !limits.cooperative {
        return Err(Error::unsupported(
            "a cooperative launch",
            "a device since compute capability 6.0",
        ));
    }
    Ok(())
}

fn check_cluster(kernel: &KernelInner, attributes: &KernelAttributes, grid: &Grid) -> Result<()> {
    let Some(cluster) = grid.cluster.or(attributes.cluster.map(Dim3::from)) else {
        return Ok(());
    };
    if !kernel.module.gpu.limits.clusters {
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
    if let (Some(fixed), Some(asked)) = (attributes.cluster, grid.cluster)
        && Dim3::from(fixed) != asked
    {
        let hint =
            format!("the kernel was compiled for clusters of {fixed:?}: leave `.cluster(..)` away");
        return fail(
            "the number of blocks in a cluster",
            asked.count(),
            Dim3::from(fixed).count(),
            hint,
        );
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
    const EXTENTS: [&str; 3] = [
        "the grid's extent in x",
        "the grid's extent in y",
        "the grid's extent in z",
    ];
    for (i, (blocks, cluster)) in grid
        .blocks
        .array()
        .into_iter()
        .zip(cluster.array())
        .enumerate()
    {
        if cluster == 0 || blocks % cluster != 0 {
            let hint = format!(
                "the grid must be a multiple of the cluster (the limit given is the cluster's extent); {} blocks would do",
                blocks
                    .checked_next_multiple_of(cluster.max(1))
                    .unwrap_or(blocks)
            );
            return fail(EXTENTS[i], blocks.into(), cluster.into(), hint);
        }
    }
    Ok(())
}

/// The error for a launch that the driver refused, with figures where they can be had.
#[cold]
pub(crate) fn launch_failed(kernel: &KernelInner, grid: &Grid, code: Code) -> Error {
    let threads = grid.threads.count();
    if code == Code::COOPERATIVE_LAUNCH_TOO_LARGE
        && let Ok(resident) =
            kernel.resident_blocks(u32::try_from(threads).unwrap_or(u32::MAX), grid.shared)
    {
        let multiprocessors = kernel.module.gpu.limits.multiprocessors;
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
    {
        return Error::Limit(Box::new(LimitError {
            call: CALL,
            code,
            subject: kernel.name.clone(),
            what: "the number of blocks in a cluster",
            value: cluster.count(),
            limit: most.into(),
            hint:
                "8 is portable; `kernel.set_non_portable_cluster(true)` allows what the device can"
                    .into(),
        }));
    }
    raw::failed(CALL, code).while_doing(|| {
        let Dim3 { x, y, z } = grid.blocks;
        let block = grid.threads;
        format!(
            "kernel `{}`, grid {x} x {y} x {z}, block {} x {} x {}, {} bytes of dynamic shared memory; or an earlier fault",
            kernel.name, block.x, block.y, block.z, grid.shared
        )
    })
}

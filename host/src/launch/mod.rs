//! Launching kernels: shape, arguments, checks.
//!
//! A typed launch does what a plain `cuLaunchKernelEx` call does, plus: some comparisons with limits that were asked for once, one
//! comparison for each buffer (see [`crate::memory`]), and a note for naming the kernel of a panic. It allocates nothing and takes
//! no lock as long as each buffer is used in one stream; everything else is out of line.

mod arguments;
mod check;
mod grid;
pub(crate) mod kernel;

use std::sync::Arc;
use std::sync::atomic::Ordering;

use warpsmith_device::launch::{Kernel, KernelAttributes, SafeKernel};

pub(crate) use arguments::Packer;
pub use arguments::{Argument, Arguments};
pub(crate) use check::check;
use check::launch_failed;
pub use grid::{Dim3, Grid};
use kernel::KernelInner;
pub use kernel::{FunctionAttributes, Occupancy, TypedKernel, UntypedKernel};

use crate::context::attention;
use crate::error::{Busy, Code, Error, Result};
use crate::memory::allocation::wrong_gpu;
use crate::stream::Stream;
use warpsmith_driver::raw;

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

//! Kernels of a loaded module, with their types.

use std::marker::PhantomData;
use std::sync::Arc;

use warpsmith_device::launch::Kernel;
use warpsmith_driver::raw::CUfunction_attribute;

use super::function::{ClusterSizes, Function, FunctionAttributes, Occupancy, SuggestedBlock};
use super::grid::Grid;
use crate::error::Result;

/// A kernel whose parameters the compiler checks. Cheap to clone; keeps its module alive.
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
/// let kernel: TypedKernel<saxpy> = gpu.load(PTX)?.kernel(saxpy)?;
/// println!("{} registers", kernel.attributes()?.registers);
/// # Ok(())
/// # }
/// ```
pub struct TypedKernel<K> {
    pub(crate) function: Arc<Function>,
    of: PhantomData<fn() -> K>,
}

/// A kernel of foreign PTX, whose parameters are what the caller says they are: `P` is a tuple of the markers of
/// [`warpsmith_device::launch`]. See [`Module::untyped_kernel`](crate::Module::untyped_kernel).
pub struct UntypedKernel<P> {
    pub(crate) function: Arc<Function>,
    of: PhantomData<fn() -> P>,
}

macro_rules! kernel_methods {
    ($name:ident) => {
        impl<K> $name<K> {
            pub(crate) fn new(function: Arc<Function>) -> Self {
                $name {
                    function,
                    of: PhantomData,
                }
            }

            /// The name of the PTX entry.
            pub fn name(&self) -> &str {
                &self.function.name
            }

            /// The driver's handle (`CUfunction`), for calls that this crate lacks. It is valid as long as the kernel.
            pub fn as_raw(&self) -> *mut core::ffi::c_void {
                self.function.raw().cast()
            }

            /// What the kernel needs and what bounds its launches.
            pub fn attributes(&self) -> Result<FunctionAttributes> {
                self.function.attributes()
            }

            /// Lets launches have more dynamic shared memory than 48 KB. A launch does this by itself; to do it beforehand keeps it
            /// out of the first launch's time.
            ///
            /// # Errors
            ///
            /// The device's blocks cannot have that much.
            pub fn set_max_dynamic_shared(&self, bytes: u32) -> Result<()> {
                self.function.allow_dynamic_shared(bytes)
            }

            /// Which cluster sizes later launches may have: [`ClusterSizes::Portable`] unless this is called.
            // covers: MODEL-09
            pub fn set_cluster_sizes(&self, sizes: ClusterSizes) -> Result<()> {
                self.function.set_attribute(
                    CUfunction_attribute::CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED,
                    (sizes == ClusterSizes::NonPortable).into(),
                )
            }

            /// How much of a multiprocessor blocks of this size keep busy.
            ///
            /// # Errors
            ///
            /// [`Error::Limit`](crate::Error::Limit) where a block has no threads, or more shared memory than the device's blocks can have. Of
            /// blocks with more threads than the kernel's can have, none fit.
            pub fn occupancy(&self, block_threads: u32, dynamic_shared: u32) -> Result<Occupancy> {
                self.function.occupancy(block_threads, dynamic_shared)
            }

            /// The block size with the best occupancy, and how many such blocks fill the device.
            ///
            /// # Errors
            ///
            /// [`Error::Limit`](crate::Error::Limit) where it is more shared memory than the device's blocks can have.
            pub fn suggested_block(&self, dynamic_shared: u32) -> Result<SuggestedBlock> {
                self.function.suggested_block(dynamic_shared)
            }

            /// The largest cluster that a launch of this shape can have.
            ///
            /// # Errors
            ///
            /// [`Error::Limit`](crate::Error::Limit) where no launch can have such blocks or clusters.
            // covers: PERF-05
            pub fn max_cluster_size(&self, grid: &Grid) -> Result<u32> {
                self.function.max_cluster_size(grid)
            }

            /// How many clusters of a launch of this shape the device runs at a time (`cuOccupancyMaxActiveClusters`). The grid says how
            /// large they are, by [`Grid::cluster`].
            ///
            /// # Errors
            ///
            /// [`Error::Invalid`](crate::Error::Invalid) where the grid has no clusters, [`Error::Limit`](crate::Error::Limit) where no launch can have such
            /// blocks or clusters; the driver refuses the shape: no such cluster fits.
            // covers: PERF-05
            pub fn max_active_clusters(&self, grid: &Grid) -> Result<u32> {
                self.function.max_active_clusters(grid)
            }

            /// How many blocks a cooperative grid can have.
            ///
            /// # Errors
            ///
            /// As for [`occupancy`](Self::occupancy).
            pub fn max_cooperative_blocks(
                &self,
                block_threads: u32,
                dynamic_shared: u32,
            ) -> Result<u32> {
                let resident = self
                    .function
                    .resident_blocks(block_threads, dynamic_shared)?;
                Ok(resident * self.function.module.gpu.limits().multiprocessors)
            }
        }

        impl<K> Clone for $name<K> {
            fn clone(&self) -> Self {
                $name {
                    function: self.function.clone(),
                    of: PhantomData,
                }
            }
        }

        impl<K> std::fmt::Debug for $name<K> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, "kernel `{}`", self.function.name)
            }
        }
    };
}

kernel_methods!(TypedKernel);
kernel_methods!(UntypedKernel);

impl<K: Kernel> TypedKernel<K> {
    /// What `#[kernel(...)]` said.
    pub fn source_attributes(&self) -> warpsmith_device::launch::KernelAttributes {
        K::ATTRIBUTES
    }
}

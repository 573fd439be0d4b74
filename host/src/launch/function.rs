//! Kernels of a loaded module, without their types, and what the driver knows about them.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

use warpsmith_driver::raw::{self, CUfunction_attribute};

use super::attributes::{GRID_ATTRIBUTES, LaunchAttributes};
use super::grid::Grid;
use crate::driver_call::call;
use crate::driver_call::handle::Handle;
use crate::error::{Code, Error, LimitError, Result};
use crate::module::ModuleInner;
use crate::module::origin::LaunchParameters;
use crate::module::variables::ModuleVariables;

/// An entry of a module.
/// What each launch reads of it stands first, in one line of the cache.
#[repr(C, align(64))]
pub(crate) struct Function {
    pub(crate) module: Arc<ModuleInner>,
    raw: Handle<raw::CUfunction>,
    /// The module's variables, if the kernel may use some.
    pub(crate) variables: Option<Arc<ModuleVariables>>,
    pub(crate) limits: LaunchLimits,
    /// Bytes of dynamic shared memory that a launch may ask for without raising the function's attribute.
    pub(crate) dynamic_shared: AtomicU32,
    /// Whether it has the parameters of the launch.
    pub(crate) launch_parameters: LaunchParameters,
    /// The number by which it is known where panics are told.
    pub(crate) number: u32,
    pub(crate) static_shared: u32,
    pub(crate) name: String,
    /// As soon as somebody has asked for it.
    compiled_cluster: OnceLock<[u32; 3]>,
}

/// What the shape of every launch of a function is checked against: the device's limits and the function's own, side by side with
/// the rest that a launch reads.
#[derive(Clone, Copy)]
pub(crate) struct LaunchLimits {
    /// A grid's extents in blocks.
    pub(crate) grid: [u32; 3],
    /// A block's extents in threads.
    pub(crate) block: [u32; 3],
    /// Threads of a block, by the device.
    pub(crate) device_threads: u32,
    /// Threads of a block, by the function's registers and bounds.
    pub(crate) function_threads: u32,
}

/// What a kernel needs and what bounds its launches.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FunctionAttributes {
    /// Threads in a block, at most, given the kernel's registers and bounds.
    pub max_threads_per_block: u32,
    /// Bytes of static shared memory.
    pub static_shared_bytes: u32,
    /// Bytes of dynamic shared memory that a launch may ask for; a launch raises this by itself as far as the device goes.
    pub max_dynamic_shared_bytes: u32,
    /// Bytes of local memory of a thread: stack and spilled registers.
    pub local_bytes: u32,
    /// Bytes of constant memory.
    pub constant_bytes: u32,
    /// Registers of a thread.
    pub registers: u32,
    /// The PTX's architecture, 90 for `sm_90`.
    pub ptx_version: u32,
    /// The compiled code's architecture.
    pub binary_version: u32,
}

/// How much of a multiprocessor a kernel can keep busy.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Occupancy {
    /// Blocks that are resident at a time.
    pub blocks_per_multiprocessor: u32,
    /// Warps that are resident at a time.
    pub active_warps: u32,
    /// Warps that a multiprocessor can hold.
    pub max_warps: u32,
    /// `active_warps / max_warps`.
    pub fraction: f64,
}

/// The block size with the best occupancy.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SuggestedBlock {
    /// Threads of a block.
    pub threads: u32,
    /// How many such blocks fill the device.
    pub blocks: u32,
}

/// Which cluster sizes launches of a kernel may have.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum ClusterSizes {
    /// Up to 8 blocks: every device with clusters runs them.
    #[default]
    Portable,
    /// Whatever the device can, 16 blocks on an H100 or H200.
    NonPortable,
}

impl Function {
    /// The entry of this name.
    ///
    /// # Errors
    ///
    /// The module has none.
    pub(crate) fn find(module: &Arc<ModuleInner>, name: &str) -> Result<Arc<Function>> {
        let raw = module.function(name)?;
        let limits = module.gpu.limits();
        let mut function = Function {
            module: module.clone(),
            raw: Handle::new(raw),
            name: name.into(),
            limits: LaunchLimits {
                grid: limits.grid,
                block: limits.block,
                device_threads: limits.threads,
                function_threads: 0,
            },
            static_shared: 0,
            dynamic_shared: AtomicU32::new(0),
            variables: module
                .origin
                .uses_variables(name)
                .then(|| module.variables.clone()),
            launch_parameters: module.origin.launch_parameters(name),
            number: module
                .gpu
                .panics()
                .names()
                .number(name, module.origin.panic_sites(name)),
            compiled_cluster: OnceLock::new(),
        };
        function.limits.function_threads =
            function.attribute(CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?;
        function.static_shared =
            function.attribute(CUfunction_attribute::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)?;
        let dynamic = function
            .attribute(CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)?;
        *function.dynamic_shared.get_mut() = dynamic;
        Ok(Arc::new(function))
    }

    /// The driver's handle, valid as long as `self`.
    #[inline]
    pub(crate) fn raw(&self) -> raw::CUfunction {
        self.raw.raw()
    }

    fn attribute(&self, attribute: CUfunction_attribute) -> Result<u32> {
        self.module.gpu.bind()?;
        let mut value = 0;
        // SAFETY: the driver writes one number, to a variable that outlives the call; `self.module` keeps the function.
        unsafe { call!(cuFuncGetAttribute(&mut value, attribute, self.raw())) }
            .map_err(|error| error.while_doing(|| format!("kernel `{}`", self.name)))?;
        Ok(value.max(0) as u32)
    }

    /// The clusters that the kernel was compiled for, in blocks; zeros for none, and where the driver has no clusters.
    pub(crate) fn compiled_cluster(&self) -> Result<[u32; 3]> {
        use CUfunction_attribute as A;
        if let Some(&known) = self.compiled_cluster.get() {
            return Ok(known);
        }
        let sizes = [
            A::CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH,
            A::CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT,
            A::CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH,
        ];
        let mut cluster = [0; 3];
        if self.module.gpu.limits().clusters {
            for (size, attribute) in cluster.iter_mut().zip(sizes) {
                *size = self.attribute(attribute)?;
            }
        }
        Ok(*self.compiled_cluster.get_or_init(|| cluster))
    }

    pub(crate) fn set_attribute(&self, attribute: CUfunction_attribute, value: u32) -> Result<()> {
        self.module.gpu.bind()?;
        let value = i32::try_from(value).unwrap_or(i32::MAX);
        // SAFETY: the call takes numbers; `self.module` keeps the function.
        unsafe { call!(cuFuncSetAttribute(self.raw(), attribute, value)) }
            .map_err(|error| error.while_doing(|| format!("kernel `{}`", self.name)))
    }

    /// Lets launches have this much dynamic shared memory.
    #[cold]
    pub(crate) fn allow_dynamic_shared(&self, bytes: u32) -> Result<()> {
        let limit = self
            .module
            .gpu
            .limits()
            .shared_optin
            .max(self.module.gpu.limits().shared)
            .saturating_sub(self.static_shared);
        if bytes > limit {
            return Err(Error::Limit(Box::new(LimitError {
                call: "cuFuncSetAttribute",
                code: Code::INVALID_VALUE,
                subject: self.name.clone(),
                what: "dynamic shared memory in bytes",
                value: bytes.into(),
                limit: limit.into(),
                hint: format!(
                    "a block of this device can have {} bytes, of which the kernel uses {} statically",
                    self.module.gpu.limits().shared_optin,
                    self.static_shared
                ),
            })));
        }
        self.set_attribute(
            CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
            bytes,
        )?;
        self.dynamic_shared.fetch_max(bytes, Ordering::Release);
        Ok(())
    }

    /// As [`allow_dynamic_shared`](Self::allow_dynamic_shared), unless launches may have as much already.
    fn allow_shared_of(&self, bytes: u32) -> Result<()> {
        match bytes > self.dynamic_shared.load(Ordering::Acquire) {
            true => self.allow_dynamic_shared(bytes),
            false => Ok(()),
        }
    }

    /// Of a question about launches of this shape.
    ///
    /// # Errors
    ///
    /// Blocks have no threads, more of them than the kernel's can have, or more shared memory; or clusters have no blocks.
    fn check_shape(&self, call: &'static str, grid: &Grid) -> Result<()> {
        let fail = |code, what, value, limit, hint: &str| {
            Err(Error::Limit(Box::new(LimitError {
                call,
                code,
                subject: self.name.clone(),
                what,
                value,
                limit,
                hint: hint.into(),
            })))
        };
        let most = self.limits.function_threads.min(self.limits.device_threads);
        match grid.threads.count() {
            0 => {
                return fail(
                    Code::INVALID_VALUE,
                    "the block's number of threads",
                    0,
                    1,
                    "ask for the shape of a launch, whose blocks have at least one thread",
                );
            }
            count if count > most.into() => {
                return fail(
                    Code::INVALID_VALUE,
                    "the block's number of threads",
                    count,
                    most.into(),
                    "no launch of the kernel has such blocks: ask for smaller ones",
                );
            }
            _ => {}
        }
        if grid.cluster.is_some_and(|cluster| cluster.count() == 0) {
            return fail(
                Code::INVALID_CLUSTER_SIZE,
                "the cluster's number of blocks",
                0,
                1,
                "an extent counts blocks: write 1 for a dimension in which blocks are not grouped",
            );
        }
        self.allow_shared_of(grid.shared)
    }

    pub(crate) fn attributes(&self) -> Result<FunctionAttributes> {
        use CUfunction_attribute as A;
        Ok(FunctionAttributes {
            max_threads_per_block: self.limits.function_threads,
            static_shared_bytes: self.static_shared,
            max_dynamic_shared_bytes: self.dynamic_shared.load(Ordering::Acquire),
            local_bytes: self.attribute(A::CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES)?,
            constant_bytes: self.attribute(A::CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES)?,
            registers: self.attribute(A::CU_FUNC_ATTRIBUTE_NUM_REGS)?,
            ptx_version: self.attribute(A::CU_FUNC_ATTRIBUTE_PTX_VERSION)?,
            binary_version: self.attribute(A::CU_FUNC_ATTRIBUTE_BINARY_VERSION)?,
        })
    }

    /// Resident blocks of a multiprocessor.
    ///
    /// # Errors
    ///
    /// A block of no threads, or of more shared memory than the device has for one.
    pub(crate) fn resident_blocks(&self, block_threads: u32, dynamic_shared: u32) -> Result<u32> {
        if block_threads == 0 {
            return Err(Error::Limit(Box::new(LimitError {
                call: "cuOccupancyMaxActiveBlocksPerMultiprocessor",
                code: Code::INVALID_VALUE,
                subject: self.name.clone(),
                what: "the block's number of threads",
                value: 0,
                limit: 1,
                hint: "ask for the size of the blocks of a launch, or for the best one: `kernel.suggested_block(..)`"
                    .into(),
            })));
        }
        self.allow_shared_of(dynamic_shared)?;
        self.module.gpu.bind()?;
        let mut blocks = 0;
        let threads = i32::try_from(block_threads).unwrap_or(i32::MAX);
        // SAFETY: the driver writes one number, to a variable that outlives the call; `self.module` keeps the function.
        unsafe {
            call!(cuOccupancyMaxActiveBlocksPerMultiprocessor(
                &mut blocks,
                self.raw(),
                threads,
                dynamic_shared as usize
            ))
        }
        .map_err(|error| {
            error.while_doing(|| format!("kernel `{}` with {block_threads} threads", self.name))
        })?;
        Ok(blocks.max(0) as u32)
    }

    pub(crate) fn occupancy(&self, block_threads: u32, dynamic_shared: u32) -> Result<Occupancy> {
        let blocks = self.resident_blocks(block_threads, dynamic_shared)?;
        let max_warps = self.module.gpu.limits().warps_per_multiprocessor;
        let active_warps = blocks * block_threads.div_ceil(32);
        Ok(Occupancy {
            blocks_per_multiprocessor: blocks,
            active_warps,
            max_warps,
            fraction: f64::from(active_warps) / f64::from(max_warps.max(1)),
        })
    }

    pub(crate) fn suggested_block(&self, dynamic_shared: u32) -> Result<SuggestedBlock> {
        self.allow_shared_of(dynamic_shared)?;
        self.module.gpu.bind()?;
        let (mut blocks, mut threads) = (0, 0);
        // SAFETY: the driver writes one number each to `blocks` and `threads`, which outlive the call; no callback is given, and
        // `self.module` keeps the function.
        unsafe {
            call!(cuOccupancyMaxPotentialBlockSize(
                &mut blocks,
                &mut threads,
                self.raw(),
                None,
                dynamic_shared as usize,
                0
            ))
        }
        .map_err(|error| error.while_doing(|| format!("kernel `{}`", self.name)))?;
        Ok(SuggestedBlock {
            threads: threads.max(0) as u32,
            blocks: blocks.max(0) as u32,
        })
    }

    pub(crate) fn max_cluster_size(&self, grid: &Grid) -> Result<u32> {
        self.check_shape("cuOccupancyMaxPotentialClusterSize", grid)?;
        self.module.gpu.bind()?;
        let config = grid.configuration();
        let mut size = 0;
        // SAFETY: the driver writes one number to `size` and reads `config`, which outlive the call; `self.module` keeps the function.
        unsafe {
            call!(cuOccupancyMaxPotentialClusterSize(
                &mut size,
                self.raw(),
                &config
            ))
        }
        .map_err(|error| error.while_doing(|| format!("kernel `{}`", self.name)))?;
        Ok(size.max(0) as u32)
    }

    pub(crate) fn max_active_clusters(&self, grid: &Grid) -> Result<u32> {
        const CALL: &str = "cuOccupancyMaxActiveClusters";
        if grid.cluster.is_none() {
            return Err(Error::misuse(
                CALL,
                Code::INVALID_VALUE,
                format!("kernel `{}`: the grid has no clusters", self.name),
                "say how large they are by `grid.cluster(..)`, also where the kernel's source does",
            ));
        }
        self.check_shape(CALL, grid)?;
        let gpu = &self.module.gpu;
        gpu.bind()?;
        let mut attributes: LaunchAttributes<GRID_ATTRIBUTES> = LaunchAttributes::none();
        attributes.add_grid(grid);
        let attributes = attributes.as_mut_slice();
        let config = raw::CUlaunchConfig {
            attrs: attributes.as_mut_ptr(),
            numAttrs: attributes.len() as u32,
            ..grid.configuration()
        };
        let mut clusters = 0;
        // SAFETY: the driver writes one number to `clusters` and reads `config` and its `attributes`, which outlive the call; `self.module`
        // keeps the function.
        unsafe {
            call!(cuOccupancyMaxActiveClusters(
                &mut clusters,
                self.raw(),
                &config
            ))
        }
        .map_err(|error| error.while_doing(|| format!("kernel `{}`", self.name)))?;
        Ok(clusters.max(0) as u32)
    }

    /// How many parameters the entry has, where the driver can tell.
    pub(super) fn parameter_count(&self) -> Option<usize> {
        let has = |index: usize| {
            let (mut offset, mut size) = (0, 0);
            // SAFETY: the driver writes one number each to `offset` and `size`, which outlive the call; `self.module` keeps the function.
            unsafe { raw::cuFuncGetParamInfo(self.raw(), index, &mut offset, &mut size) }
        };
        matches!(Code(has(0).0), Code(0) | Code::INVALID_VALUE)
            .then(|| (0..4096).take_while(|&index| has(index).0 == 0).count())
    }

    /// Compares the entry's parameters with the launcher's, where the driver can tell.
    // covers: DRV-14
    pub(crate) fn check_parameters(&self, record: &[u32]) -> Result<()> {
        let expected = record.get(2).map_or(0, |&count| count as usize);
        self.module.gpu.bind()?;
        let Some(present) = self.parameter_count() else {
            return Ok(());
        };
        // Behind those of the source: the launch's.
        if present == expected || present == expected + 2 {
            return Ok(());
        }
        Err(Error::misuse(
            "cuModuleGetFunction",
            Code::INVALID_IMAGE,
            format!(
                "kernel `{}` has {present} parameters in the PTX, its launcher passes {expected}",
                self.name
            ),
            "the PTX was not built from this source: build it again",
        ))
    }
}

//! Functions: their attributes, parameters, and how many blocks of them fit.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use super::*;
use crate::device;
use crate::module::Function;
use crate::state::{current, registries};

type Attribute = CUfunction_attribute;

driver_calls! {
    Ready fn cuFuncGetAttribute(pi: *mut c_int, attrib: CUfunction_attribute, hfunc: CUfunction) {
        current()?;
        let function = registries().functions.get(hfunc)?;
        put(pi, attribute(&function, attrib)?)?;
    }

    Ready fn cuFuncSetAttribute(hfunc: CUfunction, attrib: CUfunction_attribute, value: c_int) {
        current()?;
        set_attribute(&*registries().functions.get(hfunc)?, attrib, value)?;
    }

    Ready fn cuFuncSetCacheConfig(hfunc: CUfunction, config: CUfunc_cache) {
        if config.0 > 3 {
            return Err(code::INVALID_VALUE);
        }
        registries().functions.get(hfunc)?.cache_config.store(config.0, Relaxed);
    }

    Ready fn cuFuncSetSharedMemConfig(hfunc: CUfunction, config: CUsharedconfig) {
        registries().functions.get(hfunc)?;
        if config.0 > 2 {
            return Err(code::INVALID_VALUE);
        }
    }

    Ready fn cuFuncGetModule(hmod: *mut CUmodule, hfunc: CUfunction) {
        put(hmod, registries().functions.get(hfunc)?.module as CUmodule)?;
    }

    Ready fn cuFuncGetName(name: *mut *const c_char, hfunc: CUfunction) {
        // The registry keeps the function, and with it the text, until the module is unloaded.
        put(name, registries().functions.get(hfunc)?.c_name.as_ptr())?;
    }

    Ready fn cuFuncGetParamInfo(func: CUfunction, paramIndex: usize, paramOffset: *mut usize, paramSize: *mut usize) {
        let function = registries().functions.get(func)?;
        let parameter = function.kernel.parameters.get(paramIndex).ok_or(code::INVALID_VALUE)?;
        put(paramOffset, parameter.offset as usize)?;
        if !paramSize.is_null() {
            paramSize.write(parameter.size as usize);
        }
    }

    Ready fn cuFuncGetParamCount(func: CUfunction, paramCount: *mut usize) {
        put(paramCount, registries().functions.get(func)?.kernel.parameters.len())?;
    }

    Ready fn cuFuncIsLoaded(state: *mut CUfunctionLoadingState, function: CUfunction) {
        registries().functions.get(function)?;
        put(state, CUfunctionLoadingState::CU_FUNCTION_LOADING_STATE_LOADED)?;
    }

    Ready fn cuFuncLoad(function: CUfunction) {
        registries().functions.get(function)?;
    }

    Ready fn cuOccupancyMaxActiveBlocksPerMultiprocessor(
        numBlocks: *mut c_int, func: CUfunction, blockSize: c_int, dynamicSMemSize: usize,
    ) {
        put(numBlocks, blocks(func, blockSize, dynamicSMemSize)?)?;
    }

    Ready fn cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        numBlocks: *mut c_int, func: CUfunction, blockSize: c_int, dynamicSMemSize: usize, flags: c_uint,
    ) {
        if flags > 1 {
            return Err(code::INVALID_VALUE);
        }
        put(numBlocks, blocks(func, blockSize, dynamicSMemSize)?)?;
    }

    Ready fn cuOccupancyMaxPotentialBlockSize(
        minGridSize: *mut c_int, blockSize: *mut c_int, func: CUfunction, blockSizeToDynamicSMemSize: CUoccupancyB2DSize,
        dynamicSMemSize: usize, blockSizeLimit: c_int,
    ) {
        best_block(minGridSize, blockSize, func, blockSizeToDynamicSMemSize, dynamicSMemSize, blockSizeLimit)?;
    }

    Ready fn cuOccupancyMaxPotentialBlockSizeWithFlags(
        minGridSize: *mut c_int, blockSize: *mut c_int, func: CUfunction, blockSizeToDynamicSMemSize: CUoccupancyB2DSize,
        dynamicSMemSize: usize, blockSizeLimit: c_int, flags: c_uint,
    ) {
        if flags > 1 {
            return Err(code::INVALID_VALUE);
        }
        best_block(minGridSize, blockSize, func, blockSizeToDynamicSMemSize, dynamicSMemSize, blockSizeLimit)?;
    }

    Ready fn cuOccupancyAvailableDynamicSMemPerBlock(
        dynamicSmemSize: *mut usize, func: CUfunction, numBlocks: c_int, blockSize: c_int,
    ) {
        current()?;
        let function = registries().functions.get(func)?;
        if numBlocks <= 0 || blockSize <= 0 {
            return Err(code::INVALID_VALUE);
        }
        let profile = device::profile(function.device);
        let all = profile.limit(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
        let reserved = profile.limit(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK);
        let each = (all / numBlocks as u32).saturating_sub(reserved + function.kernel.static_shared);
        // No more than the kernel may be launched with at present.
        put(dynamicSmemSize, (each as usize).min(function.max_dynamic_shared.load(Relaxed).max(0) as usize))?;
    }

    Ready fn cuOccupancyMaxPotentialClusterSize(clusterSize: *mut c_int, func: CUfunction, config: *const CUlaunchConfig) {
        current()?;
        let function = registries().functions.get(func)?;
        if config.is_null() {
            return Err(code::INVALID_VALUE);
        }
        put(clusterSize, if function.non_portable_cluster.load(Relaxed) != 0 { 16 } else { 8 })?;
    }

    Ready fn cuOccupancyMaxActiveClusters(numClusters: *mut c_int, func: CUfunction, config: *const CUlaunchConfig) {
        current()?;
        let function = registries().functions.get(func)?;
        if config.is_null() {
            return Err(code::INVALID_VALUE);
        }
        let settings = super::launch::settings_of(&*config)?;
        let size: u32 = settings.cluster.iter().product();
        let threads = settings.block.iter().product::<u32>();
        let per_processor = resident_blocks(&function, threads, settings.shared as usize);
        let processors = device::profile(function.device).limit(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
        put(numClusters, (per_processor * processors / size.max(1)) as c_int)?;
    }
}

fn attribute(function: &Function, attribute: Attribute) -> Result<c_int> {
    let kernel = &function.kernel;
    Ok(match attribute {
        // An exact block size is no bound in this sense, as measured.
        Attribute::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK if kernel.exact_threads => {
            device::profile(function.device)
                .limit(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK)
                as c_int
        }
        Attribute::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK => max_threads(function) as c_int,
        Attribute::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES => kernel.static_shared as c_int,
        Attribute::CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES => 0,
        Attribute::CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES => kernel.local_bytes as c_int,
        Attribute::CU_FUNC_ATTRIBUTE_NUM_REGS => registers(function) as c_int,
        Attribute::CU_FUNC_ATTRIBUTE_PTX_VERSION => function.target as c_int,
        Attribute::CU_FUNC_ATTRIBUTE_BINARY_VERSION => {
            let (major, minor) = device::compute_capability(function.device);
            (major * 10 + minor) as c_int
        }
        Attribute::CU_FUNC_ATTRIBUTE_CACHE_MODE_CA => 0,
        Attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES => {
            function.max_dynamic_shared.load(Relaxed)
        }
        Attribute::CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT => {
            function.carveout.load(Relaxed)
        }
        Attribute::CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET => 0,
        Attribute::CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH => {
            function.required_cluster()[0] as c_int
        }
        Attribute::CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT => {
            function.required_cluster()[1] as c_int
        }
        Attribute::CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH => {
            function.required_cluster()[2] as c_int
        }
        Attribute::CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED => {
            function.non_portable_cluster.load(Relaxed)
        }
        Attribute::CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE => {
            function.cluster_scheduling.load(Relaxed)
        }
        _ => return Err(code::INVALID_VALUE),
    })
}

fn set_attribute(function: &Function, attribute: Attribute, value: c_int) -> Result {
    match attribute {
        Attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES => {
            let most = device::profile(function.device)
                .limit(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
            if value < 0 || value as u32 + function.kernel.static_shared > most {
                return Err(code::INVALID_VALUE);
            }
            function.max_dynamic_shared.store(value, Relaxed);
        }
        Attribute::CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT => {
            if !(-1..=100).contains(&value) {
                return Err(code::INVALID_VALUE);
            }
            function.carveout.store(value, Relaxed);
        }
        Attribute::CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED => {
            if !matches!(value, 0 | 1) {
                return Err(code::INVALID_VALUE);
            }
            function.non_portable_cluster.store(value, Relaxed);
        }
        Attribute::CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE => {
            if !(0..=2).contains(&value) {
                return Err(code::INVALID_VALUE);
            }
            function.cluster_scheduling.store(value, Relaxed);
        }
        // A cluster size compiled into the kernel stays; one may be set where there is none.
        Attribute::CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH
        | Attribute::CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT
        | Attribute::CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH => {
            if function.kernel.cluster.is_some() || value < 0 {
                return Err(code::INVALID_VALUE);
            }
            let dimension = attribute.0 - Attribute::CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH.0;
            function.set_required_cluster(dimension as usize, value as u32);
        }
        _ => return Err(code::INVALID_VALUE),
    }
    Ok(())
}

/// Registers of a thread: the engine's estimate, in the device's steps.
pub(super) fn registers(function: &Function) -> u32 {
    function.kernel.registers.clamp(1, 255)
}

/// The largest block that a kernel can be launched with.
pub(super) fn max_threads(function: &Function) -> u32 {
    let device = device::profile(function.device);
    let most = device.limit(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
    let all = device.limit(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK);
    let bound = function
        .kernel
        .max_threads
        .map_or(most, |size| size.iter().product());
    let by_registers = all / (registers(function).next_multiple_of(8) * 32) * 32;
    // A kernel with launch bounds is compiled to fit them.
    if function.kernel.max_threads.is_some() {
        bound.min(most)
    } else {
        most.min(by_registers)
    }
}

/// How many blocks of a size are resident on one multiprocessor at the same time.
pub(super) fn resident_blocks(function: &Function, threads: u32, dynamic_shared: usize) -> u32 {
    let device = device::profile(function.device);
    let warps = threads.div_ceil(32).max(1);
    if threads == 0 || threads > max_threads(function) {
        return 0;
    }
    let by_threads = device
        .limit(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR)
        / 32
        / warps;
    let per_warp = (registers(function) * 32).next_multiple_of(256);
    let by_registers = device
        .limit(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR)
        / per_warp
        / warps;
    let reserved = device
        .limit(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK)
        as usize;
    let shared =
        (function.kernel.static_shared as usize + dynamic_shared + reserved).next_multiple_of(128);
    let all = device
        .limit(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR)
        as usize;
    let by_slots =
        device.limit(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR);
    // A kernel with a promised number of blocks was compiled to keep it.
    let by_registers = by_registers.max(
        function
            .kernel
            .min_blocks
            .unwrap_or(u32::from(function.kernel.max_threads.is_some())),
    );
    by_threads
        .min(by_registers)
        .min(by_slots)
        .min((all / shared) as u32)
}

fn blocks(func: CUfunction, block: c_int, shared: usize) -> Result<c_int> {
    current()?;
    let function = registries().functions.get(func)?;
    let block = u32::try_from(block)
        .ok()
        .filter(|&block| block > 0)
        .ok_or(code::INVALID_VALUE)?;
    Ok(resident_blocks(&function, block, shared) as c_int)
}

/// # Safety
///
/// The pointers are null or valid for writing, and the callback may be called.
unsafe fn best_block(
    min_grid: *mut c_int,
    block: *mut c_int,
    func: CUfunction,
    shared_of: CUoccupancyB2DSize,
    shared: usize,
    limit: c_int,
) -> Result {
    current()?;
    let function: Arc<Function> = registries().functions.get(func)?;
    let most = max_threads(&function);
    let most = if limit > 0 {
        most.min(limit as u32)
    } else {
        most
    };
    let mut best = (0, 0, 0);
    for size in (1..=most.div_ceil(32))
        .rev()
        .map(|warps| (warps * 32).min(most))
    {
        // SAFETY: the caller's contract.
        let shared = shared_of.map_or(shared, |callback| unsafe { callback(size as c_int) });
        let count = resident_blocks(&function, size, shared);
        if size * count > best.0 {
            best = (size * count, size, count);
        }
    }
    let processors = device::profile(function.device)
        .limit(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    // SAFETY: the caller's contract.
    unsafe {
        put(min_grid, (best.2 * processors) as c_int)?;
        put(block, best.1 as c_int)
    }
}

//! Functions: their attributes, parameters, and how many blocks of them fit.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use super::entry::*;
use super::launch;
use crate::context::current;
use crate::device;
use crate::engine::Kernel;
use crate::module::{self, FUNCTIONS, Function, function_or_kernel};

driver_calls! {
    Ready fn cuFuncGetAttribute(pi: *mut c_int, attrib: CUfunction_attribute, hfunc: CUfunction) {
        current()?;
        let function = FUNCTIONS.get(hfunc)?;
        put(pi, module::attribute(&function, attrib)?)?;
    }

    Ready fn cuFuncSetAttribute(hfunc: CUfunction, attrib: CUfunction_attribute, value: c_int) {
        current()?;
        module::set_attribute(&*FUNCTIONS.get(hfunc)?, attrib, value)?;
    }

    Ready fn cuFuncSetCacheConfig(hfunc: CUfunction, config: CUfunc_cache) {
        if config.0 > 3 {
            return Err(code::INVALID_VALUE);
        }
        FUNCTIONS.get(hfunc)?.cache_config.store(config.0, Relaxed);
    }

    Ready fn cuFuncSetSharedMemConfig(hfunc: CUfunction, config: CUsharedconfig) {
        FUNCTIONS.get(hfunc)?;
        if config.0 > 2 {
            return Err(code::INVALID_VALUE);
        }
    }

    Ready fn cuFuncGetModule(hmod: *mut CUmodule, hfunc: CUfunction) {
        put(hmod, FUNCTIONS.get(not_null(hfunc)?)?.module as CUmodule)?;
    }

    Ready fn cuFuncGetName(name: *mut *const c_char, hfunc: CUfunction) {
        // The registry keeps the function, and with it the text, until the module is unloaded.
        put(name, FUNCTIONS.get(not_null(hfunc)?)?.c_name.as_ptr())?;
    }

    Ready fn cuFuncGetParamInfo(func: CUfunction, paramIndex: usize, paramOffset: *mut usize, paramSize: *mut usize) {
        tell_parameter(&FUNCTIONS.get(not_null(func)?)?.kernel, paramIndex, paramOffset, paramSize)?;
    }

    Ready fn cuFuncGetParamCount(func: CUfunction, paramCount: *mut usize) {
        put(paramCount, FUNCTIONS.get(func)?.kernel.parameters.len())?;
    }

    Ready fn cuFuncIsLoaded(state: *mut CUfunctionLoadingState, function: CUfunction) {
        FUNCTIONS.get(function)?;
        put(state, CUfunctionLoadingState::CU_FUNCTION_LOADING_STATE_LOADED)?;
    }

    Ready fn cuFuncLoad(function: CUfunction) {
        FUNCTIONS.get(function)?;
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
        let function = function_or_kernel(func, current)?;
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
        let function = of_current_context(func)?;
        if config.is_null() {
            return Err(code::INVALID_VALUE);
        }
        put(clusterSize, if function.non_portable_cluster.load(Relaxed) != 0 { 16 } else { 8 })?;
    }

    Ready fn cuOccupancyMaxActiveClusters(numClusters: *mut c_int, func: CUfunction, config: *const CUlaunchConfig) {
        let function = of_current_context(func)?;
        if config.is_null() {
            return Err(code::INVALID_VALUE);
        }
        let shape = launch::request_of(&*config, function.device)?.shape;
        let size = module::volume(shape.cluster);
        let per_processor = module::resident_blocks(&function, module::volume(shape.block), shape.dynamic_shared as usize);
        let processors = device::profile(function.device).limit(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
        put(numClusters, (per_processor * processors / size.max(1)) as c_int)?;
    }
}

/// Tells where a parameter lies in the buffer, and how large it is if that is asked for.
///
/// # Safety
///
/// Both pointers are null or valid for writing.
pub(super) unsafe fn tell_parameter(
    kernel: &Kernel,
    index: usize,
    offset: *mut usize,
    size: *mut usize,
) -> Result {
    let parameter = kernel.parameters.get(index).ok_or(code::INVALID_VALUE)?;
    // SAFETY: null or valid for writing by the caller's contract.
    unsafe { put(offset, parameter.offset as usize) }?;
    if !size.is_null() {
        // SAFETY: not null, so valid for writing by the caller's contract.
        unsafe { size.write(parameter.size as usize) };
    }
    Ok(())
}

/// The function of a question about clusters, which only the current context's may be asked.
fn of_current_context(func: CUfunction) -> Result<Arc<Function>> {
    let context = current()?;
    let function = function_or_kernel(not_null(func)?, current)?;
    match function.context == context.id() {
        true => Ok(function),
        false => Err(code::INVALID_HANDLE),
    }
}

fn blocks(func: CUfunction, block: c_int, shared: usize) -> Result<c_int> {
    current()?;
    let function = function_or_kernel(func, current)?;
    let block = u32::try_from(block)
        .ok()
        .filter(|&block| block > 0)
        .ok_or(code::INVALID_VALUE)?;
    Ok(module::resident_blocks(&function, block, shared) as c_int)
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
    let function = function_or_kernel(func, current)?;
    let limit = match limit {
        // No limit but the kernel's.
        0 => u32::MAX,
        limit => u32::try_from(limit).map_err(|_| code::INVALID_VALUE)?,
    };
    let best = module::best_block(&function, limit, |size| {
        // SAFETY: the caller has passed the callback to be called with block sizes.
        shared_of.map_or(shared, |callback| unsafe { callback(size as c_int) })
    });
    // SAFETY: null or valid for writing by the caller's contract.
    unsafe { put(min_grid, best.grid as c_int)? };
    // SAFETY: null or valid for writing by the caller's contract.
    unsafe { put(block, best.threads as c_int) }
}

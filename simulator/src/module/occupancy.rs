//! How many blocks of a kernel fit on a multiprocessor.

use super::function::Function;
use crate::device;
use warpsmith_abi::CUdevice_attribute;

/// Registers of a thread: the engine's estimate, in the device's steps.
pub(super) fn registers(function: &Function) -> u32 {
    function.kernel.registers.clamp(1, 255)
}

/// Threads of a block, or blocks of a cluster or grid, of these sizes; the largest number for more.
pub(crate) fn volume(sizes: [u32; 3]) -> u32 {
    sizes
        .iter()
        .fold(1u32, |all, &size| all.saturating_mul(size))
}

/// The largest block that a kernel can be launched with.
pub(crate) fn max_threads(function: &Function) -> u32 {
    let device = device::profile(function.device);
    let most = device.limit(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
    let all = device.limit(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK);
    let bound = function.kernel.max_threads.map_or(most, volume);
    let by_registers = all / (registers(function).next_multiple_of(8) * 32) * 32;
    // A kernel with launch bounds is compiled to fit them.
    if function.kernel.max_threads.is_some() {
        bound.min(most)
    } else {
        most.min(by_registers)
    }
}

/// How many blocks of a size are resident on one multiprocessor at the same time.
pub(crate) fn resident_blocks(function: &Function, threads: u32, dynamic_shared: usize) -> u32 {
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
    let all = device
        .limit(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR)
        as usize;
    let shared = (function.kernel.static_shared as usize + reserved)
        .checked_add(dynamic_shared)
        .and_then(|bytes| bytes.checked_next_multiple_of(128));
    let by_shared = shared.map_or(0, |bytes| all / bytes);
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
        .min(by_shared as u32)
}

/// A block size, and the grid that fills the device with such blocks.
pub(crate) struct BestBlock {
    pub(crate) threads: u32,
    pub(crate) grid: u32,
}

/// The block size of at most `limit` threads with which the most threads are resident. `dynamic_shared` tells the bytes of dynamic
/// shared memory of a block of a size.
pub(crate) fn best_block(
    function: &Function,
    limit: u32,
    dynamic_shared: impl Fn(u32) -> usize,
) -> BestBlock {
    let most = max_threads(function).min(limit);
    let (mut resident, mut best, mut blocks) = (0, 0, 0);
    for size in (1..=most.div_ceil(32))
        .rev()
        .map(|warps| (warps * 32).min(most))
    {
        let count = resident_blocks(function, size, dynamic_shared(size));
        if size * count > resident {
            (resident, best, blocks) = (size * count, size, count);
        }
    }
    let processors = device::profile(function.device)
        .limit(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    BestBlock {
        threads: best,
        grid: blocks * processors,
    }
}

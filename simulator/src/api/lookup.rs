//! Lookup of driver functions by symbol name, and by name and CUDA version (`cuGetProcAddress`).

use core::ffi::{CStr, c_void};

use super::entry::*;
use super::{
    array, attributes, capture, context, copy, device, error, event, extension, external_memory,
    external_semaphore, fill, function, graph, graph_exec, graph_memory, init, interprocess,
    launch, library, link, managed, managed_batch, memory, memory_operation, module, multicast,
    nodes, peer, pointer, pool, profiler, stream, texture, unsupported, virtual_memory,
};
use crate::device::DRIVER_VERSION;

driver_calls! {
    Early fn cuGetProcAddress(symbol: *const c_char, pfn: *mut *mut c_void, cudaVersion: c_int, flags: cuuint64_t) {
        let (address, status) = by_version(symbol, pfn, cudaVersion, flags)?;
        pfn.write(address.cast_mut());
        if status != CUdriverProcAddressQueryResult::CU_GET_PROC_ADDRESS_SUCCESS {
            return Err(code::NOT_FOUND);
        }
    }

    Early fn cuGetProcAddress_v2(
        symbol: *const c_char, pfn: *mut *mut c_void, cudaVersion: c_int, flags: cuuint64_t,
        symbolStatus: *mut CUdriverProcAddressQueryResult,
    ) {
        let (address, status) = by_version(symbol, pfn, cudaVersion, flags)?;
        pfn.write(address.cast_mut());
        if !symbolStatus.is_null() {
            symbolStatus.write(status);
        } else if status != CUdriverProcAddressQueryResult::CU_GET_PROC_ADDRESS_SUCCESS {
            return Err(code::NOT_FOUND);
        }
    }
}

/// What stands behind a name for a CUDA version.
enum Found {
    Function(*const c_void),
    /// The function exists, but appeared after the version asked for.
    TooNew,
    Nothing,
}

/// # Safety
///
/// `symbol` is null or a C string.
unsafe fn by_version(
    symbol: *const c_char,
    pfn: *mut *mut c_void,
    version: c_int,
    flags: u64,
) -> Result<(*const c_void, CUdriverProcAddressQueryResult)> {
    if symbol.is_null() || pfn.is_null() {
        return Err(code::INVALID_VALUE);
    }
    // As measured: a version newer than the driver is no question that it answers.
    if flags > 2 || version > DRIVER_VERSION {
        // SAFETY: not null, so valid for writing by the caller's contract.
        unsafe { pfn.write(core::ptr::null_mut()) };
        return Err(code::INVALID_VALUE);
    }
    // SAFETY: not null, so a C string by the caller's contract.
    let name = unsafe { CStr::from_ptr(symbol) }
        .to_str()
        .map_err(|_| code::INVALID_VALUE)?;
    Ok(match find_version(name, version, flags == 2) {
        Found::Function(address) => (
            address,
            CUdriverProcAddressQueryResult::CU_GET_PROC_ADDRESS_SUCCESS,
        ),
        Found::TooNew => (
            core::ptr::null(),
            CUdriverProcAddressQueryResult::CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT,
        ),
        Found::Nothing => (
            core::ptr::null(),
            CUdriverProcAddressQueryResult::CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND,
        ),
    })
}

/// Functions whose second version has the first one's signature, and stands for both here.
const RENAMED: &[&str] = &[
    "cuCtxDestroy",
    "cuCtxPopCurrent",
    "cuCtxPushCurrent",
    "cuDevicePrimaryCtxRelease",
    "cuDevicePrimaryCtxReset",
    "cuDevicePrimaryCtxSetFlags",
    "cuEventDestroy",
    "cuMemHostRegister",
    "cuStreamDestroy",
];

/// Finds the function that `cuGetProcAddress` hands out.
fn find_version(name: &str, version: i32, per_thread: bool) -> Found {
    let Ok(row) = VERSIONS.binary_search_by_key(&name, |(name, _)| name) else {
        // The simulator's own functions have no versions; symbols of versions and of per-thread variants are no names.
        return extension::find(name, Variant::Plain).map_or(Found::Nothing, Found::Function);
    };
    let (_, versions) = VERSIONS[row];
    let Some((_, symbol)) = versions.iter().rev().find(|(since, _)| *since <= version) else {
        return Found::TooNew;
    };
    let symbol = match *symbol {
        first if RENAMED.contains(&first) => format!("{first}_v2"),
        symbol => symbol.to_owned(),
    };
    let suffixes: &[&str] = match per_thread {
        true => &["_ptsz", "_ptds", ""],
        false => &[""],
    };
    suffixes
        .iter()
        .find_map(|suffix| entry_point(&format!("{symbol}{suffix}")))
        .map_or(Found::Nothing, Found::Function)
}

/// The `extern "C"` function of a versioned driver symbol, `cuMemAlloc_v2` for example. A function of the driver that the simulator
/// does not implement is found too: it answers `CUDA_ERROR_NOT_SUPPORTED` and names itself on stderr, once.
pub fn entry_point(name: &str) -> Option<*const c_void> {
    implemented(name).or_else(|| unsupported::find(name))
}

fn implemented(name: &str) -> Option<*const c_void> {
    if let Some(base) = name
        .strip_suffix("_ptsz")
        .or_else(|| name.strip_suffix("_ptds"))
    {
        return unsupported::is_per_thread(name)
            .then(|| find_topic(base, Variant::PerThread))
            .flatten();
    }
    find_topic(name, Variant::Plain)
}

fn find_topic(name: &str, variant: Variant) -> Option<*const c_void> {
    const TOPICS: &[fn(&str, Variant) -> Option<*const c_void>] = &[
        array::find,
        attributes::find,
        capture::find,
        context::find,
        copy::find,
        device::find,
        error::find,
        event::find,
        external_memory::find,
        external_semaphore::find,
        fill::find,
        function::find,
        graph::find,
        graph_exec::find,
        graph_memory::find,
        init::find,
        interprocess::find,
        launch::find,
        library::find,
        link::find,
        managed::find,
        managed_batch::find,
        memory::find,
        memory_operation::find,
        module::find,
        multicast::find,
        nodes::allocation::find,
        nodes::any::find,
        nodes::batch::find,
        nodes::host::find,
        nodes::kernel::find,
        nodes::memory::find,
        nodes::semaphore::find,
        peer::find,
        pointer::find,
        pool::find,
        profiler::find,
        extension::find,
        stream::find,
        texture::find,
        virtual_memory::find,
        find,
    ];
    TOPICS.iter().find_map(|topic| topic(name, variant))
}

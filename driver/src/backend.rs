//! Which driver answers: the choice, made once in a process, and the resolution of symbols by name.

use core::ffi::{c_char, c_int, c_uint, c_void};
use std::ffi::CString;
use std::sync::OnceLock;

use libloading::os::unix::Library;

use crate::table::Table;

/// What to run on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// `WARPSMITH_DEVICE` (`simulator`, `cuda`, `cuda:N`) decides; without it the real driver if it shows a device, else the simulator.
    Default,
    /// The simulator in this process.
    Simulator,
    /// The driver installed on this machine.
    Cuda,
}

/// Which driver answers in this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Backend {
    /// The simulator in this process.
    Simulator,
    /// The driver installed on this machine.
    Cuda,
}

/// Why a driver could not be chosen.
#[derive(Clone, Debug, thiserror::Error)]
pub enum SelectError {
    /// Another driver was chosen before, and handles of it may exist.
    #[error(
        "this process already runs on {chosen:?}; it cannot change to {wanted:?} any more: choose before the first driver call"
    )]
    AlreadyChosen {
        /// What runs.
        chosen: Backend,
        /// What was asked for.
        wanted: Backend,
    },
    /// `libcuda.so.1` cannot be loaded.
    #[error(
        "the CUDA driver cannot be loaded: {0}; is an NVIDIA driver installed? `WARPSMITH_DEVICE=simulator` needs none"
    )]
    NoDriver(String),
    /// `WARPSMITH_DEVICE` holds something else than a device.
    #[error("WARPSMITH_DEVICE is `{0}`; it may be `simulator`, `cuda` or `cuda:N`")]
    BadVariable(String),
}

struct Loaded {
    backend: Backend,
    table: Table,
}

static LOADED: OnceLock<Result<Loaded, SelectError>> = OnceLock::new();

/// Chooses the driver for this process and loads it. Choosing the same again is no error.
///
/// # Errors
///
/// The driver cannot be loaded, or the process already runs on the other one.
pub fn select(choice: Choice) -> Result<Backend, SelectError> {
    let wanted = match choice {
        Choice::Default => match LOADED.get() {
            Some(loaded) => return loaded.as_ref().map(|l| l.backend).map_err(Clone::clone),
            None => from_environment()?,
        },
        Choice::Simulator => Backend::Simulator,
        Choice::Cuda => Backend::Cuda,
    };
    if wanted == Backend::Cuda && LOADED.get().is_none() {
        // A failed load must not become this process's choice: the caller may turn to the simulator.
        library().as_ref().map_err(Clone::clone)?;
    }
    let loaded = LOADED.get_or_init(|| load(wanted));
    match loaded {
        Ok(loaded) if loaded.backend == wanted => Ok(wanted),
        Ok(loaded) => Err(SelectError::AlreadyChosen {
            chosen: loaded.backend,
            wanted,
        }),
        Err(error) => Err(error.clone()),
    }
}

/// Which driver answers, if one has been chosen already.
pub fn backend() -> Option<Backend> {
    LOADED
        .get()
        .and_then(|loaded| loaded.as_ref().ok())
        .map(|loaded| loaded.backend)
}

/// Whether the machine's own driver loads, starts, and shows at least one device. Chooses nothing.
pub fn cuda_available() -> bool {
    let Ok(library) = library() else { return false };
    // SAFETY: the two symbols have these types in every version of the driver.
    unsafe {
        let Ok(init) = library.get::<unsafe extern "C" fn(c_uint) -> c_uint>(b"cuInit\0") else {
            return false;
        };
        let Ok(count) =
            library.get::<unsafe extern "C" fn(*mut c_int) -> c_uint>(b"cuDeviceGetCount\0")
        else {
            return false;
        };
        let mut devices = 0;
        init(0) == 0 && count(&mut devices) == 0 && devices > 0
    }
}

/// The table of the chosen driver; chooses by default where nobody has.
pub(crate) fn table() -> Option<&'static Table> {
    match LOADED.get() {
        Some(loaded) => loaded.as_ref().ok().map(|loaded| &loaded.table),
        None => {
            if let Err(error) = select(Choice::Default) {
                eprintln!("warpsmith: {error}");
                return None;
            }
            LOADED
                .get()
                .and_then(|loaded| loaded.as_ref().ok())
                .map(|loaded| &loaded.table)
        }
    }
}

/// The address of any symbol of the chosen driver, also of private ones.
pub(crate) fn symbol(name: &str) -> Option<*const c_void> {
    match backend()? {
        Backend::Simulator => warpsmith_simulator::entry_point(name),
        Backend::Cuda => find_in_library(library().as_ref().ok()?, name),
    }
}

fn from_environment() -> Result<Backend, SelectError> {
    match std::env::var("WARPSMITH_DEVICE") {
        Ok(value) if value == "simulator" => Ok(Backend::Simulator),
        Ok(value)
            if value == "cuda"
                || value
                    .strip_prefix("cuda:")
                    .is_some_and(|n| n.parse::<u32>().is_ok()) =>
        {
            Ok(Backend::Cuda)
        }
        Ok(value) if !value.is_empty() => Err(SelectError::BadVariable(value)),
        _ => Ok(if cuda_available() {
            Backend::Cuda
        } else {
            Backend::Simulator
        }),
    }
}

fn load(backend: Backend) -> Result<Loaded, SelectError> {
    let table = match backend {
        Backend::Simulator => Table::resolve(warpsmith_simulator::entry_point),
        Backend::Cuda => {
            let library = library().as_ref().map_err(Clone::clone)?;
            Table::resolve(|name| find_in_library(library, name))
        }
    };
    Ok(Loaded { backend, table })
}

/// `libcuda.so.1`, loaded at most once and never unloaded: its threads and atexit handlers outlive any caller.
fn library() -> &'static Result<Library, SelectError> {
    static LIBRARY: OnceLock<Result<Library, SelectError>> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        let name =
            std::env::var_os("WARPSMITH_CUDA_LIBRARY").unwrap_or_else(|| "libcuda.so.1".into());
        // SAFETY: loading the driver runs its constructors, which expect to run in any process.
        unsafe { Library::new(&name) }.map_err(|error| SelectError::NoDriver(error.to_string()))
    })
}

/// The driver's dynamic symbols carry their version in their name, so the symbol is the binding; what a driver only hands out by
/// `cuGetProcAddress` is asked for under the version in which the signature of our binding appeared.
fn find_in_library(library: &Library, name: &str) -> Option<*const c_void> {
    let symbol = CString::new(name).ok()?;
    // SAFETY: a symbol of the driver is a function, whose address alone is taken here.
    if let Ok(found) = unsafe { library.get::<*const c_void>(symbol.as_bytes_with_nul()) } {
        return Some(found.into_raw().cast_const());
    }
    let &(_, base, version) = PINNED.iter().find(|(symbol, ..)| *symbol == name)?;
    type GetProcAddress =
        unsafe extern "C" fn(*const c_char, *mut *mut c_void, c_int, u64, *mut c_uint) -> c_uint;
    let base = CString::new(base).ok()?;
    let mut address = core::ptr::null_mut();
    let mut status = 0;
    // SAFETY: the symbol has this type since CUDA 12; all pointers outlive the call.
    let result = unsafe {
        let get = library
            .get::<GetProcAddress>(b"cuGetProcAddress_v2\0")
            .ok()?;
        get(base.as_ptr(), &mut address, version, 0, &mut status)
    };
    (result == 0 && !address.is_null()).then_some(address.cast_const())
}

/// Symbol, base name, and the CUDA version whose signature our binding has.
const PINNED: &[(&str, &str, c_int)] = &[
    ("cuLaunchKernelEx", "cuLaunchKernelEx", 11060),
    ("cuTensorMapEncodeTiled", "cuTensorMapEncodeTiled", 12000),
    ("cuTensorMapEncodeIm2col", "cuTensorMapEncodeIm2col", 12000),
    (
        "cuGraphConditionalHandleCreate",
        "cuGraphConditionalHandleCreate",
        12030,
    ),
    ("cuMemPrefetchAsync", "cuMemPrefetchAsync", 8000),
    ("cuMemPrefetchAsync_v2", "cuMemPrefetchAsync", 12020),
    ("cuMemAdvise", "cuMemAdvise", 8000),
    ("cuMemAdvise_v2", "cuMemAdvise", 12020),
    ("cuGraphAddNode", "cuGraphAddNode", 12020),
    ("cuGraphAddNode_v2", "cuGraphAddNode", 12030),
    ("cuGraphExecUpdate", "cuGraphExecUpdate", 10020),
    ("cuGraphExecUpdate_v2", "cuGraphExecUpdate", 12000),
    ("cuStreamGetCaptureInfo", "cuStreamGetCaptureInfo", 10010),
    ("cuStreamGetCaptureInfo_v2", "cuStreamGetCaptureInfo", 11030),
    ("cuStreamGetCaptureInfo_v3", "cuStreamGetCaptureInfo", 12030),
    ("cuGraphInstantiateWithParams", "cuGraphInstantiate", 12000),
    (
        "cuStreamBeginCaptureToGraph",
        "cuStreamBeginCaptureToGraph",
        12030,
    ),
    ("cuGraphNodeSetParams", "cuGraphNodeSetParams", 12020),
    (
        "cuGraphExecNodeSetParams",
        "cuGraphExecNodeSetParams",
        12020,
    ),
];

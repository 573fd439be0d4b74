//! Which driver answers: the choice, made once in a process.

use core::ffi::c_void;
use std::sync::OnceLock;

use crate::environment::{self, DeviceVariable};
use crate::library;
use crate::simulator;
use crate::table::Table;

/// What to run on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// `WARPSMITH_DEVICE` (`simulator`, `simulator:N`, `cuda`, `cuda:N`) decides; without it the real driver if it shows a device, else the
    /// simulator, if the program has one.
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
    /// The program was built without a simulator.
    #[error(
        "this program has no simulator: depend on `warpsmith-host`, which brings it, or on `warpsmith-simulator` and write \
         `warpsmith_driver::provide_simulator!` once"
    )]
    NoSimulator,
    /// `WARPSMITH_DEVICE` holds something else than a device.
    #[error("WARPSMITH_DEVICE is `{0}`; it may be `simulator`, `simulator:N`, `cuda` or `cuda:N`")]
    BadVariable(String),
}

/// The driver that answers: which it is, how it finds symbols, and its functions.
struct Selected {
    backend: Backend,
    source: Source,
    table: Table,
}

/// Where a driver's functions come from.
#[derive(Clone, Copy)]
enum Source {
    Simulator(&'static simulator::SimulatorBackend),
    Cuda(&'static library::CudaLibrary),
}

impl Source {
    /// Finds it, and loads it if need be.
    fn of(backend: Backend) -> Result<Self, SelectError> {
        match backend {
            Backend::Simulator => simulator::provided()
                .map(Source::Simulator)
                .ok_or(SelectError::NoSimulator),
            Backend::Cuda => library::cuda()
                .map(Source::Cuda)
                .map_err(|error| SelectError::NoDriver(error.to_owned())),
        }
    }

    fn entry_point(self, name: &str) -> Option<*const c_void> {
        match self {
            Source::Simulator(simulator) => simulator.entry_point(name),
            Source::Cuda(library) => library.entry_point(name),
        }
    }
}

static SELECTED: OnceLock<Selected> = OnceLock::new();

/// Chooses the driver for this process and loads it. Choosing the same again is no error.
///
/// # Errors
///
/// The driver cannot be loaded, the program has no simulator, or the process already runs on the other one. A failed attempt
/// chooses nothing: the caller may turn to another driver.
pub fn select(choice: Choice) -> Result<Backend, SelectError> {
    let wanted = match choice {
        Choice::Default => match SELECTED.get() {
            Some(selected) => return Ok(selected.backend),
            None => by_default()?,
        },
        Choice::Simulator => Backend::Simulator,
        Choice::Cuda => Backend::Cuda,
    };
    let selected = match SELECTED.get() {
        Some(selected) => selected,
        None => {
            let source = Source::of(wanted)?;
            SELECTED.get_or_init(|| Selected {
                backend: wanted,
                source,
                // SAFETY: a driver's library and a simulator (by the contract of `SimulatorBackend::new`) have under each symbol
                // name a function of that name's signature, and neither goes away before the process ends.
                table: unsafe { Table::resolve(&|name| source.entry_point(name)) },
            })
        }
    };
    if selected.backend == wanted {
        Ok(wanted)
    } else {
        Err(SelectError::AlreadyChosen {
            chosen: selected.backend,
            wanted,
        })
    }
}

/// Which driver answers, if one has been chosen already.
pub fn backend() -> Option<Backend> {
    SELECTED.get().map(|selected| selected.backend)
}

/// Whether the machine's own driver loads, starts, and shows at least one device. Chooses nothing.
pub fn cuda_available() -> bool {
    library::cuda().is_ok_and(library::CudaLibrary::has_device)
}

/// The functions of the chosen driver; chooses by default where no choice was made.
#[inline]
pub(crate) fn table() -> Option<&'static Table> {
    match SELECTED.get() {
        Some(selected) => Some(&selected.table),
        None => table_of_default(),
    }
}

#[cold]
fn table_of_default() -> Option<&'static Table> {
    if let Err(error) = select(Choice::Default) {
        eprintln!("warpsmith: {error}");
    }
    SELECTED.get().map(|selected| &selected.table)
}

/// The address of any symbol of the chosen driver, also of such as are in no list; chooses nothing.
pub(crate) fn symbol(name: &str) -> Option<*const c_void> {
    SELECTED.get()?.source.entry_point(name)
}

fn by_default() -> Result<Backend, SelectError> {
    match environment::device() {
        DeviceVariable::Simulator => Ok(Backend::Simulator),
        DeviceVariable::Cuda => Ok(Backend::Cuda),
        DeviceVariable::Malformed(value) => Err(SelectError::BadVariable(value)),
        DeviceVariable::Unset if simulator::provided().is_none() || cuda_available() => {
            Ok(Backend::Cuda)
        }
        DeviceVariable::Unset => Ok(Backend::Simulator),
    }
}

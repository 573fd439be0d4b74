//! What a grid runs in: the memory it may touch, the checks that are on, and the services of the device runtime.

use std::sync::atomic::AtomicU64;
use std::time::Duration;

use super::fault::{FaultKind, Note};
use super::observe::Observer;
use super::texels::{ObjectError, Texels, TextureObject};
use crate::check::stream_order::Recorder;

/// An allocation (or another known range) of device-visible memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AllocationInfo {
    /// First byte.
    pub base: u64,
    /// Length in bytes.
    pub size: u64,
    /// True after it was freed, while the memory keeps a record of it.
    pub freed: bool,
    /// What it is, for reports: "device allocation", "managed", "pinned host memory", "global variable NAME" ...
    pub what: String,
}

/// A range in which every access of the stated kind is allowed, without further questions, until the memory's
/// generation changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// First address.
    pub base: u64,
    /// One past the last address.
    pub end: u64,
    /// Whether stores are allowed too.
    pub writable: bool,
}

/// Why an access is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AccessError {
    /// No allocation contains all of the access.
    OutOfBounds,
    /// The allocation was freed.
    Freed,
    /// It is memory of a graph that is not allocated (yet).
    NotAllocated,
    /// It is memory of a graph, and by the edges the node that uses it does not come after the allocation and before the free.
    Unordered,
    /// The allocation may only be read.
    ReadOnly,
    /// The addresses are reserved, but nothing is mapped there (any more).
    Unmapped,
    /// The device has not been granted access to what is mapped there, or to the pool or the graph's memory.
    NotGranted,
    /// It is memory of another device, to which peer access is not enabled.
    NoPeerAccess,
    /// It is an address of a multicast object, which `multimem` instructions alone use.
    Multicast,
    /// It is an address of something else than a multicast object.
    NotMulticast,
    /// A device of the multicast object's team has no memory bound there.
    NotBound {
        /// Which.
        device: usize,
    },
}

/// The device-visible memory. Device addresses are host addresses.
pub trait DeviceMemory: Sync {
    /// The reserved arena `[base, base + len)`: any address inside can be read and written without a signal, allocated
    /// or not.
    fn arena(&self) -> (u64, u64);

    /// Checks an access and returns the extent around it, which the engine caches. All of the extent must stay readable
    /// (and writable, where it says so) without a signal at least as long as the kernel runs.
    fn validate(&self, address: u64, size: u64, write: bool) -> Result<Extent, AccessError>;

    /// Checks an access of a `multimem` instruction; the addresses of the bytes that this one stands for, one for each device of the multicast
    /// object's team. All must stay readable and writable without a signal at least as long as the kernel runs. Memory without multicast
    /// objects need not have it.
    fn replicas(&self, _address: u64, _size: u64, _write: bool) -> Result<Vec<u64>, AccessError> {
        Err(AccessError::NotMulticast)
    }

    /// The allocation that contains the address, else the nearest one before or after it; for reports.
    fn nearest(&self, address: u64) -> Option<AllocationInfo>;

    /// Counts changes (allocation, free): when it has moved, cached extents are dropped.
    fn generation(&self) -> &AtomicU64;

    /// Whether an address is memory of the host, for which an atomic operation of the device is not one operation. Memory of which that is not
    /// known need not say so.
    fn lacks_host_atomics(&self, _address: u64) -> bool {
        false
    }

    /// Whether some of it may hold what [`first_discarded`](Self::first_discarded) finds. Memory that never does need not say so.
    fn has_discarded(&self) -> bool {
        false
    }

    /// The first of these bytes, which may be read, whose contents were discarded and that nothing has written since.
    fn first_discarded(&self, _address: u64, _bytes: u64) -> Option<u64> {
        None
    }

    /// The texture object of a number. Memory that has none need not say so.
    fn texture(&self, _object: u64) -> Result<TextureObject, ObjectError> {
        Err(ObjectError::None)
    }

    /// What the surface object of a number writes. Memory that has none need not say so.
    fn surface(&self, _object: u64) -> Result<Texels, ObjectError> {
        Err(ObjectError::None)
    }
}

/// The device runtime's function that launches a graph.
pub(crate) const GRAPH_LAUNCH: &str = "cudaGraphLaunch";

/// Services of the device runtime, called from several threads at once.
pub trait Runtime: Sync {
    /// Text printed by `vprintf`, already formatted; one call for each printing thread.
    fn print(&self, text: &[u8]);

    /// The device-side heap: returns 0 when it is exhausted.
    fn malloc(&self, size: u64) -> u64;

    /// Frees memory of [`Runtime::malloc`]; false if it is none.
    fn free(&self, address: u64) -> bool;

    /// Any other external function of the device runtime (`cudaGraphSetConditional`, ...), with its arguments' bits.
    ///
    /// # Errors
    ///
    /// There is no such function, or the call is a fault of the thread.
    fn call(&self, name: &str, arguments: &[u64]) -> Result<u64, RuntimeError>;

    /// The device graph of which the grid is a node, as `%current_graph_exec` names it; 0 if there is none.
    fn current_graph(&self) -> u64 {
        0
    }
}

/// Why a call of the device runtime has no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RuntimeError {
    /// The device runtime has no function of this name.
    NoSuchFunction,
    /// The thread that called has a fault: its kind, and what is wrong.
    Fault(FaultKind, String),
}

/// A grid's place among grids that may run at the same time as it (programmatic dependent launch). Called from several threads at once.
pub trait GridOrder: Sync {
    /// All blocks have begun.
    fn all_blocks_started(&self);

    /// Each block has executed `griddepcontrol.launch_dependents` or exited.
    fn all_blocks_signalled(&self);

    /// `griddepcontrol.wait`: returns when the grids that this one depends on have ended; false if this one is to end, too.
    fn wait_for_prerequisites(&self) -> bool;
}

/// Takes the notes of a grid, from several threads at once.
pub trait NoteSink: Sync {
    /// A note: for each kernel and instruction the first of its kind, in all launches since its module was loaded.
    fn note(&self, note: &Note);
}

/// Is told which bytes of global memory a grid touches, from several threads at once.
pub trait TouchSink: Sync {
    /// What some of its threads have touched. `waited`: after `griddepcontrol.wait`, or in a grid that has nothing to wait for.
    fn touched(&self, waited: bool, touches: &Recorder);

    /// One of its threads writes with system scope: somebody else may go on.
    fn spoken(&self);

    /// One of its threads executes `fence.proxy.alias`.
    fn aliases_fenced(&self);

    /// Whether the grid may have begun before others have ended that it depends on.
    fn begins_early(&self) -> bool;
}

/// Which checks are on. Bounds of shared, local and parameter memory, alignment, and that no access leaves the
/// known memory are always checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checks {
    /// Every global access lies inside one live allocation (otherwise only: inside the arena or a registered range).
    pub bounds: bool,
    /// Data races in shared memory.
    pub races: bool,
    /// Reads of uninitialised shared memory.
    pub uninitialised: bool,
    /// Barriers that are executed by a part of a warp or block.
    pub barriers: bool,
    /// Writes over initialised mbarriers in shared memory.
    pub mbarriers: bool,
    /// Conflicts between grids, copies and other pieces of work that nothing orders. The engine itself only tells what a grid touches
    /// ([`Environment::touches`]).
    pub stream_order: bool,
}

impl Checks {
    /// All checks.
    pub const ALL: Checks = Checks {
        bounds: true,
        races: true,
        uninitialised: true,
        barriers: true,
        mbarriers: true,
        stream_order: true,
    };
    /// All but the one that costs the most.
    pub const DEFAULT: Checks = Checks {
        stream_order: false,
        ..Checks::ALL
    };
    /// Only what protects the process.
    pub const NONE: Checks = Checks {
        bounds: false,
        races: false,
        uninitialised: false,
        barriers: false,
        mbarriers: false,
        stream_order: false,
    };
}

/// Everything a grid runs in.
pub struct Environment<'a> {
    /// The memory.
    pub memory: &'a dyn DeviceMemory,
    /// Printing and device runtime calls.
    pub runtime: &'a dyn Runtime,
    /// Checks that are on.
    pub checks: Checks,
    /// Seed of everything the scheduler may choose freely; 0 is the plain order. With a seed there is one worker thread, and clocks
    /// count instructions instead of time, so that a run can be repeated exactly.
    pub seed: u64,
    /// Worker threads; 0 means one for each core.
    pub threads: usize,
    /// Bytes of stack a thread may use beyond what its kernel needs statically (`CU_LIMIT_STACK_SIZE`).
    pub stack_limit: u32,
    /// How long all threads of a grid may do nothing but poll memory, without any change of it, before this is reported as a
    /// deadlock. They may wait for the host, so it is not short: [`Environment::DEFAULT_PATIENCE`].
    pub patience: Duration,
    /// Who takes notes.
    pub notes: Option<&'a dyn NoteSink>,
    /// Who watches the grid run.
    pub observer: Option<&'a dyn Observer>,
    /// Who is told what the grid touches.
    pub touches: Option<&'a dyn TouchSink>,
    /// Set by the host to end the grid early (a killed context); polled by the workers.
    pub cancel: Option<&'a std::sync::atomic::AtomicBool>,
    /// The grid's place among others; `None` where all it depends on is done and nobody waits for less than its end.
    pub order: Option<&'a dyn GridOrder>,
}

impl<'a> Environment<'a> {
    /// See [`Environment::patience`].
    pub const DEFAULT_PATIENCE: Duration = Duration::from_secs(10);

    /// This memory and these services, with all checks, all cores and the driver's default stack; nobody watches or takes
    /// notes.
    pub fn new(memory: &'a dyn DeviceMemory, runtime: &'a dyn Runtime) -> Environment<'a> {
        Environment {
            memory,
            runtime,
            checks: Checks::ALL,
            seed: 0,
            threads: 0,
            stack_limit: 1024,
            patience: Environment::DEFAULT_PATIENCE,
            notes: None,
            observer: None,
            touches: None,
            cancel: None,
            order: None,
        }
    }
}

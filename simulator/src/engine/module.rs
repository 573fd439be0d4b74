//! A loaded module: its kernels and global variables.

use std::collections::HashMap;
use std::sync::Arc;

use warpsmith_isa::Target;

use super::exec::level::VectorLevel;
use super::exec::notes::Noted;
use super::program::{Program, Uses};

/// Why a module was refused: the place in the PTX text and what was wrong there.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {message}")]
pub struct LoadError {
    /// Line in the PTX text, from 1.
    pub line: u32,
    /// Column, from 1.
    pub column: u32,
    /// What was found and what was expected.
    pub message: String,
}

/// The state space of a module-scope variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Space {
    /// `.global`
    Global,
    /// `.const`
    Const,
}

/// A module-scope variable in `.global` or `.const`.
#[derive(Clone, Debug)]
pub struct Global {
    /// Its name in the PTX.
    pub name: String,
    /// Size in bytes.
    pub size: u64,
    /// Alignment in bytes.
    pub align: u64,
    /// Its state space.
    pub space: Space,
    /// `.attribute(.managed)`
    pub managed: bool,
    /// `.visible` or `.weak`: found by name from the host.
    pub visible: bool,
    /// The address that it was placed at.
    pub address: u64,
    /// What its initial contents begin with, to be written to `address` by the caller of [`Module::load`]; the rest is zero.
    pub image: Vec<u8>,
}

/// A parameter of a kernel in the parameter buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelParameter {
    /// Offset in bytes.
    pub offset: u32,
    /// Size in bytes.
    pub size: u32,
    /// Alignment in bytes.
    pub align: u32,
}

/// A kernel of a loaded module.
#[derive(Debug)]
pub struct Kernel {
    /// Name of the entry.
    pub name: String,
    /// Parameters in order; the buffer's size is the end of the last.
    pub parameters: Vec<KernelParameter>,
    /// Bytes of static shared memory.
    pub static_shared: u32,
    /// Bytes of local memory a thread needs, without recursion.
    pub local_bytes: u32,
    /// An estimate of the registers a thread needs on a device.
    pub registers: u32,
    /// `.maxntid`, or `.reqntid` if exact.
    pub max_threads: Option<[u32; 3]>,
    /// `.reqntid` was given: launches must have exactly `max_threads`.
    pub exact_threads: bool,
    /// `.minnctapersm`
    pub min_blocks: Option<u32>,
    /// `.reqnctapercluster`
    pub cluster: Option<[u32; 3]>,
    pub(crate) program: Arc<Program>,
    /// Number of its function in the program.
    pub(crate) entry: u32,
    /// Where its dynamic shared memory starts.
    pub(crate) dynamic_shared_base: u32,
    /// Where it would start without gaps between variables.
    pub(crate) packed_shared_base: u32,
    /// Where static shared memory ends, with the gaps between variables.
    pub(crate) static_end: u32,
    /// Addresses of the module's constant memory.
    pub(crate) constants: (u64, u64),
    /// Bytes of constant memory that the module takes.
    pub(crate) constant_bytes: u64,
    /// What the instructions do that it can come to.
    pub(crate) uses: Uses,
    /// The instructions of which there has been a note.
    pub(crate) noted: Noted,
}

impl Kernel {
    /// Size of the parameter buffer.
    pub fn parameter_bytes(&self) -> u32 {
        self.parameters.last().map_or(0, |p| p.offset + p.size)
    }

    /// Whether it can come to an instruction that orders it among grids that overlap (`griddepcontrol`).
    pub fn orders_grids(&self) -> bool {
        self.uses.grid_order
    }

    /// Whether it can come to a call of `cudaGraphLaunch`.
    pub fn launches_graphs(&self) -> bool {
        self.uses.graph_launches
    }
}

/// A loaded module.
#[derive(Debug)]
pub struct Module {
    pub(crate) kernels: HashMap<String, Arc<Kernel>>,
    pub(crate) globals: Vec<Global>,
    /// `.target`
    pub target: Target,
}

impl Module {
    /// Parses and lowers PTX. `place` is asked once for each module-scope variable, in order, for an address of at least
    /// its size and alignment; `None` ends the load with an error. The caller writes the images afterwards.
    ///
    /// # Errors
    ///
    /// The text is no PTX, or something in it is refused: see the error's message.
    pub fn load(
        ptx: &str,
        place: &mut dyn FnMut(&Global) -> Option<u64>,
    ) -> Result<Module, LoadError> {
        Self::load_for(VectorLevel::of_machine(), ptx, place)
    }

    /// As [`Module::load`], for code that uses no vector instructions above a level; those that the machine lacks are not used
    /// either.
    ///
    /// # Errors
    ///
    /// As for [`Module::load`].
    pub fn load_for(
        level: VectorLevel,
        ptx: &str,
        place: &mut dyn FnMut(&Global) -> Option<u64>,
    ) -> Result<Module, LoadError> {
        super::lower::load(ptx, level, place)
    }

    /// The kernel of this name.
    pub fn kernel(&self, name: &str) -> Option<&Arc<Kernel>> {
        self.kernels.get(name)
    }

    /// All kernels.
    pub fn kernels(&self) -> impl Iterator<Item = &Arc<Kernel>> {
        self.kernels.values()
    }

    /// All module-scope variables with their images.
    pub fn globals(&self) -> &[Global] {
        &self.globals
    }

    /// The variable of this name.
    pub fn global(&self, name: &str) -> Option<&Global> {
        self.globals.iter().find(|g| g.name == name)
    }
}

//! Multicast objects: memory of several devices, one piece of the same size on each, that `multimem` instructions use as one.
//!
//! An object has no memory of its own. Each device's is physical memory that is bound to a part of it, and that keeps its other mappings.
//! Here each binding has a window: addresses at which the engine reaches the bound memory, and that no device may access otherwise.

use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::{Arc, Mutex, Weak};

use super::GRANULARITY;
use super::handles::Handles;
use super::physical::{HandleTypes, Physical};
use crate::engine::AccessError;
use crate::error::{Result, code};
use crate::memory::location::MemoryLocation;
use crate::memory::shared_file::{Content, SharedFile};
use crate::memory::space::Memory;
use crate::registry::fresh_handle;
use crate::report;
use crate::sync::lock;

/// A page: the object's file holds nothing, and only names it.
const FILE_BYTES: usize = 4096;

/// A multicast object.
pub(crate) struct Multicast {
    pub(crate) handle: u64,
    /// How many devices its team has.
    devices: usize,
    bytes: usize,
    handle_types: HandleTypes,
    /// What an exported descriptor names.
    file: SharedFile,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The devices that have been added, never more than the team has.
    team: Vec<usize>,
    bindings: Vec<Binding>,
}

/// Memory of a device, bound to a part of an object.
struct Binding {
    device: usize,
    /// Where it begins in the object.
    start: usize,
    bytes: usize,
    /// Where it begins in the memory.
    memory_start: usize,
    window: Window,
}

impl Binding {
    fn overlaps(&self, start: usize, bytes: usize) -> bool {
        start < self.start + self.bytes && self.start < start + bytes
    }
}

/// Addresses at which the engine reaches physical memory.
struct Window {
    base: usize,
    memory: Arc<Physical>,
}

impl Window {
    fn open(memory: Arc<Physical>) -> Option<Window> {
        let (space, bytes) = (Memory::global(), memory.bytes());
        let base = space.take_addresses(bytes, GRANULARITY)?;
        if space
            .map(base, bytes, memory.device(), Some(memory.file()))
            .is_none()
        {
            space.give_addresses_back(base, bytes);
            return None;
        }
        Some(Window { base, memory })
    }
}

impl Drop for Window {
    fn drop(&mut self) {
        let space = Memory::global();
        space.unmap(self.base);
        space.give_addresses_back(self.base, self.memory.bytes());
    }
}

static HANDLES: Handles<Multicast> = Handles::new();
/// All objects that somebody has, also behind a released handle: by a mapping or an open descriptor's number.
static OBJECTS: Mutex<Vec<Weak<Multicast>>> = Mutex::new(Vec::new());

/// Memory that is bound to an object: which, and where the engine reaches it.
pub(super) struct Replica {
    pub(super) window: usize,
    pub(super) memory: Arc<Physical>,
}

impl Multicast {
    /// A new object without devices and memory.
    ///
    /// # Errors
    ///
    /// Invalid value if there are no devices, or if the size is zero or no multiple of [`GRANULARITY`].
    pub(crate) fn create(devices: usize, bytes: usize, handle_types: HandleTypes) -> Result<u64> {
        if devices == 0 || bytes == 0 || !bytes.is_multiple_of(GRANULARITY) {
            return Err(code::INVALID_VALUE);
        }
        let file = SharedFile::create(Content::Multicast, FILE_BYTES, [0; 4]);
        let handle = fresh_handle() as u64;
        let object = Arc::new(Multicast {
            handle,
            devices,
            bytes,
            handle_types,
            file: file.ok_or(code::OUT_OF_MEMORY)?,
            state: Mutex::default(),
        });
        let mut objects = lock(&OBJECTS);
        objects.retain(|object| object.strong_count() > 0);
        objects.push(Arc::downgrade(&object));
        drop(objects);
        Ok(object.hold())
    }

    /// A handle of an object that this process has exported.
    ///
    /// # Errors
    ///
    /// Those of [`SharedFile::import`]; not supported for an object of another process, which is not shown to this one.
    pub(crate) fn import(descriptor: BorrowedFd<'_>) -> Result<u64> {
        let (file, _) = SharedFile::import(descriptor, Content::Multicast)?;
        let identity = file.identity();
        let found = lock(&OBJECTS)
            .iter()
            .filter_map(Weak::upgrade)
            .find(|object| identity.is_some() && object.file.identity() == identity);
        let Some(object) = found else {
            report::remark(
                "cuMemImportFromShareableHandle is refused: the multicast object is of another process or has ended, and the simulator \
                 imports those of its own process alone",
            );
            return Err(code::NOT_SUPPORTED);
        };
        Ok(object.hold())
    }

    /// Holds the object's handle once more, also where it had been released.
    pub(crate) fn hold(self: Arc<Self>) -> u64 {
        HANDLES.hold(self.handle, self)
    }

    /// Gives up one hold of a handle.
    ///
    /// # Errors
    ///
    /// Invalid value if nobody holds it.
    pub(crate) fn release(handle: u64) -> Result {
        HANDLES.release(handle)
    }

    /// The object of a live handle.
    ///
    /// # Errors
    ///
    /// Invalid value if there is none.
    pub(crate) fn of_handle(handle: u64) -> Result<Arc<Multicast>> {
        HANDLES.get(handle)
    }

    /// A file descriptor that names the object.
    ///
    /// # Errors
    ///
    /// Invalid value if it was not made to be exported so.
    pub(crate) fn export(&self) -> Result<OwnedFd> {
        if !self.handle_types.contains(HandleTypes::FILE_DESCRIPTOR) {
            return Err(code::INVALID_VALUE);
        }
        self.file.duplicate().ok_or(code::OPERATING_SYSTEM)
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Adds a device to the team, for good.
    ///
    /// # Errors
    ///
    /// Invalid value if it is in the team, or if the team is complete.
    pub(crate) fn add(&self, device: usize) -> Result {
        let team = &mut lock(&self.state).team;
        if team.len() == self.devices || team.contains(&device) {
            return Err(code::INVALID_VALUE);
        }
        team.push(device);
        Ok(())
    }

    /// # Errors
    ///
    /// Illegal state if devices are missing: a real driver waits for them in `call`, in a program of one thread for ever.
    pub(crate) fn require_team(&self, call: &str) -> Result {
        let added = lock(&self.state).team.len();
        if added == self.devices {
            return Ok(());
        }
        report::remark(&format!(
            "{call} is refused: {added} of the multicast object's {} devices have been added (cuMulticastAddDevice), and a real driver \
             waits here for the others, which is for ever if this thread is to add them",
            self.devices
        ));
        Err(code::ILLEGAL_STATE)
    }

    /// # Errors
    ///
    /// Invalid device if it is not of the team.
    pub(super) fn require_member(&self, call: &str, device: usize) -> Result {
        if lock(&self.state).team.contains(&device) {
            return Ok(());
        }
        report::remark(&format!(
            "{call} is refused: device {device} is not of the multicast object's team"
        ));
        Err(code::INVALID_DEVICE)
    }

    /// Binds memory to a part of the object, as the replica of `device`; by itself, of the device that it lies on.
    ///
    /// # Errors
    ///
    /// Illegal state before the team is complete; invalid device if the memory's is not of the team, or not the one that is said; invalid
    /// value for parts that are not aligned or not inside, that are bound already, or if others may see the object and not the memory.
    pub(crate) fn bind(
        &self,
        call: &str,
        device: Option<usize>,
        start: usize,
        memory: Arc<Physical>,
        memory_start: usize,
        bytes: usize,
    ) -> Result {
        self.require_team(call)?;
        let aligned = [start, memory_start, bytes]
            .iter()
            .all(|number| number.is_multiple_of(GRANULARITY));
        let inside = |start: usize, all: usize| start <= all && bytes <= all - start;
        if !aligned
            || bytes == 0
            || !inside(start, self.bytes)
            || !inside(memory_start, memory.bytes())
        {
            return Err(code::INVALID_VALUE);
        }
        let MemoryLocation::Device(owner) = memory.properties.location else {
            return Err(code::INVALID_DEVICE);
        };
        if self.handle_types != HandleTypes::default() && !memory.is_shareable() {
            return Err(code::INVALID_VALUE);
        }
        let mut state = lock(&self.state);
        if device.is_some_and(|device| device != owner) || !state.team.contains(&owner) {
            return Err(code::INVALID_DEVICE);
        }
        let is_bound =
            |binding: &Binding| binding.device == owner && binding.overlaps(start, bytes);
        if state.bindings.iter().any(is_bound) {
            return Err(code::INVALID_VALUE);
        }
        let window = Window::open(memory).ok_or(code::OUT_OF_MEMORY)?;
        state.bindings.push(Binding {
            device: owner,
            start,
            bytes,
            memory_start,
            window,
        });
        Ok(())
    }

    /// Ends what is bound for `device` to a part of the object.
    ///
    /// # Errors
    ///
    /// Invalid value if the part is not aligned or not inside, if nothing is bound there, or if it cuts what is; invalid device if the device
    /// is not of the team.
    pub(crate) fn unbind(&self, device: usize, start: usize, bytes: usize) -> Result {
        let aligned = start.is_multiple_of(GRANULARITY) && bytes.is_multiple_of(GRANULARITY);
        let end = start.checked_add(bytes).ok_or(code::INVALID_VALUE)?;
        if !aligned || bytes == 0 || end > self.bytes {
            return Err(code::INVALID_VALUE);
        }
        let mut state = lock(&self.state);
        if !state.team.contains(&device) {
            return Err(code::INVALID_DEVICE);
        }
        let touched =
            |binding: &Binding| binding.device == device && binding.overlaps(start, bytes);
        let whole =
            |binding: &Binding| binding.start >= start && binding.start + binding.bytes <= end;
        let mut found = state.bindings.iter().filter(|b| touched(b)).peekable();
        if found.peek().is_none() || !found.all(whole) {
            return Err(code::INVALID_VALUE);
        }
        let gone: Vec<Binding> = state.bindings.extract_if(.., |b| touched(b)).collect();
        drop(state);
        // Outside of the lock: a window may be the last owner of its memory.
        drop(gone);
        Memory::global().changed();
        Ok(())
    }

    /// Where the engine reaches `bytes` bytes at `offset` of each device's memory.
    ///
    /// # Errors
    ///
    /// A device of the team has no memory bound there.
    pub(super) fn replicas(
        &self,
        offset: usize,
        bytes: usize,
    ) -> std::result::Result<Vec<u64>, AccessError> {
        let State { team, bindings } = &*lock(&self.state);
        let replica = |&device: &usize| {
            let holds = |binding: &&Binding| {
                binding.device == device
                    && offset >= binding.start
                    && offset + bytes <= binding.start + binding.bytes
            };
            let binding = bindings.iter().find(holds);
            let binding = binding.ok_or(AccessError::NotBound { device })?;
            let inside = offset - binding.start + binding.memory_start;
            Ok((binding.window.base + inside) as u64)
        };
        team.iter().map(replica).collect()
    }

    /// All that is bound.
    pub(super) fn bound(&self) -> Vec<Replica> {
        let bindings = &lock(&self.state).bindings;
        let replica = |binding: &Binding| Replica {
            window: binding.window.base,
            memory: Arc::clone(&binding.window.memory),
        };
        bindings.iter().map(replica).collect()
    }

    /// The device that an address of it belongs to: the first of the team.
    pub(super) fn device(&self) -> usize {
        lock(&self.state).team.first().copied().unwrap_or(0)
    }
}

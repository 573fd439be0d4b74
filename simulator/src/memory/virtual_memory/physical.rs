//! Physical allocations and their handles.
//!
//! A handle is held several times: by `cuMemCreate` or an import, and by each `cuMemRetainAllocationHandle`. The memory lives as long
//! as its handle is held, a mapping shows it, or another process has it.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

use super::GRANULARITY;
use super::handles::Handles;
use crate::device;
use crate::error::{Result, code};
use crate::memory::location::MemoryLocation;
use crate::memory::pool;
use crate::memory::shared_file::{Content, SharedFile};
use crate::registry::fresh_handle;

/// As what kinds of handles memory may leave the process, as bits of `CUmemAllocationHandleType`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct HandleTypes(pub(crate) u32);

impl HandleTypes {
    pub(crate) const FILE_DESCRIPTOR: HandleTypes = HandleTypes(1);

    pub(crate) fn contains(self, other: HandleTypes) -> bool {
        self.0 & other.0 == other.0
    }
}

/// What was asked for and granted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PhysicalProperties {
    pub(crate) location: MemoryLocation,
    pub(crate) handle_types: HandleTypes,
    pub(crate) compressible: bool,
    pub(crate) rdma_capable: bool,
}

/// A physical allocation.
pub(crate) struct Physical {
    pub(crate) handle: u64,
    pub(crate) properties: PhysicalProperties,
    file: SharedFile,
    /// The device whose memory it takes; none where another process counts it, or where it is the host's.
    counted: Option<usize>,
    is_imported: bool,
}

static HANDLES: Handles<Physical> = Handles::new();

impl Physical {
    /// Takes memory and gives its handle.
    ///
    /// # Errors
    ///
    /// Invalid value if the size is zero or no multiple of [`GRANULARITY`]; out of memory.
    pub(crate) fn create(bytes: usize, properties: PhysicalProperties) -> Result<u64> {
        if bytes == 0 || !bytes.is_multiple_of(GRANULARITY) {
            return Err(code::INVALID_VALUE);
        }
        if device::exceeds_host(bytes) {
            return Err(code::OUT_OF_MEMORY);
        }
        let counted = properties.location.device();
        if let Some(device) = counted {
            pool::take_from_device(device, bytes)?;
        }
        let Some(file) = SharedFile::create(Content::Physical, bytes, encode(properties)) else {
            if let Some(device) = counted {
                device::give_memory(device, bytes);
            }
            return Err(code::OUT_OF_MEMORY);
        };
        Ok(Self::enter(properties, file, counted, false))
    }

    /// A new handle for memory that this or another process has exported.
    ///
    /// # Errors
    ///
    /// Those of [`SharedFile::import`]; invalid device if this process does not see the memory's.
    pub(crate) fn import(descriptor: BorrowedFd<'_>) -> Result<u64> {
        let (file, numbers) = SharedFile::import(descriptor, Content::Physical)?;
        let properties = decode(numbers).ok_or(code::INVALID_DEVICE)?;
        Ok(Self::enter(properties, file, None, true))
    }

    fn enter(
        properties: PhysicalProperties,
        file: SharedFile,
        counted: Option<usize>,
        is_imported: bool,
    ) -> u64 {
        let handle = fresh_handle() as u64;
        let memory = Arc::new(Self {
            handle,
            properties,
            file,
            counted,
            is_imported,
        });
        HANDLES.hold(handle, memory)
    }

    /// Holds the memory's handle once more, also where it had been released.
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

    /// A file descriptor of the memory for another process.
    ///
    /// # Errors
    ///
    /// Invalid value if it was not made to be exported so.
    pub(crate) fn export(&self) -> Result<OwnedFd> {
        if !self
            .properties
            .handle_types
            .contains(HandleTypes::FILE_DESCRIPTOR)
        {
            return Err(code::INVALID_VALUE);
        }
        self.file.duplicate().ok_or(code::OPERATING_SYSTEM)
    }

    /// Whether other processes may have it.
    pub(super) fn is_shareable(&self) -> bool {
        self.is_imported || self.properties.handle_types != HandleTypes::default()
    }

    pub(crate) fn bytes(&self) -> usize {
        self.file.bytes()
    }

    /// The device that an address of it belongs to.
    pub(crate) fn device(&self) -> usize {
        self.properties.location.device().unwrap_or(0)
    }

    pub(super) fn file(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

impl Drop for Physical {
    fn drop(&mut self) {
        if let Some(device) = self.counted {
            device::give_memory(device, self.bytes());
        }
    }
}

/// The memory of a live handle.
///
/// # Errors
///
/// Invalid value if there is none.
pub(crate) fn handle_of(handle: u64) -> Result<Arc<Physical>> {
    HANDLES.get(handle)
}

/// All live handles, with the bytes of their memory.
pub(in crate::memory) fn held_memory() -> Vec<(u64, usize)> {
    HANDLES.list(Physical::bytes)
}

/// What an importing process has to know. The kinds of handles are not told: imported memory cannot be exported again.
fn encode(properties: PhysicalProperties) -> [u64; 4] {
    let (kind, place) = match properties.location {
        MemoryLocation::Device(device) => (1, device::in_machine(device) as u64),
        MemoryLocation::Host { node: None } => (2, 0),
        MemoryLocation::Host { node: Some(node) } => (3, node as u64),
    };
    let flags = u64::from(properties.compressible) | u64::from(properties.rdma_capable) << 1;
    [kind, place, flags, 0]
}

fn decode([kind, place, flags, _]: [u64; 4]) -> Option<PhysicalProperties> {
    let location = match kind {
        1 => MemoryLocation::Device(device::of_machine(place as usize)?),
        2 => MemoryLocation::Host { node: None },
        _ => MemoryLocation::Host {
            node: Some(place as i32),
        },
    };
    Some(PhysicalProperties {
        location,
        handle_types: HandleTypes::default(),
        compressible: flags & 1 != 0,
        rdma_capable: flags & 2 != 0,
    })
}

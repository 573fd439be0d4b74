//! What is known about one allocation of the simulated address space.

use std::borrow::Cow;

use super::location;

/// What an allocation is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AllocationKind {
    /// Device memory of `cuMemAlloc` and its like.
    Device,
    /// Managed memory.
    Managed,
    /// Page-locked host memory, with its `CU_MEMHOSTALLOC_*` flags.
    Pinned(u32),
    /// Stream-ordered memory from the pool with this identity.
    Pool(u64),
    /// Memory of a graph, whose address a node has (`cuGraphAddMemAllocNode`).
    Graph,
    /// A global or constant variable of a loaded module.
    Global,
    /// The texels of a CUDA array, which has no address for a program.
    Array,
    /// Physical memory at an address (`cuMemMap`), freed when it is unmapped.
    Mapping,
    /// Plain device memory of another process (`cuIpcOpenMemHandle`), which frees it.
    Opened,
    /// A part of memory that another program interface made (`cuExternalMemoryGetMappedBuffer`).
    External,
    /// A part of such memory that is the texels of an array (`cuExternalMemoryGetMappedMipmappedArray`), which has no address for a program.
    ExternalArray,
    /// Memory that the simulator's own device runtime uses (the device heap).
    Internal,
}

impl AllocationKind {
    /// Whether it is memory of one device.
    pub(super) fn is_of_one_device(self) -> bool {
        match self {
            Self::Managed | Self::Pinned(_) | Self::Mapping => false,
            Self::Device
            | Self::Pool(_)
            | Self::Graph
            | Self::Global
            | Self::Array
            | Self::Opened
            | Self::External
            | Self::ExternalArray
            | Self::Internal => true,
        }
    }
}

/// Whether an allocation may be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AllocationState {
    /// It may.
    Live,
    /// It has been freed.
    Freed,
}

/// What a copy or a fill does with memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    Read,
    Write,
}

/// What a lookup by address tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AllocationInfo {
    /// The first byte's address.
    pub base: usize,
    /// The length in bytes, as asked for.
    pub len: usize,
    /// Whether it may be used.
    pub state: AllocationState,
    /// Whether it is physical memory at an address, where each device's access is granted apart.
    pub is_mapping: bool,
    /// Whether the address is a graph's: its memory comes and goes with launches.
    pub is_graph: bool,
    /// The device that has it to itself, but for peer access; `None` where each device reaches it, or rights are granted apart.
    pub device: Option<usize>,
}

impl AllocationInfo {
    /// Whether it is memory of a pool of the host.
    #[inline]
    pub(super) fn is_of_host_pool(&self) -> bool {
        self.device == Some(location::HOST)
    }

    /// Whether `size` bytes from `address` lie inside.
    #[inline]
    pub fn holds(&self, address: usize, size: usize) -> bool {
        address >= self.base && size <= self.len && address - self.base <= self.len - size
    }
}

/// Everything about one allocation, for driver calls and reports.
#[derive(Clone, Debug)]
pub struct AllocationDetail {
    /// What it is for.
    pub kind: AllocationKind,
    /// The context that owns it; 0 for none.
    pub context: u64,
    /// The device whose memory it takes.
    pub device: usize,
    /// The driver call (or the variable) that made it.
    pub made_by: Cow<'static, str>,
    /// The driver call that freed it.
    pub freed_by: Option<&'static str>,
    /// Counts allocations of the process, from 1; `CU_POINTER_ATTRIBUTE_BUFFER_ID`.
    pub serial: u64,
}

/// A host range that the program has registered.
#[derive(Clone, Copy, Debug)]
pub struct RegisteredRange {
    /// Its length in bytes.
    pub len: usize,
    /// `CU_MEMHOSTREGISTER_*`.
    pub flags: u32,
    /// The context it was registered in.
    pub context: u64,
}

//! The simulated address space. Device, managed and pinned allocations are real addresses inside one reserved arena, so that one
//! pointer means the same to the host and to kernels; host ranges that a program registers lie outside and are known by table.
//!
//! Each allocation starts on its own page and is followed by an unused gap; addresses are not used again until some thousand allocations
//! later. So an access out of bounds hits no other allocation, and an access to freed memory can be distinguished from it.
//! A lookup by address is one load from a page table (`arena`) and two from a slot (`slots`), without locks.
//!
//! | file | what |
//! | --- | --- |
//! | `allocation` | what is known about one allocation |
//! | `access` | what a device may do with memory that is granted to it |
//! | `arena`, `slots` | address space and records of allocations |
//! | `pages` | memory of the operating system |
//! | `pageable` | the program's own memory, where a device reaches it |
//! | `space` | [`Memory`]: both together, and registered host ranges |
//! | `engine_view` | the address space as the engine sees it |
//! | `hold` | allocations that a copy or a fill is going through |
//! | `guest` | the only access to the bytes of guest memory outside the engine |
//! | `array` | memory of texels, which copies, textures and surfaces reach by a handle |
//! | `texture` | texture and surface objects |
//! | `refusal` | why a call is refused memory, in words |
//! | `transfer`, `fill`, `extent` | copies and memsets, and all arithmetic of their sizes |
//! | `word` | words that streams wait for and write |
//! | `virtual_memory`, `shared_file`, `shared_page` | physical memory, reserved addresses, mappings; the files that they and exports are made of |
//! | `interprocess` | plain memory and events that other processes open by a handle |
//! | `process` | whether another process runs |
//! | `external` | memory of other program interfaces, imported by a file descriptor |
//! | `pool`, `accounting` | whose device memory an allocation takes |
//! | `discarded` | managed memory whose contents were given up |
//! | `attachment` | whose managed memory is, for devices that cannot share it |
//! | `peers` | which contexts reach the memory of other devices |
//! | `leaks` | what is left at the end of a context or the process |
//! | `graph_memory` | memory that lives in the order in which graphs run |
//! | `pointer`, `hints` | what the driver answers about a pointer, and what it was told about managed memory |

pub(crate) mod access;
mod accounting;
mod allocation;
mod arena;
pub(crate) mod array;
pub(crate) mod attachment;
pub(crate) mod discarded;
mod engine_view;
mod extent;
pub(crate) mod external;
mod fill;
pub(crate) mod graph_memory;
pub(crate) mod guest;
pub(crate) mod hints;
mod hold;
pub(crate) mod interprocess;
pub(crate) mod leaks;
pub(crate) mod location;
mod pageable;
mod pages;
pub(crate) mod peers;
mod pointer;
pub(crate) mod pool;
mod process;
pub(crate) mod refusal;
mod shared_file;
pub(crate) mod shared_page;
mod slots;
mod space;
pub(crate) mod texture;
mod transfer;
pub(crate) mod virtual_memory;
mod word;

pub(crate) use accounting::{allocate, free_in_stream_order, release, release_context};
pub use allocation::{
    AllocationDetail, AllocationInfo, AllocationKind, AllocationState, RegisteredRange,
};
pub use engine_view::DeviceView;
pub(crate) use fill::{CheckedFill, Fill};
pub(crate) use guest::WordSize;
pub(crate) use pointer::PointerInfo;
pub use space::Memory;
pub(crate) use transfer::{ArrayOrMemory, EndMemory, Transfer};
pub(crate) use word::Word;

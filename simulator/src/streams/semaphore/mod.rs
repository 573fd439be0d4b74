//! Semaphores that another program interface made (CUDA C++ Programming Guide, "External Resource Interoperability"), which streams and
//! nodes of graphs signal and wait for.
//!
//! On a GPU they are Vulkan's. Here any process can make one, signal it and wait for it:
//!
//! - a binary one is an `eventfd` that is not blocking (`EFD_NONBLOCK`): a signal adds 1 to its number, a wait reads it, which makes it 0;
//! - a timeline is a file in memory whose size is sealed (`memfd_create`, `F_SEAL_SHRINK`): its first eight bytes are the value, a
//!   number in this machine's byte order, which a signal makes larger.
//!
//! What the other interface does is not known here. Reported is what is wrong whatever that does: a signal of a semaphore that is
//! signalled already, or to a value that it has already; a signal that ends a wait which was issued before it; and a semaphore that is
//! destroyed before what was issued for it is complete, or used after that.

mod batch;
mod object;
mod order;

pub(crate) use batch::{SemaphoreBatch, SemaphoreParameters};
pub(crate) use object::{Importable, Issued, SEMAPHORES, SemaphoreKind};
pub(crate) use order::{note_signal, signalled};

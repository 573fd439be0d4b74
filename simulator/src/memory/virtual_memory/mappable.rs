//! What a handle names and an address shows: physical memory, or a multicast object.

use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::Arc;

use super::multicast::Multicast;
use super::physical::{self, Physical};
use crate::error::Result;

/// What can be mapped.
#[derive(Clone)]
pub(crate) enum Mappable {
    Memory(Arc<Physical>),
    Multicast(Arc<Multicast>),
}

impl Mappable {
    /// What a live handle names.
    ///
    /// # Errors
    ///
    /// Invalid value if there is none.
    pub(crate) fn of_handle(handle: u64) -> Result<Mappable> {
        match physical::handle_of(handle) {
            Ok(memory) => Ok(Mappable::Memory(memory)),
            Err(_) => Multicast::of_handle(handle).map(Mappable::Multicast),
        }
    }

    /// Gives up one hold of a handle.
    ///
    /// # Errors
    ///
    /// Invalid value if nobody holds it.
    pub(crate) fn release(handle: u64) -> Result {
        Physical::release(handle).or_else(|_| Multicast::release(handle))
    }

    /// Holds its handle once more.
    pub(crate) fn hold(self) -> u64 {
        match self {
            Mappable::Memory(memory) => memory.hold(),
            Mappable::Multicast(object) => object.hold(),
        }
    }

    /// A new handle for what was exported.
    ///
    /// # Errors
    ///
    /// The descriptor is neither's, or of what this process cannot use.
    pub(crate) fn import(descriptor: BorrowedFd<'_>) -> Result<u64> {
        let multicast = Multicast::import(descriptor);
        match multicast {
            Err(crate::error::code::INVALID_VALUE) => Physical::import(descriptor),
            answer => answer,
        }
    }

    /// A file descriptor of it.
    ///
    /// # Errors
    ///
    /// It was not made to be exported so.
    pub(crate) fn export(&self) -> Result<OwnedFd> {
        match self {
            Mappable::Memory(memory) => memory.export(),
            Mappable::Multicast(object) => object.export(),
        }
    }

    pub(super) fn bytes(&self) -> usize {
        match self {
            Mappable::Memory(memory) => memory.bytes(),
            Mappable::Multicast(object) => object.bytes(),
        }
    }

    /// The device that an address of it belongs to.
    pub(super) fn device(&self) -> usize {
        match self {
            Mappable::Memory(memory) => memory.device(),
            Mappable::Multicast(object) => object.device(),
        }
    }

    /// The file whose bytes its addresses show; none shows those of a multicast object.
    pub(super) fn file(&self) -> Option<BorrowedFd<'_>> {
        match self {
            Mappable::Memory(memory) => Some(memory.file()),
            Mappable::Multicast(_) => None,
        }
    }

    /// The memory, unless it is a multicast object.
    pub(crate) fn memory(&self) -> Option<&Arc<Physical>> {
        match self {
            Mappable::Memory(memory) => Some(memory),
            Mappable::Multicast(_) => None,
        }
    }
}

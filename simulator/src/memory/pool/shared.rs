//! The memory of a pool that other processes can see: one file, of which each allocation is a part.

use std::collections::BTreeMap;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Mutex;

use crate::device;
use crate::error::{Result, code};
use crate::memory::shared_file::{Content, SharedFile};
use crate::memory::space::Memory;
use crate::sync::lock;

const PAGE: usize = 4096;
/// Begins what is exported of an allocation.
const MAGIC: u64 = u64::from_le_bytes(*b"warppool");

/// A pool's file. The parts are known to the process that made it alone.
pub(super) struct SharedMemory {
    file: SharedFile,
    is_imported: bool,
    parts: Mutex<Parts>,
}

#[derive(Default)]
struct Parts {
    /// Offset and bytes of each allocation, by its address.
    used: BTreeMap<usize, Part>,
    /// What was used and is not, by offset.
    free: Vec<Part>,
    /// Everything from here on has never been used.
    next: usize,
}

#[derive(Clone, Copy)]
struct Part {
    offset: usize,
    /// As asked for. It takes whole pages.
    bytes: usize,
}

impl Part {
    fn pages(self) -> usize {
        self.bytes.next_multiple_of(PAGE)
    }
}

impl SharedMemory {
    /// A file that is as long as the device's memory and takes none until it is used; `None` if the system refuses it.
    pub(super) fn create(device: usize) -> Option<Self> {
        let bytes = device::total_memory(device).next_multiple_of(PAGE);
        let numbers = [device::in_machine(device) as u64, 0, 0, 0];
        Some(Self {
            file: SharedFile::create(Content::Pool, bytes, numbers)?,
            is_imported: false,
            parts: Mutex::default(),
        })
    }

    /// The file of another process's pool, with its device.
    ///
    /// # Errors
    ///
    /// Those of [`SharedFile::import`]; invalid device if this process does not see the pool's.
    pub(super) fn import(descriptor: BorrowedFd<'_>) -> Result<(Self, usize)> {
        let (file, [device, ..]) = SharedFile::import(descriptor, Content::Pool)?;
        let device = device::of_machine(device as usize).ok_or(code::INVALID_DEVICE)?;
        let imported = Self {
            file,
            is_imported: true,
            parts: Mutex::default(),
        };
        Ok((imported, device))
    }

    pub(super) fn is_imported(&self) -> bool {
        self.is_imported
    }

    pub(super) fn export(&self) -> Result<OwnedFd> {
        self.file.duplicate().ok_or(code::OPERATING_SYSTEM)
    }

    /// Gives an allocation a part of the file, and shows it there.
    pub(super) fn place(&self, address: usize, bytes: usize) -> Result {
        let part = lock(&self.parts)
            .take(bytes, self.file.bytes())
            .ok_or(code::OUT_OF_MEMORY)?;
        lock(&self.parts).used.insert(address, part);
        self.show(address, part.offset)
    }

    /// Shows the file from `offset` on at an allocation.
    pub(super) fn show(&self, address: usize, offset: usize) -> Result {
        Memory::global()
            .back_with_file(address, self.file.as_fd(), offset)
            .ok_or(code::OUT_OF_MEMORY)
    }

    /// Takes an allocation's part back.
    pub(super) fn give_back(&self, address: usize) {
        let mut parts = lock(&self.parts);
        if let Some(part) = parts.used.remove(&address) {
            self.file.discard(part.offset, part.pages());
            parts.free.push(part);
        }
    }

    pub(super) fn export_pointer(&self, address: usize) -> Result<[u8; 64]> {
        let parts = lock(&self.parts);
        let part = parts.used.get(&address).ok_or(code::INVALID_VALUE)?;
        let identity = self.file.identity().ok_or(code::OPERATING_SYSTEM)?;
        let mut data = [0; 64];
        let numbers = [MAGIC, identity, part.offset as u64, part.bytes as u64];
        for (place, number) in data.chunks_exact_mut(8).zip(numbers) {
            place.copy_from_slice(&number.to_le_bytes());
        }
        Ok(data)
    }

    /// Offset and bytes of an exported allocation of this file.
    pub(super) fn import_pointer(&self, data: &[u8; 64]) -> Result<(usize, usize)> {
        let mut numbers = data
            .as_chunks()
            .0
            .iter()
            .map(|&word| u64::from_le_bytes(word));
        let mut next = || numbers.next().unwrap_or(0);
        let (magic, identity) = (next(), next());
        let (offset, bytes) = (next() as usize, next() as usize);
        let end = offset.checked_add(bytes);
        let inside = bytes > 0 && end.is_some_and(|end| end <= self.file.bytes());
        let is_own = magic == MAGIC && Some(identity) == self.file.identity();
        match is_own && inside && offset.is_multiple_of(PAGE) {
            true => Ok((offset, bytes)),
            false => Err(code::INVALID_VALUE),
        }
    }
}

impl Parts {
    fn take(&mut self, bytes: usize, limit: usize) -> Option<Part> {
        let wanted = bytes.checked_next_multiple_of(PAGE)?;
        if let Some(index) = self.free.iter().position(|part| part.pages() >= wanted) {
            let found = self.free.swap_remove(index);
            let rest = found.pages() - wanted;
            if rest > 0 {
                self.free.push(Part {
                    offset: found.offset + wanted,
                    bytes: rest,
                });
            }
            let offset = found.offset;
            return Some(Part { offset, bytes });
        }
        let offset = self.next;
        self.next = offset.checked_add(wanted).filter(|&end| end <= limit)?;
        Some(Part { offset, bytes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_do_not_overlap_and_are_used_again() {
        let mut parts = Parts::default();
        let first = parts.take(3 * PAGE, 5 * PAGE).unwrap();
        let second = parts.take(1, 5 * PAGE).unwrap();
        assert_eq!((first.offset, second.offset), (0, 3 * PAGE));
        assert!(parts.take(2 * PAGE, 5 * PAGE).is_none());
        parts.free.push(first);
        let again = parts.take(PAGE + 1, 5 * PAGE).unwrap();
        assert_eq!((again.offset, again.bytes), (0, PAGE + 1));
        assert_eq!(parts.take(PAGE, 5 * PAGE).unwrap().offset, 2 * PAGE);
    }
}

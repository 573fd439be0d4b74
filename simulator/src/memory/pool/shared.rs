//! The memory of a pool that other processes can see: one file, of which each allocation is a part. Behind the memory the file has the
//! [`Ledger`] of the allocations.

use std::collections::BTreeMap;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Mutex;

use super::ledger::{Ledger, OwnersSide, PAGE};
use crate::device;
use crate::error::{Result, code};
use crate::memory::location::MemoryLocation;
use crate::memory::shared_file::{Content, SharedFile};
use crate::memory::space::Memory;
use crate::sync::lock;

/// Begins what is exported of an allocation.
const MAGIC: u64 = u64::from_le_bytes(*b"warppool");

/// In place of a device's number: the memory is the host's.
const ON_HOST: u64 = u64::MAX;

/// A pool's file. All parts are known to the process that made it alone; another one knows those that it has imported.
pub(super) struct SharedMemory {
    file: SharedFile,
    /// The bytes of memory at the file's start.
    memory: usize,
    ledger: Ledger,
    /// The process that made it.
    owner: u32,
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
pub(super) struct Part {
    offset: usize,
    /// As asked for. It takes whole pages.
    bytes: usize,
    /// Tells it from others at the same offset; of parts that are used.
    number: u32,
}

impl Part {
    /// One that nobody uses yet.
    fn at(offset: usize, bytes: usize) -> Part {
        Part {
            offset,
            bytes,
            number: 0,
        }
    }

    pub(super) fn bytes(self) -> usize {
        self.bytes
    }

    fn pages(self) -> usize {
        self.bytes.next_multiple_of(PAGE)
    }
}

impl SharedMemory {
    /// A file that is as long as the device's memory, or for the host's as the first device's, and takes none until it is used; `None` if the system
    /// refuses it.
    pub(super) fn create(location: MemoryLocation) -> Option<Self> {
        let device = location.device().unwrap_or(0);
        let memory = device::total_memory(device).next_multiple_of(PAGE);
        let owner = std::process::id();
        let (number, node) = match location {
            MemoryLocation::Device(device) => (device::in_machine(device) as u64, 0),
            MemoryLocation::Host { node } => (ON_HOST, node.unwrap_or(0) as u64),
        };
        let numbers = [number, memory as u64, owner.into(), node];
        let file = SharedFile::create(Content::Pool, memory + Ledger::bytes(memory), numbers)?;
        Some(Self {
            ledger: Ledger::map(&file, memory)?,
            file,
            memory,
            owner,
            is_imported: false,
            parts: Mutex::default(),
        })
    }

    /// The file of another process's pool, with where its memory lies.
    ///
    /// # Errors
    ///
    /// Those of [`SharedFile::import`]; out of memory if the system has no room.
    pub(super) fn import(descriptor: BorrowedFd<'_>) -> Result<(Self, MemoryLocation)> {
        let (file, [device, memory, owner, node]) = SharedFile::import(descriptor, Content::Pool)?;
        let memory = memory as usize;
        let imported = Self {
            ledger: Ledger::map(&file, memory).ok_or(code::OUT_OF_MEMORY)?,
            file,
            memory,
            owner: owner as u32,
            is_imported: true,
            parts: Mutex::default(),
        };
        let location = match device {
            ON_HOST => MemoryLocation::Host {
                node: Some(node as i32),
            },
            device => MemoryLocation::Device(device::known_or_unseen(device as usize)),
        };
        Ok((imported, location))
    }

    /// The process that made it.
    pub(super) fn owner(&self) -> u32 {
        self.owner
    }

    pub(super) fn is_imported(&self) -> bool {
        self.is_imported
    }

    /// Whether it has allocations.
    pub(super) fn is_in_use(&self) -> bool {
        !lock(&self.parts).used.is_empty()
    }

    pub(super) fn export(&self) -> Result<OwnedFd> {
        self.file.duplicate().ok_or(code::OPERATING_SYSTEM)
    }

    /// Gives an allocation a part of the file, and shows it there.
    pub(super) fn place(&self, address: usize, bytes: usize) -> Result {
        let mut parts = lock(&self.parts);
        let mut part = parts.take(bytes, self.memory).ok_or(code::OUT_OF_MEMORY)?;
        part.number = self.ledger.begin(part.offset);
        parts.used.insert(address, part);
        drop(parts);
        self.show(address, part.offset)
    }

    /// The stream has come to an allocation.
    pub(super) fn make(&self, address: usize) {
        if let Some(part) = lock(&self.parts).used.get(&address) {
            self.ledger.make(part.offset);
        }
    }

    /// Shows a part that was imported at an allocation, and keeps it as one that this process uses.
    pub(super) fn show_imported(&self, address: usize, part: Part) -> Result {
        self.show(address, part.offset)?;
        self.ledger.import(part.offset);
        lock(&self.parts).used.insert(address, part);
        Ok(())
    }

    /// What the owner has done with an imported allocation that makes a use wrong which began at `begun` and ends now.
    pub(super) fn owners_side(&self, address: usize, begun: u64) -> Option<OwnersSide> {
        let part = lock(&self.parts).used.get(&address).copied()?;
        self.ledger.owners_side(part.offset, part.number, begun)
    }

    /// Shows the file from `offset` on at an allocation.
    fn show(&self, address: usize, offset: usize) -> Result {
        Memory::global()
            .back_with_file(address, self.file.as_fd(), offset)
            .ok_or(code::OUT_OF_MEMORY)
    }

    /// A process that has imported an allocation of this one's and has not freed it, if there is one.
    pub(super) fn importer(&self, address: usize) -> Option<u32> {
        let part = lock(&self.parts).used.get(&address).copied()?;
        self.ledger.importer(part.offset)
    }

    /// Takes an allocation's part back; in a process that has imported it, its use ends.
    pub(super) fn give_back(&self, address: usize) {
        let mut parts = lock(&self.parts);
        let Some(part) = parts.used.remove(&address) else {
            return;
        };
        if self.is_imported {
            self.ledger.let_go(part.offset, part.number);
            return;
        }
        self.ledger.free(part.offset);
        self.file.discard(part.offset, part.pages());
        parts.free.push(part);
    }

    pub(super) fn export_pointer(&self, address: usize) -> Result<[u8; 64]> {
        let parts = lock(&self.parts);
        let part = parts.used.get(&address).ok_or(code::INVALID_VALUE)?;
        let identity = self.file.identity().ok_or(code::OPERATING_SYSTEM)?;
        let mut data = [0; 64];
        let numbers = [
            MAGIC,
            identity,
            part.offset as u64,
            part.bytes as u64,
            part.number.into(),
        ];
        for (place, number) in data.chunks_exact_mut(8).zip(numbers) {
            place.copy_from_slice(&number.to_le_bytes());
        }
        Ok(data)
    }

    /// An exported allocation of this file.
    pub(super) fn import_pointer(&self, data: &[u8; 64]) -> Result<Part> {
        let mut numbers = data
            .as_chunks()
            .0
            .iter()
            .map(|&word| u64::from_le_bytes(word));
        let mut next = || numbers.next().unwrap_or(0);
        let (magic, identity) = (next(), next());
        let (offset, bytes) = (next() as usize, next() as usize);
        let number = next() as u32;
        let end = offset.checked_add(bytes);
        let inside = bytes > 0 && end.is_some_and(|end| end <= self.memory);
        let is_own = magic == MAGIC && Some(identity) == self.file.identity();
        match is_own && inside && offset.is_multiple_of(PAGE) {
            true => Ok(Part {
                offset,
                bytes,
                number,
            }),
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
                self.free.push(Part::at(found.offset + wanted, rest));
            }
            return Some(Part::at(found.offset, bytes));
        }
        let offset = self.next;
        self.next = offset.checked_add(wanted).filter(|&end| end <= limit)?;
        Some(Part::at(offset, bytes))
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

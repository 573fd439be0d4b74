//! Memory that another program interface made, imported by a file descriptor (CUDA C++ Programming Guide, "External Resource
//! Interoperability").
//!
//! On a GPU that is Vulkan's memory, say. Here it is any file in memory whose size is sealed (`memfd_create`, `F_SEAL_SHRINK`), so that no
//! other process can turn accesses into signals; physical memory that was exported is one, too.
//!
//! The memory object and the buffers mapped of it end apart. A buffer may not be used once its object is destroyed, but is still to be
//! freed: from then on it counts as freed, so that each use is found, and [`free`] knows it.

use std::collections::BTreeSet;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Mutex;

use super::allocation::{AllocationKind, AllocationState};
use super::shared_file::{Content, SharedFile, sealed_bytes};
use super::space::Memory;
use crate::error::{Result, code};
use crate::registry::{ContextBound, Registry};
use crate::sync::lock;

const PAGE: usize = 4096;

/// An imported memory object.
pub(crate) struct External {
    pub(crate) handle: usize,
    context: u64,
    device: usize,
    file: ImportedFile,
    /// What can be mapped: what there is, and no more than the import said.
    bytes: u64,
    /// Where its buffers begin.
    buffers: Mutex<BTreeSet<usize>>,
}

/// Whose the file is.
enum ImportedFile {
    /// The simulator's own: memory of `cuMemCreate`.
    Physical(SharedFile),
    Other(OwnedFd),
}

/// All memory objects.
pub(crate) static EXTERNAL: Registry<External> = Registry::new();

/// Buffers whose object was destroyed, and which are still to be freed.
static ENDED: Mutex<BTreeSet<usize>> = Mutex::new(BTreeSet::new());

impl ContextBound for External {
    fn context(&self) -> u64 {
        self.context
    }
}

/// A file that is to become a memory object, which has been looked at.
pub(crate) struct Importable {
    file: ImportedFile,
    bytes: u64,
}

impl Importable {
    /// What a descriptor refers to, as memory of so many bytes; more than there are is found out when they are mapped.
    ///
    /// # Errors
    ///
    /// Unknown if it is no file in memory, or its file can become shorter.
    pub(crate) fn new(descriptor: OwnedFd, bytes: u64) -> Result<Importable> {
        let (file, available) = match SharedFile::import(descriptor.as_fd(), Content::Physical) {
            Ok((file, _)) => {
                let bytes = file.bytes();
                (ImportedFile::Physical(file), bytes)
            }
            Err(_) => {
                let bytes = sealed_bytes(&descriptor).ok_or(code::UNKNOWN)?;
                // By another number: the one that was handed over is closed, as a GPU's driver does.
                let file = descriptor.try_clone().map_err(|_| code::UNKNOWN)?;
                (ImportedFile::Other(file), bytes)
            }
        };
        Ok(Importable {
            file,
            bytes: bytes.min(available as u64),
        })
    }

    /// The memory object of this handle.
    pub(crate) fn into_object(self, handle: usize, context: u64, device: usize) -> External {
        External {
            handle,
            context,
            device,
            file: self.file,
            bytes: self.bytes,
            buffers: Mutex::default(),
        }
    }
}

impl External {
    /// Maps a part as device memory; gives its address.
    ///
    /// # Errors
    ///
    /// Invalid value if the part is empty or not inside; not supported if it does not begin with a page of 4096 bytes; out of memory; map
    /// failed if the system refuses, as for a file that may not be written.
    pub(crate) fn map(&self, offset: u64, bytes: u64) -> Result<usize> {
        let end = offset.checked_add(bytes).ok_or(code::INVALID_VALUE)?;
        if bytes == 0 || end > self.bytes {
            return Err(code::INVALID_VALUE);
        }
        let (offset, bytes) = (offset as usize, bytes as usize);
        if !offset.is_multiple_of(PAGE) {
            return Err(code::NOT_SUPPORTED);
        }
        const CALL: &str = "cuExternalMemoryGetMappedBuffer";
        let memory = Memory::global();
        let kind = AllocationKind::External;
        let base = memory
            .allocate(bytes, kind, self.context, self.device, CALL)
            .ok_or(code::OUT_OF_MEMORY)?;
        let file = match &self.file {
            ImportedFile::Physical(file) => file.as_fd(),
            ImportedFile::Other(file) => file.as_fd(),
        };
        if memory.back_with_file(base, file, offset).is_none() {
            memory.free(base, CALL);
            return Err(code::MAP_FAILED);
        }
        lock(&self.buffers).insert(base);
        Ok(base)
    }
}

impl Drop for External {
    /// The buffers that are left are not to be used any more.
    fn drop(&mut self) {
        let buffers = std::mem::take(&mut *lock(&self.buffers));
        for base in buffers {
            // It counts against nothing, and the object that knew it is gone.
            if Memory::global()
                .free(base, "cuDestroyExternalMemory")
                .is_some()
            {
                lock(&ENDED).insert(base);
            }
        }
    }
}

/// Notes that a live buffer is being freed, of whichever object it is.
pub(crate) fn forget_buffer(base: usize) {
    for object in EXTERNAL.filter(|object| lock(&object.buffers).contains(&base)) {
        lock(&object.buffers).remove(&base);
    }
}

/// Frees a buffer whose object was destroyed before; `false` if none begins there.
pub(crate) fn free_ended(base: usize) -> bool {
    let is_ended = lock(&ENDED).remove(&base);
    // The address may have another allocation by now.
    let info = Memory::global().find(base);
    is_ended && info.is_none_or(|info| info.state == AllocationState::Freed)
}

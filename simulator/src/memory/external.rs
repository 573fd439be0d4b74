//! Memory that another program interface made, imported by a file descriptor (CUDA C++ Programming Guide, "External Resource
//! Interoperability").
//!
//! On a GPU that is Vulkan's memory, say. Here it is any file in memory whose size is sealed (`memfd_create`, `F_SEAL_SHRINK`), so that no
//! other process can turn accesses into signals; physical memory that was exported is one, too.
//!
//! The memory object and the buffers mapped of it end apart. A buffer may not be used once its object is destroyed, but is still to be
//! freed: from then on it counts as freed, so that each use is found, and [`free_ended`] knows it. So it is with the parts that are the
//! texels of arrays ([`TexelPart`]).

use std::collections::BTreeSet;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, Weak};

use super::allocation::{AllocationKind, AllocationState};
use super::shared_file::{Content, SharedFile, Unsealed, sealed_bytes};
use super::space::Memory;
use crate::error::{Result, code};
use crate::registry::{ContextBound, Registry};
use crate::report;
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
    arrays: Mutex<Vec<Weak<TexelPart>>>,
}

/// A part that is the texels of an array. It ends with the array or with the memory object, whichever comes first.
pub(in crate::memory) struct TexelPart {
    base: usize,
    has_ended: AtomicBool,
}

impl TexelPart {
    /// The first texel's address.
    pub(in crate::memory) fn base(&self) -> usize {
        self.base
    }

    /// Whether the array or the memory object has ended.
    pub(in crate::memory) fn has_ended(&self) -> bool {
        self.has_ended.load(Ordering::Acquire)
    }

    /// Ends it, once.
    pub(in crate::memory) fn end(&self, by: &'static str) {
        if !self.has_ended.swap(true, Ordering::AcqRel) {
            Memory::global().free(self.base, by);
        }
    }
}

impl Drop for TexelPart {
    fn drop(&mut self) {
        self.end("the end of its context");
    }
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
                let bytes = sealed_bytes(&descriptor).map_err(|why| {
                    report::remark(&format!("cuImportExternalMemory: {}", why_not(why)));
                    code::UNKNOWN
                })?;
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
            arrays: Mutex::default(),
        }
    }
}

/// What the simulator cannot take a file for, and what it can.
fn why_not(why: Unsealed) -> &'static str {
    match why {
        Unsealed::NoMemory => {
            "the descriptor is of no memory: what the simulator imports is a file of `memfd_create`, made with MFD_ALLOW_SEALING and \
             sealed by F_SEAL_SHRINK, or exported memory of cuMemCreate"
        }
        Unsealed::MayShrink => {
            "the descriptor is of a file in memory that another process could make shorter: give it its size, and seal that by \
             `fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK)`, for which `memfd_create` is called with MFD_ALLOW_SEALING"
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
        const CALL: &str = "cuExternalMemoryGetMappedBuffer";
        let base = self.show(offset, bytes, AllocationKind::External, CALL)?;
        lock(&self.buffers).insert(base);
        Ok(base)
    }

    /// Maps a part as an array's texels.
    ///
    /// # Errors
    ///
    /// Those of [`map`](Self::map).
    pub(in crate::memory) fn map_texels(
        &self,
        offset: u64,
        bytes: u64,
        call: &'static str,
    ) -> Result<Arc<TexelPart>> {
        let part = Arc::new(TexelPart {
            base: self.show(offset, bytes, AllocationKind::ExternalArray, call)?,
            has_ended: AtomicBool::new(false),
        });
        let mut arrays = lock(&self.arrays);
        arrays.retain(|array| array.strong_count() > 0);
        arrays.push(Arc::downgrade(&part));
        Ok(part)
    }

    /// Shows a part at a new address.
    fn show(
        &self,
        offset: u64,
        bytes: u64,
        kind: AllocationKind,
        call: &'static str,
    ) -> Result<usize> {
        let end = offset.checked_add(bytes).filter(|&end| end <= self.bytes);
        if bytes == 0 || end.is_none() {
            report::remark(&format!(
                "{call}: {bytes} bytes from byte {offset} on are no part of external memory of {} bytes, which is what its import \
                 was told, or what there is if that is less",
                self.bytes
            ));
            return Err(code::INVALID_VALUE);
        }
        let (offset, bytes) = (offset as usize, bytes as usize);
        if !offset.is_multiple_of(PAGE) {
            report::remark(&format!(
                "{call}: a part from byte {offset} on: the simulator maps from multiples of {PAGE} bytes on; map from byte {} on \
                 and use what lies behind",
                offset / PAGE * PAGE
            ));
            return Err(code::NOT_SUPPORTED);
        }
        let memory = Memory::global();
        let base = memory
            .allocate(bytes, kind, self.context, self.device, call)
            .ok_or(code::OUT_OF_MEMORY)?;
        let file = match &self.file {
            ImportedFile::Physical(file) => file.as_fd(),
            ImportedFile::Other(file) => file.as_fd(),
        };
        if memory.back_with_file(base, file, offset).is_none() {
            memory.free(base, call);
            return Err(code::MAP_FAILED);
        }
        Ok(base)
    }
}

impl Drop for External {
    /// The buffers and the arrays that are left are not to be used any more.
    fn drop(&mut self) {
        const CALL: &str = "cuDestroyExternalMemory";
        let arrays = std::mem::take(&mut *lock(&self.arrays));
        for array in arrays.iter().filter_map(Weak::upgrade) {
            array.end(CALL);
        }
        let buffers = std::mem::take(&mut *lock(&self.buffers));
        for base in buffers {
            // It counts against nothing, and the object that knew it is gone.
            if Memory::global().free(base, CALL).is_some() {
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

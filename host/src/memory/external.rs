//! Memory that another program interface made, Vulkan for example, imported by a file descriptor (CUDA C++ Programming Guide, "External
//! Resource Interoperability").

use std::os::fd::OwnedFd;
use std::sync::Arc;

use bytemuck::Pod;
use warpsmith_driver::raw;

use super::allocation::Allocation;
use super::buffer::DeviceBuffer;
use super::size::bytes_of;
use crate::context::primary::Context;
use crate::driver_call::call;
use crate::driver_call::hand_over::hand_over;
use crate::driver_call::handle::Handle;
use crate::error::{Code, Error, LimitError, Refused, Result};
use crate::gpu::Gpu;
use crate::gpu::open_device::OpenDevice;
use crate::reclaim::{FreeCost, Reclaim};

/// What the simulator maps from multiples of on: a page of the system.
const PAGE: u64 = 4096;
/// `CUDA_EXTERNAL_MEMORY_DEDICATED`
const DEDICATED: u32 = 1;

/// What is known of memory that is imported: what its exporter says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExternalMemoryOptions {
    /// The size of the whole object in bytes (`VkMemoryAllocateInfo::allocationSize`).
    pub bytes: u64,
    /// The memory is of one resource alone, as Vulkan's dedicated allocations are.
    pub dedicated: bool,
}

/// Memory of another program interface.
///
/// It has no address: parts of it are mapped as buffers ([`map`](Self::map)) and as arrays ([`map_array`](Self::map_array)), each of which keeps
/// the object. It is given up when the last of them is gone. On the simulator it is any file in memory whose size is sealed (`memfd_create` with
/// `F_SEAL_SHRINK`).
///
/// ```
/// use std::os::fd::OwnedFd;
/// use warpsmith_host::prelude::*;
/// use warpsmith_host::ExternalMemoryOptions;
///
/// # fn main() -> Result<()> {
/// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
/// # let descriptor = descriptor_of_vulkan();
/// let stream = gpu.stream()?;
/// let options = ExternalMemoryOptions { bytes: 8192, dedicated: false };
/// // SAFETY: the descriptor is of 8192 bytes of memory, made on this device by another interface.
/// let memory = unsafe { gpu.import_external_memory(descriptor, options)? };
/// // SAFETY: the other interface has written these numbers, and does not touch them until the stream has been waited for.
/// let mut numbers = unsafe { memory.map::<u32>(4096, 1024)? };
/// stream.fill(&mut numbers, 7)?;
/// stream.synchronize()
/// # }
/// # fn descriptor_of_vulkan() -> OwnedFd {
/// #     use rustix::fs::{MemfdFlags, SealFlags};
/// #     let file = rustix::fs::memfd_create("external", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING).unwrap();
/// #     rustix::fs::ftruncate(&file, 8192).unwrap();
/// #     rustix::fs::fcntl_add_seals(&file, SealFlags::SHRINK).unwrap();
/// #     file
/// # }
/// ```
pub struct ExternalMemory {
    pub(super) gpu: Arc<OpenDevice>,
    pub(super) object: Arc<ImportedObject>,
}

/// The driver's object, destroyed with its last owner.
pub(super) struct ImportedObject {
    context: Arc<Context>,
    pub(super) raw: Handle<raw::CUexternalMemory>,
    bytes: u64,
}

impl Gpu {
    /// Imports memory by a file descriptor that another program interface has exported (`VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT`). The
    /// driver owns the descriptor from then on.
    ///
    /// # Errors
    ///
    /// The size is 0, the driver refuses the descriptor, or no duplicate can be made of it: the driver is given one, since it closes some of
    /// those that it refuses. The descriptor itself comes back.
    ///
    /// # Safety
    ///
    /// The descriptor, if it is one of memory at all, is of an opaque memory object that was made on this very device, and `options` say
    /// what its exporter says. The driver cannot check that.
    // covers: INTEROP-05
    pub unsafe fn import_external_memory(
        &self,
        descriptor: OwnedFd,
        options: ExternalMemoryOptions,
    ) -> Result<ExternalMemory, Refused<OwnedFd>> {
        self.import(&descriptor, options)
            .map_err(|error| Refused::new(error, descriptor))
    }

    /// As [`import_external_memory`](Self::import_external_memory), of a duplicate.
    fn import(
        &self,
        descriptor: &OwnedFd,
        options: ExternalMemoryOptions,
    ) -> Result<ExternalMemory> {
        if options.bytes == 0 {
            return Err(Error::misuse(
                "cuImportExternalMemory",
                Code::INVALID_VALUE,
                "the memory has 0 bytes by its options",
                "give the size with which its exporter has made the whole object",
            ));
        }
        self.inner.bind()?;
        let mut object = std::ptr::null_mut();
        hand_over(
            "cuImportExternalMemory",
            descriptor,
            &format!("external memory of {} bytes", options.bytes),
            |fd| {
                let wish = raw::CUDA_EXTERNAL_MEMORY_HANDLE_DESC {
                    type_:
                        raw::CUexternalMemoryHandleType::CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD,
                    handle: raw::CUDA_EXTERNAL_MEMORY_HANDLE_DESC_st__bindgen_ty_1 { fd },
                    size: options.bytes,
                    flags: if options.dedicated { DEDICATED } else { 0 },
                    reserved: [0; 16],
                };
                // SAFETY: the driver writes one handle to `object` and reads `wish`, which outlive the call; the descriptor is open, and of what
                // the options say (the caller of `import_external_memory`).
                unsafe { call!(cuImportExternalMemory(&mut object, &wish)) }
            },
        )
        .map_err(|error| match error.code() {
            Some(Code::UNKNOWN) => error.with_hint(|| match self.is_simulator() {
                true => {
                    "the simulator imports files of `memfd_create` whose size is sealed (MFD_ALLOW_SEALING, then F_ADD_SEALS with \
                     F_SEAL_SHRINK), and exported physical memory: else another process could take the bytes away"
                        .into()
                }
                false => {
                    "the descriptor is no opaque memory object that the driver knows: export it for \
                     VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT, of memory of this very device"
                        .into()
                }
            }),
            _ => error,
        })?;
        Ok(ExternalMemory {
            gpu: self.inner.clone(),
            object: Arc::new(ImportedObject {
                context: self.inner.context().clone(),
                raw: Handle::new(object),
                bytes: options.bytes,
            }),
        })
    }
}

impl ExternalMemory {
    /// Its size in bytes.
    pub fn bytes(&self) -> u64 {
        self.object.bytes
    }

    /// Maps `len` elements, `offset` bytes behind the beginning. Dropping the buffer unmaps it after its last use; the memory object lives
    /// until then, whoever drops it.
    ///
    /// # Errors
    ///
    /// The part is not inside of the memory, it does not begin at a multiple of the elements' alignment, or the driver refuses it: a GPU's
    /// may know that the memory is shorter than its import was told, and the simulator maps from multiples of 4096 bytes on.
    ///
    /// # Safety
    ///
    /// - A buffer of the other interface, if it has one in this part, has just this offset and size.
    /// - No element is read before the exporter or something here has written it.
    /// - What uses this buffer and what the other interface or another buffer of this memory does to the same bytes is put in order by the
    ///   caller: the one has completed before the other begins. The order that buffers have by themselves is that of one buffer's uses.
    // covers: INTEROP-06
    pub unsafe fn map<T: Pod>(&self, offset: u64, len: usize) -> Result<DeviceBuffer<T>> {
        const CALL: &str = "cuExternalMemoryGetMappedBuffer";
        let bytes = bytes_of::<T>(CALL, len)?;
        self.check_inside(CALL, offset, bytes, || {
            format!("[{}; {len}] at byte {offset}", std::any::type_name::<T>())
        })?;
        if !offset.is_multiple_of(align_of::<T>() as u64) {
            return Err(Error::misuse(
                CALL,
                Code::INVALID_VALUE,
                format!(
                    "byte {offset} is no place for elements that are aligned to {} bytes",
                    align_of::<T>()
                ),
                "the offset is a multiple of the elements' alignment",
            ));
        }
        if bytes == 0 {
            return Ok(DeviceBuffer::without_memory(len));
        }
        self.gpu.bind()?;
        self.gpu.reclaim();
        let wish = raw::CUDA_EXTERNAL_MEMORY_BUFFER_DESC {
            offset,
            size: bytes as u64,
            ..Default::default()
        };
        let mut base = 0;
        // SAFETY: the driver writes one address to `base` and reads `wish`, which outlive the call; `self` owns the object.
        unsafe {
            call!(cuExternalMemoryGetMappedBuffer(
                &mut base,
                self.object.raw.raw(),
                &wish
            ))
        }
        .map_err(|error| self.refused_part(error, offset, bytes))?;
        let mapping = Mapping {
            base,
            bytes,
            _object: self.object.clone(),
        };
        let allocation = Allocation::foreign(&self.gpu, base, bytes, Box::new(mapping));
        Ok(DeviceBuffer::of_allocation(allocation, len))
    }
}

impl ExternalMemory {
    /// Compares the end of a part with the memory's.
    pub(super) fn check_inside(
        &self,
        call: &'static str,
        offset: u64,
        bytes: usize,
        part: impl FnOnce() -> String,
    ) -> Result<()> {
        let end = offset.saturating_add(bytes as u64);
        if end <= self.bytes() {
            return Ok(());
        }
        Err(Error::Limit(Box::new(LimitError {
            call,
            code: Code::INVALID_VALUE,
            subject: part(),
            what: "the end in bytes",
            value: end,
            limit: self.bytes(),
            hint: "map a part that is inside of the memory, whose size its import was told".into(),
        })))
    }

    /// What the driver answers of a part that is inside by what is known here.
    #[cold]
    pub(super) fn refused_part(&self, error: Error, offset: u64, bytes: usize) -> Error {
        let (code, whole) = (error.code(), self.bytes());
        let error = error.while_doing(|| {
            format!("{bytes} bytes from byte {offset} on of external memory of {whole} bytes")
        });
        match code {
            Some(Code::NOT_SUPPORTED) if !offset.is_multiple_of(PAGE) => error.with_hint(|| {
                let before = offset / PAGE * PAGE;
                format!(
                    "the simulator maps from multiples of {PAGE} bytes on: map from byte {before} on and use what lies behind"
                )
            }),
            Some(Code::INVALID_VALUE) => error.with_hint(|| {
                format!(
                    "is the memory shorter than {whole} bytes? Its import (`ExternalMemoryOptions::bytes`) is told the size with which its \
                     exporter has made it, and the driver finds out only here"
                )
            }),
            _ => error,
        }
    }
}

impl Drop for ImportedObject {
    fn drop(&mut self) {
        let object = self.raw;
        // SAFETY: `import` made the object, and `drop` runs once; its mappings are freed, each of which keeps it.
        self.context
            .destroy(move || unsafe { call!(cuDestroyExternalMemory(object.raw())) });
    }
}

/// A mapped part, which waits to be freed; after that it lets go of the object.
struct Mapping {
    base: raw::CUdeviceptr,
    bytes: usize,
    _object: Arc<ImportedObject>,
}

impl Reclaim for Mapping {
    fn bytes(&self) -> usize {
        self.bytes
    }

    fn free_cost(&self) -> FreeCost {
        FreeCost::WaitsForIdleDevice
    }

    fn free(self: Box<Self>, _context: &Context) -> Result<()> {
        // SAFETY: cuExternalMemoryGetMappedBuffer gave the address to the allocation that was dropped; `Reclaim::free` is called when
        // nothing on the device uses it.
        unsafe { call!(cuMemFree_v2(self.base)) }
    }
}

impl std::fmt::Debug for ExternalMemory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ExternalMemory({} bytes)", self.bytes())
    }
}

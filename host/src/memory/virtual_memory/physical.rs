//! Physical memory: bytes without an address.

use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::sync::Arc;

use bytemuck::Pod;
use warpsmith_driver::raw;

use super::access::{MappingAccess, device_location};
use super::range::AddressRange;
use crate::driver_call::call;
use crate::error::{Code, Error, Result};
use crate::gpu::Gpu;
use crate::gpu::open_device::{DeviceState, OpenDevice};
use crate::memory::allocation::Allocation;
use crate::memory::buffer::DeviceBuffer;
use crate::memory::descriptor::{DESCRIPTOR, exported, handle_type, in_place_of_pointer};
use crate::memory::peer_access::PeerAccess;
use crate::memory::size::bytes_of;
use crate::trace::work::Work;

/// Physical memory of a device, which has no address until it is mapped. It can have several, and in other processes, too.
///
/// The memory lives as long as this object, a mapping of it, or an exported file descriptor does, in whichever process.
///
/// ```
/// use warpsmith_host::prelude::*;
/// use warpsmith_host::{MappingAccess, PhysicalOptions};
///
/// # fn main() -> Result<()> {
/// let gpu = Gpu::open(DeviceChoice::Simulator)?;
/// let stream = gpu.stream()?;
/// let options = PhysicalOptions { shareable: true, ..Default::default() };
/// let memory = gpu.physical_memory(1 << 20, options)?;
/// // SAFETY: the other mapping below is not used at the same time, and all that is read has been written.
/// let mut writer = unsafe { memory.map::<u32>(MappingAccess::ReadWrite)? };
/// stream.fill(&mut writer.slice_mut(..256), 7)?;
/// stream.synchronize()?;
///
/// // Another process would get the descriptor over a Unix socket.
/// let descriptor = memory.export()?;
/// let same = gpu.import_physical_memory(&descriptor, memory.bytes())?;
/// // SAFETY: the stream above has been waited for, and nobody writes any more.
/// let reader = unsafe { same.map::<u32>(MappingAccess::Read)? };
/// assert_eq!(stream.download(&reader.slice(..256))?, [7; 256]);
/// # Ok(())
/// # }
/// ```
// covers: VMM-02, VMM-03, VMM-35
pub struct PhysicalMemory {
    gpu: Arc<OpenDevice>,
    handle: raw::CUmemGenericAllocationHandle,
    bytes: usize,
    /// It was made here, and not to be exported.
    is_private: bool,
}

/// What physical memory should be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PhysicalOptions {
    /// It can be exported as a file descriptor.
    pub shareable: bool,
    /// Compressed, where the hardware has room for it: [`PhysicalMemory::is_compressible`] says what came of it. Only the speed differs.
    pub compressible: bool,
}

impl PhysicalOptions {
    fn properties(self, gpu: &DeviceState) -> raw::CUmemAllocationProp {
        let mut properties = raw::CUmemAllocationProp {
            type_: raw::CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED,
            requestedHandleTypes: handle_type(self.shareable),
            location: device_location(gpu.context().device),
            ..Default::default()
        };
        properties.allocFlags.compressionType = u8::from(self.compressible);
        properties
    }

    /// What sizes and addresses of such memory are multiples of, in bytes.
    pub(super) fn granularity(self, gpu: &DeviceState) -> Result<usize> {
        self.granularity_of(
            gpu,
            raw::CUmemAllocationGranularity_flags::CU_MEM_ALLOC_GRANULARITY_RECOMMENDED,
        )
    }

    fn granularity_of(
        self,
        gpu: &DeviceState,
        which: raw::CUmemAllocationGranularity_flags,
    ) -> Result<usize> {
        let mut granularity = 0;
        // SAFETY: the driver writes one number to `granularity` and reads the properties, which outlive the call.
        unsafe {
            call!(cuMemGetAllocationGranularity(
                &mut granularity,
                &self.properties(gpu),
                which
            ))
        }?;
        Ok(granularity)
    }
}

impl Gpu {
    /// Physical memory of this device, uninitialised and without an address. The size is rounded up to the device's granularity (2 MiB).
    ///
    /// # Errors
    ///
    /// The size is 0, the device has no virtual memory management, or not so much memory.
    pub fn physical_memory(
        &self,
        bytes: usize,
        options: PhysicalOptions,
    ) -> Result<PhysicalMemory> {
        PhysicalMemory::create(&self.inner, bytes, options)
    }

    /// Physical memory that this or another process has exported. `bytes` is [`PhysicalMemory::bytes`] of the exporter. The descriptor
    /// may be closed afterwards.
    ///
    /// # Errors
    ///
    /// The descriptor is not one of exported memory, or of a device that this process does not see; or the size is not the memory's.
    // covers: VMM-28
    pub fn import_physical_memory(
        &self,
        descriptor: impl AsFd,
        bytes: usize,
    ) -> Result<PhysicalMemory> {
        self.inner.limits().require_virtual_memory()?;
        self.inner.bind()?;
        let descriptor = descriptor.as_fd();
        // Another program may have made it with the least.
        let least = raw::CUmemAllocationGranularity_flags::CU_MEM_ALLOC_GRANULARITY_MINIMUM;
        let granularity = PhysicalOptions::default().granularity_of(&self.inner, least)?;
        if bytes == 0 || !bytes.is_multiple_of(granularity) {
            return Err(Error::misuse(
                "cuMemImportFromShareableHandle",
                Code::INVALID_VALUE,
                format!(
                    "file descriptor {} as physical memory of {bytes} bytes: its size is a multiple of {granularity} bytes",
                    descriptor.as_raw_fd()
                ),
                IMPORTED_SIZE,
            ));
        }
        let mut handle = 0;
        // SAFETY: the driver writes one handle to `handle`, which outlives the call, as does the descriptor; it takes this kind of handle
        // in the pointer's place.
        unsafe {
            call!(cuMemImportFromShareableHandle(
                &mut handle,
                in_place_of_pointer(descriptor),
                DESCRIPTOR
            ))
        }
        .map_err(|error| {
            let number = descriptor.as_raw_fd();
            error
                .while_doing(|| format!("file descriptor {number} as physical memory"))
                .with_hint(|| "give what `PhysicalMemory::export` made in the other process".into())
        })?;
        let memory = PhysicalMemory {
            gpu: self.inner.clone(),
            handle,
            bytes,
            is_private: false,
        };
        // The driver tells no size of a handle; it maps all of the memory, or nothing.
        AddressRange::try_mapping(&self.inner, handle, bytes).map_err(|error| match error.code() {
            Some(Code::INVALID_VALUE | Code::NOT_SUPPORTED) => Error::misuse(
                "cuMemImportFromShareableHandle",
                Code::INVALID_VALUE,
                format!(
                    "file descriptor {} as physical memory of {bytes} bytes: the memory has another size (a multiple of {granularity} bytes)",
                    descriptor.as_raw_fd()
                ),
                IMPORTED_SIZE,
            ),
            _ => error,
        })?;
        Ok(memory)
    }
}

/// What to do about the size of an import.
const IMPORTED_SIZE: &str = "give `import_physical_memory` the size of the whole memory: `PhysicalMemory::bytes()` of the exporter";

impl PhysicalMemory {
    pub(super) fn create(
        gpu: &Arc<OpenDevice>,
        bytes: usize,
        options: PhysicalOptions,
    ) -> Result<PhysicalMemory> {
        gpu.limits().require_virtual_memory()?;
        gpu.bind()?;
        let granularity = options.granularity(gpu)?;
        let rounded = bytes.checked_next_multiple_of(granularity);
        let Some(rounded) = rounded.filter(|&bytes| bytes > 0) else {
            return Err(Error::misuse(
                "cuMemCreate",
                Code::INVALID_VALUE,
                format!("{bytes} bytes of physical memory"),
                "the size is at least one byte, and rounded up it must fit into an address space",
            ));
        };
        let mut handle = 0;
        gpu.traced_on_host(
            || Work::call("cuMemCreate", rounded),
            // SAFETY: the driver writes one handle to `handle` and reads the properties, which outlive the call.
            || unsafe {
                call!(cuMemCreate(
                    &mut handle,
                    rounded,
                    &options.properties(gpu),
                    0
                ))
            },
        )
        .map_err(|error| error.while_doing(|| format!("{rounded} bytes of physical memory")))?;
        Ok(PhysicalMemory {
            gpu: gpu.clone(),
            handle,
            bytes: rounded,
            is_private: !options.shareable,
        })
    }

    /// Its size in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    pub(super) fn handle(&self) -> raw::CUmemGenericAllocationHandle {
        self.handle
    }

    /// Whether the memory is compressed: what was granted, not what was asked for.
    // covers: VMM-04, VMM-30
    pub fn is_compressible(&self) -> Result<bool> {
        let mut granted = raw::CUmemAllocationProp::default();
        self.gpu.bind()?;
        // SAFETY: the driver writes the properties to `granted`, which outlives the call; `self` owns the handle.
        unsafe {
            call!(cuMemGetAllocationPropertiesFromHandle(
                &mut granted,
                self.handle
            ))
        }?;
        Ok(granted.allocFlags.compressionType != 0)
    }

    /// A file descriptor by which another process (or this one) imports the memory. It keeps the memory alive until it is closed.
    ///
    /// # Errors
    ///
    /// The memory was not made with [`PhysicalOptions::shareable`], or was itself imported.
    // covers: VMM-26
    pub fn export(&self) -> Result<OwnedFd> {
        if self.is_private {
            return Err(Error::misuse(
                "cuMemExportToShareableHandle",
                Code::INVALID_VALUE,
                format!(
                    "{} bytes of physical memory that was not made shareable",
                    self.bytes
                ),
                "make it with `PhysicalOptions { shareable: true, .. }`",
            ));
        }
        self.gpu.bind()?;
        // SAFETY: for this kind of handle the driver writes one `int` to `place`, a descriptor that it makes for its caller; `self` owns
        // the handle.
        unsafe {
            exported(|place| {
                call!(cuMemExportToShareableHandle(
                    place,
                    self.handle,
                    DESCRIPTOR,
                    0
                ))
            })
        }
        .map_err(|error| {
            error
                .while_doing(|| "exporting physical memory".into())
                .with_hint_for(Code::INVALID_VALUE, || {
                    "memory that was itself imported is exported by the process that made it".into()
                })
        })
    }

    /// Maps all of the memory at addresses of its own. The buffer has as many elements as fit. Dropping it unmaps the memory after the
    /// buffer's last use.
    ///
    /// # Errors
    ///
    /// No addresses are left.
    ///
    /// # Safety
    ///
    /// - No element is read before something has written it, here or through another mapping.
    /// - What uses this mapping and what writes through another one (in this process or elsewhere) is put in order by the caller: the
    ///   one has completed before the other begins, as with `Stream::synchronize` or an event. The order that buffers have by
    ///   themselves is that of one mapping's uses.
    // covers: VMM-06, VMM-08, VMM-09, VMM-20
    pub unsafe fn map<T: Pod>(&self, access: MappingAccess) -> Result<DeviceBuffer<T>> {
        let allocation = Allocation::reserved(&self.gpu, self.bytes)?;
        let range = allocation.range("PhysicalMemory::map")?;
        range.append(&self.gpu, self.handle, self.bytes, access)?;
        let len = self.bytes.checked_div(size_of::<T>()).unwrap_or(0);
        bytes_of::<T>("cuMemMap", len)?;
        Ok(DeviceBuffer::of_allocation(allocation, len))
    }
}

impl<T: Pod> DeviceBuffer<T> {
    /// Lets another device use a buffer that [`PhysicalMemory::map`] has made, by [`PeerAccess::view`] and [`PeerAccess::view_mut`], as far as its
    /// own device may. Other mappings of the memory are not concerned.
    ///
    /// ```no_run
    /// use warpsmith_host::prelude::*;
    /// use warpsmith_host::{MappingAccess, PhysicalOptions};
    ///
    /// # fn main() -> Result<()> {
    /// let (one, other) = (Gpu::open(DeviceChoice::Cuda(0))?, Gpu::open(DeviceChoice::Cuda(1))?);
    /// let memory = one.physical_memory(1 << 20, PhysicalOptions::default())?;
    /// // SAFETY: it is the only mapping, and nothing is read before it is written.
    /// let mut words = unsafe { memory.map::<u32>(MappingAccess::ReadWrite)? };
    /// let access = words.allow_peer(&other)?;
    /// other.stream()?.fill(&mut access.view_mut(&mut words)?, 1)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The buffer comes from a pool ([`MemoryPool::allow_peer`](crate::MemoryPool::allow_peer)) or is other memory than that; `peer` is its own
    /// device, or the devices cannot reach each other.
    // covers: VMM-09
    pub fn allow_peer(&self, peer: &Gpu) -> Result<PeerAccess> {
        let Some(allocation) = &self.allocation else {
            return Err(Error::misuse(
                "cuMemSetAccess",
                Code::INVALID_VALUE,
                "the buffer is empty: it has no memory",
                "pass it as it is, for any device",
            ));
        };
        PeerAccess::to_mapping(&allocation.gpu, &peer.inner, Some(allocation))
    }
}

impl Drop for PhysicalMemory {
    fn drop(&mut self) {
        let handle = self.handle;
        self.gpu.call_driver_later(move |gpu| {
            // SAFETY: this object owned the handle and is gone; the memory stays as long as it is mapped.
            gpu.report_drop(unsafe { call!(cuMemRelease(handle)) });
        });
    }
}

impl std::fmt::Debug for PhysicalMemory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "PhysicalMemory({} bytes)", self.bytes)
    }
}

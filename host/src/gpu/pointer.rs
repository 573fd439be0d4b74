//! What the driver knows about an address.

use std::ops::Range;

use bytemuck::Pod;
use warpsmith_driver::raw::{self, CUpointer_attribute as Key};

use super::Gpu;
use crate::driver_call::call;
use crate::error::{Code, Error, Result};

/// Which memory an address is of, as it was allocated. Where unified memory is now it does not say.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum PointerMemory {
    /// A device's.
    Device,
    /// The host's, page-locked: allocated or registered by the driver.
    Host,
    /// Unified (managed).
    Unified,
}

/// What this device may do with memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum PointerAccess {
    /// Nothing.
    None,
    /// Read it.
    Read,
    /// Read and write it.
    ReadWrite,
}

/// What the driver knows about an address: [`Gpu::pointer_attributes`].
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct PointerAttributes {
    /// Which memory it is.
    pub memory: PointerMemory,
    /// The device that it is of, or for page-locked memory the one whose context allocated or registered it, by the driver's number. `None`
    /// where the driver names none.
    pub device: Option<u32>,
    /// The address by which kernels of this device reach the same byte; `None` where they do not.
    pub device_address: Option<u64>,
    /// The address by which the host reaches the same byte; `None` where it does not.
    pub host_address: Option<u64>,
    /// The addresses of the allocation around it; of virtual memory, of the reservation. `None` where the driver does not tell.
    pub range: Option<Range<u64>>,
    /// A number of the allocation that none of the process had before or gets later.
    pub buffer_id: u64,
    /// There is memory behind the addresses that the driver itself has mapped: not so of memory that was only registered.
    pub is_mapped: bool,
    /// What this device may do with it; `None` where the driver does not tell (before CUDA 11.1).
    pub access: Option<PointerAccess>,
    /// The pool that it is of, as the driver's handle: that of [`MemoryPool::as_raw`](crate::MemoryPool::as_raw), as a number.
    pub pool: Option<usize>,
    /// Synchronous copies and fills of it are always waited for.
    pub syncs_memory_operations: bool,
    /// Other processes can open it by `cuIpcGetMemHandle`.
    pub is_exportable: bool,
    /// Other devices on the bus, a network card for example, can be let at it.
    pub is_rdma_capable: bool,
}

/// An attribute; `None` where the driver has none for this address, or does not know the attribute.
///
/// # Errors
///
/// An earlier fault on the device.
///
/// # Safety
///
/// The attribute's value is not larger than `T`.
unsafe fn get<T: Pod>(address: u64, key: Key) -> Result<Option<T>> {
    let mut answer = T::zeroed();
    // SAFETY: the driver writes a value of the attribute's type, which is no larger than `T` (the caller), to `answer`, which outlives the call;
    // it looks at no memory at the address.
    let done = unsafe {
        call!(cuPointerGetAttribute(
            (&raw mut answer).cast(),
            key,
            address
        ))
    };
    match done {
        Ok(()) => Ok(Some(answer)),
        Err(error)
            if matches!(
                error.code(),
                Some(Code::INVALID_VALUE | Code::NOT_SUPPORTED)
            ) =>
        {
            Ok(None)
        }
        Err(error) => Err(error.while_doing(|| format!("{key:?}"))),
    }
}

/// An attribute that is a number of 32 bits, or says yes or no.
fn word(address: u64, key: Key) -> Result<Option<u32>> {
    // SAFETY: all that ask name attributes of at most 32 bits: an `unsigned int`, an `int`, or a `bool`, whose other bytes are zeros.
    unsafe { get::<u32>(address, key) }
}

/// An attribute that is an address, a handle or a size.
fn wide(address: u64, key: Key) -> Result<Option<u64>> {
    // SAFETY: no attribute that is no structure is larger than 64 bits.
    unsafe { get::<u64>(address, key) }
}

/// Whether an address is of unified memory. The device is current.
pub(crate) fn is_managed(address: u64) -> Result<bool> {
    let managed = word(address, Key::CU_POINTER_ATTRIBUTE_IS_MANAGED)?;
    Ok(managed.is_some_and(|managed| managed != 0))
}

impl Gpu {
    /// What the driver knows about an address, of a byte of whatever memory; `None` if it is none that it allocated or registered.
    ///
    /// The answer is of this moment: it keeps nothing alive, and asks nobody who uses the memory.
    ///
    /// ```
    /// use warpsmith_host::prelude::*;
    /// use warpsmith_host::PointerMemory;
    ///
    /// # fn main() -> Result<()> {
    /// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
    /// let buffer = gpu.stream()?.zeroed::<u32>(100)?;
    /// let address = buffer.as_device_ptr().address();
    /// let known = gpu.pointer_attributes(address + 4)?.expect("it is the buffer's");
    /// assert_eq!((known.memory, known.device), (PointerMemory::Device, Some(0)));
    /// assert_eq!((known.range.unwrap().start, known.host_address), (address, None));
    /// // The host's own memory.
    /// let local = 7_u32;
    /// assert_eq!(gpu.pointer_attributes((&raw const local).addr() as u64)?, None);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// An earlier fault on the device.
    // covers: UM-03, POOL-40
    pub fn pointer_attributes(&self, address: u64) -> Result<Option<PointerAttributes>> {
        self.inner.bind()?;
        let word = |key| word(address, key);
        let wide = |key| Ok::<_, Error>(wide(address, key)?.filter(|value| *value != 0));
        let is_set = |key| Ok::<_, Error>(word(key)?.is_some_and(|set| set != 0));
        let kind = word(Key::CU_POINTER_ATTRIBUTE_MEMORY_TYPE)?;
        let Some(kind) = kind.filter(|kind| *kind != 0) else {
            return Ok(None);
        };
        let is_managed = is_managed(address)?;
        let device = word(Key::CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL)?;
        let start = wide(Key::CU_POINTER_ATTRIBUTE_RANGE_START_ADDR)?;
        let bytes = wide(Key::CU_POINTER_ATTRIBUTE_RANGE_SIZE)?;
        let access = word(Key::CU_POINTER_ATTRIBUTE_ACCESS_FLAGS)?;
        Ok(Some(PointerAttributes {
            memory: match raw::CUmemorytype(kind) {
                _ if is_managed => PointerMemory::Unified,
                raw::CUmemorytype::CU_MEMORYTYPE_HOST => PointerMemory::Host,
                _ => PointerMemory::Device,
            },
            // Of none it is negative.
            device: device.filter(|device| device.cast_signed() >= 0),
            device_address: wide(Key::CU_POINTER_ATTRIBUTE_DEVICE_POINTER)?,
            host_address: wide(Key::CU_POINTER_ATTRIBUTE_HOST_POINTER)?,
            range: start.zip(bytes).map(|(start, bytes)| start..start + bytes),
            buffer_id: wide(Key::CU_POINTER_ATTRIBUTE_BUFFER_ID)?.unwrap_or(0),
            is_mapped: is_set(Key::CU_POINTER_ATTRIBUTE_MAPPED)?,
            access: access.and_then(|access| match raw::CUmemAccess_flags(access) {
                raw::CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_NONE => Some(PointerAccess::None),
                raw::CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READ => Some(PointerAccess::Read),
                raw::CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READWRITE => {
                    Some(PointerAccess::ReadWrite)
                }
                _ => None,
            }),
            pool: wide(Key::CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE)?.map(|pool| pool as usize),
            syncs_memory_operations: is_set(Key::CU_POINTER_ATTRIBUTE_SYNC_MEMOPS)?,
            is_exportable: is_set(Key::CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE)?,
            is_rdma_capable: is_set(Key::CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE)?,
        }))
    }
}

//! Pools that several processes share: exported as file descriptors, with pointers to single buffers.

use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::sync::Arc;

use bytemuck::Pod;
use warpsmith_driver::raw;

use super::MemoryPool;
use super::handle::{EndedPool, Owner, PoolHandle, access_of, set_access};
use super::taken::TakenBuffer;
use crate::driver_call::call;
use crate::error::{Code, Error, Result};
use crate::gpu::Gpu;
use crate::gpu::open_device::{OpenDevice, check_same_device};
use crate::memory::allocation::Allocation;
use crate::memory::buffer::DeviceBuffer;
use crate::memory::descriptor::{DESCRIPTOR, exported, in_place_of_pointer};
use crate::memory::size::bytes_of;
use crate::stream::Stream;

const SHAREABLE: &str = "make the pool with `PoolOptions { shareable: true, .. }`";

/// Says which buffer of an exported pool is meant: plain bytes, which reach another process in any way, a pipe or a file for example.
///
/// See [`ImportedPool`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PoolPointer {
    bytes: [u8; 64],
}

impl PoolPointer {
    /// The bytes, for another process.
    pub fn to_bytes(self) -> [u8; 64] {
        self.bytes
    }

    /// From another process's bytes. Bytes that are none are refused when they are used.
    pub fn from_bytes(bytes: [u8; 64]) -> PoolPointer {
        PoolPointer { bytes }
    }
}

/// A pool of another process, or of this one. Nothing can be allocated from it; it gives the buffers that its owner names.
///
/// ```
/// use warpsmith_host::prelude::*;
/// use warpsmith_host::PoolOptions;
///
/// # fn main() -> Result<()> {
/// let gpu = Gpu::open(DeviceChoice::Simulator)?;
/// let stream = gpu.stream()?;
/// let pool = gpu.pool(PoolOptions { shareable: true, ..Default::default() })?;
/// let words = stream.alloc_from(&pool)?.upload(&[1_u32, 2, 3])?;
/// stream.synchronize()?;
/// let (descriptor, pointer) = (pool.export()?, words.export_pointer()?);
///
/// // In another process, which got the descriptor by `interprocess::send_descriptor` and the pointer's bytes:
/// let imported = gpu.import_pool(&descriptor)?;
/// // SAFETY: the owner has written the words and waited, and keeps them until the buffer is dropped and the stream waited for.
/// let same = unsafe { imported.buffer::<u32>(&stream, pointer, 3)? };
/// assert_eq!(stream.download(&same)?, [1, 2, 3]);
/// drop(same);
/// stream.synchronize()?;
/// # Ok(())
/// # }
/// ```
// covers: POOL-31, POOL-33, POOL-36
pub struct ImportedPool {
    gpu: Arc<OpenDevice>,
    handle: Arc<PoolHandle>,
}

impl Gpu {
    /// A pool that this or another process has exported by [`MemoryPool::export`]. The descriptor may be closed afterwards.
    ///
    /// Its memory lies on the device that it was made for, which this process need not see. Where that is another one than this, this one is
    /// given access to it; what the pool's owner has given to devices counts for the owner alone.
    ///
    /// # Errors
    ///
    /// The descriptor is not a pool's, or this device cannot reach the pool's.
    pub fn import_pool(&self, descriptor: impl AsFd) -> Result<ImportedPool> {
        self.inner.bind()?;
        self.inner.limits().require_pools()?;
        let descriptor = descriptor.as_fd();
        let mut raw = std::ptr::null_mut();
        // SAFETY: the driver writes one handle to `raw`, which outlives the call, as does the descriptor; it takes this kind of handle in
        // the pointer's place.
        unsafe {
            call!(cuMemPoolImportFromShareableHandle(
                &mut raw,
                in_place_of_pointer(descriptor),
                DESCRIPTOR,
                0
            ))
        }
        .map_err(|error| {
            let number = descriptor.as_raw_fd();
            error
                .while_doing(|| format!("file descriptor {number} as a memory pool"))
                .with_hint(|| "give what `MemoryPool::export` made in the other process".into())
        })?;
        let pool = ImportedPool {
            gpu: self.inner.clone(),
            handle: PoolHandle::new(self.inner.context(), raw, Owner::Imported),
        };
        pool.reach()?;
        Ok(pool)
    }
}

impl MemoryPool {
    /// A file descriptor by which another process imports the pool ([`Gpu::import_pool`]).
    ///
    /// # Errors
    ///
    /// The pool was not made with [`PoolOptions::shareable`](super::PoolOptions::shareable).
    // covers: POOL-30
    pub fn export(&self) -> Result<OwnedFd> {
        self.gpu.bind()?;
        // SAFETY: for this kind of handle the driver writes one `int` to `place`, a descriptor that it makes for its caller; the pool is
        // alive, `self` owns it or the device does.
        unsafe {
            exported(|place| {
                call!(cuMemPoolExportToShareableHandle(
                    place,
                    self.handle.raw(),
                    DESCRIPTOR,
                    0
                ))
            })
        }
        .map_err(|error| {
            error
                .while_doing(|| "exporting a memory pool".into())
                .with_hint_for(Code::INVALID_VALUE, || SHAREABLE.into())
                .with_hint_for(Code::NOT_SUPPORTED, || SHAREABLE.into())
        })
    }
}

impl<T: Pod> DeviceBuffer<T> {
    /// What another process needs to find this buffer in the pool that it has imported.
    ///
    /// # Errors
    ///
    /// The buffer is empty, or not from a pool that was made with [`PoolOptions::shareable`](super::PoolOptions::shareable).
    // covers: POOL-33
    pub fn export_pointer(&self) -> Result<PoolPointer> {
        const CALL: &str = "cuMemPoolExportPointer";
        let Some(allocation) = &self.allocation else {
            return Err(Error::misuse(
                CALL,
                Code::INVALID_VALUE,
                "an empty buffer has no memory",
                "export one with elements",
            ));
        };
        allocation.gpu.bind()?;
        let mut data = raw::CUmemPoolPtrExportData { reserved: [0; 64] };
        // SAFETY: the driver writes the data to `data`, which outlives the call; the address is the allocation's, which `self` keeps.
        unsafe { call!(cuMemPoolExportPointer(&mut data, allocation.base())) }.map_err(
            |error| {
                error
                    .while_doing(|| "exporting a buffer".into())
                    .with_hint_for(Code::INVALID_VALUE, || SHAREABLE.into())
                    .with_hint_for(Code::NOT_SUPPORTED, || SHAREABLE.into())
            },
        )?;
        Ok(PoolPointer {
            bytes: data.reserved,
        })
    }
}

impl ImportedPool {
    /// Lets the device reach the pool's memory, if it does not.
    // covers: POOL-32
    fn reach(&self) -> Result<()> {
        type Access = raw::CUmemAccess_flags;
        let device = self.gpu.context().device;
        // SAFETY: `self` owns the pool.
        let told = unsafe { access_of(self.handle.raw(), device) };
        // A driver that does not tell has given the access that it gives.
        if told.map_or(true, |has| has != Access::CU_MEM_ACCESS_FLAGS_PROT_NONE) {
            return Ok(());
        }
        let wish = Access::CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
        // SAFETY: `self` owns the pool.
        unsafe { set_access(self.handle.raw(), device, wish) }.map_err(|error| {
            error.while_doing(|| "a memory pool of a device that this one does not reach".into())
        })
    }

    /// The buffer of the pool's owner that `pointer` names, of `len` elements. It has an address of its own here; dropping it ends its use
    /// by this process, in the order of the streams that used it, and leaves it to its owner.
    ///
    /// # Errors
    ///
    /// The pointer is not of this pool, this pool has given the buffer already and it is not dropped, the buffer is smaller, or the stream is
    /// another device's.
    ///
    /// # Safety
    ///
    /// - The pointer comes from [`DeviceBuffer::export_pointer`] of a buffer that its owner keeps until the work of this process on it,
    ///   its being dropped included, is done.
    /// - Where this process imports the pool more than once, one of its [`ImportedPool`]s gives the buffer.
    /// - No element is read before something has written it.
    /// - What this process does with the buffer and what its owner does is put in order by both: where one of them writes, the one's use
    ///   has completed before the other's begins.
    // covers: POOL-34
    pub unsafe fn buffer<T: Pod>(
        &self,
        stream: &Stream,
        pointer: PoolPointer,
        len: usize,
    ) -> Result<DeviceBuffer<T>> {
        const CALL: &str = "cuMemPoolImportPointer";
        check_same_device(CALL, ("the pool", &self.gpu), ("the stream", &stream.gpu))?;
        stream.handle.refuse_capture(
            CALL,
            "the buffer is taken once, and not at each launch of the graph",
            "take it before the capture, and use it inside",
        )?;
        let bytes = bytes_of::<T>(CALL, len)?;
        if bytes == 0 {
            return DeviceBuffer::raw(stream, len);
        }
        // A second one would have no order with the first, and its drop would free the memory of both.
        let taken = TakenBuffer::new(&self.handle, pointer.bytes).ok_or_else(|| {
            Error::misuse(
                CALL,
                Code::ALREADY_MAPPED,
                "this process has this buffer of the pool already",
                "use the first one, or drop it before",
            )
        })?;
        let mut data = raw::CUmemPoolPtrExportData {
            reserved: pointer.bytes,
        };
        self.gpu.bind()?;
        let mut base = 0;
        // SAFETY: the driver writes one address to `base` and reads the data, which outlive the call; `self` owns the pool.
        unsafe {
            call!(cuMemPoolImportPointer(
                &mut base,
                self.handle.raw(),
                &mut data
            ))
        }
        .map_err(|error| {
            error
                .while_doing(|| "a buffer of an imported memory pool".into())
                .with_hint_for(Code::INVALID_VALUE, || {
                    "give what `DeviceBuffer::export_pointer` made of a buffer of this very pool, which is alive".into()
                })
        })?;
        let allocation = Allocation::imported(stream, &self.handle, taken, base, bytes)?;
        // From here on the allocation gives the memory back.
        let mut most = 0;
        // SAFETY: the driver writes one number to `most`, which outlives the call; nothing asks for the base.
        unsafe {
            call!(cuMemGetAddressRange_v2(
                std::ptr::null_mut(),
                &mut most,
                base
            ))
        }?;
        if bytes > most {
            return Err(Error::misuse(
                CALL,
                Code::INVALID_VALUE,
                format!("{len} elements take {bytes} bytes, the memory has {most}"),
                "take as many elements as the owner has exported",
            ));
        }
        Ok(DeviceBuffer::of_allocation(allocation, len))
    }
}

impl Drop for ImportedPool {
    fn drop(&mut self) {
        let ended = EndedPool(self.handle.clone());
        self.gpu
            .call_driver_later(|gpu| gpu.retire_from_all(Box::new(ended)));
    }
}

impl std::fmt::Debug for ImportedPool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ImportedPool({:?})", self.handle.raw())
    }
}

//! What all memory that the device can reach has in common: the traits by which copies and launches take it.

use std::marker::PhantomData;
use std::sync::Arc;

use bytemuck::Pod;
use warpsmith_driver::raw::CUmemorytype;

use super::allocation::Allocation;
use super::peer_access::PeerAccess;
use crate::error::Result;
use crate::gpu::Gpu;
use crate::order::access::{Access, AccessKind, ViewScope};

/// A range of an allocation. Without an allocation it is empty.
#[derive(Clone, Copy)]
pub struct RawView<'a> {
    pub(crate) allocation: Option<&'a Arc<Allocation>>,
    pub(crate) address: u64,
    pub(crate) bytes: usize,
    /// Elements.
    pub(crate) len: usize,
    pub(crate) scope: ViewScope,
    /// By which another device than the memory's own uses it.
    pub(crate) peer: Option<&'a PeerAccess>,
}

/// A view, and what is done to it.
#[derive(Clone, Copy)]
pub(crate) struct ViewUse<'a> {
    pub(crate) view: RawView<'a>,
    pub(crate) kind: AccessKind,
}

impl<'a> RawView<'a> {
    /// The whole of a buffer of `len` elements, which alone uses its allocation.
    #[inline]
    pub(crate) fn whole<T>(allocation: Option<&'a Arc<Allocation>>, len: usize) -> RawView<'a> {
        RawView {
            allocation,
            address: allocation.map_or(0, |allocation| allocation.base()),
            bytes: len * size_of::<T>(),
            len,
            scope: ViewScope::Sole,
            peer: None,
        }
    }

    /// # Errors
    ///
    /// Work of another library was given up while it wrote the memory, and nothing has written it since.
    pub(crate) fn check_finished(&self, call: &'static str) -> Result<()> {
        self.allocation
            .map_or(Ok(()), |allocation| allocation.check_finished(call))
    }

    /// Whether it is memory of a pool on the host, which is host memory to the driver.
    #[inline]
    pub(crate) fn is_of_host_pool(&self) -> bool {
        self.allocation
            .is_some_and(|allocation| allocation.is_of_host_pool())
    }

    /// As what copies name it that say what kind of memory each side is; they have its address as the device's.
    pub(crate) fn copied_as(&self) -> CUmemorytype {
        match self.is_of_host_pool() {
            true => CUmemorytype::CU_MEMORYTYPE_UNIFIED,
            false => CUmemorytype::CU_MEMORYTYPE_DEVICE,
        }
    }

    /// The memory's own device; `None` without memory.
    pub(super) fn gpu(&self) -> Option<Gpu> {
        self.allocation.map(|allocation| Gpu::from(&allocation.gpu))
    }

    #[inline]
    pub(crate) fn used_for(self, kind: AccessKind) -> ViewUse<'a> {
        ViewUse { view: self, kind }
    }

    /// The bytes of the allocation that the view covers.
    pub(crate) fn access(&self, kind: AccessKind) -> Access {
        let start = self
            .allocation
            .map_or(0, |allocation| self.address - allocation.base());
        Access {
            start,
            end: start + self.bytes as u64,
            kind,
        }
    }
}

pub(crate) mod sealed {
    /// Keeps the traits to this crate: their implementations promise that an address is what it says.
    pub trait Sealed {}
}

/// Memory that the device can read: buffers and their slices.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not memory that the device can read",
    note = "device memory is a `DeviceBuffer`, `DeviceSlice`, `UnifiedBuffer` or `MappedBuffer`; `stream.upload(&data)` makes one of host data"
)]
pub trait DeviceRead: sealed::Sealed {
    /// The elements.
    type Item: Pod;
    #[doc(hidden)]
    fn raw_view(&self) -> RawView<'_>;
}

/// Memory that the device can write.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not memory that the device can write",
    note = "device memory is a `DeviceBuffer`, `DeviceSliceMut`, `UnifiedBuffer` or `MappedBuffer`"
)]
pub trait DeviceWrite: DeviceRead {}

/// An address on the device, for unsafe kernels that take raw pointers. It keeps nothing alive and is put in no order.
///
/// ```
/// use warpsmith_host::prelude::*;
///
/// # fn main() -> Result<()> {
/// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
/// let buffer = gpu.stream()?.upload(&[1.0_f32])?;
/// assert_eq!(buffer.as_device_ptr().address() % 256, 0);
/// # Ok(())
/// # }
/// ```
// covers: MEM-13
pub struct DevicePointer<T> {
    address: u64,
    of: PhantomData<*mut T>,
}

// SAFETY: it is a number; whoever reaches memory by it does so in unsafe code of their own.
unsafe impl<T> Send for DevicePointer<T> {}
// SAFETY: it is a number that never changes; whoever reaches memory by it does so in unsafe code of their own.
unsafe impl<T> Sync for DevicePointer<T> {}

impl<T> Clone for DevicePointer<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for DevicePointer<T> {}

impl<T> DevicePointer<T> {
    /// From an address, of another library's memory for example.
    pub const fn from_address(address: u64) -> Self {
        DevicePointer {
            address,
            of: PhantomData,
        }
    }

    /// The address.
    pub const fn address(self) -> u64 {
        self.address
    }
}

impl<T> std::fmt::Debug for DevicePointer<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:#x}", self.address)
    }
}

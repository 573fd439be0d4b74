//! Host memory that the device can reach, and the guards by which the host gets at it.
//!
//! The guards are no locks that the device respects: they are given only when the device is done. A guard that is forgotten keeps
//! nothing in flight (nothing was), and graphs that use the memory stay refused, which is safe.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use bytemuck::Pod;

use super::allocation::Allocation;
use super::view::RawView;
use crate::context::attention;
use crate::error::{Busy, Error, Result};
use crate::order::uses::Attached;

/// What pinned, mapped and unified buffers share.
pub(crate) struct HostMemory<T: Pod> {
    pub(crate) allocation: Option<Arc<Allocation>>,
    pointer: *mut T,
    len: usize,
}

// SAFETY: owns plain values; access from several threads goes by `&` and `&mut` as with a `Vec`.
unsafe impl<T: Pod + Send> Send for HostMemory<T> {}
// SAFETY: as above.
unsafe impl<T: Pod + Sync> Sync for HostMemory<T> {}

impl<T: Pod> HostMemory<T> {
    /// The memory must hold `len` initialised values at `pointer`.
    pub(crate) fn new(memory: Option<(Arc<Allocation>, *mut u8)>, len: usize) -> HostMemory<T> {
        match memory {
            Some((allocation, pointer)) => HostMemory {
                allocation: Some(allocation),
                pointer: pointer.cast(),
                len,
            },
            None => HostMemory {
                allocation: None,
                pointer: std::ptr::dangling_mut(),
                len,
            },
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn view(&self) -> RawView<'_> {
        RawView {
            allocation: self.allocation.as_ref(),
            address: self
                .allocation
                .as_ref()
                .map_or(0, |allocation| allocation.base),
            bytes: self.len * size_of::<T>(),
            len: self.len,
            whole: true,
        }
    }

    pub(crate) fn read(&self, call: &'static str) -> Result<HostRead<'_, T>> {
        let access = self
            .allocation
            .as_ref()
            .map(|allocation| HostAccess::begin(allocation, call, false))
            .transpose()?;
        // SAFETY: `len` initialised values; the device writes them no more, and nobody lets it while the guard lives: launches need
        // `&mut`, graphs ask for open accesses.
        let values = unsafe { std::slice::from_raw_parts(self.pointer, self.len) };
        Ok(HostRead {
            values,
            _access: access,
        })
    }

    pub(crate) fn write(&mut self, call: &'static str) -> Result<HostWrite<'_, T>> {
        let access = self
            .allocation
            .as_ref()
            .map(|allocation| HostAccess::begin(allocation, call, true))
            .transpose()?;
        // SAFETY: as above, and the device does not read them either.
        let values = unsafe { std::slice::from_raw_parts_mut(self.pointer, self.len) };
        Ok(HostWrite {
            values,
            _access: access,
        })
    }
}

/// An open access: graphs with this memory are refused, and on devices where the host must stay out while any kernel runs, launches.
struct HostAccess {
    allocation: Arc<Allocation>,
    keeps_kernels_out: bool,
}

impl HostAccess {
    fn begin(allocation: &Arc<Allocation>, call: &'static str, write: bool) -> Result<HostAccess> {
        let gpu = &allocation.gpu;
        let _order = gpu.order();
        allocation.check_host_access(call, write)?;
        // covers: UM-01
        let keeps_kernels_out = allocation.is_managed()
            && !gpu.limits.concurrent_managed
            && allocation.attached() == Attached::Everywhere;
        if keeps_kernels_out {
            gpu.attention.fetch_add(1, Ordering::AcqRel);
            let idle: Result<bool> = gpu
                .live_streams()
                .iter()
                .try_fold(true, |idle, stream| Ok(idle && stream.past_is_done()?));
            if !matches!(idle, Ok(true)) {
                gpu.attention.fetch_sub(1, Ordering::AcqRel);
                idle?;
                return Err(Error::Busy(Box::new(Busy {
                    call,
                    reason: "this device cannot share unified memory with the host while a kernel runs, and one may".into(),
                    hint: "call `gpu.synchronize()` first",
                })));
            }
        }
        allocation.host_accesses.fetch_add(1, Ordering::AcqRel);
        Ok(HostAccess {
            allocation: allocation.clone(),
            keeps_kernels_out,
        })
    }
}

impl Drop for HostAccess {
    fn drop(&mut self) {
        self.allocation.host_accesses.fetch_sub(1, Ordering::AcqRel);
        if self.keeps_kernels_out {
            debug_assert!(
                self.allocation.gpu.attention.load(Ordering::Relaxed) & attention::HOST_ACCESSES
                    != 0
            );
            self.allocation.gpu.attention.fetch_sub(1, Ordering::AcqRel);
        }
    }
}

/// The host's view of pinned, mapped or unified memory, for reading: a slice.
pub struct HostRead<'a, T: Pod> {
    values: &'a [T],
    _access: Option<HostAccess>,
}

/// The host's view of pinned, mapped or unified memory, for reading and writing: a slice.
pub struct HostWrite<'a, T: Pod> {
    values: &'a mut [T],
    _access: Option<HostAccess>,
}

impl<T: Pod> Deref for HostRead<'_, T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        self.values
    }
}

impl<T: Pod> Deref for HostWrite<'_, T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        self.values
    }
}

impl<T: Pod> DerefMut for HostWrite<'_, T> {
    fn deref_mut(&mut self) -> &mut [T] {
        self.values
    }
}

impl<T: Pod + std::fmt::Debug> std::fmt::Debug for HostRead<'_, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.values.fmt(f)
    }
}

impl<T: Pod + std::fmt::Debug> std::fmt::Debug for HostWrite<'_, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.values.fmt(f)
    }
}

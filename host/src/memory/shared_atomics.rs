//! Words that the host and running kernels share, by atomic operations of both.

use std::sync::atomic::{AtomicI32, AtomicI64, AtomicU32, AtomicU64, Ordering};

use bytemuck::Pod;

use super::allocation::Allocation;
use super::host_block::HostMapping;
use super::host_memory::HostMemory;
use super::size::bytes_of;
use super::view::{DevicePointer, RawView, sealed};
use crate::context::attribute::Attribute;
use crate::error::{Error, Result};
use crate::gpu::Gpu;

/// Words that the host uses at any time, also while kernels use them: kernels take them as `AtomicSlice<T, scope::System>`, the host
/// has atomic operations of its own. No copy, fill or other kernel parameter takes them, since those are not atomic.
///
/// ```
/// use std::sync::atomic::Ordering;
/// use warpsmith_host::prelude::*;
///
/// # fn main() -> Result<()> {
/// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
/// // A kernel with a parameter `stop: AtomicSlice<u32, scope::System>` is launched with `&stop`, and looks at it as it goes.
/// let stop = gpu.shared_atomics::<u32>(1)?;
/// stop.store(0, 1, Ordering::Release);
/// assert_eq!(stop.load(0, Ordering::Acquire), 1);
/// # Ok(())
/// # }
/// ```
///
/// # What is atomic between the two
///
/// Loads and stores of a word are single accesses on both sides, wherever it lies (CUDA C++ Programming Guide, "Mapped Memory"). An operation
/// that reads and writes, `fetch_add` for example, is one on the device's side alone: of words in page-locked host memory
/// ([`Gpu::shared_atomics`]) the host may write between the two halves, unless the device's atomic operations are the host's own
/// ([`Attribute::HOST_NATIVE_ATOMIC_SUPPORTED`]). So let one side write each word there, or all but one of them only load it. Words in
/// unified memory ([`Gpu::unified_atomics`]) move to who uses them: all operations of both sides are atomic. [`words`](Self::words) gives
/// the host's where that is so.
///
/// Kernels that use the words at the same time, in other streams or graphs, are put in no order: they use them beside each other, as they do beside
/// the host. The memory is kept until the last of them is done, also if this is dropped before.
// covers: PINNED-07, PINNED-08
pub struct SharedAtomics<W: SharedWord> {
    memory: HostMemory<W>,
    /// Whether operations of the host that read and write are atomic for the device, too.
    reads_and_writes: bool,
}

/// The words that [`SharedAtomics`] can be: `u32`, `i32`, `u64` and `i64`.
pub trait SharedWord: Pod + sealed::Sealed + Send + Sync {
    /// The host's atomic type of this size: [`AtomicU32`] for `u32`.
    type Atomic: Sync;
    #[doc(hidden)]
    fn load(word: &Self::Atomic, order: Ordering) -> Self;
    #[doc(hidden)]
    fn store(word: &Self::Atomic, value: Self, order: Ordering);
}

macro_rules! shared_words {
    ($($word:ty, $atomic:ty;)*) => {$(
        impl SharedWord for $word {
            type Atomic = $atomic;

            fn load(word: &$atomic, order: Ordering) -> $word {
                word.load(order)
            }

            fn store(word: &$atomic, value: $word, order: Ordering) {
                word.store(value, order);
            }
        }
    )*};
}

// The trait of sealed ones is there for `u32` and `u64`: of flags.
impl sealed::Sealed for i32 {}
impl sealed::Sealed for i64 {}

shared_words! {
    u32, AtomicU32;
    i32, AtomicI32;
    u64, AtomicU64;
    i64, AtomicI64;
}

impl Gpu {
    /// Words for the host and kernels at the same time, zeroed, in page-locked memory of the host: a kernel's access goes over the bus, and the
    /// host's `fetch_add` and its like are not atomic for the device ([`SharedAtomics`] says where they are).
    ///
    /// # Errors
    ///
    /// The host has no more memory to lock.
    pub fn shared_atomics<W: SharedWord>(&self, len: usize) -> Result<SharedAtomics<W>> {
        let bytes = bytes_of::<W>("cuMemHostAlloc", len)?;
        let memory = if bytes == 0 {
            None
        } else {
            Some(Allocation::page_locked(self, bytes, HostMapping::Mapped)?)
        };
        Ok(SharedAtomics {
            memory: HostMemory::new(memory, len),
            reads_and_writes: self.attribute(Attribute::HOST_NATIVE_ATOMIC_SUPPORTED)? != 0,
        })
    }

    /// Words for the host and kernels at the same time, zeroed, in unified memory: it moves to who uses it, which costs tens of microseconds each time,
    /// and all operations of both are atomic.
    ///
    /// # Errors
    ///
    /// The device cannot share unified memory with the host while a kernel runs ([`Attribute::CONCURRENT_MANAGED_ACCESS`] is 0), or there is
    /// not enough.
    pub fn unified_atomics<W: SharedWord>(&self, len: usize) -> Result<SharedAtomics<W>> {
        let bytes = bytes_of::<W>("cuMemAllocManaged", len)?;
        if !self.inner.limits().concurrent_managed {
            return Err(Error::unsupported(
                "`Gpu::unified_atomics`",
                "a device that shares unified memory with the host (CONCURRENT_MANAGED_ACCESS); `shared_atomics` is there on all",
            ));
        }
        let memory = if bytes == 0 {
            None
        } else {
            Some(Allocation::managed(self, bytes)?)
        };
        Ok(SharedAtomics {
            memory: HostMemory::new(memory, len),
            reads_and_writes: true,
        })
    }
}

impl<W: SharedWord> SharedAtomics<W> {
    /// Words.
    pub fn len(&self) -> usize {
        self.memory.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A word's value.
    ///
    /// # Panics
    ///
    /// There is no word `index`; or as [`AtomicU32::load`] does for the order.
    pub fn load(&self, index: usize, order: Ordering) -> W {
        W::load(&self.atomics()[index], order)
    }

    /// Sets a word's value.
    ///
    /// # Panics
    ///
    /// There is no word `index`; or as [`AtomicU32::store`] does for the order.
    pub fn store(&self, index: usize, value: W, order: Ordering) {
        W::store(&self.atomics()[index], value, order);
    }

    /// The words with all operations that the host has, `&[AtomicU32]` for `u32`.
    ///
    /// ```
    /// use std::sync::atomic::Ordering;
    /// use warpsmith_host::prelude::*;
    ///
    /// # fn main() -> Result<()> {
    /// # let gpu = Gpu::open(DeviceChoice::Simulator)?;
    /// let counts = gpu.unified_atomics::<u64>(4)?;
    /// counts.words()?[3].fetch_add(2, Ordering::Relaxed);
    /// assert_eq!(counts.load(3, Ordering::Relaxed), 2);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Those that read and write are not atomic for the device: the words are those of [`Gpu::shared_atomics`], and the device has no atomic
    /// operations of the host's.
    pub fn words(&self) -> Result<&[W::Atomic]> {
        if self.reads_and_writes {
            return Ok(self.atomics());
        }
        Err(Error::unsupported(
            "operations of the host that read and write words of `Gpu::shared_atomics`",
            "a device with HOST_NATIVE_ATOMIC_SUPPORTED; `load` and `store` are there on all, and all operations of words of `Gpu::unified_atomics`",
        ))
    }

    fn atomics(&self) -> &[W::Atomic] {
        let words = self.memory.host_view().host;
        // SAFETY: the memory has `len` initialised words, which begin at a multiple of 256 or of a page (or dangle, aligned, where there are none),
        // and lives as long as `self`. An atomic type has the size of its word, and at most the alignment that its size is. All who
        // use the memory do so by atomic operations: kernels by `AtomicSlice`, of system scope, and the host by these.
        unsafe { std::slice::from_raw_parts(words.cast(), self.len()) }
    }

    /// The address on the device, for unsafe kernels, which have to use the words by atomic operations of system scope and while this lives; 0 where
    /// there are none.
    pub fn as_device_ptr(&self) -> DevicePointer<W> {
        DevicePointer::from_address(self.view().address)
    }

    pub(crate) fn view(&self) -> RawView<'_> {
        self.memory.view()
    }
}

impl<W: SharedWord> std::fmt::Debug for SharedAtomics<W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let of = std::any::type_name::<W>();
        write!(f, "SharedAtomics<{of}>[{}]", self.len())
    }
}

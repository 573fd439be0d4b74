//! Where shared memory comes from: marker calls that the PTX linker replaces by `.shared` objects.

use core::marker::PhantomData;

use super::{Element, SharedArray, SharedTile};

#[cfg(target_arch = "nvptx64")]
unsafe extern "C" {
    /// Replaced, for each call instruction, by a `.shared` object of its own.
    fn __warpsmith_shared_static(size: usize, align: usize) -> *mut u8;
    /// Replaced by the base of the block's dynamic shared memory.
    fn __warpsmith_shared_dynamic(align: usize) -> *mut u8;
}

/// One shared object for each `T` and `F`.
#[doc(hidden)]
#[inline(never)]
pub fn marker<T, F: Fn()>(_: F) -> *mut T {
    on_device! {
        // SAFETY: the linker replaces the call by an object's address; saying that this is not null spares every
        // `Option<&mut T>` made from it a comparison.
        unsafe {
            let object = __warpsmith_shared_static(const { size_of::<T>() }, const { align_of::<T>() });
            core::hint::assert_unchecked(!object.is_null());
            object.cast()
        }
    }
}

/// What [`shared!`](crate::shared!) says when `#[kernel]` asks whether it is this macro.
#[doc(hidden)]
pub struct Shared;

/// What `#[kernel]` puts for `shared!([T; N])`; `F` is the type of a closure at that place.
///
/// # Safety
/// A thread comes here once at most with one `F`: then it has one handle to the object.
#[doc(hidden)]
#[inline(always)]
pub unsafe fn new_array<'a, T: Element, const N: usize, F: Fn()>(
    _: PhantomData<[T; N]>,
    place: F,
) -> SharedArray<'a, T, N> {
    SharedArray::from_pointer(marker::<[T; N], F>(place).cast())
}

/// What `#[kernel]` puts for `shared!([[T; C]; R])`, with rows `S` elements apart.
///
/// # Safety
/// As for [`new_array`].
#[doc(hidden)]
#[inline(always)]
pub unsafe fn new_tile<'a, T: Element, const R: usize, const C: usize, const S: usize, F: Fn()>(
    _: PhantomData<([[T; C]; R], [T; S])>,
    place: F,
) -> SharedTile<'a, T, R, C, S> {
    SharedTile::from_pointer(marker::<[[T; S]; R], F>(place).cast())
}

/// A shared object without an interface: all access is through the pointer, with barriers of your own.
///
/// ```
/// use warpsmith_device::prelude::*;
///
/// #[kernel(launch_bounds(128, exact))]
/// pub fn rotate(mut values: PerThread<[u32]>) {
///     let buffer = shared!(raw [u32; 128]).as_mut_ptr().cast::<u32>();
///     let own = thread::thread_idx_x() as usize;
///     let Some(value) = values.mine() else { return };
///     // SAFETY: each thread writes its own slot, and reads its neighbour's after the barrier. The length is a
///     // multiple of the block size, so all threads of a block come here.
///     unsafe {
///         buffer.add(own).write(*value);
///         block::sync();
///         *value = buffer.add((own + 1) % 128).read();
///     }
/// }
/// ```
pub struct SharedRaw<T> {
    pointer: *mut T,
    thread_bound: PhantomData<*mut T>,
}

impl<T> Clone for SharedRaw<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for SharedRaw<T> {}

impl<T> SharedRaw<T> {
    /// The object at an address that [`marker`] gave.
    #[doc(hidden)]
    #[inline(always)]
    pub fn __new(pointer: *mut T) -> Self {
        SharedRaw {
            pointer,
            thread_bound: PhantomData,
        }
    }

    /// The object's address: the same for all threads of the block; its memory is uninitialised at first.
    #[inline(always)]
    pub fn as_mut_ptr(self) -> *mut T {
        self.pointer
    }
}

/// The block's dynamic shared memory, whose size the launch chose, as raw slice of as many `T` as fit.
///
/// There is one such region: every call gives the same base, aligned to at least 16 bytes. Becomes the address of an
/// `.extern .shared` array; the length is `%dynamic_smem_size`. Uninitialised.
///
/// ```no_run
/// let buffer: *mut [f32] = warpsmith_device::shared::dynamic::<f32>();
/// let length = buffer.len();
/// # let _ = length;
/// ```
#[inline(always)]
pub fn dynamic<T>() -> *mut [T] {
    on_device! {
        // SAFETY: the linker replaces the call by the region's address.
        let base = unsafe { __warpsmith_shared_dynamic(const { align_of::<T>() }) };
        core::ptr::slice_from_raw_parts_mut(base.cast(), dynamic_bytes() / const { size_of::<T>() })
    }
}

/// `%dynamic_smem_size`: the bytes of dynamic shared memory that the launch asked for. Any arch.
///
/// ```no_run
/// let bytes: usize = warpsmith_device::shared::dynamic_bytes();
/// # let _ = bytes;
/// ```
#[inline(always)]
pub fn dynamic_bytes() -> usize {
    on_device! {
        let bytes: u32;
        // SAFETY: reading a special register has no conditions.
        unsafe {
            core::arch::asm!("mov.u32 {}, %dynamic_smem_size;", out(reg32) bytes, options(pure, nomem, nostack));
        }
        bytes as usize
    }
}

/// Takes a region of shared memory apart into arrays of different types, each aligned for its type.
///
/// Gives raw pointers: a second region on the same memory would alias them.
///
/// ```no_run
/// use warpsmith_device::shared::Region;
/// let mut region = Region::dynamic();
/// if let (Some(shorts), Some(floats)) = (region.take::<u16>(127), region.take::<f32>(64)) {
///     // `floats` begins at byte 256, not at 254.
/// #   let _ = (shorts, floats);
/// }
/// ```
pub struct Region {
    next: *mut u8,
    remaining: usize,
}

impl Region {
    /// The whole dynamic shared memory of the block.
    #[inline(always)]
    pub fn dynamic() -> Region {
        let whole = dynamic::<u8>();
        Region {
            remaining: whole.len(),
            next: whole.cast(),
        }
    }

    /// The bytes that are left.
    #[inline(always)]
    pub fn remaining(&self) -> usize {
        self.remaining
    }

    /// The next `count` elements of type `T`, uninitialised; `None` if so many are not left.
    #[inline(always)]
    pub fn take<T>(&mut self, count: usize) -> Option<*mut [T]> {
        let padding = self.next.addr().wrapping_neg() % align_of::<T>();
        let bytes = count.checked_mul(size_of::<T>())?.checked_add(padding)?;
        if bytes > self.remaining {
            return None;
        }
        let start = self.next.wrapping_add(padding).cast::<T>();
        self.next = self.next.wrapping_add(bytes);
        self.remaining -= bytes;
        Some(core::ptr::slice_from_raw_parts_mut(start, count))
    }
}

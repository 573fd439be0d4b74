//! The bytes that belong to guest programs: global memory, and the shared memory of blocks.
//!
//! Threads of a guest may race: two workers, or a worker and the host, then touch the same bytes at the same time. That is a bug
//! of the guest which the simulator reports or survives; it must not be undefined behaviour of the simulator. So no Rust reference
//! to guest bytes exists anywhere, and they are touched by the functions of this module only, in one of two ways:
//!
//! * word by word with relaxed atomics, which may race (in different widths they are defined by LLVM's rules alone, not by Rust's: see the
//!   book's decisions);
//! * as a row of 32 consecutive elements in inline assembly. To the compiler such a block may do whatever some sequence of relaxed
//!   atomic accesses of the same elements could do, and the processor does no less: an aligned vector access never tears an
//!   aligned element of 8 bytes or fewer. LLVM makes no vector code of atomics, which is why this is not left to it.
//!
//! Order comes from fences around the accesses, where the guest's instruction asks for it.

#[cfg(all(target_arch = "x86_64", not(miri)))]
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering};

use super::level::Level;
#[cfg(all(target_arch = "x86_64", not(miri)))]
use super::level::VectorLevel;
use super::operand::LANES;

/// The host's pointer to a device address of global memory, which is the same number.
#[inline(always)]
pub(crate) fn host_pointer(address: u64) -> *mut u8 {
    std::ptr::with_exposed_provenance_mut(address as usize)
}

/// A word of guest memory.
pub(crate) trait GuestWord: Copy + Default {
    /// Loads one.
    ///
    /// # Safety
    /// The pointer is valid for reads of guest memory and aligned to the word, or to 8 bytes.
    unsafe fn load(from: *const Self) -> Self;

    /// Stores one.
    ///
    /// # Safety
    /// The pointer is valid for writes of guest memory and aligned to the word, or to 8 bytes.
    unsafe fn store(to: *mut Self, value: Self);
}

macro_rules! words {
    ($($ty:ty, $atomic:ty;)*) => { $(impl GuestWord for $ty {
        #[inline(always)]
        unsafe fn load(from: *const $ty) -> $ty {
            // SAFETY: the pointer is valid and aligned (the condition of `GuestWord`); an atomic may be made of any such pointer for the
            // time of one access, as guest bytes are accessed atomically only.
            unsafe { <$atomic>::from_ptr(from.cast_mut().cast()).load(Ordering::Relaxed) as $ty }
        }
        #[inline(always)]
        unsafe fn store(to: *mut $ty, value: $ty) {
            // SAFETY: the pointer is valid and aligned (the condition of `GuestWord`); an atomic may be made of any such pointer for the
            // time of one access, as guest bytes are accessed atomically only.
            unsafe { <$atomic>::from_ptr(to.cast()).store(value as _, Ordering::Relaxed) }
        }
    })* };
}
words! { u8, AtomicU8; i8, AtomicU8; u16, AtomicU16; i16, AtomicU16; u32, AtomicU32; i32, AtomicU32; u64, AtomicU64; }

impl GuestWord for u128 {
    #[inline(always)]
    unsafe fn load(from: *const u128) -> u128 {
        let halves = from.cast::<u64>();
        // SAFETY: the caller's pointer is valid for 16 bytes and aligned to 8; 16 bytes may be two accesses, as on the hardware.
        unsafe { u128::from(u64::load(halves)) | u128::from(u64::load(halves.add(1))) << 64 }
    }
    #[inline(always)]
    unsafe fn store(to: *mut u128, value: u128) {
        let halves = to.cast::<u64>();
        // SAFETY: the caller's pointer is valid for 16 bytes and aligned to 8; 16 bytes may be two accesses, as on the hardware.
        unsafe {
            u64::store(halves, value as u64);
            u64::store(halves.add(1), (value >> 64) as u64);
        }
    }
}

/// Loads 32 consecutive elements.
///
/// # Safety
/// All of them can be read, and the pointer is aligned to an element, or to 8 bytes.
#[inline(always)]
pub(crate) unsafe fn load_row<L: Level, T: GuestWord>(from: *const T) -> [T; LANES] {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    if L::LEVEL != VectorLevel::Base {
        let mut row = MaybeUninit::<[T; LANES]>::uninit();
        for at in (0..size_of::<[T; LANES]>()).step_by(32) {
            // SAFETY: AVX is there: a module is lowered for a level that the machine has (`lower::module::load`). The row's size is a
            // multiple of 32 bytes, and the caller gives as many to read.
            unsafe {
                let vector = vector::load(from.cast::<u8>().add(at));
                row.as_mut_ptr()
                    .cast::<u8>()
                    .add(at)
                    .cast::<vector::Vector>()
                    .write_unaligned(vector);
            }
        }
        // SAFETY: the loop has written all bytes; every bit pattern is a value of `T`.
        return unsafe { row.assume_init() };
    }
    // SAFETY: each of the 32 elements is valid, by the function's condition.
    std::array::from_fn(|lane| unsafe { T::load(from.add(lane)) })
}

/// Stores 32 consecutive elements.
///
/// # Safety
/// All of them can be written, and the pointer is aligned to an element, or to 8 bytes.
#[inline(always)]
pub(crate) unsafe fn store_row<L: Level, T: GuestWord>(to: *mut T, from: &[T; LANES]) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    if L::LEVEL != VectorLevel::Base {
        for at in (0..size_of::<[T; LANES]>()).step_by(32) {
            // SAFETY: AVX is there: a module is lowered for a level that the machine has (`lower::module::load`). The row's size is a
            // multiple of 32 bytes, and the caller gives as many to write.
            unsafe {
                let vector = from.as_ptr().cast::<u8>().add(at).cast::<vector::Vector>();
                vector::store(to.cast::<u8>().add(at), vector.read_unaligned());
            }
        }
        return;
    }
    for (lane, &value) in from.iter().enumerate() {
        // SAFETY: each of the 32 elements is valid, by the function's condition.
        unsafe { T::store(to.add(lane), value) };
    }
}

/// Accesses of 32 bytes of guest memory in assembly.
#[cfg(all(target_arch = "x86_64", not(miri)))]
mod vector {
    use std::arch::asm;
    use std::arch::x86_64::__m256i;

    pub(super) type Vector = __m256i;

    /// Loads 32 bytes.
    ///
    /// # Safety
    /// The machine has AVX, and the bytes can be read.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) unsafe fn load(from: *const u8) -> Vector {
        let vector;
        // SAFETY: the block reads the 32 bytes, which the caller gives, and nothing else.
        unsafe {
            asm!(
                "vmovdqu {vector}, [{from}]",
                vector = lateout(ymm_reg) vector,
                from = in(reg) from,
                options(nostack, preserves_flags, readonly),
            );
        }
        vector
    }

    /// Stores 32 bytes.
    ///
    /// # Safety
    /// The machine has AVX, and the bytes can be written.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) unsafe fn store(to: *mut u8, vector: Vector) {
        // SAFETY: the block writes the 32 bytes, which the caller gives, and nothing else.
        unsafe {
            asm!(
                "vmovdqu [{to}], {vector}",
                to = in(reg) to,
                vector = in(ymm_reg) vector,
                options(nostack, preserves_flags),
            );
        }
    }
}

/// Writes bytes of the simulator's own, of which there may be shared references: no atomic is made of them.
///
/// # Safety
/// `from` is valid for reads of so many bytes, which nobody changes meanwhile; `to` is valid for as many bytes of guest memory.
pub(crate) unsafe fn write(from: *const u8, to: *mut u8, bytes: usize) {
    let words = if to.addr().is_multiple_of(8) {
        bytes / 8
    } else {
        0
    };
    for word in 0..words {
        // SAFETY: the word lies inside both ranges, and the guest's is aligned to 8 bytes.
        unsafe {
            let value = from.cast::<u64>().add(word).read_unaligned();
            u64::store(to.cast::<u64>().add(word), value);
        }
    }
    for at in words * 8..bytes {
        // SAFETY: the byte lies inside both ranges.
        unsafe { u8::store(to.add(at), from.add(at).read()) };
    }
}

/// Copies bytes, of which either side may be guest memory. What the program has shared references to is written by [`write`].
///
/// # Safety
/// Both ranges are valid, and writable: atomics are made of both.
pub(crate) unsafe fn copy(from: *const u8, to: *mut u8, bytes: usize) {
    let words = if (from.addr() | to.addr()).is_multiple_of(8) {
        bytes / 8
    } else {
        0
    };
    for word in 0..words {
        // SAFETY: the word lies inside both ranges, which are aligned to 8 bytes.
        unsafe {
            u64::store(
                to.cast::<u64>().add(word),
                u64::load(from.cast::<u64>().add(word)),
            )
        };
    }
    for at in words * 8..bytes {
        // SAFETY: the byte lies inside both ranges.
        unsafe { u8::store(to.add(at), u8::load(from.add(at))) };
    }
}

/// Sets bytes.
///
/// # Safety
/// The range is valid.
pub(crate) unsafe fn fill(to: *mut u8, value: u8, bytes: usize) {
    let words = if to.addr().is_multiple_of(8) {
        bytes / 8
    } else {
        0
    };
    for word in 0..words {
        // SAFETY: the word lies inside the range, which is aligned to 8 bytes.
        unsafe { u64::store(to.cast::<u64>().add(word), u64::from_ne_bytes([value; 8])) };
    }
    for at in words * 8..bytes {
        // SAFETY: the byte lies inside the range.
        unsafe { u8::store(to.add(at), value) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes that may only be read, to every offset in a word.
    #[test]
    fn own_bytes_are_written() {
        const BYTES: usize = 19;
        static OWN: [u8; BYTES] = *b"bytes of the source";
        for offset in 0..8 {
            let mut guest = [0u64; 4];
            let to = guest.as_mut_ptr().cast::<u8>();
            // SAFETY: the source has as many bytes, and the guest's has 32, of which at most 7 precede them.
            unsafe { write(OWN.as_ptr(), to.add(offset), BYTES) };
            let found = guest.map(u64::to_ne_bytes).concat();
            assert_eq!(found[offset..][..BYTES], OWN);
            assert_eq!(found.iter().filter(|&&byte| byte == 0).count(), 32 - BYTES);
        }
    }

    /// Copied and filled ranges begin and end anywhere in a word.
    #[test]
    fn copies_and_fills_touch_their_bytes_alone() {
        let mut from: Vec<u8> = (1..=32).collect();
        for (start, bytes) in [(0, 24), (0, 3), (1, 17), (8, 9), (5, 0)] {
            let mut guest = [0u64; 4];
            let to = guest.as_mut_ptr().cast::<u8>();
            // SAFETY: both have 32 bytes.
            unsafe { copy(from.as_mut_ptr().add(start), to.add(start), bytes) };
            let found = guest.map(u64::to_ne_bytes).concat();
            assert_eq!(found[start..][..bytes], from[start..][..bytes]);
            assert_eq!(found.iter().filter(|&&byte| byte == 0).count(), 32 - bytes);
            let to = guest.as_mut_ptr().cast::<u8>();
            // SAFETY: there are 32 bytes.
            unsafe { fill(to.add(start), 0xff, bytes) };
            let found = guest.map(u64::to_ne_bytes).concat();
            assert_eq!(found.iter().filter(|&&byte| byte == 0xff).count(), bytes);
            assert!(found[start..][..bytes].iter().all(|&byte| byte == 0xff));
        }
    }
}

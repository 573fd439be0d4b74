//! Atomic operations on global and shared memory, with scope and order as part of the program text.
//!
//! [`Atomic<T, S>`] is a word that threads of the scope `S` share; every operation names its order:
//!
//! ```no_run
//! use warpsmith_device::atomic::{Acquire, Atomic, AtomicSlice, Relaxed, Release};
//! fn count(bins: AtomicSlice<'_, u32>, value: usize) {
//!     if let Some(bin) = bins.get(value) {
//!         bin.add(1, Relaxed);          // red.relaxed.gpu.add.u32
//!     }
//! }
//! fn publish(flag: &Atomic<u32>) {
//!     flag.store(1, Release);           // st.release.gpu.b32
//!     while flag.load(Acquire) == 1 {}  // ld.acquire.gpu.b32
//! }
//! ```
//!
//! CUDA C++'s `atomicAdd` and its kin are `Relaxed` with scope [`Device`](scope::Device), which is the default scope here;
//! `atomicAdd_block` and `atomicAdd_system` are the scopes [`Block`](scope::Block) and [`System`](scope::System).
//!
//! Rust's own `core::sync::atomic` is not for kernels: rustc drops order and system scope of its read-modify-writes on
//! this target.
//!
//! All operations: naturally aligned words; sm_70 unless stated otherwise. They are not collective: inactive lanes
//! take no part. Guide §7.14.

mod fence;
mod instructions;
mod multicast;
mod order;
mod slice;
mod traits;
mod wide;

pub use fence::fence;
pub use multicast::{
    MulticastAdd, MulticastBits, MulticastGroup, MulticastOrder, MulticastSlice, MulticastStore,
};
pub use order::{
    AcqRel, Acquire, ClusterScope, FenceOrder, GridScope, LoadOrder, Order, Relaxed, Release,
    Scope, SeqCst, StoreOrder, scope,
};
pub use slice::AtomicSlice;
pub use traits::{AtomicAdd, AtomicBits, AtomicOrder, AtomicValue, AtomicWrap};
pub use wide::AtomicVector;

use core::cell::UnsafeCell;
use core::marker::PhantomData;

/// A word that the threads of scope `S` use together, in global or shared memory. A static, which the whole grid reaches, has a
/// [`GridScope`].
///
/// A variable of the thread's own may be one, too: the operations are plain ones there, as no other thread reaches it. Where the
/// compiler cannot tell where a reference leads, the thread asks (`isspacep.local`).
///
/// The methods named like `core`'s (`fetch_add`, `swap`, ...) return the old value; `add`, `min`, ... return nothing, and
/// are the cheaper `red` instructions.
#[repr(transparent)]
pub struct Atomic<T, S = scope::Device> {
    value: UnsafeCell<T>,
    scope: PhantomData<S>,
}

// SAFETY: the value is only reached through atomic instructions of scope `S`, which holds all threads of the grid: those that reach a
// static.
unsafe impl<T: AtomicValue, S: GridScope> Sync for Atomic<T, S> {}

impl<T: AtomicValue, S: Scope> Atomic<T, S> {
    /// A word with this value, for statics.
    pub const fn new(value: T) -> Self {
        Self {
            value: UnsafeCell::new(value),
            scope: PhantomData,
        }
    }

    /// The word behind an exclusive reference, for atomic use while the borrow lasts.
    #[inline(always)]
    pub fn from_mut(value: &mut T) -> &Self {
        // SAFETY: the layouts are the same (`repr(transparent)`); the exclusive borrow keeps non-atomic uses away.
        unsafe { &*core::ptr::from_mut(value).cast() }
    }

    /// The word at an address.
    ///
    /// # Safety
    /// `pointer` is aligned, leads to memory that stays valid for `'a`, and meanwhile every access to the word is atomic,
    /// with scopes that include each other's threads.
    #[inline(always)]
    pub unsafe fn from_ptr<'a>(pointer: *mut T) -> &'a Self {
        // SAFETY: `pointer` is aligned and valid for `'a`, and accesses meanwhile are atomic, by the function's condition.
        unsafe { &*pointer.cast() }
    }

    /// The word's (generic) address.
    #[inline(always)]
    pub const fn as_ptr(&self) -> *mut T {
        self.value.get()
    }

    /// The same word with operations of another scope.
    ///
    /// # Safety
    /// Every thread that uses the word meanwhile is in the scope `Other`.
    #[inline(always)]
    pub unsafe fn with_scope<Other: Scope>(&self) -> &Atomic<T, Other> {
        // SAFETY: the layouts are the same (`repr(transparent)`); the caller vouches for the scope.
        unsafe { &*core::ptr::from_ref(self).cast() }
    }

    /// Reads the word. PTX: `ld.relaxed.SCOPE` or `ld.acquire.SCOPE`; `SeqCst` is `fence.sc` and `ld.acquire`.
    #[inline(always)]
    pub fn load<O: LoadOrder>(&self, _order: O) -> T {
        // SAFETY: the word is valid and accessed by atomic operations only, as the type promises.
        unsafe { T::load::<S, O>(self.as_ptr()) }
    }

    /// Writes the word. PTX: `st.relaxed.SCOPE` or `st.release.SCOPE`; `SeqCst` is `fence.sc` and `st.relaxed`.
    #[inline(always)]
    pub fn store<O: StoreOrder>(&self, value: T, _order: O) {
        // SAFETY: the word is valid and accessed by atomic operations only, as the type promises.
        unsafe { T::store::<S, O>(self.as_ptr(), value) }
    }

    /// Writes the word, bit for bit, and returns the old value. PTX: `atom.exch` (`atom.cas.b16` in a loop for 16-bit types).
    /// CUDA C++: `atomicExch`.
    #[inline(always)]
    pub fn swap<O: Order>(&self, value: T, _order: O) -> T {
        // SAFETY: the word is valid and accessed by atomic operations only, as the type promises.
        unsafe { T::swap::<S, O>(self.as_ptr(), value) }
    }

    /// Writes `new` if the word holds the *bits* of `current`; returns the old value, as `Err` if it was another one.
    /// Never fails spuriously. Floats are compared as bits too, so a NaN equals itself and `0.0` differs from `-0.0`.
    /// PTX: `atom.cas`. CUDA C++: `atomicCAS`.
    #[inline(always)]
    pub fn compare_exchange<O: Order>(&self, current: T, new: T, _order: O) -> Result<T, T> {
        // SAFETY: the word is valid and accessed by atomic operations only, as the type promises.
        let old = unsafe { T::compare_and_swap::<S, O>(self.as_ptr(), current, new) };
        if old.same_bits(current) {
            Ok(old)
        } else {
            Err(old)
        }
    }

    /// Replaces the word by `update` of it, in a loop of `atom.cas`: any atomic operation that has no instruction of its own.
    /// `update` may run several times; `None` ends the loop with `Err` of the value seen.
    ///
    /// ```no_run
    /// # use warpsmith_device::atomic::*;
    /// fn keep_largest(best: &Atomic<f32>, x: f32) {
    ///     let _ = best.fetch_update(Relaxed, |old| (x > old).then_some(x));
    /// }
    /// ```
    #[inline(always)]
    pub fn fetch_update<O: Order>(
        &self,
        order: O,
        mut update: impl FnMut(T) -> Option<T>,
    ) -> Result<T, T> {
        let mut current = self.load(Relaxed);
        while let Some(new) = update(current) {
            match self.compare_exchange(current, new, order) {
                Ok(old) => return Ok(old),
                Err(seen) => current = seen,
            }
        }
        Err(current)
    }
}

macro_rules! operations {
    ($($bound:ident { $($(#[$doc:meta])* $fetch:ident, $reduce:ident, $ptx:literal, $cuda:literal;)* })*) => {$(
        impl<T: $bound, S: Scope> Atomic<T, S> {$(
            $(#[$doc])*
            #[doc = concat!(" Returns the old value. PTX: `atom.", $ptx, "`. CUDA C++: `", $cuda, "`.")]
            #[inline(always)]
            pub fn $fetch<O: Order>(&self, value: T, _order: O) -> T {
                // SAFETY: the word is valid and accessed by atomic operations only, as the type promises.
                unsafe { T::$fetch::<S, O>(self.as_ptr(), value) }
            }

            $(#[$doc])*
            #[doc = concat!(" Returns nothing. PTX: `red.", $ptx, "`. CUDA C++: `", $cuda, "`.")]
            #[inline(always)]
            pub fn $reduce<O: StoreOrder>(&self, value: T, _order: O) {
                // SAFETY: the word is valid and accessed by atomic operations only, as the type promises.
                unsafe { T::$reduce::<S, O>(self.as_ptr(), value) }
            }
        )*}
    )*};
}
operations! {
    AtomicAdd {
        /// Adds. Integers wrap. Floats round to nearest even, in an order that is not reproducible; `f32` on global memory flushes
        /// subnormals to zero; `F16x2` and `Bf16x2` are atomic per half.
        fetch_add, add, "add", "atomicAdd";
    }
    AtomicOrder {
        /// Takes the smaller of the word and `value`.
        fetch_min, min, "min", "atomicMin";
        /// Takes the larger of the word and `value`.
        fetch_max, max, "max", "atomicMax";
    }
    AtomicBits {
        /// Bitwise and.
        fetch_and, and, "and", "atomicAnd";
        /// Bitwise or.
        fetch_or, or, "or", "atomicOr";
        /// Bitwise exclusive or.
        fetch_xor, xor, "xor", "atomicXor";
    }
    AtomicWrap {
        /// Counts up, from `value` to 0: `if old >= value { 0 } else { old + 1 }`, a period of `value + 1`.
        fetch_inc, inc, "inc", "atomicInc";
        /// Counts down, from 0 to `value`: `if old == 0 || old > value { value } else { old - 1 }`.
        fetch_dec, dec, "dec", "atomicDec";
    }
}

impl<T: AtomicAdd, S: Scope> Atomic<T, S> {
    /// Subtracts, and returns the old value. PTX: `atom.add` of the negated value. CUDA C++: `atomicSub`.
    #[inline(always)]
    pub fn fetch_sub<O: Order>(&self, value: T, order: O) -> T {
        self.fetch_add(value.negated(), order)
    }

    /// Subtracts. PTX: `red.add` of the negated value.
    #[inline(always)]
    pub fn sub<O: StoreOrder>(&self, value: T, order: O) {
        self.add(value.negated(), order);
    }
}

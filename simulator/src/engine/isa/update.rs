//! Reading, changing and writing a word in one step: what atomic operations and reductions of bulk copies make of a word.

use std::marker::PhantomData;
use std::sync::atomic::{AtomicU16, AtomicU32, AtomicU64, Ordering};

use half::{bf16, f16};

use crate::engine::exec::guest::GuestWord;
use crate::engine::exec::operand::Value;
use crate::numerics::compare::{Selection, max, min};
use crate::numerics::float::{Float, atomic_add, packed};

/// A word with host atomics.
pub(crate) trait AtomicWord: GuestWord + Value + Eq {
    /// Replaces the word by `f` of it; the old one. Sequentially consistent.
    ///
    /// # Safety
    /// The pointer is valid for guest memory and aligned to the word.
    unsafe fn update(pointer: *mut Self, f: impl Fn(Self) -> Self) -> Self;
    /// Compare and swap; the old one.
    ///
    /// # Safety
    /// The pointer is valid for guest memory and aligned to the word.
    unsafe fn swap_if(pointer: *mut Self, compare: Self, value: Self) -> Self;
}

macro_rules! word {
    ($($ty:ty, $atomic:ty;)*) => { $(impl AtomicWord for $ty {
        #[inline(always)]
        unsafe fn update(pointer: *mut $ty, f: impl Fn($ty) -> $ty) -> $ty {
            // SAFETY: the pointer is valid and aligned, by the function's condition; guest bytes are accessed atomically only.
            let word = unsafe { <$atomic>::from_ptr(pointer) };
            let mut old = word.load(Ordering::Relaxed);
            loop {
                match word.compare_exchange_weak(old, f(old), Ordering::SeqCst, Ordering::Relaxed) {
                    Ok(_) => return old,
                    Err(now) => old = now,
                }
            }
        }
        #[inline(always)]
        unsafe fn swap_if(pointer: *mut $ty, compare: $ty, value: $ty) -> $ty {
            // SAFETY: the pointer is valid and aligned, by the function's condition; guest bytes are accessed atomically only.
            let word = unsafe { <$atomic>::from_ptr(pointer) };
            match word.compare_exchange(compare, value, Ordering::SeqCst, Ordering::SeqCst) {
                Ok(old) | Err(old) => old,
            }
        }
    })* };
}
word! { u16, AtomicU16; u32, AtomicU32; u64, AtomicU64; }

impl AtomicWord for u128 {
    unsafe fn update(pointer: *mut u128, f: impl Fn(u128) -> u128) -> u128 {
        let _guard = wide_lock();
        // SAFETY: the pointer is valid and aligned, by the function's condition.
        unsafe {
            let old = u128::load(pointer);
            u128::store(pointer, f(old));
            old
        }
    }
    unsafe fn swap_if(pointer: *mut u128, compare: u128, value: u128) -> u128 {
        // SAFETY: the pointer is valid and aligned, by the function's condition.
        unsafe { Self::update(pointer, |old| if old == compare { value } else { old }) }
    }
}

/// 128-bit atomics exclude one another; the host has none that stable Rust offers.
fn wide_lock() -> std::sync::MutexGuard<'static, ()> {
    static LOCK: std::sync::Mutex<()> = std::sync::Mutex::new(());
    LOCK.lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// An operation: what becomes of the old word. The flag says whether the memory is global.
pub(crate) trait Update<T> {
    fn update(old: T, value: T, global: bool) -> T;
}

macro_rules! updates {
    ($($name:ident: $($ty:ty)* => |$old:ident, $value:ident, $global:ident| $body:expr;)*) => { $(
        pub(super) struct $name;
        $(impl Update<$ty> for $name {
            #[inline(always)]
            fn update($old: $ty, $value: $ty, $global: bool) -> $ty { let _ = $global; $body }
        })*
    )* };
}
updates! {
    Exchange: u32 u64 u128 => |_old, value, _g| value;
    And: u32 u64 => |old, value, _g| old & value;
    Or: u32 u64 => |old, value, _g| old | value;
    Xor: u32 u64 => |old, value, _g| old ^ value;
    Add: u32 u64 => |old, value, _g| old.wrapping_add(value);
    Inc: u32 => |old, value, _g| if old >= value { 0 } else { old + 1 };
    Dec: u32 => |old, value, _g| if old == 0 || old > value { value } else { old - 1 };
    MinU: u32 u64 => |old, value, _g| old.min(value);
    MaxU: u32 u64 => |old, value, _g| old.max(value);
    MinS32: u32 => |old, value, _g| (old as i32).min(value as i32) as u32;
    MaxS32: u32 => |old, value, _g| (old as i32).max(value as i32) as u32;
    MinS64: u64 => |old, value, _g| (old as i64).min(value as i64) as u64;
    MaxS64: u64 => |old, value, _g| (old as i64).max(value as i64) as u64;
    AddF32: u32 => |old, value, global| atomic_add(f32::from_bits(old), f32::from_bits(value), global).to_bits();
    AddF64: u64 => |old, value, global| atomic_add(f64::from_bits(old), f64::from_bits(value), global).to_bits();
    AddF16: u16 => |old, value, global| atomic_add(f16::from_bits(old), f16::from_bits(value), global).to_bits();
    AddBf16: u16 => |old, value, global| atomic_add(bf16::from_bits(old), bf16::from_bits(value), global).to_bits();
    AddF16x2: u32 => |old, value, global| packed([old, value], |[a, b]: [f16; 2]| atomic_add(a, b, global));
    AddBf16x2: u32 => |old, value, global| packed([old, value], |[a, b]: [bf16; 2]| atomic_add(a, b, global));
}

/// `.min` and `.max` of halves, one or two.
pub(super) struct MinHalf<F>(PhantomData<F>);
pub(super) struct MaxHalf<F>(PhantomData<F>);

/// As `min` and `max` of one type say without modifiers: a number wins over NaN.
const NUMBERS: Selection = Selection {
    ftz: false,
    propagate_nan: false,
    xorsign_abs: false,
};

macro_rules! halves {
    ($($name:ident: $choose:ident;)*) => { $(
        impl<F: Float> Update<u16> for $name<F> {
            fn update(old: u16, value: u16, _: bool) -> u16 {
                $choose(F::from_raw(old.into()), F::from_raw(value.into()), NUMBERS).bits() as u16
            }
        }
        impl<F: Float> Update<u32> for $name<F> {
            fn update(old: u32, value: u32, _: bool) -> u32 {
                packed([old, value], |[a, b]: [F; 2]| $choose(a, b, NUMBERS))
            }
        }
    )* };
}
halves! { MinHalf: min; MaxHalf: max; }

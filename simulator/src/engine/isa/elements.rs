//! Elements between memory and registers: types and widths of loads and stores, of memory and of parameters.

use std::borrow::Cow;

use crate::engine::lower::types::{ScalarKind, Ty};
use crate::engine::lower::{Builder, Width};
use crate::ptx::ast::Operand;
use crate::ptx::{Error, Result};

/// Widening from memory to a register.
pub(crate) trait Widen<R> {
    fn widen(self) -> R;
}

macro_rules! widen {
    ($($m:ty => $($r:ty),*;)*) => { $($(impl Widen<$r> for $m {
        #[inline(always)]
        fn widen(self) -> $r { self as $r }
    })*)* };
}
widen! {
    u8 => u16, u32, u64; i8 => u16, u32, u64; u16 => u16, u32, u64; i16 => u32, u64; u32 => u32, u64; i32 => u64;
    u64 => u64; u128 => u128; i16 => u16; i32 => u32;
}

/// Narrowing from a register to memory.
pub(crate) trait Narrow<M> {
    fn narrow(self) -> M;
}

macro_rules! narrow {
    ($($r:ty => $($m:ty),*;)*) => { $($(impl Narrow<$m> for $r {
        #[inline(always)]
        fn narrow(self) -> $m { self as $m }
    })*)* };
}
narrow! { u16 => u8, u16; u32 => u8, u16, u32; u64 => u8, u16, u32, u64; u128 => u128; }

/// Picks a load by the type in memory and the register's width.
macro_rules! pick_load {
    ($ty:expr, $width:expr, $make:ident) => {
        match (
            $ty.kind == $crate::engine::lower::types::ScalarKind::Signed,
            $ty.bits,
            $width,
        ) {
            (false, 8, Width::W16) => Some($make!(u8, u16)),
            (false, 8, Width::W32) => Some($make!(u8, u32)),
            (false, 8, Width::W64) => Some($make!(u8, u64)),
            (true, 8, Width::W16) => Some($make!(i8, u16)),
            (true, 8, Width::W32) => Some($make!(i8, u32)),
            (true, 8, Width::W64) => Some($make!(i8, u64)),
            (_, 16, Width::W16) => Some($make!(u16, u16)),
            (false, 16, Width::W32) => Some($make!(u16, u32)),
            (false, 16, Width::W64) => Some($make!(u16, u64)),
            (true, 16, Width::W32) => Some($make!(i16, u32)),
            (true, 16, Width::W64) => Some($make!(i16, u64)),
            (_, 32, Width::W32) => Some($make!(u32, u32)),
            (false, 32, Width::W64) => Some($make!(u32, u64)),
            (true, 32, Width::W64) => Some($make!(i32, u64)),
            (_, 64, Width::W64) => Some($make!(u64, u64)),
            (_, 128, Width::W128) => Some($make!(u128, u128)),
            _ => None,
        }
    };
}

/// Picks a store likewise.
macro_rules! pick_store {
    ($ty:expr, $width:expr, $make:ident) => {
        match ($ty.bits, $width) {
            (8, Width::W16) => Some($make!(u8, u16)),
            (8, Width::W32) => Some($make!(u8, u32)),
            (8, Width::W64) => Some($make!(u8, u64)),
            (16, Width::W16) => Some($make!(u16, u16)),
            (16, Width::W32) => Some($make!(u16, u32)),
            (16, Width::W64) => Some($make!(u16, u64)),
            (32, Width::W32) => Some($make!(u32, u32)),
            (32, Width::W64) => Some($make!(u32, u64)),
            (64, Width::W64) => Some($make!(u64, u64)),
            (128, Width::W128) => Some($make!(u128, u128)),
            _ => None,
        }
    };
}

pub(crate) use {pick_load, pick_store};

/// The width of the registers of a load or store: at least that of the type, the same for all.
pub(crate) fn register_width<'a>(
    cx: &mut Builder<'a, '_>,
    operands: &[Operand<'a>],
    ty: Ty,
) -> Result<Width> {
    let mut width = None;
    for operand in operands {
        let Some(found) = cx.width_of(operand) else {
            continue;
        };
        if width.is_some_and(|w| w != found) {
            return Err(Error::new(
                operand.at,
                "the registers of a vector have one width",
            ));
        }
        width = Some(found);
    }
    Ok(width.unwrap_or(Width::of(ty)))
}

/// The type a value operand is read as: the memory type, in a register of this width.
pub(crate) fn value_type(ty: Ty, width: Width) -> Ty {
    if Width::of(ty) == width {
        ty
    } else {
        Ty::new(ScalarKind::Bits, width.lane_bytes() * 8)
    }
}

/// The so many registers of a vector.
pub(super) fn parts<'a, 'o>(
    cx: &Builder<'a, '_>,
    operand: &'o Operand<'a>,
    count: usize,
) -> Result<Cow<'o, [Operand<'a>]>> {
    let parts = cx.parts(operand);
    if parts.len() != count {
        let message = format!("expected vectors of {count} parts");
        return Err(Error::new(operand.at, message));
    }
    Ok(parts)
}

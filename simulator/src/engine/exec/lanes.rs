//! Access to a warp's registers: arrays of 32 lanes at byte offsets of the current frame, or of the function's constants.

use super::isa::Isa;
use super::warp::{Flow, Inst, Warp};

/// Lanes of a warp.
pub(crate) const LANES: usize = 32;
/// All lanes.
pub(crate) const FULL: u32 = u32::MAX;
/// Set in an operand that lies in the constants.
pub(crate) const CONSTANT: u32 = 1 << 31;

/// The lanes of a source operand.
///
/// # Safety
/// `operand` is a register or constant of at least `size_of::<T>()` bytes a lane.
#[inline(always)]
pub(crate) unsafe fn src<'a, T: Copy>(warp: &Warp, operand: u32) -> &'a [T; LANES] {
    // SAFETY: the lowering laid out the operand inside the frame or the constants, aligned to 64 bytes.
    unsafe {
        &*warp.bases[(operand >> 31) as usize]
            .add((operand & !CONSTANT) as usize)
            .cast::<[T; LANES]>()
    }
}

/// The lanes of a destination register.
///
/// # Safety
/// As for [`src`], and no other reference to this register lives.
#[inline(always)]
pub(crate) unsafe fn dst<'a, T: Copy>(warp: &Warp, operand: u32) -> &'a mut [T; LANES] {
    // SAFETY: as for `src`; destinations are never constants.
    unsafe { &mut *warp.bases[0].add(operand as usize).cast::<[T; LANES]>() }
}

/// Writes the result to the lanes of `warp.mask`.
///
/// # Safety
/// As for [`dst`].
#[inline(always)]
pub(crate) unsafe fn put<T: Copy>(warp: &Warp, operand: u32, result: &[T; LANES]) {
    // SAFETY: the caller's promise.
    let lanes = unsafe { dst::<T>(warp, operand) };
    if warp.mask == FULL {
        *lanes = *result;
    } else {
        let mask = warp.mask;
        for lane in 0..LANES {
            lanes[lane] = if mask >> lane & 1 != 0 {
                result[lane]
            } else {
                lanes[lane]
            };
        }
    }
}

/// Writes a vector-register destination that may be the sink `_`.
///
/// # Safety
/// As for [`dst`].
#[inline(always)]
pub(crate) unsafe fn put_or_sink<T: Copy>(warp: &Warp, operand: u32, result: &[T; LANES]) {
    if operand != SINK {
        // SAFETY: the caller's promise.
        unsafe { put(warp, operand, result) }
    }
}

/// A destination that drops its value.
pub(crate) const SINK: u32 = u32::MAX;

/// A predicate's bits.
///
/// # Safety
/// `operand` is a predicate register or constant.
#[inline(always)]
pub(crate) unsafe fn predicate(warp: &Warp, operand: u32) -> u32 {
    // SAFETY: the lowering laid it out, aligned to 4 bytes.
    unsafe {
        *warp.bases[(operand >> 31) as usize]
            .add((operand & !CONSTANT) as usize)
            .cast::<u32>()
    }
}

/// Writes a predicate's bits for the lanes of `warp.mask`.
///
/// # Safety
/// `operand` is a predicate register or the sink.
#[inline(always)]
pub(crate) unsafe fn put_predicate(warp: &Warp, operand: u32, bits: u32) {
    if operand == SINK {
        return;
    }
    // SAFETY: the lowering laid it out, aligned to 4 bytes.
    unsafe {
        let target = warp.bases[0].add(operand as usize).cast::<u32>();
        *target = *target & !warp.mask | bits & warp.mask;
    }
}

/// The lanes of a mask, ascending.
#[inline(always)]
pub(crate) fn lanes_of(mask: u32) -> impl Iterator<Item = usize> {
    let mut rest = mask;
    std::iter::from_fn(move || {
        if rest == 0 {
            return None;
        }
        let lane = rest.trailing_zeros() as usize;
        rest &= rest - 1;
        Some(lane)
    })
}

/// `d = f(a)` in every lane.
///
/// # Safety
/// The operands have the widths of the types.
#[inline(always)]
pub(crate) unsafe fn map1<A: Copy, R: Copy + Default>(
    warp: &Warp,
    inst: &Inst,
    f: impl Fn(A) -> R,
) -> Flow {
    // SAFETY: the caller's promise.
    unsafe {
        let a = src::<A>(warp, inst.a);
        let mut result = [R::default(); LANES];
        for lane in 0..LANES {
            result[lane] = f(a[lane]);
        }
        put(warp, inst.d, &result);
    }
    Flow::Next
}

/// `d = f(a, b)` in every lane.
///
/// # Safety
/// The operands have the widths of the types.
#[inline(always)]
pub(crate) unsafe fn map2<A: Copy, B: Copy, R: Copy + Default>(
    warp: &Warp,
    inst: &Inst,
    f: impl Fn(A, B) -> R,
) -> Flow {
    // SAFETY: the caller's promise.
    unsafe {
        let a = src::<A>(warp, inst.a);
        let b = src::<B>(warp, inst.b);
        let mut result = [R::default(); LANES];
        for lane in 0..LANES {
            result[lane] = f(a[lane], b[lane]);
        }
        put(warp, inst.d, &result);
    }
    Flow::Next
}

/// `d = f(a, b, c)` in every lane.
///
/// # Safety
/// The operands have the widths of the types.
#[inline(always)]
pub(crate) unsafe fn map3<A: Copy, B: Copy, C: Copy, R: Copy + Default>(
    warp: &Warp,
    inst: &Inst,
    f: impl Fn(A, B, C) -> R,
) -> Flow {
    // SAFETY: the caller's promise.
    unsafe {
        let a = src::<A>(warp, inst.a);
        let b = src::<B>(warp, inst.b);
        let c = src::<C>(warp, inst.c);
        let mut result = [R::default(); LANES];
        for lane in 0..LANES {
            result[lane] = f(a[lane], b[lane], c[lane]);
        }
        put(warp, inst.d, &result);
    }
    Flow::Next
}

/// The lanes where `f(a, b)` holds, as bits.
///
/// # Safety
/// The operands have the widths of the types.
#[inline(always)]
pub(crate) unsafe fn test2<I: Isa, A: Copy, B: Copy>(
    warp: &Warp,
    a: u32,
    b: u32,
    f: impl Fn(A, B) -> bool,
) -> u32 {
    // SAFETY: the caller's promise.
    unsafe {
        let a = src::<A>(warp, a);
        let b = src::<B>(warp, b);
        let mut result = [0i32; LANES];
        for lane in 0..LANES {
            result[lane] = -i32::from(f(a[lane], b[lane]));
        }
        I::signs(&result)
    }
}

//! Access to a warp's registers: arrays of 32 lanes at byte offsets of the current frame, or of the function's constants.

use super::cluster::Cluster;
use super::level::{Level, Op};
use super::operand::{Binary, Operands, Read, Slot, Ternary, Unary, Value, Write};
pub(crate) use super::operand::{CONSTANT, FULL, LANES, SINK, lanes_of};
use super::warp::{Flow, Warp};

/// Five words of an instruction that is not declared by operand types.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct Words {
    pub d: u32,
    pub a: u32,
    pub b: u32,
    pub c: u32,
    pub x: u32,
}

// SAFETY: five words.
unsafe impl Operands for Words {
    const SLOTS: &'static [Slot] = &[Slot::Untyped];
}

/// An operation on five words.
pub(crate) trait WordsOp {
    /// Executes it for the lanes of `warp.mask`.
    ///
    /// # Safety
    /// The words are those that the operation expects.
    unsafe fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, inst: &Words) -> Flow;
}

impl<T: WordsOp> Op for T {
    type Operands = Words;

    #[inline(always)]
    fn run<L: Level>(warp: &mut Warp, cluster: &mut Cluster<'_>, operands: Words) -> Flow {
        // SAFETY: the lowering emitted the words for this operation.
        unsafe { <T as WordsOp>::run::<L>(warp, cluster, &operands) }
    }
}

impl Warp {
    /// A list of operands of the current function.
    ///
    /// # Safety
    /// `at` is the start of a list of at least `len` entries.
    #[inline(always)]
    pub unsafe fn list<'a>(&self, at: u32, len: usize) -> &'a [u32] {
        // SAFETY: lists live as long as the module; the caller gives the range.
        unsafe { std::slice::from_raw_parts(self.lists.add(at as usize), len) }
    }
}

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

/// `d = f(a)` in every lane.
#[inline(always)]
pub(crate) fn unary<A: Value, R: Value + Default>(
    warp: &mut Warp,
    o: Unary<A, R>,
    f: impl Fn(A) -> R,
) -> Flow {
    let a = o.a.lanes(warp);
    let mut result = [R::default(); LANES];
    for lane in 0..LANES {
        result[lane] = f(a[lane]);
    }
    o.d.put(warp, &result);
    Flow::Next
}

/// `d = f(a, b)` in every lane.
#[inline(always)]
pub(crate) fn binary<A: Value, B: Value, R: Value + Default>(
    warp: &mut Warp,
    o: Binary<A, B, R>,
    f: impl Fn(A, B) -> R,
) -> Flow {
    let (a, b) = (o.a.lanes(warp), o.b.lanes(warp));
    let mut result = [R::default(); LANES];
    for lane in 0..LANES {
        result[lane] = f(a[lane], b[lane]);
    }
    o.d.put(warp, &result);
    Flow::Next
}

/// `d = f(a, b, c)` in every lane.
#[inline(always)]
pub(crate) fn ternary<A: Value, B: Value, C: Value, R: Value + Default>(
    warp: &mut Warp,
    o: Ternary<A, B, C, R>,
    f: impl Fn(A, B, C) -> R,
) -> Flow {
    let (a, b, c) = (o.a.lanes(warp), o.b.lanes(warp), o.c.lanes(warp));
    let mut result = [R::default(); LANES];
    for lane in 0..LANES {
        result[lane] = f(a[lane], b[lane], c[lane]);
    }
    o.d.put(warp, &result);
    Flow::Next
}

/// The lanes where `f(a, b)` holds, as bits.
#[inline(always)]
pub(crate) fn test<L: Level, A: Value, B: Value>(
    warp: &Warp,
    a: Read<A>,
    b: Read<B>,
    f: impl Fn(A, B) -> bool,
) -> u32 {
    let (a, b) = (a.lanes(warp), b.lanes(warp));
    let mut result = [0i32; LANES];
    for lane in 0..LANES {
        result[lane] = -i32::from(f(a[lane], b[lane]));
    }
    L::signs(&result)
}

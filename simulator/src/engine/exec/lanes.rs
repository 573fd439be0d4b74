//! Operations that do the same in every lane.

use super::level::Level;
use super::operand::{Binary, LANES, Read, Ternary, Unary, Value};
use super::warp::{Flow, Warp};

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

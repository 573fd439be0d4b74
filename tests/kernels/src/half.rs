//! Arithmetic and conversions of 16-bit floats.

use warpsmith_device::half::{
    Down, F16x2, HalfArithmetic, Nearest, RoundFrom, RoundTo, Up, Zero, f16,
};
use warpsmith_device::prelude::*;

/// Bits of the results of every operation on a pair of values; eight words a thread would need a struct, so each
/// operation has its own number.
fn operation<T: HalfArithmetic>(which: u32, a: T, b: T, c: T) -> Result<T, bool> {
    Ok(match which {
        0 => a.hadd(b),
        1 => a.hsub(b),
        2 => a.hmul(b),
        3 => a.hfma(b, c),
        4 => a.hneg(),
        5 => a.habs(),
        #[cfg(any(not(target_arch = "nvptx64"), warpsmith_arch_at_least = "80"))]
        6 => a.hmin(b),
        #[cfg(any(not(target_arch = "nvptx64"), warpsmith_arch_at_least = "80"))]
        7 => a.hmax(b),
        #[cfg(any(not(target_arch = "nvptx64"), warpsmith_arch_at_least = "80"))]
        8 => a.hfma_relu(b, c),
        9 => return Err(a.heq(b)),
        10 => return Err(a.hne(b)),
        11 => return Err(a.hlt(b)),
        12 => return Err(a.hle(b)),
        13 => return Err(a.hgt(b)),
        _ => return Err(a.hge(b)),
    })
}

/// One operation on `f16`; the result's bits, or 0 and 1 of a comparison.
#[kernel]
pub fn f16_operation(which: u32, a: &[f16], b: &[f16], c: &[f16], mut out: PerThread<[u16]>) {
    let i = thread::index();
    if let (Some(&a), Some(&b), Some(&c), Some(out)) = (a.get(i), b.get(i), c.get(i), out.mine()) {
        *out = match operation(which, a, b, c) {
            Ok(value) => value.to_bits(),
            Err(truth) => u16::from(truth),
        };
    }
}

/// One operation on pairs of `f16`.
#[kernel]
pub fn f16x2_operation(
    which: u32,
    a: &[F16x2],
    b: &[F16x2],
    c: &[F16x2],
    mut out: PerThread<[u32]>,
) {
    let i = thread::index();
    if let (Some(&a), Some(&b), Some(&c), Some(out)) = (a.get(i), b.get(i), c.get(i), out.mine()) {
        *out = match which {
            0 => a + b,
            1 => a - b,
            2 => a * b,
            3 => a.fma(b, c),
            4 => -a,
            5 => a.abs(),
            #[cfg(any(not(target_arch = "nvptx64"), warpsmith_arch_at_least = "80"))]
            6 => a.min(b),
            #[cfg(any(not(target_arch = "nvptx64"), warpsmith_arch_at_least = "80"))]
            7 => a.max(b),
            #[cfg(any(not(target_arch = "nvptx64"), warpsmith_arch_at_least = "80"))]
            8 => a.fma_relu(b, c),
            _ => F16x2::round_from(b.widen()[0], a.widen()[1]),
        }
        .to_bits();
    }
}

/// `f32` to `f16` in the four rounding modes: nearest and zero in the first pair, down and up in the second.
#[kernel]
pub fn f16_from_f32(
    x: &[f32],
    mut nearest_zero: PerThread<[F16x2]>,
    mut down_up: PerThread<[F16x2]>,
) {
    if let (Some(&x), Some(first), Some(second)) =
        (x.get(thread::index()), nearest_zero.mine(), down_up.mine())
    {
        *first = F16x2::new(f16::round_from(x, Nearest), f16::round_from(x, Zero));
        *second = F16x2::new(f16::round_from(x, Down), f16::round_from(x, Up));
    }
}

/// `f16` to `f32`, and to integers in the four rounding modes.
#[kernel]
pub fn f16_to_others(
    x: &[f16],
    mut wide: PerThread<[f32]>,
    integers: AtomicSlice<'_, i32>,
    mut bytes: PerThread<[u64]>,
) {
    let i = thread::index();
    if let (Some(&x), Some(wide), Some(long)) = (x.get(i), wide.mine(), bytes.mine()) {
        *wide = x.widen();
        let rounded: [i32; 4] = [
            x.round_to(Nearest),
            x.round_to(Zero),
            x.round_to(Down),
            x.round_to(Up),
        ];
        for (k, rounded) in rounded.into_iter().enumerate() {
            integers[4 * i + k].store(rounded, Relaxed);
        }
        let short: i16 = x.round_to(Zero);
        let unsigned: u16 = x.round_to(Zero);
        let wide: u32 = x.round_to(Nearest);
        *long = u64::from(short as u16) | u64::from(unsigned) << 16 | u64::from(wide) << 32;
    }
}

/// Integers to `f16`.
#[kernel]
pub fn f16_from_integers(
    x: &[i32],
    mut signed: PerThread<[F16x2]>,
    mut unsigned: PerThread<[F16x2]>,
) {
    if let (Some(&x), Some(signed), Some(unsigned)) =
        (x.get(thread::index()), signed.mine(), unsigned.mine())
    {
        *signed = F16x2::new(
            f16::round_from(x, Nearest),
            f16::round_from(i64::from(x) * 7, Down),
        );
        *unsigned = F16x2::new(
            f16::round_from(x as u32, Zero),
            f16::round_from(x as i16, Nearest),
        );
    }
}

/// What sm_80 added.
#[cfg(any(not(target_arch = "nvptx64"), warpsmith_arch_at_least = "80"))]
pub mod sm_80 {
    use super::operation;
    use warpsmith_device::half::{Bf16x2, HalfArithmetic, Nearest, RoundFrom, Zero, bf16, to_tf32};
    use warpsmith_device::prelude::*;

    /// One operation on `bf16`.
    #[kernel]
    pub fn bf16_operation(
        which: u32,
        a: &[bf16],
        b: &[bf16],
        c: &[bf16],
        mut out: PerThread<[u16]>,
    ) {
        let i = thread::index();
        if let (Some(&a), Some(&b), Some(&c), Some(out)) =
            (a.get(i), b.get(i), c.get(i), out.mine())
        {
            *out = match operation(which, a, b, c) {
                Ok(value) => value.to_bits(),
                Err(truth) => u16::from(truth),
            };
        }
    }

    /// One operation on pairs of `bf16`.
    #[kernel]
    pub fn bf16x2_operation(
        which: u32,
        a: &[Bf16x2],
        b: &[Bf16x2],
        c: &[Bf16x2],
        mut out: PerThread<[u32]>,
    ) {
        let i = thread::index();
        if let (Some(&a), Some(&b), Some(&c), Some(out)) =
            (a.get(i), b.get(i), c.get(i), out.mine())
        {
            *out = match which {
                0 => a + b,
                1 => a - b,
                2 => a * b,
                3 => a.fma(b, c),
                4 => -a,
                5 => a.abs(),
                6 => a.min(b),
                7 => a.max(b),
                8 => a.fma_relu(b, c),
                _ => Bf16x2::round_from(b.widen()[0], a.widen()[1]),
            }
            .to_bits();
        }
    }

    /// `f32` to `bf16`, nearest and towards zero, and to tf32; `bf16` back to `f32`.
    #[kernel]
    pub fn bf16_conversions(
        x: &[f32],
        mut rounded: PerThread<[Bf16x2]>,
        mut tf32: PerThread<[f32]>,
        mut back: PerThread<[f32]>,
    ) {
        let i = thread::index();
        if let (Some(&x), Some(rounded), Some(tf32), Some(back)) =
            (x.get(i), rounded.mine(), tf32.mine(), back.mine())
        {
            let nearest = bf16::round_from(x, Nearest);
            *rounded = Bf16x2::new(nearest, bf16::round_from(x, Zero));
            *tf32 = to_tf32(x);
            *back = nearest.widen();
        }
    }
}

/// What sm_90 added: `bf16` and integers.
#[cfg(any(not(target_arch = "nvptx64"), warpsmith_arch_at_least = "90"))]
pub mod sm_90 {
    use warpsmith_device::half::{Nearest, RoundFrom, RoundTo, Zero, bf16};
    use warpsmith_device::prelude::*;

    /// Integers to `bf16` and back.
    #[kernel]
    pub fn bf16_integers(x: &[i32], mut halves: PerThread<[u16]>, mut back: PerThread<[i32]>) {
        if let (Some(&x), Some(half), Some(back)) =
            (x.get(thread::index()), halves.mine(), back.mine())
        {
            let rounded = bf16::round_from(x, Nearest);
            *half = rounded.to_bits();
            *back = rounded.round_to(Zero);
        }
    }
}

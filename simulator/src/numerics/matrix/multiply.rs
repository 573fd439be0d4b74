//! D = A * B + C on fragments.
//!
//! Fragments are unpacked into dense matrices, multiplied, and packed again. Products of f16, bf16, tf32 and the 8-bit
//! formats are exact in f32. A device adds them up in an order, and with an intermediate precision, that are not
//! documented, only that it is at least single precision: here the sum of one instruction runs in f32 along k, starting
//! from C, and is rounded once more where D is f16. Integers wrap, or clamp with `.satfinite`; f64 uses fused
//! multiply-adds in the order of k.

use super::layout::Layout;
use super::shape::{Element, Shape, Use};
use crate::numerics::narrow::{e4m3_to_f64, e5m2_to_f64};
use half::{bf16, f16};

/// How bits are combined by `mma` on b1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BitOperation {
    /// `.xor.popc`
    Xor,
    /// `.and.popc`
    And,
}

/// A decoded `mma.sync` or `wmma.mma`.
#[derive(Clone, Debug)]
pub struct Multiply {
    /// The layouts of A, B, C and D.
    pub a: Layout,
    /// Layout of B.
    pub b: Layout,
    /// Layout of C.
    pub c: Layout,
    /// Layout of D.
    pub d: Layout,
    /// `.satfinite` on integers.
    pub saturate: bool,
    /// What b1 does.
    pub bits: BitOperation,
    shape: Shape,
    places: [Vec<u16>; 4],
}

/// The registers of a fragment: `fragment[register][lane]`, 64 bits wide for f64.
pub type Fragment = [[u64; 32]];

impl Multiply {
    /// For factors of types `a` and `b` and accumulators `c` and `d`.
    pub fn new(shape: Shape, [a, b, c, d]: [Element; 4], wmma: bool) -> Multiply {
        let layouts = [
            Layout::new(shape, Use::A, a, wmma),
            Layout::new(shape, Use::B, b, wmma),
            Layout::new(shape, Use::Accumulator, c, wmma),
            Layout::new(shape, Use::Accumulator, d, wmma),
        ];
        let places = layouts.map(|layout| {
            let columns = layout.extent().1;
            let elements = layout.elements();
            (0..32 * elements)
                .map(|i| {
                    let place = layout.place(i / elements, i % elements);
                    (place.row * columns + place.column) as u16
                })
                .collect()
        });
        let [a, b, c, d] = layouts;
        Multiply {
            a,
            b,
            c,
            d,
            saturate: false,
            bits: BitOperation::Xor,
            shape,
            places,
        }
    }

    /// Computes D from A, B and C. `d` must have as many registers as its layout.
    pub fn apply(&self, a: &Fragment, b: &Fragment, c: &Fragment, d: &mut Fragment) {
        match self.d.element() {
            Element::F64 => {
                let (x, y) = (
                    self.dense(0, a, f64::from_bits),
                    self.dense(1, b, f64::from_bits),
                );
                let mut sums = self.dense(2, c, f64::from_bits);
                self.sum(&x, &y, &mut sums, |s, x, y| x.mul_add(y, s));
                self.spread(&sums, d, f64::to_bits);
            }
            Element::S32 => {
                let (x, y) = (self.integers(0, a), self.integers(1, b));
                let mut sums = self.dense(2, c, |v| i64::from(v as i32));
                if self.a.element() == Element::B1 {
                    match self.bits {
                        BitOperation::Xor => {
                            self.sum(&x, &y, &mut sums, |s, x, y| s + i64::from(x ^ y))
                        }
                        BitOperation::And => {
                            self.sum(&x, &y, &mut sums, |s, x, y| s + i64::from(x & y))
                        }
                    }
                } else {
                    self.sum(&x, &y, &mut sums, |s, x, y| s + i64::from(x * y));
                }
                let clamp = |v: i64| v.clamp(i32::MIN.into(), i32::MAX.into());
                let saturate = self.saturate;
                self.spread(&sums, d, |v| {
                    u64::from((if saturate { clamp(v) } else { v }) as u32)
                });
            }
            element => {
                let (x, y) = (self.floats(0, a), self.floats(1, b));
                let mut sums = self.floats(2, c);
                self.sum(&x, &y, &mut sums, |s, x, y| s + x * y);
                if element == Element::F16 {
                    self.spread(&sums, d, |v| {
                        u64::from(if v.is_nan() {
                            0x7fff
                        } else {
                            f16::from_f32(v).to_bits()
                        })
                    });
                } else {
                    self.spread(&sums, d, |v| {
                        u64::from(if v.is_nan() { 0x7fff_ffff } else { v.to_bits() })
                    });
                }
            }
        }
    }

    fn layout(&self, which: usize) -> &Layout {
        [&self.a, &self.b, &self.c, &self.d][which]
    }

    /// The dense matrix (row by row) of a fragment.
    fn dense<T: Copy + Default>(
        &self,
        which: usize,
        fragment: &Fragment,
        value: impl Fn(u64) -> T,
    ) -> Vec<T> {
        let layout = self.layout(which);
        let (rows, columns) = layout.extent();
        let (elements, per_register, bits) = (
            layout.elements() as usize,
            layout.element().per_register() as usize,
            layout.element().bits(),
        );
        let mask = u64::MAX >> (64 - bits);
        let mut matrix = vec![T::default(); (rows * columns) as usize];
        for (lane, places) in self.places[which].chunks_exact(elements).enumerate() {
            // Where a fragment holds elements several times, the first copy counts.
            for (index, &place) in places.iter().enumerate().rev() {
                let word = fragment[index / per_register][lane];
                matrix[usize::from(place)] =
                    value(word >> (index % per_register * bits as usize) & mask);
            }
        }
        matrix
    }

    fn spread<T: Copy>(&self, matrix: &[T], fragment: &mut Fragment, value: impl Fn(T) -> u64) {
        let layout = self.layout(3);
        let (elements, per_register, bits) = (
            layout.elements() as usize,
            layout.element().per_register() as usize,
            layout.element().bits() as usize,
        );
        for (lane, places) in self.places[3].chunks_exact(elements).enumerate() {
            for (register, places) in places.chunks_exact(per_register).enumerate() {
                fragment[register][lane] =
                    places.iter().enumerate().fold(0, |word, (i, &place)| {
                        word | value(matrix[usize::from(place)]) << (i * bits)
                    });
            }
        }
    }

    fn floats(&self, which: usize, fragment: &Fragment) -> Vec<f32> {
        match self.layout(which).element() {
            Element::F16 => self.dense(which, fragment, |v| f16::from_bits(v as u16).to_f32()),
            Element::Bf16 => self.dense(which, fragment, |v| bf16::from_bits(v as u16).to_f32()),
            // The device looks at the upper 19 bits only.
            Element::Tf32 => self.dense(which, fragment, |v| f32::from_bits(v as u32 & !0x1fff)),
            Element::E4m3 => self.dense(which, fragment, |v| e4m3_to_f64(v as u8) as f32),
            Element::E5m2 => self.dense(which, fragment, |v| e5m2_to_f64(v as u8) as f32),
            _ => self.dense(which, fragment, |v| f32::from_bits(v as u32)),
        }
    }

    fn integers(&self, which: usize, fragment: &Fragment) -> Vec<i32> {
        match self.layout(which).element() {
            Element::S8 => self.dense(which, fragment, |v| i32::from(v as i8)),
            Element::S4 => self.dense(which, fragment, |v| i32::from((v as i8) << 4 >> 4)),
            _ => self.dense(which, fragment, |v| v as i32),
        }
    }

    /// The triple loop, innermost along a row of B and D so that it vectorises.
    fn sum<F: Copy, S: Copy>(&self, a: &[F], b: &[F], sums: &mut [S], step: impl Fn(S, F, F) -> S) {
        let Shape { n, k, .. } = self.shape;
        let (n, k) = (n as usize, k as usize);
        for (row_a, row_d) in a.chunks_exact(k).zip(sums.chunks_exact_mut(n)) {
            for (&x, row_b) in row_a.iter().zip(b.chunks_exact(n)) {
                for (sum, &y) in row_d.iter_mut().zip(row_b) {
                    *sum = step(*sum, x, y);
                }
            }
        }
    }
}

#[cfg(test)]
#[path = "multiply_tests.rs"]
mod tests;

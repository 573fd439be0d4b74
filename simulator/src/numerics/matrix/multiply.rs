//! D = A * B + C on fragments.
//!
//! Fragments are unpacked into dense matrices, multiplied, and packed again. Floating-point products are added up as
//! [`order`](super::order) says; f64 uses fused multiply-adds in the order of k, each rounded as the instruction asks. Integers wrap, or
//! clamp with `.satfinite`.

use super::accumulate::SumFormat;
use super::layout::Layout;
use super::order::{Product, Steps, add_up};
use super::shape::{Element, Shape, Use};
use super::sparse::Sparse;
use super::trace::{self, Known};
use crate::numerics::Rounding;
use crate::numerics::float::{Mode, fma};

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
    /// How sums of f64 are rounded.
    pub rounding: Rounding,
    sparse: Option<Sparse>,
    steps: Steps,
    shape: Shape,
    places: [Vec<u16>; 4],
}

/// The registers of a fragment: `fragment[register][lane]`, 64 bits wide for f64.
pub type Fragment = [[u64; 32]];

impl Multiply {
    /// For factors of types `a` and `b` and accumulators `c` and `d`; A may be sparse.
    pub fn new(
        shape: Shape,
        [a, b, c, d]: [Element; 4],
        wmma: bool,
        sparse: Option<Sparse>,
    ) -> Multiply {
        let stored = match sparse {
            Some(_) => Sparse::stored(shape),
            None => shape,
        };
        let steps = Steps::of(shape, a, wmma);
        let layouts = [
            Layout::new(stored, Use::A, a, wmma),
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
            rounding: Rounding::NearestEven,
            sparse,
            steps,
            shape,
            places,
        }
    }

    /// Computes D from A, B and C, with the metadata of a sparse A. `d` must have as many registers as its layout.
    #[inline(always)]
    pub fn apply(&self, [a, b, c]: [&Fragment; 3], metadata: Option<&[u32; 32]>, d: &mut Fragment) {
        let place = |row: usize, stored: usize| match (self.sparse, metadata) {
            (Some(sparse), Some(metadata)) => {
                let depth = self.shape.k as usize;
                sparse.place(self.a.element(), depth, metadata, row, stored)
            }
            _ => stored,
        };
        match self.d.element() {
            Element::F64 => {
                let (x, y) = (
                    self.dense(0, a, f64::from_bits),
                    self.dense(1, b, f64::from_bits),
                );
                let mut sums = self.dense(2, c, f64::from_bits);
                let mode = Mode::rounded(self.rounding);
                self.sum(&x, &y, &mut sums, place, |s, x, y| fma(x, y, s, mode));
                self.spread(&sums, d, f64::to_bits);
            }
            Element::S32 => {
                let (x, y) = (self.integers(0, a), self.integers(1, b));
                let mut sums = self.dense(2, c, |v| i64::from(v as i32));
                let add = |step: fn(i64, i32, i32) -> i64, sums: &mut Vec<i64>| {
                    self.sum(&x, &y, sums, place, step);
                };
                match (self.a.element(), self.bits) {
                    (Element::B1, BitOperation::Xor) => {
                        add(|s, x, y| s + i64::from(x ^ y), &mut sums)
                    }
                    (Element::B1, BitOperation::And) => {
                        add(|s, x, y| s + i64::from(x & y), &mut sums)
                    }
                    _ => add(|s, x, y| s + i64::from(x * y), &mut sums),
                }
                let clamp = |v: i64| v.clamp(i32::MIN.into(), i32::MAX.into());
                let saturate = self.saturate;
                self.spread(&sums, d, |v| {
                    u64::from((if saturate { clamp(v) } else { v }) as u32)
                });
            }
            _ => {
                let bits = |which, fragment| self.dense(which, fragment, |v| v as u32);
                let (x, y, c) = (bits(0, a), bits(1, b), bits(2, c));
                let columns = self.shape.n as usize;
                let stored = self.stored();
                let product = Product {
                    elements: [self.a.element(), self.b.element()],
                    rows: self.shape.m as usize,
                    columns,
                    depths: [stored, self.shape.k as usize],
                    a: |row, k| x[row * stored + k],
                    b: |column, k| y[k * columns + column],
                    place,
                };
                let formats = [&self.c, &self.d].map(|layout| SumFormat::of(layout.element()));
                let sums = add_up(&product, self.steps, formats, &c);
                self.spread(&sums, d, u64::from);
            }
        }
    }

    /// What is known of the registers of D, in each lane, where something is known of those of A, B and C, and of the
    /// metadata in the lanes (the first register of the fourth).
    pub fn trace<T: Copy>(
        &self,
        [a, b, c, e]: [Known<'_, T>; 4],
        metadata: Option<&[u32; 32]>,
    ) -> Vec<[Option<T>; 32]> {
        let [a, b, c] = [(0, a), (1, b), (2, c)].map(|(which, known)| self.known(which, known));
        let [rows, columns] = [self.shape.m, self.shape.n].map(|count| count as usize);
        let (stored, depth) = (self.stored(), self.shape.k as usize);
        let sparse = self.sparse.zip(metadata);
        let element = self.a.element();
        let row = |row: usize| {
            let of_metadata = |(sparse, _): (Sparse, &[u32; 32])| {
                let mut lanes =
                    (0..stored).map(|k| sparse.metadata_place(element, depth, row, k).0);
                lanes.find_map(|lane| e(0, lane))
            };
            let mut elements = a[row * stored..][..stored].iter();
            let found = elements.find_map(|known| *known);
            found.or_else(|| sparse.and_then(of_metadata))
        };
        let column = |row: usize, column: usize| {
            (0..stored).find_map(|k| {
                let k = match sparse {
                    Some((sparse, metadata)) => sparse.place(element, depth, metadata, row, k),
                    None => k,
                };
                b[k * columns + column]
            })
        };
        let addend = |row: usize, column: usize| c[row * columns + column];
        let elements = trace::of_elements([rows, columns], row, column, addend);
        let layout = self.layout(3);
        let per_register = layout.element().per_register() as usize;
        let registers = layout.registers() as usize;
        let places = &self.places[3];
        let register = |register: usize| {
            std::array::from_fn(|lane| {
                let first = (lane * registers + register) * per_register;
                let mut places = places[first..first + per_register].iter();
                places.find_map(|&place| elements[usize::from(place)])
            })
        };
        (0..registers).map(register).collect()
    }

    /// What is known of the elements of a fragment's matrix, row by row.
    fn known<T: Copy>(&self, which: usize, known: Known<'_, T>) -> Vec<Option<T>> {
        let layout = self.layout(which);
        let (rows, columns) = layout.extent();
        let per_register = layout.element().per_register() as usize;
        let elements = layout.elements() as usize;
        let mut matrix = vec![None; (rows * columns) as usize];
        for (lane, places) in self.places[which].chunks_exact(elements).enumerate() {
            for (index, &place) in places.iter().enumerate().rev() {
                matrix[usize::from(place)] = known(index / per_register, lane);
            }
        }
        matrix
    }

    /// Elements of a row of A that are stored.
    fn stored(&self) -> usize {
        self.a.extent().1 as usize
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

    fn integers(&self, which: usize, fragment: &Fragment) -> Vec<i32> {
        match self.layout(which).element() {
            Element::S8 => self.dense(which, fragment, |v| i32::from(v as i8)),
            Element::S4 => self.dense(which, fragment, |v| i32::from((v as i8) << 4 >> 4)),
            _ => self.dense(which, fragment, |v| v as i32),
        }
    }

    /// The triple loop, innermost along a row of B and D so that it vectorises.
    fn sum<F: Copy, S: Copy>(
        &self,
        a: &[F],
        b: &[F],
        sums: &mut [S],
        place: impl Fn(usize, usize) -> usize,
        step: impl Fn(S, F, F) -> S,
    ) {
        let (n, stored) = (self.shape.n as usize, self.stored());
        let rows = a.chunks_exact(stored).zip(sums.chunks_exact_mut(n));
        for (row, (row_a, row_d)) in rows.enumerate() {
            for (column, &x) in row_a.iter().enumerate() {
                let row_b = &b[place(row, column) * n..][..n];
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

//! `mma.m8n8k4` of f16: four products of 8 x 8 elements at once, each of the lanes `4i ..` and `16 + 4i ..`.
//!
//! Sums are those of f32 arithmetic, to nearest: `((((0 + p0) + p1) + p2) + p3) + c`, and with a result of f16 `((p0 + p1) + c) + (p2 + p3)`.

use super::accumulate::SumFormat;
use super::multiply::Fragment;
use super::shape::{Element, Use};
use super::trace::{self, Known};
use half::f16;

/// A decoded `mma.m8n8k4` of f16.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Quads {
    /// Whether A and B are stored by rows.
    pub by_rows: [bool; 2],
    /// What C is and D becomes.
    pub formats: [SumFormat; 2],
}

/// Rows and columns of a product.
const SIZE: usize = 8;
const DEPTH: usize = 4;

/// The lanes of a product, in the order of their rows.
fn lane(product: usize, number: usize) -> usize {
    product * 4 + number % 4 + number / 4 * 16
}

/// The lane and the number of an element of a factor, of whose lines (rows of A, columns of B) each is a lane's, or of
/// whose elements at a place along k.
fn factor_place(by_lines: bool, product: usize, line: usize, k: usize) -> (usize, usize) {
    match by_lines {
        true => (lane(product, line), k),
        false => (lane(product, line / 4 * 4 + k), line % 4),
    }
}

/// An element of f16: of two in a register.
fn half_of(fragment: &Fragment, lane: usize, index: usize) -> f32 {
    f16::from_bits((fragment[index / 2][lane] >> (index % 2 * 16)) as u16).to_f32()
}

impl Quads {
    /// Registers of a fragment in each lane.
    pub fn registers(part: Use, element: Element) -> u32 {
        match (part, element) {
            (Use::A | Use::B, _) => 2,
            (Use::Accumulator, Element::F16) => 4,
            (Use::Accumulator, _) => 8,
        }
    }

    /// The lane and the number of the element of C or D at this row and column.
    fn place(format: SumFormat, product: usize, row: usize, column: usize) -> (usize, usize) {
        match format {
            SumFormat::F16 => (lane(product, row), column),
            // Bit 0 of the lane is that of the row, bit 1 that of the column.
            _ => (
                lane(product, row / 4 * 4 + row % 2 + column / 2 % 2 * 2),
                column / 4 * 4 + row / 2 % 2 * 2 + column % 2,
            ),
        }
    }

    /// What is known of the registers of D, in each lane, where something is known of those of A, B and C.
    pub fn trace<T: Copy>(&self, [a, b, c]: [Known<'_, T>; 3]) -> Vec<[Option<T>; 32]> {
        let [addend, result] = self.formats;
        let per_register = |format| match format {
            SumFormat::F16 => 2,
            _ => 1,
        };
        let mut d = vec![[None; 32]; SIZE / per_register(result)];
        for product in 0..4 {
            let line = |known: Known<'_, T>, by_lines: bool, line: usize| {
                (0..DEPTH).find_map(|k| {
                    let (lane, index) = factor_place(by_lines, product, line, k);
                    known(index / 2, lane)
                })
            };
            let elements = trace::of_elements(
                [SIZE, SIZE],
                |row| line(a, self.by_rows[0], row),
                |_, column| line(b, !self.by_rows[1], column),
                |row, column| {
                    let (lane, index) = Self::place(addend, product, row, column);
                    c(index / per_register(addend), lane)
                },
            );
            for (at, known) in elements.into_iter().enumerate() {
                let (lane, index) = Self::place(result, product, at / SIZE, at % SIZE);
                let register: &mut Option<T> = &mut d[index / per_register(result)][lane];
                *register = register.or(known);
            }
        }
        d
    }

    /// Computes D from A, B and C.
    pub fn apply(&self, [a, b, c]: [&Fragment; 3], d: &mut Fragment) {
        let [addend, result] = self.formats;
        let element = |fragment: &Fragment, by_lines: bool, product, line: usize, k: usize| {
            let (lane, index) = factor_place(by_lines, product, line, k);
            half_of(fragment, lane, index)
        };
        for registers in d.iter_mut() {
            *registers = [0; 32];
        }
        for product in 0..4 {
            for row in 0..SIZE {
                for column in 0..SIZE {
                    let products: [f32; DEPTH] = std::array::from_fn(|k| {
                        element(a, self.by_rows[0], product, row, k)
                            * element(b, !self.by_rows[1], product, column, k)
                    });
                    let (from, index) = Self::place(addend, product, row, column);
                    let c = match addend {
                        SumFormat::F16 => half_of(c, from, index),
                        _ => f32::from_bits(c[index][from] as u32),
                    };
                    let [p0, p1, p2, p3] = products;
                    let (to, index) = Self::place(result, product, row, column);
                    match result {
                        SumFormat::F16 => {
                            let sum = ((p0 + p1) + c) + (p2 + p3);
                            let bits = u64::from(result.from_f32(sum));
                            d[index / 2][to] |= bits << (index % 2 * 16);
                        }
                        _ => {
                            let sum = ((((0.0 + p0) + p1) + p2) + p3) + c;
                            d[index][to] = result.from_f32(sum).into();
                        }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The formulas of the manual, written out.
    #[test]
    fn accumulators_lie_where_the_manual_says() {
        for lane in 0..32usize {
            for index in 0..8usize {
                let upper = if lane < 16 { 0 } else { 4 };
                let row = (lane & 1) + (index & 2) + upper;
                let column = (index & 4) + (lane & 2) + (index & 1);
                let product = lane % 16 / 4;
                let found = Quads::place(SumFormat::F32, product, row, column);
                assert_eq!(found, (lane, index));
                let found = Quads::place(SumFormat::F16, product, lane % 4 + upper, index);
                assert_eq!(found, (lane, index));
            }
        }
    }

    #[test]
    fn sums_round_step_by_step() {
        let ones = vec![[0x3c00_3c00u64; 32]; 2];
        let quads = |result| Quads {
            by_rows: [true, false],
            formats: [SumFormat::F32, result],
        };
        // 2^24 + 1 + 1 + 1 + 1 one by one would stay 2^24.
        let c = vec![[u64::from(16_777_216f32.to_bits()); 32]; 8];
        let mut d = vec![[0; 32]; 8];
        quads(SumFormat::F32).apply([&ones, &ones, &c], &mut d);
        assert_eq!(f32::from_bits(d[3][7] as u32), 16_777_220.0);
        let c = vec![[u64::from(2049f32.to_bits()); 32]; 8];
        quads(SumFormat::F16).apply([&ones, &ones, &c], &mut d[..4]);
        assert_eq!(f16::from_bits(d[3][7] as u16).to_f32(), 2052.0);
    }
}

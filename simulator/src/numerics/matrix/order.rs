//! In which steps the instructions add up the products of floating-point factors.
//!
//! Measured on a device of compute capability 9.0, bit for bit; other architectures add in other steps, with other constants.

use super::accumulate::{Addend, Sum, SumFormat};
use super::factors::{Factors, Order};
use super::shape::{Element, Shape};
use crate::numerics::narrow::e4m3_to_f64;
use half::f16;
use std::borrow::Cow;

/// How the tensor cores of an architecture add.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TensorCore {
    /// The compute capability: 90 for 9.0.
    pub capability: u32,
    /// Binary digits behind the point that terms keep, relative to the largest.
    pub fraction: u32,
    /// Those that they keep in `wgmma` with factors of 8 bits.
    pub warpgroup_byte_fraction: u32,
}

/// What was measured.
const MEASURED: [TensorCore; 1] = [TensorCore {
    capability: 90,
    fraction: 25,
    warpgroup_byte_fraction: 13,
}];

impl TensorCore {
    /// That of the devices that are simulated.
    pub const SIMULATED: TensorCore = MEASURED[0];
}

/// The steps of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Steps {
    /// All products and C in one sum.
    One,
    /// Products of k below 4 and C, then the others and that sum.
    Halves,
    /// Of each four along k the first two, without C; the other two and that sum; then C is added to this. All three are in the
    /// format of D.
    Pairs,
}

impl Steps {
    /// Those of a product of these shape and factors.
    pub fn of(shape: Shape, factor: Element, wmma: bool) -> Steps {
        match factor {
            Element::Tf32 if wmma && shape.k == 8 => Steps::Halves,
            Element::E4m3 | Element::E5m2 => Steps::Pairs,
            _ => Steps::One,
        }
    }

    /// Which elements along k each sum has.
    fn parts(self, depth: usize) -> Vec<Vec<usize>> {
        let those = |wanted: &dyn Fn(usize) -> bool| (0..depth).filter(|&k| wanted(k)).collect();
        match self {
            Steps::One => vec![those(&|_| true)],
            Steps::Halves => vec![those(&|k| k < 4), those(&|k| k >= 4)],
            Steps::Pairs => vec![those(&|k| k % 4 < 2), those(&|k| k % 4 >= 2)],
        }
    }
}

/// An element as its factor takes it: of 8 bits as f16, which has them all, with subnormals become normal.
fn taken(element: Element, bits: u32) -> u32 {
    match element {
        Element::E5m2 => bits << 8,
        Element::E4m3 => f16::from_f64(e4m3_to_f64(bits as u8)).to_bits().into(),
        // The upper 19 bits of a word are a tf32.
        Element::Tf32 => bits >> 13,
        _ => bits,
    }
}

/// What the elements of a factor are taken as.
fn taken_as(element: Element) -> Element {
    match element {
        Element::E4m3 | Element::E5m2 => Element::F16,
        other => other,
    }
}

/// A factor's elements `(line, k)`, so many along k.
#[inline(always)]
fn factors(
    element: Element,
    order: Order,
    lines: usize,
    depth: usize,
    bits: impl Fn(usize, usize) -> u32,
) -> Factors {
    let mut factors = Factors::new(taken_as(element), order, lines, depth);
    factors.fill(|line, k| taken(element, bits(line, k)));
    factors
}

/// The factors of a product and where their elements are.
pub struct Product<A, B, P> {
    /// The types of A and B.
    pub elements: [Element; 2],
    /// Rows of A.
    pub rows: usize,
    /// Columns of B.
    pub columns: usize,
    /// Elements along k of a row of A that are stored, and of a column of B.
    pub depths: [usize; 2],
    /// The bits of A at this row and stored place along k.
    pub a: A,
    /// The bits of B at this column and place along k.
    pub b: B,
    /// With which element of B along k the one of A in this row and stored place is multiplied.
    pub place: P,
}

/// D = A * B + C: `c` has the bits of the elements of C row by row, those of D come out.
#[inline(always)]
pub fn add_up<A, B, P>(
    product: &Product<A, B, P>,
    steps: Steps,
    formats: [SumFormat; 2],
    c: &[u32],
) -> Vec<u32>
where
    A: Fn(usize, usize) -> u32,
    B: Fn(usize, usize) -> u32,
    P: Fn(usize, usize) -> usize,
{
    let [addend, result] = formats;
    // A subnormal C of f16 is a normal f32.
    let (addend, c) = match (addend, result) {
        (SumFormat::F16, SumFormat::F32) => {
            let wide = c.iter().map(|&c| addend.to_f32(c).to_bits());
            (SumFormat::F32, Cow::Owned(wide.collect::<Vec<u32>>()))
        }
        _ => (addend, Cow::Borrowed(c)),
    };
    let fraction = TensorCore::SIMULATED.fraction;
    let ([a, b], [stored, depth]) = (product.elements, product.depths);
    let right = factors(b, Order::ByDepth, product.columns, depth, &product.b);
    let parts = steps.parts(stored);
    let mut d = match steps {
        Steps::Pairs => vec![0; c.len()],
        _ => c.to_vec(),
    };
    for (number, part) in parts.iter().enumerate() {
        let last = number + 1 == parts.len();
        let sum = match steps {
            Steps::Pairs => Sum::of(fraction, result),
            _ => Sum {
                fraction,
                addend: if number == 0 { addend } else { SumFormat::F32 },
                result: if last { result } else { SumFormat::F32 },
            },
        };
        let adds = match steps {
            Steps::Pairs if number == 0 => Addend::None,
            _ => Addend::Accumulator,
        };
        let bits = |row, at: usize| (product.a)(row, part[at]);
        let left = factors(a, Order::ByLine, product.rows, part.len(), bits);
        for (row, d) in d.chunks_exact_mut(product.columns).enumerate() {
            let place = |at: usize| (product.place)(row, part[at]);
            sum.row(left.line(row), &right, place, adds, d);
        }
    }
    if steps == Steps::Pairs {
        for (d, &c) in d.iter_mut().zip(c.iter()) {
            *d = result.from_f32(result.to_f32(*d) + addend.to_f32(c));
        }
    }
    d
}

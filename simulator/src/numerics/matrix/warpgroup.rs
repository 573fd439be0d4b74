//! Products of a warpgroup (`wgmma`): their shapes and types, which elements a warp's registers hold, and a warp's part
//! of one.
//!
//! A is 64 x k, B is k x n, and a row of A or a column of B has 32 bytes. The warps of the warpgroup have 16 rows each.
//! Of a sparse A half of the elements are stored: a row of it still has 32 bytes, and a column of B has 64.

use super::accumulate::{Addend, IntegerOverflow, Sum, SumFormat, integer_row};
use super::descriptor::Major;
use super::factors::{Factors, Order};
use super::order::TensorCore;
use super::shape::Element;
use super::sparse::Sparse;
use super::trace::{self, Known};

/// Rows of A and D.
pub const ROWS: usize = 64;
/// Rows that a warp has.
pub const WARP_ROWS: usize = 16;
/// The most columns of B and D.
pub const MOST_COLUMNS: usize = 256;
/// Bytes of a row of A, and of a column of B if A is not sparse.
const LINE_BYTES: u32 = 32;
/// Bytes that lie in one piece in shared memory.
pub const UNIT_BYTES: u32 = 16;

/// What a `wgmma.mma_async` computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct WarpgroupProduct {
    /// The type of A.
    pub a: Element,
    /// The type of B.
    pub b: Element,
    /// The type of D: f16, f32 or s32.
    pub d: Element,
    /// Columns of B and D: a multiple of 8 of at most 256.
    pub columns: u16,
    /// How A lies in shared memory.
    pub a_major: Major,
    /// How B lies in shared memory.
    pub b_major: Major,
    /// Whether the products are subtracted.
    pub negate: bool,
    /// What becomes of integers out of range.
    pub overflow: IntegerOverflow,
    /// Where A is sparse: which lanes have its metadata.
    pub sparse: Option<Sparse>,
}

const ELEMENTS: [Element; 10] = [
    Element::F16,
    Element::Bf16,
    Element::Tf32,
    Element::E4m3,
    Element::E5m2,
    Element::S8,
    Element::U8,
    Element::B1,
    Element::F32,
    Element::S32,
];

impl WarpgroupProduct {
    /// It as a number. Columns come by eights, and there are two selectors at most.
    pub fn to_bits(self) -> u32 {
        let element = |element| {
            let found = ELEMENTS.iter().position(|&other| other == element);
            found.expect("a type of wgmma") as u32
        };
        element(self.a)
            | element(self.b) << 4
            | element(self.d) << 8
            | u32::from(self.columns / 8) << 12
            | u32::from(self.sparse.is_some()) << 18
            | u32::from(self.sparse.map_or(0, |sparse| sparse.selector)) << 19
            | u32::from(self.a_major == Major::Lines) << 28
            | u32::from(self.b_major == Major::Lines) << 29
            | u32::from(self.negate) << 30
            | u32::from(self.overflow == IntegerOverflow::Saturate) << 31
    }

    /// What [`WarpgroupProduct::to_bits`] made this number of.
    pub fn from_bits(bits: u32) -> WarpgroupProduct {
        let element = |at: u32| ELEMENTS[(bits >> at & 15) as usize];
        let major = |at: u32| match bits >> at & 1 {
            0 => Major::K,
            _ => Major::Lines,
        };
        WarpgroupProduct {
            a: element(0),
            b: element(4),
            d: element(8),
            columns: (bits >> 12 & 63) as u16 * 8,
            a_major: major(28),
            b_major: major(29),
            negate: bits >> 30 & 1 != 0,
            overflow: match bits >> 31 {
                0 => IntegerOverflow::Wrap,
                _ => IntegerOverflow::Saturate,
            },
            sparse: (bits >> 18 & 1 != 0).then_some(Sparse {
                selector: (bits >> 19 & 1) as u8,
            }),
        }
    }

    /// Registers of D.
    pub fn registers(self) -> usize {
        usize::from(self.columns) / 2 / self.d.per_register() as usize
    }

    /// Where the units of A lie that are in shared memory, along the direction in which memory goes on and across it.
    pub fn a_units(self) -> Vec<[u32; 2]> {
        units(self.a, LINE_BYTES, ROWS, self.a_major)
    }

    /// Where the units of B lie, as those of A.
    pub fn b_units(self) -> Vec<[u32; 2]> {
        units(self.b, self.b_bytes(), self.columns.into(), self.b_major)
    }

    /// Bytes of a column of B.
    fn b_bytes(self) -> u32 {
        match self.sparse {
            None => LINE_BYTES,
            Some(_) => 2 * LINE_BYTES,
        }
    }

    /// With which element of B along k the one of A in this row (of a warp's) and stored place is multiplied.
    fn b_place(self, sparse: Sparse, metadata: &[u32; 32], row: usize, stored: usize) -> usize {
        let depth = (self.b_bytes() * 8 / self.b.bits()) as usize;
        sparse.place(self.a, depth, metadata, row, stored)
    }

    /// A from its units in shared memory, in the order of [`WarpgroupProduct::a_units`].
    pub fn shared_a(self, bytes: &[[u8; 16]]) -> Factors {
        let mut a = factors(self.a, Order::ByLine, LINE_BYTES, ROWS, self.a_major, bytes);
        if self.negate {
            a.negate();
        }
        a
    }

    /// B from its units, in the order of [`WarpgroupProduct::b_units`].
    pub fn shared_b(self, bytes: &[[u8; 16]]) -> Factors {
        let columns = usize::from(self.columns);
        let (order, length) = (Order::ByDepth, self.b_bytes());
        factors(self.b, order, length, columns, self.b_major, bytes)
    }

    /// A warp's rows of A that are in its four registers.
    pub fn register_a(self, registers: [&[u32; 32]; 4]) -> Factors {
        let bytes: Vec<[u8; 16]> = units(self.a, LINE_BYTES, WARP_ROWS, Major::K)
            .into_iter()
            .map(|[unit, row]| {
                // A register holds four bytes of a row; four lanes one after the other hold 16 of them.
                let register = registers[(unit * 2 + row / 8) as usize];
                let first = (row % 8 * 4) as usize;
                let mut bytes = [0; 16];
                for (bytes, word) in bytes.chunks_exact_mut(4).zip(&register[first..first + 4]) {
                    bytes.copy_from_slice(&word.to_le_bytes());
                }
                bytes
            })
            .collect();
        let mut a = factors(
            self.a,
            Order::ByLine,
            LINE_BYTES,
            WARP_ROWS,
            Major::K,
            &bytes,
        );
        if self.negate {
            a.negate();
        }
        a
    }

    /// Which elements of A, in shared memory, 4 bytes of a unit hold: rows and places along k.
    pub fn elements_of_a(self, unit: [u32; 2], word: u32) -> Vec<[usize; 2]> {
        elements(self.a, self.a_major, unit, word)
    }

    /// Which elements of B 4 bytes of a unit hold: columns and places along k.
    pub fn elements_of_b(self, unit: [u32; 2], word: u32) -> Vec<[usize; 2]> {
        elements(self.b, self.b_major, unit, word)
    }

    /// What is known of the registers of D, in each lane of a warp, where something is known of its rows of A, of
    /// elements of B (by column and place along k), of the registers of C, and of the metadata in the lanes.
    pub fn trace<T: Copy>(
        self,
        row: impl Fn(usize) -> Option<T>,
        b: Known<'_, T>,
        c: Known<'_, T>,
        (e, metadata): (impl Fn(usize) -> Option<T>, &[u32; 32]),
    ) -> Vec<[Option<T>; 32]> {
        let columns = usize::from(self.columns);
        let stored = (LINE_BYTES * 8 / self.a.bits()) as usize;
        let depth = (self.b_bytes() * 8 / self.b.bits()) as usize;
        let of_row = |line: usize| {
            let of_metadata = |sparse: Sparse| {
                let mut lanes =
                    (0..stored).map(|k| sparse.metadata_place(self.a, depth, line, k).0);
                lanes.find_map(&e)
            };
            row(line).or_else(|| self.sparse.and_then(of_metadata))
        };
        let whole: Vec<Option<T>> = (0..columns)
            .map(|column| (0..depth).find_map(|k| b(column, k)))
            .collect();
        let of_column = |line: usize, column: usize| {
            let found = whole[column];
            match self.sparse {
                Some(sparse) if found.is_some() => (0..stored).find_map(|k| {
                    let k = self.b_place(sparse, metadata, line, k);
                    b(column, k)
                }),
                _ => found,
            }
        };
        let elements = trace::of_elements([WARP_ROWS, columns], of_row, of_column, |_, _| None);
        let per_register = self.d.per_register() as usize;
        let register = |register: usize| {
            std::array::from_fn(|lane| {
                let (row, column) = self.place(register, lane);
                let at = row * columns + column;
                let mut found = elements[at..at + per_register].iter();
                found.find_map(|known| *known).or_else(|| c(register, lane))
            })
        };
        (0..self.registers()).map(register).collect()
    }

    /// The row (of the warp's 16) that a lane's register of A has elements of, if A is in registers.
    pub fn register_row(register: usize, lane: usize) -> usize {
        register % 2 * 8 + lane / 4
    }

    /// The row (of the warp's 16) and the column of the first element in a register of D; of two elements in it the second is in the
    /// next column.
    pub fn place(self, register: usize, lane: usize) -> (usize, usize) {
        let (pair, part) = match self.d {
            Element::F16 => (register, 0),
            _ => (register / 2, register % 2),
        };
        (lane / 4 + pair % 2 * 8, pair / 2 * 8 + lane % 4 * 2 + part)
    }

    /// Computes a warp's rows: `d` has its 16 rows of C one after the other, each element in a word of its own, and gets those of D.
    /// `first` is the first row of `a` that counts, `metadata` what the warp's lanes have of a sparse A.
    #[inline(always)]
    pub fn rows(
        self,
        a: &Factors,
        first: usize,
        b: &Factors,
        metadata: &[u32; 32],
        addend: Addend,
        d: &mut [u32],
    ) {
        match self.sparse {
            None => self.placed_rows(a, first, b, |_, k| k, addend, d),
            Some(sparse) => {
                let place = |row, stored| self.b_place(sparse, metadata, row, stored);
                self.placed_rows(a, first, b, place, addend, d);
            }
        }
    }

    /// As [`WarpgroupProduct::rows`]; `place` is that of the element of B for a row and an element of A.
    #[inline(always)]
    fn placed_rows(
        self,
        a: &Factors,
        first: usize,
        b: &Factors,
        place: impl Fn(usize, usize) -> usize,
        addend: Addend,
        d: &mut [u32],
    ) {
        let format = match (self.d, self.a) {
            (Element::F16, _) => SumFormat::F16,
            (_, Element::E4m3 | Element::E5m2) => SumFormat::F32Short,
            _ => SumFormat::F32,
        };
        let fraction = match self.a {
            Element::E4m3 | Element::E5m2 => TensorCore::SIMULATED.warpgroup_byte_fraction,
            _ => TensorCore::SIMULATED.fraction,
        };
        let sum = Sum::of(fraction, format);
        for (row, d) in d.chunks_exact_mut(self.columns.into()).enumerate() {
            let a = a.line(first + row);
            let place = |k| place(row, k);
            match self.d {
                Element::S32 => integer_row(a, b, place, addend, self.overflow, d),
                _ => sum.row(a, b, place, addend, d),
            }
        }
    }
}

/// A factor from its units, in the order of [`units`].
fn factors(
    element: Element,
    order: Order,
    length: u32,
    lines: usize,
    major: Major,
    bytes: &[[u8; 16]],
) -> Factors {
    let depth = (length * 8 / element.bits()) as usize;
    let mut factors = Factors::new(element, order, lines, depth);
    for ([along, across], &bytes) in units(element, length, lines, major).into_iter().zip(bytes) {
        match major {
            Major::K => {
                let start = (along * UNIT_BYTES) as usize;
                factors.put_along_k(across as usize, start, bytes);
            }
            Major::Lines => {
                let first = along * UNIT_BYTES * 8 / element.bits();
                factors.put_along_lines(first as usize, across as usize, bytes);
            }
        }
    }
    factors
}

/// The lines and places along k of the elements in 4 bytes of a unit.
fn elements(
    element: Element,
    major: Major,
    [along, across]: [u32; 2],
    word: u32,
) -> Vec<[usize; 2]> {
    let first = (along * UNIT_BYTES + word * 4) * 8 / element.bits();
    let all = (first..first + element.per_register()).map(|at| match major {
        Major::K => [across, at],
        Major::Lines => [at, across],
    });
    all.map(|place| place.map(|at| at as usize)).collect()
}

/// Where the units of a factor lie whose lines have so many bytes, along the direction in which memory goes on and
/// across it.
fn units(element: Element, length: u32, lines: usize, major: Major) -> Vec<[u32; 2]> {
    let (along, across) = match major {
        Major::K => (length / UNIT_BYTES, lines as u32),
        Major::Lines => (
            lines as u32 * element.bits() / 8 / UNIT_BYTES,
            length * 8 / element.bits(),
        ),
    };
    let places = (0..across).flat_map(|across| (0..along).map(move |along| [along, across]));
    places.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn product(a: Element, d: Element, columns: u16) -> WarpgroupProduct {
        WarpgroupProduct {
            a,
            b: a,
            d,
            columns,
            a_major: Major::K,
            b_major: Major::K,
            negate: false,
            overflow: IntegerOverflow::Wrap,
            sparse: None,
        }
    }

    #[test]
    fn a_product_comes_back_from_its_number() {
        for a in ELEMENTS {
            for columns in [8, 256] {
                for flags in 0..64 {
                    let flag = |bit: u32| flags >> bit & 1 != 0;
                    let major = |bit| if flag(bit) { Major::Lines } else { Major::K };
                    let product = WarpgroupProduct {
                        a_major: major(0),
                        b_major: major(1),
                        negate: flag(2),
                        overflow: match flag(3) {
                            true => IntegerOverflow::Saturate,
                            false => IntegerOverflow::Wrap,
                        },
                        sparse: flag(4).then_some(Sparse {
                            selector: flag(5).into(),
                        }),
                        ..product(a, Element::F32, columns)
                    };
                    assert_eq!(WarpgroupProduct::from_bits(product.to_bits()), product);
                }
            }
        }
    }

    #[test]
    fn registers_hold_each_element_once() {
        for (d, per_register) in [(Element::F16, 2), (Element::F32, 1), (Element::S32, 1)] {
            let product = product(Element::F16, d, 24);
            assert_eq!(product.registers(), 12 / per_register);
            let mut found = [[0; 24]; WARP_ROWS];
            for register in 0..product.registers() {
                for lane in 0..32 {
                    let (row, column) = product.place(register, lane);
                    (0..per_register).for_each(|part| found[row][column + part] += 1);
                }
            }
            assert_eq!(found, [[1; 24]; WARP_ROWS]);
        }
        // As the manual's figures have it: lane 5 holds rows 1 and 9, columns 2, 3, 10, 11 and so on.
        let wide = product(Element::F16, Element::F32, 16);
        let places: Vec<_> = (0..8).map(|register| wide.place(register, 5)).collect();
        let expected = [
            (1, 2),
            (1, 3),
            (9, 2),
            (9, 3),
            (1, 10),
            (1, 11),
            (9, 10),
            (9, 11),
        ];
        assert_eq!(places, expected);
    }

    #[test]
    fn a_in_registers_is_as_the_figures_have_it() {
        // Each byte is told by its register, lane and place; rows of 32 bytes.
        let product = product(Element::U8, Element::S32, 8);
        let registers: [[u32; 32]; 4] = std::array::from_fn(|register| {
            std::array::from_fn(|lane| {
                let byte = |part: usize| ((register * 32 + lane) * 4 + part) as u8;
                u32::from_le_bytes([byte(0), byte(1), byte(2), byte(3)])
            })
        });
        let a = product.register_a(registers.each_ref());
        // Row 9, byte 22: registers of rows from 8 on are odd, those of bytes from 16 on the upper two; lane 4 + 1, byte 2.
        assert_eq!(
            a.line(9).significands[22],
            i16::from(((3 * 32 + 5) * 4 + 2) as u8)
        );
        assert_eq!(a.line(0).significands[0], 0);
        assert_eq!(
            a.line(15).significands[3],
            i16::from(((32 + 28) * 4 + 3) as u8)
        );
    }
}

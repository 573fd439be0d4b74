//! Sparse left factors: which elements along k the stored ones are.
//!
//! A line of a sparse factor has half its elements. Of each four units that lie side by side two are stored, and four bits of
//! metadata say which, the first one's number lowest. A unit is an element of 16 or 8 bits, half a tf32, or two elements of 4 bits.

use super::shape::{Element, Shape};

/// The places of a warp's sparse factor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Sparse {
    /// Which lanes of four have the metadata, where not all have.
    pub selector: u8,
}

/// Bits of a unit.
fn unit_bits(element: Element) -> u32 {
    match element.bits() {
        32 | 16 => 16,
        _ => 8,
    }
}

/// Units of a row whose metadata a lane has, or one of two lanes that have those of two rows.
const LANE_UNITS: usize = 16;

impl Sparse {
    /// The shape of a product whose A has only the elements that are stored.
    pub fn stored(shape: Shape) -> Shape {
        Shape {
            k: shape.k / 2,
            ..shape
        }
    }

    /// Lanes of four that have the metadata of a row.
    fn lanes(element: Element, depth: usize) -> usize {
        (depth * element.bits() as usize / unit_bits(element) as usize).div_ceil(LANE_UNITS)
    }

    /// How many selectors a product has.
    pub fn selectors(element: Element, shape: Shape) -> u8 {
        4 / Sparse::lanes(element, shape.k as usize) as u8
    }

    /// The lane that has the metadata of the element that is stored in this row and column, and the lowest of the two
    /// bits. `depth` is the number of elements along k, stored or not.
    pub fn metadata_place(
        self,
        element: Element,
        depth: usize,
        row: usize,
        stored: usize,
    ) -> (usize, usize) {
        let (bits, unit) = (element.bits() as usize, unit_bits(element) as usize);
        let number = stored * bits / unit;
        let (group, which) = (number / 2, number % 2);
        let lanes = Sparse::lanes(element, depth);
        let first = row % 8 * 4 + usize::from(self.selector) * lanes % 4;
        let upper = row / 8;
        let (lane, bit) = match unit {
            // A lane has four groups of a row, and of the row 8 below it in the upper half.
            16 => (group / 4, upper * 16 + group % 4 * 4),
            // A lane has eight groups of a row, the next one those of the row 8 below it.
            _ => (group / 8 * 2 + upper, group % 8 * 4),
        };
        (first + lane, bit + 2 * which)
    }

    /// The place along k of the element that is stored in this row and column. `depth` is the number of elements along
    /// k, stored or not; `metadata` what the lanes have.
    pub fn place(
        self,
        element: Element,
        depth: usize,
        metadata: &[u32; 32],
        row: usize,
        stored: usize,
    ) -> usize {
        let (bits, unit) = (element.bits() as usize, unit_bits(element) as usize);
        let group = stored * bits / unit / 2;
        let (lane, bit) = self.metadata_place(element, depth, row, stored);
        let chosen = (metadata[lane] >> bit & 3) as usize;
        (4 * group + chosen) * unit / bits + stored * bits % unit / bits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_row_takes_what_its_metadata_say() {
        // The first and the last of each four.
        let plain = [0xcccc_cccc; 32];
        let sparse = Sparse { selector: 0 };
        let places = |element, depth: usize, metadata: &[u32; 32], row| {
            let stored = 0..depth / 2;
            let places = stored.map(|stored| sparse.place(element, depth, metadata, row, stored));
            places.collect::<Vec<usize>>()
        };
        assert_eq!(
            places(Element::F16, 16, &plain, 3),
            [0, 3, 4, 7, 8, 11, 12, 15]
        );
        assert_eq!(places(Element::U8, 64, &plain, 15)[28..], [56, 59, 60, 63]);
        // Pairs of nibbles.
        assert_eq!(places(Element::S4, 64, &plain, 0)[..6], [0, 1, 6, 7, 8, 9]);
        // The second and the first of two.
        let tf32 = [0x4e4e_4e4e; 32];
        assert_eq!(places(Element::Tf32, 8, &tf32, 9), [1, 2, 5, 6]);
        // Rows from 8 on have the upper half of a lane's bits, and later groups other lanes.
        let mut metadata = [0x4444_4444; 32];
        metadata[5] = 0x444e_4444;
        assert_eq!(
            places(Element::F16, 32, &metadata, 9)[8..12],
            [18, 19, 20, 21]
        );
        assert_eq!(places(Element::F16, 32, &metadata, 1)[8..10], [16, 17]);
        // Of bytes it is the other lane of two.
        assert_eq!(
            places(Element::U8, 32, &metadata, 9)[8..12],
            [18, 19, 20, 21]
        );
        assert_eq!(
            places(Element::U8, 32, &metadata, 9)[12..],
            [24, 25, 28, 29]
        );
    }

    #[test]
    fn the_selector_names_lanes() {
        let mut metadata = [0x4444_4444; 32];
        metadata[2] = 0xeeee_eeee;
        let place =
            |selector, depth| Sparse { selector }.place(Element::F16, depth, &metadata, 0, 0);
        assert_eq!(
            [0, 1, 2, 3].map(|selector| place(selector, 16)),
            [0, 0, 2, 0]
        );
        assert_eq!([0, 1].map(|selector| place(selector, 32)), [0, 2]);
    }
}

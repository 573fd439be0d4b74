//! What goes into each element of D: for whoever follows something that is known of values (that they are
//! uninitialised, say) through a product. A product with zero counts: which values are zero is not looked at.

/// Something that is known of registers, by register and lane; `None` where nothing is.
pub type Known<'k, T> = &'k dyn Fn(usize, usize) -> Option<T>;

/// What is known of the elements of D, row by row.
///
/// `row` is what is known of a row of A, `column` of the elements of B that this row is multiplied with in a column,
/// `addend` of an element of C.
pub fn of_elements<T>(
    [rows, columns]: [usize; 2],
    row: impl Fn(usize) -> Option<T>,
    column: impl Fn(usize, usize) -> Option<T>,
    addend: impl Fn(usize, usize) -> Option<T>,
) -> Vec<Option<T>>
where
    T: Copy,
{
    let mut elements = Vec::with_capacity(rows * columns);
    for line in 0..rows {
        let own = row(line);
        let known =
            (0..columns).map(|n| own.or_else(|| column(line, n)).or_else(|| addend(line, n)));
        elements.extend(known);
    }
    elements
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::numerics::matrix::accumulate::{Addend, IntegerOverflow, SumFormat};
    use crate::numerics::matrix::descriptor::Major;
    use crate::numerics::matrix::factors::{Factors, Order};
    use crate::numerics::matrix::multiply::Multiply;
    use crate::numerics::matrix::quads::Quads;
    use crate::numerics::matrix::shape::{Element, Shape};
    use crate::numerics::matrix::sparse::Sparse;
    use crate::numerics::matrix::warpgroup::WarpgroupProduct;

    /// A register with small positive numbers of this type.
    fn register(element: Element, value: u32) -> u64 {
        u64::from(match element {
            Element::F16 => [0x3c00, 0x4000][value as usize] * 0x1_0001,
            Element::F32 => [0x3f80_0000, 0x4000_0000][value as usize],
            Element::S32 => value + 1,
            _ => (value + 1) * 0x0101_0101,
        })
    }

    /// The registers and lanes in which two fragments differ.
    fn differences(one: &[[u64; 32]], other: &[[u64; 32]]) -> BTreeSet<(usize, usize)> {
        let all = (0..one.len()).flat_map(|register| (0..32).map(move |lane| (register, lane)));
        all.filter(|&(register, lane)| one[register][lane] != other[register][lane])
            .collect()
    }

    fn known(d: &[[Option<()>; 32]]) -> BTreeSet<(usize, usize)> {
        let all = (0..d.len()).flat_map(|register| (0..32).map(move |lane| (register, lane)));
        all.filter(|&(register, lane)| d[register][lane].is_some())
            .collect()
    }

    /// Changes each register of A, B and C in turn: what changes in D is what the trace says.
    fn check(
        elements: [Element; 3],
        counts: [usize; 3],
        apply: impl Fn([&[[u64; 32]]; 3]) -> Vec<[u64; 32]>,
        trace: impl Fn([Known<'_, ()>; 3]) -> Vec<[Option<()>; 32]>,
    ) {
        let fragments: [Vec<[u64; 32]>; 3] =
            std::array::from_fn(|part| vec![[register(elements[part], 0); 32]; counts[part]]);
        let plain = apply(fragments.each_ref().map(|part| &part[..]));
        for part in 0..3 {
            for number in 0..counts[part] {
                for lane in [0, 5, 18, 31] {
                    let mut changed = fragments.clone();
                    changed[part][number][lane] = register(elements[part], 1);
                    let found = apply(changed.each_ref().map(|part| &part[..]));
                    let is_it = |own: usize| {
                        move |other: usize, from: usize| {
                            (own == part && (other, from) == (number, lane)).then_some(())
                        }
                    };
                    let traced = trace([&is_it(0), &is_it(1), &is_it(2)]);
                    let what = format!("{elements:?}: register {number}, lane {lane} of {part}");
                    assert_eq!(known(&traced), differences(&plain, &found), "{what}");
                }
            }
        }
    }

    #[test]
    fn what_a_register_goes_into_is_what_changes_with_it() {
        use Element::{F16, F32, S32, U8};
        let shape = |name| Shape::parse(name).expect("a shape");
        for (name, element, c, d, wmma) in [
            ("m16n8k16", F16, F32, F32, false),
            ("m16n8k8", F16, F16, F16, false),
            ("m16n8k32", U8, S32, S32, false),
            ("m32n8k16", F16, F16, F32, true),
            ("m16n16k16", F16, F32, F16, true),
        ] {
            let product = Multiply::new(shape(name), [element, element, c, d], wmma, None);
            let layouts = [&product.a, &product.b, &product.c];
            // Some fragments hold elements several times, of which the first counts.
            let counts = layouts.map(|layout| layout.registers() as usize);
            let registers = product.d.registers() as usize;
            let apply = |parts: [&[[u64; 32]]; 3]| {
                let mut found = vec![[0; 32]; registers];
                product.apply(parts, None, &mut found);
                found
            };
            check([element, element, c], counts, apply, |[a, b, c]| {
                product.trace([a, b, c, &|_, _| None], None)
            });
        }
    }

    #[test]
    fn of_a_sparse_product_the_chosen_elements_count() {
        use Element::{F16, F32, S32, U8};
        for (name, element, c) in [("m16n8k32", F16, F32), ("m16n8k64", U8, S32)] {
            let shape = Shape::parse(name).expect("a shape");
            let sparse = Some(Sparse { selector: 0 });
            let product = Multiply::new(shape, [element, element, c, c], false, sparse);
            // The first two of each four in even lanes, the last two in odd ones.
            let metadata = std::array::from_fn(|lane| [0x4444_4444, 0xeeee_eeee][lane % 2]);
            let layouts = [&product.a, &product.b, &product.c];
            let counts = layouts.map(|layout| layout.registers() as usize);
            let apply = |parts: [&[[u64; 32]]; 3]| {
                let mut found = vec![[0; 32]; 4];
                product.apply(parts, Some(&metadata), &mut found);
                found
            };
            check([element, element, c], counts, apply, |[a, b, c]| {
                product.trace([a, b, c, &|_, _| None], Some(&metadata))
            });
            // Metadata of lane 4 are those of row 1, and, of two bytes, of row 9.
            let traced = product.trace(
                [&|_, _| None, &|_, _| None, &|_, _| None, &|_, lane| {
                    (lane == 4).then_some(())
                }],
                Some(&metadata),
            );
            let rows = known(&traced);
            let of_row = |registers: [usize; 2]| {
                let all = registers.map(|register| (4..8).map(move |lane| (register, lane)));
                all.into_iter().flatten().collect::<Vec<_>>()
            };
            let mut expected = of_row([0, 1]);
            if element == F16 {
                expected.extend(of_row([2, 3]));
            }
            assert_eq!(rows, expected.into_iter().collect());
        }
    }

    #[test]
    fn quads_are_products_of_their_own() {
        for by_rows in [[true, false], [false, true], [true, true]] {
            for formats in [[SumFormat::F32; 2], [SumFormat::F16, SumFormat::F32]] {
                let product = Quads { by_rows, formats };
                let c = match formats[0] {
                    SumFormat::F16 => (Element::F16, 4),
                    _ => (Element::F32, 8),
                };
                let apply = |parts: [&[[u64; 32]]; 3]| {
                    let mut found = vec![[0; 32]; 8];
                    product.apply(parts, &mut found);
                    found
                };
                let elements = [Element::F16, Element::F16, c.0];
                check(elements, [2, 2, c.1], apply, |known| product.trace(known));
            }
        }
    }

    #[test]
    fn warpgroups_take_rows_columns_and_accumulators() {
        let product = WarpgroupProduct {
            a: Element::U8,
            b: Element::U8,
            d: Element::S32,
            columns: 16,
            a_major: Major::K,
            b_major: Major::K,
            negate: false,
            overflow: IntegerOverflow::Wrap,
            sparse: Some(Sparse { selector: 0 }),
        };
        let metadata = std::array::from_fn(|lane| [0x4444_4444, 0xeeee_eeee][lane % 2]);
        let compute = |row: Option<usize>, element: Option<(usize, usize)>| {
            let mut a = Factors::new(Element::U8, Order::ByLine, 16, 32);
            let mut b = Factors::new(Element::U8, Order::ByDepth, 16, 64);
            for line in 0..16 {
                for start in [0, 16] {
                    a.put_along_k(line, start, [1 + u8::from(row == Some(line)); 16]);
                }
                for start in [0, 16, 32, 48] {
                    let value = |at| 1 + u8::from(element == Some((line, start + at)));
                    b.put_along_k(line, start, std::array::from_fn(value));
                }
            }
            let mut d = vec![0; 16 * 16];
            product.rows(&a, 0, &b, &metadata, Addend::None, &mut d);
            let word = |register, lane| {
                let (row, column) = product.place(register, lane);
                u64::from(d[row * 16 + column])
            };
            let register = |register| std::array::from_fn(|lane| word(register, lane));
            (0..8).map(register).collect::<Vec<[u64; 32]>>()
        };
        let plain = compute(None, None);
        let nothing = |_: usize| None;
        for row in [0, 3, 9] {
            let traced = product.trace(
                |other| (other == row).then_some(()),
                &|_, _| None,
                &|_, _| None,
                (nothing, &metadata),
            );
            assert_eq!(
                known(&traced),
                differences(&plain, &compute(Some(row), None))
            );
        }
        for element in [(0, 0), (7, 2), (15, 61)] {
            let traced = product.trace(
                nothing,
                &|column, k| ((column, k) == element).then_some(()),
                &|_, _| None,
                (nothing, &metadata),
            );
            let changed = differences(&plain, &compute(None, Some(element)));
            assert_eq!(known(&traced), changed, "{element:?}");
        }
        let traced = product.trace(
            nothing,
            &|_, _| None,
            &|register, lane| ((register, lane) == (5, 17)).then_some(()),
            (nothing, &metadata),
        );
        assert_eq!(known(&traced), [(5, 17)].into());
    }
}

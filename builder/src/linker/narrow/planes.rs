//! A place in a plane is below the plane's size: `y * columns + x < rows * columns` behind `y < rows` and `x < columns`.
//!
//! ```text
//! plane = &a[layer * rows * columns..(layer + 1) * rows * columns]      // (layer + 1) * rows * columns - layer * rows * columns elements
//! if y < rows && x < columns { plane[y * columns + x] }                 // needs no check
//! ```
//!
//! LLVM does not know it of numbers of run time. The size is one product, which must fit into 64 bits as a whole: `rows` and `columns` have 32 bits each, as
//! extents of views have. What it is computed from may wrap around, as sums and products of 64 bits that do are the same by 64 bits; so is
//! the difference above, whatever `layer` is. The place itself may wrap around, too: it is smaller then.

use super::conditions::Known;
use super::polynomials::{Product, Sum};
use crate::llvm::{Value, ValueKind, opcode};

/// Whether `place` is one in a plane of which `size` is not smaller than its size; `is_below` tells whether one number is known to be below another.
pub(super) fn is_place_below<'c>(
    place: Value<'c>,
    size: Value<'c>,
    known: &Known<'_, 'c>,
    is_below: &dyn Fn(Value<'c>, Value<'c>) -> bool,
) -> bool {
    if row_and_column(place, known).is_none() {
        return false;
    }
    let smaller = known.below(size).map(|(smaller, _)| smaller);
    let mut sizes = smaller.chain([size]);
    sizes.any(|size| {
        let product = Sum::of(size, known).and_then(Sum::into_only);
        product.is_some_and(|product| {
            fits(&product, known) && is_below_product(place, &product, known, is_below)
        })
    })
}

/// Whether a product of numbers is one of 64 bits in any case.
fn fits<'c>(product: &Product<'c>, known: &Known<'_, 'c>) -> bool {
    let most = |factor: &Value<'c>| known.ends(*factor).1;
    let mut factors = product.factors.iter().map(most);
    let all = factors.try_fold(product.times, u64::checked_mul);
    all.is_some()
}

fn is_below_product<'c>(
    place: Value<'c>,
    product: &Product<'c>,
    known: &Known<'_, 'c>,
    is_below: &dyn Fn(Value<'c>, Value<'c>) -> bool,
) -> bool {
    match (product.times, &product.factors[..]) {
        (1, [factor]) => return is_below(place, *factor),
        (times, []) => return known.ends(known.core(place)).1 < times,
        _ => {}
    }
    // With one factor less each time.
    let Some(parts) = row_and_column(place, known) else {
        return false;
    };
    parts.into_iter().any(|(row, column)| {
        let mut ways = in_either_order(row).into_iter();
        ways.any(|(row, columns)| {
            let rest = product.divided_by(known.core(columns));
            rest.is_some_and(|rest| {
                is_below(column, columns) && is_below_product(row, &rest, known, is_below)
            })
        })
    })
}

/// What may be `y * columns` and `x` of a place, both ways round.
fn row_and_column<'c>(
    place: Value<'c>,
    known: &Known<'_, 'c>,
) -> Option<[(Value<'c>, Value<'c>); 2]> {
    let place = known.core(place);
    // `a | b` is not above `a + b`.
    let is_sum = place.kind() == ValueKind::Instruction
        && [opcode::ADD, opcode::OR].contains(&place.opcode());
    let (a, b) = is_sum.then(|| place.operand(0).zip(place.operand(1)))??;
    let (one, other) = (known.core(a), known.core(b));
    (is_product(one) || is_product(other)).then_some([(one, other), (other, one)])
}

fn is_product(value: Value<'_>) -> bool {
    value.kind() == ValueKind::Instruction && value.opcode() == opcode::MUL
}

/// The factors of a product.
fn in_either_order(product: Value<'_>) -> Vec<(Value<'_>, Value<'_>)> {
    let is_product = is_product(product);
    let factors = is_product.then(|| product.operand(0).zip(product.operand(1)));
    let both = |(a, b)| vec![(a, b), (b, a)];
    factors.flatten().map(both).unwrap_or_default()
}

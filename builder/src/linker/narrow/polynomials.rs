//! A number as a sum of products, by 64 bits: `(n + 1) * a * b - n * a * b` is `a * b`.
//!
//! Sums, differences and products of 64 bits may wrap around, as what is made of them does in the same way. Of narrower ones only those count that do not.

use super::conditions::Known;
use crate::llvm::{Value, ValueKind, opcode};

/// How many operations are looked through.
const DEPTH: u32 = 8;

/// How many products a sum has at most while it is put together.
const MOST_PRODUCTS: usize = 8;

/// How many factors a product has at most.
const MOST_FACTORS: usize = 4;

/// So many times a product of values, which are without extensions.
#[derive(Clone)]
pub(super) struct Product<'c> {
    pub times: u64,
    pub factors: Vec<Value<'c>>,
}

impl<'c> Product<'c> {
    /// What is left without one of its factors, or without a part of the constant.
    pub(super) fn divided_by(&self, factor: Value<'c>) -> Option<Product<'c>> {
        let mut rest = self.clone();
        match factor.as_integer() {
            Some(number) => {
                let is_part = number > 1 && self.times.is_multiple_of(number);
                rest.times = is_part.then(|| self.times / number)?;
            }
            None => {
                let place = self.factors.iter().position(|other| *other == factor)?;
                rest.factors.swap_remove(place);
            }
        }
        Some(rest)
    }

    fn has_factors(&self, others: &[Value<'c>]) -> bool {
        let mut rest = others.to_vec();
        let all = self.factors.iter().all(|factor| {
            let place = rest.iter().position(|other| other == factor);
            place.map(|place| rest.swap_remove(place)).is_some()
        });
        all && rest.is_empty()
    }
}

/// A sum of such products, by 64 bits.
#[derive(Default)]
pub(super) struct Sum<'c>(Vec<Product<'c>>);

impl<'c> Sum<'c> {
    /// What a number is by its arithmetic; `None` if that has too many parts.
    pub(super) fn of(value: Value<'c>, known: &Known<'_, 'c>) -> Option<Sum<'c>> {
        Sum::at_depth(value, known, DEPTH)
    }

    /// The product that it is, if nothing else is left.
    pub(super) fn into_only(mut self) -> Option<Product<'c>> {
        let only = self.0.pop()?;
        self.0.is_empty().then_some(only)
    }

    fn at_depth(value: Value<'c>, known: &Known<'_, 'c>, depth: u32) -> Option<Sum<'c>> {
        let value = known.core(value);
        let product = |times, factors| Some(Sum(vec![Product { times, factors }]));
        if let Some(number) = value.as_integer() {
            return match number {
                0 => Some(Sum::default()),
                _ => product(number, Vec::new()),
            };
        }
        let Some(depth) = depth.checked_sub(1).filter(|_| is_by_64_bits(value)) else {
            return product(1, vec![value]);
        };
        let operand = |n| Sum::at_depth(value.operand(n)?, known, depth);
        match value.opcode() {
            opcode::ADD => operand(0)?.plus(operand(1)?, 1),
            opcode::SUB => operand(0)?.plus(operand(1)?, u64::MAX),
            opcode::MUL => operand(0)?.multiplied(&operand(1)?),
            opcode::SHL => match value.operand(1)?.as_integer() {
                Some(places @ 0..64) => Sum::default().plus(operand(0)?, 1 << places),
                _ => product(1, vec![value]),
            },
            _ => product(1, vec![value]),
        }
    }

    fn plus(mut self, other: Sum<'c>, times: u64) -> Option<Sum<'c>> {
        for product in other.0 {
            self.add(product.times.wrapping_mul(times), product.factors)?;
        }
        Some(self)
    }

    fn multiplied(&self, other: &Sum<'c>) -> Option<Sum<'c>> {
        let mut all = Sum::default();
        for one in &self.0 {
            for other in &other.0 {
                let factors = [&one.factors[..], &other.factors].concat();
                all.add(one.times.wrapping_mul(other.times), factors)?;
            }
        }
        Some(all)
    }

    fn add(&mut self, times: u64, factors: Vec<Value<'c>>) -> Option<()> {
        let same = self.0.iter().position(|own| own.has_factors(&factors));
        match same {
            Some(place) => {
                let own = &mut self.0[place];
                own.times = own.times.wrapping_add(times);
                if own.times == 0 {
                    self.0.swap_remove(place);
                }
            }
            None if times == 0 => {}
            None => self.0.push(Product { times, factors }),
        }
        let is_small = self.0.len() <= MOST_PRODUCTS
            && self.0.iter().all(|own| own.factors.len() <= MOST_FACTORS);
        is_small.then_some(())
    }
}

/// Whether a value is computed by 64 bits, or never wraps around in fewer.
fn is_by_64_bits(value: Value<'_>) -> bool {
    const OPERATIONS: [i32; 4] = [opcode::ADD, opcode::SUB, opcode::MUL, opcode::SHL];
    value.kind() == ValueKind::Instruction
        && OPERATIONS.contains(&value.opcode())
        && (value.integer_bits() == Some(64) || value.never_wraps())
}

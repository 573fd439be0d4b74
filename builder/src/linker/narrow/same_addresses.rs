//! An address that is a constant number of bytes from one that was accessed before is computed from that one.
//!
//! ```text
//! at = address (address picture, row), column      at = address (address picture, row), column
//! load at                                          load at
//! load address picture, row + column + 1           load at + 1
//! ```
//!
//! LLVM finds addresses that are computed alike. A sum that something else uses, too, as the check of a length does, stays an index of its own,
//! where others are added to the address one after the other: the same number from the same base, but other instructions. An address of 64 bits
//! takes two or three of them, and a load of the same place again is found only by its address.
//!
//! The earlier access is before the later one on all ways, so that its address is no poison where it is used.

use std::hash::BuildHasher;

use rustc_hash::{FxBuildHasher, FxHashMap as HashMap};

use super::addresses::is_sum;
use super::dominators::Dominators;
use super::webs::Extension;
use crate::linker::evaluate::signed;
use crate::llvm::{Module, Value, opcode};

/// To how many addresses alike one is compared at most: the last ones.
const MOST: usize = 8;

/// How deep sums are looked into.
const DEPTH: u32 = 8;

/// Whether an instruction is an access to an element.
pub(super) fn is_access(instruction: Value<'_>) -> bool {
    pointer_operand(instruction)
        .and_then(|n| instruction.operand(n))
        .is_some_and(|address| {
            address.is_instruction() && address.opcode() == opcode::GET_ELEMENT_POINTER
        })
}

/// Rewrites such accesses of a function; tells whether it did.
pub(super) fn run<'c>(module: &Module<'c>, dominators: &Dominators<'c>) -> bool {
    let mut known: HashMap<u64, Vec<Accessed<'c>>> = HashMap::default();
    let mut is_changed = false;
    for access in dominators
        .order()
        .iter()
        .flat_map(|block| block.instructions())
    {
        let operand = pointer_operand(access).filter(|_| is_access(access));
        let Some((n, address)) = operand.and_then(|n| Some((n, access.operand(n)?))) else {
            continue;
        };
        let Some(sum) = Sum::of(module, address) else {
            continue;
        };
        let alike = known.entry(sum.hash()).or_default();
        let is_before = |one: &&Accessed<'c>| {
            one.sum.is(&sum) && dominators.dominates(one.access.block(), access.block())
        };
        match alike.iter().rev().take(MOST).find(is_before) {
            Some(one) if one.sum.part != sum.part => {
                let distance = sum.constant.wrapping_sub(one.sum.constant);
                let offset = one.sum.offset.wrapping_add(distance);
                access.set_operand(
                    n,
                    match offset {
                        0 => one.sum.part,
                        _ => access.build_offset_before(one.sum.part, offset),
                    },
                );
                is_changed = true;
            }
            Some(_) => {}
            None => alike.push(Accessed { access, sum }),
        }
    }
    is_changed
}

/// Which operand of an access is the address.
fn pointer_operand(instruction: Value<'_>) -> Option<u32> {
    match instruction.opcode() {
        opcode::LOAD => Some(0),
        opcode::STORE => Some(1),
        _ => None,
    }
}

/// An access that was seen.
struct Accessed<'c> {
    access: Value<'c>,
    sum: Sum<'c>,
}

/// An address as a base, a number of bytes, and multiples of numbers.
struct Sum<'c> {
    /// The address without the constants that are added to it last, and their sum.
    part: Value<'c>,
    offset: u64,
    base: Value<'c>,
    constant: u64,
    terms: Vec<(Term<'c>, u64)>,
}

/// A number of 64 bits: a value, or the extension of one.
type Term<'c> = (Value<'c>, Option<Extension>);

impl<'c> Sum<'c> {
    /// That of an address of variable elements.
    fn of(module: &Module<'c>, address: Value<'c>) -> Option<Sum<'c>> {
        let mut sum = Sum {
            part: address,
            offset: 0,
            base: address,
            constant: 0,
            terms: Vec::new(),
        };
        while sum.base.is_instruction() && sum.base.opcode() == opcode::GET_ELEMENT_POINTER {
            let index = (sum.base.operand_count() == 2).then(|| sum.base.operand(1))??;
            let size = module.size_of(sum.base.element_type());
            let extension = (index.integer_bits() != Some(64)).then_some(Extension::Sign);
            sum.take(index, extension, size, DEPTH);
            sum.base = sum.base.operand(0)?;
            if sum.terms.is_empty() {
                (sum.part, sum.offset) = (sum.base, sum.constant);
            }
        }
        sum.terms.retain(|(_, factor)| *factor != 0);
        (!sum.terms.is_empty()).then_some(sum)
    }

    /// Adds a multiple of a number.
    fn take(&mut self, number: Value<'c>, extension: Option<Extension>, factor: u64, depth: u32) {
        if depth == 0 {
            return self.add((number, extension), factor);
        }
        if let Some(constant) = number.as_integer() {
            let bits = number.integer_bits().filter(|_| extension.is_some());
            let constant = match (extension, bits) {
                (Some(Extension::Sign), Some(bits)) => signed(constant, bits) as u64,
                _ => constant,
            };
            self.constant = self.constant.wrapping_add(constant.wrapping_mul(factor));
            return;
        }
        if !number.is_instruction() {
            return self.add((number, extension), factor);
        }
        let keeps = match extension {
            _ if number.opcode() != opcode::ADD => true,
            None => true,
            Some(Extension::Zero) => number.never_wraps(),
            Some(Extension::Sign) => number.never_wraps_signed(),
        };
        if is_sum(number) && keeps {
            for n in [0, 1] {
                if let Some(part) = number.operand(n) {
                    self.take(part, extension, factor, depth - 1);
                }
            }
        } else if extension.is_some() {
            self.add((number, extension), factor);
        } else if let Some((inner, by)) = multiple(number) {
            self.take(inner, None, factor.wrapping_mul(by), depth - 1);
        } else if let Some(inner) = number.extended() {
            let extension = match number.opcode() {
                opcode::ZEXT => Extension::Zero,
                _ => Extension::Sign,
            };
            self.take(inner, Some(extension), factor, depth - 1);
        } else {
            self.add((number, None), factor);
        }
    }

    fn add(&mut self, term: Term<'c>, factor: u64) {
        match self.terms.iter_mut().find(|(one, _)| *one == term) {
            Some((_, sum)) => *sum = sum.wrapping_add(factor),
            None => self.terms.push((term, factor)),
        }
    }

    /// Equal for addresses that differ by a constant.
    fn hash(&self) -> u64 {
        let terms = self.terms.iter().map(|term| FxBuildHasher.hash_one(term));
        terms.fold(FxBuildHasher.hash_one(self.base), u64::wrapping_add)
    }

    /// Whether another address differs from this one by a constant.
    fn is(&self, other: &Sum<'c>) -> bool {
        let has = |term| other.terms.contains(term);
        self.base == other.base
            && self.terms.len() == other.terms.len()
            && self.terms.iter().all(has)
    }
}

/// The number that an instruction multiplies by a constant, and that.
fn multiple(product: Value<'_>) -> Option<(Value<'_>, u64)> {
    let constant = || product.operand(1)?.as_integer();
    let factor = match product.opcode() {
        opcode::MUL => constant()?,
        opcode::SHL => 1_u64.checked_shl(constant()? as u32)?,
        _ => return None,
    };
    Some((product.operand(0)?, factor))
}

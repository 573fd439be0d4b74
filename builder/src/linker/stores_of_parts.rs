//! What is put together of parts to be stored, at a place that takes the parts only, is stored by its parts.
//!
//! ```text
//! whole = zext a | zext b << 8 | zext c << 16             store i8 a, p
//! store i24 whole, p, align 1                             store i8 b, p + 1
//!                                                         store i8 c, p + 2
//! ```
//!
//! Rust passes a small array, `[u8; 3]` or `[u8; 4]`, as one integer. The code generator stores it by bytes, as the place may be at any address, and
//! takes the integer apart again by shifts. It runs before LLVM's pipeline, which knows what bits are zero and leaves out masks by which the parts are
//! told apart, and after it, for arrays that loops fill.

use super::spaces::LOCAL;
use crate::llvm::{Block, Module, Place, Value, opcode};

/// How far a value is followed.
const DEEPEST: usize = 16;

/// Replaces all such stores, but those to the thread's own stack, where the array may be read as one integer again.
pub(super) fn split(module: &Module<'_>) {
    for function in module.functions() {
        for store in function.blocks().into_iter().flat_map(Block::instructions) {
            if store.opcode() == opcode::STORE {
                split_one(store);
            }
        }
    }
}

fn split_one(store: Value<'_>) {
    if store.is_volatile() || store.is_atomic() {
        return;
    }
    let (Some(value), Some(pointer)) = (store.operand(0), store.operand(1)) else {
        return;
    };
    let (bits, unit) = (value.integer_bits(), 8 * store.alignment());
    let Some(bits) = bits.filter(|bits| *bits <= 64 && !value.is_pointer()) else {
        return;
    };
    if !value.is_instruction() || bits <= unit || bits % unit != 0 || may_be_of_stack(pointer) {
        return;
    }
    let lows = (0..bits).step_by(unit as usize);
    let parts: Option<Vec<_>> = lows.map(|low| part(value, low, unit, DEEPEST)).collect();
    let Some(parts) = parts else { return };
    let place = Place::before(store);
    for (n, part) in (0..).zip(parts) {
        let part = match part {
            Part::Constant(number) => place.constant(unit, number),
            Part::Low(value) => place.resized(value, unit),
        };
        let bytes = n * u64::from(unit / 8);
        let to = match bytes {
            0 => pointer,
            _ => store.build_offset_before(pointer, bytes),
        };
        store.build_store_before(part, to, unit / 8);
    }
    store.erase();
}

/// Whether a pointer is one into the thread's own stack, as far as casts and offsets tell.
fn may_be_of_stack(pointer: Value<'_>) -> bool {
    let mut at = pointer;
    while at.is_instruction() {
        match at.opcode() {
            opcode::ALLOCA => return true,
            opcode::GET_ELEMENT_POINTER | opcode::ADDRESS_SPACE_CAST => match at.operand(0) {
                Some(base) => at = base,
                None => return true,
            },
            _ => break,
        }
    }
    at.address_space() == LOCAL
}

/// Some bits of a value that stand beside each other.
enum Part<'c> {
    /// They are known.
    Constant(u64),
    /// They are the lowest ones of this value, which has zeroes above if it is shorter.
    Low(Value<'c>),
}

impl Part<'_> {
    fn is_zero(&self) -> bool {
        matches!(self, Part::Constant(0))
    }
}

/// The bits of `value` from `low` on, `bits` of them, which it has; `None` if it would take an operation to get them.
fn part(value: Value<'_>, low: u32, bits: u32, depth: usize) -> Option<Part<'_>> {
    let found = inner_part(value, low, bits, depth);
    found.or((low == 0).then_some(Part::Low(value)))
}

fn inner_part(value: Value<'_>, low: u32, bits: u32, depth: usize) -> Option<Part<'_>> {
    let width = value.integer_bits().filter(|width| *width <= 64)?;
    let mask = u64::MAX >> (64 - bits);
    if let Some(number) = value.as_integer() {
        return Some(Part::Constant(number >> low & mask));
    }
    if !value.is_instruction() || depth == 0 {
        return None;
    }
    let of = |value, low| part(value, low, bits, depth - 1);
    let operand = value.operand(0)?;
    let by = || value.operand(1)?.as_integer();
    match value.opcode() {
        opcode::ZEXT => match operand.integer_bits()? {
            short if low >= short => Some(Part::Constant(0)),
            short if low + bits <= short => of(operand, low),
            _ => (low == 0).then_some(Part::Low(operand)),
        },
        opcode::TRUNC => of(operand, low),
        opcode::SHL => {
            let by = u32::try_from(by()?).ok().filter(|by| *by < width)?;
            match low.checked_sub(by) {
                Some(low) => of(operand, low),
                None => (low + bits <= by).then_some(Part::Constant(0)),
            }
        }
        opcode::LSHR => {
            let from = low + u32::try_from(by()?).ok().filter(|by| *by < width)?;
            match from + bits <= width {
                true => of(operand, from),
                false => (from >= width).then_some(Part::Constant(0)),
            }
        }
        opcode::AND => match by()? >> low & mask {
            0 => Some(Part::Constant(0)),
            all if all == mask => of(operand, low),
            _ => None,
        },
        opcode::OR => {
            let other = value.operand(1)?;
            let (left, right) = (of(operand, low)?, of(other, low)?);
            match (left.is_zero(), right.is_zero()) {
                (true, _) => Some(right),
                (_, true) => Some(left),
                _ => None,
            }
        }
        _ => None,
    }
}

//! Copies and fills of many bytes go by as many bytes at once as both sides are aligned for.
//!
//! ```text
//! memset(to, 0, 128)              store <4 x i32> 0, to; store <4 x i32> 0, to + 16; ...
//! memcpy(to, from, n << 2)        at = 0; while at < n << 2 { store i32 (load i32, from + at), to + at; at += 4 }
//! ```
//!
//! The code generator makes wide accesses of short ones alone. Of others it makes loops that go from byte to byte, however well both sides are
//! aligned: `let stack = [0u32; 32]` would be 128 stores.

use super::copies::{FROM, SIZE, TO, VOLATILE};
use super::narrow::products;
use crate::llvm::{Module, Place, Value, opcode, predicate};

/// How many bytes the code generator copies or fills without a loop, and how many are loaded before they are stored.
const PART: u64 = 64;

/// How many accesses to one side stand one behind the other; more are made in a loop.
const MOST_ACCESSES: u64 = 64;

/// The widest access, in bytes.
const WIDEST: u64 = 16;

/// How far it is followed of what a length is a multiple.
const DEEPEST: u32 = 4;

/// Takes apart all that are long, or of a length that is known only at run time.
pub(super) fn split(module: &Module<'_>) {
    let is_one = |function: &Value<'_>| {
        let name = function.name();
        name.starts_with("llvm.memcpy.p") || name.starts_with("llvm.memset.p")
    };
    let functions = module.functions().into_iter().filter(is_one);
    let calls: Vec<_> = functions.flat_map(Value::calls).collect();
    for call in calls {
        if call.operand(VOLATILE).and_then(Value::as_integer) == Some(0) {
            split_one(call);
        }
    }
}

fn split_one(call: Value<'_>) {
    let (Some(of), Some(size)) = (Transfer::of(call), call.operand(SIZE)) else {
        return;
    };
    match size.as_integer() {
        Some(bytes) if bytes <= PART => return,
        Some(bytes) => {
            let is_short = bytes.div_ceil(of.alignment) <= MOST_ACCESSES;
            let first = if is_short { 0 } else { bytes / PART * PART };
            if first > 0 {
                of.repeat(PART, Value::integer_like(first, size));
            }
            for at in (first..bytes).step_by(PART as usize) {
                of.put(call, Value::integer_like(at, size), PART.min(bytes - at));
            }
        }
        None => match of.alignment.min(multiple_of(size, DEEPEST)) {
            1 => return,
            unit => of.repeat(unit, size),
        },
    }
    call.erase();
}

/// A copy or a fill, by more than a byte at once.
struct Transfer<'c> {
    call: Value<'c>,
    function: Value<'c>,
    to: Value<'c>,
    what: What<'c>,
    alignment: u64,
}

/// What memory gets.
#[derive(Clone, Copy)]
enum What<'c> {
    Copy(Value<'c>),
    Byte(u8),
}

impl<'c> Transfer<'c> {
    fn of(call: Value<'c>) -> Option<Transfer<'c>> {
        let from = call.operand(FROM)?;
        let what = match from.is_pointer() {
            true => What::Copy(from),
            false => What::Byte(from.as_integer()?.try_into().ok()?),
        };
        let alignment = match what {
            What::Copy(_) => alignment(call, TO).min(alignment(call, FROM)),
            // Of words there are constants up to eight bytes.
            What::Byte(byte) => alignment(call, TO).min(if byte == 0 { WIDEST } else { 8 }),
        };
        (alignment > 1).then_some(Transfer {
            call,
            function: call.function()?,
            to: call.operand(TO)?,
            what,
            alignment: alignment.min(WIDEST),
        })
    }

    /// Puts `size` bytes of it before an instruction, from `at` on, which is a multiple of the alignment. All are loaded before the first one is
    /// stored, as nothing else says that both sides are apart.
    fn put(&self, before: Value<'c>, at: Value<'c>, size: u64) {
        let place = Place::before(before);
        let behind = |pointer, bytes| {
            let first = before.build_address_before(place.byte_type(), pointer, at);
            before.build_offset_before(first, bytes)
        };
        let mut accesses = Vec::new();
        let mut done = 0;
        while done < size {
            let mut unit = self.alignment;
            while unit > size - done {
                unit /= 2;
            }
            let ty = place.access_type(unit);
            let value = match self.what {
                What::Copy(from) => before.build_load_before(ty, behind(from, done), unit as u32),
                What::Byte(0) => place.zero(ty),
                What::Byte(byte) => place.constant(
                    8 * unit as u32,
                    u64::from_ne_bytes([byte; 8]) >> (64 - 8 * unit),
                ),
            };
            accesses.push((value, done, unit as u32));
            done += unit;
        }
        for (value, done, unit) in accesses {
            before.build_store_before(value, behind(self.to, done), unit);
        }
    }

    /// Puts a loop over parts of `unit` bytes before it. The size is a multiple of it.
    fn repeat(&self, unit: u64, size: Value<'c>) {
        let number = |number| Value::integer_like(number, size);
        let behind = self.call.block();
        let before = behind.split_before(self.call, self.function);
        let round = self.function.append_block();
        match size.as_integer() {
            Some(_) => before.push_jump(round),
            None => {
                let is_none = before.push_comparison(predicate::EQUAL, size, number(0));
                before.push_branch(is_none, behind, round)
            }
        };
        let at = round.push_phi(size);
        let next = round.push_binary(opcode::ADD, at, number(unit));
        at.add_incoming(number(0), before);
        at.add_incoming(next, round);
        let again = round.push_comparison(predicate::LESS, next, size);
        round.push_branch(again, round, behind);
        self.put(next, at, unit);
    }
}

/// What an address is a multiple of.
fn alignment(call: Value<'_>, operand: u32) -> u64 {
    let is = |value: &Value<'_>, code| value.is_instruction() && value.opcode() == code;
    let pointer = call.operand(operand);
    let slot = match pointer {
        Some(cast) if is(&cast, opcode::ADDRESS_SPACE_CAST) => cast.operand(0),
        other => other,
    };
    let slot = slot.filter(|slot| is(slot, opcode::ALLOCA));
    let of_slot = slot.map_or(1, |slot| u64::from(slot.alignment()));
    call.call_parameter_alignment(operand).max(of_slot)
}

/// A power of two that a number is a multiple of, at most the widest access.
fn multiple_of(number: Value<'_>, depth: u32) -> u64 {
    if let Some(number) = number.as_integer() {
        return 1 << number.trailing_zeros().min(WIDEST.trailing_zeros());
    }
    if depth == 0 || !number.is_instruction() {
        return 1;
    }
    let of = |n| {
        number
            .operand(n)
            .map_or(1, |part| multiple_of(part, depth - 1))
    };
    let multiple = match number.opcode() {
        opcode::SHL => match number.operand(1).and_then(Value::as_integer) {
            Some(by) if by < u64::from(WIDEST.trailing_zeros()) => of(0) << by,
            Some(_) => WIDEST,
            None => of(0),
        },
        opcode::MUL => of(0) * of(1),
        opcode::ADD | opcode::SUB => of(0).min(of(1)),
        opcode::AND => of(0).max(of(1)),
        opcode::ZEXT | opcode::SEXT | opcode::FREEZE => of(0),
        opcode::SELECT => of(1).min(of(2)),
        _ if products::is_wide(number) => of(0) * of(1),
        _ => 1,
    };
    multiple.min(WIDEST)
}

//! Copies and fills of many bytes go by as many bytes at once as both sides are aligned for.
//!
//! ```text
//! memset(to, 0, 128)              store <4 x i32> 0, to; store <4 x i32> 0, to + 16; ...
//! memcpy(to, from, n << 2)        at = 0; while at < n << 2 { store i32 (load i32, from + at), to + at; at += 4 }
//! memmove(to + 8, to, n << 3)     at = n << 3; while at > 0 { at -= 8; store i64 (load i64, to + at), to + 8 + at }
//! ```
//!
//! The code generator makes wide accesses of short ones alone. Of others it makes loops that go from byte to byte, however well both sides are
//! aligned: `let stack = [0u32; 32]` would be 128 stores. LLVM makes a `memmove` of a loop that shifts elements of an array, as where one is inserted.

use super::copies::{FROM, SIZE, TO, VOLATILE};
use super::narrow::products;
use super::offsets::whole;
use crate::llvm::{Block, Module, Place, Value, opcode, predicate};

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
        ["llvm.memcpy.p", "llvm.memmove.p", "llvm.memset.p"]
            .iter()
            .any(|one| name.starts_with(one))
    };
    let functions = module.functions().into_iter().filter(is_one);
    let calls: Vec<_> = functions.flat_map(Value::calls).collect();
    for call in calls {
        if call.operand(VOLATILE).and_then(Value::as_integer) == Some(0) {
            split_one(module, call);
        }
    }
}

fn split_one<'c>(module: &Module<'c>, call: Value<'c>) {
    let (Some(of), Some(size)) = (Transfer::of(call), call.operand(SIZE)) else {
        return;
    };
    let may_overlap = call.is_call_of(&["llvm.memmove.p"]);
    match size.as_integer() {
        Some(bytes) if bytes <= PART => return,
        Some(bytes) if !may_overlap => {
            let is_short = bytes.div_ceil(of.alignment) <= MOST_ACCESSES;
            let first = if is_short { 0 } else { bytes / PART * PART };
            if first > 0 {
                of.repeat(PART, Value::integer_like(first, size), Order::Up);
            }
            for at in (first..bytes).step_by(PART as usize) {
                of.put(call, Value::integer_like(at, size), PART.min(bytes - at));
            }
        }
        _ => {
            let unit = of.alignment.min(multiple_of(size, DEEPEST));
            let order = if may_overlap {
                of.order(module)
            } else {
                Some(Order::Up)
            };
            match order {
                Some(order) if unit > 1 => of.repeat(unit, size, order),
                _ => return,
            }
        }
    }
    call.erase();
}

/// Takes one of `size` bytes apart into words of at most 8 bytes, if it is a plain one.
pub(super) fn split_into_words(call: Value<'_>, size: u64) {
    let Some(mut of) = Transfer::of(call) else {
        return;
    };
    of.alignment = of.alignment.min(8);
    let start = call.operand(SIZE).map(|like| Value::integer_like(0, like));
    start.inspect(|start| of.put(call, *start, size));
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

/// In which order a loop goes through the bytes.
#[derive(Clone, Copy)]
enum Order {
    Up,
    Down,
    /// Up where the copy begins before what is copied.
    ByAddresses,
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

    /// The order in which a copy reads all bytes before it writes there; `None` if no comparison of the addresses tells.
    fn order(&self, module: &Module<'c>) -> Option<Order> {
        let What::Copy(from) = self.what else {
            return Some(Order::Up);
        };
        let ((to, at), (from_base, from_at)) = (whole(module, self.to), whole(module, from));
        let distance = at.wrapping_sub(from_at).cast_signed();
        let is_behind = (to == from_base).then_some(distance > 0);
        match is_behind {
            Some(true) => Some(Order::Down),
            Some(false) => Some(Order::Up),
            None if from.ty() == self.to.ty() => Some(Order::ByAddresses),
            None => None,
        }
    }

    /// Puts a loop over parts of `unit` bytes before it. The size is a multiple of it.
    fn repeat(&self, unit: u64, size: Value<'c>, order: Order) {
        let behind = self.call.block();
        let before = behind.split_before(self.call, self.function);
        let first = self.function.append_block();
        match size.as_integer() {
            Some(_) => before.push_jump(first),
            None => {
                let none = Value::integer_like(0, size);
                let is_none = before.push_comparison(predicate::EQUAL, size, none);
                before.push_branch(is_none, behind, first)
            }
        };
        match (order, self.what) {
            (Order::ByAddresses, What::Copy(from)) => {
                let is_before = first.push_comparison(predicate::LESS, self.to, from);
                let up = self.rounds(first, (unit, size), Order::Up, behind);
                let down = self.rounds(first, (unit, size), Order::Down, behind);
                first.push_branch(is_before, up, down);
            }
            _ => {
                let rounds = self.rounds(first, (unit, size), order, behind);
                first.push_jump(rounds);
            }
        }
    }

    /// A loop over all parts, which `before` will lead to and which leads to `behind`.
    fn rounds(
        &self,
        before: Block<'c>,
        (unit, size): (u64, Value<'c>),
        order: Order,
        behind: Block<'c>,
    ) -> Block<'c> {
        let number = |number| Value::integer_like(number, size);
        let round = self.function.append_block();
        let at = round.push_phi(size);
        let (first, part, next, again) = match order {
            Order::Down => {
                let next = round.push_binary(opcode::SUB, at, number(unit));
                let again = round.push_comparison(predicate::NOT_EQUAL, next, number(0));
                (size, next, next, again)
            }
            Order::Up | Order::ByAddresses => {
                let next = round.push_binary(opcode::ADD, at, number(unit));
                let again = round.push_comparison(predicate::LESS, next, size);
                (number(0), at, next, again)
            }
        };
        at.add_incoming(first, before);
        at.add_incoming(next, round);
        round.push_branch(again, round, behind);
        self.put(again, part, unit);
        round
    }
}

/// What an address is a multiple of.
pub(super) fn alignment(call: Value<'_>, operand: u32) -> u64 {
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
        opcode::PHI => {
            let all = number.incoming().into_iter();
            let all = all.map(|(value, _)| multiple_of(value, depth - 1));
            all.min().unwrap_or(1)
        }
        _ if products::is_wide(number) => of(0) * of(1),
        _ => 1,
    };
    multiple.min(WIDEST)
}

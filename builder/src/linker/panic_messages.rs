//! What formatted panics of `core` say, as text with placeholders for values that 64 bits hold.
//!
//! ```text
//! panic_fmt("\x08at most \xC0\0", [(&n, <u32 as Display>::fmt)], at)        "at most {}", n
//! assert_failed::<u64, u64>(Eq, &a, &b, None, at)                           "assertion `left == right` failed\n  left: {}\n right: {}", a, b
//! unwrap_failed("no index", &error, its vtable, at)                         "no index: TryFromIntError(())"
//! ```
//!
//! The functions that format are known by their symbols, which name the type. What is not known exactly is `None`: such a panic formats on the
//! device.

use warpsmith_signature::{Form, is_free_of_placeholders, placeholder};

use super::panics;
use super::stack_slots::is_lifetime;
use crate::llvm::{Module, Place, Value, ValueKind, opcode};

/// A function of `core` that panics with a message that it formats.
pub(super) enum Formatting {
    /// `fn(template, arguments, &Location)`.
    Arguments,
    /// `fn(kind, &left, &right, template or null, arguments, &Location)`, of these types.
    Assertion([Shape; 2]),
    /// `fn(text, length, &error, vtable, &Location)`.
    Unwrap,
}

/// The functions of a module that do.
pub(super) fn functions<'c>(module: &Module<'c>) -> Vec<(Value<'c>, Formatting)> {
    let of_arguments = panics::panic_fmt(module).map(|f| (f, Formatting::Arguments));
    let others = module.functions().into_iter().filter_map(|function| {
        let symbol = function.name();
        // Demangling every symbol would take longer.
        if !symbol.contains("assert_failed") && !symbol.contains("unwrap_failed") {
            return None;
        }
        let path = path(&symbol);
        if path == panics::UNWRAP_FAILED {
            return Some((function, Formatting::Unwrap));
        }
        let types = path
            .strip_prefix("core::panicking::assert_failed::<")?
            .strip_suffix('>')?;
        let (left, right) = types.split_once(", ")?;
        let shapes = [Shape::of(left, true)?, Shape::of(right, true)?];
        Some((function, Formatting::Assertion(shapes)))
    });
    of_arguments.into_iter().chain(others).collect()
}

/// A symbol's path. Linking adds a number to a name that two private functions have.
fn path(symbol: &str) -> String {
    let path = crate::names::demangle(symbol);
    let bare = symbol.trim_end_matches(|c: char| c.is_ascii_digit());
    match path == symbol && bare != symbol {
        true => crate::names::demangle(bare),
        false => path,
    }
}

/// How a value lies in memory, and how it is written.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct Shape {
    /// How many references lead to it from where it is told to be.
    references: u32,
    bits: u32,
    form: Form,
}

impl Shape {
    /// That of a type by its name.
    fn of(name: &str, is_debug: bool) -> Option<Shape> {
        if let Some(target) = name.strip_prefix('&') {
            let target = target.strip_prefix("mut ").unwrap_or(target);
            let shape = Shape::of(target, is_debug)?;
            return Some(Shape {
                references: shape.references + 1,
                ..shape
            });
        }
        let either = |display, debug| if is_debug { debug } else { display };
        let (bits, form) = match name {
            "u8" => (8, Form::Unsigned),
            "u16" => (16, Form::Unsigned),
            "u32" => (32, Form::Unsigned),
            "u64" | "usize" => (64, Form::Unsigned),
            "i8" => (8, Form::Signed),
            "i16" => (16, Form::Signed),
            "i32" => (32, Form::Signed),
            "i64" | "isize" => (64, Form::Signed),
            "f32" => (32, either(Form::Single, Form::SingleDebug)),
            "f64" => (64, either(Form::Double, Form::DoubleDebug)),
            "bool" => (8, Form::Bool),
            "char" => (32, either(Form::Char, Form::CharDebug)),
            _ => return None,
        };
        Some(Shape {
            references: 0,
            bits,
            form,
        })
    }

    /// That of what a function of `core` formats.
    fn formatted_by(function: Value<'_>) -> Option<Shape> {
        let path = path_of(function)?;
        let of = |trait_name: &str, is_debug| {
            let end = format!(" as core::fmt::{trait_name}>::fmt");
            Shape::of(path.strip_prefix('<')?.strip_suffix(&end)?, is_debug)
        };
        of("Display", false).or_else(|| of("Debug", true))
    }

    /// Loads it, as 64 bits.
    fn load_before<'c>(self, call: Value<'c>, mut pointer: Value<'c>) -> Value<'c> {
        for _ in 0..self.references {
            pointer = call.build_load_before(pointer.ty(), pointer, 8);
        }
        let place = Place::before(call);
        let ty = place.constant(self.bits, 0).ty();
        let value = call.build_load_before(ty, pointer, self.bits / 8);
        match self.form {
            Form::Signed if self.bits < 64 => place.sign_extended(value, 64),
            _ => place.resized(value, 64),
        }
    }
}

fn path_of(function: Value<'_>) -> Option<String> {
    (function.kind() == ValueKind::Function).then(|| path(&function.name()))
}

/// A message, and where the values are that stand in it.
#[derive(Default)]
pub(super) struct Message<'c> {
    text: String,
    values: Vec<(Value<'c>, Shape)>,
    /// Whether all of the text is free of what would be taken for a placeholder.
    is_plain: bool,
    /// What has put the functions that format in place.
    stores: Vec<Value<'c>>,
}

impl<'c> Message<'c> {
    /// What a call of such a function says, and its location.
    pub fn of(
        module: &Module<'c>,
        call: Value<'c>,
        formatting: &Formatting,
    ) -> Option<(Message<'c>, Value<'c>)> {
        let operands: Vec<Value<'c>> = (0..call.argument_count())
            .map(|n| call.operand(n))
            .collect::<Option<_>>()?;
        let mut message = Message {
            is_plain: true,
            ..Message::default()
        };
        let location = match (formatting, &operands[..]) {
            (Formatting::Arguments, &[template, arguments, location]) => {
                message.push_arguments(module, call, template, arguments)?;
                location
            }
            (
                Formatting::Assertion(shapes),
                &[kind, left, right, template, arguments, location],
            ) => {
                let operator = match kind.as_integer()? {
                    0 => "==",
                    1 => "!=",
                    _ => return None,
                };
                message.push(&format!("assertion `left {operator} right` failed"));
                if !(template.is_pointer() && template.is_zero()) {
                    message.push(": ");
                    message.push_arguments(module, call, template, arguments)?;
                }
                message.push("\n  left: ");
                message.push_value(left, shapes[0])?;
                message.push("\n right: ");
                message.push_value(right, shapes[1])?;
                location
            }
            (Formatting::Unwrap, &[text, length, error, vtable, location]) => {
                message.push(&panics::text(text, length)?);
                message.push(": ");
                let vtable = Vtable::of(vtable)?;
                match vtable.shape {
                    Some(shape) => message.push_value(error, shape)?,
                    None => message.push(vtable.constant()?),
                }
                location
            }
            _ => return None,
        };
        let is_clear = message.values.is_empty() || message.is_plain;
        is_clear.then_some((message, location))
    }

    /// The text, and whether it has placeholders.
    pub fn text(&self) -> (String, bool) {
        (self.text.clone(), !self.values.is_empty())
    }

    /// Loads the values; where there are fewer, `nothing` stands.
    pub fn load_before(&self, call: Value<'c>, nothing: Value<'c>) -> [Value<'c>; 2] {
        [0, 1].map(|n| match self.values.get(n) {
            Some((pointer, shape)) => shape.load_before(call, *pointer),
            None => nothing,
        })
    }

    /// Takes away what only formatting has read: behind the panic the thread reads nothing.
    pub fn forget_functions(&self) {
        self.stores.iter().for_each(|store| store.erase());
    }

    fn push(&mut self, text: &str) {
        self.is_plain &= is_free_of_placeholders(text);
        self.text.push_str(text);
    }

    /// `None` if there are two others already, or if it is not known where it is.
    fn push_value(&mut self, pointer: Value<'c>, shape: Shape) -> Option<()> {
        let is_known = pointer.is_instruction()
            || pointer.kind() == ValueKind::Global
            || pointer.constant_opcode().is_some()
            || pointer.parameter_of().is_some();
        if !(is_known && pointer.is_pointer()) {
            return None;
        }
        let mut known = self.values.iter();
        let index = known.position(|known| *known == (pointer, shape));
        let index = index.unwrap_or(self.values.len());
        if index == self.values.len() {
            self.values.push((pointer, shape));
        }
        if index > 1 {
            return None;
        }
        self.text.push_str(&placeholder(index, shape.form));
        Some(())
    }

    /// What a `fmt::Arguments` of these two words says.
    fn push_arguments(
        &mut self,
        module: &Module<'c>,
        call: Value<'c>,
        template: Value<'c>,
        arguments: Value<'c>,
    ) -> Option<()> {
        if let Some(tagged) = arguments.as_integer_address() {
            let length = (tagged & 1 == 1).then(|| Value::integer(tagged >> 1, call))?;
            self.push(&panics::text(template, length)?);
            return Some(());
        }
        let template = panics::bytes(template)?;
        let stored = Stored::before(module, call, arguments)?;
        for piece in pieces(&template)? {
            match piece {
                Piece::Text(text) => self.push(text),
                Piece::Argument(n) => {
                    let [value, function] = [0, 8].map(|part| stored.at(16 * n as u64 + part));
                    let shape = Shape::formatted_by(function?)?;
                    self.push_value(value?, shape)?;
                }
            }
        }
        self.stores.extend(stored.0.iter().map(|known| known.store));
        Some(())
    }
}

/// A part of a template: text, or an argument by number, which is written without options.
#[derive(Debug, PartialEq, Eq)]
enum Piece<'t> {
    Text(&'t str),
    Argument(usize),
}

/// The parts of a template, which are encoded as `core::fmt::Arguments` describes.
fn pieces(template: &[u8]) -> Option<Vec<Piece<'_>>> {
    const LONG_TEXT: u8 = 0x80;
    const ARGUMENT: u8 = 0xC0;
    const ARGUMENT_BY_NUMBER: u8 = 0xC8;
    let word = |rest: &[u8]| Some(usize::from(u16::from_le_bytes(*rest.first_chunk()?)));
    let mut pieces = Vec::new();
    let mut next = 0;
    let mut rest = template;
    loop {
        let (&first, behind) = rest.split_first()?;
        rest = behind;
        let length = match first {
            0 => return rest.is_empty().then_some(pieces),
            1..LONG_TEXT => first.into(),
            LONG_TEXT => {
                let length = word(rest)?;
                rest = &rest[2..];
                length
            }
            ARGUMENT | ARGUMENT_BY_NUMBER => {
                if first == ARGUMENT_BY_NUMBER {
                    next = word(rest)?;
                    rest = &rest[2..];
                }
                pieces.push(Piece::Argument(next));
                next += 1;
                continue;
            }
            _ => return None,
        };
        let (text, behind) = rest.split_at_checked(length)?;
        pieces.push(Piece::Text(std::str::from_utf8(text).ok()?));
        rest = behind;
    }
}

/// A pointer in a stack slot.
struct Known<'c> {
    offset: u64,
    value: Value<'c>,
    store: Value<'c>,
}

/// The pointers that lie in a stack slot.
struct Stored<'c>(Vec<Known<'c>>);

impl<'c> Stored<'c> {
    /// What the block of a call has stored in `slot` before it, and has not read.
    fn before(module: &Module<'c>, call: Value<'c>, slot: Value<'c>) -> Option<Stored<'c>> {
        if !is_slot(slot) {
            return None;
        }
        let mut stored = Stored(Vec::new());
        let instructions = call.block().instructions();
        for instruction in instructions.into_iter().take_while(|other| *other != call) {
            match instruction.opcode() {
                opcode::STORE => {
                    let (value, to) = (instruction.operand(0)?, instruction.operand(1)?);
                    match place_in_slot(module, to) {
                        Some((other, _)) if other != slot => {}
                        Some((_, offset)) if value.is_pointer() && offset % 8 == 0 => {
                            stored.0.retain(|known| known.offset != offset);
                            stored.0.push(Known {
                                offset,
                                value,
                                store: instruction,
                            });
                        }
                        _ => stored.0.clear(),
                    }
                }
                opcode::LOAD => {
                    let place = place_in_slot(module, instruction.operand(0)?);
                    if place.is_none_or(|(other, _)| other == slot) {
                        stored.0.clear();
                    }
                }
                opcode::CALL if is_lifetime(instruction) => {}
                opcode::CALL => stored.0.clear(),
                _ if instruction.is_atomic_access() => stored.0.clear(),
                _ => {}
            }
        }
        Some(stored)
    }

    fn at(&self, offset: u64) -> Option<Value<'c>> {
        let mut stored = self.0.iter();
        stored.find_map(|known| (known.offset == offset).then_some(known.value))
    }
}

fn is_slot(value: Value<'_>) -> bool {
    value.is_instruction() && value.opcode() == opcode::ALLOCA
}

/// The slot that an address lies in, and how many bytes behind its beginning.
fn place_in_slot<'c>(module: &Module<'c>, mut pointer: Value<'c>) -> Option<(Value<'c>, u64)> {
    let mut offset = 0_u64;
    while !is_slot(pointer) {
        let is_step = pointer.is_instruction()
            && pointer.opcode() == opcode::GET_ELEMENT_POINTER
            && pointer.operand_count() == 2;
        let index = is_step
            .then(|| pointer.operand(1))
            .flatten()?
            .as_integer()?;
        let size = module.size_of(pointer.element_type());
        offset = offset.checked_add(index.checked_mul(size)?)?;
        pointer = pointer.operand(0)?;
    }
    Some((pointer, offset))
}

/// The vtable of an error's `Debug`.
struct Vtable {
    size: u64,
    path: String,
    /// How the error is written, if it is a value.
    shape: Option<Shape>,
}

impl Vtable {
    /// `None` if it is no constant of the form that rustc makes: drop function, size, alignment, `fmt`.
    fn of(vtable: Value<'_>) -> Option<Vtable> {
        if vtable.kind() != ValueKind::Global || !vtable.is_constant_global() {
            return None;
        }
        let value = vtable.initialiser()?;
        let head = value.element(0)?.as_bytes()?;
        let (drop, rest) = head.split_first_chunk::<8>()?;
        let (size, alignment) = rest.split_first_chunk::<8>()?;
        let function = value.element(1)?;
        let is_whole = *drop == [0; 8] && alignment.len() == 8;
        let path = is_whole.then(|| path_of(function)).flatten()?;
        Some(Vtable {
            size: u64::from_le_bytes(*size),
            path,
            shape: Shape::formatted_by(function),
        })
    }

    /// What an error is written as that has no values: by these alone of `core`, which derive `Debug`.
    fn constant(&self) -> Option<&'static str> {
        const KNOWN: [(&str, &str); 5] = [
            ("core::num::error::TryFromIntError", "TryFromIntError(())"),
            ("core::array::TryFromSliceError", "TryFromSliceError(())"),
            (
                "core::char::convert::CharTryFromError",
                "CharTryFromError(())",
            ),
            ("core::fmt::Error", "Error"),
            ("()", "()"),
        ];
        if self.size != 0 {
            return None;
        }
        let ty = self.path.strip_prefix('<')?;
        let ty = ty.strip_suffix(" as core::fmt::Debug>::fmt")?;
        let known = KNOWN.iter().find(|(name, _)| *name == ty);
        known.map(|(_, text)| *text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_without_options_are_read() {
        use Piece::{Argument, Text};
        assert_eq!(pieces(b"\0"), Some(vec![]));
        let whole = pieces(b"\x03at \xC0\x02, \xC0\0");
        let expected = vec![Text("at "), Argument(0), Text(", "), Argument(1)];
        assert_eq!(whole, Some(expected));
        let again = pieces(b"\xC0\xC0\xC8\0\0\xC0\0");
        let expected = [0, 1, 0, 1].map(Argument);
        assert_eq!(again, Some(expected.into_iter().collect()));
        let long = [b"\x80\x90\0".as_slice(), &[b'x'; 0x90], b"\0"].concat();
        assert_eq!(pieces(&long), Some(vec![Text(&"x".repeat(0x90))]));
    }

    #[test]
    fn other_templates_are_not() {
        // A flag, a width, a precision; no end; cut off; and bytes behind the end.
        for template in [
            b"\xC1\x20\0\0\xE0\0".as_slice(),
            b"\xC2\x05\0\0",
            b"\xC4\x02\0\0",
            b"\x02ab",
            b"",
            b"\x09ab\0",
            b"\x80\x02",
            b"\xC8\x01",
            b"\x81a\0",
            b"\0\0",
            b"\x01\xFF\0",
        ] {
            assert_eq!(pieces(template), None, "{template:?}");
        }
    }

    #[test]
    fn a_number_behind_a_symbol_is_no_part_of_its_path() {
        let symbol = "_RNvXs2_NtNtCsaAOVvWmKA8S_4core3fmt5floatfNtB7_5Debug3fmt";
        let expected = "<f32 as core::fmt::Debug>::fmt";
        assert_eq!(path(symbol), expected);
        assert_eq!(path(&format!("{symbol}2145")), expected);
    }
}

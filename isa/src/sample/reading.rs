//! An instruction's text as the tables read it, for instructions that no form was the model of.

use alloc::vec::Vec;

use crate::operand::Shape;
use crate::special_registers;
use crate::{Match, PtxVersion, Refusal, Target, matches};

/// The forms that an instruction may be.
pub struct Reading<'t> {
    forms: Result<Vec<Match>, Refusal<'t>>,
}

impl<'t> Reading<'t> {
    /// Reads a statement that stands in [`module`](super::module).
    pub fn new(statement: &'t str) -> Reading<'t> {
        let statement = statement.trim_end_matches(';');
        let (name, operands) = statement.split_once(' ').unwrap_or((statement, ""));
        let mut parts = name.split('.');
        let opcode = parts.next().unwrap_or_default();
        let modifiers: Vec<&str> = parts.collect();
        let shapes: Vec<Shape<'_>> = operands_of(operands).into_iter().map(shape).collect();
        let forms = matches(opcode, &modifiers).and_then(|found| {
            let found: Vec<Match> = found.collect();
            let name = found.first().map(Match::name);
            let forms: Vec<Match> = found
                .into_iter()
                .filter(|found| found.fits(&shapes))
                .collect();
            match name {
                Some(name) if forms.is_empty() => Err(Refusal::ArgumentsMismatch(name)),
                _ => Ok(forms),
            }
        });
        Reading { forms }
    }

    /// Why the tables say that a module may not have it.
    pub fn refusal(&self, version: PtxVersion, target: Target) -> Option<Refusal<'_>> {
        let forms = match &self.forms {
            Ok(forms) => forms,
            Err(refusal) => return Some(*refusal),
        };
        let mut refusal = None;
        for form in forms {
            match form.check_target(version, target) {
                Ok(()) => return None,
                Err(found) => refusal = refusal.or(Some(found)),
            }
        }
        refusal
    }

    /// Whether it is refused everywhere, for what it is.
    pub fn is_refused(&self) -> bool {
        self.forms.is_err()
    }
}

/// The operands between commas that stand outside of brackets.
fn operands_of(text: &str) -> Vec<&str> {
    let (mut all, mut depth, mut start) = (Vec::new(), 0u32, 0);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'{' | b'[' | b'(' => depth += 1,
            b'}' | b']' | b')' => depth = depth.saturating_sub(1),
            b',' if depth == 0 => {
                all.push(text[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    let last = text[start..].trim();
    if !last.is_empty() {
        all.push(last);
    }
    all
}

fn shape(text: &str) -> Shape<'_> {
    let inside = |text: &str| operands_of(&text[1..text.len() - 1]).len();
    let count = |number: usize| u8::try_from(number).unwrap_or(u8::MAX);
    match text.as_bytes() {
        b"_" => Shape::Sink,
        [b'!', ..] => Shape::Not,
        [b'{', ..] => Shape::Vector(count(inside(text))),
        [b'(', ..] => Shape::List,
        [b'[', ..] => Shape::Address(count(inside(text) - 1)),
        _ if text.contains('|') => Shape::Pair,
        [b'%', ..] => register(text),
        [b'0'..=b'9' | b'-', ..] if text.contains('.') => Shape::Float,
        [b'0'..=b'9' | b'-', ..] => Shape::Integer,
        _ => Shape::Symbol,
    }
}

/// A register of the module, by its first letters, or a special one.
fn register(text: &str) -> Shape<'_> {
    let class = text.trim_end_matches(|letter: char| letter.is_ascii_digit());
    Shape::Register(match class {
        "%p" => "pred",
        "%b" => "b8",
        "%h" => "b16",
        "%hf" => "f16",
        "%hx" => "f16x2",
        "%hs" => "s16",
        "%r" => "b32",
        "%ru" => "u32",
        "%rs" => "s32",
        "%f" => "f32",
        "%d" => "b64",
        "%df" => "f64",
        "%du" => "u64",
        "%q" => "b128",
        _ => {
            return match special_registers::find(text) {
                Some(register) => Shape::Special(register.ty),
                None => Shape::Symbol,
            };
        }
    })
}

//! An instruction's text as the tables read it, for instructions that no form was the model of.

use alloc::vec::Vec;

use crate::effect::Space;
use crate::operand::{Base, Elements, Shape, Symbol};
use crate::special_registers;
use crate::{Match, PtxVersion, Refusal, Target, closest, matches};

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
            if let Some(name) = undeclared(operands) {
                return Err(Refusal::UnknownSymbol(name));
            }
            let found: Vec<Match> = found.collect();
            let forms: Vec<Match> = found
                .iter()
                .copied()
                .filter(|found| found.fits(&shapes))
                .collect();
            match closest(&found, &shapes) {
                Some((found, misfit)) if forms.is_empty() => Err(found.refusal(&misfit, &shapes)),
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
    let count = |number: usize| u8::try_from(number).unwrap_or(u8::MAX);
    match text.as_bytes() {
        b"_" => Shape::Sink,
        [b'!', ..] => match shape(&text[1..]) {
            Shape::Register("pred") => Shape::Not,
            _ => Shape::Negated,
        },
        [b'-', b'%', ..] => Shape::Negated,
        [b'{', ..] => {
            let parts = operands_of(&text[1..text.len() - 1]);
            Shape::Vector(count(parts.len()), elements(&parts))
        }
        [b'(', ..] => Shape::List,
        [b'[', ..] => {
            let parts = operands_of(&text[1..text.len() - 1]);
            let base = parts
                .first()
                .map_or("", |base| base.split('+').next().unwrap_or(base));
            Shape::Address(count(parts.len() - 1), address_base(base))
        }
        _ if text.contains('|') => pair(text),
        [b'%', ..] => register(text),
        [b'0', b'f', ..] => Shape::Float(true),
        [b'0', b'd', ..] => Shape::Float(false),
        [b'0'..=b'9' | b'-', ..] if text.contains('.') => Shape::Float(false),
        [b'0'..=b'9' | b'-', ..] => Shape::Integer(text.parse().unwrap_or(0)),
        _ if text.contains('+') => Shape::Offset,
        _ => Shape::Symbol(symbol(text)),
    }
}

/// A name in the operands that the module lacks.
fn undeclared(operands: &str) -> Option<&str> {
    let is_word = |letter: char| letter.is_ascii_alphanumeric() || "%_.".contains(letter);
    let mut words = operands.split(|letter| !is_word(letter));
    words.find(|word| match word.as_bytes() {
        [b'%', ..] => matches!(register(word), Shape::Symbol(_)),
        [b'a'..=b'z' | b'A'..=b'Z', ..] => {
            symbol(word) == Symbol::Label
                && !matches!(*word, "L1" | "ts" | "proto" | "proto0" | "proto1")
        }
        _ => false,
    })
}

/// `a|b`, of which one is a predicate or `_`.
fn pair(text: &str) -> Shape<'_> {
    let (_, second) = text.split_once('|').unwrap_or((text, ""));
    match shape(second) {
        Shape::Register("pred") | Shape::Sink => Shape::Pair,
        _ => Shape::Negated,
    }
}

fn elements<'t>(parts: &[&'t str]) -> Elements<'t> {
    let (mut ty, mut sink, mut integers, mut floats) = (None, false, 0, 0);
    for part in parts {
        match shape(part) {
            Shape::Register(found) if ty.is_none_or(|ty| ty == found) => ty = Some(found),
            Shape::Sink => sink = true,
            Shape::Integer(_) => integers += 1,
            Shape::Float(_) => floats += 1,
            _ => return Elements::Mixed,
        }
    }
    match ty {
        _ if integers == parts.len() => Elements::Integers,
        _ if floats == parts.len() => Elements::Floats,
        Some(ty) if integers + floats > 0 => Elements::Partly(ty),
        Some(ty) => Elements::Registers(ty, sink),
        None if integers + floats > 0 => Elements::Unknown,
        None => Elements::Registers("", sink),
    }
}

fn address_base(text: &str) -> Base<'_> {
    match shape(text) {
        Shape::Register(ty) => Base::Register(ty),
        Shape::Integer(_) => Base::Absolute,
        Shape::Symbol(symbol) => Base::Symbol(symbol),
        _ => Base::Symbol(Symbol::Label),
    }
}

/// The names of the module.
fn symbol(name: &str) -> Symbol {
    match name {
        "gv" => Symbol::Variable(Space::Global),
        "sv" => Symbol::Variable(Space::Shared),
        "cv" => Symbol::Variable(Space::Const),
        "lv" => Symbol::Variable(Space::Local),
        "p" | "q" => Symbol::Variable(Space::Parameter),
        "fn" | "fn0" | "fn1" => Symbol::Function,
        _ => Symbol::Label,
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
                // All its components.
                Some(register) if register.vector && !text.contains('.') => Shape::Special("b128"),
                Some(register) => Shape::Special(register.ty),
                None => Shape::Symbol(Symbol::Label),
            };
        }
    })
}

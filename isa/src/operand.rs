//! Operands: what a form takes, and what an instruction has.

use crate::effect::Space;

/// What an operand of a form is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// A register that is written, or `_`.
    Destination,
    /// A register or constant that is read.
    Source,
    /// `[address]`
    Address,
}

/// How many registers an operand has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Count {
    /// One, without braces.
    One,
    /// So many in braces: `{a, b}`.
    Exactly(u8),
    /// As the vector modifier says: one without it.
    Vector,
    /// Any number in braces.
    Any,
}

/// Whether an operand may be left out, or a part of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Presence {
    /// It is always there.
    Required,
    /// It may be left out.
    Optional,
    /// It is never there.
    Absent,
}

/// An operand of a form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operand {
    /// Its name in the manual's syntax line.
    pub name: &'static str,
    /// What it is.
    pub role: Role,
    /// Its type: a type's name, the name of a modifier slot, or one of the words below.
    ///
    /// Empty: the last type among the modifiers. `2x`: twice that type's width. `imm`: a constant of any type. `any`: not
    /// compared. `label`, `symbol`, `list`: what the parser reads them as. A final `+` admits wider registers.
    pub ty: &'static str,
    /// The constants that it may be: numbers, ranges (`0..15`) and multiples in a range (`0..64%16`) with `/` between them; `-`:
    /// none; empty: any.
    pub values: &'static str,
    /// How many registers it has.
    pub count: Count,
    /// A predicate after `|`.
    pub pair: Presence,
    /// Whether it may be left out.
    pub presence: Presence,
    /// The modifier with which it is there and without which it is not; empty: none.
    pub with: &'static str,
    /// What follows in the brackets of an address, by name: empty, or coordinates and the like.
    pub inside: &'static str,
    /// Whether `!` may precede it.
    pub negatable: bool,
    /// Whether it may be the name of a variable in the instruction's state space.
    pub variable: bool,
}

impl Operand {
    pub(crate) const NONE: Operand = Operand {
        name: "",
        role: Role::Source,
        ty: "",
        values: "",
        count: Count::One,
        pair: Presence::Absent,
        presence: Presence::Required,
        with: "",
        inside: "",
        negatable: false,
        variable: false,
    };

    /// Whether it must be a constant.
    pub const fn is_constant(&self) -> bool {
        crate::text::equal(self.ty, "imm")
    }

    /// Whether its type is that of the instruction, or of one of its modifiers.
    pub(crate) fn is_of_instruction(&self) -> bool {
        self.ty.is_empty() || self.ty.starts_with('.') || self.ty.starts_with("2x")
    }

    /// Whether it may be this constant.
    pub(crate) fn takes(&self, value: i128) -> bool {
        let number = |text: &str| text.parse::<i128>().ok();
        let is_in = |range: &str| {
            let (range, step) = range.split_once('%').unwrap_or((range, "1"));
            let (low, high) = range.split_once("..").unwrap_or((range, range));
            let high = number(high).or(high.is_empty().then_some(i128::MAX));
            let inside = number(low)
                .zip(high)
                .is_some_and(|(low, high)| (low..=high).contains(&value));
            inside && number(step).is_some_and(|step| value % step == 0)
        };
        self.values.is_empty() || self.values.split('/').any(is_in)
    }
}

/// What an operand of an instruction looks like to its reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape<'t> {
    /// A register of this declared type (`b32`, `pred` ...); of an unknown one if it is empty.
    Register(&'t str),
    /// A special register of this type; of any if it is empty.
    Special(&'t str),
    /// An integer constant.
    Integer(i128),
    /// A floating-point constant: whether it is written as the bits of a single (`0f3F800000`).
    Float(bool),
    /// A name that is no register.
    Symbol(Symbol),
    /// A name that is no register, and an offset.
    Offset,
    /// `_`
    Sink,
    /// `!p`
    Not,
    /// `!x`, of what is no predicate.
    NotOther,
    /// `-x`, and the type of `x` if it is a register.
    Negated(&'t str),
    /// `a|b`, and the type of `a`: none if it is `_`, empty if it is unknown.
    Pair(Option<&'t str>),
    /// `a|b`, where `b` is no predicate.
    PairOther,
    /// So many in braces, and what they are.
    Vector(u8, Elements<'t>),
    /// `( .. )`
    List,
    /// `[ .. ]` with so many parts after the base.
    Address(u8, Base<'t>),
    /// Nothing is known of it: it fits everywhere.
    Unknown,
}

/// What a name is that is no register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Symbol {
    /// A variable or parameter in this state space.
    Variable(Space),
    /// A function.
    Function,
    /// A label of an instruction, of a list of them or of a prototype.
    Label,
    /// Any of them.
    Unknown,
}

/// What stands in braces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Elements<'t> {
    /// Registers of one declared type, maybe with `_` among them (then true).
    Registers(&'t str, bool),
    /// Registers of one declared type, and constants.
    Partly(&'t str),
    /// Integer constants alone.
    Integers,
    /// Floating-point constants alone.
    Floats,
    /// Registers of several widths.
    Mixed,
    /// Nothing is known of them.
    Unknown,
}

/// What stands first in brackets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Base<'t> {
    /// A register of this declared type.
    Register(&'t str),
    /// A name.
    Symbol(Symbol),
    /// Nothing but a constant.
    Absolute,
    /// Nothing is known of it.
    Unknown,
}

/// The width of a type's register in bits; 0 if this is no type.
pub const fn type_bits(name: &str) -> u16 {
    match name.as_bytes() {
        b"pred" => 1,
        b"b8" | b"u8" | b"s8" | b"e4m3" | b"e5m2" => 8,
        b"b16" | b"u16" | b"s16" | b"f16" | b"bf16" | b"e4m3x2" | b"e5m2x2" | b"ue8m0x2"
        | b"b8x2" | b"s2f6x2" => 16,
        b"e2m3x2" | b"e3m2x2" | b"e2m1x4" => 16,
        b"e2m1x2" => 8,
        b"b32" | b"u32" | b"s32" | b"f32" | b"f16x2" | b"bf16x2" | b"u16x2" | b"s16x2"
        | b"tf32" | b"b8x4" => 32,
        b"u8x4" | b"s8x4" | b"e4m3x4" | b"e5m2x4" | b"e2m3x4" | b"e3m2x4" | b"u8x8" => 32,
        b"b64" | b"u64" | b"s64" | b"f64" | b"f32x2" => 64,
        b"b128" => 128,
        // Sub-byte elements and those with offsets stand only in packed fragments.
        b"u4" | b"s4" | b"b1" | b"u2" | b"s2" | b"e3m2" | b"e2m3" | b"e2m1" => 32,
        _ => 0,
    }
}

/// Whether a type of this name is a floating-point one, which integer registers do not fit.
pub const fn is_float(name: &str) -> bool {
    matches!(
        name.as_bytes(),
        b"f16" | b"f16x2" | b"f32" | b"f64" | b"bf16" | b"bf16x2" | b"f32x2"
    )
}

//! Operands: what a form takes, and what an instruction has.

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
}

impl Operand {
    pub(crate) const NONE: Operand = Operand {
        name: "",
        role: Role::Source,
        ty: "",
        count: Count::One,
        pair: Presence::Absent,
        presence: Presence::Required,
        with: "",
        inside: "",
        negatable: false,
    };

    /// Whether it must be a constant.
    pub const fn is_constant(&self) -> bool {
        crate::text::equal(self.ty, "imm")
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
    Integer,
    /// A floating-point constant.
    Float,
    /// A name that is no register: a label, a function, a variable's address.
    Symbol,
    /// `_`
    Sink,
    /// `!p`
    Not,
    /// `a|b`
    Pair,
    /// So many in braces.
    Vector(u8),
    /// `( .. )`
    List,
    /// `[ .. ]` with so many parts after the base.
    Address(u8),
    /// Nothing is known of it: it fits everywhere.
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

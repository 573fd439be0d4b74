//! The syntax tree of a PTX module. It borrows names from the text.

use std::collections::HashMap;

use warpsmith_isa::{PtxVersion, Target};

/// A position in the text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Position {
    /// Line, from 1.
    pub line: u32,
    /// Column in bytes, from 1.
    pub column: u32,
}

/// The head of a module.
#[derive(Clone, Copy, Debug)]
pub struct Head {
    /// `.version`
    pub version: PtxVersion,
    /// `.target`: the architecture.
    pub target: Target,
    /// Where `.target` says `debug`.
    pub debug: Option<Position>,
}

/// A module.
#[derive(Debug)]
pub struct Module<'a> {
    /// Its head.
    pub head: Head,
    /// `.file`: number and name.
    pub files: Vec<(u32, String)>,
    /// Whether there is a `.section`.
    pub has_sections: bool,
    /// The strings of the debug information.
    pub debug_strings: DebugStrings<'a>,
    /// Module-scope variables in order.
    pub variables: Vec<Variable<'a>>,
    /// Functions and entries with bodies or without.
    pub functions: Vec<Function<'a>>,
    /// `.alias NAME, TARGET;`
    pub aliases: Vec<(&'a str, &'a str, Position)>,
}

impl Module<'_> {
    /// A module that is empty but for its head.
    pub fn new(head: Head) -> Self {
        Module {
            head,
            files: Vec::new(),
            has_sections: false,
            debug_strings: DebugStrings::default(),
            variables: Vec::new(),
            functions: Vec::new(),
            aliases: Vec::new(),
        }
    }
}

/// How a symbol can be seen from other modules and the host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Linkage {
    /// Only in this module.
    #[default]
    Private,
    /// `.visible`
    Visible,
    /// `.weak`
    Weak,
    /// `.common`
    Common,
    /// `.extern`: defined elsewhere.
    Extern,
}

/// State spaces of declarations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Space {
    /// `.reg`
    Register,
    /// `.global`
    Global,
    /// `.const`
    Const,
    /// `.shared`
    Shared,
    /// `.local`
    Local,
    /// `.param`
    Parameter,
}

/// A fundamental type as declarations use it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Type<'a> {
    /// The name without its dot.
    pub name: &'a str,
    /// Bytes of one element; 0 for predicates.
    pub size: u32,
}

/// A declared variable, register range or parameter.
#[derive(Clone, Debug)]
pub struct Variable<'a> {
    /// Its name (a register range's prefix).
    pub name: &'a str,
    /// Where it is declared.
    pub at: Position,
    /// Its space.
    pub space: Space,
    /// Its element type.
    pub ty: Type<'a>,
    /// Elements of `.v2`, `.v4`; else 1.
    pub vector: u32,
    /// `.align`, or the natural alignment.
    pub align: u32,
    /// Array dimensions; an unsized first one is `None`.
    pub dimensions: Vec<Option<u64>>,
    /// `NAME<N>`: N registers `NAME0` ...
    pub range: Option<u32>,
    /// Initialiser.
    pub initializer: Option<Initializer<'a>>,
    /// Its linkage.
    pub linkage: Linkage,
    /// `.attribute(.managed)`
    pub managed: bool,
}

impl Variable<'_> {
    /// Size in bytes; `None` for an unsized array.
    pub fn size(&self) -> Option<u64> {
        let mut size = u64::from(self.ty.size) * u64::from(self.vector);
        for dimension in &self.dimensions {
            size = size.checked_mul((*dimension)?)?;
        }
        Some(size)
    }
}

/// An initialiser of a variable.
#[derive(Clone, Debug)]
pub enum Initializer<'a> {
    /// An integer.
    Int(i128, Position),
    /// A floating-point constant.
    Float(Float, Position),
    /// The address of a symbol, also as `generic(symbol)`, plus an offset.
    Symbol {
        /// The symbol.
        name: &'a str,
        /// The offset.
        offset: i64,
        /// Whether it is written as `generic(symbol)`.
        generic: bool,
        /// Where.
        at: Position,
    },
    /// `mask(symbol)`: one byte of an address.
    Masked {
        /// Which bits, such as 0xFF00.
        mask: u64,
        /// The symbol.
        symbol: Box<Initializer<'a>>,
    },
    /// `{ .. }`
    List(Vec<Initializer<'a>>, Position),
}

/// A floating-point constant as written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Float {
    /// `0fXXXXXXXX`
    Single(u32),
    /// `0dXXXXXXXXXXXXXXXX`
    Double(u64),
    /// A decimal constant: double precision.
    Decimal(f64),
}

impl Float {
    /// The value.
    pub fn value(self) -> f64 {
        match self {
            Float::Single(bits) => f64::from(f32::from_bits(bits)),
            Float::Double(bits) => f64::from_bits(bits),
            Float::Decimal(value) => value,
        }
    }
}

/// A function or kernel.
#[derive(Debug)]
pub struct Function<'a> {
    /// `.entry`
    pub entry: bool,
    /// Its name.
    pub name: &'a str,
    /// Where it is declared.
    pub at: Position,
    /// Its linkage.
    pub linkage: Linkage,
    /// Return values.
    pub returns: Vec<Variable<'a>>,
    /// Parameters.
    pub parameters: Vec<Variable<'a>>,
    /// `.maxntid` and `.reqntid` (then exact).
    pub max_threads: Option<[u32; 3]>,
    /// `.reqntid` was given.
    pub exact_threads: bool,
    /// `.minnctapersm`
    pub min_blocks: Option<u32>,
    /// `.maxnreg`
    pub max_registers: Option<u32>,
    /// `.reqnctapercluster`
    pub cluster: Option<[u32; 3]>,
    /// `.noreturn`
    pub returns_never: bool,
    /// The body; `None` for a declaration.
    pub body: Option<Vec<Statement<'a>>>,
}

/// A statement of a body.
#[derive(Debug)]
pub enum Statement<'a> {
    /// `NAME:`
    Label(&'a str, Position),
    /// A declaration.
    Variable(Variable<'a>),
    /// An instruction.
    Instruction(Instruction<'a>),
    /// `{ .. }`
    Block(Vec<Statement<'a>>),
    /// `.loc`
    Location(Location<'a>),
    /// `NAME: .branchtargets ..;`
    BranchTargets(&'a str, Position, Vec<(&'a str, Position)>),
    /// `NAME: .calltargets ..;`
    CallTargets(&'a str, Position, Vec<(&'a str, Position)>),
    /// `NAME: .callprototype ..;`
    Prototype {
        /// Its label.
        name: &'a str,
        /// Where it stands.
        at: Position,
        /// Return values.
        returns: Vec<Variable<'a>>,
        /// Parameters.
        parameters: Vec<Variable<'a>>,
    },
}

/// A position in a source file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct SourcePoint {
    /// Number of the file.
    pub file: u32,
    /// Line.
    pub line: u32,
    /// Column.
    pub column: u32,
}

/// `.loc`
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Location<'a> {
    /// The position.
    pub point: SourcePoint,
    /// `function_name`: the name of the function that was inlined here.
    pub function_name: Option<DebugString<'a>>,
    /// `inlined_at`: the position of the call. An earlier `.loc` names it.
    pub inlined_at: Option<SourcePoint>,
}

/// A string in the section `.debug_str`: a label and an offset in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DebugString<'a> {
    /// The label.
    pub label: &'a str,
    /// Bytes after the label.
    pub offset: u32,
}

/// The section `.debug_str`.
#[derive(Clone, Debug, Default)]
pub struct DebugStrings<'a> {
    bytes: Vec<u8>,
    /// For each label, where its bytes start.
    labels: HashMap<&'a str, usize>,
}

impl<'a> DebugStrings<'a> {
    /// Lets a label stand for what is pushed from now on.
    pub fn start(&mut self, label: &'a str) {
        self.labels.insert(label, self.bytes.len());
    }

    /// Appends a byte.
    pub fn push(&mut self, byte: u8) {
        self.bytes.push(byte);
    }

    /// The text of a string, without its terminating zero.
    pub fn get(&self, string: DebugString<'_>) -> Option<String> {
        let start = self.labels.get(string.label)? + string.offset as usize;
        let text = self.bytes.get(start..)?.split(|&byte| byte == 0).next()?;
        Some(String::from_utf8_lossy(text).into_owned())
    }
}

/// An instruction.
#[derive(Debug)]
pub struct Instruction<'a> {
    /// Where it starts.
    pub at: Position,
    /// `@p` or `@!p` (then true).
    pub guard: Option<(&'a str, bool, Position)>,
    /// The first part, such as `ld`.
    pub opcode: &'a str,
    /// The parts after it without their dots, such as `global`, `v4`, `f32`.
    pub modifiers: Vec<&'a str>,
    /// The operands.
    pub operands: Vec<Operand<'a>>,
}

impl Instruction<'_> {
    /// The full name, as written.
    pub fn name(&self) -> String {
        let mut name = self.opcode.to_owned();
        for modifier in &self.modifiers {
            name.push('.');
            name.push_str(modifier);
        }
        name
    }
}

/// An operand with its position.
#[derive(Clone, Debug)]
pub struct Operand<'a> {
    /// Where.
    pub at: Position,
    /// What.
    pub kind: OperandKind<'a>,
}

/// Kinds of operands.
#[derive(Clone, Debug)]
pub enum OperandKind<'a> {
    /// A register, label, function or variable.
    Name(&'a str),
    /// `NAME.x`: a component of a special register or vector.
    Component(&'a str, &'a str),
    /// `NAME+8`: the address of a variable and an offset.
    Offset(&'a str, i64),
    /// An integer constant.
    Int(i128),
    /// A floating-point constant.
    Float(Float),
    /// `_`
    Sink,
    /// `!p`
    Not(&'a str),
    /// `-x`, `-x.b0`
    Negated(Box<Operand<'a>>),
    /// `a|b`
    Pair(Box<Operand<'a>>, Box<Operand<'a>>),
    /// `{a, b, ..}`
    Vector(Vec<Operand<'a>>),
    /// `(a, b, ..)`
    List(Vec<Operand<'a>>),
    /// `[base + offset]` and `[base, {coordinates}]`
    Address {
        /// What is inside the brackets.
        base: AddressBase<'a>,
        /// The constant offset.
        offset: i64,
        /// What follows after a comma.
        rest: Vec<Operand<'a>>,
    },
}

/// The base of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressBase<'a> {
    /// A register or variable.
    Name(&'a str),
    /// Only the offset.
    Absolute,
}

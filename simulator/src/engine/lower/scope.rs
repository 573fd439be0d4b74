//! Names: what they mean in the scopes of a function and in the module.

use rustc_hash::FxHashMap;
use warpsmith_isa::Refusal;

use super::field::Register;
use crate::ptx::Error;
use crate::ptx::ast::{Position, Type, Variable};

/// What a name means.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Symbol<'a> {
    /// A register.
    Register { register: Register, ty: Type<'a> },
    /// A vector register: consecutive registers.
    Vector { first: Register, count: u32 },
    /// A label.
    Label(u32),
    /// `.branchtargets`: a part of the builder's lists of labels.
    Targets { start: u32, count: u32 },
    /// `.callprototype` or `.calltargets`: nothing needs checking beyond the sizes at the call.
    Prototype,
    /// A parameter or return value of a function, or a variable that passes them: memory of each lane in the frame.
    Area {
        register: Register,
        size: u32,
        formal: bool,
        variable: &'a Variable<'a>,
    },
    /// A parameter of the kernel.
    Parameter { offset: u32, size: u32 },
    /// A local variable: its offset in the frame's local memory.
    Local { offset: u32 },
    /// A shared variable: its address in shared memory.
    Shared { address: u32 },
    /// A global or (then true) constant variable.
    Global { address: u64, constant: bool },
    /// A function of the module.
    Function(u32),
    /// A function of the device runtime.
    Runtime(&'a str),
    /// A variable or function that is declared here and defined nowhere.
    External(External),
}

/// What is declared and defined nowhere.
#[derive(Clone, Copy, Debug)]
pub(crate) enum External {
    Variable,
    Function,
}

impl External {
    /// That it is used.
    pub fn unresolved(self, name: &str, at: Position) -> Error {
        let kind = match self {
            External::Variable => "variable",
            External::Function => "function",
        };
        Error::new(at, format!("Unresolved extern {kind} '{name}'"))
    }
}

/// A scope: `{ .. }` or the module.
#[derive(Debug, Default)]
pub(crate) struct Scope<'a> {
    pub(super) names: FxHashMap<&'a str, Symbol<'a>>,
    /// Whether a name in `names` starts as those of register ranges do.
    pub(super) has_percent_names: bool,
    /// Register ranges: prefix to (first register, count, type).
    pub(super) ranges: FxHashMap<&'a str, (Register, u32, Type<'a>)>,
    /// Where the scope starts, in instructions.
    pub start: u32,
    /// Areas declared in it.
    pub areas: Vec<Register>,
}

impl<'a> Scope<'a> {
    /// Adds a name; false if it is there already.
    pub fn insert(&mut self, name: &'a str, symbol: Symbol<'a>) -> bool {
        let is_new = self.in_range(name).is_none();
        self.has_percent_names |= is_percent_name(name);
        self.names.insert(name, symbol).is_none() && is_new
    }

    /// Gives a name another meaning.
    pub fn replace(&mut self, name: &'a str, symbol: Symbol<'a>) {
        self.has_percent_names |= is_percent_name(name);
        self.names.insert(name, symbol);
    }

    /// Adds a register range.
    pub fn insert_range(
        &mut self,
        prefix: &'a str,
        first: Register,
        count: u32,
        ty: Type<'a>,
    ) -> bool {
        let number_of = |name: &str| name.strip_prefix(prefix)?.parse::<u32>().ok();
        let is_new = !(self.names.keys()).any(|name| number_of(name).is_some_and(|n| n < count));
        self.ranges.insert(prefix, (first, count, ty)).is_none() && is_new
    }

    /// Looks up a name.
    pub fn get(&self, name: &str) -> Option<Symbol<'a>> {
        // Compilers declare all their registers in ranges.
        if (self.has_percent_names || !is_percent_name(name))
            && let Some(&symbol) = self.names.get(name)
        {
            return Some(symbol);
        }
        self.in_range(name)
    }

    /// The register of a range that has this name.
    fn in_range(&self, name: &str) -> Option<Symbol<'a>> {
        if self.ranges.is_empty() {
            return None;
        }
        let digits = name.bytes().rev().take_while(u8::is_ascii_digit).count();
        // The prefix itself may end in digits: try each split, the longest number first.
        for length in (1..=digits).rev() {
            let (prefix, number) = name.split_at(name.len() - length);
            if number.len() > 1 && number.starts_with('0') {
                continue;
            }
            if let Some(&(first, count, ty)) = self.ranges.get(prefix)
                && let Ok(number) = number.parse::<u32>()
                && number < count
            {
                return Some(Symbol::Register {
                    register: Register(first.0 + number),
                    ty,
                });
            }
        }
        None
    }
}

fn is_percent_name(name: &str) -> bool {
    name.starts_with('%')
}

/// That a name of a variable stands in this scope already.
pub(crate) fn duplicate(name: &str, at: Position) -> Error {
    Error::new(at, format!("Duplicate definition of variable '{name}'"))
}

/// That a name means nothing here.
pub(crate) fn unknown(name: &str, at: Position) -> Error {
    Error::new(at, Refusal::UnknownSymbol(name).to_string())
}

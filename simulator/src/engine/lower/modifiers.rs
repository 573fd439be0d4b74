//! Reading an instruction's modifiers: each must be taken by somebody, else the instruction is refused by name.

use crate::ptx::ast::{Instruction, Type};
use crate::ptx::{Error, Result};

/// The scalar types of instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    Pred,
    Bits,
    Unsigned,
    Signed,
    Float,
    /// bfloat16.
    Brain,
}

/// A type in an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Ty {
    pub kind: Kind,
    /// Bits of one element.
    pub bits: u32,
    /// Packed elements: 1, 2 or 4.
    pub packed: u32,
}

impl Ty {
    /// `.pred`
    pub const PRED: Ty = Ty::new(Kind::Pred, 1);
    /// `.b32`
    pub const B32: Ty = Ty::new(Kind::Bits, 32);
    /// `.b64`
    pub const B64: Ty = Ty::new(Kind::Bits, 64);
    /// `.u32`
    pub const U32: Ty = Ty::new(Kind::Unsigned, 32);
    /// `.u64`
    pub const U64: Ty = Ty::new(Kind::Unsigned, 64);

    /// One value of this kind and width.
    pub const fn new(kind: Kind, bits: u32) -> Ty {
        Ty {
            kind,
            bits,
            packed: 1,
        }
    }

    /// The type of this name.
    pub fn named(name: &str) -> Option<Ty> {
        let (name, packed) = match name {
            _ if name.ends_with("x2") => (&name[..name.len() - 2], 2),
            _ if name.ends_with("x4") => (&name[..name.len() - 2], 4),
            _ => (name, 1),
        };
        let (kind, digits) = match name {
            "pred" => {
                return Some(Ty {
                    kind: Kind::Pred,
                    bits: 1,
                    packed,
                });
            }
            _ if name.starts_with("bf") => (Kind::Brain, &name[2..]),
            _ if name.starts_with('b') => (Kind::Bits, &name[1..]),
            _ if name.starts_with('u') => (Kind::Unsigned, &name[1..]),
            _ if name.starts_with('s') => (Kind::Signed, &name[1..]),
            _ if name.starts_with('f') => (Kind::Float, &name[1..]),
            _ => return None,
        };
        let bits = match (kind, digits) {
            (Kind::Bits, "128") => 128,
            (Kind::Brain, "16") => 16,
            (Kind::Bits | Kind::Unsigned | Kind::Signed, "8") => 8,
            (Kind::Brain, _) => return None,
            (_, "16") => 16,
            (_, "32") => 32,
            (_, "64") => 64,
            _ => return None,
        };
        Some(Ty { kind, bits, packed })
    }

    /// Bits of the whole.
    pub fn width(self) -> u32 {
        self.bits * self.packed
    }

    /// Whether it is `.f32`.
    pub fn is_f32(self) -> bool {
        self == Ty::new(Kind::Float, 32)
    }

    /// Whether it is `.f64`.
    pub fn is_f64(self) -> bool {
        self == Ty::new(Kind::Float, 64)
    }
}

impl From<Type<'_>> for Ty {
    fn from(ty: Type<'_>) -> Ty {
        Ty::named(ty.name).unwrap_or(Ty {
            kind: Kind::Bits,
            bits: ty.size * 8,
            packed: 1,
        })
    }
}

/// An instruction's modifiers, taken one by one.
#[derive(Clone)]
pub(crate) struct Modifiers<'a> {
    rest: Vec<&'a str>,
}

impl<'a> Modifiers<'a> {
    pub fn new(inst: &Instruction<'a>) -> Modifiers<'a> {
        Modifiers {
            rest: inst.modifiers.clone(),
        }
    }

    /// Takes this modifier wherever it stands.
    pub fn flag(&mut self, name: &str) -> bool {
        match self.rest.iter().position(|&m| m == name) {
            Some(index) => {
                self.rest.remove(index);
                true
            }
            None => false,
        }
    }

    /// Takes the first of these names that is present.
    pub fn any(&mut self, names: &[&'static str]) -> Option<&'static str> {
        names.iter().copied().find(|&name| self.flag(name))
    }

    /// Takes the next modifier in order if the function accepts it.
    pub fn next_if<T>(&mut self, accept: impl FnOnce(&'a str) -> Option<T>) -> Option<T> {
        let value = accept(self.rest.first()?)?;
        self.rest.remove(0);
        Some(value)
    }

    /// Takes the first type.
    pub fn ty(&mut self) -> Option<Ty> {
        let index = self.rest.iter().position(|m| Ty::named(m).is_some())?;
        Ty::named(self.rest.remove(index))
    }

    /// What has not been taken.
    pub fn rest(&self) -> &[&'a str] {
        &self.rest
    }

    /// All must have been taken.
    pub fn finish(&self, inst: &Instruction<'a>) -> Result<()> {
        match self.rest.first() {
            None => Ok(()),
            Some(unknown) => Err(Error::new(
                inst.at,
                format!(
                    "`{}` is not supported by the simulator: `.{unknown}`",
                    inst.name()
                ),
            )),
        }
    }
}

/// The refusal of an instruction.
pub(crate) fn unknown(inst: &Instruction) -> Error {
    Error::new(
        inst.at,
        format!("`{}` is not supported by the simulator", inst.name()),
    )
}

//! The types of instructions.

use crate::ptx::ast::Type;

/// What the bits of a scalar mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum ScalarKind {
    /// `.pred`
    Pred,
    /// `.b8` ...: any of the others.
    Bits,
    /// `.u8` ...
    Unsigned,
    /// `.s8` ...
    Signed,
    /// `.f16`, `.f32`, `.f64`
    Float,
    /// `.bf16`
    Brain,
}

/// A type in an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Ty {
    pub kind: ScalarKind,
    /// Bits of one element.
    pub bits: u32,
    /// Packed elements: 1, 2 or 4.
    pub packed: u32,
}

impl Ty {
    /// `.pred`
    pub const PRED: Ty = Ty::new(ScalarKind::Pred, 1);
    /// `.b32`
    pub const B32: Ty = Ty::new(ScalarKind::Bits, 32);
    /// `.b64`
    pub const B64: Ty = Ty::new(ScalarKind::Bits, 64);
    /// `.u32`
    pub const U32: Ty = Ty::new(ScalarKind::Unsigned, 32);
    /// `.u64`
    pub const U64: Ty = Ty::new(ScalarKind::Unsigned, 64);

    /// One value of this kind and width.
    pub const fn new(kind: ScalarKind, bits: u32) -> Ty {
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
                    kind: ScalarKind::Pred,
                    bits: 1,
                    packed,
                });
            }
            _ if name.starts_with("bf") => (ScalarKind::Brain, &name[2..]),
            _ if name.starts_with('b') => (ScalarKind::Bits, &name[1..]),
            _ if name.starts_with('u') => (ScalarKind::Unsigned, &name[1..]),
            _ if name.starts_with('s') => (ScalarKind::Signed, &name[1..]),
            _ if name.starts_with('f') => (ScalarKind::Float, &name[1..]),
            _ => return None,
        };
        let bits = match (kind, digits) {
            (ScalarKind::Bits, "128") => 128,
            (ScalarKind::Brain, "16") => 16,
            (ScalarKind::Bits | ScalarKind::Unsigned | ScalarKind::Signed, "8") => 8,
            (ScalarKind::Brain, _) => return None,
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
        self == Ty::new(ScalarKind::Float, 32)
    }

    /// Whether it is `.f64`.
    pub fn is_f64(self) -> bool {
        self == Ty::new(ScalarKind::Float, 64)
    }
}

impl From<Type<'_>> for Ty {
    fn from(ty: Type<'_>) -> Ty {
        Ty::named(ty.name).unwrap_or(Ty {
            kind: ScalarKind::Bits,
            bits: ty.size * 8,
            packed: 1,
        })
    }
}

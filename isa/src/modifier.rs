//! Classes of modifiers.

use crate::operand::type_bits;

/// Classes of modifiers that ptxas tells apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ModifierClass {
    /// A type.
    Type,
    /// `.rn`, `.rzi` ...
    Rounding,
    /// `.eq`, `.ltu` ...
    Comparison,
    /// `.global` ...
    Space,
    /// `.v2` ...
    Vector,
    /// `.cta` ...
    Scope,
    /// Any other.
    Other,
}

impl ModifierClass {
    /// The class of a modifier.
    pub fn of(modifier: &str) -> ModifierClass {
        match modifier {
            _ if type_bits(modifier) != 0 => ModifierClass::Type,
            "rn" | "rz" | "rm" | "rp" | "rna" | "rs" | "rni" | "rzi" | "rmi" | "rpi" => {
                ModifierClass::Rounding
            }
            "eq" | "ne" | "lt" | "le" | "gt" | "ge" | "lo" | "ls" | "hi" | "hs" | "equ" | "neu"
            | "ltu" | "leu" | "gtu" | "geu" | "num" | "nan" => ModifierClass::Comparison,
            "global" | "shared" | "local" | "const" | "param" | "param::entry" | "param::func"
            | "shared::cta" | "shared::cluster" => ModifierClass::Space,
            "v2" | "v4" | "v8" => ModifierClass::Vector,
            "cta" | "cluster" | "gpu" | "sys" => ModifierClass::Scope,
            _ => ModifierClass::Other,
        }
    }
}

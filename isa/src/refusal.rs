//! Why an instruction is refused, in ptxas's words.

use crate::form::Slot;
use crate::modifier::ModifierClass;
use crate::name::Name;
use crate::phrase::Named;
use crate::target::{PtxVersion, Target};
use crate::words::kind_of;
use core::fmt;

/// Why an instruction is refused. Its text is that of ptxas.
#[derive(Clone, Copy, Debug)]
pub enum Refusal<'t> {
    /// No instruction has this opcode.
    UnknownInstruction(&'t str),
    /// No instruction has this modifier.
    UnknownModifier(&'t str),
    /// The instruction lacks a modifier that others have.
    IllegalModifier {
        /// The modifier without its dot.
        modifier: &'t str,
        /// The instruction's name.
        instruction: Name<'t>,
    },
    /// A modifier must be there.
    MissingModifier {
        /// Where it would stand.
        slot: &'static Slot,
        /// The instruction's name.
        instruction: Name<'t>,
        /// Whether `.approx` would do as well.
        approximate: bool,
    },
    /// Several modifiers where one belongs.
    Several {
        /// The second of them.
        modifier: &'t str,
        /// The instruction's name.
        instruction: Name<'t>,
    },
    /// The instruction has no access to this state space.
    IncorrectSpace(Name<'t>),
    /// Several state spaces where one belongs.
    TooManySpaces(Name<'t>),
    /// The modifier has no meaning for this state space.
    NotInSpace {
        /// The modifier.
        modifier: &'t str,
        /// The state space.
        space: &'t str,
        /// The instruction's name.
        instruction: Name<'t>,
    },
    /// A vector has more bits than an access.
    VectorTooLarge,
    /// An order without a scope.
    NeedsScope {
        /// The order.
        modifier: &'t str,
        /// The instruction's name.
        instruction: Name<'t>,
    },
    /// A scope without an order.
    NeedsOrder {
        /// The scope.
        modifier: &'t str,
        /// The instruction's name.
        instruction: Name<'t>,
    },
    /// The instruction does not exist for these types.
    UnexpectedTypes(Name<'t>),
    /// The number or kinds of the operands are wrong.
    ArgumentsMismatch(Name<'t>),
    /// A destination is no register.
    ResultRequired(Name<'t>),
    /// It came with a later PTX version.
    NeedsVersion {
        /// What came: an instruction or a modifier.
        feature: Named<'t>,
        /// The first version.
        version: PtxVersion,
    },
    /// It came with a later architecture.
    NeedsTarget {
        /// What came.
        feature: Named<'t>,
        /// The level of the first architecture.
        level: u16,
    },
    /// The module's architecture lacks it, and being later may not help.
    NotOnTarget {
        /// What it lacks.
        feature: Named<'t>,
        /// The module's architecture.
        target: Target,
    },
    /// It was removed: ptxas's sentence.
    Removed(&'static str),
    /// A special register came with a later PTX version.
    RegisterNeedsVersion {
        /// The register's name.
        register: &'t str,
        /// The first version.
        version: PtxVersion,
    },
    /// A special register came with a later architecture.
    RegisterNeedsTarget {
        /// The register's name.
        register: &'t str,
        /// The level of the first architecture.
        level: u16,
    },
    /// No special register has this name.
    UnknownSymbol(&'t str),
}

impl fmt::Display for Refusal<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Refusal::UnknownInstruction(name) => {
                write!(f, "Not a name of any known instruction: '{name}'")
            }
            Refusal::UnknownModifier(name) => write!(f, "Unknown modifier '.{name}'"),
            Refusal::IllegalModifier {
                modifier,
                instruction,
            } => fill(f, kind_of(modifier).illegal, modifier, instruction),
            Refusal::MissingModifier {
                slot,
                instruction,
                approximate,
            } => missing(f, slot, instruction, approximate),
            Refusal::Several {
                modifier,
                instruction,
            } => fill(f, kind_of(modifier).several, modifier, instruction),
            Refusal::IncorrectSpace(name) => {
                write!(f, "State space incorrect for instruction '{name}'")
            }
            Refusal::TooManySpaces(name) => {
                write!(
                    f,
                    "Unexpected number of state spaces specified in instruction '{name}'"
                )
            }
            Refusal::NotInSpace {
                modifier: "L2::64B" | "L2::128B" | "L2::256B",
                ..
            } => f.write_str("State space incorrect for feature 'cache prefetching'"),
            Refusal::NotInSpace {
                modifier,
                space,
                instruction,
            } => {
                let modifier = modifier.trim_start_matches("L1::");
                write!(
                    f,
                    "Modifier '.{modifier}' cannot be applied to '.{space}' space for instruction '{instruction}'"
                )
            }
            Refusal::VectorTooLarge => f.write_str("Vector type too large, exceeds 128 bit limit"),
            Refusal::NeedsScope {
                modifier,
                instruction,
            } => {
                write!(
                    f,
                    "Modifier '.{modifier}' requires scope with '{instruction}' instruction"
                )
            }
            Refusal::NeedsOrder {
                modifier,
                instruction,
            } => {
                write!(
                    f,
                    "Modifier '.{modifier}' requires order with '{instruction}' instruction"
                )
            }
            Refusal::UnexpectedTypes(name) => {
                write!(f, "Unexpected instruction types specified for '{name}'")
            }
            Refusal::ArgumentsMismatch(name) => {
                write!(f, "Arguments mismatch for instruction '{name}'")
            }
            Refusal::ResultRequired(name) => {
                write!(f, "Result register required for instruction '{name}'")
            }
            Refusal::NeedsVersion { feature, version } => {
                write!(f, "{feature} requires PTX ISA .version {version} or later")
            }
            Refusal::NeedsTarget { feature, level } => {
                write!(f, "{feature} requires .target sm_{level} or higher")
            }
            Refusal::NotOnTarget { feature, target } => {
                write!(f, "{feature} not supported on .target '{target}'")
            }
            Refusal::Removed(sentence) => f.write_str(sentence),
            Refusal::RegisterNeedsVersion { register, version } => write!(
                f,
                "Feature '{register}' requires PTX ISA .version {version} or later"
            ),
            Refusal::RegisterNeedsTarget { register, level } => {
                write!(
                    f,
                    "Feature '{register}' requires .target sm_{level} or higher"
                )
            }
            Refusal::UnknownSymbol(name) => write!(f, "Unknown symbol '{name}'"),
        }
    }
}

/// A sentence with `{word}` and `{name}` filled in.
fn fill(
    f: &mut fmt::Formatter<'_>,
    sentence: &str,
    word: &str,
    instruction: Name<'_>,
) -> fmt::Result {
    let mut rest = sentence;
    while let Some((before, after)) = rest.split_once('{') {
        f.write_str(before)?;
        let (part, after) = after.split_once('}').unwrap_or((after, ""));
        match part {
            "word" => f.write_str(word)?,
            _ => write!(f, "{instruction}")?,
        }
        rest = after;
    }
    f.write_str(rest)
}

/// What must stand in an empty slot.
fn missing(
    f: &mut fmt::Formatter<'_>,
    slot: &Slot,
    instruction: Name<'_>,
    approximate: bool,
) -> fmt::Result {
    let first = slot.alternatives().next().map_or("", |first| first.word);
    let mut words = slot.alternatives().map(|alternative| alternative.word);
    let pair = (words.next(), words.next(), words.next());
    match (slot.class(), slot.name) {
        (ModifierClass::Type, _) => write!(
            f,
            "Unexpected instruction types specified for '{instruction}'"
        ),
        (ModifierClass::Rounding, _) | (_, "approx") if approximate => {
            write!(
                f,
                "Rounding modifier or '.approx' modifier required for instruction '{instruction}'"
            )
        }
        (ModifierClass::Rounding, _) => write!(
            f,
            "Rounding modifier required for instruction '{instruction}'"
        ),
        (ModifierClass::Comparison, "mode") => write!(
            f,
            "Unexpected instruction types specified for '{instruction}'"
        ),
        (ModifierClass::Comparison, _) => write!(
            f,
            "Comparison modifier required for instruction '{instruction}'"
        ),
        (ModifierClass::Space, _) => write!(
            f,
            "State space modifier required for instruction '{instruction}'"
        ),
        (ModifierClass::Vector, _) => write!(
            f,
            "Vector modifier required for instruction '{instruction}'"
        ),
        (_, "op" | "redOp") => write!(
            f,
            "Reduction operation is required for instruction '{instruction}'"
        ),
        (_, "shape") => write!(f, "Shape modifier required for instruction '{instruction}'"),
        (_, "mode") if first == "up" => write!(
            f,
            "Shuffle modifier required for instruction '{instruction}'"
        ),
        (_, "mode") if first == "clamp" => {
            write!(f, "Clamp modifier required for instruction '{instruction}'")
        }
        (_, "level") => write!(
            f,
            "Cache level modifier required for instruction '{instruction}'"
        ),
        (_, name) => match pair {
            (Some(one), Some(other), None) => {
                write!(
                    f,
                    "'.{one}' or '.{other}' modifier required for instruction '{instruction}'"
                )
            }
            _ => write!(
                f,
                ".{name} modifier required for instruction '{instruction}'"
            ),
        },
    }
}

impl core::error::Error for Refusal<'_> {}

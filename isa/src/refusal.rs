//! Why an instruction is refused, in ptxas's words.

use crate::form::Slot;
use crate::name::Name;
use crate::needed;
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
        /// What else is said of the instruction: its first type, or the shape of its matrices.
        detail: &'t str,
    },
    /// A shape that no such matrices have.
    MatrixShape(Matrices<'t>),
    /// Types that matrices of a shape do not have.
    MatrixTypes(Matrices<'t>),
    /// The same, of an instruction that looks at them one by one.
    MatrixType(Matrices<'t>),
    /// Another number of operations than a product of bits has.
    MatrixOperations(Matrices<'t>),
    /// A comparison that values of the type do not have.
    ComparisonMismatch,
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
    /// An operand that must be a register is none.
    RegisterRequired {
        /// The operand's number, from 0.
        number: usize,
        /// The instruction's name.
        instruction: Name<'t>,
    },
    /// A constant is none of those that the operand may be.
    ValueOutOfRange {
        /// The operand's number, from 0.
        number: usize,
        /// The constant, as 64 bits.
        value: i64,
        /// Those that it may be, as in [`Operand::values`](crate::operand::Operand::values).
        values: &'static str,
        /// The instruction's name.
        instruction: Name<'t>,
    },
    /// A sign that does not belong where it stands.
    Syntax(&'static str),
    /// A special register where none may stand.
    SpecialRegister(Name<'t>),
    /// Braces where one operand belongs.
    VectorOperand(Name<'t>),
    /// Another number of operands in braces than the vector has.
    VectorSize(Name<'t>),
    /// `_` among the operands in braces of a source.
    SinkInSource,
    /// Operands of several widths in braces.
    MixedVector,
    /// So many operands in braces make no vector.
    VectorLength(u8),
    /// One operand where several in braces belong.
    VectorExpected(usize),
    /// Another number of operands in braces than the instruction moves rows.
    VectorOfSize {
        /// How many belong there.
        size: u8,
        /// The operand's number, from 0.
        number: usize,
        /// The instruction's name.
        instruction: Name<'t>,
    },
    /// Another number of registers than a sparse product has in braces.
    SparseVectorSize,
    /// Another constant than the ones that choose who has a sparse product's metadata.
    SparseSelector {
        /// The constant.
        value: i64,
        /// Those that it may be.
        values: &'static str,
    },
    /// No barrier has this number.
    BarrierNumber(i64),
    /// So many threads are no whole warps.
    BarrierThreads,
    /// No label, where a branch goes to one or a call to a function.
    LabelExpected(Name<'t>),
    /// No label of a list or a prototype.
    ListExpected {
        /// The operand's number, from 0.
        number: usize,
        /// The instruction's name.
        instruction: Name<'t>,
    },
    /// A function in place of a list of functions or a prototype.
    CallTarget,
    /// Something else than a register, maybe with the part that is meant, in an instruction on values side by side.
    VideoSelector(usize),
    /// A special register where a result goes.
    SpecialResult,
    /// `!` before what is no predicate.
    NotPredicate,
    /// `-` before a destination.
    NegatedResult,
    /// A second destination after `|`.
    PredicateResult(Name<'t>),
    /// An address in a register that is too wide.
    AddressIndex,
    /// An address in a register of a type that none has, or one of a function.
    AddressType {
        /// The register or function.
        symbol: &'t str,
        /// Its type; empty: that of a function.
        ty: &'t str,
    },
    /// The result must not be discarded.
    DiscardedResult(Name<'t>),
    /// An operand must not be negated.
    NegatedOperand(Name<'t>),
    /// A variable is in another state space than the instruction's.
    SpaceMismatch(Name<'t>),
    /// An operand of a type that the instruction has no operand of.
    OperandType(Name<'t>),
    /// An address is a constant outside of local memory.
    ImmediateAddress,
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
            } => Words::of(modifier, instruction).fill(f, kind_of(modifier).illegal),
            Refusal::MissingModifier {
                slot,
                instruction,
                approximate,
                detail,
            } => {
                let mut words = slot.alternatives().map(|alternative| alternative.word);
                let words = Words {
                    word: words.next().unwrap_or_default(),
                    other: words.next().unwrap_or_default(),
                    slot: slot.name,
                    instruction,
                    detail,
                };
                words.fill(f, needed::sentence(slot, instruction, approximate))
            }
            Refusal::MatrixShape(matrices) => write!(
                f,
                "Illegal matrix shape '.{}' for instruction '{matrices}'",
                matrices.shape
            ),
            Refusal::MatrixTypes(matrices) => write!(
                f,
                "Illegal instruction types specified for '{matrices}' with shape '.{}'",
                matrices.shape
            ),
            Refusal::MatrixType(matrices) => write!(
                f,
                "Incorrect instruction type specified for {matrices} with shape '.{}'",
                matrices.shape
            ),
            Refusal::MatrixOperations(matrices) => write!(
                f,
                "Unexpected number of operations specified for {matrices} with shape '.{}'",
                matrices.shape
            ),
            Refusal::ComparisonMismatch => {
                f.write_str("Mismatch between instruction type and comparison qualifier")
            }
            Refusal::Several {
                modifier,
                instruction,
            } => Words::of(modifier, instruction).fill(f, kind_of(modifier).several),
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
                let accesses = instruction.is("ld") || instruction.is("st");
                let order = if accesses { "memory order" } else { "order" };
                write!(
                    f,
                    "Modifier '.{modifier}' requires {order} with '{instruction}' instruction"
                )
            }
            Refusal::UnexpectedTypes(name) => {
                write!(f, "Unexpected instruction types specified for '{name}'")
            }
            Refusal::ArgumentsMismatch(name) => {
                write!(f, "Arguments mismatch for instruction '{name}'")
            }
            Refusal::RegisterRequired {
                number,
                instruction,
            } => write!(
                f,
                "Argument {number} of instruction '{instruction}': must be register"
            ),
            Refusal::ValueOutOfRange {
                number,
                value,
                values,
                instruction,
            } => {
                write!(f, "Argument {number} of instruction '{instruction}': ")?;
                out_of_range(f, value, values)
            }
            Refusal::Syntax(sign) => write!(f, "Parsing error near '{sign}': syntax error"),
            Refusal::SpecialRegister(name) => write!(
                f,
                "Special register argument not allowed for instruction '{name}'"
            ),
            Refusal::VectorOperand(name) => {
                write!(f, "Vector operand is not allowed for instruction '{name}'")
            }
            Refusal::VectorSize(name) => {
                write!(f, "Argument vector size mismatch for instruction '{name}'")
            }
            Refusal::SinkInSource => f.write_str("Sink '_' not allowed as a source operand"),
            Refusal::MixedVector => f.write_str("Incompatible elements of vector expression"),
            Refusal::VectorLength(length) => write!(f, "Illegal vector size: {length}"),
            Refusal::VectorExpected(number) => write!(f, "Vector expected for argument {number}"),
            Refusal::VectorOfSize {
                size,
                number,
                instruction,
            } => write!(
                f,
                "Vector of size {size} is expected for argument {number} of instruction '{instruction}'"
            ),
            Refusal::SparseVectorSize => {
                f.write_str("Argument vector size mismatch for instruction 'Sparse mma'")
            }
            Refusal::SparseSelector { value, values } => {
                let last = values.split("..").last().unwrap_or(values);
                write!(
                    f,
                    "Argument 6 of instruction 'Sparse mma': value '{value}' out of range, expected to be in range [0..{last}]"
                )
            }
            Refusal::BarrierNumber(value) => write!(
                f,
                "Barrier number '{value}' out of range, expected to be in range [0..15]"
            ),
            Refusal::BarrierThreads => f.write_str(
                "Number of threads participating in barrier must be in multiple of warp size",
            ),
            Refusal::LabelExpected(name) => {
                write!(f, "Label expected for argument 0 of instruction '{name}'")
            }
            Refusal::ListExpected {
                number,
                instruction,
            } if instruction.is("brx.idx") => write!(
                f,
                "Label with '.branchtargets' directive expected for argument {number} of instruction '{instruction}'"
            ),
            Refusal::ListExpected {
                number,
                instruction,
            } => write!(
                f,
                "Label or .u32/.u64/.u8 array expected for argument {number} of instruction '{instruction}'"
            ),
            Refusal::CallTarget => f.write_str("Call target not recognized"),
            Refusal::VideoSelector(number) => {
                write!(f, "Incorrect video selector for operand {number}")
            }
            Refusal::SpecialResult => {
                f.write_str("Read-only special register cannot be destination argument")
            }
            Refusal::NotPredicate => f.write_str("Illegal argument to predicate negation"),
            Refusal::NegatedResult => f.write_str(
                "Operand negation limited to either (source A xor source B) or source C",
            ),
            Refusal::PredicateResult(name) => {
                write!(f, "Predicate output not allowed for instruction '{name}'")
            }
            Refusal::AddressIndex => f.write_str("Illegal operand type for address/array-index"),
            Refusal::AddressType { symbol, ty } => {
                let (dot, ty) = if ty.is_empty() {
                    ("", "unexpected")
                } else {
                    (".", ty)
                };
                write!(
                    f,
                    "Illegal to use symbol '{symbol}' of type {dot}{ty} as address operand. Use integer or bit only."
                )
            }
            Refusal::DiscardedResult(name) => {
                write!(
                    f,
                    "Result discard mode is not allowed for instruction '{name}'"
                )
            }
            Refusal::NegatedOperand(name) => {
                write!(f, "Operand negation not allowed for instruction '{name}'")
            }
            Refusal::SpaceMismatch(name) => write!(
                f,
                "State space mismatch between instruction and address in instruction '{name}'"
            ),
            Refusal::OperandType(name) => {
                write!(f, "Illegal operand type to instruction '{name}'")
            }
            Refusal::ImmediateAddress => {
                f.write_str("Immediate addresses allowed only for .local state space")
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

/// What a constant may be.
fn out_of_range(f: &mut fmt::Formatter<'_>, value: i64, values: &str) -> fmt::Result {
    let step = values.split_once('%').map(|(_, step)| step);
    match step {
        Some(step) if step.parse().is_ok_and(|step: i64| value % step != 0) => {
            return write!(
                f,
                "unexpected value '{value}', expected to be multiple of {step}"
            );
        }
        _ => {}
    }
    let range = values.split('%').next().unwrap_or(values);
    match range.split_once("..") {
        Some(("0", "1")) => write!(f, "unexpected value '{value}', expected to be 0 or 1"),
        Some(("0", "")) => {
            write!(
                f,
                "unexpected value '{value}', expected to be non-negative integer"
            )
        }
        Some(_) => write!(
            f,
            "value '{value}' out of range, expected to be in range [{range}]"
        ),
        None => {
            write!(f, "unexpected value '{value}', expected to be ")?;
            for (number, one) in range.split('/').enumerate() {
                f.write_str(if number == 0 { "" } else { " or " })?;
                f.write_str(one)?;
            }
            Ok(())
        }
    }
}

/// What a sentence says by name.
struct Words<'t> {
    word: &'t str,
    other: &'t str,
    slot: &'t str,
    instruction: Name<'t>,
    detail: &'t str,
}

impl<'t> Words<'t> {
    /// Those of a sentence about a modifier of an instruction.
    fn of(modifier: &'t str, instruction: Name<'t>) -> Words<'t> {
        Words {
            word: modifier,
            other: "",
            slot: "",
            instruction,
            detail: "",
        }
    }

    /// A sentence with these filled in.
    fn fill(&self, f: &mut fmt::Formatter<'_>, sentence: &str) -> fmt::Result {
        let mut rest = sentence;
        while let Some((before, after)) = rest.split_once('{') {
            f.write_str(before)?;
            let (part, after) = after.split_once('}').unwrap_or((after, ""));
            match part {
                "word" => f.write_str(self.word)?,
                "other" => f.write_str(self.other)?,
                "slot" => f.write_str(self.slot)?,
                "type" | "shape" => f.write_str(self.detail)?,
                _ => write!(f, "{}", self.instruction)?,
            }
            rest = after;
        }
        f.write_str(rest)
    }
}

/// Kinds of matrices' elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Elements {
    /// Floating-point numbers of 16 bits or more.
    Floats,
    /// Floating-point numbers of 8 bits or fewer.
    Bytes,
    /// Integers of 4 or 8 bits.
    Integers,
    /// Single bits.
    Bits,
}

impl Elements {
    /// What ptxas adds to the name of a product of warpgroups.
    fn words(self) -> &'static str {
        match self {
            Elements::Floats => " with floating point types",
            Elements::Bytes => " with FP8 types",
            Elements::Integers => " with integer types",
            Elements::Bits => " with boolean type",
        }
    }
}

/// Matrices of which ptxas says something.
#[derive(Clone, Copy, Debug)]
pub struct Matrices<'t> {
    /// Their shape.
    pub shape: &'t str,
    /// Whether half of the elements of one of them are stored.
    pub sparse: bool,
    /// The instruction's name.
    pub instruction: Name<'t>,
    /// Their elements, if they are named.
    pub elements: Option<Elements>,
}

impl fmt::Display for Matrices<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.sparse { "Sparse " } else { "" })?;
        let elements = self.elements.map_or("", Elements::words);
        write!(f, "{}{elements}", self.instruction)
    }
}

impl core::error::Error for Refusal<'_> {}

//! What ptxas says of operands that a form does not take.
//!
//! It reads an operand first, whatever the instruction; then it compares types, and says no more than that the arguments mismatch if
//! one differs; and then it looks at what kind of operand of that type it is.

use crate::fit::Misfit;
use crate::matched::Match;
use crate::operand::{Base, Count, Elements, Operand, Role, Shape, Symbol, is_float, type_bits};
use crate::refusal::Refusal;

impl Match {
    /// What ptxas says of operands that do not fit: of their number, or of one of this shape.
    pub fn refusal(&self, misfit: &Misfit, shapes: &[Shape<'_>]) -> Refusal<'static> {
        let Misfit::Operand { number, operand } = *misfit else {
            return Refusal::ArgumentsMismatch(self.name());
        };
        let shape = shapes[number];
        if matches!(self.type_of(operand), "label" | "symbol") {
            return self.wrong_symbol(number, shape);
        }
        let refusal = self.unreadable(number, shape).or_else(|| {
            let has_type = operand.role != Role::Address && self.has_type(operand, shape);
            match operand.role {
                Role::Address => self.wrong_address(operand, shape),
                Role::Destination if has_type => self.wrong_result(operand, shape),
                _ if has_type => self.wrong_source(operand, number, shape),
                _ => None,
            }
        });
        refusal.unwrap_or(Refusal::ArgumentsMismatch(self.name()))
    }

    /// What is wrong with an operand whichever instruction it belongs to.
    fn unreadable(&self, number: usize, shape: Shape<'_>) -> Option<Refusal<'static>> {
        Some(match shape {
            Shape::NotOther => Refusal::NotPredicate,
            Shape::Sink | Shape::Pair(None) if number == 0 => Refusal::DiscardedResult(self.name()),
            Shape::Sink | Shape::Pair(None) => Refusal::Syntax("_"),
            Shape::Pair(_) | Shape::PairOther if number > 0 => Refusal::Syntax("|"),
            Shape::Negated(_) if number == 0 => Refusal::NegatedResult,
            Shape::Vector(3, _) if !matches!(self.form.opcode, "wgmma" | "cp") => {
                Refusal::VectorLength(3)
            }
            Shape::Vector(8, _) if !self.may_have_vectors() => Refusal::VectorLength(8),
            Shape::Vector(_, Elements::Mixed) => Refusal::MixedVector,
            Shape::Address(_, Base::Register("b128")) => Refusal::AddressIndex,
            _ => return None,
        })
    }

    /// Whether an operand that is no address has the type that the form asks for, whatever else it is.
    fn has_type(&self, operand: &Operand, shape: Shape<'_>) -> bool {
        let ty = self.type_of(operand);
        let is_integer = !is_float(ty) && type_bits(ty) > 1;
        let fits = |found| self.fits_register(operand, ty, found);
        let is_own = self.is_own(operand);
        if operand.count != Count::One && self.is_untyped_matrix(operand) {
            return has_width(type_bits(ty), shape);
        }
        match shape {
            Shape::Register(found) | Shape::Negated(found) | Shape::Pair(Some(found)) => {
                fits(found)
            }
            Shape::Integer(_) => !is_float(ty),
            Shape::Float(single) => {
                matches!(ty, "f32" | "f64") || is_own && (ty == "b64" || ty == "b32" && single)
            }
            Shape::Not => type_bits(ty) == 1,
            Shape::Offset => is_integer,
            // All its components.
            Shape::Special("b128") => {
                is_own && !is_untyped(operand, ty) && (fits("b32") || type_bits(ty) == 16)
            }
            Shape::Special(_) if operand.is_constant() => false,
            Shape::Special("pred") => fits("pred"),
            Shape::Special(found) => fits(if type_bits(found) == 64 { "b64" } else { "b32" }),
            Shape::Vector(count, elements) if operand.count != Count::One => {
                count > 0 && self.have_type(operand, ty, elements)
            }
            // Only what has the instruction's own type may be anything but a register or a number, as far as types go.
            _ if !is_own => false,
            Shape::Vector(count, elements) if is_untyped(operand, ty) => match elements {
                Elements::Registers(found, _) | Elements::Partly(found) => {
                    u16::from(count) * type_bits(found) == type_bits(ty)
                }
                Elements::Floats => u16::from(count) * type_bits("f32") == type_bits(ty),
                _ => elements == Elements::Integers,
            },
            Shape::Vector(_, elements) => self.have_type(operand, ty, elements),
            Shape::Symbol(Symbol::Variable(_) | Symbol::Function) => true,
            Shape::Address(0, Base::Register(found)) => fits(found),
            Shape::Address(0, Base::Symbol(Symbol::Variable(_))) => fits("u32"),
            Shape::Address(0, Base::Absolute) => fits("u64"),
            Shape::Address(0, Base::Symbol(Symbol::Function)) => {
                operand.ty.ends_with('+') && fits("u64")
            }
            _ => false,
        }
    }

    /// Whether an operand has the type of the instruction, not one that goes with whatever type that is.
    fn is_own(&self, operand: &Operand) -> bool {
        match self.form.opcode {
            "createpolicy" | "mbarrier" | "redux" | "dp2a" | "dp4a" | "tcgen05" | "nanosleep" => {
                false
            }
            "cvt" | "mma" => !operand.is_constant() && operand.values != "-",
            _ => operand.is_of_instruction() || is_float(operand.ty),
        }
    }

    /// Whether the registers of a matrix are bits of any type.
    fn is_untyped_matrix(&self, operand: &Operand) -> bool {
        match self.form.opcode {
            "ldmatrix" | "stmatrix" => true,
            "mma" => {
                let has_any = self.has("tf32") || self.has("bf16");
                has_any || matches!(operand.name, "a" | "b") && !self.has("f16") && !self.has("f64")
            }
            _ => false,
        }
    }

    /// Whether what stands in braces has the type of an operand's elements.
    fn have_type(&self, operand: &Operand, ty: &str, elements: Elements<'_>) -> bool {
        match elements {
            Elements::Registers(found, _) | Elements::Partly(found) => {
                self.fits_register(operand, ty, found)
            }
            Elements::Integers => !is_float(ty) || ty == "f64",
            Elements::Floats => matches!(ty, "f32" | "f64"),
            Elements::Mixed | Elements::Unknown => false,
        }
    }

    /// What is wrong with the first operand, which has the right type.
    fn wrong_result(&self, operand: &Operand, shape: Shape<'_>) -> Option<Refusal<'static>> {
        let instruction = self.name();
        Some(match shape {
            _ if self.is_side_by_side() => Refusal::VideoSelector(0),
            Shape::Vector(_, Elements::Registers(_, true)) if self.accumulates() => {
                Refusal::SinkInSource
            }
            Shape::Special(_) if self.form.opcode == "mov" => Refusal::SpecialResult,
            Shape::Special(_) if self.form.opcode == "cvt" && !self.words().any(is_float) => {
                Refusal::SpecialResult
            }
            Shape::Integer(_) | Shape::Float(_) | Shape::Offset | Shape::Not => {
                Refusal::ResultRequired(instruction)
            }
            Shape::Symbol(Symbol::Function) => Refusal::ResultRequired(instruction),
            Shape::Vector(_, Elements::Integers | Elements::Floats | Elements::Partly(_)) => {
                Refusal::ResultRequired(instruction)
            }
            Shape::Pair(_) => Refusal::PredicateResult(instruction),
            _ => return self.wrong_kind(operand, 0, shape),
        })
    }

    /// What is wrong with a source, which has the right type.
    fn wrong_source(
        &self,
        operand: &Operand,
        number: usize,
        shape: Shape<'_>,
    ) -> Option<Refusal<'static>> {
        let instruction = self.name();
        match shape {
            Shape::Negated(_) => Some(Refusal::NegatedOperand(instruction)),
            Shape::Vector(_, Elements::Registers(_, true)) => Some(Refusal::SinkInSource),
            _ if self.is_side_by_side() => Some(Refusal::VideoSelector(number)),
            Shape::Integer(value) if !operand.takes(value) && operand.values != "-" => {
                let value = value as i64;
                Some(match (self.form.opcode, operand.name) {
                    ("bar" | "barrier", "a") => Refusal::BarrierNumber(value),
                    ("bar" | "barrier", "b") => Refusal::BarrierThreads,
                    ("mma", _) => Refusal::SparseSelector {
                        value,
                        values: operand.values,
                    },
                    _ => Refusal::ValueOutOfRange {
                        number,
                        value,
                        values: operand.values,
                        instruction,
                    },
                })
            }
            _ => self.wrong_kind(operand, number, shape),
        }
    }

    /// What is wrong with an operand of the right type, wherever it stands.
    fn wrong_kind(
        &self,
        operand: &Operand,
        number: usize,
        shape: Shape<'_>,
    ) -> Option<Refusal<'static>> {
        let instruction = self.name();
        Some(match shape {
            Shape::Special(_) => Refusal::SpecialRegister(instruction),
            Shape::Vector(..) if self.is_matrix_rows() => Refusal::VectorOfSize {
                size: self.count_of(operand)?,
                number,
                instruction,
            },
            Shape::Vector(..) => match operand.count {
                Count::One => Refusal::VectorOperand(instruction),
                _ if self.form.opcode == "mma" && self.has("sp") => Refusal::SparseVectorSize,
                _ => Refusal::VectorSize(instruction),
            },
            Shape::Symbol(Symbol::Variable(_) | Symbol::Function) if operand.variable => {
                Refusal::SpaceMismatch(instruction)
            }
            Shape::Symbol(Symbol::Variable(_)) | Shape::Address(0, _) if !operand.is_constant() => {
                Refusal::RegisterRequired {
                    number,
                    instruction,
                }
            }
            _ if operand.count == Count::One => return None,
            _ if matches!(self.form.opcode, "ld" | "ldu" | "st") => {
                Refusal::VectorSize(instruction)
            }
            _ => Refusal::VectorExpected(number),
        })
    }

    /// Whether instructions of its opcode may have as many as eight operands in braces.
    fn may_have_vectors(&self) -> bool {
        matches!(
            self.form.opcode,
            "ld" | "ldu" | "st" | "atom" | "red" | "multimem" | "mma" | "wmma" | "wgmma"
        )
    }

    /// Whether it works on several values side by side in each register, from parts of registers that selectors name.
    fn is_side_by_side(&self) -> bool {
        let opcode = self.form.opcode;
        opcode.starts_with('v') && opcode.ends_with(['2', '4'])
    }

    /// Whether it moves rows of matrices, a register for each.
    fn is_matrix_rows(&self) -> bool {
        matches!(self.form.opcode, "ldmatrix" | "stmatrix")
    }

    /// What is wrong with what should be a label, a list of them or a prototype.
    fn wrong_symbol(&self, number: usize, shape: Shape<'_>) -> Refusal<'static> {
        let instruction = self.name();
        match shape {
            Shape::Symbol(Symbol::Function) if number > 0 => Refusal::CallTarget,
            Shape::Register(ty) if is_float(ty) || type_bits(ty) == 1 => {
                Refusal::ArgumentsMismatch(instruction)
            }
            Shape::Register(_) | Shape::Symbol(_) | Shape::Special(_) if number == 0 => {
                Refusal::LabelExpected(instruction)
            }
            Shape::Register(_) | Shape::Symbol(_) | Shape::Special(_) => Refusal::ListExpected {
                number,
                instruction,
            },
            _ => Refusal::ArgumentsMismatch(instruction),
        }
    }

    /// What is wrong with what should be an address.
    fn wrong_address(&self, operand: &Operand, shape: Shape<'_>) -> Option<Refusal<'static>> {
        let instruction = self.name();
        let is_whole = |parts: u8| (parts > 0) != operand.inside.is_empty();
        match shape {
            Shape::Address(parts, Base::Absolute) if is_whole(parts) => {
                Some(Refusal::ImmediateAddress)
            }
            Shape::Address(parts, Base::Symbol(Symbol::Variable(_))) if is_whole(parts) => {
                Some(Refusal::SpaceMismatch(instruction))
            }
            Shape::Address(_, Base::Symbol(Symbol::Label)) => {
                Some(Refusal::OperandType(instruction))
            }
            // It reads an address without brackets, too.
            _ if operand.inside.is_empty() && self.form.opcode == "cp" && self.has("tensor") => {
                self.wrong_bare_address(shape)
            }
            _ => None,
        }
    }

    /// What is wrong with what should be an address without brackets.
    fn wrong_bare_address(&self, shape: Shape<'_>) -> Option<Refusal<'static>> {
        let instruction = self.name();
        Some(match shape {
            Shape::Integer(_) => Refusal::ImmediateAddress,
            Shape::Special(_) => Refusal::SpecialRegister(instruction),
            Shape::Vector(..) => Refusal::VectorOperand(instruction),
            Shape::Symbol(Symbol::Label) => Refusal::OperandType(instruction),
            Shape::Symbol(Symbol::Variable(_)) | Shape::Offset => {
                Refusal::SpaceMismatch(instruction)
            }
            _ => return None,
        })
    }
}

/// Whether an operand of one register holds bits of any type, so that as many in braces stand for it as have its width.
fn is_untyped(operand: &Operand, ty: &str) -> bool {
    operand.count == Count::One && ty.starts_with('b') && !is_float(ty)
}

/// Whether an operand has the width of a matrix's registers, whose types are not compared.
fn has_width(bits: u16, shape: Shape<'_>) -> bool {
    let has = |found| matches!(type_bits(found), 1) || type_bits(found) == bits;
    match shape {
        Shape::Register(found) | Shape::Negated(found) | Shape::Pair(Some(found)) => has(found),
        Shape::Special("b128") => bits == 32,
        Shape::Special(found) => has(found),
        Shape::Float(single) => single && bits == 32,
        Shape::Offset | Shape::Not => true,
        Shape::Vector(_, Elements::Registers(found, _) | Elements::Partly(found)) => has(found),
        Shape::Vector(_, Elements::Floats) => bits == 32,
        Shape::Address(0, Base::Register(found)) => has(found),
        Shape::Address(0, Base::Symbol(Symbol::Variable(_))) => bits == 32,
        _ => false,
    }
}

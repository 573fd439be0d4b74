//! Whether the operands of an instruction are what a form takes.

use crate::effect::{BarrierAction, ObjectUse, Space};
use crate::matched::{Match, space_named};
use crate::operand::{
    Base, Count, Elements, Operand, Presence, Role, Shape, Symbol, is_float, type_bits,
};

impl Match {
    /// Whether operands of these shapes are what it takes.
    pub fn fits(&self, shapes: &[Shape<'_>]) -> bool {
        self.misfit(shapes).is_none()
    }

    /// What is wrong with operands of these shapes.
    pub fn misfit(&self, shapes: &[Shape<'_>]) -> Option<Misfit> {
        let is_free =
            |operand: &Operand| operand.presence == Presence::Optional && operand.with.is_empty();
        let (mut optional, mut most) = (0, 0);
        for operand in self.operands() {
            optional += usize::from(is_free(operand));
            most += 1;
        }
        if shapes.len() > most || shapes.len() + optional < most {
            return Some(Misfit::Count {
                least: most - optional,
                most,
            });
        }
        // Optional operands are left out from the end.
        let mut given = optional + shapes.len() - most;
        let mut number = 0;
        for operand in self.operands() {
            if is_free(operand) {
                if given == 0 {
                    continue;
                }
                given -= 1;
            }
            if !self.fits_operand(operand, shapes[number]) {
                return Some(Misfit::Operand { number, operand });
            }
            number += 1;
        }
        None
    }

    fn fits_operand(&self, operand: &Operand, shape: Shape<'_>) -> bool {
        let ty = self.type_of(operand);
        // Most operands are such.
        if let Shape::Register(found) = shape
            && operand.role != Role::Address
            && operand.count == Count::One
            && operand.pair != Presence::Required
            && operand.is_of_instruction()
            && operand.name != "_"
        {
            return self.fits_register(operand, ty, found);
        }
        let count = self.count_of(operand);
        match (shape, operand.role) {
            (Shape::Unknown, _) => true,
            (Shape::Address(parts, base), Role::Address) => {
                (parts > 0) != operand.inside.is_empty() && self.fits_base(operand, base)
            }
            (_, Role::Address) | (Shape::Address(..), _) => false,
            _ if ty == "label" => matches!(shape, Shape::Symbol(Symbol::Label | Symbol::Unknown)),
            _ if ty == "symbol" => match shape {
                Shape::Symbol(Symbol::Function) => operand.name == "func",
                Shape::Symbol(Symbol::Label) => operand.name != "func",
                Shape::Symbol(Symbol::Unknown) => true,
                _ => false,
            },
            _ if ty == "list" => matches!(shape, Shape::List),
            (Shape::List, _) => false,
            (Shape::Pair(first), _) => {
                operand.pair != Presence::Absent
                    && first.is_none_or(|first| self.fits_register(operand, ty, first))
            }
            (Shape::PairOther, _) => false,
            (_, _) if operand.pair == Presence::Required => false,
            (Shape::Vector(found, elements), _) => {
                count.is_none_or(|count| {
                    count == found && (count > 1 || operand.count != Count::One)
                }) && self.fits_elements(operand, ty, elements)
            }
            // A vector register stands for its parts.
            (Shape::Register(""), _) => true,
            _ if matches!(operand.count, Count::Exactly(_) | Count::Any)
                || count.is_some_and(|count| count > 1) =>
            {
                false
            }
            _ if operand.name == "_" => shape == Shape::Sink,
            (Shape::Sink, Role::Destination) => {
                // Where the result may be discarded.
                matches!(self.form.opcode, "setp" | "atom" | "match")
                    || self.form.opcode == "mbarrier"
                        && !self
                            .form
                            .barrier
                            .is_none_or(|action| action != BarrierAction::Arrive)
                    || self.form.opcode == "lop3"
            }
            (Shape::Sink, _) => false,
            (Shape::Not, _) => operand.negatable && type_bits(ty) == 1,
            (Shape::NotOther, _) => false,
            (Shape::Negated(_), _) => self.form.opcode == "vmad" && operand.role == Role::Source,
            (
                Shape::Special(_)
                | Shape::Integer(_)
                | Shape::Float(_)
                | Shape::Symbol(_)
                | Shape::Offset,
                Role::Destination,
            ) => false,
            (Shape::Special(found), _) => {
                // Nothing but a move reads a special register.
                matches!(self.form.opcode, "mov" | "cvt")
                    && operand.values.is_empty()
                    && (found.is_empty()
                        || matches!((type_bits(ty), type_bits(found)), (16, 32))
                        || self.fits_register(operand, ty, found))
                    && !is_float(ty)
            }
            (Shape::Integer(value), _) => operand.takes(value) && !is_float(ty),
            (Shape::Float(single), _) => match ty {
                "any" | "f32" | "f64" => true,
                "b32" => single,
                "b64" => operand.is_of_instruction() && self.form.opcode != "mbarrier",
                _ => false,
            },
            // `cvta` alone looks at the state space of a function.
            (Shape::Symbol(Symbol::Function), _) if operand.variable => {
                self.form.opcode != "cvta" || self.has("to")
            }
            (Shape::Symbol(Symbol::Unknown), _) if operand.variable => true,
            (Shape::Symbol(Symbol::Variable(found)), _) if operand.variable => {
                self.is_variable_in(found)
            }
            // Where a variable's name with an offset, or that of a function, stands for its address, as any integer.
            (Shape::Offset | Shape::Symbol(Symbol::Function), _)
                if !is_float(ty) && type_bits(ty) > 1 && operand.values != "-" =>
            {
                operand.is_of_instruction() || shape == Shape::Offset && type_bits(ty) == 32
            }
            // Else nothing but a move takes an address.
            (
                Shape::Symbol(Symbol::Variable(_) | Symbol::Function | Symbol::Unknown)
                | Shape::Offset,
                _,
            ) => ty == "any" || self.form.opcode == "mov" && matches!(type_bits(ty), 32 | 64),
            (Shape::Symbol(Symbol::Label), _) => ty == "any",
            (Shape::Register(_), _) if operand.is_constant() => false,
            (Shape::Register(found), _) => self.fits_register(operand, ty, found),
        }
    }

    /// Whether the base of an address is what the instruction takes.
    fn fits_base(&self, operand: &Operand, base: Base<'_>) -> bool {
        match base {
            Base::Unknown | Base::Symbol(Symbol::Unknown) => true,
            Base::Register(ty) => {
                ty.is_empty() || matches!(type_bits(ty), 32 | 64) && !is_float(ty)
            }
            Base::Absolute => self.space_at(operand) == Space::Local,
            Base::Symbol(Symbol::Variable(found)) => match self.space_at(operand) {
                Space::Generic => matches!(found, Space::Global | Space::Local | Space::Shared),
                Space::Shared | Space::SharedCluster => found == Space::Shared,
                space => found == space,
            },
            Base::Symbol(Symbol::Function | Symbol::Label) => false,
        }
    }

    /// Whether a variable in this space is in that of the instruction: in shared memory, if it names none.
    fn is_variable_in(&self, found: Space) -> bool {
        match self.words().find_map(space_named) {
            None | Some(Space::Shared | Space::SharedCluster) => found == Space::Shared,
            Some(space) => found == space,
        }
    }

    /// The state space that an address belongs to.
    fn space_at(&self, operand: &Operand) -> Space {
        let mut accesses = self.form.accesses.iter();
        match accesses.find(|access| access.address == operand.name) {
            // A barrier is in shared memory.
            Some(access) if access.object != ObjectUse::Data => Space::Shared,
            Some(access) => self.resolve(access).effect.space,
            None => self.words().find_map(space_named).unwrap_or(Space::Generic),
        }
    }

    fn fits_elements(&self, operand: &Operand, ty: &str, elements: Elements<'_>) -> bool {
        let source = operand.role == Role::Source;
        match elements {
            Elements::Unknown => true,
            Elements::Registers(_, true) if source || self.accumulates() => false,
            Elements::Registers("", _) => true,
            Elements::Registers(found, _) => self.fits_register(operand, ty, found),
            Elements::Partly(found) => source && self.fits_register(operand, ty, found),
            // Of fragments, those of floating-point types may be constants.
            Elements::Integers => source && !is_float(ty) && self.takes_constants(),
            Elements::Floats if matches!(ty, "f32" | "f64") => source,
            Elements::Floats => source && !is_float(ty) && self.takes_constants(),
            Elements::Mixed => false,
        }
    }

    /// Whether it adds to its result, which it reads therefore.
    pub(crate) fn accumulates(&self) -> bool {
        self.form.opcode == "wgmma"
    }

    /// Whether what it reads in braces may be constants of any type.
    fn takes_constants(&self) -> bool {
        matches!(
            self.form.opcode,
            "st" | "atom" | "red" | "mov" | "multimem" | "sust"
        )
    }

    pub(crate) fn fits_register(&self, operand: &Operand, ty: &str, found: &str) -> bool {
        let (wanted, has) = (type_bits(ty), type_bits(found));
        if wanted == 0 || has == 0 {
            return true;
        }
        let wanted = match (operand.ty.trim_end_matches('+'), wanted) {
            ("2x", bits) => bits * 2,
            // The narrowest registers have 16 bits; 8-bit ones hold 8-bit values.
            (_, 8) => 8,
            (_, bits) => bits,
        };
        let untyped = |name: &str| name.starts_with('b') && !name.starts_with("bf");
        if operand.ty.ends_with('+') && has > wanted || wanted == 8 {
            // Narrow values have their place in wider registers where the form says so.
            let whole = wanted > 1 && has > 1 && !is_float(ty);
            return whole
                && (untyped(ty) || !is_float(found))
                && (has == wanted || operand.ty.ends_with('+'));
        }
        if has != wanted {
            return false;
        }
        if !operand.is_of_instruction() {
            // The type does not follow from the instruction's: it is meant.
            return match ty {
                "f32" | "f64" | "f16" | "f16x2" | "bf16" | "bf16x2" => {
                    untyped(found) || found == ty
                }
                _ => !is_float(found),
            };
        }
        match (ty, found) {
            _ if untyped(found) || found == ty => true,
            _ if untyped(ty) => true,
            // A pair of halves is as good as any 32 bits, but not for floating-point types.
            (_, "f16x2") => !is_float(ty),
            _ => !is_float(ty) && !is_float(found),
        }
    }
}

/// Of several forms the one that takes the most operands from the first on, and what is wrong with the next.
pub fn closest<'m>(
    forms: impl IntoIterator<Item = &'m Match>,
    shapes: &[Shape<'_>],
) -> Option<(&'m Match, Misfit)> {
    let progress = |misfit: &Misfit| match *misfit {
        Misfit::Count { .. } => 0,
        Misfit::Operand { number, .. } => number + 1,
    };
    let mut best: Option<(&Match, Misfit)> = None;
    for form in forms {
        let misfit = form.misfit(shapes)?;
        if best.is_none_or(|(_, other)| progress(&misfit) > progress(&other)) {
            best = Some((form, misfit));
        }
    }
    best
}

/// What is wrong with the operands of an instruction.
#[derive(Clone, Copy, Debug)]
pub enum Misfit {
    /// There are too many or too few.
    Count {
        /// The least that it takes.
        least: usize,
        /// The most that it takes.
        most: usize,
    },
    /// One is of another kind or type.
    Operand {
        /// Its number, from 0.
        number: usize,
        /// What it should be.
        operand: &'static Operand,
    },
}

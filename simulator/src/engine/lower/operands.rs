//! Operands: registers, constants, addresses and vectors of the widths that an instruction needs.

use std::borrow::Cow;

use super::builder::Builder;
use super::field::{Field, Register};
use super::scope::Symbol;
use super::types::{ScalarKind, Ty};
use crate::engine::exec::operand::Width;
use crate::engine::exec::windows;
use crate::engine::isa;
use crate::ptx::ast::{AddressBase, Float, Operand, OperandKind, Position};
use crate::ptx::{Error, Result};

/// An address operand.
#[derive(Clone, Debug)]
pub(crate) struct AddressOperand<'a> {
    /// What the base is.
    pub base: Base<'a>,
    /// The constant offset.
    pub offset: i64,
    pub at: Position,
}

/// The base of an address.
#[derive(Clone, Debug)]
pub(crate) enum Base<'a> {
    /// A register of 64 bits (true) or 32 bits.
    Register(Register, bool),
    /// A variable or parameter.
    Symbol(&'a str, Symbol<'a>),
    /// None.
    Absolute,
}

/// The address of what lies at a constant one, in its own state space.
fn constant_address(symbol: &Symbol<'_>) -> Option<u64> {
    match *symbol {
        Symbol::Global { address, .. } => Some(address),
        Symbol::Shared { address } => Some(u64::from(address)),
        Symbol::Parameter { offset, .. } => Some(u64::from(offset)),
        Symbol::Function(number) => Some(windows::FUNCTIONS + u64::from(number) * 16),
        _ => None,
    }
}

/// That an address of global or constant memory is meant to have 32 bits.
fn narrow_address(name: &str) -> String {
    format!(
        "32-Bit ABI (--machine 32 or 32-Bit addressing) is not supported on sm_90 or higher architectures.: the address of `{name}` has \
         64 bits"
    )
}

fn width_name(width: Width) -> String {
    match width {
        Width::Pred => "a predicate".into(),
        Width::Area(bytes) => format!("{bytes} bytes"),
        other => format!("{} bits", other.lane_bytes() * 8),
    }
}

impl<'a> Builder<'a, '_> {
    /// The register of this name.
    pub fn register_named(&mut self, name: &str, width: Width, at: Position) -> Result<Register> {
        match self.find(name) {
            Some(Symbol::Register { register, ty }) => {
                let found = self.widths[register.0 as usize];
                if found == width {
                    return Ok(register);
                }
                let message = format!(
                    "`{name}` is a `.{}` register of {}, expected {}",
                    ty.name,
                    width_name(found),
                    width_name(width)
                );
                Err(Error::new(at, message))
            }
            Some(_) => Err(Error::new(at, format!("`{name}` is not a register"))),
            None => Err(self.unknown(name, at)),
        }
    }

    /// The width of an operand that is a register.
    pub fn width_of(&mut self, operand: &Operand<'a>) -> Option<Width> {
        let register = match &operand.kind {
            OperandKind::Name(name) => match self.find(name)? {
                Symbol::Register { register, .. } => register,
                _ => return None,
            },
            OperandKind::Component(name, part) => {
                self.component(name, part, None, operand.at).ok()?
            }
            _ => return None,
        };
        Some(self.widths[register.0 as usize])
    }

    /// The predicate register of this name.
    pub fn predicate_named(&mut self, name: &str, at: Position) -> Result<Register> {
        match self.find(name) {
            Some(Symbol::Register { register, ty }) if ty.size == 0 => Ok(register),
            Some(_) => Err(Error::new(at, "Predicate expression expected")),
            None => Err(self.unknown(name, at)),
        }
    }

    /// A destination of this width; `_` is a sink.
    pub fn dst(&mut self, operand: &Operand<'a>, width: Width) -> Result<Field> {
        match &operand.kind {
            OperandKind::Sink => Ok(Field::Sink),
            OperandKind::Name(name) => Ok(Field::Register(
                self.register_named(name, width, operand.at)?,
            )),
            OperandKind::Component(name, part) => Ok(Field::Register(self.component(
                name,
                part,
                Some(width),
                operand.at,
            )?)),
            _ => Err(Error::new(operand.at, "expected a destination register")),
        }
    }

    /// A destination `d` or `d|p` of 32 bits and a predicate; without `|p` the predicate is a sink.
    pub fn dst_pair(&mut self, operand: &Operand<'a>) -> Result<(Field, Field)> {
        match &operand.kind {
            OperandKind::Pair(d, p) => Ok((self.dst(d, Width::W32)?, self.dst(p, Width::Pred)?)),
            _ => Ok((self.dst(operand, Width::W32)?, Field::Sink)),
        }
    }

    fn component(
        &mut self,
        name: &str,
        part: &str,
        width: Option<Width>,
        at: Position,
    ) -> Result<Register> {
        let index = match part {
            "x" | "r" => 0,
            "y" | "g" => 1,
            "z" | "b" => 2,
            "w" | "a" => 3,
            _ => {
                return Err(Error::new(at, format!("Unknown field '.{part}'")));
            }
        };
        match self.find(name) {
            Some(Symbol::Vector { first, count, .. }) if index < count => {
                if width.is_some_and(|w| w != self.widths[first.0 as usize]) {
                    return Err(Error::new(
                        at,
                        format!("`{name}.{part}` has another width than the instruction"),
                    ));
                }
                Ok(Register(first.0 + index))
            }
            Some(Symbol::Register { .. }) => {
                let message = format!("Unknown video selector: '.{part}'");
                Err(Error::new(at, message))
            }
            Some(_) => Err(Error::new(at, format!("Unknown field '.{part}'"))),
            None => Err(self.unknown(name, at)),
        }
    }

    /// A source of this type.
    pub fn src(&mut self, operand: &Operand<'a>, ty: Ty) -> Result<Field> {
        let width = Width::of(ty);
        let at = operand.at;
        match &operand.kind {
            OperandKind::Int(value) => {
                if matches!(ty.kind, ScalarKind::Float | ScalarKind::Brain)
                    && ty.packed == 1
                    && ty.bits != 16
                {
                    // An integer where a float is expected has that value, as in C.
                    let value = *value as f64;
                    return Ok(self.float_constant(value, ty));
                }
                Ok(self.constant(*value as u64, width))
            }
            OperandKind::Float(value) => {
                let bits = match (width, *value) {
                    (Width::W32, Float::Single(bits)) => u64::from(bits),
                    (Width::W64, Float::Double(bits)) => bits,
                    // ptxas takes the bits of a literal of 32 bits as they are, whatever type the operand has.
                    (Width::W64, Float::Single(bits)) => u64::from(bits),
                    (Width::W64, other) => other.value().to_bits(),
                    (Width::W32, other) => u64::from((other.value() as f32).to_bits()),
                    (Width::W16, other) if ty.kind == ScalarKind::Float => {
                        u64::from(half::f16::from_f64(other.value()).to_bits())
                    }
                    (Width::W16, other) if ty.kind == ScalarKind::Brain => {
                        u64::from(half::bf16::from_f64(other.value()).to_bits())
                    }
                    _ => {
                        return Err(Error::new(
                            at,
                            "a floating-point constant does not fit here",
                        ));
                    }
                };
                Ok(self.constant(bits, width))
            }
            OperandKind::Name(name) => self.src_named(name, 0, ty, at),
            OperandKind::Offset(name, offset) => self.src_named(name, *offset, ty, at),
            OperandKind::Component(name, part) => {
                if name.starts_with('%')
                    && matches!(self.find(name), None | Some(Symbol::Function(_)))
                {
                    return self.special(&format!("{name}.{part}"), ty, at);
                }
                Ok(Field::Register(self.component(
                    name,
                    part,
                    Some(width),
                    at,
                )?))
            }
            OperandKind::Not(name) if ty.kind == ScalarKind::Pred => {
                let register = self.predicate_named(name, at)?;
                Ok(isa::logic::negated(self, register))
            }
            OperandKind::Vector(parts) if parts.len() == 1 => self.src(&parts[0], ty),
            _ => Err(Error::new(at, "expected a register or constant")),
        }
    }

    fn float_constant(&mut self, value: f64, ty: Ty) -> Field {
        if ty.bits == 64 {
            self.constant(value.to_bits(), Width::W64)
        } else {
            self.constant(u64::from((value as f32).to_bits()), Width::W32)
        }
    }

    fn src_named(&mut self, name: &'a str, offset: i64, ty: Ty, at: Position) -> Result<Field> {
        let width = Width::of(ty);
        match self.find(name) {
            Some(Symbol::Register { .. }) if offset == 0 => {
                Ok(Field::Register(self.register_named(name, width, at)?))
            }
            Some(Symbol::Register { .. }) => Err(Error::new(
                at,
                "a register plus a constant is not an operand here",
            )),
            // With an offset it is a number as any other.
            Some(Symbol::Global { .. }) if offset == 0 && width == Width::W32 => {
                Err(Error::new(at, narrow_address(name)))
            }
            Some(symbol) => {
                if let Some(address) = constant_address(&symbol) {
                    return Ok(self.constant(address.wrapping_add(offset as u64), width));
                }
                match (self.address_of(name, &symbol, offset, at)?, width) {
                    (field, Width::W64) => Ok(field),
                    // Local memory's addresses fit 32 bits.
                    (Field::Register(register), Width::W32) => {
                        Ok(isa::convert_integer::truncated(self, register))
                    }
                    _ => Err(Error::new(
                        at,
                        format!("the address of `{name}` has 32 or 64 bits"),
                    )),
                }
            }
            None if name.starts_with('%') => self.special(name, ty, at),
            None => Err(self.unknown(name, at)),
        }
    }

    /// A special register, read into a temporary.
    fn special(&mut self, name: &str, ty: Ty, at: Position) -> Result<Field> {
        let width = Width::of(ty);
        let register = self.new_register(width);
        isa::special::read(self, name, register, ty, at)?;
        Ok(Field::Register(register))
    }

    /// The address of a variable in its own space, in 64 bits.
    pub fn address_of(
        &mut self,
        name: &str,
        symbol: &Symbol<'a>,
        offset: i64,
        at: Position,
    ) -> Result<Field> {
        if let Some(address) = constant_address(symbol) {
            return Ok(self.constant(address.wrapping_add(offset as u64), Width::W64));
        }
        match symbol {
            Symbol::Local { offset: base } => Ok(isa::variables::local_address(
                self,
                i64::from(*base).wrapping_add(offset),
            )),
            Symbol::Area {
                register,
                size,
                formal: true,
                ..
            } => {
                let base = isa::variables::spill_area(self, *register, *size)?;
                Ok(isa::variables::local_address(
                    self,
                    i64::from(base).wrapping_add(offset),
                ))
            }
            Symbol::Area { .. } => {
                let message = format!("Illegal to take address of parameter '{name}'");
                Err(Error::new(at, message))
            }
            Symbol::External(external) => Err(external.unresolved(name, at)),
            _ => Err(Error::new(at, format!("`{name}` has no address"))),
        }
    }

    /// An operand in brackets.
    pub fn address(&mut self, operand: &Operand<'a>) -> Result<AddressOperand<'a>> {
        let at = operand.at;
        let OperandKind::Address { base, offset, rest } = &operand.kind else {
            return Err(Error::new(at, "expected an address in brackets"));
        };
        if let Some(extra) = rest.first() {
            return Err(Error::new(extra.at, "this address has too many parts"));
        }
        let base = match base {
            AddressBase::Absolute => Base::Absolute,
            AddressBase::Name(name) => match self.find(name) {
                Some(Symbol::Register { register, .. }) => match self.widths[register.0 as usize] {
                    Width::W64 => Base::Register(register, true),
                    Width::W32 => Base::Register(register, false),
                    _ => {
                        return Err(Error::new(
                            at,
                            format!("`{name}` is no address: it has not 32 or 64 bits"),
                        ));
                    }
                },
                Some(Symbol::External(external)) => return Err(external.unresolved(name, at)),
                Some(symbol) => Base::Symbol(name, symbol),
                None => return Err(self.unknown(name, at)),
            },
        };
        Ok(AddressOperand {
            base,
            offset: *offset,
            at,
        })
    }

    /// The parts of `{a, b}` or of a vector register, or the operand itself.
    pub fn parts<'o>(&self, operand: &'o Operand<'a>) -> Cow<'o, [Operand<'a>]> {
        match &operand.kind {
            OperandKind::Vector(parts) => Cow::Borrowed(parts),
            OperandKind::Name(name) => match self.find(name) {
                Some(Symbol::Vector { count, .. }) => {
                    let parts = ["x", "y", "z", "w"].into_iter().take(count as usize);
                    parts
                        .map(|part| Operand {
                            at: operand.at,
                            kind: OperandKind::Component(name, part),
                        })
                        .collect()
                }
                _ => Cow::Borrowed(std::slice::from_ref(operand)),
            },
            _ => Cow::Borrowed(std::slice::from_ref(operand)),
        }
    }
}

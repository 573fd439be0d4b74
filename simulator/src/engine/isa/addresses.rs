//! Address operands that are computed at run time, with what an instruction does there.

use warpsmith_isa::effect::{Effect, Space};

use super::integer;
use crate::engine::access::declared::Declared;
use crate::engine::exec::op::vector;
use crate::engine::exec::operand::Address;
use crate::engine::lower::{AddressOperand, Base, Builder, Field, Symbol, Width};
use crate::ptx::ast::Operand;
use crate::ptx::{Error, Result};

/// The address in this operand, with what the instruction does there.
pub(super) fn address<'a>(
    cx: &mut Builder<'a, '_>,
    operand: &Operand<'a>,
    effect: Effect,
) -> Result<Address> {
    let operand = cx.address(operand)?;
    declared(cx, operand, effect)
}

/// The operand of an address that is computed at run time, with what is done there.
pub(super) fn declared<'a>(
    cx: &mut Builder<'a, '_>,
    operand: AddressOperand<'a>,
    effect: Effect,
) -> Result<Address> {
    let mut offset = operand.offset;
    let mut wide = true;
    let mut field = match operand.base {
        Base::Register(register, is_wide) => {
            if !is_wide && matches!(effect.space, Space::Global | Space::Const | Space::Generic) {
                return Err(Error::new(
                    operand.at,
                    "a global or generic address has 64 bits",
                ));
            }
            wide = is_wide;
            if !wide {
                // An address of 32 bits wraps around.
                offset = i64::from(offset as i32);
            }
            Field::Register(register)
        }
        Base::Absolute => {
            let field = cx.constant(offset as u64, Width::W64);
            offset = 0;
            field
        }
        Base::Symbol(name, symbol) => {
            let field = cx.address_of(name, &symbol, offset, operand.at)?;
            offset = 0;
            match (effect.space, &symbol) {
                (
                    Space::Generic,
                    Symbol::Shared { .. } | Symbol::Local { .. } | Symbol::Parameter { .. },
                ) => {
                    return Err(Error::new(
                        operand.at,
                        format!("`{name}` needs its state space in the instruction"),
                    ));
                }
                _ => field,
            }
        }
    };
    if i32::try_from(offset).is_err() {
        // An offset beyond 32 bits is added beforehand.
        let sum = Field::Register(cx.new_register(Width::W64));
        let constant = cx.constant(offset as u64, Width::W64);
        cx.emit_fields(vector::<integer::Add<u64>>(), &[sum, field, constant]);
        (field, offset) = (sum, 0);
    }
    // Accesses through one register mostly reach one allocation or variable, so they share what is remembered of it.
    let remembered = match field {
        Field::Register(register) => register.0 as usize,
        Field::Constant(_) | Field::Sink => cx.code.len(),
    };
    let declared = Declared::new(effect, wide, remembered);
    Ok(cx.address_word(field, offset as u32, declared.word()))
}

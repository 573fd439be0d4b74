//! Variables of the module: sizes and images of initialisers.

use std::ops::Range;

use super::scope::Symbol;
use crate::engine::exec::windows;
use crate::ptx::ast::{Float, Initializer, Position, Variable};
use crate::ptx::{self, Error, Result};

/// The size of a variable whose size must be known, below 4 GiB.
pub(crate) fn size_of(variable: &Variable) -> Result<u32> {
    let size = variable.size().ok_or_else(|| {
        Error::new(
            variable.at,
            format!("the size of `{}` is not known", variable.name),
        )
    })?;
    let elements = u64::from(variable.range.unwrap_or(1));
    size.checked_mul(elements)
        .and_then(|size| u32::try_from(size).ok())
        .ok_or_else(|| {
            Error::new(
                variable.at,
                format!("`{}` is larger than 4 GiB", variable.name),
            )
        })
}

/// The initial contents of a variable up to the last value that its initialiser gives: what follows is zero, and may be large. `find`
/// gives the meaning of a symbol.
pub(crate) fn image<'a>(
    variable: &Variable<'a>,
    size: u64,
    find: &dyn Fn(&str) -> Option<Symbol<'a>>,
) -> Result<Vec<u8>> {
    let size =
        usize::try_from(size).map_err(|_| Error::new(variable.at, "this variable is too large"))?;
    let mut bytes = Vec::new();
    let Some(initializer) = &variable.initializer else {
        return Ok(bytes);
    };
    let mut shape: Vec<u64> = variable.dimensions.iter().map(|d| d.unwrap_or(0)).collect();
    if variable.vector > 1 {
        shape.push(u64::from(variable.vector));
    }
    fill(variable, initializer, &shape, 0..size, &mut bytes, find)?;
    Ok(bytes)
}

/// Puts the values of an initialiser into the bytes of this range, as many as there are.
fn fill<'a>(
    variable: &Variable<'a>,
    initializer: &Initializer<'a>,
    shape: &[u64],
    range: Range<usize>,
    bytes: &mut Vec<u8>,
    find: &dyn Fn(&str) -> Option<Symbol<'a>>,
) -> Result<()> {
    let width = variable.ty.size as usize;
    if let Initializer::List(list, at) = initializer {
        let Some((_, inner)) = shape.split_first() else {
            return match list.as_slice() {
                [single] => fill(variable, single, shape, range, bytes, find),
                _ => Err(Error::new(
                    *at,
                    "a list initialises a variable that is no array",
                )),
            };
        };
        // A flat list may fill inner dimensions too.
        let nested = list
            .iter()
            .any(|item| matches!(item, Initializer::List(..)));
        let inner = if nested { inner } else { &[] };
        let step = inner.iter().try_fold(width, |step, &count| {
            step.checked_mul(usize::try_from(count).ok()?)
        });
        let needed = step.and_then(|step| step.checked_mul(list.len()));
        let (Some(step), true) = (step, needed.is_some_and(|needed| needed <= range.len())) else {
            return Err(Error::new(
                *at,
                format!("more values than `{}` has elements", variable.name),
            ));
        };
        for (index, item) in list.iter().enumerate() {
            let start = range.start + index * step;
            fill(variable, item, inner, start..start + step, bytes, find)?;
        }
        return Ok(());
    }
    let (value, at) = scalar(variable, initializer, find)?;
    if range.len() < width {
        return Err(Error::new(
            at,
            format!("`{}` has no room for this value", variable.name),
        ));
    }
    let end = range.start + width;
    if bytes.len() < end {
        bytes.resize(end, 0);
    }
    bytes[range.start..end].copy_from_slice(&value.to_le_bytes()[..width]);
    Ok(())
}

fn scalar<'a>(
    variable: &Variable<'a>,
    initializer: &Initializer<'a>,
    find: &dyn Fn(&str) -> Option<Symbol<'a>>,
) -> Result<(u128, Position)> {
    match initializer {
        Initializer::Int(value, at) => {
            let bits = match variable.ty.name {
                "f32" => u128::from((*value as f32).to_bits()),
                "f64" => u128::from((*value as f64).to_bits()),
                _ => *value as u128,
            };
            Ok((bits, *at))
        }
        Initializer::Float(value, at) => Ok((float_bits(variable, *value, *at)?, *at)),
        Initializer::Symbol {
            name,
            offset,
            generic,
            at,
        } => {
            if *generic && find(name).is_none() {
                return Err(Error::new(*at, "Invalid initial value expression"));
            }
            let address = symbol_address(name, *at, find)?.wrapping_add(*offset as u64);
            match ptx::initializers::holds_address(variable.ty) {
                true => Ok((u128::from(address), *at)),
                false => Err(ptx::initializers::mismatch(*at)),
            }
        }
        Initializer::Masked { mask, symbol } => {
            let Initializer::Symbol {
                name, offset, at, ..
            } = symbol.as_ref()
            else {
                return Err(Error::new(variable.at, "a mask applies to a symbol"));
            };
            if *mask == 0 {
                return Err(Error::new(*at, "this mask selects nothing"));
            }
            let address = symbol_address(name, *at, find)?.wrapping_add(*offset as u64);
            Ok((u128::from((address & mask) >> mask.trailing_zeros()), *at))
        }
        Initializer::List(_, at) => Err(Error::new(*at, "a list where one value is expected")),
    }
}

fn symbol_address<'a>(
    name: &str,
    at: Position,
    find: &dyn Fn(&str) -> Option<Symbol<'a>>,
) -> Result<u64> {
    match find(name) {
        Some(Symbol::Global { address, .. }) => Ok(address),
        Some(Symbol::Function(number)) => Ok(windows::FUNCTIONS + u64::from(number) * 16),
        Some(Symbol::Shared { .. }) => Err(Error::new(
            at,
            "Variable used as initial value not in .global or .const state space",
        )),
        Some(Symbol::External(external)) => Err(external.unresolved(name, at)),
        _ => Err(Error::new(
            at,
            format!("Invalid initial value symbol '{name}'"),
        )),
    }
}

fn float_bits(variable: &Variable, value: Float, at: Position) -> Result<u128> {
    Ok(match (variable.ty.size, value) {
        (4, Float::Single(bits)) => u128::from(bits),
        (8, Float::Double(bits)) => u128::from(bits),
        (8, other) => u128::from(other.value().to_bits()),
        (4, other) => u128::from((other.value() as f32).to_bits()),
        (2, other) if variable.ty.name == "bf16" => {
            u128::from(half::bf16::from_f64(other.value()).to_bits())
        }
        (2, other) => u128::from(half::f16::from_f64(other.value()).to_bits()),
        _ => {
            return Err(Error::new(
                at,
                "a floating-point constant does not fit this type",
            ));
        }
    })
}

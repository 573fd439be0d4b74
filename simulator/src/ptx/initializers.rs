//! What a variable may be initialised with, in ptxas's words.

use super::ast::{Initializer, Position, Type, Variable};
use super::error::{Error, Result};

/// Whether a variable of this type may hold an address.
pub fn holds_address(ty: Type<'_>) -> bool {
    matches!(ty.name, "u32" | "u64")
}

/// Refuses an initialiser that does not fit its variable.
pub fn check(variable: &Variable<'_>) -> Result<()> {
    let Some(initializer) = &variable.initializer else {
        return Ok(());
    };
    if variable.ty.name == "f16" {
        return Err(Error::new(
            variable.at,
            "No initial value is allowed for .f16 type",
        ));
    }
    value(variable, initializer, &variable.dimensions)
}

/// Refuses the value of an array of these sizes, of the element if there are none.
fn value(
    variable: &Variable<'_>,
    initializer: &Initializer<'_>,
    sizes: &[Option<u64>],
) -> Result<()> {
    let Some((count, inner)) = sizes.split_first() else {
        return match variable.vector {
            1 => scalar(variable, initializer),
            _ => vector(variable, initializer),
        };
    };
    let Initializer::List(list, at) = initializer else {
        return Err(mismatch(position(initializer, variable)));
    };
    if count.is_some_and(|count| list.len() as u64 > count) {
        return Err(Error::new(
            *at,
            "Greater number of elements in array initializer",
        ));
    }
    list.iter()
        .try_for_each(|element| value(variable, element, inner))
}

/// Refuses the value of a vector.
fn vector(variable: &Variable<'_>, initializer: &Initializer<'_>) -> Result<()> {
    match initializer {
        Initializer::List(list, at) if list.len() as u64 != u64::from(variable.vector) => Err(
            Error::new(*at, "Incorrect number of elements in vector initializer"),
        ),
        Initializer::List(list, _) => list
            .iter()
            .try_for_each(|element| scalar(variable, element)),
        other => Err(mismatch(position(other, variable))),
    }
}

/// Refuses the value of an element.
fn scalar(variable: &Variable<'_>, initializer: &Initializer<'_>) -> Result<()> {
    let ty = variable.ty.name;
    let fits = match initializer {
        Initializer::Int(..) => !matches!(ty, "f16x2" | "f32" | "f64"),
        Initializer::Float(..) => ty.starts_with('b') || matches!(ty, "f32" | "f64"),
        // What the name means is looked at first.
        Initializer::Symbol { .. } => true,
        Initializer::Masked { mask, .. } => {
            if !is_byte(*mask) {
                let message = format!("Invalid mask value '{mask:#x}' used in initializer");
                return Err(Error::new(position(initializer, variable), message));
            }
            matches!(ty, "u8" | "u32" | "u64")
        }
        Initializer::List(..) => false,
    };
    if fits {
        Ok(())
    } else {
        Err(mismatch(position(initializer, variable)))
    }
}

/// Whether a mask selects one byte of an address.
fn is_byte(mask: u64) -> bool {
    (0..8).any(|byte| mask == 0xFF << (8 * byte))
}

/// That an initialiser has another type than its variable.
pub fn mismatch(at: Position) -> Error {
    Error::new(at, "Initial value type mismatch")
}

fn position(initializer: &Initializer<'_>, variable: &Variable<'_>) -> Position {
    match initializer {
        Initializer::Int(_, at)
        | Initializer::Float(_, at)
        | Initializer::List(_, at)
        | Initializer::Symbol { at, .. } => *at,
        Initializer::Masked { .. } => variable.at,
    }
}

//! What declarations may not say, in ptxas's words.

use super::ast::{Function, Linkage, Position, Space, Variable};
use super::error::{Error, Result};
use super::initializers;

/// Where a declaration stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Outside of functions.
    Module,
    /// In the body of a function.
    Body,
    /// Among the parameters of a kernel.
    EntryParameter,
    /// Among the parameters of a function or a prototype.
    Parameter,
    /// Among the results of a function or a prototype.
    Result,
}

/// The most bits of a vector.
const VECTOR_BITS: u32 = 128;
/// The largest alignment of a parameter.
const PARAMETER_ALIGN: u32 = 128;

fn refuse(at: Position, message: impl Into<String>) -> Result<()> {
    Err(Error::new(at, message))
}

/// Refuses a declaration that may not be so, or not where it stands.
pub fn check(variable: &Variable<'_>, unified: bool, place: Place) -> Result<()> {
    let Variable {
        name,
        at,
        space,
        ty,
        ..
    } = *variable;
    if ty.size * 8 * variable.vector > VECTOR_BITS {
        return refuse(at, "Vector type too large, exceeds 128 bit limit");
    }
    let is_unsized = matches!(variable.dimensions.first(), Some(None | Some(0)));
    match place {
        Place::EntryParameter if space != Space::Parameter => {
            return refuse(
                at,
                format!("Entry parameter '{name}' must have .param state space"),
            );
        }
        Place::EntryParameter if is_unsized => {
            return refuse(
                at,
                "Parameter to entry function cannot be an incomplete array.",
            );
        }
        Place::Parameter | Place::Result
            if !matches!(space, Space::Parameter | Space::Register) =>
        {
            return refuse(
                at,
                format!("Function parameter '{name}' has illegal state space"),
            );
        }
        Place::Result if is_unsized => {
            return refuse(at, "Output parameter cannot be an incomplete array.");
        }
        // Those of a function that is declared alone may be anything.
        Place::Parameter | Place::Result => return Ok(()),
        _ => {}
    }
    if unified && space != Space::Global {
        return refuse(
            at,
            format!("Illegal attribute '.unified' for symbol '{name}'"),
        );
    }
    check_storage(variable)?;
    if place == Place::Body && space == Space::Parameter {
        check_alignment(variable)?;
    }
    match place {
        Place::Module | Place::Body => check_variable(variable, is_unsized, place),
        _ => Ok(()),
    }
}

/// Refuses what cannot be where it is to be.
fn check_storage(variable: &Variable<'_>) -> Result<()> {
    let Variable {
        name,
        at,
        space,
        ty,
        ..
    } = *variable;
    let is_scalar = variable.vector == 1 && variable.dimensions.is_empty();
    if ty.size == 0 && variable.vector > 1 || ty.size == 0 && space == Space::Register && !is_scalar
    {
        return refuse(
            at,
            "Predicate type can only be used to define scalar register variables",
        );
    }
    if ty.size == 0 && space != Space::Register {
        return refuse(
            at,
            format!("Predicate variable '{name}' must be in register state space"),
        );
    }
    if space == Space::Register && !variable.dimensions.is_empty() {
        return refuse(
            at,
            format!("Variable '{name}' cannot be allocated into a register"),
        );
    }
    if space == Space::Parameter && (variable.vector > 1 || ty.name == "f16x2") {
        return refuse(
            at,
            format!("Variable '{name}' cannot be allocated in .param state space"),
        );
    }
    if variable.managed && space != Space::Global {
        return refuse(
            at,
            format!("Illegal attribute '.managed' for symbol '{name}'"),
        );
    }
    Ok(())
}

/// Refuses what calls cannot pass.
fn check_alignment(variable: &Variable<'_>) -> Result<()> {
    if variable.align <= PARAMETER_ALIGN {
        return Ok(());
    }
    let message = format!(
        "Parameter '{}' has illegal alignment (must be aligned to 1, 2, 4, 8, 16, 32, 64, or 128 bytes)",
        variable.name
    );
    Err(Error::new(variable.at, message))
}

/// Refuses a variable: what is no parameter.
fn check_variable(variable: &Variable<'_>, is_unsized: bool, place: Place) -> Result<()> {
    let Variable {
        name, at, space, ..
    } = *variable;
    if variable.initializer.is_some() {
        if variable.linkage == Linkage::Extern {
            return refuse(
                at,
                format!("No initial value is allowed for external symbol '{name}'"),
            );
        }
        if !matches!(space, Space::Global | Space::Const) {
            return refuse(
                at,
                format!("No initial value is allowed for '{name}' in this state space"),
            );
        }
    }
    if place == Place::Module {
        match space {
            Space::Parameter => {
                return refuse(
                    at,
                    "Parameter variables may not be declared at module scope",
                );
            }
            Space::Register | Space::Local => {
                let space = if space == Space::Local {
                    "local"
                } else {
                    "reg"
                };
                return refuse(
                    at,
                    format!(
                        "Module-scoped variables in .{space} state space are not allowed with ABI"
                    ),
                );
            }
            _ => {}
        }
    }
    if variable.linkage == Linkage::Common && space != Space::Global {
        return refuse(at, ".common variables must be declared in .global space");
    }
    if is_unsized && variable.linkage != Linkage::Extern && variable.initializer.is_none() {
        return refuse(
            at,
            format!("Non-external variable '{name}' has incomplete type"),
        );
    }
    if variable
        .dimensions
        .iter()
        .skip(1)
        .any(|&size| size == Some(0))
    {
        return refuse(at, "Array of incomplete type");
    }
    initializers::check(variable)
}

/// Refuses the parameters or results of a function together.
pub fn check_parameters(list: &[Variable<'_>], place: Place) -> Result<()> {
    let is_memory = |variable: &&Variable<'_>| variable.space == Space::Parameter;
    if place == Place::Result
        && list.len() > 1
        && let Some(variable) = list.iter().find(is_memory)
    {
        return Err(Error::new(
            variable.at,
            "Multiple return parameters require .register state space",
        ));
    }
    let inner = list.iter().rev().skip(1);
    if let Some(variable) = inner
        .into_iter()
        .find(|v| v.dimensions.first() == Some(&None))
    {
        return Err(Error::new(
            variable.at,
            "Only the last input parameter can be an incomplete array.",
        ));
    }
    Ok(())
}

/// Refuses the head of a function.
pub fn check_function(function: &Function<'_>) -> Result<()> {
    let parameters = || function.returns.iter().chain(&function.parameters);
    if function.body.is_some() && !function.entry {
        parameters().try_for_each(check_storage)?;
        parameters().try_for_each(check_alignment)?;
    }
    match parameters().find(|variable| variable.name == "_") {
        Some(variable) => Err(Error::new(variable.at, "Illegal parameter name '_'")),
        None => Ok(()),
    }
}

/// That `.ptr` stands where it says nothing.
pub fn misplaced_attribute(at: Position) -> Error {
    Error::new(at, "Illegal placement of kernel parameter attribute")
}

/// Whether instructions have a type of this name, which variables have not.
pub fn is_instruction_type(name: &str) -> bool {
    matches!(
        name,
        "f32x2"
            | "e4m3"
            | "e5m2"
            | "e4m3x2"
            | "e5m2x2"
            | "e4m3x4"
            | "e5m2x4"
            | "e2m1x2"
            | "e2m3x2"
            | "e3m2x2"
    ) || matches!(name, "u16x2" | "s16x2" | "ue8m0x2" | "s2f6x2")
}

/// That variables have no such type.
pub fn instruction_type(name: &str, at: Position) -> Error {
    Error::new(
        at,
        format!("Type .{name} may only be used as an instruction type"),
    )
}

/// That there are no vectors of a type of instructions.
pub fn vector_of(at: Position) -> Error {
    Error::new(at, "Vector type only allowed over basic types")
}

/// What the directives of a kernel say together.
#[derive(Clone, Copy, Default)]
pub struct Directives {
    /// `.maxntid`
    pub max_threads: bool,
    /// `.reqntid`
    pub exact_threads: bool,
    /// `.reqnctapercluster`
    pub cluster: bool,
    /// `.maxclusterrank`
    pub cluster_rank: bool,
    /// `.blocksareclusters`
    pub blocks_are_clusters: bool,
}

impl Directives {
    /// Refuses directives that exclude each other, or lack another.
    pub fn check(self, at: Position) -> Result<()> {
        if self.max_threads && self.exact_threads {
            return refuse(
                at,
                "Conflicting directives: .maxntid and .reqntid cannot both be specified",
            );
        }
        if self.cluster && self.cluster_rank {
            return refuse(
                at,
                "Conflicting directives: .reqnctapercluster and .maxclusterrank cannot both be specified",
            );
        }
        if self.blocks_are_clusters && !(self.exact_threads && self.cluster) {
            return refuse(
                at,
                ".reqntid and .reqnctapercluster directive(s) required for directive '.blocksareclusters'",
            );
        }
        Ok(())
    }
}

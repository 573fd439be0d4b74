//! Whether an instruction exists, and in the module's PTX version and architecture: what ptxas would say before it compiles.

use std::rc::Rc;

use warpsmith_isa::operand::{Role, Shape};
use warpsmith_isa::{self as isa, Match, Misfit, Refusal, check_special};

use super::acceptance::AcceptedForm;
use super::builder::Builder;
use super::scope::Symbol;
use crate::ptx::ast::{Instruction, Operand, OperandKind};
use crate::ptx::{Error, Result};

/// More operands than any form has.
const MAX_OPERANDS: usize = warpsmith_isa::form::MAX_OPERANDS + 1;

/// The form of an instruction; refuses one that does not exist, or not for this module.
pub(crate) fn check<'a>(
    cx: &mut Builder<'a, '_>,
    inst: &'a Instruction<'a>,
) -> Result<Rc<AcceptedForm>> {
    let mut shapes = [Shape::Unknown; MAX_OPERANDS];
    let operands = inst.operands.get(..MAX_OPERANDS).unwrap_or(&inst.operands);
    for (shape, operand) in shapes.iter_mut().zip(operands) {
        *shape = self::shape(cx, operand)?;
    }
    let shapes = &shapes[..operands.len()];
    let accepts = &mut cx.module.accepts;
    let named = accepts.named((inst.opcode, &inst.modifiers));
    let forms = named.forms.clone();
    let number = named.number;
    cx.set_name(number, inst);
    let forms = forms.map_err(|message| Error::new(inst.at, message.as_str()))?;
    let mut closest: Option<(Misfit, &Match)> = None;
    for form in forms.iter() {
        let Some(misfit) = form.form.misfit(shapes) else {
            return Ok(form.clone());
        };
        let progress = |misfit: &Misfit| match *misfit {
            Misfit::Count { .. } => 0,
            Misfit::Operand { number, .. } => number + 1,
        };
        if closest.is_none_or(|(other, _)| progress(&misfit) > progress(&other)) {
            closest = Some((misfit, &form.form));
        }
    }
    Err(match closest {
        Some((misfit, form)) => wrong_operands(inst, shapes, misfit, form),
        None => Error::new(
            inst.at,
            Refusal::UnknownInstruction(inst.opcode).to_string(),
        ),
    })
}

/// ptxas says no more than that the operands do not match; we say which one, and how.
fn wrong_operands(
    inst: &Instruction<'_>,
    shapes: &[Shape<'_>],
    misfit: Misfit,
    form: &Match,
) -> Error {
    let words = Refusal::ArgumentsMismatch(form.name());
    match misfit {
        Misfit::Count { least, most } => {
            let range = if least == most {
                format!("{most}")
            } else {
                format!("{least} to {most}")
            };
            let found = shapes.len();
            let message = format!(
                "{words}: `{}` takes {range} operands, found {found}",
                inst.name()
            );
            Error::new(inst.at, message)
        }
        Misfit::Operand { number, operand } => {
            let found = described(&inst.operands[number], shapes[number]);
            let at = inst.operands[number].at;
            if operand.role == Role::Destination
                && matches!(shapes[number], Shape::Integer | Shape::Float)
            {
                let words = Refusal::ResultRequired(form.name());
                return Error::new(at, words.to_string());
            }
            Error::new(
                at,
                format!("{words}: {found}, expected {}", wanted(form, operand)),
            )
        }
    }
}

fn described(operand: &Operand<'_>, shape: Shape<'_>) -> String {
    match (&operand.kind, shape) {
        (OperandKind::Name(name), Shape::Register(ty)) => format!("`{name}` is a `.{ty}` register"),
        (OperandKind::Name(name), Shape::Special(_)) => {
            format!("special register argument `{name}` not allowed")
        }
        (OperandKind::Component(name, part), Shape::Special(_)) => {
            format!("special register argument `{name}.{part}` not allowed")
        }
        (OperandKind::Name(name), _) => format!("`{name}` is no register"),
        (_, Shape::Integer) => "found an integer".into(),
        (_, Shape::Float) => "found a floating-point constant".into(),
        (_, Shape::Sink) => "found `_`".into(),
        (_, Shape::Not) => "found a negated predicate".into(),
        (_, Shape::Pair) => "found a second destination after `|`".into(),
        (_, Shape::Vector(count)) => format!("found {count} operands in braces"),
        (_, Shape::List) => "found a list in parentheses".into(),
        (_, Shape::Address(_)) => "found an address".into(),
        _ => "found another operand".into(),
    }
}

fn wanted(form: &Match, operand: &isa::operand::Operand) -> String {
    let ty = form.type_of(operand);
    let count = form.count_of(operand);
    match operand.role {
        Role::Address if operand.inside.is_empty() => "an address in brackets".into(),
        Role::Address => "an address with coordinates in brackets".into(),
        _ if operand.name == "_" => "`_`".into(),
        _ if operand.is_constant() => "a constant".into(),
        _ if matches!(ty, "label" | "symbol" | "list") => format!("a {ty}"),
        _ if count.is_none_or(|count| count > 1) => {
            let count = count.map_or("several".to_owned(), |count| count.to_string());
            format!("{count} operands of `.{ty}` in braces")
        }
        _ if operand.ty == "2x" => format!("twice the width of `.{ty}`"),
        _ => format!("`.{ty}`"),
    }
}

/// How many operands there are in braces or brackets; refuses special registers among them that do not exist for this module.
fn count<'a>(cx: &mut Builder<'a, '_>, operands: &[Operand<'a>]) -> Result<u8> {
    for operand in operands {
        shape(cx, operand)?;
    }
    Ok(u8::try_from(operands.len()).unwrap_or(u8::MAX))
}

/// What an operand looks like; refuses special registers that do not exist for this module.
fn shape<'a>(cx: &mut Builder<'a, '_>, operand: &Operand<'a>) -> Result<Shape<'a>> {
    Ok(match &operand.kind {
        OperandKind::Name(name) => match cx.mention(name) {
            Some(Symbol::Register { ty, .. }) => Shape::Register(ty.name),
            Some(Symbol::Vector { .. }) => Shape::Register(""),
            Some(_) => Shape::Symbol,
            None => special(cx, name, operand)?,
        },
        OperandKind::Component(name, part) => {
            if cx.mention(name).is_none() {
                special(cx, &format!("{name}.{part}"), operand)?
            } else {
                Shape::Unknown
            }
        }
        OperandKind::Offset(..) => Shape::Symbol,
        OperandKind::Int(_) => Shape::Integer,
        OperandKind::Float(_) => Shape::Float,
        OperandKind::Sink => Shape::Sink,
        OperandKind::Not(_) => Shape::Not,
        OperandKind::Negated(_) => Shape::Unknown,
        OperandKind::Pair(first, second) => {
            shape(cx, first)?;
            shape(cx, second)?;
            Shape::Pair
        }
        OperandKind::Vector(parts) => Shape::Vector(count(cx, parts)?),
        OperandKind::List(parts) => {
            count(cx, parts)?;
            Shape::List
        }
        OperandKind::Address { rest, .. } => Shape::Address(count(cx, rest)?),
    })
}

/// A special register; refuses a name that can be no other's, if there is none.
fn special(cx: &Builder<'_, '_>, name: &str, operand: &Operand<'_>) -> Result<Shape<'static>> {
    if !name.starts_with('%') {
        return Ok(Shape::Unknown);
    }
    let accepts = &cx.module.accepts;
    match check_special(name, accepts.version, accepts.target) {
        // It had 32 bits before PTX 3.0, and may be read so still.
        Ok(register) if register.name == "%gridid" => Ok(Shape::Special("")),
        Ok(register) => Ok(Shape::Special(register.ty)),
        Err(refusal) => Err(Error::new(operand.at, refusal.to_string())),
    }
}

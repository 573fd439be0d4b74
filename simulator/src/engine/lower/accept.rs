//! Whether an instruction exists, and in the module's PTX version and architecture: what ptxas would say before it compiles.

use std::rc::Rc;

use warpsmith_isa::effect::Space;
use warpsmith_isa::operand::{Base, Count, Elements, Role, Shape, type_bits};
use warpsmith_isa::{self as isa, Match, Misfit, Refusal, check_special, closest};

use super::acceptance::AcceptedForm;
use super::builder::Builder;
use super::scope::{External, Symbol};
use crate::ptx::ast::{AddressBase, Float, Instruction, Operand, OperandKind};
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
    let forms = forms.map_err(|message| {
        match isa::operands_first(inst.opcode, &inst.modifiers, shapes) {
            Some(refusal) => Error::new(inst.at, refusal.to_string()),
            None => Error::new(inst.at, message.as_str()),
        }
    })?;
    if let Some(form) = forms.iter().find(|form| form.form.fits(shapes)) {
        return Ok(form.clone());
    }
    Err(match closest(forms.iter().map(|form| &form.form), shapes) {
        Some((form, misfit)) => wrong_operands(inst, shapes, misfit, form),
        None => Error::new(
            inst.at,
            Refusal::UnknownInstruction(inst.opcode).to_string(),
        ),
    })
}

/// What ptxas says; if it is no more than that the operands do not match, we say which one, and how.
fn wrong_operands(
    inst: &Instruction<'_>,
    shapes: &[Shape<'_>],
    misfit: Misfit,
    form: &Match,
) -> Error {
    let refusal = form.refusal(&misfit, shapes);
    let words = refusal.to_string();
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
            let at = inst.operands[number].at;
            if operand.role == Role::Address
                && let Some(refusal) = wrong_base(&inst.operands[number], shapes[number])
            {
                return Error::new(at, refusal.to_string());
            }
            if !matches!(refusal, Refusal::ArgumentsMismatch(_)) {
                return Error::new(at, words);
            }
            let found = described(&inst.operands[number], shapes[number]);
            Error::new(
                at,
                format!("{words}: {found}, expected {}", wanted(form, operand)),
            )
        }
    }
}

/// What ptxas says of an address in something that holds none.
fn wrong_base<'t>(operand: &'t Operand<'_>, shape: Shape<'t>) -> Option<Refusal<'t>> {
    let OperandKind::Address {
        base: AddressBase::Name(symbol),
        ..
    } = operand.kind
    else {
        return None;
    };
    let ty = match shape {
        Shape::Address(_, Base::Register(ty))
            if type_bits(ty) == 1 || isa::operand::is_float(ty) =>
        {
            ty
        }
        Shape::Address(_, Base::Symbol(isa::operand::Symbol::Function)) => "",
        _ => return None,
    };
    Some(Refusal::AddressType { symbol, ty })
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
        (_, Shape::Integer(_)) => "found an integer".into(),
        (_, Shape::Float(_)) => "found a floating-point constant".into(),
        (_, Shape::Sink) => "found `_`".into(),
        (_, Shape::Not) => "found a negated predicate".into(),
        (_, Shape::NotOther | Shape::Negated(_)) => "found a negated operand".into(),
        (_, Shape::Pair(_) | Shape::PairOther) => "found a second destination after `|`".into(),
        (_, Shape::Vector(count, Elements::Registers(ty, _))) if !ty.is_empty() => {
            format!("found {count} operands of `.{ty}` in braces")
        }
        (_, Shape::Vector(count, _)) => format!("found {count} operands in braces"),
        (_, Shape::List) => "found a list in parentheses".into(),
        (_, Shape::Address(_, Base::Register(ty))) => {
            format!("found an address in a `.{ty}` register")
        }
        (_, Shape::Address(..)) => "found an address".into(),
        _ => "found another operand".into(),
    }
}

fn wanted(form: &Match, operand: &isa::operand::Operand) -> String {
    let ty = form.type_of(operand);
    let count = form.count_of(operand);
    match operand.role {
        Role::Address if operand.inside.is_empty() => "an address of 32 or 64 bits".into(),
        Role::Address => "an address with coordinates in brackets".into(),
        _ if operand.name == "_" => "`_`".into(),
        _ if operand.is_constant() => "a constant".into(),
        _ if matches!(ty, "label" | "symbol" | "list") => format!("a {ty}"),
        _ if matches!(operand.count, Count::Exactly(_)) || count.is_none_or(|count| count > 1) => {
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

/// What stands in braces; refuses special registers that do not exist for this module.
fn vector<'a>(cx: &mut Builder<'a, '_>, parts: &[Operand<'a>]) -> Result<Shape<'a>> {
    let (mut ty, mut sink, mut known) = (None, false, true);
    let (mut integers, mut floats) = (0, 0);
    for part in parts {
        match shape(cx, part)? {
            Shape::Register(found) if ty.is_none_or(|ty| type_bits(ty) == type_bits(found)) => {
                // The one that fits the fewest.
                if ty.is_none_or(|ty: &str| ty.starts_with('b')) {
                    ty = Some(found);
                }
            }
            Shape::Register(_) => {
                let count = u8::try_from(parts.len()).unwrap_or(u8::MAX);
                return Ok(Shape::Vector(count, Elements::Mixed));
            }
            Shape::Sink => sink = true,
            Shape::Integer(_) => integers += 1,
            Shape::Float(_) => floats += 1,
            _ => known = false,
        }
    }
    let elements = match ty {
        _ if !known => Elements::Unknown,
        _ if integers == parts.len() => Elements::Integers,
        _ if floats == parts.len() => Elements::Floats,
        Some(ty) if integers + floats > 0 => Elements::Partly(ty),
        Some(ty) => Elements::Registers(ty, sink),
        None if integers + floats > 0 => Elements::Unknown,
        None => Elements::Registers("", sink),
    };
    let count = u8::try_from(parts.len()).unwrap_or(u8::MAX);
    Ok(Shape::Vector(count, elements))
}

/// What a name is that is no register.
fn symbol(symbol: Symbol<'_>) -> isa::operand::Symbol {
    use isa::operand::Symbol as Name;
    match symbol {
        Symbol::Global { constant: true, .. } => Name::Variable(Space::Const),
        Symbol::Global { .. } => Name::Variable(Space::Global),
        Symbol::Shared { .. } => Name::Variable(Space::Shared),
        Symbol::Local { .. } => Name::Variable(Space::Local),
        Symbol::Parameter { .. } | Symbol::Area { .. } => Name::Variable(Space::Parameter),
        Symbol::Function(_) | Symbol::Runtime(_) | Symbol::External(External::Function) => {
            Name::Function
        }
        Symbol::Label(_) | Symbol::Targets { .. } | Symbol::Prototype => Name::Label,
        Symbol::Register { .. } | Symbol::Vector { .. } | Symbol::External(External::Variable) => {
            Name::Unknown
        }
    }
}

/// What an operand looks like; refuses special registers that do not exist for this module.
fn shape<'a>(cx: &mut Builder<'a, '_>, operand: &Operand<'a>) -> Result<Shape<'a>> {
    Ok(match &operand.kind {
        OperandKind::Name(name) => match cx.mention(name) {
            Some(Symbol::Register { ty, .. }) => Shape::Register(ty.name),
            Some(Symbol::Vector { .. }) => Shape::Register(""),
            Some(found) => Shape::Symbol(symbol(found)),
            None => special(cx, name, operand)?,
        },
        OperandKind::Component(name, part) => {
            if cx.mention(name).is_none() {
                special(cx, &format!("{name}.{part}"), operand)?
            } else {
                Shape::Unknown
            }
        }
        OperandKind::Offset(name, _) => {
            if cx.mention(name).is_none() {
                return Err(cx.unknown(name, operand.at));
            }
            Shape::Offset
        }
        OperandKind::Int(value) => Shape::Integer(*value),
        OperandKind::Float(value) => Shape::Float(matches!(value, Float::Single(_))),
        OperandKind::Sink => Shape::Sink,
        OperandKind::Not(name) => match cx.mention(name) {
            Some(Symbol::Register { ty, .. }) if ty.name == "pred" => Shape::Not,
            Some(_) => Shape::NotOther,
            None => return Err(cx.unknown(name, operand.at)),
        },
        OperandKind::Negated(source) => match shape(cx, source)? {
            Shape::Register(ty) => Shape::Negated(ty),
            _ => Shape::Negated(""),
        },
        OperandKind::Pair(first, second) => {
            let first = match shape(cx, first)? {
                Shape::Register(ty) => Some(ty),
                Shape::Sink => None,
                _ => Some(""),
            };
            match shape(cx, second)? {
                Shape::Register("pred" | "") | Shape::Sink | Shape::Unknown => Shape::Pair(first),
                _ => Shape::PairOther,
            }
        }
        OperandKind::Vector(parts) => vector(cx, parts)?,
        OperandKind::List(parts) => {
            count(cx, parts)?;
            Shape::List
        }
        OperandKind::Address { base, rest, .. } => {
            let base = match base {
                AddressBase::Absolute => Base::Absolute,
                AddressBase::Name(name) => match cx.mention(name) {
                    Some(Symbol::Register { ty, .. }) => Base::Register(ty.name),
                    Some(found) => Base::Symbol(symbol(found)),
                    None => return Err(cx.unknown(name, operand.at)),
                },
            };
            Shape::Address(count(cx, rest)?, base)
        }
    })
}

/// A special register; refuses a name that can be no other's, if there is none.
fn special(cx: &Builder<'_, '_>, name: &str, operand: &Operand<'_>) -> Result<Shape<'static>> {
    if !name.starts_with('%') {
        let (name, _) = name.split_once('.').unwrap_or((name, ""));
        return Err(cx.unknown(name, operand.at));
    }
    let accepts = &cx.module.accepts;
    match check_special(name, accepts.version, accepts.target) {
        // It had 32 bits before PTX 3.0, and may be read so still.
        Ok(register) if register.name == "%gridid" => Ok(Shape::Special("")),
        // All its components.
        Ok(register) if register.vector && !name.contains('.') => Ok(Shape::Special("b128")),
        Ok(register) => Ok(Shape::Special(register.ty)),
        Err(Refusal::UnknownSymbol(_)) => Err(cx.unknown(name, operand.at)),
        Err(refusal) => Err(Error::new(operand.at, refusal.to_string())),
    }
}

//! What ptxas says of the shapes and types of matrices that do not go together.
//!
//! It looks at the shape by the kind of the elements: one that no such product has is illegal, and with one that others of the kind
//! have the types are wrong.

use crate::filling::of_types;
use crate::form::Form;
use crate::modifier::ModifierClass;
use crate::name::{Modifiers, Name, has_word};
use crate::refusal::{Elements, Matrices, Refusal};
use crate::words::{OPERATION_LIST, TYPE_LIST, is_element, is_shape};

/// The kind of these types.
fn elements_of<'w>(types: impl Iterator<Item = &'w str> + Clone) -> Elements {
    let has = |names: &[&str]| types.clone().any(|ty| names.contains(&ty));
    if has(&["b1"]) {
        Elements::Bits
    } else if has(&["e4m3", "e5m2", "e3m2", "e2m3", "e2m1"]) {
        Elements::Bytes
    } else if has(&["s32", "u8", "s8", "u4", "s4"]) {
        Elements::Integers
    } else {
        Elements::Floats
    }
}

/// The types among an instruction's modifiers.
fn types<'t>(read: &Modifiers<'t, '_>) -> impl Iterator<Item = &'t str> + Clone {
    let rest = read.words.iter().copied().enumerate().skip(read.in_name);
    rest.filter(|&(at, _)| read.list(at) == usize::from(TYPE_LIST))
        .map(|(_, word)| word)
}

/// The types that a form's line begins its slots with.
fn types_of(form: &Form) -> impl Iterator<Item = &'static str> + Clone {
    let slots = form.slots().iter();
    slots
        .filter(|slot| slot.class() == ModifierClass::Type)
        .filter_map(|slot| slot.alternatives().next())
        .map(|alternative| alternative.word)
}

/// Whether an instruction has the types of one of its forms but for those that stand for elements of matrices.
pub(crate) fn passes_over_types(opcode: &str, read: &Modifiers<'_, '_>, name: Name<'_>) -> bool {
    let given = types(read).filter(|ty| !is_element(ty));
    name.is("mma")
        && read.forms(opcode).any(|form| {
            types_of(form)
                .filter(|ty| !is_element(ty))
                .eq(given.clone())
        })
}

/// That a matrix's shape and types do not go together.
pub(crate) fn refusal<'t>(
    opcode: &str,
    read: &Modifiers<'t, '_>,
    name: Name<'t>,
) -> Option<Refusal<'t>> {
    let rest = &read.words[read.in_name..];
    let shape = rest.iter().copied().find(|word| is_shape(word))?;
    let is_sparse = |form: &Form| has_word(form, "sp");
    let sparse = rest.contains(&"sp") || rest.contains(&"sp::ordered_metadata");
    let forms = read.forms(opcode).filter(|form| {
        is_sparse(form) == sparse
            && form.slots().iter().any(|slot| {
                slot.alternatives()
                    .next()
                    .is_some_and(|first| is_shape(first.word))
            })
    });
    forms.clone().next()?;
    let is_product = matches!(opcode, "mma" | "wgmma");
    let elements = elements_of(types(read));
    let has_shape = |form: &Form| has_word(form, shape);
    if forms
        .clone()
        .any(|form| has_shape(form) && of_types(form, read).is_some())
    {
        return (is_product && elements == Elements::Bits)
            .then(|| wrong_operations(read, name, shape))
            .flatten();
    }
    let known = forms
        .clone()
        .any(|form| has_shape(form) && (!is_product || elements_of(types_of(form)) == elements));
    let plain = Matrices {
        shape,
        sparse,
        instruction: name,
        elements: None,
    };
    let of_elements = Matrices {
        elements: Some(elements),
        ..plain
    };
    Some(match (opcode, elements, known) {
        ("wgmma", _, true) => Refusal::MatrixTypes(of_elements),
        ("wgmma", _, false) => Refusal::MatrixShape(of_elements),
        ("mma", Elements::Floats, true) if sparse => Refusal::MatrixTypes(plain),
        ("mma", Elements::Floats, true) => {
            let is_typed = |form| of_types(form, read).is_some();
            if read.forms(opcode).any(is_typed) {
                return None;
            }
            Refusal::MatrixType(plain)
        }
        ("mma", Elements::Bytes, _) => Refusal::MatrixType(plain),
        ("mma", Elements::Integers, false) if sparse => Refusal::MatrixShape(Matrices {
            instruction: Name::new("MMA", &[]),
            ..of_elements
        }),
        (_, _, true) => Refusal::MatrixType(plain),
        (_, _, false) => Refusal::MatrixShape(plain),
    })
}

/// That sums are saturated of a product with an operation, which is not looked at with the types then.
pub(crate) fn saturated<'t>(read: &Modifiers<'t, '_>, name: Name<'t>) -> Option<Refusal<'t>> {
    let rest = read.in_name..read.words.len();
    let is_operation = |at: usize| read.list(at) == usize::from(OPERATION_LIST);
    let modifier = rest
        .clone()
        .map(|at| read.words[at])
        .find(|&word| word == "satfinite")?;
    (name.is("mma") && rest.clone().any(is_operation)).then_some(Refusal::IllegalModifier {
        modifier,
        instruction: name,
    })
}

/// That a product of bits has not the two operations that it needs.
fn wrong_operations<'t>(
    read: &Modifiers<'t, '_>,
    name: Name<'t>,
    shape: &'t str,
) -> Option<Refusal<'t>> {
    let rest = read.in_name..read.words.len();
    let operations = rest.filter(|&at| read.list(at) == usize::from(OPERATION_LIST));
    let elements = (!name.is("mma")).then_some(Elements::Bits);
    (operations.count() != 2).then_some(Refusal::MatrixOperations(Matrices {
        shape,
        sparse: false,
        instruction: name,
        elements,
    }))
}

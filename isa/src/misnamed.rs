//! Why no instruction has these modifiers, in the order in which ptxas looks at them: what it reads (unknown words, several of a
//! kind), the types, a matrix's shape, and then whether each of the others belongs to the instruction.
//!
//! Between the types and the rest it looks at the operands: [`operands_first`](crate::operands_first).

use crate::filling::{Filled, of_types};
use crate::form::{Form, Rule, Slot};
use crate::forms::FAMILIES;
use crate::matched::{Match, order_named};
use crate::matrix;
use crate::modifier::ModifierClass;
use crate::name::{Modifiers, Name, has_word};
use crate::refusal::Refusal;
use crate::words::{self, OPERATION_LIST, SPACE_LIST, are_alike, is_repeatable, list_of};

/// How far a form is from the modifiers of an instruction.
#[derive(Clone, Copy)]
pub(crate) struct Miss<'t> {
    /// Whether it has other types, which is the farthest; modifiers that it has no slot for, and slots without a modifier.
    pub distance: (bool, usize),
    /// The first modifier without a slot.
    pub left: Option<&'t str>,
    /// The first slot without a modifier.
    pub empty: Option<&'static Slot>,
}

impl<'t> Miss<'t> {
    /// That of a form with some of the modifiers in its slots.
    pub fn of(filled: &Filled<'t, '_>) -> Miss<'t> {
        Miss {
            distance: (
                filled.has_other_types(),
                filled.missing + filled.left().count(),
            ),
            left: filled.left().next(),
            empty: filled.empty,
        }
    }
}

/// Why none of the forms of this name has these modifiers; `closest` is the form that has the most of them.
pub(crate) fn refusal<'t>(
    opcode: &'t str,
    read: &Modifiers<'t, '_>,
    name: Name<'t>,
    closest: Option<Miss<'t>>,
) -> Refusal<'t> {
    let modifiers = &read.words[read.in_name..];
    // A name of two words of which no instruction begins with the first alone.
    if opcode == "barrier" && read.in_name == 0 && modifiers.first() == Some(&"cluster") {
        return Refusal::UnknownInstruction("barrier.cluster");
    }
    let late = || match closest {
        Some(Miss {
            left: Some(modifier),
            empty,
            ..
        }) => superfluous(opcode, read, name, modifier, empty),
        Some(Miss {
            empty: Some(slot), ..
        }) => {
            let has = |word| read.forms(opcode).any(|form| has_word(form, word));
            Refusal::MissingModifier {
                slot,
                instruction: name,
                approximate: has("approx") && has("rn"),
                detail: match slot.name {
                    "trans" => read.shape(),
                    _ => read.types().next(),
                }
                .unwrap_or_default(),
            }
        }
        _ => Refusal::UnknownInstruction(opcode),
    };
    several(modifiers, name)
        .or_else(|| unknown_among(opcode, read))
        .or_else(|| matrix::saturated(read, name))
        .or_else(|| wrong_types(opcode, read, name))
        .or_else(|| matrix::refusal(opcode, read, name))
        .or_else(|| several_operations(opcode, read, name))
        .or_else(|| illegal(opcode, read, name))
        .unwrap_or_else(late)
}

/// That no instruction has one of these modifiers.
pub(crate) fn unknown_word<'t>(
    mut modifiers: impl Iterator<Item = &'t str>,
) -> Option<Refusal<'t>> {
    let is_known = |word: &str| {
        let mut forms = FAMILIES.iter().flat_map(|family| family.forms);
        forms.any(|form| has_word(form, word))
    };
    let unknown = modifiers.find(|word| !words::is_known(word) && !is_known(word))?;
    Some(Refusal::UnknownModifier(unknown))
}

/// The modifiers that no instruction of this name has.
fn strange<'t>(opcode: &str, read: &Modifiers<'t, '_>) -> impl Iterator<Item = &'t str> {
    let rest = read.words.iter().copied().enumerate().skip(read.in_name);
    rest.filter(move |&(at, word)| {
        read.passed_over >> at & 1 == 0 && !read.forms(opcode).any(|form| has_word(form, word))
    })
    .map(|(_, word)| word)
}

/// That one of the modifiers is no instruction's.
fn unknown_among<'t>(opcode: &str, read: &Modifiers<'t, '_>) -> Option<Refusal<'t>> {
    unknown_word(strange(opcode, read))
}

/// That there are several modifiers where one belongs.
fn several<'t>(modifiers: &[&'t str], instruction: Name<'t>) -> Option<Refusal<'t>> {
    let again = |(number, word): (usize, &&'t str)| {
        let before = &modifiers[..number];
        let is_more = list_of(word) == 0
            && !is_repeatable(word)
            && before.iter().any(|other| are_alike(other, word));
        is_more.then_some(*word)
    };
    let modifier = modifiers.iter().enumerate().find_map(again)?;
    Some(Refusal::Several {
        modifier,
        instruction,
    })
}

/// That no instruction of this name is for these types, or for them and a modifier that goes with types.
fn wrong_types<'t>(
    opcode: &str,
    read: &Modifiers<'t, '_>,
    instruction: Name<'t>,
) -> Option<Refusal<'t>> {
    if instruction.is_typed_last() {
        return None;
    }
    let of_these = |form| of_types(form, read);
    if read.forms(opcode).find_map(of_these).is_none() {
        let is_late = matrix::passes_over_types(opcode, read, instruction);
        return (!is_late).then_some(Refusal::UnexpectedTypes(instruction));
    }
    let rest = &read.words[read.in_name..];
    let is_wrong = |word: &&str| {
        let is_alike = |slot: &Slot| {
            slot.alternatives()
                .any(|one| are_of_one_list(one.word, word))
        };
        let takes = |form: &'static Form| {
            of_types(form, read).is_some() && form.slots().iter().any(is_alike)
        };
        instruction.selects(word) && !read.forms(opcode).any(takes)
    };
    rest.iter()
        .any(is_wrong)
        .then_some(Refusal::UnexpectedTypes(instruction))
}

/// Whether two modifiers are the same, or operations.
fn are_of_one_list(one: &str, other: &str) -> bool {
    one == other || list_of(one) == OPERATION_LIST && list_of(other) == OPERATION_LIST
}

/// How many slots of a list a form of this name has at most.
fn most(opcode: &str, read: &Modifiers<'_, '_>, list: u8) -> usize {
    let count = |form: &Form| {
        let slots = form.slots()[form.name_slots().len()..].iter();
        let of_list = |slot: &&Slot| {
            let first = slot.alternatives().next();
            first.is_some_and(|first| list_of(first.word) == list)
        };
        slots.filter(of_list).count()
    };
    read.forms(opcode).map(count).max().unwrap_or(0)
}

/// The modifiers of a list.
fn of_list<'t>(read: &Modifiers<'t, '_>, list: u8) -> impl Iterator<Item = &'t str> {
    let rest = read.words.iter().copied().enumerate().skip(read.in_name);
    rest.filter(move |&(at, _)| read.list(at) == usize::from(list))
        .map(|(_, word)| word)
}

/// That there are several operations where one belongs.
fn several_operations<'t>(
    opcode: &str,
    read: &Modifiers<'t, '_>,
    instruction: Name<'t>,
) -> Option<Refusal<'t>> {
    let modifier = of_list(read, OPERATION_LIST).nth(1)?;
    (most(opcode, read, OPERATION_LIST) == 1).then_some(Refusal::Several {
        modifier,
        instruction,
    })
}

/// That state spaces are too many, or not those of the instruction.
fn wrong_spaces<'t>(opcode: &str, read: &Modifiers<'t, '_>, instruction: Name<'t>) -> Refusal<'t> {
    if of_list(read, SPACE_LIST).count() > most(opcode, read, SPACE_LIST) {
        Refusal::TooManySpaces(instruction)
    } else {
        Refusal::IncorrectSpace(instruction)
    }
}

/// The instruction's name as ptxas says it of a modifier: of some operations with types.
fn told<'t>(read: &Modifiers<'t, '_>, instruction: Name<'t>, modifier: &str) -> Name<'t> {
    if matches!(modifier, "exch" | "inc" | "dec") && instruction.tells_types() {
        instruction.with_types(read.types())
    } else {
        instruction
    }
}

/// That no instruction of this name has one of the modifiers.
fn illegal<'t>(
    opcode: &str,
    read: &Modifiers<'t, '_>,
    instruction: Name<'t>,
) -> Option<Refusal<'t>> {
    let modifier = strange(opcode, read).next()?;
    let takes = |class| {
        let mut slots = read.forms(opcode).flat_map(Form::slots);
        slots.any(|slot| slot.class() == class)
    };
    Some(match ModifierClass::of(modifier) {
        ModifierClass::Space if takes(ModifierClass::Space) => {
            wrong_spaces(opcode, read, instruction)
        }
        ModifierClass::Comparison if takes(ModifierClass::Comparison) => {
            Refusal::ComparisonMismatch
        }
        _ => Refusal::IllegalModifier {
            modifier,
            instruction: told(read, instruction, modifier),
        },
    })
}

/// Why a modifier that other forms have does not belong to this one.
fn superfluous<'t>(
    opcode: &str,
    read: &Modifiers<'t, '_>,
    instruction: Name<'t>,
    modifier: &'t str,
    empty: Option<&'static Slot>,
) -> Refusal<'t> {
    let modifiers = &read.words[read.in_name..];
    let class = ModifierClass::of(modifier);
    let is_type = |word: &str| ModifierClass::of(word) == ModifierClass::Type;
    let type_missing = empty.is_some_and(|slot| {
        slot.alternatives()
            .any(|alternative| is_type(alternative.word))
    });
    let has_comparison = modifiers
        .iter()
        .any(|word| ModifierClass::of(word) == ModifierClass::Comparison);
    let has_scope = modifiers
        .iter()
        .any(|word| ModifierClass::of(word) == ModifierClass::Scope);
    match class {
        _ if matches!(modifier, "relaxed" | "acquire" | "release" | "acq_rel") && !has_scope => {
            Refusal::NeedsScope {
                modifier,
                instruction,
            }
        }
        ModifierClass::Scope if !modifiers.iter().any(|word| order_named(word).is_some()) => {
            Refusal::NeedsOrder {
                modifier,
                instruction,
            }
        }
        // Types that other forms have with another comparison.
        ModifierClass::Type if has_comparison => Refusal::ComparisonMismatch,
        _ if class == ModifierClass::Type || type_missing => Refusal::UnexpectedTypes(instruction),
        ModifierClass::Space => wrong_spaces(opcode, read, instruction),
        ModifierClass::Comparison => Refusal::ComparisonMismatch,
        _ if modifiers.iter().filter(|&&word| word == modifier).count() > 1 => Refusal::Several {
            modifier,
            instruction,
        },
        _ => Refusal::IllegalModifier {
            modifier,
            instruction: told(read, instruction, modifier),
        },
    }
}

/// Why a form is none with these modifiers, all of which it has.
pub(crate) fn rule_refusal<'t>(found: &Match, rule: &Rule, instruction: Name<'t>) -> Refusal<'t> {
    match *rule {
        Rule::Excludes(words, others) => {
            let first = |list| found.words().find(|word| found.names(list, word));
            let (one, other) = (
                first(words).unwrap_or_default(),
                first(others).unwrap_or_default(),
            );
            match (ModifierClass::of(one), ModifierClass::of(other)) {
                (_, ModifierClass::Space) => Refusal::NotInSpace {
                    modifier: one,
                    space: other,
                    instruction,
                },
                (ModifierClass::Vector, ModifierClass::Type)
                | (ModifierClass::Type, ModifierClass::Vector) => Refusal::VectorTooLarge,
                (ModifierClass::Type, ModifierClass::Type) => Refusal::UnexpectedTypes(instruction),
                _ => Refusal::IllegalModifier {
                    modifier: other,
                    instruction,
                },
            }
        }
        Rule::Needs(words, _) => {
            let modifier = found
                .words()
                .find(|word| found.names(words, word))
                .unwrap_or_default();
            if ModifierClass::of(modifier) == ModifierClass::Scope {
                Refusal::NeedsOrder {
                    modifier,
                    instruction,
                }
            } else {
                Refusal::NeedsScope {
                    modifier,
                    instruction,
                }
            }
        }
        Rule::Since(..) | Rule::Before(..) => Refusal::UnexpectedTypes(instruction),
    }
}

//! Finding the form of an instruction, or why there is none.

use crate::form::{Form, MAX_SLOTS, Rule, Slot};
use crate::forms::FAMILIES;
use crate::index::forms_of;
use crate::matched::{Match, order_named};
use crate::modifier::ModifierClass;
use crate::name::{MAX_MODIFIERS, Modifiers, Name, has_word};
use crate::operand::type_bits;
use crate::refusal::Refusal;
use crate::target::{PtxVersion, Since, Target};
use crate::words::{self, LISTS, are_alike, is_repeatable, list_of};

/// How far a form is from the modifiers of an instruction.
#[derive(Clone, Copy)]
struct Miss<'t> {
    /// Modifiers that it has no slot for, and slots without a modifier.
    distance: usize,
    /// The first modifier without a slot.
    left: Option<&'t str>,
    /// The first slot without a modifier.
    empty: Option<&'static Slot>,
}

fn try_form<'t>(form: &'static Form, modifiers: &Modifiers<'t, '_>) -> Result<Match, Miss<'t>> {
    let words = modifiers.words;
    let mut chosen = [""; MAX_SLOTS];
    let mut in_name = words[..modifiers.in_name].iter().peekable();
    for (slot, chosen) in form.name_slots().iter().zip(&mut chosen) {
        if let Some(found) = in_name.peek().and_then(|word| slot.find(word)) {
            *chosen = found.word;
            in_name.next();
        }
    }
    let (mut taken, mut empty, mut missing) = (modifiers.passed_over, None, 0);
    // Of each list, where the next of its words may stand at first.
    let mut next = [0; LISTS];
    let named = form.name_slots().len();
    for (slot, chosen) in form.slots().iter().zip(&mut chosen).skip(named) {
        let rest = words.iter().enumerate().skip(modifiers.in_name);
        let found = rest.clone().find_map(|(at, &modifier)| {
            let list = modifiers.list(at);
            if taken >> at & 1 != 0 || list != 0 && at < next[list] {
                return None;
            }
            slot.find(modifier)
                .map(|alternative| (at, alternative.word))
        });
        match found {
            Some((at, word)) => {
                taken |= 1 << at;
                *chosen = word;
                next[modifiers.list(at)] = at + 1;
            }
            None if !slot.optional => {
                empty = empty.or(Some(slot));
                missing += 1;
            }
            None => {}
        }
    }
    let is_left = |at: &usize| taken >> at & 1 == 0;
    let left = (modifiers.in_name..words.len()).filter(is_left);
    let first_left = left.clone().next().map(|at| words[at]);
    if first_left.is_none() && empty.is_none() {
        let main_type = chosen
            .iter()
            .rfind(|word| type_bits(word) != 0)
            .copied()
            .unwrap_or("");
        return Ok(Match {
            form,
            chosen,
            main_type,
        });
    }
    Err(Miss {
        distance: missing + left.count(),
        left: first_left,
        empty,
    })
}

/// The form that an instruction with this opcode and these modifiers (without their dots) has.
///
/// Where several forms differ in their operands alone, this is the first; [`accept`] tells them apart.
///
/// # Errors
/// The instruction does not exist.
pub fn find<'t>(opcode: &'t str, modifiers: &[&'t str]) -> Result<Match, Refusal<'t>> {
    accept(opcode, modifiers, |_| true)
}

/// All forms with this opcode and these modifiers: they differ in their operands.
///
/// # Errors
/// The instruction does not exist.
pub fn matches<'t, 'm>(
    opcode: &'t str,
    modifiers: &'m [&'t str],
) -> Result<impl Iterator<Item = Match> + use<'t, 'm>, Refusal<'t>> {
    let read = (modifiers.len() <= MAX_MODIFIERS)
        .then(|| Modifiers::read(opcode, modifiers))
        .flatten();
    let found = read.map(|read| {
        read.forms(opcode)
            .filter_map(move |form| try_form(form, &read).ok())
            .filter(|found| found.broken_rule().is_none())
    });
    let mut found = found.into_iter().flatten().peekable();
    if found.peek().is_none() {
        find(opcode, modifiers)?;
    }
    Ok(found)
}

/// The first form with this opcode and these modifiers that `fits` takes.
///
/// # Errors
/// No form has these modifiers, or none of those that have is taken: then the operands are wrong.
pub fn accept<'t>(
    opcode: &'t str,
    modifiers: &[&'t str],
    mut fits: impl FnMut(&Match) -> bool,
) -> Result<Match, Refusal<'t>> {
    if modifiers.len() > MAX_MODIFIERS {
        return Err(Refusal::IllegalModifier {
            modifier: modifiers[MAX_MODIFIERS],
            instruction: Name::new(opcode, &[]),
        });
    }
    let Some(read) = Modifiers::read(opcode, modifiers) else {
        if forms_of(opcode).next().is_none() {
            return Err(Refusal::UnknownInstruction(opcode));
        }
        let unknown = unknown_word(modifiers.iter().copied());
        return Err(unknown.unwrap_or(Refusal::UnknownInstruction(opcode)));
    };
    let name = Name::new(opcode, &modifiers[..read.in_name]);
    let (mut closest, mut refusal): (Option<Miss<'t>>, Option<Refusal<'t>>) = (None, None);
    for form in read.forms(opcode) {
        match try_form(form, &read) {
            Ok(found) => match found.broken_rule() {
                None if fits(&found) => return Ok(found),
                None => refusal = Some(Refusal::ArgumentsMismatch(name)),
                Some(rule) => refusal = refusal.or(Some(rule_refusal(&found, rule, name))),
            },
            Err(miss) => {
                if closest.is_none_or(|closest| miss.distance < closest.distance) {
                    closest = Some(miss);
                }
            }
        }
    }
    let modifiers = &modifiers[read.in_name..];
    Err(refusal
        .or_else(|| several(modifiers, name))
        .or_else(|| illegal(opcode, &read, name))
        .unwrap_or(match closest {
            Some(Miss {
                left: Some(modifier),
                empty,
                ..
            }) => superfluous(name, modifiers, modifier, empty),
            Some(Miss {
                empty: Some(slot), ..
            }) => {
                let has = |word| read.forms(opcode).any(|form| has_word(form, word));
                Refusal::MissingModifier {
                    slot,
                    instruction: name,
                    approximate: has("approx") && has("rn"),
                }
            }
            _ => Refusal::UnknownInstruction(opcode),
        }))
}

/// That no instruction has one of these modifiers.
fn unknown_word<'t>(mut modifiers: impl Iterator<Item = &'t str>) -> Option<Refusal<'t>> {
    let is_known = |word: &str| {
        let mut forms = FAMILIES.iter().flat_map(|family| family.forms);
        forms.any(|form| has_word(form, word))
    };
    let unknown = modifiers.find(|word| !words::is_known(word) && !is_known(word))?;
    Some(Refusal::UnknownModifier(unknown))
}

/// That no instruction of this name has one of the modifiers.
fn illegal<'t>(
    opcode: &str,
    read: &Modifiers<'t, '_>,
    instruction: Name<'t>,
) -> Option<Refusal<'t>> {
    let rest = read.words.iter().copied().enumerate().skip(read.in_name);
    let is_strange = |&(at, word): &(usize, &str)| {
        read.passed_over >> at & 1 == 0 && !read.forms(opcode).any(|form| has_word(form, word))
    };
    let mut strange = rest.filter(is_strange).map(|(_, word)| word);
    let modifier = strange.clone().next()?;
    if let Some(refusal) = unknown_word(&mut strange) {
        return Some(refusal);
    }
    let takes_space = || {
        let mut slots = read.forms(opcode).flat_map(Form::slots);
        slots.any(|slot| slot.class() == ModifierClass::Space)
    };
    Some(
        if ModifierClass::of(modifier) == ModifierClass::Space && takes_space() {
            Refusal::IncorrectSpace(instruction)
        } else {
            Refusal::IllegalModifier {
                modifier,
                instruction,
            }
        },
    )
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

/// Why a modifier that other forms have does not belong to this one.
fn superfluous<'t>(
    instruction: Name<'t>,
    modifiers: &[&'t str],
    modifier: &'t str,
    empty: Option<&'static Slot>,
) -> Refusal<'t> {
    let class = ModifierClass::of(modifier);
    let is_type = |word: &str| ModifierClass::of(word) == ModifierClass::Type;
    let type_missing = empty.is_some_and(|slot| {
        slot.alternatives()
            .any(|alternative| is_type(alternative.word))
    });
    let of_class = modifiers
        .iter()
        .filter(|word| ModifierClass::of(word) == class)
        .count();
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
        _ if class == ModifierClass::Type || type_missing => Refusal::UnexpectedTypes(instruction),
        ModifierClass::Space if of_class > 1 => Refusal::TooManySpaces(instruction),
        ModifierClass::Space => Refusal::IncorrectSpace(instruction),
        _ if modifiers.iter().filter(|&&word| word == modifier).count() > 1 => Refusal::Several {
            modifier,
            instruction,
        },
        _ => Refusal::IllegalModifier {
            modifier,
            instruction,
        },
    }
}

fn rule_refusal<'t>(found: &Match, rule: &Rule, instruction: Name<'t>) -> Refusal<'t> {
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

/// Whether a special register (`%tid.x`, with its component) may be read by a module of this version and architecture.
///
/// # Errors
/// It does not exist, or not yet.
pub fn check_special<'t>(
    name: &'t str,
    version: PtxVersion,
    target: Target,
) -> Result<&'static crate::special_registers::SpecialRegister, Refusal<'t>> {
    let register = crate::special_registers::find(name).ok_or(Refusal::UnknownSymbol(name))?;
    let since = Since::parse(register.since);
    let name = name.split_once('.').map_or(name, |(base, _)| base);
    if version < since.ptx {
        return Err(Refusal::RegisterNeedsVersion {
            register: name,
            version: since.ptx,
        });
    }
    if !since.targets.contain(target) {
        return Err(Refusal::RegisterNeedsTarget {
            register: name,
            level: since.targets.first_level(),
        });
    }
    Ok(register)
}

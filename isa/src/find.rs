//! Finding the form of an instruction, or why there is none.

use crate::form::{Form, MAX_SLOTS, Rule, Slot};
use crate::forms::FAMILIES;
use crate::index::forms_of;
use crate::matched::{Match, order_named};
use crate::modifier::ModifierClass;
use crate::operand::type_bits;
use crate::refusal::Refusal;
use crate::target::{PtxVersion, Since, Target};

/// The most modifiers that are told apart.
const MAX_MODIFIERS: usize = 32;

/// How far a form is from the modifiers of an instruction.
#[derive(Clone, Copy)]
struct Miss<'t> {
    /// Modifiers that it has no slot for, and slots without a modifier.
    distance: usize,
    /// The first modifier without a slot.
    left: Option<&'t str>,
    /// The first slot without a modifier.
    empty: Option<&'static Slot>,
    form: &'static Form,
}

/// Whether a form has slots for so many modifiers, and so many modifiers for its slots.
fn may_fit(form: &Form, modifiers: &[&str]) -> bool {
    let required = form.slots().iter().filter(|slot| !slot.optional).count();
    (required..=form.slots().len()).contains(&modifiers.len())
}

fn try_form<'t>(form: &'static Form, modifiers: &[&'t str]) -> Result<Match, Miss<'t>> {
    let mut chosen = [""; MAX_SLOTS];
    let (mut taken, mut empty, mut missing) = (0u32, None, 0);
    // Modifiers come in any order, as ptxas reads them; but types say by their order what each of them types.
    let mut next_type = 0;
    for (slot, chosen) in form.slots().iter().zip(&mut chosen) {
        let found = modifiers.iter().enumerate().find_map(|(at, &modifier)| {
            if taken >> at & 1 != 0 || at < next_type && type_bits(modifier) != 0 {
                return None;
            }
            slot.find(modifier)
                .map(|alternative| (at, alternative.word))
        });
        match found {
            Some((at, word)) => {
                taken |= 1 << at;
                *chosen = word;
                if type_bits(word) != 0 {
                    next_type = at + 1;
                }
            }
            None if !slot.optional => {
                empty = empty.or(Some(slot));
                missing += 1;
            }
            None => {}
        }
    }
    let left = modifiers
        .iter()
        .enumerate()
        .find(|&(at, _)| taken >> at & 1 == 0)
        .map(|(_, &modifier)| modifier);
    if left.is_none() && empty.is_none() {
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
    let distance = missing + modifiers.len() - taken.count_ones() as usize;
    Err(Miss {
        distance,
        left,
        empty,
        form,
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
    let found = forms_of(opcode)
        .filter(|form| may_fit(form, modifiers))
        .filter_map(|form| try_form(form, modifiers).ok())
        .filter(|found| found.broken_rule().is_none());
    if found.clone().next().is_none() {
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
    let forms = forms_of(opcode);
    if forms.clone().next().is_none() {
        return Err(Refusal::UnknownInstruction(opcode));
    }
    if modifiers.len() > MAX_MODIFIERS {
        return Err(Refusal::IllegalModifier {
            modifier: modifiers[MAX_MODIFIERS],
            instruction: opcode,
        });
    }
    let (mut closest, mut refusal): (Option<Miss<'t>>, Option<Refusal<'t>>) = (None, None);
    for form in forms.clone() {
        match try_form(form, modifiers) {
            Ok(found) => match found.broken_rule() {
                None if fits(&found) => return Ok(found),
                None => refusal = Some(Refusal::ArgumentsMismatch(opcode)),
                Some(rule) => refusal = refusal.or(Some(rule_refusal(&found, rule, opcode))),
            },
            Err(miss) => {
                if closest.is_none_or(|closest| miss.distance < closest.distance) {
                    closest = Some(miss);
                }
            }
        }
    }
    if let Some(refusal) = refusal {
        return Err(refusal);
    }
    for &modifier in modifiers {
        if !FAMILIES
            .iter()
            .any(|family| family.forms.iter().any(|form| has_word(form, modifier)))
        {
            return Err(Refusal::UnknownModifier(modifier));
        }
    }
    let takes_space = forms.clone().any(|form| {
        form.slots()
            .iter()
            .any(|slot| slot.class() == ModifierClass::Space)
    });
    for &modifier in modifiers {
        if !forms.clone().any(|form| has_word(form, modifier)) {
            if takes_space && ModifierClass::of(modifier) == ModifierClass::Space {
                return Err(Refusal::IncorrectSpace(opcode));
            }
            return Err(Refusal::IllegalModifier {
                modifier,
                instruction: opcode,
            });
        }
    }
    Err(match closest {
        Some(Miss {
            left: Some(modifier),
            empty,
            ..
        }) => superfluous(opcode, modifiers, modifier, empty),
        Some(Miss {
            empty: Some(slot),
            form,
            ..
        }) => {
            let approximate = forms_of(opcode).any(|form| has_word(form, "approx"))
                && forms_of(opcode).any(|form| has_word(form, "rn"));
            Refusal::MissingModifier {
                slot,
                instruction: form.instruction(),
                approximate,
            }
        }
        _ => Refusal::UnknownInstruction(opcode),
    })
}

/// Why a modifier that other forms have does not belong to this one.
fn superfluous<'t>(
    opcode: &'t str,
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
                instruction: opcode,
            }
        }
        ModifierClass::Scope if !modifiers.iter().any(|word| order_named(word).is_some()) => {
            Refusal::NeedsOrder {
                modifier,
                instruction: opcode,
            }
        }
        _ if class == ModifierClass::Type || type_missing => Refusal::UnexpectedTypes(opcode),
        ModifierClass::Space if of_class > 1 => Refusal::TooManySpaces(opcode),
        ModifierClass::Space => Refusal::IncorrectSpace(opcode),
        _ if modifiers.iter().filter(|&&word| word == modifier).count() > 1 => {
            Refusal::Duplicate(modifier)
        }
        _ => Refusal::IllegalModifier {
            modifier,
            instruction: opcode,
        },
    }
}

fn has_word(form: &Form, word: &str) -> bool {
    form.slots().iter().any(|slot| slot.find(word).is_some())
}

fn rule_refusal<'t>(found: &Match, rule: &Rule, opcode: &'t str) -> Refusal<'t> {
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
                    instruction: opcode,
                },
                (ModifierClass::Vector, ModifierClass::Type)
                | (ModifierClass::Type, ModifierClass::Vector) => Refusal::VectorTooLarge,
                (ModifierClass::Type, ModifierClass::Type) => {
                    Refusal::UnexpectedTypes(found.form.instruction())
                }
                _ => Refusal::IllegalModifier {
                    modifier: other,
                    instruction: opcode,
                },
            }
        }
        Rule::Needs(words, _) => {
            let modifier = found
                .words()
                .find(|word| found.names(words, word))
                .unwrap_or_default();
            let instruction = found.form.instruction();
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
        Rule::Since(..) | Rule::Before(..) => Refusal::UnexpectedTypes(opcode),
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

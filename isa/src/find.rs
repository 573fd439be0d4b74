//! Finding the form of an instruction, or why there is none.

use crate::filling::{fill, fill_all, of_types};
use crate::form::Form;
use crate::index::forms_of;
use crate::matched::Match;
use crate::misnamed::{self, Miss};
use crate::name::{MAX_MODIFIERS, Modifiers, Name};
use crate::operand::Shape;
use crate::refusal::Refusal;
use crate::target::{PtxVersion, Since, Target};

/// Whether a form has slots for so many modifiers, and so many modifiers for its slots.
fn may_fit(form: &Form, modifiers: &Modifiers<'_, '_>) -> bool {
    let given = modifiers.words.len() - modifiers.passed_over.count_ones() as usize;
    let required = form.slots().iter().filter(|slot| !slot.optional).count();
    (required..=form.slots().len()).contains(&given)
}

/// The form with these modifiers, if it has a place for all of them.
fn try_form(form: &'static Form, modifiers: &Modifiers<'_, '_>) -> Option<Match> {
    let filled = fill_all(form, modifiers)?;
    filled.is_whole().then(|| filled.found())
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

/// All forms with this opcode and these modifiers, maybe none.
pub(crate) fn fitting<'t, 'm>(
    opcode: &'t str,
    modifiers: &'m [&'t str],
) -> impl Iterator<Item = Match> + use<'t, 'm> {
    let read = (modifiers.len() <= MAX_MODIFIERS)
        .then(|| Modifiers::read(opcode, modifiers))
        .flatten();
    let found = read.map(|read| {
        read.forms(opcode)
            .filter_map(move |form| {
                may_fit(form, &read)
                    .then(|| try_form(form, &read))
                    .flatten()
            })
            .filter(|found| found.broken_rule().is_none())
    });
    found.into_iter().flatten()
}

/// All forms with this opcode and these modifiers: they differ in their operands.
///
/// # Errors
/// The instruction does not exist.
pub fn matches<'t, 'm>(
    opcode: &'t str,
    modifiers: &'m [&'t str],
) -> Result<impl Iterator<Item = Match> + use<'t, 'm>, Refusal<'t>> {
    let mut found = fitting(opcode, modifiers).peekable();
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
        let unknown = misnamed::unknown_word(modifiers.iter().copied());
        return Err(unknown.unwrap_or(Refusal::UnknownInstruction(opcode)));
    };
    let name = Name::new(opcode, &modifiers[..read.in_name]);
    let (mut closest, mut refusal): (Option<Miss<'t>>, Option<Refusal<'t>>) = (None, None);
    for form in read.forms(opcode) {
        let filled = fill(form, &read);
        if !filled.is_whole() {
            let miss = Miss::of(&filled);
            if closest.is_none_or(|closest| miss.distance < closest.distance) {
                closest = Some(miss);
            }
            continue;
        }
        let found = filled.found();
        match found.broken_rule() {
            None if fits(&found) => return Ok(found),
            None => refusal = Some(Refusal::ArgumentsMismatch(name)),
            Some(rule) => refusal = refusal.or(Some(misnamed::rule_refusal(&found, rule, name))),
        }
    }
    Err(refusal.unwrap_or_else(|| misnamed::refusal(opcode, &read, name, closest)))
}

/// That the operands are none that an instruction of this name and these types takes: ptxas says so before it looks at the other
/// modifiers. `None` if it says what [`accept`] does.
pub fn operands_first<'t>(
    opcode: &'t str,
    modifiers: &[&'t str],
    shapes: &[Shape<'_>],
) -> Option<Refusal<'t>> {
    if modifiers.len() > MAX_MODIFIERS {
        return None;
    }
    let read = Modifiers::read(opcode, modifiers)?;
    let refusal = accept(opcode, modifiers, |_| true).err()?;
    let is_late = matches!(
        refusal,
        Refusal::IllegalModifier { .. }
            | Refusal::MissingModifier { .. }
            | Refusal::IncorrectSpace(_)
            | Refusal::TooManySpaces(_)
    );
    let mut forms = read
        .forms(opcode)
        .filter_map(|form| of_types(form, &read))
        .peekable();
    if !is_late || forms.peek().is_none() {
        return None;
    }
    let fits = |form: &Match| {
        let misfit = form.misfit(shapes);
        misfit.is_none_or(|misfit| {
            !matches!(form.refusal(&misfit, shapes), Refusal::ArgumentsMismatch(_))
        })
    };
    let name = Name::new(opcode, &modifiers[..read.in_name]);
    let may_fit = |form: Match| fits(&form) || fits(&form.with_all_operands());
    (!forms.any(may_fit)).then_some(Refusal::ArgumentsMismatch(name))
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

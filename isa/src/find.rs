//! Finding the form of an instruction, and what the form says with its modifiers decided.

use crate::effect::{
    AccessKind, Completion, Convergence, Effect, Fence, Order, Proxy, Scope, Space,
};
use crate::form::{Access, Extent, Form, MAX_SLOTS, Rule, Slot, SpaceRule};
use crate::forms::FAMILIES;
use crate::index::forms_of;
use crate::modifier::ModifierClass;
use crate::operand::{Count, Operand, Presence, Role, Shape, is_float, type_bits};
use crate::refusal::{Feature, Refusal};
use crate::target::{PtxVersion, Since, Target, Targets};

/// The most modifiers that are told apart.
const MAX_MODIFIERS: usize = 32;

/// A form with its modifiers decided.
#[derive(Clone, Copy, Debug)]
pub struct Match {
    /// The form.
    pub form: &'static Form,
    /// The modifier in each slot; empty: none.
    chosen: [&'static str; MAX_SLOTS],
    /// The last type among them; empty: none.
    main_type: &'static str,
}

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
    find(opcode, modifiers)?;
    Ok(forms_of(opcode)
        .filter_map(|form| try_form(form, modifiers).ok())
        .filter(|found| found.broken_rule().is_none()))
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
        Rule::Excludes(_, others) => {
            let modifier = found
                .words()
                .find(|word| found.names(others, word))
                .unwrap_or_default();
            Refusal::IllegalModifier {
                modifier,
                instruction: opcode,
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

impl Match {
    /// The modifier in the slot of this name.
    pub fn slot(&self, name: &str) -> Option<&'static str> {
        self.form
            .slots()
            .iter()
            .zip(&self.chosen)
            .find(|(slot, word)| slot.name == name && !word.is_empty())
            .map(|(_, &word)| word)
    }

    /// Its modifiers in the form's order.
    pub fn words(&self) -> impl Iterator<Item = &'static str> + '_ {
        self.chosen[..self.form.slots().len()]
            .iter()
            .copied()
            .filter(|word| !word.is_empty())
    }

    /// Whether it has this modifier.
    pub fn has(&self, word: &str) -> bool {
        self.words().any(|other| other == word)
    }

    /// Whether `list` (of rules: `.word`, `.slot`, `slot=word`) names this modifier of the form.
    fn names(&self, list: &str, word: &str) -> bool {
        list.split(' ').any(|name| {
            let plain = name.trim_start_matches('.');
            plain == word || self.slot(plain) == Some(word)
        })
    }

    /// Whether one item of a rule holds.
    fn holds(&self, name: &str) -> bool {
        match name.split_once('=') {
            Some((slot, word)) => self.slot(slot) == Some(word),
            None => {
                let name = name.trim_start_matches('.');
                self.has(name) || self.slot(name).is_some()
            }
        }
    }

    fn holds_any(&self, list: &str) -> bool {
        list.split(' ').any(|name| self.holds(name))
    }

    fn broken_rule(&self) -> Option<&'static Rule> {
        self.form.rules.iter().find(|rule| match **rule {
            Rule::Excludes(one, other) => self.holds_any(one) && self.holds_any(other),
            Rule::Needs(one, other) => self.holds_any(one) && !self.holds_any(other),
            Rule::Since(..) | Rule::Before(..) => false,
        })
    }

    /// All that it asks of a module, with the name of what asks.
    fn needs(&self) -> impl Iterator<Item = (Feature<'static>, Since)> + '_ {
        let form = self.form;
        let words = form
            .slots()
            .iter()
            .zip(&self.chosen)
            .filter(|(_, word)| !word.is_empty())
            .filter_map(|(slot, &word)| {
                let since = slot.find(word)?.since()?;
                Some((Feature::Modifier(word), since))
            });
        let rules = form.rules.iter().filter_map(|rule| match *rule {
            Rule::Since(list, since) if list.split(' ').all(|name| self.holds(name)) => {
                let first = list.split(' ').next().unwrap_or_default();
                let word = first
                    .split_once('=')
                    .map_or(first, |(_, word)| word)
                    .trim_start_matches('.');
                Some((
                    Feature::Modifier(self.slot(word).unwrap_or(word)),
                    Since::parse(since),
                ))
            }
            _ => None,
        });
        core::iter::once((Feature::Named(form.feature()), form.since))
            .chain(words)
            .chain(rules)
    }

    /// Since when it exists: the latest version of its form and modifiers, and the narrowest of their architectures.
    pub fn since(&self) -> Since {
        let mut result = Since::ALWAYS;
        for (_, since) in self.needs() {
            result.ptx = result.ptx.max(since.ptx);
            result.targets = match (result.targets, since.targets) {
                (Targets::AtLeast(a), Targets::AtLeast(b)) => {
                    Targets::AtLeast(if a > b { a } else { b })
                }
                (Targets::Named(names), Targets::AtLeast(_)) => Targets::Named(names),
                (_, named) => named,
            };
        }
        result
    }

    /// The first PTX version that has it for this architecture.
    pub fn first_version(&self, target: Target) -> PtxVersion {
        let before = self.form.rules.iter().filter_map(|rule| match *rule {
            Rule::Before(level, version) if target.level < level => Some(Since::parse(version).ptx),
            _ => None,
        });
        before.fold(self.since().ptx, PtxVersion::max)
    }

    /// Whether a module of this version and architecture may have it.
    ///
    /// # Errors
    /// What it lacks.
    pub fn check_target(
        &self,
        version: PtxVersion,
        target: Target,
    ) -> Result<(), Refusal<'static>> {
        for (feature, since) in self.needs() {
            if version < since.ptx {
                return Err(Refusal::NeedsVersion {
                    feature,
                    version: since.ptx,
                });
            }
            if !since.targets.contain(target) {
                return Err(match since.targets {
                    Targets::AtLeast(level) => Refusal::NeedsTarget { feature, level },
                    Targets::Named(_) => Refusal::NotOnTarget { feature, target },
                });
            }
        }
        let first = self.first_version(target);
        if version < first {
            let feature = Feature::Named(self.form.feature());
            return Err(Refusal::NeedsVersion {
                feature,
                version: first,
            });
        }
        if let Some(until) = self.form.until {
            let level = match until.targets {
                Targets::AtLeast(level) => level,
                Targets::Named(_) => 0,
            };
            if version > until.ptx && target.level >= level {
                return Err(Refusal::NotOnTarget {
                    feature: Feature::Named(self.form.feature()),
                    target,
                });
            }
        }
        Ok(())
    }

    /// Which lanes execute it together.
    pub fn convergence(&self) -> Convergence {
        self.form.convergence
    }

    /// The operands that it takes, optional ones included.
    pub fn operands(&self) -> impl Iterator<Item = &'static Operand> + '_ {
        self.form
            .operands()
            .iter()
            .filter(|operand| operand.with.is_empty() || self.holds(operand.with))
    }

    /// The type of an operand: a type's name, or one of the words of [`Operand::ty`] without the final `+`.
    pub fn type_of(&self, operand: &Operand) -> &'static str {
        let ty = operand.ty.trim_end_matches('+');
        if let Some(slot) = ty.strip_prefix('.') {
            return self.slot(slot).unwrap_or("any");
        }
        if ty.is_empty() || ty == "2x" {
            self.main_type()
        } else {
            ty
        }
    }

    /// The last type among its modifiers; empty if it has none.
    pub fn main_type(&self) -> &'static str {
        self.main_type
    }

    /// How many registers an operand has; `None`: any number.
    pub fn count_of(&self, operand: &Operand) -> Option<u8> {
        match operand.count {
            Count::One => Some(1),
            Count::Exactly(count) => Some(count),
            Count::Any => None,
            Count::Vector => Some(
                match self
                    .words()
                    .find(|word| ModifierClass::of(word) == ModifierClass::Vector)
                {
                    Some("v2") => 2,
                    Some("v4") => 4,
                    Some("v8") => 8,
                    _ => 1,
                },
            ),
        }
    }

    /// Whether operands of these shapes are what it takes.
    pub fn fits(&self, shapes: &[Shape<'_>]) -> bool {
        self.misfit(shapes).is_none()
    }

    /// What is wrong with operands of these shapes.
    pub fn misfit(&self, shapes: &[Shape<'_>]) -> Option<Misfit> {
        let is_free =
            |operand: &Operand| operand.presence == Presence::Optional && operand.with.is_empty();
        let optional = self.operands().filter(|operand| is_free(operand)).count();
        let most = self.operands().count();
        if shapes.len() > most || shapes.len() + optional < most {
            return Some(Misfit::Count {
                least: most - optional,
                most,
            });
        }
        // Optional operands are left out from the end.
        let mut given = optional + shapes.len() - most;
        let mut number = 0;
        for operand in self.operands() {
            if is_free(operand) {
                if given == 0 {
                    continue;
                }
                given -= 1;
            }
            if !self.fits_operand(operand, shapes[number]) {
                return Some(Misfit::Operand { number, operand });
            }
            number += 1;
        }
        None
    }

    fn fits_operand(&self, operand: &Operand, shape: Shape<'_>) -> bool {
        let ty = self.type_of(operand);
        let count = self.count_of(operand);
        match (shape, operand.role) {
            (Shape::Unknown, _) => true,
            (Shape::Address(parts), Role::Address) => (parts > 0) != operand.inside.is_empty(),
            (_, Role::Address) | (Shape::Address(_), _) => false,
            _ if matches!(ty, "label" | "symbol") => {
                matches!(shape, Shape::Symbol | Shape::Register(_))
            }
            _ if ty == "list" => matches!(shape, Shape::List),
            (Shape::List, _) => false,
            (Shape::Pair, _) => operand.pair != Presence::Absent,
            (_, _) if operand.pair == Presence::Required => false,
            (Shape::Vector(found), _) => count
                .is_none_or(|count| count == found && (count > 1 || operand.count != Count::One)),
            // A vector register stands for its parts.
            (Shape::Register(""), _) => true,
            _ if count.is_some_and(|count| count > 1) => false,
            _ if operand.name == "_" => shape == Shape::Sink,
            (Shape::Sink, Role::Destination) => true,
            (Shape::Sink, _) => false,
            (Shape::Not, _) => operand.negatable,
            (
                Shape::Special(_) | Shape::Integer | Shape::Float | Shape::Symbol,
                Role::Destination,
            ) => false,
            (Shape::Special(found), _) => {
                // Nothing but a move reads a special register.
                matches!(self.form.opcode, "mov" | "cvt")
                    && (found.is_empty()
                        || matches!((type_bits(ty), type_bits(found)), (16, 32))
                        || self.fits_register(operand, ty, found))
                    && !is_float(ty)
            }
            (Shape::Integer, _) => !is_float(ty),
            (Shape::Float, _) => {
                matches!(ty, "any" | "imm" | "f32" | "f64") || ty.starts_with('b') && !is_float(ty)
            }
            (Shape::Symbol, _) => !operand.is_constant() && matches!(type_bits(ty), 32 | 64 | 0),
            (Shape::Register(_), _) if operand.is_constant() => false,
            (Shape::Register(found), _) => self.fits_register(operand, ty, found),
        }
    }

    fn fits_register(&self, operand: &Operand, ty: &str, found: &str) -> bool {
        let (wanted, has) = (type_bits(ty), type_bits(found));
        if wanted == 0 || has == 0 {
            return true;
        }
        let wanted = match (operand.ty.trim_end_matches('+'), wanted) {
            ("2x", bits) => bits * 2,
            // The narrowest registers have 16 bits; 8-bit ones hold 8-bit values.
            (_, 8) => 8,
            (_, bits) => bits,
        };
        let wide = operand.ty.ends_with('+');
        let untyped = |name: &str| name.starts_with('b') && !name.starts_with("bf");
        if wide && has > wanted || wanted == 8 {
            return wanted > 1 && has > 1 && !is_float(ty) && !is_float(found);
        }
        if has != wanted {
            return false;
        }
        untyped(ty) || untyped(found) || is_float(ty) == is_float(found)
    }

    /// Its memory accesses, with their modifiers decided: the number of the address among the operands, and the access.
    pub fn effects(&self) -> impl Iterator<Item = MemoryEffect> + '_ {
        self.form.accesses.iter().map(|access| self.resolve(access))
    }

    fn resolve(&self, access: &Access) -> MemoryEffect {
        let space = match access.space {
            SpaceRule::Always(space) => space,
            SpaceRule::Modifier(number) => self
                .words()
                .filter_map(space_named)
                .nth(usize::from(number))
                .unwrap_or(Space::Generic),
        };
        let (mut order, mut scope) = (access.order, access.scope);
        if access.completion == Completion::Synchronous {
            order = self.words().find_map(order_named).unwrap_or(order);
            scope = self.words().find_map(scope_named).unwrap_or(scope);
            if self.has("volatile") {
                scope = Scope::System;
            }
        }
        let proxy = if self.has("nc") {
            Proxy::NonCoherent
        } else {
            access.proxy
        };
        let operand = self
            .operands()
            .position(|operand| operand.name == access.address)
            .unwrap_or(0);
        MemoryEffect {
            operand,
            effect: Effect {
                space,
                kind: access.kind,
                order,
                scope,
                proxy,
                completion: access.completion,
            },
            extent: self.extent(access.extent),
        }
    }

    fn extent(&self, extent: Extent) -> Extent {
        if extent != Extent::Type {
            return extent;
        }
        let bits = u32::from(type_bits(self.main_type()));
        let count = self
            .words()
            .find_map(|word| match word {
                "v2" => Some(2),
                "v4" => Some(4),
                "v8" => Some(8),
                _ => None,
            })
            .unwrap_or(1);
        Extent::Bytes(bits / 8 * count)
    }

    /// What it orders, if it is a fence.
    pub fn fence(&self) -> Option<Fence> {
        if !self.form.fence {
            return None;
        }
        let proxy = if self.has("tensormap::generic") {
            Proxy::TensorMap
        } else if self.has("async") {
            Proxy::Async
        } else {
            Proxy::Generic
        };
        Some(Fence {
            order: self
                .words()
                .find_map(order_named)
                .unwrap_or(Order::AcquireRelease),
            scope: self
                .words()
                .find_map(|word| match word {
                    "gl" => Some(Scope::Device),
                    _ => scope_named(word),
                })
                .unwrap_or(Scope::System),
            proxy,
        })
    }
}

/// What is wrong with the operands of an instruction.
#[derive(Clone, Copy, Debug)]
pub enum Misfit {
    /// There are too many or too few.
    Count {
        /// The least that it takes.
        least: usize,
        /// The most that it takes.
        most: usize,
    },
    /// One is of another kind or type.
    Operand {
        /// Its number, from 0.
        number: usize,
        /// What it should be.
        operand: &'static Operand,
    },
}

/// A memory access of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryEffect {
    /// The number of the operand that is the address.
    pub operand: usize,
    /// What is done there.
    pub effect: Effect,
    /// How many bytes: never [`Extent::Type`].
    pub extent: Extent,
}

impl MemoryEffect {
    /// What is done.
    pub fn kind(&self) -> AccessKind {
        self.effect.kind
    }
}

fn space_named(word: &str) -> Option<Space> {
    Some(match word {
        "global" => Space::Global,
        "const" => Space::Const,
        "shared" | "shared::cta" => Space::Shared,
        "shared::cluster" => Space::SharedCluster,
        "local" => Space::Local,
        "param" | "param::entry" | "param::func" => Space::Parameter,
        _ => return None,
    })
}

fn order_named(word: &str) -> Option<Order> {
    Some(match word {
        "weak" => Order::Weak,
        "volatile" | "mmio" | "relaxed" => Order::Relaxed,
        "acquire" => Order::Acquire,
        "release" => Order::Release,
        "acq_rel" | "sc" => Order::AcquireRelease,
        _ => return None,
    })
}

fn scope_named(word: &str) -> Option<Scope> {
    Some(match word {
        "cta" => Scope::Block,
        "cluster" => Scope::Cluster,
        "gpu" => Scope::Device,
        "sys" => Scope::System,
        _ => return None,
    })
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
    let feature = Feature::Named(register.name);
    if version < since.ptx {
        return Err(Refusal::NeedsVersion {
            feature,
            version: since.ptx,
        });
    }
    if !since.targets.contain(target) {
        return Err(Refusal::NeedsTarget {
            feature,
            level: since.targets.first_level(),
        });
    }
    Ok(register)
}

//! A form with its modifiers decided: what it asks of a module, which operands it takes, and what it does.

use crate::effect::{
    AccessKind, Completion, Convergence, Effect, Fence, Order, Proxy, Scope, Space,
};
use crate::form::{Access, Extent, Form, MAX_SLOTS, Rule, Slot, SpaceRule};
use crate::modifier::ModifierClass;
use crate::name::Name;
use crate::operand::{Count, Operand, type_bits};

/// A form with its modifiers decided.
#[derive(Clone, Copy, Debug)]
pub struct Match {
    /// The form.
    pub form: &'static Form,
    /// The modifier in each slot; empty: none.
    pub(crate) chosen: [&'static str; MAX_SLOTS],
    /// The last type among them; empty: none.
    pub(crate) main_type: &'static str,
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

    /// The form's slots in order, with the modifier in each; empty: none.
    pub fn slots(&self) -> impl Iterator<Item = (&'static Slot, &'static str)> + '_ {
        self.form.slots().iter().zip(self.chosen.iter().copied())
    }

    /// The instruction's name.
    pub fn name(&self) -> Name<'static> {
        let slots = self.form.name_slots().len();
        let mut words = [""; MAX_SLOTS];
        let given = self.chosen[..slots].iter().filter(|word| !word.is_empty());
        let mut count = 0;
        for (word, given) in words.iter_mut().zip(given) {
            *word = given;
            count += 1;
        }
        Name::new(self.form.opcode, &words[..count])
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
    pub(crate) fn names(&self, list: &str, word: &str) -> bool {
        list.split(' ').any(|name| match name.split_once('=') {
            Some((slot, named)) => named == word && self.slot(slot) == Some(word),
            None => {
                let plain = name.trim_start_matches('.');
                plain == word || self.slot(plain) == Some(word)
            }
        })
    }

    /// Whether one item of a rule holds.
    pub(crate) fn holds(&self, name: &str) -> bool {
        match name.split_once('=') {
            Some((slot, word)) => self.slot(slot) == Some(word),
            None => {
                let name = name.trim_start_matches('.');
                self.has(name) || self.slot(name).is_some()
            }
        }
    }

    /// Whether all of these hold, separated by spaces; of several with `/` between, one.
    pub(crate) fn holds_all(&self, list: &str) -> bool {
        list.is_empty()
            || list
                .split(' ')
                .all(|items| items.split('/').any(|item| self.holds(item)))
    }

    pub(crate) fn holds_any(&self, list: &str) -> bool {
        list.split(' ').any(|name| self.holds(name))
    }

    pub(crate) fn broken_rule(&self) -> Option<&'static Rule> {
        self.form.rules.iter().find(|rule| match **rule {
            Rule::Excludes(one, other) => self.holds_any(one) && self.holds_any(other),
            Rule::Needs(one, other) => self.holds_any(one) && !self.holds_any(other),
            Rule::Since(..) | Rule::Before(..) => false,
        })
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

    /// The form with the modifiers, too, that its further operands go with.
    pub(crate) fn with_all_operands(&self) -> Match {
        let mut whole = *self;
        for (slot, word) in self.form.slots().iter().zip(&mut whole.chosen) {
            let has_operand = |operand: &Operand| operand.with == slot.name;
            if word.is_empty() && self.form.operands().iter().any(has_operand) {
                *word = slot.alternatives().next().map_or("", |first| first.word);
            }
        }
        whole
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

    /// Its memory accesses, with their modifiers decided: the number of the address among the operands, and the access.
    pub fn effects(&self) -> impl Iterator<Item = MemoryEffect> + '_ {
        self.form.accesses.iter().map(|access| self.resolve(access))
    }

    /// Whether its [`effects`](Match::effects) say what this modifier does.
    pub fn is_in_effects(&self, word: &str) -> bool {
        !self.form.accesses.is_empty()
            && (word == "nc"
                || space_named(word).is_some()
                || order_named(word).is_some()
                || scope_named(word).is_some())
    }

    pub(crate) fn resolve(&self, access: &Access) -> MemoryEffect {
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
                object: access.object,
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

impl Match {
    /// Whether what it [orders](Match::fence) says what this modifier does.
    pub fn is_in_fence(&self, word: &str) -> bool {
        self.form.fence
            && (word == "gl" || order_named(word).is_some() || scope_named(word).is_some())
    }
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

pub(crate) fn space_named(word: &str) -> Option<Space> {
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

pub(crate) fn order_named(word: &str) -> Option<Order> {
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

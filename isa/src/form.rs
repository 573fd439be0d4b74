//! A form: one syntax line of the PTX ISA manual, read while the crate is compiled.
//!
//! ```text
//! "ld{.weak}{.ss}{.vec}.type d, [a]{, policy:b64 if .L2::cache_hint}"
//! ```
//!
//! The first word is the opcode with its modifier slots; braces make a slot optional; `with` says what a slot's name
//! stands for, else it stands for itself. A colon ends a name of several words, which follow the opcode in this order:
//! `cp.async.bulk:.dst.src`. The operands follow: `[a]` an address (`[a, c]` with coordinates), `d` or a name
//! that starts with `d` a destination, `d|p` and `d{|p}` with a predicate, `!c` a source that may be negated, `&a` one that may be a
//! variable's name, `a:TYPE` of
//! another type than the instruction's, `a:imm@0..15/32` with the constants that it may be, `a*4` four registers in braces, `a*v` a vector as `.vec` says, `a*n` any number.
//! Braces around operands make them optional; `if .word` ties an operand to a modifier.

use crate::effect::{
    AccessKind, BarrierAction, Completion, Convergence, ObjectUse, Order, Proxy, Scope, Space,
};
use crate::modifier::ModifierClass;
use crate::operand::{Count, Operand, Presence, Role};
use crate::target::Since;
use crate::text::{equal, is_word, part};

/// The most modifier slots of a form.
pub const MAX_SLOTS: usize = 18;
/// The most operands of a form.
pub const MAX_OPERANDS: usize = 10;

/// A place for one modifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    /// Its name in the syntax line, without its dot.
    pub name: &'static str,
    /// What may stand there, separated by spaces, each maybe with its own `@since`.
    pub alternatives: &'static str,
    /// Whether it may be empty.
    pub optional: bool,
}

impl Slot {
    const NONE: Slot = Slot {
        name: "",
        alternatives: "",
        optional: true,
    };

    /// What may stand there.
    pub fn alternatives(&self) -> impl Iterator<Item = Alternative> {
        self.alternatives.split(' ').map(Alternative::read)
    }

    /// The class of its first alternative.
    pub fn class(&self) -> ModifierClass {
        self.alternatives()
            .next()
            .map_or(ModifierClass::Other, |first| ModifierClass::of(first.word))
    }

    /// The alternative of this name.
    #[inline]
    pub fn find(&self, word: &str) -> Option<Alternative> {
        // Most words are looked for in vain, and in many slots.
        let (text, wanted) = (self.alternatives.as_bytes(), word.as_bytes());
        let is_at = |start: usize| {
            text[start..].starts_with(wanted)
                && matches!(text.get(start + wanted.len()), None | Some(b' ' | b'@'))
        };
        let mut start = 0;
        while !is_at(start) {
            while *text.get(start)? != b' ' {
                start += 1;
            }
            start += 1;
        }
        let (text, _) = self.alternatives[start..]
            .split_once(' ')
            .unwrap_or((&self.alternatives[start..], ""));
        Some(Alternative::read(text))
    }
}

/// What may stand in a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Alternative {
    /// The modifier without its dot.
    pub word: &'static str,
    since: Option<&'static str>,
}

impl Alternative {
    /// Reads a word, maybe with its `@since`.
    fn read(text: &'static str) -> Alternative {
        match text.split_once('@') {
            Some((word, since)) => Alternative {
                word,
                since: Some(since),
            },
            None => Alternative {
                word: text,
                since: None,
            },
        }
    }

    /// Since when, if it is newer than its form.
    pub fn since(&self) -> Option<Since> {
        self.since.map(Since::parse)
    }
}

/// A condition on a form's modifiers.
///
/// Modifiers are written as in PTX, separated by spaces; `.slot` stands for any alternative of that slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// With any of the first, none of the second.
    Excludes(&'static str, &'static str),
    /// With any of the first, one of the second as well.
    Needs(&'static str, &'static str),
    /// All of the first together exist since then.
    Since(&'static str, &'static str),
    /// On architectures before this level, it exists since this PTX version.
    Before(u16, &'static str),
}

/// An order is given with its scope, and a scope with its order.
pub(crate) const ORDERED: &[Rule] = &[Rule::Needs(".sem", ".scope"), Rule::Needs(".scope", ".sem")];

/// Which state space an access goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpaceRule {
    /// As the n-th modifier that names a space says, from 0; generic without it.
    Modifier(u8),
    /// Always this one.
    Always(Space),
}

/// A memory access of a form, before its modifiers are decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// The name of the operand that is the address.
    pub address: &'static str,
    /// What is done.
    pub kind: AccessKind,
    /// Where.
    pub space: SpaceRule,
    /// How it is ordered without a modifier.
    pub order: Order,
    /// Among whom, without a modifier.
    pub scope: Scope,
    /// By which path, without a modifier.
    pub proxy: Proxy,
    /// When it is done.
    pub completion: Completion,
    /// How many bytes.
    pub extent: Extent,
    /// What it takes them for.
    pub object: ObjectUse,
}

/// How many bytes an access has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// Those of the instruction's type, times its vector's length.
    Type,
    /// Always so many.
    Bytes(u32),
    /// The operand of this name says.
    Operand(&'static str),
    /// A tensor map or a shape says.
    Shape,
}

const fn access(address: &'static str, kind: AccessKind) -> Access {
    Access {
        address,
        kind,
        space: SpaceRule::Modifier(0),
        order: Order::Weak,
        scope: Scope::Block,
        proxy: Proxy::Generic,
        completion: Completion::Synchronous,
        extent: Extent::Type,
        object: ObjectUse::Data,
    }
}

/// Reads the bytes at this operand.
pub(crate) const fn reads(address: &'static str) -> Access {
    access(address, AccessKind::Read)
}

/// Writes the bytes at this operand.
pub(crate) const fn writes(address: &'static str) -> Access {
    access(address, AccessKind::Write)
}

/// Reads and writes the bytes at this operand in one step; relaxed among the device's threads if nothing else is said.
pub(crate) const fn updates(address: &'static str) -> Access {
    Access {
        order: Order::Relaxed,
        scope: Scope::Device,
        ..access(address, AccessKind::Atomic)
    }
}

/// Counts bytes or arrivals at the mbarrier at this operand, releasing to the cluster what precedes.
pub(crate) const fn signals(address: &'static str) -> Access {
    updates(address)
        .ordered(Order::Release, Scope::Cluster)
        .of(Extent::Bytes(8))
        .taken_for(ObjectUse::Mbarrier)
}

impl Access {
    pub(crate) const fn to(mut self, space: Space) -> Access {
        self.space = SpaceRule::Always(space);
        self
    }

    pub(crate) const fn nth_space(mut self, number: u8) -> Access {
        self.space = SpaceRule::Modifier(number);
        self
    }

    pub(crate) const fn ordered(mut self, order: Order, scope: Scope) -> Access {
        self.order = order;
        self.scope = scope;
        self
    }

    pub(crate) const fn by(mut self, proxy: Proxy) -> Access {
        self.proxy = proxy;
        self
    }

    pub(crate) const fn until(mut self, completion: Completion) -> Access {
        self.completion = completion;
        self
    }

    pub(crate) const fn of(mut self, extent: Extent) -> Access {
        self.extent = extent;
        self
    }

    pub(crate) const fn taken_for(mut self, object: ObjectUse) -> Access {
        self.object = object;
        self
    }
}

/// One syntax line of the manual.
#[derive(Clone, Copy, Debug)]
pub struct Form {
    /// The line.
    pub syntax: &'static str,
    /// The first word.
    pub opcode: &'static str,
    slots: [Slot; MAX_SLOTS],
    slot_count: u8,
    /// How many of the slots belong to the instruction's name.
    name_slots: u8,
    operands: [Operand; MAX_OPERANDS],
    operand_count: u8,
    /// Since when.
    pub since: Since,
    /// What ptxas calls it where it says since when it exists; empty: its name.
    pub(crate) alias: &'static str,
    /// Conditions on its modifiers.
    pub rules: &'static [Rule],
    /// Which lanes execute it together.
    pub convergence: Convergence,
    /// Its memory accesses.
    pub accesses: &'static [Access],
    /// What it does at a barrier.
    pub barrier: Option<BarrierAction>,
    /// Whether it is a fence: its order and scope are its modifiers'.
    pub fence: bool,
    /// Whether lanes read one another's operands.
    pub exchanges: bool,
    /// The last PTX version that has it, if it was removed, and the first architecture that lacks it then.
    pub until: Option<Since>,
    /// What ptxas says of it since.
    pub removed: &'static str,
    /// What the comparison with ptxas cannot show, and why.
    pub unchecked: Option<&'static str>,
}

/// Reads a syntax line.
pub(crate) const fn form(syntax: &'static str) -> Form {
    let text = syntax.as_bytes();
    let mut form = Form {
        syntax,
        opcode: "",
        slots: [Slot::NONE; MAX_SLOTS],
        slot_count: 0,
        name_slots: 0,
        operands: [Operand::NONE; MAX_OPERANDS],
        operand_count: 0,
        since: Since::ALWAYS,
        alias: "",
        rules: &[],
        convergence: Convergence::Independent,
        accesses: &[],
        barrier: None,
        fence: false,
        exchanges: false,
        until: None,
        removed: "",
        unchecked: None,
    };
    let mut at = 0;
    while at < text.len() && text[at].is_ascii_alphanumeric() {
        at += 1;
    }
    form.opcode = part(syntax, 0, at);
    let mut optional = false;
    while at < text.len() && text[at] != b' ' {
        match text[at] {
            b'{' => {
                optional = true;
                at += 1;
            }
            b'}' => {
                optional = false;
                at += 1;
            }
            b':' => {
                form.name_slots = form.slot_count;
                at += 1;
            }
            b'.' => {
                let start = at + 1;
                at += 1;
                while at < text.len()
                    && is_word(text[at])
                    && text[at] != b'.'
                    && !ends_name(text, at)
                {
                    at += 1;
                }
                let name = part(syntax, start, at);
                form.slots[form.slot_count as usize] = Slot {
                    name,
                    alternatives: name,
                    optional,
                };
                form.slot_count += 1;
            }
            _ => panic!("a modifier starts with a dot, and a name ends with a colon"),
        }
    }
    let mut optional = false;
    while at < text.len() {
        match text[at] {
            b' ' | b',' => at += 1,
            b'{' => {
                optional = true;
                at += 1;
            }
            b'}' => {
                optional = false;
                at += 1;
            }
            _ => {
                let (operand, next) = operand(syntax, at, optional);
                form.operands[form.operand_count as usize] = operand;
                form.operand_count += 1;
                at = next;
            }
        }
    }
    form
}

/// Whether the colon that ends a name of several words stands here: those inside of modifiers come in pairs.
const fn ends_name(text: &[u8], at: usize) -> bool {
    text[at] == b':' && text[at - 1] != b':' && (at + 1 == text.len() || text[at + 1] != b':')
}

const fn word_end(text: &[u8], mut at: usize) -> usize {
    while at < text.len()
        && (is_word(text[at]) && text[at] != b':' || text[at] == b'-' || text[at] == b'+')
    {
        at += 1;
    }
    at
}

/// Reads an operand; it and where it ends.
const fn operand(syntax: &'static str, start: usize, optional: bool) -> (Operand, usize) {
    let text = syntax.as_bytes();
    let mut operand = Operand::NONE;
    let mut at = start;
    if optional {
        operand.presence = Presence::Optional;
    }
    if text[at] == b'!' {
        operand.negatable = true;
        at += 1;
    }
    if text[at] == b'&' {
        operand.variable = true;
        at += 1;
    }
    if text[at] == b'[' {
        operand.role = Role::Address;
        let end = word_end(text, at + 1);
        operand.name = part(syntax, at + 1, end);
        at = end;
        let inside = at;
        while text[at] != b']' {
            at += 1;
        }
        operand.inside = part(syntax, inside, at);
        at += 1;
    } else {
        let end = word_end(text, at);
        assert!(end > at, "an operand has a name");
        operand.name = part(syntax, at, end);
        if text[at] == b'd' || text[at] == b'_' {
            operand.role = Role::Destination;
        }
        at = end;
    }
    if at < text.len() && text[at] == b':' {
        let end = word_end(text, at + 1);
        operand.ty = part(syntax, at + 1, end);
        at = end;
    }
    if at < text.len() && text[at] == b'@' {
        let start = at + 1;
        at += 1;
        while at < text.len()
            && (text[at].is_ascii_digit() || matches!(text[at], b'.' | b'/' | b'-' | b'%'))
        {
            at += 1;
        }
        operand.values = part(syntax, start, at);
    }
    if at < text.len() && text[at] == b'*' {
        at += 1;
        let (mut number, first) = (0, text[at]);
        while at < text.len() && text[at].is_ascii_digit() {
            number = number * 10 + (text[at] - b'0');
            at += 1;
        }
        operand.count = match first {
            b'v' => Count::Vector,
            b'n' => Count::Any,
            _ => Count::Exactly(number),
        };
        if number == 0 {
            at += 1;
        }
    }
    if at < text.len() && text[at] == b'|' {
        operand.pair = Presence::Required;
        at = word_end(text, at + 1);
    } else if at + 1 < text.len() && text[at] == b'{' && text[at + 1] == b'|' {
        operand.pair = Presence::Optional;
        at = word_end(text, at + 2) + 1;
    }
    if at + 5 < text.len() && equal(part(syntax, at, at + 5), " if .") {
        let mut end = at + 5;
        while end < text.len() && is_word(text[end]) {
            end += 1;
        }
        operand.with = part(syntax, at + 5, end);
        at = end;
    }
    (operand, at)
}

impl Form {
    /// What a slot's name stands for.
    pub(crate) const fn with(mut self, slot: &'static str, alternatives: &'static str) -> Form {
        let name = slot.split_at(1).1;
        let (mut at, mut found) = (0, false);
        while at < self.slot_count as usize {
            if equal(self.slots[at].name, name) {
                self.slots[at].alternatives = alternatives;
                found = true;
            }
            at += 1;
        }
        assert!(found, "no slot has this name");
        self
    }

    /// Since when: `7.8 sm_90`.
    pub(crate) const fn since(mut self, text: &'static str) -> Form {
        self.since = Since::parse(text);
        self
    }

    /// What ptxas calls it where it says since when it exists.
    pub(crate) const fn called(mut self, alias: &'static str) -> Form {
        self.alias = alias;
        self
    }

    pub(crate) const fn rules(mut self, rules: &'static [Rule]) -> Form {
        self.rules = rules;
        self
    }

    pub(crate) const fn convergence(mut self, convergence: Convergence) -> Form {
        self.convergence = convergence;
        self
    }

    pub(crate) const fn accesses(mut self, accesses: &'static [Access]) -> Form {
        self.accesses = accesses;
        self
    }

    pub(crate) const fn barrier(mut self, action: BarrierAction) -> Form {
        self.barrier = Some(action);
        self
    }

    pub(crate) const fn fence(mut self) -> Form {
        self.fence = true;
        self
    }

    pub(crate) const fn exchanges(mut self) -> Form {
        self.exchanges = true;
        self
    }

    /// That it was removed, and what ptxas says of it since.
    pub(crate) const fn until(mut self, text: &'static str, removed: &'static str) -> Form {
        self.until = Some(Since::parse(text));
        self.removed = removed;
        self
    }

    pub(crate) const fn unchecked(mut self, reason: &'static str) -> Form {
        self.unchecked = Some(reason);
        self
    }

    /// Its modifier slots in order.
    #[inline]
    pub fn slots(&self) -> &[Slot] {
        &self.slots[..usize::from(self.slot_count)]
    }

    /// Its operands in order.
    #[inline]
    pub fn operands(&self) -> &[Operand] {
        &self.operands[..usize::from(self.operand_count)]
    }

    /// The slots that belong to the instruction's name: `async` and `bulk` of `cp.async.bulk`.
    #[inline]
    pub fn name_slots(&self) -> &[Slot] {
        &self.slots[..usize::from(self.name_slots)]
    }
}

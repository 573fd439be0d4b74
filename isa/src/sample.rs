//! Instructions made from the forms of the tables, for others to judge: ptxas, and the simulator's front end.

use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::form::{Form, Slot};
use crate::forms::FAMILIES;
use crate::operand::{Count, Operand, Presence, Role, type_bits};
use crate::special_registers::SPECIAL_REGISTERS;
use crate::{Match, PtxVersion, Refusal, Target, accept, check_special};

/// What an instruction is an example of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Example {
    /// The form itself, with as little as it can have.
    Form,
    /// One alternative of a slot.
    Alternative(&'static str, &'static str),
    /// An operand that may be left out.
    Operand(&'static str),
}

/// Where an instruction comes from.
pub enum Origin {
    /// A form.
    Form {
        /// The form with its modifiers.
        found: Box<Match>,
        /// The name of its family.
        family: &'static str,
        /// What of it is shown.
        example: Example,
    },
    /// A special register.
    Special(String),
}

/// An instruction for ptxas.
pub struct Sample {
    /// Where it comes from.
    pub origin: Origin,
    /// The statement.
    pub text: String,
}

impl Sample {
    /// Whether the tables say that a module may have it.
    pub fn is_allowed(&self, version: PtxVersion, target: Target) -> bool {
        self.refusal(version, target).is_none()
    }

    /// Why the tables say that a module may not have it.
    pub fn refusal(&self, version: PtxVersion, target: Target) -> Option<Refusal<'_>> {
        match &self.origin {
            Origin::Form { found, .. } => found.check_target(version, target).err(),
            Origin::Special(name) => check_special(name, version, target).err(),
        }
    }
}

/// A module with these statements in the body of its kernel, and the number of its lines before the first of them.
pub fn module(version: PtxVersion, target: Target, statements: &[&str]) -> (String, usize) {
    let mut text = format!(
        ".version {version}\n.target {target}\n.address_size 64\n\
         .func (.reg .b32 r) fn (.reg .b32 a) {{ mov.b32 r, a; ret; }}\n\
         .func fn1 (.reg .b32 a) {{ ret; }}\n.func fn0 () {{ ret; }}\n\
         .visible .entry k(.param .u64 p) {{\n\
         .reg .pred %p<9>; .reg .b8 %b<300>; .reg .b16 %h<300>; .reg .b32 %r<300>; .reg .f32 %f<9>; .reg .b64 %d<300>;\n\
         .reg .b128 %q<300>; .param .b64 q;\n\
         L1:\nts: .branchtargets L1;\nproto: .callprototype (.reg .b32 _) _ (.reg .b32 _);\n\
         proto1: .callprototype _ (.reg .b32 _);\nproto0: .callprototype _ ();\n"
    );
    let before = text.lines().count();
    for statement in statements {
        text.push_str(statement);
        text.push('\n');
    }
    text.push_str("}\n");
    (text, before)
}

/// Examples of all forms and all their alternatives.
pub fn all() -> Vec<Sample> {
    let mut samples = Vec::new();
    for family in FAMILIES {
        for form in family.forms.iter().filter(|form| form.unchecked.is_none()) {
            of_form(form, family.name, &mut samples);
        }
    }
    for register in SPECIAL_REGISTERS {
        let mut read = match register.name.split_once('<') {
            // The first of a row stands for all.
            Some((start, rest)) => {
                let end = rest.split_once('>').map_or("", |(_, end)| end);
                format!("{start}0{end}")
            }
            None => register.name.to_owned(),
        };
        if register.vector {
            read.push_str(".x");
        }
        let (class, ty) = match type_bits(register.ty) {
            1 => ("%p1", "pred"),
            64 => ("%d1", "u64"),
            _ => ("%r1", "u32"),
        };
        let text = format!("mov.{ty} {class}, {read};");
        samples.push(Sample {
            origin: Origin::Special(read),
            text,
        });
    }
    samples
}

fn of_form(form: &'static Form, family: &'static str, samples: &mut Vec<Sample>) {
    let Some(base) = with_choice(form, None) else {
        panic!("no instruction follows from `{}`", form.syntax);
    };
    let mut add = |found: Match, example: Example, optional: Option<&str>| {
        let text = statement(&found, optional);
        samples.push(Sample {
            origin: Origin::Form {
                found: Box::new(found),
                family,
                example,
            },
            text,
        });
    };
    add(base, Example::Form, None);
    for slot in form.slots() {
        for alternative in slot.alternatives() {
            if base.slot(slot.name) == Some(alternative.word) && !slot.optional {
                continue;
            }
            let found = with_choice(form, Some((slot, alternative.word)));
            let found = found
                .unwrap_or_else(|| panic!("`.{}` never fits `{}`", alternative.word, form.syntax));
            add(
                found,
                Example::Alternative(slot.name, alternative.word),
                None,
            );
        }
    }
    for operand in form.operands() {
        if operand.presence == Presence::Optional && operand.with.is_empty() {
            add(base, Example::Operand(operand.name), Some(operand.name));
        }
        if operand.pair == Presence::Optional {
            add(base, Example::Operand(operand.name), Some("|"));
        }
    }
}

/// The form with this alternative, and as little else as its rules allow.
fn with_choice(form: &'static Form, choice: Option<(&Slot, &'static str)>) -> Option<Match> {
    let slots = form.slots();
    let mut words: Vec<Option<&'static str>> = slots
        .iter()
        .map(|slot| match choice {
            Some((chosen, word)) if core::ptr::eq(chosen, slot) => Some(word),
            _ if slot.optional => None,
            _ => slot
                .alternatives()
                .next()
                .map(|alternative| alternative.word),
        })
        .collect();
    let attempt = |words: &[Option<&'static str>]| {
        let modifiers: Vec<&str> = words.iter().flatten().copied().collect();
        accept(form.opcode, &modifiers, |found| {
            core::ptr::eq(found.form, form)
        })
        .ok()
    };
    if let Some(found) = attempt(&words) {
        return Some(found);
    }
    for (at, slot) in slots.iter().enumerate() {
        if choice.is_some_and(|(chosen, _)| core::ptr::eq(chosen, slot)) {
            continue;
        }
        let before = words[at];
        for alternative in slot.alternatives() {
            words[at] = Some(alternative.word);
            if let Some(found) = attempt(&words) {
                return Some(found);
            }
        }
        words[at] = before;
    }
    None
}

/// The statement of an instruction; the optional operand of this name is there, others are not.
fn statement(found: &Match, optional: Option<&str>) -> String {
    let mut text = found.form.opcode.to_owned();
    for word in found.words() {
        text.push('.');
        text.push_str(word);
    }
    let mut first = true;
    for operand in found.operands() {
        if operand.presence == Presence::Optional
            && operand.with.is_empty()
            && optional != Some(operand.name)
        {
            continue;
        }
        text.push_str(if first { " " } else { ", " });
        first = false;
        text.push_str(&operand_text(found, operand, optional == Some("|")));
    }
    text.push(';');
    text
}

fn operand_text(found: &Match, operand: &Operand, pair: bool) -> String {
    if operand.name == "_" {
        return "_".into();
    }
    if operand.role == Role::Address {
        return address(found, operand);
    }
    let ty = found.type_of(operand);
    match ty {
        "imm" => return constant(found.form.opcode, operand.name).to_owned(),
        "label" => return "L1".into(),
        "list" => return "(%r1)".into(),
        "symbol" => return symbol(found.form, operand.name).into(),
        _ => {}
    }
    let mut bits = type_bits(ty);
    if operand.ty == "2x" {
        bits *= 2;
    }
    // Narrow types have their values in wider registers where the form says so.
    let class = match bits {
        1 => "%p",
        8 if operand.ty.ends_with('+') => "%h",
        8 => "%b",
        16 => "%h",
        64 => "%d",
        128 => "%q",
        _ => "%r",
    };
    let count = match operand.count {
        Count::Any => many(found, operand),
        _ => found.count_of(operand).unwrap_or(1),
    };
    if count > 1 || matches!(operand.count, Count::Exactly(_) | Count::Any) {
        let first = if operand.role == Role::Destination {
            1
        } else {
            140
        };
        let registers: Vec<String> = (0..u32::from(count))
            .map(|n| format!("{class}{}", first + n))
            .collect();
        return format!("{{{}}}", registers.join(", "));
    }
    let mut text = format!(
        "{class}{}",
        if operand.role == Role::Destination {
            1
        } else {
            2
        }
    );
    if operand.pair == Presence::Required || operand.pair == Presence::Optional && pair {
        text.push_str("|%p3");
    }
    text
}

/// The function, prototype or list of labels of the module around the instructions.
fn symbol(form: &Form, name: &str) -> &'static str {
    let has = |name: &str| form.operands().iter().any(|operand| operand.name == name);
    match (name, has("d"), has("a")) {
        ("func", true, _) => "fn",
        ("func", false, true) => "fn1",
        ("func", ..) => "fn0",
        ("proto", true, _) => "proto",
        ("proto", false, true) => "proto1",
        ("proto", ..) => "proto0",
        _ => "ts",
    }
}

/// How many registers go where the form says any number.
fn many(found: &Match, operand: &Operand) -> u8 {
    let word = |prefix: &str| found.words().find_map(|word| word.strip_prefix(prefix));
    let number = |text: &str| {
        text.bytes()
            .take_while(u8::is_ascii_digit)
            .fold(0u32, |n, b| n * 10 + u32::from(b - b'0'))
    };
    match found.form.opcode {
        "wgmma" => {
            let n = word("m64n").map_or(8, number);
            let half = found.slot("dtype") == Some("f16");
            (if half { n / 4 } else { n / 2 }) as u8
        }
        "ldmatrix" | "stmatrix" => {
            let count = word("x").map_or(1, number) as u8;
            if found.has("m16n16") {
                count * 2
            } else {
                count
            }
        }
        "wmma" => {
            let ty = found.slot(if operand.name == "d" {
                "dtype"
            } else {
                "ctype"
            });
            if ty == Some("f16") { 4 } else { 8 }
        }
        "cp" => found
            .words()
            .find_map(|word| word.strip_suffix('d').map(number))
            .map_or(1, |dim| dim.saturating_sub(2) as u8),
        _ => 2,
    }
}

fn constant(opcode: &str, name: &str) -> &'static str {
    match (opcode, name) {
        (_, "size") => "128",
        ("st", "initval") => "0",
        (_, "f" | "sp-sel" | "ordinal" | "imm-trans-a" | "imm-trans-b") => "0",
        (_, "count") => "40",
        ("pmevent" | "wgmma" | "tensormap", _) | (_, "n") => "1",
        _ => "16",
    }
}

fn address(found: &Match, operand: &Operand) -> String {
    let coordinates = |class: &str, count: usize| {
        let all: Vec<String> = (1..=count).map(|n| format!("{class}{n}")).collect();
        if count == 1 && class == "%f" {
            format!("{{{}}}", all[0])
        } else {
            format!("{{{}}}", all.join(", "))
        }
    };
    if operand.inside.is_empty() {
        let param = found.words().find(|word| word.starts_with("param"));
        return match param {
            None => "[%d2]",
            Some("param::func") => "[q]",
            Some(_) if found.form.opcode == "st" => "[q]",
            Some(_) => "[p]",
        }
        .into();
    }
    let geometry = found.words().find(|word| {
        matches!(
            *word,
            "1d" | "2d" | "3d" | "4d" | "5d" | "a1d" | "a2d" | "cube" | "acube" | "2dms" | "a2dms"
        )
    });
    let (dimensions, layered) = match geometry.unwrap_or("1d") {
        "1d" => (1, false),
        "2d" => (2, false),
        "3d" => (3, false),
        "4d" => (4, false),
        "5d" => (5, false),
        "a1d" => (1, true),
        "a2d" => (2, true),
        "cube" => (3, false),
        "acube" => (3, true),
        "2dms" => (3, false),
        _ => (4, false),
    };
    let opcode = found.form.opcode;
    if opcode == "cp" {
        return format!("[%d2, {}]", coordinates("%r", dimensions));
    }
    let float = matches!(opcode, "tex" | "tld4") && found.words().last() == Some("f32");
    let class = if float { "%f" } else { "%r" };
    let mut parts = Vec::new();
    if layered {
        parts.push("%r1".to_owned());
    }
    parts.extend((1..=dimensions).map(|n| format!("{class}{n}")));
    // Vectors have one, two or four elements.
    while parts.len() == 3 {
        parts.push(parts[2].clone());
    }
    let _ = layered;
    format!("[%d2, {{{}}}]", parts.join(", "))
}

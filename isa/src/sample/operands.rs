//! The text of an instruction with operands that fit it.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::Match;
use crate::form::Form;
use crate::operand::{Count, Operand, Presence, Role, type_bits};

/// The statement of an instruction; of the operands that may be left out it has those of these names, `|` for a second
/// destination.
pub(super) fn statement(found: &Match, optional: &[&str]) -> String {
    let words: Vec<&str> = found.words().collect();
    line(found.form.opcode, &words, &operands(found, optional))
}

/// A statement of these parts.
pub(super) fn line(opcode: &str, words: &[&str], operands: &[String]) -> String {
    let mut text = opcode.to_owned();
    for word in words {
        text.push('.');
        text.push_str(word);
    }
    for (number, operand) in operands.iter().enumerate() {
        text.push_str(if number == 0 { " " } else { ", " });
        text.push_str(operand);
    }
    text.push(';');
    text
}

/// Operands that fit.
pub(super) fn operands(found: &Match, optional: &[&str]) -> Vec<String> {
    let has = |name: &str| optional.contains(&name);
    found
        .operands()
        .filter(|operand| {
            operand.presence != Presence::Optional || !operand.with.is_empty() || has(operand.name)
        })
        .map(|operand| operand_text(found, operand, has("|")))
        .collect()
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
            let half = found.slot("f16").is_some();
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

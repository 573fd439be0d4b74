//! Programs of the instructions that each lane executes on its own registers.

use std::collections::HashSet;
use std::fmt::Write as _;

use warpsmith_isa::Match;
use warpsmith_isa::effect::Convergence;
use warpsmith_isa::form::Form;
use warpsmith_isa::forms::FAMILIES;
use warpsmith_isa::operand::{Operand, Presence, Role, type_bits};
use warpsmith_testkit::Random;

use crate::program::{Column, Family, Program};
use crate::values::{Domain, operands};
use crate::variants::{mnemonic, variants};

/// The families of instructions, and how many inputs each of their programs has.
const RECORDED: [(&str, usize); 8] = [
    ("integer", 1024),
    ("float", 2048),
    ("half", 2048),
    ("compare", 256),
    ("logic", 512),
    ("moves", 512),
    ("convert", 1024),
    ("video", 192),
];
/// Instructions that compute nothing, or not from their registers alone.
const LEFT_OUT: [&str; 6] = [
    "mov",
    "cvta",
    "isspacep",
    "mapa",
    "getctarank",
    "activemask",
];
/// Threads of a block.
const THREADS: u32 = 64;
/// The truth tables of `lop3`.
const TABLES: [&str; 6] = ["0xE8", "0x96", "0x1B", "0xCA", "0x80", "0x01"];
/// Parts of registers that the SIMD video instructions select: the result's, the operands'.
const SELECTED: [(char, [[&str; 3]; 2]); 2] = [
    ('2', [["h1", "h32", "h01"], ["h0", "h10", "h13"]]),
    ('4', [["b20", "b7531", "b0246"], ["b3", "b3210", "b4567"]]),
];
/// Parts that the scalar video instructions select of their sources.
const PARTS: [[&str; 3]; 3] = [["", "b0", "h1"], ["", "b3", "b2"], ["", "h0", ""]];
/// Parts of the third source that their results become, too.
const MERGED: [[&str; 3]; 3] = [["b1", "b0", "h1"], ["h1", "h0", "b2"], ["b3", "", ""]];
/// Sources of `vmad` that may be negated together.
const NEGATED: [&[&str]; 4] = [&["a"], &["b"], &["c"], &["a", "b"]];

/// The instruction is one that a program shows.
fn is_recorded(form: &Form) -> bool {
    let computes = form
        .operands()
        .iter()
        .any(|operand| operand.role == Role::Destination)
        && form
            .operands()
            .iter()
            .all(|operand| operand.role != Role::Address);
    let carries = form.slots().iter().any(|slot| slot.name == "cc")
        || form.opcode.ends_with("addc")
        || form.opcode.ends_with("subc")
        || form.opcode == "madc";
    computes
        && !carries
        && form.convergence == Convergence::Independent
        && !LEFT_OUT.contains(&form.opcode)
}

/// The families of lanewise instructions.
pub fn families() -> Vec<Family> {
    RECORDED
        .into_iter()
        .map(|(name, cases)| {
            let family = FAMILIES.iter().find(|family| family.name == name);
            let forms = family.expect("a family of the tables").forms.iter();
            let forms = forms.filter(|form| is_recorded(form));
            let spellings = forms
                .flat_map(variants)
                .flat_map(|variant| spellings(&variant));
            // Some instructions are of two forms.
            let mut names = HashSet::new();
            let programs = spellings
                .filter(|spelling| names.insert(spelling.name()))
                .map(|spelling| spelling.program(cases))
                .collect();
            Family { name, programs }
        })
        .collect()
}

/// An instruction with the kind and size of its registers.
struct Spelling {
    variant: Match,
    /// The least bits of registers that may be wider than their type.
    least: u32,
    /// The constant operand.
    constant: &'static str,
    /// Whether predicates are negated.
    negates: bool,
    /// The names of the sources that are negated.
    minus: &'static [&'static str],
    /// Whether there are NaNs among its sources that stand for what is out of bounds.
    is_guarded: bool,
    /// The parts selected of the destination and of the first two sources.
    parts: [&'static str; 3],
}

/// Each way to write an instruction that makes a difference.
fn spellings(variant: &Match) -> Vec<Spelling> {
    let operands = || variant.operands();
    let widths: &[u32] = match operands().any(|operand| operand.ty.ends_with('+')) {
        true => &[16, 32, 64],
        false => &[16],
    };
    let constants: &[&'static str] = match operands().any(Operand::is_constant) {
        true => &TABLES,
        false => &[""],
    };
    let is_negated =
        |operand: &Operand| operand.negatable && type_bits(variant.type_of(operand)) == 1;
    let negations: &[bool] = match operands().any(is_negated) {
        true => &[false, true],
        false => &[false],
    };
    let mut parts = vec![[""; 3]];
    if let Some(rest) = variant.form.opcode.strip_prefix('v') {
        let side_by_side = SELECTED.iter().find(|(lanes, _)| rest.ends_with(*lanes));
        let is_merged = operands().count() == 4 && variant.slot("op2").is_none();
        match side_by_side {
            Some((_, selected)) => parts.extend(selected),
            None if is_merged && rest != "mad" => parts.extend(MERGED),
            None => parts.extend(PARTS),
        }
    }
    let mut all: Vec<Spelling> = Vec::new();
    for &least in widths {
        for &constant in constants {
            for &negates in negations {
                for &parts in &parts {
                    let spelling = Spelling {
                        variant: *variant,
                        least,
                        constant,
                        negates,
                        minus: &[],
                        is_guarded: false,
                        parts,
                    };
                    let same = |other: &Spelling| {
                        other.registers() == spelling.registers()
                            && (other.constant, other.negates, other.parts)
                                == (constant, negates, parts)
                    };
                    if !all.iter().any(same) {
                        all.push(spelling);
                    }
                }
            }
        }
    }
    all.extend(negated(variant));
    if variant.slot("oob").is_some() {
        all.push(Spelling {
            is_guarded: true,
            ..Spelling::plain(variant)
        });
    }
    all
}

/// `vmad` with negated sources, on whole registers and on parts.
fn negated(variant: &Match) -> Vec<Spelling> {
    let is_exact = |minus: &&[&str]| minus.len() == 2 || variant.slot("po").is_none();
    let choices = NEGATED.into_iter().filter(is_exact);
    let spellings = choices.flat_map(|minus| {
        [[""; 3], PARTS[0]].map(|parts| Spelling {
            minus,
            parts,
            ..Spelling::plain(variant)
        })
    });
    match variant.form.opcode {
        "vmad" => spellings.collect(),
        _ => Vec::new(),
    }
}

impl Spelling {
    /// The one with nothing besides.
    fn plain(variant: &Match) -> Spelling {
        Spelling {
            variant: *variant,
            least: 16,
            constant: "",
            negates: false,
            minus: &[],
            is_guarded: false,
            parts: [""; 3],
        }
    }

    /// The bits of an operand's register; 1 for a predicate.
    fn register(&self, operand: &Operand) -> u32 {
        let bits = u32::from(type_bits(self.variant.type_of(operand)));
        match (operand.ty.trim_end_matches('+'), bits) {
            (_, 1) => 1,
            ("2x", bits) => bits * 2,
            _ if operand.ty.ends_with('+') => bits.max(self.least).max(16),
            (_, bits) => bits.max(16),
        }
    }

    /// The bits of all registers.
    fn registers(&self) -> Vec<u32> {
        self.variant
            .operands()
            .map(|operand| self.register(operand))
            .collect()
    }

    fn domain(&self, operand: &Operand) -> Domain {
        let register = self.register(operand);
        match (self.variant.form.opcode, operand.name) {
            ("fns", "base") => Domain::Range(0, 31),
            ("fns", "offset") => Domain::Range(-33, 33),
            _ if register == 1 => Domain::Predicate,
            _ if self.is_guarded => Domain::Guarded(register),
            _ => Domain::of(self.variant.type_of(operand), register),
        }
    }

    fn name(&self) -> String {
        let mut name = mnemonic(&self.variant);
        for operand in self.variant.operands() {
            if operand.ty.ends_with('+') {
                let _ = write!(name, " {}:b{}", operand.name, self.register(operand));
            }
        }
        for (part, operand) in self.parts.iter().zip(["d", "a", "b"]) {
            if !part.is_empty() {
                let _ = write!(name, " {operand}.{part}");
            }
        }
        if !self.constant.is_empty() {
            let _ = write!(name, " {}", self.constant);
        }
        if self.negates {
            name.push_str(" !");
        }
        for source in self.minus {
            let _ = write!(name, " -{source}");
        }
        if self.is_guarded {
            name.push_str(" guarded");
        }
        // Forms that differ in the number of their operands alone.
        let _ = write!(name, " {}", self.variant.operands().count());
        name
    }

    fn program(&self, cases: usize) -> Program {
        let mut body = String::from(".reg .b64 %at;\n.reg .b16 %byte;\n");
        let (mut before, mut after) = (String::new(), String::new());
        let mut texts: Vec<String> = Vec::new();
        let mut columns = Vec::new();
        let mut domains: Vec<(Domain, usize)> = Vec::new();
        let (mut read, mut written) = (0, 0);
        let mut store = |after: &mut String, width: usize, register: &str| {
            let _ = write!(
                after,
                "mul.wide.u32 %at, %t, {width};\nadd.u64 %at, %at, %out;\nst.global.b{} [%at+{written}], {register};\n",
                8 * width
            );
            written += width * cases;
            columns.push(Column::new(width, cases));
        };
        for (number, operand) in self.variant.operands().enumerate() {
            let register = self.register(operand);
            if operand.is_constant() {
                texts.push(self.constant.to_owned());
                continue;
            }
            let declared = if register == 1 {
                ".pred".to_owned()
            } else {
                format!(".b{register}")
            };
            let name = format!("%o{number}");
            let _ = writeln!(body, ".reg {declared} {name};");
            let part = self.parts.get(number).filter(|part| !part.is_empty());
            let mut text = match part {
                Some(part) => format!("{name}.{part}"),
                None => name.clone(),
            };
            let predicate = |after: &mut String, name: &str| {
                let _ = writeln!(after, "selp.b16 %byte, 1, 0, {name};");
            };
            if operand.role == Role::Destination {
                if register == 1 {
                    predicate(&mut after, &name);
                    store(&mut after, 1, "%byte");
                } else {
                    store(&mut after, register as usize / 8, &name);
                }
                if operand.pair != Presence::Absent {
                    let _ = writeln!(body, ".reg .pred %second;");
                    predicate(&mut after, "%second");
                    store(&mut after, 1, "%byte");
                    text.push_str("|%second");
                }
            } else {
                // Predicates come as bytes.
                let width = (register as usize / 8).max(1);
                let loaded = if register == 1 { "%byte" } else { &name };
                let _ = write!(
                    before,
                    "mul.wide.u32 %at, %t, {width};\nadd.u64 %at, %at, %in;\nld.global.b{} {loaded}, [%at+{read}];\n",
                    8 * width
                );
                if register == 1 {
                    let _ = writeln!(before, "setp.ne.b16 {name}, %byte, 0;");
                    if self.negates && operand.negatable {
                        text.insert(0, '!');
                    }
                }
                if self.minus.contains(&operand.name) {
                    text.insert(0, '-');
                }
                read += width * cases;
                domains.push((self.domain(operand), width));
            }
            texts.push(text);
        }
        let _ = write!(
            body,
            "{before}{} {};\n{after}",
            mnemonic(&self.variant),
            texts.join(", ")
        );
        Program {
            name: self.name(),
            body,
            input: input(&domains, cases),
            output_bytes: written,
            blocks: cases as u32 / THREADS,
            threads: THREADS,
            columns,
        }
    }
}

/// The values of operands of these domains and widths in bytes: an array for each, one behind the other. Instructions with the same kinds of operands get the same.
pub(crate) fn input(domains: &[(Domain, usize)], cases: usize) -> Vec<u8> {
    let seed = format!("{domains:?}").bytes().fold(7u64, |seed, byte| {
        seed.wrapping_mul(0x0100_0000_01b3) ^ u64::from(byte)
    });
    let mut random = Random::new(seed);
    let kinds: Vec<Domain> = domains.iter().map(|&(domain, _)| domain).collect();
    let drawn: Vec<Vec<u64>> = (0..cases)
        .map(|case| operands(&mut random, case, &kinds))
        .collect();
    let mut bytes = Vec::new();
    for (number, &(_, width)) in domains.iter().enumerate() {
        for values in &drawn {
            bytes.extend_from_slice(&values[number].to_le_bytes()[..width]);
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_program_has_a_name_of_its_own() {
        for family in families() {
            let mut names: Vec<&str> = family
                .programs
                .iter()
                .map(|program| &*program.name)
                .collect();
            let count = names.len();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), count, "{}", family.name);
            assert!(count > 0);
        }
    }
}

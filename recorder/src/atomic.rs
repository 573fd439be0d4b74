//! Additions of floating-point numbers in memory: each thread has its own place there, so that no order matters.

use std::fmt::Write as _;

use crate::lanewise::input;
use crate::program::{Column, Family, Program};
use crate::values::Domain;

/// Inputs of an instruction.
const CASES: usize = 2048;
const THREADS: u32 = 64;

/// Operations on one value, and their types.
const ONE: [(&str, &str); 6] = [
    ("add", "f32"),
    ("add", "f64"),
    ("add.noftz", "f16"),
    ("add.noftz", "bf16"),
    ("add.noftz", "f16x2"),
    ("add.noftz", "bf16x2"),
];
/// Operations on several in braces: their types, and how many values.
const SEVERAL: [(&str, &str, &[usize]); 13] = [
    ("add", "f32", &[2, 4]),
    ("add.noftz", "f16", &[2, 4, 8]),
    ("add.noftz", "bf16", &[2, 4, 8]),
    ("add.noftz", "f16x2", &[2, 4]),
    ("add.noftz", "bf16x2", &[2, 4]),
    ("min.noftz", "f16", &[2, 4, 8]),
    ("min.noftz", "bf16", &[2, 4, 8]),
    ("min.noftz", "f16x2", &[2, 4]),
    ("min.noftz", "bf16x2", &[2, 4]),
    ("max.noftz", "f16", &[2, 4, 8]),
    ("max.noftz", "bf16", &[2, 4, 8]),
    ("max.noftz", "f16x2", &[2, 4]),
    ("max.noftz", "bf16x2", &[2, 4]),
];

/// The additions, with and without an answer, in global and in shared memory.
pub fn family() -> Family {
    let mut programs = Vec::new();
    for opcode in ["atom", "red"] {
        for (operation, ty) in ONE {
            for space in ["global", "shared"] {
                programs.push(program(opcode, space, operation, ty, 1));
            }
        }
        for (operation, ty, lengths) in SEVERAL {
            for &length in lengths {
                programs.push(program(opcode, "global", operation, ty, length));
            }
        }
    }
    Family {
        name: "atomic",
        programs,
    }
}

/// A kernel that puts a thread's first operands into memory and applies the instruction to them with the second ones. It writes what
/// the instruction answers, if it does, and what is in memory then.
fn program(opcode: &str, space: &str, operation: &str, ty: &str, length: usize) -> Program {
    let bits = match ty {
        "f64" => 64,
        "f16" | "bf16" => 16,
        _ => 32,
    };
    let width = bits / 8;
    let (group, is_atom) = (width * length, opcode == "atom");
    let mut body = format!(
        ".reg .b64 %at, %place;\n.reg .b{bits} %a<{length}>, %b<{length}>, %d<{length}>;\n"
    );
    if space == "shared" {
        let bytes = group * THREADS as usize;
        let _ = write!(
            body,
            ".shared .align 16 .b8 memory[{bytes}];\nmov.u64 %place, memory;\nmul.wide.u32 %at, %t2, {group};\n\
             add.u64 %place, %place, %at;\n"
        );
    } else {
        let _ = write!(
            body,
            "mul.wide.u32 %place, %t, {group};\nadd.u64 %place, %place, %out;\n"
        );
    }
    // The operands: an array for each element.
    let (mut read, mut domains) = (0, Vec::new());
    for name in ["a", "b"] {
        for element in 0..length {
            let _ = write!(
                body,
                "mul.wide.u32 %at, %t, {width};\nadd.u64 %at, %at, %in;\nld.global.b{bits} %{name}{element}, [%at+{read}];\n"
            );
            read += width * CASES;
            domains.push((Domain::of(ty, bits as u32), width));
        }
    }
    for element in 0..length {
        let offset = element * width;
        let _ = writeln!(body, "st.{space}.b{bits} [%place+{offset}], %a{element};");
    }
    let registers = |name: &str| {
        let all: Vec<String> = (0..length).map(|n| format!("%{name}{n}")).collect();
        match length {
            1 => all.concat(),
            _ => format!("{{{}}}", all.join(", ")),
        }
    };
    let mut words = operation.to_owned();
    if length > 1 {
        let _ = write!(words, ".v{length}");
    }
    let answer = match is_atom {
        true => format!("{}, ", registers("d")),
        false => String::new(),
    };
    let _ = writeln!(
        body,
        "{opcode}.{space}.{words}.{ty} {answer}[%place], {};",
        registers("b")
    );
    let mut columns = Vec::new();
    let mut written = 0;
    if space == "global" {
        // What is in memory stays there.
        written = group * CASES;
        columns.push(Column::new(width, length * CASES));
    }
    let mut store = |body: &mut String, register: &str| {
        let _ = write!(
            body,
            "mul.wide.u32 %at, %t, {width};\nadd.u64 %at, %at, %out;\nst.global.b{bits} [%at+{written}], {register};\n"
        );
        written += width * CASES;
        columns.push(Column::new(width, CASES));
    };
    for element in (0..length).filter(|_| is_atom) {
        store(&mut body, &format!("%d{element}"));
    }
    if space == "shared" {
        for element in 0..length {
            let offset = element * width;
            let _ = writeln!(body, "ld.shared.b{bits} %a{element}, [%place+{offset}];");
            store(&mut body, &format!("%a{element}"));
        }
    }
    Program {
        name: format!("{opcode}.{space}.{words}.{ty}"),
        body,
        input: input(&domains, CASES),
        output_bytes: written,
        blocks: CASES as u32 / THREADS,
        threads: THREADS,
        columns,
    }
}

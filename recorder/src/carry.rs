//! Chains of additions and subtractions through the carry flag: each pair of instructions, and the flag behind the second.

use std::fmt::Write as _;

use crate::lanewise::input;
use crate::program::{Column, Family, Program};
use crate::values::Domain;

const FIRST: [&str; 4] = ["add.cc", "sub.cc", "mad.lo.cc", "mad.hi.cc"];
const SECOND: [&str; 4] = ["addc.cc", "subc.cc", "madc.lo.cc", "madc.hi.cc"];
const TYPES: [[&str; 2]; 6] = [
    ["u32", "u32"],
    ["s32", "s32"],
    ["u64", "u64"],
    ["s64", "s64"],
    ["u32", "u64"],
    ["u64", "u32"],
];
/// Inputs of a chain.
const CASES: usize = 512;
const THREADS: u32 = 64;

/// The chains.
pub fn family() -> Family {
    let mut programs = Vec::new();
    for types in TYPES {
        for first in FIRST {
            for second in SECOND {
                programs.push(program([first, second], types));
            }
        }
    }
    Family {
        name: "carry",
        programs,
    }
}

fn program(chain: [&str; 2], types: [&str; 2]) -> Program {
    let mut body = String::from(".reg .b64 %at;\n.reg .b32 %add, %sub;\n");
    let (mut instructions, mut stores) = (String::new(), String::new());
    let (mut domains, mut columns) = (Vec::new(), Vec::new());
    let (mut read, mut written) = (0, 0);
    let mut store = |register: &str, width: usize| {
        let _ = write!(
            stores,
            "mul.wide.u32 %at, %t, {width};\nadd.u64 %at, %at, %out;\nst.global.b{} [%at+{written}], {register};\n",
            8 * width
        );
        written += width * CASES;
        columns.push(Column::new(width, CASES));
    };
    for (number, (instruction, ty)) in chain.into_iter().zip(types).enumerate() {
        let bits = if ty.ends_with("64") { 64 } else { 32 };
        let width = bits / 8;
        let sources = if instruction.starts_with("mad") { 3 } else { 2 };
        let _ = writeln!(body, ".reg .b{bits} %x{number}_<4>;");
        let mut texts = vec![format!("%x{number}_0")];
        for source in 1..=sources {
            let register = format!("%x{number}_{source}");
            let _ = write!(
                body,
                "mul.wide.u32 %at, %t, {width};\nadd.u64 %at, %at, %in;\nld.global.b{bits} {register}, [%at+{read}];\n"
            );
            read += width * CASES;
            domains.push((Domain::Integer(bits as u32), width));
            texts.push(register);
        }
        let _ = writeln!(instructions, "{instruction}.{ty} {};", texts.join(", "));
        store(&texts[0], width);
    }
    // The flag, as an addition and as a subtraction take it.
    instructions.push_str("addc.cc.u32 %add, -1, 0;\nsubc.u32 %sub, 0, 0;\n");
    store("%add", 4);
    store("%sub", 4);
    Program {
        name: format!("{}.{} {}.{}", chain[0], types[0], chain[1], types[1]),
        body: format!("{body}{instructions}{stores}"),
        input: input(&domains, CASES),
        output_bytes: written,
        blocks: CASES as u32 / THREADS,
        threads: THREADS,
        columns,
    }
}

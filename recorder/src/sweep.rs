//! Approximate functions over their whole range, or all of a binade: of 16 bits all values, as a table; of f32 one number in
//! five, of f64 each that differs in its upper half, which shows the segments and coefficients by which a device interpolates.

use crate::program::{Column, Family, Program};

const THREADS: u32 = 256;
/// From one number of a sweep over f32 to the next: odd, so that all last digits occur.
const STEP: u32 = 5;

/// The functions of 16 bits.
const NARROW: [&str; 4] = [
    "ex2.approx.f16",
    "ex2.approx.ftz.bf16",
    "tanh.approx.f16",
    "tanh.approx.bf16",
];

/// Functions of f32: where a sweep begins, as bits, and over how many binades it goes.
const SINGLE: [(&str, u32, u32); 14] = [
    ("rcp.approx.ftz.f32", 0x3f80_0000, 1),
    ("rsqrt.approx.ftz.f32", 0x3f80_0000, 2),
    ("sqrt.approx.ftz.f32", 0x3f80_0000, 2),
    ("ex2.approx.ftz.f32", 0x3f00_0000, 2),
    ("ex2.approx.ftz.f32", 0xbf00_0000, 2),
    ("lg2.approx.ftz.f32", 0x3f00_0000, 2),
    ("sin.approx.ftz.f32", 0x3e80_0000, 5),
    ("cos.approx.ftz.f32", 0x3e80_0000, 5),
    ("tanh.approx.f32", 0x3d00_0000, 7),
    ("tanh.approx.f32", 0x3980_0000, 2),
    ("sin.approx.ftz.f32", 0x3980_0000, 2),
    ("cos.approx.ftz.f32", 0x4300_0000, 1),
    ("div.full.f32", 0x3f80_0000, 1),
    ("div.approx.f32", 0x3f80_0000, 1),
];

/// Functions of f64, which look at the upper half of their operand: where a sweep over it begins, and over how many binades it goes.
const DOUBLE: [(&str, u32, u32); 3] = [
    ("rcp.approx.ftz.f64", 0x3ff0_0000, 1),
    ("rsqrt.approx.ftz.f64", 0x3ff0_0000, 2),
    ("rsqrt.approx.f64", 0x3ff0_0000, 2),
];

/// The functions of 16 bits, all values.
pub fn tables() -> Family {
    let programs = NARROW.map(|instruction| {
        let body = format!(
            ".reg .b16 %a, %d;\n.reg .b64 %at;\ncvt.u16.u32 %a, %t;\n{instruction} %d, %a;\n\
             mul.wide.u32 %at, %t, 2;\nadd.u64 %at, %at, %out;\nst.global.b16 [%at], %d;\n"
        );
        program(format!("{instruction} everywhere"), body, 2, 1 << 16)
    });
    Family {
        name: "tables",
        programs: programs.to_vec(),
    }
}

/// The sweeps over f32 and f64.
pub fn sweeps() -> Family {
    let single = SINGLE.iter().map(|&(instruction, start, binades)| {
        let operands = if instruction.starts_with("div") { "0f3FB504F3, %a" } else { "%a" };
        let body = format!(
            ".reg .b32 %a, %d;\n.reg .b64 %at;\nmad.lo.u32 %a, %t, {STEP}, {start};\n{instruction} %d, {operands};\n\
             mul.wide.u32 %at, %t, 4;\nadd.u64 %at, %at, %out;\nst.global.b32 [%at], %d;\n"
        );
        program(format!("{instruction} from {start:#x}"), body, 4, ((binades as usize) << 23) / STEP as usize)
    });
    let double = DOUBLE.iter().map(|&(instruction, start, binades)| {
        let body = format!(
            ".reg .b32 %h;\n.reg .b64 %a, %d, %at;\nadd.u32 %h, %t, {start};\nmov.b64 %a, {{0, %h}};\n\
             {instruction} %d, %a;\nmul.wide.u32 %at, %t, 8;\nadd.u64 %at, %at, %out;\nst.global.b64 [%at], %d;\n"
        );
        program(format!("{instruction} from {start:#x}"), body, 8, (binades as usize) << 20)
    });
    Family {
        name: "sweeps",
        programs: single.chain(double).collect(),
    }
}

fn program(name: String, body: String, width: usize, count: usize) -> Program {
    let count = count - count % THREADS as usize;
    Program {
        name,
        body,
        input: Vec::new(),
        output_bytes: width * count,
        blocks: count as u32 / THREADS,
        threads: THREADS,
        columns: vec![Column {
            is_smooth: true,
            ..Column::new(width, count)
        }],
    }
}

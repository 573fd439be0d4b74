//! Programs of `wmma.mma`, with the loads and the store of its fragments: how lanes hold these is not laid down.

use std::fmt::Write as _;

use warpsmith_isa::operand::Role;
use warpsmith_isa::{Match, forms_of};
use warpsmith_testkit::Random;

use crate::matrix::{STYLES, Style, element_bits, types};
use crate::program::{Column, Family, Program};
use crate::variants::{mnemonic, variants};

/// The products of `wmma`.
pub fn family() -> Family {
    let products = forms_of("wmma").filter(|form| {
        let names = form.slots().iter().map(|slot| slot.name);
        names.clone().any(|name| name == "mma") && form.until.is_none()
    });
    Family {
        name: "wmma",
        programs: products
            .flat_map(variants)
            .map(|variant| program(&variant))
            .collect(),
    }
}

/// A matrix of a product.
struct Part<'v> {
    letter: &'static str,
    ty: &'static str,
    layout: &'v str,
    rows: u32,
    columns: u32,
    words: usize,
}

impl Part<'_> {
    fn bytes(&self) -> usize {
        (self.rows * self.columns * element_bits(self.ty)) as usize / 8
    }

    fn register_bits(&self) -> u32 {
        if self.ty == "f64" { 64 } else { 32 }
    }

    /// The registers, in braces.
    fn registers(&self) -> String {
        let all: Vec<String> = (0..self.words)
            .map(|word| format!("%{}{word}", self.letter))
            .collect();
        format!("{{{}}}", all.join(", "))
    }

    /// The address of this matrix of the block's product.
    fn address(&self, base: &str, at: usize) -> String {
        format!(
            "mul.wide.u32 %at, %warp, {};\nadd.u64 %at, %at, {base};\nadd.u64 %at, %at, {at};\n",
            self.bytes()
        )
    }

    /// The elements of a matrix, packed.
    fn draw(&self, random: &mut Random, style: Style, bytes: &mut Vec<u8>) {
        let bits = element_bits(self.ty);
        let start = bytes.len();
        bytes.resize(start + self.bytes(), 0);
        let elements: Vec<u64> = (0..self.rows * self.columns)
            .map(|_| style.element(random, self.ty, self.letter == "c"))
            .collect();
        // Row by row or column by column, so that a product has the same elements in each layout.
        for row in 0..self.rows {
            for column in 0..self.columns {
                let element = elements[(row * self.columns + column) as usize];
                let place = match self.layout {
                    "row" => row * self.columns + column,
                    _ => column * self.rows + row,
                };
                let bit = (place * bits) as usize;
                if bits < 8 {
                    bytes[start + bit / 8] |= (element << (bit % 8)) as u8;
                } else {
                    let width = bits as usize / 8;
                    bytes[start + bit / 8..][..width]
                        .copy_from_slice(&element.to_le_bytes()[..width]);
                }
            }
        }
    }
}

fn program(variant: &Match) -> Program {
    let [a, b, c, d] = types(variant);
    let words: Vec<&str> = variant.words().collect();
    let shape = words
        .iter()
        .find(|word| word.starts_with('m') && word.contains('n') && word.contains('k'));
    let shape = *shape.expect("a shape");
    let numbers: Vec<u32> = shape
        .split(['m', 'n', 'k'])
        .filter_map(|number| number.parse().ok())
        .collect();
    let [m, n, k] = numbers[..] else {
        panic!("{shape} is a shape");
    };
    let layouts: Vec<&str> = words
        .iter()
        .copied()
        .filter(|word| matches!(*word, "row" | "col"))
        .collect();
    let count = |name: &str| {
        let operand = variant.operands().find(|operand| operand.name == name);
        usize::from(
            variant
                .count_of(operand.expect("an operand"))
                .expect("a count"),
        )
    };
    let part = |letter, ty, layout, rows, columns| Part {
        letter,
        ty,
        layout,
        rows,
        columns,
        words: count(letter),
    };
    let parts = [
        part("a", a, layouts[0], m, k),
        part("b", b, layouts[1], k, n),
        part("c", c, "row", m, n),
        part("d", d, "row", m, n),
    ];
    let tiles = match a {
        "f16" | "bf16" | "tf32" => STYLES as usize,
        "f64" => 8,
        _ => 2,
    };
    let mut body = String::from(".reg .b64 %at;\n.reg .b32 %warp;\nmov.u32 %warp, %ctaid.x;\n");
    let mut input = Vec::new();
    let mut random = Random::new(0x3b1);
    for part in &parts {
        let _ = writeln!(
            body,
            ".reg .b{} %{}<{}>;",
            part.register_bits(),
            part.letter,
            part.words
        );
    }
    for part in &parts[..3] {
        body.push_str(&part.address("%in", input.len()));
        let _ = writeln!(
            body,
            "wmma.load.{}.sync.aligned.{}.{shape}.global.{} {}, [%at];",
            part.letter,
            part.layout,
            part.ty,
            part.registers()
        );
        for tile in 0..tiles {
            part.draw(&mut random, Style(tile as u32 % STYLES), &mut input);
        }
        // Matrices are aligned.
        input.resize(input.len().next_multiple_of(64), 0);
    }
    let operands = variant.operands().map(|operand| {
        let letter = match operand.role {
            Role::Destination => "d",
            _ => operand.name,
        };
        let part = parts.iter().find(|part| part.letter == letter);
        part.expect("a matrix for each operand").registers()
    });
    let operands: Vec<String> = operands.collect();
    let _ = writeln!(body, "{} {};", mnemonic(variant), operands.join(", "));
    let result = &parts[3];
    body.push_str(&result.address("%out", 0));
    let _ = writeln!(
        body,
        "wmma.store.d.sync.aligned.row.{shape}.global.{d} [%at], {};",
        result.registers()
    );
    let width = element_bits(d) as usize / 8;
    Program {
        name: mnemonic(variant),
        body,
        input,
        output_bytes: tiles * result.bytes(),
        blocks: tiles as u32,
        threads: 32,
        columns: vec![Column::new(width, tiles * (m * n) as usize)],
    }
}

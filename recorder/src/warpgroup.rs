//! Programs of `wgmma`: the factors' bytes are drawn where they lie in shared memory, so that a program knows no layout.

use std::fmt::Write as _;

use warpsmith_testkit::Random;

use crate::matrix::{STYLES, Style, fragment, metadata};
use crate::program::{Column, Family, Program};

const THREADS: usize = 128;
const ROWS: usize = 64;
/// Bytes of a row of A in an instruction.
const LINE: usize = 32;

/// A product and how it is computed.
#[derive(Clone, Copy)]
struct Product {
    d: &'static str,
    a: &'static str,
    b: &'static str,
    columns: usize,
    /// What is written behind the shape.
    saturates: bool,
    /// Whether A is in registers.
    registers: bool,
    /// Whether A and B are stored along their other direction.
    transposed: [bool; 2],
    /// What the factors are multiplied with.
    scales: [i32; 2],
    /// Whether C is added.
    accumulates: bool,
    /// The selector of sparse metadata.
    selector: Option<u32>,
    /// Products.
    tiles: usize,
}

/// The products.
pub fn family() -> Family {
    let narrow = ["e4m3", "e5m2"];
    let bytes = ["s8", "u8"];
    let mut types = vec![
        ("f16", "f16", "f16"),
        ("f32", "f16", "f16"),
        ("f32", "bf16", "bf16"),
        ("f32", "tf32", "tf32"),
    ];
    for d in ["f16", "f32"] {
        types.extend(narrow.iter().flat_map(|&a| narrow.map(|b| (d, a, b))));
    }
    types.extend(bytes.iter().flat_map(|&a| bytes.map(|b| ("s32", a, b))));
    types.push(("s32", "b1", "b1"));
    let mut products = Vec::new();
    for (d, a, b) in types {
        let is_float = d != "s32";
        let plain = Product {
            d,
            a,
            b,
            columns: 8,
            saturates: false,
            registers: false,
            transposed: [false; 2],
            scales: [1, 1],
            accumulates: true,
            selector: None,
            tiles: if is_float { STYLES as usize / 2 } else { 1 },
        };
        let short = Product {
            tiles: if is_float { 3 } else { 1 },
            ..plain
        };
        products.push(plain);
        products.push(Product {
            accumulates: false,
            ..short
        });
        products.push(Product {
            registers: true,
            columns: 24,
            ..short
        });
        if is_float {
            products.push(Product {
                scales: [-1, 1],
                ..short
            });
            products.push(Product {
                scales: [1, -1],
                registers: true,
                ..short
            });
            products.push(Product {
                scales: [-1, -1],
                accumulates: false,
                ..short
            });
        } else if a != "b1" {
            products.push(Product {
                saturates: true,
                ..plain
            });
        }
        if matches!(a, "f16" | "bf16") {
            products.push(Product {
                transposed: [true, true],
                columns: 16,
                ..short
            });
            products.push(Product {
                transposed: [false, true],
                ..short
            });
            products.push(Product {
                transposed: [true, false],
                ..short
            });
        }
        if a != "b1" {
            let selectors = if matches!(a, "f16" | "bf16" | "tf32") {
                2
            } else {
                1
            };
            for selector in 0..selectors {
                let sparse = Product {
                    selector: Some(selector),
                    ..plain
                };
                products.push(sparse);
                products.push(Product {
                    registers: true,
                    accumulates: false,
                    ..sparse
                });
            }
        }
    }
    Family {
        name: "warpgroup",
        programs: products.iter().map(Product::program).collect(),
    }
}

impl Product {
    fn mnemonic(&self) -> String {
        let element = match self.a {
            "b1" => 1,
            ty => warpsmith_isa::operand::type_bits(ty) as usize,
        };
        let depth = LINE * 8 / element * if self.selector.is_some() { 2 } else { 1 };
        format!(
            "wgmma.mma_async{}.sync.aligned.m64n{}k{depth}{}.{}.{}.{}{}",
            if self.selector.is_some() { ".sp" } else { "" },
            self.columns,
            if self.saturates { ".satfinite" } else { "" },
            self.d,
            self.a,
            self.b,
            if self.a == "b1" { ".and.popc" } else { "" }
        )
    }

    fn name(&self) -> String {
        let mut name = self.mnemonic();
        if self.registers {
            name.push_str(" registers");
        }
        for (is_so, word) in self
            .transposed
            .into_iter()
            .zip([" a-transposed", " b-transposed"])
        {
            name.push_str(if is_so { word } else { "" });
        }
        for (scale, word) in self.scales.into_iter().zip([" -a", " -b"]) {
            name.push_str(if scale < 0 { word } else { "" });
        }
        if !self.accumulates {
            name.push_str(" alone");
        }
        if let Some(selector) = self.selector {
            let _ = write!(name, " {selector}");
        }
        name
    }

    /// Bytes of B.
    fn b_bytes(&self) -> usize {
        self.columns * LINE * if self.selector.is_some() { 2 } else { 1 }
    }

    fn program(&self) -> Program {
        let mut random = Random::new(0x3c5);
        let mut input = Vec::new();
        let mut body = String::from(
            ".reg .b64 %at, %a, %b;\n.reg .b32 %word, %tile, %lane, %e;\n.reg .pred %p, %accumulate;\n",
        );
        let _ = write!(
            body,
            ".shared .align 1024 .b8 a_memory[{}];\n.shared .align 1024 .b8 b_memory[{}];\n\
             mov.u32 %tile, %ctaid.x;\nmov.u32 %lane, %tid.x;\nsetp.{}.u32 %accumulate, 0, 0;\n",
            ROWS * LINE,
            self.b_bytes(),
            if self.accumulates { "eq" } else { "ne" }
        );
        let mut a_text = "%a".to_owned();
        if self.registers {
            a_text = load(&mut body, "ra", 4, input.len());
            self.draw(&mut random, &mut input, self.a, false, 4 * THREADS);
        } else {
            copy(&mut body, "a_memory", ROWS * LINE, input.len());
            self.draw(&mut random, &mut input, self.a, false, ROWS * LINE / 4);
        }
        copy(&mut body, "b_memory", self.b_bytes(), input.len());
        self.draw(&mut random, &mut input, self.b, false, self.b_bytes() / 4);
        let registers = self.columns / if self.d == "f16" { 4 } else { 2 };
        let d_text = load(&mut body, "d", registers, input.len());
        self.draw(&mut random, &mut input, self.d, true, registers * THREADS);
        let mut operands = vec![d_text.clone(), a_text, "%b".to_owned()];
        if let Some(selector) = self.selector {
            let at = load(&mut body, "meta", 1, input.len());
            let _ = writeln!(body, "mov.b32 %e, {};", at.trim_matches(['{', '}']));
            for _ in 0..self.tiles * THREADS {
                input.extend((metadata(&mut random, self.a) as u32).to_le_bytes());
            }
            operands.extend(["%e".to_owned(), selector.to_string()]);
        }
        operands.push("%accumulate".to_owned());
        if self.d != "s32" {
            operands.extend(self.scales.map(|scale| scale.to_string()));
        }
        if matches!(self.a, "f16" | "bf16") {
            let from = usize::from(self.registers);
            operands.extend(
                self.transposed[from..]
                    .iter()
                    .map(|&is_so| u8::from(is_so).to_string()),
            );
        }
        // 8 rows of 16 bytes lie in one piece; the next of them in either direction 128 bytes or more further on.
        let units = self.b_bytes() / self.columns / 16;
        for (register, memory, units) in [("%a", "a_memory", 2), ("%b", "b_memory", units as u64)] {
            let strides = (128u64 >> 4) << 16 | ((128 * units) >> 4) << 32;
            let _ = write!(
                body,
                "mov.u64 {register}, {memory};\nand.b64 {register}, {register}, 0x3ffff;\n\
                 shr.b64 {register}, {register}, 4;\nor.b64 {register}, {register}, {strides};\n"
            );
        }
        let _ = write!(
            body,
            "fence.proxy.async;\nbar.sync 0;\nwgmma.fence.sync.aligned;\n{} {};\n\
             wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n",
            self.mnemonic(),
            operands.join(", ")
        );
        address(&mut body, registers, "%out");
        for register in 0..registers {
            let _ = writeln!(
                body,
                "st.global.b32 [%at+{}], %d{register};",
                register * THREADS * 4
            );
        }
        let count = self.tiles * registers * THREADS;
        let column = match self.d {
            "f16" => Column::new(2, 2 * count),
            _ => Column::new(4, count),
        };
        Program {
            name: self.name(),
            body,
            input,
            output_bytes: 4 * count,
            blocks: self.tiles as u32,
            threads: THREADS as u32,
            columns: vec![column],
        }
    }

    /// The words of all products.
    fn draw(
        &self,
        random: &mut Random,
        input: &mut Vec<u8>,
        ty: &str,
        is_addend: bool,
        words: usize,
    ) {
        for tile in 0..self.tiles {
            // A few products go through the styles that differ most.
            let style = Style((2 * tile as u32 + tile as u32 / 6) % STYLES);
            for word in fragment(random, style, ty, is_addend, words) {
                input.extend((word as u32).to_le_bytes());
            }
        }
    }
}

/// The address of this thread's words of this block's product.
fn address(body: &mut String, words: usize, base: &str) {
    let _ = write!(
        body,
        "mad.lo.u32 %t, %tile, {}, %lane;\nmul.wide.u32 %at, %t, 4;\nadd.u64 %at, %at, {base};\n",
        words * THREADS
    );
}

/// Loads registers; their names in braces.
fn load(body: &mut String, name: &str, words: usize, at: usize) -> String {
    address(body, words, "%in");
    let _ = writeln!(body, ".reg .b32 %{name}<{words}>;");
    let mut names = Vec::new();
    for word in 0..words {
        let _ = writeln!(
            body,
            "ld.global.b32 %{name}{word}, [%at+{}];",
            at + word * THREADS * 4
        );
        names.push(format!("%{name}{word}"));
    }
    format!("{{{}}}", names.join(", "))
}

/// Copies this block's bytes to shared memory.
fn copy(body: &mut String, memory: &str, bytes: usize, at: usize) {
    let words = bytes / 4;
    let _ = write!(
        body,
        "mad.lo.u32 %t, %tile, {words}, %lane;\nmul.wide.u32 %at, %t, 4;\nadd.u64 %at, %at, %in;\n\
         mul.lo.u32 %t, %lane, 4;\nmov.u32 %e, {memory};\nadd.u32 %e, %e, %t;\n"
    );
    for first in (0..words).step_by(THREADS) {
        let _ = write!(
            body,
            "setp.lt.u32 %p, %lane, {};\n@%p ld.global.b32 %word, [%at+{}];\n@%p st.shared.b32 [%e+{}], %word;\n",
            words - first,
            at + first * 4,
            first * 4
        );
    }
}

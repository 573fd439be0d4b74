//! Programs of `mma` and `mma.sp`: a warp's fragments come from memory register by register, so that a program knows no layout.

use std::fmt::Write as _;

use warpsmith_isa::Match;
use warpsmith_isa::forms_of;
use warpsmith_isa::operand::{Role, type_bits};
use warpsmith_testkit::Random;

use crate::floats;
use crate::program::{Column, Family, Program};
use crate::variants::{mnemonic, variants};

/// Ways of drawing the numbers of a product: see [`Style`].
pub const STYLES: u32 = 12;
const LANES: usize = 32;

/// The products of `mma`.
pub fn family() -> Family {
    let mut programs = Vec::new();
    for form in forms_of("mma") {
        for variant in variants(form) {
            match form.operands().iter().any(|operand| operand.is_constant()) {
                true => {
                    programs.extend((0..4).filter_map(|selector| program(&variant, Some(selector))))
                }
                false => programs.extend(program(&variant, None)),
            }
        }
    }
    Family {
        name: "matrix",
        programs,
    }
}

/// How the numbers of one product are drawn.
#[derive(Clone, Copy, Debug)]
pub struct Style(pub u32);

impl Style {
    /// An element of a factor, or of the addend.
    pub fn element(self, random: &mut Random, ty: &str, is_addend: bool) -> u64 {
        let Some(format) = floats::format(ty) else {
            return self.integer(random, ty, is_addend);
        };
        let one = format.bias();
        let number = |random: &mut Random, lowest: i64, highest: i64| {
            let exponent = lowest + i64::from(random.below((highest - lowest + 1) as u32));
            let sign = random.below(2) != 0;
            let bits = random.bits();
            format.compose(sign, exponent.clamp(0, format.top() - 1), bits)
        };
        let range = (one / 2).min(12);
        match self.0 {
            // Of one size.
            0 => number(random, one - 2, one + 2),
            // Of many sizes.
            1 => number(random, one - range, one + range),
            // Of all sizes.
            2 => number(random, 0, format.top() - 1),
            // Subnormal, or nearly.
            3 => number(random, 0, if is_addend { 2 + one / 8 } else { 2 }),
            // Infinities and NaNs now and then.
            4 => match random.below(48) {
                0 => format.edges()[random.index(format.edges().len())],
                1 => format.compose(random.below(2) != 0, format.top(), 0),
                _ => number(random, one - 2, one + 2),
            },
            // Few significant digits, which cancel.
            5 => {
                let digits = random.bits() & random.bits() & random.bits() << 2;
                format.compose(
                    random.below(2) != 0,
                    one + i64::from(random.below(3)),
                    digits,
                )
            }
            // The addend is much larger than the products.
            6 if is_addend => number(random, one + 4, one + 4 + 2 * range),
            6 => number(random, one - 4, one),
            // The addend is much smaller.
            7 if is_addend => number(random, one - 2 * range, one - 4),
            7 => number(random, one - range, one + 1),
            // Zeros of both signs.
            8 => format.compose(random.below(2) != 0, 0, 0),
            // Near the largest.
            9 => number(random, format.top() - 3, format.top() - 1),
            // Mostly zeros.
            10 if random.below(4) != 0 => format.compose(random.below(2) != 0, 0, 0),
            10 => number(random, one - range, one + range),
            // Small factors whose products are far below the addend, or are subnormal sums.
            _ if is_addend => number(random, 0, one / 4 + 1),
            _ => number(random, one / 2 - 2, one / 2 + 4),
        }
    }

    fn integer(self, random: &mut Random, ty: &str, is_addend: bool) -> u64 {
        if !is_addend {
            return random.bits() & (u64::MAX >> (64 - element_bits(ty)));
        }
        match self.0 % 3 {
            0 => random.bits() & 0xffff_ffff,
            1 => u64::from(random.below(1 << 16)),
            _ => 0x7fff_8000 + u64::from(random.below(1 << 16)),
        }
    }
}

/// Bits of an element.
pub fn element_bits(ty: &str) -> u32 {
    match ty {
        "b1" => 1,
        "u4" | "s4" => 4,
        _ => u32::from(type_bits(ty)),
    }
}

/// Whether the type is a floating-point one.
fn is_float(ty: &str) -> bool {
    floats::format(ty).is_some()
}

/// Registers of a fragment with elements of a type, drawn in a style: `words[register][lane]`.
pub(crate) fn fragment(
    random: &mut Random,
    style: Style,
    ty: &str,
    is_addend: bool,
    words: usize,
) -> Vec<u64> {
    let bits = element_bits(ty);
    let per_word = (32 / bits).max(1);
    let drawn = (0..words).map(|_| {
        (0..per_word).fold(0, |word, index| {
            word | style.element(random, ty, is_addend) << (index * bits)
        })
    });
    drawn.collect()
}

/// Metadata of a sparse factor: for each group of four the two that are kept, in ascending order; one of two for tf32.
pub(crate) fn metadata(random: &mut Random, ty: &str) -> u64 {
    let nibbles: &[u64] = match ty {
        "tf32" => &[0b1110, 0b0100],
        _ => &[0b0100, 0b1000, 0b1100, 0b1001, 0b1101, 0b1110],
    };
    (0..8).fold(0, |word, index| {
        word | nibbles[random.index(nibbles.len())] << (4 * index)
    })
}

/// The types of A, B, C and D: those among the modifiers, D's first.
pub fn types(variant: &Match) -> [&'static str; 4] {
    let found: Vec<&str> = variant.words().filter(|word| is_element(word)).collect();
    match found[..] {
        [d, a, b, c] => [a, b, c, d],
        [d, c] => ["f16", "f16", c, d],
        _ => panic!("{} has types for four matrices", mnemonic(variant)),
    }
}

fn is_element(word: &str) -> bool {
    is_float(word) || matches!(word, "s8" | "u8" | "s4" | "u4" | "b1" | "s32")
}

/// The program of a product; `selector` is that of sparse metadata. `None` where the instruction has no such selector.
fn program(variant: &Match, selector: Option<u32>) -> Option<Program> {
    let [a, b, c, d] = types(variant);
    let shape = variant
        .words()
        .find(|word| word.starts_with('m') && word.contains('k'));
    let shape = shape.expect("a shape");
    // Selectors of metadata that come from one or two lanes of four.
    let selectors = match (a, shape) {
        _ if selector.is_none() => 1,
        ("f16" | "bf16", "m16n8k16") | ("tf32", "m16n8k8") => 4,
        ("f16" | "bf16", _)
        | ("tf32", _)
        | ("s8" | "u8", "m16n8k32")
        | ("s4" | "u4", "m16n8k64") => 2,
        _ => 1,
    };
    if selector.is_some_and(|selector| selector >= selectors) {
        return None;
    }
    let tiles = match (is_float(a), a, selector) {
        (true, "f64", _) => 8,
        (true, "e4m3" | "e5m2", _) => 2 * STYLES as usize,
        (true, _, None) => 3 * STYLES as usize,
        (true, ..) => STYLES as usize,
        (false, ..) => 3,
    };
    let threads = LANES as u32;
    let wide = d == "f64";
    let width = if wide { 8 } else { 4 };
    let bits = 8 * width;
    let mut body = String::from(
        ".reg .b64 %at;\n.reg .b32 %warp, %lane;\nmov.u32 %warp, %ctaid.x;\nmov.u32 %lane, %tid.x;\n",
    );
    let (mut texts, mut stores) = (Vec::new(), String::new());
    let mut input = Vec::new();
    let mut written = 0;
    let mut columns = Vec::new();
    // Products with operands of the same types get the same numbers.
    let mut random = Random::new(0x3a7);
    let address = |text: &mut String, words: usize, width: usize, base: &str| {
        let _ = write!(
            text,
            "mad.lo.u32 %t, %warp, {}, %lane;\nmul.wide.u32 %at, %t, {width};\nadd.u64 %at, %at, {base};\n",
            words * LANES
        );
    };
    for operand in variant.operands() {
        if operand.is_constant() {
            texts.push(selector?.to_string());
            continue;
        }
        let words = usize::from(variant.count_of(operand)?);
        let name = operand.name;
        let (ty, width) = match name {
            "a" => (a, width),
            "b" => (b, width),
            "c" => (c, width),
            "d" => (d, width),
            _ => ("e", 4),
        };
        let _ = writeln!(body, ".reg .b{} %{name}<{words}>;", 8 * width);
        let registers: Vec<String> = (0..words).map(|word| format!("%{name}{word}")).collect();
        if operand.role == Role::Destination {
            address(&mut stores, words, width, "%out");
            for (word, register) in registers.iter().enumerate() {
                let _ = writeln!(
                    stores,
                    "st.global.b{bits} [%at+{}], {register};",
                    word * LANES * width
                );
            }
            let count = tiles * words * LANES;
            written = count * width;
            // Two f16 in a word are two columns of their own.
            columns.push(match d {
                "f16" => Column::new(2, 2 * count),
                _ => Column::new(width, count),
            });
        } else {
            address(&mut body, words, width, "%in");
            for (word, register) in registers.iter().enumerate() {
                let _ = writeln!(
                    body,
                    "ld.global.b{} {register}, [%at+{}];",
                    8 * width,
                    input.len() + word * LANES * width
                );
            }
            for tile in 0..tiles {
                let style = Style(tile as u32 % STYLES);
                let values = match ty {
                    "e" => (0..LANES).map(|_| metadata(&mut random, a)).collect(),
                    _ => fragment(&mut random, style, ty, name == "c", words * LANES),
                };
                for value in values {
                    input.extend_from_slice(&value.to_le_bytes()[..width]);
                }
            }
        }
        let in_braces = operand.count != warpsmith_isa::operand::Count::One;
        texts.push(match in_braces {
            true => format!("{{{}}}", registers.join(", ")),
            false => registers.join(", "),
        });
    }
    let name = match selector {
        Some(selector) => format!("{} {selector}", mnemonic(variant)),
        None => mnemonic(variant),
    };
    let body = format!(
        "{body}{} {};\n{stores}",
        mnemonic(variant),
        texts.join(", ")
    );
    Some(Program {
        name,
        body,
        input,
        output_bytes: written,
        blocks: tiles as u32,
        threads,
        columns,
    })
}

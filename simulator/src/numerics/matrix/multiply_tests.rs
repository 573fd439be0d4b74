//! Every shape and type against a plain product of matrices.

use super::*;
use crate::numerics::matrix::shape::{Use, registers};
use crate::numerics::narrow::{e4m3_to_f64, e5m2_to_f64};
use half::{bf16, f16};
use warpsmith_isa::{accept, forms_of};

/// Small whole numbers, exact in every type, from a fixed sequence.
struct Sequence(u64);
impl Sequence {
    fn next(&mut self, element: Element) -> i64 {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        let raw = (self.0 >> 40) as i64;
        match element {
            Element::B1 => raw & 1,
            Element::U4 | Element::U8 => raw & 7,
            _ => (raw & 7) - 4,
        }
    }
}

fn encode(element: Element, value: i64) -> u64 {
    match element {
        Element::F16 => f16::from_f32(value as f32).to_bits().into(),
        Element::Bf16 => bf16::from_f32(value as f32).to_bits().into(),
        Element::Tf32 | Element::F32 => (value as f32).to_bits().into(),
        Element::F64 => (value as f64).to_bits(),
        Element::E4m3 => (0..=255u8)
            .find(|&b| e4m3_to_f64(b) == value as f64)
            .unwrap()
            .into(),
        Element::E5m2 => (0..=255u8)
            .find(|&b| e5m2_to_f64(b) == value as f64)
            .unwrap()
            .into(),
        _ => value as u64 & (u64::MAX >> (64 - element.bits())),
    }
}

/// A fragment holding `matrix`, element by element as the layout says.
fn fragment(layout: &Layout, matrix: &[i64]) -> Vec<[u64; 32]> {
    let columns = layout.extent().1;
    let per_register = layout.element().per_register();
    let mut registers = vec![[0; 32]; layout.registers() as usize];
    for lane in 0..32 {
        for index in 0..layout.elements() {
            let place = layout.place(lane, index);
            let value = encode(
                layout.element(),
                matrix[(place.row * columns + place.column) as usize],
            );
            registers[(index / per_register) as usize][lane as usize] |=
                value << (index % per_register * layout.element().bits());
        }
    }
    registers
}

fn check(multiply: &Multiply) {
    let mut sequence = Sequence(0x5eed);
    let Shape { m, n, k } = multiply.shape;
    let mut random = |layout: &Layout| {
        let (rows, columns) = layout.extent();
        (0..rows * columns)
            .map(|_| sequence.next(layout.element()))
            .collect::<Vec<i64>>()
    };
    let (a, b, c) = (
        random(&multiply.a),
        random(&multiply.b),
        random(&multiply.c),
    );
    let mut d = c.clone();
    for row in 0..m as usize {
        for column in 0..n as usize {
            for i in 0..k as usize {
                let (x, y) = (a[row * k as usize + i], b[i * n as usize + column]);
                d[row * n as usize + column] += match (multiply.a.element(), multiply.bits) {
                    (Element::B1, BitOperation::Xor) => x ^ y,
                    (Element::B1, BitOperation::And) => x & y,
                    _ => x * y,
                };
            }
        }
    }
    let mut result = vec![[0; 32]; multiply.d.registers() as usize];
    let fragments = [
        fragment(&multiply.a, &a),
        fragment(&multiply.b, &b),
        fragment(&multiply.c, &c),
    ];
    multiply.apply(fragments.each_ref().map(Vec::as_slice), None, &mut result);
    assert_eq!(result, fragment(&multiply.d, &d), "{multiply:?}");
}

/// A product of the instruction tables.
#[derive(Debug)]
struct Product {
    shape: Shape,
    /// Of A, B, C and D.
    types: [Element; 4],
    wmma: bool,
    /// How many registers D, A, B and C have.
    registers: Vec<u32>,
}

/// All products of a warp that the tables list, without sparse ones, those of later architectures, and `m8n8k4` on f16,
/// whose layout belongs to sm_70's quads.
fn products() -> Vec<Product> {
    let mut all: Vec<Product> = Vec::new();
    for form in forms_of("mma").chain(forms_of("wmma")) {
        let slots = form.slots();
        let has = |name: &str| slots.iter().any(|slot| slot.name == name);
        let wmma = form.opcode == "wmma";
        if wmma && !has("mma") || has("spvariant") || has("kind") || form.until.is_some() {
            continue;
        }
        let mut names: Vec<Vec<&str>> = vec![Vec::new()];
        for slot in slots.iter().filter(|slot| !slot.optional) {
            let words = slot.alternatives().map(|alternative| alternative.word);
            names = words
                .flat_map(|word| {
                    let longer = names.iter().map(move |name| [&name[..], &[word]].concat());
                    longer.collect::<Vec<_>>()
                })
                .collect();
        }
        for name in names {
            let Ok(found) = accept(form.opcode, &name, |found| std::ptr::eq(found.form, form))
            else {
                continue;
            };
            let shape = name.iter().find_map(|word| Shape::parse(word)).unwrap();
            let types: Vec<Element> = name.iter().filter_map(|w| Element::parse(w)).collect();
            let [d, a, b, c] = match types[..] {
                [d, c] => [d, Element::F16, Element::F16, c],
                [d, a, b, c] => [d, a, b, c],
                _ => panic!("{name:?}"),
            };
            let quads = (shape.m, shape.n, shape.k) == (8, 8, 4) && a == Element::F16;
            let types = [a, b, c, d];
            let known =
                |other: &Product| (other.shape, other.types, other.wmma) == (shape, types, wmma);
            if quads || all.iter().any(known) {
                continue;
            }
            let count = |operand| u32::from(found.count_of(operand).unwrap());
            all.push(Product {
                shape,
                types,
                wmma,
                registers: form.operands().iter().map(count).collect(),
            });
        }
    }
    all
}

// covers: WMMA-05
// covers: WMMA-12
#[test]
fn every_combination_multiplies() {
    // Each takes Miri five seconds.
    const STEP: usize = if cfg!(miri) { 20 } else { 1 };
    let products = products();
    for product in products.iter().step_by(STEP) {
        let mut multiply = Multiply::new(product.shape, product.types, product.wmma, None);
        check(&multiply);
        multiply.bits = BitOperation::And;
        check(&multiply);
    }
    // wmma: f16 12, bf16 3, bytes 6, tf32, f64, s4, u4, b1. mma: f16 4, bf16 2, tf32 2, f64 4, fp8 16, bytes 12, nibbles 12, b1 3.
    assert_eq!(products.len(), 26 + 55);
}

#[test]
fn fragments_have_as_many_registers_as_the_tables_say() {
    for product in products() {
        let (shape, [a, b, c, d], wmma) = (product.shape, product.types, product.wmma);
        let parts = [
            (Use::Accumulator, d),
            (Use::A, a),
            (Use::B, b),
            (Use::Accumulator, c),
        ];
        let computed = parts.map(|(part, element)| registers(shape, part, element, wmma));
        assert_eq!(product.registers, computed, "{product:?}");
    }
}

// covers: WMMA-06
#[test]
fn integers_wrap_or_clamp() {
    let shape = Shape {
        m: 16,
        n: 16,
        k: 16,
    };
    let mut multiply = Multiply::new(
        shape,
        [Element::S8, Element::S8, Element::S32, Element::S32],
        true,
        None,
    );
    let ones = fragment(&multiply.a, &[100; 256]);
    let c = fragment(&multiply.c, &[i32::MAX as i64 - 5; 256]);
    let mut d = vec![[0; 32]; 8];
    multiply.apply([&ones, &ones, &c], None, &mut d);
    assert_eq!(d[3][7] as u32, (i32::MAX - 5).wrapping_add(160_000) as u32);
    multiply.saturate = true;
    multiply.apply([&ones, &ones, &c], None, &mut d);
    assert_eq!(d[3][7], i32::MAX as u64);
}

// covers: WMMA-09
#[test]
fn tf32_ignores_the_low_bits() {
    let shape = Shape { m: 16, n: 8, k: 8 };
    let multiply = Multiply::new(
        shape,
        [Element::Tf32, Element::Tf32, Element::F32, Element::F32],
        false,
        None,
    );
    let dirty: Vec<[u64; 32]> = vec![[u64::from(1.0f32.to_bits() | 0x1fff); 32]; 4];
    let ones = fragment(&multiply.b, &[1; 64]);
    let mut d = vec![[0; 32]; 4];
    multiply.apply([&dirty, &ones, &[[0; 32]; 4]], None, &mut d);
    assert_eq!(f32::from_bits(d[0][0] as u32), 8.0);
}

// covers: WMMA-X1
#[test]
fn elementwise_work_on_accumulators() {
    let shape = Shape { m: 8, n: 32, k: 16 };
    let half = Multiply::new(
        shape,
        [Element::F16, Element::F16, Element::F32, Element::F16],
        true,
        None,
    );
    // C in f32 and D in f16 agree on the order of elements.
    for lane in 0..32 {
        for index in 0..8 {
            assert_eq!(half.c.place(lane, index), half.d.place(lane, index));
        }
    }
}

//! Every shape and type against a plain product of matrices.

use super::*;
use crate::numerics::matrix::shape::{mma_exists, wmma_exists};

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
    multiply.apply(
        &fragment(&multiply.a, &a),
        &fragment(&multiply.b, &b),
        &fragment(&multiply.c, &c),
        &mut result,
    );
    assert_eq!(result, fragment(&multiply.d, &d), "{multiply:?}");
}

const ALL: [Element; 13] = [
    Element::F16,
    Element::Bf16,
    Element::Tf32,
    Element::F32,
    Element::F64,
    Element::E4m3,
    Element::E5m2,
    Element::S8,
    Element::U8,
    Element::S4,
    Element::U4,
    Element::B1,
    Element::S32,
];

// covers: WMMA-05
// covers: WMMA-12
#[test]
fn every_combination_multiplies() {
    // wmma: f16 12, bf16 3, bytes 6, tf32, f64, s4, u4, b1. mma: f16 4, bf16 2, tf32 2, f64 4, fp8 16, bytes 12, nibbles 12, b1 3.
    const COMBINATIONS: usize = 26 + 55;
    let mut count = 0;
    for name in [
        "m16n16k16",
        "m32n8k16",
        "m8n32k16",
        "m16n16k8",
        "m8n8k4",
        "m8n8k32",
        "m8n8k128",
        "m16n8k4",
        "m16n8k8",
        "m16n8k16",
        "m16n8k32",
        "m16n8k64",
        "m16n8k128",
        "m16n8k256",
        "m8n8k16",
    ] {
        let shape = Shape::parse(name).unwrap();
        for a in ALL {
            for b in ALL {
                for c in [Element::F16, Element::F32, Element::F64, Element::S32] {
                    for d in [Element::F16, Element::F32, Element::F64, Element::S32] {
                        let wmma = a == b && wmma_exists(shape, a, c, d);
                        for kind in [
                            wmma.then_some(true),
                            mma_exists(shape, a, b, c, d).then_some(false),
                        ] {
                            let Some(kind) = kind else { continue };
                            if count % warpsmith_testkit::stride(COMBINATIONS) == 0 {
                                let mut multiply = Multiply::new(shape, [a, b, c, d], kind);
                                check(&multiply);
                                multiply.bits = BitOperation::And;
                                check(&multiply);
                            }
                            count += 1;
                        }
                    }
                }
            }
        }
    }
    assert_eq!(count, COMBINATIONS);
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
    );
    let ones = fragment(&multiply.a, &[100; 256]);
    let c = fragment(&multiply.c, &[i32::MAX as i64 - 5; 256]);
    let mut d = vec![[0; 32]; 8];
    multiply.apply(&ones, &ones, &c, &mut d);
    assert_eq!(d[3][7] as u32, (i32::MAX - 5).wrapping_add(160_000) as u32);
    multiply.saturate = true;
    multiply.apply(&ones, &ones, &c, &mut d);
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
    );
    let dirty: Vec<[u64; 32]> = vec![[u64::from(1.0f32.to_bits() | 0x1fff); 32]; 4];
    let ones = fragment(&multiply.b, &[1; 64]);
    let mut d = vec![[0; 32]; 4];
    multiply.apply(&dirty, &ones, &vec![[0; 32]; 4], &mut d);
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
    );
    // C in f32 and D in f16 agree on the order of elements.
    for lane in 0..32 {
        for index in 0..8 {
            assert_eq!(half.c.place(lane, index), half.d.place(lane, index));
        }
    }
}

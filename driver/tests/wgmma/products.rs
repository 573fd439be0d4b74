//! `wgmma` through the driver's interface: on the simulator, and on a device of compute capability 9.0, where the same tests show
//! that the simulator's idea of the instruction is the device's, bit for bit.

use crate::common::*;
use std::ffi::CString;

use warpsmith_simulator::numerics::matrix::accumulate::{Addend, IntegerOverflow};
use warpsmith_simulator::numerics::matrix::descriptor;
use warpsmith_simulator::numerics::matrix::factors::{Factors, Order};
use warpsmith_simulator::numerics::matrix::shape::Element;
use warpsmith_simulator::numerics::matrix::warpgroup::{WARP_ROWS, WarpgroupProduct};
use warpsmith_testkit::Random;
use warpsmith_testkit::wgmma::{ALONG_K, Major, Placement, Product, ROWS, THREADS, bits, encode};

/// A product of A and B of this type into D, in four steps.
fn product(a: &'static str, d: &'static str, columns: usize) -> Product {
    Product {
        steps: 4,
        ..Product::new(a, d, columns)
    }
}

/// Whether there is a device that has the instruction.
fn is_there() -> bool {
    gpu();
    let attribute = |number| -> c_int { get!(cuDeviceGetAttribute(CUdevice_attribute(number), 0)) };
    let capability = (attribute(75), attribute(76));
    if capability != (9, 0) {
        eprintln!("skipped: wgmma is of compute capability 9.0, this device has {capability:?}");
    }
    capability == (9, 0)
}

/// Runs the product's kernel: what it writes.
fn launch(product: &Product, image: &[u8], c: &[u32]) -> Vec<u32> {
    let ptx = CString::new(product.ptx()).expect("text");
    let module: CUmodule = get!(cuModuleLoadData(ptx.as_ptr().cast()));
    let function: CUfunction = get!(cuModuleGetFunction(module, c"product".as_ptr()));
    let count = product.registers() * THREADS * (1 + usize::from(product.twice));
    let buffers = [
        upload(image),
        upload(&product.accumulators(c)),
        upload(&vec![0u32; count]),
    ];
    let mut arguments = buffers;
    let mut parameters: [*mut c_void; 3] = arguments.each_mut().map(|a| (&raw mut *a).cast());
    ok!(cuLaunchKernel(
        function,
        1,
        1,
        1,
        THREADS as u32,
        1,
        1,
        product.shared_bytes() as u32,
        null_mut(),
        parameters.as_mut_ptr(),
        null_mut()
    ));
    ok!(cuCtxSynchronize());
    let words = download(buffers[2], count);
    for buffer in buffers {
        ok!(cuMemFree_v2(buffer));
    }
    ok!(cuModuleUnload(module));
    words
}

/// What the elements of the matrices are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Data {
    /// Small whole numbers, whose products and sums are exact.
    Whole,
    /// Numbers of a few neighbouring exponents, so that sums cancel and are cut.
    Near,
    /// Any finite numbers, small ones and subnormal ones among them.
    Finite,
    /// Any bits: infinities and NaNs, too.
    Any,
}

/// The bits of the exponent and of the fraction of a floating-point type; `None` for integers.
fn widths(ty: &str) -> Option<(u32, u32)> {
    match ty {
        "f16" => Some((5, 10)),
        "bf16" => Some((8, 7)),
        "f32" | "tf32" => Some((8, 23)),
        "e4m3" => Some((4, 3)),
        "e5m2" => Some((5, 2)),
        _ => None,
    }
}

/// The bits of a random element.
fn element(random: &mut Random, ty: &str, data: Data) -> u32 {
    let mask = u32::MAX >> (32 - bits(ty));
    let any = random.bits() as u32 & mask;
    let Some((exponent_bits, fraction_bits)) = widths(ty) else {
        return match data {
            Data::Whole if bits(ty) > 1 => {
                encode(ty, random.below(8) as i32 - if ty == "u8" { 0 } else { 4 })
            }
            _ => any,
        };
    };
    let top = (1 << exponent_bits) - 1;
    let (exponent, sign_and_fraction) = (any >> fraction_bits & top, any & !(top << fraction_bits));
    match data {
        Data::Whole => encode(ty, random.below(8) as i32 - 4),
        Data::Near => {
            let near = top / 2 - 2 + random.below(4);
            sign_and_fraction | near << fraction_bits
        }
        Data::Finite if exponent == top => sign_and_fraction,
        // A device looks at the upper bits of a tf32 only, which need not tell a NaN with its payload below from an infinity.
        Data::Any if exponent == top && ty == "tf32" => any & !0x1fff,
        Data::Any if random.below(64) != 0 => element(random, ty, Data::Finite),
        _ => any,
    }
}

fn typed(name: &str) -> Element {
    Element::parse(name).expect("a type")
}

/// A factor's part that one instruction takes, from all its elements line by line.
fn factor(
    ty: &str,
    order: Order,
    lines: usize,
    depth: usize,
    step: usize,
    values: &[u32],
) -> Factors {
    let width = bits(ty);
    let here = 32 * 8 / width;
    let mut factors = Factors::new(typed(ty), order, lines, here);
    for line in 0..lines {
        let elements = &values[line * depth + step * here..][..here];
        let mut bytes = [0u8; 32];
        for (index, &element) in elements.iter().enumerate() {
            for bit in 0..width {
                let at = index * width + bit;
                bytes[at / 8] |= ((element >> bit & 1) as u8) << (at % 8);
            }
        }
        for start in [0, 16] {
            let unit = bytes[start..start + 16].try_into().expect("16 bytes");
            factors.put_along_k(line, start, unit);
        }
    }
    factors
}

/// D by the rules of the device's arithmetic.
fn model(product: &Product, a: &[u32], b: &[u32], c: &[u32], accumulates: bool) -> Vec<u32> {
    let computed = WarpgroupProduct {
        a: typed(product.a),
        b: typed(product.b),
        d: typed(product.d),
        columns: product.columns as u16,
        a_major: descriptor::Major::K,
        b_major: descriptor::Major::K,
        negate: false,
        overflow: match product.saturates {
            true => IntegerOverflow::Saturate,
            false => IntegerOverflow::Wrap,
        },
        sparse: None,
    };
    let mut d = c.to_vec();
    let depth = product.depth();
    for step in 0..product.steps {
        let mut left = factor(product.a, Order::ByLine, ROWS, depth, step, a);
        if product.scales[0] * product.scales[1] < 0 {
            left.negate();
        }
        let right = factor(product.b, Order::ByDepth, product.columns, depth, step, b);
        let addend = match accumulates || step > 0 {
            true => Addend::Accumulator,
            false => Addend::None,
        };
        let rows = WARP_ROWS * product.columns;
        for (warp, d) in d.chunks_exact_mut(rows).enumerate() {
            computed.rows(&left, warp * WARP_ROWS, &right, &[0; 32], addend, d);
        }
    }
    d
}

/// D as a plain product of small whole numbers.
fn plain(product: &Product, a: &[u32], b: &[u32], c: &[u32], accumulates: bool) -> Vec<u32> {
    let whole = |ty: &str, bits: u32| match ty {
        "u8" | "b1" => bits as i32,
        "s8" => i32::from(bits as i8),
        "s32" => bits as i32,
        _ => (-4..4)
            .find(|&v| encode(ty, v) == bits)
            .expect("a small number"),
    };
    let depth = product.depth();
    let sign = product.scales[0] * product.scales[1];
    let elements = (0..ROWS * product.columns).map(|at| {
        let (row, column) = (at / product.columns, at % product.columns);
        let sum: i32 = (0..depth)
            .map(|k| whole(product.a, a[row * depth + k]) * whole(product.b, b[column * depth + k]))
            .sum();
        let sum = sign * sum
            + if accumulates {
                whole(product.d, c[at])
            } else {
                0
            };
        match product.d {
            "f32" => (sum as f32).to_bits(),
            "f16" => half_bits(sum),
            _ => sum as u32,
        }
    });
    elements.collect()
}

/// A whole number of at most 11 binary digits in f16.
fn half_bits(value: i32) -> u32 {
    if value == 0 {
        return 0;
    }
    assert!(value.abs() <= 2048, "{value} is exact in f16");
    let single = (value as f32).to_bits();
    single >> 31 << 15 | (((single >> 23 & 255) - 112) << 10) | (single & 0x7f_ffff) >> 13
}

/// Compares D, bit by bit.
fn compare(product: &Product, what: &str, found: &[u32], expected: &[u32], a: &[u32], b: &[u32]) {
    let wrong: Vec<usize> = (0..found.len())
        .filter(|&at| found[at] != expected[at])
        .collect();
    let Some(&first) = wrong.first() else { return };
    let (row, column) = (first / product.columns, first % product.columns);
    let depth = product.depth();
    let some: Vec<String> = wrong
        .iter()
        .take(8)
        .map(|&at| {
            format!(
                "row {}, column {}: {:#010x} instead of {:#010x}",
                at / product.columns,
                at % product.columns,
                found[at],
                expected[at]
            )
        })
        .collect();
    panic!(
        "{what}, {} ({product:?}): {} of {} elements differ:\n{}\nrow {row} of A: {:x?}\ncolumn {column} of B: {:x?}",
        product.name(),
        wrong.len(),
        found.len(),
        some.join("\n"),
        &a[row * depth..][..depth],
        &b[column * depth..][..depth],
    );
}

/// Runs a product on these data and compares it with the rules, and whole numbers with the plain product as well.
fn check(product: &Product, data: Data) {
    let mut random = Random::new(product.columns as u64 + 1000 * data as u64);
    let depth = product.depth();
    let mut elements = |ty: &str, count: usize| -> Vec<u32> {
        (0..count).map(|_| element(&mut random, ty, data)).collect()
    };
    let a = elements(product.a, ROWS * depth);
    let b = elements(product.b, product.columns * depth);
    let c = elements(product.d, ROWS * product.columns);
    let words = launch(product, &product.image(&a, &b), &c);
    for (number, words) in words
        .chunks_exact(product.registers() * THREADS)
        .enumerate()
    {
        let found = product.result(words);
        let accumulates = product.accumulates != (number == 1);
        let what = format!("{data:?} data, product {number}");
        // Sums of bits are exact, but for C.
        if data == Data::Whole && !(product.a == "b1" && accumulates) {
            let expected = plain(product, &a, &b, &c, accumulates);
            compare(product, &what, &found, &expected, &a, &b);
        }
        let expected = model(product, &a, &b, &c, accumulates);
        compare(product, &what, &found, &expected, &a, &b);
    }
}

const ALL: [Data; 4] = [Data::Whole, Data::Near, Data::Finite, Data::Any];

fn check_all(product: &Product) {
    for data in ALL {
        check(product, data);
    }
}

#[test]
fn f16_and_bf16_of_256_columns() {
    if !is_there() {
        return;
    }
    for (a, d) in [("f16", "f32"), ("bf16", "f32"), ("f16", "f16")] {
        check_all(&product(a, d, 256));
    }
}

#[test]
fn other_types() {
    if !is_there() {
        return;
    }
    for (a, b, d) in [
        ("tf32", "tf32", "f32"),
        ("e4m3", "e4m3", "f32"),
        ("e4m3", "e5m2", "f16"),
        ("e5m2", "e4m3", "f32"),
        ("e5m2", "e5m2", "f16"),
        ("s8", "s8", "s32"),
        ("s8", "u8", "s32"),
        ("u8", "s8", "s32"),
        ("u8", "u8", "s32"),
        ("b1", "b1", "s32"),
    ] {
        for columns in [8, 192, 256] {
            check_all(&Product {
                b,
                ..product(a, d, columns)
            });
        }
    }
}

#[test]
fn integers_saturate() {
    if !is_there() {
        return;
    }
    for a in ["s8", "u8"] {
        let saturates = Product {
            saturates: true,
            ..product(a, "s32", 64)
        };
        check_all(&saturates);
    }
}

#[test]
fn a_in_registers() {
    if !is_there() {
        return;
    }
    for (a, d) in [
        ("f16", "f32"),
        ("f16", "f16"),
        ("bf16", "f32"),
        ("tf32", "f32"),
        ("e4m3", "f32"),
        ("e5m2", "f16"),
        ("s8", "s32"),
        ("u8", "s32"),
        ("b1", "s32"),
    ] {
        check_all(&Product {
            a_placement: None,
            ..product(a, d, 128)
        });
    }
}

#[test]
fn transposed_factors_and_every_swizzle() {
    if !is_there() {
        return;
    }
    let placements: Vec<Placement> = [Major::K, Major::Lines]
        .into_iter()
        .flat_map(|major| [0, 32, 64, 128].map(|swizzle| Placement { swizzle, major }))
        .collect();
    for &a_placement in &placements {
        for &b_placement in &placements {
            // So many steps as a row of the narrower swizzle has place for.
            let steps = [a_placement, b_placement]
                .map(|placement| match (placement.major, placement.swizzle) {
                    (Major::K, swizzle @ 32..) => swizzle / 32,
                    _ => 4,
                })
                .into_iter()
                .min();
            for (columns, data) in [(8, Data::Whole), (136, Data::Near)] {
                let product = Product {
                    a_placement: Some(a_placement),
                    b_placement,
                    steps: steps.expect("of two"),
                    ..product("bf16", "f32", columns)
                };
                check(&product, data);
            }
        }
    }
    let transposed = Placement {
        swizzle: 128,
        major: Major::Lines,
    };
    for a_placement in [None, Some(ALONG_K), Some(transposed)] {
        check_all(&Product {
            a_placement,
            b_placement: transposed,
            ..product("f16", "f32", 256)
        });
    }
}

#[test]
fn signs_and_no_addend() {
    if !is_there() {
        return;
    }
    for (a, d) in [
        ("f16", "f32"),
        ("f16", "f16"),
        ("bf16", "f32"),
        ("tf32", "f32"),
        ("e4m3", "f32"),
        ("e5m2", "f16"),
    ] {
        for scales in [[1, 1], [-1, 1], [1, -1], [-1, -1]] {
            for a_placement in [Some(ALONG_K), None] {
                check_all(&Product {
                    scales,
                    a_placement,
                    accumulates: false,
                    steps: 1,
                    ..product(a, d, 64)
                });
            }
        }
    }
    for a in ["s8", "b1"] {
        check_all(&Product {
            accumulates: false,
            steps: 1,
            ..product(a, "s32", 64)
        });
    }
}

#[test]
fn two_groups_in_flight() {
    if !is_there() {
        return;
    }
    for (a, d) in [
        ("f16", "f32"),
        ("bf16", "f32"),
        ("e4m3", "f16"),
        ("s8", "s32"),
    ] {
        for a_placement in [Some(ALONG_K), None] {
            check_all(&Product {
                a_placement,
                twice: true,
                ..product(a, d, 128)
            });
        }
    }
}

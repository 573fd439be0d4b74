//! `wgmma` on the simulator: every type and number of columns, every way to lay out the factors; the PTX is made here, the result
//! compared with a plain product of small whole numbers, which are exact in any order.

#[path = "files/memory.rs"]
mod memory;

use memory::Arena;
use warpsmith_simulator::engine::{Checks, Environment, Launch, Module, run};
use warpsmith_testkit::Random;
use warpsmith_testkit::wgmma::{ALONG_K, Major, Placement, Product, ROWS, THREADS, bits, encode};

/// The types of A and D.
const TYPES: [(&str, &str); 10] = [
    ("f16", "f32"),
    ("f16", "f16"),
    ("bf16", "f32"),
    ("tf32", "f32"),
    ("e4m3", "f32"),
    ("e5m2", "f16"),
    ("e4m3", "f16"),
    ("s8", "s32"),
    ("u8", "s32"),
    ("b1", "s32"),
];

fn placements(ty: &str) -> Vec<Placement> {
    let majors: &[Major] = match ty {
        "f16" | "bf16" => &[Major::K, Major::Lines],
        _ => &[Major::K],
    };
    let swizzles = [0, 32, 64, 128];
    let all = majors
        .iter()
        .flat_map(|&major| swizzles.map(|swizzle| Placement { swizzle, major }));
    all.collect()
}

/// Runs the product's kernel: what it writes.
fn launch(product: &Product, image: &[u8], c: &[u32], checks: Checks, seed: u64) -> Vec<u32> {
    let ptx = product.ptx();
    let module = Module::load(&ptx, &mut |_| None).unwrap_or_else(|error| panic!("{error}\n{ptx}"));
    let mut arena = Arena::new();
    let bytes = |words: &[u32]| -> Vec<u8> { words.iter().flat_map(|w| w.to_le_bytes()).collect() };
    let results = vec![0; product.registers() * THREADS * (1 + usize::from(product.twice))];
    let buffers = [
        image.to_vec(),
        bytes(&product.accumulators(c)),
        bytes(&results),
    ];
    let mut params = Vec::new();
    let mut addresses = Vec::new();
    for buffer in &buffers {
        let address = arena.allocate(buffer.len() as u64, 256, "matrix");
        arena.write(address, buffer);
        params.extend(address.to_le_bytes());
        addresses.push(address);
    }
    let output = arena.output();
    let environment = Environment {
        checks,
        seed,
        threads: 1,
        ..Environment::new(&arena, &output)
    };
    let launch = Launch {
        kernel: module.kernel("product").expect("the kernel is there"),
        grid: [1; 3],
        block: [THREADS as u32, 1, 1],
        cluster: [1; 3],
        dynamic_shared: product.shared_bytes() as u32,
        cooperative: false,
        params: &params,
    };
    run(&launch, &environment).unwrap_or_else(|fault| panic!("{product:?}: {fault}"));
    let found = arena.read(addresses[2], buffers[2].len());
    found
        .chunks_exact(4)
        .map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]))
        .collect()
}

/// Small whole numbers of this type; D's are wider.
fn numbers(random: &mut Random, ty: &str, count: usize) -> Vec<i32> {
    let mut next = || match ty {
        "b1" => random.below(2) as i32,
        "u8" => random.below(8) as i32,
        _ => random.below(8) as i32 - 4,
    };
    (0..count).map(|_| next()).collect()
}

fn value(bits: u32, ty: &str) -> f64 {
    match ty {
        "f16" => half::f16::from_bits(bits as u16).to_f64(),
        "f32" => f32::from_bits(bits).into(),
        _ => (bits as i32).into(),
    }
}

/// Where the elements of A belong along k, row by row: two of each four, or one of each two tf32, if it is sparse.
fn places(product: &Product, random: &mut Random) -> Vec<usize> {
    let stored = ROWS * product.stored();
    let along = (0..stored).map(|at| at % product.stored());
    if product.selector.is_none() {
        return along.collect();
    }
    if product.a == "tf32" {
        return along.map(|k| 2 * k + random.index(2)).collect();
    }
    let mut places = Vec::new();
    for k in along.step_by(2) {
        let pairs = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)];
        let (first, second) = pairs[random.index(pairs.len())];
        places.extend([2 * k + first, 2 * k + second]);
    }
    places
}

/// Compares a product with the plain one.
fn check(product: &Product, checks: Checks, seed: u64) {
    let mut random = Random::new(product.columns as u64);
    let (stored, depth) = (product.stored(), product.depth());
    let a = numbers(&mut random, product.a, ROWS * stored);
    let b = numbers(&mut random, product.b, product.columns * depth);
    let c = numbers(&mut random, product.d, ROWS * product.columns);
    let encoded = |ty: &'static str, values: &[i32]| -> Vec<u32> {
        values.iter().map(|&value| encode(ty, value)).collect()
    };
    let mut image = product.image(&encoded(product.a, &a), &encoded(product.b, &b));
    let places = places(product, &mut random);
    if product.selector.is_some() {
        image.extend(product.metadata(&places));
    }
    let words = launch(product, &image, &encoded(product.d, &c), checks, seed);
    let sign = product.scales[0] * product.scales[1];
    for (number, words) in words
        .chunks_exact(product.registers() * THREADS)
        .enumerate()
    {
        let found = product.result(words);
        let accumulates = product.accumulates != (number == 1);
        for row in 0..ROWS {
            for column in 0..product.columns {
                let at = row * product.columns + column;
                let sum: i32 = (row * stored..(row + 1) * stored)
                    .map(|at| a[at] * b[column * depth + places[at]])
                    .sum();
                let expected = f64::from(sign * sum + if accumulates { c[at] } else { 0 });
                let found = value(found[at], product.d);
                assert!(
                    found == expected,
                    "{product:?}: row {row}, column {column} of product {number} is {found}, not {expected}"
                );
            }
        }
    }
}

#[test]
fn every_type_and_number_of_columns() {
    let mut cases = 0;
    for (a, d) in TYPES {
        let integers = d == "s32";
        for columns in (8..=256).step_by(8) {
            if integers && columns > 32 && columns % 16 != 0 {
                continue;
            }
            cases += 1;
            let a_placement = (columns % 32 != 0).then_some(ALONG_K);
            let product = Product {
                a_placement,
                ..Product::new(a, d, columns)
            };
            check(&product, Checks::NONE, 0);
        }
    }
    assert_eq!(cases, 7 * 32 + 3 * 18);
}

#[test]
fn every_placement_of_the_factors() {
    for (a, d) in TYPES {
        for b_placement in placements(a) {
            for a_placement in placements(a).into_iter().map(Some).chain([None]) {
                for columns in [8, 96] {
                    // So many steps as a row of the narrower swizzle has place for.
                    let width = |placement: Placement| match (placement.major, placement.swizzle) {
                        (Major::K, swizzle @ 32..) => swizzle / 32,
                        _ => 4,
                    };
                    let steps = width(b_placement).min(a_placement.map_or(4, width));
                    let product = Product {
                        a_placement,
                        b_placement,
                        steps,
                        ..Product::new(a, d, columns)
                    };
                    check(&product, Checks::NONE, 0);
                }
            }
        }
    }
}

#[test]
fn factors_of_two_types() {
    for (a, b, d) in [
        ("e4m3", "e5m2", "f32"),
        ("e5m2", "e4m3", "f16"),
        ("s8", "u8", "s32"),
        ("u8", "s8", "s32"),
    ] {
        let product = Product {
            b,
            steps: 2,
            ..Product::new(a, d, 48)
        };
        check(&product, Checks::NONE, 0);
    }
}

#[test]
fn signs_and_the_addend() {
    for (a, d) in TYPES {
        for a_placement in [Some(ALONG_K), None] {
            for accumulates in [false, true] {
                let plain = Product {
                    a_placement,
                    accumulates,
                    ..Product::new(a, d, 16)
                };
                check(&plain, Checks::NONE, 0);
                if d == "s32" {
                    continue;
                }
                for scales in [[-1, 1], [1, -1], [-1, -1]] {
                    check(&Product { scales, ..plain }, Checks::NONE, 0);
                }
            }
        }
    }
}

#[test]
fn two_groups_in_flight_with_all_checks_in_any_order() {
    for seed in 0..4 {
        for a_placement in [Some(ALONG_K), None] {
            let product = Product {
                a_placement,
                steps: 4,
                twice: true,
                ..Product::new("f16", "f32", 128)
            };
            check(&product, Checks::ALL, seed);
        }
    }
}

#[test]
fn integers_saturate() {
    for saturates in [false, true] {
        let product = Product {
            saturates,
            ..Product::new("s8", "s32", 8)
        };
        let depth = product.depth();
        let (a, b) = (vec![127; ROWS * depth], vec![127; 8 * depth]);
        let c = vec![i32::MAX as u32 - 5; ROWS * 8];
        let words = launch(&product, &product.image(&a, &b), &c, Checks::ALL, 0);
        let exact = i64::from(i32::MAX - 5) + 127 * 127 * 32;
        let expected = match saturates {
            true => i32::MAX,
            false => exact as i32,
        };
        assert!(product.result(&words).iter().all(|&d| d as i32 == expected));
    }
}

/// The types of A that may be sparse, and of D, with each selector.
fn sparse() -> impl Iterator<Item = Product> {
    let all = TYPES.into_iter().filter(|&(a, _)| a != "b1");
    all.flat_map(|(a, d)| {
        let selectors = if bits(a) == 8 { 1 } else { 2 };
        (0..selectors).map(move |selector| Product {
            selector: Some(selector),
            ..Product::new(a, d, 8)
        })
    })
}

#[test]
fn sparse_products_of_every_number_of_columns() {
    for product in sparse() {
        for columns in (8..=256).step_by(8) {
            if product.d == "s32" && columns > 32 && columns % 16 != 0 {
                continue;
            }
            let a_placement = (columns % 32 != 0).then_some(ALONG_K);
            let product = Product {
                a_placement,
                columns,
                ..product
            };
            check(&product, Checks::NONE, 0);
        }
    }
}

#[test]
fn sparse_products_of_every_placement() {
    for product in sparse() {
        for b_placement in placements(product.a) {
            // A column of B has 64 bytes.
            if b_placement.major == Major::K && b_placement.swizzle == 32 {
                continue;
            }
            for a_placement in placements(product.a).into_iter().map(Some).chain([None]) {
                let is_narrow = |placement: Placement, bytes| {
                    placement.major == Major::K
                        && matches!(placement.swizzle, 32.. if placement.swizzle < bytes)
                };
                let short =
                    is_narrow(b_placement, 128) || a_placement.is_some_and(|a| is_narrow(a, 64));
                let product = Product {
                    a_placement,
                    b_placement,
                    columns: 96,
                    steps: if short { 1 } else { 2 },
                    ..product
                };
                check(&product, Checks::ALL, 1);
            }
        }
    }
}

#[test]
fn sparse_products_with_signs_and_without_the_addend() {
    for product in sparse() {
        for a_placement in [Some(ALONG_K), None] {
            let plain = Product {
                a_placement,
                accumulates: false,
                ..product
            };
            check(&plain, Checks::NONE, 0);
            if product.d != "s32" {
                check(
                    &Product {
                        scales: [-1, 1],
                        ..plain
                    },
                    Checks::NONE,
                    0,
                );
            }
        }
    }
}

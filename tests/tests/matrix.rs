//! Matrix fragments: every combination of types, shape and layouts against the CPU, and what can be done with fragments.

use bytemuck::Pod;
use warpsmith_device::half::{bf16, f16};
use warpsmith_host::prelude::*;
use warpsmith_test_kernels::matrix::{self, Strides};
use warpsmith_tests::{Random, fixture, ptx};

/// One combination, read from a kernel's name: `wmma_f16_m16n16k16_f32_f32_rc_rr`.
#[derive(Debug, Clone, Copy)]
struct Combination<'n> {
    kernel: &'n str,
    element: &'n str,
    m: usize,
    n: usize,
    k: usize,
    /// Types of C and D.
    from: &'n str,
    to: &'n str,
    /// Whether A, B, C, D are row-major.
    rows: [bool; 4],
}

impl<'n> Combination<'n> {
    fn parse(kernel: &'n str) -> Option<Combination<'n>> {
        let mut parts = kernel.strip_prefix("wmma_")?.split('_');
        let element = parts.next()?;
        let shape = parts.next()?.strip_prefix('m')?;
        let (m, rest) = shape.split_once('n')?;
        let (n, k) = rest.split_once('k')?;
        let (from, to) = (parts.next()?, parts.next()?);
        let letters: String = parts.collect();
        let rows: Vec<bool> = letters.chars().map(|letter| letter == 'r').collect();
        Some(Combination {
            kernel,
            element,
            m: m.parse().ok()?,
            n: n.parse().ok()?,
            k: k.parse().ok()?,
            from,
            to,
            rows: rows.try_into().ok()?,
        })
    }
}

/// A matrix of numbers, and how it goes to memory.
struct Tile {
    rows: usize,
    columns: usize,
    numbers: Vec<f64>,
}

impl Tile {
    fn new(rows: usize, columns: usize, mut number: impl FnMut() -> f64) -> Tile {
        let numbers = (0..rows * columns).map(|_| number()).collect();
        Tile {
            rows,
            columns,
            numbers,
        }
    }

    fn at(&self, row: usize, column: usize) -> f64 {
        self.numbers[row * self.columns + column]
    }

    /// Where element (row, column) lies.
    fn offset(row_major: bool, stride: usize, row: usize, column: usize) -> usize {
        if row_major {
            row * stride + column
        } else {
            column * stride + row
        }
    }

    /// The elements in memory, with gaps of `stride`.
    fn lay<T: Pod>(&self, row_major: bool, stride: usize, encode: impl Fn(f64) -> T) -> Vec<T> {
        let lines = if row_major { self.rows } else { self.columns };
        let mut memory = vec![T::zeroed(); lines * stride];
        for row in 0..self.rows {
            for column in 0..self.columns {
                memory[Self::offset(row_major, stride, row, column)] = encode(self.at(row, column));
            }
        }
        memory
    }

    /// `self * b + c`.
    fn multiply(&self, b: &Tile, c: &Tile) -> Tile {
        let mut at = (0..self.rows).flat_map(|i| (0..b.columns).map(move |j| (i, j)));
        Tile::new(self.rows, b.columns, || {
            let (i, j) = at.next().expect("as many as elements");
            (0..self.columns)
                .map(|k| self.at(i, k) * b.at(k, j))
                .sum::<f64>()
                + c.at(i, j)
        })
    }
}

/// The stride of a tile: its line rounded up to a multiple of `multiple`, and one more multiple, so that there are gaps.
fn stride(row_major: bool, rows: usize, columns: usize, multiple: usize) -> usize {
    (if row_major { columns } else { rows }).next_multiple_of(multiple) + multiple
}

/// An element type in memory: from a number, and back.
trait Element: Pod {
    /// Strides are multiples of 16 bytes.
    const STRIDE: usize = 16 / size_of::<Self>();
    fn encode(number: f64) -> Self;
    fn decode(self) -> f64;
}
macro_rules! elements {
    ($($type:ty: $encode:expr, $decode:expr;)*) => {$(
        impl Element for $type {
            fn encode(number: f64) -> Self {
                let encode: fn(f64) -> Self = $encode;
                encode(number)
            }
            fn decode(self) -> f64 {
                let decode: fn(Self) -> f64 = $decode;
                decode(self)
            }
        }
    )*};
}
elements! {
    f16: f16::from_f64, f16::to_f64;
    bf16: bf16::from_f64, bf16::to_f64;
    f32: |x| x as f32, f64::from;
    f64: |x| x, |x| x;
    u8: |x| x as u8, f64::from;
    i8: |x| x as i8, f64::from;
    i32: |x| x as i32, f64::from;
}

/// Runs one combination; `number` makes the elements of A, B and C, `check` gets the result and what was expected.
fn run<A: Element, C: Element, D: Element>(
    combination: Combination<'_>,
    numbers: [&mut dyn FnMut() -> f64; 3],
    check: impl Fn(f64, f64) -> bool,
) -> Result<()> {
    let f = fixture();
    let stream = f.stream();
    let kernel = f
        .module
        .untyped_kernel::<(Value<Strides>, RawPtr<A>, RawPtr<A>, RawPtr<C>, RawPtr<D>)>(
            combination.kernel,
        )?;
    let Combination { m, n, k, rows, .. } = combination;
    let [of_a, of_b, of_c] = numbers;
    let (a, b, c) = (
        Tile::new(m, k, of_a),
        Tile::new(k, n, of_b),
        Tile::new(m, n, of_c),
    );
    let strides = [
        stride(rows[0], m, k, A::STRIDE),
        stride(rows[1], k, n, A::STRIDE),
        stride(rows[2], m, n, C::STRIDE),
        stride(rows[3], m, n, D::STRIDE),
    ];
    let memory_a = stream.upload(&a.lay(rows[0], strides[0], A::encode))?;
    let memory_b = stream.upload(&b.lay(rows[1], strides[1], A::encode))?;
    let memory_c = stream.upload(&c.lay(rows[2], strides[2], C::encode))?;
    let untouched = D::encode(77.0);
    let lines = if rows[3] { m } else { n };
    let mut memory_d = stream.filled(lines * strides[3], untouched)?;
    let arguments = (
        Strides(strides.map(|stride| stride as u32)),
        &memory_a,
        &memory_b,
        &memory_c,
        &mut memory_d,
    );
    // SAFETY: whole tiles with these strides.
    unsafe { stream.launch_untyped(&kernel, Grid::new(1, 32), arguments)? };
    let d = stream.download(&memory_d)?;
    let expected = a.multiply(&b, &c);
    let mut inside = vec![false; d.len()];
    for row in 0..m {
        for column in 0..n {
            let offset = Tile::offset(rows[3], strides[3], row, column);
            inside[offset] = true;
            let (got, want) = (d[offset].decode(), expected.at(row, column));
            assert!(
                check(got, want),
                "{combination:?}: ({row}, {column}) is {got}, not {want}"
            );
        }
    }
    for (word, inside) in d.iter().zip(inside) {
        assert!(
            inside || bytemuck::bytes_of(word) == bytemuck::bytes_of(&untouched),
            "{combination:?} wrote a gap"
        );
    }
    Ok(())
}

/// [`run`] with the types that the name tells.
fn run_named(
    combination: Combination<'_>,
    numbers: [&mut dyn FnMut() -> f64; 3],
    check: impl Fn(f64, f64) -> bool,
) -> Result<()> {
    match (combination.element, combination.from, combination.to) {
        ("f16", "f32", "f32") => run::<f16, f32, f32>(combination, numbers, check),
        ("f16", "f16", "f16") => run::<f16, f16, f16>(combination, numbers, check),
        ("f16", "f16", "f32") => run::<f16, f16, f32>(combination, numbers, check),
        ("f16", "f32", "f16") => run::<f16, f32, f16>(combination, numbers, check),
        ("bf16", "f32", "f32") => run::<bf16, f32, f32>(combination, numbers, check),
        ("tf32", "f32", "f32") => run::<f32, f32, f32>(combination, numbers, check),
        ("f64", "f64", "f64") => run::<f64, f64, f64>(combination, numbers, check),
        ("u8", "i32", "i32") => run::<u8, i32, i32>(combination, numbers, check),
        ("i8", "i32", "i32") => run::<i8, i32, i32>(combination, numbers, check),
        _ => panic!("the test does not know {combination:?}"),
    }
}

fn combinations() -> Vec<Combination<'static>> {
    let f = fixture();
    let text = ptx::for_capability(f.gpu.compute_capability());
    ptx::kernels(text, "wmma_")
        .into_iter()
        .filter_map(Combination::parse)
        .collect()
}

// covers: WMMA-01, WMMA-02, WMMA-03, WMMA-05, WMMA-08, WMMA-09, WMMA-10, WMMA-14, WMMA-X3
#[test]
fn every_combination_on_whole_numbers_is_exact() -> Result<()> {
    let all = combinations();
    assert!(all.len() >= 59, "{} kernels", all.len());
    let mut random = Random::new(1);
    for combination in all
        .into_iter()
        .filter(|c| c.kernel.len() > 10 && !["u4", "i4"].contains(&c.element))
    {
        // Products and sums stay within what the narrowest type holds exactly: 2048 for f16 sums.
        let (low, range) = match combination.element {
            "u8" => (0.0, 256),
            "i8" => (-128.0, 256),
            _ => (-8.0, 17),
        };
        let numbers: Vec<f64> = (0..4096)
            .map(|_| low + f64::from(random.below(range)))
            .collect();
        let (mut a, mut b, mut c) = (numbers.iter(), numbers.iter().rev(), numbers.iter().skip(7));
        let next = "more numbers than elements";
        run_named(
            combination,
            [
                &mut || *a.next().expect(next),
                &mut || *b.next().expect(next),
                &mut || *c.next().expect(next),
            ],
            |got, want| got == want,
        )?;
    }
    Ok(())
}

// covers: WMMA-05, WMMA-08, WMMA-09
#[test]
fn fractions_are_as_good_as_the_accumulator() -> Result<()> {
    for combination in combinations() {
        let (digits, tolerance) = match (combination.element, combination.to) {
            ("f16", "f32") => (11, 1e-5),
            ("f16", "f16") => (11, 4e-3),
            ("bf16", _) => (8, 1e-5),
            ("tf32", _) => (11, 1e-5),
            ("f64", _) => (40, 1e-14),
            _ => continue,
        };
        // Numbers that the element type holds exactly, so that only the sums round.
        let mut random = Random::new(digits);
        let scale = f64::from(1u32 << digits.min(23));
        let numbers: Vec<f64> = (0..2048)
            .map(|_| (f64::from(random.unit()) * scale / 2.0).round() / scale)
            .collect();
        let mut at = numbers.iter().cycle();
        let mut next = || *at.next().expect("a cycle");
        let (mut a, mut b) = (Vec::new(), Vec::new());
        a.resize_with(600, &mut next);
        b.resize_with(600, &mut next);
        let (mut a, mut b) = (a.into_iter(), b.into_iter());
        run_named(
            combination,
            [
                &mut || a.next().unwrap_or(0.5),
                &mut || b.next().unwrap_or(0.25),
                &mut || 0.125,
            ],
            |got, want| (got - want).abs() <= tolerance * (1.0 + want.abs()),
        )?;
    }
    Ok(())
}

/// Packs small integers, `bits` each, the first in the low bits.
fn pack(numbers: &[i32], bits: usize) -> Vec<u32> {
    let per_word = 32 / bits;
    let mask = ((1u64 << bits) - 1) as u32;
    numbers
        .chunks(per_word)
        .map(|chunk| {
            chunk
                .iter()
                .enumerate()
                .fold(0, |word, (i, &x)| word | (x as u32 & mask) << (i * bits))
        })
        .collect()
}

/// Runs a kernel of packed elements: 8 x 8 results of `k` elements each, A by rows and B by columns.
fn run_packed(
    name: &str,
    k: usize,
    bits: usize,
    a: &[i32],
    b: &[i32],
    c: &[i32],
) -> Result<Vec<i32>> {
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.untyped_kernel::<(
        Value<Strides>,
        RawPtr<u32>,
        RawPtr<u32>,
        RawPtr<i32>,
        RawPtr<i32>,
    )>(name)?;
    let (a, b) = (
        stream.upload(&pack(a, bits))?,
        stream.upload(&pack(b, bits))?,
    );
    let c = stream.upload(c)?;
    let mut d = stream.zeroed::<i32>(64)?;
    let strides = Strides([k as u32, k as u32, 8, 8]);
    // SAFETY: whole tiles with these strides.
    unsafe { stream.launch_untyped(&kernel, Grid::new(1, 32), (strides, &a, &b, &c, &mut d))? };
    stream.download(&d)
}

// covers: WMMA-11
#[test]
fn four_bit_integers() -> Result<()> {
    for (name, low) in [
        ("wmma_u4_m8n8k32_i32_i32_rc_rc", 0),
        ("wmma_i4_m8n8k32_i32_i32_rc_rc", -8),
    ] {
        let mut random = Random::new(4);
        let mut numbers = || {
            (0..256)
                .map(|_| low + random.below(16) as i32)
                .collect::<Vec<_>>()
        };
        let (a, b) = (numbers(), numbers());
        let c: Vec<i32> = (0..64).map(|i| i * 1000 - 7).collect();
        let d = run_packed(name, 32, 4, &a, &b, &c)?;
        for i in 0..8 {
            for j in 0..8 {
                let sum: i32 = (0..32).map(|k| a[i * 32 + k] * b[j * 32 + k]).sum();
                // The result is laid out by columns.
                assert_eq!(d[j * 8 + i], sum + c[i * 8 + j], "{name} ({i}, {j})");
            }
        }
    }
    Ok(())
}

// covers: WMMA-12
#[test]
fn single_bits() -> Result<()> {
    type Combine = fn(i32, i32) -> i32;
    let combine: [(&str, Combine); 2] =
        [("wmma_b1_xor", |a, b| a ^ b), ("wmma_b1_and", |a, b| a & b)];
    for (name, combine) in combine {
        let mut random = Random::new(5);
        let mut bits = || {
            (0..1024)
                .map(|_| random.below(2) as i32)
                .collect::<Vec<_>>()
        };
        let (a, b) = (bits(), bits());
        let c: Vec<i32> = (0..64).map(|i| i - 20).collect();
        let d = run_packed(name, 128, 1, &a, &b, &c)?;
        for i in 0..8 {
            for j in 0..8 {
                let ones: i32 = (0..128)
                    .map(|k| combine(a[i * 128 + k], b[j * 128 + k]))
                    .sum();
                assert_eq!(d[i * 8 + j], ones + c[i * 8 + j], "{name} ({i}, {j})");
            }
        }
    }
    Ok(())
}

// covers: WMMA-06
#[test]
fn saturating_sums_stop_at_the_ends() -> Result<()> {
    let f = fixture();
    let stream = f.stream();
    let wrapping = "wmma_i8_m16n16k16_i32_i32_rc_rc";
    for (name, saturating) in [("wmma_i8_saturating", true), (wrapping, false)] {
        let kernel = f.module.untyped_kernel::<(
            Value<Strides>,
            RawPtr<i8>,
            RawPtr<i8>,
            RawPtr<i32>,
            RawPtr<i32>,
        )>(name)?;
        let (a, b) = (stream.filled(256, 127i8)?, stream.filled(256, 127i8)?);
        let start = i32::MAX - 1000;
        let c = stream.filled(256, start)?;
        let mut d = stream.zeroed::<i32>(256)?;
        let arguments = (Strides([16; 4]), &a, &b, &c, &mut d);
        // SAFETY: whole tiles with these strides.
        unsafe { stream.launch_untyped(&kernel, Grid::new(1, 32), arguments)? };
        let sum = 16 * 127 * 127;
        let expected = if saturating {
            start.saturating_add(sum)
        } else {
            start.wrapping_add(sum)
        };
        assert_eq!(stream.download(&d)?, vec![expected; 256], "{name}");
    }
    Ok(())
}

// covers: WMMA-04, WMMA-07, WMMA-X1
#[test]
fn filled_scaled_and_combined() -> Result<()> {
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(matrix::wmma_fill_and_map)?;
    let c: Vec<f32> = (0..256).map(|i| i as f32).collect();
    let mut d = stream.zeroed::<f32>(256)?;
    let (a, b) = (f16::from_f32(3.0), f16::from_f32(0.25));
    let arguments = (a, b, 0.5f32, &stream.upload(&c)?, &mut d);
    // SAFETY: whole tiles.
    unsafe { stream.launch_unchecked(&kernel, Grid::new(1, 32), arguments)? };
    // 16 products of 3 x 1/4, halved, less C.
    let expected: Vec<f32> = c.iter().map(|c| 6.0 - c).collect();
    assert_eq!(stream.download(&d)?, expected);
    Ok(())
}

// covers: WMMA-02
#[test]
fn a_chain_through_shared_memory() -> Result<()> {
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(matrix::wmma_chain)?;
    let k = 16 * 9;
    let mut random = Random::new(9);
    let mut numbers = || {
        (0..16 * k)
            .map(|_| f16::from_f32(random.below(9) as f32 - 4.0))
            .collect::<Vec<_>>()
    };
    let (a, b) = (numbers(), numbers());
    let mut d = stream.zeroed::<f32>(256)?;
    // SAFETY: 16 rows, 16 columns, and room for the result.
    unsafe {
        stream.launch_unchecked(
            &kernel,
            Grid::new(1, 32),
            (&stream.upload(&a)?, &stream.upload(&b)?, &mut d),
        )?;
    }
    let d = stream.download(&d)?;
    for i in 0..16 {
        for j in 0..16 {
            let sum: f32 = (0..k)
                .map(|at| a[i * k + at].to_f32() * b[j * k + at].to_f32())
                .sum();
            assert_eq!(d[i * 16 + j], sum, "({i}, {j})");
        }
    }
    Ok(())
}

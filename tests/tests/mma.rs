//! `mma.sync` and `ldmatrix` against the CPU.

use bytemuck::Pod;
use warpsmith_device::half::{bf16, f16};
use warpsmith_host::prelude::*;
use warpsmith_test_kernels::mma;
use warpsmith_tests::{Random, fixture};

/// Small whole numbers, so that every sum is exact, in `n` elements of a type.
fn numbers<T>(
    seed: u64,
    n: usize,
    low: i32,
    high: i32,
    encode: impl Fn(i32) -> T,
) -> (Vec<i32>, Vec<T>) {
    let mut random = Random::new(seed);
    let plain: Vec<i32> = (0..n)
        .map(|_| low + random.below((high - low + 1) as u32) as i32)
        .collect();
    let encoded = plain.iter().map(|&x| encode(x)).collect();
    (plain, encoded)
}

/// Runs a kernel on `m` x 8 results with `k` products each; elements of A and B are of type `A`, of C and D of type `C`.
fn run<A: Pod, C: Pod + PartialEq + std::fmt::Debug>(
    name: &str,
    (m, k): (usize, usize),
    (low, high): (i32, i32),
    encode: impl Fn(i32) -> A,
    encode_sum: impl Fn(i32) -> C,
) -> Result<()> {
    let f = fixture();
    let stream = f.stream();
    let kernel = f
        .module
        .untyped_kernel::<(RawPtr<A>, RawPtr<A>, RawPtr<C>, RawPtr<C>)>(name)?;
    let (a, encoded_a) = numbers(1, m * k, low, high, &encode);
    let (b, encoded_b) = numbers(2, 8 * k, low, high, &encode);
    let (c, encoded_c) = numbers(3, m * 8, -100, 100, &encode_sum);
    let (a_memory, b_memory, c_memory) = (
        stream.upload(&encoded_a)?,
        stream.upload(&encoded_b)?,
        stream.upload(&encoded_c)?,
    );
    let mut d = stream.filled(m * 8, C::zeroed())?;
    let arguments = (&a_memory, &b_memory, &c_memory, &mut d);
    // SAFETY: whole tiles.
    unsafe { stream.launch_untyped(&kernel, Grid::new(1, 32), arguments)? };
    let d = stream.download(&d)?;
    for i in 0..m {
        for j in 0..8 {
            let sum: i32 =
                (0..k).map(|at| a[i * k + at] * b[j * k + at]).sum::<i32>() + c[i * 8 + j];
            assert_eq!(d[i * 8 + j], encode_sum(sum), "{name} ({i}, {j})");
        }
    }
    Ok(())
}

#[test]
fn products_of_halves() -> Result<()> {
    let (half, bfloat) = (
        |x: i32| f16::from_f32(x as f32),
        |x: i32| bf16::from_f32(x as f32),
    );
    run("mma_f16_k16", (16, 16), (-8, 8), half, |x| x as f32)?;
    run("mma_f16_k16_f16", (16, 16), (-8, 8), half, half)?;
    run("mma_f16_k8", (16, 8), (-8, 8), half, |x| x as f32)?;
    run("mma_bf16_k16", (16, 16), (-8, 8), bfloat, |x| x as f32)?;
    run("mma_bf16_k8", (16, 8), (-8, 8), bfloat, |x| x as f32)
}

#[test]
fn products_of_tf32_and_doubles() -> Result<()> {
    run(
        "mma_tf32_k8",
        (16, 8),
        (-500, 500),
        |x| x as f32,
        |x| x as f32,
    )?;
    run(
        "mma_tf32_k4",
        (16, 4),
        (-500, 500),
        |x| x as f32,
        |x| x as f32,
    )?;
    run("mma_f64_k4", (8, 4), (-5000, 5000), f64::from, f64::from)
}

#[test]
fn products_of_bytes() -> Result<()> {
    run("mma_i8_k32", (16, 32), (-128, 127), |x| x as i8, |x| x)?;
    run("mma_u8_k32", (16, 32), (0, 255), |x| x as u8, |x| x)?;
    run("mma_i8_k16", (16, 16), (-128, 127), |x| x as i8, |x| x)
}

#[test]
fn tiles_from_shared_memory() -> Result<()> {
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(mma::ldmatrix)?;
    let tiles: Vec<u16> = (0..256).map(|i| 1000 + i).collect();
    let halves: Vec<f16> = tiles.iter().map(|&bits| f16::from_bits(bits)).collect();
    let mut out = stream.zeroed::<u32>(32 * 14)?;
    // SAFETY: 14 words a lane.
    unsafe {
        stream.launch_unchecked(
            &kernel,
            Grid::new(1, 32),
            (&stream.upload(&halves)?, &mut out),
        )?
    };
    let out = stream.download(&out)?;
    let element =
        |tile: usize, row: usize, column: usize| u32::from(tiles[tile * 64 + row * 8 + column]);
    for lane in 0..32 {
        let (i, t) = (lane / 4, lane % 4);
        let direct = |tile| element(tile, i, 2 * t) | element(tile, i, 2 * t + 1) << 16;
        let transposed = |tile| element(tile, 2 * t, i) | element(tile, 2 * t + 1, i) << 16;
        let mut expected = Vec::new();
        for count in [4, 2, 1] {
            expected.extend((0..count).map(direct));
            expected.extend((0..count).map(transposed));
        }
        assert_eq!(out[lane * 14..][..14], expected, "lane {lane}");
    }
    Ok(())
}

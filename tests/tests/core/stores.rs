//! What is stored behind a decision, and what two conditions decide at once.

use warpsmith_host::prelude::*;
use warpsmith_test_kernels::stores as kernels;
use warpsmith_tests::ptx::{SM_90, instructions};
use warpsmith_tests::{Random, fixture};

/// How many instructions of a kernel begin so.
fn count(kernel: &str, beginning: &str) -> usize {
    let all = instructions(SM_90, kernel);
    all.iter()
        .filter(|line| line.starts_with(beginning))
        .count()
}

#[test]
fn borders_and_inner_elements_have_their_values() -> Result<()> {
    assert_eq!(count("inner_elements", "st.global"), 1);
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::inner_elements)?;
    for length in [1, 2, 3, 33, 100] {
        let x: Vec<u32> = (0..length).map(|i| i * i * 37 % 23).collect();
        let xs = stream.upload(&x)?;
        let length = x.len();
        // What was there before shows where nothing is stored.
        let mut out = stream.upload(&vec![u32::MAX; length])?;
        stream.launch(&kernel, Grid::cover(length, 32), (&xs, &mut out))?;
        let of = |i: usize| match i {
            0 => 0,
            _ if i + 1 == length => 0,
            _ => kernels::inner(x[i - 1], x[i], x[i + 1]),
        };
        let expected: Vec<u32> = (0..length).map(of).collect();
        assert_eq!(stream.download(&out)?, expected);
    }
    Ok(())
}

#[test]
fn no_mark_stays_that_is_taken_away_before_the_next() -> Result<()> {
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::marks)?;
    for length in [1, 2, 7] {
        let x: Vec<u32> = (0..length).map(|i| i * 3).collect();
        let xs = stream.upload(&x)?;
        let mut out = stream.upload(&vec![5_u32; 2 * x.len()])?;
        // SAFETY: `out` has two elements for each of `x`.
        unsafe {
            stream.launch_unchecked(&kernel, Grid::new(1, 1), (&xs, 2usize, &mut out))?;
        }
        let expected: Vec<u32> = (0..2 * x.len()).map(|i| [0, 5][i % 2]).collect();
        assert_eq!(stream.download(&out)?, expected);
    }
    Ok(())
}

#[test]
fn rounds_end_by_either_condition() -> Result<()> {
    // The one before the loop, and the one at its end.
    assert_eq!(count("rounds_of_points", "and.pred"), 1);
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::rounds_of_points)?;
    // Exactly at the border, outside, inside for ever, after one round and after some, and what compares with nothing.
    let points = [
        [2.0, 0.0],
        [-2.0, 0.0],
        [0.0, 2.0],
        [1.999, 0.0],
        [3.0, 1.0],
        [0.0, 0.0],
        [0.0, 1.0],
        [-1.0, 0.0],
        [0.25, 0.0],
        [1.0, 1.0],
        [1.0, 0.0],
        [0.5, 0.5],
        [f32::NAN, 0.0],
        [0.0, f32::NAN],
        [f32::INFINITY, 0.0],
    ];
    let at = stream.upload(&points)?;
    for limit in [0, 1, 2, 3, 5, 40] {
        let mut out = stream.upload(&[u32::MAX; 15])?;
        let grid = Grid::cover(points.len(), 32);
        stream.launch(&kernel, grid, (&at, limit, &mut out))?;
        let expected = points.map(|point| kernels::rounds(point, limit));
        assert_eq!(stream.download(&out)?, expected, "{limit}");
    }
    Ok(())
}

#[test]
fn arrays_that_are_put_together_have_their_elements() -> Result<()> {
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::arrays_of_parts)?;
    let mut random = Random::new(7);
    let mut x: Vec<u64> = (0..100).map(|_| random.bits()).collect();
    x.extend([0, 1, u64::MAX, 0x8080_8080_8080_8080, 0xff00_ff00_ff00_ff00]);
    let on_device = stream.upload(&x)?;
    let mut bytes = stream.upload(&vec![[9_u8; 3]; x.len()])?;
    let mut halves = stream.upload(&vec![[9_u16; 2]; x.len()])?;
    let mut mixed = stream.upload(&vec![[9_u8; 7]; x.len()])?;
    let out = (&on_device, &mut bytes, &mut halves, &mut mixed);
    stream.launch(&kernel, Grid::cover(x.len(), 32), out)?;
    let all = x.iter().map(|x| kernels::parts(*x));
    let of_bytes: Vec<_> = all.clone().map(|parts| parts.0).collect();
    let of_halves: Vec<_> = all.clone().map(|parts| parts.1).collect();
    let of_mixed: Vec<_> = all.map(|parts| parts.2).collect();
    assert_eq!(stream.download(&bytes)?, of_bytes);
    assert_eq!(stream.download(&halves)?, of_halves);
    assert_eq!(stream.download(&mixed)?, of_mixed);
    Ok(())
}

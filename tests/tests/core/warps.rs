//! The warp operations against a plain model of a warp.

use warpsmith_host::prelude::*;
use warpsmith_test_kernels::warps as kernels;
use warpsmith_tests::{Random, fixture};

/// The lane that a shuffle reads, or the lane itself; in segments of `width`.
fn source(mode: usize, lane: usize, operand: usize, width: usize) -> usize {
    let first = lane / width * width;
    let last = first + width - 1;
    match mode {
        0 => first + operand % width,
        1 => {
            if lane >= first + operand % 32 {
                lane - operand % 32
            } else {
                lane
            }
        }
        2 => {
            if lane + operand % 32 <= last {
                lane + operand % 32
            } else {
                lane
            }
        }
        _ => {
            let other = lane ^ (operand % 32);
            if other <= last { other } else { lane }
        }
    }
}

// covers: SHFL-01, SHFL-02, SHFL-03, SHFL-04, SHFL-05
#[test]
fn shuffles_of_64_bits() {
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::warp_shuffles).unwrap();
    let mut x: Vec<f64> = (0..32).map(|i| f64::from(i) * 1e10 + 0.123).collect();
    x[3] = f64::from_bits(0x7ff8_0000_dead_beef);
    let xs = stream.upload(&x).unwrap();
    for operand in (0..32).chain([32, 33, 35]) {
        let mut out = stream.zeroed::<[f64; 4]>(32).unwrap();
        stream
            .launch(&kernel, Grid::new(1, 32), (&xs, operand as u32, &mut out))
            .unwrap();
        for (lane, row) in stream.download(&out).unwrap().iter().enumerate() {
            for (mode, value) in row.iter().enumerate() {
                let expected = x[source(mode, lane, operand, 32)];
                assert_eq!(
                    value.to_bits(),
                    expected.to_bits(),
                    "mode {mode}, lane {lane}, operand {operand}"
                );
            }
        }
    }
}

// covers: SHFL-04, SHFL-06
#[test]
fn shuffles_of_three_bytes_in_segments() {
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::warp_shuffles_in_segments).unwrap();
    let x: Vec<u32> = (0..32u8)
        .map(|i| u32::from_le_bytes([i, i + 100, i ^ 255, 0]))
        .collect();
    for operand in 0..32 {
        let mut out = stream.zeroed::<[u32; 4]>(32).unwrap();
        stream
            .launch(&kernel, Grid::new(1, 32), (operand as u32, &mut out))
            .unwrap();
        for (lane, row) in stream.download(&out).unwrap().iter().enumerate() {
            for (mode, value) in row.iter().enumerate() {
                let expected = x[source(mode, lane, operand, 8)];
                assert_eq!(
                    *value, expected,
                    "mode {mode}, lane {lane}, operand {operand}"
                );
            }
        }
    }
}

/// The lanes of a mask.
fn lanes(mask: u32) -> impl Iterator<Item = usize> + Clone {
    (0..32).filter(move |lane| mask >> lane & 1 == 1)
}

/// The mask of the lanes of `mask` where the predicate holds.
fn where_true(mask: u32, predicate: impl Fn(usize) -> bool) -> u32 {
    lanes(mask)
        .filter(|&lane| predicate(lane))
        .map(|lane| 1 << lane)
        .sum()
}

// covers: VOTE-01, VOTE-02, MATCH-01, MATCH-02
#[test]
fn votes_and_matches_over_masks() {
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::warp_votes).unwrap();
    let mut random = Random::new(1);
    let cases: Vec<(u32, Vec<u32>)> = [u32::MAX, 0xffff, 0xffff_0000, 0x8000_0001, 0x1234_5678]
        .into_iter()
        .flat_map(|mask| {
            let mixed = (0..32).map(|_| random.below(4)).collect();
            [(mask, mixed), (mask, vec![3; 32]), (mask, vec![0; 32])]
        })
        .collect();
    for (mask, x) in cases {
        let xs = stream.upload(&x).unwrap();
        let mut out = stream.zeroed::<[u32; 12]>(32).unwrap();
        stream
            .launch(&kernel, Grid::new(1, 32), (mask, &xs, &mut out))
            .unwrap();
        let rows = stream.download(&out).unwrap();
        let ballot = where_true(mask, |lane| x[lane] > 1);
        let first = x[lanes(mask).next().unwrap()];
        let all_same = if lanes(mask).all(|lane| x[lane] == first) {
            mask
        } else {
            0
        };
        let elected: u32 = lanes(mask).map(|lane| rows[lane][8]).sum();
        assert_eq!(elected, 1, "one lane is elected");
        for lane in 0..32 {
            let same = where_true(mask, |other| x[other] == x[lane]);
            let mut expected = [
                u32::from(ballot == mask),
                u32::from(ballot != 0),
                u32::from(ballot == mask || ballot == 0),
                ballot,
                same,
                same,
                mask,
                all_same,
                rows[lane][8],
                !(1 << lane),
                1 << lane,
                1 << lane,
            ];
            if mask >> lane & 1 == 0 {
                expected = [0; 12];
            }
            assert_eq!(rows[lane], expected, "lane {lane}, mask {mask:#x}, {x:?}");
        }
    }
}

// covers: REDUX-01, REDUX-02
#[test]
fn reductions_over_masks() {
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::warp_reductions).unwrap();
    let mut random = Random::new(2);
    for mask in [u32::MAX, 0x0f0f, 0x8000_0000, 0xfff0_0fff] {
        let x: Vec<u32> = (0..32).map(|_| random.bits() as u32).collect();
        let xs = stream.upload(&x).unwrap();
        let mut out = stream.zeroed::<[u32; 9]>(32).unwrap();
        stream
            .launch(&kernel, Grid::new(1, 32), (mask, &xs, &mut out))
            .unwrap();
        let taken = lanes(mask).map(|lane| x[lane]);
        let sum = taken.clone().fold(0, u32::wrapping_add);
        let signed = taken.clone().map(|x| x as i32);
        let expected = [
            sum,
            taken.clone().min().unwrap(),
            taken.clone().max().unwrap(),
            taken.clone().fold(u32::MAX, |a, b| a & b),
            taken.clone().fold(0, |a, b| a | b),
            taken.fold(0, |a, b| a ^ b),
            sum,
            signed.clone().min().unwrap() as u32,
            signed.max().unwrap() as u32,
        ];
        for (lane, row) in stream.download(&out).unwrap().iter().enumerate() {
            let expected = if mask >> lane & 1 == 1 {
                expected
            } else {
                [0; 9]
            };
            assert_eq!(*row, expected, "lane {lane}, mask {mask:#x}");
        }
    }
}

// covers: REDUX-03, SHFL-X3
#[test]
fn reductions_and_scans_of_floats() {
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::warp_scans).unwrap();
    // Small integers: every order of adding gives the same.
    let x: Vec<f32> = (0..64).map(|i| (i * 7 % 13) as f32 - 3.0).collect();
    let xs = stream.upload(&x).unwrap();
    let mut out = stream.zeroed::<[f32; 3]>(64).unwrap();
    stream
        .launch(&kernel, Grid::new(1, 64), (&xs, &mut out))
        .unwrap();
    for (i, row) in stream.download(&out).unwrap().iter().enumerate() {
        let first = i / 32 * 32;
        let before: f32 = x[first..i].iter().sum();
        let expected = [
            x[first..first + 32].iter().sum(),
            before + x[i],
            if i == first { -1.0 } else { before },
        ];
        assert_eq!(*row, expected, "thread {i}");
    }
}

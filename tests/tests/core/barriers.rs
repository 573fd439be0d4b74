//! Block barriers, and operations that have to stay where the source puts them.

use warpsmith_host::prelude::*;
use warpsmith_test_kernels::barriers as kernels;
use warpsmith_tests::{Fixture, fixture};

// covers: SYNC-03, SYNC-04
#[test]
fn barriers_that_vote() {
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::voting_barriers).unwrap();
    for block in [1usize, 31, 33, 1024] {
        let cases: [fn(usize) -> u32; 4] = [
            |_| 0,
            |_| 5,
            |i| if i == 0 { 9 } else { 1 },
            |i| i as u32 % 3,
        ];
        for case in cases {
            let x: Vec<u32> = (0..block).map(case).collect();
            let xs = stream.upload(&x).unwrap();
            let mut out = stream.zeroed::<[u32; 3]>(block).unwrap();
            stream
                .launch(&kernel, Grid::new(1, block as u32), (&xs, &mut out))
                .unwrap();
            let count = x.iter().filter(|x| **x > 1).count();
            let expected = [
                count as u32,
                u32::from(count == block),
                u32::from(count > 0),
            ];
            assert_eq!(stream.download(&out).unwrap(), vec![expected; block]);
        }
    }
}

#[test]
fn producers_and_consumers_over_named_barriers() {
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::named_barriers).unwrap();
    let mut out = stream.zeroed::<u32>(96).unwrap();
    stream
        .launch(&kernel, Grid::new(1, 96), (&mut out,))
        .unwrap();
    let expected: Vec<u32> = (0..96)
        .map(|i| match i {
            32..64 => 4 * (31 - (i - 32)) * 10 + 6,
            _ => 0,
        })
        .collect();
    assert_eq!(stream.download(&out).unwrap(), expected);
}

#[test]
fn a_barrier_reached_by_diverged_warps() {
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::diverged_barrier).unwrap();
    let mut out = stream.zeroed::<u32>(64).unwrap();
    stream
        .launch(&kernel, Grid::new(1, 64), (&mut out,))
        .unwrap();
    let expected: Vec<u32> = (0..64).rev().collect();
    assert_eq!(stream.download(&out).unwrap(), expected);
}

#[test]
fn a_shuffle_stays_before_the_branch() {
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::shuffle_before_branch).unwrap();
    let x: Vec<u32> = (0..64).map(|i| i * 3 + i / 5).collect();
    let xs = stream.upload(&x).unwrap();
    let mut out = stream.filled(64, 1_000_000u32).unwrap();
    stream
        .launch(&kernel, Grid::new(1, 64), (&xs, &mut out))
        .unwrap();
    let expected: Vec<u32> = (0..64usize)
        .map(|i| {
            if x[i].is_multiple_of(2) {
                x[i ^ 1]
            } else {
                1_000_000
            }
        })
        .collect();
    assert_eq!(stream.download(&out).unwrap(), expected);
}

#[test]
fn barriers_in_both_arms_of_a_branch() {
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::barriers_in_both_arms).unwrap();
    let x: Vec<u32> = (0..200).map(|i| i * i).collect();
    let xs = stream.upload(&x).unwrap();
    for flag in [0u32, 1] {
        let mut out = stream.zeroed::<u32>(200).unwrap();
        stream
            .launch(&kernel, Grid::new(1, 200), (flag, &xs, &mut out))
            .unwrap();
        let expected: Vec<u32> = (0..200)
            .map(|i| match flag {
                0 => x[(i + 2) % 200] * 2,
                _ => x[(i + 1) % 200] + 1,
            })
            .collect();
        assert_eq!(stream.download(&out).unwrap(), expected);
    }
}

#[test]
fn shuffles_inside_a_loop() {
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::shuffles_in_a_loop).unwrap();
    let mut x: Vec<u32> = (0..32).map(|i| i * 77 + 5).collect();
    let xs = stream.upload(&x).unwrap();
    let mut out = stream.zeroed::<u32>(32).unwrap();
    stream
        .launch(&kernel, Grid::new(1, 32), (&xs, 13u32, &mut out))
        .unwrap();
    for round in 0..13 {
        let before = x.clone();
        for lane in (0..32).filter(|lane| lane % 3 != 0) {
            let other = before[lane ^ (1 << (round % 5))];
            x[lane] = before[lane].wrapping_mul(3).wrapping_add(other);
        }
    }
    assert_eq!(stream.download(&out).unwrap(), x);
}

/// With the hardware's barriers in memory, and without.
// covers: MBAR-05, MBAR-06, CC-16
#[test]
fn a_barrier_in_two_halves() {
    let gpu = Gpu::open_default().unwrap();
    let stream = gpu.stream().unwrap();
    for (arch, text) in warpsmith_tests::ptx::taken_by(gpu.compute_capability()) {
        let module = gpu.load(text).unwrap();
        let kernel = module.kernel(kernels::split_rounds).unwrap();
        for threads in [1u32, 33, 96] {
            let mut out = stream.zeroed::<u32>(threads as usize).unwrap();
            stream
                .launch(&kernel, Grid::new(1, threads), (20, &mut out))
                .unwrap();
            let mut want: Vec<u32> = (0..threads).collect();
            for round in 0..20 {
                want.rotate_left(1);
                for (own, value) in (0..).zip(&mut want) {
                    *value = value.wrapping_add(round * own);
                }
            }
            assert_eq!(stream.download(&out).unwrap(), want, "{arch}, {threads}");
        }
    }
}

/// The load is made before the barrier where there is an element, and the check stays behind it.
#[test]
fn a_start_that_is_read_behind_a_barrier_is_checked_there() {
    let f = Fixture::open().unwrap();
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::starts_behind_a_barrier).unwrap();
    let (threads, blocks) = (32 * 5 - 7, 5);
    let x: Vec<u32> = (0..threads as u32).map(|i| i * i + 3).collect();
    for length in [blocks, blocks + 1, 0, 1, blocks - 1] {
        let starts: Vec<u32> = (0..length as u32).map(|i| 1000 * i + 7).collect();
        let of_x = stream.upload(&x).unwrap();
        let of_starts = stream.upload(&starts).unwrap();
        let mut out = stream.zeroed::<u32>(threads).unwrap();
        let arguments = (&of_x, &of_starts, &mut out);
        stream
            .launch(&kernel, Grid::new(blocks as u32, 32), arguments)
            .unwrap();
        match stream.synchronize() {
            Ok(()) => assert!(length >= blocks, "no panic of {length} starts"),
            Err(Error::KernelPanic(panic)) => {
                let block = panic.block[0];
                let message =
                    format!("index out of bounds: the len is {length} but the index is {block}");
                assert!(panic.message.contains(&message), "{}", panic.message);
                assert!(block as usize >= length);
            }
            Err(error) => panic!("{error}"),
        }
        let expected = |t: usize| match starts.get(t / 32) {
            Some(start) => start + x.get(t ^ 1).unwrap_or(&0),
            None => 0,
        };
        let expected: Vec<u32> = (0..threads).map(expected).collect();
        assert_eq!(stream.download(&out).unwrap(), expected, "{length} starts");
    }
}

//! Loops of every number of rounds, from none on: several at once are what one after the other would be.

use warpsmith_host::prelude::*;
use warpsmith_test_kernels::loops as kernels;
use warpsmith_tests::fixture;

const THREADS: usize = 40;

fn note(sum: u64, value: u32) -> u64 {
    sum.wrapping_mul(31).wrapping_add(u64::from(value) + 1)
}

/// Elements in every length, and steps.
fn cases() -> impl Iterator<Item = (Vec<u32>, u64)> {
    let lengths = (0..24).chain([63, 64, 65, 100]);
    lengths.flat_map(|length: u32| {
        let x: Vec<u32> = (0..length).map(|i| i * i % 61).collect();
        [1, 2, 3, 5, 32, 1000].map(|step| (x.clone(), step))
    })
}

#[test]
fn by_a_step_that_may_wrap_around() {
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::by_step).unwrap();
    let short = f.module.kernel(kernels::by_short_step).unwrap();
    let grid = Grid::cover(THREADS, 32);
    let length = 37_u32;
    let x: Vec<u32> = (0..length).map(|i| i * 7 % 41).collect();
    let xs = stream.upload(&x).unwrap();
    let starts: Vec<u64> = (0..THREADS as u64).collect();
    let at = stream.upload(&starts).unwrap();
    // Two to the 61st and its like: one round's step fits, and three would not.
    let steps = (1..6_u64).flat_map(|small| {
        let great = [20, 29, 30, 31, 32, 60, 61, 62, 63].map(|bit| (1 << bit) + small - 3);
        [small, small.wrapping_neg()].into_iter().chain(great)
    });
    for step in steps {
        let mut sums = stream.zeroed::<u64>(THREADS).unwrap();
        let arguments = (&xs, &at, step, &mut sums);
        stream.launch(&kernel, grid, arguments).unwrap();
        let expected: Vec<u64> = starts
            .iter()
            .map(|&start| {
                let places = std::iter::successors(Some(start), |i| Some(i.wrapping_add(step)));
                let inside = places.take_while(|i| *i < length.into());
                inside.fold(0, |sum, i| note(sum, x[i as usize]))
            })
            .collect();
        assert_eq!(stream.download(&sums).unwrap(), expected, "by {step}");
        if step as u32 == 0 {
            continue;
        }
        let arguments = (&xs, &at, step as u32, &mut sums);
        stream.launch(&short, grid, arguments).unwrap();
        let expected: Vec<u64> = starts
            .iter()
            .map(|&start| {
                let next = |i: &u32| Some(i.wrapping_add(step as u32));
                let inside = std::iter::successors(Some(start as u32), next);
                let inside = inside.take_while(|i| *i < length);
                inside.fold(0, |sum, i| note(sum, x[i as usize]))
            })
            .collect();
        assert_eq!(
            stream.download(&sums).unwrap(),
            expected,
            "by {}",
            step as u32
        );
    }
}

#[test]
fn over_every_nth_element_upwards_and_downwards() {
    let f = fixture();
    let stream = f.stream();
    let upwards = f.module.kernel(kernels::by_iterators).unwrap();
    let downwards = f.module.kernel(kernels::downwards).unwrap();
    let grid = Grid::cover(THREADS, 32);
    for (x, step) in cases() {
        let xs = stream.upload(&x).unwrap();
        let mut sums = stream.zeroed::<u64>(THREADS).unwrap();
        stream
            .launch(&upwards, grid, (&xs, step, &mut sums))
            .unwrap();
        let of_thread = |t| {
            let values = x.iter().skip(t).step_by(step as usize);
            values.fold(0, |sum, value| note(sum, *value))
        };
        let expected: Vec<u64> = (0..THREADS).map(of_thread).collect();
        assert_eq!(
            stream.download(&sums).unwrap(),
            expected,
            "{} by {step}",
            x.len()
        );
        stream
            .launch(&downwards, grid, (&xs, step, &mut sums))
            .unwrap();
        let of_thread = |t: usize| {
            let (mut left, mut sum) = (x.len(), 0);
            while left > t + step as usize {
                left -= step as usize;
                sum = note(sum, x[left]);
            }
            sum
        };
        let expected: Vec<u64> = (0..THREADS).map(of_thread).collect();
        assert_eq!(
            stream.download(&sums).unwrap(),
            expected,
            "{} down by {step}",
            x.len()
        );
    }
}

#[test]
fn that_end_early_or_carry_several_values() {
    let f = fixture();
    let stream = f.stream();
    let until = f.module.kernel(kernels::until).unwrap();
    let in_turns = f.module.kernel(kernels::in_turns).unwrap();
    let grid = Grid::cover(THREADS, 32);
    for (x, step) in cases() {
        let xs = stream.upload(&x).unwrap();
        let mut sums = stream.zeroed::<u64>(THREADS).unwrap();
        for wanted in [0, 9, 60, 100] {
            let arguments = (&xs, step, wanted, &mut sums);
            stream.launch(&until, grid, arguments).unwrap();
            let of_thread = |t| {
                let mut sum = 0;
                for &value in x.iter().skip(t).step_by(step as usize) {
                    if value == wanted {
                        return note(sum, 1000);
                    }
                    sum = note(sum, if value % 3 == 0 { value } else { value + 7 });
                }
                sum
            };
            let expected: Vec<u64> = (0..THREADS).map(of_thread).collect();
            let found = stream.download(&sums).unwrap();
            assert_eq!(found, expected, "{} by {step} until {wanted}", x.len());
        }
        stream
            .launch(&in_turns, grid, (&xs, step, &mut sums))
            .unwrap();
        let of_thread = |t| {
            let values = x.iter().skip(t).step_by(step as usize);
            let (one, other) =
                values.fold((1, 2), |(one, other), value| (other, note(one, *value)));
            one ^ other.rotate_left(7)
        };
        let expected: Vec<u64> = (0..THREADS).map(of_thread).collect();
        assert_eq!(
            stream.download(&sums).unwrap(),
            expected,
            "{} by {step}",
            x.len()
        );
    }
}

#[test]
fn whose_rounds_read_what_earlier_ones_wrote() {
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::running).unwrap();
    for (n, step) in (0..70).flat_map(|n| [1, 2, 7, 64].map(|step| (n, step))) {
        let mut expected = [[0; 64]];
        for (i, word) in (0..).zip(&mut expected[0]) {
            *word = i;
        }
        let mut words = stream.upload(&expected).unwrap();
        stream
            .launch(&kernel, Grid::new(1, 1), (&mut words, n, step))
            .unwrap();
        let mut i = 0_u32;
        while i < n {
            let before = expected[0][i as usize & 63];
            expected[0][(i + step) as usize & 63] = u32::wrapping_mul(before, 5).wrapping_add(i);
            i += step;
        }
        assert_eq!(stream.download(&words).unwrap(), expected, "{n} by {step}");
    }
}

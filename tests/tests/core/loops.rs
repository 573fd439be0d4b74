//! Loops of every number of rounds, from none on: several at once are what one after the other would be.

use warpsmith_host::prelude::*;
use warpsmith_test_kernels::loops as kernels;
use warpsmith_tests::fixture;
use warpsmith_tests::ptx::{SM_90, instructions};

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

#[test]
fn over_ranges_with_their_ends() {
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::inclusive_ranges).unwrap();
    let until = f.module.kernel(kernels::inclusive_until).unwrap();
    let x: Vec<u32> = (0..16).map(|i| i * 7 % 41).collect();
    let xs = stream.upload(&x).unwrap();
    // Around what is zero, the greatest or the least number of some type.
    let starts = [
        0,
        i64::MAX,
        -1,
        u32::MAX.into(),
        i32::MAX.into(),
        127,
        255,
        i64::MIN,
    ];
    let starts = starts
        .iter()
        .flat_map(|at: &i64| (-3..2).map(|by| at.wrapping_add(by)));
    // None of the types has many rounds.
    let ends: Vec<[i64; 2]> = starts
        .flat_map(|at| [-1, 0, 1, 2, 3, 4, 5, 9].map(|by| [at, at.wrapping_add(by)]))
        .filter(|[first, last]| {
            let few = |first: i128, last: i128| last - first < 300;
            few((*first).into(), (*last).into())
                && few((*first as u64).into(), (*last as u64).into())
                && few((*first as u32).into(), (*last as u32).into())
                && few((*first as i32).into(), (*last as i32).into())
        })
        .collect();
    let at = stream.upload(&ends).unwrap();
    let grid = Grid::cover(ends.len(), 32);
    let mut sums = stream.zeroed::<[u64; 6]>(ends.len()).unwrap();
    stream.launch(&kernel, grid, (&xs, &at, &mut sums)).unwrap();
    let add = |sum, i: usize| note(sum, x[i & 15]);
    let expected: Vec<[u64; 6]> = ends
        .iter()
        .map(|&[first, last]| {
            [
                (first as u64..=last as u64).fold(0, |sum, i| add(sum, i as usize)),
                (first..=last).fold(0, |sum, i| add(sum, i as usize)),
                (first as u32..=last as u32).fold(0, |sum, i| add(sum, i as usize)),
                (first as i32..=last as i32).fold(0, |sum, i| add(sum, i as usize)),
                (first as u8..=last as u8).fold(0, |sum, i| add(sum, i as usize)),
                (first as i8..=last as i8).fold(0, |sum, i| add(sum, i as usize)),
            ]
        })
        .collect();
    assert_eq!(stream.download(&sums).unwrap(), expected, "{ends:?}");
    for wanted in [0, 2, i64::MAX, i64::MAX - 1, i64::MIN + 1] {
        let mut sums = stream.zeroed::<u64>(ends.len()).unwrap();
        stream
            .launch(&until, grid, (&at, wanted, &mut sums))
            .unwrap();
        let expected: Vec<u64> = ends
            .iter()
            .map(|&[first, last]| {
                let mut range = first..=last;
                let mut sum = 0;
                for i in range.by_ref() {
                    sum = note(sum, i as u32);
                    if i == wanted {
                        break;
                    }
                }
                sum = note(sum, range.is_empty().into());
                range.fold(sum, |sum, i| note(sum, (i as u32).wrapping_add(1)))
            })
            .collect();
        assert_eq!(stream.download(&sums).unwrap(), expected, "until {wanted}");
    }
}

#[test]
fn over_squares_of_a_picture() {
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::around).unwrap();
    for (rows, columns) in [(1, 1), (1, 9), (5, 3), (12, 17)] {
        let pixels: Vec<u32> = (0..rows * columns).map(|i| (i * i % 251) as u32).collect();
        let picture = stream.upload(&pixels).unwrap();
        let picture = picture.matrix(rows, columns).unwrap();
        for radius in [0, 1, 2, 3, 6, 100] {
            let mut sums = stream.zeroed::<u64>(rows * columns).unwrap();
            let out = sums.matrix_mut(rows, columns).unwrap();
            let grid = Grid::cover_2d((columns, rows), (8, 8));
            stream
                .launch(&kernel, grid, (&picture, radius, out))
                .unwrap();
            let of_pixel = |i: usize| {
                let (row, column) = (i / columns, i % columns);
                let mut sum = 0;
                for y in row.saturating_sub(radius)..=(row + radius).min(rows - 1) {
                    for x in column.saturating_sub(radius)..=(column + radius).min(columns - 1) {
                        sum = note(sum, pixels[y * columns + x]);
                    }
                }
                sum
            };
            let expected: Vec<u64> = (0..rows * columns).map(of_pixel).collect();
            assert_eq!(
                stream.download(&sums).unwrap(),
                expected,
                "{rows} by {columns}, {radius} around"
            );
        }
    }
}

#[test]
fn over_every_nth_pair() {
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::nth_pairs).unwrap();
    let grid = Grid::cover(THREADS, 32);
    for (x, step) in cases() {
        for shorter in [0, 1, 5, 40] {
            let y: Vec<u32> = (3..(x.len() + 3).saturating_sub(shorter) as u32).collect();
            let (xs, ys) = (stream.upload(&x).unwrap(), stream.upload(&y).unwrap());
            let mut sums = stream.zeroed::<[u64; 2]>(THREADS).unwrap();
            let arguments = (&xs, &ys, step, &mut sums);
            stream.launch(&kernel, grid, arguments).unwrap();
            let of_thread = |t| {
                let pairs = || x.iter().zip(&y).skip(t);
                let by_step = pairs().step_by(step as usize);
                let by_seven = pairs().step_by(7);
                [
                    by_step.fold(0, |sum, (x, y)| note(sum, x ^ (y << 8))),
                    by_seven.fold(5, |sum: u64, (x, y)| {
                        let product = u64::from(*x) * u64::from(y + 1);
                        sum.wrapping_mul(31).wrapping_add(product)
                    }),
                ]
            };
            let expected: Vec<[u64; 2]> = (0..THREADS).map(of_thread).collect();
            assert_eq!(
                stream.download(&sums).unwrap(),
                expected,
                "{} and {} by {step}",
                x.len(),
                y.len()
            );
        }
    }
}

#[test]
fn whose_flag_is_a_number_too() {
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::flag_as_number).unwrap();
    let x: Vec<u32> = (0..16).map(|i| i * 5 % 23).collect();
    let xs = stream.upload(&x).unwrap();
    for limit in 0..40 {
        let mut sums = stream.zeroed::<u64>(1).unwrap();
        let arguments = (&xs, limit, &mut sums);
        stream.launch(&kernel, Grid::new(1, 1), arguments).unwrap();
        let expected = (0..=limit).fold(0, |sum, i| {
            let sum = if i == 7 { note(sum, 7) } else { sum };
            note(sum, x[(i & 15) as usize])
        });
        let expected = note(expected, limit);
        assert_eq!(stream.download(&sums).unwrap(), [expected], "to {limit}");
    }
}

#[test]
fn in_which_slices_change_places() {
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::swapped).unwrap();
    let (x, y) = ([3, 1, 4, 1, 5], [2, 7, 1]);
    let (xs, ys) = (stream.upload(&x).unwrap(), stream.upload(&y).unwrap());
    for rounds in 0..14 {
        let mut sums = stream.zeroed::<u64>(1).unwrap();
        let arguments = (&xs, &ys, rounds, &mut sums);
        stream.launch(&kernel, Grid::new(1, 1), arguments).unwrap();
        let (mut from, mut other) = (&x[..], &y[..]);
        let mut expected = 0;
        for round in 0..rounds {
            expected = note(expected, from[round as usize % from.len()]);
            expected = note(expected, [x[0], y[0]][round as usize % 2]);
            if round * 5 % 3 != 1 {
                (from, other) = (other, from);
            }
        }
        assert_eq!(stream.download(&sums).unwrap(), [expected], "{rounds}");
    }
}

#[test]
fn in_which_all_threads_meet() {
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::in_step).unwrap();
    let x: Vec<u32> = (0..23).map(|i| i * i % 61 + 1).collect();
    let xs = stream.upload(&x).unwrap();
    for rounds in (0..14).chain([63, 64, 65, 66, 90]) {
        for (places, end) in [
            (1, 1000),
            (2, 0),
            (3, 1),
            (4, 2),
            (5, 3),
            (7, 6),
            (1 << 31, 64),
        ] {
            let mut sums = stream.zeroed::<u64>(kernels::IN_STEP).unwrap();
            let arguments = (&xs, rounds, places, end, &mut sums);
            stream.launch(&kernel, Grid::new(1, 64), arguments).unwrap();
            let expected = kernels::in_step_on_host(&x, rounds, places, end);
            let got = stream.download(&sums).unwrap();
            assert_eq!(got, expected, "{rounds} rounds, {places} places, {end}");
        }
    }
}

#[test]
fn of_constant_rounds() {
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::counted_out).unwrap();
    let x: [u32; kernels::IN_STEP] = std::array::from_fn(|i| (i * i * 37 % 1009) as u32);
    let xs = stream.upload(&x).unwrap();
    let mut sums = stream.zeroed::<u64>(kernels::IN_STEP).unwrap();
    let arguments = (&xs, &mut sums);
    stream.launch(&kernel, Grid::new(1, 64), arguments).unwrap();
    let expected = kernels::counted_out_on_host(&x);
    assert_eq!(stream.download(&sums).unwrap(), expected);
}

#[test]
fn over_ranges_that_include_their_ends() {
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::inclusive).unwrap();
    let mut ends = vec![[0, 0], [5, 3], [5, 5], [-1, -4], [-4, -1], [-1, -1], [1, 0]];
    for middle in [0, 127, 128, 255, 256, 1 << 31, 1 << 32, 1 << 62] {
        ends.extend((0..6).map(|length| [middle + 7, middle + 7 + length]));
    }
    for least in [i64::MIN, i64::MAX - 6] {
        ends.extend((0..7).map(|length| [least, least + length]));
    }
    ends.extend((0..7).map(|length| [i64::from(u32::MAX) - length, u32::MAX.into()]));
    // At the ends of the types, and beyond.
    ends.extend([
        [i64::MAX - 1, i64::MAX],
        [-128, -120],
        [120, 127],
        [250, 255],
    ]);
    let ranges = stream.upload(&ends).unwrap();
    for wanted in [0, 2, 5, 9, -2, i64::MAX, i64::from(u32::MAX)] {
        let mut sums = stream
            .zeroed::<[u64; kernels::INCLUSIVE]>(ends.len())
            .unwrap();
        let arguments = (&ranges, wanted, &mut sums);
        stream
            .launch(&kernel, Grid::cover(ends.len(), 32), arguments)
            .unwrap();
        for (sums, [first, last]) in stream.download(&sums).unwrap().iter().zip(&ends) {
            let expected = kernels::inclusive_of(*first, *last, wanted);
            assert_eq!(*sums, expected, "{first}..={last} to {wanted}");
        }
    }
}

#[test]
fn over_all_numbers_of_a_type() {
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::all_bytes).unwrap();
    let mut sums = stream.zeroed::<[u64; 3]>(1).unwrap();
    stream
        .launch(&kernel, Grid::cover(1, 32), (&mut sums,))
        .unwrap();
    assert_eq!(
        stream.download(&sums).unwrap(),
        [kernels::sums_of_all_bytes()]
    );
}

#[test]
fn over_parts_of_every_length() {
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::parts).unwrap();
    let x: Vec<u32> = (0..70).map(|i| i * i * 37 % 1009).collect();
    let xs = stream.upload(&x).unwrap();
    let ends = |first: u32| (first..first + 41).chain([70]).map(move |end| [first, end]);
    let ranges: Vec<[u32; 2]> = (0..10).chain([29]).flat_map(ends).collect();
    let at = stream.upload(&ranges).unwrap();
    let mut sums = stream.zeroed::<[u64; 2]>(ranges.len()).unwrap();
    let arguments = (&xs, &at, &mut sums);
    stream
        .launch(&kernel, Grid::cover(ranges.len(), 32), arguments)
        .unwrap();
    for (sums, [first, end]) in stream.download(&sums).unwrap().iter().zip(&ranges) {
        let part = &x[*first as usize..*end as usize];
        let ones = part.iter().map(|x| x.count_ones()).sum();
        let expected = [part.iter().fold(0, |sum, x| note(sum, *x)), note(0, ones)];
        assert_eq!(*sums, expected, "{first}..{end}");
    }
}

/// The loop over a tile ends by its counter, which is what is compared beside the tile's start, and both in 32 bits.
#[test]
fn rounds_over_a_tile_compare_nothing_of_64_bits() {
    let all = instructions(SM_90, "ranks_by_tiles");
    let first = all.iter().position(|line| line.starts_with("ld.shared"));
    let round = &all[first.expect("a tile is read")..];
    let end = round.iter().position(|line| line.starts_with('@'));
    let round = &round[..end.expect("a loop ends by a branch")];
    let is_wide = |line: &&String| line.starts_with("setp") && line.contains("64");
    assert_eq!(round.iter().filter(is_wide).count(), 0, "{all:#?}");
}

#[test]
fn ranks_are_those_of_a_stable_sort() -> Result<()> {
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::ranks_by_tiles)?;
    for count in [1, 255, 256, 257, 1000] {
        let numbers: Vec<u32> = (0..count).map(|i| i * 7919 % 61).collect();
        let mut ranks = stream.zeroed::<u32>(numbers.len())?;
        let grid = Grid::cover(numbers.len(), kernels::TILE as u32);
        stream.launch(&kernel, grid, (&stream.upload(&numbers)?, &mut ranks))?;
        let mut order: Vec<usize> = (0..numbers.len()).collect();
        order.sort_by_key(|i| numbers[*i]);
        let mut expected = vec![0; numbers.len()];
        for (rank, i) in order.into_iter().enumerate() {
            expected[i] = rank as u32;
        }
        assert_eq!(stream.download(&ranks)?, expected, "{count} numbers");
    }
    Ok(())
}

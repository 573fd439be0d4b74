//! Narrowed arithmetic gives what the wide one would, at the ends of the ranges, too.

use warpsmith_host::prelude::*;
use warpsmith_test_kernels::narrow as kernels;
use warpsmith_tests::fixture;

const SHORT: u64 = u32::MAX as u64;

#[test]
fn remainders_of_what_a_loop_counts() {
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::counted_remainders).unwrap();
    for rounds in [0, 1, 2, 7, 40] {
        let last = u64::MAX - rounds - 2;
        let starts = [0, 1, 2, 998, SHORT - 5, SHORT, SHORT + 1, last - 1, last];
        let at = stream.upload(&starts).unwrap();
        for divisor in [
            0,
            1,
            2,
            3,
            5,
            39,
            SHORT - 3,
            SHORT,
            SHORT + 1,
            u64::MAX - 3,
            u64::MAX,
        ] {
            let mut sums = stream.zeroed::<u64>(starts.len()).unwrap();
            let arguments = (&at, rounds, divisor, &mut sums);
            stream
                .launch(&kernel, Grid::cover(starts.len(), 32), arguments)
                .unwrap();
            let expected =
                starts.map(|start| kernels::counted_remainders_on_host(start, rounds, divisor));
            let sums = stream.download(&sums).unwrap();
            assert_eq!(sums, expected, "{rounds} rounds by {divisor}");
        }
    }
}

#[test]
fn places_in_a_ring() {
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::places_around).unwrap();
    let starts = [0, 1, 7, SHORT - 1, SHORT, SHORT + 1, u64::MAX - 1, u64::MAX];
    let at = stream.upload(&starts).unwrap();
    for places in [1, 2, 3, 8, SHORT - 1, SHORT, SHORT + 2, u64::MAX] {
        for rounds in [0, 1, 20] {
            let mut sums = stream.zeroed::<u64>(starts.len()).unwrap();
            let arguments = (&at, rounds, places, &mut sums);
            stream
                .launch(&kernel, Grid::cover(starts.len(), 32), arguments)
                .unwrap();
            let expected = starts.map(|start| kernels::around_on_host(start, rounds, places));
            assert_eq!(stream.download(&sums).unwrap(), expected, "of {places}");
        }
    }
}

#[test]
fn neighbours_on_a_ring() {
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::ring_neighbours).unwrap();
    let x = [0, 1, 2, 3, 9, 10, 11, u32::MAX / 2, u32::MAX - 1, u32::MAX];
    let xs = stream.upload(&x).unwrap();
    for places in [0, 1, 2, 3, 10, u32::MAX / 2 + 1, u32::MAX - 1, u32::MAX] {
        let mut sums = stream.zeroed::<u64>(x.len()).unwrap();
        let arguments = (&xs, places, &mut sums);
        stream
            .launch(&kernel, Grid::cover(x.len(), 32), arguments)
            .unwrap();
        let expected = x.map(|x| kernels::ring_neighbours_on_host(x, places));
        assert_eq!(stream.download(&sums).unwrap(), expected, "of {places}");
    }
}

#[test]
fn quotients_of_small_and_of_great_numbers() {
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::quotients).unwrap();
    let a = [
        0,
        1,
        99,
        SHORT - 1,
        SHORT,
        SHORT + 1,
        1 << 40,
        1 << 63,
        u64::MAX - 1,
        u64::MAX,
    ];
    let numbers = stream.upload(&a).unwrap();
    for (width, height) in [
        (1, 1),
        (1, 7),
        (7, 3),
        (1 << 20, 3),
        (SHORT, 1),
        (SHORT, SHORT),
        (SHORT + 1, 3),
        (3, SHORT + 2),
        (u64::MAX, u64::MAX),
    ] {
        let mut results = stream.zeroed::<u64>(a.len()).unwrap();
        let arguments = (&numbers, width, height, &mut results);
        stream
            .launch(&kernel, Grid::cover(a.len(), 32), arguments)
            .unwrap();
        let expected = a.map(|a| kernels::quotients_on_host(a, width, height));
        assert_eq!(
            stream.download(&results).unwrap(),
            expected,
            "{width} {height}"
        );
    }
}

#[test]
fn products_behind_comparisons() {
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::guarded_products).unwrap();
    let ends = [0, SHORT / 2, SHORT, 1 << 33, 1 << 63, u64::MAX];
    let a = ends.map(|end| [-4, -3, -2, -1, 0, 1, 2, 3, 4].map(|n| end.wrapping_add_signed(n)));
    let a = a.concat();
    let numbers = stream.upload(&a).unwrap();
    for bound in [0, 1, 2, 3, 4, 5, u32::MAX / 2, u32::MAX - 1, u32::MAX] {
        for factor in [0, 1, 3, u32::MAX / 2 + 2, u32::MAX] {
            let mut results = stream.zeroed::<u64>(a.len()).unwrap();
            let arguments = (&numbers, bound, factor, &mut results);
            stream
                .launch(&kernel, Grid::cover(a.len(), 32), arguments)
                .unwrap();
            let expected = a
                .iter()
                .map(|a| kernels::guarded_on_host(*a, bound, factor));
            let expected: Vec<_> = expected.collect();
            let results = stream.download(&results).unwrap();
            assert_eq!(results, expected, "{bound} {factor}");
        }
    }
}

#[test]
fn counters_at_the_end_of_32_bits() {
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::counted_steps).unwrap();
    let last = u32::MAX;
    let begins = [0, 1, 2, 9, last / 2, last - 9, last - 2, last - 1, last];
    let at = stream.upload(&begins).unwrap();
    for rounds in [0, 1, 2, 3, 40] {
        for step in [0, 1, 2, 7, last / 2, last - 2, last] {
            let mut sums = stream.zeroed::<u64>(begins.len()).unwrap();
            let arguments = (&at, rounds, step, &mut sums);
            stream
                .launch(&kernel, Grid::cover(begins.len(), 32), arguments)
                .unwrap();
            let expected = begins.map(|begin| kernels::steps_on_host(begin, rounds, step));
            let sums = stream.download(&sums).unwrap();
            assert_eq!(sums, expected, "{rounds} rounds of {step}");
        }
    }
}

#[test]
fn clamped_places_in_a_matrix() {
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::matrix_cross).unwrap();
    for (rows, columns) in [(1, 1), (1, 9), (9, 1), (2, 2), (5, 13)] {
        let numbers: Vec<u32> = (0..rows * columns).map(|i| (i * i + 1) as u32).collect();
        let x = stream.upload(&numbers).unwrap();
        let mut out = stream.zeroed::<u32>(numbers.len()).unwrap();
        let grid = Grid::cover_2d((columns, rows), (8, 4));
        let arguments = (
            x.matrix(rows, columns).unwrap(),
            out.matrix_mut(rows, columns).unwrap(),
        );
        stream.launch(&kernel, grid, arguments).unwrap();
        let expected = (0..rows * columns).map(|i| {
            let (row, column) = (i / columns, i % columns);
            let at = |row: usize, column: usize| numbers[row * columns + column];
            let (above, before) = (row.saturating_sub(1), column.saturating_sub(1));
            let (below, after) = ((row + 1).min(rows - 1), (column + 1).min(columns - 1));
            at(row, column)
                + 3 * at(above, column)
                + 5 * at(row, before)
                + 7 * at(below, column)
                + 11 * at(row, after)
                + 13 * at(below, after)
        });
        let expected: Vec<_> = expected.collect();
        assert_eq!(stream.download(&out).unwrap(), expected, "{rows} {columns}");
    }
}

#[test]
fn numbers_in_all_integer_types() {
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::casts).unwrap();
    let ends = [7, 8, 15, 16, 31, 32, 63, 64].map(|bits| (bits as f32).exp2());
    let around = ends.map(|end| [end, end.next_down(), end.next_up(), end - 1.0, end + 1.0]);
    let others = [
        0.0,
        f32::MIN_POSITIVE,
        1e-40,
        0.5,
        0.999,
        1.0,
        1.5,
        2.5,
        f32::MAX,
        f32::INFINITY,
    ];
    let positive = around.as_flattened().iter().chain(&others);
    let mut x: Vec<f32> = positive.flat_map(|x| [*x, -x]).collect();
    x.extend([f32::NAN, -f32::NAN]);
    let numbers = stream.upload(&x).unwrap();
    let lower = f.module.kernel(kernels::casts_to_lower_bits).unwrap();
    let mut lower_bits = stream.zeroed::<[u64; 7]>(x.len()).unwrap();
    stream
        .launch(
            &lower,
            Grid::cover(x.len(), 32),
            (&numbers, &mut lower_bits),
        )
        .unwrap();
    for (x, result) in x.iter().zip(stream.download(&lower_bits).unwrap()) {
        assert_eq!(result, kernels::lower_bits_on_host(*x), "{x:?}");
    }
    let mut results = stream.zeroed::<[u64; 12]>(x.len()).unwrap();
    stream
        .launch(&kernel, Grid::cover(x.len(), 32), (&numbers, &mut results))
        .unwrap();
    let results = stream.download(&results).unwrap();
    for (x, result) in x.into_iter().zip(results) {
        assert_eq!(result, kernels::casts_on_host(x), "{x:?}");
    }
}

/// Where a parameter is above 2^30 the code for short lengths is not taken, and where their product is.
#[test]
fn lengths_below_and_above_what_is_short() {
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::lengths_of_any_size).unwrap();
    let limit = 1 << 30;
    let around = |n: u64| [n - 1, n, n + 1];
    let mut starts = vec![0, 1, 2, 77, u64::MAX, u64::MAX - 1];
    starts.extend(
        [1 << 15, limit, 1 << 31, 1 << 32, 1 << 45, 1 << 63]
            .map(around)
            .concat(),
    );
    let at = stream.upload(&starts).unwrap();
    let mut lengths = vec![1, 3, 1 << 15, u64::MAX];
    lengths.extend([limit, 1 << 31, 1 << 32, 1 << 63].map(around).concat());
    for &width in &lengths {
        for &height in &lengths {
            let mut sums = stream.zeroed::<u64>(starts.len()).unwrap();
            let arguments = (&at, width, height, &mut sums);
            let grid = Grid::cover(starts.len(), 32);
            stream.launch(&kernel, grid, arguments).unwrap();
            let expected = starts.iter();
            let expected = expected.map(|start| kernels::lengths_on_host(*start, width, height));
            let expected: Vec<u64> = expected.collect();
            let sums = stream.download(&sums).unwrap();
            assert_eq!(sums, expected, "{width} by {height}");
        }
    }
}

#[test]
fn loops_that_end_anywhere() {
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::steps_to_any_end).unwrap();
    let mut ends = vec![0, 1, 2, 3, 4, 8, 100, u64::MAX];
    ends.extend(
        [30, 31, 32, 63]
            .map(|bits| [(1 << bits) - 1, 1 << bits, (1 << bits) + 5])
            .concat(),
    );
    let at = stream.upload(&ends).unwrap();
    for &from in &ends {
        let mut sums = stream.zeroed::<u64>(ends.len()).unwrap();
        let arguments = (&at, from, &mut sums);
        let grid = Grid::cover(ends.len(), 32);
        stream.launch(&kernel, grid, arguments).unwrap();
        let expected: Vec<u64> = ends
            .iter()
            .map(|end| kernels::steps_to_end_on_host(*end, from))
            .collect();
        assert_eq!(stream.download(&sums).unwrap(), expected, "from {from}");
    }
}

/// Of checks that are made together the first that fails is told.
#[test]
fn the_first_check_that_fails_tells() {
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::three_checks).unwrap();
    let x = stream.upload(&[3_u32; 10]).unwrap();
    let y = stream.upload(&[4_u32; 20]).unwrap();
    for fails in 0..8_u64 {
        let at = [0, 1, 2].map(|n| if fails & (1 << n) == 0 { n } else { 100 + n });
        let mut out = stream.zeroed::<u32>(1).unwrap();
        let arguments = (&x, &y, at, &mut out);
        stream.launch(&kernel, Grid::new(1, 1), arguments).unwrap();
        let result = stream.synchronize();
        let expected = match fails.trailing_zeros() {
            0 => "the len is 10 but the index is 100",
            1 => "the len is 20 but the index is 101",
            2 => "the len is 10 but the index is 103",
            _ => {
                result.unwrap();
                assert_eq!(stream.download(&out).unwrap(), [10]);
                continue;
            }
        };
        let text = result.unwrap_err().to_string();
        assert!(text.contains(expected), "{fails}: {text}");
        assert_eq!(
            stream.download(&out).unwrap(),
            [1],
            "what came before is done"
        );
    }
}

#[test]
fn parts_of_an_index_whose_lengths_may_be_zero() {
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::index_parts).unwrap();
    let starts: Vec<u32> = (0..40).chain([u32::MAX - 1, u32::MAX]).collect();
    let at = stream.upload(&starts).unwrap();
    for width in [0, 1, 2, 5, u32::MAX] {
        for height in [0, 1, 3, u32::MAX] {
            let mut out = stream.zeroed::<u32>(starts.len()).unwrap();
            let arguments = (&at, width, height, &mut out);
            stream
                .launch(&kernel, Grid::cover(starts.len(), 32), arguments)
                .unwrap();
            let expected: Vec<_> = starts
                .iter()
                .map(|at| kernels::index_parts_on_host(*at, width, height))
                .collect();
            assert_eq!(
                stream.download(&out).unwrap(),
                expected,
                "{width} x {height}"
            );
        }
    }
}

#[test]
fn places_in_a_window() {
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::places_in_a_window).unwrap();
    let ends = [0, 1, 7, u32::MAX - 1, u32::MAX];
    for start in ends {
        for length in ends {
            let (first, behind) = (u64::from(start), u64::from(start) + u64::from(length));
            let starts = [
                0,
                first.wrapping_sub(1),
                first,
                first + 1,
                behind.wrapping_sub(1),
                behind,
                behind + 1,
                1 << 63,
                u64::MAX,
            ];
            let at = stream.upload(&starts).unwrap();
            let mut out = stream.zeroed::<u64>(starts.len()).unwrap();
            let arguments = (&at, start, length, &mut out);
            stream
                .launch(&kernel, Grid::cover(starts.len(), 32), arguments)
                .unwrap();
            let expected = starts.map(|at| kernels::place_on_host(at, start, length));
            let places = stream.download(&out).unwrap();
            assert_eq!(places, expected, "{length} from {start}");
        }
    }
}

#[test]
fn divisions_of_32_bits_are_exact() {
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::divisions).unwrap();
    let powers = (0..32).flat_map(|n| [(1u32 << n) - 1, 1 << n, (1 << n) + 1]);
    let great = [
        u32::MAX - 1,
        u32::MAX,
        0x5555_5555,
        0xaaaa_aaaa,
        0xffff_0000,
    ];
    let ends: Vec<u32> = powers.chain(great).collect();
    let pairs = ends.iter().flat_map(|n| ends.iter().map(move |d| (*n, *d)));
    // Beside multiples of a divisor the quotient is soonest wrong.
    let mut random = 1u32;
    let beside = (0..20_000).map(|n: u32| {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let divisor = (random >> (n % 31)).max(1);
        let multiple = u32::MAX / divisor * divisor;
        (multiple.wrapping_add(n % 3).wrapping_sub(1), divisor)
    });
    let (numbers, divisors): (Vec<u32>, Vec<u32>) = pairs.chain(beside).unzip();
    let mut quotients = stream.zeroed::<u32>(numbers.len()).unwrap();
    let mut remainders = stream.zeroed::<u32>(numbers.len()).unwrap();
    let of_numbers = stream.upload(&numbers).unwrap();
    let of_divisors = stream.upload(&divisors).unwrap();
    let arguments = (&of_numbers, &of_divisors, &mut quotients, &mut remainders);
    stream
        .launch(&kernel, Grid::cover(numbers.len(), 256), arguments)
        .unwrap();
    let quotients = stream.download(&quotients).unwrap();
    let remainders = stream.download(&remainders).unwrap();
    for (n, (&number, &divisor)) in numbers.iter().zip(&divisors).enumerate() {
        let expected = (
            number.checked_div(divisor).unwrap_or(0),
            (!number).checked_rem(divisor).unwrap_or(0),
        );
        assert_eq!(
            (quotients[n], remainders[n]),
            expected,
            "{number} by {divisor}"
        );
    }
}

#[test]
fn places_in_planes_are_where_they_were() {
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::places_in_planes).unwrap();
    for (layers, rows, columns) in [(3, 5, 7), (4, 1, 9), (2, 8, 1), (1, 1, 1)] {
        let x: Vec<u32> = (0..layers * rows * columns).map(|n| n * 3 + 1).collect();
        let ends = |n: u32| [0, n / 2, n - 1, n, n + 1, u32::MAX];
        let places = (0..layers).flat_map(|layer| {
            let rows = ends(rows).into_iter();
            rows.flat_map(move |row| ends(columns).map(|column| [layer, row, column]))
        });
        let places: Vec<[u32; 3]> = places.collect();
        let mut out = stream.zeroed::<u32>(places.len()).unwrap();
        let (of_x, at) = (stream.upload(&x).unwrap(), stream.upload(&places).unwrap());
        let arguments = (&of_x, rows, columns, &at, &mut out);
        stream
            .launch(&kernel, Grid::cover(places.len(), 64), arguments)
            .unwrap();
        for (place, out) in places.iter().zip(stream.download(&out).unwrap()) {
            let expected = kernels::in_plane_on_host(&x, rows, columns, *place);
            assert_eq!(out, expected, "{place:?} of {layers} x {rows} x {columns}");
        }
    }
}

#[test]
fn short_numbers_are_divided_by_long_ones() {
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::short_by_long).unwrap();
    let numbers = [0, 1, 7, 0x8000_0000, u32::MAX - 1, u32::MAX];
    let divisors = [
        0,
        1,
        7,
        u64::from(u32::MAX) - 1,
        u64::from(u32::MAX),
        1 << 32,
        (1 << 32) + 1,
        7 << 32,
        1 << 63,
        u64::MAX,
    ];
    let pairs = numbers
        .iter()
        .flat_map(|n| divisors.iter().map(move |d| (*n, *d)));
    let (numbers, divisors): (Vec<u32>, Vec<u64>) = pairs.unzip();
    let mut quotients = stream.zeroed::<u64>(numbers.len()).unwrap();
    let mut remainders = stream.zeroed::<u64>(numbers.len()).unwrap();
    let of_numbers = stream.upload(&numbers).unwrap();
    let of_divisors = stream.upload(&divisors).unwrap();
    let arguments = (&of_numbers, &of_divisors, &mut quotients, &mut remainders);
    stream
        .launch(&kernel, Grid::cover(numbers.len(), 64), arguments)
        .unwrap();
    let quotients = stream.download(&quotients).unwrap();
    let remainders = stream.download(&remainders).unwrap();
    for (n, (&number, &divisor)) in numbers.iter().zip(&divisors).enumerate() {
        let expected = (
            u64::from(number).checked_div(divisor).unwrap_or(0),
            u64::from(!number).checked_rem(divisor).unwrap_or(0),
        );
        assert_eq!(
            (quotients[n], remainders[n]),
            expected,
            "{number} by {divisor}"
        );
    }
}

#[test]
fn short_numbers_are_compared_with_long_ones_in_a_loop() {
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::orders_of_limits).unwrap();
    let numbers = [0, 1, 4, 5, 6, 0x8000_0000, u32::MAX - 1, u32::MAX, u32::MAX];
    let limits: Vec<u64> = [0, 5, 62, 1 << 31, 1 << 32, 1 << 63, u64::MAX]
        .iter()
        .flat_map(|limit: &u64| (0..5).map(|more| limit.wrapping_add(more).wrapping_sub(2)))
        .collect();
    for numbers in [&numbers[..], &numbers[..1], &[]] {
        let of_numbers = stream.upload(numbers).unwrap();
        let of_limits = stream.upload(&limits).unwrap();
        let mut out = stream.zeroed::<[u32; 8]>(limits.len()).unwrap();
        let arguments = (&of_numbers, &of_limits, &mut out);
        stream
            .launch(&kernel, Grid::cover(limits.len(), 32), arguments)
            .unwrap();
        let out = stream.download(&out).unwrap();
        for (found, &limit) in out.iter().zip(&limits) {
            assert_eq!(*found, kernels::order(numbers, limit), "{limit:#x}");
        }
    }
}

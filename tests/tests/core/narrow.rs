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
    let mut results = stream.zeroed::<[u64; 12]>(x.len()).unwrap();
    stream
        .launch(&kernel, Grid::cover(x.len(), 32), (&numbers, &mut results))
        .unwrap();
    let results = stream.download(&results).unwrap();
    for (x, result) in x.into_iter().zip(results) {
        assert_eq!(result, kernels::casts_on_host(x), "{x:?}");
    }
}

//! Local arrays in registers: what a loop that was unrolled computes is what the host computes.

use warpsmith_host::prelude::*;
use warpsmith_test_kernels::local_arrays as kernels;
use warpsmith_tests::fixture;

const THREADS: usize = 40;

/// The words of each thread: small, great, equal and falling ones.
fn words() -> Vec<[u32; 32]> {
    let word = |t: u32, i: u32| match t % 5 {
        0 => i * t % 7,
        1 => u32::MAX - i * i,
        2 => 3,
        3 => 1000 - 31 * i,
        _ => i.wrapping_mul(2654435761_u32.wrapping_mul(t)) ^ (i << 27),
    };
    let of_thread = |t| std::array::from_fn(|i| word(t, i as u32));
    (0..THREADS as u32).map(of_thread).collect()
}

#[test]
fn of_a_loop_in_a_loop_of_any_number_of_rounds() {
    let f = fixture();
    let stream = f.stream();
    let columns = f.module.kernel(kernels::columns_of_threads).unwrap();
    let turns = f.module.kernel(kernels::turns_of_threads).unwrap();
    let words = words();
    let values = stream.upload(&words).unwrap();
    let mut out = stream.zeroed::<u32>(THREADS).unwrap();
    let grid = Grid::cover(THREADS, 32);
    for rounds in [0, 1, 2, 3, 5, 31, 32, 33] {
        for wanted in [0, 1, 3, 20, 1000, u32::MAX - 9] {
            let arguments = (&values, rounds, wanted, &mut out);
            stream.launch(&columns, grid, arguments).unwrap();
            let expected = words.iter().map(|x| kernels::columns(x, rounds, wanted));
            let expected: Vec<u32> = expected.collect();
            let found = stream.download(&out).unwrap();
            assert_eq!(found, expected, "{rounds} until {wanted}");
        }
        stream
            .launch(&turns, grid, (&values, rounds, &mut out))
            .unwrap();
        let expected = (0..).zip(&words).map(|(t, x)| kernels::turns(x, rounds, t));
        let expected: Vec<u32> = expected.collect();
        assert_eq!(stream.download(&out).unwrap(), expected, "{rounds} turns");
    }
}

#[test]
fn of_rounds_that_depend_on_other_rounds() {
    let f = fixture();
    let stream = f.stream();
    let words = words();
    let values = stream.upload(&words).unwrap();
    let mut out = stream.zeroed::<u32>(THREADS).unwrap();
    let grid = Grid::cover(THREADS, 32);
    let triangles = f.module.kernel(kernels::triangles).unwrap();
    stream
        .launch(&triangles, grid, (&values, &mut out))
        .unwrap();
    let expected: Vec<u32> = words.iter().map(kernels::triangle).collect();
    assert_eq!(stream.download(&out).unwrap(), expected);
    let steps = f.module.kernel(kernels::steps_of_threads).unwrap();
    stream.launch(&steps, grid, (&values, &mut out)).unwrap();
    let expected: Vec<u32> = words.iter().map(kernels::steps).collect();
    assert_eq!(stream.download(&out).unwrap(), expected);
}

#[test]
fn of_a_loop_in_which_threads_meet() {
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::levels).unwrap();
    let values: Vec<u32> = (0..50).map(|i| i * i + 1).collect();
    let xs = stream.upload(&values).unwrap();
    let mut out = stream.zeroed::<[u32; 5]>(64).unwrap();
    stream
        .launch(&kernel, Grid::cover(64, 32), (&xs, &mut out))
        .unwrap();
    let expected = (0..64).map(|t| {
        std::array::from_fn(|level| {
            let size = 2 << level;
            let group = (t / size * size)..(t / size * size + size);
            group.filter_map(|i| values.get(i)).sum()
        })
    });
    let expected: Vec<[u32; 5]> = expected.collect();
    assert_eq!(stream.download(&out).unwrap(), expected);
}

#[test]
fn of_values_that_are_another_behind_the_end() {
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::with_neighbour).unwrap();
    let nothing = [-1.0, -2.0, f32::INFINITY, -0.0];
    for length in [0, 1, 2, 31, 32, 33, THREADS, THREADS + 1] {
        let element = |i: usize| std::array::from_fn(|k| (4 * i + k) as f32);
        let values: Vec<[f32; 4]> = (0..length).map(element).collect();
        let xs = stream.upload(&values).unwrap();
        let mut out = stream.zeroed::<[f32; 4]>(THREADS).unwrap();
        let grid = Grid::cover(THREADS, 32);
        stream
            .launch(&kernel, grid, (&xs, nothing, &mut out))
            .unwrap();
        let at = |i: usize| values.get(i).unwrap_or(&nothing);
        let expected = (0..THREADS).map(|t| {
            let (own, next) = (at(t), at(t + 1));
            [own[0], next[1], own[2], next[3]]
        });
        let expected: Vec<[f32; 4]> = expected.collect();
        assert_eq!(stream.download(&out).unwrap(), expected, "{length}");
    }
}

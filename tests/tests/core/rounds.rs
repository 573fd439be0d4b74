//! Loops that are made in another way than they are written give what they give on the host.

use half::f16;
use warpsmith_host::prelude::*;
use warpsmith_test_kernels::rounds as kernels;
use warpsmith_tests::fixture;

const THREADS: usize = 70;

fn words() -> Vec<u32> {
    let word = |i: u32| (i + 1).wrapping_mul(2654435761) >> (i % 24);
    (0..THREADS as u32).map(word).collect()
}

macro_rules! is_the_same {
    ($($kernel:ident: $function:ident),*) => {
        $(
            #[test]
            fn $function() {
                let f = fixture();
                let stream = f.stream();
                let kernel = f.module.kernel(kernels::$kernel).unwrap();
                let words = words();
                let values = stream.upload(&words).unwrap();
                let mut out = stream.zeroed::<u32>(THREADS).unwrap();
                for n in [0, 1, 2, 3, 4, 5, 7, 8, 31, 63, 70] {
                    let arguments = (&values, n as u32, &mut out);
                    stream.launch(&kernel, Grid::cover(THREADS, 32), arguments).unwrap();
                    let expected = (0..THREADS).map(|i| kernels::$function(&words, i, n));
                    let expected: Vec<u32> = expected.collect();
                    assert_eq!(stream.download(&out).unwrap(), expected, "{n}");
                }
            }
        )*
    };
}

is_the_same!(
    rounds_of_others: others,
    rounds_of_others_below: others_below,
    rounds_to_the_end: inclusive,
    rounds_of_pairs: zipped,
    rounds_of_searches: searched,
    rounds_in_order: ordered,
    rounds_of_numbers: gathered,
    rounds_until_a_number: gathered_until,
    rounds_of_steps: gathered_by_steps,
    rounds_of_chunks: chunked
);

#[test]
fn sums_by_whole_warps_and_what_is_left() {
    const ROWS: usize = 3;
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::rounds_of_warps).unwrap();
    for length in [1, 31, 32, 33, 64, 96, 128, 129, 300] {
        let words: Vec<u32> = words().into_iter().cycle().take(length).collect();
        let values = stream.upload(&words).unwrap();
        let mut out = stream.zeroed::<u32>(ROWS * length).unwrap();
        let rows = out.matrix_mut(ROWS, length).unwrap();
        let grid = Grid::cover(ROWS * 32, 64);
        stream.launch(&kernel, grid, (&values, rows)).unwrap();
        let sums = words.iter().scan(0_u32, |sum, x| {
            *sum = sum.wrapping_add(*x);
            Some(*sum)
        });
        let expected: Vec<u32> = sums.collect();
        let expected = expected.repeat(ROWS);
        assert_eq!(stream.download(&out).unwrap(), expected, "{length}");
    }
}

#[test]
fn results_that_need_each_other() {
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::rounds_of_moments).unwrap();
    let words = words();
    let values = stream.upload(&words).unwrap();
    let mut sums = stream.upload(&words).unwrap();
    let pairs: Vec<[u32; 2]> = words.iter().map(|x| [*x, x ^ 5]).collect();
    let mut products = stream.upload(&pairs).unwrap();
    let arguments = (&values, &mut sums, &mut products);
    stream
        .launch(&kernel, Grid::cover(THREADS, 32), arguments)
        .unwrap();
    let (sums, products) = (
        stream.download(&sums).unwrap(),
        stream.download(&products).unwrap(),
    );
    for (i, [first, second]) in pairs.into_iter().enumerate() {
        let sum = words[i].wrapping_add(words[i]);
        let first = first.wrapping_mul(sum);
        let second = second ^ first.wrapping_add(sum);
        assert_eq!(sums[i], sum.rotate_left(1), "{i}");
        assert_eq!(products[i], [first, second], "{i}");
    }
}

#[test]
fn halves_side_by_side() {
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::rounds_to_halves).unwrap();
    let of_word = |x: u32| x as f32 / 3.0 - 1000.0;
    let x: Vec<[f32; 2]> = words()
        .into_iter()
        .map(|x| [of_word(x >> 16), of_word(x & 0xFFFF)])
        .collect();
    let from = stream.upload(&x).unwrap();
    let mut out = stream.upload(&vec![[f16::ZERO; 2]; x.len()]).unwrap();
    stream
        .launch(&kernel, Grid::cover(THREADS, 32), (&from, &mut out))
        .unwrap();
    let expected: Vec<[f16; 2]> = x.iter().map(|x| x.map(f16::from_f32)).collect();
    assert_eq!(stream.download(&out).unwrap(), expected);
}

//! Local arrays that are exchanged or assigned as wholes hold what they hold on the host.

use warpsmith_host::prelude::*;
use warpsmith_test_kernels::exchanges as kernels;
use warpsmith_tests::fixture;

const THREADS: usize = 70;

fn words() -> Vec<[u32; 32]> {
    let word = |t: u32, i: u32| (t * 32 + i + 1).wrapping_mul(2654435761) >> (t % 24);
    let of_thread = |t| std::array::from_fn(|i| word(t, i as u32));
    (0..THREADS as u32).map(of_thread).collect()
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
                for rounds in [0, 1, 2, 3, 4, 31, 64] {
                    let arguments = (&values, rounds, &mut out);
                    stream.launch(&kernel, Grid::cover(THREADS, 32), arguments).unwrap();
                    let expected = words.iter().map(|x| kernels::$function(x, rounds));
                    let expected: Vec<u32> = expected.collect();
                    assert_eq!(stream.download(&out).unwrap(), expected, "{rounds}");
                }
            }
        )*
    };
}

is_the_same!(
    exchanged_rows: exchanged,
    rows_in_turns: in_turns,
    assigned_rows: assigned,
    rows_copied_and_kept: copied,
    rows_behind_exchanges: behind
);

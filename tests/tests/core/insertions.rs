//! Elements of local arrays that are moved behind a search, which the linker makes registers, are what they are on the host.

use warpsmith_host::prelude::*;
use warpsmith_test_kernels::insertions as kernels;
use warpsmith_tests::fixture;

const THREADS: usize = 70;

/// The values of each thread: falling, rising, equal and mixed ones.
fn values() -> Vec<[u32; 32]> {
    let value = |t: u32, i: u32| match t % 5 {
        0 => 1000 - i * t % 33,
        1 => i * (t + 1),
        2 => t,
        3 => (i ^ t).wrapping_mul(2654435761) >> 28,
        _ => (i + t).wrapping_mul(2654435761),
    };
    let of_thread = |t| std::array::from_fn(|i| value(t, i as u32));
    (0..THREADS as u32).map(of_thread).collect()
}

macro_rules! tests {
    ($($test:ident $kernel:ident $function:ident)*) => ($(
        #[test]
        fn $test() {
            let f = fixture();
            let stream = f.stream();
            let kernel = f.module.kernel(kernels::$kernel).unwrap();
            let values = values();
            let on_device = stream.upload(&values).unwrap();
            let mut out = stream.zeroed::<u64>(THREADS).unwrap();
            for length in [0, 1, 2, 5, 6, 7, 8, 31, 32] {
                let arguments = (&on_device, length, &mut out);
                stream.launch(&kernel, Grid::cover(THREADS, 64), arguments).unwrap();
                let expected = values.iter().map(|x| kernels::$function(&x[..length as usize]));
                let expected: Vec<u64> = expected.collect();
                assert_eq!(stream.download(&out).unwrap(), expected, "of {length}");
            }
        }
    )*)
}

tests! {
    the_least_values inserted_least least
    what_comes_to_the_front inserted_at_front at_front
    what_comes_to_the_end inserted_at_end at_end
    what_is_copied_over_others inserted_over over
    what_is_inserted_until_it_is_there inserted_until_twice until_twice
}

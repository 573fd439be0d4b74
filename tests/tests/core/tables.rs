//! Local arrays whose first stores the linker leaves out hold what they hold on the host, also where they are filled in part.

use warpsmith_host::prelude::*;
use warpsmith_test_kernels::tables as kernels;
use warpsmith_tests::fixture;

const THREADS: usize = 2000;

macro_rules! tests {
    ($($test:ident $kernel:ident $function:ident)*) => ($(
        #[test]
        fn $test() {
            let f = fixture();
            let stream = f.stream();
            let kernel = f.module.kernel(kernels::$kernel).unwrap();
            let seeds: Vec<u32> = (0..THREADS as u32).map(|t| t.wrapping_mul(40503) >> 3).collect();
            let places: Vec<u32> = (0..THREADS as u32).collect();
            let (on_device, at) = (stream.upload(&seeds).unwrap(), stream.upload(&places).unwrap());
            let mut out = stream.zeroed::<u32>(THREADS).unwrap();
            stream.launch(&kernel, Grid::cover(THREADS, 64), (&on_device, &at, &mut out)).unwrap();
            let expected = seeds.iter().zip(&places);
            let expected: Vec<u32> = expected.map(|(seed, at)| kernels::$function(*seed, *at)).collect();
            assert_eq!(stream.download(&out).unwrap(), expected);
        }
    )*)
}

tests! {
    all_rows_but_the_first_one filled_all_rows all_rows
    all_rows_but_the_last_ones filled_some_rows some_rows
    any_number_of_rows filled_any_rows any_rows
    rows_of_six_bytes filled_bytes_by_six bytes_by_six
    words_until_one_is_found filled_until_found until_found
    words_of_others filled_of_its_own of_its_own
    words_that_others_are_between filled_by_seven by_seven
}

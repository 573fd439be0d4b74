//! Local arrays whose first stores the linker leaves out hold what they hold on the host, also where they are filled in part.

use warpsmith_host::prelude::*;
use warpsmith_test_kernels::{stacks, tables};
use warpsmith_tests::fixture;

const THREADS: usize = 2000;

macro_rules! tests {
    ($($test:ident $kernel:ident $function:path)*) => ($(
        #[test]
        fn $test() {
            let f = fixture();
            let stream = f.stream();
            let kernel = f.module.kernel(tables::$kernel).unwrap();
            let seeds: Vec<u32> = (0..THREADS as u32).map(|t| t.wrapping_mul(40503) >> 3).collect();
            let places: Vec<u32> = (0..THREADS as u32).collect();
            let (on_device, at) = (stream.upload(&seeds).unwrap(), stream.upload(&places).unwrap());
            let mut out = stream.zeroed::<u32>(THREADS).unwrap();
            stream.launch(&kernel, Grid::cover(THREADS, 64), (&on_device, &at, &mut out)).unwrap();
            let expected = seeds.iter().zip(&places);
            let expected: Vec<u32> = expected.map(|(seed, at)| $function(*seed, *at)).collect();
            assert_eq!(stream.download(&out).unwrap(), expected);
        }
    )*)
}

tests! {
    all_rows_but_the_first_one filled_all_rows tables::all_rows
    all_rows_but_the_last_ones filled_some_rows tables::some_rows
    any_number_of_rows filled_any_rows tables::any_rows
    rows_of_six_bytes filled_bytes_by_six tables::bytes_by_six
    words_until_one_is_found filled_until_found tables::until_found
    words_of_others filled_of_its_own tables::of_its_own
    words_that_others_are_between filled_by_seven tables::by_seven
    a_stack_of_single_elements stack_by_one stacks::by_one
    a_stack_of_a_trees_nodes stack_of_tree stacks::of_tree
    a_stack_by_its_last_element stack_by_last stacks::by_last
    a_stack_with_gaps stack_with_gaps stacks::with_gaps
    a_stack_of_short_places_and_long_numbers stack_of_places stacks::of_places
}

//! `step_by` of iterators over slices, which the device's `core` makes loops over indices of, gives what the host's gives.

use warpsmith_host::prelude::*;
use warpsmith_test_kernels::steps as kernels;
use warpsmith_tests::fixture;

#[test]
fn all_methods_of_steps_give_what_they_give_on_the_host() {
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::digests_of_steps).unwrap();
    let skips = [0, 1, 2, 7, 30, 31, u64::MAX - 1, u64::MAX];
    let numbers = [1, 2, 3, 8, 29, 1 << 63, u64::MAX];
    let steps: Vec<[u64; 2]> = skips
        .iter()
        .flat_map(|skip| numbers.map(|step| [*skip, step]))
        .collect();
    let steps_on_device = stream.upload(&steps).unwrap();
    for length in [0, 1, 2, 3, 8, 30, 31] {
        let values: Vec<u32> = (0..length).map(|i| i * i % 23 + i).collect();
        let values_on_device = stream.upload(&values).unwrap();
        let mut out = stream.zeroed::<[u64; 2]>(steps.len()).unwrap();
        let arguments = (&values_on_device, &steps_on_device, &mut out);
        stream
            .launch(&kernel, Grid::cover(steps.len(), 32), arguments)
            .unwrap();
        for (&[skip, step], found) in steps.iter().zip(stream.download(&out).unwrap()) {
            let (skip, step) = (skip as usize, step as usize);
            let expected = [
                kernels::digest_of_steps(&values, skip, step),
                kernels::digest_of_units(skip, step),
            ];
            assert_eq!(
                found, expected,
                "{length} elements, from {skip}, step {step}"
            );
        }
    }
}

#[test]
fn steps_are_written_to() {
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::written_steps).unwrap();
    let mut rows = [[7; 9]; 12];
    let mut out = stream.upload(&rows).unwrap();
    stream
        .launch(&kernel, Grid::cover(12, 32), (&mut out,))
        .unwrap();
    for (skip, row) in rows.iter_mut().enumerate() {
        kernels::write_steps(row, skip);
    }
    assert_eq!(stream.download(&out).unwrap(), rows);
}

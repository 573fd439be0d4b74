//! Kernels of a crate without unsafe code, and kernels under other names.

use warpsmith_host::prelude::*;
use warpsmith_test_kernels::safe as kernels;
use warpsmith_tests::{Fixture, fixture};

#[test]
fn kernels_of_a_crate_that_forbids_unsafe_code() {
    let f = fixture();
    let stream = f.stream();
    let x: Vec<u32> = (0..64).map(|i| i * i).collect();
    let expected: Vec<u32> = (0..64).map(|i| x[i % 8 * 8 + i / 8] + x[63 - i]).collect();
    let grid = Grid::new(1, (8, 8));

    let words = f.module.kernel(kernels::scaled::<u32>).unwrap();
    let mut out = stream.zeroed::<u32>(64).unwrap();
    let xs = stream.upload(&x).unwrap();
    stream.launch(&words, grid, (&xs, &mut out)).unwrap();
    assert_eq!(stream.download(&out).unwrap(), expected);

    let long = f.module.kernel(kernels::scaled::<u64>).unwrap();
    let mut out = stream.zeroed::<u64>(64).unwrap();
    let xs: Vec<u64> = x.iter().map(|&x| x.into()).collect();
    let xs = stream.upload(&xs).unwrap();
    stream.launch(&long, grid, (&xs, &mut out)).unwrap();
    let expected: Vec<u64> = expected.iter().map(|&x| x.into()).collect();
    assert_eq!(stream.download(&out).unwrap(), expected);
}

#[test]
fn a_kernel_under_another_name() {
    // A module of its own: the static belongs to it.
    let f = Fixture::open().unwrap();
    let stream = f.stream();
    let kernel: TypedKernel<kernels::counted_elements> =
        f.module.kernel(kernels::counted_elements).unwrap();
    let x = stream.upload(&[0u32; 70]).unwrap();
    stream.launch(&kernel, Grid::cover(70, 32), (&x,)).unwrap();
    assert_eq!(
        f.module.global::<u32>("SAFE_COUNT").unwrap().get().unwrap(),
        70
    );
}

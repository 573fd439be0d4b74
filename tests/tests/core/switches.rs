//! What the order of two numbers decides, and cases of which the last is not tested.

use warpsmith_host::prelude::*;
use warpsmith_test_kernels::switches as kernels;
use warpsmith_tests::{Random, fixture};

#[test]
fn an_order_decides_as_on_the_host() -> Result<()> {
    // The ends of all types, and their neighbours.
    let ends = [0, 0x7f, 0x80, 0xff, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff];
    let of_64 = [i64::MIN, i64::MAX, -0x80, -0x8000_0000];
    let numbers: Vec<i64> = ends
        .into_iter()
        .chain(of_64)
        .flat_map(|end: i64| [-1, 0, 1].map(|by| end.wrapping_add(by)))
        .collect();
    let pairs: Vec<[i64; 2]> = numbers
        .iter()
        .flat_map(|&a| numbers.iter().map(move |&b| [a, b]))
        .collect();
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::orders_of_pairs)?;
    let on_device = stream.upload(&pairs)?;
    let mut out = stream.upload(&vec![0_u32; pairs.len()])?;
    let grid = Grid::cover(pairs.len(), 64);
    stream.launch(&kernel, grid, (&on_device, &mut out))?;
    let expected: Vec<u32> = pairs.iter().map(|[a, b]| kernels::orders(*a, *b)).collect();
    assert_eq!(stream.download(&out)?, expected);
    Ok(())
}

#[test]
fn sorted_lists_are_walked_to_the_end_of_one() -> Result<()> {
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::common_values)?;
    let mut random = Random::new(5);
    for [n, m] in [[0, 3], [1, 1], [40, 25], [33, 70]] {
        let mut list = |length| {
            let mut list: Vec<u32> = (0..length).map(|_| random.below(50)).collect();
            list.sort_unstable();
            list
        };
        let (a, b) = (list(n), list(m));
        let (on_a, on_b) = (stream.upload(&a)?, stream.upload(&b)?);
        let mut out = stream.upload(&[7_u32; 64])?;
        stream.launch(&kernel, Grid::cover(64, 32), (&on_a, &on_b, &mut out))?;
        let expected: Vec<u32> = (0..64)
            .map(|i| match (a.get(i..), b.get(i / 2..)) {
                (Some(a), Some(b)) => kernels::common(a, b),
                _ => 7,
            })
            .collect();
        assert_eq!(stream.download(&out)?, expected, "{n} {m}");
    }
    Ok(())
}

#[test]
fn every_case_is_the_one_that_it_is() -> Result<()> {
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::steps_of_machine)?;
    let mut random = Random::new(6);
    let steps: Vec<u32> = (0..200).map(|_| random.bits() as u32).collect();
    let on_device = stream.upload(&steps)?;
    let mut out = stream.upload(&[0_u32; 96])?;
    stream.launch(&kernel, Grid::cover(96, 32), (&on_device, &mut out))?;
    let expected: Vec<u32> = (0..96).map(|i| kernels::machine(&steps, i)).collect();
    assert_eq!(stream.download(&out)?, expected);
    Ok(())
}

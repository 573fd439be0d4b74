//! Chapter 19: prefetches and advice, which make programs faster and change no results.

use warpsmith_host::prelude::*;
use warpsmith_test_kernels::guide_memory as kernels;
use warpsmith_tests::{Fixture, fixture};

// covers: UM-21, UM-X07
#[test]
fn initialised_prefetched_used_and_prefetched_back() -> Result<()> {
    let Fixture { gpu, module } = fixture();
    let stream = gpu.stream()?;
    let increase = module.kernel(kernels::increase_each)?;
    let first: Vec<u32> = (0..1 << 18).collect();
    let expected: Vec<u32> = first.iter().map(|word| word + 9).collect();
    let mut results = Vec::new();
    for prefetches in [false, true] {
        let mut data = gpu.unified_from(&first)?;
        if prefetches {
            stream.prefetch(&data, Location::Device)?;
        }
        stream.launch(&increase, Grid::cover(data.len(), 256), (9, &mut data))?;
        if prefetches {
            stream.prefetch(&data, Location::Host)?;
        }
        stream.synchronize()?;
        results.push(data.host()?.to_vec());
    }
    assert!(results[0] == expected && results[1] == expected);
    Ok(())
}

/// Readers on both sides between rewrites of the host, each after a wait: the example lacks the wait, without which the guard is refused.
// covers: UM-23, UM-X08
#[test]
fn data_that_is_mostly_read() -> Result<()> {
    let Fixture { gpu, module } = fixture();
    let stream = gpu.stream()?;
    let add_words = module.kernel(kernels::add_words)?;
    let mut data = gpu.unified::<u32>(1 << 12)?;
    data.advise(Advice::ReadMostly)?;
    assert!(data.hints(..)?.read_mostly);
    for outer in 1..4_u32 {
        data.host_mut()?.fill(outer);
        stream.prefetch(&data, Location::Device)?;
        let expected = outer << 12;
        for _ in 0..3 {
            let mut sum = stream.zeroed::<u32>(1)?;
            stream.launch(&add_words, Grid::cover(data.len(), 256), (&data, &mut sum))?;
            assert_eq!(stream.download(&sum)?, [expected]);
            assert_eq!(data.host()?.iter().sum::<u32>(), expected);
        }
    }
    Ok(())
}

/// Where the host reaches the device's memory itself (attribute 101), the pages stay; elsewhere they move there and back.
// covers: UM-30, UM-X12
#[test]
fn the_host_reads_between_two_kernels() -> Result<()> {
    let Fixture { gpu, module } = fixture();
    let direct = gpu.attribute(Attribute::DIRECT_MANAGED_MEM_ACCESS_FROM_HOST)?;
    println!("the host reaches the device's memory directly: {direct}");
    let stream = gpu.stream()?;
    let (write, append) = (
        module.kernel(kernels::a_plus_b)?,
        module.kernel(kernels::add_a_plus_b)?,
    );
    let mut ret = gpu.unified::<u32>(1000)?;
    ret.advise(Advice::AccessedBy(Location::Host))?;
    let grid = Grid::new(1, 1000);
    stream.launch(&write, grid, (10, 100, &mut ret))?;
    stream.synchronize()?;
    let expected: Vec<u32> = (0..1000).map(|i| 110 + i).collect();
    assert_eq!(*ret.host()?, *expected);
    stream.launch(&append, grid, (10, 100, &mut ret))?;
    stream.synchronize()?;
    let expected: Vec<u32> = (0..1000).map(|i| 220 + 2 * i).collect();
    assert_eq!(*ret.host()?, *expected);
    Ok(())
}

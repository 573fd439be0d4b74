//! Atomic words in local memory, against words of the grid.

use warpsmith_device::half::f16;
use warpsmith_host::prelude::*;
use warpsmith_test_kernels::local_atomics;
use warpsmith_tests::fixture;

/// All threads see what the first one saw, whose word was in global memory.
macro_rules! alike {
    ($($test:ident: $type:ty, $results:literal, $cases:expr;)*) => {$(
        #[test]
        fn $test() -> Result<()> {
            const THREADS: usize = 64;
            let f = fixture();
            let stream = f.stream();
            let kernel = f.module.kernel(local_atomics::$test)?;
            for (initial, value) in $cases {
                let mut words = stream.filled::<$type>(THREADS, initial)?;
                let mut seen = stream.zeroed::<[$type; $results]>(THREADS)?;
                let grid = Grid::cover(THREADS, 32);
                stream.launch(&kernel, grid, (initial, value, &mut words, &mut seen))?;
                let seen = stream.download(&seen)?;
                assert_eq!(seen[0][0], initial);
                for (thread, results) in seen.iter().enumerate() {
                    assert_eq!(results, &seen[0], "thread {thread}, {initial} and {value}");
                }
            }
            Ok(())
        }
    )*};
}
alike! {
    values_u16: u16, 6, [(1, 2), (0xffff, 0)];
    integers_u32: u32, 12, [(5, 9), (u32::MAX, 0x8000_0001), (0, 77)];
    integers_i32: i32, 12, [(5, -9), (i32::MIN, i32::MAX), (0, 77)];
    integers_u64: u64, 12, [(5, 9), (u64::MAX, 1 << 63), (1 << 40, 77)];
    integers_i64: i64, 12, [(5, -9), (i64::MIN, i64::MAX), (1 << 40, -77)];
    counters_u32: u32, 8, [(0, 1), (9, 3), (u32::MAX, u32::MAX), (3, 0)];
    additions_f32: f32, 4, [(0.5, 1.25), (1e30, -3.0)];
    additions_f64: f64, 4, [(0.1, 0.2), (1e300, -3.0)];
}

#[test]
fn halves_are_added() -> Result<()> {
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(local_atomics::additions_f16)?;
    let mut sums = stream.zeroed::<[f32; 2]>(40)?;
    stream.launch(&kernel, Grid::new(1, 40), (f16::from_f32(1.5), &mut sums))?;
    assert_eq!(stream.download(&sums)?, [[3.0; 2]; 40]);
    Ok(())
}

#[test]
fn words_of_128_bits_are_exchanged() -> Result<()> {
    let f = fixture();
    if f.gpu.compute_capability() < ComputeCapability::new(9, 0) {
        return Ok(());
    }
    let stream = f.stream();
    let kernel = f.module.kernel(local_atomics::values_u128)?;
    let mut seen = stream.zeroed::<[u64; 4]>(2)?;
    stream.launch(&kernel, Grid::new(1, 2), (7, 9, &mut seen))?;
    assert_eq!(stream.download(&seen)?, [[3, !7, !9, 7]; 2]);
    Ok(())
}

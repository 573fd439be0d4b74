//! Shared memory: phases, tiles, generic functions, dynamic memory.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use warpsmith_host::observe::{Access, At, LaunchEvent, Observer};
use warpsmith_host::prelude::*;
use warpsmith_test_kernels::shared_memory as kernels;
use warpsmith_tests::fixture;

// covers: SPACE-10, SHMEM-01
#[test]
fn reversal_of_blocks() {
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::reverse).unwrap();
    let x: Vec<u32> = (0..1024).collect();
    let xs = stream.upload(&x).unwrap();
    let mut out = stream.zeroed::<u32>(x.len()).unwrap();
    stream
        .launch(&kernel, Grid::cover(x.len(), 256), (&xs, &mut out))
        .unwrap();
    let expected: Vec<u32> = x
        .chunks(256)
        .flat_map(|c| c.iter().rev().copied())
        .collect();
    assert_eq!(stream.download(&out).unwrap(), expected);
    assert_eq!(kernel.attributes().unwrap().static_shared_bytes, 1024);
}

#[test]
fn sums_by_a_tree_in_blocks_of_any_size() {
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::tree_sum).unwrap();
    let x: Vec<u32> = (0..3000).map(|i| i * 7 % 1000).collect();
    let xs = stream.upload(&x).unwrap();
    for block in [1usize, 2, 63, 256, 1000] {
        let mut sums = stream.zeroed::<u32>(x.len().div_ceil(block)).unwrap();
        let grid = Grid::cover(x.len(), block as u32);
        stream.launch(&kernel, grid, (&xs, &mut sums)).unwrap();
        let expected: Vec<u32> = x.chunks(block).map(|part| part.iter().sum()).collect();
        assert_eq!(
            stream.download(&sums).unwrap(),
            expected,
            "blocks of {block}"
        );
    }
}

#[test]
fn reductions_in_blocks_of_any_size() {
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::reductions).unwrap();
    let x: Vec<u32> = (0..3000).map(|i| i * 7 % 1000).collect();
    let xs = stream.upload(&x).unwrap();
    for block in [1usize, 2, 3, 63, 256, 1000] {
        let mut out = stream.zeroed(x.len().div_ceil(block)).unwrap();
        let grid = Grid::cover(x.len(), block as u32);
        stream.launch(&kernel, grid, (&xs, &mut out)).unwrap();
        let expected = x.chunks(block).map(|part| {
            let sum: u32 = part.iter().sum();
            let scaled = x[..777].iter().map(|x| x.wrapping_mul(sum | 1));
            [sum, scaled.max().unwrap_or(0)]
        });
        let found: Vec<[u32; 2]> = stream.download(&out).unwrap();
        assert!(expected.eq(found), "blocks of {block}");
    }
}

#[test]
fn tiles_are_filled_by_blocks_of_any_shape() {
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::tile_columns).unwrap();
    let x: Vec<u32> = (0..640).map(|i| i % 97).collect();
    let xs = stream.upload(&x).unwrap();
    for block in [(32, 8, 1), (7, 3, 2), (64, 1, 1), (1, 1, 1), (4, 40, 1)] {
        let threads = (block.0 * block.1 * block.2) as usize;
        let mut out = stream.zeroed::<u32>(threads).unwrap();
        stream
            .launch(&kernel, Grid::new(1, block), (&xs, &mut out))
            .unwrap();
        let expected: Vec<u32> = (0..threads)
            .map(|t| {
                let column = |r: u32| x[r as usize * 32 + t % 32] * (r + 1);
                (0..20).map(column).sum::<u32>() + x[..32].iter().sum::<u32>()
            })
            .collect();
        assert_eq!(stream.download(&out).unwrap(), expected, "block {block:?}");
    }
}

/// A helper called in a loop gets the same object each time: without the barrier of `refill` the rounds would disturb one
/// another.
#[test]
fn one_object_serves_many_rounds() {
    let f = fixture();
    let stream = f.stream();
    let x: Vec<u32> = (0..128).map(|i| i * 3).collect();
    let xs = stream.upload(&x).unwrap();
    let expected: Vec<u32> = (0..128).map(|i| x[(i + 100) % 128]).collect();
    let mut out = stream.zeroed::<u32>(128).unwrap();
    let lent = f.module.kernel(kernels::rounds).unwrap();
    stream
        .launch(&lent, Grid::new(1, 128), (&xs, 100u32, &mut out))
        .unwrap();
    assert_eq!(stream.download(&out).unwrap(), expected);
    stream.fill(&mut out, 0).unwrap();
    let given = f.module.kernel(kernels::rounds_by_value).unwrap();
    stream
        .launch(&given, Grid::new(1, 128), (&xs, 100u32, &mut out))
        .unwrap();
    assert_eq!(stream.download(&out).unwrap(), expected);
    for kernel in [lent.attributes(), given.attributes()] {
        assert_eq!(kernel.unwrap().static_shared_bytes, 512);
    }
}

#[test]
fn one_tile_serves_many_rounds() {
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::tile_rounds).unwrap();
    let x: Vec<u32> = (0..64 * 5).map(|i| i * 7 % 101).collect();
    let xs = stream.upload(&x).unwrap();
    let mut out = stream.zeroed::<u32>(64).unwrap();
    stream
        .launch(&kernel, Grid::new(1, (8, 8)), (&xs, &mut out))
        .unwrap();
    let transposed = |part: &[u32], i: usize| part[i % 8 * 8 + i / 8];
    let expected: Vec<u32> = (0..64)
        .map(|i| {
            x.chunks(64)
                .fold(0, |sum, part| sum * 3 + transposed(part, i))
        })
        .collect();
    assert_eq!(stream.download(&out).unwrap(), expected);
    assert_eq!(kernel.attributes().unwrap().static_shared_bytes, 8 * 9 * 4);
}

/// Bytes that the lanes of products of matrices read from global memory. Other tests use the device meanwhile.
#[derive(Default)]
struct BytesRead {
    /// The numbers of the products' launches.
    launches: Mutex<Vec<u64>>,
    bytes: AtomicU64,
}

impl Observer for BytesRead {
    fn launch(&self, launch: &LaunchEvent<'_>) {
        if launch.kernel.contains("multiply_") {
            self.launches.lock().unwrap().push(launch.number);
        }
    }

    fn access(&self, at: &At<'_>, access: &Access<'_>) {
        if at.name().starts_with("ld.global") && self.launches.lock().unwrap().contains(&at.launch)
        {
            let lanes = u64::from(at.lanes.count_ones());
            self.bytes
                .fetch_add(lanes * u64::from(access.size), Ordering::Relaxed);
        }
    }
}

/// Blocks of 16 by 16 that stage tiles read a sixteenth of what threads read that go to global memory for each product.
// covers: SHMEM-03, EX1-09, EX1-10
#[test]
fn tiles_are_loaded_once_a_block() {
    const N: usize = 64;
    let f = fixture();
    let stream = f.stream();
    let plain = f.module.kernel(kernels::multiply_plain).unwrap();
    let tiles = f.module.kernel(kernels::multiply_tiles).unwrap();
    let a: Vec<u32> = (0..N * N).map(|i| i as u32 * 7 % 101).collect();
    let b: Vec<u32> = (0..N * N).map(|i| i as u32 * 5 % 89).collect();
    let expected: Vec<u32> = (0..N * N)
        .map(|i| (0..N).map(|k| a[i / N * N + k] * b[k * N + i % N]).sum())
        .collect();
    let (a, b) = (stream.upload(&a).unwrap(), stream.upload(&b).unwrap());
    let (a, b) = (a.matrix(N, N).unwrap(), b.matrix(N, N).unwrap());
    let grid = Grid::new((4, 4), (16, 16));
    let mut bytes = [0; 2];
    for (in_tiles, bytes) in bytes.iter_mut().enumerate() {
        let mut c = stream.zeroed::<u32>(N * N).unwrap();
        let read = Arc::new(BytesRead::default());
        let observer = f.gpu.is_simulator().then(|| f.gpu.observe(read.clone()));
        let observer = observer.transpose().unwrap();
        let c_matrix = c.matrix_mut(N, N).unwrap();
        if in_tiles == 1 {
            stream.launch(&tiles, grid, (a, b, c_matrix)).unwrap();
        } else {
            stream.launch(&plain, grid, (a, b, c_matrix)).unwrap();
        }
        assert_eq!(stream.download(&c).unwrap(), expected);
        drop(observer);
        *bytes = read.bytes.load(Ordering::Relaxed);
    }
    if f.gpu.is_simulator() {
        let plain = 2 * N.pow(3) as u64 * 4;
        assert_eq!(bytes, [plain, plain / 16]);
    }
}

#[test]
fn a_generic_function_has_one_object_for_each_type() {
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::neighbours).unwrap();
    let mut out = stream.zeroed::<[u32; 2]>(64).unwrap();
    stream
        .launch(&kernel, Grid::new(1, 64), (&mut out,))
        .unwrap();
    let expected: Vec<[u32; 2]> = (0..64)
        .map(|i| [(i + 1) % 64, (i + 1) % 64 + 100])
        .collect();
    assert_eq!(stream.download(&out).unwrap(), expected);
    assert!(kernel.attributes().unwrap().static_shared_bytes >= 64 * 5);
}

// covers: SPACE-11
#[test]
fn dynamic_shared_memory_of_odd_sizes() {
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::rotate_dynamic).unwrap();
    let x: Vec<u64> = (0..64).map(|i| i << 33).collect();
    let xs = stream.upload(&x).unwrap();
    for bytes in [64 * 8, 13 * 8, 13 * 8 + 5] {
        let mut out = stream.zeroed::<u64>(64).unwrap();
        let mut sizes = stream.zeroed::<u32>(1).unwrap();
        let grid = Grid::new(1, 64).shared_bytes(bytes);
        stream
            .launch(&kernel, grid, (&xs, &mut out, &mut sizes))
            .unwrap();
        let length = bytes as usize / 8;
        let expected: Vec<u64> = (0..64)
            .map(|i| if i < length { x[(i + 1) % length] } else { 0 })
            .collect();
        assert_eq!(stream.download(&out).unwrap(), expected);
        assert_eq!(stream.download(&sizes).unwrap(), [bytes]);
    }
}

// covers: SPACE-12, SPACE-X2
#[test]
fn arrays_carved_out_of_a_region() {
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::carve).unwrap();
    let mut out = stream.zeroed::<[u32; 4]>(64).unwrap();
    // Too little: the kernel sees it and writes nothing.
    stream
        .launch(&kernel, Grid::new(1, 64).shared_bytes(1535), (&mut out,))
        .unwrap();
    assert_eq!(stream.download(&out).unwrap(), [[0; 4]; 64]);
    stream
        .launch(&kernel, Grid::new(1, 64).shared_bytes(1536), (&mut out,))
        .unwrap();
    let expected: Vec<[u32; 4]> = (0..64).map(|i| [i, 2 * i + 1, 3 * i, 1536]).collect();
    assert_eq!(stream.download(&out).unwrap(), expected);
}

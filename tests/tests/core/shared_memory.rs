//! Shared memory: phases, tiles, generic functions, dynamic memory.

use warpsmith_host::prelude::*;
use warpsmith_test_kernels::shared_memory as kernels;
use warpsmith_tests::fixture;

// covers: SPACE-10
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

//! Threads, blocks, grids and padded memory (2.1, 2.2, 3.2.2, 5.3.2).

use warpsmith_host::prelude::*;
use warpsmith_test_kernels::guide;
use warpsmith_tests::ptx::{SM_70, instructions};
use warpsmith_tests::{Random, fixture};

/// Numbers whose sums are exact.
fn numbers(count: usize, seed: u64) -> Vec<f32> {
    let mut random = Random::new(seed);
    (0..count).map(|_| random.below(1 << 20) as f32).collect()
}

fn sums(a: &[f32], b: &[f32]) -> Vec<f32> {
    a.iter().zip(b).map(|(a, b)| a + b).collect()
}

// covers: EX1-01
#[test]
fn one_block_adds_two_vectors() -> Result<()> {
    let f = fixture();
    let stream = f.stream();
    let vec_add = f.module.kernel(guide::vec_add)?;
    for n in [1, 31, 256, 1024] {
        let (a, b) = (numbers(n, 1), numbers(n, 2));
        let (x, y) = (stream.upload(&a)?, stream.upload(&b)?);
        let mut c = stream.zeroed(n)?;
        stream.launch(&vec_add, Grid::new(1, n as u32), (&x, &y, &mut c))?;
        assert_eq!(stream.download(&c)?, sums(&a, &b), "{n} elements");
    }
    Ok(())
}

// covers: EX1-02
#[test]
fn one_block_adds_matrices_of_32_rows_and_not_of_33() -> Result<()> {
    let f = fixture();
    let stream = f.stream();
    let mat_add = f.module.kernel(guide::mat_add)?;
    let add = |n: usize| -> Result<Vec<f32>> {
        let x = stream.upload(&numbers(n * n, 1))?;
        let y = stream.upload(&numbers(n * n, 2))?;
        let mut c = stream.zeroed(n * n)?;
        let (x, y) = (x.matrix(n, n)?, y.matrix(n, n)?);
        let block = Grid::new(1, (n as u32, n as u32));
        stream.launch(&mat_add, block, (&x, &y, &mut c.matrix_mut(n, n)?))?;
        stream.download(&c)
    };
    assert_eq!(add(32)?, sums(&numbers(1024, 1), &numbers(1024, 2)));
    let error = add(33).expect_err("a block has 1024 threads at most");
    assert_eq!(error.code(), Some(Code::INVALID_VALUE));
    let text = error.to_string();
    assert!(text.contains("1089") && text.contains("1024"), "{text}");
    Ok(())
}

// covers: EX1-03
#[test]
fn blocks_of_16_by_16_add_matrices_of_any_size() -> Result<()> {
    let f = fixture();
    let stream = f.stream();
    let mat_add = f.module.kernel(guide::mat_add)?;
    for n in [16, 48, 50, 1, 129] {
        let (a, b) = (numbers(n * n, 1), numbers(n * n, 2));
        let (x, y) = (stream.upload(&a)?, stream.upload(&b)?);
        let mut c = stream.zeroed(n * n)?;
        let (x, y) = (x.matrix(n, n)?, y.matrix(n, n)?);
        let grid = Grid::cover_2d((n, n), (16, 16));
        stream.launch(&mat_add, grid, (&x, &y, &mut c.matrix_mut(n, n)?))?;
        assert_eq!(stream.download(&c)?, sums(&a, &b), "{n} rows");
    }
    Ok(())
}

// covers: EX1-08
#[test]
fn each_element_of_a_padded_volume_is_visited_once() -> Result<()> {
    let f = fixture();
    let stream = f.stream();
    let visit = f.module.kernel(guide::visit)?;
    for (depth, height, width) in [(64, 64, 64), (5, 7, 33)] {
        let count = depth * height * width;
        let numbers: Vec<u32> = (0..count as u32).collect();
        let layers = stream.pitched_volume_upload(&numbers, depth, height, width)?;
        assert_eq!(layers.slice_pitch(), layers.pitch() * height);
        let mut visited = stream.pitched_volume_zeroed::<u32>(depth, height, width)?;
        let grid = Grid::cover_3d((width, height, depth), (16, 4, 4));
        let arguments = (&layers.matrix(), height as u32, &mut visited.volume_mut());
        stream.launch(&visit, grid, arguments)?;
        assert_eq!(stream.download_matrix(&visited.matrix())?, numbers);
    }
    Ok(())
}

// covers: EX1-26
#[test]
fn aligned_structures_are_loaded_whole() -> Result<()> {
    assert_eq!(size_of::<guide::Aligned8>(), 8);
    assert_eq!(size_of::<guide::Aligned16>(), 16);
    let ptx = instructions(SM_70, "sum_aligned");
    for whole in ["ld.global.nc.v2", "ld.global.nc.v4"] {
        let loads = ptx.iter().filter(|line| line.starts_with(whole)).count();
        assert_eq!(loads, 1, "{whole} in {ptx:#?}");
    }

    let f = fixture();
    let stream = f.stream();
    let sum = f.module.kernel(guide::sum_aligned)?;
    let parts: Vec<[f32; 6]> = (0..300).map(|i| [i as f32; 6]).collect();
    let pairs: Vec<_> = parts
        .iter()
        .map(|&[x, y, ..]| guide::Aligned8 { x, y })
        .collect();
    let triples: Vec<_> = parts
        .iter()
        .map(|&[_, _, x, y, z, unused]| guide::Aligned16 { x, y, z, unused })
        .collect();
    let (pairs, triples) = (stream.upload(&pairs)?, stream.upload(&triples)?);
    let mut out = stream.zeroed(300)?;
    stream.launch(&sum, Grid::cover(300, 128), (&pairs, &triples, &mut out))?;
    let expected: Vec<f32> = (0..300).map(|i| 6.0 * i as f32).collect();
    assert_eq!(stream.download(&out)?, expected);
    Ok(())
}

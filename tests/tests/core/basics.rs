//! Parameters, indices and views.

use half::{bf16, f16};
use warpsmith_host::prelude::*;
use warpsmith_test_kernels::basics as kernels;
use warpsmith_tests::fixture;

// covers: SPACE-01, LAUNCH-01
#[test]
fn saxpy_of_ragged_lengths() {
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::saxpy).unwrap();
    for n in [1, 31, 256, 1000] {
        let x: Vec<f32> = (0..n).map(|i| i as f32).collect();
        let xs = stream.upload(&x).unwrap();
        let mut ys = stream.upload(&vec![1.0f32; n]).unwrap();
        stream
            .launch(&kernel, Grid::cover(n, 256), (2.0f32, &xs, &mut ys))
            .unwrap();
        let y = stream.download(&ys).unwrap();
        for (i, y) in y.iter().enumerate() {
            assert_eq!(*y, 2.0 * i as f32 + 1.0, "element {i} of {n}");
        }
    }
}

// covers: VEC-05, VEC-06, SPACE-13
#[test]
fn indices_in_three_dimensions() {
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::indices).unwrap();
    let (grid, block) = ([3u32, 2, 2], [5u32, 3, 4]);
    let threads = (grid.iter().product::<u32>() * block.iter().product::<u32>()) as usize;
    let mut out = stream.zeroed::<[u32; 16]>(threads + 1).unwrap();
    stream
        .launch(&kernel, Grid::new((3, 2, 2), (5, 3, 4)), (&mut out,))
        .unwrap();
    let rows = stream.download(&out).unwrap();
    let mut number = 0;
    for (bz, by, bx) in triples([grid[2], grid[1], grid[0]]) {
        for (z, y, x) in triples([block[2], block[1], block[0]]) {
            let in_block = (z * 3 + y) * 5 + x;
            let block_number = (bz * 2 + by) * 3 + bx;
            let first = u32::from(number == 0);
            let expected = [
                x,
                y,
                z,
                bx,
                by,
                bz,
                5,
                3,
                4,
                3,
                2,
                2,
                number,
                in_block,
                block_number * 60 + first,
                (bx * 5 + x) * 10_000 + (by * 3 + y) * 100 + bz * 4 + z,
            ];
            assert_eq!(rows[number as usize], expected);
            number += 1;
        }
    }
    assert_eq!(
        rows[threads], [0; 16],
        "an element without a thread stays as it was"
    );
}

/// All triples below the extents, the last one fastest.
fn triples([a, b, c]: [u32; 3]) -> impl Iterator<Item = (u32, u32, u32)> {
    (0..a).flat_map(move |x| (0..b).flat_map(move |y| (0..c).map(move |z| (x, y, z))))
}

#[test]
fn a_grid_stride_loop_reaches_every_element_once() {
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::squares).unwrap();
    let x: Vec<u32> = (0..1003).collect();
    let xs = stream.upload(&x).unwrap();
    let mut out = stream.filled(x.len(), 7u32).unwrap();
    stream
        .launch(&kernel, Grid::new(3, 64), (&xs, &mut out))
        .unwrap();
    let expected: Vec<u32> = x.iter().map(|x| x * x).collect();
    assert_eq!(stream.download(&out).unwrap(), expected);
}

// covers: SYNC-03
#[test]
fn each_block_counts_its_own_part() {
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::count_odd).unwrap();
    for block in [1usize, 31, 33, 1024] {
        let n = 2500;
        let x: Vec<u32> = (0..n).map(|i| i * i % 7).collect();
        let xs = stream.upload(&x).unwrap();
        let blocks = x.len().div_ceil(block);
        let mut counts = stream.zeroed::<u32>(blocks).unwrap();
        let grid = Grid::cover(x.len(), block as u32);
        stream.launch(&kernel, grid, (&xs, &mut counts)).unwrap();
        let odd = |part: &[u32]| part.iter().filter(|x| *x % 2 == 1).count() as u32;
        let expected: Vec<u32> = x.chunks(block).map(odd).collect();
        assert_eq!(
            stream.download(&counts).unwrap(),
            expected,
            "blocks of {block}"
        );
    }
}

#[test]
fn matrices_with_strides() {
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::transpose_plain).unwrap();
    let (rows, columns, stride) = (37u32, 50u32, 64u32);
    let data: Vec<f32> = (0..rows * stride).map(|i| i as f32).collect();
    let src = stream.upload(&data).unwrap();
    let mut dst = stream.zeroed::<f32>((rows * columns) as usize).unwrap();
    let view = src
        .matrix_with_stride(rows as usize, columns as usize, stride as usize)
        .unwrap();
    let out = dst.matrix_mut(columns as usize, rows as usize).unwrap();
    stream
        .launch(
            &kernel,
            Grid::cover_2d((rows as usize, columns as usize), (16, 8)),
            (view, out),
        )
        .unwrap();
    let result = stream.download(&dst).unwrap();
    for row in 0..rows {
        for column in 0..columns {
            let at = (column * rows + row) as usize;
            assert_eq!(result[at], (row * stride + column) as f32);
        }
    }
}

/// A kernel reads and writes rows that are padded to the driver's pitch, 65 elements of 4 bytes each; the padding stays as it is.
// covers: MEM-04, EX1-07
#[test]
fn matrices_with_padded_rows() {
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::transpose_plain).unwrap();
    let (rows, columns) = (65, 33);
    let data: Vec<f32> = (0..rows * columns).map(|i| i as f32).collect();
    let src = stream.pitched_upload(&data, rows, columns).unwrap();
    let mut dst = stream.pitched_zeroed::<f32>(columns, rows).unwrap();
    assert_eq!((src.pitch(), dst.pitch()), (512, 512));
    let grid = Grid::cover_2d((rows, columns), (16, 8));
    stream
        .launch(&kernel, grid, (src.matrix(), dst.matrix_mut()))
        .unwrap();
    let result = stream.download_matrix(&dst.matrix()).unwrap();
    for row in 0..rows {
        for column in 0..columns {
            assert_eq!(result[column * rows + row], data[row * columns + column]);
        }
    }
}

// covers: LANG-28, LANG-29, SPACE-13
#[test]
fn parameters_of_every_kind() {
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::parameters).unwrap();
    let recipe = kernels::Recipe {
        factor: 1000.0,
        offsets: std::array::from_fn(|i| i as f32 * 0.25),
        bias: [10, 20, 30, 40],
    };
    let single = stream
        .upload(&[warpsmith_device::vector::Float4::new(1.0, 2.0, 3.0, 4.0)])
        .unwrap();
    let mut out = stream.zeroed::<[f64; 4]>(40).unwrap();
    let arguments = (
        recipe,
        f16::from_f32(0.5),
        bf16::from_f32(0.25),
        &single,
        -(1i64 << 40),
        200u8,
        9usize,
        &mut out,
    );
    stream
        .launch(&kernel, Grid::cover(40, 32), arguments)
        .unwrap();
    for (i, row) in stream.download(&out).unwrap().iter().enumerate() {
        let wide = -(1i64 << 40) + 200 + i64::from(recipe.bias[i % 4]);
        let expected = [
            1000.0 + f64::from(recipe.offsets[i % 16]),
            0.75,
            5.0,
            wide as f64,
        ];
        assert_eq!(*row, expected);
    }
}

#[test]
fn an_unsafe_kernel_with_a_name_of_its_own() {
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::raw_copy).unwrap();
    assert_eq!(kernel.name(), "raw_copy_entry");
    let from = stream.upload(&[1u32, 2, 3, 4, 5]).unwrap();
    let mut to = stream.zeroed::<u32>(5).unwrap();
    // SAFETY: both buffers have five elements.
    unsafe { stream.launch_unchecked(&kernel, Grid::cover(5, 32), (&from, &mut to, 5usize)) }
        .unwrap();
    assert_eq!(stream.download(&to).unwrap(), [1, 2, 3, 4, 5]);
}

// covers: LANG-19, LANG-31
#[test]
fn instantiations_of_a_generic_kernel() {
    let f = fixture();
    let stream = f.stream();
    let (a, b): (Vec<f32>, Vec<f32>) = (0..100).map(|i| (i as f32, 2.0 + i as f32)).unzip();
    let (a, b) = (stream.upload(&a).unwrap(), stream.upload(&b).unwrap());
    let mut out = stream.zeroed::<f32>(100).unwrap();
    let sum = f
        .module
        .kernel(kernels::combine::<f32, kernels::Sum, 1>)
        .unwrap();
    stream
        .launch(&sum, Grid::cover(100, 64), (&a, &b, &mut out))
        .unwrap();
    assert_eq!(stream.download(&out).unwrap()[10], 22.0);
    let product = f
        .module
        .kernel(kernels::combine::<f32, kernels::Product, 2>)
        .unwrap();
    stream
        .launch(&product, Grid::cover(100, 64), (&a, &b, &mut out))
        .unwrap();
    assert_eq!(stream.download(&out).unwrap()[10], 10.0 * 12.0 * 12.0);
    let (a, b) = (
        stream.upload(&[1u64 << 60; 3]).unwrap(),
        stream.upload(&[5u64; 3]).unwrap(),
    );
    let mut out = stream.zeroed::<u64>(3).unwrap();
    let sums = f
        .module
        .kernel(kernels::combine::<u64, kernels::Sum, 3>)
        .unwrap();
    stream
        .launch(&sums, Grid::cover(3, 32), (&a, &b, &mut out))
        .unwrap();
    assert_eq!(stream.download(&out).unwrap(), [(1 << 60) + 15; 3]);
}

// covers: LAUNCH-06, LAUNCH-11
#[test]
fn bounds_reach_the_driver() {
    let f = fixture();
    let stream = f.stream();
    let x = stream.upload(&[3.0f32, 4.0, 5.0]).unwrap();
    let mut out = stream.zeroed::<f32>(256).unwrap();
    let bounded = f.module.kernel(kernels::bounded).unwrap();
    let saxpy = f.module.kernel(kernels::saxpy).unwrap();
    assert_eq!(saxpy.attributes().unwrap().max_threads_per_block, 256);
    let error = stream
        .launch(&bounded, Grid::new(1, 64), (&x, &mut out))
        .unwrap_err();
    assert!(
        error.to_string().contains("64"),
        "the message names the size: {error}"
    );
    let frugal = f.module.kernel(kernels::frugal).unwrap();
    assert!(frugal.attributes().unwrap().registers <= 24);
    stream
        .launch(&frugal, Grid::new(2, 128), (&x, &mut out))
        .unwrap();
    assert_eq!(stream.download(&out).unwrap(), [17.0; 256]);
}

/// A view that numbers threads along x only is safe only in launches along x.
#[test]
fn views_of_one_dimension_refuse_launches_of_two() {
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::squares).unwrap();
    let x = stream.upload(&[1u32; 64]).unwrap();
    let mut out = stream.zeroed::<u32>(64).unwrap();
    let launch = |grid: Grid, out: &mut DeviceBuffer<u32>| stream.launch(&kernel, grid, (&x, out));
    launch(Grid::new(1, (32, 2)), &mut out).unwrap_err();
    launch(Grid::new((1, 2), 32), &mut out).unwrap_err();
    launch(Grid::new(1, (32, 1, 1)), &mut out).unwrap();
}

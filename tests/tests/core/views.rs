//! Output views: every element is reached by one thread, once, whatever the shape of the launch.

use warpsmith_host::prelude::*;
use warpsmith_test_kernels::views as kernels;
use warpsmith_tests::{Random, fixture};

type Extents = (u32, u32, u32);

/// Launches with whole and partial warps, in one, two and three dimensions.
const GRIDS: [(Extents, Extents); 6] = [
    ((1, 1, 1), (32, 1, 1)),
    ((3, 1, 1), (128, 1, 1)),
    ((2, 1, 1), (50, 1, 1)),
    ((2, 3, 1), (7, 9, 1)),
    ((1, 2, 3), (5, 4, 3)),
    ((4, 1, 1), (1, 1, 1)),
];

fn grid(index: usize) -> Grid {
    Grid::new(GRIDS[index].0, GRIDS[index].1)
}

fn threads(index: usize) -> (usize, usize) {
    let ((bx, by, bz), (tx, ty, tz)) = GRIDS[index];
    ((bx * by * bz) as usize, (tx * ty * tz) as usize)
}

#[test]
fn each_warp_has_an_element() {
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::sum_per_warp).unwrap();
    for index in 0..GRIDS.len() {
        let (blocks, threads) = threads(index);
        let x: Vec<u32> = (0..(blocks * threads) as u32).map(|i| i * i).collect();
        let expected: Vec<[u32; 2]> = x
            .chunks(threads)
            .flat_map(|block| block.chunks(32).map(|warp| warp.iter().sum::<u32>()))
            .enumerate()
            .map(|(warp, sum)| [warp as u32 + 5, sum + 5])
            .collect();
        let x = stream.upload(&x).unwrap();
        let mut out = stream.upload(&vec![[5u32; 2]; expected.len()]).unwrap();
        stream.launch(&kernel, grid(index), (&x, &mut out)).unwrap();
        assert_eq!(stream.download(&out).unwrap(), expected, "{index}");
        // A slice that is too short gets what it has room for.
        let mut short = stream.zeroed::<[u32; 2]>(1).unwrap();
        stream
            .launch(&kernel, grid(index), (&x, &mut short))
            .unwrap();
        assert_eq!(stream.download(&short).unwrap()[0][1], expected[0][1] - 5);
    }
}

/// A matrix with a stride, in which each of the first `rows` rows holds its places; the rest is untouched.
fn places(rows: usize, columns: usize, stride: usize, reached: usize) -> Vec<u32> {
    (0..rows * stride)
        .map(|i| (i / stride, i % stride))
        .map(|(row, column)| {
            let is_inside = column < columns && row < reached;
            7 + if is_inside {
                (row * 1000 + column) as u32
            } else {
                0
            }
        })
        .collect()
}

#[test]
fn each_warp_and_each_block_has_rows() {
    let f = fixture();
    let stream = f.stream();
    let by_warp = f.module.kernel(kernels::rows_per_warp).unwrap();
    let one_by_warp = f.module.kernel(kernels::row_per_warp).unwrap();
    let by_block = f.module.kernel(kernels::rows_per_block).unwrap();
    for index in 0..GRIDS.len() {
        for (rows, columns, stride) in
            [(11, 70, 75), (1, 1, 1), (3, 0, 4), (0, 5, 5), (100, 33, 33)]
        {
            let grid = grid(index);
            let (blocks, threads) = threads(index);
            let mut out = stream.upload(&vec![7u32; rows * stride + 3]).unwrap();
            let expected = |reached| {
                let mut all = places(rows, columns, stride, reached);
                all.extend([7; 3]);
                all
            };
            let name = format!("{rows} x {columns}, launch {index}");
            let matrix = out.matrix_mut_with_stride(rows, columns, stride).unwrap();
            stream.launch(&by_warp, grid, (matrix,)).unwrap();
            assert_eq!(
                stream.download(&out).unwrap(),
                expected(rows),
                "by warp, {name}"
            );

            let mut out = stream.upload(&vec![7u32; rows * stride + 3]).unwrap();
            let matrix = out.matrix_mut_with_stride(rows, columns, stride).unwrap();
            stream.launch(&one_by_warp, grid, (matrix,)).unwrap();
            let warps = blocks * threads.div_ceil(32);
            assert_eq!(
                stream.download(&out).unwrap(),
                expected(warps),
                "one by warp, {name}"
            );

            let mut out = stream.upload(&vec![7u32; rows * stride + 3]).unwrap();
            let matrix = out.matrix_mut_with_stride(rows, columns, stride).unwrap();
            stream.launch(&by_block, grid, (matrix,)).unwrap();
            assert_eq!(
                stream.download(&out).unwrap(),
                expected(rows),
                "by block, {name}"
            );
        }
    }
}

#[test]
fn each_block_has_a_tile() {
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::tiles_per_block).unwrap();
    let (rows, columns, stride) = (19, 45, 50);
    for block in [(20, 8), (32, 1), (1, 1), (7, 3), (64, 2)] {
        let mut out = stream.upload(&vec![7u32; rows * stride]).unwrap();
        let matrix = out.matrix_mut_with_stride(rows, columns, stride).unwrap();
        stream
            .launch(&kernel, Grid::new((4, 3), block), (matrix,))
            .unwrap();
        assert_eq!(
            stream.download(&out).unwrap(),
            places(rows, columns, stride, rows),
            "{block:?}"
        );
    }
    // A second layer of blocks would have the same tiles.
    let mut out = stream.zeroed::<u32>(400).unwrap();
    let refused = stream.launch(
        &kernel,
        Grid::new((1, 1, 2), 32),
        (out.matrix_mut(20, 20).unwrap(),),
    );
    let text = refused.unwrap_err().to_string();
    assert!(text.contains("`TilePerBlock` two"), "{text}");
}

#[test]
fn each_thread_has_its_position() {
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::positions).unwrap();
    let (depth, rows, columns) = (5, 7, 9);
    let count = depth * rows * columns;
    let mut out = stream.upload(&vec![3u32; count + 2]).unwrap();
    let volume = out.volume_mut(depth, rows, columns).unwrap();
    stream
        .launch(&kernel, Grid::new((3, 2, 3), (4, 4, 2)), (volume,))
        .unwrap();
    let expected: Vec<u32> = (0..count)
        .map(|i| (i / (rows * columns), i / columns % rows, i % columns))
        .map(|(layer, row, column)| ((layer * 100 + row) * 100 + column) as u32 + 3)
        .chain([3, 3])
        .collect();
    assert_eq!(stream.download(&out).unwrap(), expected);
}

/// The elements of a volume of zeros that `positions` has added to.
fn positioned([depth, rows, columns]: [usize; 3]) -> Vec<u32> {
    (0..depth * rows * columns)
        .map(|i| (i / (rows * columns), i / columns % rows, i % columns))
        .map(|(layer, row, column)| ((layer * 100 + row) * 100 + column) as u32)
        .collect()
}

// covers: MEM-05
#[test]
fn each_thread_has_its_position_in_a_padded_volume() {
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::positions).unwrap();
    for extents in [[5, 7, 9], [1, 1, 1], [2, 3, 128], [3, 2, 129], [2, 1, 33]] {
        let [depth, rows, columns] = extents;
        let mut volume = stream
            .pitched_volume_zeroed::<u32>(depth, rows, columns)
            .unwrap();
        let blocks = [columns, rows, depth].map(|extent| extent as u32 + 3);
        let grid = Grid::new(
            (
                blocks[0].div_ceil(4),
                blocks[1].div_ceil(4),
                blocks[2].div_ceil(2),
            ),
            (4, 4, 2),
        );
        stream
            .launch(&kernel, grid, (volume.volume_mut(),))
            .unwrap();
        let found = stream.download_matrix(&volume.matrix()).unwrap();
        assert_eq!(found, positioned(extents), "{extents:?}");
    }
    // One without elements has threads, too.
    for [depth, rows, columns] in [[0, 3, 4], [2, 0, 4], [2, 3, 0]] {
        let mut volume = stream
            .pitched_volume_zeroed::<u32>(depth, rows, columns)
            .unwrap();
        let grid = Grid::new((1, 1, 1), (4, 4, 4));
        stream
            .launch(&kernel, grid, (volume.volume_mut(),))
            .unwrap();
    }
    stream.synchronize().unwrap();
}

#[test]
fn what_lies_between_the_rows_of_a_volume_is_left_alone() {
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::positions).unwrap();
    let ([depth, rows, columns], stride) = ([3, 4, 5], 8);
    let mut out = stream.upload(&vec![7u32; depth * rows * stride]).unwrap();
    let volume = out.volume_mut_with_stride(depth, rows, columns, stride);
    stream
        .launch(&kernel, Grid::new((2, 1, 1), (4, 4, 4)), (volume.unwrap(),))
        .unwrap();
    let inside = positioned([depth, rows, columns]);
    let expected: Vec<u32> = (0..depth * rows * stride)
        .map(|i| match i % stride {
            column if column < columns => inside[i / stride * columns + column] + 7,
            _ => 7,
        })
        .collect();
    assert_eq!(stream.download(&out).unwrap(), expected);
}

fn shuffled(count: u32) -> Vec<u32> {
    let mut places: Vec<u32> = (0..count).collect();
    let mut random = Random::new(7);
    for i in (1..places.len()).rev() {
        places.swap(i, random.index(i + 1));
    }
    places
}

#[test]
fn elements_are_scattered() {
    let f = fixture();
    let stream = f.stream();
    let places = shuffled(300);
    let at = stream.upload(&places).unwrap();
    macro_rules! check {
        ($ty:ty, $value:expr) => {{
            let kernel = f.module.kernel(kernels::scatter::<$ty>).unwrap();
            let value: fn(u32) -> $ty = $value;
            let x: Vec<$ty> = (0..300).map(value).collect();
            let mut expected = x.clone();
            for (x, &place) in x.iter().zip(&places) {
                expected[place as usize] = *x;
            }
            let x = stream.upload(&x).unwrap();
            let mut out = stream.zeroed::<$ty>(300).unwrap();
            stream
                .launch(&kernel, Grid::cover(300, 64), (&x, &at, &mut out))
                .unwrap();
            assert_eq!(stream.download(&out).unwrap(), expected);
        }};
    }
    check!(u32, |i| i * i);
    check!(f64, |i| f64::from(i) + 0.25);
    check!([u32; 3], |i| [i, i + 1, !i]);
}

/// Two threads that write one element do not race (the simulator would say so), and one of the values stays.
#[test]
fn two_may_write_one_element() {
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::scatter::<f64>).unwrap();
    let x: Vec<f64> = (0..256).map(f64::from).collect();
    let places: Vec<u32> = (0..256).map(|i| i % 5).collect();
    let (x, places) = (stream.upload(&x).unwrap(), stream.upload(&places).unwrap());
    let mut out = stream.zeroed::<f64>(5).unwrap();
    stream
        .launch(&kernel, Grid::cover(256, 64), (&x, &places, &mut out))
        .unwrap();
    for (place, value) in stream.download(&out).unwrap().into_iter().enumerate() {
        assert_eq!(value as usize % 5, place);
    }
}

#[test]
fn scattered_writes_are_bounded_and_counted() {
    let f = fixture();
    let stream = f.stream();
    let inside = f.module.kernel(kernels::scatter_inside).unwrap();
    let places = stream.upload(&[3, 10, 0, u32::MAX, 9]).unwrap();
    let mut out = stream.upload(&[77u32; 10]).unwrap();
    let mut count = stream.zeroed::<u32>(1).unwrap();
    stream
        .launch(&inside, Grid::cover(5, 32), (&places, &mut out, &mut count))
        .unwrap();
    assert_eq!(
        stream.download(&out).unwrap(),
        [0, 77, 77, 3, 77, 77, 77, 77, 77, 9]
    );
    assert_eq!(stream.download(&count).unwrap(), [2]);

    let once = f.module.kernel(kernels::scatter_once).unwrap();
    let places: Vec<u32> = (0..100).map(|i| i % 40).collect();
    let places = stream.upload(&places).unwrap();
    let mut out = stream.upload(&[u32::MAX; 50]).unwrap();
    let mut late = stream.zeroed::<u32>(1).unwrap();
    stream
        .launch(&once, Grid::cover(100, 32), (&places, &mut out, &mut late))
        .unwrap();
    let out = stream.download(&out).unwrap();
    assert!(
        out[..40]
            .iter()
            .enumerate()
            .all(|(place, i)| *i as usize % 40 == place),
        "{out:?}"
    );
    assert_eq!(out[40..], [u32::MAX; 10]);
    assert_eq!(stream.download(&late).unwrap(), [60]);
}

#[test]
fn a_scattered_write_out_of_bounds_panics() {
    let f = warpsmith_tests::Fixture::open().unwrap();
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::scatter::<u32>).unwrap();
    let x = stream.upload(&[1u32]).unwrap();
    let places = stream.upload(&[4u32]).unwrap();
    let mut out = stream.zeroed::<u32>(4).unwrap();
    stream
        .launch(&kernel, Grid::new(1, 1), (&x, &places, &mut out))
        .unwrap();
    let text = stream.synchronize().unwrap_err().to_string();
    assert!(
        text.contains("written out of bounds") && text.contains("views.rs"),
        "{text}"
    );
}

#[test]
fn a_warp_has_a_row_of_a_tile() {
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::reverse_in_warps).unwrap();
    // Four whole warps; a partial one; five, of which the last has no row.
    for threads in [128, 100, 160] {
        let x: Vec<u32> = (0..threads).collect();
        let mut expected = x.clone();
        for (warp, chunk) in expected.chunks_mut(32).enumerate() {
            // Turned round twice; and which column the first element past the lanes has.
            let lanes = chunk.len() as u32;
            for element in &mut *chunk {
                *element = if warp < 4 { *element + 1000 * lanes } else { 9 };
            }
        }
        let x = stream.upload(&x).unwrap();
        let mut out = stream.upload(&vec![9u32; threads as usize]).unwrap();
        stream
            .launch(&kernel, Grid::new(1, threads), (&x, &mut out))
            .unwrap();
        assert_eq!(
            stream.download(&out).unwrap(),
            expected,
            "{threads} threads"
        );
    }
}

#[test]
fn a_lent_array_is_taken_back_before_it_is_filled() {
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::filled_after_it_was_lent).unwrap();
    let mut out = stream.zeroed::<[u32; 2]>(64).unwrap();
    stream
        .launch(&kernel, Grid::new(1, 64), (&mut out,))
        .unwrap();
    let expected: Vec<[u32; 2]> = (0..64)
        .map(|own| [2 * (63 - own) + 100, 63 + 100])
        .collect();
    assert_eq!(stream.download(&out).unwrap(), expected);
}

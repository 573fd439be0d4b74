//! Indices and lengths of 32 bits: each reaches what the `usize` reaches, and nothing past an end.

use warpsmith_host::prelude::*;
use warpsmith_test_kernels::index32 as kernels;
use warpsmith_tests::{Fixture, fixture};

/// What the kernel's thread wrote, or the panic's text.
fn outcome(stream: &Stream, out: &DeviceBuffer<u32>) -> std::result::Result<Vec<u32>, String> {
    stream.download(out).map_err(|error| {
        let text = error.to_string();
        assert!(
            text.contains("index32.rs"),
            "the place is the kernel's: {text}"
        );
        text
    })
}

#[test]
fn slices() {
    let f = Fixture::open().unwrap();
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::reaches).unwrap();
    let x: Vec<u32> = (0..10).map(|i| 1 << i).collect();
    let buffer = stream.upload(&x).unwrap();
    let run = |way: u32, i: u32, j: u32| {
        let mut counts = stream.upload(&[5u32, 6]).unwrap();
        let mut out = stream.zeroed::<u32>(1).unwrap();
        let arguments = (&buffer, way, i, j, &mut counts, &mut out);
        stream.launch(&kernel, Grid::new(1, 1), arguments).unwrap();
        outcome(&stream, &out).map(|out| out[0])
    };
    for (way, i, j, expected) in [
        (0, 0, 0, Ok(1)),
        (0, 9, 0, Ok(512)),
        (
            0,
            10,
            0,
            Err("index out of bounds: the len is 10 but the index is 10"),
        ),
        (
            0,
            u32::MAX,
            0,
            Err("index out of bounds: the len is 10 but the index is 4294967295"),
        ),
        (1, 0, 10, Ok(1023)),
        (1, 10, 10, Ok(0)),
        (1, 3, 5, Ok(24)),
        (
            1,
            3,
            11,
            Err("range end index 11 out of range for slice of length 10"),
        ),
        (1, 5, 3, Err("slice index starts at 5 but ends at 3")),
        (
            1,
            0,
            u32::MAX,
            Err("range end index 4294967295 out of range for slice of length 10"),
        ),
        (2, 9, 0, Ok(512)),
        (2, 10, 0, Ok(0)),
        (
            2,
            11,
            0,
            Err("range start index 11 out of range for slice of length 10"),
        ),
        (3, 2, 0, Ok(3)),
        (3, 10, 0, Ok(1023)),
        (
            3,
            11,
            0,
            Err("range end index 11 out of range for slice of length 10"),
        ),
        (4, 9, 0, Ok(512)),
        (4, 10, 0, Ok(u32::MAX)),
        (4, u32::MAX, 0, Ok(u32::MAX)),
        (5, 8, 10, Ok(768)),
        (5, 8, 11, Ok(u32::MAX)),
        (5, 5, 3, Ok(u32::MAX)),
        (6, 1, 0, Ok(6)),
        (
            6,
            2,
            0,
            Err("index out of bounds: the len is 2 but the index is 2"),
        ),
        (7, 0, 0, Ok(10)),
    ] {
        match (run(way, i, j), expected) {
            (Ok(value), Ok(expected)) => assert_eq!(value, expected, "{way}, {i}, {j}"),
            (Err(text), Err(expected)) => {
                assert!(text.contains(expected), "{way}, {i}, {j}: {text}")
            }
            (other, _) => panic!("{way}, {i}, {j}: {other:?}"),
        }
    }
}

#[test]
fn lengths() {
    let f = Fixture::open().unwrap();
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::length32).unwrap();
    let run = |length: u64| {
        let mut out = stream.zeroed::<u32>(1).unwrap();
        stream
            .launch(&kernel, Grid::new(1, 1), (length, &mut out))
            .unwrap();
        outcome(&stream, &out).map(|out| out[0])
    };
    for length in [0, 1, (1 << 32) - 1] {
        assert_eq!(run(length), Ok(length as u32));
    }
    for length in [1 << 32, (1 << 32) + 1, 1 << 33] {
        let text = run(length).unwrap_err();
        assert!(
            text.contains("a slice of 2^32 or more elements has no length of 32 bits"),
            "{text}"
        );
    }
}

#[test]
fn matrices_and_shared_memory() {
    let f = Fixture::open().unwrap();
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::reaches_matrix).unwrap();
    let x: Vec<u32> = (0..21).collect();
    let buffer = stream.upload(&x).unwrap();
    // Three rows of five elements, seven apart: the last one ends before the padding.
    let run = |way: u32, row: u32, column: u32| {
        let matrix = buffer.matrix_with_stride(3, 5, 7).unwrap();
        let mut out = stream.zeroed::<u32>(1).unwrap();
        stream
            .launch(
                &kernel,
                Grid::new(1, 1),
                (matrix, way, row, column, &mut out),
            )
            .unwrap();
        outcome(&stream, &out).map(|out| out[0])
    };
    for row in [0, 1, 2, 3, u32::MAX] {
        for column in [0, 4, 5, 6, u32::MAX] {
            let is_inside = row < 3 && column < 5;
            if is_inside {
                let expected = Ok(row * 7 + column);
                assert_eq!(
                    [0, 1, 2].map(|way| run(way, row, column)),
                    [(); 3].map(|()| expected.clone())
                );
            } else {
                assert_eq!(run(1, row, column), Ok(u32::MAX));
                let text = run(0, row, column).unwrap_err();
                assert!(text.contains("matrix index out of bounds"), "{text}");
                let text = run(2, row, column).unwrap_err();
                let expected = match row {
                    0..3 => format!("the len is 5 but the index is {column}"),
                    _ => "no such row".to_owned(),
                };
                assert!(text.contains(&expected), "{text}");
            }
        }
    }
    assert_eq!(run(3, 0, 0), Ok(30507));

    let kernel = f.module.kernel(kernels::reaches_shared).unwrap();
    let run = |way: u32, row: u32, column: u32| {
        let mut out = stream.zeroed::<u32>(32).unwrap();
        stream
            .launch(&kernel, Grid::new(1, (8, 4)), (way, row, column, &mut out))
            .unwrap();
        outcome(&stream, &out).map(|out| out[31])
    };
    assert_eq!([0, 1, 2].map(|way| run(way, 3, 7).unwrap()), [37, 37, 31]);
    for (way, row, column, expected) in [
        (0, 3, 8, "no such element in the tile"),
        (0, 4, 0, "no such element in the tile"),
        (1, 4, 0, "no such row in the tile"),
        (1, 3, 8, "the len is 8 but the index is 8"),
        (2, 4, 0, "the len is 32 but the index is 32"),
    ] {
        let text = run(way, row, column).unwrap_err();
        assert!(text.contains(expected), "{text}");
    }
}

#[test]
fn scattered() {
    let f = Fixture::open().unwrap();
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::reaches_scattered).unwrap();
    let run = |way: u32, at: u32| {
        let mut out = stream.upload(&[0u32, 0, 3]).unwrap();
        stream
            .launch(&kernel, Grid::new(1, 1), (way, at, 9u32, &mut out))
            .unwrap();
        outcome(&stream, &out)
    };
    for way in [0, 1, 2] {
        assert_eq!(run(way, 1).unwrap(), [0, 9, 3]);
    }
    assert_eq!([run(0, 2).unwrap()[2], run(2, 2).unwrap()[2]], [9, 3]);
    for at in [3, u32::MAX] {
        assert_eq!(run(1, at).unwrap(), [0, 0, 3]);
        for way in [0, 2] {
            let text = run(way, at).unwrap_err();
            assert!(
                text.contains("an element is written out of bounds"),
                "{text}"
            );
        }
    }
}

/// Each number once, wherever the range ends: at the type's end, too, as long as there is room for a step behind it.
#[test]
fn strided_ranges() {
    let f = Fixture::open().unwrap();
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::strided_numbers).unwrap();
    let kernel_64 = f.module.kernel(kernels::strided_numbers_64).unwrap();
    let (blocks, threads) = (2, 40);
    let all = blocks * threads;
    let grid = Grid::new(blocks, threads);
    let run = |begin: u32, end: u32| {
        let length = end.saturating_sub(begin) as usize;
        let mut counts = [(); 4].map(|()| stream.zeroed::<u32>(length.max(1)).unwrap());
        let [in_grid, in_block, in_warp, wide] = &mut counts;
        let arguments = (begin, end, in_grid, in_block, in_warp, wide);
        stream.launch(&kernel, grid, arguments).unwrap();
        stream.synchronize().map_err(|error| error.to_string())?;
        Ok::<_, String>(counts.map(|counts| stream.download(&counts).unwrap()[..length].to_vec()))
    };
    for length in [0, 1, 31, 32, 33, 79, 80, 81, 240, 300] {
        let greatest = u32::MAX - all - length;
        for begin in [0, 5, (1 << 31) - 7, (1 << 31) + 1, greatest] {
            let [in_grid, in_block, in_warp, wide] = run(begin, begin + length).unwrap();
            let expected = |times: u32| vec![times; length as usize];
            assert_eq!(in_grid, expected(1), "{begin} + {length}");
            assert_eq!(wide, expected(1), "{begin} + {length}");
            assert_eq!(in_block, expected(2), "{begin} + {length}");
            // Each of the blocks has two warps, of 32 and of 8 lanes.
            assert_eq!(in_warp, expected(4), "{begin} + {length}");
        }
    }
    assert_eq!(run(9, 3).unwrap(), [(); 4].map(|()| Vec::<u32>::new()));
    for end in [u32::MAX - all + 1, u32::MAX] {
        let text = run(end - 10, end).unwrap_err();
        assert!(
            text.contains(
                "a strided range ends less than a step before the greatest number of its type"
            ),
            "{text}"
        );
        assert!(text.contains("index32.rs"), "{text}");
    }
    for begin in [0, u64::MAX - u64::from(all) - 100] {
        let mut counts = stream.zeroed::<u32>(100).unwrap();
        stream
            .launch(&kernel_64, grid, (begin, begin + 100, &mut counts))
            .unwrap();
        assert_eq!(stream.download(&counts).unwrap(), [1; 100]);
    }
}

#[test]
fn strided_elements() {
    let f = fixture();
    let stream = f.stream();
    let rows = f.module.kernel(kernels::rows_per_warp32).unwrap();
    let places = f.module.kernel(kernels::places32).unwrap();
    let vectors = f.module.kernel(kernels::vectors32).unwrap();
    let saxpy = f.module.kernel(kernels::strided_saxpy32).unwrap();
    let once = f.module.kernel(kernels::saxpy32).unwrap();
    let dot = f.module.kernel(kernels::strided_dot32).unwrap();
    for (blocks, threads) in [(1, 1), (1, 33), (3, 40), (2, 128)] {
        let grid = Grid::new(blocks, threads);
        for length in [0u32, 1, 31, 100, 257, 1000] {
            let mut out = stream.upload(&vec![7u32; length as usize]).unwrap();
            stream.launch(&places, grid, (&mut out,)).unwrap();
            let expected: Vec<u32> = (0..length).map(|i| i + 7).collect();
            assert_eq!(stream.download(&out).unwrap(), expected);

            let mut out = stream.upload(&vec![7u32; length as usize]).unwrap();
            stream.launch(&vectors, grid, (&mut out,)).unwrap();
            let whole = length / 4 * 4;
            let expected: Vec<u32> = (0..length)
                .map(|i| if i < whole { i / 4 + 7 } else { 7 })
                .collect();
            assert_eq!(stream.download(&out).unwrap(), expected);

            let x: Vec<f32> = (0..length).map(|i| i as f32).collect();
            let (x, mut y) = (stream.upload(&x).unwrap(), stream.upload(&x).unwrap());
            stream.launch(&saxpy, grid, (2.0f32, &x, &mut y)).unwrap();
            let expected: Vec<f32> = (0..length).map(|i| 3.0 * i as f32).collect();
            assert_eq!(stream.download(&y).unwrap(), expected);
            stream
                .launch(
                    &once,
                    Grid::cover(length.max(1) as usize, 64),
                    (1.0f32, &x, &mut y),
                )
                .unwrap();
            let expected: Vec<f32> = (0..length).map(|i| 4.0 * i as f32).collect();
            assert_eq!(stream.download(&y).unwrap(), expected);
            let mut sums = stream.zeroed::<f32>((blocks * threads) as usize).unwrap();
            stream.launch(&dot, grid, (&x, &x, &mut sums)).unwrap();
            let sum: f32 = stream.download(&sums).unwrap().iter().sum();
            let expected: u64 = (0..u64::from(length)).map(|i| i * i).sum();
            assert!(
                (sum - expected as f32).abs() <= expected as f32 * 1e-5,
                "{sum}, {expected}"
            );
        }
        for (height, width, stride) in [(5, 70, 75), (1, 1, 1), (3, 0, 4)] {
            let mut out = stream.upload(&vec![7u32; height * stride]).unwrap();
            let matrix = out.matrix_mut_with_stride(height, width, stride).unwrap();
            stream.launch(&rows, grid, (matrix,)).unwrap();
            let expected: Vec<u32> = (0..height * stride)
                .map(|i| (i / stride, i % stride))
                .map(|(row, column)| {
                    if column < width {
                        (row * 1000 + column) as u32 + 7
                    } else {
                        7
                    }
                })
                .collect();
            assert_eq!(stream.download(&out).unwrap(), expected);
        }
    }
}

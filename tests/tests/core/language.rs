//! Ordinary Rust in kernels: the same functions run on the host and must agree.

use warpsmith_host::prelude::*;
use warpsmith_test_kernels::language as kernels;
use warpsmith_tests::{Random, fixture};

// covers: LANG-01, LANG-34, SPACE-03
#[test]
fn iterators_closures_sorting_and_question_marks() {
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::digests).unwrap();
    let mut random = Random::new(3);
    let x: Vec<u32> = (0..8 * 500).map(|_| random.bits() as u32).collect();
    let xs = stream.upload(&x).unwrap();
    let mut out = stream.zeroed::<u32>(500).unwrap();
    stream
        .launch(&kernel, Grid::cover(500, 128), (&xs, &mut out))
        .unwrap();
    let expected: Vec<u32> = x.chunks_exact(8).map(kernels::digest).collect();
    assert_eq!(stream.download(&out).unwrap(), expected);
}

// covers: LANG-21
#[test]
fn arithmetic_of_128_bits() {
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::wide_numbers).unwrap();
    let mut random = Random::new(4);
    let mut x: Vec<[u64; 2]> = (0..200).map(|_| [random.bits(), random.bits()]).collect();
    x[0] = [0, 0];
    x[1] = [u64::MAX, u64::MAX];
    x[2] = [1 << 63, 0];
    let xs = stream.upload(&x).unwrap();
    let mut out = stream.zeroed::<[u64; 6]>(200).unwrap();
    let addend = 3u128 << 64 | 5;
    stream
        .launch(&kernel, Grid::cover(200, 64), (&xs, addend, &mut out))
        .unwrap();
    for (i, row) in stream.download(&out).unwrap().iter().enumerate() {
        let mut expected = kernels::wide_arithmetic(x[i][0], x[i][1]);
        expected[0] = expected[0].wrapping_add(3);
        expected[1] = expected[1].wrapping_add(5);
        assert_eq!(*row, expected, "of {:?}", x[i]);
    }
}

// covers: LANG-17
#[test]
fn recursion() {
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::recursion).unwrap();
    let mut out = stream.zeroed::<u32>(64).unwrap();
    stream
        .launch(&kernel, Grid::cover(64, 32), (&mut out,))
        .unwrap();
    let expected: Vec<u32> = (0..64).map(|i| kernels::ackermann(2, i % 4)).collect();
    assert_eq!(stream.download(&out).unwrap(), expected);
}

// covers: LANG-16, LANG-18
#[test]
fn enums_trait_objects_and_function_pointers() {
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::shapes).unwrap();
    let x: Vec<f32> = (0..60).map(|i| i as f32).collect();
    let xs = stream.upload(&x).unwrap();
    let mut out = stream.zeroed::<[f32; 3]>(60).unwrap();
    stream
        .launch(&kernel, Grid::cover(60, 32), (&xs, &mut out))
        .unwrap();
    for (i, row) in stream.download(&out).unwrap().iter().enumerate() {
        let x = i as f32;
        let [area, corners] = match i % 3 {
            0 => [std::f32::consts::PI * x * x, 0.0],
            1 => [x * (x + 1.0), 4.0],
            _ => [-1.0, -1.0],
        };
        let applied = if i % 2 == 0 { x + 0.5 } else { x * 2.0 };
        assert!(
            (row[0] - area).abs() <= area.abs() * 1e-6,
            "area of shape {i}"
        );
        assert_eq!(row[1..], [corners, applied]);
    }
}

#[test]
fn loops_that_are_written_out_compute_what_loops_compute() {
    let f = fixture();
    let stream = f.stream();
    let turns = 5;
    let mut out = [(); 2].map(|()| stream.zeroed::<f32>(40).unwrap());
    let [unrolled, looped] = &mut out;
    let kernel = f.module.kernel(kernels::unrolled_sums).unwrap();
    stream
        .launch(&kernel, Grid::cover(40, 32), (turns, unrolled))
        .unwrap();
    let kernel = f.module.kernel(kernels::looped_sums).unwrap();
    stream
        .launch(&kernel, Grid::cover(40, 32), (turns, looped))
        .unwrap();
    let [unrolled, looped] = out.map(|buffer| stream.download(&buffer).unwrap());
    assert_eq!(unrolled, looped);
    // The host rounds after each multiplication, the device after each multiply-add.
    let expected = kernels::unrolled(turns);
    assert_eq!(expected, kernels::looped(turns));
    for sum in unrolled {
        assert!(
            (sum - expected).abs() <= 1e-4 * expected.abs(),
            "{sum} is not {expected}"
        );
    }
}

/// Of all lengths up to 70, with values that are there once, several times and not at all. Of several equal elements any may be found.
#[test]
fn searches_of_sorted_lists() {
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::searched).unwrap();
    for length in 0..70_u32 {
        let sorted: Vec<u32> = (0..length).map(|i| 1 + (i - i / 3) * 2).collect();
        let values: Vec<u32> = (0..2 * length + 3).collect();
        let sorted_on_device = stream.upload(&sorted).unwrap();
        let values_on_device = stream.upload(&values).unwrap();
        let mut out = stream.zeroed::<[u32; 3]>(values.len()).unwrap();
        let grid = Grid::cover(values.len(), 32);
        let arguments = (&sorted_on_device, &values_on_device, &mut out);
        stream.launch(&kernel, grid, arguments).unwrap();
        let agrees = |found: u32, expected: Result<u32, u32>, key: fn(u32) -> u32| match expected {
            Ok(place) => {
                let found = sorted.get((found ^ 1 << 31) as usize);
                found.map(|x| key(*x)) == sorted.get(place as usize).map(|x| key(*x))
            }
            Err(place) => found == place,
        };
        for (&value, found) in values.iter().zip(stream.download(&out).unwrap()) {
            let [less, place, by_key] = kernels::searches(&sorted, value);
            assert!(agrees(found[0], less, |x| x), "{value} in {sorted:?}");
            assert!(agrees(found[1], place, |x| x), "{value} in {sorted:?}");
            assert!(agrees(found[2], by_key, |x| x / 2), "{value} in {sorted:?}");
        }
    }
}

/// Bytes that differ first, last, nowhere, by the sign bit, and behind the end of one of both.
#[test]
fn comparisons_of_bytes() {
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::comparisons).unwrap();
    let y: Vec<u8> = (0..37).map(|i| i * 7).collect();
    let ys = stream.upload(&y).unwrap();
    for begin in 0..9 {
        for changed in [0, 1, 3, 4, 17, 35, 36, 1000] {
            for bit in [0, 7] {
                let mut x = [vec![9; begin], y.clone(), vec![0; 2]].concat();
                if let Some(byte) = x.get_mut(begin + changed) {
                    *byte ^= 1 << bit;
                }
                let xs = stream.upload(&x).unwrap();
                let mut out = stream.zeroed::<u32>(44).unwrap();
                let arguments = (&xs, &ys, begin as u64, &mut out);
                stream
                    .launch(&kernel, Grid::cover(44, 32), arguments)
                    .unwrap();
                let expected: Vec<u32> = (0..44)
                    .map(|n| kernels::comparison(&x[begin..], &y, n))
                    .collect();
                assert_eq!(
                    stream.download(&out).unwrap(),
                    expected,
                    "{begin}, {changed}, {bit}"
                );
            }
        }
    }
}

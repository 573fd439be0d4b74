//! Copies and fills of more bytes than an instruction takes.

use warpsmith_host::prelude::*;
use warpsmith_test_kernels::long_copies as kernels;
use warpsmith_tests::fixture;

fn rows<T, const N: usize>(count: u64, of: impl Fn(u64) -> T) -> Vec<[T; N]> {
    let row = |i: u64| core::array::from_fn(|j| of(i * 1009 + j as u64 * 31));
    (0..count).map(row).collect()
}

#[test]
fn arrays_go_through_the_threads_own_memory() {
    let f = fixture();
    let stream = f.stream();
    let mut expected = rows::<u32, 41>(70, |x| x as u32);
    let x = stream.upload(&expected).unwrap();
    let kernel = f.module.kernel(kernels::rows_through_local_memory).unwrap();
    let mut out = stream.zeroed::<[u32; 41]>(70).unwrap();
    stream
        .launch(&kernel, Grid::cover(70, 32), (&x, 77, &mut out))
        .unwrap();
    let mut counts = vec![[0u16; 67]; 70];
    for (row, counts) in expected.iter().zip(&mut counts) {
        row.iter().for_each(|x| counts[*x as usize % 67] += 1);
    }
    expected.iter_mut().for_each(|row| row[77 % 41] += 1);
    assert_eq!(stream.download(&out).unwrap(), expected);

    let kernel = f.module.kernel(kernels::counts_in_local_memory).unwrap();
    let mut out = stream.zeroed::<[u16; 67]>(70).unwrap();
    stream
        .launch(&kernel, Grid::cover(70, 32), (&x, &mut out))
        .unwrap();
    assert_eq!(stream.download(&out).unwrap(), counts);
}

#[test]
fn large_arrays_are_copied_whole() {
    let f = fixture();
    let stream = f.stream();
    let rows = rows::<u64, 1003>(3, |x| x << 32 | !x & 0xffff);
    let x = stream.upload(&rows).unwrap();
    let kernel = f.module.kernel(kernels::large_rows).unwrap();
    let mut out = stream.zeroed::<[u64; 1003]>(3).unwrap();
    stream
        .launch(&kernel, Grid::cover(3, 32), (&x, &mut out))
        .unwrap();
    assert_eq!(stream.download(&out).unwrap(), rows);
}

macro_rules! parts {
    ($($name:ident $element:ty, $of:expr, $one:expr, $zero:expr;)*) => ($(
        #[test]
        fn $name() {
            let f = fixture();
            let stream = f.stream();
            let x: Vec<$element> = (0..50).map($of).collect();
            let kernel = f.module.kernel(kernels::$name).unwrap();
            let x_on_device = stream.upload(&x).unwrap();
            let mut out = stream.upload(&[[$zero; 50]; 50]).unwrap();
            stream
                .launch(&kernel, Grid::cover(50, 32), (&x_on_device, &mut out))
                .unwrap();
            for (n, found) in stream.download(&out).unwrap().iter().enumerate() {
                let mut expected = [$one; 50];
                expected[n..].copy_from_slice(&x[n..]);
                let half = (n + 50) / 2;
                expected[half..].fill($zero);
                let copied = n.min(50 - half);
                expected[half..half + copied].copy_from_slice(&x[..copied]);
                let moved = n / 2 + 3;
                let [from, to] = [7, 11].map(|by| n * by % (51 - moved));
                expected.copy_within(from..from + moved, to);
                expected[n..].rotate_right(1);
                assert_eq!(*found, expected, "from {n} on");
            }
        }
    )*)
}

parts! {
    parts_of_bytes u8, |x| x * 5 + 3, 1, 0;
    parts_of_halves u16, |x| x * 1005 + 3, 0x0101, 0;
    parts_of_words u32, |x| x * 0x0123_4567 + 3, 0x0101_0101, 0;
    parts_of_longs u64, |x| x * 0x0123_4567_89ab_cdef + 3, u64::MAX, 0;
    parts_of_triples [u32; 3], |x| [x, x + 7, x * 9], [1; 3], [0; 3];
}

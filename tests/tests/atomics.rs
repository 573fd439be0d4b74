//! Atomic operations against what the CPU computes.

use warpsmith_device::half::{Bf16x2, F16x2, bf16, f16};
use warpsmith_device::vector::{Float2, Float4};
use warpsmith_host::prelude::*;
use warpsmith_test_kernels::atomics;
use warpsmith_tests::fixture;

/// Thread counts that are no multiple of a warp, of a block, and one thread alone.
const SIZES: [u32; 5] = [1, 31, 33, 257, 1000];

/// The nine words after every thread has had its turn, whatever the order.
macro_rules! operations {
    ($($test:ident $kernel:ident $type:ty, $values:expr;)*) => {$(
        #[test]
        fn $test() -> Result<()> {
            let f = fixture();
            let stream = f.stream();
            let kernel = f.module.kernel(atomics::$kernel)?;
            for n in SIZES {
                for value in $values {
                    let value: $type = value;
                    let initial: [$type; 9] = [
                        <$type>::MAX - 5, 3, <$type>::MAX, <$type>::MIN, !0, 0, 0x55, 77, value,
                    ];
                    let mut words = stream.upload(&initial)?;
                    let mut seen = stream.zeroed::<$type>(n as usize)?;
                    let threads = 64;
                    stream.launch(&kernel, Grid::cover(n as usize, threads), (value, &mut words, &mut seen))?;
                    let words = stream.download(&words)?;
                    // Threads beyond `n` take part too.
                    let all = n.div_ceil(threads) * threads;
                    let indices = || (0..all).map(|i| i as $type);
                    assert_eq!(words[0], initial[0].wrapping_add(value.wrapping_mul(all as $type)), "add");
                    assert_eq!(words[1], initial[1].wrapping_sub(value.wrapping_mul(all as $type)), "sub");
                    assert_eq!(words[2], indices().map(|i| value.wrapping_add(i)).min().unwrap(), "min");
                    assert_eq!(words[3], indices().map(|i| value.wrapping_add(i)).max().unwrap(), "max");
                    assert_eq!(words[4], indices().fold(!0, |x, i| x & !(i << 3)), "and");
                    assert_eq!(words[5], (0..all).fold(0, |x, i| x | 1 << (i % 31)), "or");
                    assert_eq!(words[6], indices().fold(0x55, |x, i| x ^ i << 2), "xor");
                    assert_eq!(words[7], value, "exchange");
                    // The first to compare wins; the next finds a thread's number, which may equal the value again.
                    assert!(words[8] < all as $type, "compare and exchange");
                    // Every value that the adder went through was seen by exactly one thread.
                    let mut seen = stream.download(&seen)?;
                    seen.sort_unstable();
                    let mut expected: Vec<$type> =
                        indices().map(|i| initial[0].wrapping_add(value.wrapping_mul(i))).collect();
                    expected.sort_unstable();
                    if all == n {
                        assert_eq!(seen, expected, "values seen");
                    } else {
                        assert!(seen.iter().all(|x| expected.binary_search(x).is_ok()), "values seen");
                    }
                }
            }
            Ok(())
        }
    )*};
}
// covers: ATOM-01, ATOM-04, ATOM-08, ATOM-09, ATOM-11, ATOM-14, ATOM-15
operations! {
    u32_operations operations_u32 u32, [1, 7, 0x8000_0001];
    i32_operations operations_i32 i32, [1, -3, 1 << 30];
    u64_operations operations_u64 u64, [1, 5 << 40, u64::MAX];
    i64_operations operations_i64 i64, [1, -9, i64::MIN + 2];
}

// covers: ATOM-18
#[test]
fn reductions_without_results() -> Result<()> {
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(atomics::reductions_u32)?;
    let mut words = stream.upload(&[1u32, 2, 30, 4, 0xff, 0, 5, 0, 0])?;
    stream.launch(&kernel, Grid::new(3, 33), (9, &mut words))?;
    let n = 3 * 33;
    assert_eq!(
        stream.download(&words)?,
        [
            1 + 9 * n,
            2u32.wrapping_sub(9 * n),
            9,
            9,
            9,
            9,
            5 ^ 9,
            n % 10,
            (10 - n % 10) % 10
        ]
    );

    let kernel = f.module.kernel(atomics::reductions_i64)?;
    let mut words = stream.upload(&[1i64, 2, 30, -40, 0xff, 0, 5])?;
    stream.launch(&kernel, Grid::new(2, 40), (-9i64, &mut words))?;
    assert_eq!(
        stream.download(&words)?,
        [1 - 9 * 80, 2 + 9 * 80, -9, -9, 0xff & -9, -9, 5]
    );
    Ok(())
}

// covers: ATOM-12, ATOM-13
#[test]
fn bounded_counters() -> Result<()> {
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(atomics::count_bounded)?;
    // One thread at a time: the sequences themselves. Starting values beyond the bound fall back to 0 and to the bound.
    let mut words = stream.upload(&[9u32, 9])?;
    let (mut ups, mut downs) = (Vec::new(), Vec::new());
    for _ in 0..7 {
        let (mut up, mut down) = (stream.zeroed::<u32>(1)?, stream.zeroed::<u32>(1)?);
        stream.launch(
            &kernel,
            Grid::new(1, 1),
            (3, &mut words, &mut up, &mut down),
        )?;
        ups.push(stream.download(&up)?[0]);
        downs.push(stream.download(&down)?[0]);
    }
    assert_eq!(ups, [9, 0, 1, 2, 3, 0, 1]);
    assert_eq!(downs, [9, 3, 2, 1, 0, 3, 2]);

    // Many threads: each number as often as any other.
    let n = 4 * 77;
    let mut words = stream.upload(&[0u32, 0])?;
    let (mut up, mut down) = (stream.zeroed::<u32>(n)?, stream.zeroed::<u32>(n)?);
    stream.launch(
        &kernel,
        Grid::new(4, 77),
        (6, &mut words, &mut up, &mut down),
    )?;
    for seen in [stream.download(&up)?, stream.download(&down)?] {
        for value in 0..=6 {
            assert_eq!(seen.iter().filter(|&&x| x == value).count(), n / 7);
        }
    }
    Ok(())
}

// covers: ATOM-05, ATOM-09
#[test]
fn float_additions() -> Result<()> {
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(atomics::add_f32)?;
    let n = 333;
    // Multiples of 1/4: every order of sums is exact.
    let nan = f32::from_bits(0x7fa0_1234);
    let mut words = stream.upload(&[1.0f32, 2.0, nan])?;
    let mut seen = stream.zeroed::<f32>(n)?;
    stream.launch(&kernel, Grid::new(9, 37), (0.25, &mut words, &mut seen))?;
    assert_eq!(
        stream.download(&words)?,
        [1.0 + 0.25 * n as f32, 2.0 + 0.25 * n as f32, 0.25]
    );
    let mut seen = stream.download(&seen)?;
    seen.sort_by(f32::total_cmp);
    assert!(
        seen.iter()
            .enumerate()
            .all(|(i, &x)| x == 1.0 + 0.25 * i as f32)
    );

    // An exchange moves bits, NaN payloads and all.
    let mut words = stream.upload(&[0.0f32, 0.0, 1.0])?;
    stream.launch(
        &kernel,
        Grid::new(1, 1),
        (nan, &mut words, &mut stream.zeroed::<f32>(1)?),
    )?;
    assert_eq!(stream.download(&words)?[2].to_bits(), nan.to_bits());
    Ok(())
}

// covers: ATOM-05, ATOM-16, ATOM-X2
#[test]
fn double_additions_by_instruction_and_by_loop() -> Result<()> {
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(atomics::add_f64)?;
    let mut words = stream.upload(&[0.5f64, 0.5])?;
    stream.launch(&kernel, Grid::new(7, 43), (0.125f64, &mut words))?;
    let expected = 0.5 + 0.125 * f64::from(7 * 43);
    assert_eq!(stream.download(&words)?, [expected, expected]);
    // A NaN is compared as bits, so the loop ends.
    stream.launch(&kernel, Grid::new(2, 32), (f64::NAN, &mut words))?;
    assert!(stream.download(&words)?.iter().all(|x| x.is_nan()));
    // Subnormals are kept.
    let tiny = f64::from_bits(3);
    let mut words = stream.zeroed::<f64>(2)?;
    stream.launch(&kernel, Grid::new(1, 5), (tiny, &mut words))?;
    assert_eq!(
        stream.download(&words)?,
        [f64::from_bits(15), f64::from_bits(15)]
    );
    Ok(())
}

// covers: ATOM-06
#[test]
fn half_additions() -> Result<()> {
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(atomics::add_f16)?;
    let mut word = stream.upload(&[f16::from_f32(1.0), f16::ZERO])?;
    let mut pair = stream.upload(&[F16x2::new(f16::ZERO, f16::from_f32(-8.0))])?;
    let value = f16::from_f32(0.125);
    // SAFETY: buffers of the sizes that the kernel asks for.
    unsafe { stream.launch_unchecked(&kernel, Grid::new(3, 35), (value, &mut word, &mut pair))? };
    let sum = 0.125 * 105.0;
    assert_eq!(stream.download(&word)?[0].to_f32(), 1.0 + sum);
    let pair = stream.download(&pair)?[0];
    assert_eq!(
        (pair.low().to_f32(), pair.high().to_f32()),
        (sum, sum - 8.0)
    );

    // Subnormals are kept.
    let mut word = stream.zeroed::<f16>(2)?;
    let mut pair = stream.zeroed::<F16x2>(1)?;
    // SAFETY: two values and a pair, as the kernel asks for.
    unsafe {
        stream.launch_unchecked(
            &kernel,
            Grid::new(1, 3),
            (f16::from_bits(1), &mut word, &mut pair),
        )?
    };
    assert_eq!(stream.download(&word)?[0].to_bits(), 3);
    assert_eq!(stream.download(&pair)?[0].to_bits(), 0x0003_0003);

    let kernel = f.module.kernel(atomics::sm_90::add_bf16)?;
    let mut word = stream.upload(&[bf16::from_f32(1.0), bf16::ZERO])?;
    let mut pair = stream.upload(&[Bf16x2::new(bf16::ZERO, bf16::from_f32(-8.0))])?;
    let value = bf16::from_f32(0.5);
    // SAFETY: two values and a pair, as `add_bf16` asks for.
    unsafe { stream.launch_unchecked(&kernel, Grid::new(2, 33), (value, &mut word, &mut pair))? };
    assert_eq!(stream.download(&word)?[0].to_f32(), 34.0);
    let pair = stream.download(&pair)?[0];
    assert_eq!((pair.low().to_f32(), pair.high().to_f32()), (33.0, 25.0));
    Ok(())
}

// covers: ATOM-14, ATOM-16
#[test]
fn both_halves_of_a_word_counted_by_16_bit_compare_and_swap() -> Result<()> {
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(atomics::count_u16)?;
    let mut words = stream.upload(&[0xfff0u16, 5])?;
    // SAFETY: a buffer of two words.
    unsafe { stream.launch_unchecked(&kernel, Grid::new(5, 33), (&mut words,))? };
    assert_eq!(
        stream.download(&words)?,
        [0xfff0u16.wrapping_add(165), 5 + 2 * 165]
    );
    Ok(())
}

// covers: ATOM-10, CC-04
#[test]
fn words_of_128_bits() -> Result<()> {
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(atomics::sm_90::count_u128)?;
    let mut words = stream.upload(&[5u128, u128::MAX])?;
    // SAFETY: a buffer of two words.
    unsafe { stream.launch_unchecked(&kernel, Grid::new(3, 45), (&mut words,))? };
    let words = stream.download(&words)?;
    assert_eq!(words[0], 5 + 135 * u128::from(u64::MAX));
    assert!(words[1] < 135);
    Ok(())
}

// covers: ATOM-07, CC-04
#[test]
fn vectors_of_floats() -> Result<()> {
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(atomics::sm_90::add_vectors)?;
    let (mut two, mut four) = (stream.zeroed::<Float2>(1)?, stream.zeroed::<Float4>(1)?);
    // SAFETY: buffers of one vector.
    unsafe { stream.launch_unchecked(&kernel, Grid::new(10, 50), (&mut two, &mut four))? };
    let sum = (0..500).sum::<i32>() as f32;
    assert_eq!(stream.download(&two)?, [Float2::new(sum, 500.0)]);
    assert_eq!(
        stream.download(&four)?,
        [Float4::new(sum, 500.0, -sum, 1000.0)]
    );
    Ok(())
}

// covers: ATOM-02, ATOM-17
#[test]
fn orders_and_scopes_compute_the_same() -> Result<()> {
    let f = fixture();
    let stream = f.stream();
    let mut words = stream.upload(&[100u32])?;
    stream.launch(
        &f.module.kernel(atomics::orders)?,
        Grid::new(1, 1),
        (&mut words,),
    )?;
    assert_eq!(stream.download(&words)?, [100 + 28]);
    // SAFETY: a buffer of one word.
    unsafe {
        stream.launch_unchecked(
            &f.module.kernel(atomics::scopes)?,
            Grid::new(1, 1),
            (&mut words,),
        )?
    };
    assert_eq!(stream.download(&words)?, [128 + 10]);
    // SAFETY: a buffer of one word, as `fences` asks for.
    unsafe {
        stream.launch_unchecked(
            &f.module.kernel(atomics::fences)?,
            Grid::new(1, 1),
            (&mut words,),
        )?
    };
    assert_eq!(stream.download(&words)?, [8]);
    Ok(())
}

// covers: ATOM-01
#[test]
fn histogram_in_shared_memory() -> Result<()> {
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(atomics::shared_histogram)?;
    for n in [1usize, 255, 256, 1000, 5003] {
        let values: Vec<u8> = (0..n).map(|i| (i * i / 7) as u8).collect();
        let mut bins = stream.zeroed::<u32>(256)?;
        stream.launch(
            &kernel,
            Grid::cover(n, 256),
            (&stream.upload(&values)?, &mut bins),
        )?;
        let mut expected = [0; 256];
        for &value in &values {
            expected[usize::from(value)] += 1;
        }
        assert_eq!(stream.download(&bins)?, expected);
    }
    Ok(())
}

// covers: FENCE-X3
#[test]
fn the_last_block_adds_up_what_all_published() -> Result<()> {
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(atomics::last_block_sums)?;
    let n = 64 * 29 + 17;
    let x: Vec<u32> = (0..n).collect();
    let x = stream.upload(&x)?;
    let mut parts = stream.zeroed::<u32>(64)?;
    let mut done = stream.zeroed::<u32>(1)?;
    for _ in 0..3 {
        let mut sum = stream.zeroed::<u32>(1)?;
        let grid = Grid::cover(n as usize, 64);
        // SAFETY: a word for each block, and one for the sum.
        unsafe { stream.launch_unchecked(&kernel, grid, (&x, &mut parts, &mut done, &mut sum))? };
        assert_eq!(stream.download(&sum)?, [n * (n - 1) / 2]);
        assert_eq!(stream.download(&done)?, [0], "ready for the next launch");
    }
    Ok(())
}

// covers: ATOM-16, ATOM-17, SLEEP-X1
#[test]
fn a_spin_lock_lets_all_lanes_through() -> Result<()> {
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(atomics::locked_increment)?;
    let mut lock = stream.zeroed::<u32>(1)?;
    let mut counter = stream.zeroed::<u32>(1)?;
    // SAFETY: one word for the counter.
    unsafe { stream.launch_unchecked(&kernel, Grid::new(4, 70), (&mut lock, &mut counter))? };
    assert_eq!(stream.download(&counter)?, [280]);
    assert_eq!(stream.download(&lock)?, [0]);
    Ok(())
}

//! Panics whose messages have values of the thread's in them: the host tells what Rust says of the same panic on the CPU, and no code that
//! formats is in the kernel.

use std::num::TryFromIntError;
use std::panic::catch_unwind;

use warpsmith_host::prelude::*;
use warpsmith_test_kernels::panics as kernels;
use warpsmith_tests::Fixture;
use warpsmith_tests::ptx::{SM_90, instructions};

/// The message of a panic on this thread, `None` if it is none.
fn on_the_cpu(run: impl FnOnce() + std::panic::UnwindSafe) -> Option<String> {
    let payload = catch_unwind(run).err()?;
    let literal = || payload.downcast_ref::<&str>().map(|text| text.to_string());
    payload.downcast_ref::<String>().cloned().or_else(literal)
}

/// The message of the panic that a stream has to tell.
fn on_the_device(stream: &Stream) -> Option<String> {
    match stream.synchronize() {
        Ok(()) => None,
        Err(Error::KernelPanic(panic)) => Some(panic.message.clone()),
        Err(error) => panic!("{error}"),
    }
}

/// Zeros, ones, ends of all types, and numbers that are something else in each.
fn words() -> Vec<u64> {
    let of_single = [1.5, -0.0, f32::NAN, f32::INFINITY, 1e30, 1e-7, 16_777_216.0];
    let of_double = [0.1, -1.0, f64::MAX, f64::MIN_POSITIVE, 1e16];
    [
        0,
        1,
        2,
        7,
        10,
        34,
        39,
        92,
        127,
        128,
        255,
        256,
        65535,
        1 << 31,
        u32::MAX.into(),
    ]
    .into_iter()
    .chain([1 << 32, 1 << 63, u64::MAX, u64::MAX - 5])
    .chain(of_single.map(|number: f32| u64::from(number.to_bits())))
    .chain(of_double.map(f64::to_bits))
    .collect()
}

#[test]
fn values_of_each_type_are_told_as_rust_writes_them() -> Result<()> {
    let f = Fixture::open()?;
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::tells_one)?;
    let mut out = stream.zeroed::<u32>(1)?;
    let words = words();
    for way in 0..kernels::TYPES {
        for (n, &a) in words.iter().enumerate() {
            let b = words[(n * 7 + 3) % words.len()];
            stream.launch(&kernel, Grid::new(1, 1), (a, b, way, &mut out))?;
            let expected = on_the_cpu(move || kernels::tell_one([a, b], way));
            assert!(expected.is_some());
            assert_eq!(on_the_device(&stream), expected, "{way}: {a:#x} {b:#x}");
        }
    }
    Ok(())
}

#[test]
fn panics_of_core_are_told_as_on_the_cpu() -> Result<()> {
    let f = Fixture::open()?;
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::tells_of_core)?;
    let x = [1.0, 2.0, 3.0, 4.0, 5.0];
    let on_device = stream.upload(&x)?;
    let mut out = stream.zeroed::<f32>(1)?;
    let mut panics = 0;
    let words = words();
    for way in 0..kernels::WAYS {
        let mut of_way = 0;
        for (n, &a) in words.iter().enumerate() {
            for b in [a, 3, words[(n * 7 + 3) % words.len()]] {
                stream.launch(&kernel, Grid::new(1, 1), (&on_device, a, b, way, &mut out))?;
                let expected = on_the_cpu(move || {
                    kernels::tell_of_core(&x, a, b, way, &mut [0.0; 4]);
                });
                of_way += u32::from(expected.is_some());
                assert_eq!(on_the_device(&stream), expected, "{way}: {a:#x} {b:#x}");
            }
        }
        assert!(of_way > 0, "{way}");
        panics += of_way;
    }
    assert!(panics > 100);
    Ok(())
}

/// What is too much for a record is put together in the kernel, and says the same.
#[test]
fn other_messages_are_formatted_on_the_device() -> Result<()> {
    let f = Fixture::open()?;
    let stream = f.stream();
    let mut out = stream.zeroed::<u32>(1)?;
    let [a, b] = [5, 300];
    macro_rules! check {
        ($($kernel:ident of $function:ident),*) => {
            $(
                let kernel = f.module.kernel(kernels::$kernel)?;
                stream.launch(&kernel, Grid::new(1, 1), (a, b, &mut out))?;
                let expected = on_the_cpu(move || kernels::$function(a, b));
                assert!(expected.is_some());
                assert_eq!(on_the_device(&stream), expected, stringify!($kernel));
                assert!(calls(stringify!($kernel)) > 0, stringify!($kernel));
            )*
        };
    }
    check!(
        tells_three_values of tell_three_values,
        tells_in_hexadecimal of tell_in_hexadecimal,
        tells_with_width of tell_with_width,
        tells_of_an_own_type of tell_of_an_own_type,
        asserts_with_a_value of assert_with_a_value
    );
    Ok(())
}

fn calls(kernel: &str) -> usize {
    let instructions = instructions(SM_90, kernel);
    let calls = instructions.iter().filter(|line| line.starts_with("call"));
    calls.count()
}

#[test]
fn kernels_that_tell_of_two_values_call_nothing() {
    assert_eq!(calls("tells_one"), 0);
    // Rust 1.97 has a value in this error, which only it writes.
    if size_of::<TryFromIntError>() == 0 {
        assert_eq!(calls("tells_of_core"), 0);
    }
}

#[test]
fn panics_in_a_loop_are_told_behind_it() -> Result<()> {
    let f = Fixture::open()?;
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::panics_behind_a_loop)?;
    let (mut panics, mut others) = (0, 0);
    for b in [0, 1, 5, 34, 57, 1000, 38_000, 45_000, 1_000_000] {
        for a in words() {
            // The other threads of the warp leave after other numbers of rounds, or never come to the loop.
            let mut numbers = [0; 40];
            numbers[11] = a;
            let numbers = stream.upload(&numbers)?;
            let mut out = stream.zeroed::<u32>(40)?;
            stream.launch(&kernel, Grid::cover(40, 64), (&numbers, b, &mut out))?;
            let expected = on_the_cpu(|| {
                kernels::go_through_digits(a, b);
            });
            let found = on_the_device(&stream);
            assert_eq!(found, expected, "{a:#x} {b}");
            if expected.is_some() {
                panics += 1;
                continue;
            }
            others += 1;
            let mut results = [kernels::go_through_digits(0, b); 40];
            results[11] = kernels::go_through_digits(a, b);
            assert_eq!(stream.download(&out)?, results, "{a:#x} {b}");
        }
    }
    assert!(panics > 50 && others > 50, "{panics} {others}");
    Ok(())
}

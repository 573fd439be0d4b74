//! Panics of checks that the linker makes at once: the first that fails is told, and what the host sees of memory is as in the source.

use warpsmith_host::prelude::*;
use warpsmith_test_kernels::checks::{self as kernels, ELEMENTS, THREADS};
use warpsmith_tests::ptx::{SM_90, instructions};
use warpsmith_tests::{Fixture, fixture};

fn numbers(count: usize) -> Vec<u32> {
    (0..count as u32).map(|i| i * 7 + 1).collect()
}

#[test]
fn rounds_have_one_branch_and_their_loads_follow_each_other() {
    let all = instructions(SM_90, "copies_by_rounds");
    let last = all
        .iter()
        .rposition(|line| line.starts_with("ld.global.nc"));
    let before = &all[..last.expect("elements are loaded")];
    let branches = before.iter().filter(|line| line.starts_with('@'));
    assert_eq!(branches.count(), 1, "{all:#?}");
}

#[test]
fn rounds_copy_where_no_check_fails() -> Result<()> {
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::copies_by_rounds)?;
    let numbers = numbers(ELEMENTS);
    let (x, mut out) = (stream.upload(&numbers)?, stream.zeroed::<u32>(THREADS)?);
    stream.launch(&kernel, Grid::new(1, THREADS as u32), (&x, &mut out))?;
    let of = |t: usize| numbers[(t ^ 1) + t % 4 * THREADS];
    let expected: Vec<u32> = (0..THREADS).map(of).collect();
    assert_eq!(stream.download(&out)?, expected);
    Ok(())
}

#[test]
fn the_first_round_that_fails_is_told() -> Result<()> {
    let f = Fixture::open()?;
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::copies_by_rounds)?;
    let mut out = stream.zeroed::<u32>(THREADS)?;
    for length in [1, 255, 256, 300, 512, 700, 1000, 1023] {
        let x = stream.upload(&numbers(length))?;
        stream.launch(&kernel, Grid::new(1, THREADS as u32), (&x, &mut out))?;
        let Err(Error::KernelPanic(panic)) = stream.synchronize() else {
            panic!("no panic of {length} elements");
        };
        let thread = panic.thread[0] as usize;
        let mut indices = (0..4).map(|j| thread + j * THREADS);
        let first = indices.find(|index| *index >= length);
        let first = first.expect("only threads panic whose elements are not there");
        let message = format!("index out of bounds: the len is {length} but the index is {first}");
        assert!(panic.message.contains(&message), "{}", panic.message);
    }
    Ok(())
}

#[test]
fn what_is_written_to_global_memory_before_a_panic_is_there() -> Result<()> {
    let f = Fixture::open()?;
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::writes_before_panics)?;
    let numbers = numbers(THREADS + 100);
    let (x, mut out) = (stream.upload(&numbers)?, stream.zeroed::<u32>(THREADS)?);
    stream.launch(&kernel, Grid::new(1, THREADS as u32), (&x, &mut out))?;
    assert!(matches!(stream.synchronize(), Err(Error::KernelPanic(_))));
    let of = |t: usize| numbers[t] + numbers.get(t + THREADS).unwrap_or(&0);
    let expected: Vec<u32> = (0..THREADS).map(of).collect();
    assert_eq!(stream.download(&out)?, expected);
    Ok(())
}

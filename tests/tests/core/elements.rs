//! Elements that consist of smaller ones are read and written at once, and begin at a multiple of as many bytes.

use warpsmith_host::prelude::*;
use warpsmith_test_kernels::elements as kernels;
use warpsmith_tests::fixture;
use warpsmith_tests::ptx::{SM_90, instructions};

/// The accesses to global memory of a kernel, up to its panics.
fn accesses(kernel: &str) -> Vec<String> {
    let mut all = instructions(SM_90, kernel);
    all.retain(|line| {
        let is_access = |start| line.starts_with(start) && !line.contains("relaxed");
        is_access("ld.global") || is_access("st.global")
    });
    all
}

fn numbers(count: u32) -> Vec<u32> {
    (0..count).map(|i| i * i * 31 % 1009).collect()
}

#[test]
fn are_read_and_written_by_one_instruction() {
    for (kernel, load, store) in [
        ("turns_pairs", "ld.global.nc.v2.b32", "st.global.v2.b32"),
        ("reverses_colours", "ld.global.nc.b32", "st.global.b32"),
        ("sums_quads", "ld.global.nc.v4.b32", "st.global.b32"),
        ("sums_one_quad", "ld.global.nc.v4.b32", "st.global.b32"),
    ] {
        let all = accesses(kernel);
        let is_whole = |line: &String| line.starts_with(load) || line.starts_with(store);
        // A thread's own sum is read, too.
        let others = all.iter().filter(|line| !is_whole(line));
        let others: Vec<_> = others
            .filter(|line| !line.starts_with("ld.global.b32"))
            .collect();
        assert!(others.is_empty(), "{kernel}: {all:#?}");
        assert!(all.iter().any(|line| line.starts_with(load)), "{all:#?}");
    }
}

#[test]
fn of_twelve_bytes_are_read_part_by_part() {
    let all = accesses("sums_triples");
    assert!(!all.iter().any(|line| line.contains(".v")), "{all:#?}");
}

#[test]
fn are_what_the_host_has_written() -> Result<()> {
    let f = fixture();
    let stream = f.stream();
    let numbers = numbers(96);
    let (pairs, _) = numbers.as_chunks::<2>();
    let mut turned = stream.zeroed::<[u32; 2]>(48)?;
    let kernel = f.module.kernel(kernels::turns_pairs)?;
    stream.launch(
        &kernel,
        Grid::cover(48, 32),
        (&stream.upload(pairs)?, &mut turned),
    )?;
    let expected: Vec<_> = pairs.iter().map(|[a, b]| [*b, *a]).collect();
    assert_eq!(stream.download(&turned)?, expected);

    let colours: Vec<[u8; 4]> = numbers.iter().map(|number| number.to_le_bytes()).collect();
    let mut reversed = stream.zeroed::<[u8; 4]>(96)?;
    let kernel = f.module.kernel(kernels::reverses_colours)?;
    stream.launch(
        &kernel,
        Grid::cover(96, 32),
        (&stream.upload(&colours)?, &mut reversed),
    )?;
    let expected: Vec<_> = numbers.iter().map(|number| number.to_be_bytes()).collect();
    assert_eq!(stream.download(&reversed)?, expected);

    let mut sum = stream.zeroed::<u32>(1)?;
    let (quads, _) = numbers.as_chunks::<4>();
    let kernel = f.module.kernel(kernels::sums_quads)?;
    stream.launch(&kernel, Grid::new(1, 1), (&stream.upload(quads)?, &mut sum))?;
    let of_quads = quads.iter().fold(0_u32, |sum, [a, b, c, d]| {
        sum.wrapping_mul(31)
            .wrapping_add(a ^ (b * 3) ^ (c * 5) ^ (d * 7))
    });
    assert_eq!(stream.download(&sum)?, [of_quads]);

    stream.fill(&mut sum, 0)?;
    let (triples, _) = numbers.as_chunks::<3>();
    let kernel = f.module.kernel(kernels::sums_triples)?;
    stream.launch(
        &kernel,
        Grid::new(1, 1),
        (&stream.upload(triples)?, &mut sum),
    )?;
    let of_triples = triples.iter().fold(0_u32, |sum, [a, b, c]| {
        sum.wrapping_mul(31).wrapping_add(a ^ (b * 3) ^ (c * 5))
    });
    assert_eq!(stream.download(&sum)?, [of_triples]);
    Ok(())
}

/// The message of a launch that is refused as its memory begins at a wrong place.
fn refused(launched: Result<()>) -> String {
    let error = launched
        .expect_err("a launch with memory at a wrong place")
        .to_string();
    assert!(error.contains("passed elements of type"), "{error}");
    error
}

#[test]
fn at_no_multiple_of_their_size_are_refused() -> Result<()> {
    let f = fixture();
    let stream = f.stream();
    let numbers = numbers(16);
    let words = stream.upload(&numbers)?;
    let mut out = stream.zeroed::<u32>(16)?;
    let turns_pairs = f.module.kernel(kernels::turns_pairs)?;
    let one = Grid::new(1, 1);

    let odd = words.slice(1..3).cast::<[u32; 2]>()?;
    let even = words.slice(2..4).cast::<[u32; 2]>()?;
    let target = out.slice_mut(4..6).cast_mut::<[u32; 2]>()?;
    let message = refused(stream.launch(&turns_pairs, one, (odd, target)));
    for part in ["`turns_pairs`", "`[u32; 2]`", "8 bytes"] {
        assert!(message.contains(part), "{message}");
    }
    let target = out.slice_mut(5..7).cast_mut::<[u32; 2]>()?;
    refused(stream.launch(&turns_pairs, one, (&even, target)));
    let target = out.slice_mut(6..8).cast_mut::<[u32; 2]>()?;
    stream.launch(&turns_pairs, one, (&even, target))?;
    assert_eq!(stream.download(&out)?[6..8], [numbers[3], numbers[2]]);

    let sums_one_quad = f.module.kernel(kernels::sums_one_quad)?;
    let quad = words.slice(2..6).cast::<[u32; 4]>()?;
    refused(stream.launch(&sums_one_quad, one, (quad, &mut out)));
    let quad = words.slice(4..8).cast::<[u32; 4]>()?;
    stream.launch(&sums_one_quad, one, (quad, &mut out))?;
    let expected: u32 = numbers[4..8].iter().sum();
    assert_eq!(stream.download(&out)?[0], expected);
    // Twelve bytes begin anywhere a word does.
    let sums_triples = f.module.kernel(kernels::sums_triples)?;
    let triples = words.slice(1..4).cast::<[u32; 3]>()?;
    stream.launch(&sums_triples, one, (triples, &mut out))?;
    stream.synchronize()
}

//! Programmatic dependent launch, against what the CPU computes.

use warpsmith_host::LaunchOptions;
use warpsmith_host::prelude::*;
use warpsmith_test_kernels::dependent;
use warpsmith_tests::fixture;

// covers: PDL-01, PDL-02, PDL-03, EX1-21, GRAPH-X07
#[test]
fn a_dependent_kernel_reads_what_the_one_before_wrote() -> Result<()> {
    let f = fixture();
    let stream = f.stream();
    let primary = f.module.kernel(dependent::primary)?;
    let secondary = f.module.kernel(dependent::secondary)?;
    let n = 5000;
    let grid = Grid::cover(n, 128);
    let mut words = stream.zeroed::<u32>(n)?;
    let mut sums = stream.zeroed::<u32>(n)?;
    let options = LaunchOptions::new();
    let mut expected = 0;
    for value in 1..=30 {
        stream.launch(&primary, grid, (value, 0, &mut words))?;
        let first = words.slice(0..1);
        stream.launch_early(&secondary, grid, &options, (&words, &first, &mut sums))?;
        expected += 2 * value;
        if value % 3 == 0 {
            // Two in a row: the second comes after everything.
            stream.launch_early(&secondary, grid, &options, (&words, &first, &mut sums))?;
            expected += 2 * value;
        }
    }
    assert_eq!(stream.download(&sums)?, vec![expected; n]);
    Ok(())
}

// covers: PDL-03
#[test]
fn a_kernel_that_could_begin_early_can_be_launched_in_order() -> Result<()> {
    let f = fixture();
    let stream = f.stream();
    let secondary = f.module.kernel(dependent::secondary)?;
    let words = stream.upload(&[7_u32; 300])?;
    let mut sums = stream.zeroed::<u32>(300)?;
    let first = words.slice(0..1);
    stream.launch(
        &secondary,
        Grid::cover(300, 64),
        (&words, &first, &mut sums),
    )?;
    assert_eq!(stream.download(&sums)?, [14; 300]);
    Ok(())
}

#[test]
fn matrices_wait_too() -> Result<()> {
    let f = fixture();
    let stream = f.stream();
    let primary = f.module.kernel(dependent::primary)?;
    let scaled = f.module.kernel(dependent::secondary_matrix)?;
    let (rows, columns) = (19, 33);
    let n = rows * columns;
    let (mut from, mut to) = (stream.zeroed::<u32>(n)?, stream.zeroed::<u32>(n)?);
    stream.launch(&primary, Grid::cover(n, 128), (5, 0, &mut from))?;
    stream.launch_early(
        &scaled,
        Grid::cover_2d((columns, rows), (16, 8)),
        &LaunchOptions::new(),
        (
            from.matrix(rows, columns)?,
            to.matrix_mut(rows, columns)?,
            3,
        ),
    )?;
    assert_eq!(stream.download(&to)?, vec![15; n]);
    Ok(())
}

// covers: PDL-06
#[test]
fn a_captured_dependent_kernel_comes_after_everything() -> Result<()> {
    let f = fixture();
    let mut stream = f.stream();
    let primary = f.module.kernel(dependent::primary)?;
    let secondary = f.module.kernel(dependent::secondary)?;
    let n = 256;
    let grid = Grid::cover(n, 64);
    let mut words = stream.zeroed::<u32>(n)?;
    let mut sums = stream.zeroed::<u32>(n)?;
    let graph = stream.capture(|capture| {
        capture.launch(&primary, grid, (4, 0, &mut words))?;
        let first = words.slice(0..1);
        capture.launch_early(
            &secondary,
            grid,
            &LaunchOptions::new(),
            (&words, &first, &mut sums),
        )
    })?;
    let mut exec = graph.instantiate()?;
    for _ in 0..3 {
        exec.launch(&stream)?;
    }
    assert_eq!(stream.download(&sums)?, vec![24; n]);
    Ok(())
}

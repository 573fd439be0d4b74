//! Programmatic dependent launch, against what the CPU computes.

use warpsmith_host::prelude::*;
use warpsmith_host::{EdgeKind, LaunchOptions, Node, Trigger};
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

// covers: PDL-06, GRAPH-16, GRAPH-X07
#[test]
fn a_node_can_begin_before_the_kernel_before_it_has_ended() -> Result<()> {
    let f = fixture();
    let stream = f.stream();
    let primary = f.module.kernel(dependent::primary)?;
    let secondary = f.module.kernel(dependent::secondary)?;
    let n = 3000;
    let grid = Grid::cover(n, 128);
    let mut words = stream.zeroed::<u32>(n)?;
    let mut sums = stream.zeroed::<u32>(n)?;
    let options = LaunchOptions::new();
    for trigger in [Trigger::BlocksSignalled, Trigger::BlocksStarted] {
        stream.fill(&mut sums, 0)?;
        let mut graph = f.gpu.graph()?;
        let reset = graph.fill(&mut words, 0)?;
        let first = graph.kernel(&primary, grid, (4, 0, &mut words))?;
        let second = graph.kernel_early(
            &secondary,
            grid,
            &options,
            trigger,
            (&words, words.slice(0..1), &mut sums),
        )?;
        let third = graph.kernel_early(
            &secondary,
            grid,
            &options,
            trigger,
            (&words, words.slice(0..1), &mut sums),
        )?;
        // Writes what the early ones read: it follows all three, for none of the two need have waited for the first.
        let last = graph.kernel(&primary, grid, (9, 0, &mut words))?;
        let joint = graph.empty()?;
        graph.depend(third, joint)?;
        let edges = graph.edges()?;
        let kind = |from: Node, to: Node| {
            let edge = edges.iter().find(|edge| edge.from == from && edge.to == to);
            edge.map(|edge| edge.kind)
        };
        let early = Some(EdgeKind::Programmatic(trigger));
        assert_eq!(kind(reset.into(), first.into()), Some(EdgeKind::Full));
        assert_eq!(kind(first.into(), second.into()), early);
        assert_eq!(kind(first.into(), third.into()), early);
        assert_eq!(kind(second.into(), third.into()), early);
        for before in [first, second, third] {
            assert_eq!(kind(before.into(), last.into()), Some(EdgeKind::Full));
            assert_eq!(kind(before.into(), joint), Some(EdgeKind::Full));
        }
        let mut exec = graph.instantiate()?;
        for launch in 1..=5 {
            exec.launch(&stream)?;
            assert_eq!(stream.download(&sums)?, vec![launch * 16; n]);
            assert_eq!(stream.download(&words)?, vec![9; n]);
        }
        // A kernel that reaches memory from the beginning cannot take an early one's place; one that waits can.
        let error = exec
            .set_kernel(second, &primary, grid, (1, 0, &mut words))
            .unwrap_err();
        assert!(error.to_string().contains("AfterPrimary"), "{error}");
        let few = Grid::cover(128, 128);
        exec.set_kernel_early(
            second,
            &secondary,
            few,
            (&words, words.slice(0..1), &mut sums),
        )?;
        exec.launch(&stream)?;
        let found = stream.download(&sums)?;
        assert_eq!((found[0], found[n - 1]), (96, 88));
    }
    Ok(())
}

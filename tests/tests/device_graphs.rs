//! Kernels that launch graphs. What a test expects of the driver is what an H200 does (driver 580.159.04, `driver/tests/graphs/device`).

use warpsmith_host::prelude::*;
use warpsmith_test_kernels::graphs;
use warpsmith_tests::{Fixture, fixture};

/// What launches answer.
const DONE: u32 = 0;
const REFUSED: u32 = 1;

/// A graph for kernels that adds to all elements.
fn adds(
    f: &Fixture,
    stream: &Stream,
    buffer: &mut DeviceBuffer<u32>,
    value: u32,
) -> Result<DeviceGraph> {
    let add = f.module.kernel(graphs::add)?;
    let mut graph = f.gpu.graph()?;
    graph.kernel(&add, Grid::cover(buffer.len(), 64), (value, buffer))?;
    graph.instantiate_for_device_launch(stream)
}

/// A graph for kernels that appends a value to a log.
fn appends(
    f: &Fixture,
    stream: &Stream,
    log: &mut DeviceBuffer<u32>,
    value: u32,
) -> Result<DeviceGraph> {
    let append = f.module.kernel(graphs::append)?;
    let mut graph = f.gpu.graph()?;
    graph.kernel(&append, Grid::new(1, 1), (value, log))?;
    graph.instantiate_for_device_launch(stream)
}

// covers: DGRAPH-01, DGRAPH-03, DGRAPH-05, DGRAPH-10, DGRAPH-X03
#[test]
fn a_tail_runs_after_the_launching_graph() -> Result<()> {
    let f = fixture();
    let stream = f.stream();
    let mut buffer = stream.zeroed::<u32>(300)?;
    let mut codes = stream.filled(1, 77_u32)?;
    let tail = adds(f, &stream, &mut buffer, 5)?;

    let mut graph = f.gpu.graph()?;
    let launch = f.module.kernel(graphs::tail)?;
    graph.kernel(&launch, Grid::new(1, 32), (&tail, 1, &mut codes))?;
    // It comes after the tail was launched, and before that runs.
    graph.fill(&mut buffer, 100)?;
    let mut ready = graph.instantiate()?;
    for _ in 0..3 {
        ready.launch(&stream)?;
        assert_eq!(stream.download(&buffer)?, [105; 300]);
        assert_eq!(stream.download(&codes)?, [DONE]);
    }
    Ok(())
}

#[test]
fn a_kernel_chooses_what_comes_next() -> Result<()> {
    let f = fixture();
    let stream = f.stream();
    let mut buffer = stream.zeroed::<u32>(10)?;
    let mut which = stream.zeroed::<u32>(1)?;
    let [first, second] = [1, 10].map(|value| adds(f, &stream, &mut buffer, value));
    let choose = f.module.kernel(graphs::choose)?;
    let mut graph = f.gpu.graph()?;
    graph.kernel(&choose, Grid::new(1, 32), (&which, &first?, &second?))?;
    let mut ready = graph.instantiate()?;
    drop(graph);
    for (choice, sum) in [(0, 1), (1, 11), (1, 21), (0, 22)] {
        stream.fill(&mut which, choice)?;
        ready.launch(&stream)?;
        assert_eq!(stream.download(&buffer)?, [sum; 10]);
    }
    Ok(())
}

// covers: DGRAPH-07
#[test]
fn a_graph_that_is_to_run_is_not_launched_again() -> Result<()> {
    let f = fixture();
    let stream = f.stream();
    let mut buffer = stream.zeroed::<u32>(10)?;
    let mut codes = stream.filled(1, 77_u32)?;
    let tail = adds(f, &stream, &mut buffer, 5)?;
    let mut graph = f.gpu.graph()?;
    let launch = f.module.kernel(graphs::tail)?;
    graph.kernel(&launch, Grid::new(1, 32), (&tail, 2, &mut codes))?;
    graph.instantiate()?.launch(&stream)?;
    assert_eq!(stream.download(&codes)?, [REFUSED]);
    assert_eq!(stream.download(&buffer)?, [5; 10]);
    Ok(())
}

// covers: DGRAPH-12, DGRAPH-X04
#[test]
fn a_graph_runs_again_until_a_counter_says_so() -> Result<()> {
    let f = fixture();
    let stream = f.stream();
    let mut counter = stream.zeroed::<u32>(1)?;
    let mut codes = stream.filled(2, 77_u32)?;
    let again = f.module.kernel(graphs::again)?;
    let mut graph = f.gpu.graph()?;
    graph.kernel(&again, Grid::new(1, 32), (&mut counter, 100, &mut codes))?;

    // One that only the host launches has no name for itself.
    graph.instantiate()?.launch(&stream)?;
    assert_eq!(stream.download(&counter)?, [1]);
    assert_eq!(stream.download(&codes)?, [99, 77]);

    // By the host.
    let mut looped = graph.instantiate_for_device_launch(&stream)?;
    stream.fill(&mut counter, 0)?;
    looped.launch(&stream)?;
    assert_eq!(stream.download(&counter)?, [100]);
    assert_eq!(stream.download(&codes)?, [DONE, REFUSED]);

    // By a kernel.
    stream.fill(&mut counter, 50)?;
    let mut answer = stream.filled(1, 77_u32)?;
    let launch = f.module.kernel(graphs::tail)?;
    let mut graph = f.gpu.graph()?;
    graph.kernel(&launch, Grid::new(1, 1), (&looped, 1, &mut answer))?;
    graph.instantiate()?.launch(&stream)?;
    assert_eq!(stream.download(&counter)?, [100]);
    assert_eq!(stream.download(&answer)?, [DONE]);
    Ok(())
}

#[test]
fn a_kernel_that_launches_its_own_graph_runs_in_graphs_alone() -> Result<()> {
    let f = fixture();
    let stream = f.stream();
    let mut counter = stream.zeroed::<u32>(1)?;
    let mut codes = stream.filled(2, 77_u32)?;
    let again = f.module.kernel(graphs::again)?;
    let refused = stream.launch(&again, Grid::new(1, 1), (&mut counter, 3, &mut codes));
    let error = refused.expect_err("outside of graphs");
    assert_eq!(error.code(), Some(Code::NOT_SUPPORTED));
    assert!(error.to_string().contains("graph.kernel(..)"), "{error}");
    assert_eq!(stream.download(&counter)?, [0]);
    Ok(())
}

// covers: DGRAPH-08, DGRAPH-09, DGRAPH-X02
#[test]
fn what_was_fired_is_done_when_the_stream_goes_on() -> Result<()> {
    let f = fixture();
    let stream = f.stream();
    let mut buffer = stream.zeroed::<u32>(300)?;
    let mut codes = stream.filled(1, 77_u32)?;
    let child = adds(f, &stream, &mut buffer, 5)?;
    let fire = f.module.kernel(graphs::fire)?;
    let mut graph = f.gpu.graph()?;
    graph.fill(&mut buffer, 1)?;
    // SAFETY: the fill comes before the kernel, because the child uses the buffer too; nothing comes after.
    unsafe { graph.kernel_unchecked(&fire, Grid::new(1, 1), (&child, &mut codes)) }?;
    assert_eq!(graph.edges()?.len(), 1);
    graph.instantiate()?.launch(&stream)?;
    assert_eq!(stream.download(&buffer)?, [6; 300]);
    assert_eq!(stream.download(&codes)?, [DONE]);
    Ok(())
}

// covers: DGRAPH-13, DGRAPH-X05
#[test]
fn a_sibling_is_done_when_the_stream_goes_on() -> Result<()> {
    let f = fixture();
    let stream = f.stream();
    let (mut one, mut two) = (stream.zeroed::<u32>(300)?, stream.zeroed::<u32>(300)?);
    let mut codes = stream.filled(1, 77_u32)?;
    let (beside, last) = (
        adds(f, &stream, &mut one, 5)?,
        adds(f, &stream, &mut two, 7)?,
    );
    let sibling = f.module.kernel(graphs::sibling)?;
    let mut graph = f.gpu.graph()?;
    // SAFETY: the two graphs use different buffers, and the kernel a third one.
    unsafe { graph.kernel_unchecked(&sibling, Grid::new(1, 1), (&beside, &last, &mut codes)) }?;
    graph.instantiate()?.launch(&stream)?;
    assert_eq!(stream.download(&one)?, [5; 300]);
    assert_eq!(stream.download(&two)?, [7; 300]);
    assert_eq!(stream.download(&codes)?, [DONE]);
    Ok(())
}

// covers: DGRAPH-08
#[test]
fn the_121st_child_is_an_error() -> Result<()> {
    let f = fixture();
    let stream = f.stream();
    let mut log = stream.zeroed::<u32>(200)?;
    let fire = f.module.kernel(graphs::fire)?;
    let mut graph = f.gpu.graph()?;
    let mut codes = Vec::new();
    for value in 0..121 {
        let child = appends(f, &stream, &mut log, value)?;
        let mut answer = stream.filled(1, 77_u32)?;
        // SAFETY: the log is written atomically by all.
        unsafe { graph.kernel_unchecked(&fire, Grid::new(1, 1), (&child, &mut answer)) }?;
        codes.push(answer);
    }
    let mut ready = graph.instantiate()?;
    for _ in 0..2 {
        stream.fill(&mut log, 0)?;
        ready.launch(&stream)?;
        let answers: Result<Vec<u32>> = codes
            .iter()
            .map(|answer| Ok(stream.download(answer)?[0]))
            .collect();
        let mut expected = vec![DONE; 121];
        expected[120] = REFUSED;
        assert_eq!(answers?, expected);
        let log = stream.download(&log)?;
        assert_eq!(log[0], 120);
        let mut logged = log[1..121].to_vec();
        logged.sort_unstable();
        assert!(logged.into_iter().eq(0..120));
    }
    Ok(())
}

#[test]
fn a_panic_in_a_graph_that_a_kernel_launched_is_told() -> Result<()> {
    let f = fixture();
    let stream = f.stream();
    let words = stream.upload(&[1_u32, 2, 3])?;
    let mut index = stream.zeroed::<u32>(1)?;
    let mut out = stream.zeroed::<u32>(1)?;
    let mut codes = stream.filled(1, 77_u32)?;
    let mut graph = f.gpu.graph()?;
    let indexed = f.module.kernel(graphs::indexed)?;
    graph.kernel(&indexed, Grid::new(1, 1), (&index, &words, &mut out))?;
    let tail = graph.instantiate_for_device_launch(&stream)?;
    let launch = f.module.kernel(graphs::tail)?;
    let mut graph = f.gpu.graph()?;
    graph.kernel(&launch, Grid::new(1, 1), (&tail, 1, &mut codes))?;
    let mut ready = graph.instantiate()?;
    for at in [1, 7, 2, 8] {
        stream.fill(&mut index, at)?;
        ready.launch(&stream)?;
        let waited = stream.synchronize();
        if at < 3 {
            waited?;
            assert_eq!(stream.download(&out)?, [at + 1]);
        } else {
            let error = waited.expect_err("the index is too great");
            let panic = error.panic().unwrap_or_else(|| panic!("{error}"));
            assert_eq!(panic.kernel, "indexed");
            assert!(panic.message.contains(&at.to_string()), "{panic}");
        }
    }
    Ok(())
}

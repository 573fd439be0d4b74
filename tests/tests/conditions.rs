//! Kernels that set the conditions of graphs.

use warpsmith_host::prelude::*;
use warpsmith_test_kernels::graphs;
use warpsmith_tests::fixture;

fn one() -> Grid {
    Grid::new(1, 1)
}

// covers: COND-01, COND-04
#[test]
fn a_loop_runs_until_its_body_says_so() -> Result<()> {
    let f = fixture();
    let stream = f.stream();
    let count_down = f.module.kernel(graphs::count_down)?;
    let add = f.module.kernel(graphs::add)?;
    let mut left = stream.upload(&[5_u32])?;
    let mut passes = stream.zeroed::<u32>(1)?;
    let mut graph = f.gpu.graph()?;
    let again = graph.condition(1)?;
    graph.while_loop(again, |body| {
        body.kernel(&add, one(), (1, &mut passes))?;
        body.kernel(&count_down, one(), (&mut left, again))?;
        Ok(())
    })?;
    graph.instantiate()?.launch(&stream)?;
    assert_eq!(stream.download(&passes)?, [5]);
    Ok(())
}

// covers: COND-05
#[test]
fn a_node_before_a_branch_decides() -> Result<()> {
    let f = fixture();
    let stream = f.stream();
    let decide = f.module.kernel(graphs::decide)?;
    let mut count = stream.zeroed::<u32>(1)?;
    let mut out = stream.zeroed::<u32>(1)?;
    let mut graph = f.gpu.graph()?;
    let condition = graph.condition(0)?;
    let first = graph.kernel(&decide, one(), (1, condition, &mut count))?;
    let branch = graph.if_then(condition, |body| body.fill(&mut out, 7).map(|_| ()))?;
    graph.depend(first, branch)?;
    let mut ready = graph.instantiate()?;
    ready.launch(&stream)?;
    assert_eq!(stream.download(&out)?, [7]);

    stream.fill(&mut out, 0)?;
    ready.set_kernel(first, &decide, one(), (0, condition, &mut count))?;
    ready.launch(&stream)?;
    assert_eq!(stream.download(&out)?, [0]);
    assert_eq!(stream.download(&count)?, [2]);
    Ok(())
}

/// Another graph's condition may be gone, or in use by a graph that runs; a launch in a stream is no node at all.
#[test]
fn a_condition_is_its_graphs_alone() -> Result<()> {
    let f = fixture();
    let mut stream = f.stream();
    let decide = f.module.kernel(graphs::decide)?;
    let mut count = stream.zeroed::<u32>(1)?;
    let mut graph = f.gpu.graph()?;
    let condition = graph.condition(0)?;
    let refused = |result: Result<()>| {
        let error = result.expect_err("a condition elsewhere");
        assert!(
            error.to_string().contains("is passed a condition"),
            "{error}"
        );
    };
    refused(stream.launch(&decide, one(), (1, condition, &mut count)));
    refused(
        stream
            .capture(|capture| capture.launch(&decide, one(), (1, condition, &mut count)))
            .map(drop),
    );
    let mut other = f.gpu.graph()?;
    let add = |graph: &mut Graph, count: &mut DeviceBuffer<u32>| {
        graph
            .kernel(&decide, one(), (1, condition, count))
            .map(drop)
    };
    refused(add(&mut other, &mut count));
    let own = other.condition(1)?;
    refused(
        other
            .if_then(own, |body| {
                body.kernel(&decide, one(), (1, condition, &mut count))
                    .map(drop)
            })
            .map(drop),
    );
    drop(graph);
    refused(add(&mut other, &mut count));
    Ok(())
}

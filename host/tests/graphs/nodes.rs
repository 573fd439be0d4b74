//! Nodes for events and flags, copies of matrices and arrays, branches of several ways, options of kernel nodes.

use crate::common::{add, gpu, module};
use warpsmith_host::prelude::*;
use warpsmith_host::{EdgeKind, Extent2, FlagOperations, LaunchOptions, MemSyncDomain};

// covers: GRAPH-09, GRAPH-36
#[test]
fn events_reach_into_a_graph_and_out_of_it() -> Result<()> {
    let gpu = gpu();
    let (stream, outside) = (gpu.stream()?, gpu.stream()?);
    let flag = gpu.flag(0_u32)?;
    let mut words = stream.zeroed::<u32>(4)?;
    let (before, after) = (gpu.event_untimed()?, gpu.event()?);
    let mut graph = gpu.graph()?;
    let wait = graph.wait(&before)?;
    let fill = graph.fill(&mut words, 7)?;
    let record = graph.record(&after)?;
    graph.depend(wait, fill)?;
    graph.depend(fill, record)?;
    let mut ready = graph.instantiate()?;
    drop(graph);
    for round in 0..3 {
        flag.set(0);
        outside.wait_value(&flag, Wait::Equal(1))?;
        outside.record(&before)?;
        ready.launch(&stream)?;
        assert!(!after.is_complete()?, "round {round}");
        flag.set(1);
        after.synchronize()?;
        outside.wait(&after)?;
        assert_eq!(outside.download(&words)?, [7; 4]);
        outside.fill(&mut words, 0)?;
    }
    // Events live as long as launches that use them.
    flag.set(0);
    outside.wait_value(&flag, Wait::Equal(1))?;
    outside.record(&before)?;
    ready.launch(&stream)?;
    drop((before, after, ready));
    flag.set(1);
    assert_eq!(stream.download(&words)?, [7; 4]);
    Ok(())
}

// covers: GRAPH-36
#[test]
fn events_of_captures_stand_for_nodes_or_for_work() -> Result<()> {
    let gpu = gpu();
    let (mut stream, mut other) = (gpu.stream()?, gpu.stream()?);
    let (before, after) = (gpu.event_untimed()?, gpu.event_untimed()?);
    let mut words = stream.zeroed::<u32>(4)?;
    let graph = stream.capture(|capture| {
        capture.wait_external(capture.stream(), &before)?;
        capture.fill(&mut words, 3)?;
        capture.record_external(capture.stream(), &after)
    })?;
    assert_eq!(graph.node_count()?, 3);
    let mut ready = graph.instantiate()?;
    let flag = gpu.flag(0_u32)?;
    other.wait_value(&flag, Wait::Equal(1))?;
    other.record(&before)?;
    ready.launch(&stream)?;
    assert!(!after.is_complete()?);
    flag.set(1);
    after.synchronize()?;
    stream.synchronize()?;
    // While an event stands for a node, no launch can wait for it.
    other.capture(|capture| {
        capture.record(&before)?;
        assert!(capture.wait_external(capture.stream(), &before).is_err());
        assert!(
            capture.record_external(&stream, &after).is_err(),
            "no part of it"
        );
        let error = ready.launch(&stream).unwrap_err();
        assert_eq!(error.code(), Some(Code::CAPTURED_EVENT), "{error}");
        Ok(())
    })?;
    other.record(&before)?;
    ready.launch(&stream)?;
    stream.synchronize()
}

#[test]
fn flags_hold_a_graph_up_and_tell_of_it() -> Result<()> {
    let gpu = gpu();
    let stream = gpu.stream()?;
    let (go, wide) = (gpu.flag(0_u32)?, gpu.flag(0_u64)?);
    let mut words = stream.zeroed::<u32>(4)?;
    let mut graph = gpu.graph()?;
    let wait = graph.wait_value(&go, Wait::AtLeast(5))?;
    let fill = graph.fill(&mut words, 1)?;
    let tell = graph.flags(&FlagOperations::new().write(&wide, 1 << 40).write(&go, 0))?;
    graph.depend(wait, fill)?;
    graph.depend(fill, tell)?;
    // Nodes of one flag come in the order in which they were added.
    let edges = graph.edges()?;
    assert!(
        edges
            .iter()
            .any(|edge| edge.from == wait.node() && edge.to == tell.node())
    );
    let error = graph.flags(&FlagOperations::new()).unwrap_err();
    assert!(error.to_string().contains("no operations"), "{error}");
    let mut ready = graph.instantiate()?;
    drop(graph);
    for _ in 0..2 {
        wide.set(0);
        ready.launch(&stream)?;
        go.set(4);
        assert_eq!(wide.get(), 0);
        go.set(5);
        assert_eq!(stream.download(&words)?, [1; 4]);
        assert_eq!((wide.get(), go.get()), (1 << 40, 0));
    }
    // Another value, and another flag.
    let other = gpu.flag(0_u32)?;
    ready.set_flags(wait, &FlagOperations::new().wait(&other, Wait::AtLeast(1)))?;
    drop(go);
    ready.launch(&stream)?;
    other.set(1);
    stream.synchronize()?;
    ready.launch(&stream)?;
    drop((ready, other, wide));
    stream.synchronize()
}

// covers: GRAPH-06
#[test]
fn matrices_and_arrays_are_copied() -> Result<()> {
    let gpu = gpu();
    let stream = gpu.stream()?;
    let mut input = gpu.pinned::<u32>(6)?;
    let mut output = gpu.pinned::<u32>(6)?;
    let mut padded = stream.pitched_zeroed::<u32>(3, 2)?;
    let mut dense = stream.zeroed::<u32>(6)?;
    let mut array = stream.array_zeroed::<u32, _>(Extent2 {
        width: 2,
        height: 3,
    })?;
    let mut twin = stream.array_zeroed::<u32, _>(Extent2 {
        width: 2,
        height: 3,
    })?;
    let mut back = stream.zeroed::<u32>(6)?;
    let mut graph = gpu.graph()?;
    graph.copy_matrix_from_host(&input, &mut padded.matrix_mut())?;
    graph.copy_matrix(&padded.matrix(), &mut dense.matrix_mut(3, 2)?)?;
    graph.copy_to_array(&dense, &mut array)?;
    graph.copy_array(&array, &mut twin)?;
    let last = graph.copy_from_array(&twin, &mut back)?;
    graph.copy_matrix_to_host(&back.matrix(3, 2)?, &mut output)?;
    assert_eq!(graph.edges()?.len(), 5);
    let error = graph
        .copy_matrix(&padded.matrix(), &mut dense.matrix_mut(2, 3)?)
        .unwrap_err();
    assert!(error.to_string().contains("3 x 2"), "{error}");
    let condition = graph.condition(1)?;
    graph.if_then(condition, |body| {
        assert!(body.copy_array(&array, &mut twin).is_err());
        body.copy_matrix(&padded.matrix(), &mut dense.matrix_mut(3, 2)?)
            .map(drop)
    })?;
    let mut ready = graph.instantiate()?;
    for round in 1..4 {
        for (i, word) in input.host_mut()?.iter_mut().enumerate() {
            *word = round * 10 + i as u32;
        }
        ready.launch(&stream)?;
        stream.synchronize()?;
        let expected: Vec<u32> = (0..6).map(|i| round * 10 + i).collect();
        assert_eq!(output.host()?[..], expected);
    }
    let error = ready.set_copy(last, &dense, &mut back).unwrap_err();
    assert!(error.to_string().contains("matrix or an array"), "{error}");
    ready.set_enabled(last, false)?;
    input.host_mut()?.fill(0);
    ready.launch(&stream)?;
    assert_eq!(stream.download(&back)?[0], 30);
    Ok(())
}

// covers: COND-10
#[test]
fn branches_of_several_ways() -> Result<()> {
    let gpu = gpu();
    let module = module(&gpu);
    let decide = module.untyped_kernel::<(In<u32>, Value<u64>)>("decide")?;
    let stream = gpu.stream()?;
    let mut choice = stream.zeroed::<u32>(1)?;
    let mut result = stream.zeroed::<u32>(2)?;
    let mut graph = gpu.graph()?;
    let condition = graph.condition(0)?;
    let other = graph.condition(0)?;
    if gpu.driver_version()
        < (warpsmith_host::CudaVersion {
            major: 12,
            minor: 8,
        })
    {
        let error = graph.switch(condition, 2, |_, _| Ok(())).unwrap_err();
        assert!(matches!(error, Error::Unsupported(_)), "{error}");
        return Ok(());
    }
    // SAFETY: the entry reads one word and sets the condition.
    let (one, two) = unsafe {
        (
            graph.kernel_untyped(&decide, Grid::new(1, 1), (&choice, condition))?,
            graph.kernel_untyped(&decide, Grid::new(1, 1), (&choice, other))?,
        )
    };
    let (mut first, mut second) = result.slice_mut(..).split_at_mut(1);
    let branch = graph.if_else(condition, |is_set, body| match is_set {
        true => body.fill(&mut first, 1).map(drop),
        false => body.fill(&mut second, 2).map(drop),
    })?;
    graph.depend(one, branch)?;
    let mut cases = Vec::new();
    let switch = graph.switch(other, 3, |number, body| {
        cases.push(number);
        body.fill(&mut first, 10 + number).map(drop)
    })?;
    graph.depend(two, switch)?;
    assert_eq!(cases, [0, 1, 2]);
    // One body writes what both branches write.
    let edges = graph.edges()?;
    assert!(
        edges
            .iter()
            .any(|edge| edge.from == branch && edge.to == switch)
    );
    assert!(graph.switch(other, 0, |_, _| Ok(())).is_err());
    let mut ready = graph.instantiate()?;
    for (value, expected) in [(0, [10, 2]), (1, [11, 0]), (2, [12, 0]), (3, [1, 0])] {
        stream.fill(&mut choice, value)?;
        stream.fill(&mut result, 0)?;
        ready.launch(&stream)?;
        assert_eq!(stream.download(&result)?, expected, "value {value}");
    }
    Ok(())
}

#[test]
fn a_body_that_fails_leaves_its_node_in_order_and_nothing_to_launch() -> Result<()> {
    let gpu = gpu();
    let stream = gpu.stream()?;
    let mut words = stream.zeroed::<u32>(2)?;
    let mut graph = gpu.graph()?;
    graph.fill(&mut words, 1)?;
    let condition = graph.condition(1)?;
    let failed = graph.if_else(condition, |is_set, body| {
        assert!(is_set, "not called for the second body");
        body.fill(&mut words, 2)?;
        Err("nonsense".parse::<DeviceChoice>().unwrap_err())
    });
    let Err(error) = failed else {
        panic!("the body has failed");
    };
    if matches!(error, Error::Unsupported(_)) {
        return Ok(());
    }
    graph.fill(&mut words.slice_mut(..1), 3)?;
    assert_eq!(graph.edges()?.len(), 2);
    let refused = graph.instantiate().unwrap_err().to_string();
    assert!(
        refused.contains("a branch whose body is not whole"),
        "{refused}"
    );
    assert_eq!(stream.download(&words)?, [0, 0]);
    Ok(())
}

// covers: MODEL-25, GRAPH-14, GRAPH-15
#[test]
fn kernel_nodes_have_options_and_edges_of_other_kinds() -> Result<()> {
    let gpu = gpu();
    let module = module(&gpu);
    let add = add(&module);
    let stream = gpu.stream()?;
    let mut a = stream.zeroed::<u32>(100)?;
    let mut b = stream.zeroed::<u32>(100)?;
    let event = gpu.event_untimed()?;
    let mut graph = gpu.graph()?;
    let options = LaunchOptions::new()
        .priority(-1)
        .mem_sync_domain(MemSyncDomain::Remote);
    let grid = Grid::cover(100, 32);
    // SAFETY: the entry takes a slice and a number, and writes only the slice.
    let (one, two) = unsafe {
        (
            graph.kernel_untyped_with(&add, grid, &options, (&mut a, 1))?,
            graph.kernel_untyped_with(&add, grid, &options, (&mut b, 2))?,
        )
    };
    graph.depend_started(one, two)?;
    let edges = graph.edges()?;
    assert_eq!(edges.len(), 1);
    assert_eq!(edges[0].kind, EdgeKind::Started);
    let fill = graph.fill(&mut a.slice_mut(..1), 9)?;
    assert!(graph.depend_started(one, fill).is_err(), "there is an edge");
    for options in [
        LaunchOptions::new().completion_event(&event),
        LaunchOptions::new().shared_memory_carveout(50),
    ] {
        // SAFETY: the entry takes a slice and a number, and writes only the slice; the node is refused.
        let error = unsafe { graph.kernel_untyped_with(&add, grid, &options, (&mut a, 1)) };
        let error = error.unwrap_err().to_string();
        assert!(error.contains("no option of a node"), "{error}");
    }
    assert_eq!(
        graph.node_count()?,
        3,
        "nothing was added by what was refused"
    );
    graph.instantiate()?.launch(&stream)?;
    assert_eq!(stream.download(&a)?[..2], [9, 1]);
    assert_eq!(stream.download(&b)?, [2; 100]);
    Ok(())
}

// covers: GRAPH-04
#[test]
fn a_node_without_its_attributes_is_in_no_executable_graph() -> Result<()> {
    let gpu = gpu();
    if !gpu.properties()?.has_cluster_launch {
        return Ok(());
    }
    let module = module(&gpu);
    let add = add(&module);
    let mut words = gpu.stream()?.zeroed::<u32>(8)?;
    let mut graph = gpu.graph()?;
    let grid = Grid::new(8, 1).cluster(2);
    let options = LaunchOptions::new().preferred_cluster(3);
    // SAFETY: the entry takes a slice and a number, and writes only the slice.
    let added = unsafe { graph.kernel_untyped_with(&add, grid, &options, (&mut words, 1)) };
    let refused = graph.instantiate().unwrap_err().to_string();
    if added.is_err() {
        assert!(
            refused.contains("nothing can be made of the graph"),
            "{refused}"
        );
    }
    Ok(())
}

//! Loops and branches on the device.

use crate::common::{add, add_node, gpu, module};
use warpsmith_host::prelude::*;

// covers: COND-01, COND-02, COND-04, COND-06, COND-X02, GRAPH-12
#[test]
fn a_loop_on_the_device() -> Result<()> {
    let gpu = gpu();
    let module = module(&gpu);
    let add = add(&module);
    let count_down = module.untyped_kernel::<(Out<u32>, Value<u64>)>("count_down")?;
    let stream = gpu.stream()?;
    let mut left = stream.zeroed::<u32>(1)?;
    let mut passes = stream.zeroed::<u32>(3)?;
    let mut graph = gpu.graph()?;
    graph.fill(&mut left, 10)?;
    let again = graph.condition(1)?;
    graph.while_loop(again, |body| {
        add_node(body, &add, &mut passes, 1);
        // SAFETY: the entry writes one word and sets the condition.
        unsafe { body.kernel_untyped(&count_down, Grid::new(1, 1), (&mut left, again))? };
        Ok(())
    })?;
    add_node(&mut graph, &add, &mut passes, 100);
    assert_eq!(graph.node_count()?, 3);
    let mut ready = graph.instantiate()?;
    for launch in 1..=2 {
        ready.launch(&stream)?;
        assert_eq!(stream.download(&passes)?, [launch * 110; 3]);
    }

    let error = graph.while_loop(again, |_| Ok(())).unwrap_err();
    assert!(error.to_string().contains("already decides"), "{error}");
    let unused = gpu.graph()?.condition(0)?;
    assert!(
        graph
            .if_then(unused, |_| Ok(()))
            .unwrap_err()
            .to_string()
            .contains("another graph")
    );
    let mut graph = gpu.graph()?;
    let never = graph.condition(0)?;
    graph.while_loop(never, |body| {
        assert!(
            body.host(|| ())
                .unwrap_err()
                .to_string()
                .contains("cannot hold a host function")
        );
        add_node(body, &add, &mut passes, 1);
        // SAFETY: the entry writes one word and sets the condition.
        unsafe { body.kernel_untyped(&count_down, Grid::new(1, 1), (&mut left, never))? };
        Ok(())
    })?;
    graph.instantiate()?.launch(&stream)?;
    assert_eq!(stream.download(&passes)?, [220; 3]);
    Ok(())
}

/// A condition's first value counts once for a launch of the graph, so the loop inside needs a kernel that begins it anew.
// covers: COND-07
#[test]
fn a_loop_in_a_loop() -> Result<()> {
    let gpu = gpu();
    let module = module(&gpu);
    let add = add(&module);
    let count_down = module.untyped_kernel::<(Out<u32>, Value<u64>)>("count_down")?;
    let stream = gpu.stream()?;
    let mut outer_left = stream.zeroed::<u32>(1)?;
    let mut inner_left = stream.zeroed::<u32>(1)?;
    for (begun_anew, expected) in [(true, 12), (false, 4)] {
        let mut passes = stream.zeroed::<u32>(1)?;
        let mut graph = gpu.graph()?;
        graph.fill(&mut outer_left, 3)?;
        let outer = graph.condition(1)?;
        graph.while_loop(outer, |body| {
            body.fill(&mut inner_left, if begun_anew { 5 } else { 4 })?;
            let inner = body.condition(1)?;
            if begun_anew {
                // From 5 to 4, which is the condition's value.
                // SAFETY: the entry writes one word and sets the condition.
                unsafe {
                    body.kernel_untyped(&count_down, Grid::new(1, 1), (&mut inner_left, inner))?
                };
            }
            body.while_loop(inner, |body| {
                add_node(body, &add, &mut passes, 1);
                // SAFETY: the entry writes one word and sets the condition.
                unsafe {
                    body.kernel_untyped(&count_down, Grid::new(1, 1), (&mut inner_left, inner))?
                };
                Ok(())
            })?;
            // SAFETY: the entry writes one word and sets the condition.
            unsafe { body.kernel_untyped(&count_down, Grid::new(1, 1), (&mut outer_left, outer))? };
            Ok(())
        })?;
        let mut ready = graph.instantiate()?;
        for launch in 1..=2 {
            ready.launch(&stream)?;
            assert_eq!(
                stream.download(&passes)?,
                [launch * expected],
                "begun anew: {begun_anew}"
            );
        }
    }
    Ok(())
}

// covers: COND-05, COND-X01
#[test]
fn a_branch_on_the_device() -> Result<()> {
    let gpu = gpu();
    let module = module(&gpu);
    let add = add(&module);
    let decide = module.untyped_kernel::<(In<u32>, Value<u64>)>("decide")?;
    let stream = gpu.stream()?;
    let mut choice = stream.zeroed::<u32>(1)?;
    let mut result = stream.zeroed::<u32>(1)?;
    let mut graph = gpu.graph()?;
    let yes = graph.condition(0)?;
    // SAFETY: the entry reads one word and sets the condition.
    let decision = unsafe { graph.kernel_untyped(&decide, Grid::new(1, 1), (&choice, yes))? };
    let branch = graph.if_then(yes, |body| {
        add_node(body, &add, &mut result, 1);
        Ok(())
    })?;
    graph.depend(decision, branch)?;
    add_node(&mut graph, &add, &mut result, 100);
    let mut ready = graph.instantiate()?;
    for (value, expected) in [(0, 100), (1, 201), (0, 301), (2, 402)] {
        stream.fill(&mut choice, value)?;
        ready.launch(&stream)?;
        assert_eq!(stream.download(&result)?, [expected]);
    }
    Ok(())
}

// covers: COND-10
#[test]
fn one_of_two_bodies_or_of_several_runs() -> Result<()> {
    let gpu = gpu();
    let module = module(&gpu);
    let add = add(&module);
    let decide = module.untyped_kernel::<(In<u32>, Value<u64>)>("decide")?;
    let stream = gpu.stream()?;
    let mut choice = stream.zeroed::<u32>(1)?;
    let (mut one, mut two) = (stream.zeroed::<u32>(1)?, stream.zeroed::<u32>(1)?);
    for several in [false, true] {
        let mut graph = gpu.graph()?;
        let which = graph.condition(0)?;
        // SAFETY: the entry reads one word and sets the condition.
        let decision = unsafe { graph.kernel_untyped(&decide, Grid::new(1, 1), (&choice, which))? };
        graph.fill(&mut two, 0)?;
        // What comes before a body by two buffers comes before it by one edge.
        graph.copy(&two, &mut one)?;
        let node = match several {
            false => graph.if_else(which, |is_set, body| {
                add_node(body, &add, &mut one, if is_set { 1 } else { 10 });
                if is_set {
                    add_node(body, &add, &mut two, 2);
                }
                Ok(())
            })?,
            true => graph.switch(which, 3, |number, body| {
                add_node(body, &add, &mut one, number + 1);
                add_node(body, &add, &mut two, 10 * (number + 1));
                Ok(())
            })?,
        };
        graph.depend(decision, node)?;
        add_node(&mut graph, &add, &mut one, 100);
        let mut ready = graph.instantiate()?;
        let expected = match several {
            false => [(0, 110, 0), (1, 101, 2), (7, 101, 2)],
            true => [(0, 101, 10), (2, 103, 30), (3, 100, 0)],
        };
        for (value, first, second) in expected {
            stream.fill(&mut choice, value)?;
            ready.launch(&stream)?;
            assert_eq!(stream.download(&one)?, [first], "{value}");
            assert_eq!(stream.download(&two)?, [second], "{value}");
        }
    }
    let mut graph = gpu.graph()?;
    let which = graph.condition(0)?;
    let refused = graph.switch(which, 0, |_, _| Ok(())).unwrap_err();
    assert!(refused.to_string().contains("no bodies"), "{refused}");
    let refused = graph.switch(which, 65_537, |_, _| Ok(())).unwrap_err();
    let text = refused.to_string();
    assert!(text.contains("65537") && text.contains("65536"), "{text}");
    graph.switch(which, 65_536, |_, _| Ok(()))?;
    Ok(())
}

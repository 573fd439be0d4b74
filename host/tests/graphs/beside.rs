//! Two threads beside each other: one has a graph, the other one an executable graph of it, whose launch in a capture copies the graph.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;

use crate::common::{gpu, in_own_process};
use warpsmith_host::prelude::*;

/// In a process of its own, which a node that calls nothing would end.
#[test]
fn a_graph_takes_a_childs_place_while_it_is_captured() {
    in_own_process(&[], || {
        take_places().unwrap_or_else(|error| panic!("{error}"));
    });
}

fn take_places() -> Result<()> {
    let gpu = gpu();
    let stream = gpu.stream()?;
    let mut recording = gpu.stream()?;
    let calls = Arc::new(AtomicU32::new(0));
    let mut inner = gpu.graph()?;
    let counted = calls.clone();
    inner.host(move || {
        counted.fetch_add(1, Ordering::Relaxed);
    })?;
    let mut outer = gpu.graph()?;
    let node = outer.child(&inner)?;
    let (mut whole, mut copied) = (outer.instantiate()?, inner.instantiate()?);
    let rounds = warpsmith_testkit::cases(3000);
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        let captures = scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                recording.capture(|capture| copied.launch(capture.stream()))?;
            }
            Ok(())
        });
        let launches = (0..rounds).try_for_each(|_| {
            whole.set_child(node, &inner)?;
            whole.launch(&stream)?;
            stream.synchronize()
        });
        is_over.store(true, Ordering::Relaxed);
        launches.and(captures.join().expect("no panic"))
    })?;
    assert_eq!(calls.load(Ordering::Relaxed), rounds);
    Ok(())
}

/// The copy has the nodes whose memory it keeps, or there is none.
#[test]
fn a_node_that_is_added_meanwhile_is_no_part_of_the_copy() -> Result<()> {
    let gpu = gpu();
    let stream = gpu.stream()?;
    let mut recording = gpu.stream()?;
    let buffers = (0..64).map(|_| stream.zeroed::<u32>(1));
    let mut buffers = buffers.collect::<Result<Vec<_>>>()?;
    for round in 0..warpsmith_testkit::cases(200) {
        let mut graph = gpu.graph()?;
        for buffer in &mut buffers {
            graph.fill(buffer, 1)?;
        }
        let mut exec = graph.instantiate()?;
        let mut late = stream.zeroed::<u32>(1)?;
        let is_begun = AtomicBool::new(false);
        let copied = thread::scope(|scope| {
            let adding = scope.spawn(|| {
                while !is_begun.load(Ordering::Acquire) {
                    thread::yield_now();
                }
                (0..round % 50 * 50).for_each(|_| std::hint::spin_loop());
                graph.fill(&mut late, 7)
            });
            let copied = recording.capture(|capture| {
                is_begun.store(true, Ordering::Release);
                exec.launch(capture.stream())
            });
            adding.join().expect("no panic")?;
            Ok::<_, Error>(copied.ok())
        })?;
        if let Some(copied) = copied {
            copied.instantiate()?.launch(&stream)?;
            assert_eq!(stream.download(&late)?, [0], "in round {round}");
        }
    }
    Ok(())
}

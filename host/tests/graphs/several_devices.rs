//! Graphs whose nodes run on several devices: built, captured and changed; in order with both, and told by both. With two simulated devices the
//! order of all work is checked.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::common::panicking;
use crate::common::two::with_two;
use crate::common::{Add, add, add_node, hold_up, launch_add, module, open_soon, refusal};
use warpsmith_host::PeerAccess;
use warpsmith_host::prelude::*;

const LEN: usize = 1000;

/// What the tests have of two devices: the second may use the first one's memory.
struct Two {
    here: Stream,
    there: Stream,
    add_here: Add,
    add_there: Add,
    x: DeviceBuffer<u32>,
    y: DeviceBuffer<u32>,
    access: PeerAccess,
}

impl Two {
    fn new(one: &Gpu, other: &Gpu) -> Result<Two> {
        let (here, there) = (one.stream()?, other.stream()?);
        Ok(Two {
            add_here: add(&module(one)),
            add_there: add(&module(other)),
            x: here.zeroed(LEN)?,
            y: there.zeroed(LEN)?,
            access: one.default_pool()?.allow_peer(other)?,
            here,
            there,
        })
    }
}

/// Runs a test with two devices.
fn test(body: impl FnOnce(&Gpu, &Gpu, Two) -> Result<()>) {
    with_two(|one, other| {
        let two = Two::new(&one, &other).expect("both devices");
        body(&one, &other, two).expect("all but what is refused works");
    });
}

// covers: GRAPH-04, GRAPH-06, MULTI-07
#[test]
fn nodes_of_two_devices_are_in_order_with_each_other_and_with_both() {
    test(|one, other, mut two| {
        let mut graph = one.graph()?;
        add_node(&mut graph, &two.add_here, &mut two.x, 1);
        graph.copy(&two.access.view(&two.x)?, &mut two.y)?;
        let there = add_node(&mut graph, &two.add_there, &mut two.y, 10);
        graph.copy(&two.y, &mut two.access.view_mut(&mut two.x)?)?;
        graph.fill(&mut two.y.slice_mut(..1), 7)?;
        let mut ready = graph.instantiate()?;
        let mut x = 0;
        for _ in 0..4 {
            launch_add(&two.there, &two.add_there, &mut two.y, 100);
            ready.launch(&two.here)?;
            launch_add(&two.there, &two.add_there, &mut two.y, 1000);
            x += 11;
            let mut y = vec![x + 1000; LEN];
            y[0] = 1007;
            assert_eq!(two.there.download(&two.y)?, y);
            assert_eq!(two.here.download(&two.x)?, vec![x; LEN]);
        }
        // Another value, from the next launch on.
        let grid = Grid::cover(LEN, 128);
        // SAFETY: the entry takes a slice and a number, and writes only the slice.
        unsafe { ready.set_kernel_untyped(there, &two.add_there, grid, (&mut two.y, 20_u32)) }?;
        // SAFETY: the entry takes a slice and a number, and writes only the slice.
        let refused =
            unsafe { ready.set_kernel_untyped(there, &two.add_here, grid, (&mut two.x, 20_u32)) };
        assert!(refusal(refused).contains("a kernel of another device"));
        // All is dropped while the work waits: what the second device's node uses is there until it is done.
        let late = hold_up(&two.here)?;
        ready.launch(&two.here)?;
        drop((ready, graph));
        let Two {
            here,
            there,
            add_here,
            add_there,
            x: first,
            y,
            access,
        } = two;
        drop((add_here, add_there, access));
        drop(other.stream()?);
        drop(late);
        assert_eq!(there.download(&y.slice(1..))?, vec![x + 21; LEN - 1]);
        assert_eq!(here.download(&first)?, vec![x + 21; LEN]);
        Ok(())
    });
}

// covers: GRAPH-31, MULTI-05
#[test]
fn a_capture_takes_streams_of_both_devices() {
    test(|one, other, mut two| {
        let marked = other.event()?;
        let awaited = one.event()?;
        two.here.record(&awaited)?;
        let graph = two.here.capture(|capture| {
            launch_add(capture, &two.add_here, &mut two.x, 1);
            let side = capture.fork(&mut two.there)?;
            // After the launch: both use `x`.
            side.copy(&two.access.view(&two.x)?, &mut two.y)?;
            launch_add(side, &two.add_there, &mut two.y, 10);
            capture.wait_external(side, &awaited)?;
            capture.record_external(side, &marked)?;
            let refused = capture.record_external(capture.stream(), &marked);
            assert_eq!(
                refused.expect_err("of another device").code(),
                Some(Code::INVALID_CONTEXT)
            );
            let refused = side.zeroed::<u32>(4);
            assert!(refusal(refused).contains("the one on which the capture began"));
            capture.fill(&mut two.x, 3)
        })?;
        assert_eq!(two.there.download(&two.y)?, [0; LEN], "nothing has run");
        let mut ready = graph.instantiate()?;
        for expected in [11, 14] {
            ready.launch(&two.here)?;
            two.there.wait(&marked)?;
            assert_eq!(two.there.download(&two.y)?, [expected; LEN]);
            assert_eq!(two.here.download(&two.x)?, [3; LEN]);
        }
        // As a node of a graph of the second device.
        let mut outer = other.graph()?;
        outer.fill(&mut two.y, 0)?;
        outer.child(&graph)?;
        outer.instantiate()?.launch(&two.there)?;
        assert_eq!(two.there.download(&two.y)?, [14; LEN]);
        Ok(())
    });
}

#[test]
fn panics_of_each_device_reach_who_waits_for_the_launch() {
    test(|one, other, two| {
        let kernels = [one, other].map(panicking::kernels);
        for (number, line) in [(1, 21_u32), (0, 22)] {
            let mut graph = one.graph()?;
            // SAFETY: the entry takes a number.
            unsafe { graph.kernel_untyped(&kernels[number].at, Grid::new(2, 32), (line,)) }?;
            let mut ready = graph.instantiate()?;
            for _ in 0..2 {
                ready.launch(&two.here)?;
                let error = two.here.synchronize().expect_err("it panicked");
                let panic = error.panic().expect("a panic");
                assert_eq!((panic.line, &*panic.kernel), (line, "at"));
            }
        }
        // Both in one launch, told as one; in a capture.
        let Two {
            mut here,
            mut there,
            ..
        } = two;
        let graph = here.capture(|capture| {
            let side = capture.fork(&mut there)?;
            panicking::launch_at(capture, &kernels[0], 31);
            panicking::launch_at(side, &kernels[1], 32);
            Ok(())
        })?;
        graph.instantiate()?.launch(&here)?;
        let error = here.synchronize().expect_err("both panicked");
        let panic = error.panic().expect("a panic");
        let mut lines: Vec<u32> = panic.others.iter().map(|other| other.line).collect();
        lines.push(panic.line);
        lines.sort_unstable();
        assert_eq!(lines, [31, 32]);
        here.synchronize()?;
        other.synchronize()
    });
}

#[test]
fn what_a_graph_of_several_devices_cannot_have_is_refused() {
    test(|one, other, mut two| {
        let mut graph = one.graph()?;
        let refused = graph.copy(&two.y, &mut two.x);
        assert!(refusal(refused).contains("neither device may use both"));
        let refused = graph.copy(&two.x, &mut two.y);
        assert!(refusal(refused).contains("neither device may use both"));
        assert_eq!(graph.node_count()?, 0);
        graph.fill(&mut two.x, 1)?;
        graph.fill(&mut two.y, 2)?;
        let refused = graph.instantiate_for_device_launch(&two.here);
        assert!(refusal(refused.map(drop)).contains("such a graph is of one device"));
        let condition = graph.condition(1)?;
        let refused = graph.if_then(condition, |body| body.fill(&mut two.y, 3).map(drop));
        assert!(
            refusal(refused.map(drop)).contains("the body of a loop or a branch is of one device")
        );
        // A capture takes no launch of another device's graph.
        let mut graph = one.graph()?;
        graph.fill(&mut two.x, 1)?;
        graph.fill(&mut two.y, 2)?;
        let mut ready = graph.instantiate()?;
        let captured = two.there.capture(|capture| {
            let refused = ready
                .launch(capture)
                .expect_err("it is another device's graph");
            assert_eq!(refused.code(), Some(Code::INVALID_CONTEXT));
            Ok(())
        })?;
        assert_eq!(captured.node_count()?, 0);
        ready.launch(&two.here)?;
        // To wait for the second device is to wait for its nodes.
        other.synchronize()?;
        assert_eq!(two.there.download(&two.y)?, [2; LEN]);
        assert_eq!(two.here.download(&two.x)?, [1; LEN]);
        Ok(())
    });
}

// covers: GRAPH-20, MULTI-02
#[test]
fn streams_of_either_device_launch_a_graph() {
    test(|one, other, mut two| {
        // Of the first device alone, and of both.
        let mut graph = one.graph()?;
        add_node(&mut graph, &two.add_here, &mut two.x, 1);
        let mut of_one = graph.instantiate()?;
        graph.copy(&two.access.view(&two.x)?, &mut two.y)?;
        add_node(&mut graph, &two.add_there, &mut two.y, 10);
        let mut of_both = graph.instantiate()?;
        let mut x = 0;
        for round in 0..6 {
            let (near, far) = match round % 2 {
                0 => (&two.here, &two.there),
                _ => (&two.there, &two.here),
            };
            // One launch waits, in front of all others.
            open_soon(hold_up(near)?);
            of_one.launch(near)?;
            launch_add(&two.here, &two.add_here, &mut two.x, 100);
            of_both.launch(far)?;
            launch_add(&two.there, &two.add_there, &mut two.y, 1000);
            of_one.launch(far)?;
            of_one.upload(near)?;
            of_both.launch(near)?;
            x += 104;
            assert_eq!(two.there.download(&two.y)?, vec![x + 10; LEN]);
            assert_eq!(two.here.download(&two.x)?, vec![x; LEN]);
        }
        // An update, after a launch that has not run.
        let mut changed = one.graph()?;
        add_node(&mut changed, &two.add_here, &mut two.x, 5);
        open_soon(hold_up(&two.there)?);
        of_one.launch(&two.there)?;
        of_one.update(&changed)?;
        of_one.launch(&two.here)?;
        assert_eq!(two.here.download(&two.x)?, vec![x + 6; LEN]);
        other.synchronize()
    });
}

// covers: GRAPH-47
#[test]
fn what_a_launch_in_another_devices_stream_uses_outlives_it() {
    test(|one, other, two| {
        let Two {
            here,
            there,
            add_here,
            add_there,
            mut x,
            mut y,
            access,
        } = two;
        let mut result = there.zeroed::<u32>(LEN)?;
        let pinned = one.pinned_from(&[7_u32; LEN])?;
        let mut graph = one.graph()?;
        graph.copy_from_host(&pinned, &mut x)?;
        add_node(&mut graph, &add_here, &mut x, 1);
        let mut scratch = graph.zeroed::<u32>(LEN)?;
        graph.copy(&x, &mut scratch)?;
        add_node(&mut graph, &add_here, &mut scratch, 10);
        graph.copy(&scratch, &mut x)?;
        graph.copy(&access.view(&x)?, &mut y)?;
        add_node(&mut graph, &add_there, &mut y, 100);
        graph.copy(&y, &mut result)?;
        graph.free(scratch)?;
        let mut ready = graph.instantiate()?;
        ready.upload(&there)?;
        for _ in 0..2 {
            open_soon(hold_up(&there)?);
            ready.launch(&there)?;
            there.synchronize()?;
        }
        open_soon(hold_up(&there)?);
        there.fill(&mut result, 0)?;
        ready.launch(&there)?;
        drop((ready, graph, pinned, x, y, add_here, add_there, access));
        // What is made meanwhile has other memory.
        let others = [here.filled(LEN, 1_u32)?, here.filled(LEN, 2_u32)?];
        let again = one.pinned_from(&[3_u32; LEN])?;
        drop(here);
        assert_eq!(there.download(&result)?, [118; LEN]);
        one.synchronize()?;
        let stream = one.stream()?;
        for (buffer, value) in others.iter().zip([1, 2]) {
            assert_eq!(stream.download(buffer)?, [value; LEN]);
        }
        assert_eq!(*again.host()?, [3; LEN]);
        other.synchronize()
    });
}

/// The device of the graph ends while a stream of the other one runs it.
#[test]
fn a_device_stays_until_launches_in_other_devices_streams_are_done() {
    with_two(|one, other| {
        let there = other.stream().unwrap();
        let mut result = there.zeroed::<u32>(LEN).unwrap();
        let access = other.default_pool().unwrap().allow_peer(&one).unwrap();
        let module = module(&one);
        let mut graph = one.graph().unwrap();
        let mut x = one.stream().unwrap().filled(LEN, 5_u32).unwrap();
        add_node(&mut graph, &add(&module), &mut x, 1);
        graph
            .copy(&x, &mut access.view_mut(&mut result).unwrap())
            .unwrap();
        let mut ready = graph.instantiate().unwrap();
        open_soon(hold_up(&there).unwrap());
        ready.launch(&there).unwrap();
        // The last object of a device waits for what others do with it. That the launch runs only then shows whether it does.
        drop((ready, graph, module, x, access, one));
        assert_eq!(there.download(&result).unwrap(), [6; LEN]);
    });
}

#[test]
fn other_devices_streams_run_branches_and_host_functions_and_record_events() {
    test(|one, other, mut two| {
        let (recorded, awaited) = (one.event()?, one.event()?);
        let called = Arc::new(AtomicU32::new(0));
        let calls = called.clone();
        let is_kept = || Arc::strong_count(&called) == 2;
        two.here.record(&awaited)?;
        let mut graph = one.graph()?;
        let condition = graph.condition(1)?;
        let add_here = &two.add_here;
        graph.if_then(condition, |body| {
            add_node(body, add_here, &mut two.x, 1);
            Ok(())
        })?;
        graph.host(move || {
            calls.fetch_add(1, Ordering::Relaxed);
        })?;
        graph.wait(&awaited)?;
        graph.record(&recorded)?;
        let mut ready = graph.instantiate()?;
        for round in 1..4 {
            ready.launch(&two.there)?;
            two.there.wait(&recorded)?;
            two.there.synchronize()?;
            assert_eq!(called.load(Ordering::Relaxed), round);
            assert_eq!(two.here.download(&two.x)?, vec![round; LEN]);
        }
        // The function stays until the launch is done that calls it.
        let late = hold_up(&two.there)?;
        ready.launch(&two.there)?;
        drop((ready, graph));
        assert!(is_kept());
        drop(late);
        two.there.synchronize()?;
        assert_eq!(called.load(Ordering::Relaxed), 4);
        one.synchronize()?;
        assert!(!is_kept());
        other.synchronize()
    });
}

/// The host writes variables of the module of one device between launches in streams of the other one.
#[test]
fn variables_are_in_order_with_launches_in_another_devices_stream() {
    test(|one, _, mut two| {
        let module = module(one);
        let (table, counter) = (
            module.global::<u32>("table")?,
            module.global::<u32>("counter")?,
        );
        table.set_slice(&[0; 4])?;
        let kernel = module.untyped_kernel::<(In<u32>, Out<u32>)>("add_variables")?;
        let zeros = two.here.zeroed::<u32>(LEN)?;
        let mut graph = one.graph()?;
        // SAFETY: the entry takes two slices, and writes the second.
        unsafe { graph.kernel_untyped(&kernel, Grid::cover(LEN, 128), (&zeros, &mut two.x)) }?;
        let mut ready = graph.instantiate()?;
        for round in 1..6 {
            counter.set(&round)?;
            open_soon(hold_up(&two.there)?);
            ready.launch(&two.there)?;
            counter.set(&1000)?;
            assert_eq!(two.here.download(&two.x)?, [round; LEN]);
        }
        Ok(())
    });
}

#[test]
fn panics_of_a_launch_in_another_devices_stream_are_told_there() {
    test(|one, other, two| {
        let kernels = panicking::kernels(one);
        let mut graph = one.graph()?;
        // SAFETY: the entry takes a number.
        unsafe { graph.kernel_untyped(&kernels.at, Grid::new(2, 32), (21_u32,)) }?;
        let mut ready = graph.instantiate()?;
        for stream in [&two.there, &two.here, &two.there, &two.there] {
            ready.launch(stream)?;
            let error = stream.synchronize().expect_err("it panicked");
            let panic = error.panic().expect("a panic");
            assert_eq!((panic.line, &*panic.kernel), (21, "at"));
        }
        // Each launch is one of its own stream, and comes after the one before.
        for streams in [[&two.there, &two.here], [&two.here, &two.there]] {
            open_soon(hold_up(streams[0])?);
            for stream in streams {
                ready.launch(stream)?;
            }
            for stream in streams {
                let error = stream.synchronize().expect_err("each panicked");
                assert_eq!(error.panic().expect("a panic").line, 21);
            }
        }
        one.synchronize()?;
        other.synchronize()
    });
}

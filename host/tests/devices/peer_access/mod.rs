//! Memory of one device used by another: by kernels, copies and graphs, in order, and as long as it is granted.

mod rights;

use std::sync::atomic::{AtomicBool, Ordering};

use crate::common::panicking::{kernels as panicking, launch_at};
use crate::common::two::with_two;
use crate::common::*;
use warpsmith_host::prelude::*;
use warpsmith_host::{PeerAccess, PoolOptions};

const LEN: usize = 3000;

/// `y[i] = x[i] + 6`
type AddSix = UntypedKernel<(In<u32>, Out<u32>)>;

fn add_six(gpu: &Gpu) -> AddSix {
    module(gpu)
        .untyped_kernel("add_variables")
        .expect("the kernel")
}

fn launch_add_six(
    stream: &Stream,
    kernel: &AddSix,
    x: DeviceSlice<'_, u32>,
    y: &mut DeviceBuffer<u32>,
) {
    // SAFETY: the entry takes two slices, and writes only the second.
    unsafe { stream.launch_untyped(kernel, Grid::cover(y.len(), 128), (x, y)) }.expect("launch");
}

fn launch_add_to(
    stream: &Stream,
    kernel: &Add,
    y: DeviceSliceMut<'_, u32>,
    value: u32,
) -> Result<()> {
    let grid = Grid::cover(y.len(), 128);
    // SAFETY: the entry takes a slice and a number, and writes only the slice.
    unsafe { stream.launch_untyped(kernel, grid, (y, value)) }
}

/// An access of `other` to the buffers that streams of `one` make.
fn access_to_pool(one: &Gpu, other: &Gpu) -> PeerAccess {
    let pool = one.default_pool().expect("a pool");
    pool.allow_peer(other).expect("an access")
}

#[test]
fn kernels_of_both_devices_take_turns_with_one_buffer() {
    // covers: MULTI-X04, MULTI-07, POOL-27
    with_two(|one, other| {
        let (here, there) = (one.stream().unwrap(), other.stream().unwrap());
        let after = other.stream().unwrap();
        let (add_here, add_there) = (add(&module(&one)), add(&module(&other)));
        let read = add_six(&other);
        let access = access_to_pool(&one, &other);
        assert_eq!(access.peer().choice(), other.choice());
        assert_eq!(access.owner().choice(), one.choice());
        let mut x = here.filled(LEN, 1_u32).unwrap();
        let mut y = after.zeroed::<u32>(LEN).unwrap();
        for round in 0..20 {
            // Nothing but the buffer orders the streams.
            let late = hold_up(&here).unwrap();
            launch_add(&here, &add_here, &mut x, 1);
            launch_add_to(&there, &add_there, access.view_mut(&mut x).unwrap(), 2).unwrap();
            launch_add_six(&after, &read, access.view(&x).unwrap(), &mut y);
            launch_add(&here, &add_here, &mut x, 3);
            drop(late);
            assert_eq!(after.download(&y).unwrap(), vec![6 * round + 10; LEN]);
        }
        assert_eq!(here.download(&x).unwrap(), vec![121; LEN]);
        // Copies and fills take views, too, and parts.
        let part = access.view_mut(&mut x).unwrap();
        let (mut left, mut right) = part.split_at_mut(1000);
        there.fill(&mut left, 7).unwrap();
        after.copy(&y.slice(1000..), &mut right).unwrap();
        let expected: Vec<u32> = (0..LEN).map(|i| if i < 1000 { 7 } else { 124 }).collect();
        assert_eq!(there.download(&access.view(&x).unwrap()).unwrap(), expected);
        assert_eq!(here.download(&x).unwrap(), expected);
    });
}

#[test]
fn whatever_is_dropped_first_the_other_devices_work_is_done() {
    with_two(|one, other| {
        let (one_choice, other_choice) = (one.choice(), other.choice());
        drop((one, other));
        // What is dropped while the peer's kernel waits, in which order.
        for order in [[0, 1, 2, 3], [3, 2, 1, 0], [1, 3, 0, 2], [2, 0, 3, 1]] {
            for kind in 0..3 {
                let one = Gpu::open(one_choice).unwrap();
                let other = Gpu::open(other_choice).unwrap();
                let here = one.stream().unwrap();
                let there = other.stream().unwrap();
                let read = add_six(&other);
                let mut y = there.zeroed::<u32>(LEN).unwrap();
                let pool = one.pool(PoolOptions::default()).unwrap();
                let (x, growable, access) = match kind {
                    0 => {
                        let x = here.alloc_from(&pool).unwrap().filled(LEN, 1).unwrap();
                        (Some(x), None, pool.allow_peer(&other).unwrap())
                    }
                    1 => {
                        let mut x = one.growable::<u32>(LEN).unwrap();
                        here.extend(&mut x, &[1; LEN]).unwrap();
                        let access = x.allow_peer(&other).unwrap();
                        (None, Some(x), access)
                    }
                    _ => {
                        let mut x = one.exportable::<u32>(LEN).unwrap();
                        here.fill(&mut x, 1).unwrap();
                        (Some(x), None, one.allow_peer(&other).unwrap())
                    }
                };
                let late = hold_up(&there).unwrap();
                let view = match (&x, &growable) {
                    (Some(x), _) => access.view(x).unwrap(),
                    (_, Some(x)) => access.view(x).unwrap(),
                    _ => unreachable!("one of the two is there"),
                };
                launch_add_six(&there, &read, view, &mut y);
                let released = AtomicBool::new(false);
                std::thread::scope(|scope| {
                    // The last object of a device waits for what still uses its memory.
                    scope.spawn(|| {
                        std::thread::sleep(std::time::Duration::from_millis(5));
                        released.store(true, Ordering::SeqCst);
                        drop(late);
                    });
                    let mut access = Some(access);
                    let mut memory = Some((x, growable));
                    let mut stream = Some(here);
                    let mut gpu = Some((one, pool));
                    for what in order {
                        match what {
                            0 => drop(memory.take()),
                            1 => drop(access.take()),
                            2 => drop(stream.take()),
                            _ => drop(gpu.take()),
                        }
                    }
                });
                assert!(released.load(Ordering::SeqCst));
                assert_eq!(there.download(&y).unwrap(), vec![7; LEN]);
            }
        }
        // The peer goes first: its stream, then the rest of it.
        let one = Gpu::open(one_choice).unwrap();
        let other = Gpu::open(other_choice).unwrap();
        let here = one.stream().unwrap();
        let there = other.stream().unwrap();
        let add_there = add(&module(&other));
        let access = access_to_pool(&one, &other);
        let mut x = here.zeroed::<u32>(LEN).unwrap();
        let late = hold_up(&there).unwrap();
        launch_add_to(&there, &add_there, access.view_mut(&mut x).unwrap(), 1).unwrap();
        drop((there, access, add_there));
        drop(late);
        drop(other);
        assert_eq!(here.download(&x).unwrap(), vec![1; LEN]);
        // Another opening of it is as good as the first.
        let other = Gpu::open(other_choice).unwrap();
        let there = other.stream().unwrap();
        let access = access_to_pool(&one, &other);
        let add_there = add(&module(&other));
        launch_add_to(&there, &add_there, access.view_mut(&mut x).unwrap(), 1).unwrap();
        assert_eq!(here.download(&x).unwrap(), vec![2; LEN]);
    });
}

#[test]
fn threads_of_both_devices_share_a_buffer() {
    with_two(|one, other| {
        let access = access_to_pool(&one, &other);
        let back = access_to_pool(&other, &one);
        let (here, there) = (one.stream().unwrap(), other.stream().unwrap());
        let x = here.filled(LEN, 1_u32).unwrap();
        let y = there.filled(LEN, 2_u32).unwrap();
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let (access, back, one, other, x, y) = (&access, &back, &one, &other, &x, &y);
                scope.spawn(move || {
                    let (gpu, far, near, value) = match thread % 2 {
                        0 => (other, access.view(x).unwrap(), y.slice(..), 1),
                        _ => (one, back.view(y).unwrap(), x.slice(..), 2),
                    };
                    let read = add_six(gpu);
                    for _ in 0..15 {
                        let stream = gpu.stream().unwrap();
                        let mut sum = stream.zeroed::<u32>(LEN).unwrap();
                        launch_add_six(&stream, &read, far, &mut sum);
                        assert_eq!(stream.download(&sum).unwrap(), vec![value + 6; LEN]);
                        let copy = stream.duplicate(&near).unwrap();
                        assert_eq!(stream.download(&copy).unwrap(), vec![3 - value; LEN]);
                    }
                });
            }
        });
        drop((x, y));
        one.synchronize().unwrap();
        other.synchronize().unwrap();
        access.revoke().unwrap();
        back.revoke().unwrap();
    });
}

#[test]
fn who_waits_for_the_other_devices_work_hears_of_its_panics() {
    with_two(|one, other| {
        let (here, there) = (one.stream().unwrap(), other.stream().unwrap());
        let kernels = panicking(&other);
        let access = access_to_pool(&one, &other);
        let mut x = here.zeroed::<u32>(LEN).unwrap();
        launch_at(&there, &kernels, 11);
        there
            .fill(&mut access.view_mut(&mut x).unwrap(), 5)
            .unwrap();
        let error = here
            .download(&x)
            .expect_err("its contents are a panicked kernel's");
        assert_eq!(error.panic().expect("a panic").line, 11);
        // Once.
        there.synchronize().unwrap();
        assert_eq!(here.download(&x).unwrap(), vec![5; LEN]);
        // And not of what comes after the work that it waits for.
        there
            .fill(&mut access.view_mut(&mut x).unwrap(), 6)
            .unwrap();
        here.fill(&mut x.slice_mut(..1), 7).unwrap();
        launch_at(&there, &kernels, 12);
        here.synchronize().unwrap();
        let error = there.synchronize().expect_err("it panicked");
        assert_eq!(error.panic().expect("a panic").line, 12);
        // Of a stream that is gone, its own device alone.
        launch_at(&there, &kernels, 13);
        wait_silently(&there).unwrap();
        // Until the function has returned, too, and the stream is idle.
        std::thread::sleep(std::time::Duration::from_millis(20));
        drop(there);
        drop(other.stream().unwrap());
        one.synchronize().unwrap();
        let error = other.synchronize().expect_err("it panicked");
        assert_eq!(error.panic().expect("a panic").line, 13);
    });
}

/// On two H100 (driver 580.159.04) a fault of one costs the other too, once access between them was enabled: then its waits tell of it.
#[test]
fn a_fault_costs_its_own_device_alone() {
    with_two(|one, other| {
        let (here, there) = (one.stream().unwrap(), other.stream().unwrap());
        let access = access_to_pool(&one, &other);
        let mut x = here.filled(LEN, 1_u32).unwrap();
        there
            .fill(&mut access.view_mut(&mut x).unwrap(), 5)
            .unwrap();
        there.synchronize().unwrap();
        let stray: UntypedKernel<()> = module(&other).untyped_kernel("stray").unwrap();
        // SAFETY: it is not; the fault is what this is about.
        unsafe { there.launch_untyped(&stray, Grid::new(1, 1), ()) }.unwrap();
        assert!(there.synchronize().is_err());
        // Its last use was in the context that is lost: it is freed all the same.
        if let Err(error) = here.synchronize() {
            assert!(!one.is_simulator(), "{error}");
            assert!(error.code().is_some_and(|code| code.is_fatal()), "{error}");
            return;
        }
        let used = || one.default_pool().unwrap().usage().unwrap().used;
        let before = used();
        drop(x);
        one.synchronize().unwrap();
        assert!(used() <= before - 4 * LEN as u64);
        drop(access);
        let y = here.filled(LEN, 3_u32).unwrap();
        assert_eq!(here.download(&y).unwrap(), vec![3; LEN]);
        one.synchronize().unwrap();
    });
}

#[test]
fn default_streams_of_two_devices_are_put_in_order_by_memory_alone() {
    // covers: MULTI-06
    with_two(|one, other| {
        let (here, there) = (one.legacy_stream().unwrap(), other.legacy_stream().unwrap());
        let add_here = add(&module(&one));
        let add_there = add(&module(&other));
        let access = access_to_pool(&one, &other);
        let mut x = here.zeroed::<u32>(LEN).unwrap();
        for _ in 0..10 {
            launch_add(&here, &add_here, &mut x, 1);
            launch_add_to(&there, &add_there, access.view_mut(&mut x).unwrap(), 1).unwrap();
        }
        assert_eq!(here.download(&x).unwrap(), vec![20; LEN]);
    });
}

#[test]
fn a_graph_has_memory_on_another_device() {
    // covers: GMEM-24
    with_two(|one, other| {
        let stream = one.stream().unwrap();
        let add = add(&module(&one));
        let mut result = stream.zeroed::<u32>(LEN).unwrap();
        let mut graph = one.graph().unwrap();
        let mut scratch = graph.zeroed_on::<u32>(&other, LEN).unwrap();
        // SAFETY: the entry takes a slice and a number, and writes only the slice.
        unsafe { graph.kernel_untyped(&add, Grid::cover(LEN, 128), (&mut scratch, 4)) }.unwrap();
        graph.copy(&scratch, &mut result).unwrap();
        let mut ready = graph.instantiate().unwrap();
        drop(other);
        for _ in 0..3 {
            ready.launch(&stream).unwrap();
        }
        assert_eq!(stream.download(&result).unwrap(), vec![4; LEN]);
        let late = hold_up(&stream).unwrap();
        stream.fill(&mut result, 0).unwrap();
        ready.launch(&stream).unwrap();
        drop((ready, graph, scratch));
        drop(late);
        assert_eq!(stream.download(&result).unwrap(), vec![4; LEN]);
        // Its own device is no other.
        let mut graph = one.graph().unwrap();
        let mut scratch = graph.zeroed_on::<u32>(&one, LEN).unwrap();
        graph.fill(&mut scratch, 5).unwrap();
        graph.copy(&scratch, &mut result).unwrap();
        graph.instantiate().unwrap().launch(&stream).unwrap();
        assert_eq!(stream.download(&result).unwrap(), vec![5; LEN]);
    });
}

//! Memory of one device used by another: by kernels, copies and graphs, in order, and as long as it is granted.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::common::panicking::{kernels as panicking, launch_at};
use crate::common::two::with_two;
use crate::common::*;
use warpsmith_driver::raw;
use warpsmith_host::prelude::*;
use warpsmith_host::{MappingAccess, MemoryPool, PeerAccess, PhysicalOptions, PoolOptions};

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
fn without_the_access_memory_of_another_device_is_refused() {
    // covers: POOL-X12
    with_two(|one, other| {
        let (here, there) = (one.stream().unwrap(), other.stream().unwrap());
        let add_there = add(&module(&other));
        let add_here = add(&module(&one));
        let mut x = here.zeroed::<u32>(LEN).unwrap();
        let mut far = there.zeroed::<u32>(LEN).unwrap();
        let refused = |result: Result<()>| {
            let error = result.expect_err("refused");
            assert_eq!(error.code(), Some(Code::INVALID_CONTEXT), "{error}");
            assert!(error.to_string().contains("allow_peer"), "{error}");
        };
        refused(launch_add_to(&there, &add_there, x.slice_mut(..), 1));
        // It is for one direction.
        let access = access_to_pool(&one, &other);
        refused(launch_add_to(&here, &add_here, far.slice_mut(..), 1));
        assert!(access.view(&far).is_err());
        // And for a view that was made by it.
        refused(launch_add_to(&there, &add_there, x.slice_mut(..), 1));
        refused(there.fill(&mut x, 1));
        // At home a view is as good as the buffer.
        launch_add_to(&here, &add_here, access.view_mut(&mut x).unwrap(), 1).unwrap();
        assert_eq!(here.download(&x).unwrap(), vec![1; LEN]);

        // For one kind of memory.
        let pool = one.pool(PoolOptions::default()).unwrap();
        let in_pool = here.alloc_from(&pool).unwrap().zeroed::<u32>(8).unwrap();
        let plain = one.exportable::<u32>(8).unwrap();
        let pinned = one.mapped::<u32>(8).unwrap();
        for error in [
            access.view(&in_pool).err(),
            access.view(&plain).err(),
            access.view(&pinned).err(),
            one.allow_peer(&other).unwrap().view(&x).err(),
        ] {
            let error = error.expect("refused").to_string();
            assert!(error.contains("allow_peer"), "{error}");
        }
        assert!(
            access
                .view(&here.zeroed::<u32>(0).unwrap())
                .unwrap()
                .is_empty()
        );
        for error in [pool.allow_peer(&one).err(), one.allow_peer(&one).err()] {
            let error = error.expect("refused");
            assert_eq!(error.code(), Some(Code::PEER_ACCESS_UNSUPPORTED), "{error}");
        }
        assert!(x.allow_peer(&other).is_err(), "it is a pool's");
    });
}

#[test]
fn every_kind_of_memory_has_its_access() {
    // covers: MULTI-07, VMM-08, VMM-09, POOL-27
    with_two(|one, other| {
        let (here, there) = (one.stream().unwrap(), other.stream().unwrap());
        let add_there = add(&module(&other));

        let mut plain = one.exportable::<u32>(LEN).unwrap();
        let access = one.allow_peer(&other).unwrap();
        launch_add_to(&there, &add_there, access.view_mut(&mut plain).unwrap(), 1).unwrap();
        assert_eq!(here.download(&plain).unwrap(), vec![1; LEN]);

        let pool = one.pool(PoolOptions::default()).unwrap();
        let access = pool.allow_peer(&other).unwrap();
        // What comes later, too; and the pool may be dropped first.
        let mut pooled = here.alloc_from(&pool).unwrap().zeroed::<u32>(LEN).unwrap();
        drop(pool);
        launch_add_to(&there, &add_there, access.view_mut(&mut pooled).unwrap(), 2).unwrap();
        assert_eq!(here.download(&pooled).unwrap(), vec![2; LEN]);

        let mut log = one.growable::<u32>(4 << 20).unwrap();
        here.grow_zeroed(&mut log, LEN).unwrap();
        let access = log.allow_peer(&other).unwrap();
        let bytes = log.mapped_bytes().unwrap();
        // Beyond what was mapped when the access was granted.
        here.grow_zeroed(&mut log, bytes / 4 + LEN).unwrap();
        assert!(log.mapped_bytes().unwrap() > bytes);
        launch_add_to(&there, &add_there, access.view_mut(&mut log).unwrap(), 3).unwrap();
        let all = here.download(&log).unwrap();
        assert!(all.len() == bytes / 4 + LEN && all.iter().all(|&word| word == 3));
        // The peer's work keeps the memory mapped.
        let late = hold_up(&there).unwrap();
        launch_add_to(&there, &add_there, access.view_mut(&mut log).unwrap(), 1).unwrap();
        log.truncate(1);
        assert!(matches!(log.shrink_to_fit(), Err(Error::Busy(_))));
        drop(late);
        there.synchronize().unwrap();
        log.shrink_to_fit().unwrap();
        assert_eq!(there.download(&access.view(&log).unwrap()).unwrap(), [4]);
        access.revoke().unwrap();

        let memory = one
            .physical_memory(1 << 20, PhysicalOptions::default())
            .unwrap();
        // SAFETY: it is the only mapping, and is filled before it is read.
        let mut mapped = unsafe { memory.map::<u32>(MappingAccess::ReadWrite) }.unwrap();
        let access = mapped.allow_peer(&other).unwrap();
        there
            .fill(&mut access.view_mut(&mut mapped).unwrap(), 4)
            .unwrap();
        launch_add_to(&there, &add_there, access.view_mut(&mut mapped).unwrap(), 1).unwrap();
        assert_eq!(here.download(&mapped.slice(..5)).unwrap(), [5; 5]);
    });
}

/// What the driver says of the second device and the pool that streams of the first allocate from.
fn has_access(one: &Gpu) -> bool {
    reaches(&one.default_pool().unwrap())
}

fn second_device() -> raw::CUmemLocation {
    let mut location = raw::CUmemLocation {
        type_: raw::CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE,
        ..Default::default()
    };
    location.__bindgen_anon_1.id = 1;
    location
}

/// What the driver says of the second device and this pool.
fn reaches(pool: &MemoryPool) -> bool {
    let mut flags = raw::CUmemAccess_flags(0);
    let mut location = second_device();
    // SAFETY: the pool is alive, and the flags and the location outlive the call.
    let code = unsafe { raw::cuMemPoolGetAccess(&mut flags, pool.as_raw().cast(), &mut location) };
    assert_eq!(code.0, 0);
    flags.0 != 0
}

#[test]
fn an_access_ends_after_its_last_use() {
    // covers: POOL-29
    with_two(|one, other| {
        let (here, there) = (one.stream().unwrap(), other.stream().unwrap());
        let add_there = add(&module(&other));
        let mut x = here.zeroed::<u32>(LEN).unwrap();
        let mut run = |access: &PeerAccess| {
            launch_add_to(&there, &add_there, access.view_mut(&mut x).unwrap(), 1).unwrap();
        };
        assert!(!has_access(&one));
        let access = access_to_pool(&one, &other);
        let second = access_to_pool(&one, &other);
        assert!(has_access(&one));
        let late = hold_up(&there).unwrap();
        run(&access);
        let refused = access.revoke().expect_err("in use");
        assert!(matches!(refused.error, Error::Busy(_)), "{refused}");
        let access = refused.value.expect("nothing has changed");
        run(&access);
        drop(late);
        there.synchronize().unwrap();
        access.revoke().unwrap();
        // The other one is for the same memory.
        assert!(has_access(&one));
        run(&second);

        // Dropping it does not wait, and does not take it from what runs.
        let late = hold_up(&there).unwrap();
        run(&second);
        drop(second);
        assert!(has_access(&one));
        drop(late);
        there.synchronize().unwrap();
        other.synchronize().unwrap();
        assert!(!has_access(&one), "a wait of its device ends it");

        // As one that nothing uses.
        drop(access_to_pool(&one, &other));
        other.synchronize().unwrap();
        assert!(!has_access(&one));
        // A forgotten one stays.
        std::mem::forget(access_to_pool(&one, &other));
        other.synchronize().unwrap();
        assert!(has_access(&one));
        let again = access_to_pool(&one, &other);
        run(&again);
        there.synchronize().unwrap();
        again.revoke().unwrap();
        assert!(has_access(&one));

        // What somebody else has granted stays theirs.
        let flags = raw::CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
        let pool = one.pool(PoolOptions::default()).unwrap();
        let wish = raw::CUmemAccessDesc {
            location: second_device(),
            flags,
        };
        // SAFETY: the pool is alive, and the wish outlives the call.
        let code = unsafe { raw::cuMemPoolSetAccess(pool.as_raw().cast(), &wish, 1) };
        assert_eq!(code.0, 0);
        pool.allow_peer(&other).unwrap().revoke().unwrap();
        assert!(reaches(&pool));
        assert_eq!(here.download(&x).unwrap(), vec![5; LEN]);
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
fn graphs_keep_the_access_that_they_use() {
    with_two(|one, other| {
        let here = one.stream().unwrap();
        let mut there = other.stream().unwrap();
        let add_here = add(&module(&one));
        let add_there = add(&module(&other));
        let access = access_to_pool(&one, &other);
        let mut x = here.zeroed::<u32>(LEN).unwrap();
        let graph = there
            .capture(|capture| {
                capture.fill(&mut access.view_mut(&mut x)?, 1)?;
                launch_add_to(capture, &add_there, access.view_mut(&mut x)?, 2)
            })
            .unwrap();
        let mut captured = graph.instantiate().unwrap();
        // A captured use keeps it,
        let refused = access.revoke().expect_err("a graph has it");
        assert!(refused.to_string().contains("graph"), "{refused}");
        let access = refused.value.expect("nothing has changed");
        let second = one.exportable::<u32>(LEN).unwrap();
        let access_to_second = one.allow_peer(&other).unwrap();
        let mut builder = other.graph().unwrap();
        // SAFETY: the entry takes a slice and a number, and writes only the slice.
        let node = unsafe {
            builder.kernel_untyped(
                &add_there,
                Grid::cover(LEN, 128),
                (access.view_mut(&mut x).unwrap(), 10_u32),
            )
        }
        .unwrap();
        // SAFETY: the entry takes a slice and a number, and writes only the slice.
        let refused =
            unsafe { builder.kernel_untyped(&add_there, Grid::cover(LEN, 128), (&mut x, 10_u32)) };
        assert_eq!(
            refused.expect_err("no view").code(),
            Some(Code::INVALID_CONTEXT)
        );
        let read = add_six(&other);
        let mut z = there.zeroed::<u32>(LEN).unwrap();
        let second = access_to_second.view(&second).unwrap();
        // SAFETY: the entry takes two slices, and writes only the second.
        unsafe { builder.kernel_untyped(&read, Grid::cover(LEN, 128), (second, &mut z)) }.unwrap();
        let mut built = builder.instantiate().unwrap();
        // and so does a node's.
        let refused = access_to_second.revoke().expect_err("a graph has it");
        assert!(refused.to_string().contains("graph"), "{refused}");
        drop(refused.value);
        drop(access);
        other.synchronize().unwrap();
        assert!(has_access(&one));
        for _ in 0..5 {
            let late = hold_up(&here).unwrap();
            launch_add(&here, &add_here, &mut x, 100);
            captured.launch(&there).unwrap();
            built.launch(&there).unwrap();
            launch_add(&here, &add_here, &mut x, 100);
            drop(late);
            assert_eq!(here.download(&x).unwrap(), vec![113; LEN]);
        }
        // A node gets other memory: the old access goes with the last graph that has it.
        let mut y = there.zeroed::<u32>(LEN).unwrap();
        // SAFETY: the entry takes a slice and a number, and writes only the slice.
        unsafe {
            built.set_kernel_untyped(node, &add_there, Grid::cover(LEN, 128), (&mut y, 1_u32))
        }
        .unwrap();
        built.launch(&there).unwrap();
        assert_eq!(there.download(&y).unwrap(), vec![1; LEN]);
        assert_eq!(there.download(&z).unwrap(), vec![6; LEN]);
        drop((captured, graph, builder));
        let late = hold_up(&there).unwrap();
        built.launch(&there).unwrap();
        drop(built);
        drop(late);
        there.synchronize().unwrap();
        other.synchronize().unwrap();
        assert!(!has_access(&one), "nothing has it any more");
        assert_eq!(there.download(&y).unwrap(), vec![2; LEN]);
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

//! To what memory an access is, and how it ends.

use super::{LEN, access_to_pool, add_six, launch_add_to};
use crate::common::two::with_two;
use crate::common::*;
use warpsmith_driver::raw;
use warpsmith_host::prelude::*;
use warpsmith_host::{MappingAccess, MemoryPool, PeerAccess, PhysicalOptions, PoolOptions};

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

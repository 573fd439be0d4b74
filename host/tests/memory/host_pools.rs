//! Pools whose memory is the host's: buffers of them do what those of the device do.

use crate::common::two::with_two;
use crate::common::{add, add_node, gpu, launch_add, module, refusal};
use warpsmith_host::prelude::*;
use warpsmith_host::{Attribute, Code, Location, PoolOptions};

/// The places on the host that the device has pools at.
fn places(gpu: &Gpu) -> Vec<Location> {
    let has = |attribute| gpu.attribute(attribute).is_ok_and(|value| value == 1);
    let node = gpu.attribute(Attribute::HOST_NUMA_ID).unwrap_or(0).max(0) as u32;
    let all = [
        (Attribute::HOST_MEMORY_POOLS_SUPPORTED, Location::Host),
        (
            Attribute::HOST_NUMA_MEMORY_POOLS_SUPPORTED,
            Location::HostNuma(node),
        ),
    ];
    let there = all.into_iter().filter(|(attribute, _)| has(*attribute));
    there.map(|(_, place)| place).collect()
}

fn at(location: Location) -> PoolOptions {
    PoolOptions {
        location,
        ..Default::default()
    }
}

// covers: POOL-16, DRV-26
#[test]
fn a_buffer_on_the_host_is_a_buffer() -> Result<()> {
    let gpu = gpu();
    let module = module(&gpu);
    let add = add(&module);
    let (stream, other) = (gpu.stream()?, gpu.stream()?);
    for place in places(&gpu) {
        let pool = gpu.pool(at(place))?;
        assert_eq!(pool.location(), place);
        let from_pool = stream.alloc_from(&pool)?;
        let mut words = from_pool.upload(&[1_u32, 2, 3, 4])?;
        let mut zeros = from_pool.zeroed::<u32>(4)?;
        let mut on_device = stream.filled(4, 100_u32)?;
        launch_add(&stream, &add, &mut words, 10);
        // Another stream waits for the kernel, and copies go each way.
        other.copy(&words, &mut zeros)?;
        launch_add(&other, &add, &mut zeros, 1);
        other.copy(&zeros, &mut on_device)?;
        assert_eq!(other.download(&on_device)?, [12, 13, 14, 15]);
        stream.copy(&on_device, &mut words)?;
        stream.fill(&mut words.slice_mut(1..2), 7)?;
        assert_eq!(stream.download(&words)?, [12, 7, 14, 15]);
        // Nodes of graphs, too.
        let mut graph = gpu.graph()?;
        graph.fill(&mut words, 5)?;
        add_node(&mut graph, &add, &mut words, 1);
        graph.copy(&words, &mut on_device)?;
        let mut ready = graph.instantiate()?;
        ready.launch(&stream)?;
        assert_eq!(stream.download(&on_device)?, [6; 4]);
        // Buffers may outlive the pool, and one that was dropped serves the next.
        assert!(pool.usage()?.used > 0);
        drop(pool);
        assert_eq!(stream.download(&words)?, [6; 4]);
    }
    Ok(())
}

// covers: POOL-16
#[test]
fn memory_of_the_host_goes_round_in_its_pool() -> Result<()> {
    let gpu = gpu();
    let module = module(&gpu);
    let add = add(&module);
    let stream = gpu.stream()?;
    for place in places(&gpu) {
        let pool = gpu.pool(PoolOptions {
            max_bytes: Some(64 << 20),
            ..at(place)
        })?;
        for round in 0..50 {
            let mut words = stream.alloc_from(&pool)?.filled(1 << 18, round)?;
            launch_add(&stream, &add, &mut words, 1);
            assert_eq!(stream.download(&words.slice(..2))?, [round + 1; 2]);
        }
        assert!(pool.usage()?.used_peak <= 4 << 20);
        let too_much = stream.alloc_from(&pool)?.zeroed::<u8>(80 << 20);
        assert_eq!(too_much.unwrap_err().code(), Some(Code::OUT_OF_MEMORY));
        stream.synchronize()?;
        pool.trim_to(0)?;
        assert_eq!(pool.usage()?.reserved, 0);
    }
    Ok(())
}

// covers: POOL-16
#[test]
fn what_such_a_pool_cannot_be_is_refused_by_name() -> Result<()> {
    let gpu = gpu();
    let mut stream = gpu.stream()?;
    for place in places(&gpu) {
        let pool = gpu.pool(at(place))?;
        let text = refusal(gpu.use_pool(&pool));
        assert!(text.contains("alloc_from"), "{text}");
        // In a capture, and for graphs.
        let mut text = String::new();
        stream.capture(|capture| {
            text = refusal(capture.alloc_from(&pool)?.zeroed::<u32>(4));
            Ok(())
        })?;
        assert!(text.contains("a graph has no memory at"), "{text}");
    }
    if places(&gpu).contains(&Location::Host) {
        let shared = PoolOptions {
            shareable: true,
            ..at(Location::Host)
        };
        let text = refusal(gpu.pool(shared));
        assert!(text.contains("Location::HostNuma"), "{text}");
    }
    let text = refusal(gpu.pool(at(Location::HostNuma(u32::MAX))));
    assert!(text.contains("NUMA"), "{text}");
    Ok(())
}

// covers: POOL-16, POOL-31
#[test]
fn a_nodes_pool_is_exported() -> Result<()> {
    let gpu = gpu();
    let stream = gpu.stream()?;
    for place in places(&gpu) {
        if place == Location::Host {
            continue;
        }
        let pool = gpu.pool(PoolOptions {
            shareable: true,
            ..at(place)
        })?;
        let words = stream.alloc_from(&pool)?.upload(&[1_u32, 2, 3])?;
        stream.synchronize()?;
        let (descriptor, pointer) = (pool.export()?, words.export_pointer()?);
        let imported = gpu.import_pool(&descriptor)?;
        // SAFETY: the words are written, the stream was waited for, and they are kept until it has been waited for again.
        let mut same = unsafe { imported.buffer::<u32>(&stream, pointer, 3)? };
        stream.fill(&mut same.slice_mut(..1), 9)?;
        stream.synchronize()?;
        assert_eq!(stream.download(&words)?, [9, 2, 3]);
        drop(same);
        stream.synchronize()?;
    }
    Ok(())
}

// covers: POOL-16, EGM-04
#[test]
fn several_devices_use_one_pool_of_the_host() {
    with_two(|one, other| {
        let try_all = || -> Result<()> {
            let modules = [module(&one), module(&other)];
            let [add_here, add_there] = modules.each_ref().map(add);
            let (here, there) = (one.stream()?, other.stream()?);
            for place in places(&one) {
                let pool = one.pool(at(place))?;
                let mut words = here.alloc_from(&pool)?.filled(64, 1_u32)?;
                launch_add(&here, &add_here, &mut words, 10);
                let foreign = there.copy(&words, &mut there.zeroed::<u32>(64)?);
                assert_eq!(
                    foreign.expect_err("no access").code(),
                    Some(Code::INVALID_CONTEXT)
                );
                let access = pool.allow_peer(&other)?;
                let grid = Grid::cover(64, 64);
                // SAFETY: the entry takes a slice and a number, and writes only the slice.
                unsafe {
                    there.launch_untyped(&add_there, grid, (access.view_mut(&mut words)?, 100_u32))
                }?;
                assert_eq!(here.download(&words)?, [111; 64]);
            }
            Ok(())
        };
        try_all().expect("each device reaches it");
    });
}

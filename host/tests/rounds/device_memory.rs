//! Device memory of every kind.

use warpsmith_host::prelude::*;
use warpsmith_host::{Arena, CopyBatch, MappingAccess, PhysicalOptions, PoolOptions};

use crate::common::launch_add;
use crate::world::{Case, World, leave_nothing};

fn buffers(world: &World, _: usize) -> Result<()> {
    let stream = &world.stream;
    let mut words = stream.upload(&[1_u32; 100])?;
    launch_add(stream, &world.add, &mut words, 1);
    let copy = stream.duplicate(&words)?;
    let mut wide = stream.zeroed::<u32>(3000)?;
    stream.copy(&copy, &mut wide.slice_mut(7..107))?;
    stream.fill(&mut wide.slice_mut(..7), 9)?;
    // SAFETY: nobody reads it.
    let bytes = unsafe { stream.uninit::<u8>(5)? };
    drop((
        bytes,
        stream.filled(3, [1_u8, 2, 3])?,
        stream.zeroed::<u64>(0)?,
    ));
    let mut odd = [0; 2];
    stream.download_into(&wide.slice(6..8), &mut odd)?;
    assert_eq!(odd, [9, 2]);
    Ok(())
}

/// Freed behind the uses of several streams, some on another thread.
fn buffers_of_several_streams(world: &World, round: usize) -> Result<()> {
    let mut words = world.stream.zeroed::<u32>(100)?;
    launch_add(&world.stream, &world.add, &mut words, 1);
    launch_add(&world.other, &world.add, &mut words, 1);
    let copy = world.other.duplicate(&words)?;
    world.stream.copy(&copy, &mut words)?;
    if round.is_multiple_of(100) {
        std::thread::scope(|scope| scope.spawn(move || drop((words, copy))).join())
            .expect("no panic");
    }
    Ok(())
}

fn anywhere(world: &World, _: usize) -> Result<()> {
    let mut words = world.stream.zeroed_anywhere::<u32>(100)?;
    world.stream.fill(&mut words, 3)
}

fn arenas(world: &World, _: usize) -> Result<()> {
    let mut block = world.stream.zeroed::<u8>(4096)?;
    let mut arena = Arena::new(block.slice_mut(..));
    let (mut one, mut two) = (arena.take::<u8>(3)?, arena.take::<f64>(100)?);
    world.stream.fill(&mut one, 1)?;
    world.other.fill(&mut two, 2.0)
}

fn matrices(world: &World, _: usize) -> Result<()> {
    let stream = &world.stream;
    let mut rows = stream.pitched_upload(&[1_u32, 2, 3, 4, 5, 6], 3, 2)?;
    let mut dense = stream.zeroed::<u32>(6)?;
    stream.copy_matrix(&rows.matrix(), &mut dense.matrix_mut(3, 2)?)?;
    stream.fill_matrix(&mut rows.matrix_mut().region_mut(0..1, 0..2), 9)?;
    assert_eq!(stream.download_matrix(&rows.matrix())?, [9, 9, 3, 4, 5, 6]);
    let mut volume = stream.pitched_volume_zeroed::<u32>(2, 3, 2)?;
    stream.copy_matrix(&rows.matrix(), &mut volume.layer_mut(1))
}

fn batches(world: &World, _: usize) -> Result<()> {
    let (stream, mut host) = (&world.stream, world.gpu.pinned::<u32>(8)?);
    let mut words = stream.zeroed::<u32>(8)?;
    let source = world.other.filled(8, 1_u32)?;
    let mut batch = CopyBatch::new();
    batch.copy(&source, &mut words)?;
    batch.copy_to_host(&source, &mut host)?;
    stream.copy_batch(batch)
}

fn pools(world: &World, round: usize) -> Result<()> {
    let pool = world.gpu.pool(PoolOptions::default())?;
    pool.set_release_threshold(u64::MAX)?;
    let from_pool = world.stream.alloc_from(&pool)?;
    let mut words = from_pool.filled(100, 1_u32)?;
    drop(from_pool.zeroed::<u8>(10)?);
    launch_add(&world.stream, &world.add, &mut words, 1);
    // The pool goes before its memory, or after it.
    if round.is_multiple_of(2) {
        drop(pool);
        world.other.fill(&mut words, 2)?;
    }
    Ok(())
}

fn pools_of_the_device(world: &World, _: usize) -> Result<()> {
    let pool = world.gpu.pool(PoolOptions::default())?;
    world.gpu.use_pool(&pool)?;
    let words = world.stream.zeroed::<u32>(100)?;
    drop(pool);
    drop(words);
    Ok(())
}

fn shared_pools(world: &World, round: usize) -> Result<()> {
    let stream = &world.stream;
    let options = PoolOptions {
        shareable: true,
        ..Default::default()
    };
    let pool = world.gpu.pool(options)?;
    let words = stream.alloc_from(&pool)?.upload(&[1_u32, 2, 3])?;
    stream.synchronize()?;
    let (descriptor, pointer) = (pool.export()?, words.export_pointer()?);
    let imported = world.gpu.import_pool(&descriptor)?;
    // SAFETY: the words are written, the stream was waited for, and they are kept until it has been waited for again.
    let same = unsafe { imported.buffer::<u32>(stream, pointer, 3)? };
    assert_eq!(stream.download(&same)?, [1, 2, 3]);
    match round.is_multiple_of(2) {
        true => drop((same, imported, descriptor, pool)),
        false => drop((descriptor, pool, imported, same)),
    }
    stream.synchronize()?;
    drop(words);
    Ok(())
}

fn growable(world: &World, round: usize) -> Result<()> {
    let mut words = world.gpu.growable::<u32>(4 << 20)?;
    world.stream.extend(&mut words, &[1, 2, 3])?;
    world.stream.fill(&mut words, 9)?;
    if round.is_multiple_of(4) {
        world.other.grow_zeroed(&mut words, 600 << 10)?;
        world.stream.synchronize()?;
        world.other.synchronize()?;
        words.truncate(3);
        words.shrink_to_fit()?;
        assert_eq!(world.stream.download(&words)?, [9; 3]);
    }
    Ok(())
}

fn physical(world: &World, round: usize) -> Result<()> {
    let options = PhysicalOptions {
        shareable: round.is_multiple_of(2),
        ..Default::default()
    };
    let memory = world.gpu.physical_memory(100, options)?;
    // SAFETY: what is read was written.
    let mut words = unsafe { memory.map::<u32>(MappingAccess::ReadWrite)? };
    world.stream.fill(&mut words.slice_mut(..100), 1)?;
    if options.shareable {
        let imported = world
            .gpu
            .import_physical_memory(memory.export()?, memory.bytes())?;
        world.stream.synchronize()?;
        drop((memory, words));
        // SAFETY: what is read was written, and waited for.
        let same = unsafe { imported.map::<u32>(MappingAccess::Read)? };
        assert_eq!(world.stream.download(&same.slice(99..100))?, [1]);
    }
    Ok(())
}

/// What another process could open.
fn exportable(world: &World, _: usize) -> Result<()> {
    let mut words = world.gpu.exportable::<u32>(100)?;
    let handle = words.export_handle()?;
    world.stream.fill(&mut words, 1)?;
    // SAFETY: it is refused, as the memory is this very process's.
    assert!(unsafe { world.gpu.open_buffer::<u32>(handle, 100) }.is_err());
    Ok(())
}

#[test]
fn of_device_memory() {
    leave_nothing(&[
        Case::new("buffers", buffers),
        Case::new("buffers of several streams", buffers_of_several_streams),
        Case::new("memory wherever it is", anywhere),
        Case::new("arenas", arenas),
        Case::new("matrices and volumes", matrices),
        Case::new("batches of copies", batches),
        Case::new("pools", pools),
        Case::new("pools of the device", pools_of_the_device),
        Case::new("shared pools", shared_pools),
        Case::new("growable buffers", growable),
        Case::new("physical memory", physical),
        Case::new("memory for other processes", exportable),
    ]);
}

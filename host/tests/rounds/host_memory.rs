//! Memory of the host that devices reach, and memory that both have.

use std::sync::atomic::Ordering;

use warpsmith_host::FlagOperations;
use warpsmith_host::prelude::*;

use crate::world::{Case, World, leave_nothing};

fn page_locked(world: &World, round: usize) -> Result<()> {
    let (stream, words) = (&world.stream, world.stream.filled(100, 7_u32)?);
    // Sizes differ, as what was freed serves again for the same one.
    let mut pinned = world.gpu.pinned::<u32>(100 + round % 5)?;
    stream.copy_to_host(&words, &mut pinned.slice_mut(..100))?;
    let mut mapped = world.gpu.mapped::<u32>(100)?;
    stream.copy(&words, &mut mapped)?;
    if round.is_multiple_of(2) {
        stream.synchronize()?;
        assert_eq!((pinned.host()?[99], mapped.host()?[0]), (7, 7));
    }
    Ok(())
}

fn registered(world: &World, round: usize) -> Result<()> {
    let mut own = world.gpu.register(vec![3_u32; 1 << 12])?;
    world.stream.fill(&mut own, 1)?;
    if round.is_multiple_of(2) {
        world.stream.synchronize()?;
        assert_eq!(own.take()?[4095], 1);
    }
    Ok(())
}

fn write_combined(world: &World, _: usize) -> Result<()> {
    let mut input = world.gpu.write_combined::<u32>(100)?;
    input.host_mut()?.fill(4);
    let mut words = world.stream.zeroed::<u32>(100)?;
    world.stream.copy(&input, &mut words)
}

fn unified(world: &World, round: usize) -> Result<()> {
    let mut words = world.gpu.unified_from(&[5_u32; 100])?;
    words.advise(Advice::ReadMostly)?;
    world.stream.prefetch(&words, Location::Device)?;
    world.stream.fill(&mut words, 6)?;
    if round.is_multiple_of(4) {
        world.stream.synchronize()?;
        words.attach(&world.stream, Attach::Single)?;
        world.stream.fill(&mut words, 7)?;
        world.stream.synchronize()?;
        words.host_mut()?[0] += 1;
        assert_eq!(words.host()?[..2], [8, 7]);
    }
    Ok(())
}

fn flags(world: &World, _: usize) -> Result<()> {
    let (go, done) = (world.gpu.flag(0_u32)?, world.gpu.flag(0_u32)?);
    world.stream.wait_value(&go, Wait::AtLeast(1))?;
    let both = FlagOperations::new().write(&go, 0).write(&done, 5);
    world.stream.flag_operations(&both)?;
    go.set(1);
    Ok(())
}

fn shared_atomics(world: &World, _: usize) -> Result<()> {
    for words in [
        world.gpu.shared_atomics::<u32>(8)?,
        world.gpu.unified_atomics::<u32>(8)?,
    ] {
        words.store(3, 5, Ordering::SeqCst);
        assert_eq!(words.load(3, Ordering::SeqCst), 5);
    }
    Ok(())
}

#[test]
fn of_host_memory() {
    leave_nothing(&[
        Case::new("page-locked and mapped memory", page_locked),
        Case::new("registered memory", registered),
        Case::new("write-combined memory", write_combined),
        Case::new("unified memory", unified),
        Case::new("flags", flags),
        Case::new("shared atomics", shared_atomics),
    ]);
}

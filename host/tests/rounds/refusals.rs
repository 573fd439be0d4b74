//! Calls that fail: whatever they had made by then is given back, and so is what they were given.

use warpsmith_host::prelude::*;
use warpsmith_host::{Extent2, TextureOptions};

use crate::common::panicking;
use crate::plain;
use crate::world::{Case, World, leave_nothing};

fn too_much(world: &World, _: usize) -> Result<()> {
    let (gpu, stream) = (&world.gpu, &world.stream);
    assert!(stream.zeroed::<u64>(1 << 55).is_err());
    assert!(gpu.pinned::<u64>(1 << 55).is_err());
    assert!(gpu.unified::<u64>(1 << 55).is_err());
    assert!(gpu.growable::<u64>(1 << 60).is_err());
    assert!(gpu.physical_memory(1 << 50, Default::default()).is_err());
    let wide = Extent2 {
        width: 1 << 20,
        height: 1 << 20,
    };
    assert!(stream.array_zeroed::<f32, _>(wide).is_err());
    assert!(stream.mipmapped_array_zeroed::<f32, _>(wide, 3).is_err());
    Ok(())
}

fn wrong_launches(world: &World, _: usize) -> Result<()> {
    let mut words = world.stream.zeroed::<u32>(100)?;
    for grid in [Grid::new(1, 2048), Grid::new(1, 32).shared_bytes(1 << 30)] {
        // SAFETY: it is refused.
        let launched = unsafe {
            world
                .stream
                .launch_untyped(&world.add, grid, (&mut words, 1))
        };
        assert!(launched.is_err());
    }
    assert!(
        world
            .stream
            .copy(&words, &mut world.stream.zeroed::<u32>(3)?)
            .is_err()
    );
    Ok(())
}

fn refused_uses(world: &World, _: usize) -> Result<()> {
    let image = world.stream.pitched_zeroed::<u8>(2, 0)?;
    assert!(image.texture(TextureOptions::default()).is_err());
    let mut graph = world.gpu.graph()?;
    let scratch = graph.zeroed::<u32>(8)?;
    assert!(world.stream.download(&scratch).is_err());
    assert!(world.gpu.graph()?.child(&graph).is_err());
    let exec = graph.instantiate()?;
    assert!(graph.instantiate().is_err());
    drop((exec, graph));
    let tensor = scratch.into_dlpack(
        warpsmith_host::interop::dlpack::Consumer::Own(&world.stream),
        &[8],
    );
    assert!(tensor.is_err());
    Ok(())
}

fn captures_that_fail(world: &World, round: usize) -> Result<()> {
    let mut stream = world.gpu.stream()?;
    let mut words = stream.zeroed::<u32>(100)?;
    let graph = stream.capture(|capture| {
        capture.fill(&mut words, 1)?;
        match round.is_multiple_of(2) {
            true => capture.synchronize(),
            false => capture.download(&words).map(drop),
        }
    });
    assert!(graph.is_err());
    stream.fill(&mut words, 2)
}

/// Kernels that panic, which a wait tells of.
fn panics(world: &World, round: usize) -> Result<()> {
    if !round.is_multiple_of(4) {
        return Ok(());
    }
    let kernels = panicking::kernels(&world.gpu);
    let stream = world.gpu.stream()?;
    panicking::launch_at(&stream, &kernels, 7);
    let error = stream.synchronize().expect_err("a panic");
    assert!(matches!(error, Error::KernelPanic(_)), "{error}");
    Ok(())
}

fn launches_plainly(_: &World, round: usize) -> Result<()> {
    if round.is_multiple_of(4) {
        plain::launched();
    }
    Ok(())
}

#[test]
fn of_calls_that_fail() {
    leave_nothing(&[
        Case::new("too much memory", too_much),
        Case::new("launches and copies", wrong_launches),
        Case::new("uses that are refused", refused_uses),
        Case::new("captures", captures_that_fail),
        Case::beside("kernels that panic", panics, launches_plainly),
    ]);
}

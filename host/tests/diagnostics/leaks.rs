//! What the simulator's check of leaks says of programs of this library: nothing, unless they leave something.

use crate::common::{add, gpu, launch_add, module};
use warpsmith_host::prelude::*;
use warpsmith_testkit::process::{calling_test, is_child, run_in_child};

/// Some of everything that has memory; all of it is dropped.
fn work() -> Result<()> {
    let gpu = gpu();
    let module = module(&gpu);
    let add = add(&module);
    let stream = gpu.stream()?;
    let mut words = stream.upload(&[1_u32; 100])?;
    launch_add(&stream, &add, &mut words, 1);
    let mut unified = gpu.unified::<u32>(100)?;
    stream.copy(&words, &mut unified)?;
    let mut pinned = gpu.pinned::<u32>(100)?;
    stream.copy_to_host(&unified, &mut pinned)?;
    let flag = gpu.flag(0_u32)?;
    stream.write_value(&flag, 1)?;
    let mut graph = gpu.graph()?;
    // SAFETY: the entry takes a slice and a number, and writes only the slice.
    unsafe { graph.kernel_untyped(&add, Grid::cover(100, 128), (&mut words, 1)) }?;
    graph.instantiate()?.launch(&stream)?;
    assert_eq!(stream.download(&words)?, [3; 100]);
    // Freed behind what still runs.
    launch_add(&stream, &add, &mut words, 1);
    drop(words);
    Ok(())
}

#[test]
fn a_program_that_drops_all_it_has_leaves_nothing() -> Result<()> {
    // covers: POOL-41
    if is_child() {
        return work();
    }
    let variables = [("WARPSMITH_CHECKS", "default,leaks")];
    let output = run_in_child(&calling_test(), &variables);
    assert!(!output.stderr.contains("leak"), "{output}");
    Ok(())
}

#[test]
fn what_is_forgotten_is_named() -> Result<()> {
    // covers: POOL-41
    if is_child() {
        work()?;
        let gpu = gpu();
        let stream = gpu.stream()?;
        std::mem::forget(stream.zeroed::<u8>(1232)?);
        return stream.synchronize();
    }
    let variables = [("WARPSMITH_CHECKS", "default,leaks")];
    let output = run_in_child(&calling_test(), &variables);
    // A GPU has no such check.
    if gpu().is_simulator() {
        let line = "1232 bytes of stream-ordered device memory of cuMemAllocAsync in stream";
        assert!(output.stderr.contains(line), "{output}");
    }
    Ok(())
}

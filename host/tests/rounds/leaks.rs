//! The measures find what leaks, each its own, however little it is.

use std::thread;

use warpsmith_host::prelude::*;
use warpsmith_testkit::{Side, own_process};

use crate::world::{Case, World};

fn forgotten_block(_: &World, round: usize) -> Result<()> {
    // Not in each round: a small block in one of five, beside what a driver's first rounds still give back.
    if round.is_multiple_of(5) {
        std::mem::forget(Box::new(round));
    }
    Ok(())
}

fn forgotten_bytes(_: &World, round: usize) -> Result<()> {
    if round.is_multiple_of(100) {
        std::mem::forget(vec![1_u8; 4096]);
    }
    Ok(())
}

fn forgotten_pages(_: &World, round: usize) -> Result<()> {
    if round.is_multiple_of(100) {
        std::mem::forget(vec![1_u8; 128 << 10]);
    }
    Ok(())
}

fn forgotten_descriptor(_: &World, round: usize) -> Result<()> {
    if round == 700 {
        std::mem::forget(std::fs::File::open("/dev/null"));
    }
    Ok(())
}

fn forgotten_thread(_: &World, round: usize) -> Result<()> {
    if round == 700 {
        thread::spawn(thread::park);
    }
    Ok(())
}

fn forgotten_buffer(world: &World, round: usize) -> Result<()> {
    if round == 700 {
        std::mem::forget(world.stream.zeroed::<u8>(1)?);
    }
    Ok(())
}

fn forgotten_physical_memory(world: &World, round: usize) -> Result<()> {
    if round == 700 {
        std::mem::forget(world.gpu.growable::<u8>(1).and_then(|mut buffer| {
            world.stream.grow_zeroed(&mut buffer, 1)?;
            Ok(buffer)
        })?);
    }
    Ok(())
}

/// A leak, and the measures that it must show in.
const LEAKS: [(Case, &[&str]); 7] = [
    (
        Case::new("a block of the heap", forgotten_block),
        &["blocks of the heap"],
    ),
    (
        Case::new("bytes of the heap", forgotten_bytes),
        &["bytes of the heap"],
    ),
    (
        Case::new("pages", forgotten_pages),
        &["bytes of the heap", "bytes in memory"],
    ),
    (
        Case::new("a descriptor", forgotten_descriptor),
        &["open descriptors"],
    ),
    (Case::new("a thread", forgotten_thread), &["threads"]),
    (
        Case::new("a buffer", forgotten_buffer),
        &["bytes of the pool that are in use"],
    ),
    (
        Case::new("physical memory", forgotten_physical_memory),
        &["bytes of the device"],
    ),
];

#[test]
fn each_leak_is_found_by_its_measure() {
    if let Side::Parent(_) = own_process(&[]) {
        return;
    }
    let world = World::new().expect("a device");
    for (case, measures) in &LEAKS {
        let growth = world.growth(case).expect("the rounds");
        for measure in *measures {
            let found = growth.iter().any(|line| line.starts_with(measure));
            assert!(found, "{}: {measure} did not grow: {growth:?}", case.name);
        }
    }
    // And nothing is found where nothing leaks.
    let nothing = Case::new("nothing", |_, _| Ok(()));
    assert!(world.growth(&nothing).expect("the rounds").is_empty());
}

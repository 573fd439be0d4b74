//! Devices: opened and closed, reset, observed, and as peers.

use std::sync::Arc;

use warpsmith_host::observe::BankConflicts;
use warpsmith_host::prelude::*;
use warpsmith_host::{ContextLimit, Extent1};
use warpsmith_testkit::{Side, own_process};

use crate::common::{add, launch_add, module};
use crate::footprint::Footprint;
use crate::plain;
use crate::world::{Case, ROUNDS, World, leave_nothing};

/// Shares of the device, by every way to one.
fn shares(world: &World, _: usize) -> Result<()> {
    let (clone, again) = (world.gpu.clone(), Gpu::open(world.gpu.choice())?);
    world.gpu.make_current()?;
    let current = Gpu::of_current_context()?;
    assert_eq!(current.as_raw_context(), again.as_raw_context());
    let stack = clone.stack_size()?;
    drop((clone, current));
    again.set_limit(ContextLimit::Stack, stack)?;
    again.properties()?;
    drop(Gpu::devices()?);
    Ok(())
}

fn observers(world: &World, _: usize) -> Result<()> {
    if !world.gpu.is_simulator() {
        return Ok(());
    }
    let registration = world.gpu.observe(Arc::new(BankConflicts::default()))?;
    let mut words = world.stream.zeroed::<u32>(100)?;
    launch_add(&world.stream, &world.add, &mut words, 1);
    drop(registration);
    Ok(())
}

fn profilers(world: &World, round: usize) -> Result<()> {
    let (one, two) = (world.gpu.start_profiler()?, world.gpu.start_profiler()?);
    match round % 2 {
        0 => drop(one),
        _ => one.stop()?,
    }
    two.stop()
}

/// A device, and some of all that is made from it, of which the last that is dropped closes it.
fn everything(gpu: Gpu, round: usize) -> Result<()> {
    let module = module(&gpu);
    let add = add(&module);
    let stream = gpu.stream()?;
    let event = gpu.event()?;
    let pinned = gpu.pinned::<u32>(100)?;
    let unified = gpu.unified::<u32>(100)?;
    let pool = gpu.pool(Default::default())?;
    let growable = gpu.growable::<u32>(100)?;
    let mut words = stream.upload(&[1_u32; 100])?;
    let mut graph = gpu.graph()?;
    graph.fill(&mut words, 3)?;
    let mut exec = graph.instantiate()?;
    launch_add(&stream, &add, &mut words, 1);
    exec.launch(&stream)?;
    stream.record(&event)?;
    match round % 4 {
        0 => drop((
            gpu, module, add, stream, event, pinned, unified, pool, growable, words, graph, exec,
        )),
        1 => drop((
            exec, graph, words, growable, pool, unified, pinned, event, stream, add, module, gpu,
        )),
        2 => drop((
            words, stream, gpu, exec, pinned, add, graph, module, unified, event, growable, pool,
        )),
        _ => {
            drop((gpu, stream));
            std::thread::scope(|scope| {
                scope.spawn(move || drop((module, pool, words, exec)));
            });
        }
    }
    Ok(())
}

/// While the context of another owner keeps the device's own numbers to be had.
fn opened_and_closed(world: &World, round: usize) -> Result<()> {
    if !world.gpu.is_simulator() {
        // The device of the world is the only one.
        return everything(world.gpu.clone(), round);
    }
    let gpu = Gpu::open(DeviceChoice::SimulatorDevice(1))?;
    everything(gpu, round)
}

/// Whose context nobody else has: it goes with its last owner, and comes anew.
#[test]
fn of_a_device_that_is_closed_each_time() {
    if let Side::Parent(_) = own_process(&[]) {
        return;
    }
    let round = |round: usize| {
        let gpu = Gpu::open_default().expect("a device");
        let gpu = match round.is_multiple_of(5) {
            true => gpu.reset().expect("nobody else has it"),
            false => gpu,
        };
        everything(gpu, round).expect("a round");
    };
    let rounds = match Gpu::open_default().expect("a device").is_simulator() {
        true => ROUNDS,
        false => 20,
    };
    let footprint = || {
        // What a thread of the last round drops, too.
        std::thread::sleep(std::time::Duration::from_millis(50));
        let gpu = Gpu::open_default().expect("a device");
        Footprint::now(&gpu).expect("a device that works")
    };
    let grown = |round: &dyn Fn(usize)| {
        (0..rounds / 5).for_each(round);
        let before = footprint();
        (0..rounds).for_each(round);
        footprint().since(&before)
    };
    let mut growth = grown(&round);
    if !growth.lines().is_empty() {
        // A driver may keep something of each context by itself.
        growth = growth.beyond(&grown(&plain::opened_and_closed));
    }
    assert!(growth.lines().is_empty(), "{:?}", growth.lines());
}

fn peers(world: &World, _: usize) -> Result<()> {
    let there = Gpu::open(DeviceChoice::SimulatorDevice(1))?;
    let far = there.stream()?;
    let from = far.upload(&[1_u32, 2, 3])?;
    let mut to = world.stream.zeroed::<u32>(3)?;
    world.stream.copy_from_peer(&far, &from, &mut to)?;
    let image = far.array(&[4_u8, 5, 6], Extent1 { width: 3 })?;
    let mut copy = world.stream.array_zeroed(image.extents())?;
    world.stream.copy_array_from_peer(&far, &image, &mut copy)?;
    let mut graph = world.gpu.graph()?;
    graph.fill(&mut to.slice_mut(..1), 9)?;
    let mut ready = graph.instantiate()?;
    ready.launch(&far)?;
    drop((from, image, ready, graph, far, there));
    assert_eq!(world.stream.download(&to)?, [9, 2, 3]);
    assert_eq!(world.stream.download_array(&copy)?, [4, 5, 6]);
    Ok(())
}

#[test]
fn of_devices() {
    leave_nothing(&[
        Case::new("shares of a device", shares),
        Case::new("observers", observers),
        Case::new("profilers", profilers),
    ]);
}

#[test]
fn of_a_second_device() {
    let variables = [
        ("WARPSMITH_DEVICE", "simulator"),
        ("WARPSMITH_SIMULATOR_DEVICES", "2"),
    ];
    if let Side::Parent(_) = own_process(&variables) {
        return;
    }
    let world = World::new().expect("a device");
    for case in [
        Case::new("a device that is opened and closed", opened_and_closed),
        Case::new("peers", peers),
    ] {
        let growth = world.growth(&case).expect("the rounds");
        assert!(growth.is_empty(), "{}: {growth:?}", case.name);
    }
}
